//! Promise: imports run downwards only (docs: the house), nothing but `assemble` and the commands names a concrete engine,
//! integrator or file format, files stay short, and nothing is unsafe but the calls of the GPU driver and its compiler.

use std::fs;
use std::path::{Path, PathBuf};
use tisane::integrator::IntegratorKind;
use tisane::io::formats::FORMATS;

/// What every part may use.
const GROUND: &[&str] = &["particles", "time", "gravity", "units", "sum", "regular"];
/// The parts of the crate, longest path first where one lies in another, and what else of the crate each may use. A path
/// stands for all that lies below it.
const RULES: &[(&str, &[&str])] = &[
    ("particles", &[]),
    ("time", &[]),
    ("gravity", &[]),
    ("units", &[]),
    ("sum", &[]),
    ("regular", &[]),
    // The one knot: an error carries a configuration's error as it is, with its source text.
    ("error", &["config::ConfigError"]),
    ("crew", &["error", "config::MAX_THREADS"]),
    ("config", &["error", "force::precision", "integrator", "diagnostics::cluster::LagrangianMass", "io::formats"]),
    ("initial", &["error"]),
    ("force::precision", &[]),
    ("force::real", &[]),
    ("force::mode", &["force::precision", "force::real"]),
    ("force::canonical", &["force::mode"]),
    ("force::reference", ENGINE),
    ("force::cpu", ENGINE),
    ("force::cuda", ENGINE),
    ("force::paper", &[]),
    ("force::papers", ENGINE),
    ("force", &["error", "force"]),
    (
        "integrator",
        &[
            "error",
            "force::AccelerationEngine",
            "force::ForceEngine",
            "force::Forces",
            "force::Targets",
            "force::precision",
            "force::range",
            // Settings are numbers as users write them.
            "config::Real",
        ],
    ),
    ("diagnostics", &[]),
    ("io", &["error"]),
    ("motion", &["error", "force", "integrator"]),
    ("auditor", &["error", "force", "diagnostics", "io", "motion"]),
    ("plot", &["error", "diagnostics", "io"]),
    ("view", &["error", "io"]),
    ("profile", &["error", "force", "io"]),
    ("cluster", &["error", "diagnostics", "io"]),
    ("simulation", &["error", "cluster", "force", "integrator", "diagnostics", "io", "motion", "auditor", "profile"]),
    (
        "assemble",
        &[
            "error",
            "config",
            "initial",
            "force",
            "integrator",
            "diagnostics",
            "io",
            "motion",
            "auditor",
            "profile",
            "cluster",
            "simulation",
        ],
    ),
    // Data alone: whoever compares with the papers may have it.
    ("study::papers", &[]),
    (
        "study",
        &[
            "error",
            "crew",
            "config",
            "force",
            "integrator",
            "diagnostics",
            "io",
            "motion",
            "profile",
            "assemble",
            "plot",
        ],
    ),
    (
        "validate",
        &["error", "config", "diagnostics", "io::atomic", "io::provenance", "motion::Motion", "assemble", "study::fit"],
    ),
    (
        "cli",
        &[
            "error",
            "validate",
            "cluster",
            "crew",
            "config",
            "initial",
            "force",
            "integrator",
            "diagnostics",
            "io",
            "plot",
            "profile",
            "simulation",
            "assemble",
            "study",
            "view",
        ],
    ),
    ("lib", &["error"]),
    ("main", &["cli"]),
];
/// What an engine stands on.
const ENGINE: &[&str] = &[
    "error",
    "force::AccelerationEngine",
    "force::ForceEngine",
    "force::Forces",
    "force::Targets",
    "force::precision",
    "force::canonical",
    "force::mode",
    "force::paper",
    "force::real",
];
/// Concrete engines, which only these may name, and their own files; so it is with every integrator and file format.
const ENGINES: &[&str] = &["force::reference", "force::cpu", "force::cuda", "force::papers"];
const MAY_NAME_THEM: &[&str] = &["assemble", "cli"];
/// Where the driver and its compiler are called: C libraries, which Rust cannot check.
const MAY_BE_UNSAFE: &[&str] =
    &["force::cuda::cublas", "force::cuda::device", "force::cuda::module", "force::cuda::nvrtc"];
const MOST_LINES: usize = 450;

