//! Promise: if a file cannot be written, the run names the file and the reason, ends with exit code 5 and leaves a
//! checkpoint and complete files. A resumed run ends in the same state as an undisturbed one, as does a run that was
//! configured to wait for space.

use crate::configs::{SOFTENED, SUBSYSTEMS, seldom};
use crate::mount;
use crate::outcome;
use crate::program;
use crate::strace;
#[path = "failing_storage/limits.rs"]
mod limits;

use mount::Mount;
use outcome::Outcome;
use program::{Folder, Said, finish, signal};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tisane_io::{checkpoint, directory, snapshot};

const RUN: [&str; 5] = ["run", "run.toml", "-q", "--output", "o"];
const RESUME: [&str; 3] = ["resume", "o", "-q"];
const WAIT: [&str; 2] = ["--set", "output.on_full=wait"];

/// What is written, and by which calls.
const WRITTEN: [(&str, &str); 13] = [
    ("o/.config.toml.partial", "write"),
    ("o/diagnostics.csv", "write"),
    ("o/.diagnostics.hdf5.partial", "pwrite64"),
    ("o/cluster.csv", "write"),
    ("o/.cluster.hdf5.partial", "pwrite64"),
    ("o/binaries.csv", "write"),
    ("o/.binaries.hdf5.partial", "pwrite64"),
    ("o/events.csv", "write"),
    ("o/.events.hdf5.partial", "pwrite64"),
    ("o/snapshots/.snapshot_0002.hdf5.partial", "pwrite64"),
    ("o/snapshots/.snapshot_0002.hdf5.partial", "write"),
    ("o/.checkpoint.hdf5.partial", "pwrite64"),
    ("o/.summary.json.partial", "write"),
];

/// A run stopped between the first and the second output.
fn begun(more: &[&str]) -> Folder {
    begun_with(SOFTENED, more)
}

fn begun_with(system: &str, more: &[&str]) -> Folder {
    let folder = Folder::new(&seldom(system));
    folder.tisane(&[&RUN[..], &["--set", "limits.block_steps=100"], more].concat()).exits(3);
    folder.lift_block_limit("o");
    assert_eq!(directory::snapshot_numbers(&folder.path("o")).unwrap(), [0]);
    folder
}

fn undisturbed() -> Outcome {
    undisturbed_with(SOFTENED)
}

fn undisturbed_with(system: &str) -> Outcome {
    let folder = Folder::new(&seldom(system));
    folder.tisane(&RUN).exits(0);
    Outcome::read(&folder.path("o"))
}

/// The checkpoint and the finished snapshots are whole, and nothing unfinished has the name of a finished file.
#[track_caller]
fn assert_whole(output: &Path) {
    let (_, warning) = checkpoint::read_newest(output).unwrap();
    assert_eq!(warning, None);
    for number in directory::snapshot_numbers(output).unwrap() {
        snapshot::read(&directory::snapshot(output, number)).unwrap();
    }
}

/// The name that a file has for the user.
fn plain(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap();
    name.strip_prefix('.').and_then(|name| name.strip_suffix(".partial")).unwrap_or(name).to_owned()
}

#[test]
fn each_file_that_does_not_fit_ends_the_run_and_is_written_by_the_next() {
    if !strace::is_here() {
        return;
    }
    let expected = undisturbed();
    for (file, call) in WRITTEN {
        let folder = begun(&[]);
        let inject = format!("{call}:error=ENOSPC");
        let said = strace::spoilt(&folder, (&inject, file), &RESUME).exits(5);
        said.says(&["cannot write", &plain(file), "No space left on device"]);
        assert_whole(&folder.path("o"));
        folder.tisane(&RESUME).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), file);
    }
}

