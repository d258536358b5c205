//! A figure of chosen columns of tables.

use super::figure::{Axis, Figure, Mark, Panel, Scale, Series};
use super::gallery::caption;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane_io::table::{Column, Numbers, Table, Values};

/// Most series of a figure: with more, no eye tells them apart.
const MAX_SERIES: usize = 56;
/// With more points than this, markers would hide the line.
const MAX_MARKERS: usize = 60;

/// Columns of a table to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Column of the horizontal axis; the first one if [`None`].
    pub x: Option<String>,
    /// Columns of the vertical axis; `|name|` for absolute values.
    pub y: Vec<String>,
    /// A series for each value of this column.
    pub by: Option<String>,
    /// Logarithmic horizontal axis.
    pub log_x: bool,
    /// Logarithmic vertical axis.
    pub log_y: bool,
}

/// A table and where it was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file or directory, for messages.
    pub path: PathBuf,
    /// Name in the legend.
    pub name: String,
    /// The table.
    pub table: Table,
}

/// One panel with the chosen columns of all tables.
///
/// # Errors
/// [`Error::Input`] if a column is not there or has no numbers; names the nearest one.
pub fn figure(sources: &[Source], choice: &Choice) -> Result<Figure> {
    let mut panel = Panel::default();
    let mut labels = Vec::new();
    for source in sources {
        let x = match &choice.x {
            Some(name) => find(source, name)?,
            None => source.table.columns.first().ok_or_else(|| Error::input(&source.path, "no columns"))?,
        };
        panel.x.label = x.label();
        let places = places(x, &mut panel.x.categories, source)?;
        for wanted in &choice.y {
            let (name, absolute) = bars_off(wanted);
            let column = find(source, name)?;
            let label = if absolute { column.label().replacen(name, wanted, 1) } else { column.label() };
            if !labels.contains(&label) {
                labels.push(label);
            }
            let values = numbers(column, source)?;
            let of = |y: f64| if absolute { y.abs() } else { y };
            let points: Vec<(f64, f64)> = places.iter().zip(values.iter()).map(|(x, y)| (*x, of(y))).collect();
            let shown = if choice.y.len() > 1 { wanted.as_str() } else { "" };
            for (group, points) in split(source, choice.by.as_deref(), points)? {
                let name = [if sources.len() > 1 { &source.name } else { "" }, shown, &group];
                let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
                let mark = mark(&panel.x, points.len());
                panel.series.push(Series::new(name, mark, points));
            }
        }
    }
    if panel.series.len() > MAX_SERIES {
        let problem = format!("{} series in one figure, and {MAX_SERIES} are the most", panel.series.len());
        return Err(Error::input(&sources[0].path, problem).with_help("fewer columns in --y, or another in --by"));
    }
    let scale = |log| if log { Scale::Log10 } else { Scale::Linear };
    panel.x.scale = scale(choice.log_x);
    panel.y = Axis { label: labels.join(", "), scale: scale(choice.log_y), ..Axis::default() };
    let (title, caption) = match sources {
        [only] => {
            let title = if only.table.title.is_empty() { only.name.clone() } else { only.table.title.clone() };
            (title, caption(&only.table))
        }
        _ => {
            let captions = sources.iter().map(|source| (&source.name, caption(&source.table)));
            let captions = captions.filter(|(_, caption)| !caption.is_empty());
            (String::new(), captions.map(|(name, caption)| format!("{name}: {caption}")).collect::<Vec<_>>().join("; "))
        }
    };
    Ok(Figure { title, caption, panels: vec![panel], columns: 1 })
}

/// Characters of the names of tables in the name of a figure, at most.
const LONGEST: usize = 60;

/// The name of the figure's files: `<tables>-<columns>`, of characters that any system takes. Where the names of all
/// tables are too long, they are the first and the last with the number of those between.
#[must_use]
pub fn stem(sources: &[Source], choice: &Choice) -> String {
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let all = names.join("+");
    let tables = match &names[..] {
        [first, between @ .., last] if all.chars().count() > LONGEST => {
            let short = |name: &str| name.chars().take(LONGEST / 2).collect::<String>();
            format!("{}+{}-more+{}", short(first), between.len(), short(last))
        }
        _ => all,
    };
    let columns = choice.y.iter().map(String::as_str).chain(choice.x.as_deref()).chain(choice.by.as_deref());
    let parts = [tables.as_str()].into_iter().chain(columns);
    let plain = |part: &str| -> String {
        let kept = part.chars().map(|c| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { ' ' });
        kept.collect::<String>().split_whitespace().collect::<Vec<_>>().join("_")
    };
    let name = parts.map(plain).collect::<Vec<_>>().join("-");
    // File systems take 255 bytes.
    name.chars().take(120).collect()
}

