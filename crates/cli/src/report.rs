//! Errors as they are shown on a terminal: the problem, its place in the file, the advice.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use textwrap::{Options, WordSplitter};
use tisane::error::{ConfigError, Error, Written, printable};
use tisane_run::help;

/// Width of the text of a message, in columns.
const WIDTH: usize = 80;

/// Returns the report of an error and of those found with it, with colours as escape sequences.
#[must_use]
pub fn report(error: &Error) -> String {
    match error {
        Error::Config(first) => {
            let reports: Vec<String> = std::iter::once(&**first).chain(&first.others).map(config).collect();
            reports.join("\n\n")
        }
        other => rendered(&other.to_string(), None, help::advice(other)),
    }
}

/// Returns the report of one mistake in a configuration. Where the file is shown, it shows a mistake in a formula too.
fn config(error: &ConfigError) -> String {
    let advice = if error.written.is_some() { error.help.clone() } else { error.advice() };
    rendered(&error.to_string(), error.written.as_ref(), advice)
}

fn rendered(problem: &str, written: Option<&Written>, advice: Option<String>) -> String {
    let title = Level::ERROR.primary_title(wrapped(problem, "error: "));
    let mut groups = vec![title.elements(written.map(snippet))];
    // The advice is escaped here: the renderer leaves second titles as they are.
    let advice = advice.map(|advice| Level::HELP.secondary_title(wrapped(&printable(&advice), "help: ")));
    groups.extend(advice.map(Group::with_title));
    let reports: Vec<String> = groups.into_iter().map(|group| Renderer::styled().render(&[group])).collect();
    reports.join("\n")
}

fn snippet(written: &Written) -> Snippet<'_, Annotation<'_>> {
    let place = AnnotationKind::Primary.span(written.place.clone());
    let against = written.against.clone().map(|place| AnnotationKind::Context.span(place).label("against this"));
    let places = std::iter::once(&written.place).chain(&written.against);
    let around = places.map(|place| AnnotationKind::Visible.span(with_neighbours(&written.text, place)));
    Snippet::source(&*written.text).path(&*written.file).annotation(place).annotations(against).annotations(around)
}

/// Returns the lines of a place and the one on either side, without the last line break.
fn with_neighbours(text: &str, place: &Range<usize>) -> Range<usize> {
    let before = text[..place.start].rfind('\n').unwrap_or(0);
    let start = text[..before].rfind('\n').map_or(0, |at| at + 1);
    let mut breaks = text[place.end..].match_indices('\n').map(|(at, _)| place.end + at);
    let end = breaks.next().map(|own| breaks.next().unwrap_or(own));
    start..end.unwrap_or(text.len())
}

/// Breaks lines between words; the first line follows on `before`, and the renderer indents the others below it.
fn wrapped(text: &str, before: &str) -> String {
    let options = Options::new(WIDTH - before.len()).break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}
