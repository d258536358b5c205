//! Spans of wall-clock time such as `15min`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Span of wall-clock time above zero, written like `"15min"`, `"90s"` or `"1h 30m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime(Duration);

/// Description of a valid [`WallTime`], for messages.
const WALL_TIME_EXPECTED: &str = "a time above zero such as \"90s\", \"15min\" or \"1h 30m\"";

impl WallTime {
    /// Returns a span of `n` minutes.
    pub(super) const fn minutes(n: u64) -> Self {
        Self(Duration::from_secs(60 * n))
    }

    /// Returns the span.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Parses a span such as `1h30m`.
    ///
    /// # Errors
    /// Describes the mistake in the text; zero is a mistake too.
    pub fn parse(text: &str) -> Result<Self, String> {
        match humantime::parse_duration(text.trim()) {
            Ok(span) if !span.is_zero() => Ok(Self(span)),
            Ok(_) => Err(format!("\"{text}\" is zero: expected {WALL_TIME_EXPECTED}")),
            Err(why) => Err(format!("\"{text}\" is not a time ({why}): expected {WALL_TIME_EXPECTED}")),
        }
    }
}

impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl Serialize for WallTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WallTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = WallTime;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WALL_TIME_EXPECTED)
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<WallTime, E> {
                WallTime::parse(value).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

impl JsonSchema for WallTime {
    fn schema_name() -> Cow<'static, str> {
        "WallTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Span of wall-clock time such as \"90s\", \"15min\" or \"1h 30m\".",
            "type": "string"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_are_above_zero() {
        assert_eq!(WallTime::parse("15min"), Ok(WallTime::minutes(15)));
        assert_eq!(WallTime::parse("1h30m"), Ok(WallTime::minutes(90)));
        for text in ["", "0s", "15", "soon", "-1min"] {
            assert!(WallTime::parse(text).is_err(), "{text}");
        }
    }
}
