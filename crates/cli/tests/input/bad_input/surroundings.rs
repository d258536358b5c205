//! What the program finds around it: variables, limits of the system.

use crate::program::{Folder, SMALL, finish};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[test]
fn a_variable_does_not_start_threads_without_end() {
    let folder = Folder::new(SMALL);
    let before = folder.files();
    let run = |output: &str, variable: (&str, &str)| {
        let mut command = folder.command(&["run", "run.toml", "-q", "--output", output]);
        finish({
            command.env(variable.0, variable.1);
            command
        })
    };
    for many in ["1025", "99999999999", "many"] {
        run("o", ("RAYON_NUM_THREADS", many)).exits(2).says(&["RAYON_NUM_THREADS", "at most 1024", many]);
        assert!(folder.files() == before, "{many}");
    }
    let cores = std::thread::available_parallelism().unwrap().get().to_string();
    for (output, variable, threads) in
        [("three", ("RAYON_NUM_THREADS", "3"), "3"), ("cores", ("RAYON_RS_NUM_CPUS", "99999999999"), &cores)]
    {
        run(output, variable).exits(0);
        let log = fs::read_to_string(folder.path(&format!("{output}/run.log"))).unwrap();
        assert!(log.contains(&format!("precision=f64 threads={threads}")), "{log}");
    }
    let mut resumed = folder.command(&["resume", "cores", "-q", "--threads", "2", "--t-end", "1.0"]);
    resumed.env("RAYON_NUM_THREADS", "99999999999").env("RAYON_RS_NUM_CPUS", "99999999999");
    finish(resumed).exits(0);
}

/// The program as a user other than root has it, after what a shell does first.
fn as_user(folder: &Folder, first: &str, arguments: &[&str]) -> Command {
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("setpriv");
    command.current_dir(folder.path("")).args(["--reuid", "65534", "--clear-groups", "bash", "-c"]);
    let then = format!("{first} exec \"$@\"");
    command.args([&then, "bash", env!("CARGO_BIN_EXE_tisane")]).args(arguments);
    command
}

/// Whether that can be done; says so where it cannot.
fn another_user() -> bool {
    let there = as_user(&Folder::new(""), "", &["--version"]).output().is_ok_and(|said| said.status.success());
    if !there {
        eprintln!("SKIPPED: no setpriv or bash, not root, or another user cannot start the program");
    }
    there
}

#[test]
fn threads_that_cannot_be_had_are_told_before_anything_is_written() {
    if !another_user() {
        return;
    }
    let folder = Folder::new(SMALL);
    let before = folder.files();
    // A limit that root does not have.
    let run = as_user(&folder, "ulimit -u 2 &&", &["run", "run.toml", "-q", "--output", "o", "--threads", "7"]);
    finish(run).exits(2).says(&["threads: cannot start 7", "ulimit -u", "threads with --threads"]);
    assert!(folder.files() == before);
}

#[test]
fn a_run_that_cannot_be_removed_whole_is_not_touched() {
    if !another_user() {
        return;
    }
    let folder = Folder::new(SMALL);
    let run = ["run", "run.toml", "-q", "--output", "o", "--overwrite"];
    finish(as_user(&folder, "", &run)).exits(0);
    let before = folder.files();
    for locked in ["o/snapshots", "o"] {
        let said = finish(as_user(&folder, &format!("chmod a-w {locked} &&"), &run)).exits(2);
        said.says(&[locked, "Permission denied"]);
        assert!(folder.files() == before, "{locked}");
        fs::set_permissions(folder.path(locked), fs::Permissions::from_mode(0o755)).unwrap();
    }
    finish(as_user(&folder, "", &run)).exits(0);
}
