//! Many systems whose block steps a device takes together. The host measures them, and takes the few steps whose forces
//! need its closer look. Each system has the bits that it has alone.

use crate::assemble::{OnGpu, Setup, engines_stepped_elsewhere, force_engine};
use crate::config::Engine;
use crate::system::{Engines, System};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result, RunContext};
use tisane::force::block_steps::{Pause, Span, StepRules, SystemStepper, SystemSteps, Taken};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine, Forces, Targets};
use tisane::integrator::Progress;
use tisane::particles::Particles;
use tisane::time::Time;

/// Smallest number of steps that the host takes after the device refused some.
const HOST_TURN: u64 = 16;
/// Smallest number of systems that a thread looks at after the device took their steps.
const SHARE: usize = 16;

/// Forces that a device computed on all particles of a system at its present positions.
#[derive(Clone, Default)]
pub(crate) struct Given(Arc<Mutex<Option<Forces>>>);

impl Given {
    /// Hands forces to the engine of the system, or takes them back.
    pub(crate) fn set(&self, forces: Option<Forces>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = forces;
    }
}

/// Engine of a system: forces that the device computed, and those of an engine of its own while the host takes steps.
struct GivenEngine {
    given: Given,
    open: Box<dyn Fn() -> Result<Box<dyn ForceEngine>> + Send>,
    engine: Option<Box<dyn ForceEngine>>,
    particles: Particles,
}

impl ForceEngine for GivenEngine {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine = None;
        self.particles.clone_from(all);
        Ok(())
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        match &mut self.engine {
            Some(engine) => engine.update(all, changed),
            None => self.load(all),
        }
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        if let Some(forces) = &*self.given.0.lock().unwrap_or_else(PoisonError::into_inner) {
            out.resize(targets.len());
            for (k, &i) in targets.index.iter().enumerate() {
                let i = i as usize;
                (out.acc[k], out.jerk[k], out.pot[k]) = (forces.acc[i], forces.jerk[i], forces.pot[i]);
            }
            return Ok(());
        }
        let engine = match &mut self.engine {
            Some(engine) => engine,
            none => {
                let mut engine = (self.open)()?;
                engine.load(&self.particles)?;
                none.insert(engine)
            }
        };
        engine.evaluate(now, targets, out)
    }
}

/// Builds the engines of a system whose block steps a device takes, with the bits of a kind of engine, and the place of
/// forces that the device computes for it. [`None`] if its scheme needs the host in each step.
pub(crate) fn engines(setup: &Setup, kind: EngineKind, device: u32) -> Result<Option<(Engines, Given)>> {
    let (precision, epsilon, clock) = (setup.config.force.precision(), setup.epsilon(), setup.clock);
    let on = OnGpu { device, room_for: setup.particles.len(), ..OnGpu::default() };
    // In f64 the CPU has the same bits.
    let engine = if precision == Precision::F64 { Engine::Cpu } else { Engine::Cuda };
    let open = Box::new(move || force_engine(None, engine, precision, epsilon, clock, on));
    let given = Given::default();
    let engine = GivenEngine { given: given.clone(), open, engine: None, particles: Particles::default() };
    let engines = engines_stepped_elsewhere(setup, kind, Box::new(engine))?;
    Ok(engines.map(|engines| (engines, given)))
}

/// System whose turn it is.
pub(crate) struct Turn<'a> {
    pub system: &'a mut System,
    /// Rules of its steps, once they are known: they stay the same until the device refuses a step.
    pub rules: &'a mut Option<StepRules>,
    /// Softening, in internal units.
    pub epsilon: f64,
    /// Moment that no step passes.
    pub until: Time,
}

impl Turn<'_> {
    /// Returns the rules of the steps, and true if they are of the present positions.
    fn rules(&mut self) -> Result<(StepRules, bool)> {
        let System { particles, engines, .. } = &mut *self.system;
        let none = || Error::Integration { problem: "this scheme has no rules for a device".into(), help: None };
        match self.rules {
            Some(rules) => Ok((*rules, false)),
            None => Ok((*self.rules.insert(engines.propagator.step_rules(particles).ok_or_else(none)?), true)),
        }
    }

    /// Takes the steps that the device left to the host, if it did, by rules that are new or not.
    fn go_on(&mut self, taken: &Taken, (rules, are_new): &(StepRules, bool)) -> Result<bool> {
        if taken.refused > 0 {
            // The reach within which a force needs no closer look may be that of earlier positions: the device is asked
            // once more, by rules of the present ones.
            *self.rules = None;
            if *are_new {
                self.step_on_host(taken.refused.max(HOST_TURN))?;
            }
        } else if taken.now < self.until && self.is_below(rules) {
            // The host says so.
            self.step_on_host(1)?;
        }
        Ok(self.system.state.now == self.until)
    }

    /// Returns true if a particle needs a step below the floor of these rules.
    fn is_below(&self, rules: &StepRules) -> bool {
        !rules.clamps && self.system.particles.step.iter().any(|level| *level > rules.floor)
    }

    /// Counts steps that the device took.
    fn count(&mut self, taken: &Taken) {
        let n = self.system.particles.len() as u64;
        let pairs = taken.particle_steps * n.saturating_sub(1);
        let Taken { now, block_steps, particle_steps, clamped, .. } = *taken;
        self.system.count(Progress { now, block_steps, particle_steps, pairs, clamped });
    }

    /// Takes up to some steps with forces of the system's own engine.
    fn step_on_host(&mut self, steps: u64) -> Result<()> {
        self.system.engines.propagator.resume(&self.system.particles, self.system.state.now)?;
        self.system.advance(self.until, steps).map(drop)
    }
}

