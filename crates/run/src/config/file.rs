//! Reading and writing a TOML file of any shape by the same rules: mistakes are told where they were made, and what is written
//! says what each value means.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::check;
use super::document::Document;
use super::error::Problem;
use super::resolve::collect;
use super::schema::schema_of;
use tisane::{Error, Result};
use tisane_io::regular_file;

/// Where the settings of a file were written.
#[derive(Clone, Debug)]
pub struct Source(Document);

impl Source {
    /// The overrides (`section.key=value`) that were put on top of the text.
    #[must_use]
    pub fn overrides(&self) -> &[String] {
        self.0.sets()
    }

    /// Tells a problem that shows only later where its setting was written.
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

/// Reads a `T` from TOML, with overrides (`section.key=value`) on top. `name` stands for the file in messages; `validate` says
/// what is wrong with values whose shape is right.
///
/// # Errors
/// [`Error::Config`] for every mistake, at file, line and key.
pub fn read<T: DeserializeOwned + JsonSchema>(
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

/// A value as TOML, with the meaning and unit of each key beside it, under the remark `about`. Reading it again gives the same
/// value, bit for bit.
///
/// # Errors
/// [`Error::Config`] for a number beyond TOML's integers (2⁶³), which no TOML file can have brought.
pub fn commented<T: Serialize + JsonSchema>(value: &T, about: &str) -> Result<String> {
    let wrong = |e: &dyn std::fmt::Display| Problem::new("", format!("cannot be written as TOML: {e}"));
    let text = toml::to_string(value).map_err(|e| wrong(&e))?;
    let mut comments = Vec::new();
    let schema = schema_of::<T>();
    collect(&schema, &schema, DeTable::parse(&text).map_err(|e| wrong(&e))?.get_ref(), &mut comments);
    comments.sort_by_key(|(end, _)| *end);
    let mut commented = format!("# {about}\n");
    let mut from = 0;
    for (end, comment) in comments {
        commented.push_str(&text[from..end]);
        commented.push_str("  # ");
        commented.push_str(&comment);
        from = end;
    }
    commented.push_str(&text[from..]);
    Ok(commented)
}
