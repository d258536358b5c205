//! Promise: a run that needs shorter steps than it may take, or loses its energy, says so in the user's units, keeps
//! what it has, and says how to go on.

use crate::program::{Folder, diagnostics, files, summary};
use std::fs;

/// Two stars of half a solar mass on an orbit of eccentricity 0.99, from its apocentre; steps near the pericentre are
/// below dt_min.
const ECCENTRIC: &str = "[run]
name = \"eccentric\"
t_end = 1.0
[units]
mass = \"Msun\"
length = \"au\"
time = \"yr\"
[initial.two-body]
m1 = 0.5
m2 = 0.5
semi_major_axis = 1.0
eccentricity = 0.99
start = \"apocentre\"
[integrator.hermite4]
dt_max = \"1/64\"
dt_min = \"2^-14\"
";

#[test]
fn a_step_below_dt_min_is_told_with_the_orbit_and_what_it_takes() {
    let folder = Folder::new(ECCENTRIC);
    let said = folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(4);
    let said = said.says(&[
        "2 particles need time steps below dt_min = 6.10e-5 yr (32.1 min) at t = 0.",
        "it is bound to particle",
        "semi-major axis 1.00 au, eccentricity 0.990, period 1.00 yr, 0.5",
        "orbits until t_end, which take about",
        "at the present rate",
        "tisane resume o --set integrator.hermite4.dt_min=",
        "on_dt_min = \"clamp\"",
    ]);
    let follow = said.err.find("to follow the motion").expect("the first advice");
    assert!(said.err.find("softening").is_some_and(|softening| follow < softening), "{}", said.err);
    let summary = summary(&folder.path("o"));
    assert_eq!(summary["exit_reason"], "failed");
    assert!(summary["error"].as_str().is_some_and(|error| error.contains("dt_min")), "{summary}");
    assert!(summary["advice"].as_str().is_some_and(|advice| advice.contains("tisane resume")), "{summary}");
    // Nothing is lost: the checkpoint is that of the stop, and a resumption stops there too.
    let reached = &summary["block_steps"];
    let log = fs::read_to_string(folder.path("o/run.log")).unwrap();
    assert!(log.contains(&format!("block_steps={reached}")) && log.contains("wrote a checkpoint time=0.4"), "{log}");
    let again = folder.tisane(&["resume", "o", "-q"]).exits(4).says(&["2 particles need time steps below dt_min"]);
    assert!(!again.err.contains("present rate"), "there is none yet: {}", again.err);
}

#[test]
fn a_binary_in_a_cluster_is_told_to_be_a_subsystem_where_there_are_none() {
    let cluster = "[run]\nname = \"c\"\nt_end = 1.0\n[initial.plummer]\nn = 20\n[initial.binaries]\nfraction = 0.5\n\
                   semi_major_axis = \"uniform\"\na_min = 1e-4\na_max = 2e-4\n";
    let folder = Folder::new(cluster);
    let said = "[encounters] makes this pair a subsystem";
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let floor = format!("integrator.{scheme}.dt_min=2^-12");
        let run = ["run", "run.toml", "-q", "--output", scheme, "--set", &floor];
        let told = folder.tisane(&run).exits(4).says(&[said, "on_dt_min"]);
        assert!(told.err.find(said) < told.err.find("to follow the motion"), "{}", told.err);
        folder.tisane(&["why", scheme]).exits(0).says(&["What to do", "[encounters] makes this pair"]);
    }
    // Softened stars may have none, and with them the pairs need no such steps.
    let soft =
        ["run", "run.toml", "-q", "--set", "softening.epsilon=1e-6", "--set", "integrator.hermite4.dt_min=2^-12"];
    let told = folder.tisane(&soft).exits(4);
    assert!(!told.err.contains(said), "{}", told.err);
    folder.tisane(&["run", "run.toml", "-q", "--output", "with"]).exits(0);
}

#[test]
fn with_a_shorter_dt_min_it_goes_on_to_the_bits_of_a_run_that_always_had_it() {
    let folder = Folder::new(ECCENTRIC);
    let deep = "integrator.hermite4.dt_min=2^-30";
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole", "--set", deep]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(4);
    let said = folder.tisane(&["resume", "o", "--set", deep]).exits(0);
    said.says(&["WARN", "integrator.hermite4.dt_min changes from 6.103515625e-5 to 9.313225746154785e-10 at t = 0.4"]);
    let [whole, resumed] = ["whole", "o"].map(|dir| summary(&folder.path(dir)));
    assert_eq!(whole["state_sha256"], resumed["state_sha256"]);
    assert_eq!(whole["block_steps"], resumed["block_steps"]);
    assert_eq!(resumed["exit_reason"], "finished");
    assert!(whole.get("changes").is_none(), "{whole}");
    let [whole, resumed] = ["whole", "o"].map(|dir| diagnostics(&folder.path(dir)));
    assert_eq!(whole["energy"], resumed["energy"]);
}