/// Takes steps of systems of one mode, all that the device takes until `pause`, and some on the host after a refusal.
/// Returns for each system whether it has reached its moment, or the error that ended it.
pub(crate) fn take_turn(
    stepper: &mut dyn SystemStepper,
    turns: &mut [Turn<'_>],
    pause: Option<&Pause>,
) -> Result<Vec<Result<bool>>> {
    let rules: Vec<(StepRules, bool)> = turns.par_iter_mut().map(Turn::rules).collect::<Result<_>>()?;
    let systems = turns.iter_mut().zip(&rules).map(|(turn, (rules, _))| {
        let System { particles, state, .. } = &mut *turn.system;
        let span = Span { from: state.now, until: turn.until, max: u64::MAX };
        let before = state.counters.block_steps;
        SystemSteps { particles, clock: state.clock, epsilon: turn.epsilon, rules: *rules, span, before }
    });
    let taken = stepper.take(&mut systems.collect::<Vec<_>>(), pause)?;
    let after = |((turn, rules), taken): ((&mut Turn<'_>, &(StepRules, bool)), Taken)| {
        turn.count(&taken);
        turn.go_on(&taken, rules)
    };
    Ok(turns.par_iter_mut().zip(&rules).zip(taken).with_min_len(SHARE).map(after).collect())
}

/// System that a device integrates together with others of its mode.
pub struct Together {
    /// The system.
    pub system: System,
    rules: Option<StepRules>,
    epsilon: f64,
    given: Given,
    context: RunContext,
    /// Error that ended it: then it stays where it is.
    pub problem: Option<Error>,
}

impl Together {
    /// Builds a system with the bits of a kind of engine, and `device` for the steps that the host takes. [`None`] if its
    /// scheme needs the host in each step.
    ///
    /// # Errors
    /// As [`crate::assemble::engines`].
    pub fn new(setup: Setup, kind: EngineKind, device: u32) -> Result<Option<Self>> {
        let Some((engines, given)) = engines(&setup, kind, device)? else { return Ok(None) };
        let (epsilon, context, state) = (setup.epsilon(), setup.run_context(), setup.state());
        let system = System {
            particles: setup.particles,
            state,
            engines,
            field: tisane_io::fields::FieldColumns::None,
            events: Vec::new(),
            type_changes: Vec::new(),
            runaways: Runaways::default(),
        };
        Ok(Some(Self { system, rules: None, epsilon, given, context, problem: None }))
    }

    /// Does something with the system, if no error ended it. An error ends it.
    pub fn attempt<T>(&mut self, what: impl FnOnce(&mut System) -> Result<T>) -> Option<T> {
        if self.problem.is_some() {
            return None;
        }
        let done = what(&mut self.system);
        done.map_err(|error| self.problem = Some(error.in_run(&self.context))).ok()
    }
}

/// Computes the first forces and steps of systems of one mode.
///
/// # Errors
/// As [`SystemStepper::forces`].
pub fn start(stepper: &mut dyn SystemStepper, all: &mut [Together]) -> Result<()> {
    let systems: Vec<(&Particles, f64)> = all.iter().map(|it| (&it.system.particles, it.epsilon)).collect();
    let forces = stepper.forces(&systems)?;
    all.par_iter_mut().zip(forces).for_each(|(it, forces)| {
        it.given.set(Some(forces));
        it.attempt(System::start);
        it.given.set(None);
    });
    Ok(())
}

/// Integrates systems of one mode to a moment, those that no error ends.
///
/// # Errors
/// As [`SystemStepper::take`].
pub fn integrate(stepper: &mut dyn SystemStepper, all: &mut [Together], until: Time) -> Result<()> {
    loop {
        let mut going: Vec<&mut Together> =
            all.iter_mut().filter(|it| it.problem.is_none() && it.system.state.now < until).collect();
        if going.is_empty() {
            return Ok(());
        }
        let turns = going.iter_mut().map(|it| Turn {
            system: &mut it.system,
            rules: &mut it.rules,
            epsilon: it.epsilon,
            until,
        });
        let reached = take_turn(stepper, &mut turns.collect::<Vec<_>>(), None)?;
        for (it, reached) in going.into_iter().zip(reached) {
            it.problem = reached.err().map(|error| error.in_run(&it.context));
        }
    }
}
