//! Configuration files: every example reads, every mistake is reported with its location, the reference is complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Folder, SMALL};
use proptest::prelude::*;
use serde_json::Value as Json;
use tisane::Error;
use tisane_run::config::{Config, Loaded, SITUATIONS, TEMPLATES, json_schema, template};

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The TOML files of a directory of the repository, in order of their names.
fn files(directory: &str) -> Vec<PathBuf> {
    let listing = fs::read_dir(repository().join(directory)).unwrap();
    let mut files: Vec<_> = listing.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{directory} is empty");
    files
}

fn read(text: &str) -> Loaded {
    Config::from_str("test.toml", text, Path::new("/base"), &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The resolved configuration reads back as the same configuration, and writes itself again.
fn assert_round_trip(loaded: &Loaded) {
    let resolved = loaded.config.resolved_toml().unwrap();
    let again = Config::from_str("resolved.toml", &resolved, Path::new("/elsewhere"), &[]);
    let again = again.unwrap_or_else(|e| panic!("{e}\n{resolved}")).config;
    assert_eq!(again, loaded.config, "{resolved}");
    assert_eq!(again.resolved_toml().unwrap(), resolved);
}

#[test]
fn good_files_read_and_resolve_to_themselves() {
    for file in files("tests/config/good").into_iter().chain(files("configs")).filter(|file| file.is_file()) {
        let loaded = Config::from_file(&file, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.written, fs::read_to_string(&file).unwrap());
        assert_round_trip(&loaded);
    }
}

#[test]
fn bad_files_are_told_at_their_place() {
    for file in files("tests/config/bad") {
        let text = fs::read_to_string(&file).unwrap();
        let lines = |what: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(what)).map(|rest| rest.trim().to_owned()).collect()
        };
        let (expected, sets) = (lines("# expect:"), lines("# set:"));
        assert!(!expected.is_empty(), "{} expects nothing", file.display());
        let Err(error) = Config::from_file(&file, &sets) else { panic!("{} was read", file.display()) };
        assert_eq!(error.exit_code(), 2);
        let Error::Config(first) = &error else { panic!("{error}") };
        let message = std::iter::once(&**first).chain(&first.others).map(|one| format!("{one}\n")).collect::<String>();
        for part in expected {
            assert!(message.contains(&part), "{}:\n  expected {part}\n  found    {message}", file.display());
        }
        for found in std::iter::once(&**first).chain(&first.others) {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let report = words(&super::reports::plain_report(&error));
            assert!(report.contains(&words(&found.to_string())), "{report}");
            assert!(report.contains(&words(found.help.as_deref().unwrap_or_default())), "{report}");
        }
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = "[run]\nname = \"a/b\"\nt_end = -1\n[initial.plummer]\nn = 8\n[softening]\nepsilon = -1\n";
    let Err(Error::Config(error)) = Config::from_str("x.toml", text, Path::new(""), &[]) else { panic!("was read") };
    let all: Vec<String> = std::iter::once(&*error).chain(&error.others).map(ToString::to_string).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    for (message, place) in all.iter().zip(["x.toml:2: run.name", "x.toml:3: run.t_end", "x.toml:7: softening.epsilon"])
    {
        assert!(message.starts_with(place), "{message}");
    }
}

#[test]
fn overrides_go_on_top() {
    let text = "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 8\n";
    let sets =
        ["run.name=b", "run.t_end = \"3/2\"", "softening.epsilon=1/256", "initial.plummer.n=9", "initial.plummer.n=10"];
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let loaded = Config::from_str("x.toml", text, Path::new(""), &sets).unwrap();
    let expected = read("[run]\nname=\"b\"\nt_end=1.5\n[initial.plummer]\nn=10\n[softening]\nepsilon=0.00390625\n");
    assert_eq!(loaded.config, expected.config);
    assert_eq!(loaded.written, text);
}

#[test]
fn overrides_reach_into_lists_of_sections() {
    let text =
        "[run]\nname = \"a\"\nt_end = 1\n[[initial.clusters]]\nplummer.n = 8\n[[initial.clusters]]\nplummer.n = 9\n";
    let with = |set: &str| Config::from_str("x.toml", text, Path::new(""), &[set.to_owned()]);
    let loaded = with("initial.clusters[2].plummer.n=10").unwrap();
    assert_eq!(loaded.config, read(&text.replace("n = 9", "n = 10")).config);
    for wrong in
        ["initial.clusters[0].plummer.n=1", "initial.clusters[3].plummer.n=1", "initial.clusters[1]=1", "run[1].name=b"]
    {
        let Err(Error::Config(error)) = with(wrong) else { panic!("{wrong} was taken") };
        assert!(error.to_string().contains(wrong) && error.to_string().contains("unknown"), "{error}");
    }
}

#[test]
fn nesting_without_end_is_an_error() {
    let deep = 100_000;
    for text in [
        format!("{}a = 1", "a.".repeat(deep)),
        format!("[{}a]", "a.".repeat(deep)),
        format!("a = {}", "[".repeat(deep)),
        format!("a = {}", "{a = ".repeat(deep)),
    ] {
        assert!(Config::from_str("x.toml", &text, Path::new(""), &[]).is_err());
    }
    let sets = [format!("{}a=1", "a.".repeat(deep))];
    assert!(Config::from_str("x.toml", "", Path::new(""), &sets).is_err());
}

#[test]
fn an_unquoted_quotient_comes_with_advice() {
    let text = "[softening]\nepsilon = 1/256\n";
    let Err(Error::Config(error)) = Config::from_str("x.toml", text, Path::new(""), &[]) else { panic!("was read") };
    assert!(error.help.as_ref().is_some_and(|help| help.contains("in quotes: \"1/256\"")), "{error:?}");
}

#[test]
fn times_are_exact_counts_of_dt_max() {
    let text = fs::read_to_string(repository().join("tests/config/good/decimal_multiples.toml")).unwrap();
    let config = read(&text).config;
    assert_eq!(config.steps_to_end(config.t_start().unwrap()), Ok(6));
    assert_eq!((config.snapshot_every(), config.diagnostics_every()), (3, 3));
    // With the leapfrog, of dt; and what is not written is every 128 steps.
    let text = fs::read_to_string(repository().join("tests/config/good/leapfrog.toml")).unwrap();
    let config = read(&text).config;
    assert_eq!(config.steps_to_end(0.0), Ok(7));
    assert_eq!((config.snapshot_every(), config.diagnostics_every()), (7, 2));
    let config = read(text.split_once("[output]").unwrap().0).config;
    assert_eq!((config.snapshot_every(), config.diagnostics_every()), (128, 128));
}

#[test]
fn an_end_that_does_not_fit_the_time_of_the_file_is_told_at_its_line() {
    let file = repository().join("tests/config/good/file_starts_when_it_says.toml");
    let loaded = Config::from_file(file, &[]).unwrap();
    assert_eq!(loaded.config.t_start(), None);
    assert_eq!(loaded.config.steps_to_end(0.05), Ok(2));
    let message = loaded.explain(loaded.config.steps_to_end(0.0).unwrap_err()).to_string();
    assert!(message.contains("file_starts_when_it_says.toml:4: run.t_end: 0.3 is not a whole multiple"), "{message}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = Config::from_file("no/such/run.toml", &[]).unwrap_err();
    assert!(missing.to_string().starts_with("no/such/run.toml: cannot read it"), "{missing}");
    assert_eq!(missing.exit_code(), 2);
    let mut binary = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut binary, b"[run]\n\xff\xfe").unwrap();
    let message = Config::from_file(binary.path(), &[]).unwrap_err().to_string();
    assert!(message.contains("byte 6 is not UTF-8"), "{message}");
}

#[test]
fn templates_read_and_are_found_by_the_name_of_their_model() {
    for (name, text) in TEMPLATES {
        let loaded = read(text);
        assert_round_trip(&loaded);
        assert!(text.contains(&format!("[initial.{name}]")), "{name}");
        assert_eq!(template(name), Some(text));
    }
    for (name, text) in SITUATIONS {
        assert_round_trip(&read(text));
        assert!(text.contains(&format!("name = \"{name}\"")), "{name}");
        assert_eq!(template(name), Some(text));
    }
    assert_eq!(template("oort"), None);
    let models: BTreeSet<String> = TEMPLATES.iter().map(|(name, _)| format!("initial.{name}")).collect();
    let in_initial = |key: &String| key.starts_with("initial.") && key.matches('.').count() == 1;
    let with_models: BTreeSet<String> = WITH_MODELS.iter().map(|name| format!("initial.{name}")).collect();
    // Particles of a program that uses the library are in no file.
    let in_files = |key: &String| !with_models.contains(key) && key != "initial.memory";
    let known = schema_keys().0.into_iter().filter(in_initial).filter(in_files);
    assert_eq!(models, known.collect());
}

/// Sections of `[initial]` that go with models.
const WITH_MODELS: [&str; 6] = ["masses", "binaries", "segregation", "rotation", "central", "orbit"];

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Key paths of the schema: all of them (sections too), and those that are required.
fn schema_keys() -> (BTreeSet<String>, BTreeSet<String>) {
    fn walk(root: &Json, schema: &Json, path: &str, keys: &mut (BTreeSet<String>, BTreeSet<String>)) {
        let resolved = |schema: &'_ Json| schema["$ref"].as_str().and_then(|to| root.pointer(&to[1..])).cloned();
        let schema = resolved(schema).unwrap_or_else(|| schema.clone());
        // A section that may also be a list of sections.
        let section = schema["anyOf"].get(0).cloned();
        let schema = &section.map_or(schema, |section| resolved(&section).unwrap_or(section));
        let choices = schema["oneOf"].as_array().into_iter().flatten();
        for part in choices.clone().chain([schema]) {
            for (key, inner) in part["properties"].as_object().into_iter().flatten() {
                let path = join(path, key);
                walk(root, inner, &path, keys);
                if part["required"].as_array().is_some_and(|all| all.iter().any(|name| name == key)) {
                    keys.1.insert(path.clone());
                }
                keys.0.insert(path.clone());
                // A cluster in a list has all that a single one has, and more.
                if let Some(of) = inner.get("items").filter(|_| path == "initial.clusters") {
                    let mut item = (BTreeSet::new(), BTreeSet::new());
                    walk(root, &without_models(root, of), &format!("{path}[]"), &mut item);
                    keys.0.append(&mut item.0);
                }
            }
        }
    }
    let schema = json_schema();
    let mut keys = (BTreeSet::new(), BTreeSet::new());
    walk(&schema, &schema, "", &mut keys);
    keys
}

/// The schema of an item of the list of clusters, less what `[initial]` itself may hold.
fn without_models(root: &Json, item: &Json) -> Json {
    let mut item = item["$ref"].as_str().and_then(|to| root.pointer(&to[1..])).unwrap_or(item).clone();
    let keys = item.as_object_mut().unwrap();
    assert!(keys.remove("oneOf").is_some());
    let properties = keys["properties"].as_object_mut().unwrap();
    properties.retain(|key, _| !WITH_MODELS.contains(&key.as_str()));
    item
}

fn table_keys(path: &str, table: &toml::Table, keys: &mut BTreeSet<String>) {
    for (key, value) in table {
        let path = join(path, key);
        if let Some(inner) = value.as_table() {
            table_keys(&path, inner, keys);
        }
        for item in value.as_array().into_iter().flatten().filter_map(toml::Value::as_table) {
            let own = item.iter().filter(|(_, value)| !value.is_table());
            keys.extend(own.map(|(key, _)| format!("{path}[].{key}")));
        }
        keys.insert(path);
    }
}

/// The reference with its further settings switched on: lines that begin with `#` and no blank.
fn whole_reference(text: &str) -> String {
    let on = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c == '[' || c.is_ascii_lowercase()) => rest.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(on).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_reference_has_every_key_and_no_other() {
    let text = fs::read_to_string(repository().join("configs/reference.toml")).unwrap();
    let mut documented = BTreeSet::new();
    table_keys("", &whole_reference(&text).parse().unwrap(), &mut documented);
    assert_eq!(documented, schema_keys().0);
}

/// Removes the keys of a table that are not required. Sections stay where something in them does.
fn only_required(path: &str, table: &mut toml::Table, required: &BTreeSet<String>) {
    table.retain(|key, value| {
        let path = join(path, key);
        match value.as_table_mut() {
            Some(inner) => {
                only_required(&path, inner, required);
                path.starts_with("initial") || path.starts_with("integrator") || !inner.is_empty()
            }
            // Required by what other keys say.
            None => required.contains(&path) || ["n", "a_min", "a_max"].contains(&key),
        }
    });
}

/// The whole reference as a table, less the keys that have no default.
fn reference_with_defaults(text: &str) -> toml::Table {
    let mut whole: toml::Table = whole_reference(text).parse().unwrap();
    let mut section = String::new();
    for line in text.lines() {
        let line = line.strip_prefix('#').unwrap_or(line);
        if let Some(header) = line.strip_prefix('[').filter(|header| !header.starts_with('[')) {
            section = header.split(']').next().unwrap().to_owned();
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| line.contains("; no default")) {
            let inner = section.split('.').fold(&mut whole, |table, name| table[name].as_table_mut().unwrap());
            assert!(inner.remove(key).is_some(), "{section}.{key}");
        }
    }
    whole
}

#[test]
fn the_reference_shows_the_defaults() {
    let text = fs::read_to_string(repository().join("configs/reference.toml")).unwrap();
    let required = schema_keys().1;
    let mut whole = reference_with_defaults(&text);
    // Subsystems exclude softening; collisions and escapers exclude an ensemble.
    let encounters = whole.remove("encounters").unwrap();
    let small = |encounters: &str| {
        format!("[run]\nname = \"r\"\nt_end = 1.0\n[initial.plummer]\nn = 8\n[encounters]\n{encounters}")
    };
    assert_eq!(read(&small("")).config, read(&small(&encounters.as_table().unwrap().to_string())).config);
    for name in ["collisions", "escapers"] {
        let mut section = whole.remove(name).unwrap();
        if name == "escapers" {
            section.as_table_mut().unwrap().insert("half_mass_radii".to_owned(), 20.0.into());
        }
        let section = toml::Table::from_iter([(name.to_owned(), section)]);
        assert_round_trip(&read(&small(&section.to_string())));
    }
    // Stars age in units by name.
    let evolution = whole.remove("stellar_evolution").unwrap();
    let in_units = |evolution: &str| {
        let units = "mass = \"Msun\", length = \"pc\", time = \"Myr\"";
        let plummer = "n = 8, mass = 8.0, half_mass_radius = 1.0";
        let text = format!(
            "run = {{ name = \"r\", t_end = 1.0 }}\nunits = {{ {units} }}\ninitial.plummer = {{ {plummer} }}\n"
        );
        read(&format!("{text}[stellar_evolution]\n{evolution}")).config
    };
    let shown =
        toml::Table::from_iter(evolution.as_table().unwrap().clone().into_iter().filter(|(key, _)| key != "kick_seed"));
    assert_eq!(in_units(""), in_units(&shown.to_string()));
    // An orbit needs a place in a field, and has no default of either.
    assert!(whole.remove("orbit").unwrap().as_table().unwrap().is_empty());
    let initial = whole["initial"].as_table().unwrap().clone();
    // Fields whose keys depend on each other, or on the units.
    let external = whole["external"].as_table_mut().unwrap();
    for name in ["formula", "tide", "tidal-tensor", "mw-2014", "mw-2022"] {
        assert!(external.remove(name).is_some(), "{name}");
    }
    // Without a law it is Newton's.
    let law = whole["force"].as_table_mut().unwrap().remove("law").unwrap();
    assert_eq!(law["parameters"].as_table().map(toml::Table::len), Some(0));
    let (with, models): (toml::Table, toml::Table) =
        initial.into_iter().partition(|(name, _)| WITH_MODELS.contains(&name.as_str()));
    // Every model has a template but that of particles in memory.
    assert_eq!((models.len(), with.len()), (TEMPLATES.len() + 1, WITH_MODELS.len()));
    let integrators = whole["integrator"].as_table().unwrap().clone();
    assert_eq!(integrators.len(), 5);
    let models = models.into_iter().filter(|(name, _)| name != "solar-system");
    for ((name, model), integrator) in
        models.flat_map(|model| integrators.clone().into_iter().map(move |i| (model.clone(), i)))
    {
        let mut shown = whole.clone();
        if integrator.0 == "extrapolated" {
            // Its longest step has no default in units by name, and it takes no fields.
            if name == "file" || name == "elements" {
                continue;
            }
            shown.remove("external");
        }
        let mut initial = toml::Table::from_iter([(name.clone(), model)]);
        if name == "king" {
            initial.extend(with.clone().into_iter().filter(|(name, _)| name != "orbit"));
        }
        shown.insert("initial".to_owned(), initial.into());
        shown.insert("integrator".to_owned(), toml::Table::from_iter([integrator]).into());
        let mut smallest = shown.clone();
        only_required("", &mut smallest, &required);
        // Without the section a configuration is one run.
        let ensemble = toml::Table::from_iter([("check_interval".to_owned(), "1/8".into())]);
        smallest.insert("ensemble".to_owned(), ensemble.into());
        if name == "file" || name == "elements" {
            smallest.insert("units".to_owned(), shown["units"].clone());
        }
        if name == "file" {
            // A file may say the time at which it starts.
            shown["run"].as_table_mut().unwrap().remove("t_start");
        }
        assert_eq!(read(&smallest.to_string()).config, read(&shown.to_string()).config, "{name}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    fn walk(path: &str, schema: &Json) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            // A model has its description at its alternative, next to the key.
            let described = inner["description"].is_string() || path.contains("/oneOf/");
            assert!(described, "{path}.{key} has no description");
        }
        let inner = schema.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value));
        let inner = inner.chain(schema.as_array().into_iter().flatten().map(|value| ("", value)));
        inner.for_each(|(key, value)| walk(&format!("{path}/{key}"), value));
    }
    let schema = json_schema();
    walk("", &schema);
    assert!(!schema.to_string().contains("null"), "TOML has no null");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_gets_an_answer(text in "\\PC*", set in "\\PC*") {
        let _ = Config::from_str("x.toml", &text, Path::new(""), &[]);
        let text = format!("[run]\nname = \"x\"\nt_end = 1\n[initial.plummer]\nn = 8\n{text}");
        let _ = Config::from_str("x.toml", &text, Path::new(""), &[set]);
    }

    #[test]
    fn text_that_looks_like_a_configuration_gets_an_answer(
        lines in prop::collection::vec(
            "(\\[(run|units|initial\\.[a-z-]{4,8}|force|output)\\]|(name|t_end|n|mass|interval|system) = \
              (-?[0-9]{1,3}(\\.[0-9]{1,2})?|\"[a-z0-9/^-]{0,6}\"|\\{[a-z =1,]{0,8}\\}|\\[1?\\]|true|nan))", 0..12)
    ) {
        if let Err(error) = Config::from_str("x.toml", &lines.join("\n"), Path::new(""), &[]) {
            prop_assert!(error.to_string().starts_with("x.toml"), "{}", error);
            let _ = tisane_cli::report(&error);
        }
    }

    #[test]
    fn numbers_survive_the_resolved_configuration(bits: u64) {
        let epsilon = f64::from_bits(bits & !(1 << 63));
        prop_assume!(epsilon.is_finite());
        let text = format!("[run]\nname = \"x\"\nt_end = 1\n[initial.plummer]\nn = 8\n[softening]\nepsilon = \"{epsilon:e}\"\n");
        let loaded = read(&text);
        prop_assert_eq!(loaded.config.softening.epsilon.get().to_bits(), epsilon.to_bits());
        assert_round_trip(&loaded);
    }
}

#[test]
fn of_many_mistakes_some_are_told() {
    let keys: String = (0..16_000).map(|key| format!("k{key} = 1\n")).collect();
    let folder = Folder::new(&format!("{SMALL}{keys}"));
    let said = folder.tisane(&["check", "run.toml"]).exits(2);
    let said = said.says(&["unknown key `k0`", "unknown key `k19`", "and 15980 more mistakes"]);
    assert!(!said.err.contains("unknown key `k20`") && said.err.len() < 20_000, "{} bytes", said.err.len());
}
