//! Promise: a run names its engine and the reason for the choice, with and without a GPU. A resumed run keeps its bits
//! or reports that it does not. A profile is printed on request.

use crate::program;
use program::{Folder, SMALL, summary};
use std::fs;
use tisane::force::precision::Precision;
use tisane::time::Clock;
use tisane_io::checkpoint;
use tisane_run::assemble::{OnGpu, Physics, cuda, gpus};

fn has_gpu() -> bool {
    gpus().is_ok_and(|gpus| !gpus.is_empty())
}

fn choice(folder: &Folder, output: &str) -> String {
    summary(&folder.path(output))["engine_choice"].as_str().unwrap().to_owned()
}

fn state(folder: &Folder, output: &str) -> String {
    summary(&folder.path(output))["state_sha256"].to_string()
}

#[test]
fn auto_computes_a_small_run_on_the_cpu_and_says_why() {
    let folder = Folder::new(SMALL);
    let from = Precision::F64.gpu_steps_win_from();
    let why = format!("auto: cpu: N = 16 is below {from}, from where a GPU wins in f64");
    folder.tisane(&["check", "run.toml"]).exits(0).says(&[&why]);
    folder.tisane(&["run", "run.toml", "--output", "o"]).exits(0).says(&[&why]);
    assert_eq!(choice(&folder, "o"), why);
    assert!(fs::read_to_string(folder.path("o/run.log")).unwrap().contains(&why));
}

#[test]
fn auto_takes_what_the_machine_has_and_the_bits_are_the_same() {
    let folder = Folder::new(&SMALL.replace("n = 16", &format!("n = {}", Precision::F64.gpu_steps_win_from())));
    folder.tisane(&["run", "run.toml", "-q", "--output", "auto"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "cpu", "--engine", "cpu"]).exits(0);
    assert_eq!(state(&folder, "auto"), state(&folder, "cpu"));
    let (taken, why) = (summary(&folder.path("auto"))["engine"].clone(), choice(&folder, "auto"));
    if has_gpu() {
        assert_eq!(taken, "cuda");
        assert!(why.starts_with("auto: cuda (") && why.contains("device 0") && why.contains("is at least"), "{why}");
    } else {
        assert_eq!(taken, "cpu");
        assert!(why.starts_with("auto: cpu: ") && !why.contains('\n'), "{why}");
        assert!(!cfg!(feature = "cuda") || why.contains("no usable GPU"), "{why}");
    }
}

#[test]
fn the_default_precision_is_mixed_on_asking_for_cuda_and_f64_otherwise() {
    let folder = Folder::new(SMALL);
    for (set, precision) in [
        ("force.engine=cuda", "precision mixed"),
        ("force.engine=auto", "precision f64"),
        ("force.engine=cpu", "precision f64"),
        ("force.engine=reference", "precision f64"),
    ] {
        folder.tisane(&["check", "run.toml", "--set", set]).exits(0).says(&[precision]);
    }
}

#[test]
fn engine_and_precision_of_the_command_line_become_the_runs() {
    let folder = Folder::new(&format!("{SMALL}[force]\nengine = \"cpu\"\n"));
    let arguments = ["run", "run.toml", "-q", "--output", "o", "--engine", "reference", "--precision", "double-float"];
    folder.tisane(&arguments).exits(0);
    let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
    assert!(config.contains("engine = \"reference\"") && config.contains("precision = \"double-float\""), "{config}");
    assert_eq!(choice(&folder, "o"), "reference, as asked for");
    let before = folder.files();
    folder.tisane(&["run", "run.toml", "--engine", "gpu"]).exits(2).says(&["--engine", "gpu", "cuda", "reference"]);
    folder.tisane(&["run", "run.toml", "--precision", "f46"]).exits(2).says(&["--precision", "f46", "double-float"]);
    folder.tisane(&["run", "run.toml", "--device=-1"]).exits(2).says(&["--device"]);
    folder.tisane(&["run", "run.toml", "--device", "9999"]).exits(2).says(&["--device", "9999"]);
    assert!(folder.files() == before);
}

