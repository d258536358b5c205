//! Promise: the state of all particles at any moment is as accurate as the integration, and asking for it changes no
//! bit of that.

use tisane::diagnostics::conserved::Conserved;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::initial::plummer;
use tisane::integrator::ahmad_cohen::{self, AhmadCohen};
use tisane::integrator::hermite4::{self, Hermite4};
use tisane::integrator::leapfrog::Leapfrog;
use tisane::integrator::multipoint::{self, Multipoint, Order};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Level, TICKS_PER_DT_MAX, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 16.0 };
const EPSILON: f64 = 1.0 / 16.0;
/// A moment at which no particle stands.
const BETWEEN: Time = Time(5 * TICKS_PER_DT_MAX + 0x3_1415_9265);

/// Every scheme with the error of positions that its steps allow.
fn propagators() -> Vec<(&'static str, Propagator, f64)> {
    let forces = || cpu::engine(Precision::F64, EPSILON, CLOCK, Width::widest());
    let hermite4 = hermite4::Parameters::new(Precision::F64);
    let iterated = hermite4::Parameters { iterations: 3, ..hermite4 };
    let of_order = |order, eta| {
        let parameters = multipoint::Parameters { order, eta, ..multipoint::Parameters::new(Precision::F64) };
        Propagator::in_f64(Box::new(Multipoint::new(parameters, CLOCK)), forces())
    };
    let neighbours = |order| {
        let parameters = ahmad_cohen::Parameters::new(order, Precision::F64);
        Propagator::in_f64(Box::new(AhmadCohen::new(parameters, CLOCK)), forces())
    };
    let accelerations = cpu::accelerations(Precision::F64, EPSILON, Width::widest());
    vec![
        ("hermite4", Propagator::in_f64(Box::new(Hermite4::new(hermite4, CLOCK)), forces()), 1e-6),
        ("hermite4, three iterations", Propagator::in_f64(Box::new(Hermite4::new(iterated, CLOCK)), forces()), 1e-6),
        ("order 6", of_order(Order::Six, 0.2), 1e-7),
        ("order 8", of_order(Order::Eight, 0.1), 1e-8),
        ("neighbour scheme, order 6", neighbours(ahmad_cohen::Order::Six), 1e-7),
        ("neighbour scheme, order 4", neighbours(ahmad_cohen::Order::Four), 1e-6),
        (
            "leapfrog",
            Propagator::of_accelerations(Box::new(Leapfrog::new(CLOCK, Range::F64)), accelerations, forces()),
            1e-2,
        ),
    ]
}

fn energy(propagator: &mut Propagator, p: &Particles) -> f64 {
    // The engine is given the state as its own, since it predicts the particles that it holds.
    let mut at_rest = p.clone();
    at_rest.time.fill(BETWEEN);
    propagator.resume(&at_rest, BETWEEN).unwrap();
    Conserved::from_particles(&at_rest, &propagator.field(&at_rest, BETWEEN).unwrap().pot).energy()
}

#[test]
fn the_state_at_any_moment_is_as_accurate_as_the_integration() {
    let exact = {
        let parameters =
            multipoint::Parameters { order: Order::Eight, eta: 0.02, ..multipoint::Parameters::new(Precision::F64) };
        let parameters = multipoint::Parameters {
            limits: multipoint::Limits { floor: Level::DEEPEST, ..parameters.limits },
            ..parameters
        };
        let engine = cpu::engine(Precision::F64, EPSILON, CLOCK, Width::widest());
        let mut propagator = Propagator::in_f64(Box::new(Multipoint::new(parameters, CLOCK)), engine);
        let mut p = plummer::sample(128, 5, 0.999);
        propagator.start(&mut p).unwrap();
        propagator.advance(&mut p, BETWEEN, u64::MAX).unwrap();
        propagator.synchronised(&p, BETWEEN).unwrap()
    };
    for (name, mut propagator, limit) in propagators() {
        let mut p = plummer::sample(128, 5, 0.999);
        propagator.start(&mut p).unwrap();
        let first = energy(&mut propagator, &{
            let mut p = p.clone();
            p.time.fill(BETWEEN);
            p
        });
        propagator.resume(&p, Time::default()).unwrap();
        propagator.advance(&mut p, BETWEEN, u64::MAX).unwrap();
        let state = propagator.synchronised(&p, BETWEEN).unwrap();
        assert!(state.time.iter().all(|time| *time == BETWEEN || name == "leapfrog" && *time <= BETWEEN));
        let error = state.pos.iter().zip(&exact.pos).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        let moved = p.pos.iter().zip(&exact.pos).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        let energy_error = (energy(&mut propagator, &state) / first - 1.0).abs();
        println!("{name}: error {error:.1e} of {moved:.1e}, energy {energy_error:.1e}");
        assert!(error < limit && moved > 3.0 * error, "{name}: {error:.1e} of {moved:.1e}");
        assert!(energy_error < limit, "{name}: energy error {energy_error:.1e}");
    }
}

#[test]
fn asking_for_the_state_changes_no_bit_of_the_integration() {
    let end = Time::from_dt_max(8);
    let states = |asked: bool| {
        propagators().into_iter().map(move |(name, mut propagator, _)| {
            let mut p = plummer::sample(128, 5, 0.999);
            propagator.start(&mut p).unwrap();
            propagator.advance(&mut p, BETWEEN, u64::MAX).unwrap();
            if asked {
                propagator.synchronised(&p, BETWEEN).unwrap();
            }
            propagator.advance(&mut p, end, u64::MAX).unwrap();
            // At a synchronised moment it is the state of the integration.
            assert!(propagator.synchronised(&p, end).unwrap() == p, "{name}");
            p
        })
    };
    assert!(states(true).zip(states(false)).all(|(asked, left_alone)| asked == left_alone));
}
