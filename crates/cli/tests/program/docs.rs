//! Promise: the documentation is whole and says what the code says: every page is in its book, every link leads
//! somewhere, and the tables of fields, columns, summary keys, units and exit codes are those of the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tisane::Error;
use tisane::encounters::SubsystemState;
use tisane::force::canonical::BAG;
use tisane::force::precision::Precision;
use tisane::states::history::History;
use tisane::states::low_parts::LowParts;
use tisane::states::neighbours::Neighbours;
use tisane::states::{SchemeState, Values};
use tisane::subsystems::EventKind;
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use tisane::units::Dimension;
use tisane_io::fields::{Journal, SNAPSHOT, SUBSYSTEM_STARS, SUBSYSTEMS};
use tisane_io::formats::FORMATS;
use tisane_io::stellar_columns::{METALLICITY, METALLICITY_TEXT, STELLAR, STELLAR_TYPE, STELLAR_TYPE_TEXT};
use tisane_run::config::{TEMPLATES, json_schema};
use tisane_run::simulation::ExitReason;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The books: of the user, of the reports.
const BOOKS: [&str; 2] = ["docs/src", "docs/reports/src"];

/// The pages of a book.
fn pages(book: &str) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(repository().join(book)).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The text of a page without its code blocks: what a reader of the page sees as prose.
fn prose(markdown: &str) -> String {
    let mut in_code = false;
    let seen = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    };
    markdown.lines().filter(seen).map(|line| format!("{line}\n")).collect()
}

/// The targets of `[text](target)`, without titles.
fn links(markdown: &str) -> Vec<String> {
    let prose = prose(markdown);
    let after = prose.split("](").skip(1);
    after.filter_map(|rest| rest.split([')', ' ']).next().map(str::to_owned)).collect()
}

/// The anchors of a page: its headings as mdBook and GitHub name them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let heading = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let anchor = |heading: String| heading.chars().filter(kept).collect::<String>().replace(' ', "-");
    prose(markdown).lines().filter_map(heading).map(anchor).collect()
}

#[test]
fn each_book_has_every_page_once() {
    for book in BOOKS {
        let folder = repository().join(book);
        let summary = folder.join("SUMMARY.md");
        let listed: Vec<PathBuf> = links(&text(&summary)).iter().map(|link| folder.join(link)).collect();
        let mut expected = pages(book);
        expected.remove(&summary);
        assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), expected, "{book}");
        assert_eq!(listed.len(), expected.len(), "{book}: a page is listed twice");
    }
}

/// Every picture is shown by a page.
#[test]
fn every_picture_is_shown() {
    let shown: String = BOOKS.into_iter().flat_map(pages).chain([repository().join("README.md")]).map(text).collect();
    for book in BOOKS {
        for entry in fs::read_dir(repository().join(book).join("images")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(shown.contains(&format!("images/{name}")), "{book}/images/{name}: no page shows it");
        }
    }
}

#[test]
fn every_relative_link_leads_somewhere() {
    let top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| repository().join(name));
    let mut checked = 0;
    for page in BOOKS.into_iter().flat_map(pages).chain(top) {
        for link in links(&text(&page)).iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: ({link}) leads nowhere", page.display());
            let known = anchor.is_empty() || anchors(&text(&target)).contains(anchor);
            assert!(known, "{}: ({link}): no such heading", page.display());
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} links were found");
}

/// The table under a marker of a page must be `expected`; the failure prints it, to be pasted.
fn assert_table(page: &str, marker: &str, expected: &str) {
    let page_text = text(page);
    let (_, rest) = page_text.split_once(&format!("<!-- {marker}:")).unwrap_or_else(|| panic!("{page}: no {marker}"));
    let (_, rest) = rest.split_once("-->\n").unwrap();
    let found = rest.split("<!-- end -->").next().unwrap();
    assert!(found == expected, "{page}, {marker}: the table should be\n{expected}");
}

