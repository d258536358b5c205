//! What the program finds around it: variables, limits of the system.

use crate::SMALL;
use crate::program::{Folder, finish};
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
        assert!(log.contains(&format!("precision f64, {threads} threads")), "{log}");
    }
    let mut resumed = folder.command(&["resume", "cores", "-q", "--threads", "2", "--t-end", "1.0"]);
    resumed.env("RAYON_NUM_THREADS", "99999999999").env("RAYON_RS_NUM_CPUS", "99999999999");
    finish(resumed).exits(0);
}

#[test]
fn threads_that_cannot_be_had_are_told_before_anything_is_written() {
    let folder = Folder::new(SMALL);
    // The limit is one of users other than root.
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    let limited = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.current_dir(folder.path("")).args(["--reuid", "65534", "--clear-groups", "bash", "-c"]);
        command.args(["ulimit -u 2 && exec \"$@\"", "bash", env!("CARGO_BIN_EXE_tisane")]).args(arguments);
        command
    };
    if !limited(&["--version"]).output().is_ok_and(|said| said.status.success()) {
        return eprintln!("SKIPPED: no setpriv, not root, or another user cannot start the program");
    }
    let before = folder.files();
    let said = finish(limited(&["run", "run.toml", "-q", "--output", "o", "--threads", "7"])).exits(2);
    said.says(&["threads: cannot start 7", "ulimit -u", "fewer threads by --threads"]);
    assert!(folder.files() == before);
}
