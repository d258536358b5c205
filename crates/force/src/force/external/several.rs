//! Sections that may be written once, as `[section]`, or several times, as `[[section]]`.

/// Settings of one kind of field, in the order in which they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Several<T>(pub Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<T> for Several<T> {
    fn from(one: T) -> Self {
        Self(vec![one])
    }
}

impl<T> Several<T> {
    /// Returns true if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use crate::force::external::several::Several;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::borrow::Cow;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form<T> {
        One(T),
        List(Vec<T>),
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Several<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(match Form::deserialize(deserializer)? {
                Form::One(one) => Self(vec![one]),
                Form::List(all) => Self(all),
            })
        }
    }

    impl<T: Serialize> Serialize for Several<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if let [one] = &self.0[..] { one.serialize(serializer) } else { self.0.serialize(serializer) }
        }
    }

    impl<T: JsonSchema> JsonSchema for Several<T> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("Several{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let one = generator.subschema_for::<T>();
            json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
    }
}
