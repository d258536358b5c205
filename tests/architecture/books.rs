//! Promise: nothing is said twice in the books: no sentence stands on two pages. Code, tables, headings and captions may repeat.

use std::collections::BTreeMap;
use std::fs;

/// The books: of the user, of the reports.
const BOOKS: [&str; 2] = ["docs/src", "docs/reports/src"];
/// Words of the shortest sentence that counts: "See the reference." may be said anywhere.
const MIN_WORDS: usize = 8;

/// Returns the pages: path from the top, text.
fn pages() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for book in BOOKS {
        for entry in fs::read_dir(super::top().join(book)).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(super::top()).expect("a file of ours").display().to_string();
                found.push((name, fs::read_to_string(&path).expect("a page")));
            }
        }
    }
    found.sort();
    found
}

/// Returns the paragraphs and the items of lists of a page, each as one line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut in_code = false;
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```");
        in_code ^= fence;
        let other = ["|", "#", "![", "<!--"].iter().any(|beginning| line.starts_with(beginning));
        let number = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let item = line.starts_with("- ") || number;
        if line.is_empty() || in_code || fence || other || item {
            found.push(String::new());
        }
        if !(in_code || fence || other) {
            let last = found.last_mut().expect("one at least");
            last.push_str(line);
            last.push(' ');
        }
    }
    // A paragraph in italics is a caption.
    let caption = |text: &String| text.starts_with('*') && !text.starts_with("**") && text.trim_end().ends_with('*');
    found.into_iter().filter(|text| !text.trim().is_empty() && !caption(text)).collect()
}

/// Returns a paragraph with links as their texts alone.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| before + part.split_once(')').map_or(part, |(_, after)| after))
}

/// Returns the sentences of a page as their words in small letters, those of `MIN_WORDS` words and more.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentence: Vec<String> = Vec::new();
        let mut end = |sentence: &mut Vec<String>| {
            if sentence.len() >= MIN_WORDS {
                found.push(sentence.join(" "));
            }
            sentence.clear();
        };
        for word in without_targets(&paragraph).split_whitespace() {
            let plain: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            sentence.extend((!plain.is_empty()).then_some(plain));
            if word.trim_end_matches(['*', ')', '"', '`']).ends_with(['.', '!', '?']) {
                end(&mut sentence);
            }
        }
        end(&mut sentence);
    }
    found
}

/// Returns what is said on more than one page, with the pages.
fn repeated(pages: &[(String, String)]) -> Vec<String> {
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, text) in pages {
        for sentence in sentences(text) {
            let on = said.entry(sentence).or_default();
            if on.last() != Some(&name.as_str()) {
                on.push(name);
            }
        }
    }
    let twice = said.into_iter().filter(|(_, on)| on.len() > 1);
    twice.map(|(sentence, on)| format!("{}: {sentence}", on.join(", "))).collect()
}

#[test]
fn no_sentence_is_on_two_pages() {
    let pages = pages();
    assert!(pages.len() > 50, "only {} pages found", pages.len());
    let found = repeated(&pages);
    assert!(found.is_empty(), "say it on one page, and link to it from the others:\n{}", found.join("\n"));
}

#[test]
fn a_repeated_sentence_is_seen() {
    let page = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let said = "The [state](a.md) of a run depends on the configuration and\non the mode.";
    let other = "- **Bits.** The state of a run depends on *the* configuration and on the mode. And more.";
    assert_eq!(
        repeated(&[page("a", said), page("b", other)]),
        ["a, b: the state of a run depends on the configuration and on the mode"]
    );
    for free in ["```\n{}\n```\n", "| {} |\n", "# {}\n", "*{}*\n"] {
        let free = free.replace("{}", "the state of a run depends on the configuration and on the mode");
        assert!(repeated(&[page("a", said), page("b", &free)]).is_empty(), "{free}");
    }
    assert!(repeated(&[page("a", "See the page on files."), page("b", "See the page on files.")]).is_empty());
}
