//! `tisane advise`: short trials of a system, and the integrator, mode and accuracy that they recommend.
//!
//! Each trial runs the beginning of the run with one integrator, mode and accuracy x (ν or η). The energy error goes on
//! from dt_max to dt_max by increments; their mean μ and scatter σ over k steps say what M steps do, a drift and a random
//! walk: |ΔE/E| = √((μ M)² + σ² M). That the mean is known only to σ/√k is the uncertainty. Over x the truncation
//! error is a power law. Where a mode has the steps of f64 it is taken from f64, and what the mode rounds is how far
//! its errors are from those of f64 with the same x, where that is least: at large x the trajectories themselves part.
//! Where a mode has other steps, only the power is that of f64. The wall time is a power law too.

use super::fit::{self, EnergyLaw, Power, Truncation};
use super::integrators::Integrator;
use super::points::Progress;
use super::report::Rows;
use super::trial::{self, Measured};
use std::path::Path;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::IntegratorSettings;
use tisane::spin_pool;
use tisane_io::table::Table;
use tisane_run::assemble::{self, Session};
use tisane_run::config::{Config, Engine};

/// Goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// A relative energy error at the end of the run.
    Error(f64),
    /// Wall time of the run, in s.
    Time(f64),
}

/// Steps of dt_max in a trial, at most.
const MOST_STEPS: u64 = 64;

/// A trial, scaled to the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// Accuracy of the time step.
    pub accuracy: f64,
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

/// Prediction for an engine, a mode and an integrator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// Range of the accuracy that is recommended.
    pub range: (f64, f64),
    /// Error of the run over the accuracy.
    pub error: EnergyLaw,
    /// Seconds of the run over the accuracy.
    pub cost: Power,
    /// The error may be so many times larger or smaller, by what the trials were too short to show.
    pub within: f64,
}

/// An integrator, a mode and an accuracy, with what they will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    pub integrator: Integrator,
    /// Accuracy of the time step.
    pub accuracy: f64,
    /// Expected error of the energy at the end, and the factor within which it lies.
    pub error: (f64, f64),
    /// Expected wall time in s, and the factor within which it lies.
    pub seconds: (f64, f64),
}

/// Error at the end of `steps` steps from the errors at the end of each step of a trial: expected, least, most.
#[must_use]
pub fn extrapolate(errors: &[f64], steps: f64) -> [f64; 3] {
    let k = errors.len() as f64;
    let increments: Vec<f64> = errors.iter().scan(0.0, |before, e| Some(e - std::mem::replace(before, *e))).collect();
    let drift = increments.iter().sum::<f64>() / k;
    let scatter = if errors.len() > 1 {
        increments.iter().map(|d| (d - drift).powi(2)).sum::<f64>() / (k - 1.0)
    } else {
        // One step says nothing of the scatter: it may be all there is.
        drift * drift
    };
    let unknown = (scatter / k).sqrt();
    let at = |drift: f64| (drift * steps).hypot((scatter * steps).sqrt());
    // A drift within its own uncertainty counts as seen; what it may be in truth is the range.
    [at(drift), at((drift.abs() - unknown).max(0.0)), at(drift.abs() + unknown)]
}

/// What a trial is tried with.
type Candidate = (Engine, Precision, Integrator);

/// Returns the integrators to try for a configuration: its own, and the multi-point scheme of 6th order. None for a
/// scheme without block steps.
#[must_use]
pub fn integrators(configured: &IntegratorSettings) -> Vec<Integrator> {
    let Some(own) = Integrator::from_settings(configured) else { return Vec::new() };
    let other = (own != Integrator::Multipoint6).then_some(Integrator::Multipoint6);
    [own].into_iter().chain(other).collect()
}

/// Tries the integrators of a configuration in every mode that they work in, with several accuracies, on the engines
/// that are there, in `budget` altogether.
///
/// # Errors
/// As the configuration, and [`Error::Input`] if no trial got through one dt_max.
pub fn trials(
    (file, sets): (&Path, &[String]),
    configured: &IntegratorSettings,
    modes: &[(Engine, Precision)],
    budget: Duration,
    progress: &dyn Progress,
) -> Result<Vec<Trial>> {
    let all = integrators(configured);
    let of_mode = |&(engine, mode): &(Engine, Precision)| {
        let working = all.iter().filter(move |it| it.works_in(mode));
        working.flat_map(move |&it| it.tried().map(|accuracy| ((engine, mode, it), accuracy)))
    };
    let points: Vec<(Candidate, f64)> = modes.iter().flat_map(of_mode).collect();
    let each = budget / points.len().max(1) as u32;
    progress.begin(points.len(), 0, points.len() as f64);
    let mut found = Vec::new();
    for (candidate, accuracy) in points {
        let (engine, mode, integrator) = candidate;
        let mut sets = sets.to_vec();
        sets.extend(integrator.overrides(configured, accuracy));
        sets.push(format!("force.precision={}", mode.name()));
        sets.push(format!("force.engine={}", engine.name()));
        let trial = one((file, &sets), candidate, accuracy, each)?;
        let result = trial.as_ref().map_or("no result within its time".into(), |it| {
            format!("|dE/E| {:.1e} in {}", it.error[0], super::predict::describe_seconds(it.seconds))
        });
        let with = format!("{}, {} = {accuracy}", integrator.name(), integrator.accuracy_key());
        progress.point(&format!("{}, {}, {with}: {result}", engine.name(), mode.name()), 1.0);
        found.extend(trial);
    }
    progress.end();
    if found.is_empty() {
        let problem = format!("no trial got through one dt_max in {}", humantime::format_duration(each));
        let scheme = configured.info();
        let longest = format!("{}.{}", scheme.section, scheme.dt_max_key);
        let help = format!("give the trials more time with --budget, or take a shorter {longest}");
        return Err(Error::input(file, problem).with_help(help));
    }
    Ok(found)
}

