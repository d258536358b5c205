//! Promise: `tisane why` explains any directory of a run (in progress, finished, stopped, ended by an error, killed,
//! damaged, of an older version), changes nothing in it, and the commands that it advises work.

use crate::program::{Folder, SMALL, data_of_others, files, signal, wait_until};
use crate::transcript::Transcript;
use std::fs;
use std::path::Path;

/// Three bodies that come very close to each other.
const PYTHAGOREAN: &str = "[run]\nname = \"burrau\"\nt_end = 20\n[initial.pythagorean]\n[integrator.hermite4]\n\
                           dt_max = \"1/64\"\ndt_min = \"2^-16\"\n";
/// Takes minutes: to be looked at while it goes on.
const LONG: &str = "[run]\nname = \"long\"\nt_end = 1000\n[initial.plummer]\nn = 256\nseed = 7\n[softening]\n\
                    epsilon = 0.01\n[integrator.hermite4]\nnu = 0.01\ndt_max = \"1/32\"\ndt_min = \"2^-26\"\n";

/// The page about a run, on one line. Asserts that it fits a screen or two, and that nothing in the directory changed.
#[track_caller]
fn page(folder: &Folder, dir: &str) -> String {
    let before = files(&folder.path(dir));
    let said = folder.tisane(&["why", dir]).exits(0);
    assert_eq!(said.err, "");
    let height = said.out.lines().count();
    assert!(said.out.lines().all(|line| line.chars().count() <= 100) && height <= 66, "{height} lines\n{}", said.out);
    assert!(before == files(&folder.path(dir)), "files of the run changed");
    said.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that a page has these parts.
#[track_caller]
fn has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "expected {part:?} in\n{page}");
    }
}

/// Does the first command of a page whose words begin so.
fn follow(folder: &Folder, page: &str, begin: &str) -> crate::program::Said {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("no {begin:?} in\n{page}"));
    let words: Vec<&str> = begin.split(' ').chain(rest.split(' ')).filter(|word| !word.is_empty()).collect();
    // The command ends before the next word of the text.
    let is_option = |word: &str| word.starts_with("--") || word.contains('=');
    let end = 3 + words[3..].iter().take_while(|word| is_option(word)).count();
    let words: Vec<&str> = words[1..end].iter().map(|word| word.trim_end_matches(',')).collect();
    folder.tisane(&[&words[..], &["-q"]].concat())
}

fn flip_a_byte(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_finished_run_is_told_as_such() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--profile"]).exits(0);
    let page = page(&folder, "o");
    has(&page, &["small in o, N = 16, cpu, f64", "Finished: t = 0.5 T after ", "relative energy error "]);
    has(&page, &["to t [T] step [T] block wall time pairs/s dE/E", "Particles with the most steps at t = 0.5 T"]);
    has(
        &page,
        &["profile forces ", "audit of forces not needed", "snapshots ", "checkpoint t = 0.5 T; checkpoint.hdf5"],
    );
    assert!(!page.contains("What to do") && !page.contains("not readable"), "{page}");
}

#[test]
fn a_run_that_ended_at_dt_min_goes_on_by_the_command_of_the_page() {
    let folder = Folder::new(PYTHAGOREAN);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(4);
    let failed = page(&folder, "o");
    has(
        &failed,
        &[
            "Ended by an error at t = ",
            " T of 20 after ",
            "below dt_min = ",
            "one binary takes over 99 % of the particle steps",
            ": ids 1 + 2, a = ",
        ],
    );
    has(
        &failed,
        &["orbits to t_end", "particles step [T] of steps r [L] a [L] e P [T] orbits left", "checkpoint t = "],
    );
    // Each time the advice is for the encounter at hand.
    let mut code = 4;
    for _ in 0..10 {
        code = follow(&folder, &page(&folder, "o"), "tisane resume o").code;
        if code != 4 {
            break;
        }
    }
    assert_eq!(code, 0);
    has(&page(&folder, "o"), &["Finished: t = 20 T", "changed integrator.hermite4.dt_min from"]);
}

#[test]
fn the_subsystem_with_the_most_evaluations_is_named() {
    let binaries = "[run]\nname = \"b\"\nt_end = 1.0\n[initial.plummer]\nn = 40\n[initial.binaries]\nfraction = 0.5\na_min = 1e-3\n\
                    a_max = 5e-2\n";
    let folder = Folder::new(binaries);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let page = page(&folder, "o");
    has(&page, &["internal motion ", " took the most evaluations of forces, ", " % of those of ", " subsystems here"]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "none", "--set", "encounters.perturbation=0"]);
    assert!(!self::page(&folder, "none").contains("internal motion"));
}

