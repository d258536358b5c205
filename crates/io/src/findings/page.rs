//! A page of findings: an answer, tables and facts, advice. The program prints it, the live view shows it.

use serde::Serialize;
use std::fmt::Write as _;

/// Width of the text, in characters.
const WIDTH: usize = 80;
/// Width of the names of facts.
const NAMES: usize = 18;

/// Page of findings about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Run: name, number of particles, engine.
    pub title: String,
    /// Answer in one or two sentences.
    pub answer: Vec<String>,
    /// Findings by subject.
    pub sections: Vec<Section>,
    /// Advice that follows from the findings.
    pub advice: Vec<Advice>,
}

/// Findings about one subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Table, if it has rows.
    pub table: Option<TextTable>,
    /// Facts as pairs of name and value.
    pub facts: Vec<(String, String)>,
}

/// Table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextTable {
    /// Headings, with units.
    pub columns: Vec<String>,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

/// Advice, with the command that follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What to do, and why.
    pub text: String,
    /// Command; empty if there is none.
    pub command: String,
}

impl Section {
    /// Creates a section without facts.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Appends a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push((name.into(), value.into()));
    }

    /// Returns true if there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.table.is_none()
    }
}

impl Page {
    /// Returns the page as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        for sentence in &self.answer {
            text += &wrapped(sentence, "", "");
        }
        for Section { title, table, facts } in &self.sections {
            let _ = writeln!(text, "\n{title}");
            if let Some(table) = table {
                text += &table.text();
            }
            for (name, value) in facts {
                text += &wrapped(value, &format!("  {name:<NAMES$}"), &" ".repeat(NAMES + 2));
            }
        }
        for (k, Advice { text: advice, command }) in self.advice.iter().enumerate() {
            text += if k == 0 { "\nWhat to do\n" } else { "" };
            text += &wrapped(advice, &format!("  {}. ", k + 1), "     ");
            if !command.is_empty() {
                let _ = writeln!(text, "       {command}");
            }
        }
        text
    }
}

impl TextTable {
    /// Returns the table with its columns to the right, the first to the left.
    fn text(&self) -> String {
        let lines = || std::iter::once(&self.columns).chain(&self.rows);
        let width = |k: usize| lines().filter_map(|line| Some(line.get(k)?.chars().count())).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(k, (cell, width))| match k {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            format!("  {}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
        };
        lines().map(line).collect()
    }
}

/// Breaks a text into lines; the first begins with `first`, the others with `others`. A longer word has a line of its
/// own.
fn wrapped(text: &str, first: &str, others: &str) -> String {
    let (mut lines, mut line, mut empty) = (String::new(), first.to_owned(), true);
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(lines, "{}", line.trim_end());
            others.clone_into(&mut line);
            empty = true;
        }
        line += if empty { "" } else { " " };
        line += word;
        empty = false;
    }
    let _ = writeln!(lines, "{}", line.trim_end());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_plain_text_of_80_columns() {
        let texts = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut section = Section::new("Steps");
        assert!(section.is_empty());
        let rows = vec![texts(&["1", "2.5e-3"]), texts(&["10.25", "–"])];
        section.table = Some(TextTable { columns: texts(&["t [T]", "step"]), rows });
        section.fact("energy", "word ".repeat(20));
        let advice = |text: &str, command: &str| Advice { text: text.into(), command: command.into() };
        let page = Page {
            title: "x".into(),
            answer: vec!["Finished.".into()],
            sections: vec![section],
            advice: vec![advice("Go on.", "tisane resume x"), advice("Or not.", "")],
        };
        let words = "word ".repeat(12);
        let rest = "word ".repeat(8);
        let expected = format!(
            "x\n\nFinished.\n\nSteps\n  t [T]    step\n  1      2.5e-3\n  10.25       –\n  energy            {}\n{}{}\n\n\
             What to do\n  1. Go on.\n       tisane resume x\n  2. Or not.\n",
            words.trim(),
            " ".repeat(20),
            rest.trim()
        );
        assert_eq!(page.text(), expected);
        assert!(page.text().lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn long_words_are_not_broken() {
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b"), "- ", "  "), format!("- a\n  {long}\n  b\n"));
        assert_eq!(wrapped("", "- ", "  "), "-\n");
    }
}
