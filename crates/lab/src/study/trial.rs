//! Run without files: a span of time of a system, timed, with its energy error.

use super::cpu_time::{Passed, Watch};
use super::pace::{Pace, Stretch};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::time::{Duration, Instant};
use tisane::diagnostics::reference::{Basis, Reference};
use tisane::encounters::SubsystemState;
use tisane::error::{Error, Result};
use tisane::force::profile::Profile;
use tisane::force::profile::Profiler;
use tisane::force::{EngineKind, Field};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::spin_pool;
use tisane::states::neighbours::Neighbours;
use tisane::time::{Clock, Level, TICKS_PER_DT_MAX, Time};
use tisane_run::assemble::{self, Session, Setup};

/// Time and error of a part of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Wall time of the block steps, in s; energies are measured beside it.
    pub seconds: f64,
    /// Part of the wall time outside the engine, in s: scheduler, prediction of the block, corrector.
    pub host_seconds: f64,
    /// Length of the measured span in the user's unit of time.
    pub span: f64,
    /// Block steps.
    pub block_steps: u64,
    /// Particle steps: the sizes of all blocks.
    pub particle_steps: u64,
    /// Pairs evaluated.
    pub pairs: u64,
    /// (E − E₀) / |E₀| over the span, energies in f64 in every mode.
    pub energy_error: f64,
    /// (E − E₀) / |E₀| at each multiple of dt_max after the beginning.
    pub errors: Vec<f64>,
    /// Block steps by size: group k has those of 2^k to 2^(k+1) − 1 particles.
    pub groups: Vec<Group>,
    /// True if a GPU took whole block steps.
    #[serde(default)]
    pub steps_on_device: bool,
    /// SHA-256 of the last state.
    #[serde(skip)]
    pub state_sha256: String,
    /// Time of each phase of the block steps, if it was measured.
    #[serde(skip)]
    pub profile: Option<Profile>,
}

/// Block steps of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Number of block steps.
    pub block_steps: u64,
    /// Particles in them.
    pub particle_steps: u64,
    /// Seconds outside the engine.
    pub host: f64,
    /// Seconds in it.
    pub force: f64,
}

impl Measured {
    /// Largest of |E − E₀| / |E₀| at the multiples of dt_max.
    #[must_use]
    pub fn max_energy_error(&self) -> f64 {
        self.errors.iter().fold(0.0, |max, error| error.abs().max(max))
    }

    /// Mean number of particles in a block.
    #[must_use]
    pub fn mean_block(&self) -> f64 {
        self.particle_steps as f64 / self.block_steps.max(1) as f64
    }

    /// Block steps in a unit of time.
    #[must_use]
    pub fn block_steps_per_time_unit(&self) -> f64 {
        self.block_steps as f64 / self.span
    }

    /// Adds block steps that took `host` and `force` seconds together. Several at once count as blocks of their mean size.
    fn add(&mut self, block_steps: u64, particle_steps: u64, host: f64, force: f64) {
        let k = (particle_steps / block_steps.max(1)).max(1).ilog2() as usize;
        if self.groups.len() <= k {
            self.groups.resize(k + 1, Group::default());
        }
        let group = &mut self.groups[k];
        *group = Group {
            block_steps: group.block_steps + block_steps,
            particle_steps: group.particle_steps + particle_steps,
            host: group.host + host,
            force: group.force + force,
        };
        self.seconds += host + force;
        self.host_seconds += host;
        self.block_steps += block_steps;
        self.particle_steps += particle_steps;
    }
}

/// Integrates from the start and measures over `span`, in steps of dt_max. A trial that has taken longer
/// than `budget` ends at the next multiple of dt_max within `span`, and before it without a result.
///
/// # Errors
/// As the engine and the integrator; the particles of `set` stay as they are.
pub fn run(set: &Setup, session: Session, span: Range<u64>, budget: Option<Duration>) -> Result<Option<Measured>> {
    let measured = Trial::of(set, session)?.work(set, |trial| trial.over(span, budget, &set.clock))?;
    Ok(measured.map(|mut measured| {
        measured.profile = measured.profile.filter(|_| session.profile);
        measured.span *= set.clock.dt_max * set.scale.time;
        measured
    }))
}

/// Integrates the beginning of a run for a wall time of `budget` after its start, without measuring its energy; longer where the run
/// would take thousands of times as long, up to some whole dt_max. A block that by the pace of the start would end later than twice that
/// time is not begun.
///
/// # Errors
/// As [`run`].
pub fn pace(set: &Setup, budget: Duration) -> Result<Pace> {
    let evaluations = set.config.integrator.scheme().block_steps().map_or(1, |steps| steps.evaluations);
    let to = Time::from_dt_max(set.steps_to_end);
    Trial::of(set, Session::default())?.work(set, |trial| trial.pace(to, budget.as_secs_f64(), f64::from(evaluations)))
}

