//! Promise: block steps that the GPU takes by itself, with either of its kernels for them, have the bits of those that the
//! host takes, in every mode, however they are divided among calls, also where the GPU leaves steps to the host. Without a GPU each test reports that it is
//! skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use gpu::{modes, needed, shapes, sizes};
use std::time::Duration;
use tisane::force::block_steps::{Pause, Span};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaEngine, LaunchShape, StepKernels};
use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
use tisane::integrator::multipoint::{self, Multipoint, Order};
use tisane::integrator::{Integrator, Progress};
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History;
use tisane::time::{Clock, Level, Time};

pub(super) const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.09375 };

/// Kernels that take whole block steps. `TISANE_STEP_KERNELS` names those to test, for a sanitizer.
pub(super) fn kernels() -> Vec<StepKernels> {
    let Some(names) = gpu::listed::<String>("TISANE_STEP_KERNELS") else {
        return vec![StepKernels::Resident, StepKernels::Launched];
    };
    let named = |name: &String| match &**name {
        "resident" => StepKernels::Resident,
        "launched" => StepKernels::Launched,
        _ => panic!("TISANE_STEP_KERNELS: {name}?"),
    };
    names.iter().map(named).collect()
}

/// Engine that takes whole block steps by these kernels, or leaves them to the host.
pub(super) fn engine(precision: Precision, epsilon: f64, kernels: Option<StepKernels>) -> Option<CudaEngine> {
    let mut engine = needed(CudaEngine::new(precision, epsilon, CLOCK, 0))?;
    engine.set_stepping(kernels.is_some());
    engine.set_step_kernels(kernels);
    Some(engine)
}

pub(super) fn hermite(precision: Precision, limits: impl FnOnce(Limits) -> Limits) -> Hermite4 {
    let parameters = Parameters::new(precision);
    Hermite4::new(Parameters { limits: limits(parameters.limits), ..parameters }, CLOCK)
}

/// Returns the other schemes for a mode: by several evaluations a step, and multi-point.
pub(super) fn other_schemes(precision: Precision) -> Vec<(&'static str, Box<dyn Integrator<Evaluation = Forces>>)> {
    let iterated = |iterations| {
        let parameters = Parameters { iterations, ..Parameters::new(precision) };
        let limits = Limits { floor: Level::DEEPEST, ..parameters.limits };
        Box::new(Hermite4::new(Parameters { limits, ..parameters }, CLOCK))
    };
    let multipoint = |order, eta| {
        let parameters = multipoint::Parameters::new(precision);
        let limits = Limits { floor: Level::DEEPEST, ..parameters.limits };
        Box::new(Multipoint::new(multipoint::Parameters { order, eta, limits, ..parameters }, CLOCK))
    };
    let compensated = Limits::new(precision).compensated;
    let with = |compensated| Limits { floor: Level::DEEPEST, compensated, ..Limits::new(precision) };
    let otherwise = |iterations| {
        let limits = with(!compensated);
        Box::new(Hermite4::new(Parameters { iterations, limits, ..Parameters::new(precision) }, CLOCK))
    };
    let multipoint_otherwise = |order| {
        let limits = with(!compensated);
        let parameters = multipoint::Parameters { order, limits, ..multipoint::Parameters::new(precision) };
        Box::new(Multipoint::new(parameters, CLOCK))
    };
    let mut all: Vec<(_, Box<dyn Integrator<Evaluation = Forces>>)> = vec![
        ("P(EC)^2", iterated(2)),
        ("P(EC)^3", iterated(3)),
        ("order 6", multipoint(Order::Six, 0.35)),
        ("order 4, compensated otherwise", otherwise(1)),
        ("P(EC)^2, compensated otherwise", otherwise(2)),
        ("order 6, compensated otherwise", multipoint_otherwise(Order::Six)),
    ];
    if precision.in_f64() {
        all.push(("order 8", multipoint(Order::Eight, 0.2)));
    }
    all
}

