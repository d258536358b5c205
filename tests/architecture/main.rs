//! Promise: the sources keep the design (docs: Design) where cargo does not: dependencies of the crates run down only,
//! inside the engine imports run down only, concrete engines, integrators and formats are named by those alone that
//! choose among them, and nothing is unsafe but the calls between Rust and C, and of machine code made at run time.

mod books;
mod circles;

use std::fs;
use std::path::{Path, PathBuf};

/// The crates, and which of ours each may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("stellar", &[]),
    ("force", &["tisane-stellar"]),
    ("", &["tisane-force", "tisane-stellar"]),
    ("g6", &["tisane"]),
    ("mpi", &[]),
    ("io", &["tisane", "tisane-stellar"]),
    ("run", &["tisane", "tisane-io", "tisane-mpi", "tisane-stellar"]),
    ("amuse", &["tisane", "tisane-run"]),
    ("plot", &["tisane", "tisane-io", "tisane-stellar"]),
    ("view", &["tisane", "tisane-io", "tisane-stellar"]),
    ("lab", &["tisane", "tisane-io", "tisane-run", "tisane-plot", "tisane-view"]),
    ("capi", &["tisane", "tisane-run"]),
    (
        "cli",
        &[
            "tisane",
            "tisane-io",
            "tisane-mpi",
            "tisane-run",
            "tisane-plot",
            "tisane-stellar",
            "tisane-view",
            "tisane-lab",
        ],
    ),
    ("py", &["tisane", "tisane-io", "tisane-run", "tisane-cli"]),
];
/// What the engine must not depend on: it knows no files, no TOML, no screen.
const NOT_IN_THE_ENGINE: &[&str] = &["clap", "hdf5", "indicatif", "resvg", "serde_json", "toml", "tracing"];
/// Modules of the engine, and what of it each must not name.
const BELOW: &[(&str, &[&str])] = &[
    ("particles", &["error", "force"]),
    ("pair", &["error", "force"]),
    ("time", &["error", "particles", "force"]),
    ("units", &["error", "particles", "force"]),
    ("gravity", &["error", "force"]),
    ("error", &["force"]),
    ("law", &["force::cpu", "force::cuda", "force::reference"]),
    ("stellar", &["error", "force", "integrator", "encounters", "diagnostics", "initial"]),
    ("few_body", &["force", "integrator", "encounters", "diagnostics", "initial"]),
    ("subsystems", &["force", "integrator", "encounters", "diagnostics", "initial"]),
    ("integrator", &["encounters", "diagnostics", "initial", "force::cpu", "force::cuda", "force::reference"]),
    ("encounters", &["diagnostics", "initial", "force::cpu", "force::cuda", "force::reference"]),
    ("diagnostics", &["integrator", "encounters", "force::cpu", "force::cuda", "force::reference"]),
    ("initial", &["force", "integrator", "encounters"]),
];
/// Types that one place chooses among, and the files that may name them, by the beginning of their paths.
const CONCRETE: &[(&str, &[&str])] = &[
    ("force::cpu::", CHOOSERS),
    ("force::cuda::", CHOOSERS),
    ("force::reference::", CHOOSERS),
    ("integrator::ahmad_cohen::", CHOOSERS),
    ("integrator::extrapolated::", CHOOSERS),
    ("integrator::hermite4::", CHOOSERS),
    ("integrator::leapfrog::", CHOOSERS),
    ("integrator::multipoint::", CHOOSERS),
    ("formats::amuse::", &["crates/io/src/formats/"]),
    ("formats::csv::", &["crates/io/src/formats/"]),
    ("formats::gadget::", &["crates/io/src/formats/"]),
    ("formats::nemo::", &["crates/io/src/formats/"]),
    ("formats::tipsy::", &["crates/io/src/formats/"]),
];
const CHOOSERS: &[&str] = &[
    "src/",
    "crates/force/src/",
    "crates/run/src/assemble",
    "crates/run/src/config",
    "crates/lab/src/",
    "crates/cli/src/",
];
/// Where C libraries are called, a library is called by C, kernels of a GPU are given their arguments, or machine code is
/// called that was made at run time, which Rust cannot check.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/force/src/force/cpu/compiled/mod.rs",
    "crates/force/src/force/cuda/driver/mod.rs",
    "crates/force/src/force/cuda/forces/acceleration.rs",
    "crates/force/src/force/cuda/forces/launch.rs",
    "crates/force/src/force/cuda/neighbours/call.rs",
    "crates/force/src/force/cuda/steps/launched_call.rs",
    "crates/force/src/force/cuda/steps/resident_memory.rs",
    "crates/force/src/force/cuda/steps/watched_steps.rs",
    "crates/force/src/force/cuda/systems/system_call.rs",
    "crates/capi/src/lib.rs",
    "crates/g6/src/lib.rs",
    "crates/lab/src/literature/mod.rs",
    "crates/mpi/src/lib.rs",
];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the Rust files below the `src` folders of all crates: path from the top, text.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (name, _) in CRATES {
        let folder = if name.is_empty() { "src".into() } else { format!("crates/{name}/src") };
        rust_files(&top().join(folder), &mut found);
    }
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(top()).expect("a file of ours").display().to_string();
        (name, fs::read_to_string(path).expect("a source file"))
    };
    found.iter().map(read).collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the lines of code: without comments, and without the unit tests at the end of a file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split_once("#[cfg(test)]\nmod ").map_or(text, |(before, _)| before);
    text.lines().map(|line| line.split_once("//").map_or(line, |(before, _)| before))
}