#[test]
fn a_gpu_that_is_not_there_is_told_before_anything_is_written() {
    let folder = Folder::new(SMALL);
    let before = folder.files();
    let expected: &[&str] = match gpus() {
        Ok(there) if !there.is_empty() => &["no device 1000: this machine has 0 (", "--device"],
        Ok(_) => &["finds no GPU", "force.engine = \"cpu\""],
        Err(_) if cfg!(feature = "cuda") => &["CUDA: ", "driver", "force.engine = \"cpu\""],
        Err(_) => &["built without its CUDA engine"],
    };
    folder.tisane(&["run", "run.toml", "--engine", "cuda", "--device", "1000"]).exits(2).says(expected);
    folder.tisane(&["run", "run.toml", "--engine", "cuda", "--set", "force.device=1000"]).exits(2).says(expected);
    folder.tisane(&["bench", "force", "--n", "64", "--engine", "cuda", "--device", "1000"]).exits(2).says(expected);
    assert!(folder.files() == before);
    // The configuration may be meant for another machine, so it is valid.
    let check = ["check", "run.toml", "--set", "force.engine=cuda", "--set", "force.device=1000"];
    folder.tisane(&check).exits(0).says(&["cuda, device 1000", "warning"]);
    assert!(folder.files() == before);
}

#[test]
fn particles_that_no_gpu_holds_are_refused_with_the_numbers() {
    if !has_gpu() {
        return println!("skipped: no GPU");
    }
    let on = OnGpu { room_for: 1 << 31, ..OnGpu::default() };
    let clock = Clock { start: 0.0, dt_max: 0.125 };
    let error = cuda(None, Physics { precision: Precision::F64, epsilon: 0.0, clock }, on)
        .err()
        .expect("no machine has so much memory");
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    assert!(text.contains("2147483648 particles need") && text.contains("MiB"), "{text}");
}

#[test]
fn a_device_of_no_use_is_warned_of() {
    let folder = Folder::new(SMALL);
    let run = ["run", "run.toml", "--output", "o", "--engine", "cpu", "--device", "1"];
    folder.tisane(&run).exits(0).says(&["WARN", "--device 1 has no effect: the engine is cpu"]);
    let check = ["check", "run.toml", "--set", "force.engine=cpu", "--set", "force.device=1"];
    folder.tisane(&check).exits(0).says(&["warning: force.device = 1 has no effect: the engine is cpu"]);
    // With auto, the device is what a GPU would be.
    folder.tisane(&["check", "run.toml", "--set", "force.device=1"]).exits(0).says(&["auto: cpu: N = 16"]);
}

/// A run in a precision mode that stopped on its way in `o`, and one that did not in `whole`.
fn stopped(precision: &str) -> Folder {
    let folder = Folder::new(&format!("{SMALL}[force]\nprecision = \"{precision}\"\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=20"]).exits(3);
    folder.lift_block_limit("o");
    folder
}

/// Says in the checkpoint of `o` that another engine computed it.
fn computed_by(folder: &Folder, engine: &str) {
    let dir = folder.path("o");
    let (mut found, _) = checkpoint::read_newest(&dir).unwrap();
    found.provenance.engine = engine.into();
    checkpoint::write(&dir, &found).unwrap();
}

#[test]
fn another_engine_with_the_same_bits_may_go_on_and_says_so() {
    for precision in ["f64", "mixed"] {
        let folder = stopped(precision);
        let said = folder.tisane(&["resume", "o", "--engine", "reference"]).exits(0);
        let said = said.says(&["reference, as asked for; the run was computed by cpu so far, which has the same bits"]);
        assert!(!said.err.contains("WARN"), "{}", said.err);
        assert_eq!(state(&folder, "o"), state(&folder, "whole"), "{precision}");
        let config = fs::read_to_string(folder.path("o/config.toml")).unwrap();
        assert!(config.contains("engine = \"auto\""), "the engine holds for its session alone: {config}");
    }
}

#[test]
fn auto_goes_on_where_f64_was_computed_by_a_gpu() {
    let folder = stopped("f64");
    computed_by(&folder, "cuda");
    folder
        .tisane(&["resume", "o"])
        .exits(0)
        .says(&["auto: cpu: N = 16", "computed by cuda so far, which has the same bits"]);
    assert_eq!(state(&folder, "o"), state(&folder, "whole"));
}

