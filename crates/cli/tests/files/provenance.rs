//! Promise: every file of a run says what made it, and `tisane reproduce` makes it again or says what is different.

use crate::program;
#[path = "provenance/older.rs"]
mod older;

use program::{Folder, Said, summary};
use sha2::{Digest, Sha256};
use std::fs;
use tisane::particles::hexadecimal;
use tisane_io::provenance;
use tisane_io::provenance::Provenance;

const PLUMMER: &str = "\
# As its author wrote it, with a comment.
[run]
name = \"p\"
t_end = 0.5
[initial.plummer]
n = 16
seed = 7
[output]
interval = \"1/4\"
";
const FROM_FILE: &str = "\
[run]
name = \"f\"
t_end = 1.0
[units]
system = \"henon\"
[initial.file]
path = \"four.csv\"
";
const TWO_FILES: &str = "\
[run]
name = \"t\"
t_end = 0.5
[units]
system = \"henon\"
[softening]
epsilon = 0.01
[[initial.clusters]]
[initial.clusters.plummer]
[initial.clusters.masses]
function = \"file\"
path = \"masses.txt\"
[[initial.clusters]]
position = [10, 0, 0]
[initial.clusters.file]
path = \"four.csv\"
";
const FOUR: &str = "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n0.1,1,0,0,0,1,0\n0.1,0,2,0,-0.7,0,0\n0.1,0,0,3,0,0.5,0.1\n";
/// Every file of a run that carries a provenance.
const FILES: [&str; 5] = [
    "summary.json",
    "checkpoint.hdf5",
    "diagnostics.hdf5",
    "snapshots/snapshot_0001.hdf5",
    "snapshots/snapshot_0000.hdf5",
];

fn a_run() -> Folder {
    let folder = Folder::new(PLUMMER);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "integrator.hermite4.nu=0.02"]).exits(0);
    folder
}

fn reproduce(folder: &Folder, file: &str, more: &[&str]) -> Said {
    let _ = fs::remove_dir_all(folder.path("again"));
    folder.tisane(&[&["reproduce", file, "--output", "again"], more].concat())
}

/// `summary.json` with one value of its provenance changed.
fn tamper(folder: &Folder, key: &str, change: impl FnOnce(&str) -> String) {
    let mut json = summary(&folder.path("o"));
    let value = &mut json["provenance"][key];
    let changed = change(value.as_str().unwrap());
    assert_ne!(value.as_str().unwrap(), changed, "{key} is not changed");
    *value = changed.into();
    folder.write("tampered.json", serde_json::to_vec(&json).unwrap());
}

#[test]
fn every_file_says_what_made_it() {
    let folder = a_run();
    let made: Vec<Provenance> =
        FILES.iter().map(|file| provenance::from_file(&folder.path("o").join(file)).unwrap()).collect();
    for (file, p) in FILES.iter().zip(&made) {
        let same = Provenance {
            created: p.created.clone(),
            state_sha256: p.state_sha256.clone(),
            state_block_steps: p.state_block_steps,
            state_time: p.state_time,
            ..made[0].clone()
        };
        assert_eq!(*p, same, "{file}");
        let program = folder.tisane(&["--version"]).exits(0).out;
        assert_eq!(program.trim(), format!("tisane {} ({})", p.version, p.git_commit));
        assert!(p.build_rustc.starts_with("rustc 1.") && p.build_target.contains('-'), "{p:?}");
        assert_eq!((p.build_opt_level.as_str(), p.build_features.contains("cuda")), ("3", cfg!(feature = "cuda")));
        assert!(!p.host.is_empty() && !p.cpu.is_empty() && p.created.ends_with('Z'), "{p:?}");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(p.cpu_features.split(' ').any(|f| f == "avx2"), std::arch::is_x86_feature_detected!("avx2"));
        assert_eq!((p.engine.as_str(), p.precision.as_str(), p.seed, p.gpu.as_str()), ("cpu", "f64", Some(7), ""));
        assert_eq!(p.config_as_written, PLUMMER);
        assert_eq!(p.overrides().unwrap(), ["integrator.hermite4.nu=0.02"]);
        assert!(p.config_resolved.contains("nu = 0.02"));
        assert_eq!(p.inputs().unwrap(), []);
        assert_eq!(p.initial_sha256.len(), 64);
    }
    let [summary_, checkpoint, diagnostics, later, first] = &made[..] else { panic!("five files") };
    let json = summary(&folder.path("o"));
    for at_end in [summary_, checkpoint, diagnostics] {
        assert_eq!(json["state_sha256"], at_end.state_sha256.as_str());
        assert_eq!(json["block_steps"].as_u64(), at_end.state_block_steps);
        assert_eq!(at_end.state_time, Some(0.5));
    }
    assert_eq!((first.state_block_steps, first.state_time), (Some(0), Some(0.0)));
    assert_eq!(first.state_sha256, first.initial_sha256);
    assert_eq!(later.state_time, Some(0.25));
    assert!(later.state_block_steps > Some(0) && later.state_sha256 != first.state_sha256);
}

