//! Promise: the columns of particles that a law reads are in snapshots and checkpoints, with the numbers of the input, so
//! that a run by the law goes on from them to the same bits.

use crate::program::{Folder, diagnostics, summary};

const BODIES: usize = 24;

/// Numbers that a text shorter than the whole of an f64 would change.
fn charge(i: usize) -> f64 {
    (1.0 + i as f64 / 7.0) * if i.is_multiple_of(2) { 0.1 } else { -0.1 }
}

/// Returns a folder with a table of bodies on a spiral, with charges if `has_charges`.
fn folder(more: &str, has_charges: bool) -> Folder {
    let config = format!(
        "[run]\nname = \"r\"\nt_end = 0.5\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"bodies.csv\"\n\
         [force.law]\nname = \"coulomb\"\nparameters = {{ k = 0.5 }}\n[softening]\nepsilon = \"1/64\"\n\
         [output]\ninterval = \"1/8\"\n{more}"
    );
    let folder = Folder::new(&config);
    let mut table = format!("m,x,y,z,vx,vy,vz{}\n", if has_charges { ",charge" } else { "" });
    for i in 0..BODIES {
        let t = i as f64;
        let [x, y, z] = [(0.1 + 0.05 * t) * t.cos(), (0.1 + 0.05 * t) * t.sin(), 0.3 * (2.3 * t).sin()];
        table += &format!("{},{x:?},{y:?},{z:?},{:?},{:?},0.0", 1.0 / BODIES as f64, -0.2 * y, 0.2 * x);
        table += &if has_charges { format!(",{:?}\n", charge(i)) } else { "\n".into() };
    }
    folder.write("bodies.csv", table);
    folder
}

fn charges(folder: &Folder, file: &str, group: &str) -> Vec<f64> {
    let file = crate::hdf::open(folder.path(file));
    file.dataset(&format!("{group}/column_charge")).unwrap().read_raw().unwrap()
}

#[test]
fn a_stopped_run_goes_on_with_the_charges_of_its_checkpoint() {
    let whole = folder("", true);
    whole.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let stopped = folder("[limits]\nblock_steps = 20\n", true);
    stopped.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    let expected: Vec<f64> = (0..BODIES).map(charge).collect();
    assert_eq!(charges(&stopped, "o/checkpoint.hdf5", "Particles"), expected);
    let mut stops = 1;
    while stopped.tisane(&["resume", "o", "-q"]).code == 3 {
        stops += 1;
        assert!(stops < 1000, "no progress");
    }
    assert!(stops > 1, "{stops} stops");
    let [whole, stopped] = [whole.path("o"), stopped.path("o")];
    assert_eq!(summary(&whole)["state_sha256"], summary(&stopped)["state_sha256"]);
    assert_eq!(diagnostics(&whole), diagnostics(&stopped));
}

#[test]
fn a_run_begins_with_the_charges_of_a_snapshot() {
    let folder = folder("", true);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let expected: Vec<f64> = (0..BODIES).map(charge).collect();
    for number in ["0000", "0004"] {
        let path = format!("o/snapshots/snapshot_{number}.hdf5");
        assert_eq!(charges(&folder, &path, "PartType4"), expected, "{path}");
    }
    let from = "initial.file.path=o/snapshots/snapshot_0000.hdf5";
    folder.tisane(&["run", "run.toml", "-q", "--output", "again", "--set", from]).exits(0);
    let [first, again] = ["o", "again"].map(|run| summary(&folder.path(run))["state_sha256"].clone());
    assert!(first.is_string() && again == first, "{again} is not {first}");
}

#[test]
fn particles_without_charges_are_an_error() {
    let folder = folder("", false);
    folder
        .tisane(&["run", "run.toml", "-q", "--output", "o"])
        .exits(2)
        .says(&["the particles have no column `charge`, which the law reads"]);
}
