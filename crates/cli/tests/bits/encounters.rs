//! Promise: a run with subsystems ends in the same bits on any number of threads, with any outputs, on either engine of the
//! CPU, and through a stop and a resume.

use crate::outcome::Outcome;
use crate::program::{Folder, summary};

/// Cluster of 80 systems, half of them binaries, some of which are far too close for single steps.
const CLUSTER: &str = "[run]\nname = \"r\"\nt_end = 0.25\n\
     [initial.plummer]\nn = 120\nseed = 3\n\
     [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 1e-6\na_max = 0.01\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n\
     [encounters]\n";

fn run(more: &[&str]) -> (Folder, Outcome) {
    let folder = Folder::new(CLUSTER);
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], more].concat()).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    (folder, outcome)
}

fn state(folder: &Folder) -> String {
    summary(&folder.path("o"))["state_sha256"].as_str().unwrap().to_owned()
}

#[test]
fn threads_engines_and_outputs_change_no_bit() {
    let (folder, one) = run(&["--threads", "1"]);
    one.assert_same(&run(&["--threads", "3"]).1, "3 threads");
    let want = state(&folder);
    assert_eq!(state(&run(&["--engine", "reference"]).0), want, "the reference");
    assert_eq!(state(&run(&["--set", "output.interval=0.0625"]).0), want, "other outputs");
}

#[test]
fn a_stop_and_a_resume_change_no_bit() {
    let (whole, outcome) = run(&[]);
    for blocks in ["7", "200"] {
        let folder = Folder::new(CLUSTER);
        let limit = format!("limits.block_steps={blocks}");
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
        folder.lift_block_limit("o");
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        assert_eq!(state(&folder), state(&whole), "after {blocks} block steps");
        outcome.assert_same(&Outcome::read(&folder.path("o")), blocks);
    }
}

#[test]
fn binaries_cost_no_energy() {
    let (folder, _) = run(&[]);
    let summary = summary(&folder.path("o"));
    let error = summary["relative_energy_error"].as_f64().unwrap();
    assert!(error.abs() < 1e-7, "{error:e}");
    assert!(summary["block_steps"].as_u64().unwrap() < 200_000, "no step follows the closest binary");
}
