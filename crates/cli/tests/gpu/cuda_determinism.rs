//! Promise: on a GPU too the state that a run ends in depends on its input, mode and scheme alone: not on launch
//! shapes, even where they change from block to block, the host's threads, outputs, or on being stopped and resumed. In
//! `f64` it is the state that `tests/determinism.txt` has for the CPU, and with IEEE kernels it is in every mode; there
//! a run may change between GPU and CPU on the way. The environment is that of `cuda_parity`: `TISANE_NEED_GPU`,
//! `TISANE_KERNELS` with `TISANE_PARITY=bits`, `TISANE_MODES`, `TISANE_FEW_SHAPES`. Without a GPU each test says that
//! it is skipped.
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::matrix;
use gpu::{acceleration_shapes, held_to_bits, modes, needed, shapes};
use matrix::{Course, Job, STRAIGHT, Scheme, System, assert_ends_in, end_of, engines, row, schemes};
use tisane::error::Result;
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{AccelerationShape, CudaAccelerations, CudaEngine, LaunchShape};
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, EngineKind, ForceEngine, Forces, Targets};
use tisane::particles::Particles;
use tisane::time::Time;
use tisane_run::system::Engines;

/// An engine that takes another launch shape at each evaluation, in turn; `None` is its own choice.
struct Turning<E, S> {
    engine: E,
    shapes: Vec<Option<S>>,
    evaluations: usize,
}

impl<E, S: Copy> Turning<E, S> {
    fn next(&mut self) -> Option<S> {
        self.evaluations += 1;
        self.shapes[self.evaluations % self.shapes.len()]
    }
}

impl ForceEngine for Turning<CudaEngine, LaunchShape> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }
    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        let shape = self.next();
        self.engine.set_shape(shape);
        self.engine.evaluate(now, targets, out)
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        self.engine.evaluate_neighbours(task, out)
    }
}

impl ForceEngine<Accelerations> for Turning<CudaAccelerations, AccelerationShape> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }
    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }
    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        let shape = self.next();
        self.engine.set_shape(shape);
        self.engine.evaluate(now, targets, out)
    }
}

/// The launch shapes of a session: all in turn, or the one of that number; the engine's own choice is number 0.
#[derive(Clone, Copy)]
enum ShapeChoice {
    All,
    One(usize),
}

impl ShapeChoice {
    fn select<S>(self, all: Vec<S>) -> Vec<Option<S>> {
        let mut all: Vec<Option<S>> = std::iter::once(None).chain(all.into_iter().map(Some)).collect();
        match self {
            Self::All => all,
            Self::One(number) => vec![all.swap_remove(number)],
        }
    }
}

fn force_engine(job: &Job, precision: Precision) -> Result<CudaEngine> {
    let mut engine = CudaEngine::new(precision, job.epsilon(), job.clock(), 0)?;
    engine.reserve(job.n())?;
    Ok(engine)
}

fn acceleration_engine(job: &Job) -> Result<CudaAccelerations> {
    let mut engine = CudaAccelerations::new(job.precision, job.epsilon(), 0)?;
    engine.reserve(job.n())?;
    Ok(engine)
}

/// What computes on the GPU, put together as a run has it.
fn on_gpu(job: &Job, choice: ShapeChoice) -> Engines {
    let f64_engine = || -> Box<dyn ForceEngine> { Box::new(force_engine(job, Precision::F64).unwrap()) };
    let propagator = match job.scheme {
        Scheme::Leapfrog => {
            let engine = acceleration_engine(job).unwrap();
            let shapes = choice.select(acceleration_shapes(job.precision, &engine));
            job.accelerations(Box::new(Turning { engine, shapes, evaluations: 0 }), f64_engine())
        }
        _ => {
            let engine = force_engine(job, job.precision).unwrap();
            let shapes = choice.select(shapes(&engine));
            let engine = Box::new(Turning { engine, shapes, evaluations: 0 });
            job.forces(engine, (job.precision != Precision::F64).then(f64_engine))
        }
    };
    let width = Width::choose().unwrap();
    let auditor = cpu::engine(Precision::F64, job.epsilon(), job.clock(), width);
    Engines { kind: EngineKind::Cuda, ..engines(propagator, Some(auditor)) }
}

