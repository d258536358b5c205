//! A limit on the size of files, as shells and batch systems set it; a disk that takes nothing more.

use super::{RESUME, RUN, WAIT, assert_whole, begun, fail_each_write, undisturbed};
use crate::configs::{SOFTENED, seldom};
use crate::outcome::Outcome;
use crate::program::{Folder, Said, finish};
use crate::strace;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

/// The program where no file may have more than `blocks` of 512 bytes.
fn limited(folder: &Folder, blocks: u64, arguments: &[&str]) -> Said {
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).stdin(Stdio::null());
    let limit = format!("ulimit -f {blocks} && exec \"$@\"");
    shell.args(["-c", &limit, "sh", env!("CARGO_BIN_EXE_tisane")]).args(arguments);
    finish(shell)
}

const WORDS: [&str; 4] = ["cannot write", "File too large", "ulimit -f", "tisane resume"];

#[test]
fn a_limit_on_the_size_of_files_ends_a_run_in_order_and_is_not_waited_for() {
    let expected = undisturbed();
    let whole = begun(&[]);
    whole.tisane(&RESUME).exits(0);
    let mut named = BTreeSet::new();
    for blocks in [2, 4, 8, 16, 32, 64, 80, 100, 120] {
        let folder = begun(&WAIT);
        let said = limited(&folder, blocks, &RESUME);
        if said.code == 0 {
            break;
        }
        let said = said.exits(5).says(&WORDS);
        assert_whole(&folder.path("o"));
        let file = said.err.split_whitespace().find(|word| word.starts_with("o/")).unwrap().to_owned();
        named.insert(file.trim_end_matches(':').to_owned());
        folder.tisane(&RESUME).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), &format!("{blocks} blocks"));
    }
    // Those written by HDF5 and by the system's own calls.
    assert!(named.iter().any(|file| file.ends_with(".hdf5")), "{named:?}");
    assert!(named.iter().any(|file| !file.ends_with(".hdf5")), "{named:?}");
    let folder = Folder::new(&seldom(SOFTENED));
    // Before the first checkpoint there is nothing to resume.
    limited(&folder, 8, &RUN).exits(5).says(&[WORDS[0], WORDS[1], WORDS[2], "--overwrite"]);
}

#[test]
fn a_limit_on_the_size_of_files_leaves_nothing_of_a_converted_one() {
    let folder = Folder::new("");
    let rows: String = (0..500).map(|i| format!("0.002,{i}.5,0,0,0,0,0\n")).collect();
    folder.write("p.csv", format!("m,x,y,z,vx,vy,vz\n{rows}"));
    let before = folder.files();
    for format in ["csv", "tipsy", "nemo", "nbody6"] {
        limited(&folder, 4, &["convert", "p.csv", "out", "--to", format]).exits(5).says(&["out", WORDS[1], WORDS[2]]);
        assert!(folder.files() == before, "{format}");
    }
    let units = ["--units", "henon"];
    for format in ["gadget", "amuse"] {
        let arguments = [&["convert", "p.csv", "out", "--to", format], &units[..]].concat();
        limited(&folder, 4, &arguments).exits(5).says(&["out", WORDS[1], WORDS[2]]);
        assert!(folder.files() == before, "{format}");
    }
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 2);
}

#[test]
fn a_disk_that_takes_nothing_more_ends_the_program_in_order_whatever_is_being_written() {
    if !strace::is_here() {
        return;
    }
    // HDF5 must not crash over what it could not write: as it closes a dataset, a file, or itself.
    let files = [
        ("o/snapshots/.snapshot_0001.hdf5.partial", 1),
        ("o/.checkpoint.hdf5.partial", 2),
        ("o/.diagnostics.hdf5.partial", 13),
        ("o/.events.hdf5.partial", 7),
    ];
    fail_each_write(&files, |folder, file, write| {
        let inject = format!("pwrite64:error=ENOSPC:when={write}+");
        Some(strace::spoilt(folder, (&inject, file), &RESUME)).filter(|said| said.code != 0)
    });
}
