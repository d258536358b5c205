//! Puts the validation cases into the library: writes the list of those below `validation/` and of their files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../validation");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut list = String::from("const CASES: &[(&str, &[(&str, &str)])] = &[\n");
    for folder in entries(&root).iter().filter(|folder| folder.join("case.toml").is_file()) {
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

/// Returns what is in a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a plain name")
}
