//! Tables in text that are not laid out as a format needs it: what the difference is, and a command that removes it.

use super::column_names::meaning;
use super::columns::COLUMNS;
use super::ecsv;
use super::kinds::filled;
use super::text::shown;
use crate::number::number;
use std::path::Path;
use tisane::Error;

/// Recipe that turns blanks into commas.
const BLANKS: &str = "awk -v OFS=, '{$1=$1; print}' @IN@ > @OUT@-commas.csv";

/// First lines of a text.
struct Start {
    /// Number and text of the last comment before the first content line, without the sign of a comment.
    comment: Option<(usize, String)>,
    /// Content lines with their numbers from 1.
    lines: Vec<(usize, String)>,
}

/// Difference from a layout that is read, and a recipe.
type Difference = (String, String);

/// Returns the error for a text whose layout is a well-known one that is not read; [`None`] for any other, and for
/// ECSV, whose columns may have blanks between them.
pub(super) fn unreadable(path: &Path, head: &[u8]) -> Option<Error> {
    if ecsv::looks_like(head) {
        return None;
    }
    let start = Start::of(head)?;
    let found = start.semicolons().or_else(|| start.decimal_commas()).or_else(|| start.names_without_commas());
    let found = found.or_else(|| start.names_behind_a_sign()).or_else(|| start.no_names());
    let found = found.or_else(|| start.lines_before_the_stars()).or_else(|| start.eight_columns());
    let (what, way) = found.or_else(|| start.other_order())?;
    Some(Error::input(path, what).with_help(filled(&way, path)))
}

/// Returns the words of a line between blanks.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns true if all words are numbers.
fn all_numbers(words: &[&str]) -> bool {
    !words.is_empty() && words.iter().all(|word| number(word).is_some())
}

/// Returns true for names of columns, most of which are known.
fn are_names(words: &[&str]) -> bool {
    let known = words.iter().filter(|word| meaning(word).is_some()).count();
    words.len() >= COLUMNS.len() && known + 3 >= COLUMNS.len() && words.iter().all(|word| number(word).is_none())
}

/// Returns true for a number with a comma in place of its point.
fn has_decimal_comma(word: &str) -> bool {
    let digit = |text: &str| text.chars().next().is_some_and(|c| c.is_ascii_digit());
    let after = word.split_once(',').filter(|(_, after)| digit(after) && !after.contains(','));
    after.is_some() && !word.contains('.') && number(&word.replace(',', ".")).is_some()
}

