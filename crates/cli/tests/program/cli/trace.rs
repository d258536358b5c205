//! `--trace`: when a run stepped, measured and wrote.

use crate::program::{Folder, SMALL, summary};
use crate::transcript::Transcript;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;

/// Span of a trace, with what was recorded in it.
struct Span {
    name: String,
    depth: usize,
    values: BTreeMap<String, String>,
}

/// The spans of a trace. Asserts that each ends, inside of the one that it began in, and that time goes on.
fn spans(folder: &Folder, name: &str) -> Vec<Span> {
    let events: Vec<Json> = serde_json::from_slice(&fs::read(folder.path(name)).unwrap()).unwrap();
    let (mut done, mut open) = (Vec::new(), BTreeMap::<u64, Vec<(String, f64)>>::new());
    for event in &events {
        let stack = open.entry(event["tid"].as_u64().unwrap()).or_default();
        let (name, time) = (event["name"].as_str().unwrap().to_owned(), event["ts"].as_f64());
        match event["ph"].as_str().unwrap() {
            "B" => stack.push((name, time.unwrap())),
            "E" => {
                let (begun, since) = stack.pop().unwrap();
                assert!(begun == name && since <= time.unwrap(), "{begun} at {since}, {event}");
                let values = event["args"].as_object().into_iter().flatten();
                let values = values.map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect();
                done.push(Span { name, depth: stack.len(), values });
            }
            // Lines of the log, and names of threads.
            "i" | "M" => assert!(event["args"].is_object(), "{event}"),
            other => panic!("{other}: {event}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    done
}

#[test]
fn a_trace_has_the_run_its_block_steps_and_its_outputs() {
    let folder = Folder::new(SMALL);
    let limit = ["--set", "limits.block_steps=9"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o", "--trace", "t.json"][..], &limit].concat()).exits(3);
    let first = spans(&folder, "t.json");
    folder.lift_block_limit("o");
    folder.tisane(&["resume", "o", "-q", "--trace", "again.json"]).exits(0);
    let second = spans(&folder, "again.json");
    let end = summary(&folder.path("o"));
    let count = |name: &str| first.iter().chain(&second).filter(|span| span.name == name).count() as u64;
    for session in [&first, &second] {
        let run = session.last().unwrap();
        assert!((run.name.as_str(), run.depth, run.values["name"].as_str()) == ("run", 0, "small"));
    }
    // The first output of a run is a part of its start.
    assert_eq!((count("start"), count("output"), count("row"), count("snapshot")), (1, 4, 5, 5));
    assert!(count("measure") == 5 && count("checkpoint") >= 3);
    for (key, of_summary) in [("block_steps", "block_steps"), ("particle_steps", "particle_steps")] {
        let batches = first.iter().chain(&second).filter(|span| span.name == "block steps");
        let sum: u64 = batches.map(|batch| batch.values[key].parse::<u64>().unwrap()).sum();
        assert_eq!(Some(sum), end[of_summary].as_u64(), "{key}");
    }
    // It changes no bit.
    folder.tisane(&["run", "run.toml", "-q", "--output", "plain"]).exits(0);
    assert_eq!(end["state_sha256"], summary(&folder.path("plain"))["state_sha256"]);
}

#[test]
fn a_trace_is_a_new_file_and_a_refused_run_leaves_none() {
    let folder = Folder::new(SMALL);
    folder.write("ensemble.toml", format!("{SMALL}[ensemble]\nvary = {{ \"initial.plummer.seed\" = [1, 2] }}\n"));
    folder.write("thesis.json", "years of work");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let before = folder.files();
    let mut transcript = Transcript::default();
    for arguments in [
        &["run", "run.toml", "--trace", "thesis.json"][..],
        &["run", "run.toml", "--trace", "nowhere/t.json"],
        &["run", "run.toml", "--output", "o", "--trace", "t.json"],
        &["run", "ensemble.toml", "--trace", "t.json"],
        &["resume", "o", "--trace", "thesis.json"],
    ] {
        transcript.tisane(&folder, arguments).exits(2);
        assert!(folder.files() == before, "{arguments:?} touched a file");
    }
    transcript.is("trace_refused");
}
