//! Numbers of several GPUs, as `[0, 1]` or `"all"`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Numbers of the GPUs that the engine cuda computes on together, or all of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSet(u64);

/// Highest number of a GPU in a set.
const MAX: u32 = 63;
/// Description of a valid [`DeviceSet`], for messages.
const EXPECTED: &str = "a list of numbers of GPUs from 0 to 63 such as [0, 1], or \"all\"";

impl DeviceSet {
    /// All GPUs of the machine.
    const ALL: Self = Self(u64::MAX);

    /// Makes a set of numbers.
    ///
    /// # Errors
    /// Describes the mistake: no number, one that is too high, or one that comes twice.
    fn of(numbers: impl IntoIterator<Item = u32>) -> Result<Self, String> {
        let mut set = 0;
        for number in numbers {
            if number > MAX {
                return Err(format!("expected {EXPECTED}, found {number}"));
            }
            if set & (1 << number) != 0 {
                return Err(format!("GPU {number} comes twice"));
            }
            set |= 1 << number;
        }
        if set == 0 { Err(format!("expected {EXPECTED}, found no number")) } else { Ok(Self(set)) }
    }

    /// Parses `all`, or numbers separated by commas.
    ///
    /// # Errors
    /// Describes the mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::ALL);
        }
        let numbers = text.split(',').map(|number| number.trim().parse::<u32>());
        let numbers: Result<Vec<u32>, _> = numbers.collect();
        Self::of(numbers.map_err(|_| format!("expected {EXPECTED}, found \"{text}\""))?)
    }

    /// Returns the numbers, ascending, on a machine that has `there` GPUs.
    #[must_use]
    pub fn numbers(self, there: usize) -> Vec<u32> {
        let all = if self == Self::ALL { 0..u32::try_from(there).unwrap_or(MAX).min(MAX + 1) } else { 0..MAX + 1 };
        all.filter(|number| self.0 & (1 << number) != 0).collect()
    }

    /// Returns the set of the first `count` of them, which may be one.
    #[must_use]
    pub fn first(self, count: usize, there: usize) -> Self {
        Self(self.numbers(there).into_iter().take(count).fold(0, |set, number| set | 1 << number))
    }
}

impl fmt::Display for DeviceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("all");
        }
        let numbers: Vec<String> = self.numbers(0).iter().map(u32::to_string).collect();
        f.write_str(&numbers.join(", "))
    }
}

impl Serialize for DeviceSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::ALL { serializer.serialize_str("all") } else { serializer.collect_seq(self.numbers(0)) }
    }
}

impl<'de> Deserialize<'de> for DeviceSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = DeviceSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DeviceSet, E> {
                DeviceSet::parse(text).map_err(E::custom)
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<DeviceSet, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element()? {
                    numbers.push(number);
                }
                DeviceSet::of(numbers).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for DeviceSet {
    fn schema_name() -> Cow<'static, str> {
        "DeviceSet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Numbers of GPUs such as [0, 1], or \"all\".",
            "anyOf": [
                { "const": "all" },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0, "maximum": MAX },
                    "minItems": 1,
                    "uniqueItems": true
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_written() {
        for (text, numbers, written) in [("0", vec![0], "0"), ("3, 1", vec![1, 3], "1, 3"), ("all", vec![0, 1], "all")]
        {
            let set = DeviceSet::parse(text).unwrap();
            assert_eq!((set.numbers(2), set.to_string()), (numbers, written.to_owned()));
        }
        for text in ["", "one", "64", "1,1", "-1", "0,,1", "ALL"] {
            assert!(DeviceSet::parse(text).is_err(), "{text}");
        }
    }
}
