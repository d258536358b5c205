//! Output directories that cannot be used.

use crate::mount::Mount;
use crate::program::{Folder, SMALL, files, signal, wait_until};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use tisane_io::lock::Lock;

#[test]
fn a_directory_that_holds_anything_is_left_alone() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    fs::create_dir(folder.path("foreign")).unwrap();
    folder.write("foreign/thesis.tex", "years of work");
    folder.write("file", "a file");
    let before = folder.files();
    for (output, words) in [
        ("o", &["o", "already holds files", "--overwrite", "tisane resume"][..]),
        ("foreign", &["already holds files"]),
    ] {
        folder.tisane(&["run", "run.toml", "--output", output]).exits(2).says(words);
    }
    folder.tisane(&["run", "run.toml", "--output", "file"]).exits(2).says(&["file", "is a file"]);
    folder.tisane(&["run", "run.toml", "--output", "file/below"]).exits(2).says(&["file/below"]);
    assert!(folder.files() == before);
    // An empty one is fine.
    fs::create_dir(folder.path("empty")).unwrap();
    folder.tisane(&["run", "run.toml", "-q", "--output", "empty"]).exits(0);
}

#[test]
fn overwriting_removes_what_a_run_writes_and_nothing_else() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "run.t_end=1.0"]).exits(0);
    let old = files(&folder.path("o")).len();
    folder.write("o/thesis.tex", "years of work");
    folder.write("o/snapshots/figure.png", "a figure");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--overwrite"]).exits(0);
    assert_eq!(fs::read_to_string(folder.path("o/thesis.tex")).unwrap(), "years of work");
    assert_eq!(fs::read_to_string(folder.path("o/snapshots/figure.png")).unwrap(), "a figure");
    // Four snapshots less, two files more.
    assert_eq!(files(&folder.path("o")).len(), old - 4 + 2);
}

#[test]
fn overwriting_leaves_no_results_of_the_old_run_for_those_of_the_new_one() {
    let folder = Folder::new(SMALL);
    let again = ["run", "run.toml", "--output", "o", "--overwrite", "--set", "cluster.enabled=false"];
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    folder.tisane(&["analyze", "o", "-q"]).exits(0);
    folder.tisane(&["plot", "o", "-q", "--theme", "light"]).exits(0);
    let said = folder.tisane(&again).exits(0).says(&["WARN", "o/plots", "not of this run"]);
    assert!(!said.err.contains("o/movie") && !folder.path("o/analysis").exists(), "{}", said.err);
    assert!(
        fs::read_to_string(folder.path("o/run.log")).unwrap().contains("o/plots: these pictures are not of this run")
    );
    folder.tisane(&["plot", "o", "--theme", "light"]).exits(0).says(&["no structure: no cluster.csv"]);
    // What somebody put into the folder stays, and so does what a link leads to.
    folder.tisane(&["analyze", "o", "-q"]).exits(0);
    folder.write("o/analysis/thesis.tex", "years of work");
    let (held, before) = (Lock::take(&folder.path("o/analysis")).unwrap(), folder.files());
    folder.tisane(&again).exits(2).says(&["o/analysis", "another tisane process is using this directory"]);
    assert!(folder.files() == before);
    drop(held);
    folder.tisane(&again).exits(0);
    assert_eq!(files(&folder.path("o/analysis")).len(), 1);
    fs::remove_dir_all(folder.path("o/analysis")).unwrap();
    folder.tisane(&["analyze", "o", "-q", "--output", "elsewhere"]).exits(0);
    let before = files(&folder.path("elsewhere"));
    std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("o/analysis")).unwrap();
    folder.tisane(&again).exits(0);
    assert!(files(&folder.path("elsewhere")) == before && !before.is_empty());
}

#[test]
fn overwriting_removes_nothing_where_no_run_was() {
    let folder = Folder::new(SMALL);
    fs::create_dir_all(folder.path("mine/snapshots")).unwrap();
    for name in ["diagnostics.csv", "events.hdf5", "checkpoint.hdf5", "summary.json", "snapshots/snapshot_0003.hdf5"] {
        let path = format!("mine/{name}");
        folder.write(&path, "an hour of notes");
        let before = folder.files();
        folder.tisane(&["run", "run.toml", "--output", "mine", "--overwrite"]).exits(2).says(&[
            &path,
            "not written by a run",
            "--output",
        ]);
        assert!(folder.files() == before, "{name}");
        fs::remove_file(folder.path(&path)).unwrap();
    }
    folder.write("mine/thesis.tex", "years of work");
    folder.tisane(&["run", "run.toml", "-q", "--output", "mine", "--overwrite"]).exits(0);
    assert_eq!(fs::read_to_string(folder.path("mine/thesis.tex")).unwrap(), "years of work");
}

