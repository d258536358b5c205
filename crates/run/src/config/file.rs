//! Reading and writing of TOML files of any type with a schema: mistakes are reported with their locations, and files
//! are written with a comment on each value. The comments are spliced into the text that the toml crate writes: toml_edit
//! would need the same walk through values and schema.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use toml::de::DeTable;

use super::check;
use super::document::Document;
use super::error::Problem;
use super::schema::{follow, schema_of, summary};
use tisane::{Error, Result};
use tisane_io::regular_file;

/// Text of a file with the locations of its settings, for error messages.
#[derive(Clone, Debug)]
pub struct Source(Document);

impl Source {
    /// Returns the overrides (`section.key=value`) on top of the text.
    #[must_use]
    pub fn overrides(&self) -> &[String] {
        self.0.sets()
    }

    /// Returns true if the text or an override has a section or key.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.0.has(path)
    }

    /// Returns a problem that is found after reading as an error, with the location of its setting.
    #[must_use]
    pub fn explain(&self, problem: Problem) -> Error {
        Error::Config(self.0.locate(vec![problem]))
    }
}

/// Reads a text file.
///
/// # Errors
/// [`Error::Input`] if it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = regular_file::read(path).map_err(|e| Error::input(path, format!("cannot read it: {e}")))?;
    String::from_utf8(bytes).map_err(|e| {
        let problem = format!("not a text file: byte {} is not UTF-8", e.utf8_error().valid_up_to());
        let help = "expected a configuration in TOML; `tisane init` prints one to start from";
        Error::input(path, problem).with_help(help)
    })
}

/// Reads a `T` from TOML, with overrides (`section.key=value`) on top. `name` is the name of the file in messages;
/// `validate` returns the mistakes in values whose types are right.
///
/// # Errors
/// [`Error::Config`] for every mistake, at file, line and key.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(
    (name, text): (&str, &str),
    sets: &[String],
    validate: impl FnOnce(&T) -> Vec<Problem>,
) -> Result<(T, Source)> {
    let (document, table) = Document::read(name, text, sets)?;
    let stop_at = |problems: Vec<Problem>| {
        if problems.is_empty() { Ok(()) } else { Err(Error::Config(document.locate(problems))) }
    };
    stop_at(check::check(&schema_of::<T>(), &table))?;
    let read = toml::Value::Table(table).try_into::<T>();
    let value = read.map_err(|e| Error::Config(document.locate(vec![Problem::new("", e.message())])))?;
    stop_at(validate(&value))?;
    Ok((value, Source(document)))
}

/// Returns a value as TOML, with the meaning and unit of each key in a comment and `about` in the first line. Reading
/// it again gives the same value, bit for bit.
///
/// # Errors
/// [`Error::Config`] for an integer of 2⁶³ or more, which TOML cannot hold.
pub fn commented<T: Serialize + JsonSchema + 'static>(value: &T, about: &str) -> Result<String> {
    let wrong = |e: &dyn std::fmt::Display| Problem::new("", format!("cannot be written as TOML: {e}"));
    let text = toml::to_string(value).map_err(|e| wrong(&e))?;
    let mut comments = Vec::new();
    let schema = schema_of::<T>();
    collect(&schema, &schema, DeTable::parse(&text).map_err(|e| wrong(&e))?.get_ref(), &mut comments);
    comments.sort_by_key(|(value, _)| value.end);
    let mut commented = format!("# {about}\n");
    let mut from = 0;
    for (value, comment) in comments {
        commented.push_str(&text[from..value.start]);
        commented.push_str(&readable(&text[value.clone()]));
        commented.push_str("  # ");
        commented.push_str(&comment);
        from = value.end;
    }
    commented.push_str(&text[from..]);
    Ok(commented)
}

/// Numbers below this are written with an exponent.
const SMALL: f64 = 1e-4;

/// Returns a value as people write it: a small number with an exponent, the same bit for bit.
fn readable(value: &str) -> Cow<'_, str> {
    match value.parse::<f64>() {
        Ok(number) if number != 0.0 && number.abs() < SMALL => format!("{number:e}").into(),
        _ => value.into(),
    }
}

/// Collects the meaning of each value below a table, and the bytes of the value.
fn collect(root: &Json, schema: &Json, table: &DeTable<'_>, comments: &mut Vec<(Range<usize>, String)>) {
    for (key, value) in table {
        let Some(schema) = property(root, schema, key.get_ref()) else { continue };
        if let Some(table) = value.get_ref().as_table() {
            collect(root, of_kind(root, schema, "object"), table, comments);
            continue;
        }
        let sections = value.get_ref().as_array().into_iter().flatten();
        let sections: Vec<_> = sections.filter_map(|item| item.get_ref().as_table()).collect();
        if sections.is_empty() {
            comments.push((value.span(), summary(root, schema)));
        }
        let schema = of_kind(root, schema, "array");
        for section in sections {
            collect(root, schema.get("items").unwrap_or(&Json::Null), section, comments);
        }
    }
}

/// Returns the schema of the form of a value: of a section that may also be a list of sections, that of the section or list.
fn of_kind<'a>(root: &'a Json, schema: &'a Json, kind: &str) -> &'a Json {
    let mut forms = schema.get("anyOf").and_then(Json::as_array).into_iter().flatten();
    forms.find(|form| follow(root, form).get("type").and_then(Json::as_str) == Some(kind)).unwrap_or(schema)
}

/// Returns the schema of a key of a section, or of one of several models.
fn property<'a>(root: &'a Json, schema: &'a Json, key: &str) -> Option<&'a Json> {
    let schema = follow(root, schema);
    let mut choices = schema.get("oneOf").and_then(Json::as_array).into_iter().flatten().chain([schema]);
    choices.find_map(|choice| choice.get("properties")?.get(key))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn small_numbers_are_written_with_an_exponent_and_read_back() {
        let text = "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 4\n[softening]\nepsilon = 0.0003\n\
                    [integrator.extrapolated]\ntolerance = 1e-60\n";
        let config = Config::from_str("t", text, Path::new(""), &[]).unwrap().config;
        let resolved = config.resolved_toml().unwrap();
        assert!(
            resolved.contains("\ntolerance = 1e-60  # ") && resolved.contains("\nepsilon = 0.0003  # "),
            "{resolved}"
        );
        assert_eq!(Config::from_str("t", &resolved, Path::new(""), &[]).unwrap().config, config);
    }
}
