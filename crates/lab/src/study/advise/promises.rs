//! What trials promise: the laws through them, and the choice for a goal.

use super::trial::{Candidate, Trial};
use crate::study::fit::{self, EnergyLaw, Power, Truncation};
use crate::study::integrators::Integrator;
use tisane::force::precision::Precision;
use tisane_run::config::Engine;

/// Goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// A relative energy error at the end of the run.
    Error(f64),
    /// Wall time of the run, in s.
    Time(f64),
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
    /// Factor by which the error may be larger or smaller, as the trials were too short to show.
    pub within: f64,
}

/// An integrator, a mode and an accuracy, with what they will do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// What to run with.
    pub candidate: Candidate,
    /// Energy error at the end: expected, least and most.
    pub error: [f64; 3],
    /// Wall time in s: expected, least and most.
    pub seconds: [f64; 3],
    /// Part of the run that a trial with it covered; [`None`] if the laws through the trials predict it.
    pub tried: Option<f64>,
}

impl Advice {
    /// Returns true if a trial with it covered the whole run: its error is then what was measured.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.tried.is_some_and(|part| part >= 1.0)
    }
}

/// Least scatter of a wall time, as ln: machines are never alike twice.
const MIN_SCATTER: f64 = 0.2;

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

/// The laws through the trials of each engine, mode and integrator; those with too few trials are left out.
#[must_use]
pub fn promises(trials: &[Trial]) -> Vec<Promise> {
    let in_f64 = |it: &Trial, integrator| it.candidate.mode.in_f64() && it.candidate.integrator == integrator;
    let promise = |group: &[Trial]| {
        let Candidate { engine, mode, integrator, .. } = group[0].candidate;
        let exact: Vec<&Trial> = trials.iter().filter(|it| in_f64(it, integrator)).collect();
        let error = error_law(group, &exact)?;
        let cost = fit::power(&group.iter().map(|it| (it.candidate.accuracy, it.seconds)).collect::<Vec<_>>())?;
        let ratio = |it: &Trial| (it.error[2] / it.error[0]).max(it.error[0] / it.error[1].max(f64::MIN_POSITIVE));
        let within = group.iter().map(|it| ratio(it).min(10.0)).sum::<f64>() / group.len() as f64;
        let mut range = integrator.variant().range;
        if !integrator.has_steps_of_f64(mode) {
            // High derivatives sink into the rounding errors of the mode, and the steps collapse: only what was tried.
            range.0 = group.iter().map(|it| it.candidate.accuracy).fold(f64::INFINITY, f64::min);
        }
        Some(Promise { engine, mode, integrator, range, error, cost, within })
    };
    trials.chunk_by(|a, b| a.candidate.group() == b.candidate.group()).filter_map(promise).collect()
}

/// The law of the errors of one group, with the trials of the same integrator in f64.
fn error_law(group: &[Trial], exact: &[&Trial]) -> Option<EnergyLaw> {
    let Candidate { mode, integrator, .. } = group[0].candidate;
    let points = |of: &[&Trial]| of.iter().map(|it| (it.candidate.accuracy, it.error[0])).collect::<Vec<_>>();
    let own: Vec<&Trial> = group.iter().collect();
    let (coefficient, exponent) = truncation(&points(if exact.is_empty() { &own } else { exact }), integrator)?;
    if !exact.is_empty() && !integrator.has_steps_of_f64(mode) {
        return fit::energy(&points(&own), Truncation::Power(exponent)).filter(|law| !law.scatter.is_nan());
    }
    let round_off = if mode.in_f64() { 0.0 } else { round_off(group, exact) };
    let mut error = EnergyLaw::known(coefficient, exponent, round_off);
    let misfit = |it: &Trial| (it.error[0].max(f64::MIN_POSITIVE) / error.at(it.candidate.accuracy)).ln().powi(2);
    error.scatter = (group.iter().map(misfit).sum::<f64>() / group.len() as f64).sqrt();
    Some(error)
}

/// Coefficient and power of the truncation error.
fn truncation(points: &[(f64, f64)], integrator: Integrator) -> Option<(f64, f64)> {
    let seen: Vec<(f64, f64)> = points.iter().copied().filter(|(_, error)| *error > 0.0).collect();
    // Few trials, with encounters in some, may seem to show another power.
    let (min, max) = integrator.variant().error_powers;
    let exponent = fit::power(&seen)?.exponent.clamp(min, max);
    Some((fit::coefficient(&seen, exponent), exponent))
}

