//! `tisane advise`: short trials of a system, and the mode and ν that they recommend.
//!
//! Each trial runs the beginning of the run with one mode and ν. The energy error goes on from dt_max to dt_max by
//! increments; their mean μ and scatter σ over k steps say what M steps do: |ΔE/E| = √((μ M)² + σ² M), a drift and a
//! random walk. That the mean is known only to σ/√k is the uncertainty. Over ν the truncation error is a power law,
//! taken from f64; what a mode rounds is how far its errors are from those of f64 with the same ν, where that is least:
//! at large ν the trajectories themselves part. The wall time is a power law too.

use super::fit::{self, EnergyLaw, Power};
use super::points::Progress;
use super::report::Rows;
use super::trial::{self, Measured};
use std::path::Path;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::integrator::SchemeInfo;
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

/// The values of ν that are tried.
pub const TRIED: [f64; 3] = [0.04, 0.01, 0.0025];
/// The power of ν of the truncation error: 2 by the scheme's order. Few trials, with encounters in some, may seem to
/// show another.
const POWERS: (f64, f64) = (1.5, 2.5);
/// The range of ν that is recommended: beyond the trials the laws are followed this far.
const RANGE: (f64, f64) = (1e-4, 0.1);
/// Steps of dt_max in a trial, at most.
const MOST_STEPS: u64 = 64;

/// A trial, scaled to the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Accuracy of the time step.
    pub nu: f64,
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

/// Prediction for an engine and a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Error of the run over ν.
    pub error: EnergyLaw,
    /// Seconds of the run over ν.
    pub cost: Power,
    /// The error may be so many times larger or smaller, by what the trials were too short to show.
    pub within: f64,
}

/// A mode and ν, with what they will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Engine.
    pub engine: Engine,
    /// Precision mode.
    pub mode: Precision,
    /// Accuracy of the time step.
    pub nu: f64,
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

/// Tries every mode and ν on the engines that are there, in `budget` altogether.
///
/// # Errors
/// As the configuration, and [`Error::Input`] if no trial got through one dt_max.
pub fn trials(
    (file, sets): (&Path, &[String]),
    scheme: &SchemeInfo,
    modes: &[(Engine, Precision)],
    budget: Duration,
    progress: &dyn Progress,
) -> Result<Vec<Trial>> {
    let each = budget / (modes.len() * TRIED.len()).max(1) as u32;
    progress.begin(modes.len() * TRIED.len(), 0, (modes.len() * TRIED.len()) as f64);
    let mut found = Vec::new();
    for &(engine, mode) in modes {
        for nu in TRIED {
            let mut sets = sets.to_vec();
            sets.push(format!("{}.{}={nu:?}", scheme.section, scheme.accuracy_key));
            sets.push(format!("force.precision={}", mode.name()));
            sets.push(format!("force.engine={}", engine.name()));
            let loaded = Config::from_file(file, &sets)?;
            let threads = loaded.config.force.threads as usize;
            let trial = spin_pool::on_threads(threads, || {
                let set = assemble::prepare(loaded)?;
                let steps = set.steps_to_end;
                let measured = trial::run(&set, Session::default(), 0..steps.min(MOST_STEPS), Some(each));
                match measured {
                    Ok(measured) => Ok(measured.map(|it| scaled(&it, (engine, mode, nu), steps as f64))),
                    // Too coarse a mode for these steps: no mode to recommend.
                    Err(Error::StepBelowFloor(_)) => Ok(None),
                    Err(error) => Err(error),
                }
            })?;
            let told = trial.as_ref().map_or("no result within its time".into(), |it| {
                format!("|dE/E| {:.1e} in {}", it.error[0], super::predict::told(it.seconds))
            });
            progress.point(&format!("{}, {}, nu = {nu}: {told}", engine.name(), mode.name()), 1.0);
            found.extend(trial);
        }
    }
    progress.end();
    if found.is_empty() {
        let problem = format!("no trial got through one dt_max in {}", humantime::format_duration(each));
        let longest = format!("{}.{}", scheme.section, scheme.dt_max_key);
        let help = format!("give the trials more time with --budget, or take a shorter {longest}");
        return Err(Error::input(file, problem).with_help(help));
    }
    Ok(found)
}

fn scaled(it: &Measured, (engine, mode, nu): (Engine, Precision, f64), steps: f64) -> Trial {
    let done = it.errors.len() as f64;
    let error = extrapolate(&it.errors, steps);
    let seconds = it.seconds * steps / done;
    Trial { engine, mode, nu, part: done / steps, seconds, error, errors: it.errors.clone(), steps }
}

