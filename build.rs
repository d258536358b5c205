//! Tells the program which git commit it was built from, and how, and puts the validation cases into it.

use std::env::{self, var};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whatever ends up in the program: a change in one of them marks the commit `-dirty`.
const SOURCES: [&str; 8] = [
    "src",
    "validation/*.toml",
    "validation/*.csv",
    "kernels/papers.fatbin",
    "kernels/tisane.fatbin",
    "build.rs",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() {
    for source in SOURCES {
        // Cargo knows no patterns: it watches the folder.
        println!("cargo:rerun-if-changed={}", source.split("/*").next().unwrap_or(source));
    }
    tell_how();
    cases();
    // A source archive unpacked inside another repository must not take that repository's commit for its own.
    if git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
        return;
    }
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let clean = git(&[&["diff", "--quiet", "HEAD", "--"][..], &SOURCES[..]].concat()).is_some();
        println!("cargo:rustc-env=TISANE_GIT_COMMIT={commit}{}", if clean { "" } else { "-dirty" });
    }
}

/// The compiler, the target, the optimisation and the features of this build.
fn tell_how() {
    let of_cargo = |name: &str| var(name).unwrap_or_default();
    let compiler = printed(&of_cargo("RUSTC"), &["--version"]).unwrap_or_default();
    let feature = |(name, _): (String, String)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase());
    let mut features: Vec<String> = env::vars().filter_map(feature).filter(|name| name != "default").collect();
    features.sort();
    for (name, value) in [
        ("RUSTC", compiler),
        ("TARGET", of_cargo("TARGET")),
        ("OPT_LEVEL", of_cargo("OPT_LEVEL")),
        ("FEATURES", features.join(",").replace('_', "-")),
    ] {
        println!("cargo:rustc-env=TISANE_BUILD_{name}={value}");
    }
}

/// Writes the list of the cases below `validation/` and of their files, for `src/validate/library.rs`.
fn cases() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut list = String::from("const CASES: &[(&str, &[(&str, &str)])] = &[\n");
    for folder in entries(&root.join("validation")).iter().filter(|folder| folder.join("case.toml").is_file()) {
        let _ = writeln!(list, "    ({:?}, &[", name(folder));
        let wanted = |file: &&PathBuf| file.extension().is_some_and(|e| e == "toml" || e == "csv");
        for file in entries(folder).iter().filter(wanted) {
            let _ = writeln!(list, "        ({:?}, include_str!({file:?})),", name(file));
        }
        list += "    ]),\n";
    }
    list += "];\n";
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("cases.rs");
    fs::write(out, list).expect("a writable build folder");
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a plain name")
}

/// What git prints, trimmed; [`None`] if there is no git or it fails.
fn git(arguments: &[&str]) -> Option<String> {
    printed("git", arguments)
}

/// What a program prints, trimmed; [`None`] if it is not there or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
