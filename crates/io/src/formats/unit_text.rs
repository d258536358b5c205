//! Units as text, as astropy and other programs write them: `solMass`, `km / s`, `km s-1`, `1e10 Msun`, `pc**2 Myr^-1`.

use tisane::units::names::{
    AU_CGS, DAY_CGS, G_CGS, GM_EARTH_CGS, GM_JUPITER_CGS, GM_SUN_CGS, PC_CGS, R_SUN_CGS, YEAR_CGS,
};
use winnow::ascii::{dec_int, float, multispace0};
use winnow::combinator::{alt, cut_err, delimited, eof, opt, preceded, terminated};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::take_while;

/// Maximum length of a unit, in bytes.
const LONGEST: usize = 200;
/// Highest power of a unit.
const MAX_POWER: i32 = 20;

/// Size of a unit, and its powers of mass, length, time and angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextUnit {
    /// Size in g, cm, s and radians.
    pub(crate) size: f64,
    /// Powers of mass, length, time, angle.
    pub(crate) powers: [i32; 4],
}

/// Powers of the units that particles have.
pub(crate) const MASS: [i32; 4] = [1, 0, 0, 0];
pub(crate) const LENGTH: [i32; 4] = [0, 1, 0, 0];
pub(crate) const VELOCITY: [i32; 4] = [0, 1, -1, 0];
pub(crate) const TIME: [i32; 4] = [0, 0, 1, 0];
pub(crate) const ANGLE: [i32; 4] = [0, 0, 0, 1];

/// Light year, cm: c times a Julian year.
const LIGHT_YEAR: f64 = 2.997_924_58e10 * YEAR_CGS;
/// Nominal equatorial radii of Jupiter and the Earth, cm (IAU 2015 Resolution B3).
const R_JUPITER: f64 = 7.149_2e9;
const R_EARTH: f64 = 6.378_1e8;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Units by their names, those of a list the same.
const UNITS: [(&[&str], f64, [i32; 4]); 20] = [
    (&["Msun", "solMass", "M_sun", "Msol"], GM_SUN_CGS / G_CGS, MASS),
    (&["Mjup", "jupiterMass", "M_jup", "Mjupiter", "M_jupiter"], GM_JUPITER_CGS / G_CGS, MASS),
    (&["Mearth", "earthMass", "M_earth"], GM_EARTH_CGS / G_CGS, MASS),
    (&["g", "gram"], 1.0, MASS),
    (&["pc", "parsec"], PC_CGS, LENGTH),
    (&["m", "meter"], 1e2, LENGTH),
    (&["au", "AU", "astronomical_unit"], AU_CGS, LENGTH),
    (&["lyr", "lightyear"], LIGHT_YEAR, LENGTH),
    (&["Rsun", "solRad", "R_sun"], R_SUN_CGS, LENGTH),
    (&["Rjup", "jupiterRad", "R_jup", "Rjupiter", "R_jupiter"], R_JUPITER, LENGTH),
    (&["Rearth", "earthRad", "R_earth"], R_EARTH, LENGTH),
    (&["s", "second", "sec"], 1.0, TIME),
    (&["min", "minute"], 60.0, TIME),
    (&["h", "hr", "hour"], 3600.0, TIME),
    (&["day", "d"], DAY_CGS, TIME),
    (&["yr", "year", "a", "annum"], YEAR_CGS, TIME),
    (&["rad", "radian"], 1.0, ANGLE),
    (&["deg", "degree"], DEGREE, ANGLE),
    (&["arcmin"], DEGREE / 60.0, ANGLE),
    (&["arcsec", "as"], DEGREE / 3600.0, ANGLE),
];
/// Prefixes of metric units, and the units that have them.
const PREFIXES: [(&str, f64); 8] =
    [("k", 1e3), ("M", 1e6), ("G", 1e9), ("c", 1e-2), ("m", 1e-3), ("u", 1e-6), ("µ", 1e-6), ("n", 1e-9)];
const PREFIXED: [&str; 11] = ["g", "pc", "parsec", "m", "s", "yr", "a", "lyr", "rad", "as", "arcsec"];

/// Reads a unit.
///
/// # Errors
/// A message with what was expected.
pub(crate) fn parse(text: &str) -> Result<TextUnit, String> {
    if text.len() > LONGEST {
        return Err(format!("expected a unit of at most {LONGEST} bytes, found {}", text.len()));
    }
    if text.trim().is_empty() {
        return Err("expected a unit, found empty text".into());
    }
    let end = preceded(multispace0, eof).context("an operator or the end");
    let found = terminated(quotient, end).parse(text).map_err(|wrong| {
        let expected = wrong.inner().context().next().copied().unwrap_or("a unit");
        format!("expected {expected} at character {} of the unit {text:?}", wrong.offset() + 1)
    })?;
    if found.size.is_normal() && found.size > 0.0 {
        return Ok(found);
    }
    Err(format!("expected a unit with a size above 0, found {text:?}"))
}

/// Returns the unit of a name, with or without a prefix.
fn named(name: &str) -> Option<TextUnit> {
    let of = |name: &str| UNITS.iter().find(|(names, ..)| names.contains(&name));
    if let Some((_, size, powers)) = of(name) {
        return Some(TextUnit { size: *size, powers: *powers });
    }
    PREFIXES.iter().find_map(|(prefix, factor)| {
        let rest = name.strip_prefix(prefix).filter(|rest| PREFIXED.contains(rest))?;
        of(rest).map(|(_, size, powers)| TextUnit { size: size * factor, powers: *powers })
    })
}

impl TextUnit {
    const ONE: Self = Self { size: 1.0, powers: [0; 4] };

