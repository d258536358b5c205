//! Promise: every verb works, says what it promises, and exits 0.

use crate::program;
#[path = "cli/binaries.rs"]
mod binaries;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/own_frame.rs"]
mod own_frame;
#[path = "cli/plots.rs"]
mod plots;
#[path = "cli/runs.rs"]
mod runs;
#[path = "cli/slurm.rs"]
mod slurm;
#[path = "cli/stellar.rs"]
mod stellar;
#[path = "cli/trace.rs"]
mod trace;

use crate::transcript::Transcript;
use program::{Folder, finish};
use serde_json::Value as Json;
use std::io::Read;
use std::process::{Command, Stdio};

pub const VERBS: [&str; 18] = [
    "init",
    "check",
    "run",
    "resume",
    "reproduce",
    "inspect",
    "convert",
    "analyze",
    "plot",
    "movie",
    "view",
    "verify",
    "validate",
    "bench",
    "study",
    "advise",
    "stellar",
    "generate",
];

#[test]
fn every_verb_has_help_that_teaches() {
    let folder = Folder::new("");
    let mut transcript = Transcript::default();
    transcript.tisane(&folder, &["--help"]).exits(0);
    for verb in VERBS.into_iter().chain(["why"]) {
        transcript.tisane(&folder, &[verb, "--help"]).exits(0);
        folder.tisane(&[verb, "-h"]).exits(0).says(&["Usage: tisane", verb]);
    }
    for (verb, kinds) in [
        ("bench", &["force", "kernels", "run", "systems", "scaling", "model"][..]),
        ("study", &["force", "energy", "cost"]),
        ("generate", &["schema", "completions", "man", "cite", "slurm"]),
    ] {
        for kind in kinds {
            transcript.tisane(&folder, &[verb, kind, "--help"]).exits(0);
        }
    }
    transcript.is("help");
    let version = folder.tisane(&["--version"]).exits(0);
    assert!(version.out.starts_with(concat!("tisane ", env!("CARGO_PKG_VERSION"), " (")), "{}", version.out);
    folder.tisane(&[]).exits(2).says(&["Usage"]);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let folder = Folder::new("");
    for arguments in ["init", "generate schema", "generate man", "generate cite", "--help"] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut command = folder.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success() && said.is_empty(), "{arguments:?}: {said}");
    }
}

/// A device that takes nothing.
fn full() -> Option<std::fs::File> {
    let file = std::fs::OpenOptions::new().write(true).open("/dev/full").ok();
    if file.is_none() {
        eprintln!("SKIPPED: there is no /dev/full");
    }
    file
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_never_a_panic() {
    let folder = Folder::new("");
    let with = |arguments: &[&str], out: bool, err: bool| -> Option<Command> {
        let mut command = folder.command(arguments);
        if out {
            command.stdout(full()?);
        }
        if err {
            command.stderr(full()?);
        }
        Some(command)
    };
    if let Some(mut command) = with(&["generate", "schema"], true, false) {
        let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(5));
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    }
    if let Some(mut command) = with(&["check", "nowhere.toml"], false, true) {
        assert_eq!(command.status().unwrap().code(), Some(2));
    }
}

#[test]
fn the_schema_is_json_and_knows_every_section() {
    let schema: Json = serde_json::from_str(&Folder::new("").tisane(&["generate", "schema"]).exits(0).out).unwrap();
    for section in ["run", "units", "initial", "softening", "integrator", "force", "output", "checkpoint", "limits"] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"));
}

#[test]
fn the_schema_validates_the_example_configurations() {
    let script = "
import sys
try:
    import json, tomllib, jsonschema
except ImportError as error:
    print('SKIPPED:', error)
    sys.exit()
for name, of in zip(sys.argv[1::2], sys.argv[2::2]):
    schema = json.load(open(of))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(tomllib.load(open(name, 'rb')))
validator = jsonschema.Draft202012Validator(json.load(open('run.json')))
for bad in [{}, {'run': {'name': 'x', 't_end': 1, 'nonsense': 1}, 'initial': {'plummer': {'n': 1}}}]:
    assert not validator.is_valid(bad), bad
";
    let folder = Folder::new("");
    let mut python = Command::new("python3");
    python.current_dir(folder.path("")).args(["-c", script]);
    folder.write("run.json", folder.tisane(&["generate", "schema"]).exits(0).out);
    for entry in std::fs::read_dir(concat!(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "/configs")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            python.arg(path).arg("run.json");
        }
    }
    for study in ["force", "energy", "cost", "convergence"] {
        let schema = folder.tisane(&["generate", "schema", &format!("study-{study}")]).exits(0).out;
        folder.write(&format!("{study}.json"), schema);
        let path = format!("{}/configs/studies/{study}.toml", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        python.arg(path).arg(format!("{study}.json"));
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: there is no python3");
    }
    eprint!("{}", finish(python).exits(0).out);
}

