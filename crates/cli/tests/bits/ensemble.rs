//! Promise: a member of an ensemble has the bits of the same run alone, on any number of threads, and through a stop, a
//! kill and a resume; the failure of a member is reported, and the others continue.

use crate::program::{Folder, signal, summary, wait_until};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tisane_io::table::{self, Table, Values};

const CONFIG: &str = r#"
[run]
name = "e"
t_end = 0.5
[initial.plummer]
n = 40
[softening]
epsilon = "1/64"
[output]
directory = "e"
interval = "1/4"
[ensemble]
realisations = 3
series = true
[ensemble.vary]
"integrator.hermite4.nu" = [0.01, "1/32"]
"softening.epsilon" = { uniform = ["1/64", "1/16"] }
"#;

fn members(dir: &Path) -> Table {
    table::read_hdf5(&dir.join("members.hdf5")).expect("a table")
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    match &table.column(name).expect(name).values {
        Values::Text(texts) => texts.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.numbers(name).expect(name).iter().collect()
}

/// Returns the rows of both tables without the wall time.
fn rows(dir: &Path) -> BTreeMap<String, String> {
    let one = |file: &str| {
        let mut table = table::read(&dir.join(file)).expect(file);
        table.columns.retain(|column| column.name != "wall_seconds");
        (file.to_owned(), format!("{:?}", table.columns))
    };
    ["members.csv", "members.hdf5", "series.csv", "series.hdf5"].map(one).into_iter().collect()
}

#[test]
fn members_have_the_bits_of_the_same_runs_alone() {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml"]).exits(0).says(&["6 of 6 have ended: 6 finished"]);
    let dir = folder.path("e");
    let found = members(&dir);
    let (hashes, steps) = (texts(&found, "state_sha256"), numbers(&found, "block_steps"));
    let (nu, epsilon) = (texts(&found, "integrator.hermite4.nu"), numbers(&found, "softening.epsilon"));
    let seeds = numbers(&found, "initial.plummer.seed");
    assert_eq!(seeds, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    let (text, _) = CONFIG.split_once("[ensemble]").expect("the run alone");
    folder.write("alone.toml", text);
    let errors = numbers(&found, "energy_error");
    for member in 0..6 {
        let sets = [
            format!("integrator.hermite4.nu={}", nu[member]),
            format!("softening.epsilon={:?}", epsilon[member]),
            format!("initial.plummer.seed={}", seeds[member]),
        ];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let output = format!("alone-{member}");
        folder.tisane(&[&["run", "alone.toml", "--output", &output], &sets[..]].concat()).exits(0);
        let alone = summary(&folder.path(&output));
        assert_eq!(alone["state_sha256"], hashes[member], "member {member}");
        assert_eq!(
            (alone["block_steps"].as_f64(), alone["relative_energy_error"].as_f64()),
            (Some(steps[member]), Some(errors[member]))
        );
    }
    let series = table::read_hdf5(&dir.join("series.hdf5")).expect("a table");
    assert_eq!(numbers(&series, "time"), [0.0, 0.25, 0.5].repeat(6));
    assert_eq!(numbers(&series, "member")[..4], [0.0, 0.0, 0.0, 1.0]);
    let last: Vec<f64> = numbers(&series, "relative_energy_error").into_iter().skip(2).step_by(3).collect();
    assert_eq!(last, errors);
}

#[test]
fn members_with_subsystems_have_the_bits_of_the_same_runs_alone() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        members_with_subsystems(scheme);
    }
}

