//! Promise: in an external field particles follow known orbits, the schemes keep their orders, the energy is conserved
//! with the external potential counted whole, and the bits are the same by any engine on any number of threads.

use crate::common;

use common::{advance, parameters};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use tisane::diagnostics::conserved::Conserved;
use tisane::force::cpu::{self, Width};
use tisane::force::external::guide::{MovingOrigin, OrbitState};
use tisane::force::external::{ExternalField, FieldSum, Plummer, WithExternal};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::split::{Split, Threads};
use tisane::force::{Accelerations, Field, ForceEngine, Forces, reference};
use tisane::initial::kepler::Elements;
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::integrator::leapfrog::Leapfrog;
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::particles::{Particles, Vec3};
use tisane::propagator::Propagator;
use tisane::time::{Clock, Level, Time};

/// A point mass off the origin, so that a field at another place would show.
const POINT: Plummer = Plummer { mass: 2.0, position: Vec3::new(3.0, -1.0, 0.5), scale_radius: 0.0 };
const SPHERE: Plummer = Plummer { mass: 2.0, position: Vec3::new(-1.0, 0.25, 2.0), scale_radius: 0.7 };

fn forces(field: impl ExternalField + 'static, epsilon: f64, clock: Clock) -> Box<dyn ForceEngine> {
    let engine = cpu::engine(Precision::F64, epsilon, clock, Width::choose().unwrap());
    Box::new(WithExternal::new(engine, Arc::new(field), clock))
}

fn accelerations(
    field: impl ExternalField + 'static,
    epsilon: f64,
    clock: Clock,
) -> Box<dyn ForceEngine<Accelerations>> {
    let engine = cpu::accelerations(Precision::F64, epsilon, Width::choose().unwrap());
    Box::new(WithExternal::new(engine, Arc::new(field), clock))
}

/// An inclined orbit with a = 1.5 about the point mass, in its period.
fn orbit(eccentricity: f64) -> (Elements, f64) {
    let (semi_major_axis, inclination) = (1.5, 0.4);
    let elements =
        Elements { semi_major_axis, eccentricity, inclination, node: 0.3, pericentre: 1.1, mean_anomaly: PI };
    (elements, TAU * (semi_major_axis.powi(3) / POINT.mass).sqrt())
}

/// A particle on an orbit about the point mass.
fn satellite(elements: &Elements, mass: f64) -> Particles {
    let (x, v) = elements.relative_state(POINT.mass);
    Particles::new(vec![mass], vec![POINT.position + x], vec![v])
}

/// Largest distance of a particle from its Kepler orbit in two periods of 2^k longest steps.
fn distance_from_kepler(eccentricity: f64, mass: f64, k: u32, nu: f64) -> f64 {
    let (elements, period) = orbit(eccentricity);
    let clock = Clock { start: 0.0, dt_max: period / f64::from(1 << k) };
    let (mut p, mut engine) = (satellite(&elements, mass), forces(POINT, 0.0, clock));
    let mut integrator = Hermite4::new(parameters(nu), clock);
    integrator.start(&mut p, &mut *engine).unwrap();
    let mut largest = 0.0f64;
    for step in 1..=2 << k {
        advance(&mut p, &mut integrator, &mut *engine, Time::from_dt_max(step));
        let mean_anomaly = elements.mean_anomaly + TAU * step as f64 / f64::from(1 << k);
        let (x, _) = Elements { mean_anomaly, ..elements }.relative_state(POINT.mass);
        largest = largest.max((p.pos[0] - POINT.position - x).norm());
    }
    largest
}

#[test]
fn verify_orbits_about_a_point_mass_are_keplers() {
    for mass in [0.0, 1e-3] {
        for (eccentricity, max) in [(0.0, 1e-9), (0.6, 1e-7), (0.95, 1e-6)] {
            let off = distance_from_kepler(eccentricity, mass, 5, 1e-5);
            assert!(off < max, "e = {eccentricity}, m = {mass}: {off:e}");
        }
    }
}

/// Distance of a massless star from its Kepler orbit after one period, and the number of its steps.
fn distance_by<I: Integrator<Evaluation = Forces>>(make: impl Fn(Clock) -> I) -> (f64, u64) {
    let (elements, period) = orbit(0.3);
    let clock = Clock { start: 0.0, dt_max: period };
    let (mut p, mut engine) = (satellite(&elements, 0.0), forces(POINT, 0.0, clock));
    let mut integrator = make(clock);
    integrator.start(&mut p, &mut *engine).unwrap();
    let done = integrator.advance(&mut p, &mut *engine, Time::from_dt_max(1), u64::MAX).unwrap();
    let (x, _) = elements.relative_state(POINT.mass);
    ((p.pos[0] - POINT.position - x).norm(), done.block_steps)
}

