//! Unit strings of AMUSE, such as `((1000.0 * system.get('S.I.').base('length')) *
//! (system.get('S.I.').base('time')**-1))`. AMUSE evaluates them as Python. Here a parser accepts numbers, base units,
//! `*`, `/`, `**` and brackets, and nothing else.

use tisane::units::{Unit, Units};
use winnow::ascii::{float, multispace0};
use winnow::combinator::{alt, cut_err, delimited, eof, opt, preceded, terminated};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::take_till;

/// Maximum length of a unit string, in bytes.
const LONGEST: usize = 1024;
/// Maximum depth of nested brackets.
const DEEPEST: i32 = 32;

/// Names of base units in AMUSE. Others (electric current, temperature, …) do not occur in gravity.
const BASES: [&str; 3] = ["mass", "length", "time"];

/// Unit: a number times powers of base units of one system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AmuseUnit {
    /// Numerical factor.
    pub(super) factor: f64,
    /// Powers of mass, length, time.
    pub(super) powers: [i32; 3],
    /// System of the base units; [`None`] for a pure number.
    pub(super) system: Option<System>,
}

/// System of base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// kg, m, s.
    Si,
    /// N-body units: G = 1.
    Nbody,
}

/// Powers of mass, length and time of a mass.
pub(super) const MASS: [i32; 3] = [1, 0, 0];
pub(super) const LENGTH: [i32; 3] = [0, 1, 0];
pub(super) const TIME: [i32; 3] = [0, 0, 1];
pub(super) const VELOCITY: [i32; 3] = [0, 1, -1];

impl AmuseUnit {
    const ONE: Self = Self { factor: 1.0, powers: [0; 3], system: None };

    /// Returns the product; [`None`] if it has base units of two systems, or powers beyond i32.
    fn times(self, other: Self, sign: i32) -> Option<Self> {
        let system = match (self.system, other.system) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let mut powers = self.powers;
        for (power, add) in powers.iter_mut().zip(other.powers) {
            *power = power.checked_add(add.checked_mul(sign)?)?;
        }
        let factor = if sign > 0 { self.factor * other.factor } else { self.factor / other.factor };
        Some(Self { factor, powers, system })
    }

    /// Returns the unit to a power; [`None`] if that gives powers beyond i32.
    fn to_the(self, power: i32) -> Option<Self> {
        let mut powers = self.powers;
        for each in &mut powers {
            *each = each.checked_mul(power)?;
        }
        Some(Self { factor: self.factor.powi(power), powers, ..self })
    }

    /// Returns the size in cgs of an SI unit.
    pub(super) fn cgs(&self) -> f64 {
        self.factor * 1e3f64.powi(self.powers[0]) * 1e2f64.powi(self.powers[1])
    }
}

/// Parses a unit string.
///
/// # Errors
/// A message with what was expected, and where.
pub(super) fn parse(text: &str) -> Result<AmuseUnit, String> {
    if text.len() > LONGEST {
        return Err(format!("expected a unit of at most {LONGEST} bytes, found {}", text.len()));
    }
    if depth(text) > DEEPEST {
        return Err(format!("expected at most {DEEPEST} nested brackets in the unit {text:?}"));
    }
    let end = preceded(multispace0, eof).context("an operator or the end");
    terminated(product, end).parse(text).map_err(|wrong| {
        let expected = wrong.inner().context().next().copied().unwrap_or("a unit");
        format!("expected {expected} at character {} of the unit {text:?}", wrong.offset())
    })
}

/// Returns the depth of nested brackets: the parser calls itself for each.
fn depth(text: &str) -> i32 {
    let open = text.bytes().scan(0, |open, byte| {
        *open += i32::from(byte == b'(') - i32::from(byte == b')');
        Some(*open)
    });
    open.max().unwrap_or(0)
}

/// Sizes of AMUSE's units in kg, m and s, by our names (AMUSE 2024.6, `amuse/units/units.py`). Its solar mass and its
/// tropical year are not [those of tisane](tisane::units::names).
const IN_AMUSE: [(&str, f64); 16] = [
    ("Msun", 1.988_92e30),
    ("Mjup", 1.8987e27),
    ("Mearth", 5.9722e24),
    ("kg", 1.0),
    ("g", 1e-3),
    ("kpc", 1e3 * PARSEC),
    ("pc", PARSEC),
    ("au", AU),
    ("km", 1e3),
    ("m", 1.0),
    ("cm", 0.01),
    ("Gyr", 1e9 * YEAR),
    ("Myr", 1e6 * YEAR),
    ("yr", YEAR),
    ("day", DAY),
    ("s", 1.0),
];
const AU: f64 = 149_597_870_691.0;
/// AMUSE's au over the tangent of one arc second.
const PARSEC: f64 = 3.085_677_581_281_553_2e16;
const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.242_199 * DAY;

