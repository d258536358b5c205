//! Settings of the leapfrog as users write them.

use super::Leapfrog;
use crate::integrator::settings::{AnyIntegrator, InvalidSetting, Scheme, SchemeInfo, positive, tick};
use tisane_force::force::precision::Precision;
use tisane_force::force::range::Range;
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Default number of steps between outputs.
const STEPS_PER_OUTPUT: f64 = 128.0;

/// Leapfrog, kick-drift-kick, with one fixed step for all particles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Leapfrog"))]
pub struct LeapfrogSettings {
    /// Time step, above 0; unit: time. Output intervals and the length of the run are whole multiples of it.
    pub dt: Real,
}

impl Scheme for LeapfrogSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.leapfrog",
            title: "the leapfrog",
            order: 2,
            accuracy_key: "dt",
            dt_max_key: "dt",
            state_keys: &[],
            references: &["Verlet1967", "HamadaIitaka2007"],
        }
    }

    fn dt_max(&self) -> f64 {
        self.dt.get()
    }

    fn output_interval(&self) -> f64 {
        STEPS_PER_OUTPUT * self.dt.get()
    }

    fn describe(&self) -> [String; 2] {
        ["leapfrog, one step for all".to_owned(), format!("{:.6e}", self.dt.get())]
    }

    fn check(&self, _: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        let before = found.len();
        positive(found, "dt", Some(self.dt));
        let dt = self.dt.get();
        if dt > 0.0 && !tick(dt).is_normal() {
            found.push(InvalidSetting::Wrong("dt", format!("{dt:e} is too short to be counted in ticks")));
        }
        found.len() == before
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Accelerations(Box::new(Leapfrog::new(clock, Range::for_precision(precision))))
    }
}