/// How many launch shapes there are with the engine's own choice; none without a GPU, if there need not be one.
fn count_shapes(job: &Job) -> Option<usize> {
    Some(
        1 + match job.scheme {
            Scheme::Leapfrog => acceleration_shapes(job.precision, &needed(acceleration_engine(job))?).len(),
            _ => shapes(&needed(force_engine(job, job.precision))?).len(),
        },
    )
}

/// Runs in every way that end in one state. The multi-point schemes and subsystems share the kernels of the scheme of 4th order,
/// and take another launch shape at each evaluation instead of each for a whole run.
fn every_way(precision: Precision, scheme: Scheme) {
    let exact = precision == Precision::F64 || held_to_bits();
    for &system in scheme.systems() {
        let job = Job { precision, scheme, system };
        let Some(count) = count_shapes(&job) else { return };
        // As long as one engine is there, the driver keeps what the next ones need.
        let _kept = force_engine(&job, Precision::F64).unwrap();
        let expected = if exact {
            job.expected().to_owned()
        } else {
            end_of(&job, &STRAIGHT, &|_| (1, on_gpu(&job, ShapeChoice::One(0))))
        };
        let same = |course: &Course, threads: usize, shapes: ShapeChoice, what: &str| {
            assert_ends_in(&expected, &job, course, what, &|session| (threads + session, on_gpu(&job, shapes)));
        };
        let briefly = !matches!(scheme, Scheme::Hermite4 | Scheme::Leapfrog);
        for number in 0..if briefly { 1 } else { count } {
            let course = if system == System::Softened { row(number / 5 % 5, number % 5).0 } else { STRAIGHT };
            same(&course, 1 + number % 4, ShapeChoice::One(number), &format!("launch shape {number}"));
        }
        let mut runs = if briefly { 1 } else { count };
        let turns: Vec<_> = match system {
            System::Softened if !briefly => (0..25).map(|k| (k / 5, k % 5)).collect(),
            System::Large => vec![(0, 0)],
            // Whole runs on the host, with many small blocks: the CPU's table has the other courses.
            _ if scheme == Scheme::Encounters => vec![(0, 0)],
            _ => (0..5).map(|k| (k, k)).collect(),
        };
        for (i, j) in turns {
            let (course, _, threads) = row(i, j);
            same(&course, 1 + threads, ShapeChoice::All, "another launch shape at each evaluation");
            runs += 1;
            if exact && !course.sessions.is_empty() {
                assert_ends_in(&expected, &job, &course, "GPU and CPU by turns", &|session| {
                    let cpu = || job.on_cpu(Some(Width::choose().unwrap()));
                    (1 + threads, if session % 2 == 0 { on_gpu(&job, ShapeChoice::All) } else { cpu() })
                });
                runs += 1;
            }
        }
        let whose = if exact { "the CPU's" } else { "one" };
        println!("{}: {runs} runs, {count} launch shapes, {whose} state {expected}", job.name());
    }
}

#[test]
fn every_mode_ends_in_one_state_by_the_hermite_scheme() {
    modes().into_iter().for_each(|precision| every_way(precision, Scheme::Hermite4));
}

#[test]
fn subsystems_end_in_one_state() {
    modes().into_iter().for_each(|precision| every_way(precision, Scheme::Encounters));
}

#[test]
fn every_mode_ends_in_one_state_by_the_multipoint_schemes() {
    for precision in modes() {
        let multipoint = |scheme: &Scheme| matches!(scheme, Scheme::Multipoint6 | Scheme::Multipoint8);
        schemes(precision).filter(multipoint).for_each(|scheme| every_way(precision, scheme));
    }
}

#[test]
fn every_mode_ends_in_one_state_by_the_neighbour_scheme() {
    for precision in modes() {
        let neighbours = |scheme: &Scheme| matches!(scheme, Scheme::AhmadCohen6 | Scheme::AhmadCohen4);
        schemes(precision).filter(neighbours).for_each(|scheme| every_way(precision, scheme));
    }
}

#[test]
fn every_mode_ends_in_one_state_by_the_leapfrog() {
    modes().into_iter().for_each(|precision| every_way(precision, Scheme::Leapfrog));
}
