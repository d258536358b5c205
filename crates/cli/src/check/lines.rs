//! Lines of a plan, as they are printed.

use textwrap::{Options, WordSplitter, WrapAlgorithm};
use tisane::units::{Dimension, Units};

/// Characters of a warning above which it is broken into several lines, and of each line.
pub const LONG: usize = 300;
const WIDTH: usize = 100;
/// Characters of the name of a line.
const NAME: usize = 20;

/// Lines whose texts are paths of files.
pub const SOURCE: &str = "initial conditions";
pub const DIRECTORY: &str = "output";
const PATHS: [&str; 2] = [SOURCE, DIRECTORY];

/// Lines of a plan: what each is about, and its text.
pub type Lines = Vec<(String, String)>;

/// Returns a part of a plan. A line with the path of a file is not broken.
pub fn part(title: &str, lines: &Lines) -> String {
    let indent = " ".repeat(NAME + 3);
    let line = |(name, text): &(String, String)| {
        let max = if PATHS.contains(&name.as_str()) { usize::MAX } else { WIDTH };
        wrapped(&format!("  {name:<NAME$} {text}"), &indent, max) + "\n"
    };
    format!("\n{title}\n{}", lines.iter().map(line).collect::<String>())
}

/// Returns a line as it is, or in several ones if it has more than `max` characters.
pub fn wrapped(line: &str, indent: &str, max: usize) -> String {
    if line.chars().count() <= max {
        return line.to_owned();
    }
    let options = Options::new(WIDTH).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(line, options.wrap_algorithm(WrapAlgorithm::FirstFit).subsequent_indent(indent))
}

/// Returns a value with its unit.
pub fn with_unit(x: f64, d: Dimension, units: &Units) -> String {
    if !x.is_finite() {
        return "not defined".into();
    }
    units.readable(x, d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_line_is_broken() {
        let short = "word ".repeat(LONG / 5);
        assert_eq!(wrapped(short.trim(), "  ", LONG), short.trim());
        let long = format!("warning: {}", "word ".repeat(LONG / 5)).trim().to_owned();
        let lines = wrapped(&long, "  ", LONG);
        assert!(lines.lines().count() > 3 && lines.lines().all(|line| line.chars().count() <= WIDTH), "{lines}");
        assert!(lines.lines().skip(1).all(|line| line.starts_with("  word")), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), long.split(' ').collect::<Vec<_>>());
        // The path of a file can be copied.
        let lines = [(SOURCE, "a/path "), ("force", "a word ")].map(|(name, text)| (name.to_owned(), text.repeat(20)));
        let plan = part("What it is", &lines.to_vec());
        assert!(plan.lines().nth(2).is_some_and(|line| line.chars().count() > WIDTH), "{plan}");
        assert!(plan.lines().skip(3).count() > 1 && plan.ends_with("a word\n"), "{plan}");
    }
}
