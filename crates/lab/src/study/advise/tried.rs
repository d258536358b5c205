//! Trials of advice: what is tried, what came of it, and why a trial has no result.

use super::{extrapolate, two_digits_down};
use crate::study::integrators::Integrator;
use crate::study::points::Progress;
use crate::study::predict::describe_seconds;
use crate::study::report::Rows;
use crate::study::trial::{self, Measured};
use std::path::Path;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::{BlockSteps, IntegratorSettings};
use tisane::spin_pool;
use tisane::time::Level;
use tisane_io::table::Table;
use tisane_run::assemble::{self, Session};
use tisane_run::config::{Config, Engine};

/// Steps of dt_max in a trial, at most.
const MOST_STEPS: u64 = 64;

/// What a trial is tried with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// Accuracy of the time step.
    pub accuracy: f64,
}

impl Candidate {
    /// Returns all but the accuracy, over which the laws are fitted.
    pub(super) fn group(&self) -> (Engine, Precision, Integrator) {
        (self.engine, self.mode, self.integrator)
    }

    /// Describes the candidate in a line.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { engine, mode, integrator, accuracy } = self;
        format!("{}, {}, {}, {} = {accuracy}", engine.name(), mode.name(), integrator.name(), integrator.accuracy_key())
    }
}

/// Result of a trial, scaled to the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What was tried.
    pub candidate: Candidate,
    /// Part of the run that it covered.
    pub part: f64,
    /// Wall time of the whole run, in s.
    pub seconds: f64,
    /// Energy error at the end of the run: expected, least and most.
    pub error: [f64; 3],
    /// Energy errors at the end of each dt_max of the trial.
    pub errors: Vec<f64>,
    /// Steps of dt_max in the run.
    pub steps: f64,
}

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

/// All trials of an advice, in the order in which they were made.
#[derive(Debug)]
pub struct Trials {
    /// The trials.
    pub tried: Vec<Result<Trial, Failed>>,
    /// Time that each was given.
    pub each: Duration,
    /// Settings of the configured integrator.
    pub configured: IntegratorSettings,
}

/// What a run has that some integrators and engines cannot have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Flag of subsystems, which neither the multi-point scheme nor the neighbour scheme can have.
    pub subsystems: bool,
    /// Flag of a law in place of Newton's, which the neighbour scheme does not know.
    pub law: bool,
}

/// Returns the integrators to try for a configuration: its own, and the multi-point scheme and the neighbour scheme of 6th
/// order unless the run needs what these cannot have. None for a scheme without block steps.
#[must_use]
pub fn integrators(configured: &IntegratorSettings, needs: Needs) -> Vec<Integrator> {
    let own = match configured {
        // Of order 4 too: order 6 is cheaper at any error.
        IntegratorSettings::AhmadCohen(_) => Some(Integrator::AhmadCohen6),
        other => Integrator::from_settings(other),
    };
    let Some(own) = own else { return Vec::new() };
    let others = [(Integrator::Multipoint6, !needs.subsystems), (Integrator::AhmadCohen6, needs == Needs::default())];
    let others = others.into_iter().filter_map(|(it, can)| (it != own && can).then_some(it));
    [own].into_iter().chain(others).collect()
}

/// Tries the integrators of a configuration in every mode that they work in, with several accuracies, on the engines
/// that are there, in `budget` altogether.
///
/// # Errors
/// As the configuration, and [`Error::Input`] if no trial has a result.
pub fn trials(
    (file, sets): (&Path, &[String]),
    (configured, needs): (&IntegratorSettings, Needs),
    modes: &[(Engine, Precision)],
    budget: Duration,
    progress: &dyn Progress,
) -> Result<Trials> {
    let all = integrators(configured, needs);
    let of_mode = |&(engine, mode): &(Engine, Precision)| {
        let working = all.iter().filter(move |it| it.works_in(mode));
        working.flat_map(move |&integrator| {
            integrator.tried().map(|accuracy| Candidate { engine, mode, integrator, accuracy })
        })
    };
    let candidates: Vec<Candidate> = modes.iter().flat_map(of_mode).collect();
    let each = budget / candidates.len().max(1) as u32;
    progress.begin(candidates.len(), 0, candidates.len() as f64);
    let mut tried = Vec::new();
    for candidate in candidates {
        let Candidate { engine, mode, integrator, accuracy } = candidate;
        let mut sets = sets.to_vec();
        sets.extend(integrator.overrides(configured, accuracy));
        sets.push(format!("force.precision={}", mode.name()));
        sets.push(format!("force.engine={}", engine.name()));
        let trial = one((file, &sets), candidate, each)?;
        let result = match &trial {
            Ok(it) => format!("|dE/E| {:.1e} in {}", it.error[0], describe_seconds(it.seconds)),
            Err(it) => format!("no result: {}", it.cause.name()),
        };
        progress.point(&format!("{}: {result}", candidate.describe()), 1.0);
        tried.push(trial);
    }
    progress.end();
    let trials = Trials { tried, each, configured: configured.clone() };
    if trials.results().is_empty() {
        let (problem, help): (Vec<String>, Vec<String>) = trials.failures().into_iter().unzip();
        let problem = format!("no trial has a result: {}", problem.join("; "));
        return Err(Error::input(file, problem).with_help(help.join("; ")));
    }
    Ok(trials)
}

