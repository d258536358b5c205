//! Points of a study that differ in the seed alone, integrated many at a time on a GPU.

use super::integrators::Integrator;
use super::plummer::{self, Sphere};
use super::trial::Measured;
use super::trials::{self, Common, Key};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tisane::diagnostics::reference::{Basis, Reference};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::block_steps::SystemStepper;
use tisane::force::precision::Precision;
use tisane::spin_pool;
use tisane::time::Time;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Engine;
use tisane_run::system::System;
use tisane_run::together::{self, Together};

/// Stepper with the mode and the number of particles that it was built for; none if the device has none for them.
type Opened = Option<(Precision, u32, Option<Box<dyn SystemStepper>>)>;

/// The GPU of a study whose points are measured at once: one batch of points has it at a time.
#[derive(Default)]
pub struct Gpu(Mutex<Opened>);

/// Returns true if two points differ in the seed alone, and a GPU may take them together: by Newton's law.
#[must_use]
pub fn is_together(common: &Common, a: &Key, b: &Key) -> bool {
    let is_for_gpu = common.engine(a) == Engine::Cuda && a.integrator == Integrator::default() && a.law.is_none();
    is_for_gpu && Key { seed: b.seed, ..a.clone() } == *b
}

/// Measures points that differ in the seed alone: on a GPU together, where it can step them by itself.
pub fn measure(common: &Common, keys: &[&Key], gpu: &Gpu) -> Vec<Result<Measured>> {
    let each = || keys.iter().map(|key| common.measure(key)).collect();
    let Some(first) = keys.first().filter(|key| common.engine(key) == Engine::Cuda) else { return each() };
    let mut opened = gpu.0.lock().unwrap_or_else(PoisonError::into_inner);
    match together_on(common, keys, first, &mut opened) {
        Ok(Some(measured)) => measured,
        Ok(None) => each(),
        // It is that of all: one of them says so.
        Err(error) => vec![Err(error)],
    }
}

/// Measures points that differ in the seed alone together; [`None`] if the GPU cannot.
fn together_on(
    common: &Common,
    keys: &[&Key],
    first: &Key,
    opened: &mut Opened,
) -> Result<Option<Vec<Result<Measured>>>> {
    if first.integrator != Integrator::default() || first.law.is_some() {
        return Ok(None);
    }
    if !opened.as_ref().is_some_and(|(mode, n, _)| (*mode, *n) == (first.mode, first.n)) {
        let stepper = assemble::system_stepper(first.mode, common.device, first.n as usize)?;
        *opened = Some((first.mode, first.n, stepper));
    }
    let Some((.., Some(stepper))) = opened else { return Ok(None) };
    let span = first.time_span()?;
    // Those of each point, as far as there are cores.
    let threads = (first.threads * keys.len()).min(trials::threads(0)).max(first.threads);
    spin_pool::on_threads(threads, || {
        let set = |key: &&Key| {
            let sphere = Sphere { n: key.n, seed: key.seed, epsilon: key.epsilon };
            plummer::setup(sphere, &span, (key.integrator, key.accuracy), (Engine::Cuda, key.mode))
        };
        let setups = keys.par_iter().map(set).collect::<Result<Vec<Setup>>>()?;
        over(&mut **stepper, setups, (EngineKind::Cuda, common.device), plummer::steps(&span))
    })
}