    fn times(self, other: Self) -> Option<Self> {
        let mut powers = self.powers;
        powers.iter_mut().zip(other.powers).for_each(|(power, add)| *power += add);
        let small = powers.iter().all(|power| power.abs() <= MAX_POWER);
        small.then_some(Self { size: self.size * other.size, powers })
    }

    fn to_the(self, power: i32) -> Option<Self> {
        let small = power.abs() <= MAX_POWER && self.powers.iter().all(|own| own.abs() <= MAX_POWER);
        small.then(|| Self { size: self.size.powi(power), powers: self.powers.map(|own| own * power) })
    }
}

/// Mistake in a unit, with what was expected.
type Wrong = ErrMode<ContextError<&'static str>>;

/// Products with a `/` between them: all of a product behind it divides.
fn quotient(input: &mut &str) -> Result<TextUnit, Wrong> {
    let mut unit = opt(product).parse_next(input)?.unwrap_or(TextUnit::ONE);
    while opt(preceded(multispace0, '/')).parse_next(input)?.is_some() {
        let left = unit;
        let divided = move |by: TextUnit| by.to_the(-1).and_then(|by| left.times(by));
        unit = cut_err(product.verify_map(divided).context("a unit to divide by")).parse_next(input)?;
    }
    Ok(unit)
}

/// Factors with a blank, `*` or `.` between them, of which the first may be a number.
fn product(input: &mut &str) -> Result<TextUnit, Wrong> {
    let mut unit = alt((factor, number)).parse_next(input)?;
    let mut more = opt(preceded((multispace0, opt(alt(('*', '.')))), factor));
    while let Some(by) = more.parse_next(input)? {
        unit = match unit.times(by) {
            Some(unit) => unit,
            None => cut_err(winnow::combinator::fail.context("smaller powers")).parse_next(input)?,
        };
    }
    Ok(unit)
}

/// A name or a bracket, with or without a power.
fn factor(input: &mut &str) -> Result<TextUnit, Wrong> {
    let word = take_while(1.., |c: char| c.is_alphabetic() || c == '_').verify_map(named);
    let bracket = delimited('(', cut_err(quotient), cut_err((multispace0, ')').context("a closing bracket")));
    raised(alt((bracket, word)).context("a unit such as Msun, pc, km / s"), input)
}

/// A number, with or without a power.
fn number(input: &mut &str) -> Result<TextUnit, Wrong> {
    let size = float.verify(|size: &f64| size.is_finite()).map(|size| TextUnit { size, ..TextUnit::ONE });
    raised(size.context("a unit such as Msun, pc, km / s"), input)
}

/// Something, after blanks, with a power behind it: `**2`, `^-1`, `-1`, `(2)`.
fn raised<'a>(base: impl Parser<&'a str, TextUnit, Wrong>, input: &mut &'a str) -> Result<TextUnit, Wrong> {
    let written = preceded((multispace0, alt(("**", "^"))), cut_err(power.context("a whole power")));
    let all = preceded(multispace0, (base, opt(alt((written, power)))));
    let result = |(unit, power): (TextUnit, Option<i32>)| power.map_or(Some(unit), |power| unit.to_the(power));
    all.verify_map(result).context("smaller powers").parse_next(input)
}

/// A whole number, with or without brackets.
fn power(input: &mut &str) -> Result<i32, Wrong> {
    alt((dec_int, delimited('(', dec_int, ')'))).parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_of_other_programs_are_read() {
        for (text, size, powers) in [
            ("solMass", GM_SUN_CGS / G_CGS, MASS),
            ("M_sun", GM_SUN_CGS / G_CGS, MASS),
            ("1e10 Msun", 1e10 * GM_SUN_CGS / G_CGS, MASS),
            ("10000000000.0 solMass", 1e10 * GM_SUN_CGS / G_CGS, MASS),
            ("kg", 1e3, MASS),
            ("kpc", 1e3 * PC_CGS, LENGTH),
            ("AU", AU_CGS, LENGTH),
            ("solRad", R_SUN_CGS, LENGTH),
            ("cm", 1.0, LENGTH),
            ("km / s", 1e5, VELOCITY),
            ("km/s", 1e5, VELOCITY),
            ("km s-1", 1e5, VELOCITY),
            ("km s^-1", 1e5, VELOCITY),
            ("km.s-1", 1e5, VELOCITY),
            ("km s**-1", 1e5, VELOCITY),
            ("s(-1) km", 1e5, VELOCITY),
            ("pc / Myr", PC_CGS / (1e6 * YEAR_CGS), VELOCITY),
            ("AU / d", AU_CGS / DAY_CGS, VELOCITY),
            (" yr ", YEAR_CGS, TIME),
            ("mas", DEGREE / 3.6e6, ANGLE),
            ("g cm2 / (s2 rad)", 1.0, [1, 2, -2, -1]),
            ("1 / s", 1.0, [0, 0, -1, 0]),
            ("cm3 / g s2", 1.0, [-1, 3, -2, 0]),
        ] {
            let found = parse(text).unwrap_or_else(|problem| panic!("{problem}"));
            assert!((found.size / size - 1.0).abs() < 1e-14 && found.powers == powers, "{text}: {found:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in ["", "furlong", "km / ", "km//s", "(km", "km)", "kau", "s^1.5", "m^99", "0 km", "km + s", "1e999 m"]
        {
            assert!(parse(bad).is_err(), "{bad}: {:?}", parse(bad));
        }
        assert!(parse(&"m ".repeat(300)).unwrap_err().contains("at most 200 bytes"));
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in "[a-zA-Z0-9 ./*^()-]{0,40}") {
            if let Ok(unit) = parse(&text) {
                prop_assert!(unit.size.is_normal());
            }
        }
    }
}
