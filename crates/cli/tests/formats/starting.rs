//! A snapshot as the start of another run: at its own time, in its own units.

use crate::fixtures::{TIME, assert_says, snapshot, two, units};
use std::path::Path;
use tisane::{Error, Result};
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Config;

/// A run from `snapshot.hdf5`, with the lines of [units] given.
fn prepared(folder: &Path, units: &str) -> Result<Setup> {
    let text = format!(
        "[run]\nname = \"x\"\nt_end = 3.0\n[units]\n{units}\n[initial.file]\npath = \"snapshot.hdf5\"\n\
         [softening]\nepsilon = 0.1\n[integrator.hermite4]\ndt_max = 0.5\n"
    );
    assemble::prepare(Config::from_str("test", &text, folder, &[])?)
}

#[test]
fn a_run_starts_at_the_time_of_the_snapshot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    snapshot(&folder.path().join("snapshot.hdf5"), &two());
    let names = "mass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"";
    let set = prepared(folder.path(), &format!("{names}\ntime = \"Myr\"")).expect("a good run");
    assert_eq!((set.config.t_start(), set.steps_to_end), (Some(TIME), 3));
    assert_eq!(set.clock.start * set.scale.time, TIME);
    assert_eq!(set.config.units(), units().units);
    // Other units of the same kind: the numbers are converted, and that is said.
    let other = "mass = \"Mjup\"\nlength = \"kpc\"\nvelocity = \"km/s\"\ntime = \"Myr\"";
    let converted = prepared(folder.path(), other).expect("a good run");
    assert_says(&converted.warnings.join("; "), &["converted from Msun, pc, km/s, Myr to Mjup, kpc, km/s, Myr"]);
    let (mass, unconverted) = (|set: &Setup| set.particles.total_mass() * set.scale.mass, 512.0);
    assert_eq!(mass(&set_again(folder.path(), names)), unconverted);
    assert!((mass(&converted) / (unconverted * 1047.565) - 1.0).abs() < 1e-5, "{}", mass(&converted));
    let Err(Error::Input { problem, help, .. }) = prepared(folder.path(), "system = \"henon\"").map(|_| ()) else {
        panic!("expected an input error")
    };
    assert_says(&problem, &["its units are Msun, pc, km/s, Myr", "cannot be converted to N-body units"]);
    assert_says(&help.unwrap_or_default(), &["[units]"]);
}

/// The run in units whose names need no conversion.
fn set_again(folder: &Path, names: &str) -> Setup {
    prepared(folder, &format!("{names}\ntime = \"Myr\"")).expect("a good run")
}