fn members_with_subsystems(scheme: &str) {
    let alone = "[run]\nname = \"e\"\nt_end = 1.0\n[initial.plummer]\nn = 48\n\
                 [initial.binaries]\nfraction = 0.5\na_min = 1e-4\na_max = 0.02\n[encounters]\n\
                 [output]\ndirectory = \"e\"\ninterval = 0.25\n"
        .to_owned()
        + &format!("[integrator.{scheme}]\n");
    let folder = Folder::new(&format!("{alone}[ensemble]\nrealisations = 4\nsnapshots = \"end\"\nseries = true\n"));
    folder.write("alone.toml", &alone);
    folder.tisane(&["run", "run.toml", "--threads", "2"]).exits(0).says(&["4 of 4 have ended: 4 finished"]);
    let hashes = texts(&members(&folder.path("e")), "state_sha256");
    for (hash, seed) in hashes.iter().zip(1..) {
        let (set, output) = (format!("initial.plummer.seed={seed}"), format!("alone-{seed}"));
        folder.tisane(&["run", "alone.toml", "-q", "--output", &output, "--set", &set]).exits(0);
        assert_eq!(summary(&folder.path(&output))["state_sha256"], *hash, "seed {seed}");
    }
    let file = crate::hdf::open(folder.path("e/snapshots/member_000003_0000.hdf5"));
    assert!(file.group("Subsystems").is_ok_and(|group| !group.is_empty()), "subsystems of the end");
    // Stopped again and again, with subsystems in the states of the members.
    let run = ["run", "run.toml", "--output", "stopped", "--time-limit", "10ms", "--threads", "1"];
    let code = folder.tisane(&run).code;
    assert_eq!(code, 3, "the members were over before the limit");
    folder.resume_until_it_ends("stopped", 100);
    assert!(rows(&folder.path("stopped")) == rows(&folder.path("e")), "stopped");
}

#[test]
fn threads_stops_and_kills_change_no_row() {
    let folder = Folder::new(CONFIG);
    // Together they take longer than the limits and pauses below.
    let more = ["--set", "ensemble.realisations=48", "--set", "initial.plummer.n=600"];
    let run = |output: &str, options: &[&str]| {
        folder.tisane(&[&["run", "run.toml", "--output", output], &more[..], options].concat())
    };
    run("whole", &["--threads", "1"]).exits(0);
    let want = rows(&folder.path("whole"));
    run("threads", &["--threads", "3"]).exits(0);
    assert!(rows(&folder.path("threads")) == want, "three threads");
    run("limited", &["--time-limit", "200ms", "--threads", "2"]).exits(3).says(&["stopped (time-limit)", "resume"]);
    folder.tisane(&["inspect", "limited"]).exits(0).says(&[
        "not finished",
        "of 96 have ended",
        "tisane resume limited",
    ]);
    folder.tisane(&["resume", "limited", "--time-limit", "10ms"]).exits(3);
    folder.tisane(&["resume", "limited", "--threads", "2"]).exits(0);
    assert!(rows(&folder.path("limited")) == want, "stopped twice");
    folder.tisane(&["inspect", "limited/in_progress.hdf5"]).exits(0).says(&["0 in progress"]);
    for (how, pauses) in [("KILL", 5), ("TERM", 2)] {
        let output = format!("ended-by-{how}");
        let begin: Vec<&str> =
            [&["run", "run.toml", "--output", &output, "--set", "checkpoint.interval=20ms"], &more[..]].concat();
        let mut arguments = begin;
        for pause in 1..=pauses {
            let mut child = folder.start(&arguments);
            let log = folder.path(&output).join("members.csv");
            wait_until("the tables", || log.is_file() || child.try_wait().expect("a child").is_some());
            std::thread::sleep(std::time::Duration::from_millis(30 * pause));
            if child.try_wait().expect("a child").is_none() {
                signal(&child, &format!("-{how}"));
            }
            child.wait().expect("an end");
            arguments = vec!["resume", &output];
        }
        folder.tisane(&arguments).exits(0);
        let found = rows(&folder.path(&output));
        assert!(found == want, "{how}");
    }
    // A resume of what has ended writes the same again.
    folder.tisane(&["resume", "whole"]).exits(0);
    assert!(rows(&folder.path("whole")) == want, "resumed after the end");
}

#[test]
fn members_in_progress_are_kept() {
    let folder = Folder::new(CONFIG);
    // Members that take much longer than this test.
    let more = ["--set", "run.t_end=1000", "--set", "initial.plummer.n=600", "--set", "checkpoint.interval=20ms"];
    let mut child = folder.start(&[&["run", "run.toml", "--output", "stopped"], &more[..]].concat());
    let kept = folder.path("stopped").join("in_progress.hdf5");
    wait_until("members in progress", || kept.is_file());
    signal(&child, "-TERM");
    assert_eq!(child.wait().expect("an end").code(), Some(3));
    folder.tisane(&["inspect", "stopped/in_progress.hdf5"]).exits(0).says(&["in progress"]);
}