#[test]
fn verify_the_orbit_of_a_massless_star_closes_with_the_order_of_each_scheme() {
    let hermite = |nu| distance_by(|clock| Hermite4::new(parameters(nu), clock));
    let multipoint = |order, eta| {
        let limits = Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) };
        let parameters = multipoint::Parameters { order, eta, limits, ..multipoint::Parameters::new(Precision::F64) };
        distance_by(|clock| Multipoint::new(parameters, clock))
    };
    // The length of a step is as the root of ν, and as η.
    for (order, [coarse, fine]) in [
        (4.0, [hermite(1e-3), hermite(1e-3 / 256.0)]),
        (6.0, [multipoint(multipoint::Order::Six, 0.1), multipoint(multipoint::Order::Six, 0.1 / 4.0)]),
        (8.0, [multipoint(multipoint::Order::Eight, 0.2), multipoint(multipoint::Order::Eight, 0.2 / 4.0)]),
    ] {
        let slope = (coarse.0 / fine.0).ln() / (fine.1 as f64 / coarse.1 as f64).ln();
        assert!((order - 1.0..=order + 2.5).contains(&slope), "order {order}: {slope}, {coarse:?}, {fine:?}");
    }
}

/// A cluster on a circular orbit about a mass far away: the period of the orbit, and the cluster in its own frame.
fn on_an_orbit() -> (Plummer, Vec3, Particles) {
    let field = Plummer { mass: 8e11, position: Vec3::new(-2e5, 0.0, 0.0), scale_radius: 0.0 };
    let mut p = plummer::sample(64, 3, 0.999);
    scaling::to_centre_of_mass(&mut p);
    (field, Vec3::new(0.0, 2000.0, 0.0), p)
}

/// Particle steps until t = 2, and the change of the energy in the frame of the centre of mass.
fn in_own_frame<I: Integrator<Evaluation = Forces>>(
    mut integrator: I,
    mut engine: Box<dyn ForceEngine>,
    mut p: Particles,
) -> (u64, f64) {
    let own = |p: &Particles| {
        let mut p = p.clone();
        scaling::to_centre_of_mass(&mut p);
        common::energy(&p, EPSILON)
    };
    let before = own(&p);
    integrator.start(&mut p, &mut *engine).unwrap();
    let done = integrator.advance(&mut p, &mut *engine, Time::from_dt_max(64), u64::MAX).unwrap();
    (done.particle_steps, own(&p) - before)
}

/// The tide is some 1e-4 of the forces inside of the cluster here, so that its own energy is conserved to that.
#[test]
fn verify_a_cluster_in_a_strong_field_is_resolved_as_the_same_cluster_alone() {
    let (field, velocity, p) = on_an_orbit();
    let mut moved = p.clone();
    moved.vel.iter_mut().for_each(|v| *v += velocity);
    // Stronger than the forces inside: by the whole acceleration the steps would be four times as long.
    assert!(field.acc(Vec3::zeros(), 0.0).norm() > 19.0);
    let alone =
        |nu| in_own_frame(Hermite4::new(parameters(nu), CLOCK), forces(FieldSum(vec![]), EPSILON, CLOCK), p.clone());
    let there = |nu| in_own_frame(Hermite4::new(parameters(nu), CLOCK), forces(field, EPSILON, CLOCK), moved.clone());
    let (alone, there) = (alone(0.01), there(0.01));
    assert!(there.0 as f64 > 0.7 * alone.0 as f64 && there.1.abs() < 1e-2 * 0.25, "{alone:?}, {there:?}");
}

#[test]
fn verify_order_four_on_an_orbit_about_a_point_mass() {
    // So large a ν that every step is dt_max.
    let errors: Vec<f64> = (8..=11).map(|k| distance_from_kepler(0.3, 1.0, k, 1e30)).collect();
    for pair in errors.windows(2) {
        let slope = (pair[0] / pair[1]).log2();
        assert!((3.9..=4.1).contains(&slope), "slope {slope}, errors {errors:?}");
    }
}

