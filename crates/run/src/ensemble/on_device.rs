//! Members on a GPU: many at a time, whose block steps it takes by itself. The host starts them, measures them at their
//! outputs, and takes the few steps whose forces need its closer look.

use super::member::{Member, Outputs};
use super::on_cores::{self, failed};
use super::work::{Message, Work};
use crate::assemble::{self, OnGpu, engines_stepped_elsewhere};
use crate::config::Engine;
use crate::simulation::SessionInfo;
use crate::system::System;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::force::block_steps::{Pause, Span, StepRules, SystemStepper, SystemSteps, Taken};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, ForceEngine, Forces, Targets};
use tisane::integrator::Progress;
use tisane::particles::Particles;
use tisane::time::Time;
use tisane_io::checkpoint::MemberState;
use tisane_io::table::Value;

/// Largest numbers of members, and of their particles, in progress at a time.
const MOST_MEMBERS: usize = 1 << 16;
const MOST_PARTICLES: usize = 1 << 21;
/// Smallest number of members that are started together.
const LEAST_BATCH: usize = 256;
/// Time after which the device hands the members back: those at their outputs make way for others.
const PAUSE: Duration = Duration::from_millis(100);
/// Smallest number of steps that the host takes after the device refused some.
const HOST_TURN: u64 = 16;

/// Builds what takes the steps of systems of up to a number of particles in a mode; [`None`] if nothing can.
pub(super) type Open<'a> = dyn Fn(Precision, usize) -> Result<Option<Box<dyn SystemStepper>>> + Sync + 'a;

/// Member with the forces that the device computed for it.
struct Running {
    member: Member,
    given: Given,
    precision: Precision,
    /// Share of its time that was counted.
    share: f64,
}

/// Forces on all particles of a member at its present positions.
type Given = Arc<Mutex<Option<Forces>>>;

fn give(given: &Given, forces: Option<Forces>) {
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

/// Integrates all members of the work with what `open` builds, which has the bits of a kind of engine. Returns the error that ends the ensemble, if there is one.
pub(super) fn run(work: &Work<'_>, (kind, open): (EngineKind, &Open<'_>), sender: &Sender<Message>) -> Result<()> {
    let (steppers, running, left) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut device = OnDevice { kind, work, open, sender, steppers, running, left };
    let mut saved = Instant::now();
    loop {
        if !work.is_stopping() {
            device.fill()?;
        }
        if device.running.is_empty() || work.is_stopping() {
            break;
        }
        device.advance()?;
        if saved.elapsed() >= work.checkpoint_interval {
            device.send_states();
            saved = Instant::now();
        }
    }
    device.send_states();
    for (number, state) in std::mem::take(&mut device.left) {
        if work.is_stopping() || !on_cores::integrate(work, number, state, sender) {
            break;
        }
    }
    Ok(())
}

impl Running {
    /// Returns the rules of the next steps.
    fn rules(&mut self) -> Result<StepRules> {
        let System { particles, engines, .. } = &mut self.member.system;
        let none = || Error::Integration { problem: "this scheme has no rules for a device".into(), help: None };
        engines.propagator.step_rules(particles).ok_or_else(none)
    }

    /// Returns true if a particle needs a step below the floor of these rules.
    fn is_below(&self, rules: &StepRules) -> bool {
        !rules.clamps && self.member.system.particles.step.iter().any(|level| *level > rules.floor)
    }

    /// Counts steps that the device took.
    fn count(&mut self, taken: &Taken, work: &Work<'_>) {
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

    /// Takes up to some steps with forces of the member's own engine. Returns true if its next output is due.
    fn step_on_host(&mut self, steps: u64, work: &Work<'_>) -> Result<bool> {
        let until = self.member.next_output();
        let system = &mut self.member.system;
        system.engines.propagator.resume(&system.particles, system.state.now)?;
        let done = system.advance(until, steps)?;
        self.count_share(done.block_steps, work);
        Ok(done.now == until)
    }
}

/// Reads and builds a member, whose bits are those of a kind of engine.
fn build(work: &Work<'_>, kind: EngineKind, number: u64, state: Option<MemberState>) -> Result<Built> {
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
    Ok(Built::Running(Box::new(Running { member, given, precision, share: 0.0 }), state))
}

struct OnDevice<'a> {
    kind: EngineKind,
    work: &'a Work<'a>,
    open: &'a Open<'a>,
    sender: &'a Sender<Message>,
    /// What takes the steps, by mode, with the number of particles that it was built for.
    steppers: BTreeMap<&'static str, (usize, Option<Box<dyn SystemStepper>>)>,
    running: Vec<Running>,
    /// Members that the device cannot step.
    left: Vec<(u64, Option<MemberState>)>,
}

