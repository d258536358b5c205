//! Text of a configuration with its overrides: one table of plain values, and the location of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::error::Problem;
use tisane::error::{ConfigError, Written, printable};
use tisane::formula::Mistake;

/// Largest number of keys in the path of an override: more than any setting has, few enough for recursion.
const MAX_DEPTH: usize = 8;

/// Most mistakes that are told of one configuration.
const MAX_PROBLEMS: usize = 20;

/// Location of a setting.
#[derive(Clone, Debug)]
enum Place {
    /// Bytes of the text of the file: the key and its value.
    Text(Range<usize>),
    /// An override, by its number.
    Set(usize),
}

/// Text of a configuration, its overrides, and the location of each setting.
#[derive(Clone, Debug)]
pub(super) struct Document {
    name: String,
    text: Arc<str>,
    sets: Vec<String>,
    places: BTreeMap<String, Place>,
}

/// Returns the key path of a section in a list of sections, counted from 1.
pub(super) fn item_path(list: &str, number: usize) -> String {
    format!("{list}[{}]", number + 1)
}

/// Returns the key path of a key inside a section.
pub(super) fn join(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

impl Document {
    /// Reads the text and applies the overrides (`section.key=value`) in order.
    ///
    /// # Errors
    /// If the text is not TOML, or an override is not `section.key=value`.
    pub(super) fn read(name: &str, text: &str, sets: &[String]) -> Result<(Self, Table), Box<ConfigError>> {
        let mut document =
            Self { name: name.to_owned(), text: text.into(), sets: sets.to_vec(), places: BTreeMap::new() };
        let parsed = DeTable::parse(text).map_err(|e| document.not_toml(&e))?;
        let mut table = document.take_table("", parsed.get_ref()).map_err(|problem| document.locate(vec![problem]))?;
        for (number, set) in sets.iter().enumerate() {
            document.apply(&mut table, number, set)?;
        }
        Ok((document, table))
    }

    /// Returns the overrides.
    pub(super) fn sets(&self) -> &[String] {
        &self.sets
    }

    /// Returns true if the text or an override has a section or key.
    pub(super) fn has(&self, path: &str) -> bool {
        self.places.contains_key(path)
    }

    fn take_table(&mut self, path: &str, table: &DeTable<'_>) -> Result<Table, Problem> {
        let mut plain = Table::new();
        for (key, value) in table {
            let path = join(path, key.get_ref());
            let (start, end) = (key.span().start, key.span().end);
            // The span of a section's value is its header or its whole inline table: mark the key only.
            let end = if value.get_ref().is_table() { end } else { value.span().end.max(end) };
            self.places.insert(path.clone(), Place::Text(start..end));
            plain.insert(key.get_ref().to_string(), self.take_value(&path, value.get_ref())?);
        }
        Ok(plain)
    }

    fn take_value(&mut self, path: &str, value: &DeValue<'_>) -> Result<Value, Problem> {
        Ok(match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(digits) => Value::Integer(
                i64::from_str_radix(digits.as_str(), digits.radix())
                    .map_err(|_| Problem::new(path, format!("{digits} is too large for a whole number")))?,
            ),
            DeValue::Float(digits) => {
                let wrong = |_| Problem::new(path, format!("{digits} is not a number"));
                Value::Float(digits.as_str().parse().map_err(wrong)?)
            }
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(value) => Value::Datetime(*value),
            DeValue::Array(items) => {
                let items = items.iter().enumerate().map(|(number, item)| match item.get_ref() {
                    DeValue::Table(table) => {
                        let path = item_path(path, number);
                        self.places.insert(path.clone(), Place::Text(item.span()));
                        Ok(Value::Table(self.take_table(&path, table)?))
                    }
                    plain => self.take_value(path, plain),
                });
                let items = items.collect::<Result<Vec<_>, _>>()?;
                if items.len() == 1 {
                    self.name_only_item(path);
                }
                Value::Array(items)
            }
            DeValue::Table(table) => Value::Table(self.take_table(path, table)?),
        })
    }

    /// Gives the settings of a list with one item the names of a section that is no list, too: mistakes in them have either.
    fn name_only_item(&mut self, path: &str) {
        let item = item_path(path, 0);
        let inside = |(key, place): (&String, &Place)| {
            let rest = key.strip_prefix(&item)?;
            rest.starts_with('.').then(|| (format!("{path}{rest}"), place.clone()))
        };
        let found: Vec<_> = self.places.iter().filter_map(inside).collect();
        self.places.extend(found);
    }

    /// Applies one override. Its value is read as TOML, or else as a string.
    fn apply(&mut self, table: &mut Table, number: usize, set: &str) -> Result<(), Box<ConfigError>> {
        let (path, value) = set.split_once('=').unwrap_or_default();
        let keys: Vec<&str> = path.split('.').map(str::trim).collect();
        if keys.len() > MAX_DEPTH || keys.iter().any(|key| key.is_empty()) {
            let problem = Problem::new("", "expected section.key=value");
            return Err(Box::new(ConfigError { place: shown(set), ..problem.into() }));
        }
        let path = keys.join(".");
        let below = format!("{path}.");
        self.places.retain(|place, _| *place != path && !place.starts_with(&below));
        self.put(table, "", &keys, override_value(value.trim()), number);
        Ok(())
    }

    /// Sets the value at a path below a section; replaces values on the path that are not sections.
    fn put(&mut self, section: &mut Table, above: &str, keys: &[&str], value: Value, number: usize) {
        let Some((key, rest)) = keys.split_first() else { return };
        let path = join(above, key);
        if rest.is_empty() {
            section.insert((*key).to_owned(), value);
            self.places.insert(path, Place::Set(number));
            return;
        }
        if let Some(inner) = list_item(section, key) {
            return self.put(inner, &path, rest, value, number);
        }
        let entry = section.entry(*key).or_insert_with(|| Value::Table(Table::new()));
        if !entry.is_table() {
            *entry = Value::Table(Table::new());
            self.places.remove(&path);
        }
        self.places.entry(path.clone()).or_insert(Place::Set(number));
        if let Value::Table(inner) = entry {
            self.put(inner, &path, rest, value, number);
        }
    }

    /// Returns a mistake of TOML syntax as an error, with the nearest key.
    fn not_toml(&self, error: &toml::de::Error) -> Box<ConfigError> {
        let span = error.span().unwrap_or(0..0);
        let problem = format!("not valid TOML: {}", error.message().replace('\n', "; "));
        let mut problem = Problem::new(self.key_near(span.start), problem);
        let unquoted = self.text.get(span.clone()).is_some_and(|text| text.contains(['/', '^']));
        if unquoted {
            problem = problem.with_help("quotients and powers are written in quotes: \"1/256\", \"2^-26\"");
        }
        Box::new(self.at(&span, problem))
    }

    /// Returns the key path on the line of a byte, below the last `[section]` above it: for text that cannot be parsed.
    fn key_near(&self, offset: usize) -> String {
        let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let mut section = "";
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let content = line.split('#').next().unwrap_or_default().trim();
            let header = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            section = header.filter(|name| plain(name)).unwrap_or(section);
            if start + line.len() > offset {
                let key = content.split_once('=').map_or("", |(key, _)| key.trim());
                return if plain(key) && !key.is_empty() { join(section, key) } else { section.to_owned() };
            }
            start += line.len();
        }
        section.to_owned()
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count()
    }

    fn at(&self, span: &Range<usize>, problem: Problem) -> ConfigError {
        ConfigError {
            place: format!("{}:{}", self.name, self.line(span.start)),
            written: Some(Written {
                file: self.name.clone(),
                text: Arc::from(printable(&self.text)),
                place: span.clone(),
                against: None,
            }),
            ..problem.into()
        }
    }

    /// Returns the location of a setting, or of the nearest enclosing section that is given.
    fn place(&self, key: &str) -> Option<&Place> {
        let mut path = key;
        loop {
            if let Some(place) = self.places.get(path) {
                return Some(place);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    /// Returns the sort key of a problem: its location in the text; overrides and missing settings come last.
    fn order(&self, problem: &Problem) -> (bool, usize) {
        match self.place(&problem.key) {
            Some(Place::Text(span)) => (!self.places.contains_key(&problem.key), span.start),
            Some(Place::Set(number)) => (true, self.text.len() + number),
            None => (true, usize::MAX),
        }
    }

    fn locate_one(&self, mut problem: Problem) -> ConfigError {
        let against = problem.against.take().and_then(|key| Some((self.place(&key)?, key)));
        let mut contradicted = None;
        if let Some((place, key)) = against {
            let other = match place {
                Place::Text(span) => {
                    contradicted = Some(span.clone());
                    format!("`{key}` on line {}", self.line(span.start))
                }
                Place::Set(number) => format!("`{}`", shown(&self.sets[*number])),
            };
            problem.problem.push_str(&format!(", against {other}"));
        }
        let mut found = match self.place(&problem.key) {
            Some(Place::Text(span)) => self.at(&self.narrowed(span, problem.formula.as_deref()), problem),
            Some(Place::Set(number)) => ConfigError { place: shown(&self.sets[*number]), ..problem.into() },
            None => ConfigError { place: self.name.clone(), ..problem.into() },
        };
        if let Some(written) = &mut found.written {
            written.against = contradicted;
        }
        found
    }

    /// Returns the place of a mistake in the formula of a setting, where the formula stands in the file as it is.
    fn narrowed(&self, span: &Range<usize>, mistake: Option<&Mistake>) -> Range<usize> {
        let inner = mistake.and_then(|mistake| {
            let start = span.start + self.text.get(span.clone())?.find(&mistake.formula)?;
            Some(start + mistake.span.start..start + mistake.span.end)
        });
        inner.unwrap_or_else(|| span.clone())
    }

    /// Returns problems (at least one) as one error with their locations: that of the first in the text, then the
    /// others, up to a number of them.
    pub(super) fn locate(&self, mut problems: Vec<Problem>) -> Box<ConfigError> {
        problems.sort_by_cached_key(|problem| self.order(problem));
        let left_out = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        let more = (left_out > 0).then(|| Problem::new("", format!("and {left_out} more mistakes like these")).into());
        let mut found = problems.into_iter().map(|problem| self.locate_one(problem)).chain(more);
        let first = found.next().unwrap_or_else(|| Problem::new("", "the configuration is wrong").into());
        Box::new(ConfigError { others: found.collect(), ..first })
    }
}

/// Returns the section of a list that a key such as `name[2]` denotes; [`None`] if there is none.
fn list_item<'a>(section: &'a mut Table, key: &str) -> Option<&'a mut Table> {
    let (name, number) = key.strip_suffix(']')?.split_once('[')?;
    let place = number.parse::<usize>().ok()?.checked_sub(1)?;
    section.get_mut(name)?.as_array_mut()?.get_mut(place)?.as_table_mut()
}

/// Parses the value of an override: TOML if it is one TOML value, otherwise the text itself.
fn override_value(text: &str) -> Value {
    let read = format!("value = {text}").parse::<Table>().ok().filter(|table| table.len() == 1);
    read.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns an override as messages show it: the start of a long one.
fn shown(set: &str) -> String {
    const MAX: usize = 120;
    match set.char_indices().nth(MAX) {
        None => format!("--set {set}"),
        Some((end, _)) => format!("--set {}…", &set[..end]),
    }
}