/// Returns true if a line names `crate::path` or `tisane_force::path`, or, within a `use` of several, is one that begins so.
fn names(line: &str, path: &str) -> bool {
    let named = ["crate", "tisane_force"].map(|of| format!("{of}::{path}"));
    named.iter().flat_map(|path| line.match_indices(path)).any(|(at, found)| {
        let after = line[at + found.len()..].chars().next();
        path.ends_with("::") || !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

fn violations(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let module = path
        .strip_prefix("crates/force/src/")
        .or_else(|| path.strip_prefix("src/"))
        .map(|rest| rest.trim_end_matches(".rs"));
    let part = module.and_then(|module| BELOW.iter().find(|(part, _)| module.split('/').next() == Some(part)));
    for line in code(text) {
        if line.contains("(unsafe_code") && !line.contains("forbid(") && !MAY_BE_UNSAFE.contains(&path) {
            found.push(format!("{path}: allows unsafe code"));
        }
        if let Some((part, forbidden)) = part {
            let named = forbidden.iter().filter(|name| names(line, name));
            found.extend(named.map(|name| format!("{path}: {part} must not name {name}")));
        }
        for (name, by) in CONCRETE {
            if line.contains(name) && !by.iter().any(|beginning| path.starts_with(beginning)) {
                found.push(format!("{path}: names the concrete {name}"));
            }
        }
    }
    found
}

#[test]
fn the_sources_are_as_designed() {
    let sources = sources();
    assert!(sources.len() > 200, "only {} files found", sources.len());
    let found: Vec<String> = sources.iter().flat_map(|(path, text)| violations(path, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn crates_depend_downwards_only() {
    for (name, allowed) in CRATES {
        let manifest = if name.is_empty() { "Cargo.toml".into() } else { format!("crates/{name}/Cargo.toml") };
        let text = fs::read_to_string(top().join(&manifest)).expect("a manifest");
        let Some((_, rest)) = text.split_once("\n[dependencies]\n") else {
            assert!(*name == "mpi", "{manifest}: no dependencies found");
            continue;
        };
        let rest = rest.split("\n[").next().unwrap_or_default();
        let dependencies: Vec<&str> = rest.lines().filter_map(|line| line.split(['.', ' ', '=']).next()).collect();
        assert!(dependencies.len() > 1 || *name == "stellar", "{manifest}: only {dependencies:?} found");
        for dependency in dependencies {
            let ours = dependency.starts_with("tisane");
            assert!(!ours || allowed.contains(&dependency), "{manifest}: must not depend on {dependency}");
            assert!(!name.is_empty() || !NOT_IN_THE_ENGINE.contains(&dependency), "{manifest}: {dependency}");
        }
    }
}

#[test]
fn a_breach_is_seen() {
    for (path, text, expected) in [
        ("crates/force/src/particles.rs", "use crate::force::ForceEngine;", "particles must not name force"),
        ("src/integrator/x.rs", "use tisane_force::force::cpu::Width;", "integrator must not name force::cpu"),
        ("src/initial/x.rs", "fn f() -> crate::integrator::Report {}", "initial must not name integrator"),
        ("crates/plot/src/x.rs", "use tisane::force::cpu::Width;", "the concrete force::cpu::"),
        ("crates/run/src/x.rs", "use tisane_io::formats::csv::FORMAT;", "the concrete formats::csv::"),
        ("crates/force/src/gravity.rs", "#[allow(unsafe_code)]", "allows unsafe code"),
    ] {
        let found = violations(path, text);
        assert!(found.iter().any(|f| f.contains(expected)), "{path}: {text}: {found:?}");
    }
    for (path, text) in [
        ("src/integrator/x.rs", "use tisane_force::force::{ForceEngine, Forces}; // not tisane_force::force::cpu"),
        ("crates/force/src/particles.rs", "#[cfg(test)]\nmod tests { use crate::force::ForceEngine; }"),
        ("crates/force/src/force/cuda/driver/mod.rs", "#[allow(unsafe_code, reason = \"\")]"),
    ] {
        assert_eq!(violations(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}
