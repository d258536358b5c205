//! Promise: a run that is resumed can go on with another accuracy, other steps, precision, outputs and limits; every
//! change is recorded, and nothing else can be changed.

use crate::program::{Folder, SMALL, summary};
use std::fs;
use tisane_io::provenance::{Change, from_file};

/// A run stopped after 40 block steps.
fn stopped() -> Folder {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=40"]).exits(3);
    folder.lift_block_limit("o");
    folder
}

const INTERVALS: [&str; 4] =
    ["output.interval", "output.snapshot_interval", "output.diagnostics_interval", "cluster.interval"];

fn changes(folder: &Folder, file: &str) -> Vec<Change> {
    from_file(&folder.path(file)).unwrap().changes().unwrap()
}

#[test]
fn changes_are_recorded_in_every_file_and_lead_to_other_bits() {
    let folder = stopped();
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    let sets = ["--set", "integrator.hermite4.nu=0.002", "--set", "limits.wall_time=1h", "--t-end", "0.75"];
    let said = folder.tisane(&[&["resume", "o"][..], &sets].concat()).exits(0);
    said.says(&[
        "integrator.hermite4.nu changes from 0.01 to 0.002 at t = 0.",
        "after 40 block steps: the bits from here on are those of the new value",
    ]);
    let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
    for part in [
        "integrator.hermite4.nu changes from 0.01 to 0.002",
        "limits.wall_time changes from none to \"1h\"",
        "run.t_end changes from 0.5 to 0.75",
        "the trajectory does not depend on it",
    ] {
        assert!(log.contains(part), "{part} in {log}");
    }
    let written = summary(&folder.path("o"));
    let keys: Vec<&str> = written["changes"].as_array().unwrap().iter().map(|it| it["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["integrator.hermite4.nu", "limits.block_steps", "limits.wall_time", "run.t_end"]);
    assert!(written["changes"][0]["trajectory"] == true && written["changes"][1]["trajectory"] == false);
    for file in ["diagnostics.hdf5", "cluster.hdf5", "checkpoint.hdf5", "snapshots/snapshot_0004.hdf5", "summary.json"]
    {
        let found = changes(&folder, &format!("o/{file}"));
        assert_eq!((found.len(), &*found[0].key, found[0].block_steps), (4, "integrator.hermite4.nu", 40), "{file}");
    }
    assert_eq!(changes(&folder, "o/snapshots/snapshot_0000.hdf5"), [], "written before");
    let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
    assert!(config.contains("nu = 0.002 ") && config.contains("t_end = 0.75"), "{config}");
    // The next resumption needs no word of it.
    folder.tisane(&["resume", "o", "-q", "--t-end", "1.0"]).exits(0);
    assert_eq!(changes(&folder, "o/checkpoint.hdf5").len(), 5);
    // A file from after a change is not that of one configuration.
    folder.tisane(&["reproduce", "o/summary.json"]).exits(2).says(&["changed", "integrator.hermite4.nu", "40"]);
}

/// Resumes a run at half its length with a shorter and a longer dt_max, and checks its end and its energy error.
fn check_other_longest_steps(config: &str, scheme: &str, max_error: f64) {
    for (dt_max, output) in [("1/16", "shorter"), ("1/4", "longer")] {
        let folder = Folder::new(config);
        folder.tisane(&["run", "run.toml", "-q", "--output", output, "--set", "run.t_end=0.25"]).exits(0);
        let set = format!("integrator.{scheme}.dt_max={dt_max}");
        let mut arguments = vec!["resume", output, "-q", "--t-end", "0.5", "--set", &set];
        let intervals = INTERVALS.map(|key| format!("{key}=0.25"));
        arguments.extend(intervals.iter().flat_map(|set| ["--set", set]));
        folder.tisane(&arguments).exits(0);
        let summary = summary(&folder.path(output));
        assert_eq!((&summary["time"], &summary["exit_reason"]), (&0.5.into(), &"finished".into()));
        assert!(summary["max_relative_energy_error"].as_f64().unwrap() < max_error, "{summary}");
    }
}

#[test]
fn another_longest_step_counts_the_same_moments() {
    check_other_longest_steps(SMALL, "hermite4", 1e-5);
    let folder = stopped();
    let refused = |dt_max: &str, parts: &[&str]| {
        let mut sets = vec![format!("integrator.hermite4.dt_max={dt_max}")];
        sets.extend(INTERVALS.map(|key| format!("{key}={dt_max}")));
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        folder.tisane(&["resume", "o", "-q"].into_iter().chain(sets).collect::<Vec<_>>()).exits(2).says(parts);
    };
    refused("0.1", &["2, 4, 8 … times shorter or longer than its own, 0.125", "0.0625", "0.25"]);
    refused("1/256", &["stands between", "tisane resume o --t-end 0.25"]);
}

fn with_neighbours() -> String {
    SMALL.to_owned() + "[integrator.ahmad_cohen]\n"
}

/// A run of the neighbour scheme, stopped in the middle.
fn stopped_with_neighbours() -> Folder {
    let folder = Folder::new(&with_neighbours());
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=40"]).exits(3);
    folder
}

#[test]
fn settings_of_the_neighbour_scheme_can_change_but_for_its_order() {
    for set in ["eta=0.2", "eta_regular=0.15", "neighbours=5", "neighbours=1000", "dt_min='2^-39'"] {
        let folder = stopped_with_neighbours();
        let set = format!("integrator.ahmad_cohen.{set}");
        let lift = "limits.block_steps=1000000";
        folder.tisane(&["resume", "o", "-q", "--set", &set, "--set", lift]).exits(0);
        let summary = summary(&folder.path("o"));
        assert_eq!(summary["exit_reason"], "finished", "{set}");
        assert!(summary["max_relative_energy_error"].as_f64().unwrap() < 1e-6, "{set}: {summary}");
    }
    let folder = stopped_with_neighbours();
    let order = ["resume", "o", "-q", "--set", "integrator.ahmad_cohen.order=4"];
    folder.tisane(&order).exits(2).says(&["another integrator.ahmad_cohen.order than its own, 6"]);
}

#[test]
fn another_longest_step_counts_the_same_regular_steps() {
    check_other_longest_steps(&with_neighbours(), "ahmad_cohen", 1e-6);
}

#[test]
fn the_precision_can_change_and_takes_its_own_limit_of_the_audit() {
    let folder = stopped();
    folder.tisane(&["resume", "o", "-q", "--set", "force.precision=mixed"]).exits(0);
    let (keys, config) =
        (changes(&folder, "o/checkpoint.hdf5"), fs::read_to_string(folder.path("o/config.toml")).unwrap());
    let keys: Vec<&str> = keys.iter().map(|it| &*it.key).collect();
    assert_eq!(keys, ["audit.limit", "force.precision", "limits.block_steps"]);
    let config: toml::Table = config.parse().unwrap();
    assert_eq!(
        (config["force"]["precision"].as_str(), config["audit"]["limit"].as_float()),
        (Some("mixed"), Some(1e-5))
    );
}

#[test]
fn what_the_state_depends_on_cannot_change() {
    let folder = stopped();
    let before = folder.files();
    for (set, parts) in [
        (
            "softening.epsilon=0.02",
            &["--set softening.epsilon=0.02", "another softening.epsilon", "[initial.file]"][..],
        ),
        ("initial.plummer.seed=2", &["another initial.plummer.seed than its own, 1"]),
        ("integrator={ multipoint = {} }", &["another integrator."]),
        ("integrator.hermite4.nu=-1", &["above 0"]),
        ("integrator.hermite4.mu=1", &["mu"]),
        ("nonsense", &["nonsense"]),
    ] {
        folder.tisane(&["resume", "o", "-q", "--set", set]).exits(2).says(parts);
    }
    // An edited file needs the word of the command line.
    let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
    folder.write("o/config.toml", config.replace("nu = 0.01 ", "nu = 0.02 "));
    let said = folder.tisane(&["resume", "o", "-q"]).exits(2);
    said.says(&[
        "had integrator.hermite4.nu = 0.01, and config.toml has 0.02",
        "tisane resume o --set integrator.hermite4.nu=0.02",
    ]);
    folder.write("o/config.toml", config);
    assert!(folder.files() == before, "nothing was touched");
}

#[test]
fn a_process_that_ended_between_checkpoint_and_configuration_loses_no_change() {
    let folder = stopped();
    let old = fs::read(folder.path("o/config.toml")).unwrap();
    let sets = ["--set", "integrator.hermite4.nu=0.005", "--set", "limits.block_steps=5"];
    folder.tisane(&[&["resume", "o", "-q"][..], &sets].concat()).exits(3);
    folder.write("o/config.toml", old);
    folder.tisane(&["resume", "o", "-q", "--set", "limits.block_steps=1000000"]).exits(0);
    let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
    assert!(config.contains("nu = 0.005 "), "{config}");
}