/// One trial; [`None`] without a result.
fn one(
    (file, sets): (&Path, &[String]),
    candidate: Candidate,
    accuracy: f64,
    budget: Duration,
) -> Result<Option<Trial>> {
    let loaded = Config::from_file(file, sets)?;
    let threads = loaded.config.force.threads as usize;
    spin_pool::on_threads(threads, || {
        let set = assemble::prepare(loaded)?;
        let steps = set.steps_to_end;
        match trial::run(&set, Session::default(), 0..steps.min(MOST_STEPS), Some(budget)) {
            Ok(measured) => Ok(measured.map(|it| scaled(&it, candidate, accuracy, steps as f64))),
            // Too coarse a mode for these steps: no mode to recommend.
            Err(Error::StepBelowFloor(_)) => Ok(None),
            Err(error) => Err(error),
        }
    })
}

fn scaled(it: &Measured, (engine, mode, integrator): Candidate, accuracy: f64, steps: f64) -> Trial {
    let done = it.errors.len() as f64;
    let error = extrapolate(&it.errors, steps);
    let seconds = it.seconds * steps / done;
    Trial { engine, mode, integrator, accuracy, part: done / steps, seconds, error, errors: it.errors.clone(), steps }
}

/// The laws through the trials of each engine, mode and integrator; those with too few trials are left out.
#[must_use]
pub fn promises(trials: &[Trial]) -> Vec<Promise> {
    let promise = |group: &[Trial]| {
        let Trial { engine, mode, integrator, .. } = group[0];
        let exact: Vec<&Trial> = trials.iter().filter(|it| it.mode.in_f64() && it.integrator == integrator).collect();
        let error = error_law(group, &exact)?;
        let cost = fit::power(&group.iter().map(|it| (it.accuracy, it.seconds)).collect::<Vec<_>>())?;
        let ratio = |it: &Trial| (it.error[2] / it.error[0]).max(it.error[0] / it.error[1].max(f64::MIN_POSITIVE));
        let within = group.iter().map(|it| ratio(it).min(10.0)).sum::<f64>() / group.len() as f64;
        let mut range = integrator.range();
        if !integrator.has_steps_of_f64(mode) {
            // High derivatives sink into the rounding errors of the mode, and the steps collapse: only what was tried.
            range.0 = group.iter().map(|it| it.accuracy).fold(f64::INFINITY, f64::min);
        }
        Some(Promise { engine, mode, integrator, range, error, cost, within })
    };
    let of = |it: &Trial| (it.engine, it.mode, it.integrator);
    trials.chunk_by(|a, b| of(a) == of(b)).filter_map(promise).collect()
}

/// The law of the errors of one group, with the trials of the same integrator in f64.
fn error_law(group: &[Trial], exact: &[&Trial]) -> Option<EnergyLaw> {
    let Trial { mode, integrator, .. } = group[0];
    let points = |of: &[&Trial]| of.iter().map(|it| (it.accuracy, it.error[0])).collect::<Vec<_>>();
    let own: Vec<&Trial> = group.iter().collect();
    let (coefficient, exponent) = truncation(&points(if exact.is_empty() { &own } else { exact }), integrator)?;
    if !exact.is_empty() && !integrator.has_steps_of_f64(mode) {
        return fit::energy(&points(&own), Truncation::Power(exponent));
    }
    let round_off = if mode.in_f64() { 0.0 } else { round_off(group, exact) };
    let mut error = EnergyLaw { coefficient, exponent, round_off, scatter: 0.0 };
    let misfit = |it: &Trial| (it.error[0].max(f64::MIN_POSITIVE) / error.at(it.accuracy)).ln().powi(2);
    error.scatter = (group.iter().map(misfit).sum::<f64>() / group.len() as f64).sqrt();
    Some(error)
}

/// Coefficient and power of the truncation error.
fn truncation(points: &[(f64, f64)], integrator: Integrator) -> Option<(f64, f64)> {
    let seen: Vec<(f64, f64)> = points.iter().copied().filter(|(_, error)| *error > 0.0).collect();
    // Few trials, with encounters in some, may seem to show another power.
    let (least, most) = integrator.error_powers();
    let exponent = fit::power(&seen)?.exponent.clamp(least, most);
    Some((fit::coefficient(&seen, exponent), exponent))
}

