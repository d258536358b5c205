//! Quantities for people: three digits, in a unit in which the number is neither long nor tiny.

use super::dimension::Dimension;
use super::names::{AU_CGS, DAY_CGS, PC_CGS, YEAR_CGS};
use super::system::Units;

/// Units of time for people: name, size in s, and the least number that is written in it.
const TIMES: [(&str, f64, f64); 8] = [
    ("s", 1.0, 0.0),
    ("min", 60.0, 1.0),
    ("h", 3600.0, 1.0),
    ("d", DAY_CGS, 1.0),
    ("yr", YEAR_CGS, 1.0),
    ("kyr", 1e3 * YEAR_CGS, 1.0),
    ("Myr", 1e6 * YEAR_CGS, 1.0),
    ("Gyr", 1e9 * YEAR_CGS, 1.0),
];
/// Units of length for people, in cm, likewise.
const LENGTHS: [(&str, f64, f64); 4] =
    [("km", 1e5, 0.0), ("au", AU_CGS, 1e-3), ("pc", PC_CGS, 0.1), ("kpc", 1e3 * PC_CGS, 1.0)];
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
    /// own unit where that serves, in N-body units, and for quantities that are neither times nor lengths.
    #[must_use]
    pub fn fitting(&self, value: f64, d: Dimension) -> (String, f64) {
        let others: &[_] = match d {
            _ if self.is_henon() => &[],
            Dimension::TIME => &TIMES,
            Dimension::LENGTH => &LENGTHS,
            _ => &[],
        };
        let cgs = value.abs() * self.cgs(d);
        let fits = value == 0.0 || !value.is_finite() || COMFORTABLE.contains(&value.abs());
        match others.iter().rev().find(|(_, unit, min)| !fits && cgs >= min * unit) {
            Some((name, unit, _)) => ((*name).to_owned(), self.cgs(d) / unit),
            None => (self.label(d), 1.0),
        }
    }
}

/// Returns a number with three significant digits.
#[must_use]
pub fn digits(x: f64) -> String {
    significant(x, 3)
}

/// Returns a number rounded to `digits` significant digits, at least one.
#[must_use]
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let after = digits.saturating_sub(1);
    // After rounding, as 9.996 has the digits of 10.0.
    let rounded: f64 = format!("{x:.after$e}").parse().unwrap_or(x);
    let exponent = rounded.abs().log10().floor() as i32;
    match exponent {
        -3..=4 => format!("{rounded:.*}", (after as i32 - exponent).max(0) as usize),
        _ => format!("{rounded:.after$e}"),
    }
}

/// Returns a number rounded to 12 significant digits, to be printed: 5.6 for 5.6000000000000005, a sum of binary
/// fractions.
#[must_use]
pub fn twelve_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// Returns the decimal of the fewest digits that differs from a number by no more than `within`; the number itself if there is none.
#[must_use]
pub fn shortest_decimal(x: f64, within: f64) -> f64 {
    let rounded = |digits: usize| format!("{x:.digits$e}").parse::<f64>().ok();
    (0..17).filter_map(rounded).find(|decimal| (decimal - x).abs() <= within).unwrap_or(x)
}

