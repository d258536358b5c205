//! A member whose block steps a device takes.

use super::member::Member;
use super::work::Work;
use crate::assemble::{self, OnGpu, engines_stepped_elsewhere};
use crate::config::Engine;
use crate::simulation::SessionInfo;
use crate::system::System;
use std::sync::{Arc, Mutex, PoisonError};
use tisane::error::{Error, Result};
use tisane::force::block_steps::{StepRules, Taken};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine, Forces, Targets};
use tisane::integrator::Progress;
use tisane::particles::Particles;
use tisane::time::Time;
use tisane_io::checkpoint::MemberState;

/// Member with the forces that the device computed for it.
pub(super) struct Running {
    pub member: Member,
    pub given: Given,
    pub precision: Precision,
    /// Share of its time that was counted.
    pub share: f64,
    rules: Option<StepRules>,
}

/// Forces on all particles of a member at its present positions.
pub(super) type Given = Arc<Mutex<Option<Forces>>>;

pub(super) fn give(given: &Given, forces: Option<Forces>) {
    *given.lock().unwrap_or_else(PoisonError::into_inner) = forces;
}

/// Engine of a member: forces that the device computed, and those of an engine of its own while the host takes steps.
struct MemberEngine {
    given: Given,
    open: Box<dyn Fn() -> Result<Box<dyn ForceEngine>> + Send>,
    engine: Option<Box<dyn ForceEngine>>,
    particles: Particles,
}

impl ForceEngine for MemberEngine {
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
        if let Some(forces) = &*self.given.lock().unwrap_or_else(PoisonError::into_inner) {
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

/// What became of a member that was taken.
pub(super) enum Built {
    Running(Box<Running>, Option<MemberState>),
    /// The host must step it.
    Left(u64, Option<MemberState>),
    Failed(u64, Error),
}

impl Running {
    /// Returns the rules of the steps, and true if they are of the present positions. They stay the same until the device
    /// refuses a step: the reach of the particles, within which a force needs no closer look, may then be that of before.
    pub fn rules(&mut self) -> Result<(StepRules, bool)> {
        let System { particles, engines, .. } = &mut self.member.system;
        let none = || Error::Integration { problem: "this scheme has no rules for a device".into(), help: None };
        if let Some(rules) = self.rules {
            return Ok((rules, false));
        }
        Ok((*self.rules.insert(engines.propagator.step_rules(particles).ok_or_else(none)?), true))
    }

    /// Lets the next steps have rules of the positions that they begin with.
    pub fn renew_rules(&mut self) {
        self.rules = None;
    }

    /// Returns true if a particle needs a step below the floor of these rules.
    pub fn is_below(&self, rules: &StepRules) -> bool {
        !rules.clamps && self.member.system.particles.step.iter().any(|level| *level > rules.floor)
    }

    /// Counts steps that the device took.
    pub fn count(&mut self, taken: &Taken, work: &Work<'_>) {
        let n = self.member.system.particles.len() as u64;
        let pairs = taken.particle_steps * n.saturating_sub(1);
        let Taken { now, block_steps, particle_steps, clamped, .. } = *taken;
        self.member.system.count(Progress { now, block_steps, particle_steps, pairs, clamped });
        self.count_share(block_steps, work);
    }

    fn count_share(&mut self, block_steps: u64, work: &Work<'_>) {
        work.count(block_steps, self.member.share() - self.share);
        self.share = self.member.share();
    }

    /// Takes up to some steps with forces of the member's own engine. Returns true if it is at its next look.
    pub fn step_on_host(&mut self, steps: u64, work: &Work<'_>) -> Result<bool> {
        let until = self.member.next_look();
        let system = &mut self.member.system;
        system.engines.propagator.resume(&system.particles, system.state.now)?;
        let done = system.advance(until, steps)?;
        self.count_share(done.block_steps, work);
        Ok(done.now == until)
    }
}

/// Reads and builds a member, whose bits are those of a kind of engine.
pub(super) fn build(work: &Work<'_>, kind: EngineKind, number: u64, state: Option<MemberState>) -> Result<Built> {
    let setup = assemble::prepare(work.blueprint.member(number)?)?;
    let (precision, epsilon, clock) = (setup.config.force.precision(), setup.epsilon(), setup.clock);
    let device = work.session.device.unwrap_or(setup.config.force.device);
    let on = OnGpu { device, room_for: setup.particles.len(), ..OnGpu::default() };
    // In f64 the CPU has the same bits.
    let engine = if precision == Precision::F64 { Engine::Cpu } else { Engine::Cuda };
    let open = Box::new(move || assemble::force_engine(engine, precision, epsilon, clock, on));
    let given = Given::default();
    let engine = MemberEngine { given: given.clone(), open, engine: None, particles: Particles::default() };
    let Some(engines) = engines_stepped_elsewhere(&setup, kind, Box::new(engine))? else {
        return Ok(Built::Left(number, state));
    };
    let info = SessionInfo { gpu: work.gpu.clone(), ..SessionInfo::default() };
    let member = Member::with_engines(work.blueprint, number, setup, (engines, &info))?;
    Ok(Built::Running(Box::new(Running { member, given, precision, share: 0.0, rules: None }), state))
}