#[test]
fn completions_and_the_manual_know_every_verb() {
    let folder = Folder::new("");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.tisane(&["generate", "completions", shell]).exits(0).out;
        assert!(VERBS.iter().all(|verb| script.contains(verb)) && script.contains("overwrite"), "{shell}");
    }
    folder.write("completions.bash", folder.tisane(&["generate", "completions", "bash"]).exits(0).out);
    let mut bash = Command::new("bash");
    let ask =
        "source completions.bash; COMP_WORDS=(tisane in); COMP_CWORD=1; _tisane tisane in tisane; echo ${COMPREPLY[@]}";
    match bash.args(["-c", ask]).current_dir(folder.path("")).output() {
        Ok(said) => assert_eq!(String::from_utf8_lossy(&said.stdout), "init inspect\n"),
        Err(_) => eprintln!("SKIPPED: there is no bash"),
    }
    let manual = folder.tisane(&["generate", "man"]).exits(0).out;
    assert!(manual.contains(".TH tisane 1"), "{}", &manual[..200]);
    for verb in VERBS.into_iter().chain(["bench model", "generate cite", "study cost"]) {
        assert!(manual.contains(&format!("tisane {verb}")) || manual.contains(&format!("tisane\\-{verb}")), "{verb}");
    }
    for old in ["schema", "completions", "man", "model"] {
        assert!(!manual.contains(&format!("tisane {old}")), "{old}");
    }
}

#[test]
fn old_commands_name_the_new_ones_and_do_nothing() {
    let folder = Folder::new("");
    let mut transcript = Transcript::default();
    for old in [
        &["schema", "study-force"][..],
        &["completions", "bash"],
        &["man"],
        &["model", "--fit", "studies/cost"],
        &["model", "--help"],
        &["schemas"],
    ] {
        let said = transcript.tisane(&folder, old).exits(2);
        assert!(said.out.is_empty(), "{}", said.out);
    }
    assert!(folder.files().len() == 1, "nothing is written");
    transcript.is("old_commands");
}

#[test]
fn help_has_every_verb_once_in_its_group() {
    let folder = Folder::new("");
    for help in [folder.tisane(&["--help"]), folder.tisane(&["-h"]), folder.tisane(&["help"])] {
        let help = help.exits(0).says(&["Run: init", "Look: why", "Study: verify", "Options:"]);
        for verb in VERBS.into_iter().chain(["help"]) {
            assert_eq!(help.out.matches(&format!("\n  {verb} ")).count(), 1, "{verb}\n{}", help.out);
        }
    }
}

#[test]
fn the_papers_of_a_configuration_and_of_its_run_are_cited() {
    let folder = Folder::new("[run]\nname = \"c\"\nt_end = 0.125\n[initial.king]\nn = 16\nw0 = 3\n");
    let parts = ["% integrator multipoint", "{Dittmann2024,", "doi:10.1086/109857", "{King1966,", "@software{tisane,"];
    let of_file = folder.tisane(&["generate", "cite", "run.toml"]).exits(0).says(&parts);
    assert!(!of_file.out.contains("Plummer1911"), "{}", of_file.out);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    for path in ["o", "o/snapshots/snapshot_0001.hdf5", "o/checkpoint.hdf5", "o/summary.json"] {
        let of_run = folder.tisane(&["generate", "cite", path]).exits(0).says(&parts);
        assert_eq!(entries(&of_run.out), entries(&of_file.out), "{path}");
    }
    let method = folder
        .tisane(&["generate", "cite"])
        .exits(0)
        .says(&["% integrator hermite4", "{PortegiesZwartBellemanGeldof2007,"]);
    assert!(!method.out.contains("King1966"), "{}", method.out);
    folder.tisane(&["generate", "cite", "o/snapshots"]).exits(2).says(&["config.toml", "directory of a run"]);
    folder.tisane(&["generate", "cite", "nowhere.toml"]).exits(2).says(&["nowhere.toml"]);
}

/// The first lines of the entries of a BibTeX file.
fn entries(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('@')).collect()
}

