//! Tells the program which git commit it was built from.

use std::path::Path;
use std::process::Command;

/// Whatever ends up in the program: a change in one of them marks the commit `-dirty`.
const SOURCES: [&str; 6] =
    ["src", "kernels/papers.fatbin", "kernels/tisane.fatbin", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
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

/// What git prints, trimmed; [`None`] if there is no git or it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
