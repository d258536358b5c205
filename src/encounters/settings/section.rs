//! Settings of subsystems as users write them.

use crate::encounters::settings::criteria::MAX_SMALLEST_PERTURBATION;
use crate::integrator::InvalidSetting;
use crate::real;
use tisane_force::units::Real;

/// Close encounters and binaries without softening: pairs and small groups move as subsystems, by methods for few bodies.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Encounters"))]
pub struct EncounterSettings {
    /// Smallest relative tidal perturbation that a binary feels, below 1e-2; 0 for no subsystems. Smaller is more accurate.
    pub perturbation: Real,
    /// Flag that weakly disturbed binaries, and stable triples and quadruples, move in the mean over their orbits; false: all orbits are followed, at a cost.
    pub mean_orbits: bool,
}

impl Default for EncounterSettings {
    fn default() -> Self {
        Self { perturbation: real!(1e-5), mean_orbits: true }
    }
}

impl EncounterSettings {
    /// Adds the invalid settings to `found`.
    pub fn check(&self, found: &mut Vec<InvalidSetting>) {
        let value = self.perturbation;
        if !(0.0..=MAX_SMALLEST_PERTURBATION).contains(&value.get()) {
            let problem = format!("expected a number from 0 to {MAX_SMALLEST_PERTURBATION}, found {value}");
            found.push(InvalidSetting::Wrong("perturbation", problem));
        }
    }
}