/// Returns the size that a unit has in AMUSE, in kg, m and s: a number times a name, or a quotient of names, such as
/// `1e10 Msun`, `km/s` and `pc/(km/s)`; [`None`] for any other name.
fn size_in_amuse(name: &str) -> Option<f64> {
    let (number, name) = name.split_once(' ').unwrap_or(("1", name));
    let (above, below) = name.split_once('/').unwrap_or((name, ""));
    let size = |name: &str| IN_AMUSE.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
    let quotient = match below.trim_matches(['(', ')']).split_once('/') {
        Some((below, last)) => size(above)? / (size(below)? / size(last)?),
        None if below.is_empty() => size(above)?,
        None => size(above)? / size(below)?,
    };
    Some(number.parse::<f64>().ok()? * quotient)
}

/// Returns the unit string of a quantity with the given powers of mass, length and time: a number of SI base units, or
/// N-body units. A unit that AMUSE has too gets AMUSE's size, so that a number of solar masses stays the same number.
pub(super) fn write(units: &Units, powers: [i32; 3], unit: &Unit) -> String {
    let system = if units.is_henon() { "generic" } else { "S.I." };
    let ours = || unit.cgs / (1e3f64.powi(powers[0]) * 1e2f64.powi(powers[1]));
    let factor = if units.is_henon() { 1.0 } else { size_in_amuse(&unit.name).unwrap_or_else(ours) };
    let mut parts = Vec::new();
    for (base, power) in BASES.into_iter().zip(powers).filter(|(_, power)| *power != 0) {
        let base = format!("system.get('{system}').base('{base}')");
        parts.push(if power == 1 { base } else { format!("({base}**{power})") });
    }
    if factor != 1.0 {
        parts[0] = format!("({factor:?} * {})", parts[0]);
    }
    if parts.len() == 1 { parts.remove(0) } else { format!("({})", parts.join(" * ")) }
}

/// Mistake in a unit string, with what was expected.
type Wrong = ErrMode<ContextError<&'static str>>;

/// Returns a parser that accepts blanks before `inner`.
fn token<'a, T>(inner: impl Parser<&'a str, T, Wrong>) -> impl Parser<&'a str, T, Wrong> {
    preceded(multispace0, inner)
}

fn product(input: &mut &str) -> Result<AmuseUnit, Wrong> {
    let mut unit = power(input)?;
    while let Some(sign) = opt(token(alt(('*'.value(1), '/'.value(-1))))).parse_next(input)? {
        let both = power.verify_map(|other| unit.times(other, sign));
        unit = both.context("base units of one system, not of two systems, in small powers").parse_next(input)?;
    }
    Ok(unit)
}

fn power(input: &mut &str) -> Result<AmuseUnit, Wrong> {
    let whole = float.verify(|power: &f64| power.fract() == 0.0 && power.abs() <= 9.0);
    let exponent = preceded(token("**"), cut_err(token(whole).context("a whole power from -9 to 9")));
    let raised = |(unit, power): (AmuseUnit, Option<f64>)| power.map_or(Some(unit), |power| unit.to_the(power as i32));
    (atom, opt(exponent)).verify_map(raised).context("smaller powers").parse_next(input)
}

fn atom(input: &mut &str) -> Result<AmuseUnit, Wrong> {
    let bracket = delimited('(', cut_err(product), cut_err(token(')').context("a closing bracket")));
    let number = float.verify(|factor: &f64| factor.is_finite()).map(|factor| AmuseUnit { factor, ..AmuseUnit::ONE });
    let any = alt((bracket, preceded("system.get(", cut_err(base)), number));
    token(any).context("a number or system.get(...)").parse_next(input)
}

/// Parses a base unit, after `system.get(`.
fn base(input: &mut &str) -> Result<AmuseUnit, Wrong> {
    let system = |name| match name {
        "S.I." => Some(System::Si),
        // AMUSE calls N-body units generic.
        "generic" | "nbody" => Some(System::Nbody),
        _ => None,
    };
    let power_of = |name| BASES.iter().position(|base| *base == name).map(|at| [MASS, LENGTH, TIME][at]);
    let parts = (
        quoted.verify_map(system).context("the system 'S.I.' or 'generic'"),
        token(").base(").context(").base("),
        quoted.verify_map(power_of).context("mass, length or time"),
        token(")").context(")"),
    );
    let mut unit = parts.map(|(system, _, powers, _)| AmuseUnit { factor: 1.0, powers, system: Some(system) });
    unit.parse_next(input)
}

