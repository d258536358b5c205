//! Locks: those of HDF5, which the program does without, and file systems that refuse them all.

use crate::program::{Folder, SMALL, Said, finish, wait_until};
use crate::strace;
use std::fs::{self, File};
use std::process::{Child, Stdio};

/// What a file system says that has no locks, and one that has run out of them.
const REFUSALS: [(&str, &str); 2] = [("ENOSYS", "Function not implemented"), ("ENOLCK", "No locks available")];

#[test]
fn files_that_another_program_holds_locked_are_read_and_replaced() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    folder.tisane(&["convert", "o/snapshots/snapshot_0002.hdf5", "gadget.hdf5", "--to", "gadget"]).exits(0);
    folder.tisane(&["convert", "o/snapshots/snapshot_0002.hdf5", "amuse.hdf5", "--to", "amuse"]).exits(0);
    let all: Vec<_> = folder.files().into_keys().filter(|path| path.extension().is_some_and(|e| e == "hdf5")).collect();
    assert!(all.len() > 10, "{all:?}");
    // A lock belongs to what was opened, so that one of this process keeps all others out.
    let held: Vec<File> = all.iter().map(|path| File::open(path).unwrap()).collect();
    held.iter().for_each(|file| file.lock().unwrap());
    for path in &all {
        assert!(File::open(path).unwrap().try_lock_shared().is_err(), "{} is not locked", path.display());
        folder.tisane(&["inspect", path.to_str().unwrap()]).exits(0);
    }
    for (arguments, code) in [
        (&["convert", "amuse.hdf5", "gadget.hdf5", "--to", "gadget", "--overwrite"][..], 0),
        (&["convert", "gadget.hdf5", "amuse.hdf5", "--to", "amuse", "--overwrite"], 0),
        (&["analyze", "o", "-q"], 0),
        (&["plot", "o", "-q", "--theme", "light"], 0),
        (&["resume", "o", "-q", "--t-end", "1.0"], 0),
    ] {
        folder.tisane(arguments).exits(code);
    }
}

/// The program, ready to start, on a file system that refuses locks.
fn without_locks(folder: &Folder, error: &str, arguments: &[&str]) -> std::process::Command {
    let inject = format!("inject=flock:error={error}");
    strace::command(folder, &["-o", "/dev/null", "-e", "trace=flock", "-e", &inject], arguments)
}

#[test]
fn a_file_system_that_refuses_locks_is_told_and_the_run_goes_on() {
    if !strace::is_here() {
        return;
    }
    for (error, words) in REFUSALS {
        let folder = Folder::new(SMALL);
        let tisane = |arguments: &[&str]| finish(without_locks(&folder, error, arguments));
        let refused = format!("o/tisane.lock: this file system refuses locks ({words}");
        tisane(&["run", "run.toml", "--output", "o"]).exits(0).says(&["WARN", &refused, "by hand"]);
        let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
        assert!(log.contains(&refused), "{log}");
        tisane(&["resume", "o", "--t-end", "5/8"]).exits(0).says(&["WARN", &refused]);
        let refused = "refuses locks";
        tisane(&["analyze", "o"]).exits(0).says(&["o/analysis/tisane.lock", refused]);
        tisane(&["movie", "o", "--frames", "1", "--width", "64", "--height", "64"]).exits(0).says(&[refused]);
        let study = ["study", "force", "--output", "s", "--set", "force.n=[64]", "--set", "force.bags=[64]"];
        tisane(&study).exits(0).says(&["s/tisane.lock", refused]);
        assert!(!folder.path("o/tisane.lock").exists() && !folder.path("s/tisane.lock").exists());
        // What is read needs none.
        assert!(tisane(&["inspect", "o/checkpoint.hdf5"]).exits(0).err.is_empty());
    }
}

/// The number of the process that a lock names.
fn owner(folder: &Folder) -> u32 {
    let text = fs::read_to_string(folder.path("o/tisane.lock")).unwrap_or_default();
    text.split(' ').nth(1).and_then(|id| id.parse().ok()).unwrap_or_default()
}

#[test]
fn where_locks_are_refused_the_text_of_the_lock_keeps_a_second_process_out() {
    if !strace::is_here() {
        return;
    }
    let folder = Folder::new(&SMALL.replace("t_end = 0.5", "t_end = 1000000.0"));
    let refused = |arguments: &[&str]| -> Said { finish(without_locks(&folder, "ENOLCK", arguments)) };
    let mut run = without_locks(&folder, "ENOLCK", &["run", "run.toml", "-q", "--output", "o"]);
    let mut first: Child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the first checkpoint", || folder.path("o/checkpoint.hdf5").exists());
    let id = owner(&folder);
    let named = format!("process {id} on");
    for arguments in [&["resume", "o"][..], &["run", "run.toml", "--output", "o", "--overwrite"]] {
        refused(&[arguments, &["--time-limit", "1s"]].concat())
            .exits(2)
            .says(&["another tisane process is using this directory", &named]);
    }
    let killed = std::process::Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap();
    assert!(killed.success());
    first.wait().unwrap();
    refused(&["resume", "o", "-q", "--time-limit", "1ns"]).exits(3);
    let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
    assert!(log.contains(&named) && log.contains("its lock is stale"), "{log}");
    // Of a process on another machine nothing can be known.
    folder.write("o/tisane.lock", "process 4711 on elsewhere, since 2026-11-22T00:00:00Z\n");
    let help = "this file system refuses locks: if that process has ended, remove tisane.lock";
    refused(&["resume", "o"]).exits(2).says(&["process 4711 on elsewhere", help]);
    fs::remove_file(folder.path("o/tisane.lock")).unwrap();
    refused(&["resume", "o", "-q", "--time-limit", "1ns"]).exits(3);
}

#[test]
fn the_variable_that_asks_hdf5_for_locks_is_named_where_they_fail() {
    let folder = Folder::new(SMALL);
    let asked = |mut command: std::process::Command| {
        finish({
            command.env("HDF5_USE_FILE_LOCKING", "TRUE");
            command
        })
    };
    asked(folder.command(&["run", "run.toml", "-q", "--output", "o"])).exits(0);
    let snapshot = "o/snapshots/snapshot_0000.hdf5";
    let held = File::open(folder.path(snapshot)).unwrap();
    held.lock().unwrap();
    let parts = ["HDF5 cannot lock it", "HDF5_USE_FILE_LOCKING in the environment", "unset it"];
    asked(folder.command(&["inspect", snapshot])).exits(2).says(&[&[snapshot], &parts[..]].concat());
    if !strace::is_here() {
        return;
    }
    for (error, words) in REFUSALS {
        let said = asked(without_locks(&folder, error, &["run", "run.toml", "-q", "--output", error]));
        said.exits(5).says(&[&["cannot write", words], &parts[..]].concat());
    }
}