/// Rounding error of a mode at the end of the run: the least difference from f64 with the same accuracy; 0 where there
/// is none to compare.
fn round_off(group: &[Trial], exact: &[&Trial]) -> f64 {
    let difference = |it: &Trial| {
        let same = exact.iter().find(|of| of.candidate.accuracy == it.candidate.accuracy)?;
        let differences: Vec<f64> = it.errors.iter().zip(&same.errors).map(|(a, b)| a - b).collect();
        (!differences.is_empty()).then(|| extrapolate(&differences, it.steps)[0])
    };
    group.iter().filter_map(difference).min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Returns the choice for a goal: the trial that reaches it best, or what the laws predict if that is better beyond
/// its uncertainty; [`None`] if the goal is out of reach of every mode and integrator.
#[must_use]
pub fn advise(trials: &[Trial], promises: &[Promise], goal: Goal) -> Option<Advice> {
    // Quantity to be least.
    let cost = |it: &Advice| match goal {
        Goal::Error(_) => it.seconds,
        Goal::Time(_) => it.error,
    };
    let best = |a: &Advice, b: &Advice| cost(a)[0].total_cmp(&cost(b)[0]);
    let reached = |it: &Advice| match goal {
        Goal::Error(goal) => it.error[0] <= goal,
        Goal::Time(goal) => it.seconds[0] <= goal,
    };
    let measured = trials.iter().map(Trial::as_advice).filter(reached).min_by(best);
    let predicted = promises.iter().filter_map(|promise| promise.choice(trials, goal)).min_by(best);
    match (measured, predicted) {
        (Some(measured), Some(predicted)) if cost(&predicted)[2] < cost(&measured)[0] => Some(predicted),
        (measured, predicted) => measured.or(predicted),
    }
}

impl Trial {
    /// Returns the trial as advice.
    fn as_advice(&self) -> Advice {
        let within = (2.0 * MIN_SCATTER).exp();
        let seconds = [self.seconds, self.seconds / within, self.seconds * within];
        Advice { candidate: self.candidate, error: self.error, seconds, tried: Some(self.part) }
    }
}

impl Promise {
    /// Returns what the prediction is for.
    fn group(&self) -> (Engine, Precision, Integrator) {
        (self.engine, self.mode, self.integrator)
    }

    /// Returns the accuracy for a goal with its prediction; [`None`] if the goal is out of reach.
    fn choice(&self, trials: &[Trial], goal: Goal) -> Option<Advice> {
        let (min, max) = self.range;
        let accuracy = match goal {
            Goal::Error(goal) => {
                let law = self.error.accuracy_for(goal, (min, max))?;
                // A trial that missed the goal where the law reaches it corrects the law.
                let corrected =
                    |it: &Trial| it.candidate.accuracy * (goal / it.error[0]).powf(1.0 / self.error.exponent);
                let missed = trials.iter().filter(|it| {
                    it.error[0] > goal && it.candidate.accuracy <= law && it.candidate.group() == self.group()
                });
                missed.map(corrected).fold(law, f64::min)
            }
            Goal::Time(goal) => {
                // Shorter steps take longer: a law that says otherwise was fitted to noise.
                let exponent = self.cost.exponent.min(-0.1);
                let affordable = (goal / self.cost.coefficient).powf(1.0 / exponent);
                // Where truncation is half of what the mode rounds, shorter steps gain nothing.
                let EnergyLaw { coefficient, exponent, round_off, .. } = self.error;
                affordable.max((0.5 * round_off / coefficient).powf(1.0 / exponent)).max(min)
            }
        };
        let accuracy = two_digits_down(accuracy);
        let advice = self.at(accuracy);
        let fits = match goal {
            Goal::Error(_) => accuracy >= min,
            Goal::Time(goal) => accuracy <= max && advice.seconds[0] <= goal * 1.1,
        };
        fits.then_some(advice)
    }

    /// Returns the prediction at an accuracy.
    #[must_use]
    pub fn at(&self, accuracy: f64) -> Advice {
        let Self { engine, mode, integrator, .. } = *self;
        let [.., min] = integrator.variant().tried;
        // Beyond the trials the laws are only followed: twice as unsure for every two times shorter step.
        let beyond = (min / accuracy).max(1.0).powf(integrator.variant().step_power);
        let range = |x: f64, within: f64| [x, x / within, x * within];
        Advice {
            candidate: Candidate { engine, mode, integrator, accuracy },
            error: range(self.error.at(accuracy), self.within * (2.0 * self.error.scatter).exp() * beyond),
            seconds: range(self.cost.at(accuracy), (2.0 * self.cost.scatter.max(MIN_SCATTER)).exp() * beyond.sqrt()),
            tried: None,
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
