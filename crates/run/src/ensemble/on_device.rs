//! Members on a GPU: many at a time, whose block steps it takes by itself. The host starts them, measures them at their
//! outputs, and takes the few steps whose forces need its closer look.

use super::device_member::{Built, Running, build};
use super::member::{Member, Outputs};
use super::on_cores::{self, failed};
use super::rows::MemberRow;
use super::work::{Message, Work};
use crate::together::{Turn, take_turn};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::block_steps::{Pause, SystemStepper};
use tisane::force::precision::Precision;
use tisane_io::checkpoint::MemberState;
use tisane_io::table::Value;

/// Largest numbers of members, and of their particles, in progress at a time.
const MOST_MEMBERS: usize = 1 << 16;
const MOST_PARTICLES: usize = 1 << 21;
/// Smallest number of members that are started together.
const LEAST_BATCH: usize = 4096;
/// Smallest number of members that a thread looks at.
const SHARE: usize = 16;
/// Time after which the device hands the members back: those at their outputs make way for others.
const PAUSE: Duration = Duration::from_millis(100);
/// The same where there are no others.
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// Builds what takes the steps of systems of up to a number of particles in a mode; [`None`] if nothing can.
pub(super) type Open<'a> = dyn Fn(Precision, usize) -> Result<Option<Box<dyn SystemStepper>>> + Sync + 'a;

/// What takes the steps, by mode, with the number of particles that it was built for.
type Steppers = BTreeMap<&'static str, (usize, Option<Box<dyn SystemStepper>>)>;

/// A GPU, and what steps members there.
#[derive(Clone, Copy)]
pub(super) struct Device<'a> {
    pub number: u32,
    /// Engine whose bits it has.
    pub kind: EngineKind,
    pub open: &'a Open<'a>,
}

/// Integrates members of the work on a GPU until there are no more. Returns the error that ends the ensemble, if there is
/// one.
pub(super) fn run(work: &Work<'_>, device: Device<'_>, sender: &Sender<Message>) -> Result<()> {
    let (steppers, running, left) = (BTreeMap::new(), Vec::new(), Vec::new());
    let spent = Spent::default();
    let mut device = OnDevice { spent, device, work, sender, steppers, running, left };
    let mut saved = Instant::now();
    let mut outcome = Ok(());
    while outcome.is_ok() && !work.is_stopping() {
        outcome = device.fill();
        if outcome.is_err() || work.is_stopping() {
            break;
        }
        if device.running.is_empty() {
            device.finish_left();
            if work.wait() {
                continue;
            }
            break;
        }
        outcome = device.advance();
        if saved.elapsed() >= work.checkpoint_interval {
            device.send_states();
            saved = Instant::now();
        }
    }
    // Also where an output could not be written.
    device.send_states();
    tracing::info!("device {}: {}", device.device.number, device.spent.describe());
    outcome
}

/// Wall time of the parts of the work.
#[derive(Debug, Default)]
struct Spent {
    building: Duration,
    opening: Duration,
    forces: Duration,
    steps: Duration,
    looks: Duration,
}

impl Spent {
    fn describe(&self) -> String {
        let Self { building, opening, forces, steps, looks } = self;
        let of = |part: &Duration| format!("{:.3} s", part.as_secs_f64());
        format!(
            "members built in {}; GPU opened in {}, block steps {}, forces at outputs {}; looks and outputs {}",
            of(building),
            of(opening),
            of(steps),
            of(forces),
            of(looks)
        )
    }
}

struct OnDevice<'a> {
    spent: Spent,
    device: Device<'a>,
    work: &'a Work<'a>,
    sender: &'a Sender<Message>,
    steppers: Steppers,
    running: Vec<Running>,
    /// Members that the device cannot step.
    left: Vec<(u64, Option<MemberState>)>,
}

/// End of a member at an output.
enum End {
    /// It goes on.
    None,
    Row(Box<MemberRow>),
    /// A file cannot be written, which ends the ensemble.
    Aborted(Error),
}

