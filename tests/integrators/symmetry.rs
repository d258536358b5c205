//! Promise: a particle at rest where the forces cancel by symmetry has steps no shorter than those of the others, in every
//! scheme of block steps and precision mode, wherever the system stands and however it moves and lies.

use crate::kinds::each;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use tisane::encounters::Encounters;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces};
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::ahmad_cohen::{self, AhmadCohen};
use tisane::integrator::hermite4::{self, Hermite4, Limits};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::law::{Formula, Law, LawSource};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };

/// Bodies about the origin, of which the first rests there.
#[derive(Clone)]
struct System {
    name: String,
    /// Mass, position and velocity of each.
    bodies: Vec<(f64, Vec3, Vec3)>,
    epsilon: f64,
    /// Number of longest steps.
    until: u64,
}

impl System {
    fn new(name: impl Into<String>, bodies: Vec<(f64, Vec3, Vec3)>) -> Self {
        Self { name: name.into(), bodies, epsilon: 0.0, until: 24 }
    }

    fn softened(&self, epsilon: f64) -> Self {
        Self { name: format!("{}, softened", self.name), epsilon, ..self.clone() }
    }

    fn until(self, until: u64) -> Self {
        Self { until, ..self }
    }
}

/// `n` bodies of the mass `m` on a circle, each on a circular orbit about one of the mass `central`.
fn ring(n: usize, m: f64, central: f64) -> System {
    let pull: f64 = (1..n).map(|k| 0.25 * m / (PI * k as f64 / n as f64).sin()).sum();
    let speed = (central + pull).sqrt();
    let on_ring = (0..n).map(|k| {
        let (sin, cos) = (TAU * k as f64 / n as f64).sin_cos();
        (m, Vec3::new(cos, sin, 0.0), speed * Vec3::new(-sin, cos, 0.0))
    });
    let centre = (central, Vec3::zeros(), Vec3::zeros());
    System::new(format!("ring of {n} of {m:e} about {central:e}"), std::iter::once(centre).chain(on_ring).collect())
}

/// Bodies at rest at places, and one at the origin, of the mass `central`.
fn at_rest(name: &str, places: &[Vec3], central: f64) -> System {
    let m = 1.0 / places.len() as f64;
    let rest = places.iter().map(|&x| (m, x, Vec3::zeros()));
    System::new(name, std::iter::once((central, Vec3::zeros(), Vec3::zeros())).chain(rest).collect()).until(4)
}

/// Points of a cubic lattice of an odd number a side, but for that in the middle.
fn lattice(side: i32) -> Vec<Vec3> {
    let half = side / 2;
    let all = (-half..=half).flat_map(|x| (-half..=half).map(move |y| (x, y)));
    let all = all.flat_map(|(x, y)| (-half..=half).map(move |z| Vec3::new(x.into(), y.into(), z.into())));
    all.filter(|x| *x != Vec3::zeros()).collect()
}

/// Two clusters that are mirror images of each other, and a body in the middle.
fn mirrored() -> System {
    let mut half = plummer::sample(40, 7, 0.9);
    scaling::to_centre_of_mass(&mut half);
    let offset = Vec3::new(3.0, 0.0, 0.0);
    let bodies = (0..half.len()).flat_map(|i| {
        let (x, v) = (half.pos[i] + offset, half.vel[i]);
        [(half.mass[i], x, v), (half.mass[i], -x, -v)]
    });
    let middle = (0.1, Vec3::zeros(), Vec3::zeros());
    System::new("mirrored clusters", std::iter::once(middle).chain(bodies).collect()).softened(0.02).until(8)
}

/// A light pair within a heavy one, all on one line through a light body at rest (Euler's line).
fn line() -> System {
    let (light, heavy) = (1e-6, 1.0);
    let mut bodies = vec![(1e-3, Vec3::zeros(), Vec3::zeros())];
    let inner: f64 = 0.01;
    // About the body in the middle, and about each other; the heavy ones hardly act there.
    for (m, r, v) in [(light, inner, (1e-3 / inner).sqrt()), (heavy, 1.0, (1e-3f64 + 0.25).sqrt())] {
        for sign in [1.0, -1.0] {
            bodies.push((m, sign * r * Vec3::x(), sign * v * Vec3::y()));
        }
    }
    System::new("Euler's line", bodies).until(8)
}

