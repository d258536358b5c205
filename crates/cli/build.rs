//! Tells the program which git commit it was built from, and how.

use std::env::{self, var};
use std::path::Path;
use std::process::Command;

/// Everything that ends up in the program: a change in one of them marks the commit `-dirty`.
const SOURCES: [&str; 8] = [
    "src",
    "crates",
    "validation/*.toml",
    "validation/*.csv",
    "crates/force/kernels/*.fatbin",
    "configs/studies",
    "Cargo.toml",
    "Cargo.lock",
];
/// Where the workspace begins, as seen from this crate.
const TOP: &str = "../..";

fn main() {
    for source in SOURCES {
        // Cargo knows no patterns: it watches the folder.
        println!("cargo:rerun-if-changed={TOP}/{}", source.split("/*").next().unwrap_or(source));
    }
    describe_build();
    // A source archive unpacked inside another repository must not take that repository's commit for its own.
    if git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_none() {
        return;
    }
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).map(|path| Path::new(TOP).join(path))
            && path.exists()
        {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        let clean = git(&[&["diff", "--quiet", "HEAD", "--"][..], &SOURCES[..]].concat()).is_some();
        println!("cargo:rustc-env=TISANE_GIT_COMMIT={commit}{}", if clean { "" } else { "-dirty" });
    }
}

/// Tells the compiler, the target, the optimisation and the features of this build.
fn describe_build() {
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

/// Returns what git prints at the top of the workspace, trimmed; [`None`] if there is no git or it fails.
fn git(arguments: &[&str]) -> Option<String> {
    printed("git", &[&["-C", TOP][..], arguments].concat())
}

/// Returns what a program prints, trimmed; [`None`] if it is not there or fails.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
