//! Checkpoints that are damaged, or of another run.

use super::FROM_FILE;
use crate::outcome::Outcome;
use crate::program::{Folder, SMALL, stopped_twice, summary};
use std::fs;

const JOURNALS: [&str; 4] = ["diagnostics", "cluster", "binaries", "events"];

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x10;
    bytes
}

#[test]
fn a_damaged_checkpoint_is_told_and_the_previous_one_taken() {
    let (folder, state) = stopped_twice();
    let before = folder.files();
    let good = fs::read(folder.path("o/checkpoint.hdf5")).unwrap();
    let n = good.len();
    let damaged = [Vec::new(), good[..1].to_vec(), good[..n / 2].to_vec(), good[..n - 1].to_vec()];
    let damaged = damaged.into_iter().chain([0, 60, n / 3, n / 2, n - 81, n - 1].map(|at| flipped(&good, at)));
    for (case, bytes) in damaged.enumerate() {
        for (path, content) in before.iter().filter(|(path, _)| path.is_file()) {
            fs::write(path, content).unwrap();
        }
        folder.write("o/checkpoint.hdf5", bytes);
        let said = folder.tisane(&["resume", "o"]).exits(0);
        let said = said.says(&["WARN", "checkpoint.hdf5", "using checkpoint.previous.hdf5 instead"]);
        assert!(!said.err.contains('\u{1b}'), "colours in a pipe: {}", said.err);
        assert_eq!(summary(&folder.path("o"))["state_sha256"].to_string(), state, "damage {case}");
        let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
        assert!(log.contains("using checkpoint.previous.hdf5 instead"), "{log}");
    }
}

#[test]
fn a_missing_checkpoint_is_replaced_by_the_previous_one() {
    let (folder, state) = stopped_twice();
    fs::remove_file(folder.path("o/checkpoint.hdf5")).unwrap();
    folder.tisane(&["resume", "o"]).exits(0).says(&["using checkpoint.previous.hdf5 instead"]);
    assert_eq!(summary(&folder.path("o"))["state_sha256"].to_string(), state);
}

/// Resuming is refused with these words, and touches no file.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let before = folder.files();
    let said = folder.tisane(&[&["resume"], arguments].concat()).exits(2).says(parts);
    assert!(!said.err.contains("panicked"), "{}", said.err);
    let after = folder.files();
    let touched: Vec<_> = after.iter().filter(|(path, content)| before.get(*path) != Some(content)).collect();
    assert!(touched.is_empty() && after.len() == before.len(), "{:?}", touched.iter().map(|t| t.0).collect::<Vec<_>>());
}

#[test]
fn without_a_good_checkpoint_resume_says_why_for_both() {
    let (folder, _) = stopped_twice();
    for name in ["o/checkpoint.hdf5", "o/checkpoint.previous.hdf5"] {
        let good = fs::read(folder.path(name)).unwrap();
        folder.write(name, flipped(&good, good.len() / 2));
    }
    refused(&folder, &["o"], &["no valid checkpoint", "checkpoint.hdf5", "checkpoint.previous.hdf5"]);
}

#[test]
fn a_directory_that_is_no_run_is_refused() {
    let folder = Folder::new(SMALL);
    fs::create_dir(folder.path("empty")).unwrap();
    refused(&folder, &["empty"], &["empty", "no valid checkpoint"]);
    refused(&folder, &["nowhere"], &["nowhere", "there is no such run"]);
    refused(&folder, &["run.toml"], &["run.toml", "this is a file"]);
}

#[test]
fn a_checkpoint_of_another_n_or_configuration_is_refused() {
    let (folder, _) = stopped_twice();
    let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
    for (from, to, parts) in [
        ("n = 16", "n = 17", &["checkpoint.hdf5", "16 particles", "17"][..]),
        ("epsilon = 0.01", "epsilon = 0.02", &["checkpoint.hdf5", "softening"]),
        ("seed = 1", "seed = 2", &["checkpoint.hdf5", "initial"]),
        ("nu = 0.01", "nu = 0.02", &["checkpoint.hdf5", "integrator"]),
    ] {
        assert!(config.contains(from), "{from} in {config}");
        folder.write("o/config.toml", config.replacen(from, to, 1));
        refused(&folder, &["o"], parts);
    }
    folder.write("o/config.toml", "");
    refused(&folder, &["o"], &["config.toml"]);
    fs::remove_file(folder.path("o/config.toml")).unwrap();
    refused(&folder, &["o"], &["config.toml"]);
}

