//! Settings of the Hermite scheme as users write them.

use super::{Hermite4, OnFloor, Parameters};
use crate::force::precision::Precision;
use crate::force::range::Range;
use crate::integrator::settings::{AnyIntegrator, BlockSteps, InvalidSetting, Scheme, SchemeInfo, positive, tick};
use crate::real;
use crate::time::{Clock, LOG2_TICKS_PER_DT_MAX, Level};
use crate::units::Real;
use std::num::NonZeroU32;

/// Hermite scheme of 4th order with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Hermite4"))]
pub struct Hermite4Settings {
    /// Accuracy of the time step, above 0; inside the square root: the usual eta is sqrt(nu).
    pub nu: Real,
    /// Accuracy of the first time step, above 0. Default: nu.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    nu_start: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in Henon units, required otherwise.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36. Default: dt_max/2^23.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Evaluations and corrections in each step: the n of P(EC)^n.
    #[cfg_attr(feature = "serde", schemars(range(min = 1, max = 10)))]
    pub iterations: u32,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for Hermite4Settings {
    fn default() -> Self {
        Self {
            nu: real!(0.01),
            nu_start: None,
            dt_max: None,
            dt_min: None,
            iterations: 1,
            on_dt_min: OnFloor::default(),
        }
    }
}

/// Longest time step in Hénon units where the configuration does not give it.
const DT_MAX: Real = real!(0.125);
/// Number of shortest time steps in the longest one where the configuration does not give the shortest.
const DT_MIN_PARTS: NonZeroU32 = NonZeroU32::new(1 << 23).unwrap();

impl Hermite4Settings {
    fn nu_start(&self) -> f64 {
        self.nu_start.unwrap_or(self.nu).get()
    }

    fn dt_min(&self) -> f64 {
        self.dt_min.unwrap_or(self.dt_max.unwrap_or(DT_MAX).divided_by(DT_MIN_PARTS)).get()
    }
}

impl Scheme for Hermite4Settings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.hermite4",
            title: "the Hermite scheme",
            order: 4,
            accuracy_key: "nu",
            dt_max_key: "dt_max",
            references: &[
                "MakinoAarseth1992",
                "PortegiesZwartBellemanGeldof2007",
                "Aarseth1985",
                "McMillan1986",
                "Makino1991",
            ],
        }
    }

    fn dt_max(&self) -> f64 {
        self.dt_max.unwrap_or(DT_MAX).get()
    }

    fn block_steps(&self) -> Option<BlockSteps> {
        let range = [self.dt_min(), self.dt_max()];
        Some(BlockSteps { nu: self.nu.get(), range, evaluations: self.iterations })
    }

    fn describe(&self) -> [String; 2] {
        [
            format!("hermite4, nu = {}, P(EC)^{}", self.nu.get(), self.iterations),
            format!("{:.6e} to {:.6e}", self.dt_min(), self.dt_max()),
        ]
    }

    fn resolve(&mut self) {
        self.nu_start.get_or_insert(self.nu);
        let dt_max = *self.dt_max.get_or_insert(DT_MAX);
        self.dt_min.get_or_insert(dt_max.divided_by(DT_MIN_PARTS));
    }

    fn check(&self, physical: bool, found: &mut Vec<InvalidSetting>) -> bool {
        positive(found, "nu", Some(self.nu));
        positive(found, "nu_start", self.nu_start);
        let before = found.len();
        if physical && self.dt_max.is_none() {
            found.push(InvalidSetting::Missing("dt_max"));
        }
        positive(found, "dt_max", self.dt_max);
        let sound = found.len() == before;
        positive(found, "dt_min", self.dt_min);
        if sound && found.len() == before {
            let (dt_min, dt_max) = (self.dt_min(), self.dt_max());
            let deepest = tick(dt_max);
            if !deepest.is_normal() {
                found
                    .push(InvalidSetting::Wrong("dt_max", format!("{dt_max:e} is too short to be divided into steps")));
            } else if dt_min > dt_max {
                let problem = format!("expected at most dt_max = {dt_max}, found {dt_min}");
                found.push(InvalidSetting::Wrong("dt_min", problem));
            } else if dt_min < deepest {
                let problem =
                    format!("expected at least dt_max/2^{LOG2_TICKS_PER_DT_MAX} = {deepest:e}, found {dt_min:e}");
                found.push(InvalidSetting::Wrong("dt_min", problem));
            }
        }
        sound
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        let parameters = Parameters {
            nu: self.nu.get(),
            nu_start: self.nu_start(),
            iterations: self.iterations,
            floor: Level::not_shorter_than(self.dt_min() / self.dt_max()),
            on_floor: self.on_dt_min,
            noise: precision.noise(),
            range: Range::for_precision(precision),
        };
        AnyIntegrator::Forces(Box::new(Hermite4::new(parameters, clock)))
    }
}
