//! Trials of advice: what is tried, what came of it, and why a trial has no result.

use super::promises::{Advice, Goal, advise, extrapolate, promises};
use super::trial::{Candidate, MAX_STEPS, Trial};
use crate::study::integrators::Integrator;
use crate::study::points::Progress;
use crate::study::trial::{self, Measured};
use crate::study::wall_time::describe_seconds;
use std::path::Path;
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::IntegratorSettings;
use tisane::spin_pool;
use tisane_run::assemble::{self, Session};
use tisane_run::config::{Config, Engine};

/// Trial without a result.
#[derive(Debug)]
pub struct Failed {
    /// What was tried.
    pub candidate: Candidate,
    /// The reason.
    pub cause: Cause,
}

/// Reason why a trial has no result.
#[derive(Debug)]
pub enum Cause {
    /// It did not get through one dt_max in its time.
    TooSlow,
    /// A particle needed a step below dt_min: the [`Error::StepBelowFloor`].
    BelowDtMin(Error),
    /// Another error of the integration.
    Other(Error),
}

impl Cause {
    /// Returns the word for a table.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooSlow => "too slow",
            Self::BelowDtMin(_) => "dt_min",
            Self::Other(_) => "error",
        }
    }
}

/// Returns what a trial was made with.
pub(super) fn candidate_of(trial: &Result<Trial, Failed>) -> Candidate {
    match trial {
        Ok(it) => it.candidate,
        Err(it) => it.candidate,
    }
}

/// All trials of an advice, by engine, mode and integrator, each group in the order in which it was tried.
#[derive(Debug)]
pub struct Trials {
    /// The trials.
    pub tried: Vec<Result<Trial, Failed>>,
    /// Time that each of the first was given.
    pub each: Duration,
    /// Settings of the configured integrator.
    pub configured: IntegratorSettings,
}

/// What a run has that some integrators and engines cannot have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Flag of a law in place of Newton's, which schemes with lists of neighbours do not know.
    pub law: bool,
}

/// Returns the integrators to try for a configuration: its own, and those that schemes advise, unless the run needs what these
/// cannot have. None for a scheme without block steps.
#[must_use]
pub fn integrators(configured: &IntegratorSettings, needs: Needs) -> Vec<Integrator> {
    // A scheme of an order that studies do not know is tried at one that they know.
    let of_kind = || Integrator::all().iter().copied().find(|it| it.kind() == configured.kind());
    let Some(own) = Integrator::from_settings(configured).or_else(of_kind) else { return Vec::new() };
    let others = Integrator::all()
        .iter()
        .copied()
        .filter(|it| *it != own && it.variant().is_advised && !(needs.law && it.needs_lists()));
    [own].into_iter().chain(others).collect()
}

/// Trials of the recommendation, at most: each is corrected by those before it.
const MAX_AGAIN: usize = 6;

/// What the trials are made of, and how long they may take together.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'a> {
    /// Configuration file.
    pub file: &'a Path,
    /// Settings that replace those of the file.
    pub sets: &'a [String],
    /// Integrator of the configuration.
    pub configured: &'a IntegratorSettings,
    /// Wall time of all trials together.
    pub time: Duration,
}

impl Budget<'_> {
    /// Makes one trial of at most `steps` steps of dt_max, in at most `time`.
    fn attempt(&self, candidate: Candidate, steps: u64, time: Duration) -> Result<Result<Trial, Failed>> {
        let Candidate { engine, mode, integrator, accuracy } = candidate;
        let mut sets = self.sets.to_vec();
        sets.extend(integrator.overrides(self.configured, accuracy));
        sets.push(format!("force.precision={}", mode.name()));
        sets.push(format!("force.engine={}", engine.name()));
        one((self.file, &sets), candidate, steps, time)
    }
}