/// True if `path` is `part` or lies below it.
fn within(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Returns the paths of every concrete engine, integrator and file format.
fn concrete() -> Vec<String> {
    let engines = ENGINES.iter().map(|&engine| engine.to_owned());
    let integrators = IntegratorKind::ALL.iter().map(|kind| format!("integrator::{}", kind.info().name()));
    engines.chain(integrators).chain(FORMATS.iter().map(|format| format!("io::formats::{}", format.name))).collect()
}

/// Everything wrong with the file of a module.
fn violations(module: &str, source: &str) -> Vec<String> {
    let code = code(source);
    let mut found = Vec::new();
    if source.lines().count() > MOST_LINES {
        found.push(format!("{module}: more than {MOST_LINES} lines"));
    }
    if words(&code).any(|word| word == "unsafe") && !MAY_BE_UNSAFE.contains(&module) {
        found.push(format!("{module}: unsafe"));
    }
    let Some((part, allowed)) =
        RULES.iter().filter(|(part, _)| within(module, part)).max_by_key(|(part, _)| part.len())
    else {
        found.push(format!("{module}: a new part of the crate: say in RULES what it may use"));
        return found;
    };
    let all_concrete = concrete();
    for used in uses(module, without_tests(&code)) {
        // `use crate::{Error, Result}`: what lib.rs hands on from `error`.
        let used = if used == "Error" || used == "Result" { format!("error::{used}") } else { used };
        let fits = |part: &&str| within(&used, part);
        if !(fits(part) || GROUND.iter().chain(*allowed).any(fits)) {
            found.push(format!("{module}: {part} must not use {used}"));
        }
        let named = |concrete: &&String| within(&used, concrete) && !within(module, concrete);
        let concrete = all_concrete.iter().find(named);
        if let Some(concrete) = concrete.filter(|_| !MAY_NAME_THEM.iter().any(|by| within(module, by))) {
            found.push(format!("{module}: names the concrete {concrete}"));
        }
    }
    found
}

/// The source without comments and texts.
fn code(source: &str) -> String {
    let (mut out, mut rest) = (String::new(), source);
    while let Some(first) = rest.chars().next() {
        let raw = rest.strip_prefix("r#\"");
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(text) = raw {
            text.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if first == '"' {
            1 + length_of_text(&rest[1..])
        } else if rest.starts_with("'\"'") {
            3
        } else {
            out.push(first);
            first.len_utf8()
        };
        rest = &rest[skip..];
    }
    out
}

/// Length of a text up to and with its closing quote.
fn length_of_text(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' if !escaped => return i + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// Unit tests stand at the end of a file and may use anything.
fn without_tests(code: &str) -> &str {
    code.split_once("#[cfg(test)]\nmod ").map_or(code, |(before, _)| before)
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Paths into the crate that a file names, from the crate's root: `crate::…`, `super::…`, in `main` also `tisane::…`.
fn uses(module: &str, code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let roots: &[&str] = if module == "main" { &["crate", "super", "tisane"] } else { &["crate", "super"] };
    for root in roots {
        for (at, _) in code.match_indices(&format!("{root}::")) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let mut rest = &code[at..];
            let mut base: Vec<&str> = module.split("::").collect();
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
            match rest.strip_prefix(&format!("{root}::")) {
                Some(after) if *root != "super" => expand("", after, &mut found),
                _ => expand(&base.join("::"), rest, &mut found),
            };
        }
    }
    found
}

/// Adds the paths of a `use` tree (or the path of an expression) below `base`; returns what follows it.
fn expand<'a>(base: &str, tree: &'a str, found: &mut Vec<String>) -> &'a str {
    let tree = tree.trim_start();
    let join = |name: &str| if base.is_empty() { name.to_owned() } else { format!("{base}::{name}") };
    if let Some(mut rest) = tree.strip_prefix('{') {
        loop {
            rest = expand(base, rest, found).trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = tree.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tree.len());
    let (name, rest) = tree.split_at(end);
    match rest.strip_prefix("::") {
        Some(after) if !name.is_empty() => expand(&join(name), after, found),
        _ => {
            match name {
                "" | "self" => found.push(base.to_owned()),
                _ => found.push(join(name)),
            }
            // `name as other`, `*`, or what stands after an expression.
            let tail = rest.trim_start();
            let tail = tail.strip_prefix('*').unwrap_or(tail);
            match tail.strip_prefix("as ") {
                Some(after) => after.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
                None => tail,
            }
        }
    }
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

/// `io::formats::csv` for `src/io/formats/csv.rs`, `io` for `src/io/mod.rs`.
fn module_of(path: &Path) -> String {
    let names: Vec<String> = path.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let names = if names.len() > 1 && names.last().is_some_and(|name| name == "mod") {
        &names[..names.len() - 1]
    } else {
        &names[..]
    };
    names.join("::")
}

#[test]
fn the_house_is_as_designed() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 40, "only {} files found", files.len());
    let mut found = Vec::new();
    let mut paths = 0;
    for path in files {
        let module = module_of(path.strip_prefix(&src).expect("a file of src"));
        let source = fs::read_to_string(&path).expect("a source file");
        paths += uses(&module, without_tests(&code(&source))).len();
        found.extend(violations(&module, &source));
    }
    assert!(paths > 200, "only {paths} paths found: the scan does not work");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_breach_is_seen() {
    for (module, source, expected) in [
        ("particles", "use crate::force::ForceEngine;", "particles must not use force::ForceEngine"),
        ("time", "fn f() -> crate::Result<()> {}", "time must not use error::Result"),
        ("integrator::hermite4", "use crate::force::{self, ForceEngine};", "must not use force"),
        (
            "integrator::x",
            "use crate::force::{ForceEngine, cpu::{CpuEngine as C, Width}, Forces};",
            "the concrete force::cpu",
        ),
        ("force::reference", "use super::cpu::Width;", "must not use force::cpu::Width"),
        ("force::cpu::lanes", "use super::super::super::integrator;", "must not use integrator"),
        ("force", "fn f() { crate::force::reference::go() }", "the concrete force::reference"),
        (
            "io::series",
            "use crate::{\n    Error,\n    simulation::ExitReason,\n};",
            "io must not use simulation::ExitReason",
        ),
        ("io::inspect", "use super::formats::{self, csv};", "the concrete io::formats::csv"),
        ("diagnostics::steps", "use crate::error::Result;", "diagnostics must not use error::Result"),
        ("simulation", "use crate::integrator::hermite4::Hermite4;", "the concrete integrator::hermite4"),
        ("error", "use crate::config::Config;", "error must not use config::Config"),
        ("config", "use crate::units::Units; use super::assemble;", "must not use assemble"),
        ("main", "fn main() { tisane::io::inspect() }", "main must not use io::inspect"),
        ("validate::measure", "use crate::force::cpu::Width;", "validate must not use force::cpu::Width"),
        ("view::api", "use crate::simulation::Simulation;", "view must not use simulation::Simulation"),
        ("view::frame", "use crate::config::Config;", "view must not use config::Config"),
        ("assemble", "use crate::validate::case::Case;", "assemble must not use validate::case::Case"),
        ("movie", "", "a new part"),
        ("cluster::events", "use crate::simulation::Plan;", "cluster must not use simulation::Plan"),
        ("gravity", "fn f() { unsafe { g() } }", "unsafe"),
        ("force::cuda", "fn f() { unsafe { g() } }", "unsafe"),
    ] {
        let found = violations(module, source);
        assert!(found.iter().any(|f| f.contains(expected)), "{module}: {source}: {found:?}");
    }
    assert_eq!(violations("sum", &"\n".repeat(451)).len(), 1);
}

#[test]
fn what_is_allowed_passes() {
    for (module, source) in [
        (
            "io::series",
            "use super::fields::{self, Value}; use crate::{Error, Result}; use crate::units::{Scale, Units};",
        ),
        ("assemble", "use crate::force::cpu::{CpuEngine, Width}; use crate::integrator::hermite4::*;"),
        ("particles", "// crate::force, unsafe\n/* super::io */ const A: &str = \"crate::io \\\" unsafe\";"),
        ("particles", "#[cfg(test)]\nmod tests { use crate::force::ForceEngine; }"),
        ("force::cpu::lanes", "use super::sources::Sources; use crate::force::canonical::{BAG, bags};"),
        ("force::cuda::module", "fn f() { unsafe { g() } }"),
        ("main", "fn main() { tisane::cli::main() }"),
    ] {
        assert_eq!(violations(module, source), Vec::<String>::new(), "{module}: {source}");
    }
}