/// Rounding error of a mode at the end of the run: the least difference from f64 with the same accuracy; 0 where there
/// is none to compare.
fn round_off(group: &[Trial], exact: &[&Trial]) -> f64 {
    let difference = |it: &Trial| {
        let same = exact.iter().find(|of| of.accuracy == it.accuracy)?;
        let differences: Vec<f64> = it.errors.iter().zip(&same.errors).map(|(a, b)| a - b).collect();
        (!differences.is_empty()).then(|| extrapolate(&differences, it.steps)[0])
    };
    group.iter().filter_map(difference).min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Returns the choice for a goal; [`None`] if it is out of reach of every mode and integrator.
#[must_use]
pub fn advise(promises: &[Promise], goal: Goal) -> Option<Advice> {
    let candidates = promises.iter().filter_map(|promise| {
        let (least, most) = promise.range;
        let accuracy = match goal {
            Goal::Error(goal) => promise.error.accuracy_for(goal, (least, most))?,
            Goal::Time(goal) => {
                // Shorter steps take longer: a law that says otherwise was fitted to noise.
                let exponent = promise.cost.exponent.min(-0.1);
                let affordable = (goal / promise.cost.coefficient).powf(1.0 / exponent);
                // Where truncation is half of what the mode rounds, shorter steps gain nothing.
                let EnergyLaw { coefficient, exponent, round_off, .. } = promise.error;
                affordable.max((0.5 * round_off / coefficient).powf(1.0 / exponent)).max(least)
            }
        };
        let accuracy = two_digits_down(accuracy);
        let advice = promise.at(accuracy);
        let fits = match goal {
            Goal::Error(_) => accuracy >= least,
            Goal::Time(goal) => accuracy <= most && advice.seconds.0 <= goal * 1.1,
        };
        fits.then_some(advice)
    });
    candidates.min_by(|a, b| match goal {
        Goal::Error(_) => a.seconds.0.total_cmp(&b.seconds.0),
        Goal::Time(_) => a.error.0.total_cmp(&b.error.0),
    })
}

impl Promise {
    /// Returns the prediction at an accuracy.
    #[must_use]
    pub fn at(&self, accuracy: f64) -> Advice {
        let [.., least] = self.integrator.tried();
        // Beyond the trials the laws are only followed: twice as unsure for every two times shorter step.
        let beyond = (least / accuracy).max(1.0).powf(self.integrator.step_power());
        let error = self.within * (2.0 * self.error.scatter).exp() * beyond;
        let seconds = (2.0 * self.cost.scatter.max(0.2)).exp() * beyond.sqrt();
        Advice {
            engine: self.engine,
            mode: self.mode,
            integrator: self.integrator,
            accuracy,
            error: (self.error.at(accuracy), error),
            seconds: (self.cost.at(accuracy), seconds),
        }
    }

    /// The least error that it promises within the range of the accuracy, and the least time.
    #[must_use]
    pub fn ends(&self) -> (Advice, Advice) {
        (self.at(self.range.0), self.at(self.range.1))
    }
}

/// Two significant digits, rounded down: a number to paste.
#[must_use]
pub fn two_digits_down(x: f64) -> f64 {
    let unit = 10f64.powf(x.log10().floor() - 1.0);
    let down = (x / unit * (1.0 + 1e-12)).floor() * unit;
    format!("{down:.1e}").parse().unwrap_or(x)
}

/// Returns the engines of this machine with the modes to try: both engines, or the one that is `asked` for, in `modes` or
/// the usual ones.
#[must_use]
pub fn candidates(asked: Engine, modes: &[Precision]) -> Vec<(Engine, Precision)> {
    let gpu = assemble::gpus().is_ok_and(|gpus| !gpus.is_empty());
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

/// Returns the trials as a table.
#[must_use]
pub fn table(trials: &[Trial]) -> Table {
    let rows = Rows(trials);
    let [nu, eta] = rows.accuracies("accuracy of the time step", |it| Some((it.integrator, it.accuracy)));
    let columns = vec![
        rows.text("engine", "engine", |it| it.engine.name().into()),
        rows.text("mode", "precision mode", |it| it.mode.name().into()),
        rows.text("integrator", "scheme with its order", |it| it.integrator.name().into()),
        nu,
        eta,
        rows.numbers("part", "1", "part of the run that was tried", |it| it.part),
        rows.numbers("seconds", "s", "wall time of the whole run", |it| it.seconds),
        rows.numbers("error", "1", "expected energy error at its end", |it| it.error[0]),
        rows.numbers("least", "1", "it may be as small as this", |it| it.error[1]),
        rows.numbers("most", "1", "it may be as large as this", |it| it.error[2]),
    ];
    Table { title: "Trials, scaled to the whole run".into(), remarks: Vec::new(), columns }
}

#[cfg(test)]
mod tests;