/// Integrates systems of one mode, in steps of dt_max, and measures each over `span`, without times; [`None`] if their
/// scheme needs the host in each step.
fn over(
    stepper: &mut dyn SystemStepper,
    setups: Vec<Setup>,
    (kind, device): (EngineKind, u32),
    span: Range<u64>,
) -> Result<Option<Vec<Result<Measured>>>> {
    let length = |setup: &Setup| (span.end - span.start) as f64 * setup.clock.dt_max * setup.scale.time;
    let lengths: Vec<f64> = setups.iter().map(length).collect();
    let built = setups.into_par_iter().map(|setup| Together::new(setup, kind, device));
    let Some(mut all) = built.collect::<Result<Option<Vec<Together>>>>()? else { return Ok(None) };
    together::start(stepper, &mut all)?;
    together::integrate(stepper, &mut all, Time::from_dt_max(span.start))?;
    let begin = |it: &mut Together| Some((it.attempt(reference)?, it.system.state.counters));
    let before: Vec<_> = all.par_iter_mut().map(begin).collect();
    let mut errors: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    for step in span.start + 1..=span.end {
        together::integrate(stepper, &mut all, Time::from_dt_max(step))?;
        all.par_iter_mut().zip(&before).zip(&mut errors).for_each(|((it, before), errors)| {
            errors.extend(before.and_then(|(start, _)| it.attempt(|system| energy_error(system, &start))));
        });
    }
    let results = all.into_iter().zip(before).zip(errors).zip(lengths).map(|(((it, before), errors), span)| {
        let not_finite = || Error::Integration { problem: "the energy is not a finite number".into(), help: None };
        let (Some((start, before)), None) = (before, &it.problem) else {
            return Err(it.problem.unwrap_or_else(not_finite));
        };
        if start.basis != Basis::NotMeasured && !errors.iter().all(|error| error.is_finite()) {
            return Err(not_finite());
        }
        let System { particles, state, .. } = &it.system;
        let now = state.counters;
        Ok(Measured {
            span,
            block_steps: now.block_steps - before.block_steps,
            particle_steps: now.particle_steps - before.particle_steps,
            pairs: now.pair_interactions - before.pair_interactions,
            energy_error: errors.last().copied().unwrap_or_default(),
            errors,
            state_sha256: particles.state_sha256(&state.clock),
            ..Measured::default()
        })
    });
    Ok(Some(results.collect()))
}

/// Reference of the errors of a synchronised system, measured in f64.
fn reference(system: &mut System) -> Result<Reference> {
    let field = system.field()?;
    Ok(Reference::new(&system.particles, &field))
}