#[test]
fn overwriting_does_not_remove_the_input_of_the_new_run() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let again = "[run]\nname = \"again\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\n\
                 path = \"o/snapshots/snapshot_0004.hdf5\"\n";
    folder.write("again.toml", again);
    let before = folder.files();
    folder.tisane(&["run", "again.toml", "--output", "o", "--overwrite"]).exits(2).says(&["snapshot_0004", "--output"]);
    assert!(folder.files() == before);
    // A configuration written by hand in the very directory that it names.
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/config.toml", SMALL.to_owned() + "# an hour of notes");
    let before = folder.files();
    let over = ["run", "mine/config.toml", "--output", "mine", "--overwrite"];
    folder.tisane(&over).exits(2).says(&["mine/config.toml", "not written by a run", "--output"]);
    assert!(folder.files() == before);
}

#[test]
fn a_port_that_cannot_be_had_costs_no_run() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("--view={}", taken.local_addr().unwrap().port());
    let before = folder.files();
    for arguments in [
        &["run", "run.toml", "-q", "--output", "o", "--overwrite", &port][..],
        &["run", "run.toml", "-q", "--output", "new", &port],
        &["resume", "o", "-q", "--t-end", "1.0", &port],
    ] {
        folder.tisane(arguments).exits(2).says(&["127.0.0.1", "cannot serve the view", "another port"]);
        assert!(folder.files() == before, "{arguments:?} touched a file");
    }
}

#[test]
fn a_name_that_is_not_unicode_is_refused_and_no_other_is_used() {
    let folder = Folder::new(SMALL);
    let name = OsStr::from_bytes(b"caf\xe9");
    let before = folder.files();
    for verb in [&["run", "run.toml", "--output"][..], &["resume"]] {
        let mut command = folder.command(verb);
        command.arg(name);
        let said = crate::program::finish(command).exits(2);
        assert!(!said.err.contains("panicked"), "{}", said.err);
    }
    assert!(folder.files() == before);
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let config = SMALL.replace("t_end = 0.5", "t_end = 1000000.0") + "[checkpoint]\ninterval = \"1ms\"\n";
    let folder = Folder::new(&config);
    let mut child = folder.start(&["run", "run.toml", "-q", "--output", "o"]);
    wait_until("the first checkpoint", || {
        assert!(child.try_wait().unwrap().is_none());
        folder.path("o/checkpoint.hdf5").exists()
    });
    let first = format!("process {} on {}, since 20", child.id(), rustix::system::uname().nodename().to_str().unwrap());
    for arguments in [
        &["resume", "o"][..],
        &["run", "run.toml", "--output", "o", "--overwrite"],
        &["run", "run.toml", "--output", "o"],
    ] {
        // The time limit is for a program without the lock, which would run on.
        let said = folder.tisane(&[arguments, &["--time-limit", "1s"]].concat()).exits(2);
        said.says(&["another tisane process is using this directory", &first, "wait until it ends"]);
    }
    // Readers, and runs in other directories, are not refused; two runs in one directory are.
    folder.tisane(&["inspect", "o/checkpoint.hdf5"]).exits(0);
    folder.tisane(&["analyze", "o", "-q"]).exits(0);
    let held = Lock::take(&folder.path("o/analysis")).unwrap();
    let held_by = format!("process {} on", std::process::id());
    folder.tisane(&["analyze", "o", "-q"]).exits(2).says(&[
        "o/analysis",
        "another tisane process is using this directory",
        &held_by,
    ]);
    drop(held);
    folder.tisane(&["analyze", "o", "-q"]).exits(0);
    assert!(child.try_wait().unwrap().is_none(), "the first was disturbed");
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock goes with the process, however it ended, though its file stays.
    assert!(fs::read_to_string(folder.path("o/tisane.lock")).unwrap().starts_with(&first));
    folder.tisane(&["resume", "o", "-q", "--time-limit", "1ns"]).exits(3);
    assert!(!folder.path("o/tisane.lock").exists());
    let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
    assert!(log.contains(&first) && log.contains("its lock is stale"), "{log}");
    // Refused where there is nothing to resume, it leaves nothing.
    fs::create_dir(folder.path("empty")).unwrap();
    folder.tisane(&["resume", "empty"]).exits(2);
    assert_eq!(fs::read_dir(folder.path("empty")).unwrap().count(), 0);
}