/// The laws through the trials of each engine and mode; a mode with too few trials is left out.
#[must_use]
pub fn promises(trials: &[Trial]) -> Vec<Promise> {
    let exact: Vec<&Trial> = trials.iter().filter(|it| it.mode.in_f64()).collect();
    let promise = |group: &[Trial]| {
        let of_scheme: Vec<(f64, f64)> = if exact.is_empty() {
            group.iter().map(|it| (it.nu, it.error[0])).collect()
        } else {
            exact.iter().map(|it| (it.nu, it.error[0])).collect()
        };
        let (coefficient, exponent) = truncation(&of_scheme)?;
        let round_off = if group[0].mode.in_f64() { 0.0 } else { round_off(group, &exact) };
        let mut error = EnergyLaw { coefficient, exponent, round_off, scatter: 0.0 };
        let misfit = |it: &Trial| (it.error[0].max(f64::MIN_POSITIVE) / error.at(it.nu)).ln().powi(2);
        error.scatter = (group.iter().map(misfit).sum::<f64>() / group.len() as f64).sqrt();
        let cost = fit::power(&group.iter().map(|it| (it.nu, it.seconds)).collect::<Vec<_>>())?;
        let ratio = |it: &Trial| (it.error[2] / it.error[0]).max(it.error[0] / it.error[1].max(f64::MIN_POSITIVE));
        let within = group.iter().map(|it| ratio(it).min(10.0)).sum::<f64>() / group.len() as f64;
        Some(Promise { engine: group[0].engine, mode: group[0].mode, error, cost, within })
    };
    trials.chunk_by(|a, b| (a.engine, a.mode) == (b.engine, b.mode)).filter_map(promise).collect()
}

/// Coefficient and power of the truncation error.
fn truncation(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let seen: Vec<(f64, f64)> = points.iter().copied().filter(|(_, error)| *error > 0.0).collect();
    let exponent = fit::power(&seen)?.exponent.clamp(POWERS.0, POWERS.1);
    let mean = seen.iter().map(|(nu, error)| error.ln() - exponent * nu.ln()).sum::<f64>() / seen.len() as f64;
    Some((mean.exp(), exponent))
}

