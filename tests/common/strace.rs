//! System calls of the program, seen and spoilt by strace.

#![allow(dead_code, reason = "each test file uses its own part")]

use crate::program::{Folder, Said, finish};
use std::process::{Command, Stdio};

/// Whether strace is here and may trace; says so where not.
pub fn is_here() -> bool {
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "--seccomp-bpf",
        "-e",
        "trace=fsync",
        "-e",
        "inject=fsync:error=EIO",
        "-o",
        "/dev/null",
        "true",
    ]);
    let done = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
    let here = done.is_ok_and(|status| status.success());
    if !here {
        eprintln!("SKIPPED: this takes strace 5.3 or newer, and a system that lets it trace");
    }
    here
}

/// The program in a folder with arguments, by strace with options.
pub fn command(folder: &Folder, options: &[&str], arguments: &[&str]) -> Command {
    let plain = folder.command(arguments);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "--seccomp-bpf"]).args(options).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(folder.path("")).stdin(Stdio::null());
    command.env_remove("TISANE_SIMD").env_remove("HDF5_USE_FILE_LOCKING");
    command
}

/// Runs the program to its end, with system calls on one file spoilt as `inject` says: `fsync:error=ENOSPC:when=2+`.
pub fn spoilt(folder: &Folder, (inject, file): (&str, &str), arguments: &[&str]) -> Said {
    finish(spoiling(folder, (inject, file), arguments))
}

/// The same, ready to start.
pub fn spoiling(folder: &Folder, (inject, file): (&str, &str), arguments: &[&str]) -> Command {
    let (calls, _) = inject.split_once(':').unwrap();
    let (trace, inject) = (format!("trace={calls}"), format!("inject={inject}"));
    // Calls with an open file go by where it lies, those with a path by how the program names it.
    let absolute = folder.path(file);
    let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject, "-P", absolute.to_str().unwrap(), "-P", file];
    command(folder, &options, arguments)
}