/// Nothing lies between words that a line could go through.
fn mark(x: &Axis, points: usize) -> Mark {
    match points {
        _ if !x.categories.is_empty() => Mark::Points,
        0..=MAX_MARKERS => Mark::LineAndPoints,
        _ => Mark::Line,
    }
}

/// `|name|` is the absolute value of a column.
fn bars_off(wanted: &str) -> (&str, bool) {
    let inner = wanted.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    (inner.unwrap_or(wanted), inner.is_some())
}

/// The column of a name, with or without its unit.
fn find<'a>(source: &'a Source, name: &str) -> Result<&'a Column> {
    let columns = &source.table.columns;
    if let Some(column) = columns.iter().find(|column| column.name == name || column.label() == name) {
        return Ok(column);
    }
    let like = |column: &&Column| strsim::jaro_winkler(name, &column.name);
    let nearest = columns.iter().max_by(|a, b| like(a).total_cmp(&like(b)));
    let problem = match nearest.filter(|column| like(column) > 0.7) {
        Some(column) => format!("no column '{name}'; did you mean '{}'?", column.name),
        None => format!("no column '{name}'"),
    };
    Err(Error::input(&source.path, problem).with_help(listed(&source.table)))
}

/// The columns of a table, for advice.
#[must_use]
pub fn listed(table: &Table) -> String {
    let names: Vec<&str> = table.names().collect();
    // The histogram of time steps alone is 37 columns.
    let shown = names.iter().filter(|name| !name.starts_with("steps_level_")).copied().collect::<Vec<_>>();
    format!("the columns are {}", shown.join(", "))
}

fn numbers<'a>(column: &'a Column, source: &Source) -> Result<Numbers<'a>> {
    match &column.values {
        Values::Floats(values) => Ok(Numbers::Floats(values)),
        Values::Counts(values) => Ok(Numbers::Counts(values)),
        Values::Text(words) => {
            let is_word = |word: &&String| !word.is_empty() && word.parse::<f64>().is_err();
            let first = words.iter().find(is_word).map_or("", String::as_str);
            let problem = format!("column '{}' has words such as '{first}', and --y wants numbers", column.name);
            Err(Error::input(&source.path, problem).with_help("words can stand in --x and --by"))
        }
    }
}

/// Returns the places of the rows on the horizontal axis: their numbers, or for words the index in the list of all
/// words so far.
fn places(column: &Column, words: &mut Vec<String>, source: &Source) -> Result<Vec<f64>> {
    match (&column.values, column.values.numbers()) {
        (Values::Text(values), _) => Ok(values.iter().map(|word| place(word, words)).collect()),
        (_, Some(values)) if words.is_empty() => Ok(values.iter().collect()),
        _ => {
            let problem = format!("column '{}' has numbers here and words in another table", column.name);
            Err(Error::input(&source.path, problem))
        }
    }
}

fn place(word: &str, words: &mut Vec<String>) -> f64 {
    let at = words.iter().position(|known| known == word).unwrap_or_else(|| {
        words.push(word.to_owned());
        words.len() - 1
    });
    at as f64
}

/// Points of one series with what names it.
type Group = (String, Vec<(f64, f64)>);

/// The points by the value of a column, in the order in which the values come.
fn split(source: &Source, by: Option<&str>, points: Vec<(f64, f64)>) -> Result<Vec<Group>> {
    let Some(by) = by else { return Ok(vec![(String::new(), points)]) };
    let column = find(source, by)?;
    let of_number = |x: &dyn std::fmt::Display| format!("{} = {x}", column.name);
    let names: Vec<String> = match &column.values {
        Values::Text(values) => values.clone(),
        Values::Floats(values) => values.iter().map(|x| of_number(x)).collect(),
        Values::Counts(values) => values.iter().map(|x| of_number(x)).collect(),
    };
    let mut groups: Vec<Group> = Vec::new();
    for (name, point) in names.into_iter().zip(points) {
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    Ok(groups)
}

/// Returns the name of a file or directory for a legend and for the names of pictures.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
