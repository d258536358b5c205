//! Quantities as users write them: a number with a unit, such as `0.3 pc`, `299792.458 km/s` or `2 Msun km^2/s^2`.

use super::dimension::Dimension;
use super::names::{G_CGS, LengthUnit, MassUnit, TimeUnit};
use super::real::Real;
use super::scale::Scale;
use super::system::Units;

/// Number with a unit, which is a product of powers of masses, lengths and times.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// As it was written.
    text: String,
    number: f64,
    /// Size of the unit in g, cm, s.
    unit: f64,
    dimension: Dimension,
}

/// Forms of a quantity, for messages.
const EXPECTED: &str = "a number, with a unit where it has one: 0.5, \"0.3 pc\", \"10 km/s\", \"2 Msun km^2/s^2\"";
/// Highest power of a unit.
const MAX_POWER: i32 = 20;

impl Quantity {
    /// Creates a pure number.
    #[must_use]
    pub fn number(value: Real) -> Self {
        Self { text: value.to_string(), number: value.get(), unit: 1.0, dimension: Dimension::NONE }
    }

    /// Returns the text as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the powers of mass, length and time.
    #[must_use]
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// Returns the value in internal units.
    #[must_use]
    pub fn internal(&self, units: &Units, scale: &Scale) -> f64 {
        if self.dimension == Dimension::NONE {
            return self.number * self.unit;
        }
        self.number * (self.unit / (units.cgs(self.dimension) * scale.factor(self.dimension)))
    }

    /// Parses a number, a unit, or both with a blank between them.
    ///
    /// # Errors
    /// A message that describes what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: String| format!("\"{text}\" {why}: expected {EXPECTED}");
        let trimmed = text.trim();
        let has_number = trimmed.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let (number, unit) = match trimmed.split_once(char::is_whitespace) {
            _ if trimmed.is_empty() => return Err(wrong("is empty".into())),
            _ if !has_number => (1.0, trimmed),
            None => (Real::parse(trimmed)?.get(), ""),
            Some((number, unit)) => (Real::parse(number)?.get(), unit.trim()),
        };
        let mut quantity = Self { text: text.into(), number, unit: 1.0, dimension: Dimension::NONE };
        let mut sign = 1;
        let mut rest = unit;
        while !rest.is_empty() {
            let end = rest.find(['*', '/', ' ']).unwrap_or(rest.len());
            let (factor, after) = rest.split_at(end);
            quantity.multiply(factor, sign).map_err(wrong)?;
            let after = after.trim_start();
            let operator = after.chars().next();
            sign = if operator == Some('/') { -1 } else { 1 };
            let operand = after.trim_start_matches(['*', '/']);
            if after.len() - operand.len() > 1 || (operand.trim().is_empty() && operator.is_some()) {
                return Err(wrong("does not have one unit on either side of each operator".into()));
            }
            rest = operand.trim_start();
        }
        if quantity.unit.is_normal() && quantity.dimension_is_small() {
            return Ok(quantity);
        }
        Err(wrong("has too high a power".into()))
    }

    fn dimension_is_small(&self) -> bool {
        let Dimension { mass, length, time, .. } = self.dimension;
        [mass, length, time].into_iter().all(|power| power.abs() <= MAX_POWER)
    }

    /// Multiplies by a unit with a power, `pc` or `s^2`, or divides by it.
    fn multiply(&mut self, factor: &str, sign: i32) -> Result<(), String> {
        let (name, power) = factor.split_once('^').map_or((factor, Ok(1)), |(name, power)| (name, power.parse()));
        let power = match power {
            Ok(power) if (-MAX_POWER..=MAX_POWER).contains(&power) => sign * power,
            _ => return Err(format!("has a power that is not a whole number up to {MAX_POWER}")),
        };
        let (size, dimension) = unit(name)?;
        self.unit *= size.powi(power);
        self.dimension.mass += power * dimension.mass;
        self.dimension.length += power * dimension.length;
        self.dimension.time += power * dimension.time;
        Ok(())
    }
}