/// Integrates systems that begin with the particles `starts`, side by side, and gives `each` their states at every multiple of dt_max after
/// the start: as long as it says so, up to the end of the run, and for `budget` at most, in which a dt_max that has begun is left
/// unseen. Returns the wall time of the steps that were seen, in s.
///
/// # Errors
/// As [`run`].
pub fn follow(
    set: &Setup,
    starts: Vec<Particles>,
    budget: Duration,
    each: &mut (dyn FnMut(&[&Particles]) -> bool + Send),
) -> Result<f64> {
    let mut trials = Vec::new();
    for particles in starts {
        trials.push(Trial { particles, ..Trial::of(set, Session::default())? });
    }
    let Some(first) = trials.pop() else { return Ok(0.0) };
    first.work(set, |last| {
        trials.push(last);
        let (mut seconds, start) = (0.0, Instant::now());
        for trial in &mut trials {
            trial.propagator.start(&mut trial.particles)?;
        }
        for step in 1..=set.steps_to_end {
            let (to, began) = (Time::from_dt_max(step), Instant::now());
            for trial in &mut trials {
                let at_once = trial.at_once();
                while trial.now < to {
                    if start.elapsed() >= budget {
                        return Ok(seconds);
                    }
                    trial.now = trial.propagator.advance(&mut trial.particles, to, at_once)?.now;
                }
            }
            seconds += began.elapsed().as_secs_f64();
            if !each(&trials.iter().map(|trial| &trial.particles).collect::<Vec<_>>()) {
                break;
            }
        }
        Ok(seconds)
    })
}

/// Returns the number of pairs in one dt_max, if every particle keeps the time steps that it has: with all others, or with its
/// neighbours, and in regular steps with both. Steps of particles that have hardly moved are as much longer than their `first` ones
/// as those of the others have become.
fn pairs_per_dt_max(p: &Particles, first: &[Level]) -> f64 {
    let neighbours = p.states.get::<Neighbours>();
    if !neighbours.is_empty() {
        let (steps, others) = (|level: &Level| 2f64.powi(level.0.into()), p.len() as f64 - 1.0);
        let regular = p.step.iter().zip(&neighbours.regular_step).zip(&neighbours.lists);
        let each = |((all, some), list): ((&Level, &Level), &Vec<u32>)| {
            steps(all) * list.len() as f64 + steps(some) * (others + list.len() as f64)
        };
        return regular.map(each).sum();
    }
    // The stars of a subsystem are one body, with the same force.
    let mut seen = std::collections::HashSet::new();
    let mut is_first = |i: usize| {
        let [x, y, z] = <[f64; 3]>::from(p.acc[i]).map(f64::to_bits);
        seen.insert([p.pot[i].to_bits(), x, y, z, p.time[i].0])
    };
    let no_subsystems = p.states.get::<SubsystemState>().words.is_empty();
    let bodies: Vec<usize> = (0..p.len()).filter(|i| no_subsystems || is_first(*i)).collect();
    let has_moved = |i: usize| p.time[i].0 >= FIRST_STEPS * p.step[i].ticks();
    let longer = |i: usize| f64::from(first[i].0) - f64::from(p.step[i].0);
    let moved: Vec<f64> = bodies.iter().filter(|i| has_moved(**i)).map(|i| longer(*i)).collect();
    let growth = if moved.len() < FEWEST_MOVED { 0.0 } else { moved.iter().sum::<f64>() / moved.len() as f64 };
    let steps = |i: usize| {
        let level = f64::from(p.step[i].0);
        if has_moved(i) { level.exp2() } else { (f64::from(first[i].0) - growth).clamp(0.0, level).exp2() }
    };
    bodies.iter().map(|i| steps(*i)).sum::<f64>() * (bodies.len() as f64 - 1.0)
}

/// Part of the time of a measurement of the pace that is left out, with the first steps.
const SKIPPED: f64 = 0.4;
/// Wall time of a measurement on a busy machine, in its CPU time, and s between looks at that.
const PATIENCE: f64 = 12.0;
const LOOKS: f64 = 0.02;
/// Largest number of block steps between two such looks: few enough that the budget is kept.
const MAX_AT_ONCE: u64 = 64;
/// CPU time for which more is measured of a run that takes long: this part of its wall time, and in s this at most.
const LONGER: f64 = 2e-3;
const LONGEST: f64 = 5.0;
/// Wall time of that on a busy machine, in its CPU time.
const PATIENCE_FOR_MORE: f64 = 3.0;
/// Number of steps after which a particle has left its first ones behind, and number of such particles that tell of the others.
const FIRST_STEPS: u64 = 4;
const FEWEST_MOVED: usize = 16;