/// Tries the integrators of a configuration in every mode that they work in, with several accuracies, on the engines
/// that are there, and then what these trials recommend for `goal`, in a budget altogether.
///
/// # Errors
/// As the configuration, and [`Error::Input`] if no trial has a result, or none an energy error.
pub fn trials(
    budget: Budget<'_>,
    needs: Needs,
    modes: &[(Engine, Precision)],
    goal: Goal,
    progress: &dyn Progress,
) -> Result<Trials> {
    let all = integrators(budget.configured, needs);
    let of_mode = |&(engine, mode): &(Engine, Precision)| {
        let working = all.iter().filter(move |it| it.works_in(mode));
        working.flat_map(move |&integrator| {
            integrator.variant().tried.map(|accuracy| Candidate { engine, mode, integrator, accuracy })
        })
    };
    let candidates: Vec<Candidate> = modes.iter().flat_map(of_mode).collect();
    // One share is kept for what they will recommend.
    let each = budget.time / (candidates.len() as u32 + 1);
    let deadline = Instant::now() + budget.time;
    progress.begin(candidates.len(), 0, candidates.len() as f64);
    let mut trials = Trials { tried: Vec::new(), each, configured: budget.configured.clone() };
    for candidate in candidates {
        trials.add(budget.attempt(candidate, MAX_STEPS, each)?, progress);
    }
    let mut before = None;
    for _ in 0..MAX_AGAIN {
        let left = deadline.saturating_duration_since(Instant::now());
        let next = trials.untried(goal).filter(|candidate| !left.is_zero() && before != Some(*candidate));
        let Some(candidate) = next else { break };
        before = next;
        progress.end();
        progress.begin(1, 0, 1.0);
        // Half of what is left, for what this trial will recommend; the run may be longer than the first trials.
        let time = (left / 2).max(each.min(left));
        trials.add(budget.attempt(candidate, u64::MAX, time)?, progress);
    }
    progress.end();
    trials.check(budget.file)?;
    Ok(trials)
}

/// Makes one trial of at most `max` steps of dt_max.
fn one(
    (file, sets): (&Path, &[String]),
    candidate: Candidate,
    max: u64,
    budget: Duration,
) -> Result<Result<Trial, Failed>> {
    let loaded = Config::from_file(file, sets)?;
    let threads = loaded.config.force.threads as usize;
    spin_pool::on_threads(threads, || {
        let set = assemble::prepare(loaded)?;
        let steps = set.steps_to_end;
        let cause = match trial::run(&set, Session::default(), 0..steps.min(max), Some(budget)) {
            Ok(Some(measured)) => return Ok(Ok(scaled(measured, candidate, steps as f64))),
            Ok(None) => Cause::TooSlow,
            Err(error @ Error::StepBelowFloor(_)) => Cause::BelowDtMin(error),
            Err(error @ Error::Integration { .. }) => Cause::Other(error),
            Err(error) => return Err(error),
        };
        Ok(Err(Failed { candidate, cause }))
    })
}

fn scaled(it: Measured, candidate: Candidate, steps: f64) -> Trial {
    let done = it.errors.len() as f64;
    let error = error_of_run(&it.errors, steps);
    Trial { candidate, part: done / steps, seconds: it.seconds * steps / done, error, errors: it.errors, steps }
}

/// Returns the error at the end of a run of `steps` steps from those at the end of each step of a trial: expected, least
/// and most. Of a trial of the whole run it is what was measured: that at the end, or the largest where that is 0 by
/// chance. NaN where none of them is evidence: errors are exactly 0 throughout only where no energy changes.
pub(super) fn error_of_run(errors: &[f64], steps: f64) -> [f64; 3] {
    let largest = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
    if largest == 0.0 || errors.iter().any(|error| error.is_nan()) {
        return [f64::NAN; 3];
    }
    match errors.last() {
        Some(last) if errors.len() as f64 >= steps => [if *last == 0.0 { largest } else { last.abs() }; 3],
        _ => extrapolate(errors, steps),
    }
}

impl Trials {
    /// Returns the trials with an energy error.
    #[must_use]
    pub fn results(&self) -> Vec<Trial> {
        self.tried.iter().flatten().filter(|it| it.has_energy_error()).cloned().collect()
    }