/// A particle on a rosette in the Plummer sphere, and its energy.
fn in_the_sphere() -> Particles {
    Particles::new(vec![1.0], vec![SPHERE.position + Vec3::new(1.0, 0.2, 0.0)], vec![Vec3::new(0.1, 0.5, 0.7)])
}

fn energy(p: &Particles) -> f64 {
    0.5 * p.vel[0].norm_squared() + SPHERE.pot(p.pos[0], 0.0)
}

/// Largest relative error of the energy until t = 16 with 2^k steps a unit of time.
fn energy_error<I: Integrator>(k: u32, make: impl Fn(Clock) -> (I, Box<dyn ForceEngine<I::Evaluation>>)) -> f64 {
    let clock = Clock { start: 0.0, dt_max: 1.0 / f64::from(1 << k) };
    let (mut p, (mut integrator, mut engine)) = (in_the_sphere(), make(clock));
    let e0 = energy(&p);
    integrator.start(&mut p, &mut *engine).unwrap();
    (1..=16 << k).fold(0.0, |largest, step| {
        advance(&mut p, &mut integrator, &mut *engine, Time::from_dt_max(step));
        f64::max(largest, (energy(&p) / e0 - 1.0).abs())
    })
}

#[test]
fn verify_orders_by_the_energy_in_a_plummer_sphere() {
    let hermite = |k| energy_error(k, |clock| (Hermite4::new(parameters(1e30), clock), forces(SPHERE, 0.0, clock)));
    let leapfrog = |k| energy_error(k, |clock| (Leapfrog::new(clock, Range::F64), accelerations(SPHERE, 0.0, clock)));
    let slopes = |errors: &[f64]| errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect::<Vec<_>>();
    let (errors_4, errors_2): (Vec<f64>, Vec<f64>) = (6..=9).map(|k| (hermite(k), leapfrog(k))).unzip();
    assert!(errors_4[0] < 1e-7, "{errors_4:?}");
    assert!(slopes(&errors_4).iter().all(|slope| (3.9..=4.25).contains(slope)), "{errors_4:?}");
    assert!(slopes(&errors_2).iter().all(|slope| (1.95..=2.05).contains(slope)), "{errors_2:?}");
}

/// Stars that are let go at rest fall through the middle and come to rest again, where the jerk of the field vanishes: one
/// alone, and one with a light companion far away, which hardly acts on it.
#[test]
fn verify_steps_do_not_shrink_without_end_where_the_jerk_of_a_field_vanishes() {
    let at = SPHERE.position + Vec3::new(1.0, 0.0, 0.0);
    let alone = Particles::new(vec![1.0], vec![at], vec![Vec3::zeros()]);
    let far = SPHERE.position + Vec3::new(0.0, 40.0, 0.0);
    let two = Particles::new(vec![1e-13; 2], vec![at, far], vec![Vec3::zeros(); 2]);
    let clock = Clock { start: 0.0, dt_max: 0.25 };
    for p in [alone, two] {
        let energy = |p: &Particles| 0.5 * p.vel[0].norm_squared() + SPHERE.pot(p.pos[0], 0.0);
        let run = |mut integrator: Box<dyn Integrator<Evaluation = Forces>>| {
            let (mut p, mut engine) = (p.clone(), forces(SPHERE, 0.0, clock));
            let before = energy(&p);
            integrator.start(&mut p, &mut *engine).unwrap();
            let done = integrator.advance(&mut p, &mut *engine, Time::from_dt_max(80), u64::MAX).unwrap();
            assert_eq!(done.now, Time::from_dt_max(80));
            let error = energy(&p) / before - 1.0;
            // Some five periods.
            assert!(error.abs() < 1e-6 && done.block_steps < 4000, "{error:e}, {} steps", done.block_steps);
        };
        run(Box::new(Hermite4::new(Parameters::new(Precision::F64), clock)));
        run(Box::new(Multipoint::new(multipoint::Parameters::new(Precision::F64), clock)));
    }
}

/// A uniform field that swings: a = g cos(ω t), no jerk error is hidden by symmetry.
struct Swing;

impl ExternalField for Swing {
    fn acc(&self, _: Vec3, t: f64) -> Vec3 {
        libm::cos(2.0 * t) * Vec3::z()
    }
    fn jerk(&self, _: Vec3, _: Vec3, t: f64) -> Vec3 {
        -2.0 * libm::sin(2.0 * t) * Vec3::z()
    }
    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        -libm::cos(2.0 * t) * pos.z
    }
}