#[test]
fn another_runs_checkpoint_in_this_directory_is_refused() {
    let (folder, _) = stopped_twice();
    folder.tisane(&["run", "run.toml", "-q", "--output", "other", "--set", "initial.plummer.n=17"]).exits(0);
    fs::copy(folder.path("other/checkpoint.hdf5"), folder.path("o/checkpoint.hdf5")).unwrap();
    refused(&folder, &["o"], &["17 particles", "16"]);
}

#[test]
fn a_checkpoint_of_a_run_from_other_particles_in_a_file_of_the_same_name_is_refused() {
    let folder = Folder::new(FROM_FILE);
    for (output, x) in [("a", 1), ("b", 2)] {
        folder.write("particles", format!("m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,1\n1,{x},0,0,0,1,0,2\n"));
        folder.tisane(&["run", "run.toml", "-q", "--output", output]).exits(0);
    }
    let own = fs::read(folder.path("b/checkpoint.hdf5")).unwrap();
    fs::copy(folder.path("a/checkpoint.hdf5"), folder.path("b/checkpoint.hdf5")).unwrap();
    let on = ["b", "--t-end", "1.0"];
    refused(&folder, &on, &["b/checkpoint.hdf5", "of another run than snapshots/", "SHA-256", "copied"]);
    folder.write("b/checkpoint.hdf5", "");
    fs::copy(folder.path("a/checkpoint.hdf5"), folder.path("b/checkpoint.previous.hdf5")).unwrap();
    refused(&folder, &on, &["b/checkpoint.previous.hdf5", "of another run than snapshots/"]);
    fs::rename(folder.path("b/snapshots"), folder.path("archive")).unwrap();
    refused(&folder, &on, &["of another run than diagnostics.hdf5"]);
    // Nobody needs the snapshots, the diagnostics beside their CSV, or the particles that the file held.
    folder.write("b/checkpoint.hdf5", own);
    fs::remove_file(folder.path("b/diagnostics.hdf5")).unwrap();
    folder.write("particles", "");
    folder.tisane(&["resume", "b", "-q", "--t-end", "1.0"]).exits(0);
}

#[test]
fn an_end_before_the_moment_reached_is_refused() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    refused(&folder, &["o", "--t-end", "0.25"], &["t_end", "0.5", "0.25"]);
    refused(&folder, &["o", "--t-end", "0.6"], &["t_end", "0.6", "0.625"]);
    refused(&folder, &["o", "--t-end", "later"], &["--t-end", "later"]);
}

#[test]
fn diagnostics_that_do_not_fit_the_checkpoint_are_refused() {
    let (folder, _) = stopped_twice();
    let csv = fs::read_to_string(folder.path("o/diagnostics.csv")).unwrap();
    folder.write("o/diagnostics.csv", csv.lines().next().unwrap());
    // From it the rows would be restored.
    fs::remove_file(folder.path("o/diagnostics.hdf5")).unwrap();
    let config = fs::read(folder.path("o/config.toml")).unwrap();
    folder.tisane(&["resume", "o", "--t-end", "1.0"]).exits(2).says(&["diagnostics.csv"]);
    assert_eq!(fs::read(folder.path("o/config.toml")).unwrap(), config, "the end was not moved");
}

fn config_of_behind() -> String {
    SMALL.replace("n = 16", "n = 64") + "[initial.binaries]\nfraction = 0.5\na_min = 0.01\na_max = 0.02\n"
}

/// A finished run with all four journals, whose newest checkpoint is lost: the one before counts fewer rows than there
/// are.
fn behind() -> Folder {
    let folder = Folder::new(&config_of_behind());
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=100"]).exits(3);
    folder.lift_block_limit("o");
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    fs::remove_file(folder.path("o/checkpoint.hdf5")).unwrap();
    folder
}