/// Integrates over two longest steps, up to `max` block steps a call.
pub(super) fn run(
    engine: &mut dyn ForceEngine,
    integrator: &mut dyn Integrator<Evaluation = Forces>,
    start: &Particles,
    max: u64,
) -> (String, Progress) {
    let mut p = start.clone();
    let mut all = integrator.start(&mut p, engine).unwrap();
    let until = Time::from_dt_max(2);
    while all.now < until {
        let done = integrator.advance(&mut p, engine, until, max).unwrap();
        all = Progress {
            now: done.now,
            block_steps: all.block_steps + done.block_steps,
            particle_steps: all.particle_steps + done.particle_steps,
            pairs: all.pairs + done.pairs,
            clamped: all.clamped + done.clamped,
        };
    }
    // What the engine holds is the state too.
    let index: Vec<u32> = (0..p.len() as u32).collect();
    let mut forces = Forces::default();
    engine.evaluate(until, Block::from_particles(&p, index).view(), &mut forces).unwrap();
    let sums: Vec<u64> = forces.pot.iter().map(|pot| pot.to_bits()).collect();
    (
        format!(
            "{} {:x?} {:?} {:?}",
            p.state_sha256(&CLOCK),
            sums.iter().fold(0, |a, b| a ^ b),
            p.step.iter().max(),
            p.pot.iter().map(|x| x.to_bits()).fold(history_bits(&p), |a, b| a.rotate_left(1) ^ b)
        ),
        all,
    )
}

