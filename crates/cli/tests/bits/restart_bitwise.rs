//! Promise: a run's result depends on its input only, to the bit: not on threads, vector width, engine, output cadence,
//! or on how often and how roughly it was stopped and resumed.

use crate::outcome;
use crate::program;
use outcome::Outcome;
use program::{Folder, finish, random, signal, summary, wait_until};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Child;
use std::time::Duration;
use tisane::force::cpu::Width;

fn config(n: usize, t_end: &str, more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = {t_end}\n[initial.plummer]\nn = {n}\n[softening]\nepsilon = \"1/256\"\n\
         [output]\ninterval = \"1/8\"\n[checkpoint]\ninterval = \"5ms\"\n{more}"
    )
}

/// Another integrator than the one taken by default.
const LEAPFROG: &str = "[integrator.leapfrog]\ndt = \"1/512\"\n";

/// Neighbour scheme, with lists that change.
const NEIGHBOURS: &str = "[integrator.ahmad_cohen]\nneighbours = 6\n";

/// A run that nothing disturbs.
fn undisturbed(config: &str, arguments: &[&str]) -> Outcome {
    let folder = Folder::new(config);
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], arguments].concat()).exits(0);
    Outcome::read(&folder.path("o"))
}

/// The state after a run that says nothing of the cluster.
fn undisturbed_state(config: &str) -> String {
    let folder = Folder::new(config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    assert!(!folder.path("o/cluster.csv").exists() && !folder.path("o/events.hdf5").exists());
    summary(&folder.path("o"))["state_sha256"].as_str().unwrap().to_owned()
}

fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.ino())
}