#[test]
fn failures_of_members_are_reported_and_the_others_continue() {
    let folder = Folder::new(CONFIG);
    let vary = "ensemble.vary={ 'integrator.hermite4.dt_min' = [1e-7, 0.1, 1e-6], 'run.t_end' = [0.5, 0.3] }";
    let said = folder.tisane(&["run", "run.toml", "--set", vary, "--set", "ensemble.realisations=1"]);
    said.exits(2).says(&["member 1, run.t_end=0.3", "not a whole multiple"]);
    assert!(!folder.path("e").exists(), "nothing was written");
    let vary = "ensemble.vary={ 'integrator.hermite4.dt_min' = ['2^-20', '2^-4', '2^-18'] }";
    let once = ["--precision", "mixed", "--set", "ensemble.realisations=1"];
    let said = folder.tisane(&[&["run", "run.toml", "--set", vary], &once[..]].concat()).exits(0);
    said.says(&["3 of 3 have ended: 1 failed, 2 finished", "member 1: "]);
    let found = members(&folder.path("e"));
    assert_eq!(texts(&found, "outcome"), ["finished", "failed", "finished"]);
    let unmeasured = numbers(&found, "acceleration_error").into_iter().map(f64::is_nan);
    assert!(unmeasured.eq([false, true, false]), "of member 1 the forces at its end were not compared");
    let problems = texts(&found, "problem");
    assert!(problems[0].is_empty() && problems[1].contains("dt_min"), "{problems:?}");
    folder.tisane(&["why", "e"]).exits(0).says(&["1 failed, 2 finished", "in the way of member 1", "dt_min"]);
}

#[test]
fn whole_sections_may_differ() {
    let folder = Folder::new(CONFIG);
    let vary = "ensemble.vary={ integrator = [{ hermite4 = {} }, { multipoint = {} }] }";
    let said = folder.tisane(&["run", "run.toml", "--set", vary, "--set", "ensemble.realisations=1"]).exits(0);
    said.says(&["2 of 2 have ended: 2 finished"]);
    let hashes = texts(&members(&folder.path("e")), "state_sha256");
    assert_ne!(hashes[0], hashes[1]);
    let wrong = vary.replace("integrator =", "integratro =");
    folder.tisane(&["run", "run.toml", "--set", &wrong, "--overwrite"]).exits(2).says(&["integratro", "integrator"]);
}

#[test]
fn mistakes_are_reported_at_their_place() {
    let folder = Folder::new(&CONFIG.replace("\"integrator.hermite4.nu\"", "\"softening.epsilno\""));
    folder.tisane(&["run", "run.toml"]).exits(2).says(&["run.toml:", "softening.epsilno", "did you mean `epsilon`"]);
    assert!(!folder.path("e").exists(), "nothing was written");
    folder.write("run.toml", CONFIG);
    folder.tisane(&["run", "run.toml"]).exits(0);
    folder.write("e/in_progress.hdf5", "garbage");
    folder.tisane(&["resume", "e"]).exits(2).says(&["in_progress.hdf5", "begin anew"]);
    fs::remove_file(folder.path("e/in_progress.hdf5")).expect("a file");
    // The end of the last row is missing: that member is integrated again.
    let (path, before) = (folder.path("e/members.csv"), rows(&folder.path("e")));
    let text = fs::read_to_string(&path).expect("a table");
    fs::write(&path, &text[..text.len() - 9]).expect("a table");
    folder.tisane(&["resume", "e"]).exits(0);
    assert!(rows(&folder.path("e")) == before, "a damaged row");
}

