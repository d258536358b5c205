//! Promise: a checkpoint or snapshot with any damaged byte reads as an error that names the file, or as the content that
//! was written. A run then continues from its previous checkpoint and reports it. Nothing panics.

use crate::program;
use program::{Folder, SMALL, diagnostics, stopped_twice, summary};
use rayon::prelude::*;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use tisane::Result;
use tisane_io::{checkpoint, snapshot};

/// A damage: its name, and the bytes.
type Damage = (String, Vec<u8>);

/// Every byte with one bit the other way, another bit from byte to byte.
fn flips(good: &[u8]) -> impl ParallelIterator<Item = Damage> {
    (0..good.len()).into_par_iter().map(|i| {
        let mut bytes = good.to_vec();
        bytes[i] ^= 1 << (i % 8);
        (format!("byte {i} flipped"), bytes)
    })
}

/// Blocks as a disk or a network loses them: zeros, ones, left out, written twice, in the wrong order.
fn blocks(good: &[u8], length: usize) -> impl ParallelIterator<Item = Damage> {
    (0..good.len()).into_par_iter().step_by(length).flat_map_iter(move |begin| {
        let end = good.len().min(begin + length);
        let (before, block, after) = (&good[..begin], &good[begin..end], &good[end..]);
        let next = &after[..after.len().min(length)];
        let made = [
            ("zeros", [before, &vec![0; block.len()], after].concat()),
            ("ones", [before, &vec![0xff; block.len()], after].concat()),
            ("left out", [before, after].concat()),
            ("twice", [before, block, block, after].concat()),
            ("after the next", [before, next, block, &after[next.len()..]].concat()),
        ];
        made.into_iter().map(move |(what, bytes)| (format!("block at {begin} of {length} bytes: {what}"), bytes))
    })
}

/// The file cut at every 13th length and every one near its ends, and grown.
fn cuts(good: &[u8]) -> impl ParallelIterator<Item = Damage> {
    let near = |i: &usize| i.is_multiple_of(13) || *i < 100 || *i + 100 > good.len();
    let lengths: Vec<usize> = (0..good.len()).filter(near).collect();
    let grown = [vec![0u8; 1], vec![0; 4096], good.to_vec()].map(|more| [good, &more].concat());
    let grown = grown.into_iter().map(|bytes| (format!("grown to {}", bytes.len()), bytes)).collect::<Vec<_>>();
    lengths.into_par_iter().map(|i| (format!("cut at {i}"), good[..i].to_vec())).chain(grown)
}

