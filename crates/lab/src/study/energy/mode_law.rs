//! Energy errors and costs over the accuracy of the steps, with the laws through them.

use crate::study::fit::{self, EnergyLaw, Power};
use crate::study::integrators::Integrator;
use tisane::force::precision::Precision;
use tisane_plot::band::Band;

/// Errors of an integrator in a mode at some N on some engine, over the accuracy x of the integrator.
#[derive(Clone, Debug)]
pub struct ModeLaw {
    /// Number of particles.
    pub n: u32,
    /// Engine.
    pub engine: String,
    /// Integrator.
    pub integrator: Integrator,
    /// Precision mode.
    pub mode: Precision,
    /// (x, root mean square of the energy error over the seeds).
    pub errors: Vec<(f64, f64)>,
    /// Accuracies of which a seed has no result.
    pub without_result: Vec<f64>,
    /// (x, median and range of |energy error| over the seeds).
    pub bands: Vec<(f64, Band)>,
    /// (x, mean seconds for a time unit), where timed.
    pub seconds: Vec<(f64, f64)>,
    /// (x, mean number of pairs evaluated in a time unit).
    pub pairs: Vec<(f64, f64)>,
    /// The law through the errors.
    pub error: Option<EnergyLaw>,
    /// The law through the seconds.
    pub cost: Option<Power>,
    /// The law through the pairs.
    pub work: Option<Power>,
}

impl ModeLaw {
    /// The error at x: what the law says, or what was measured on both sides of it, whichever is larger.
    #[must_use]
    pub fn error_at(&self, x: f64) -> f64 {
        // A NaN, where nothing was measured, is not larger.
        self.error.as_ref().map_or(f64::NAN, |law| law.at(x)).max(fit::between(&self.errors, x))
    }

    /// The largest x of a range whose error is at most `goal`, to a percent.
    pub(super) fn accuracy_for(&self, goal: f64, (min, max): (f64, f64)) -> Option<f64> {
        let steps = ((max / min).ln() / 0.01).ceil().max(1.0) as u32;
        let all = (0..=steps).map(|k| max * (min / max).powf(f64::from(k) / f64::from(steps)));
        all.filter(|x| self.error_at(*x) <= goal).max_by(f64::total_cmp)
    }

    /// The range of the accuracies that have a result; [`None`] without any.
    pub(super) fn tried(&self) -> Option<(f64, f64)> {
        let values = || self.errors.iter().map(|(x, _)| *x);
        Some((values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?))
    }

    /// Says what is to be known of the law beside its numbers; empty where there is nothing.
    pub(super) fn remark(&self) -> String {
        let Some(law) = &self.error else { return format!("none: {} points", self.errors.len()) };
        let mut said = Vec::new();
        if law.is_rough() {
            said.push(format!("rough: {} points, {} fitted", law.points, law.parameters));
        }
        let promised = self.integrator.error_power();
        let off = (law.exponent - promised).abs();
        if law.parameters >= 2 && off > 0.1 * promised {
            said.push(format!("order {}: p = {promised} for short steps", self.integrator.order()));
        }
        said.join("; ")
    }
}