#[test]
fn a_stopped_run_goes_on_by_the_command_of_the_page() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o o", "--set", "limits.block_steps=9"]).exits(3);
    let stopped = page(&folder, "o o");
    has(&stopped, &["Stopped at its limit of block steps (block-step-limit) with a checkpoint: t = ", "to go."]);
    has(&stopped, &["Go on from the checkpoint at t = ", "tisane resume 'o o'"]);
    folder.tisane(&["resume", "o o", "-q"]).exits(3);
}

#[test]
fn a_run_in_progress_and_one_that_was_killed_are_told_apart() {
    let folder = Folder::new(LONG);
    let mut run = folder.start(&["run", "run.toml", "-q", "--output", "o", "--threads", "1"]);
    wait_until("five rows", || {
        fs::read_to_string(folder.path("o/diagnostics.csv")).is_ok_and(|text| text.lines().count() > 5)
    });
    // Its files change meanwhile.
    let said =
        folder.tisane(&["why", "o"]).exits(0).says(&["Runs: t = ", "of 1000 after ", "to go.", "last row written"]);
    assert!(!said.out.contains("tisane resume"), "{}", said.out);
    signal(&run, "-STOP");
    let halted = format!("Halted: process {} was stopped (SIGSTOP)", run.id());
    wait_until("the stop", || folder.tisane(&["why", "o"]).exits(0).out.contains("Halted"));
    folder.tisane(&["why", "o"]).exits(0).says(&[&halted, &format!("kill -CONT {}", run.id())]);
    signal(&run, "-KILL");
    run.wait().unwrap();
    let killed = page(&folder, "o");
    has(&killed, &["Killed at t = ", &format!("process {} on ", run.id()), "tisane resume o"]);
    folder.tisane(&["resume", "o", "-q", "--time-limit", "1s"]).exits(3);
    has(&page(&folder, "o"), &["Stopped at its limit of wall time (time-limit)"]);
}

#[test]
fn damaged_and_missing_files_are_named_and_the_rest_is_told() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    flip_a_byte(&folder.path("o/checkpoint.hdf5"));
    has(
        &page(&folder, "o"),
        &["Finished: t = 0.5 T", "not readable o/checkpoint.hdf5", "using checkpoint.previous.hdf5"],
    );
    flip_a_byte(&folder.path("o/checkpoint.previous.hdf5"));
    folder.write("o/summary.json", "{\"exit_reason\": ");
    let without = page(&folder, "o");
    has(
        &without,
        &["Not running, at t = 0.5 T", "no valid checkpoint", "not readable summary.json", "snapshot_0004.hdf5)"],
    );
    has(&without, &["Begin anew from the newest snapshot (t = 0.5 T)", "path = \"o/snapshots/snapshot_0004.hdf5\""]);
    for name in ["diagnostics.csv", "diagnostics.hdf5", "events.csv", "events.hdf5", "config.toml"] {
        fs::remove_file(folder.path("o").join(name)).unwrap();
    }
    fs::remove_dir_all(folder.path("o/snapshots")).unwrap();
    has(&page(&folder, "o"), &["Not running, at its start", "not readable config.toml", "and 3 more"]);
    folder.write("o/run.log", [0xff; 100]);
    page(&folder, "o");
}

#[test]
fn a_run_of_format_1_is_told() {
    let (folder, fixtures) =
        (Folder::new(""), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/format-1"));
    fs::create_dir_all(folder.path("o/snapshots")).unwrap();
    for entry in fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let target = if name.starts_with("snapshot") { format!("o/snapshots/{name}") } else { format!("o/{name}") };
        fs::copy(&path, folder.path(&target)).unwrap();
    }
    has(
        &page(&folder, "o"),
        &["Stopped at its limit of block steps", "Particles with the most steps", "checkpoint t = "],
    );
}

#[test]
fn a_real_cluster_with_softening_is_told_in_its_units() {
    let Some(path) = data_of_others("N1k.dat.10") else { return };
    let folder = Folder::new(&format!(
        "[run]\nname = \"n1k\"\nt_end = \"1/8\"\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
         time = \"Myr\"\n[initial.file]\npath = {path:?}\n[softening]\nepsilon = 1e-3\n[integrator.hermite4]\n\
         dt_max = \"1/64\"\n"
    ));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let page = page(&folder, "o");
    has(&page, &["N = 1000", "Finished: t = 0.125 Myr", "to t [Myr]", "of 1000 particles", "r [pc]", "dt_min"]);
}

#[test]
fn only_the_directory_of_a_run_is_explained() {
    let folder = Folder::new(SMALL);
    fs::create_dir(folder.path("empty")).unwrap();
    let mut transcript = Transcript::default();
    for dir in ["none", "run.toml", "empty"] {
        transcript.tisane(&folder, &["why", dir]).exits(2);
    }
    transcript.is("why_refused");
}
