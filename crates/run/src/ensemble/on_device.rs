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
const MAX_MEMBERS: usize = 1 << 16;
const MAX_PARTICLES: usize = 1 << 21;
/// Smallest number of members that are started together.
const MIN_BATCH: usize = 4096;
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
            outcome = device.finish_left();
            if outcome.is_ok() && work.wait() {
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
        let max = MAX_MEMBERS.min(self.work.share);
        while self.running.len() < max && particles < MAX_PARTICLES && !self.work.is_stopping() {
            // The number of particles of a member is known once it is built.
            let batch = (self.running.len() / 2).max(MIN_BATCH).min(max - self.running.len());
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

    /// Integrates the members that the device cannot step: as many at once as this worker has threads.
    fn finish_left(&mut self) -> Result<()> {
        let left = std::mem::take(&mut self.left);
        on_cores::finish(self.work, left, rayon::current_num_threads(), self.sender)
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
mod tests;
