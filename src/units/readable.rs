//! Quantities for people: three digits, in a unit in which the number is neither long nor tiny.

use super::names::{AU_CGS, DAY_CGS, PC_CGS, YEAR_CGS};
use super::{Dimension, Units};

/// Units of time for people, in s, from the shortest.
const TIMES: [(&str, f64); 8] = [
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", DAY_CGS),
    ("yr", YEAR_CGS),
    ("kyr", 1e3 * YEAR_CGS),
    ("Myr", 1e6 * YEAR_CGS),
    ("Gyr", 1e9 * YEAR_CGS),
];
/// Units of length for people, in cm, from the shortest.
const LENGTHS: [(&str, f64); 4] = [("km", 1e5), ("au", AU_CGS), ("pc", PC_CGS), ("kpc", 1e3 * PC_CGS)];
/// Numbers that are easy to read in the user's own unit.
const COMFORTABLE: std::ops::Range<f64> = 0.01..1e5;

impl Units {
    /// Returns a quantity in these units with its unit: `0.25 Myr`, and where that number is hard to read, in a second
    /// unit too: `7.39e-8 pc (0.0152 au)`.
    #[must_use]
    pub fn readable(&self, value: f64, d: Dimension) -> String {
        let own = format!("{} {}", digits(value), self.label(d));
        let (name, factor) = self.fitting(value, d);
        if name == self.label(d) { own } else { format!("{own} ({} {name})", digits(value * factor)) }
    }

    /// Returns the unit in which a quantity of this size is easy to read, and the factor from these units to it: the
    /// own unit, where that serves, for Hénon units, and for quantities that are neither times nor lengths.
    #[must_use]
    pub fn fitting(&self, value: f64, d: Dimension) -> (String, f64) {
        let own = (self.label(d), 1.0);
        let others: &[_] = match d {
            _ if self.is_henon() => &[],
            Dimension::TIME => &TIMES,
            Dimension::LENGTH => &LENGTHS,
            _ => &[],
        };
        if value == 0.0 || !value.is_finite() || COMFORTABLE.contains(&value.abs()) {
            return own;
        }
        let cgs = value.abs() * self.cgs(d);
        // The longest unit in which the number is not tiny.
        let found = others.iter().rev().find(|(_, unit)| cgs >= COMFORTABLE.start * unit).or(others.first());
        found.map_or(own, |(name, unit)| ((*name).to_owned(), self.cgs(d) / unit))
    }
}

/// Returns a number with three significant digits.
#[must_use]
pub fn digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    // After rounding, as 9.996 has the digits of 10.0.
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    let exponent = rounded.abs().log10().floor() as i32;
    match exponent {
        -3..=4 => format!("{rounded:.*}", (2 - exponent).max(0) as usize),
        _ => format!("{rounded:.2e}"),
    }
}