fn quoted<'a>(input: &mut &'a str) -> Result<&'a str, Wrong> {
    let name = delimited('\'', take_till(0.., '\''), '\'');
    token(name).context("a name in quotes").parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::units::Rates;
    use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

    #[test]
    fn units_as_amuse_writes_them_are_read() {
        let km_s =
            parse("((1000.0 * system.get('S.I.').base('length')) * (system.get('S.I.').base('time')**-1))").unwrap();
        assert_eq!((km_s.powers, km_s.system, km_s.cgs()), (VELOCITY, Some(System::Si), 1e5));
        let sun = parse("(1.98892e+30 * system.get('S.I.').base('mass'))").unwrap();
        assert_eq!((sun.powers, sun.cgs()), (MASS, 1.98892e33));
        let nbody = parse("(system.get('generic').base('length') / system.get('generic').base('time'))").unwrap();
        assert_eq!((nbody.powers, nbody.factor, nbody.system), (VELOCITY, 1.0, Some(System::Nbody)));
        assert_eq!(parse(" -2.5e-3 ").unwrap().factor, -2.5e-3);
    }

    #[test]
    fn anything_else_is_refused() {
        for (bad, expected) in [
            ("", "a number"),
            ("__import__('os').system('true')", "a number or system.get"),
            ("system.get('S.I.').base('length').__class__", "an operator or the end"),
            ("system.get('S.I.').base('temperature')", "mass, length or time"),
            ("system.get('cgs').base('length')", "'S.I.' or 'generic'"),
            ("system.get('S.I.').base('length') * system.get('generic').base('time')", "two systems"),
            ("2**9**9", "a number"),
            ("2**1e9", "whole power"),
            ("(1", "closing bracket"),
            ("1e999", "a number"),
            ("2**", "whole power"),
            ("system.get('S.I", "in quotes"),
        ] {
            let message = parse(bad).unwrap_err();
            assert!(message.contains(expected), "{bad}: {message}");
        }
        assert!(parse(&"(".repeat(1000)).unwrap_err().contains("at most 32 nested brackets"));
        let mass = "system.get('S.I.').base('mass')".to_owned();
        let huge = (0..11).fold(mass, |unit, _| format!("({unit}**9)"));
        assert!(parse(&huge).unwrap_err().contains("smaller powers"));
        assert!(parse(&" ".repeat(2000)).unwrap_err().contains("1024 bytes"));
    }

    /// The dimensions of the four units of a system, with the units.
    fn all(units: &Units) -> [([i32; 3], &Unit); 4] {
        [(MASS, &units.mass), (LENGTH, &units.length), (VELOCITY, &units.velocity), (TIME, &units.time)]
    }

    #[test]
    fn what_is_written_is_read_back() {
        let rates = Rates::Velocity(VelocityUnit::KilometrePerSecond);
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, rates);
        for (powers, unit) in all(&units) {
            let read = parse(&write(&units, powers, unit)).unwrap();
            assert_eq!((read.powers, read.system), (powers, Some(System::Si)));
            assert!((read.cgs() / unit.cgs - 1.0).abs() < 3e-4, "{}", unit.name);
            let henon = parse(&write(&Units::henon(), powers, unit)).unwrap();
            assert_eq!((henon.powers, henon.system, henon.factor), (powers, Some(System::Nbody), 1.0));
        }
    }

    #[test]
    fn every_unit_of_ours_has_its_size_in_amuse() {
        for mass in MassUnit::ALL {
            for length in LengthUnit::ALL {
                for rate in VelocityUnit::ALL.iter().map(|velocity| Rates::Velocity(*velocity)) {
                    let units = Units::named(*mass, *length, rate);
                    for (powers, unit) in all(&units) {
                        let ours = unit.cgs / (1e3f64.powi(powers[0]) * 1e2f64.powi(powers[1]));
                        let size = size_in_amuse(&unit.name).unwrap_or_else(|| panic!("{}", unit.name));
                        assert!((size / ours - 1.0).abs() < 4e-4, "{}: {size} {ours}", unit.name);
                    }
                }
            }
        }
        for time in TimeUnit::ALL {
            assert!((size_in_amuse(time.name()).unwrap() / time.value() - 1.0).abs() < 3e-5);
        }
        // As AMUSE 2024.6 prints them: (1 | units.MSun).value_in(units.kg), and so on.
        assert_eq!(size_in_amuse("Msun"), Some(1.98892e30));
        assert_eq!(size_in_amuse("1e10 Msun"), Some(1.98892e40));
        assert_eq!(size_in_amuse("pc"), Some(3.0856775812815532e16));
        assert_eq!(size_in_amuse("Myr"), Some(31556925993600.004));
        assert_eq!(size_in_amuse("km/s"), Some(1000.0));
        assert_eq!(size_in_amuse("furlong"), None);
        assert_eq!(size_in_amuse("2.5e3 furlong/s"), None);
    }
}