/// Relative energy error of a synchronised system, measured in f64.
fn energy_error(system: &mut System, start: &Reference) -> Result<f64> {
    let field = system.field()?;
    Ok(start.energy_error(start.energy_of(&system.particles, &field)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::config::TimeSpan;
    use crate::study::trial;
    use tisane::force::block_steps::{Pause, SystemSteps, Taken};
    use tisane::force::{ForceEngine, Forces, Targets};
    use tisane::integrator::AnyIntegrator;
    use tisane::particles::Particles;
    use tisane::time::Clock;
    use tisane_run::assemble::{OnGpu, Session, force_engine};
    use tisane_run::config::LawSection;

    /// Takes steps on the CPU, some at a time, and refuses some.
    struct Stepper {
        setup: Setup,
        asked: u64,
    }

    fn on_cpu(epsilon: f64, clock: Clock) -> Result<Box<dyn ForceEngine>> {
        force_engine(None, Engine::Cpu, Precision::F64, epsilon, clock, OnGpu::default())
    }

    impl SystemStepper for Stepper {
        fn forces(&mut self, systems: &[(&Particles, f64)]) -> Result<Vec<Forces>> {
            let of = |&(p, epsilon): &(&Particles, f64)| {
                let (mut engine, mut found) = (on_cpu(epsilon, self.setup.clock)?, Forces::default());
                engine.load(p)?;
                let index: Vec<u32> = (0..p.len() as u32).collect();
                let targets = Targets { index: &index, pos: &p.pos, vel: &p.vel };
                engine.evaluate(Time::default(), targets, &mut found)?;
                Ok(found)
            };
            systems.iter().map(of).collect()
        }

        fn take(&mut self, systems: &mut [SystemSteps<'_>], _: Option<&Pause>) -> Result<Vec<Taken>> {
            let take = |it: &mut SystemSteps<'_>| {
                self.asked += 1;
                let nothing = Taken { now: it.span.from, ..Taken::default() };
                if self.asked.is_multiple_of(5) {
                    return Ok(Taken { refused: 3, ..nothing });
                }
                // As on a device, no step is taken below the floor.
                if it.particles.step.iter().any(|level| *level > it.rules.floor) {
                    return Ok(nothing);
                }
                let scheme = self.setup.config.integrator.scheme();
                let AnyIntegrator::Forces(mut own) = scheme.build(Precision::F64, it.clock) else {
                    unreachable!("a Hermite scheme");
                };
                let mut engine = on_cpu(it.epsilon, it.clock)?;
                own.resume(it.particles, it.span.from, &mut *engine)?;
                let done = own.advance(it.particles, &mut *engine, it.span.until, 40)?;
                let (now, block_steps, particle_steps) = (done.now, done.block_steps, done.particle_steps);
                Ok(Taken { now, block_steps, particle_steps, ..nothing })
            };
            systems.iter_mut().map(take).collect()
        }
    }

    #[test]
    fn points_of_a_device_are_those_measured_one_by_one() {
        let mut failed = 0;
        // With the largest floor all of the spheres need shorter steps.
        for dt_min in [1e-7, 2f64.powi(-13), 2f64.powi(-11)] {
            let real = |x| tisane::units::Real::new(x).unwrap();
            let span = TimeSpan { epsilon: real(0.01), dt_min: real(dt_min), ..TimeSpan::default() };
            let set = |seed| {
                let sphere = Sphere { n: 64, seed, epsilon: span.epsilon.get() };
                plummer::setup(
                    sphere,
                    &span,
                    (Integrator::named("hermite4").unwrap(), 0.01),
                    (Engine::Cpu, Precision::F64),
                )
                .unwrap()
            };
            let mut stepper = Stepper { setup: set(1), asked: 0 };
            let steps = plummer::steps(&span);
            let found = over(&mut stepper, (1..=6).map(set).collect(), (EngineKind::Cpu, 0), steps.clone());
            for (seed, found) in (1..=6).zip(found.unwrap().unwrap()) {
                match (trial::run(&set(seed), Session::default(), steps.clone(), None), found) {
                    (Ok(alone), Ok(found)) => {
                        let untimed =
                            Measured { seconds: 0.0, host_seconds: 0.0, groups: Vec::new(), ..alone.unwrap() };
                        assert_eq!(found, untimed, "seed {seed}");
                    }
                    (Err(alone), Err(found)) => {
                        assert_eq!(found.to_string(), alone.to_string());
                        assert!(matches!(found, Error::StepBelowFloor(_)));
                        failed += 1;
                    }
                    (alone, found) => panic!("seed {seed}: {alone:?} and {found:?}"),
                }
            }
        }
        assert!((1..=12).contains(&failed), "{failed} of 18 failed");
    }

    #[test]
    fn points_of_a_gpu_that_differ_in_the_seed_alone_are_together() {
        let span = TimeSpan::default();
        let engines = vec![(Engine::Cuda, "cuda: a GPU".to_owned()), (Engine::Cpu, "cpu".to_owned())];
        let common = Common { engines, device: 0, time_span: span, threads: 1, law: None };
        let key = |engine, seed, nu| {
            common.key(engine, (64, seed), Precision::F64, (Integrator::named("hermite4").unwrap(), nu), None)
        };
        let (a, b) = (key("cuda: a GPU", 1, 0.01), key("cuda: a GPU", 2, 0.01));
        assert!(is_together(&common, &a, &b));
        assert!(!is_together(&common, &a, &key("cuda: a GPU", 2, 0.02)));
        assert!(!is_together(&common, &key("cpu", 1, 0.01), &key("cpu", 2, 0.01)));
        let by_law = |key: &Key| Key { law: Some(LawSection::default()), ..key.clone() };
        assert!(!is_together(&common, &by_law(&a), &by_law(&b)), "a GPU takes whole block steps by Newton's law only");
    }
}
