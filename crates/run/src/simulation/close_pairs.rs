//! Warnings of close pairs with which a run does not go well.

use super::Simulation;
use crate::assemble;
use tisane::force::Field;

impl Simulation {
    /// Finds the close pairs of the particles at the start, and records and logs the warnings of them. `measured` is
    /// their field; without it, it is measured, and where that fails there is no warning.
    pub(super) fn warn_of_close_pairs(&mut self, measured: Option<&Field>) {
        let Some(terms) = self.info.terms.clone() else { return };
        let own = if measured.is_none() { self.system.field().ok() } else { None };
        let Some(field) = measured.or(own.as_ref()) else { return };
        let found = assemble::close_pairs(&self.system.particles, &field.pot, terms);
        for warning in found.warnings() {
            tracing::warn!("{warning}");
            self.info.warnings.push(warning);
        }
    }
}