#[test]
fn where_one_journal_is_lost_no_other_is_cut() {
    for lost in JOURNALS {
        let folder = behind();
        fs::remove_file(folder.path(&format!("o/{lost}.hdf5"))).unwrap();
        fs::remove_file(folder.path(&format!("o/{lost}.csv"))).unwrap();
        let before = folder.files();
        let words = [&format!("{lost}.csv"), "no such file", "the checkpoint is intact", "restore the file"];
        folder.tisane(&["resume", "o", "-q"]).exits(2).says(&words);
        let mut after = folder.files();
        // It has a line about the attempt.
        after.insert(folder.path("o/run.log"), before[&folder.path("o/run.log")].clone());
        assert!(after == before, "without {lost}.csv a file was touched");
    }
}

#[test]
fn a_journal_that_is_lost_is_made_again_from_its_twin() {
    let whole = Folder::new(&config_of_behind());
    whole.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let expected = Outcome::read(&whole.path("o"));
    for lost in JOURNALS {
        let folder = behind();
        let (csv, twin) = (format!("o/{lost}.csv"), format!("o/{lost}.hdf5"));
        let before = fs::read_to_string(folder.path(&csv)).unwrap();
        fs::remove_file(folder.path(&csv)).unwrap();
        // Rows that are not those of the run do not take their place.
        let own = fs::read(folder.path(&twin)).unwrap();
        folder.tisane(&["run", "run.toml", "-q", "--output", "other", "--set", "initial.plummer.seed=9"]).exits(0);
        fs::copy(folder.path(&format!("other/{lost}.hdf5")), folder.path(&twin)).unwrap();
        folder.tisane(&["resume", "o"]).exits(2).says(&[
            &csv,
            "no such file",
            "does not have the",
            "that the run wrote",
        ]);
        folder.write(&twin, own);
        let resumed = ["resume", "o", "--time-limit", "1ns"];
        folder.tisane(&resumed).exits(3).says(&[&csv, "was missing: restored from", &format!("{lost}.hdf5")]);
        let after = fs::read_to_string(folder.path(&csv)).unwrap();
        assert!(before.starts_with(&after) && before.len() > after.len(), "{before}\n{after}");
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), lost);
    }
}

#[test]
fn snapshots_that_were_moved_away_are_told_and_their_folder_made_again() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    fs::rename(folder.path("o/snapshots"), folder.path("archive")).unwrap();
    let words = ["o/snapshots: 5 of the 5 snapshots of this run are not there"];
    folder.tisane(&["resume", "o", "--t-end", "5/8"]).exits(0).says(&words);
    assert_eq!(tisane_io::directory::snapshot_numbers(&folder.path("o")).unwrap(), [5]);
}

#[test]
fn an_end_before_zero_is_no_option() {
    let folder = Folder::new(&SMALL.replace("t_end = 0.5", "t_start = -2.0\nt_end = -1.5"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    for (end, time) in [("-1.25", -1.25), ("-9/8", -1.125)] {
        folder.tisane(&["resume", "o", "-q", "--t-end", end]).exits(0);
        assert_eq!(summary(&folder.path("o"))["time"], time);
    }
    folder.tisane(&["resume", "o", "--t-end", "-q"]).exits(2).says(&["--t-end", "-q"]);
}

#[test]
fn a_run_that_is_not_there_is_told_in_one_way_with_those_that_are() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "--quiet"]).exits(0);
    let expected = "runs/quickstart: there is no such run. In runs/: small";
    for command in ["inspect", "plot", "movie", "view", "why", "resume", "analyze"] {
        folder.tisane(&[command, "runs/quickstart"]).exits(2).says(&[expected]);
    }
    folder.tisane(&["plot", "runs/quickstart", "--y", "energy"]).exits(2).says(&[expected]);
    folder.tisane(&["inspect", "elsewhere/quickstart"]).exits(2).says(&["elsewhere/quickstart: there is no such run"]);
}