#[test]
fn of_many_that_start_at_once_in_one_directory_one_runs() {
    for overwrite in [&[][..], &["--overwrite"]] {
        let folder = Folder::new(SMALL);
        if !overwrite.is_empty() {
            folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        }
        let ends = ["1000001.0", "1000002.0", "1000003.0", "1000004.0"];
        let start = |end: &str| {
            let set = format!("run.t_end={end}");
            folder.start(&[&["run", "run.toml", "-q", "--output", "o", "--set", &set], overwrite].concat())
        };
        let mut children = ends.map(start);
        // The one that runs continues until it is stopped: none of the others can come after its end.
        let mut codes = [None; 4];
        let config = || fs::read_to_string(folder.path("o/config.toml")).unwrap_or_default();
        wait_until("three that are refused", || {
            for (child, code) in children.iter_mut().zip(&mut codes) {
                *code = child.try_wait().unwrap().map(|status| status.code());
            }
            codes.iter().flatten().count() >= 3
        });
        let winner = codes.iter().position(Option::is_none).unwrap_or_else(|| panic!("none ran: {codes:?}"));
        wait_until("its first checkpoint", || {
            config().contains(ends[winner]) && folder.path("o/checkpoint.hdf5").exists()
        });
        assert_eq!(codes.iter().filter(|code| **code == Some(Some(2))).count(), 3, "{codes:?}");
        signal(&children[winner], "-TERM");
        assert_eq!(children[winner].wait().unwrap().code(), Some(3));
        assert!(config().contains(ends[winner]), "the configuration of one that was refused: {}", config());
        folder.tisane(&["resume", "o", "-q", "--time-limit", "1ns"]).exits(3);
    }
}

#[test]
fn a_full_file_system_is_told_before_the_start() {
    let folder = Folder::new(SMALL);
    let Some(mount) = Mount::new(&folder.path("small"), "size=64k") else { return };
    let before = folder.files();
    for output in ["small", "small/below", "small/deep/below"] {
        let said = folder.tisane(&["run", "run.toml", "--output", output]).exits(2);
        said.says(&[output, "are free", "64.00 KiB"]);
    }
    assert!(folder.files() == before);
    drop(mount);
}

#[test]
fn a_file_system_that_fills_up_during_a_run_leaves_a_run_that_resumes() {
    let folder = Folder::new(&SMALL.replace("t_end = 0.5", "t_end = 64.0"));
    let Some(mount) = Mount::new(&folder.path("small"), "size=1M") else { return };
    folder.tisane(&["run", "run.toml", "-q", "--output", "small/o", "--set", "limits.block_steps=20"]).exits(3);
    fs::write(folder.path("small/filler"), vec![0; 1 << 20]).unwrap_err();
    let said = folder.tisane(&["resume", "small/o", "-q"]);
    assert!([2, 5].contains(&said.code), "{}: {}", said.code, said.err);
    assert!(!said.err.contains("panicked"), "{}", said.err);
    fs::remove_file(folder.path("small/filler")).unwrap();
    folder.tisane(&["resume", "small/o", "-q"]).exits(3);
    drop(mount);
}

#[test]
fn a_read_only_file_system_is_told_before_the_start() {
    let folder = Folder::new(SMALL);
    let Some(mount) = Mount::new(&folder.path("ro"), "size=4M") else { return };
    folder.tisane(&["run", "run.toml", "-q", "--output", "ro/o"]).exits(0);
    mount.options("remount,ro");
    let before = folder.files();
    for arguments in [
        &["run", "run.toml", "--output", "ro/new"][..],
        &["run", "run.toml", "--output", "ro/o", "--overwrite"],
        &["resume", "ro/o", "--t-end", "1"],
    ] {
        folder.tisane(arguments).exits(2).says(&["ro/", "Read-only file system"]);
    }
    assert!(folder.files() == before);
    drop(mount);
}