#[test]
fn verify_a_field_that_depends_on_time_is_taken_at_the_time_of_the_axis() {
    // From t = 1 at the origin, where the potential is zero, with the velocity v: z = v (t − 1) + …
    let position =
        |t: f64, v: f64| v * (t - 1.0) + 0.25 * ((2.0f64).cos() - (2.0 * t).cos()) - 0.5 * (2.0f64).sin() * (t - 1.0);
    let error = |k: u32| {
        let clock = Clock { start: 1.0, dt_max: 1.0 / f64::from(1 << k) };
        let mut p = Particles::new(vec![1.0], vec![Vec3::zeros()], vec![0.3 * Vec3::z()]);
        let (mut engine, mut integrator) = (forces(Swing, 0.0, clock), Hermite4::new(parameters(1e30), clock));
        integrator.start(&mut p, &mut *engine).unwrap();
        advance(&mut p, &mut integrator, &mut *engine, Time::from_dt_max(3 << k));
        (p.pos[0].z - position(4.0, 0.3)).abs()
    };
    let (coarse, fine) = (error(4), error(5));
    assert!(fine < 1e-6, "{fine:e}");
    assert!(((coarse / fine).log2() - 4.0).abs() < 0.2, "{coarse:e}, {fine:e}");
}

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 32.0 };
const EPSILON: f64 = 1.0 / 64.0;

/// A cluster that falls by a heavy point mass within a Plummer sphere.
fn cluster(n: usize) -> Particles {
    let mut p = plummer::sample(n, 5, 0.999);
    scaling::to_centre_of_mass(&mut p);
    p.pos.iter_mut().for_each(|x| *x += Vec3::new(-2.0, -1.0, 0.5));
    p.vel.iter_mut().for_each(|v| *v += Vec3::new(0.2, 0.6, 0.0));
    p
}

fn field() -> FieldSum {
    FieldSum(vec![Box::new(Plummer { scale_radius: 0.1, ..POINT }), Box::new(SPHERE)])
}

/// Energy by direct summation: each pair once, the external potential of each particle once.
fn direct_energy(p: &Particles) -> f64 {
    let external: f64 = p.mass.iter().zip(&p.pos).map(|(m, &x)| m * field().pot(x, 0.0)).sum();
    common::energy(p, EPSILON) + external
}

#[test]
fn verify_a_cluster_in_a_field_conserves_energy_with_the_external_potential_whole() {
    let width = Width::choose().unwrap();
    let with = |engine| -> Box<dyn ForceEngine> { Box::new(WithExternal::new(engine, Arc::new(field()), CLOCK)) };
    let engine = with(cpu::engine(Precision::F64, EPSILON, CLOCK, width));
    let mut propagator = Propagator::in_f64(Box::new(Hermite4::new(parameters(0.001), CLOCK)), engine);
    let mut p = cluster(200);
    propagator.start(&mut p).unwrap();
    let energy = |p: &Particles, propagator: &mut Propagator, now| {
        let field: Field = propagator.field(p, now).unwrap();
        let conserved = Conserved::in_field(p, &field);
        let direct = direct_energy(p);
        assert!((conserved.energy() / direct - 1.0).abs() < 1e-13, "{} by the engine, {direct}", conserved.energy());
        conserved
    };
    let end = Time::from_dt_max(64);
    let start = energy(&p, &mut propagator, Time::default());
    propagator.advance(&mut p, end, u64::MAX).unwrap();
    let stop = energy(&p, &mut propagator, end);
    let error = (stop.energy() - start.energy()) / start.energy();
    assert!(error.abs() < 1e-8, "{error:e}");
    // Energy moved between the terms: with the external one halved or doubled it would be far off.
    assert!((stop.external - start.external).abs() > 0.05 * start.energy().abs(), "{start:?}, {stop:?}");
}

/// The state of a cluster after a time, by an engine in the field.
fn state<I: Integrator>(mut integrator: I, engine: Box<dyn ForceEngine<I::Evaluation>>) -> String {
    let mut engine = WithExternal::new(engine, Arc::new(field()), CLOCK);
    let mut p = cluster(150);
    integrator.start(&mut p, &mut engine).unwrap();
    advance(&mut p, &mut integrator, &mut engine, Time::from_dt_max(16));
    p.state_sha256(&CLOCK)
}

