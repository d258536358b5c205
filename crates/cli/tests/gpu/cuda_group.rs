//! Promise: several GPUs that work as one engine end in the state of one, with steps by the host and on the devices, however
//! many they are, and in each session another number. With one GPU the engines of the group are all on it. Without a GPU
//! each test reports that it is skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::matrix;
use crate::systems;
use gpu::{held_to_bits, modes, needed, sizes};
use matrix::{Job, STRAIGHT, Scheme, assert_ends_in, end_of, engines, row, schemes};
use tisane::error::Result;
use tisane::force::cuda::{CudaEngine, CudaGroup, StepKernels, list};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::ahmad_cohen::{self, AhmadCohen, Order};
use tisane::integrator::hermite4::{self, Hermite4};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::particles::Particles;
use tisane::time::{Clock, Time};
use tisane_run::system::Engines;

/// A group of `count` engines, on the devices by turns.
fn group(precision: Precision, job: &Job, count: usize) -> Result<CudaGroup> {
    let devices = list()?.len().max(1);
    let engine = |k: usize| {
        let mut engine = CudaEngine::new(precision, job.epsilon(), job.clock(), k % devices)?;
        engine.reserve(job.n())?;
        Ok(engine)
    };
    CudaGroup::new((0..count).map(engine).collect::<Result<_>>()?)
}

/// What computes on several GPUs, put together as a run has it.
fn on_gpus(job: &Job, count: usize) -> Engines {
    let engine = Box::new(group(job.precision, job, count).unwrap());
    let f64_engine = || -> Box<dyn ForceEngine> { Box::new(group(Precision::F64, job, count).unwrap()) };
    let propagator = job.forces(engine, (job.precision != Precision::F64).then(f64_engine));
    Engines { kind: EngineKind::Cuda, ..engines(propagator, None) }
}

#[test]
fn any_number_of_devices_ends_in_one_state() {
    let shared = |scheme: &Scheme| {
        matches!(
            scheme,
            Scheme::Hermite4
                | Scheme::Multipoint6
                | Scheme::Multipoint8
                | Scheme::AhmadCohen6
                | Scheme::AhmadCohen4
                | Scheme::Encounters
        )
    };
    for precision in modes() {
        for scheme in schemes(precision).filter(shared) {
            for &system in scheme.systems() {
                let job = Job { precision, scheme, system };
                let Some(_kept) = needed(group(Precision::F64, &job, 1)) else { return };
                let expected = if precision == Precision::F64 || held_to_bits() {
                    job.expected().to_owned()
                } else {
                    end_of(&job, &STRAIGHT, &|_| (1, on_gpus(&job, 1)))
                };
                for k in 0..5 {
                    let (course, ..) = row(k, k);
                    assert_ends_in(&expected, &job, &course, "steps by the host", &|session| {
                        (1 + k % 2, on_gpus(&job, 2 + (k + session) % 2))
                    });
                }
                println!("{}: one state {expected} on 1, 2 and 3 devices", job.name());
            }
        }
    }
}

/// Forces on a block of every `step`-th particle.
fn evaluate(engine: &mut dyn ForceEngine, (p, step): (&Particles, usize)) -> Forces {
    let (_, now) = systems::system(1, 7);
    engine.load(p).unwrap();
    let mut out = Forces::default();
    for changed in [vec![], vec![0], (0..p.len() as u32).collect()] {
        engine.update(p, &changed).unwrap();
        let block = systems::block(p, now, (0..p.len() as u32).step_by(step).collect());
        engine.evaluate(now, block.view(), &mut out).unwrap();
    }
    out
}

#[test]
fn forces_are_those_of_one_device() {
    for precision in modes() {
        for n in sizes() {
            let (p, _) = systems::system(n, 7);
            let engine = || CudaEngine::new(precision, 1.0 / 128.0, systems::CLOCK, 0);
            let Some(mut one) = needed(engine()) else { return };
            let devices = list().unwrap().len();
            let more = (0..3).map(|k| CudaEngine::new(precision, 1.0 / 128.0, systems::CLOCK, k % devices).unwrap());
            let mut group = CudaGroup::new(more.collect()).unwrap();
            for step in [1, 3] {
                let expected = evaluate(&mut one, (&p, step));
                assert!(evaluate(&mut group, (&p, step)) == expected, "{}, n = {n}", precision.name());
            }
        }
        println!("{}: forces by a group are those of one device", precision.name());
    }
}

/// Integrates a sphere by steps of the engine, which must take them by itself; returns the end and the numbers of block and
/// particle steps.
fn integrate<I: Integrator<Evaluation = Forces>>(
    mut scheme: I,
    engine: &mut dyn ForceEngine,
    n: usize,
    max: u64,
) -> (Particles, [u64; 2]) {
    let (mut p, end) = (plummer::sample(n, 4, 0.999), Time::from_dt_max(2));
    scheme.start(&mut p, engine).unwrap();
    assert!(engine.can_take_steps().unwrap());
    let (mut now, mut work) = (Time::default(), [0; 2]);
    while now < end {
        let done = scheme.advance(&mut p, engine, end, max).unwrap();
        now = done.now;
        work[0] += done.block_steps;
        work[1] += done.particle_steps;
    }
    (p, work)
}