#[test]
fn files_are_taken_by_a_pattern_and_are_the_same_after_a_resume() {
    let folder = Folder::new("");
    let text = "run = { name = 'e', t_end = 512 }\nunits.system = 'henon'\nsoftening.epsilon = 0.1\n\
                [output]\ndirectory = 'e'\n[initial.file]\npath = 'a1.csv'\n\
                [ensemble]\nsnapshots = 'end'\n[ensemble.vary]\n'initial.file.path' = { files = 'a?.csv' }";
    folder.write("run.toml", text);
    for (name, x) in [("a1.csv", 1), ("a2.csv", 2), ("b.csv", 3)] {
        folder.write(name, format!("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,{x},0,0,0,0.1,0\n1,0,1,0,0,0,0.1\n"));
    }
    folder.tisane(&["check", "run.toml"]).exits(0).says(&[
        "an ensemble of 2 members",
        "engine of all ",
        "a1.csv",
        "a2.csv",
    ]);
    folder.tisane(&["run", "run.toml", "--time-limit", "1ms"]).exits(3);
    folder.write("a0.csv", "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n");
    folder.tisane(&["resume", "e"]).exits(0).says(&["2 of 2 have ended"]);
    let paths = texts(&members(&folder.path("e")), "initial.file.path");
    assert!(paths[0].ends_with("a1.csv") && paths[1].ends_with("a2.csv"), "{paths:?}");
    for member in 0..2 {
        let path = format!("e/snapshots/member_{member:06}_0000.hdf5");
        folder.tisane(&["inspect", &path]).exits(0).says(&["particles", "3"]);
    }
    folder
        .tisane(&["run", "run.toml", "--set", "ensemble.vary={ 'initial.file.path' = { files = 'c*' } }"])
        .exits(2)
        .says(&["no file has such a name"]);
}

#[test]
fn a_cluster_that_loses_its_stars_is_dissolved() {
    let folder = Folder::new(CONFIG);
    let hot =
        ["--set", "initial.plummer.virial_ratio=0.99", "--set", "run.t_end=64", "--set", "ensemble.stop=dissolution"];
    let more = ["--set", "ensemble.bound_fraction=0.8", "--set", "ensemble.realisations=2"];
    folder.tisane(&[&["run", "run.toml"], &hot[..], &more].concat()).exits(0).says(&["4 dissolved"]);
    let dir = folder.path("e");
    let (found, series) = (members(&dir), table::read(&dir.join("series.csv")).expect("a table"));
    assert!(numbers(&found, "time").iter().all(|time| *time < 64.0));
    assert!(numbers(&found, "bound_fraction").iter().all(|share| *share < 0.8));
    let bound = numbers(&series, "bound_mass");
    let ended: Vec<f64> =
        numbers(&series, "member").windows(2).zip(&bound).filter(|(m, _)| m[0] != m[1]).map(|(_, b)| *b).collect();
    assert!(ended.iter().all(|share| *share < 0.8) && ended.len() == 3, "{ended:?}");
    folder.tisane(&["plot", "e"]).exits(0).says(&["e/plots/bands.svg", "e/plots/errors.png", "e/plots/report.html"]);
    let svg = fs::read_to_string(dir.join("plots/dissolution.svg")).expect("a figure");
    assert!(svg.contains("share of members not dissolved") && svg.contains("nu = "), "{svg}");
    folder.tisane(&["inspect", "e"]).exits(0).says(&[
        "finished: all",
        "4 of 4 have ended: 4 dissolved",
        "tisane plot e",
    ]);
}

#[test]
fn one_run_is_not_an_ensemble() {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml"]).exits(0);
    folder.tisane(&["run", "run.toml"]).exits(2).says(&["already holds files", "--overwrite"]);
    fs::write(folder.path("e").join("mine.txt"), "mine").expect("a file");
    folder.tisane(&["run", "run.toml", "--overwrite"]).exits(0);
    assert!(folder.path("e").join("mine.txt").is_file(), "files of the user stay");
    folder.tisane(&["resume", "e", "--set", "run.t_end=2"]).exits(2).says(&["without --set"]);
    folder.tisane(&["run", "run.toml", "--overwrite", "--profile"]).exits(2).says(&["--profile", "one run"]);
    folder.tisane(&["advise", "run.toml", "--time", "1h"]).exits(2).says(&["describes many runs"]);
}
