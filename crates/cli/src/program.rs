//! This program: its build, and its file.

use std::path::PathBuf;
use std::sync::OnceLock;
use tisane::error::{Error, Result};
use tisane_io::provenance::{self, Build};

/// Properties of this build, from the build script.
const BUILD: Build = Build {
    git_commit: match option_env!("TISANE_GIT_COMMIT") {
        Some(commit) => commit,
        None => "unknown",
    },
    rustc: env!("TISANE_BUILD_RUSTC"),
    target: env!("TISANE_BUILD_TARGET"),
    opt_level: env!("TISANE_BUILD_OPT_LEVEL"),
    features: env!("TISANE_BUILD_FEATURES"),
};

/// Tells the files that are written from now on of which build they are.
pub fn declare_build() {
    provenance::declare_build(BUILD);
}

/// File of the program, where it is not that of this process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Returns the file of the program, to start it again.
pub fn file() -> Result<PathBuf> {
    let this = || std::env::current_exe().map_err(|e| Error::input("tisane", format!("cannot find this program: {e}")));
    PROGRAM.get().cloned().map_or_else(this, Ok)
}

/// Sets the file of the program, where it is not that of this process.
pub fn set_file(file: PathBuf) {
    // A process has one command line.
    let _ = PROGRAM.set(file);
}