/// Returns a wall time in one or two units: `350 ms`, `12.3 s`, `4 min 10 s`, `3 h 12 min`, `12 d 4 h`, `13.8 years`.
#[must_use]
pub fn wall_time(seconds: f64) -> String {
    let two = |seconds: f64, [(large, of_large), (small, of_small)]: [(&str, f64); 2]| {
        let count = (seconds / of_small).round();
        let per = of_large / of_small;
        let (whole, rest) = ((count / per).floor(), count % per);
        if rest == 0.0 { format!("{whole} {large}") } else { format!("{whole} {large} {rest} {small}") }
    };
    let [second, minute, hour, day] = [("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", DAY_CGS)];
    match seconds {
        ..0.999 => format!("{:.0} ms", seconds * 1e3),
        ..90.0 => format!("{} s", digits(seconds)),
        ..5400.0 => two(seconds, [minute, second]),
        ..172_800.0 => two(seconds, [hour, minute]),
        ..63_115_200.0 => two(seconds, [day, hour]),
        _ => format!("{} years", digits(seconds / YEAR_CGS)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Rates;
    use super::super::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (0.015_23, "0.0152"),
            (12_345.0, "12300"),
            (-0.25, "-0.250"),
            (1.263e-11, "1.26e-11"),
            (123_456.0, "1.23e5"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(digits(x), text);
        }
        assert_eq!([(564.983, 5), (0.8, 4), (7.0, 1)].map(|(x, n)| significant(x, n)), ["564.98", "0.8000", "7"]);
    }

    #[test]
    fn twelve_digits_leave_out_the_last_bits() {
        for (x, text) in [
            (5.600_000_000_000_000_5, "5.6"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333"),
            (0.0, "0"),
            (-1e300, &format!("{}", -1e300)),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(twelve_digits(x).to_string(), text);
        }
        assert!(twelve_digits(f64::NAN).is_nan());
    }

    #[test]
    fn decimals_are_as_short_as_they_may_be() {
        for (x, within, expected) in [
            (100.000_001 - 100.0, 2e-14, 1e-6),
            (2000.2 - 2000.0, 5e-13, 0.2),
            (0.1 + 0.2, 0.0, 0.1 + 0.2),
            (1.0 / 3.0, 1e-3, 0.333),
            (0.0, 0.0, 0.0),
        ] {
            assert_eq!(shortest_decimal(x, within), expected);
        }
        assert!(shortest_decimal(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn wall_times_have_one_or_two_units() {
        for (seconds, text) in [
            (0.0, "0 ms"),
            (0.35, "350 ms"),
            (3.333_333_333, "3.33 s"),
            (90.4, "1 min 30 s"),
            (250.0, "4 min 10 s"),
            (3600.0, "60 min"),
            (11_520.0, "3 h 12 min"),
            (1_051_200.0, "12 d 4 h"),
            (4.35e8, "13.8 years"),
            (7e13, "2.22e6 years"),
        ] {
            assert_eq!(wall_time(seconds), text);
        }
    }

    #[test]
    fn a_number_that_is_hard_to_read_is_told_in_a_second_unit_too() {
        let cluster = Units::named(
            MassUnit::Msun,
            LengthUnit::Parsec,
            Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear),
        );
        for (value, d, text) in [
            (0.25, Dimension::TIME, "0.250 Myr"),
            (2e-9, Dimension::TIME, "2.00e-9 Myr (17.5 h)"),
            (1e-14, Dimension::TIME, "1.00e-14 Myr (0.316 s)"),
            (3e-3, Dimension::TIME, "0.00300 Myr (3.00 kyr)"),
            (7.39e-8, Dimension::LENGTH, "7.39e-8 pc (0.0152 au)"),
            (1e-12, Dimension::LENGTH, "1.00e-12 pc (30.9 km)"),
            (1e-7, Dimension::MASS, "1.00e-7 Msun"),
        ] {
            assert_eq!(cluster.readable(value, d), text);
        }
        let planets = Units::named(MassUnit::Msun, LengthUnit::Au, Rates::Time(TimeUnit::Year));
        assert_eq!(planets.readable(5.787e-8, Dimension::LENGTH), "5.79e-8 au (8.66 km)");
        assert_eq!(planets.readable(0.0152, Dimension::LENGTH), "0.0152 au");
        assert_eq!(Units::henon().readable(1e-9, Dimension::TIME), "1.00e-9 T");
        assert_eq!(planets.fitting(0.5, Dimension::LENGTH), ("au".into(), 1.0));
        assert_eq!(planets.fitting(2.0 / 365.25, Dimension::TIME), ("d".into(), 365.25));
    }
}