#[test]
fn the_input_file_is_named_with_its_hash() {
    let folder = Folder::new(FROM_FILE);
    folder.write("four.csv", FOUR);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let p = provenance::from_file(&folder.path("o/summary.json")).unwrap();
    let [input] = &p.inputs().unwrap()[..] else { panic!("{}", p.inputs) };
    assert_eq!(fs::canonicalize(&input.file).unwrap(), fs::canonicalize(folder.path("four.csv")).unwrap());
    let hash = hexadecimal(&Sha256::digest(FOUR));
    assert_eq!((&*input.key, &input.sha256, p.seed), ("initial.file.path", &hash, None));
}

#[test]
fn every_file_is_reproduced_to_the_bit() {
    let folder = a_run();
    for file in FILES {
        let file = format!("o/{file}");
        reproduce(&folder, &file, &["--run"]).exits(0).says(&["reproduced: the same bits", "the same"]);
        let (file, again) = (folder.path(&file), folder.path("again/summary.json"));
        assert_eq!(
            provenance::from_file(&file).unwrap().state_sha256,
            provenance::from_file(&again).unwrap().state_sha256
        );
    }
    // In a mode that is not f64 the engine is that of the file, whatever the configuration says.
    folder.tisane(&["run", "run.toml", "-q", "--output", "mixed", "--precision", "mixed"]).exits(0);
    reproduce(&folder, "mixed/checkpoint.hdf5", &["--run", "--threads", "1"]).exits(0).says(&["the same bits"]);
    let leapfrog = ["--set", "integrator.leapfrog.dt=1/64", "--set", "softening.epsilon=1/16"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "leap"][..], &leapfrog].concat()).exits(0);
    reproduce(&folder, "leap/snapshots/snapshot_0001.hdf5", &["--run"])
        .exits(0)
        .says(&["the same bits after 16 block"]);
}

#[test]
fn the_printed_command_makes_the_same_bits() {
    let folder = Folder::new(FROM_FILE);
    folder.write("four.csv", FOUR);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "softening.epsilon=1/64"]).exits(0);
    let said = reproduce(&folder, "o/summary.json", &[])
        .exits(0)
        .says(&["tisane run again.toml --set softening.epsilon=1/64"]);
    assert_eq!(fs::read_to_string(folder.path("again.toml")).unwrap(), FROM_FILE);
    assert!(!folder.path("again").exists(), "nothing is run without --run");
    let line = said.out.lines().find_map(|line| line.trim().strip_prefix("tisane run ")).unwrap();
    let arguments: Vec<&str> = ["run"].into_iter().chain(line.split(' ')).chain(["-q"]).collect();
    folder.tisane(&arguments).exits(0);
    assert_eq!(summary(&folder.path("o"))["state_sha256"], summary(&folder.path("again"))["state_sha256"]);
    // Once more: the configuration is there already, and the same.
    reproduce(&folder, "o/summary.json", &[]).exits(0);
    folder.write("again.toml", "another");
    reproduce(&folder, "o/summary.json", &[]).exits(2).says(&["again.toml", "something else"]);
    fs::create_dir(folder.path("again")).unwrap();
    folder.write("again/x", "");
    let said = folder.tisane(&["reproduce", "o/summary.json", "--run", "--output", "again"]);
    said.exits(2).says(&["already holds files"]);
}