/// Returns a number that depends on all bits of the history.
fn history_bits(p: &Particles) -> u64 {
    let mut bits = 0u64;
    let mut add = |word: u64| bits = bits.rotate_left(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word;
    let mut add_all = |column: &[Vec3]| column.iter().flatten().for_each(|x| add(x.to_bits()));
    let History { derivatives, points } = p.states.get();
    derivatives.iter().for_each(|column| add_all(column));
    points.iter().for_each(|point| [&point.acc, &point.jerk].into_iter().for_each(|column| add_all(column)));
    points.iter().flat_map(|point| &point.time).for_each(|time| add(time.0));
    bits
}

#[test]
fn every_mode_and_size_ends_in_the_hosts_state() {
    for precision in modes() {
        for n in sizes() {
            for epsilon in [0.0, 1.0 / 64.0] {
                let start = plummer::sample(n, n as u64, 0.999);
                let limits = |limits| Limits { floor: Level::DEEPEST, ..limits };
                let Some(mut host) = engine(precision, epsilon, None) else { return };
                let want = run(&mut host, &mut hermite(precision, limits), &start, u64::MAX);
                for kernels in kernels() {
                    let Some(mut device) = engine(precision, epsilon, Some(kernels)) else { return };
                    for max in [u64::MAX, 100, 17] {
                        let got = run(&mut device, &mut hermite(precision, limits), &start, max);
                        let what = format!("{} N = {n}, epsilon = {epsilon}", precision.name());
                        assert_eq!(got, want, "{what}, {kernels:?}, {max} steps a call");
                    }
                }
                println!("{} N = {n}, epsilon = {epsilon}: {:?}", precision.name(), want.1);
            }
        }
    }
}

/// Small blocks of systems of 64 and 128 groups, whose parts several warps gather, in the modes that add in a tree.
#[test]
fn steps_of_many_groups_end_in_the_hosts_state() {
    let limits = |limits| Limits { floor: Level::DEEPEST, ..limits };
    for precision in modes() {
        for n in [9000, 33_000] {
            let start = plummer::sample(n, 5, 0.999);
            let Some(mut host) = engine(precision, 1.0 / 64.0, None) else { return };
            let Some(mut device) = engine(precision, 1.0 / 64.0, Some(StepKernels::Resident)) else { return };
            device.reserve(n).unwrap();
            if !device.can_take_steps().unwrap() {
                println!("{}: N = {n} does not fit on the device", precision.name());
                continue;
            }
            let want = run(&mut host, &mut hermite(precision, limits), &start, u64::MAX);
            assert_eq!(
                run(&mut device, &mut hermite(precision, limits), &start, u64::MAX),
                want,
                "{} N = {n}",
                precision.name()
            );
            println!("{} N = {n}: {:?}", precision.name(), want.1);
        }
    }
}

#[test]
fn every_other_scheme_ends_in_the_hosts_state() {
    for precision in modes() {
        for n in sizes() {
            for epsilon in [0.0, 1.0 / 64.0] {
                let start = plummer::sample(n, n as u64, 0.999);
                let Some(mut host) = engine(precision, epsilon, None) else { return };
                let of_host = other_schemes(precision).into_iter();
                let want: Vec<_> =
                    of_host.map(|(_, mut scheme)| run(&mut host, &mut *scheme, &start, u64::MAX)).collect();
                for kernels in kernels() {
                    let Some(mut device) = engine(precision, epsilon, Some(kernels)) else { return };
                    for max in [u64::MAX, 19] {
                        for ((name, mut scheme), want) in other_schemes(precision).into_iter().zip(&want) {
                            let got = run(&mut device, &mut *scheme, &start, max);
                            let case = format!("{} {name} N = {n}, epsilon = {epsilon}", precision.name());
                            assert_eq!(&got, want, "{case}, {kernels:?}, {max} steps a call");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn f64_ends_in_the_cpus_state() {
    let start = plummer::sample(700, 3, 0.999);
    let mut on_cpu = cpu::engine(Precision::F64, 1.0 / 64.0, CLOCK, Width::choose().unwrap());
    let of =
        |engine: &mut dyn ForceEngine| run(engine, &mut hermite(Precision::F64, |limits| limits), &start, u64::MAX);
    let want = of(&mut *on_cpu);
    for kernels in kernels() {
        let Some(mut device) = engine(Precision::F64, 1.0 / 64.0, Some(kernels)) else { return };
        assert_eq!(of(&mut device), want, "{kernels:?}");
        let (for_device, for_cpu) = (other_schemes(Precision::F64), other_schemes(Precision::F64));
        for ((name, mut on_device), (_, mut of_cpu)) in for_device.into_iter().zip(for_cpu) {
            let want = run(&mut *on_cpu, &mut *of_cpu, &start, u64::MAX);
            assert_eq!(run(&mut device, &mut *on_device, &start, u64::MAX), want, "{name}, {kernels:?}");
        }
    }
}

/// The shape of the forces changes no bit of launched steps, nor does their division into batches.
#[test]
fn launched_steps_take_every_shape() {
    let of = |engine: &mut CudaEngine, precision: Precision, n: usize, steps: u64| {
        let mut p = plummer::sample(n, 11, 0.999);
        let mut integrator = hermite(precision, |limits| limits);
        integrator.start(&mut p, engine).unwrap();
        let done = integrator.advance(&mut p, engine, Time::from_dt_max(1), steps).unwrap();
        (p.state_sha256(&CLOCK), done)
    };
    for precision in modes() {
        let Some(mut host) = engine(precision, 1.0 / 64.0, None) else { return };
        let Some(mut device) = engine(precision, 1.0 / 64.0, Some(StepKernels::Launched)) else { return };
        let steps = if gpu::few_shapes() { 20 } else { 200 };
        for n in sizes().into_iter().filter(|n| *n <= 1000) {
            let want = of(&mut host, precision, n, steps);
            for shape in shapes(&device).into_iter().map(Some).chain([None]) {
                device.set_shape(shape);
                assert_eq!(of(&mut device, precision, n, steps), want, "{} N = {n} {shape:?}", precision.name());
            }
        }
    }
    if gpu::few_shapes() {
        return;
    }
    // 313 spans, of fewer targets at a time than there are particles.
    let Some(mut host) = engine(Precision::Mixed, 1.0 / 64.0, None) else { return };
    let Some(mut device) = engine(Precision::Mixed, 1.0 / 64.0, Some(StepKernels::Launched)) else { return };
    device.set_shape(Some(LaunchShape::Tiles { targets: 2, threads: 64, span_bags: 1 }));
    let all = |engine: &mut CudaEngine| of(engine, Precision::Mixed, 20_000, u64::MAX);
    assert_eq!(all(&mut device), all(&mut host));
}

#[test]
fn steps_at_the_floor_are_clamped_and_counted() {
    for precision in modes() {
        let start = plummer::sample(300, 5, 0.999);
        let limits = |limits| Limits { floor: Level(7), on_floor: OnFloor::Clamp, ..limits };
        let Some(mut host) = engine(precision, 0.0, None) else { return };
        let want = run(&mut host, &mut hermite(precision, limits), &start, u64::MAX);
        assert!(want.1.clamped > 100, "{:?}", want.1);
        for kernels in kernels() {
            let Some(mut device) = engine(precision, 0.0, Some(kernels)) else { return };
            let got = run(&mut device, &mut hermite(precision, limits), &start, u64::MAX);
            assert_eq!(got, want, "{} {kernels:?}", precision.name());
        }
    }
}

/// A run that has to stop below the floor stops after the same step, with the same message.
#[test]
fn steps_below_the_floor_end_in_the_same_error() {
    let start = plummer::sample(300, 6, 0.999);
    let end = |kernels: Option<StepKernels>| {
        let mut engine = engine(Precision::Mixed, 0.0, kernels)?;
        let mut integrator = hermite(Precision::Mixed, |limits| Limits { floor: Level(15), ..limits });
        let mut p = start.clone();
        integrator.start(&mut p, &mut engine).unwrap();
        let until = Time::from_dt_max(400);
        let mut steps = 0;
        loop {
            match integrator.advance(&mut p, &mut engine, until, u64::MAX) {
                Ok(done) if done.now == until => return Some((steps, String::new(), p.state_sha256(&CLOCK))),
                Ok(done) => steps += done.block_steps,
                Err(e) => return Some((steps, e.to_string(), p.state_sha256(&CLOCK))),
            }
        }
    };
    let Some(want) = end(None) else { return };
    println!("{want:?}");
    assert!(want.0 > 100 && want.1.contains("time step"), "the sphere needs other steps for this test: {want:?}");
    for kernels in kernels() {
        assert_eq!(end(Some(kernels)).unwrap(), want, "{kernels:?}");
    }
}

/// A star on which no force acts needs the host's closer look whenever it moves: its companions have no mass.
#[test]
fn forces_that_need_a_closer_look_change_nothing() {
    for precision in [Precision::Mixed, Precision::F64] {
        let mut start = plummer::sample(40, 7, 0.999);
        start.mass.iter_mut().skip(1).for_each(|mass| *mass = 0.0);
        let of = |engine: &mut CudaEngine| run(engine, &mut hermite(precision, |limits| limits), &start, u64::MAX);
        let Some(mut host) = engine(precision, 1.0 / 64.0, None) else { return };
        let want = of(&mut host);
        for kernels in kernels() {
            let Some(mut device) = engine(precision, 1.0 / 64.0, Some(kernels)) else { return };
            assert_eq!(of(&mut device), want, "{} {kernels:?}", precision.name());
        }
    }
}

/// Such a step is the host's, but none of those before it.
#[test]
fn one_step_is_left_to_the_host() {
    let mut start = plummer::sample(40, 7, 0.999);
    start.mass.iter_mut().skip(1).for_each(|mass| *mass = 0.0);
    for kernels in kernels() {
        let Some(mut engine) = engine(Precision::F64, 1.0 / 64.0, Some(kernels)) else { return };
        let (mut p, mut integrator) = (start.clone(), hermite(Precision::F64, |limits| limits));
        integrator.start(&mut p, &mut engine).unwrap();
        let rules = integrator.step_rules(&p).unwrap();
        let span = Span { from: Time::default(), until: Time::from_dt_max(2), max: u64::MAX };
        let taken = engine.take_steps(&mut p, &rules, span, None).unwrap().unwrap();
        assert!(taken.refused == 1 && taken.block_steps > 0, "{kernels:?} {taken:?}");
        assert_eq!(taken.now.0, p.time.iter().map(|time| time.0).max().unwrap(), "{kernels:?}");
    }
}

/// An escaper so far away that f32 loses the forces on it ends the run with the message of the host.
#[test]
fn a_number_out_of_range_is_told_by_the_host() {
    let end = |kernels: Option<StepKernels>| {
        let mut start = plummer::sample(100, 8, 0.999);
        (start.pos[5][0], start.vel[5][0]) = (1e10, 1e11);
        let mut engine = engine(Precision::Mixed, 1.0 / 64.0, kernels)?;
        let mut integrator = hermite(Precision::Mixed, |limits| Limits { floor: Level::DEEPEST, ..limits });
        integrator.start(&mut start, &mut engine).unwrap();
        loop {
            match integrator.advance(&mut start, &mut engine, Time::from_dt_max(400), u64::MAX) {
                Ok(done) if done.block_steps == 0 => return Some(String::new()),
                Ok(_) => (),
                Err(e) => return Some(e.to_string()),
            }
        }
    };
    let Some(want) = end(None) else { return };
    println!("{want}");
    assert!(want.contains("particle 5"), "{want}");
    for kernels in kernels() {
        assert_eq!(end(Some(kernels)).unwrap(), want, "{kernels:?}");
    }
}

#[test]
fn a_pause_comes_between_steps_and_changes_no_bit() {
    let start = plummer::sample(500, 9, 0.999);
    for kernels in kernels() {
        let Some(mut device) = engine(Precision::Mixed, 1.0 / 64.0, Some(kernels)) else { return };
        let whole = run(&mut device, &mut hermite(Precision::Mixed, |limits| limits), &start, u64::MAX);
        let mut paused = hermite(Precision::Mixed, |limits| limits);
        paused.set_pause(Pause::new(|| true, Duration::ZERO));
        assert_eq!(run(&mut device, &mut paused, &start, u64::MAX), whole, "{kernels:?}");
    }
}
