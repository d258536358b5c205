//! The header of ECSV files, "Enhanced Character-Separated Values" (astropy's APE 6): comments in YAML that name the columns
//! with their units, and the character between columns.

use super::text::{Lines, number_at};
use super::unit_text::{self, TextUnit};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use tisane::{Error, Result};

/// Beginning of an ECSV file.
const FIRST: &str = "# %ECSV ";
/// Maximum length of a header, in bytes.
const LONGEST: u64 = 1 << 20;

/// Header of an ECSV file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    /// True where blanks separate the columns, and not commas.
    pub(super) blanks: bool,
    /// Columns that state a unit: their names and the text of the unit.
    units: Vec<(String, String)>,
}

/// Returns true for the beginning of an ECSV file.
pub(super) fn looks_like(head: &[u8]) -> bool {
    head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).starts_with(FIRST.as_bytes())
}

impl Header {
    /// Reads the header; [`None`] if the file is not ECSV.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read, or has another separator than commas and blanks.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let failed = |e: std::io::Error| Error::input(path, e);
        let mut file = BufReader::new(File::open(path).map_err(failed)?.take(LONGEST));
        let (mut lines, mut bytes) = (Vec::new(), Vec::new());
        loop {
            bytes.clear();
            let length = file.read_until(b'\n', &mut bytes).map_err(failed)?;
            if lines.is_empty() && !looks_like(&bytes) {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&bytes);
            let comment = text.trim_start_matches('\u{feff}').strip_prefix('#').filter(|_| length > 0);
            let Some(comment) = comment else { break };
            lines.push(comment.strip_prefix(' ').unwrap_or(comment).trim_end().to_owned());
        }
        let delimiter = lines.iter().find_map(|line| line.strip_prefix("delimiter:")).map_or(" ", unquoted);
        if ![" ", ",", ""].contains(&delimiter) {
            let problem =
                format!("the columns of this ECSV file are separated by {delimiter:?}: expected , or a blank");
            return Err(Error::input(path, problem).with_help("write it with delimiter=\",\""));
        }
        let units = items(&lines).into_iter().filter_map(|item| {
            let of = |key: &str| item.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
            Some((of("name")?, of("unit")?))
        });
        Ok(Some(Self { blanks: delimiter != ",", units: units.collect() }))
    }

    /// Returns true if a column states its unit.
    pub(crate) fn states(&self, name: &str) -> bool {
        self.units.iter().any(|(column, _)| column == name)
    }

    /// Returns true if all of some columns state units, and false if none does.
    ///
    /// # Errors
    /// [`Error::Input`] if some do and others do not.
    pub(crate) fn states_all(&self, path: &Path, names: &[&str]) -> Result<bool> {
        let (with, without): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| self.states(name));
        if with.is_empty() || without.is_empty() {
            return Ok(without.is_empty());
        }
        let (with, without) = (with.join(", "), without.join(", "));
        let problem = format!("the ECSV header states units of {with}, and none of {without}");
        Err(Error::input(path, problem).with_help("give all of them a unit, or none"))
    }

    /// Returns the unit of a column, which must have one of these powers; [`None`] for a column without a unit.
    ///
    /// # Errors
    /// [`Error::Input`] with the column and the unit.
    pub(crate) fn unit(&self, path: &Path, name: &str, powers: &[[i32; 4]]) -> Result<Option<TextUnit>> {
        let Some((_, text)) = self.units.iter().find(|(column, _)| column == name) else { return Ok(None) };
        let wrong = |problem: String| Error::input(path, format!("the ECSV header, column {name}: {problem}"));
        let unit = unit_text::parse(text).map_err(wrong)?;
        if powers.contains(&unit.powers) {
            return Ok(Some(unit));
        }
        Err(wrong(format!("the unit {text:?} is not one of this quantity")))
    }

    /// Reads the columns of numbers of a table, with their names.
    ///
    /// # Errors
    /// [`Error::Input`] with the line of what is not a number.
    pub(crate) fn columns(&self, path: &Path) -> Result<Vec<(String, Vec<f64>)>> {
        let mut lines = Lines::open(path)?;
        let (_, names) = lines.next()?.ok_or_else(|| Error::input(path, "expected a line of names, found none"))?;
        let mut columns: Vec<(String, Vec<f64>)> =
            fields(names, self.blanks).map(|name| (name.to_owned(), Vec::new())).collect();
        while let Some((line, text)) = lines.next()? {
            let words: Vec<&str> = fields(text, self.blanks).collect();
            if words.len() != columns.len() {
                let problem =
                    format!("line {line}: expected {} columns as in the header, found {}", columns.len(), words.len());
                return Err(Error::input(path, problem));
            }
            for ((name, values), word) in columns.iter_mut().zip(words) {
                values.push(number_at(path, line, name, word)?);
            }
        }
        Ok(columns)
    }
}