#[test]
fn a_field_gives_the_same_bits_by_any_engine_on_any_threads() {
    for precision in Precision::ALL {
        let hermite = || {
            let limits = Limits { floor: Level::DEEPEST, ..Limits::new(precision) };
            Hermite4::new(Parameters { limits, ..parameters(0.02) }, CLOCK)
        };
        let leapfrog = || Leapfrog::new(CLOCK, Range::for_precision(precision));
        let expected = [
            state(hermite(), reference::engine(precision, EPSILON, CLOCK)),
            state(leapfrog(), reference::accelerations(precision, EPSILON)),
        ];
        for threads in [1, 3] {
            for width in Width::available() {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| {
                    [
                        state(hermite(), cpu::engine(precision, EPSILON, CLOCK, width)),
                        state(leapfrog(), cpu::accelerations(precision, EPSILON, width)),
                    ]
                });
                assert_eq!(found, expected, "{} {} × {threads}", precision.name(), width.name());
            }
        }
    }
}

/// A sphere that passes with a constant velocity.
struct Passing;

impl Passing {
    const VELOCITY: Vec3 = Vec3::new(-0.5, 1.5, 0.25);

    fn at(t: f64) -> Plummer {
        Plummer { mass: 0.7, position: Vec3::new(3.0, -1.0, 0.5) + t * Self::VELOCITY, scale_radius: 0.5 }
    }
}

impl ExternalField for Passing {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        Self::at(t).acc(pos, t)
    }
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        Self::at(t).jerk(pos, vel - Self::VELOCITY, t)
    }
    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        Self::at(t).pot(pos, t)
    }
}

/// The state of a cluster about an origin that moves in fields, one of which moves too, and the work of the origin, by an engine.
fn about_a_moving_origin<I: Integrator>(mut integrator: I, engine: Box<dyn ForceEngine<I::Evaluation>>) -> String {
    let field = Arc::new(FieldSum(vec![Box::new(POINT), Box::new(Passing)]));
    let start = OrbitState { pos: Vec3::new(-2.0, -1.0, 0.5), vel: Vec3::new(0.2, 0.6, 0.0) };
    let origin = MovingOrigin::new(field, CLOCK, (0, start));
    let mut engine = WithExternal::about(engine, origin.clone(), CLOCK);
    let mut p = plummer::sample(150, 5, 0.999);
    integrator.start(&mut p, &mut engine).unwrap();
    let end = Time::from_dt_max(16);
    advance(&mut p, &mut integrator, &mut engine, end);
    format!("{} {:?} {:?}", p.state_sha256(&CLOCK), origin.power(end, &p).unwrap(), origin.at(end).unwrap().pos)
}

#[test]
fn several_engines_give_the_same_bits_in_fields_that_move_about_a_moving_origin() {
    for precision in Precision::ALL {
        let hermite = || {
            let limits = Limits { floor: Level::DEEPEST, ..Limits::new(precision) };
            Hermite4::new(Parameters { limits, ..parameters(0.02) }, CLOCK)
        };
        let engine = |width| -> Box<dyn ForceEngine> { cpu::engine(precision, EPSILON, CLOCK, width) };
        let widths = Width::available();
        let expected = about_a_moving_origin(hermite(), reference::engine(precision, EPSILON, CLOCK));
        for others in [1, 2] {
            // Every engine has other vectors, as devices differ.
            let peers = (0..others).map(|k| engine(widths[k % widths.len()])).collect();
            let own = engine(widths[widths.len() - 1]);
            let several = Box::new(Split::new(own, Box::new(Threads::new(peers).unwrap()), 2));
            assert_eq!(about_a_moving_origin(hermite(), several), expected, "{}, {others} others", precision.name());
        }
    }
}

#[test]
fn a_zero_field_changes_no_bit() {
    let none = || FieldSum(Vec::new());
    let run = |mut engine: Box<dyn ForceEngine>| {
        let (mut p, mut integrator) = (cluster(100), Hermite4::new(parameters(0.02), CLOCK));
        integrator.start(&mut p, &mut *engine).unwrap();
        advance(&mut p, &mut integrator, &mut *engine, Time::from_dt_max(16));
        p.state_sha256(&CLOCK)
    };
    let width = Width::choose().unwrap();
    assert_eq!(run(forces(none(), EPSILON, CLOCK)), run(cpu::engine(Precision::F64, EPSILON, CLOCK, width)));
}
