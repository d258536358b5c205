//! Checks of a configuration against its JSON Schema: names, types, ranges, missing keys.
//!
//! The schema is derived from the structs, so there is one list of keys. A check before serde reads the text, which
//! would stop at the first mistake, gives every mistake with its key path and the nearest valid name.

use serde_json::Value as Json;
use tisane::error::nearest;
use toml::{Table, Value};

use super::devices::DeviceSet;
use super::document::{item_path, join};
use super::error::Problem;
use super::schema::{follow, summary};
use super::wall_time::WallTime;
use tisane::units::{Quantity, Real};

/// Sections in which other programs have stellar evolution.
const EVOLUTION: [&str; 5] = ["stellar-evolution", "stellar", "evolution", "sse", "bse"];

/// Returns all mistakes in the shape of a configuration.
pub(super) fn check(root: &Json, table: &Table) -> Vec<Problem> {
    let mut walk = Walk { root, found: Vec::new() };
    walk.section(root, "", table);
    walk.found
}

struct Walk<'a> {
    root: &'a Json,
    found: Vec<Problem>,
}

impl Walk<'_> {
    fn report(&mut self, path: &str, problem: impl Into<String>) {
        self.found.push(Problem::new(path, problem));
    }

    fn value(&mut self, schema: &Json, path: &str, value: &Value) {
        if *schema == Json::Bool(true) {
            return;
        }
        if let Some(problem) = parse_own_text(schema, value) {
            return problem.into_iter().for_each(|text| self.report(path, text));
        }
        let schema = follow(self.root, schema);
        let names = names(schema);
        if !names.is_empty() {
            return self.name(&names, path, value);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
            return self.any_of(choices, path, value);
        }
        match (schema.get("type").and_then(Json::as_str), value) {
            (Some("object"), Value::Table(table)) => self.section(schema, path, table),
            (Some("integer"), Value::Integer(number)) => self.integer(schema, path, *number),
            (Some("array"), Value::Array(items)) => self.list(schema, path, items),
            (Some("string"), Value::String(_)) => {}
            (None, Value::Table(table)) => self.section(schema, path, table),
            (None | Some("object"), other) => {
                self.report(path, format!("expected a section, found {}", describe(other)))
            }
            (Some("number"), Value::Integer(_)) => {}
            (Some("number"), Value::Float(number)) if number.is_finite() => {}
            (Some("boolean"), Value::Boolean(_)) => {}
            (Some("integer"), other) => {
                self.report(path, format!("expected a whole number, found {}", describe(other)))
            }
            (Some("number"), other) => {
                self.report(path, format!("expected a finite number, found {}", describe(other)))
            }
            (Some("boolean"), other) => self.report(path, format!("expected true or false, found {}", describe(other))),
            (Some("array"), other) => self.report(path, format!("expected a list in [ ], found {}", describe(other))),
            (Some("string"), other) => self.report(path, format!("expected text in quotes, found {}", describe(other))),
            (Some(_), other) => self.report(path, format!("did not expect {}", describe(other))),
        }
    }

    /// Checks a value of one of several types: text, a list, or a section.
    fn any_of(&mut self, choices: &[Json], path: &str, value: &Value) {
        let kind = match value {
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Table(_) => "object",
            _ => "",
        };
        let kinds = choices.iter().filter_map(|choice| follow(self.root, choice).get("type").and_then(Json::as_str));
        match kinds.clone().position(|of| of == kind) {
            Some(at) => self.value(&choices[at], path, value),
            None => {
                let expected = kinds.map(|kind| match kind {
                    "string" => "text in quotes",
                    "array" => "a list in [ ]",
                    _ => "a section in { }",
                });
                let expected = expected.collect::<Vec<_>>().join(" or ");
                self.report(path, format!("expected {expected}, found {}", describe(value)));
            }
        }
    }

    /// Checks a table against the keys of the schema; some of them may be alternatives of which exactly one is given,
    /// such as the models.
    fn section(&mut self, schema: &Json, path: &str, table: &Table) {
        if let Some(of) = schema.get("additionalProperties").filter(|of| of.is_object()) {
            return table.iter().for_each(|(key, value)| self.value(of, &join(path, key), value));
        }
        let keys: Vec<(&str, &Json)> = properties(schema).collect();
        let one_of = schema.get("oneOf").and_then(Json::as_array).into_iter().flatten();
        let choices: Vec<(&str, &Json)> = one_of.flat_map(properties).collect();
        if schema.get("properties").is_none() && choices.is_empty() {
            return table.keys().for_each(|key| self.report(&join(path, key), "unknown key: this section has no keys"));
        }
        let valid: Vec<&str> = choices.iter().chain(&keys).map(|(key, _)| *key).collect();
        let what = match (path.is_empty(), choices.is_empty()) {
            (true, _) => "section",
            (false, true) => "key",
            (false, false) => "name",
        };
        let mut unknown = false;
        for (key, value) in table {
            match choices.iter().chain(&keys).find(|(name, _)| name == key) {
                Some((_, schema)) => self.value(schema, &join(path, key), value),
                None => {
                    unknown = true;
                    self.unknown(what, &valid, &join(path, key), key);
                }
            }
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        for key in required.filter(|key| !table.contains_key(*key)) {
            let known = keys.iter().find(|(name, _)| *name == key).map(|(_, schema)| *schema);
            let meaning = known.map(|schema| summary(self.root, schema)).unwrap_or_default();
            let kind = known.and_then(|schema| follow(self.root, schema).get("type")?.as_str());
            let place = match kind {
                None | Some("object") if path.is_empty() => format!("section [{key}]"),
                Some("array") if path.is_empty() => format!("section [[{key}]]"),
                _ if path.is_empty() => format!("key `{key}`"),
                _ => format!("key `{key}` in [{path}]"),
            };
            self.report(&join(path, key), format!("missing {place}: {}", lower_first(&meaning)));
        }
        if !choices.is_empty() {
            self.choice(&choices, path, table, unknown);
        }
    }

    /// Checks that exactly one of several keys is given. With a misspelt key (`unknown`) none is reported as missing.
    fn choice(&mut self, choices: &[(&str, &Json)], path: &str, table: &Table, unknown: bool) {
        let mut chosen = table.keys().filter(|key| choices.iter().any(|(name, _)| name == key));
        match (chosen.next(), chosen.next()) {
            (Some(first), Some(second)) => {
                let problem = Problem::new(join(path, second), format!("two at once in [{path}]: expected only one"));
                self.found.push(problem.against(join(path, first)));
            }
            (None, _) if !unknown => {
                let sections: Vec<String> = choices.iter().map(|(name, _)| format!("[{path}.{name}]")).collect();
                self.report(path, format!("missing: expected one of {}", sections.join(", ")));
            }
            _ => {}
        }
    }

    /// Checks a list. Sections in it have locations of their own; a mistake in any other item is reported at the list.
    fn list(&mut self, schema: &Json, path: &str, items: &[Value]) {
        if items.is_empty() && schema.get("minItems").is_some() {
            let meaning = lower_first(&summary(self.root, schema));
            self.report(path, format!("expected at least one value, found an empty list: {meaning}"));
        }
        let length = |bound| schema.get(bound).and_then(Json::as_u64);
        if let Some(exactly) = length("minItems").filter(|min| length("maxItems") == Some(*min))
            && items.len() as u64 != exactly
        {
            self.report(path, format!("expected {exactly} values, found {}", items.len()));
        }
        let of = schema.get("items").unwrap_or(&Json::Null);
        for (number, item) in items.iter().enumerate() {
            match item {
                Value::Table(_) => self.value(of, &item_path(path, number), item),
                _ => self.value(of, path, item),
            }
        }
    }

    fn unknown(&mut self, what: &str, valid: &[&str], path: &str, found: &str) {
        if path == found && EVOLUTION.contains(&found) {
            let problem = format!("unknown section `{found}`: stars age by `stellar_evolution`");
            return self.found.push(Problem::new(path, problem).with_help("[stellar_evolution]\nmetallicity = 0.02"));
        }
        let near = nearest(found, valid).map(|name| format!(": did you mean `{name}`?")).unwrap_or_default();
        let help = format!("valid here: {}", valid.join(", "));
        self.found.push(Problem::new(path, format!("unknown {what} `{found}`{near}")).with_help(help));
    }

    /// Checks that a value is one of several words.
    fn name(&mut self, valid: &[&str], path: &str, value: &Value) {
        let list = valid.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        match value {
            Value::String(text) if valid.contains(&text.as_str()) => {}
            Value::String(text) => {
                let near = nearest(text, valid).map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default();
                self.report(path, format!("expected one of {list}, found \"{text}\"{near}"));
            }
            other => self.report(path, format!("expected one of {list}, found {}", describe(other))),
        }
    }

    fn integer(&mut self, schema: &Json, path: &str, number: i64) {
        // Ranges are integers, or floats where schemars derives them from a type.
        let bound = |name| schema.get(name).and_then(|bound| bound.as_i64().or(bound.as_f64().map(|x| x as i64)));
        if let Some(min) = bound("minimum").filter(|min| number < *min) {
            self.report(path, format!("expected a whole number of at least {min}, found {number}"));
        } else if let Some(max) = bound("maximum").filter(|max| number > *max) {
            self.report(path, format!("expected a whole number of at most {max}, found {number}"));
        }
    }
}