#[test]
fn tuning_is_for_a_gpu_and_refuses_what_it_cannot_do() {
    let folder = Folder::new("");
    let tune = ["bench", "force", "--tune", "shapes.csv"];
    let mut transcript = Transcript::default();
    transcript.tisane(&folder, &tune).exits(2);
    transcript.tisane(&folder, &[&tune[..], &["--engine", "cuda", "--json"]].concat()).exits(2);
    transcript.is("tuning_refused");
    assert!(!folder.path("shapes.csv").exists());
}

#[test]
fn scaling_compares_times_and_states_of_growing_numbers() {
    let folder = Folder::new("");
    let common = ["bench", "scaling", "--n", "32", "--threads", "2,1", "--repeat", "1"];
    let more = ["--integrator", "hermite4,multipoint6", "--precision", "mixed", "--output", "out", "--json"];
    let said = folder.tisane(&[&common[..], &more].concat()).exits(0);
    let found: Json = serde_json::from_str(&said.out).unwrap();
    let rows = found["rows"].as_array().unwrap();
    let counts: Vec<_> = rows.iter().map(|row| (row["count"].as_u64().unwrap(), row["n"].as_u64().unwrap())).collect();
    assert_eq!(counts, [(1, 32), (2, 32), (1, 32), (2, 32), (1, 32), (2, 64), (1, 32), (2, 64)]);
    // Of the same sphere the state is the same; of another none is there to compare with.
    assert!(rows[1]["same_state"] == true && rows[0]["state_sha256"] == rows[1]["state_sha256"]);
    assert!(rows[4]["seconds"] == rows[0]["seconds"] && rows[5]["same_state"].is_null());
    for file in ["scaling.csv", "scaling.hdf5", "scaling.svg", "scaling-dark.png"] {
        assert!(folder.path("out").join(file).is_file(), "{file}");
    }
    folder.tisane(&["bench", "scaling", "--threads", "0"]).exits(2).says(&["--threads", "above zero"]);
}

#[test]
fn scaling_is_modelled_without_a_run() {
    let folder = Folder::new("");
    let model = ["bench", "scaling", "--model", "--n", "65536", "--most", "4", "--precision", "mixed"];
    folder.tisane(&model).exits(0).says(&["GPUs", "1.78", "ranks are not modelled"]);
    folder.tisane(&[&model[..], &["--latency", "0"]].concat()).exits(2).says(&["--latency", "above zero"]);
    folder.tisane(&["bench", "scaling", "--most", "4"]).exits(2).says(&["--model"]);
    let config = "run = { name = 'x', t_end = 1 }\ninitial.plummer.n = 64\n\
                  force = { engine = 'cuda', precision = 'mixed', devices = [0, 1] }\n";
    folder.write("several.toml", config);
    folder.tisane(&["check", "several.toml"]).exits(0).says(&["several GPUs", "2: 0.70", "pay from N = 16384"]);
}

#[test]
fn bench_reports_in_json_and_in_a_table() {
    let folder = Folder::new("");
    let json = |arguments: &[&str]| -> Json {
        let said = folder.tisane(&[arguments, &["--repeat", "1", "--threads", "1", "--json"]].concat()).exits(0);
        serde_json::from_str(&said.out).unwrap()
    };
    let force = json(&["bench", "force", "--n", "64,128", "--targets", "1,8,1000"]);
    let sizes: Vec<_> = force["rows"].as_array().unwrap().iter().map(|row| (&row["n"], &row["targets"])).collect();
    let expected = [64, 64, 64, 128, 128, 128].into_iter().zip([1, 8, 64, 1, 8, 128]);
    assert!(
        sizes.into_iter().eq(expected
            .map(|(n, t)| (Json::from(n), Json::from(t)))
            .collect::<Vec<_>>()
            .iter()
            .map(|(n, t)| (n, t)))
    );
    let run = json(&["bench", "run", "--n", "32", "--nu", "0.01,0.02"]);
    assert_eq!(run["rows"].as_array().unwrap().len(), 2);
    for report in [&force, &run] {
        assert_eq!((report["threads"].as_u64(), report["repeat"].as_u64()), (Some(1), Some(1)));
        assert!(report["engine"].as_str().unwrap().starts_with("cpu (") && report["git_commit"].is_string());
        for row in report["rows"].as_array().unwrap() {
            assert!(row["mega_pairs_per_second"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    folder.tisane(&["bench", "force", "--n", "64", "--repeat", "1"]).exits(0).says(&["N", "targets", "Mpairs/s", "64"]);
    folder.tisane(&["bench", "run", "--n", "32", "--repeat", "1"]).exits(0).says(&["247 N^0.35", "dE/E", "32"]);
}