/// Reads each damaged file: it is refused with its name, or gives what the good one gave. Returns how many were refused
/// and how many gave the same.
fn survey<T: PartialEq + Debug + Sync>(
    path: &Path,
    read: impl Fn(&Path) -> Result<T> + Sync,
    damages: impl ParallelIterator<Item = Damage>,
) -> (usize, usize) {
    let (good, whole) = (fs::read(path).unwrap(), read(path).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let tries = damages.filter(|(_, bytes)| *bytes != good).map(|(what, bytes)| {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let name = format!("file{thread}.hdf5");
        let file = dir.path().join(&name);
        replace(&file, &bytes);
        match read(&file) {
            Ok(found) => {
                // As text, which distinguishes -0 from 0.
                assert!(format!("{found:?}") == format!("{whole:?}"), "{what}: silently different");
                (0, 1)
            }
            Err(error) => {
                assert_eq!(error.exit_code(), 2, "{what}: {error}");
                assert!(error.to_string().contains(&name), "{what}: {error}");
                (1, 0)
            }
        }
    });
    tries.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

/// Writes over a file in place: a file system that flushes what is cut to nothing first takes ten times as long.
fn replace(path: &Path, bytes: &[u8]) {
    let mut file = File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

/// All damages of one file.
fn everything<T: PartialEq + Debug + Sync>(
    path: &Path,
    read: impl Fn(&Path) -> Result<T> + Sync,
) -> [(usize, usize); 3] {
    let good = fs::read(path).unwrap();
    let in_blocks = blocks(&good, 64).chain(blocks(&good, 512)).chain(blocks(&good, 4096));
    [survey(path, &read, flips(&good)), survey(path, &read, in_blocks), survey(path, &read, cuts(&good))]
}

#[test]
fn every_byte_block_and_cut_of_a_checkpoint_is_caught() {
    let (folder, _) = stopped_twice();
    let path = folder.path("o/checkpoint.hdf5");
    let length = fs::read(&path).unwrap().len();
    let found = everything(&path, checkpoint::read);
    println!("checkpoint of {length} bytes, (refused, the same) by flips, blocks, cuts: {found:?}");
    assert_eq!(found[0], (length, 0), "a flip was not caught");
    assert!(found.iter().all(|(refused, same)| *refused > 100 && *same == 0), "{found:?}");
}

#[test]
fn every_byte_block_and_cut_of_a_snapshot_is_caught_or_harmless() {
    let (folder, _) = stopped_twice();
    let path = folder.path("whole/snapshots/snapshot_0002.hdf5");
    let length = fs::read(&path).unwrap().len();
    let found = everything(&path, snapshot::read);
    println!("snapshot of {length} bytes, (refused, the same) by flips, blocks, cuts: {found:?}");
    // Without its checksum a snapshot counts as modified by another program; the bytes of the checksum hold no data.
    assert_eq!(found[0].0 + found[0].1, length);
    assert!(found[0].1 <= 80 && found.iter().all(|(refused, _)| *refused > 100), "{found:?}");
}

/// Files that a run may read again when it goes on.
fn files_of_a_run(folder: &Folder) -> Vec<PathBuf> {
    folder.files().into_keys().filter(|path| path.is_file() && path.starts_with(folder.path("o"))).collect()
}

#[test]
fn a_run_with_any_damaged_file_goes_on_to_the_same_state_or_says_which_file_is_wrong() {
    let (folder, state) = stopped_twice();
    let before = folder.files();
    let files = files_of_a_run(&folder);
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let good = &before[&file];
        let mut flipped = good.clone();
        flipped[good.len() / 2] ^= 0x10;
        for (what, damaged) in [("flipped", flipped), ("halved", good[..good.len() / 2].to_vec()), ("empty", vec![])] {
            for (path, content) in before.iter().filter(|(path, _)| path.is_file()) {
                fs::write(path, content).unwrap();
            }
            fs::write(&file, damaged).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            let said = folder.tisane(&["resume", "o"]);
            assert!(!said.err.contains("panicked"), "{name} {what}: {}", said.err);
            match said.code {
                0 => assert_eq!(summary(&folder.path("o"))["state_sha256"].to_string(), state, "{name} {what}"),
                // A journal is read when its HDF5 file is brought up to date.
                2 | 5 => assert!(said.err.contains(name), "{name} {what}: {}", said.err),
                other => panic!("{name} {what}: exit code {other}\n{}", said.err),
            }
            if name == "checkpoint.hdf5" {
                assert_eq!(said.code, 0, "{what}: {}", said.err);
                said.says(&["WARN", "o/checkpoint.hdf5", "using checkpoint.previous.hdf5 instead"]);
            }
        }
    }
}

/// What was changed is restored from the HDF5 file, which has the bytes that the checkpoint has a hash of.
#[test]
fn rows_of_a_journal_that_were_changed_are_restored_when_a_run_goes_on() {
    let (whole, state) = stopped_twice();
    whole.tisane(&["resume", "o", "-q"]).exits(0);
    for journal in ["diagnostics.csv", "cluster.csv"] {
        for damage in [other_digit, letter, without_last_row, without_header, empty] {
            let (folder, _) = stopped_twice();
            let path = folder.path(&format!("o/{journal}"));
            damage(&path);
            let said = folder.tisane(&["resume", "o"]).exits(0);
            said.says(&["WARN", journal, "was changed since this run wrote it: restored from"]);
            let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
            assert!(log.lines().any(|line| line.contains("WARN") && line.contains(journal)), "{log}");
            assert_eq!(summary(&folder.path("o"))["state_sha256"].to_string(), state);
            assert_eq!(diagnostics(&folder.path("o")), diagnostics(&whole.path("o")));
            assert_eq!(fs::read(folder.path("o/cluster.csv")).unwrap(), fs::read(whole.path("o/cluster.csv")).unwrap());
            let again = folder.tisane(&["resume", "o", "--t-end", "0.625"]).exits(0);
            assert!(!again.err.contains("since this run wrote"), "{}", again.err);
        }
    }
}

/// A kill leaves an HDF5 file with fewer rows: the last ones are taken from the CSV.
#[test]
fn rows_are_restored_from_both_files_after_a_kill() {
    let folder = Folder::new(SMALL);
    let run = ["run", "run.toml", "-q", "--output", "o", "--set", "run.t_end=0.25"];
    folder.tisane(&run).exits(0);
    let (older, twin, path) =
        (folder.path("older"), folder.path("o/diagnostics.hdf5"), folder.path("o/diagnostics.csv"));
    fs::copy(&twin, &older).unwrap();
    folder.tisane(&["resume", "o", "-q", "--t-end", "0.5"]).exits(0);
    let before = fs::read(&path).unwrap();
    fs::copy(&older, &twin).unwrap();
    other_digit(&path);
    folder.tisane(&["resume", "o"]).exits(0).says(&["diagnostics.csv was changed", "restored from diagnostics.hdf5"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(diagnostics(&folder.path("o"))["time"].len(), 5);
}

/// Without the HDF5 file, rows that are still rows are kept, but not silently; others end the resume before anything is
/// written.
#[test]
fn rows_that_cannot_be_restored_are_kept_or_refused() {
    let (_, state) = stopped_twice();
    for journal in ["diagnostics", "cluster"] {
        for damage in [letter, without_last_row, without_header, empty] {
            let (folder, _) = stopped_twice();
            damage(&folder.path(&format!("o/{journal}.csv")));
            fs::remove_file(folder.path(&format!("o/{journal}.hdf5"))).unwrap();
            let kept = |folder: &Folder| {
                let mut files = folder.files();
                // The log tells of each attempt.
                files.remove(&folder.path("o/run.log"));
                files
            };
            let before = kept(&folder);
            let said = folder.tisane(&["resume", "o"]).exits(2);
            said.says(&[&format!("{journal}.csv"), "the checkpoint is intact, but this journal is not"]);
            assert!(kept(&folder) == before, "{journal}");
        }
        let (folder, _) = stopped_twice();
        other_digit(&folder.path(&format!("o/{journal}.csv")));
        fs::remove_file(folder.path(&format!("o/{journal}.hdf5"))).unwrap();
        folder.tisane(&["resume", "o"]).exits(0).says(&["WARN", journal, "were modified since"]);
        assert_eq!(summary(&folder.path("o"))["state_sha256"].to_string(), state);
        // What it has is what it goes on from.
        let again = folder.tisane(&["resume", "o", "--t-end", "0.625"]).exits(0).says(&["finished"]);
        assert!(!again.err.contains("since this run wrote"), "{}", again.err);
    }
}

/// Changes the first digit of the first row of which one is to be had.
fn other_digit(path: &Path) {
    in_first_row(path, |byte| byte + 1);
}

fn letter(path: &Path) {
    in_first_row(path, |_| b't');
}

fn in_first_row(path: &Path, change: impl Fn(u8) -> u8) {
    let mut bytes = fs::read(path).unwrap();
    let first_row = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let digit = first_row + bytes[first_row..].iter().position(|byte| (b'1'..=b'8').contains(byte)).unwrap();
    bytes[digit] = change(bytes[digit]);
    fs::write(path, bytes).unwrap();
}

fn without_last_row(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n").unwrap();
}

fn without_header(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, text.split_once('\n').unwrap().1).unwrap();
}

fn empty(path: &Path) {
    fs::write(path, "").unwrap();
}
