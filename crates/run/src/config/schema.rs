//! JSON Schema of the configuration, derived from the structs that read it.

use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the JSON Schema of a file that holds a `T`. It is derived once: an ensemble reads a configuration for each of
/// its members.
#[must_use]
pub fn schema_of<T: JsonSchema + 'static>() -> Arc<Value> {
    static DERIVED: Mutex<BTreeMap<TypeId, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut derived = DERIVED.lock().unwrap_or_else(PoisonError::into_inner);
    let derive = || {
        let mut schema = schemars::schema_for!(T).to_value();
        without_null(&mut schema);
        Arc::new(schema)
    };
    derived.entry(TypeId::of::<T>()).or_insert_with(derive).clone()
}

/// Removes null from a schema: TOML has no null, and an optional key may be left out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            drop_null(object);
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn drop_null(object: &mut Map<String, Value>) {
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}

/// Follows a reference to its definition; `root` is the whole schema.
pub(super) fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.trim_start_matches('#')))
        .unwrap_or(schema)
}

/// Returns the description of a key or section as one line without a full stop.
pub(super) fn summary(root: &Value, schema: &Value) -> String {
    let own = schema.get("description").or_else(|| follow(root, schema).get("description"));
    let text = own.and_then(Value::as_str).unwrap_or_default();
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ").trim_end_matches('.').to_owned()
}
