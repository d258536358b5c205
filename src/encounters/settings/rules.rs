//! Criteria that depend on the accuracy.

use crate::encounters::settings::criteria;
/// Criteria that depend on the accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Smallest relative perturbation that the members of a subsystem feel.
    pub perturbation: f64,
    /// True where pairs and stable systems may be orbit-averaged.
    pub averages: bool,
    /// Largest perturbation with which a pair forms.
    pub forms: f64,
    /// Largest perturbation of a pair that stays.
    pub dissolves: f64,
}

impl Rules {
    /// Returns true if the coupling of a pair and a perturber is orbit-averaged, with this perturbation, and this time in
    /// which the position of the perturber changes, in periods.
    pub fn is_averaged(&self, perturbation: f64, periods: f64, was: bool) -> bool {
        let margin = if was { criteria::AVERAGED_MARGIN } else { 1.0 };
        self.averages
            && perturbation < margin * criteria::AVERAGED_BELOW * self.perturbation
            && margin * periods > criteria::MIN_PERIODS_OF_APPROACH
    }
}