#[test]
fn steps_on_several_devices_are_those_of_one() {
    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.09375 };
    for precision in modes() {
        for n in sizes() {
            let engine = |device: usize| CudaEngine::new(precision, 1.0 / 128.0, CLOCK, device);
            let Some(mut one) = needed(engine(0)) else { return };
            one.set_stepping(true);
            let devices = list().unwrap().len();
            let both = [StepKernels::Resident, StepKernels::Launched];
            for (kernels, (count, max)) in both.into_iter().flat_map(|it| [(it, (2, u64::MAX)), (it, (3, 50))]) {
                let more = (0..count).map(|k| {
                    let mut engine = engine(k % devices).unwrap();
                    engine.set_stepping(true);
                    engine
                });
                let mut group = CudaGroup::new(more.collect()).unwrap();
                group.set_step_kernels(Some(kernels));
                // Blocks of all sizes are shared, or the larger ones.
                group.set_shared_pairs(if max == 50 { 0 } else { n * n / 4 });
                let of = |iterations| hermite4::Parameters { iterations, ..hermite4::Parameters::new(precision) };
                for iterations in [1, 2] {
                    let scheme = || Hermite4::new(of(iterations), CLOCK);
                    let expected = integrate(scheme(), &mut one, n, max);
                    let found = integrate(scheme(), &mut group, n, max);
                    assert!(found == expected, "{}, n = {n}, {iterations} evaluations, {kernels:?}", precision.name());
                }
                let six = || Multipoint::new(multipoint::Parameters::new(precision), CLOCK);
                let expected = integrate(six(), &mut one, n, max);
                assert!(
                    integrate(six(), &mut group, n, max) == expected,
                    "{}, n = {n}, 6th order, {kernels:?}",
                    precision.name()
                );
            }
        }
        println!("{}: steps on several devices are those of one", precision.name());
    }
}

/// Each device has the lists of the particles that it owns: those of all come back, also where the steps end early.
#[test]
fn steps_of_the_neighbour_scheme_on_several_devices_are_those_of_one() {
    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.09375 };
    let large = std::env::var_os("TISANE_SIZES").is_none().then_some(9000);
    for precision in modes() {
        for n in sizes().into_iter().chain(large) {
            let engine = |device: usize| {
                let mut engine = CudaEngine::new(precision, 1.0 / 128.0, CLOCK, device)?;
                engine.set_stepping(true);
                Ok(engine)
            };
            let Some(mut one) = needed(engine(0)) else { return };
            let devices = list().unwrap().len();
            // Lists of all lengths: with the default number, and with few neighbours, of whom some lists have too many.
            for (order, neighbours) in [(Order::Six, None), (Order::Four, None), (Order::Six, Some(3.0))] {
                let parameters = ahmad_cohen::Parameters::new(order, precision);
                let scheme = || AhmadCohen::new(ahmad_cohen::Parameters { neighbours, ..parameters }, CLOCK);
                for (count, max) in [(2, u64::MAX), (3, 50)] {
                    let mut group = CudaGroup::new((0..count).map(|k| engine(k % devices).unwrap()).collect()).unwrap();
                    let expected = integrate(scheme(), &mut one, n, max);
                    let found = integrate(scheme(), &mut group, n, max);
                    let of = format!("{}, n = {n}, {order:?}, {neighbours:?}", precision.name());
                    assert!(found == expected, "{of}, {count} devices");
                }
            }
        }
        println!("{}: steps of the neighbour scheme on several devices are those of one", precision.name());
    }
}

/// Blocks of systems of 64 and 128 groups: of few targets, whose parts several warps gather, and of many.
#[test]
fn steps_of_many_groups_on_several_devices_are_those_of_one() {
    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.09375 };
    for precision in modes() {
        for n in [9000, 33_000] {
            let engine = |device: usize| CudaEngine::new(precision, 1.0 / 128.0, CLOCK, device);
            let Some(mut one) = needed(engine(0)) else { return };
            one.set_step_kernels(Some(StepKernels::Resident));
            one.reserve(n).unwrap();
            if !one.can_take_steps().unwrap() {
                println!("{}: N = {n} does not fit on the device", precision.name());
                continue;
            }
            let scheme = || Hermite4::new(hermite4::Parameters::new(precision), CLOCK);
            let expected = integrate(scheme(), &mut one, n, u64::MAX);
            drop(one);
            let devices = list().unwrap().len();
            for shared_pairs in [0, 1 << 20] {
                let mut group = CudaGroup::new((0..2).map(|k| engine(k % devices).unwrap()).collect()).unwrap();
                group.set_step_kernels(Some(StepKernels::Resident));
                group.set_shared_pairs(shared_pairs);
                let found = integrate(scheme(), &mut group, n, u64::MAX);
                assert!(found == expected, "{}, n = {n}, shared from {shared_pairs} pairs", precision.name());
            }
        }
        println!("{}: steps of many groups on several devices are those of one", precision.name());
    }
}