fn systems() -> Vec<System> {
    let axes = [Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y(), Vec3::z(), -Vec3::z()];
    let corner = |k: i32| Vec3::new(f64::from(k & 1) - 0.5, f64::from(k >> 1 & 1) - 0.5, f64::from(k >> 2 & 1) - 0.5);
    let corners: Vec<Vec3> = (0..8).map(corner).collect();
    let mut all = vec![
        ring(2, 1e-6, 1.0),
        ring(6, 1e-6, 1.0),
        ring(2, 0.5, 1e-6),
        ring(2, 0.5, 0.0),
        ring(2, 0.5, 1e-20),
        // Lagrange's triangle with a body at its centre.
        ring(3, 1.0 / 3.0, 0.1),
        ring(7, 0.01, 0.0),
        ring(16, 1e-9, 1.0),
        ring(31, 1e-4, 1.0),
        ring(100, 1e-12, 1.0),
        at_rest("cube", &corners, 1.0 / 9.0),
        at_rest("octahedron", &axes, 0.0),
        at_rest("lattice of 27", &lattice(3), 1.0 / 26.0),
        at_rest("lattice of 125", &lattice(5), 1.0 / 124.0),
        line(),
        mirrored(),
    ];
    all.extend([ring(2, 1e-6, 1.0), ring(5, 0.1, 0.5), at_rest("cube", &corners, 1.0 / 9.0)].map(|s| s.softened(0.05)));
    all
}

/// The system turned about an odd axis, with its centre at `centre` at t = 0, and moving with `velocity`.
fn placed(system: &System, angle: f64, centre: Vec3, velocity: Vec3) -> Particles {
    let turn = nalgebra::Rotation3::new(angle * Vec3::new(0.3, -0.7, 0.5));
    let column = |of: &dyn Fn(&(f64, Vec3, Vec3)) -> Vec3, shift: Vec3| {
        system.bodies.iter().map(|body| if angle == 0.0 { of(body) } else { turn * of(body) } + shift).collect()
    };
    let mass = system.bodies.iter().map(|body| body.0).collect();
    Particles::new(mass, column(&|body| body.1, centre), column(&|body| body.2, velocity))
}

