//! Promise: a solution with more digits than f64 goes on with all of them after a stop, is the same in an ensemble, and is spoken of as what
//! it is.

use crate::program::{Folder, summary};
use tisane_io::checkpoint::{self, Checkpoint};

const CONFIG: &str = "\
[run]
name = \"x\"
t_end = 1
[initial.plummer]
n = 5
seed = 3
[softening]
epsilon = \"1/64\"
[integrator.extrapolated]
[output]
interval = \"1/4\"
";

#[test]
fn a_resumed_run_has_the_bits_of_an_undisturbed_one() {
    for bits in ["106", "192"] {
        let folder = Folder::new(CONFIG);
        let set = format!("integrator.extrapolated.bits={bits}");
        folder.tisane(&["run", "run.toml", "-q", "--output", "whole", "--set", &set]).exits(0);
        let stop = ["run", "run.toml", "-q", "--output", "o", "--set", &set, "--set", "limits.block_steps=5"];
        folder.tisane(&stop).exits(3);
        folder.tisane(&["resume", "o", "-q", "--set", "limits.block_steps=1000000"]).exits(0);
        let hash = |name: &str| summary(&folder.path(name))["state_sha256"].clone();
        assert_eq!(hash("o"), hash("whole"), "{bits} bits");
        let state = |name: &str| {
            let Checkpoint { particles, .. } = checkpoint::read(&folder.path(name).join("checkpoint.hdf5")).unwrap();
            particles
        };
        assert!(state("o") == state("whole") && state("o").states.iter().count() == 1, "{bits} bits");
    }
}

#[test]
fn the_number_of_bits_stays_and_the_tolerance_may_change() {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=5"]).exits(3);
    let other = ["resume", "o", "-q", "--set", "integrator.extrapolated.bits=192"];
    folder.tisane(&other).exits(2).says(&["another integrator.extrapolated.bits than its own, 106"]);
    let set = "integrator.extrapolated.tolerance=1e-20";
    folder.tisane(&["resume", "o", "-q", "--set", set, "--set", "limits.block_steps=1000000"]).exits(0);
}

#[test]
fn more_particles_than_the_scheme_takes_are_refused_at_its_section() {
    let folder = Folder::new(&CONFIG.replace("n = 5", "n = 257"));
    let says = ["integrator.extrapolated", "expected at most 256 particles with the extrapolated leapfrog, found 257"];
    folder.tisane(&["check", "run.toml"]).exits(2).says(&says);
}

#[test]
fn a_member_of_an_ensemble_has_the_bits_of_a_run() {
    let folder = Folder::new(&format!("{CONFIG}[ensemble]\nrealisations = 2\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "e"]).exits(0);
    let alone = Folder::new(CONFIG);
    alone.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let hash = summary(&alone.path("o"))["state_sha256"].as_str().unwrap().to_owned();
    let members = std::fs::read_to_string(folder.path("e/members.csv")).unwrap();
    assert!(members.lines().any(|line| line.starts_with("0,3,finished") && line.contains(&hash)), "{members}");
}

/// Its steps follow the motion: warnings and advice for one step of all are not for it.
#[test]
fn what_is_said_of_it_is_about_its_tolerance() {
    let orbit = "[run]\nname = \"x\"\nt_end = 4\n[initial.two-body]\n[integrator.extrapolated]\ndt_max = 2\n";
    let folder = Folder::new(orbit);
    let checked = folder
        .tisane(&["check", "run.toml"])
        .exits(0)
        .says(&["by the motion, at most 2.00 T", "auto: cpu: the extrapolated leapfrog has its own forces on the CPU"]);
    let said = format!("{}{}", checked.out, checked.err);
    assert!(!said.contains("fewer than 50 steps") && !said.contains("half a crossing time"), "{said}");
    let advice = folder.tisane(&["advise", "run.toml", "--energy-error", "1e-8"]).exits(2);
    advice.says(&["steps by the motion for all", "two values of tolerance"]);
    folder.tisane(&["check", "run.toml", "--set", "force.engine=reference"]).exits(2).says(&["expected auto or cpu"]);
}