/// Returns the keys that a schema lists.
fn properties(schema: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let keys = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    keys.map(|(key, schema)| (key.as_str(), schema))
}

/// Checks a value of a type that parses its own text and returns its mistake, if any; [`None`] for any other type.
fn parse_own_text(schema: &Json, value: &Value) -> Option<Option<String>> {
    fn read<T: serde::de::DeserializeOwned>(value: &Value, (fits, what): (bool, &str)) -> Option<String> {
        if fits {
            return value.clone().try_into::<T>().err().map(|e| e.message().to_owned());
        }
        Some(format!("expected {what}, found {}", describe(value)))
    }
    let is_number = matches!(value, Value::String(_) | Value::Integer(_) | Value::Float(_));
    let is_set = matches!(value, Value::String(_) | Value::Array(_));
    match schema.get("$ref")?.as_str()?.rsplit('/').next()? {
        "ValueWithUnit" => Some(read::<Quantity>(value, (is_number, "a number or text with a unit"))),
        "Real" => Some(read::<Real>(value, (is_number, "a number"))),
        "DeviceSet" => Some(read::<DeviceSet>(value, (is_set, "a list of numbers of GPUs, or \"all\""))),
        "WallTime" => Some(read::<WallTime>(value, (is_number, "a time such as \"15min\""))),
        _ => None,
    }
}

/// Returns the words that a schema allows; none if it is not a list of words.
fn names(schema: &Json) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let single = schema.get("const").and_then(Json::as_str);
    let nested = schema.get("oneOf").and_then(Json::as_array).into_iter().flatten().flat_map(names);
    listed.chain(single).chain(nested).collect()
}

/// Describes a value for a message.
fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text \"{text}\""),
        Value::Integer(_) | Value::Float(_) => format!("the number {value}"),
        Value::Boolean(value) => format!("{value}"),
        Value::Datetime(value) => format!("the date {value}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a section".to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