impl Start {
    /// Returns the first lines, without one that the end of the head cuts off; [`None`] without content, or for bytes that
    /// are no text.
    fn of(head: &[u8]) -> Option<Self> {
        let is_text = |b: &u8| *b >= 0x20 && *b != 0x7f || matches!(b, b'\t' | b'\n' | b'\r');
        if !head.iter().all(is_text) {
            return None;
        }
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}');
        let whole = text.rsplit_once('\n').map_or(text, |(whole, _)| whole);
        let mut start = Self { comment: None, lines: Vec::new() };
        for (k, line) in whole.lines().enumerate().map(|(k, line)| (k + 1, line.trim())) {
            match line.strip_prefix('#') {
                Some(comment) if start.lines.is_empty() => {
                    start.comment = Some((k, comment.trim_start_matches('#').trim().to_owned()));
                }
                _ if line.is_empty() || line.starts_with('#') => {}
                _ => start.lines.push((k, line.to_owned())),
            }
        }
        (!start.lines.is_empty()).then_some(start)
    }

    fn first(&self) -> &str {
        &self.lines[0].1
    }

    /// Fields between semicolons, perhaps with decimal commas.
    fn semicolons(&self) -> Option<Difference> {
        if self.first().split(';').count() < COLUMNS.len() {
            return None;
        }
        let number = self.lines[0].0;
        if self.lines.iter().any(|(_, line)| line.split(';').map(str::trim).any(has_decimal_comma)) {
            let what = format!("line {number}: fields are separated by semicolons, with commas in numbers");
            return Some((what, "write points in numbers, and commas: tr ',;' '.,' < @IN@ > @OUT@-commas.csv".into()));
        }
        let what = format!("line {number}: fields are separated by semicolons, not by commas");
        Some((what, "write commas: tr ';' ',' < @IN@ > @OUT@-commas.csv".into()))
    }

    /// Numbers with decimal commas between blanks.
    fn decimal_commas(&self) -> Option<Difference> {
        let found = self.lines.iter().find(|(_, line)| {
            let words = words(line);
            let fits = |word: &&str| number(word).is_some() || has_decimal_comma(word);
            words.len() >= COLUMNS.len() && words.iter().all(fits) && words.iter().any(|word| has_decimal_comma(word))
        })?;
        let word = words(&found.1).into_iter().find(|word| has_decimal_comma(word)).map(shown)?;
        let what = format!("line {}: numbers have commas in place of points: {word}", found.0);
        Some((what, "write points: tr ',' '.' < @IN@ > @OUT@-points.dat".into()))
    }

    /// Names of columns between blanks.
    fn names_without_commas(&self) -> Option<Difference> {
        let first = self.first();
        if first.contains(',') || !are_names(&words(first)) {
            return None;
        }
        let what = format!("line {}: a header without commas: {}", self.lines[0].0, shown(first));
        Some((what, format!("write commas, which are read with {}: {BLANKS}", names(&words(first)))))
    }

    /// Names of columns with commas, in a comment.
    fn names_behind_a_sign(&self) -> Option<Difference> {
        let (number, comment) = self.comment.as_ref()?;
        let names: Vec<&str> = comment.split(',').map(str::trim).collect();
        if !self.first().contains(',') || !are_names(&names) || are_names(&fields(self.first())) {
            return None;
        }
        let what = format!("line {number}: the header is behind a #, which makes it a comment");
        Some((what, format!("remove the sign: sed '{number}s/^[# ]*//' @IN@ > @OUT@-header.csv")))
    }

    /// Numbers with commas, without names.
    fn no_names(&self) -> Option<Difference> {
        let (at, first) = &self.lines[0];
        let fields = fields(first);
        if fields.len() < COLUMNS.len() || !all_numbers(&fields) {
            return None;
        }
        let what = format!("line {at}: expected a header that names the columns, found {}", shown(first));
        let header = COLUMNS.join(",");
        let more = (COLUMNS.len()..fields.len()).map(|k| format!(",column{}", k + 1)).collect::<String>();
        Some((what, format!("put the names first, in their order: sed '1i {header}{more}' @IN@ > @OUT@-header.csv")))
    }

    /// A few numbers, such as that of the stars, before the lines of the stars.
    fn lines_before_the_stars(&self) -> Option<Difference> {
        let wide = |line: &str| words(line).len() >= COLUMNS.len() && all_numbers(&words(line));
        let stars = self.lines.iter().position(|(_, line)| wide(line)).filter(|at| (1..=5).contains(at))?;
        let before = &self.lines[..stars];
        if self.lines[stars].1.contains(',') || !before.iter().all(|(_, line)| all_numbers(&words(line))) {
            return None;
        }
        let first = self.first();
        let what = match (stars, words(first).len()) {
            (1, 1) => format!(
                "line {}: a number alone, as that of the bodies, before the bodies: {}",
                before[0].0,
                shown(first)
            ),
            (1, _) => format!("line {}: a header of numbers before the bodies: {}", before[0].0, shown(first)),
            (n, _) => format!("line {}: {n} lines of numbers before the bodies, from {} on", before[0].0, shown(first)),
        };
        Some((what, format!("leave them out: tail -n +{} @IN@ > @OUT@-bodies.dat", self.lines[stars].0)))
    }

    /// Eight columns, of which the first or the last counts.
    fn eight_columns(&self) -> Option<Difference> {
        let rows: Vec<Vec<&str>> = self.lines.iter().map(|(_, line)| words(line)).collect();
        if self.first().contains(',') || !rows.iter().all(|row| row.len() == 8 && all_numbers(row)) {
            return None;
        }
        let counts = |column: usize| {
            let ids: Vec<Option<u64>> = rows.iter().map(|row| row[column].parse().ok()).collect();
            ids.iter().all(Option::is_some) && ids.windows(2).all(|pair| pair[0] != pair[1])
        };
        let (what, header) = match (counts(7), counts(0)) {
            (true, _) => ("an 8th column of whole numbers, perhaps ids", "m,x,y,z,vx,vy,vz,id"),
            (_, true) => ("8 columns, of which the first has whole numbers, perhaps ids", "id,m,x,y,z,vx,vy,vz"),
            _ => return None,
        };
        let what = format!("line {}: {what}: expected 7 columns, {}", self.lines[0].0, COLUMNS.join(" "));
        let way = format!("awk -v OFS=, 'BEGIN {{print \"{header}\"}} {{$1=$1; print}}' @IN@ > @OUT@-commas.csv");
        Some((what, format!("read it as csv with ids: {way}")))
    }

    /// Columns between blanks whose names, in a comment, are not in the order of the format.
    fn other_order(&self) -> Option<Difference> {
        let (number, comment) = self.comment.as_ref()?;
        let names_of: Vec<&str> = words(comment);
        let columns = words(self.first());
        if self.first().contains(',') || names_of.len() != columns.len() || !all_numbers(&columns) {
            return None;
        }
        let known: Vec<_> = names_of.iter().map(|name| meaning(name)).collect();
        let has_all = COLUMNS.iter().all(|column| known.contains(&Some(*column)));
        let in_order = COLUMNS.iter().zip(&known).all(|(column, known)| *known == Some(*column));
        if !has_all || in_order {
            return None;
        }
        let what = format!("line {number}: its columns are {}: expected {}", shown(comment), COLUMNS.join(" "));
        let way = format!("sed '{number}s/^[# ]*//' @IN@ | awk -v OFS=, '{{$1=$1; print}}' > @OUT@-commas.csv");
        Some((what, format!("read it as csv with {}: {way}", names(&names_of))))
    }
}

