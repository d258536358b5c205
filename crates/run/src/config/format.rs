//! Format of a file of particles in a configuration: a name of [`FORMATS`], or `auto`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use tisane_io::formats::{self, FORMATS};

/// Name of a format that is recognised from the content.
const AUTO: &str = "auto";

/// Format of particle files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Format(Option<&'static formats::Format>);

impl Format {
    /// Returns the name of the format in [`FORMATS`]; [`None`] to recognise it from the content.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.0.map(|format| format.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name().unwrap_or(AUTO))
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = FORMATS.iter().find(|format| format.name == name);
        if found.is_none() && name != AUTO {
            return Err(de::Error::custom(format!("there is no file format \"{name}\"")));
        }
        Ok(Self(found))
    }
}

impl JsonSchema for Format {
    fn schema_name() -> Cow<'static, str> {
        "Format".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut formats: Vec<_> = FORMATS.iter().collect();
        formats.sort_by_key(|format| format.schema_order);
        let named = formats.iter().map(|format| (format.schema_text, format.name));
        let words = [("Recognised from the content.", AUTO)].into_iter().chain(named);
        let choices: Vec<_> =
            words.map(|(text, name)| json!({ "description": text, "type": "string", "const": name })).collect();
        json_schema!({ "description": "Format of particle files.", "oneOf": choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_read_as_it_is_written_and_has_a_place_of_its_own() {
        let names = FORMATS.iter().map(|format| format.name).chain([AUTO]);
        for name in names {
            let format: Format = serde_json::from_value(json!(name)).expect("a name of the list");
            assert_eq!(serde_json::to_value(format).expect("a word"), json!(name));
        }
        assert!(serde_json::from_value::<Format>(json!("Csv")).is_err());
        let mut places: Vec<_> = FORMATS.iter().map(|format| usize::from(format.schema_order)).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(1..=FORMATS.len()));
    }
}