/// What ends a measurement.
#[derive(Clone, Copy)]
struct Limits {
    /// CPU time and wall time, in s.
    seconds: f64,
    wall: f64,
    /// Time of the evaluation of one particle, and the longest of a block, in s.
    particle: f64,
    block: f64,
    /// Flag that it ends at the next multiple of dt_max.
    once: bool,
}

struct Trial {
    kind: EngineKind,
    particles: Particles,
    propagator: Propagator,
    profiler: Profiler,
    /// True if the device takes whole block steps.
    steps_on_device: bool,
    now: Time,
}

impl Trial {
    fn of(set: &Setup, session: Session) -> Result<Self> {
        let (engines, notes) = assemble::engines(set, session)?;
        let steps_on_device = notes.steps_on_device;
        // Without a profile the engine is timed too, but not its phases.
        let (propagator, profiler) = match notes.profiler {
            Some(profiler) => (engines.propagator, profiler),
            None => {
                let profiler = Profiler::default();
                (engines.propagator.timed(&profiler), profiler)
            }
        };
        let (kind, particles, now) = (engines.kind, set.particles.clone(), Time::default());
        Ok(Self { kind, particles, propagator, profiler, steps_on_device, now })
    }

    /// Does some work on the threads of a run; errors are in the user's units.
    fn work<T: Send>(self, set: &Setup, work: impl FnOnce(Self) -> Result<T> + Send) -> Result<T> {
        let done = if self.kind == EngineKind::Cuda {
            let subsystems = set.config.subsystems().is_some().then_some(self.particles.len());
            spin_pool::run(spin_pool::size_for(subsystems), || work(self))?
        } else {
            work(self)
        };
        done.map_err(|error| error.in_run(&set.run_context()))
    }

    fn over(mut self, span: Range<u64>, budget: Option<Duration>, clock: &Clock) -> Result<Option<Measured>> {
        let [from, to] = [span.start, span.end].map(Time::from_dt_max);
        let deadline = budget.map(|budget| Instant::now() + budget);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.propagator.start(&mut self.particles)?;
        let at_once = self.at_once();
        while self.now < from {
            self.now = self.propagator.advance(&mut self.particles, from, at_once)?.now;
            if is_late() {
                return Ok(None);
            }
        }
        let field = self.field()?;
        let start = Reference::new(&self.particles, &field);
        let mut it = Measured { steps_on_device: self.steps_on_device, ..Measured::default() };
        while self.now < to {
            self.step(&mut it, to)?;
            let late = is_late();
            if self.now.is_synchronised() {
                let field = self.field()?;
                it.energy_error = start.energy_error(start.energy_of(&self.particles, &field));
                it.errors.push(it.energy_error);
                it.span = (self.now.0 - from.0) as f64 / Time::from_dt_max(1).0 as f64;
                if late {
                    break;
                }
            } else if late && it.span == 0.0 {
                return Ok(None);
            }
        }
        if start.basis != Basis::NotMeasured && !it.errors.iter().all(|error| error.is_finite()) {
            return Err(Error::Integration { problem: "the energy is not a finite number".into(), help: None });
        }
        it.profile = Some(self.profiler.profile());
        it.state_sha256 = self.particles.state_sha256(clock);
        Ok(Some(it))
    }

    /// Measures the pace, with a number of `evaluations` for each step. The first steps of the stars, which are shorter than those
    /// that follow, are left out where time is left. Of a run that takes long more is measured, as far as that is a small part of it.
    fn pace(mut self, to: Time, budget: f64, evaluations: f64) -> Result<Pace> {
        let watch = Watch::start();
        let start_pairs = self.propagator.start(&mut self.particles)?.pairs;
        let started = self.passed(&watch);
        let n = self.particles.len();
        let first = self.particles.step.clone();
        let mut it = Pace { start: started.undisturbed, start_pairs, waited: started, ..Pace::default() };
        let particle = it.start * evaluations * (n as f64 - 1.0) / (start_pairs as f64).max(1.0);
        let limits =
            |seconds, patience, once| Limits { seconds, wall: patience * seconds, particle, block: 2.0 * budget, once };
        let goes_on = self.measure(&mut it, to, limits(SKIPPED * budget, PATIENCE, true))?
            && self.measure(&mut it, to, limits((1.0 - SKIPPED) * budget, PATIENCE, false))?;
        it.pairs_per_dt_max = evaluations * pairs_per_dt_max(&self.particles, &first);
        let more = (LONGER * it.total(to.0 / TICKS_PER_DT_MAX)).min(LONGEST);
        if goes_on && it.whole.is_empty() && more > budget {
            // Up to a multiple of dt_max, and on if there is time for a whole one.
            self.measure(&mut it, to, limits(more, PATIENCE_FOR_MORE, true))?;
            let left = more - it.seconds;
            if self.now < to && self.now.is_synchronised() && it.seconds <= left * it.covered {
                self.measure(&mut it, to, limits(left, PATIENCE_FOR_MORE, false))?;
            }
            it.pairs_per_dt_max = evaluations * pairs_per_dt_max(&self.particles, &first);
        }
        Ok(it)
    }