/// Returns the fields of a line between commas.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// Describes the names that a header must have.
fn names(found: &[&str]) -> String {
    let needed: Vec<&str> = found.iter().map(|name| meaning(name).unwrap_or(name)).collect();
    if needed == found { "this header".into() } else { format!("the header {}", needed.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a text in a file called `stars.dat`.
    fn said(text: &str) -> String {
        unreadable(Path::new("stars.dat"), text.as_bytes())
            .map(|error| format!("{error} | {}", error.advice().unwrap_or_default()))
            .unwrap_or_default()
    }

    #[test]
    fn layouts_that_are_read_are_not_remarked_on() {
        for text in [
            "1 2 3 4 5 6 7\n",
            "# m x y z vx vy vz\n1 2 3 4 5 6 7\n",
            "# Mass_[Msun] x_[pc] y_[pc] z_[pc] vx_[km/s] vy_[km/s] vz_[km/s]\n1 2 3 4 5 6 7\n",
            "m,x,y,z,vx,vy,vz\n1,2,3,4,5,6,7\n",
            "#m,x,y,z,vx,vy,vz\nm,x,y,z,vx,vy,vz\n1,2,3,4,5,6,7\n",
            "m, x, y, z, vx, vy, vz\n1, 2, 3, 4, 5, 6, 7\n",
            "# only a comment\n",
            "",
            "garbage\n",
            "# made on a day, by somebody, with a program, of a version, and a seed, for a test, or so\n1 2 3 4 5 6 7\n",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }

    #[test]
    fn each_layout_is_named_with_a_command() {
        let row = "0.5 1 2 3 4 5 6";
        for (text, expected) in [
            ("m;x;y;z;vx;vy;vz\n1;2;3;4;5;6;7\n".to_owned(), ["separated by semicolons", "tr ';' ',' < stars.dat"]),
            ("1,5;2;3;4;5;6;7\n".into(), ["commas in numbers", "tr ',;' '.,' < stars.dat > stars-commas.csv"]),
            ("0,5 1,25 -2,5e-1 3 4 5 6\n".into(), ["commas in place of points: \"0,5\"", "tr ',' '.' < stars.dat"]),
            (format!("m x y z vx vy vz\n{row}\n"), ["a header without commas", "with this header: awk -v OFS=,"]),
            (
                format!("Mass\tX\tY\tZ\tVX\tVY\tVZ\n{row}\n"),
                ["a header without commas", "the header m,x,y,z,vx,vy,vz: awk"],
            ),
            ("\n# m,x,y,z,vx,vy,vz\n1,2,3,4,5,6,7\n".into(), ["line 2: the header is behind a #", "sed '2s/^[# ]*//'"]),
            ("1,2,3,4,5,6,7\n".into(), ["line 1: expected a header", "sed '1i m,x,y,z,vx,vy,vz' stars.dat"]),
            (format!("32\n{row}\n"), ["line 1: a number alone, as that of the bodies", "tail -n +2 stars.dat"]),
            (format!("32 0.5\n{row}\n"), ["a header of numbers before the bodies: \"32 0.5\"", "tail -n +2"]),
            (format!("0\n32\n0.5\n{row}\n"), ["3 lines of numbers before the bodies", "tail -n +4"]),
            (format!("{row} 1\n{row} 2\n"), ["8th column of whole numbers", "m,x,y,z,vx,vy,vz,id"]),
            (format!("7 {row}\n9 {row}\n"), ["of which the first has whole numbers", "id,m,x,y,z,vx,vy,vz"]),
            (format!("# x y z vx vy vz m\n{row}\n"), ["expected m x y z", "sed '1s/^[# ]*//'"]),
        ] {
            let said = said(&text);
            assert!(expected.iter().all(|part| said.contains(part)), "{expected:?} in {said}");
        }
    }
}
