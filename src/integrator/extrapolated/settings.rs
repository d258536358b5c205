//! Settings of the extrapolated leapfrog.

use super::solver::BITS;
use super::{Accuracy, Extrapolated};
use crate::integrator::checks::{InvalidSetting, positive, tick};
use crate::integrator::settings::{AnyIntegrator, Scheme, SchemeInfo};
use crate::real;
use tisane_force::force::precision::Precision;
use tisane_force::time::Clock;
use tisane_force::units::Real;
use tisane_force::units::digits;

/// Longest step in N-body units where the configuration does not give it.
const DT_MAX: Real = real!(0.125);
/// Largest tolerance: one of f64, beyond which other schemes are as good.
const MAX_TOLERANCE: f64 = 1e-6;
/// Digits that double-double numbers keep of a run, with some to spare for rounding.
const DIGITS_OF_DOUBLE_DOUBLE: f64 = 26.0;
/// Bits that a tolerance must leave to rounding.
const GUARD_BITS: f64 = 6.0;
/// Largest number of particles: every step evaluates all pairs some hundred times.
const MAX_PARTICLES: usize = 256;

/// Leapfrog extrapolated in the square of its step, in numbers with more digits than f64, with one step for all particles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Extrapolated"))]
pub struct ExtrapolatedSettings {
    /// Largest change of a coordinate or velocity by the last column of a step, in internal units, above 0 and at most 1e-6.
    pub tolerance: Real,
    /// Number of bits: 106 (double-double), 192, 256, 384, 512 or 1024. Default: 106 to a tolerance of 1e-26, below
    /// the first with four a digit and 32 more.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(feature = "serde", schemars(extend("enum" = [106, 192, 256, 384, 512, 1024])))]
    bits: Option<u32>,
    /// Longest time step; unit: time. Output intervals and the length of the run are whole multiples of it. Default: 1/8 in
    /// N-body units, none in others.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
}

impl Default for ExtrapolatedSettings {
    fn default() -> Self {
        Self { tolerance: real!(1e-24), bits: None, dt_max: None }
    }
}

impl ExtrapolatedSettings {
    /// Creates settings with the default number of bits for a tolerance.
    #[must_use]
    pub const fn new(tolerance: Real, dt_max: Real) -> Self {
        Self { tolerance, bits: None, dt_max: Some(dt_max) }
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let digits = -libm::log10(self.tolerance.get());
        let needed = if digits <= DIGITS_OF_DOUBLE_DOUBLE { 0.0 } else { 4.0 * digits + 32.0 };
        let found = BITS.into_iter().find(|bits| f64::from(*bits) >= needed);
        self.bits.unwrap_or_else(|| found.unwrap_or(BITS[BITS.len() - 1]))
    }

    fn longest(&self) -> Real {
        self.dt_max.unwrap_or(DT_MAX)
    }
}

impl Scheme for ExtrapolatedSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.extrapolated",
            title: "the extrapolated leapfrog",
            order: 2,
            accuracy_key: "tolerance",
            dt_max_key: "dt_max",
            state_keys: &["bits"],
            references: &["Gragg1965", "BulirschStoer1966", "BoekholtPortegiesZwart2015"],
        }
    }

    fn dt_max(&self) -> f64 {
        self.longest().get()
    }

    fn describe(&self) -> [String; 2] {
        [
            format!("extrapolated leapfrog, tolerance = {:e}, {} bits", self.tolerance.get(), self.bits()),
            format!("by the motion, at most {}", digits(self.dt_max())),
        ]
    }

    fn resolve(&mut self) {
        (self.bits, self.dt_max) = (Some(self.bits()), Some(self.longest()));
    }

    fn check(&self, physical: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        positive(found, "tolerance", Some(self.tolerance));
        let (tolerance, bits) = (self.tolerance.get(), self.bits());
        let least = libm::exp2(GUARD_BITS - f64::from(bits));
        if let Some(bits) = self.bits.filter(|bits| !BITS.contains(bits)) {
            let names = BITS.map(|bits| bits.to_string()).join(", ");
            let nearest = BITS.into_iter().find(|it| *it > bits).unwrap_or(BITS[BITS.len() - 1]);
            let problem = format!("expected one of {names}, found {bits}; nearest valid value: {nearest}");
            found.push(InvalidSetting::Wrong("bits", problem));
        } else if tolerance > MAX_TOLERANCE {
            let problem = format!("expected at most {MAX_TOLERANCE:e}, found {}", self.tolerance);
            found.push(InvalidSetting::Wrong("tolerance", problem));
        } else if tolerance > 0.0 && tolerance < least {
            let problem = format!("{bits} bits do not have so many digits: expected at least {least:.1e}");
            found.push(InvalidSetting::Wrong("tolerance", problem));
        }
        let before = found.len();
        positive(found, "dt_max", self.dt_max);
        if physical && self.dt_max.is_none() {
            let problem =
                "missing key: in units by name the longest step has no default; an output interval is a good one";
            found.push(InvalidSetting::Wrong("dt_max", problem.into()));
        } else if self.dt_max() > 0.0 && !tick(self.dt_max()).is_normal() {
            let problem = format!("{:e} is too short to be divided into steps", self.dt_max());
            found.push(InvalidSetting::Wrong("dt_max", problem));
        }
        found.len() == before
    }

    fn max_particles(&self) -> Option<usize> {
        Some(MAX_PARTICLES)
    }

    fn build(&self, _: Precision, clock: Clock) -> AnyIntegrator {
        let accuracy = Accuracy { tolerance: self.tolerance.get(), bits: self.bits() };
        AnyIntegrator::Accelerations(Box::new(Extrapolated::new(accuracy, clock)))
    }
}