    /// Measures the next part up to these limits. Returns true if it can go on: the run has not ended, nor is the next block too long.
    fn measure(&mut self, it: &mut Pace, to: Time, limits: Limits) -> Result<bool> {
        let found = self.stretch(to, limits)?;
        let is_whole = self.now.is_synchronised() || found.passed.undisturbed >= limits.seconds;
        it.go_on(found);
        Ok(is_whole && self.now < to)
    }

    /// Integrates up to a moment, or these limits.
    fn stretch(&mut self, to: Time, limits: Limits) -> Result<Stretch> {
        let (from, n, watch) = (self.now, self.particles.len(), Watch::start());
        let mut it = Stretch::default();
        // Where a call hands over all particles that takes time. On a GPU enough that it takes them by itself.
        let mut at_once = if self.steps_on_device { MAX_AT_ONCE } else { 1 };
        let (mut ends, mut looked) = (Vec::new(), 0.0);
        while self.now < to {
            let wall = watch.wall();
            if wall >= limits.seconds && wall - looked >= LOOKS {
                looked = wall;
                if self.passed(&watch).undisturbed >= limits.seconds || wall >= limits.wall {
                    break;
                }
            }
            let fits = |block: usize| limits.particle * block as f64 <= limits.block;
            if !fits(n) && !fits(self.next_block()) {
                break;
            }
            let until = to.min(Time::from_dt_max(self.now.0 / TICKS_PER_DT_MAX + 1));
            // As many as keep the limits.
            let number = if fits(n) { at_once } else { self.at_once().min(MAX_AT_ONCE) };
            let done = self.propagator.advance(&mut self.particles, until, number)?;
            it.pairs += done.pairs;
            self.now = done.now;
            if watch.wall() - wall < LOOKS / 2.0 {
                at_once = (2 * at_once).min(MAX_AT_ONCE);
            } else if !self.steps_on_device {
                at_once = (at_once / 2).max(1);
            }
            if self.now.is_synchronised() {
                ends.push(watch.wall());
                if limits.once {
                    break;
                }
            }
        }
        it.passed = self.passed(&watch);
        it.covered = (self.now.0 - from.0) as f64 / TICKS_PER_DT_MAX as f64;
        // Where the machine was busy, it was so all the time.
        let free = if it.passed.wall > 0.0 { it.passed.undisturbed / it.passed.wall } else { 1.0 };
        // Where it began within a dt_max, the rest of that is no whole one.
        let begins = from.is_synchronised().then_some(0.0).into_iter().chain(ends.iter().copied());
        it.whole = ends
            .iter()
            .skip(usize::from(!from.is_synchronised()))
            .zip(begins)
            .map(|(end, begin)| (end - begin) * free)
            .collect();
        if it.whole.is_empty() && it.covered >= 1.0 {
            // As long as a whole one, from within a dt_max into the next.
            it.whole.push(it.passed.undisturbed / it.covered);
        }
        Ok(it)
    }

    /// Returns the time since a watch was started; a GPU waits for nothing on the host.
    fn passed(&self, watch: &Watch) -> Passed {
        let passed = watch.passed(rayon::current_num_threads());
        if self.kind == EngineKind::Cuda { Passed { undisturbed: passed.wall, ..passed } } else { passed }
    }

    /// Returns the number of particles in the next block.
    fn next_block(&self) -> usize {
        let Particles { time, step, .. } = &self.particles;
        let due = time.iter().zip(step).map(|(time, step)| time.0 + step.ticks());
        let first = due.clone().min();
        due.filter(|due| Some(*due) == first).count()
    }

    /// Returns the number of block steps to take at once: many where a GPU takes them by itself, and otherwise one, whose
    /// size and time are then known.
    fn at_once(&self) -> u64 {
        if self.steps_on_device { u64::MAX } else { 1 }
    }

    /// Takes the next block steps, at most up to the next multiple of dt_max, and adds their counts and times.
    fn step(&mut self, it: &mut Measured, until: Time) -> Result<()> {
        let watch = self.profiler.begin();
        let until = until.min(Time::from_dt_max(self.now.0 / TICKS_PER_DT_MAX + 1));
        let at_once = self.at_once();
        let done = self.propagator.advance(&mut self.particles, until, at_once)?;
        let [host, force] = watch.end(done.block_steps, done.particle_steps);
        it.add(done.block_steps, done.particle_steps, host, force);
        it.pairs += done.pairs;
        self.now = done.now;
        Ok(())
    }

    /// Field of the synchronised system, in f64.
    fn field(&mut self) -> Result<Field> {
        self.propagator.field(&self.particles, self.now)
    }
}