#[test]
fn a_run_that_cannot_take_its_first_step_is_replaced_without_being_asked() {
    let folder = Folder::new(&ECCENTRIC.replace("dt_min = \"2^-14\"", "dt_min = \"1/64\""));
    let dead = || folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(4).says(&["at t = 0 yr"]);
    let said = dead();
    assert!(!said.err.contains("present rate") && said.err.contains("block steps"), "{}", said.err);
    dead();
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "integrator.hermite4.dt_min=2^-30"]).exits(0);
    // One that finished is not.
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(2).says(&["already holds files"]);
}

#[test]
fn a_failed_run_that_took_steps_is_replaced_with_overwrite_only() {
    let folder = Folder::new(ECCENTRIC);
    let run = ["run", "run.toml", "-q", "--output", "o"];
    folder.tisane(&run).exits(4);
    let reached = summary(&folder.path("o"));
    assert!(reached["exit_reason"] == "failed" && reached["block_steps"].as_u64() > Some(0), "{reached}");
    let before = files(&folder.path("o"));
    folder.tisane(&run).exits(2).says(&["already holds files", "--overwrite"]);
    assert!(before == files(&folder.path("o")), "files of the run changed");
    let whole = ["--overwrite", "--set", "integrator.hermite4.dt_min=2^-30"];
    folder.tisane(&[&run[..], &whole].concat()).exits(0);
    assert_eq!(summary(&folder.path("o"))["exit_reason"], "finished");
}

#[test]
fn after_a_lost_energy_the_snapshot_to_begin_from_is_told() {
    let clamp = "integrator.hermite4.on_dt_min=clamp";
    let folder = Folder::new(ECCENTRIC);
    let sets = ["--set", clamp, "--set", "integrator.hermite4.dt_min=2^-9"];
    let said = folder.tisane(&[&["run", "run.toml", "--output", "o"][..], &sets].concat()).exits(4);
    let said = said.says(&[
        "WARN",
        "the energy is off by",
        "of the total energy at t = 0.5",
        "to continue from the checkpoint would keep this error: begin anew from o/snapshots/snapshot_00",
        "[initial.file] path =",
        "on_dt_min = \"stop\"",
    ]);
    assert!(!said.err.contains("can be resumed"), "{}", said.err);
    let named = said.err.split("snapshot_00").nth(1).and_then(|rest| rest.get(..2)).unwrap().parse::<usize>().unwrap();
    let errors = &diagnostics(&folder.path("o"))["relative_energy_error"];
    let error = |row: usize| errors[row].parse::<f64>().unwrap().abs();
    assert!(named > 10 && error(named) < 1e-2 * error(errors.len() - 1), "snapshot {named} of {errors:?}");
}

#[test]
fn a_stop_between_outputs_says_when_the_energy_was_measured() {
    let folder = Folder::new(ECCENTRIC);
    let stop = |output: &str, steps: &str| {
        let steps = format!("limits.block_steps={steps}");
        let sets = ["--set", "output.interval=0.25", "--set", &steps];
        folder.tisane(&[&["run", "run.toml", "--output", output][..], &sets].concat()).exits(3)
    };
    stop("early", "5").says(&["relative error not measured since the start, at t = 0 yr"]);
    let early = summary(&folder.path("early"));
    for key in ["energy_final", "relative_energy_error", "max_relative_energy_error", "angular_momentum_error"] {
        assert!(early.get(key).is_some_and(serde_json::Value::is_null), "{key} in {early}");
    }
    assert!(early["energy_initial"].as_f64() < Some(0.0) && early["energy_time"] == 0.0, "{early}");
    assert!(early.get("cluster_energy_error").is_none(), "{early}");
    folder.tisane(&["inspect", "early"]).exits(0).says(&["energy error not measured since the start, at 0 yr"]);
    folder.tisane(&["plot", "early", "-q", "--theme", "light"]).exits(0);
    stop("late", "40").says(&["relative error", "measured at t = 0.25 yr"]);
    let summary = summary(&folder.path("late"));
    assert!(summary["time"].as_f64() > Some(0.25) && summary["energy_time"] == 0.25, "{summary}");
}
