//! Finite numbers as users write them: `0.01`, `"1/256"`, `"2^-26"`, `"3/2^10"`.

use std::fmt;
use std::num::NonZeroU32;

/// Finite number, written in TOML as an integer, a float, or a string with a decimal, a quotient or a power.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Real(f64);

/// Creates a [`Real`](crate::units::Real) from a constant. Does not compile if the constant is not finite.
#[macro_export]
macro_rules! real {
    ($value:expr) => {
        const {
            match $crate::units::real::Real::new($value) {
                Some(number) => number,
                None => panic!("expected a finite number"),
            }
        }
    };
}

/// Forms of a [`Real`], for messages.
const REAL_EXPECTED: &str = "a finite number such as 0.01, 1e-3, \"1/256\", \"2^-26\" or \"3/2^10\"";
/// Regular expression of an unsigned decimal with an optional whole power.
#[cfg(feature = "serde")]
const TERM: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?(\s*\^\s*[+-]?[0-9]+)?";
/// Largest power that may be written: beyond it `2^n` or its inverse leaves the range of an f64.
const MAX_POWER: u32 = 1023;

impl Real {
    /// Creates a number; [`None`] if the value is infinite or NaN.
    #[must_use]
    pub const fn new(value: f64) -> Option<Self> {
        if value.is_finite() { Some(Self(value)) } else { None }
    }

    /// Returns this number divided by a whole number, which is finite too.
    #[must_use]
    pub fn divided_by(self, divisor: NonZeroU32) -> Self {
        Self(self.0 / f64::from(divisor.get()))
    }

    /// Returns the value.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Parses `decimal[^power][/decimal[^power]]`. Rounded once per operation, so exact where the result is
    /// representable.
    ///
    /// # Errors
    /// A message that describes what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("\"{text}\" {why}: expected {REAL_EXPECTED}");
        let (negative, unsigned) = match text.trim() {
            t if t.starts_with('-') => (true, &t[1..]),
            t => (false, t.strip_prefix('+').unwrap_or(t)),
        };
        let (over, under) = unsigned.split_once('/').map_or((unsigned, None), |(a, b)| (a, Some(b)));
        let mut value = term(over).ok_or_else(|| wrong("is not a number"))?;
        if let Some(under) = under {
            let divisor = term(under).ok_or_else(|| wrong("is not a number"))?;
            if divisor == 0.0 {
                return Err(wrong("divides by zero"));
            }
            value /= divisor;
        }
        if !value.is_finite() {
            return Err(wrong("is too large"));
        }
        Ok(Self(if negative { -value } else { value }))
    }
}

/// Parses an unsigned decimal with an optional whole power; [`None`] if the text is not one.
fn term(text: &str) -> Option<f64> {
    match text.split_once('^') {
        None => decimal(text),
        Some((base, power)) => raise(decimal(base)?, power.trim().parse().ok()?),
    }
}

/// Parses an unsigned decimal. The first character is checked here because Rust's own parser accepts `inf` and signs
/// too.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') { text.parse().ok() } else { None }
}

/// Returns an integer power by multiplication, inverted at the end if negative: exact wherever the product is; [`None`]
/// if the power is too large.
fn raise(base: f64, power: i32) -> Option<f64> {
    let times = power.unsigned_abs();
    if times > MAX_POWER {
        return None;
    }
    let product = (0..times).fold(1.0, |product, _| product * base);
    Some(if power < 0 { 1.0 / product } else { product })
}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use crate::units::real::{REAL_EXPECTED, Real, TERM};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use std::borrow::Cow;
    use std::fmt;

    impl Serialize for Real {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_f64(self.0)
        }
    }

    impl<'de> Deserialize<'de> for Real {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl de::Visitor<'_> for Visitor {
                type Value = Real;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(REAL_EXPECTED)
                }

                fn visit_f64<E: de::Error>(self, value: f64) -> Result<Real, E> {
                    if value.is_finite() {
                        Ok(Real(value))
                    } else {
                        Err(E::custom(format!("{value} is not finite: expected {REAL_EXPECTED}")))
                    }
                }

                fn visit_i64<E: de::Error>(self, value: i64) -> Result<Real, E> {
                    Ok(Real(value as f64))
                }

                fn visit_u64<E: de::Error>(self, value: u64) -> Result<Real, E> {
                    Ok(Real(value as f64))
                }

                fn visit_str<E: de::Error>(self, value: &str) -> Result<Real, E> {
                    Real::parse(value).map_err(E::custom)
                }
            }
            deserializer.deserialize_any(Visitor)
        }
    }

    impl JsonSchema for Real {
        fn schema_name() -> Cow<'static, str> {
            "Real".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let pattern = format!(r"^\s*[+-]?\s*{TERM}\s*(/\s*{TERM}\s*)?$");
            json_schema!({
                "description": "Number, or a string with a quotient or a power such as \"1/256\" or \"2^-26\".",
                "anyOf": [{ "type": "number" }, { "type": "string", "pattern": pattern }]
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotients_and_powers_are_exact() {
        for (text, value) in [
            ("1/256", 1.0 / 256.0),
            ("2^-26", 2f64.powi(-26)),
            ("2^-1023", 2f64.powi(-1023)),
            ("3/2^10", 3.0 / 1024.0),
            ("0.1", 0.1),
            (" 1e-3 ", 1e-3),
            ("-1/3", -1.0 / 3.0),
            ("+10^-3", 0.001),
            (".5", 0.5),
            ("2 ^ 3 / 4", 2.0),
        ] {
            assert_eq!(Real::parse(text).map(Real::get), Ok(value), "{text}");
        }
    }

    #[test]
    fn nonsense_is_not_a_number() {
        for text in
            ["", "/", "1/", "1/0", "1//2", "2^", "2^1.5", "2^2000", "1/-4", "inf", "nan", "--1", "1e999", "é", "1 2"]
        {
            assert!(Real::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_finite_numbers_are_taken() {
        assert_eq!(Real::new(-0.5).map(Real::get), Some(-0.5));
        assert_eq!(Real::new(f64::MAX).map(Real::get), Some(f64::MAX));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Real::new(value), None);
        }
        assert_eq!(real!(0.125).divided_by(NonZeroU32::MAX).get(), 0.125 / f64::from(u32::MAX));
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in "\\PC*") {
            if let Ok(Real(value)) = Real::parse(&text) {
                prop_assert!(value.is_finite());
            }
        }

        #[test]
        fn every_finite_number_survives_its_decimal_form(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(Real::parse(&format!("{x:e}")), Ok(Real(x)));
        }
    }
}