#[test]
fn a_run_that_was_resumed_further_is_reproduced_in_one_piece() {
    let folder = a_run();
    folder.tisane(&["resume", "o", "--t-end", "1.0", "-q"]).exits(0);
    assert_eq!(summary(&folder.path("o"))["time"], 1.0);
    reproduce(&folder, "o/summary.json", &["--run"]).exits(0).says(&["the same bits"]);
    reproduce(&folder, "o/summary.json", &[]).exits(0).says(&["--set run.t_end=1.0"]);
    // Stopped between outputs, where the particles stand at different times.
    let stopped = ["run", "run.toml", "-q", "--output", "s", "--set", "limits.block_steps=13"];
    folder.tisane(&stopped).exits(3);
    for file in ["s/checkpoint.hdf5", "s/diagnostics.hdf5", "s/summary.json"] {
        reproduce(&folder, file, &["--run"]).exits(0).says(&["the same bits after 13 block steps"]);
    }
}

#[test]
fn another_input_is_refused_and_a_moved_one_is_found() {
    let folder = Folder::new(FROM_FILE);
    folder.write("four.csv", FOUR);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let file = "o/summary.json";
    folder.write("four.csv", FOUR.replace("0.7", "0.8"));
    for more in [&["--run"][..], &[]] {
        reproduce(&folder, file, more).exits(2).says(&["four.csv", "not the original input", "--input"]);
    }
    fs::remove_file(folder.path("four.csv")).unwrap();
    reproduce(&folder, file, &["--run"]).exits(2).says(&["four.csv", "cannot be read", "--input"]);
    fs::create_dir(folder.path("archive")).unwrap();
    folder.write("archive/old.csv", FOUR);
    reproduce(&folder, file, &["--run", "--input", "archive/old.csv"]).exits(0).says(&["the same bits"]);
    a_run().tisane(&["reproduce", "o/summary.json", "--input", "run.toml"]).exits(2).says(&["not an input of"]);
}