#[test]
fn auto_keeps_the_engine_of_a_run_whose_bits_another_has_not() {
    let folder = stopped("mixed");
    computed_by(&folder, "cuda");
    if has_gpu() {
        folder.tisane(&["resume", "o"]).exits(0).says(&["auto: cuda (", "computed by cuda so far", "different bits"]);
        return;
    }
    let before = folder.files();
    let refusal = folder.tisane(&["resume", "o"]).exits(2);
    refusal.says(&["computed by cuda so far", "in mixed cpu and cuda have different bits", "--engine cpu"]);
    assert!(folder.files() == before, "nothing was written");
    let said = folder.tisane(&["resume", "o", "--engine", "cpu"]).exits(0);
    said.says(&["WARN", "computed by cuda so far, and cpu rounds differently in mixed", "not bit for bit"]);
}

#[test]
fn auto_keeps_the_cpu_for_what_the_cpu_began() {
    let folder = stopped("mixed");
    folder.tisane(&["resume", "o"]).exits(0).says(&["auto: cpu: the run was computed by cpu so far, and in mixed"]);
    assert_eq!(state(&folder, "o"), state(&folder, "whole"));
}

#[test]
fn a_profile_is_made_on_request_alone() {
    let folder = Folder::new(&SMALL.replace("n = 16", "n = 100"));
    folder.tisane(&["run", "run.toml", "--output", "without"]).exits(0);
    assert!(summary(&folder.path("without")).get("profile").is_none());
    let stop = ["run", "run.toml", "--output", "o", "--profile", "--engine", "cpu", "--set", "limits.block_steps=50"];
    folder.tisane(&stop).exits(3).says(&["profile", "host", "force", "update"]);
    let all = summary(&folder.path("o"));
    let profile = &all["profile"];
    assert_eq!((profile["block_steps"].as_u64(), profile["evaluations"].as_u64()), (Some(50), Some(50)));
    let seconds = |of: &serde_json::Value| -> f64 {
        of["seconds"].as_object().unwrap().values().map(|x| x.as_f64().unwrap()).sum()
    };
    assert!(profile["seconds"]["force"].as_f64().unwrap() > 0.0 && profile["seconds"]["host"].as_f64().unwrap() > 0.0);
    assert!(seconds(profile) <= all["wall_seconds"].as_f64().unwrap());
    let buckets = profile["by_block_size"].as_array().unwrap();
    assert_eq!(buckets.iter().map(|b| b["block_steps"].as_u64().unwrap()).sum::<u64>(), 50);
    assert!((buckets.iter().map(seconds).sum::<f64>() - seconds(profile)).abs() < 1e-9);
    // The state does not know that it was watched, and the profile is that of a session.
    folder.tisane(&["resume", "o", "-q", "--profile"]).exits(3);
    let again = summary(&folder.path("o"));
    assert_eq!((again["profile"]["block_steps"].as_u64(), again["block_steps"].as_u64()), (Some(50), Some(100)));
}

#[test]
fn bench_profiles_by_block_size() {
    let folder = Folder::new("");
    let bench = ["bench", "run", "--n", "64", "--repeat", "1", "--profile"];
    folder.tisane(&bench).exits(0).says(&["N = 64", "blocks of 1 to 3", "force"]);
    let said = folder.tisane(&[&bench[..], &["--json"]].concat()).exits(0);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(report["rows"][0]["profile"]["seconds"]["force"].as_f64().unwrap() > 0.0);
}

#[test]
fn verify_passes_every_engine_and_lists_the_gpus_or_says_why_there_are_none() {
    let said = Folder::new("").tisane(&["verify"]).exits(0);
    let rows = said.out.lines().filter(|line| line.contains("pass")).count();
    let widths = tisane::force::cpu::Width::available();
    assert!(rows > widths.len() && !said.out.contains("FAIL"), "{}", said.out);
    for width in widths {
        assert!(said.out.contains(width.name()), "{}\n{}", width.name(), said.out);
    }
    match gpus() {
        Ok(there) if !there.is_empty() => {
            for (device, gpu) in there.iter().enumerate() {
                assert!(said.out.contains(&format!("GPU {device}: {}", gpu.about)), "{}", said.out);
                let rows = said.out.lines().filter(|line| line.contains(&format!("cuda {device} (")));
                assert_eq!(rows.count(), Precision::ALL.len(), "{}", said.out);
            }
        }
        _ => {
            let lines: Vec<_> = said.out.lines().filter(|line| line.contains("GPUs: none used: ")).collect();
            assert_eq!(lines.len(), 1, "{}", said.out);
        }
    }
}