/// Rounding error of a mode at the end of the run: the least difference from f64 with the same ν; 0 where there is none
/// to compare.
fn round_off(group: &[Trial], exact: &[&Trial]) -> f64 {
    let difference = |it: &Trial| {
        let same = exact.iter().find(|of| of.nu == it.nu)?;
        let differences: Vec<f64> = it.errors.iter().zip(&same.errors).map(|(a, b)| a - b).collect();
        (!differences.is_empty()).then(|| extrapolate(&differences, it.steps)[0])
    };
    group.iter().filter_map(difference).min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Returns the choice for a goal; [`None`] if it is out of reach of every mode.
#[must_use]
pub fn advise(promises: &[Promise], goal: Goal) -> Option<Advice> {
    let candidates = promises.iter().filter_map(|promise| {
        let nu = match goal {
            Goal::Error(goal) => promise.error.nu_for(goal, RANGE)?,
            Goal::Time(goal) => {
                // Shorter steps take longer: a law that says otherwise was fitted to noise.
                let exponent = promise.cost.exponent.min(-0.1);
                let affordable = (goal / promise.cost.coefficient).powf(1.0 / exponent);
                // Where truncation is half of what the mode rounds, shorter steps gain nothing.
                let EnergyLaw { coefficient, exponent, round_off, .. } = promise.error;
                affordable.max((0.5 * round_off / coefficient).powf(1.0 / exponent)).max(RANGE.0)
            }
        };
        let nu = two_digits_down(nu);
        let advice = promise.at(nu);
        let fits = match goal {
            Goal::Error(_) => nu >= RANGE.0,
            Goal::Time(goal) => nu <= RANGE.1 && advice.seconds.0 <= goal * 1.1,
        };
        fits.then_some(advice)
    });
    candidates.min_by(|a, b| match goal {
        Goal::Error(_) => a.seconds.0.total_cmp(&b.seconds.0),
        Goal::Time(_) => a.error.0.total_cmp(&b.error.0),
    })
}

impl Promise {
    /// Returns the prediction at ν.
    #[must_use]
    pub fn at(&self, nu: f64) -> Advice {
        // Beyond the trials the laws are only followed: twice as unsure for every four times smaller ν.
        let least = TRIED.into_iter().fold(f64::INFINITY, f64::min);
        let beyond = (least / nu).max(1.0).sqrt();
        let error = self.within * (2.0 * self.error.scatter).exp() * beyond;
        let seconds = (2.0 * self.cost.scatter.max(0.2)).exp() * beyond.sqrt();
        Advice {
            engine: self.engine,
            mode: self.mode,
            nu,
            error: (self.error.at(nu), error),
            seconds: (self.cost.at(nu), seconds),
        }
    }

    /// The least error that it promises within the range of ν, and the least time.
    #[must_use]
    pub fn ends(&self) -> (Advice, Advice) {
        (self.at(RANGE.0), self.at(RANGE.1))
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
    let columns = vec![
        rows.text("engine", "engine", |it| it.engine.name().into()),
        rows.text("mode", "precision mode", |it| it.mode.name().into()),
        rows.numbers("nu", "1", "accuracy of the time step", |it| it.nu),
        rows.numbers("part", "1", "part of the run that was tried", |it| it.part),
        rows.numbers("seconds", "s", "wall time of the whole run", |it| it.seconds),
        rows.numbers("error", "1", "expected energy error at its end", |it| it.error[0]),
        rows.numbers("least", "1", "it may be as small as this", |it| it.error[1]),
        rows.numbers("most", "1", "it may be as large as this", |it| it.error[2]),
    ];
    Table { title: "Trials, scaled to the whole run".into(), remarks: Vec::new(), columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_and_walk_are_told_apart() {
        let steady: Vec<f64> = (1..=10).map(|k| 1e-9 * f64::from(k)).collect();
        let [expected, least, most] = extrapolate(&steady, 1000.0);
        assert!((expected / 1e-6 - 1.0).abs() < 1e-6 && least / expected > 0.99 && most / expected < 1.01);
        let to_and_fro: Vec<f64> = (1..=10).map(|k| if k % 2 == 1 { 1e-9 } else { 0.0 }).collect();
        let [expected, ..] = extrapolate(&to_and_fro, 1000.0);
        assert!((1e-8..1e-7).contains(&expected), "a walk grows by the root: {expected}");
        assert_eq!(extrapolate(&[0.0, 0.0], 5.0), [0.0; 3]);
    }

    #[test]
    fn numbers_to_paste_have_two_digits_and_are_not_larger() {
        for (x, y) in [(0.012_345, 0.012), (0.01, 0.01), (9.99e-4, 9.9e-4), (0.1, 0.1)] {
            assert_eq!(two_digits_down(x), y);
        }
    }

    #[test]
    fn truncation_and_round_off_of_planted_trials_are_found() {
        let trial = |mode: Precision, nu: f64, rounding: f64| {
            let each = 1e-5 * nu * nu;
            let walk = |k: i32| if k % 2 == 1 { rounding } else { 0.0 };
            let errors: Vec<f64> = (1..=20).map(|k| each * f64::from(k) + walk(k)).collect();
            let (error, seconds) = (extrapolate(&errors, 100.0), nu.powf(-0.5));
            Trial { engine: Engine::Cpu, mode, nu, part: 0.2, seconds, error, errors, steps: 100.0 }
        };
        let mut trials: Vec<Trial> = TRIED.into_iter().map(|nu| trial(Precision::F64, nu, 0.0)).collect();
        trials.extend(TRIED.map(|nu| trial(Precision::Mixed, nu, 1e-10)));
        let [exact, mixed] = promises(&trials)[..] else { panic!("two modes") };
        for promise in [exact, mixed] {
            let EnergyLaw { coefficient, exponent, .. } = promise.error;
            assert!((coefficient / 1e-3 - 1.0).abs() < 0.01 && (exponent - 2.0).abs() < 0.01, "{promise:?}");
            assert!((promise.cost.exponent + 0.5).abs() < 1e-9 && (promise.cost.coefficient - 1.0).abs() < 1e-9);
        }
        assert_eq!(exact.error.round_off, 0.0);
        // Steps of ±1e-10, a hundred of them.
        assert!((mixed.error.round_off / 1e-9).ln().abs() < 0.2, "{mixed:?}");
    }

    fn promise(mode: Precision, round_off: f64, seconds: f64) -> Promise {
        let error = EnergyLaw { coefficient: 1e-4, exponent: 2.0, round_off, scatter: 0.1 };
        let cost = Power { coefficient: seconds, exponent: -0.5, scatter: 0.05 };
        Promise { engine: Engine::Cpu, mode, error, cost, within: 1.5 }
    }

    #[test]
    fn the_cheapest_mode_that_reaches_the_goal_is_taken() {
        let promises = [promise(Precision::Mixed, 1e-10, 1.0), promise(Precision::F64, 0.0, 3.0)];
        let coarse = advise(&promises, Goal::Error(1e-8)).unwrap();
        assert_eq!(coarse.mode, Precision::Mixed);
        assert!(coarse.error.0 <= 1e-8 && coarse.nu > 0.009, "{coarse:?}");
        let fine = advise(&promises, Goal::Error(5e-11)).unwrap();
        assert_eq!(fine.mode, Precision::F64);
        assert_eq!(advise(&promises, Goal::Error(1e-13)), None);
        let timed = advise(&promises, Goal::Time(30.0)).unwrap();
        assert!(timed.seconds.0 <= 33.0 && timed.error.0 < 1e-9, "{timed:?}");
        assert_eq!(advise(&promises, Goal::Time(1.0)), None);
    }
}