/// Waits until `happened` or the process has ended; false if it has ended.
fn wait_while_running(child: &mut Child, mut happened: impl FnMut() -> bool) -> bool {
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if happened() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Resumes until the run is finished; returns how often it stopped on request before.
fn resume_to_the_end(folder: &Folder, arguments: &[&str]) -> u32 {
    let mut stops = 0;
    loop {
        let said = folder.tisane(&[&["resume", "o", "-q"], arguments].concat());
        match said.code {
            0 => return stops,
            3 => stops += 1,
            _ => drop(said.exits(0)),
        }
        assert!(stops < 1000, "no progress");
    }
}

#[test]
fn threads_and_vector_width_do_not_show() {
    for more in ["", NEIGHBOURS, LEAPFROG] {
        let config = config(256, "0.5", more);
        let one = undisturbed(&config, &["--threads", "1"]);
        for threads in ["2", "4"] {
            one.assert_same(&undisturbed(&config, &["--threads", threads]), &format!("{threads} threads {more}"));
        }
        for width in Width::available() {
            let folder = Folder::new(&config);
            let mut command = folder.command(&["run", "run.toml", "-q", "--output", "o"]);
            command.env("TISANE_SIMD", width.name());
            finish(command).exits(0);
            one.assert_same(&Outcome::read(&folder.path("o")), &format!("{} {more}", width.name()));
        }
    }
}

#[test]
fn the_reference_engine_gives_the_same_bits() {
    for more in ["", "[integrator.hermite4]\niterations = 2\n", LEAPFROG] {
        let config = config(128, "0.5", more);
        let cpu = undisturbed(&config, &["--set", "force.engine=cpu"]);
        let mut reference = undisturbed(&config, &["--set", "force.engine=reference"]);
        // Only the reference is audited, against the CPU; it must not differ in one bit there either.
        for (name, values) in &mut reference.diagnostics {
            if name.starts_with("audit_") {
                let compared = more != LEAPFROG || name.starts_with("audit_acceleration");
                let expected = match name.as_str() {
                    "audit_sample" => ["128", "128.0"],
                    _ if compared => ["0", "0.0"],
                    _ => ["NaN", "NaN"],
                };
                assert!(values.iter().all(|x| expected.contains(&x.as_str())), "{name}: {values:?}");
                *values = cpu.diagnostics[name].clone();
            }
        }
        cpu.assert_same(&reference, "reference");
    }
}

#[test]
fn the_output_cadence_does_not_show() {
    for more in ["", LEAPFROG] {
        let (often, seldom) = (config(256, "1.0", more), config(256, "1.0", more).replace("\"1/8\"", "1.0"));
        let (often, seldom) = (undisturbed(&often, &[]), undisturbed(&seldom, &[]));
        assert_eq!(often.state, seldom.state);
        let blind = undisturbed_state(&(config(256, "1.0", more) + "[cluster]\nenabled = false\n"));
        assert_eq!(often.state, blind, "without a look at the cluster");
        assert_eq!((often.diagnostics["time"].len(), seldom.diagnostics["time"].len()), (9, 2));
        for (name, values) in &seldom.diagnostics {
            // These two look back to the row before.
            if !["relative_energy_error_step", "mean_block_size"].contains(&name.as_str()) {
                assert_eq!(values.last(), often.diagnostics[name].last(), "{name}");
            }
        }
        let last = |all: &Outcome, n: &str| -> Vec<_> {
            all.snapshots.iter().filter(|(name, _)| name.contains(n)).map(|(_, bits)| bits.clone()).collect()
        };
        assert!(last(&often, "_0008.hdf5") == last(&seldom, "_0001.hdf5"), "last snapshot");
    }
}

#[test]
fn killed_at_any_instant_and_resumed_gives_the_same_bits() {
    for (seed, more) in [(1, ""), (2, "[integrator.hermite4]\niterations = 2\n"), (3, LEAPFROG), (4, NEIGHBOURS)] {
        let config = config(384, if more == NEIGHBOURS { "2.0" } else { "1.0" }, more);
        let expected = undisturbed(&config, &["--threads", "1"]);
        let folder = Folder::new(&config);
        let (output, mut random_state, mut kills) = (folder.path("o"), seed, 0);
        let mut child = folder.start(&["run", "run.toml", "-q", "--output", "o"]);
        while kills < 8 {
            // Each session lives to write a checkpoint, so that the run gets on, and is killed soon after, anywhere.
            let before = inode(&output.join("checkpoint.hdf5"));
            if !wait_while_running(&mut child, || inode(&output.join("checkpoint.hdf5")) != before) {
                break;
            }
            std::thread::sleep(Duration::from_micros(random(&mut random_state, 20_000)));
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            child = folder.start(&["resume", "o", "-q", "--threads", if kills % 2 == 0 { "1" } else { "2" }]);
        }
        assert!(kills > 0, "the run was over before its first checkpoint");
        let ended = child.wait().unwrap();
        assert!(ended.success(), "the last session: {ended}");
        expected.assert_same(&Outcome::read(&output), &format!("{kills} kills"));
    }
}

#[test]
fn signals_stop_with_code_3_and_resume_goes_on_to_the_same_bits() {
    let config = config(512, "2.0", "");
    let expected = undisturbed(&config, &[]);
    for name in ["-TERM", "-INT"] {
        let folder = Folder::new(&config);
        let output = folder.path("o");
        let mut child = folder.start(&["run", "run.toml", "--output", "o"]);
        let under_way = wait_while_running(&mut child, || output.join("checkpoint.hdf5").exists());
        assert!(under_way, "the run was over before its first checkpoint");
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(3), "{name}");
        let stopped = summary(&output);
        assert_eq!(stopped["exit_reason"], "interrupted");
        assert!(stopped["time"].as_f64().unwrap() < 2.0);
        resume_to_the_end(&folder, &[]);
        expected.assert_same(&Outcome::read(&output), name);
    }
}

#[test]
fn a_second_sigint_ends_at_once() {
    // The first forces of this many particles take the scalar engine many seconds, during which it cannot stop.
    let folder = Folder::new(&config(40_000, "1.0", "[force]\nengine = \"reference\"\n"));
    let log = folder.path("o/run.log");
    let mut child = folder.start(&["run", "run.toml", "--output", "o"]);
    let listening = || fs::read_to_string(&log).is_ok_and(|text| text.contains("engine=reference"));
    assert!(wait_while_running(&mut child, listening));
    // Two signals that come before the process is given a core are one.
    let mut code = None;
    wait_until("the end", || {
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(50));
        code = child.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(130)));
}

