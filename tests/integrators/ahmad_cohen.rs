//! Promise: the neighbour scheme is the plain scheme where all particles are neighbours or none is, and of its order in
//! between; its energy error is that of the plain scheme at nu = 0.01; and no system stalls it.

use crate::common;

use common::{advance, energy};
use tisane::error::Error;
use tisane::force::cpu::{CpuEngine, Width};
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::ahmad_cohen::{AhmadCohen, Criterion, Limits, OnFloor, Order, Parameters, RegularAccuracy};
use tisane::integrator::hermite4::{self, Hermite4};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::particles::{Particles, Vec3};
use tisane::states::States;
use tisane::states::history::History;
use tisane::states::neighbours::Neighbours;
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
const EPSILON: f64 = 1.0 / 64.0;

fn limits() -> Limits {
    // The neighbour scheme has no compensated corrector, and is compared with one that has none.
    Limits { floor: Level::DEEPEST, compensated: false, ..Limits::new(Precision::F64) }
}

fn parameters(order: Order) -> Parameters {
    Parameters { limits: limits(), ..Parameters::new(order, Precision::F64) }
}

fn engine(epsilon: f64) -> CpuEngine<F64> {
    CpuEngine::new(epsilon, CLOCK, Width::choose().unwrap())
}

/// Largest distance between the same particles of two states.
fn distance(a: &Particles, b: &Particles) -> f64 {
    a.pos.iter().zip(&b.pos).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Integrates from the start over `steps` of dt_max.
fn integrate(p: &mut Particles, parameters: Parameters, epsilon: f64, steps: u64) -> u64 {
    let (mut engine, mut scheme) = (engine(epsilon), AhmadCohen::new(parameters, CLOCK));
    scheme.start(p, &mut engine).unwrap();
    advance(p, &mut scheme, &mut engine, Time::from_dt_max(steps))
}

/// Goes on side by side for half a time unit and asserts that all block steps are of the same particles to the same
/// moments and states.
fn assert_step_for_step<I: Integrator<Evaluation = Forces>, J: Integrator<Evaluation = Forces>>(
    (mut p, mut scheme, mut its): (Particles, I, CpuEngine<F64>),
    (mut q, mut plain, mut other): (Particles, J, impl ForceEngine),
    tolerance: f64,
    what: &str,
) {
    let end = Time::from_dt_max(4);
    let mut steps = 0;
    loop {
        let done = scheme.advance(&mut p, &mut its, end, 1).unwrap();
        let of_plain = plain.advance(&mut q, &mut other, end, 1).unwrap();
        assert_eq!((done.now, done.particle_steps), (of_plain.now, of_plain.particle_steps), "{what}");
        assert_eq!((&p.time, &p.step), (&q.time, &q.step), "{what}");
        if done.block_steps == 0 {
            break;
        }
        steps += 1;
    }
    let error = distance(&p, &q);
    println!("{what}: {steps} block steps, {error:.1e}");
    assert!(steps > 100 && error <= tolerance, "{what}: {error:.1e}");
}

#[test]
fn verify_all_or_no_neighbours_are_the_plain_scheme_of_4th_order() {
    for (neighbours, tolerance) in [(0.0, 0.0), (f64::INFINITY, 1e-13)] {
        let (mut p, mut its) = (plummer::sample(100, 3, 0.999), engine(EPSILON));
        let (mut q, mut other) = (p.clone(), engine(EPSILON));
        let eta = 0.1;
        let scheme = Parameters {
            eta,
            eta_regular: RegularAccuracy::Given(eta),
            neighbours: Some(neighbours),
            ..parameters(Order::Four)
        };
        let mut scheme = AhmadCohen::new(scheme, CLOCK);
        let nu = eta * eta;
        let plain = hermite4::Parameters { nu, nu_start: nu / 16.0, iterations: 1, limits: limits() };
        let mut plain = Hermite4::new(plain, CLOCK);
        scheme.start(&mut p, &mut its).unwrap();
        plain.start(&mut q, &mut other).unwrap();
        let what = format!("{neighbours} neighbours");
        assert_step_for_step((p, scheme, its), (q, plain, other), tolerance, &what);
    }
}

/// Engine that predicts sources to the jerk, as it does those of the neighbour scheme.
struct ToTheJerk(CpuEngine<F64>);

impl ForceEngine for ToTheJerk {
    fn load(&mut self, all: &Particles) -> tisane::Result<()> {
        self.0.load(&Particles { states: States::default(), ..all.clone() })
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> tisane::Result<()> {
        self.0.update(&Particles { states: States::default(), ..all.clone() }, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> tisane::Result<()> {
        self.0.evaluate(now, targets, out)
    }
}

/// The multi-point scheme measures its first steps and derivatives: the neighbour scheme is given them.
#[test]
fn verify_all_or_no_neighbours_are_the_multipoint_scheme() {
    for neighbours in [0.0, f64::INFINITY] {
        let (mut p, mut its) = (plummer::sample(100, 3, 0.999), engine(EPSILON));
        let (mut q, mut other) = (p.clone(), ToTheJerk(engine(EPSILON)));
        let eta = 0.3;
        let scheme = Parameters {
            eta,
            eta_regular: RegularAccuracy::Given(eta),
            neighbours: Some(neighbours),
            ..parameters(Order::Six)
        };
        let mut scheme = AhmadCohen::new(scheme, CLOCK);
        let plain = multipoint::Parameters { eta, limits: limits(), ..multipoint::Parameters::new(Precision::F64) };
        let mut plain = Multipoint::new(plain, CLOCK);
        scheme.start(&mut p, &mut its).unwrap();
        plain.start(&mut q, &mut other).unwrap();
        p.step.clone_from(&q.step);
        p.states.get_mut::<History>().clone_from(q.states.get::<History>());
        if neighbours == 0.0 {
            p.states.get_mut::<Neighbours>().regular_step.clone_from(&q.step);
            p.states.get_mut::<Neighbours>().regular_history.clone_from(q.states.get::<History>());
        }
        scheme.resume(&p, Time::default(), &mut its).unwrap();
        let what = format!("{neighbours} neighbours");
        assert_step_for_step((p, scheme, its), (q, plain, other), 1e-13, &what);
    }
}

/// With lists that change and steps of many lengths, and first steps of 4th order, errors of positions fall as those of the
/// plain schemes do in such runs, halving both η: by powers of 4 and of nearly 5 (docs: The multi-point scheme).
#[test]
fn verify_orders_with_changing_lists() {
    let start = plummer::sample(64, 4, 0.999);
    let exact = {
        let parameters = multipoint::Parameters {
            order: multipoint::Order::Eight,
            eta: 0.03,
            limits: limits(),
            ..multipoint::Parameters::new(Precision::F64)
        };
        let (mut p, mut engine, mut scheme) = (start.clone(), engine(EPSILON), Multipoint::new(parameters, CLOCK));
        scheme.start(&mut p, &mut engine).unwrap();
        advance(&mut p, &mut scheme, &mut engine, Time::from_dt_max(4));
        p
    };
    for (order, min, etas) in [(Order::Four, 3.7, [0.1, 0.05, 0.025]), (Order::Six, 4.7, [0.36, 0.18, 0.09])] {
        let errors = etas.map(|eta| {
            let given = parameters(order);
            let mut p = start.clone();
            integrate(&mut p, Parameters { eta, ..given }, EPSILON, 4);
            distance(&p, &exact)
        });
        let slope = (errors[0] / errors[2]).ln() / (etas[0] / etas[2]).ln();
        println!("{order:?}: {errors:?}, slope {slope:.2}");
        assert!(slope > min, "{order:?}: slope {slope}, errors {errors:?}");
    }
}

/// Geometric mean over some spheres of the largest energy error in half a time unit.
fn mean_error<I: Integrator<Evaluation = Forces>>(n: usize, seeds: u64, scheme: impl Fn() -> I) -> f64 {
    let epsilon = 1.0 / 256.0;
    let log = |seed| {
        let (mut p, mut engine, mut scheme) = (plummer::sample(n, seed, 0.999), engine(epsilon), scheme());
        scheme.start(&mut p, &mut engine).unwrap();
        let first = energy(&p, epsilon);
        let errors = (1..=4).map(|k| {
            advance(&mut p, &mut scheme, &mut engine, Time::from_dt_max(k));
            (energy(&p, epsilon) / first - 1.0).abs()
        });
        errors.fold(0.0, f64::max).ln()
    };
    ((1..=seeds).map(log).sum::<f64>() / seeds as f64).exp()
}

#[test]
fn the_energy_error_is_at_most_twice_that_of_the_plain_scheme() {
    for (n, seeds) in [(256, 8), (1000, 3)] {
        let plain = hermite4::Parameters { limits: limits(), ..hermite4::Parameters::new(Precision::F64) };
        let of_plain = mean_error(n, seeds, || Hermite4::new(plain, CLOCK));
        for order in [Order::Six, Order::Four] {
            let found = mean_error(n, seeds, || AhmadCohen::new(parameters(order), CLOCK));
            println!("N = {n}, {order:?}: {found:.1e}, plain {of_plain:.1e}");
            assert!(found < 2.0 * of_plain, "N = {n}, {order:?}: {found:.1e}, plain {of_plain:.1e}");
        }
    }
}

/// After a start the lists are what lies within the radii, and their mean length is the wanted number.
#[test]
fn lists_have_the_wanted_number() {
    let mut p = plummer::sample(1000, 5, 0.999);
    let (mut its, mut scheme) = (engine(EPSILON), AhmadCohen::new(parameters(Order::Six), CLOCK));
    scheme.start(&mut p, &mut its).unwrap();
    let mean = |p: &Particles| {
        p.states.get::<Neighbours>().lists.iter().map(|list| list.len() as f64).sum::<f64>() / p.len() as f64
    };
    let first = mean(&p);
    advance(&mut p, &mut scheme, &mut its, Time::from_dt_max(8));
    let later = mean(&p);
    println!("{first:.2} neighbours, later {later:.2}");
    let wanted = tisane::integrator::ahmad_cohen::neighbour_number(1000);
    assert!((first - wanted.round()).abs() < 0.5 && (later / wanted - 1.0).abs() < 0.25, "{first} {later}");
    for (i, list) in p.states.get::<Neighbours>().lists.iter().enumerate() {
        assert!(list.windows(2).all(|pair| pair[0] < pair[1]) && !list.contains(&(i as u32)));
    }
}

/// The forces that an audit compares are whole.
#[test]
fn audited_forces_are_the_whole_force() {
    let mut p = plummer::sample(500, 5, 0.999);
    let (mut its, mut scheme) = (engine(EPSILON), AhmadCohen::new(parameters(Order::Six), CLOCK));
    scheme.start(&mut p, &mut its).unwrap();
    let end = Time::from_dt_max(2);
    advance(&mut p, &mut scheme, &mut its, end);
    let index: Vec<u32> = (0..500).collect();
    let found = scheme.forces(&p, end, Targets::all(&p, &index), &mut its).unwrap();
    let mut whole = Forces::default();
    its.evaluate(end, Targets::all(&p, &index), &mut whole).unwrap();
    for k in 0..500 {
        assert!((found.acc[k] - whole.acc[k]).norm() < 1e-13 * whole.acc[k].norm());
        assert!((found.pot[k] / whole.pot[k] - 1.0).abs() < 1e-13);
    }
}

/// Systems that a neighbour scheme may find hard: the energy is conserved as by the plain scheme within a factor 3, in
/// not more steps.
#[test]
fn hard_systems_are_integrated_as_by_the_plain_scheme() {
    for (what, start) in hard_systems() {
        let epsilon = 1.0 / 256.0;
        let run = |neighbours: bool| {
            let (mut p, mut engine) = (start.clone(), engine(epsilon));
            let first = energy(&p, epsilon);
            let plain = hermite4::Parameters { limits: limits(), ..hermite4::Parameters::new(Precision::F64) };
            let mut scheme: Box<dyn Integrator<Evaluation = Forces>> = match neighbours {
                true => Box::new(AhmadCohen::new(parameters(Order::Six), CLOCK)),
                false => Box::new(Hermite4::new(plain, CLOCK)),
            };
            scheme.start(&mut p, &mut engine).unwrap();
            let mut worst = 0f64;
            let mut steps = 0;
            for k in 1..=8 {
                steps += advance(&mut p, &mut *scheme, &mut engine, Time::from_dt_max(k));
                worst = worst.max((energy(&p, epsilon) / first - 1.0).abs());
            }
            (worst, steps)
        };
        let ((found, steps), (plain, of_plain)) = (run(true), run(false));
        println!("{what}: {found:.1e} in {steps} steps, plain {plain:.1e} in {of_plain}");
        assert!(found < 3.0 * plain + 1e-12, "{what}: {found:.1e}, plain {plain:.1e}");
        assert!(steps < of_plain + of_plain / 4 + 100, "{what}: {steps} steps, plain {of_plain}");
    }
}

/// A list may come to hold all other particles, and lose some of them again: then the regular force is zero for a while.
#[test]
fn regress_lists_of_all_others_do_not_end_the_steps() {
    let (mut sums, mut full) = ([0.0; 3], 0);
    for (n, seed) in (6..=16).flat_map(|n| (1..=5).map(move |seed| (n, seed))) {
        let start = plummer::sample(n, seed, 0.999);
        let plain = hermite4::Parameters { limits: limits(), ..hermite4::Parameters::new(Precision::F64) };
        let schemes: [Box<dyn Integrator<Evaluation = Forces>>; 3] = [
            Box::new(AhmadCohen::new(parameters(Order::Six), CLOCK)),
            Box::new(AhmadCohen::new(parameters(Order::Four), CLOCK)),
            Box::new(Hermite4::new(plain, CLOCK)),
        ];
        for (mut scheme, sum) in schemes.into_iter().zip(&mut sums) {
            let (mut p, mut engine) = (start.clone(), engine(EPSILON));
            scheme.start(&mut p, &mut engine).unwrap();
            for k in 1..=16 {
                advance(&mut p, &mut *scheme, &mut engine, Time::from_dt_max(k));
                full += p.states.get::<Neighbours>().lists.iter().filter(|list| list.len() == n - 1).count();
            }
            *sum += (energy(&p, EPSILON) / energy(&start, EPSILON) - 1.0).abs();
        }
    }
    let [sixth, fourth, plain] = sums;
    assert!((50..500).contains(&full), "{full} lists have all particles");
    println!(
        "mean errors in units of those of the plain scheme: {:.2}, of 4th order {:.2}",
        sixth / plain,
        fourth / plain
    );
    assert!(sixth < 2.0 * plain && fourth < 4.0 * plain, "{sixth:.1e}, {fourth:.1e}, plain {plain:.1e}");
}

fn hard_systems() -> Vec<(&'static str, Particles)> {
    let sphere = |n, seed| plummer::sample(n, seed, 0.999);
    let scaled = |mut p: Particles, length: f64, speed: f64| {
        p.pos.iter_mut().for_each(|x| *x *= length);
        p.vel.iter_mut().for_each(|v| *v *= speed);
        p
    };
    let with_masses = |mut p: Particles, of: &dyn Fn(usize) -> f64| {
        p.mass = (0..p.len()).map(of).collect();
        let total = p.total_mass();
        p.mass.iter_mut().for_each(|mass| *mass /= total);
        p
    };
    let together = |parts: &[(Particles, Vec3, Vec3)]| {
        let (mut mass, mut pos, mut vel) = (Vec::new(), Vec::new(), Vec::new());
        for (p, at, speed) in parts {
            mass.extend(p.mass.iter().map(|mass| mass / parts.len() as f64));
            pos.extend(p.pos.iter().map(|x| x + at));
            vel.extend(p.vel.iter().map(|v| v + speed));
        }
        Particles::new(mass, pos, vel)
    };
    let escapers = |mut p: Particles| {
        for i in 0..5 {
            p.pos[i] = p.pos[i].normalize() * 60.0;
        }
        p
    };
    let (x, y) = (Vec3::x(), Vec3::y());
    vec![
        ("two bodies", common::kepler(0.3, 0.5)),
        ("three bodies", sphere(3, 2)),
        ("ten bodies", sphere(10, 2)),
        ("cold collapse", scaled(sphere(256, 3), 1.0, 0.05)),
        ("half of the mass in 1 % of the bodies", with_masses(sphere(300, 4), &|i| if i < 3 { 99.0 } else { 1.0 })),
        ("a central body of 10 %", {
            let mut p = with_masses(sphere(256, 5), &|i| if i == 0 { 28.0 } else { 1.0 });
            (p.pos[0], p.vel[0]) = (Vec3::zeros(), Vec3::zeros());
            p
        }),
        (
            "two colliding clusters",
            together(&[
                (scaled(sphere(128, 6), 0.5, 1.0), x * 1.5 + y * 0.2, -x),
                (scaled(sphere(128, 7), 0.5, 1.0), -x * 1.5 - y * 0.2, x),
            ]),
        ),
        ("escapers at 60", escapers(sphere(256, 8))),
    ]
}

#[test]
fn a_state_without_lists_is_refused() {
    let (mut p, mut its) = (plummer::sample(20, 1, 0.999), engine(EPSILON));
    let mut scheme = AhmadCohen::new(parameters(Order::Six), CLOCK);
    assert!(scheme.resume(&p, Time::default(), &mut its).unwrap_err().to_string().contains("lists of neighbours"));
    scheme.start(&mut p, &mut its).unwrap();
    scheme.resume(&p, Time::default(), &mut its).unwrap();
    // Of another order, and a list with a number that there is not.
    let mut other = AhmadCohen::new(parameters(Order::Four), CLOCK);
    assert!(other.resume(&p, Time::default(), &mut its).is_err());
    p.states.get_mut::<Neighbours>().lists[3].push(20);
    assert!(scheme.resume(&p, Time::default(), &mut its).is_err());
}

/// Steps below the floor end the run, with a state to resume, or are clamped, as users ask.
#[test]
fn the_floor_of_the_steps_holds() {
    let start = common::kepler(0.5, 0.98);
    let floor = Level(8);
    let with = |on_floor| {
        let given = Parameters::new(Order::Six, Precision::F64);
        Parameters { limits: Limits { floor, on_floor, ..given.limits }, ..given }
    };
    let (mut p, mut its) = (start.clone(), engine(0.0));
    let mut scheme = AhmadCohen::new(with(OnFloor::Stop), CLOCK);
    scheme.start(&mut p, &mut its).unwrap();
    let mut error = None;
    while error.is_none() {
        error = scheme.advance(&mut p, &mut its, Time::from_dt_max(60), 1).err();
    }
    match error.unwrap() {
        Error::StepBelowFloor(it) => assert!(it.section == "integrator.ahmad_cohen" && it.resumable),
        other => panic!("{other}"),
    }
    let (mut p, mut scheme) = (start, AhmadCohen::new(with(OnFloor::Clamp), CLOCK));
    scheme.start(&mut p, &mut its).unwrap();
    let done = scheme.advance(&mut p, &mut its, Time::from_dt_max(60), u64::MAX).unwrap();
    assert!(done.clamped > 0 && p.step.iter().all(|step| *step <= floor));
}

/// Rounding errors of regular forces do not shorten the steps.
#[test]
fn regress_rounding_does_not_make_regular_steps_collapse() {
    let steps = |precision: Precision, criteria: Option<[Criterion; 2]>| {
        let given = Parameters::new(Order::Six, precision);
        let given = Parameters { limits: Limits { floor: Level::DEEPEST, ..given.limits }, ..given };
        let parameters = Parameters { criteria: criteria.unwrap_or(given.criteria), ..given };
        let mut engine = tisane::force::cpu::engine(precision, EPSILON, CLOCK, Width::choose().unwrap());
        let (mut p, mut scheme) = (plummer::sample(512, 3, 0.999), AhmadCohen::new(parameters, CLOCK));
        scheme.start(&mut p, &mut *engine).unwrap();
        let done = scheme.advance(&mut p, &mut *engine, Time::from_dt_max(2), u64::MAX).unwrap();
        done.pairs
    };
    let exact = steps(Precision::F64, None);
    for precision in Precision::ALL.into_iter().filter(|mode| !mode.in_f64()) {
        let found = steps(precision, None);
        println!("{}: {found} pairs, in f64 {exact}", precision.name());
        assert!(found < exact + exact / 2, "{}: {found} pairs, in f64 {exact}", precision.name());
    }
}