#[test]
fn whatever_the_system_refuses_ends_the_run_in_order() {
    if !strace::is_here() {
        return;
    }
    let expected = undisturbed();
    let checkpoint = "o/.checkpoint.hdf5.partial";
    let snapshot = "o/snapshots/.snapshot_0001.hdf5.partial";
    for (file, inject, words) in [
        // The user's quota.
        (checkpoint, "pwrite64:error=EDQUOT", "Disk quota exceeded"),
        ("o/events.csv", "write:error=EDQUOT", "Disk quota exceeded"),
        (snapshot, "fsync:error=EDQUOT", "Disk quota exceeded"),
        // A disk that fails, from some write on.
        (snapshot, "pwrite64:error=EIO:when=9+", "Input/output error"),
        (checkpoint, "fsync:error=EIO", "Input/output error"),
        ("o/diagnostics.csv", "fdatasync:error=EIO", "Input/output error"),
        // A directory, or its file system, that may only be read from now on.
        (checkpoint, "openat:error=EROFS", "Read-only file system"),
        (snapshot, "openat:error=EACCES", "Permission denied"),
        (checkpoint, "rename:error=ENOSPC", "No space left on device"),
        (snapshot, "rename:error=EIO", "Input/output error"),
    ] {
        let folder = begun(&[]);
        strace::spoilt(&folder, (inject, file), &RESUME).exits(5).says(&["cannot write", &plain(file), words]);
        assert_whole(&folder.path("o"));
        folder.tisane(&RESUME).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), &format!("{file} {inject}"));
    }
}

#[test]
fn a_run_whose_first_files_do_not_fit_is_begun_anew() {
    if !strace::is_here() {
        return;
    }
    let expected = undisturbed();
    for (file, call) in [
        ("o/.config.toml.partial", "write"),
        ("o/diagnostics.csv", "write"),
        ("o/.checkpoint.hdf5.partial", "pwrite64"),
        ("o/snapshots/.snapshot_0000.hdf5.partial", "pwrite64"),
    ] {
        let folder = Folder::new(&seldom(SOFTENED));
        let inject = format!("{call}:error=ENOSPC");
        strace::spoilt(&folder, (&inject, file), &RUN).exits(5).says(&[
            &plain(file),
            "No space left on device",
            "begin the run anew with `tisane run --overwrite`",
        ]);
        folder.tisane(&[&RUN[..], &["--overwrite"]].concat()).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), file);
    }
}

#[test]
fn a_log_that_does_not_fit_ends_nothing() {
    if !strace::is_here() {
        return;
    }
    let folder = begun(&[]);
    strace::spoilt(&folder, ("write:error=ENOSPC", "o/run.log"), &RESUME)
        .exits(0)
        .says(&["cannot write o/run.log", "No space left on device"]);
    undisturbed().assert_same(&Outcome::read(&folder.path("o")), "without a log");
}

#[test]
fn a_run_that_waits_for_space_goes_on_to_the_same_end() {
    if !strace::is_here() {
        return;
    }
    let expected = undisturbed();
    for (file, call) in WRITTEN {
        let folder = begun(&WAIT);
        // Twice it does not fit, then it does.
        let inject = format!("{call}:error=ENOSPC:when=1..2");
        let arguments: Vec<&str> = RESUME.into_iter().filter(|word| *word != "-q").collect();
        let said = strace::spoilt(&folder, (&inject, file), &arguments).exits(0);
        said.says(&[&plain(file), "No space left on device", "waiting for space", "there is space again"]);
        let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
        assert!(log.contains("waiting for space") && log.contains("there is space again"), "{file}: {log}");
        expected.assert_same(&Outcome::read(&folder.path("o")), file);
    }
    // A quota is waited for likewise, anything else is not.
    for (error, code) in [("EDQUOT", 0), ("EIO", 5)] {
        let folder = begun(&WAIT);
        let inject = format!("pwrite64:error={error}:when=1");
        strace::spoilt(&folder, (&inject, "o/.checkpoint.hdf5.partial"), &RESUME).exits(code);
    }
}

