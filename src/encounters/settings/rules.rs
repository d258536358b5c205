//! Criteria that depend on the accuracy.

/// Criteria that depend on the accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Smallest relative perturbation that the members of a subsystem feel.
    pub perturbation: f64,
    /// True where pairs and stable systems may be followed in the mean over their orbits.
    pub means: bool,
    /// Largest perturbation with which a pair forms.
    pub forms: f64,
    /// Largest perturbation of a pair that stays.
    pub dissolves: f64,
}

/// Largest perturbation of a pair by another body that both feel in the mean over the orbit, in units of the smallest one that is
/// felt, and shortest time in which the place of that body changes, in periods. Where they already do it may exceed them by a factor.
const MEAN: f64 = 30.0;
const MEAN_PERIODS: f64 = 4.0;
const MEAN_STAYS: f64 = 1.5;

impl Rules {
    /// Returns true if a pair and another body feel each other in the mean over the orbit, with this perturbation, and this
    /// time in which the place of the body changes, in periods.
    pub fn is_mean(&self, perturbation: f64, periods: f64, was: bool) -> bool {
        let margin = if was { MEAN_STAYS } else { 1.0 };
        self.means && perturbation < margin * MEAN * self.perturbation && margin * periods > MEAN_PERIODS
    }
}
