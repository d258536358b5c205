//! Promise: the configuration that a run writes has all defaults, also those that follow from precision and number of
//! particles, and gives the same bits.

use crate::program::{Folder, summary};
use std::fs;
use tisane_io::checkpoint::{self, Checkpoint};

const CONFIG: &str = "\
[run]
name = \"p\"
t_end = 0.25
[initial.plummer]
n = 150
[softening]
epsilon = \"1/64\"
[output]
interval = \"1/8\"
[integrator.ahmad_cohen]
";
/// Keys whose defaults follow from precision and number of particles.
const LATE: [&str; 2] = ["eta_regular", "neighbours"];

/// Returns a text without the lines of these keys, as versions before wrote it.
fn as_before(text: &str) -> String {
    let mut within = false;
    let stays = |line: &&str| {
        within = if line.starts_with('[') { *line == "[integrator.ahmad_cohen]" } else { within };
        !(within && LATE.iter().any(|key| line.starts_with(&format!("{key} = "))))
    };
    let lines: Vec<&str> = text.lines().filter(stays).collect();
    assert_eq!(text.lines().count(), lines.len() + LATE.len(), "{text}");
    lines.join("\n")
}

fn section(folder: &Folder, name: &str) -> toml::Table {
    let config: toml::Table = fs::read_to_string(folder.path(name)).unwrap().parse().unwrap();
    config["integrator"]["ahmad_cohen"].as_table().unwrap().clone()
}

#[test]
fn verify_a_written_configuration_gives_the_same_bits() {
    for (order, precision, eta_regular) in [
        (6, "f64", 0.36 * 5.0 / 6.0),
        (4, "f64", 0.1 * 7.0 / 10.0),
        (6, "mixed", 0.36 * 5.0 / 18.0),
        (4, "mixed", 0.1 * 7.0 / 10.0),
    ] {
        let folder = Folder::new(CONFIG);
        let (order, precision) =
            (format!("integrator.ahmad_cohen.order={order}"), format!("force.precision={precision}"));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &order, "--set", &precision]).exits(0);
        let found = section(&folder, "o/config.toml");
        assert_eq!(found["eta_regular"].as_float(), Some(eta_regular), "{order} {precision}");
        assert_eq!(found["neighbours"].as_float(), Some(0.75 * 150f64.sqrt()));
        folder.tisane(&["run", "o/config.toml", "-q", "--output", "again"]).exits(0);
        let [one, again] = ["o", "again"].map(|dir| summary(&folder.path(dir))["state_sha256"].clone());
        assert_eq!(one, again, "{order} {precision}");
        assert_eq!(section(&folder, "again/config.toml"), found);
        folder.tisane(&["reproduce", "o/summary.json", "--run", "--output", "third"]).exits(0).says(&["the same bits"]);
    }
}

#[test]
fn regress_runs_of_earlier_versions_are_reproduced_and_resumed() {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=30"]).exits(3);
    let mut json = summary(&folder.path("whole"));
    let resolved = &mut json["provenance"]["config_resolved"];
    *resolved = as_before(resolved.as_str().unwrap()).into();
    folder.write("before.json", serde_json::to_vec(&json).unwrap());
    let again = ["reproduce", "before.json", "--run", "--output", "again"];
    folder.tisane(&again).exits(0).says(&["the same bits"]);

    for name in ["checkpoint.hdf5", "checkpoint.previous.hdf5"].map(|name| folder.path("o").join(name)) {
        if name.exists() {
            let mut point: Checkpoint = checkpoint::read(&name).unwrap();
            point.provenance.config_resolved = as_before(&point.provenance.config_resolved);
            checkpoint::write_file(&name, &point).unwrap();
        }
    }
    let config = as_before(&fs::read_to_string(folder.path("o/config.toml")).unwrap());
    folder.write("o/config.toml", config);
    folder.tisane(&["resume", "o", "-q", "--set", "limits.block_steps=1000000"]).exits(0);
    let [whole, resumed] = ["whole", "o"].map(|dir| summary(&folder.path(dir))["state_sha256"].clone());
    assert_eq!(whole, resumed);
    assert!(!section(&folder, "o/config.toml").contains_key("neighbours"));
}

#[test]
fn defaults_follow_what_a_resume_changes() {
    let lift = "limits.block_steps=1000000";
    for (sets, eta_regular) in [
        (&["integrator.ahmad_cohen.eta=0.18"][..], 0.18 * 5.0 / 6.0),
        (&["force.precision=mixed"], 0.36 * 5.0 / 18.0),
        (&["integrator.ahmad_cohen.eta=0.18", "integrator.ahmad_cohen.eta_regular=0.2"], 0.2),
    ] {
        let folder = Folder::new(CONFIG);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=30"]).exits(3);
        let sets = sets.iter().chain([&lift]).flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = ["resume", "o", "-q"].into_iter().chain(sets).collect();
        folder.tisane(&arguments).exits(0);
        assert_eq!(section(&folder, "o/config.toml")["eta_regular"].as_float(), Some(eta_regular));
    }
    // One that was set stays.
    let folder = Folder::new(&(CONFIG.to_owned() + "eta_regular = 0.25\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=30"]).exits(3);
    folder.tisane(&["resume", "o", "-q", "--set", "integrator.ahmad_cohen.eta=0.18", "--set", lift]).exits(0);
    assert_eq!(section(&folder, "o/config.toml")["eta_regular"].as_float(), Some(0.25));
}