#[test]
fn limits_stop_with_code_3_and_resume_goes_on_to_the_same_bits() {
    let plain = config(192, "0.5", "");
    let expected = undisturbed(&plain, &[]);
    let blocks = expected.diagnostics["block_steps"].last().unwrap().parse::<u32>().unwrap();
    for limit in [1, 7, 100, 333] {
        let folder = Folder::new(&(plain.clone() + &format!("[limits]\nblock_steps = {limit}\n")));
        if limit == 1 {
            // One block step a session would take a thousand sessions: stop after the first, then go on without.
            folder
                .tisane(&["run", "run.toml", "--output", "o"])
                .exits(3)
                .says(&["block-step-limit", "tisane resume o"]);
            folder.lift_block_limit("o");
            assert_eq!(resume_to_the_end(&folder, &[]), 0);
        } else if limit == 7 {
            folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
            folder.tisane(&["resume", "o", "-q"]).exits(3);
            assert_eq!(
                summary(&folder.path("o"))["block_steps"],
                14,
                "the limit counts from the start of each session"
            );
            continue;
        } else {
            folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
            let stops = 1 + resume_to_the_end(&folder, &[]);
            // A session that ends just at t_end is finished.
            assert_eq!(stops, (blocks - 1) / limit, "stops of {limit} block steps in {blocks}");
        }
        expected.assert_same(&Outcome::read(&folder.path("o")), &format!("{limit} block steps at a time"));
    }
}

#[test]
fn the_leapfrog_stopped_at_any_step_goes_on_to_the_same_bits() {
    // In mixed the forces are audited, by the accelerations that a resumed run has from its checkpoint.
    for mode in ["f64", "mixed"] {
        let plain = config(192, "0.5", &format!("{LEAPFROG}[force]\nprecision = \"{mode}\"\n"));
        let expected = undisturbed(&plain, &[]);
        for limit in [1, 63, 64, 100] {
            let folder = Folder::new(&(plain.clone() + &format!("[limits]\nblock_steps = {limit}\n")));
            folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
            if limit == 1 {
                folder.lift_block_limit("o");
            }
            let stops = 1 + resume_to_the_end(&folder, &[]);
            assert_eq!(stops, if limit == 1 { 1 } else { 255 / limit }, "{limit} steps at a time of 256");
            expected.assert_same(&Outcome::read(&folder.path("o")), &format!("{limit} steps at a time in {mode}"));
        }
    }
}

#[test]
fn a_time_limit_stops_with_code_3_and_resume_goes_on_to_the_same_bits() {
    let config = config(512, "0.5", "");
    let expected = undisturbed(&config, &[]);
    let folder = Folder::new(&config);
    folder.tisane(&["run", "run.toml", "--output", "o", "--time-limit", "1ns"]).exits(3).says(&["time-limit"]);
    assert_eq!(summary(&folder.path("o"))["block_steps"], 0, "the time was up before the first block step");
    // How far a session gets in 20 ms is the machine's affair.
    let code = folder.tisane(&["resume", "o", "-q", "--time-limit", "20ms"]).code;
    assert!([0, 3].contains(&code), "{code}");
    resume_to_the_end(&folder, &["--time-limit", "1h"]);
    expected.assert_same(&Outcome::read(&folder.path("o")), "time limit");
}

#[test]
fn a_run_with_its_end_moved_is_the_longer_run() {
    let expected = undisturbed(&config(256, "0.5", ""), &[]);
    let folder = Folder::new(&config(256, "0.25", ""));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let finished = Outcome::read(&folder.path("o"));
    // Once more to the same end changes nothing.
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    finished.assert_same(&Outcome::read(&folder.path("o")), "resumed while finished");
    folder.tisane(&["resume", "o", "-q", "--t-end", "1/2"]).exits(0);
    expected.assert_same(&Outcome::read(&folder.path("o")), "extended");
}