/// A dimension in letters: M mass, L length, V velocity, T time.
fn unit(d: Dimension) -> String {
    let powers = [("M", d.mass), ("L", d.length), ("V", d.velocity), ("T", d.time)];
    let letter = |(letter, power): (&str, i32)| match power {
        0 => None,
        1 => Some(letter.to_owned()),
        _ => Some(format!("{letter}^{power}")),
    };
    powers.into_iter().filter_map(letter).collect::<Vec<_>>().join(" ")
}

/// A row of a table; `|` would end the cell.
fn row(cells: [&str; 3]) -> String {
    format!("| {} |\n", cells.map(|cell| cell.replace('|', r"\|")).join(" | "))
}

#[test]
fn the_snapshot_table_is_that_of_the_sources() {
    let mut table = String::from("| dataset | unit | what it is |\n|---|---|---|\n");
    for field in SNAPSHOT {
        let vector = if field.width == 3 { ", vector" } else { "" };
        table +=
            &row([&format!("`{}`", field.name), &unit(field.dimension), &format!("{}{vector}", field.description)]);
    }
    assert_table("docs/src/files.md", "snapshot fields", &table);
}

#[test]
fn the_tables_of_stars_that_evolve_are_those_of_the_sources() {
    let mut table = String::from("| dataset | unit | what it is |\n|---|---|---|\n");
    table += &row([&format!("`{STELLAR_TYPE}`"), "", STELLAR_TYPE_TEXT]);
    table += &row([&format!("`{METALLICITY}`"), "", METALLICITY_TEXT]);
    for field in STELLAR {
        table += &row([&format!("`{}`", field.name), &unit(field.dimension), field.description]);
    }
    assert_table("docs/src/files.md", "stellar fields", &table);
    assert_table("docs/src/stellar-evolution.md", "stellar columns", &table_of_columns(Journal::Stellar));
}

/// What schemes keep in a checkpoint, as they declare it: at order 6, without what order 8 has more of.
#[test]
fn the_table_of_states_is_that_of_the_schemes() {
    let mut table = String::from("| dataset | unit | kept with |\n|---|---|---|\n");
    let mut add = |state: &dyn SchemeState, with: &str| {
        for column in state.columns() {
            let name = &column.name;
            let datasets = match column.values {
                Values::Steps(..) => format!("`{name}time_ticks`, `{name}level`"),
                Values::Lists(_) => format!("`{name}_counts`, `{name}_lists`"),
                _ => format!("`{name}`"),
            };
            table += &row([&datasets, &unit(column.dimension), with]);
        }
    };
    add(&History::new(1, 1, 2), "`multipoint`, `ahmad_cohen` (of the irregular force)");
    add(&Neighbours::new(1, 1, 2), "`ahmad_cohen`");
    add(&LowParts::new(1), "`hermite4`, `multipoint`, where `compensated`");
    add(&SubsystemState::default(), "`[encounters]`");
    assert_table("docs/reports/src/checkpoints.md", "states of schemes", &table);
}

#[test]
fn the_tables_of_subsystems_are_those_of_the_sources() {
    let mut table = String::from("| dataset | unit | what it is |\n|---|---|---|\n");
    for field in SUBSYSTEMS {
        table += &row([&format!("`{}`", field.name), &unit(field.dimension), field.description]);
    }
    assert_table("docs/src/files.md", "subsystem fields", &table);
    let mut table = String::from("| dataset | unit | what it is |\n|---|---|---|\n");
    for field in SUBSYSTEM_STARS {
        let vector = if field.width == 3 { ", vector" } else { "" };
        table +=
            &row([&format!("`{}`", field.name), &unit(field.dimension), &format!("{}{vector}", field.description)]);
    }
    assert_table("docs/src/files.md", "subsystem star fields", &table);
    assert_table("docs/src/encounters.md", "encounters columns", &table_of_columns(Journal::Encounters));
    assert_table("docs/src/encounters.md", "stars columns", &table_of_columns(Journal::Stars));
    let names = EventKind::ALL.map(|kind| kind.name().to_owned());
    assert_words("docs/src/encounters.md", names.into_iter());
    let columns = Journal::Encounters.columns();
    let kinds = columns.iter().find(|column| column.name == "kind").unwrap();
    assert!(kinds.description.ends_with(&EventKind::ALL.map(EventKind::name).join(", ")), "{}", kinds.description);
}