/// Several rows of the journal of subsystems are written at once: all of them, or none.
#[test]
fn changes_of_subsystems_that_do_not_fit_are_written_later() {
    if !strace::is_here() {
        return;
    }
    let expected = undisturbed_with(SUBSYSTEMS);
    let file = "o/encounters.csv";
    for inject in ["write:error=ENOSPC:when=1..2", "write:error=ENOSPC:when=2..3"] {
        let folder = begun_with(SUBSYSTEMS, &WAIT);
        let said = strace::spoilt(&folder, (inject, file), &["resume", "o"]).exits(0);
        said.says(&["encounters.csv", "waiting for space", "there is space again"]);
        expected.assert_same(&Outcome::read(&folder.path("o")), inject);
    }
    for (file, inject) in [(file, "write:error=ENOSPC"), ("o/.encounters.hdf5.partial", "pwrite64:error=ENOSPC")] {
        let folder = begun_with(SUBSYSTEMS, &[]);
        let said = strace::spoilt(&folder, (inject, file), &RESUME).exits(5);
        said.says(&["cannot write", &plain(file), "No space left on device"]);
        assert_whole(&folder.path("o"));
        folder.tisane(&RESUME).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), file);
    }
}

#[test]
fn a_slow_disk_changes_nothing() {
    if !strace::is_here() {
        return;
    }
    let folder = Folder::new(&seldom(SOFTENED));
    let slow = ["-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_exit=200000"];
    let began = Instant::now();
    finish(strace::command(&folder, &slow, &RUN)).exits(0);
    assert!(began.elapsed() > Duration::from_secs(2), "the disk was not slow");
    undisturbed().assert_same(&Outcome::read(&folder.path("o")), "slow disk");
}

/// Resumes a run with each `every`-th write of each file failing. `resume` does so for one write; it returns [`None`]
/// if the run ended before that write.
fn fail_each_write(files: &[(&str, u64)], resume: impl Fn(&Folder, &str, u64) -> Option<Said>) {
    let folder = begun(&[]);
    let (output, kept) = (folder.path("o"), folder.path("kept"));
    fs::rename(&output, &kept).unwrap();
    for (file, every) in files {
        let mut write = 1;
        loop {
            program::copy_folder(&kept, &output);
            let said = resume(&folder, file, write);
            fs::remove_dir_all(&output).unwrap();
            let Some(said) = said else { break };
            assert_eq!(said.code, 5, "write {write} of {file} failed unnoticed\n{}", said.err);
            write += every;
        }
        assert!(write > 10, "{file}: only {write} writes");
    }
}

#[test]
fn no_write_fails_unnoticed() {
    if !strace::is_here() {
        return;
    }
    // HDF5 holds much back and writes it late. Not every one of the many writes of a journal is tried.
    let files = [
        ("o/snapshots/.snapshot_0001.hdf5.partial", 1),
        ("o/.checkpoint.hdf5.partial", 2),
        ("o/.diagnostics.hdf5.partial", 13),
        ("o/.cluster.hdf5.partial", 29),
        ("o/.events.hdf5.partial", 3),
    ];
    fail_each_write(&files, |folder, file, write| {
        let inject = format!("inject=pwrite64:error=ENOSPC:when={write}");
        let absolute = folder.path(file);
        let options = ["-o", "calls", "-e", "trace=pwrite64", "-e", &inject, "-P", absolute.to_str().unwrap()];
        let said = finish(strace::command(folder, &options, &RESUME));
        let injected = fs::read_to_string(folder.path("calls")).unwrap().contains("(INJECTED)");
        if injected {
            return Some(said);
        }
        said.exits(0);
        None
    });
}

/// Fills a file system, leaving some KiB.
fn fill(filler: &Path, leave: u64) {
    use std::io::Write;
    let mut file = fs::File::create(filler).unwrap();
    while file.write_all(&[0; 1024]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(leave * 1024)).unwrap();
}

#[test]
fn a_full_file_system_ends_the_run_wherever_it_is_and_leaves_it_to_be_resumed() {
    let expected = undisturbed();
    let mut named = BTreeSet::new();
    for leave in [0, 16, 48, 80, 112, 160, 240, 320] {
        let folder = Folder::new(&seldom(SOFTENED));
        let Some(mount) = Mount::new(&folder.path("small"), "size=4M") else { return };
        let run = ["run", "run.toml", "-q", "--output", "small/o", "--set", "limits.block_steps=100"];
        folder.tisane(&run).exits(3);
        folder.lift_block_limit("small/o");
        fill(&folder.path("small/filler"), leave);
        let said = folder.tisane(&["resume", "small/o", "-q"]);
        assert!(!said.err.contains("panicked"), "{}", said.err);
        let first = said.err.lines().find(|line| line.contains("cannot write")).unwrap_or_default().to_owned();
        said.exits(5).says(&["cannot write small/o/", "No space left on device"]);
        named.insert(first);
        assert_whole(&folder.path("small/o"));
        fs::remove_file(folder.path("small/filler")).unwrap();
        folder.tisane(&["resume", "small/o", "-q"]).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("small/o")), &format!("{leave} KiB left"));
        drop(mount);
    }
    println!("{named:#?}");
    assert!(named.len() > 2, "always the same file did not fit: {named:?}");
}