/// Returns the size of a unit in g, cm, s, and its dimension.
fn unit(name: &str) -> Result<(f64, Dimension), String> {
    let masses = MassUnit::ALL.iter().map(|it| (it.name(), it.value() / G_CGS, Dimension::MASS));
    let lengths = LengthUnit::ALL.iter().map(|it| (it.name(), it.value(), Dimension::LENGTH));
    let times = TimeUnit::ALL.iter().map(|it| (it.name(), it.value(), Dimension::TIME));
    let all = masses.chain(lengths).chain(times);
    if name == "1" {
        return Ok((1.0, Dimension::NONE));
    }
    match all.clone().find(|(known, ..)| *known == name) {
        Some((_, size, dimension)) => Ok((size, dimension)),
        None => {
            let names = all.map(|(known, ..)| known).collect::<Vec<_>>().join(", ");
            Err(format!("has the unknown unit `{name}` (known: {names})"))
        }
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use crate::units::quantity::{EXPECTED, Quantity};
    use crate::units::real::Real;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use std::borrow::Cow;
    use std::fmt;

    impl Serialize for Quantity {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.text.parse::<f64>() {
                Ok(number) => serializer.serialize_f64(number),
                Err(_) => serializer.serialize_str(&self.text),
            }
        }
    }

    impl<'de> Deserialize<'de> for Quantity {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl de::Visitor<'_> for Visitor {
                type Value = Quantity;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(EXPECTED)
                }

                fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
                    let finite = || E::custom(format!("{value} is not finite: expected {EXPECTED}"));
                    Real::new(value).map(Quantity::number).ok_or_else(finite)
                }

                fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
                    self.visit_f64(value as f64)
                }

                fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
                    self.visit_f64(value as f64)
                }

                fn visit_str<E: de::Error>(self, value: &str) -> Result<Quantity, E> {
                    Quantity::parse(value).map_err(E::custom)
                }
            }
            deserializer.deserialize_any(Visitor)
        }
    }

    impl JsonSchema for Quantity {
        fn schema_name() -> Cow<'static, str> {
            "ValueWithUnit".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "Number, or a string of a number with a unit such as \"0.3 pc\" or \"10 km/s\".",
                "anyOf": [{ "type": "number" }, { "type": "string" }]
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rates;
    use crate::units::names::{PC_CGS, VelocityUnit, YEAR_CGS};
    use proptest::prelude::*;

    #[test]
    fn units_are_products_of_powers() {
        let of = |text: &str| Quantity::parse(text).unwrap_or_else(|problem| panic!("{problem}"));
        let dimension = |mass, length, time| Dimension { mass, length, velocity: 0, time };
        assert_eq!((of("0.3 pc").number, of("0.3 pc").unit), (0.3, PC_CGS));
        assert_eq!((of("10 km/s").unit, of("10 km/s").dimension), (1e5, dimension(0, 1, -1)));
        assert_eq!(of("2 Msun km^2/s^2").dimension, dimension(1, 2, -2));
        assert_eq!(of("1/4 pc * Myr^-1").unit, PC_CGS / (1e6 * YEAR_CGS));
        assert_eq!((of("g").number, of("Msun / pc^3").dimension), (1.0, dimension(1, -3, 0)));
        assert_eq!((of("2.5").number, of("2.5").dimension), (2.5, Dimension::NONE));
        for bad in
            ["", "pc pc^", "3 parsec", "3 pc/", "3 /pc", "3 pc//s", "1e999 pc", "x", "3 pc^99", "3 s^1.5", "- pc"]
        {
            assert!(Quantity::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn internal_values_are_those_of_the_scale() {
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
        let scale = Scale::choose(&units, 1024.0, 0.25);
        let of = |text: &str| Quantity::parse(text).map(|it| it.internal(&units, &scale)).unwrap_or(f64::NAN);
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-14, "{a} is not {b}");
        close(of("0.5 pc"), 2.0);
        close(of("2048 Msun"), 2.0);
        close(of("3 km/s"), 3.0 / scale.velocity);
        close(of("7"), 7.0);
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in "\\PC*") {
            if let Ok(quantity) = Quantity::parse(&text) {
                prop_assert!(quantity.unit.is_normal());
            }
        }
    }
}