/// What became of a member that was taken.
enum Built {
    Running(Box<Running>, Option<MemberState>),
    /// The host must step it.
    Left(u64, Option<MemberState>),
    Failed(u64, Error),
}

impl OnDevice<'_> {
    /// Starts members until there are enough.
    fn fill(&mut self) -> Result<()> {
        let mut particles: usize = self.running.iter().map(|it| it.member.system.particles.len()).sum();
        while self.running.len() < MOST_MEMBERS && particles < MOST_PARTICLES && !self.work.is_stopping() {
            // The number of particles of a member is known once it is built.
            let batch = (self.running.len() / 2).max(LEAST_BATCH).min(MOST_MEMBERS - self.running.len());
            let taken: Vec<_> = std::iter::from_fn(|| self.work.take()).take(batch).collect();
            if taken.is_empty() {
                return Ok(());
            }
            let work = self.work;
            let build =
                |(number, state)| build(work, self.kind, number, state).unwrap_or_else(|e| Built::Failed(number, e));
            let built: Vec<Built> = taken.into_par_iter().map(build).collect();
            let mut fresh = Vec::new();
            for built in built {
                match built {
                    Built::Running(running, state) => fresh.push((*running, state)),
                    Built::Left(number, state) => self.left.push((number, state)),
                    Built::Failed(number, error) => self.end(failed(number, &error)),
                }
            }
            let fresh = self.that_fit(fresh)?;
            particles += fresh.iter().map(|(it, _)| it.member.system.particles.len()).sum::<usize>();
            self.start(fresh)?;
        }
        Ok(())
    }

    /// Keeps the members that the device can step; the others are left to the host.
    fn that_fit(&mut self, fresh: Vec<(Running, Option<MemberState>)>) -> Result<Vec<(Running, Option<MemberState>)>> {
        let mut fit = Vec::with_capacity(fresh.len());
        for (running, state) in fresh {
            let n = running.member.system.particles.len();
            if self.can_step(running.precision, n)? {
                fit.push((running, state));
            } else {
                self.left.push((running.member.number, state));
            }
        }
        Ok(fit)
    }

    /// Returns true if systems of `n` particles can be stepped, and prepares for them.
    fn can_step(&mut self, precision: Precision, n: usize) -> Result<bool> {
        let (largest, stepper) = self.steppers.entry(precision.name()).or_default();
        if n > *largest {
            match (self.open)(precision, n.next_power_of_two())? {
                Some(made) => (*largest, *stepper) = (n.next_power_of_two(), Some(made)),
                None => return Ok(false),
            }
        }
        Ok(stepper.is_some())
    }

    /// Computes the first forces and steps of new members, and makes their first outputs.
    fn start(&mut self, fresh: Vec<(Running, Option<MemberState>)>) -> Result<()> {
        let (new, resumed): (Vec<_>, Vec<_>) = fresh.into_iter().partition(|(_, state)| state.is_none());
        let mut new: Vec<Running> = new.into_iter().map(|(running, _)| running).collect();
        self.give_forces(&mut new)?;
        self.output(new, Member::start)?;
        for (mut running, state) in resumed {
            let Some(state) = state else { continue };
            match running.member.resume(state) {
                Ok(()) => self.running.push(running),
                Err(error) => self.end(running.member.row(Some(error))),
            }
        }
        Ok(())
    }

    /// Lets the device compute the forces on all particles of members whose particles all stand at one moment.
    fn give_forces(&mut self, members: &mut [Running]) -> Result<()> {
        for (mode, (_, stepper)) in &mut self.steppers {
            let Some(stepper) = stepper else { continue };
            let of_mode: Vec<&Running> = members.iter().filter(|it| it.precision.name() == *mode).collect();
            let systems: Vec<_> = of_mode.iter().map(|it| (&it.member.system.particles, it.member.epsilon())).collect();
            let forces = stepper.forces(&systems)?;
            of_mode.iter().zip(forces).for_each(|(it, forces)| give(&it.given, Some(forces)));
        }
        Ok(())
    }

    /// Makes an output of members, with the forces that they were given. Members that go on are running afterwards.
    fn output(
        &mut self,
        members: Vec<Running>,
        make: impl Fn(&mut Member, &mut Outputs<'_>) -> Result<bool> + Sync,
    ) -> Result<()> {
        let work = self.work;
        let one = |mut running: Running| {
            let mut out = Outputs { tables: work.tables, snapshots: work.snapshots, rows: Vec::new() };
            let ended = make(&mut running.member, &mut out);
            give(&running.given, None);
            (running, ended, out.rows)
        };
        let made: Vec<(Running, Result<bool>, Vec<Vec<Value>>)> = members.into_par_iter().map(one).collect();
        let mut aborted = None;
        for (running, ended, rows) in made {
            if !rows.is_empty() {
                let _ = self.sender.send(Message::Outputs(rows));
            }
            match ended {
                Ok(false) => self.running.push(running),
                Err(error @ Error::Storage { .. }) => {
                    aborted = Some(error);
                    self.running.push(running);
                }
                ended => {
                    self.work.count(0, -running.share);
                    self.end(running.member.row(ended.err()));
                }
            }
        }
        aborted.map_or(Ok(()), Err)
    }

    fn end(&self, row: super::MemberRow) {
        let _ = self.sender.send(Message::Ended(Box::new(row)));
    }

    /// Takes steps of all members for a while, and makes the outputs that are due.
    fn advance(&mut self) -> Result<()> {
        let mut running = std::mem::take(&mut self.running);
        running.sort_by_key(|it| it.precision.name());
        let stop = self.work.stop;
        let pause = Pause::new(move || stop.load(Ordering::Relaxed), PAUSE);
        let mut rules: Vec<StepRules> = Vec::with_capacity(running.len());
        let mut taken: Vec<Taken> = Vec::with_capacity(running.len());
        for of_mode in running.chunk_by_mut(|a, b| a.precision == b.precision) {
            let mode = of_mode.first().map_or("", |it| it.precision.name());
            let Some((_, Some(stepper))) = self.steppers.get_mut(mode) else { continue };
            let first = rules.len();
            let of_member = |it: &mut Running| it.rules();
            rules.extend(of_mode.par_iter_mut().map(of_member).collect::<Result<Vec<_>>>()?);
            let systems = of_mode.iter_mut().zip(&rules[first..]).map(|(it, rules)| {
                let (until, epsilon) = (it.member.next_output(), it.member.epsilon());
                let System { particles, state, .. } = &mut it.member.system;
                let span = Span { from: state.now, until, most: u64::MAX };
                SystemSteps { particles, clock: state.clock, epsilon, rules: *rules, span }
            });
            taken.extend(stepper.take(&mut systems.collect::<Vec<_>>(), Some(&pause))?);
        }
        let (mut due, mut refused) = (Vec::new(), Vec::new());
        for ((mut it, taken), rules) in running.into_iter().zip(taken).zip(rules) {
            let until = it.member.next_output();
            it.count(&taken, self.work);
            if taken.refused > 0 {
                refused.push((it, taken.refused.max(HOST_TURN)));
            } else if taken.now == until {
                due.push(it);
            } else if it.is_below(&rules) {
                // The host says so.
                refused.push((it, 1));
            } else {
                self.running.push(it);
            }
        }
        let work = self.work;
        let by_host = |(mut it, steps): (Running, u64)| {
            let reached = it.step_on_host(steps, work);
            (it, reached)
        };
        let stepped: Vec<_> = refused.into_iter().map(by_host).collect();
        for (it, reached) in stepped {
            match reached {
                Ok(true) => due.push(it),
                Ok(false) => self.running.push(it),
                Err(error) => {
                    self.work.count(0, -it.share);
                    self.end(it.member.row(Some(error)));
                }
            }
        }
        self.give_forces(&mut due)?;
        self.output(due, Member::measure)
    }

    fn send_states(&mut self) {
        for it in &self.running {
            let _ = self.sender.send(Message::State(Box::new(it.member.state())));
        }
    }
}