fn open_files(child: &Child) -> usize {
    fs::read_dir(format!("/proc/{}/fd", child.id())).map_or(0, Iterator::count)
}

/// Waits until a text is in the log of the run; false if the process has ended before.
fn logged(child: &mut Child, log: &Path, text: &str) -> bool {
    loop {
        if fs::read_to_string(log).is_ok_and(|log| log.contains(text)) {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A run with on_full = "wait", resumed on a file system that is full.
fn waiting(folder: &Folder, filler: &Path) -> Child {
    let run = ["run", "run.toml", "-q", "--output", "small/o", "--set", "limits.block_steps=100"];
    folder.tisane(&[&run[..], &WAIT].concat()).exits(3);
    folder.lift_block_limit("small/o");
    // Room for what the log says, not for a snapshot.
    fill(filler, 40);
    let mut command = folder.command(&["resume", "small/o"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(logged(&mut child, &folder.path("small/o/run.log"), "waiting for space"), "it did not wait");
    child
}

#[test]
fn a_run_waits_on_a_full_file_system_until_there_is_space() {
    let folder = Folder::new(&seldom(SOFTENED));
    let filler = folder.path("small/filler");
    let Some(mount) = Mount::new(&folder.path("small"), "size=4M") else { return };
    let mut child = waiting(&folder, &filler);
    // Tried again and again, it neither gives up nor gathers open files.
    let before = open_files(&child);
    std::thread::sleep(Duration::from_secs(4));
    assert!(child.try_wait().unwrap().is_none());
    // The least of some counts: one may fall into a trial, in which a file is open.
    let count = |_| {
        std::thread::sleep(Duration::from_millis(10));
        open_files(&child)
    };
    let after = (0..10).map(count).min().unwrap();
    assert!(after <= before + 1, "{before} open files, then {after}");
    fs::remove_file(&filler).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert_eq!(message.matches("waiting for space").count(), 1, "{message}");
    assert!(message.contains("there is space again"), "{message}");
    undisturbed().assert_same(&Outcome::read(&folder.path("small/o")), "after a wait");
    drop(mount);
}

#[test]
fn a_run_that_waits_for_space_is_stopped_by_a_signal_and_resumed() {
    let expected = undisturbed();
    for name in ["-TERM", "-INT"] {
        let folder = Folder::new(&seldom(SOFTENED));
        let filler = folder.path("small/filler");
        let Some(mount) = Mount::new(&folder.path("small"), "size=4M") else { return };
        let child = waiting(&folder, &filler);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{message}");
        assert!(message.contains("No space left on device") && message.contains("cannot write"), "{message}");
        assert_whole(&folder.path("small/o"));
        assert!(!folder.path("small/o/tisane.lock").exists());
        fs::remove_file(&filler).unwrap();
        folder.tisane(&["resume", "small/o", "-q"]).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("small/o")), name);
        drop(mount);
    }
}

#[test]
fn a_directory_removed_under_a_run_ends_it_and_is_not_made_again() {
    let folder = Folder::new(&seldom(SOFTENED).replace("t_end = 0.5", "t_end = 1000000.0").replace("1h", "10ms"));
    let mut command = folder.command(&RUN);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !folder.path("o/checkpoint.previous.hdf5").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    // In one go: files that come while it is being removed would be in the way.
    fs::rename(folder.path("o"), folder.path("gone")).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("cannot write o/") && message.contains("No such file or directory"), "{message}");
    assert!(!folder.path("o").exists());
    // It was only moved, so that it goes on.
    assert_whole(&folder.path("gone"));
    folder.tisane(&["resume", "gone", "-q", "--time-limit", "1ns"]).exits(3);
}