    /// Adds a trial behind those of its group, or in place of one with the same that saw less, and reports it.
    fn add(&mut self, trial: Result<Trial, Failed>, progress: &dyn Progress) {
        let result = match &trial {
            Ok(it) if !it.has_energy_error() => "no energy error".to_owned(),
            Ok(it) => format!("|dE/E| {:.1e} in {}", it.error[0], describe_seconds(it.seconds)),
            Err(it) => format!("no result: {}", it.cause.name()),
        };
        progress.point(&format!("{}: {result}", candidate_of(&trial).describe()), 1.0);
        let candidate = candidate_of(&trial);
        if let Some(earlier) = self.tried.iter_mut().find(|of| candidate_of(of) == candidate) {
            let part = |of: &Result<Trial, Failed>| of.as_ref().map_or(0.0, |it| it.part);
            if part(&trial) > part(earlier) {
                *earlier = trial;
            }
            return;
        }
        let is_same = |of: &Result<Trial, Failed>| candidate_of(of).group() == candidate.group();
        let at = self.tried.iter().rposition(is_same).map_or(self.tried.len(), |last| last + 1);
        self.tried.insert(at, trial);
    }

    /// Returns what the trials recommend for a goal; [`None`] if it is out of reach. What an error of the integration
    /// ended is not recommended, whatever the laws say.
    #[must_use]
    pub fn advice(&self, goal: Goal) -> Option<Advice> {
        let results = self.results();
        let ended = |candidate: Candidate| {
            let failed = self.tried.iter().filter_map(|it| it.as_ref().err());
            failed.filter(|it| !matches!(it.cause, Cause::TooSlow)).any(|it| it.candidate == candidate)
        };
        let advice = advise(&results, &promises(&results), goal)?;
        if ended(advice.candidate) { advise(&results, &[], goal) } else { Some(advice) }
    }

    /// Returns what the trials recommend for a goal, if it was not tried yet, or less long than it might be.
    pub(super) fn untried(&self, goal: Goal) -> Option<Candidate> {
        let candidate = self.advice(goal)?.candidate;
        let trial = self.tried.iter().find(|trial| candidate_of(trial) == candidate);
        let is_enough = trial.is_some_and(|trial| !trial.as_ref().is_ok_and(Trial::is_cut));
        (!is_enough).then_some(candidate)
    }

    /// Checks that a trial has a result and an energy error.
    fn check(&self, file: &Path) -> Result<()> {
        if !self.results().is_empty() {
            return Ok(());
        }
        let done = self.tried.iter().flatten().count();
        if done > 0 {
            let problem =
                format!("the energy error is not measured: in all of {done} trials it is exactly 0, or no number");
            let help =
                "compare runs with two accuracies: the differences of positions are the errors of the coarser one";
            return Err(Error::input(file, problem).with_help(help));
        }
        let (problem, help): (Vec<String>, Vec<String>) = self.failures().into_iter().unzip();
        let problem = format!("no trial has a result: {}", problem.join("; "));
        Err(Error::input(file, problem).with_help(help.join("; ")))
    }
}

/// Returns the engines of this machine with the modes to try: both engines, or the one that is `asked` for, in `modes` or
/// the usual ones. By a law a GPU is tried only if it is asked for, as `auto` takes none.
#[must_use]
pub fn candidates(asked: Engine, modes: &[Precision], needs: Needs) -> Vec<(Engine, Precision)> {
    let gpu = !needs.law && assemble::gpus().is_ok_and(|gpus| !gpus.is_empty());
    let engines = match asked {
        Engine::Auto if gpu => vec![Engine::Cpu, Engine::Cuda],
        Engine::Auto => vec![Engine::Cpu],
        engine => vec![engine],
    };
    let usual = |engine: Engine| match engine {
        Engine::Cuda => vec![Precision::F64, Precision::Mixed, Precision::DoubleFloat],
        _ => vec![Precision::F64, Precision::Mixed],
    };
    let of = |engine| if modes.is_empty() { usual(engine) } else { modes.to_vec() };
    engines.into_iter().flat_map(|engine| of(engine).into_iter().map(move |mode| (engine, mode))).collect()
}