#[test]
fn every_input_of_several_clusters_is_found_again() {
    let folder = Folder::new(TWO_FILES);
    folder.write("masses.txt", "0.5\n0.25\n0.25\n");
    folder.write("four.csv", FOUR);
    let more = ["--set", "initial.clusters[1].plummer.seed=5"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"][..], &more].concat()).exits(0);
    let p = provenance::from_file(&folder.path("o/summary.json")).unwrap();
    let keys: Vec<String> = p.inputs().unwrap().into_iter().map(|input| input.key).collect();
    assert_eq!(keys, ["initial.clusters[1].masses.path", "initial.clusters[2].file.path"]);
    let file = "o/summary.json";
    reproduce(&folder, file, &["--run"]).exits(0).says(&["the same bits", "masses.txt", "four.csv"]);
    fs::rename(folder.path("four.csv"), folder.path("five.csv")).unwrap();
    fs::rename(folder.path("masses.txt"), folder.path("numbers.txt")).unwrap();
    reproduce(&folder, file, &["--run"]).exits(2).says(&["masses.txt", "cannot be read", "--input"]);
    let moved = ["--run", "--input", "five.csv", "--input", "numbers.txt"];
    reproduce(&folder, file, &moved).exits(0).says(&["the same bits", "numbers.txt"]);
}

#[test]
fn what_was_changed_afterwards_shows() {
    let folder = a_run();
    let run = |folder: &Folder| reproduce(folder, "tampered.json", &["--run"]);
    let flipped = |hash: &str| hash.chars().map(|c| if c == '0' { '1' } else { '0' }).collect::<String>();
    tamper(&folder, "state_sha256", flipped);
    run(&folder).exits(6).says(&["NOT reproduced", "sha256", "the same"]);
    tamper(&folder, "initial_sha256", flipped);
    run(&folder).exits(6).says(&["NOT reproduced: other initial conditions"]);
    assert!(!folder.path("again").exists(), "nothing is run from other initial conditions");
    tamper(&folder, "config_resolved", |text| text.replace("nu = 0.02", "nu = 0.03"));
    run(&folder).exits(6).says(&["does not resolve to the one that ran, in [integrator]", "NOT reproduced"]);
    tamper(&folder, "config_resolved", |text| text.replace("seed = 7", "seed = 8"));
    run(&folder).exits(6).says(&["in [initial]", "NOT reproduced: other initial conditions"]);
    tamper(&folder, "config_resolved", |text| text.replace("t_end = 0.5", "t_end = 0.25"));
    run(&folder).exits(6).says(&["NOT reproduced: the run ended after"]);
    tamper(&folder, "config_resolved", |text| text.replace("[run]", "[runs]"));
    run(&folder).exits(2).says(&["tampered.json (config_resolved)", "runs"]);
    // What was written matters less than what ran.
    tamper(&folder, "config_as_written", |text| text.replace("n = 16", "n = 17"));
    run(&folder).exits(0).says(&["does not resolve to the one that ran, in [initial]", "the same bits"]);
    tamper(&folder, "config_as_written", |text| text.replace("[run]", "[walk]"));
    run(&folder).exits(0).says(&["no longer reads it", "the same bits"]);
    tamper(&folder, "config_overrides", |_| "nu".into());
    run(&folder).exits(2).says(&["config_overrides"]);
    let mut bytes = fs::read(folder.path("o/checkpoint.hdf5")).unwrap();
    bytes[5000] ^= 1;
    folder.write("damaged.hdf5", bytes);
    reproduce(&folder, "damaged.hdf5", &[]).exits(2).says(&["damaged"]);
}

#[test]
fn another_version_or_commit_is_told() {
    let folder = a_run();
    reproduce(&folder, "o/summary.json", &[]).exits(0).says(&["this program", "the same"]);
    tamper(&folder, "version", |_| "0.0.1".into());
    reproduce(&folder, "tampered.json", &[]).exits(0).says(&["another version", "Results change"]);
    tamper(&folder, "git_commit", |_| "0123456789ab".into());
    reproduce(&folder, "tampered.json", &[]).exits(0).says(&["another commit", "Results change"]);
}

#[test]
fn files_without_provenance_are_told_apart() {
    let folder = a_run();
    folder.write("other.json", "{\"a\": 1}");
    folder.write("cut.json", "{\"a\": ");
    folder.write("empty", "");
    let mut without = summary(&folder.path("o"));
    without["provenance"] = serde_json::json!({});
    folder.write("without.json", serde_json::to_vec(&without).unwrap());
    for (file, parts) in [
        ("o/diagnostics.csv", &["a CSV file has no provenance", "diagnostics.hdf5"][..]),
        ("o/config.toml", &["not a file of a run of tisane", "snapshot"]),
        ("o", &["this is a directory", "summary.json"]),
        ("nothing", &["no such file"]),
        ("empty", &["the file is empty"]),
        ("other.json", &["not the summary of a run"]),
        ("cut.json", &["not JSON"]),
        ("without.json", &["does not identify a state"]),
    ] {
        reproduce(&folder, file, &["--run"]).exits(2).says(parts);
    }
    reproduce(&folder, "o/summary.json", &["--threads", "1"]).exits(2).says(&["--run"]);
}
