//! Files of older format versions, as the tisane of that time wrote them: `tests/fixtures/format-<version>/`.

use crate::program::{Folder, summary};
use std::fs;
use std::path::{Path, PathBuf};
use tisane_io::{checkpoint, inspect, provenance, snapshot, table};

fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/format-1").join(name)
}

/// A run of format version 1, stopped after 60 block steps.
fn old_run() -> Folder {
    let folder = Folder::new("");
    fs::create_dir_all(folder.path("v1/snapshots")).unwrap();
    for name in ["checkpoint.hdf5", "config.toml", "diagnostics.csv", "diagnostics.hdf5", "summary.json"] {
        fs::copy(fixture(name), folder.path("v1").join(name)).unwrap();
    }
    folder
}

#[test]
fn regress_files_of_format_1_are_read() {
    let s = snapshot::read(&fixture("snapshot_0001.hdf5")).unwrap();
    assert_eq!((s.id.len(), s.provenance.host.as_str()), (8, "workstation"));
    assert!((s.time - 0.25).abs() < 1e-15 && s.provenance.config_as_written.contains("seed = 3"));
    assert_eq!((s.provenance.state_sha256.as_str(), s.provenance.state_block_steps), ("", None));
    let c = checkpoint::read(&fixture("checkpoint.hdf5")).unwrap();
    assert_eq!((c.particles.len(), c.run.counters.block_steps), (8, 60));
    assert_eq!(table::read_hdf5(&fixture("diagnostics.hdf5")).unwrap().rows(), 2);
    for name in ["snapshot_0001.hdf5", "checkpoint.hdf5", "diagnostics.hdf5"] {
        let page = inspect::describe(&fixture(name)).unwrap();
        assert!(page.contains("format version 1") && page.contains("match the SHA-256"), "{page}");
    }
}

#[test]
fn regress_a_run_of_format_1_goes_on() {
    let folder = old_run();
    folder.tisane(&["resume", "v1", "-q"]).exits(0);
    let result = summary(&folder.path("v1"));
    assert_eq!((&result["exit_reason"], &result["time"]), (&"finished".into(), &0.5.into()));
    assert!(result["max_relative_energy_error"].as_f64().unwrap() < 1e-6);
    // What the old checkpoint did not know stays unknown. It began with a corrector without compensation, and went on with
    // one: from the beginning on its bits are those of neither.
    let made = provenance::from_file(&folder.path("v1/checkpoint.hdf5")).unwrap();
    assert_eq!((made.initial_sha256.as_str(), made.config_overrides.as_str()), ("", ""));
    folder.tisane(&["reproduce", "v1/summary.json", "--run", "-q"]).exits(6).says(&["NOT reproduced"]);
}

#[test]
fn files_of_format_1_cannot_be_reproduced_and_it_is_told_why() {
    let folder = old_run();
    for name in ["checkpoint.hdf5", "diagnostics.hdf5"] {
        let said = folder.tisane(&["reproduce", &format!("v1/{name}"), "--run"]);
        said.exits(2).says(&["format version 1", "no hash of the state", "tisane resume"]);
    }
    folder.tisane(&["reproduce", "v1/summary.json"]).exits(2).says(&["tisane 0.1.0", "without provenance"]);
}
