//! A snapshot as the start of another run: at its own time, in its own units.

use crate::fixtures::{TIME, assert_says, snapshot, two, units};
use std::path::Path;
use tisane::assemble::{self, Setup};
use tisane::config::Config;
use tisane::{Error, Result};

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
    for (wrong, expected) in [
        (names, &["its unit of time is Myr", "pc/(km/s)"][..]),
        ("mass = \"kg\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"", &["its unit of mass is Msun", "kg"]),
        ("system = \"henon\"", &["its unit of mass is Msun", "says M"]),
    ] {
        let Err(Error::Input { problem, help, .. }) = prepared(folder.path(), wrong).map(|_| ()) else {
            panic!("expected an input error for {wrong}")
        };
        assert_says(&problem, expected);
        assert_says(&help.unwrap_or_default(), &["[units]"]);
    }
}
