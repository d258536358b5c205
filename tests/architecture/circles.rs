//! Promise: inside of each crate imports run down only: no file imports, by way of others, itself. A file imports another
//! where it names a path of that module, in a `use` or elsewhere; what a module re-exports is imported of that module.

use super::{CRATES, code, sources};
use std::collections::{BTreeMap, BTreeSet};

/// A path as a file writes it: `super::bodies::Body` is `["super", "bodies", "Body"]`.
type Path = Vec<String>;

/// Splits code into names and single other characters, with `::` as one; texts within quotes are gone.
fn tokens(code: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), code.chars().peekable());
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut name = String::from(c);
            while let Some(&next) = rest.peek().filter(|c| c.is_alphanumeric() || **c == '_') {
                name.push(next);
                rest.next();
            }
            found.push(name);
        } else if c == '"' {
            while let Some(c) = rest.next() {
                match c {
                    '\\' => drop(rest.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            found.push("::".into());
        } else if !c.is_whitespace() {
            found.push(c.into());
        }
    }
    found
}

fn is_name(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Reads the path or tree of paths that begins at a token, after a prefix; returns the place behind it.
fn read(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<Path>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                at += 1;
                while !matches!(tokens.get(at).map(String::as_str), None | Some("}")) {
                    let next = read(tokens, at, &path, found);
                    at = if tokens.get(next).is_some_and(|token| token == ",") { next + 1 } else { next.max(at + 1) };
                }
                return at + 1;
            }
            Some(name) if is_name(name) => {
                path.push(name.into());
                at += 1;
            }
            _ => break,
        }
        if tokens.get(at).is_none_or(|token| token != "::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    // A name of one's own.
    if tokens.get(at).is_some_and(|token| token == "as") { at + 2 } else { at }
}

/// Returns the paths that a file names, in a `use` or, of two names at least, elsewhere.
fn paths(text: &str) -> Vec<Path> {
    let tokens = tokens(&code(text).collect::<Vec<_>>().join("\n"));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if tokens[at] == "use" {
            at = read(&tokens, at + 1, &[], &mut found);
        } else if is_name(&tokens[at]) && tokens.get(at + 1).is_some_and(|token| token == "::") {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|token| token == "::")
                && tokens.get(at + 2).is_some_and(|t| is_name(t))
            {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            found.push(path);
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Returns the module of a file below `src/`, as its names from the crate on: none for `lib.rs` and `main.rs`.
fn module(file: &str) -> Path {
    let names = file.trim_end_matches(".rs").split('/').filter(|name| !["lib", "main", "mod"].contains(name));
    names.map(String::from).collect()
}

/// Returns the module that a path names from within a module of a crate: the longest beginning that is one.
fn resolve(path: &[String], from: &[String], modules: &BTreeSet<Path>) -> Option<Path> {
    let mut base: Path = match path.first().map(String::as_str)? {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => from[..from.len().checked_sub(1)?].to_vec(),
        // A module within this one.
        name => {
            let inner: Path = from.iter().cloned().chain([name.to_string()]).collect();
            modules.contains(&inner).then_some(inner)?
        }
    };
    for name in &path[1..] {
        if name == "super" {
            base.pop()?;
            continue;
        }
        base.push(name.clone());
        if !modules.contains(&base) {
            base.pop();
            break;
        }
    }
    Some(base)
}

/// Files that import each other.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Circle {
    /// Paths below `src/`, in order.
    files: Vec<String>,
    /// The imports among them.
    imports: Vec<String>,
}

/// Returns the circles among files of one crate, given by their paths below `src/` and texts.
fn circles(files: &[(String, String)]) -> BTreeSet<Circle> {
    // A program beside a library of the same crate names that from outside.
    let has_library = files.iter().any(|(file, _)| file == "lib.rs");
    let counts = |file: &str| !(file.contains("tests") || has_library && file == "main.rs");
    let files: Vec<_> = files.iter().filter(|(file, _)| counts(file)).collect();
    let by_module: BTreeMap<Path, usize> = files.iter().enumerate().map(|(k, (file, _))| (module(file), k)).collect();
    let modules: BTreeSet<Path> = by_module.keys().cloned().collect();
    let imports: Vec<BTreeSet<usize>> = files
        .iter()
        .enumerate()
        .map(|(k, (file, text))| {
            let from = module(file);
            let named = paths(text).into_iter().filter_map(|path| resolve(&path, &from, &modules));
            named.map(|module| by_module[&module]).filter(|&other| other != k).collect()
        })
        .collect();
    let reached: Vec<BTreeSet<usize>> = (0..files.len())
        .map(|from| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(k) = open.pop() {
                open.extend(imports[k].iter().copied().filter(|&next| seen.insert(next)));
            }
            seen
        })
        .collect();
    (0..files.len())
        .filter(|&k| reached[k].contains(&k))
        .map(|k| {
            let circle: Vec<usize> = reached[k].iter().copied().filter(|&other| reached[other].contains(&k)).collect();
            let arrow = |from: usize, to: usize| format!("{} -> {}", files[from].0, files[to].0);
            let arrows = circle.iter().flat_map(|&from| circle.iter().map(move |&to| (from, to)));
            let imported = arrows.filter(|(from, to)| imports[*from].contains(to));
            let mut imports: Vec<_> = imported.map(|(from, to)| arrow(from, to)).collect();
            let mut files: Vec<_> = circle.iter().map(|&k| files[k].0.clone()).collect();
            files.sort();
            imports.sort();
            Circle { files, imports }
        })
        .collect()
}

#[test]
fn imports_have_no_circles() {
    let mut found = Vec::new();
    for (name, _) in CRATES {
        let top = if name.is_empty() { "src/".into() } else { format!("crates/{name}/src/") };
        let of_crate: Vec<_> = sources()
            .into_iter()
            .filter_map(|(path, text)| Some((path.strip_prefix(&top)?.to_string(), text)))
            .collect();
        found.extend(circles(&of_crate).into_iter().map(|Circle { files, imports }| {
            format!("{} files in {top}:\n    {}", files.len(), imports.join("\n    "))
        }));
    }
    assert!(found.is_empty(), "these import each other in circles:\n{}", found.join("\n"));
}

#[test]
fn a_circle_is_seen() {
    let of = |texts: &[(&str, &str)]| -> Vec<Vec<String>> {
        let texts: Vec<_> = texts.iter().map(|(file, text)| (file.to_string(), text.to_string())).collect();
        circles(&texts).into_iter().map(|circle| circle.files).collect()
    };
    assert_eq!(of(&[("a.rs", "use crate::b::{x, y};"), ("b.rs", "fn f() { super::a::g() }")]), [["a.rs", "b.rs"]]);
    let three = [
        ("lib.rs", "pub mod a;"),
        ("a/mod.rs", "mod b; use b::{c::D, E as F};"),
        ("a/b.rs", ""),
        ("a/b/c.rs", "use super::super::G;"),
    ];
    assert_eq!(of(&three), [["a/b/c.rs", "a/mod.rs"]]);
    let none = [
        ("a.rs", "// use crate::b;\nuse crate::c::d;"),
        ("b.rs", "use crate::a::f; const T: &str = \"use crate::c\";"),
        ("c.rs", ""),
    ];
    assert_eq!(of(&none), Vec::<Vec<String>>::new());
    assert_eq!(
        of(&[("a.rs", "#[cfg(test)]\nmod tests { use crate::b; }"), ("b.rs", "use crate::a;")]),
        Vec::<Vec<String>>::new()
    );
}