type Scheme = (&'static str, Box<dyn Integrator<Evaluation = Forces>>);

fn schemes(precision: Precision) -> Vec<Scheme> {
    let hermite = |iterations| {
        let parameters = hermite4::Parameters { iterations, ..hermite4::Parameters::new(precision) };
        Box::new(Hermite4::new(parameters, CLOCK))
    };
    let multipoint = |order, eta| {
        let parameters = multipoint::Parameters { order, eta, ..multipoint::Parameters::new(precision) };
        Box::new(Multipoint::new(parameters, CLOCK))
    };
    let neighbours = |order| Box::new(AhmadCohen::new(ahmad_cohen::Parameters::new(order, precision), CLOCK));
    let mut all: Vec<Scheme> = vec![
        ("hermite4", hermite(1)),
        ("hermite4 twice", hermite(2)),
        ("multipoint 6", multipoint(multipoint::Order::Six, 0.35)),
        ("ahmad_cohen 6", neighbours(ahmad_cohen::Order::Six)),
        ("ahmad_cohen 4", neighbours(ahmad_cohen::Order::Four)),
    ];
    if precision.in_f64() {
        all.push(("multipoint 8", multipoint(multipoint::Order::Eight, 0.2)));
    }
    all
}

/// Engine of Newton's law, or of a law.
fn engine(precision: Precision, epsilon: f64, law: Option<&Arc<Law>>) -> Box<dyn ForceEngine> {
    let width = Width::choose().unwrap();
    match law {
        None => cpu::engine(precision, epsilon, CLOCK, width),
        Some(law) => cpu::law_engine(law, precision, epsilon, CLOCK, width),
    }
}

/// Integrates a system. Returns what is wrong, if anything: steps of the first body that are shorter than all others, or a
/// distance from the centre above `max`.
fn run(
    system: &System,
    p: &Particles,
    (precision, law): (Precision, Option<&Arc<Law>>),
    (name, mut scheme): Scheme,
    max: f64,
) -> Option<String> {
    let (mut p, mut engine) = (p.clone(), engine(precision, system.epsilon, law));
    let (centre, velocity) = (p.pos[0], p.vel[0]);
    let mut integrate = || -> Result<(), String> {
        scheme.start(&mut p, &mut *engine).map_err(|error| error.to_string())?;
        for k in 1..=system.until {
            let until = Time::from_dt_max(k);
            loop {
                let done = scheme.advance(&mut p, &mut *engine, until, u64::MAX).map_err(|error| error.to_string())?;
                if done.now == until {
                    break;
                }
            }
            let shortest = p.step[1..].iter().max().copied().unwrap_or_default();
            if p.step[0] > shortest {
                return Err(format!("level {:?} at {k}, others up to {shortest:?}", p.step[0]));
            }
            let off = (p.pos[0] - centre - velocity * CLOCK.time(until)).norm();
            // Lists of neighbours are not symmetric, so that the errors of the scheme are not either.
            if off > if name.starts_with("ahmad") { 1000.0 * max } else { max } {
                return Err(format!("{off:e} from the centre at {k}"));
            }
        }
        Ok(())
    };
    let found = integrate();
    found.err().map(|wrong| format!("{}, {name}, {}: {wrong}", system.name, precision.name()))
}

/// Runs a system by all schemes; returns what is wrong.
fn by_all(system: &System, p: &Particles, precision: Precision, max: f64) -> Vec<String> {
    schemes(precision).into_iter().filter_map(|scheme| run(system, p, (precision, None), scheme, max)).collect()
}

#[test]
fn a_body_where_forces_cancel_has_steps_like_the_others() {
    let of = |system: &System| by_all(system, &placed(system, 0.0, Vec3::zeros(), Vec3::zeros()), Precision::F64, 1e-9);
    let wrong: Vec<String> = systems().iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn so_it_has_in_every_precision_mode() {
    let few = [ring(2, 1e-6, 1.0), ring(6, 1e-6, 1.0), ring(3, 1.0 / 3.0, 0.1).softened(0.05), ring(5, 0.1, 0.0)];
    let of = |precision| {
        let few = few.clone().map(|system| (placed(&system, 0.0, Vec3::zeros(), Vec3::zeros()), system));
        few.into_iter().flat_map(move |(p, system)| by_all(&system, &p, precision, 1e-4))
    };
    let wrong: Vec<String> = Precision::ALL.into_iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn so_it_has_where_coordinates_and_velocities_are_rounded() {
    let mut wrong = Vec::new();
    for system in systems() {
        for (angle, size, speed) in [(1.0, 0.0, 0.0), (0.37, 0.0, 17.0), (2.1, 1e4, 0.0), (0.37, 3e5, 300.0)] {
            let (centre, velocity) = (size * Vec3::new(0.3, -1.0, 0.7), speed * Vec3::new(-0.2, 0.9, 0.4));
            // Distances are rounded to some 1e-16 of the coordinates, and the error grows with the motion.
            let found = by_all(&system, &placed(&system, angle, centre, velocity), Precision::F64, 1e-9 + 1e-10 * size);
            wrong.extend(found.into_iter().map(|wrong| format!("{wrong}, turned by {angle}, at {size:e}, {speed:e}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn so_it_has_among_subsystems() {
    each(|kind| {
        let mut wrong = Vec::new();
        for system in systems().iter().filter(|system| system.epsilon == 0.0) {
            for (angle, size) in [(0.0, 0.0), (1.3, 1e4)] {
                let mut p = placed(system, angle, size * Vec3::new(0.3, -1.0, 0.7), Vec3::zeros());
                let mut engine = engine(Precision::F64, 0.0, None);
                let (mut it, centre) =
                    (Encounters::new(kind.build(CLOCK, 0.01, Limits::new(Precision::F64)), 1e-5, CLOCK), p.pos[0]);
                let end = Time::from_dt_max(system.until);
                let mut integrate = || -> tisane::Result<f64> {
                    it.start(&mut p, &mut *engine)?;
                    while it.advance(&mut p, &mut *engine, end, u64::MAX)?.now < end {}
                    Ok((it.synchronised(&p, end, &mut *engine)?.pos[0] - centre).norm())
                };
                let max = 1e-9 + 1e-10 * size;
                match integrate() {
                    Ok(off) if off <= max => {}
                    found => wrong.push(format!("{}, turned by {angle}, at {size:e}: {found:?}", system.name)),
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

/// Height of a body without mass on the axis of two on a circle of radius 1 about each other, of the mass 1 in sum, by short steps
/// (Sitnikov's problem).
fn height(start: f64, until: f64) -> f64 {
    let (steps, pull) = (20_000, |z: f64| -z / (z * z + 1.0).powf(1.5));
    let (mut z, mut v, dt) = (start, 0.0, until / 20_000.0);
    for _ in 0..steps {
        let (k1, l1) = (v, pull(z));
        let (k2, l2) = (v + 0.5 * dt * l1, pull(z + 0.5 * dt * k1));
        let (k3, l3) = (v + 0.5 * dt * l2, pull(z + 0.5 * dt * k2));
        let (k4, l4) = (v + dt * l3, pull(z + dt * k3));
        z += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        v += dt / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    z
}

#[test]
fn a_body_without_mass_goes_through_the_centre_of_a_pair() {
    each(|kind| {
        // On a circle of radius 1 each has the speed √(1/2)/2 that the other, 2 away, gives it.
        let speed = 0.125f64.sqrt();
        for start in [1e-12, 1e-6, 1e-3, 0.05, 0.7] {
            let pos = vec![Vec3::new(0.0, 0.0, start), Vec3::x(), -Vec3::x()];
            let vel = vec![Vec3::zeros(), Vec3::y() * speed, Vec3::y() * -speed];
            let mut p = Particles::new(vec![0.0, 0.5, 0.5], pos, vel);
            let mut engine = engine(Precision::F64, 0.0, None);
            let mut it = Encounters::new(kind.build(CLOCK, 0.01, Limits::new(Precision::F64)), 1e-5, CLOCK);
            let end = Time::from_dt_max(80);
            it.start(&mut p, &mut *engine).unwrap();
            while it.advance(&mut p, &mut *engine, end, u64::MAX).unwrap().now < end {}
            let p = it.synchronised(&p, end, &mut *engine).unwrap();
            let want = height(start, CLOCK.time(end));
            assert!((p.pos[0].z - want).abs() < 1e-4 * start, "{start}: {} {want}", p.pos[0].z);
        }
    });
}

/// Laws of other forms, with a potential that has no zero at infinity, and without one.
#[test]
fn so_it_has_by_a_law() {
    let mut wrong = Vec::new();
    for formula in [
        Formula::Potential("-m_i * m_j / s".into()),
        Formula::Potential("m_i * m_j * (1000 - 1 / s + s^2 / 8)".into()),
        Formula::Acceleration("m_j / s^2.5".into()),
    ] {
        let text = formula.text().to_owned();
        let law = Law::new(LawSource::new(formula, &[]));
        let law = Arc::new(law.unwrap_or_else(|mistake| panic!("{text}: {mistake:?}")));
        for system in [ring(2, 1e-6, 1.0), ring(6, 1e-6, 1.0), ring(4, 0.2, 0.0).softened(0.05)] {
            let p = placed(&system, 0.4, Vec3::new(0.0, 30.0, 7.0), Vec3::zeros());
            // The neighbour scheme knows Newton's law alone.
            for scheme in schemes(Precision::F64).into_iter().filter(|(name, _)| !name.starts_with("ahmad")) {
                let found = run(&system, &p, (Precision::F64, Some(&law)), scheme, 1e-9);
                wrong.extend(found.map(|wrong| format!("{text}: {wrong}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The mass of one of two stars is taken away: nothing acts on the other any more, while the force at the beginning of its
/// step was that of both. So it is where [escapers] takes all stars out but one.
#[test]
fn the_last_star_with_mass_goes_on() {
    for (name, mut scheme) in schemes(Precision::F64) {
        let mut p = Particles::new(
            vec![0.5; 2],
            vec![Vec3::x(), -Vec3::x()],
            vec![Vec3::new(0.1, 0.3, 0.0), Vec3::new(-0.1, -0.3, 0.0)],
        );
        let mut engine = engine(Precision::F64, 0.0, None);
        scheme.start(&mut p, &mut *engine).unwrap();
        let half = scheme.advance(&mut p, &mut *engine, Time::from_dt_max(4), u64::MAX).unwrap();
        p.mass[1] = 0.0;
        scheme.resume(&p, half.now, &mut *engine).unwrap();
        // Its last step ends there with the acceleration that it had.
        let end = Time::from_dt_max(24);
        while scheme.advance(&mut p, &mut *engine, end, u64::MAX).unwrap_or_else(|e| panic!("{name}: {e}")).now < end {}
        assert_eq!((p.acc[0], p.step[0].0), (Vec3::zeros(), 0), "{name}");
    }
}