/// Makes one trial.
fn one((file, sets): (&Path, &[String]), candidate: Candidate, budget: Duration) -> Result<Result<Trial, Failed>> {
    let loaded = Config::from_file(file, sets)?;
    let threads = loaded.config.force.threads as usize;
    spin_pool::on_threads(threads, || {
        let set = assemble::prepare(loaded)?;
        let steps = set.steps_to_end;
        let cause = match trial::run(&set, Session::default(), 0..steps.min(MOST_STEPS), Some(budget)) {
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
    let (error, seconds) = (extrapolate(&it.errors, steps), it.seconds * steps / done);
    Trial { candidate, part: done / steps, seconds, error, errors: it.errors, steps }
}

impl Trials {
    /// Returns the trials with a result.
    #[must_use]
    pub fn results(&self) -> Vec<Trial> {
        self.tried.iter().flatten().cloned().collect()
    }

    /// Describes the trials without a result: for each cause, how many there are with the error of one of them, and
    /// advice.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, String)> {
        let failed: Vec<&Failed> = self.tried.iter().filter_map(|it| it.as_ref().err()).collect();
        let count = |cause: &str| {
            let number = failed.iter().filter(|it| it.cause.name() == cause).count();
            format!("{number} of {} trials", self.tried.len())
        };
        let mut described = Vec::new();
        let needed =
            |error: &Error| if let Error::StepBelowFloor(it) = error { it.wanted_by_user() } else { f64::INFINITY };
        let below = failed.iter().filter_map(|it| match &it.cause {
            Cause::BelowDtMin(error) => Some((it.candidate, error, needed(error))),
            Cause::TooSlow | Cause::Other(_) => None,
        });
        // The trial that needs the shortest step tells what would let all of them go on.
        if let Some((candidate, error, wanted)) = below.min_by(|a, b| a.2.total_cmp(&b.2)) {
            let (n, with) = (count("dt_min"), candidate.describe());
            let problem = format!("{n} were ended by dt_min; {with}: {error}");
            described.push((problem, format!("{}{}", error.advice().unwrap_or_default(), self.dt_min_for(wanted))));
        }
        let other = failed.iter().find_map(|it| match &it.cause {
            Cause::Other(error) => Some((it.candidate, error)),
            Cause::TooSlow | Cause::BelowDtMin(_) => None,
        });
        if let Some((candidate, error)) = other {
            let problem = format!("{} were ended by an error; {}: {error}", count("error"), candidate.describe());
            described.push((problem, error.advice().unwrap_or_default()));
        }
        if failed.iter().any(|it| matches!(it.cause, Cause::TooSlow)) {
            let each = describe_seconds(self.each.as_secs_f64());
            let scheme = self.configured.info();
            let problem = format!("{} did not get through one dt_max in {each}", count("too slow"));
            let longest = format!("{}.{}", scheme.section, scheme.dt_max_key);
            described.push((problem, format!("give the trials more time with --budget, or take a shorter {longest}")));
        }
        described
    }

    /// Says which `dt_min` allows a step, in the user's unit of time.
    fn dt_min_for(&self, wanted: f64) -> String {
        let Some(BlockSteps { range: [_, dt_max], .. }) = self.configured.scheme().block_steps() else {
            return String::new();
        };
        let section = self.configured.info().section;
        match Level::not_longer_than(wanted / dt_max) {
            Some(level) => {
                let most = two_digits_down(level.step(dt_max));
                format!(
                    "\nthis step needs {section}.dt_min = {most:e} or less, a closer pericentre one that is shorter still"
                )
            }
            None => format!(
                "\nno {section}.dt_min allows this step with dt_max = {dt_max}, which is divided by at most 2^{}",
                Level::DEEPEST.0
            ),
        }
    }

    /// Returns the trials as a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows = Rows(&self.tried);
        let candidate = |it: &Result<Trial, Failed>| match it {
            Ok(it) => it.candidate,
            Err(it) => it.candidate,
        };
        let number = |of: fn(&Trial) -> f64| move |it: &Result<Trial, Failed>| it.as_ref().map_or(f64::NAN, of);
        let accuracy = |it: &Result<Trial, Failed>| Some((candidate(it).integrator, candidate(it).accuracy));
        let [nu, eta] = rows.accuracies("accuracy of the time step", accuracy);
        let columns = vec![
            rows.text("engine", "engine", |it| candidate(it).engine.name().into()),
            rows.text("mode", "precision mode", |it| candidate(it).mode.name().into()),
            rows.text("integrator", "scheme with its order", |it| candidate(it).integrator.name().into()),
            nu,
            eta,
            rows.numbers("part", "1", "part of the run that was tried", number(|it| it.part)),
            rows.numbers("seconds", "s", "wall time of the whole run", number(|it| it.seconds)),
            rows.numbers("error", "1", "expected energy error at its end", number(|it| it.error[0])),
            rows.numbers("least", "1", "it may be as small as this", number(|it| it.error[1])),
            rows.numbers("most", "1", "it may be as large as this", number(|it| it.error[2])),
            rows.text("result", "done, or why there is no result", |it| {
                it.as_ref().map_or_else(|it| it.cause.name(), |_| "done").into()
            }),
        ];
        Table { title: "Trials, scaled to the whole run".into(), remarks: Vec::new(), columns }
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