impl OnDevice<'_> {
    /// Starts members until there are enough.
    fn fill(&mut self) -> Result<()> {
        let mut particles: usize = self.running.iter().map(|it| it.member.system.particles.len()).sum();
        let most = MOST_MEMBERS.min(self.work.share);
        while self.running.len() < most && particles < MOST_PARTICLES && !self.work.is_stopping() {
            // The number of particles of a member is known once it is built.
            let batch = (self.running.len() / 2).max(LEAST_BATCH).min(most - self.running.len());
            let taken: Vec<_> = std::iter::from_fn(|| self.work.take()).take(batch).collect();
            if taken.is_empty() {
                return Ok(());
            }
            let (work, on) = (self.work, (self.device.kind, self.device.number));
            let build = |(number, state)| build(work, on, number, state).unwrap_or_else(|e| Built::Failed(number, e));
            let began = Instant::now();
            let built: Vec<Built> = taken.into_par_iter().map(build).collect();
            self.spent.building += began.elapsed();
            let mut fresh = Vec::new();
            for built in built {
                match built {
                    Built::Running(running, state) => fresh.push((*running, state)),
                    Built::Left(number, state) => self.left.push((number, state)),
                    Built::Failed(number, error) => self.end(&failed(number, &error)),
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
            let began = Instant::now();
            let made = (self.device.open)(precision, n.next_power_of_two())?;
            self.spent.opening += began.elapsed();
            match made {
                Some(made) => (*largest, *stepper) = (n.next_power_of_two(), Some(made)),
                None => return Ok(false),
            }
        }
        Ok(stepper.is_some())
    }

    /// Computes the first forces and steps of new members, and makes their first outputs.
    fn start(&mut self, fresh: Vec<(Running, Option<MemberState>)>) -> Result<()> {
        let (new, resumed): (Vec<_>, Vec<_>) = fresh.into_iter().partition(|(_, state)| state.is_none());
        let new: Vec<Running> = new.into_iter().map(|(running, _)| running).collect();
        self.give_forces(&new)?;
        self.output(new, Member::start)?;
        let mut at_look = Vec::new();
        for (mut running, state) in resumed {
            let Some(state) = state else { continue };
            match running.member.resume(state) {
                // A look that the state was kept before: its output could not be written.
                Ok(()) if running.member.is_at_look() => at_look.push(running),
                Ok(()) => self.running.push(running),
                Err(error) => self.end(&running.member.row(Some(error))),
            }
        }
        self.look_at(at_look)
    }

    /// Lets the device compute the forces on all particles of members whose particles all stand at one moment.
    fn give_forces(&mut self, members: &[Running]) -> Result<()> {
        let began = Instant::now();
        for (mode, (_, stepper)) in &mut self.steppers {
            let Some(stepper) = stepper else { continue };
            let of_mode: Vec<&Running> = members.iter().filter(|it| it.precision.name() == *mode).collect();
            let systems: Vec<_> = of_mode.iter().map(|it| (&it.member.system.particles, it.member.epsilon())).collect();
            let forces = stepper.forces(&systems)?;
            of_mode.iter().zip(forces).for_each(|(it, forces)| it.given.set(Some(forces)));
        }
        self.spent.forces += began.elapsed();
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
            running.given.set(None);
            let end = match ended {
                Ok(false) => End::None,
                Err(error @ Error::Storage { .. }) => End::Aborted(error),
                ended => End::Row(Box::new(running.member.row(ended.err()))),
            };
            (running, end, out.rows)
        };
        let began = Instant::now();
        let made: Vec<(Running, End, Vec<Vec<Value>>)> = members.into_par_iter().map(one).collect();
        self.spent.looks += began.elapsed();
        let mut aborted = None;
        for (running, end, rows) in made {
            if !rows.is_empty() {
                let _ = self.sender.send(Message::Outputs(rows));
            }
            match end {
                End::None => self.running.push(running),
                End::Aborted(error) => {
                    aborted = Some(error);
                    self.running.push(running);
                }
                End::Row(row) => {
                    self.work.count(0, -running.share);
                    self.end(&row);
                }
            }
        }
        aborted.map_or(Ok(()), Err)
    }

    fn end(&self, row: &MemberRow) {
        let _ = self.sender.send(self.work.ended(row));
    }

    /// Integrates the members that the device cannot step.
    fn finish_left(&mut self) {
        for (number, state) in std::mem::take(&mut self.left) {
            if self.work.is_stopping() || !on_cores::integrate(self.work, number, state, self.sender) {
                break;
            }
        }
    }

    /// Takes steps of all members for a while, and makes the outputs that are due.
    fn advance(&mut self) -> Result<()> {
        let mut running = std::mem::take(&mut self.running);
        running.sort_by_key(|it| it.precision.name());
        let stop = self.work.stop;
        let after = if self.work.waiting() > 0 { PAUSE } else { LAST_PAUSE };
        let pause = Pause::new(move || stop.load(Ordering::Relaxed), after);
        let steps: Vec<u64> = running.iter().map(|it| it.member.system.state.counters.block_steps).collect();
        let mut reached = Vec::with_capacity(running.len());
        for of_mode in running.chunk_by_mut(|a, b| a.precision == b.precision) {
            let mode = of_mode.first().map_or("", |it| it.precision.name());
            let Some((_, Some(stepper))) = self.steppers.get_mut(mode) else { continue };
            let mut turns: Vec<Turn<'_>> = of_mode.iter_mut().map(Running::turn).collect();
            let began = Instant::now();
            reached.extend(take_turn(&mut **stepper, &mut turns, Some(&pause))?);
            self.spent.steps += began.elapsed();
        }
        let mut due = Vec::new();
        for ((mut it, reached), steps) in running.into_iter().zip(reached).zip(steps) {
            it.count(steps, self.work);
            match reached {
                Ok(true) => due.push(it),
                Ok(false) => self.running.push(it),
                Err(error) => {
                    self.work.count(0, -it.share);
                    self.end(&it.member.row(Some(error)));
                }
            }
        }
        self.look_at(due)
    }

    /// Looks at members at the moment of their next look, and makes the outputs that are due.
    fn look_at(&mut self, members: Vec<Running>) -> Result<()> {
        let look = |mut it: Running| {
            let needs = it.member.needs_output();
            (it, needs)
        };
        let began = Instant::now();
        let looked: Vec<_> = members.into_par_iter().with_min_len(SHARE).map(look).collect();
        self.spent.looks += began.elapsed();
        let mut due = Vec::new();
        for (it, needs) in looked {
            match needs {
                Ok(true) => due.push(it),
                Ok(false) => self.running.push(it),
                Err(error) => {
                    self.work.count(0, -it.share);
                    self.end(&it.member.row(Some(error)));
                }
            }
        }
        self.give_forces(&due)?;
        self.output(due, Member::measure)
    }

    fn send_states(&mut self) {
        for it in self.running.iter().filter(|it| it.member.has_begun()) {
            let _ = self.sender.send(Message::State(Box::new(it.member.state())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Blueprint, Ensemble, ExitReason, Options};
    use super::*;
    use crate::assemble::{OnGpu, Session, force_engine};
    use crate::config::{Config, Engine};
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use tisane::force::Forces;
    use tisane::force::block_steps::{SystemSteps, Taken};
    use tisane::integrator::{AnyIntegrator, Integrator, IntegratorSettings};
    use tisane::particles::Particles;
    use tisane::time::Clock;
    use tisane_io::table::Table;

    static NEVER: AtomicBool = AtomicBool::new(false);

    const CONFIG: &str = "run = { name = 'e', t_end = 1 }\ninitial.plummer.n = 24\nsoftening.epsilon = 0.02\n\
                          integrator.hermite4.dt_min = '2^-15'\noutput.interval = 0.25\nforce.precision = 'f64'\n\
                          [ensemble]\nseries = true\nrealisations = 5\n\
                          [ensemble.vary]\n'softening.epsilon' = [0.02, 0.05, 1e-9]\n";

    /// Takes steps on the CPU, some at a time, and refuses some.
    struct Stepper {
        settings: IntegratorSettings,
        at_once: u64,
        asked: u64,
    }

    fn on_cpu(epsilon: f64, clock: Clock) -> Box<dyn tisane::force::ForceEngine> {
        force_engine(None, Engine::Cpu, Precision::F64, epsilon, clock, OnGpu::default()).unwrap()
    }

    impl SystemStepper for Stepper {
        fn forces(&mut self, systems: &[(&Particles, f64)]) -> Result<Vec<Forces>> {
            let clock = Clock { start: 0.0, dt_max: 1.0 };
            let of = |&(p, epsilon): &(&Particles, f64)| {
                let mut at = p.clone();
                at.time.fill(Default::default());
                let (mut engine, mut found) = (on_cpu(epsilon, clock), Forces::default());
                engine.load(&at)?;
                let index: Vec<u32> = (0..p.len() as u32).collect();
                let targets = tisane::force::Targets { index: &index, pos: &p.pos, vel: &p.vel };
                engine.evaluate(Default::default(), targets, &mut found)?;
                Ok(found)
            };
            systems.iter().map(of).collect()
        }

        fn take(&mut self, systems: &mut [SystemSteps<'_>], _: Option<&Pause>) -> Result<Vec<Taken>> {
            let mut take = |it: &mut SystemSteps<'_>| {
                self.asked += 1;
                if self.asked.is_multiple_of(7) {
                    return Ok(Taken { now: it.span.from, refused: 5, ..Taken::default() });
                }
                let AnyIntegrator::Forces(mut own) = self.settings.scheme().build(Precision::F64, it.clock) else {
                    unreachable!("a Hermite scheme");
                };
                let mut engine = on_cpu(it.epsilon, it.clock);
                own.resume(it.particles, it.span.from, &mut *engine)?;
                let taken = Taken { now: it.span.from, ..Taken::default() };
                // As on a device, no step is taken below the floor.
                let is_below = it.particles.step.iter().any(|level| *level > it.rules.floor);
                let most = if is_below { 0 } else { it.span.most.min(self.at_once) };
                let done = own.advance(it.particles, &mut *engine, it.span.until, most)?;
                if done.block_steps == 0 {
                    return Ok(taken);
                }
                let (now, block_steps, particle_steps) = (done.now, done.block_steps, done.particle_steps);
                Ok(Taken { now, block_steps, particle_steps, ..taken })
            };
            systems.iter_mut().map(&mut take).collect()
        }
    }

    /// Runs the ensemble, on a number of devices or the cores; returns its tables without the wall time.
    fn run(at_once: Option<u64>, devices: u32) -> String {
        let dir = tempfile::tempdir().unwrap();
        let loaded = Config::from_str("e", CONFIG, Path::new(""), &[]).unwrap();
        let settings = loaded.config.integrator.clone();
        let mut ensemble = Ensemble::create(Blueprint::new(&loaded, Path::new("")).unwrap(), dir.path()).unwrap();
        let session = Session { engine: Some(Engine::Cpu), ..Session::default() };
        let options = Options { session, threads: 2, wall_time: None, stop: &NEVER };
        let open = |_, largest: usize| {
            let made = || Box::new(Stepper { settings: settings.clone(), at_once: at_once.unwrap(), asked: 0 });
            Ok((largest <= 32).then(|| made() as Box<dyn SystemStepper>))
        };
        let device = |number| Device { number, kind: EngineKind::Cpu, open: &open as &Open<'_> };
        let devices: Vec<Device<'_>> = at_once.map_or(Vec::new(), |_| (0..devices).map(device).collect());
        let mut shown = 0;
        assert_eq!(ensemble.run_on(&options, &devices, &mut |_| shown += 1).unwrap(), ExitReason::Finished);
        assert!(shown > 0 && (ensemble.status().done - 15.0).abs() < 1e-6, "{:?}", ensemble.status());
        let summary = ensemble.conclude(ExitReason::Finished).unwrap();
        let some = |how: &str| summary.outcomes.get(how).is_some_and(|count| *count >= 2);
        assert!(some("finished") && some("failed"), "{:?}", summary.outcomes);
        let columns = |table: &Table| {
            let kept = table.columns.iter().filter(|column| column.name != "wall_seconds");
            format!("{:?}", kept.collect::<Vec<_>>())
        };
        columns(ensemble.members()) + &columns(ensemble.series().unwrap())
    }

    #[test]
    fn members_whose_steps_a_device_takes_are_those_of_the_cores() {
        let want = run(None, 0);
        for (at_once, devices) in [(1, 1), (9, 1), (u64::MAX, 1), (9, 2), (u64::MAX, 3)] {
            assert!(run(Some(at_once), devices) == want, "{at_once} steps at a time on {devices} devices");
        }
    }
}