#[test]
fn the_diagnostics_table_is_that_of_the_sources() {
    assert_table("docs/src/files.md", "diagnostics columns", &table_of_columns(Journal::Diagnostics));
}

#[test]
fn the_tables_of_the_cluster_are_those_of_the_sources() {
    for (journal, marker) in [
        (Journal::Cluster, "cluster columns"),
        (Journal::Binaries, "binaries columns"),
        (Journal::Events, "events columns"),
    ] {
        assert_table("docs/src/cluster.md", marker, &table_of_columns(journal));
    }
}

/// The columns of a journal as a table.
fn table_of_columns(journal: Journal) -> String {
    let columns = journal.columns();
    let mut table = String::from("| column | unit | what it is |\n|---|---|---|\n");
    // The columns of one quantity follow each other and have one text.
    for group in columns.chunk_by(|a, b| a.description == b.description) {
        let names = match group {
            [only] => format!("`{}`", only.name),
            [x, y, z] => format!("`{}`, `{}`, `{}`", x.name, y.name, z.name),
            [first, .., last] => format!("`{}` … `{}`", first.name, last.name),
            _ => unreachable!("chunks are not empty and vectors have three components"),
        };
        table += &row([&names, &unit(group[0].dimension), &group[0].description]);
    }
    table
}

/// The fields of a struct of the sources with what their comments say, under the heading `what`.
fn table_of_struct(source: &str, name: &str, what: &str) -> String {
    let mut table = format!("| {what} | what it is |\n|---|---|\n");
    let source = text(source);
    let (_, body) = source.split_once(&format!("pub struct {name} {{")).unwrap();
    let mut said = Vec::new();
    for line in body.lines().map(str::trim).take_while(|line| *line != "}") {
        if let Some(words) = line.strip_prefix("///") {
            said.push(words.trim().trim_end_matches('.'));
        } else if let Some((key, _)) = line.strip_prefix("pub ").and_then(|field| field.split_once(':')) {
            table += &format!("| `{key}` | {} |\n", said.join(" ").replace('|', r"\|"));
            said.clear();
        }
    }
    table
}

#[test]
fn the_summary_table_is_that_of_the_sources() {
    assert_table("docs/src/files.md", "summary keys", &table_of_struct("crates/io/src/summary.rs", "Summary", "key"));
}

#[test]
fn the_provenance_table_is_that_of_the_sources() {
    let table = table_of_struct("crates/io/src/provenance.rs", "Provenance", "attribute");
    assert_table("docs/reports/src/checkpoints.md", "provenance", &table);
}

#[test]
fn the_table_of_formats_is_that_of_the_sources() {
    let mut table = String::from("| format | what it is | written; what is lost |\n|---|---|---|\n");
    for format in FORMATS {
        let written = format.writer.as_ref().map_or("only read".into(), |writer| format!("yes; {}", writer.loses));
        table += &row([&format!("`{}`", format.name), format.description, &written]);
    }
    assert_table("docs/src/formats.md", "formats", &table);
    // The configuration knows the same names.
    let names: BTreeSet<_> = FORMATS.iter().map(|format| format.name.to_owned()).chain(["auto".to_owned()]).collect();
    assert_eq!(words("Format").into_iter().collect::<BTreeSet<_>>(), names);
}

