//! Promise: several GPUs that work as one engine end in the state of one, with steps by the host and on the devices, however
//! many they are, and in each session another number. With one GPU the engines of the group are all on it. Without a GPU
//! each test reports that it is skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::matrix;
use crate::systems;
use gpu::{held_to_bits, modes, needed, sizes};
use matrix::{Job, STRAIGHT, Scheme, assert_ends_in, end_of, engines, row, schemes};
use std::sync::atomic::{AtomicU64, Ordering};
use tisane::error::Result;
use tisane::force::block_steps::{Pause, Span, StepRules, Taken};
use tisane::force::cuda::{CudaEngine, CudaGroup, list};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine, Forces, Targets};
use tisane::particles::Particles;
use tisane::time::Time;
use tisane_run::system::Engines;

/// A group of `count` engines, on the devices by turns.
fn group(precision: Precision, job: &Job, (count, on_devices): (usize, bool)) -> Result<CudaGroup> {
    let devices = list()?.len().max(1);
    let engine = |k: usize| {
        let mut engine = CudaEngine::new(precision, job.epsilon(), job.clock(), k % devices)?;
        engine.set_stepping(on_devices);
        engine.reserve(job.n())?;
        Ok(engine)
    };
    CudaGroup::new((0..count).map(engine).collect::<Result<_>>()?)
}

/// Block steps that groups took by themselves, of all tests.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A group whose steps are counted.
struct Counted(CudaGroup);

impl ForceEngine for Counted {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.0.load(all)
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.0.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.0.evaluate(now, targets, out)
    }
    fn can_take_steps(&mut self) -> Result<bool> {
        self.0.can_take_steps()
    }
    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let taken = self.0.take_steps(p, rules, span, pause)?;
        TAKEN.fetch_add(taken.map_or(0, |taken| taken.block_steps), Ordering::Relaxed);
        Ok(taken)
    }
}

/// What computes on several GPUs, put together as a run has it.
fn on_gpus(job: &Job, way: (usize, bool)) -> Engines {
    let engine = Box::new(Counted(group(job.precision, job, way).unwrap()));
    let f64_engine = || -> Box<dyn ForceEngine> { Box::new(group(Precision::F64, job, (way.0, false)).unwrap()) };
    let propagator = job.forces(engine, (job.precision != Precision::F64).then(f64_engine));
    Engines { kind: EngineKind::Cuda, ..engines(propagator, None) }
}

#[test]
fn any_number_of_devices_ends_in_one_state() {
    let shared = |scheme: &Scheme| {
        matches!(scheme, Scheme::Hermite4 | Scheme::Multipoint6 | Scheme::Multipoint8 | Scheme::Encounters)
    };
    for precision in modes() {
        for scheme in schemes(precision).filter(shared) {
            for &system in scheme.systems() {
                let job = Job { precision, scheme, system };
                let Some(_kept) = needed(group(Precision::F64, &job, (1, false))) else { return };
                let expected = if precision == Precision::F64 || held_to_bits() {
                    job.expected().to_owned()
                } else {
                    end_of(&job, &STRAIGHT, &|_| (1, on_gpus(&job, (1, false))))
                };
                for (k, on_devices) in [(0, false), (1, true), (2, false), (3, true), (4, true)] {
                    let (course, ..) = row(k, k);
                    let what = format!("steps on the devices: {on_devices}");
                    assert_ends_in(&expected, &job, &course, &what, &|session| {
                        (1 + k % 2, on_gpus(&job, (2 + (k + session) % 2, on_devices)))
                    });
                }
                let own = TAKEN.swap(0, Ordering::Relaxed);
                assert!(own > 0 || scheme == Scheme::Encounters, "{}: no step by the devices", job.name());
                println!("{}: one state {expected} on 1, 2 and 3 devices", job.name());
            }
        }
    }
}

/// A block of every third particle.
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