/// Returns the keys and values of each column below `datatype:`.
fn items(lines: &[String]) -> Vec<Vec<(String, String)>> {
    let mut texts: Vec<String> = Vec::new();
    let below = lines.iter().skip_while(|line| line.trim() != "datatype:").skip(1);
    for line in below.take_while(|line| line.starts_with([' ', '-'])) {
        if let Some(item) = line.trim_start().strip_prefix('-') {
            texts.push(item.to_owned());
        } else if let Some(last) = texts.last_mut() {
            last.push('\n');
            last.push_str(line);
        }
    }
    let pairs = |text: &String| {
        let flow = text.trim().strip_prefix('{').map(|text| text.trim_end().trim_end_matches('}').replace('\n', " "));
        let parts = flow.map_or_else(|| text.lines().map(str::to_owned).collect(), |flow| parts(&flow));
        let pair = |part: &String| {
            let (key, value) = part.split_once(':')?;
            Some((key.trim().to_owned(), unquoted(value).to_owned()))
        };
        parts.iter().filter_map(pair).collect()
    };
    texts.iter().map(pairs).collect()
}

/// Splits the inside of a flow mapping, at commas outside of quotes and brackets.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut quote, mut depth) = (vec![String::new()], None, 0);
    for c in text.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('{' | '[', None) => depth += 1,
            ('}' | ']', None) => depth -= 1,
            (',', None) if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

/// Returns the fields of a line with commas, or `blanks`, between them, without surrounding blanks and quotes.
pub(super) fn fields(line: &str, blanks: bool) -> impl Iterator<Item = &str> {
    let separates = move |c: char| if blanks { c.is_whitespace() } else { c == ',' };
    line.split(separates).filter(move |word| !(blanks && word.is_empty())).map(unquoted)
}

/// Returns a word without surrounding blanks and quotes.
fn unquoted(word: &str) -> &str {
    let word = word.trim();
    let inside = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<Header> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ecsv");
        std::fs::write(&path, text).unwrap();
        Header::read(&path).unwrap()
    }

    #[test]
    fn units_stand_in_both_styles_of_yaml() {
        let flow = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {name: m, unit: solMass, datatype: float64, \
                    description: 'a, b: c'}\n# - {name: x, unit: km / s, datatype: float64, description: a long text\n\
                    #     that goes on}\n# - {name: id, datatype: int64}\n# meta: !!omap\n# - {unit: none}\nm,x,id\n1,2,3\n";
        let block = "# %ECSV 1.0\n# ---\n# datatype:\n# -\n#   name: m\n#   unit: solMass\n#   datatype: float64\n\
                     # - name: x\n#   unit: \"km / s\"\n# - name: id\n# schema: astropy-2.0\nm x id\n1 2 3\n";
        let expected = vec![("m".to_owned(), "solMass".to_owned()), ("x".to_owned(), "km / s".to_owned())];
        for (text, blanks) in [(flow, false), (block, true)] {
            assert_eq!(header(text), Some(Header { blanks, units: expected.clone() }), "{text}");
        }
        assert_eq!(header("# of another program\nm,x\n1,2\n"), None);
    }
}