/// Every word that the schema allows for a type.
fn words(of: &str) -> Vec<String> {
    let schema = json_schema();
    let definition = &schema["$defs"][of];
    let listed = definition["enum"].as_array().into_iter().flatten();
    let single = definition["oneOf"].as_array().into_iter().flatten().map(|choice| &choice["const"]);
    let words: Vec<String> = listed.chain(single).filter_map(|word| word.as_str().map(str::to_owned)).collect();
    assert!(!words.is_empty(), "the schema has no words for {of}");
    words
}

#[test]
fn every_word_that_a_user_may_write_is_documented() {
    let units = ["MassUnit", "LengthUnit", "VelocityUnit", "TimeUnit"].into_iter().flat_map(words);
    assert_words("docs/src/units.md", units);
    assert_words("docs/src/initial-conditions.md", FORMATS.iter().map(|format| format.name.to_owned()));
    let brackets =
        |name: &str| if name == "clusters" { format!("[[initial.{name}]]") } else { format!("[initial.{name}]") };
    let models = TEMPLATES.iter().map(|(name, _)| brackets(name));
    assert_words("docs/src/initial-conditions.md", models);
    for words_of in ["MassFunction", "Pairing", "SemiMajorAxis", "Eccentricity"] {
        assert_words("docs/src/initial-conditions.md", words(words_of).into_iter());
    }
    assert_words("docs/src/precision.md", words("Precision").into_iter());
    let reasons = [
        ExitReason::Finished,
        ExitReason::Interrupted,
        ExitReason::TimeLimit,
        ExitReason::BlockStepLimit,
        ExitReason::Dissolution,
        ExitReason::Collision,
    ];
    assert_words("docs/src/stopping.md", reasons.iter().map(|reason| reason.name().to_owned()));
    let verbs = "init check run resume why inspect reproduce convert analyze plot movie verify validate study advise stellar generate";
    for verb in verbs.split(' ') {
        assert!(text("README.md").contains(&format!("`tisane {verb}")), "README.md: {verb}");
    }
}

fn assert_words(page: &str, words: impl Iterator<Item = String>) {
    let page_text = text(page);
    for word in words {
        assert!(page_text.contains(&format!("`{word}`")), "{page}: `{word}` is missing");
    }
}

#[test]
fn the_method_page_has_the_numbers_of_the_sources() {
    let method = text("docs/src/method.md");
    assert!(method.contains(&format!("*bags* of {BAG} consecutive indices")));
    assert!(method.contains(&format!("level 0 … {LOG2_TICKS_PER_DT_MAX},")));
}

#[test]
fn the_page_on_gpus_has_the_numbers_of_the_sources() {
    let gpus = text("docs/src/gpu.md");
    for mode in Precision::ALL {
        for from in [mode.gpu_wins_from(), mode.gpu_steps_win_from()] {
            assert!(gpus.contains(&format!("N = {from}")), "{}: {from}", mode.name());
        }
    }
    assert!(gpus.contains(&format!("is below {}, from where a GPU wins in f64", Precision::F64.gpu_steps_win_from())));
}

#[test]
fn every_exit_code_is_documented() {
    let errors =
        [Error::input("x", "y"), Error::storage("x", "y"), Error::Integration { problem: String::new(), help: None }];
    let page = text("docs/src/exit-codes.md");
    for code in errors.iter().map(Error::exit_code).chain([0, 1, 3, 6, 7, 8]) {
        assert!(page.contains(&format!("\n| {code} | ")), "exit code {code}");
    }
}

#[test]
fn every_reviewed_text_is_compared_with_what_is_printed() {
    fn sources(dir: &Path) -> String {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(path).unwrap() }).collect()
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let code: String =
        ["bits", "files", "formats", "input", "loss", "program"].map(|dir| sources(&tests.join(dir))).concat();
    let mut count = 0;
    for entry in fs::read_dir(tests.join("snapshots")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().and_then(|ending| ending.to_str()), Some("snap"), "{}", path.display());
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(code.contains(&format!(".is(\"{name}\")")), "no test compares {name}.snap: remove it");
        count += 1;
    }
    assert!(count > 10, "{count} reviewed texts");
}
