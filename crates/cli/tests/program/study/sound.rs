//! What studies measure is sound, and what is built on it: laws, model, advice.

use super::table;
use crate::program::{Folder, unwrapped};
use std::fs;
use std::time::Duration;
use tisane::force::canonical::BAG;
use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces, reference};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};
use tisane_lab::study::config::{ConvergenceFile, CostFile, EnergyFile, ForceFile, StudyFile};
use tisane_lab::study::model::{Fit, Model};
use tisane_lab::study::trial;
use tisane_run::assemble::{self, Session};
use tisane_run::config::Config;

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

#[test]
fn the_files_to_start_from_are_the_built_in_sweeps() {
    assert_eq!(ForceFile::from_text("t", ForceFile::TEMPLATE, &[]).unwrap(), ForceFile::default());
    assert_eq!(EnergyFile::from_text("t", EnergyFile::TEMPLATE, &[]).unwrap(), EnergyFile::default());
    assert_eq!(CostFile::from_text("t", CostFile::TEMPLATE, &[]).unwrap(), CostFile::default());
    let convergence = ConvergenceFile::from_text("t", ConvergenceFile::TEMPLATE, &[]).unwrap();
    assert_eq!(convergence, ConvergenceFile::default());
    // The metadata of a result reads back unchanged.
    let resolved = EnergyFile::default().resolved().unwrap();
    assert_eq!(EnergyFile::from_text("resolved", &resolved, &[]).unwrap(), EnergyFile::default());
    let folder = Folder::new("");
    for name in ["study-force", "study-energy", "study-cost", "study-convergence"] {
        let text = folder.tisane(&["init", name]).exits(0).out;
        assert!(text.contains(&format!("[{}]", name.trim_start_matches("study-"))), "{text}");
    }
}

/// A hundred and fifty particles in a lump.
fn lump() -> Particles {
    let at = |k: usize, f: f64| (k as f64 * f).sin();
    let pos = (0..150).map(|k| Vec3::new(at(k, 1.1), at(k, 2.3), at(k, 3.7))).collect();
    let vel = (0..150).map(|k| Vec3::new(at(k, 0.7), at(k, 1.9), at(k, 4.1))).collect();
    Particles::new(vec![1.0 / 150.0; 150], pos, vel)
}

fn forces(engine: &mut dyn ForceEngine) -> Forces {
    let p = lump();
    let block = Block::from_particles(&p, (0..150).collect());
    let mut forces = Forces::default();
    engine.load(&p).unwrap();
    engine.evaluate(Time::default(), block.view(), &mut forces).unwrap();
    forces
}

#[test]
fn bags_of_another_size_are_the_same_sums_in_other_bags() {
    let of = |mode, bag| forces(&mut *reference::engine_with_bags(mode, 0.1, CLOCK, bag));
    for mode in Precision::ALL {
        assert_eq!(of(mode, BAG), forces(&mut *reference::engine(mode, 0.1, CLOCK)), "{}", mode.name());
    }
    // One bag for all is a running sum, and so are bags of one.
    let direct = of(Precision::F32Direct, BAG);
    assert_eq!(of(Precision::F32Chamomile, 150), direct);
    assert_eq!(of(Precision::F32Chamomile, 1000), direct);
    assert_ne!(of(Precision::F32Chamomile, 16), direct);
}

/// Columns of a table of a study, by name.
fn column(folder: &Folder, path: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path(path)).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(','));
    let at = lines.next().unwrap().position(|it| it.split(" [").next() == Some(name));
    let at = at.unwrap_or_else(|| panic!("no {name} in {text}"));
    lines.map(|mut line| line.nth(at).unwrap().to_owned()).collect()
}

fn numbers(folder: &Folder, path: &str, name: &str) -> Vec<f64> {
    column(folder, path, name).iter().map(|value| value.parse().unwrap()).collect()
}

#[test]
fn verify_forces_grow_by_the_laws_of_rounding() {
    let sweep = "[force]\nn = [512, 2048]\nmodes = [\"f32-direct\", \"f32-chamomile\"]\nbags = [16, 64, 256]\nn_of_bags = [512]\n\
                 targets = 512\n";
    let folder = Folder::new(sweep);
    folder.tisane(&["study", "force", "run.toml", "--output", "o", "-q"]).exits(0);
    let found = numbers(&folder, "o/table.csv", "pot_rms");
    let laws = numbers(&folder, "o/table.csv", "pot_rms_law");
    // Two modes at 512 with their bags, two at 2048.
    assert_eq!(found.len(), 6);
    for (found, law) in found.iter().zip(laws) {
        assert!((0.75..1.4).contains(&(found / law)), "{found:e} and {law:e}");
    }
    // The tables of Hamada & Iitaka are printed next to them if there is one.
    let paper = column(&folder, "o/table.csv", "paper_direct");
    assert_eq!(paper.iter().filter(|value| *value != "nan").count(), 2, "{paper:?}");
    folder.tisane(&["inspect", "o/table.hdf5"]).exits(0).says(&["tisane table", "pot_rms", "largest", "git_commit"]);
    for figure in ["force.svg", "force.png", "force-dark.svg", "force-dark.png"] {
        assert!(fs::metadata(folder.path("o").join(figure)).unwrap().len() > 1000, "{figure}");
    }
}

#[test]
fn the_error_of_a_point_is_that_of_the_run() {
    let sweep = "[energy]\nn = [64]\nmodes = [\"f64\"]\nnu = [0.02]\nseeds = [3]\n[energy.stretch]\nt_start = 0\n";
    let folder = Folder::new(sweep);
    folder.tisane(&["study", "energy", "run.toml", "--output", "o", "-q"]).exits(0);
    let found = numbers(&folder, "o/table.csv", "energy_error");
    let run = "[run]\nname = \"p\"\nt_end = 0.5\n[initial.plummer]\nn = 64\nseed = 3\n[softening]\nepsilon = \"1/256\"\n[force]\n\
               engine = \"cpu\"\n[integrator.hermite4]\nnu = 0.02\nnu_start = 0.02\ndt_max = \"1/8\"\ndt_min = \"2^-26\"\n";
    folder.write("p.toml", run);
    folder.tisane(&["run", "p.toml", "--output", "p", "-q"]).exits(0);
    let error = crate::program::summary(&folder.path("p"))["relative_energy_error"].as_f64().unwrap();
    assert!(error != 0.0 && (found[0] / error - 1.0).abs() < 1e-3, "{found:?} and {error:e}");
}

/// A program whose performance model is in its folder.
fn with_model(folder: &Folder, arguments: &[&str]) -> crate::program::Said {
    let mut command = folder.command(arguments);
    command.env("TISANE_MODEL", folder.path("model.toml"));
    crate::program::finish(command)
}

const RUN: &str =
    "[run]\nname = \"p\"\nt_end = 2.0\n[initial.plummer]\nn = 100\n[force]\nengine = \"cpu\"\nthreads = 1\n";

#[test]
fn check_says_what_a_run_takes_by_the_model_where_there_is_one() {
    let folder = Folder::new(RUN);
    with_model(&folder, &["check", "run.toml"]).exits(0).says(&["wall time", "measured: "]);
    with_model(&folder, &["bench", "model"]).exits(0).says(&["there is no model", "tisane bench model --fit"]);
    with_model(&folder, &["bench", "model", "--predict", "run.toml"]).exits(2).says(&["there is no model yet"]);
    with_model(&folder, &["bench", "model", "--fit", "nowhere"]).exits(2).says(&["model.toml", "study cost"]);
    with_model(&folder, &["bench", "model", "--show", "--fit"]).exits(2);

    let sets = [
        "--set",
        "cost.n=[32,64,128]",
        "--set",
        "cost.repeat=1",
        "--set",
        "cost.threads=1",
        "--set",
        "cost.modes=[\"f64\"]",
    ];
    folder.tisane(&[&["study", "cost", "-q"], &sets[..]].concat()).exits(0);
    with_model(&folder, &["bench", "model", "--fit", "studies/cost"]).exits(0).says(&[
        "cpu",
        "force_pair",
        "model.toml",
    ]);
    with_model(&folder, &["bench", "model"]).exits(0).says(&["cpu", "f64"]);
    with_model(&folder, &["check", "run.toml"]).exits(0).says(&[
        "wall time",
        "about",
        "from the particles and the model of",
    ]);
    with_model(&folder, &["bench", "model", "--predict", "run.toml"]).exits(0).says(&[
        "N = 100",
        "about",
        "block steps",
    ]);
    let other = ["check", "run.toml", "--set", "force.precision=mixed"];
    with_model(&folder, &other).exits(0).says(&["wall time", "measured: "]);
    let beyond = ["check", "run.toml", "--set", "initial.plummer.n=500"];
    with_model(&folder, &beyond).exits(0).says(&["less certain: N = 32 to 128 was measured"]);
    let leapfrog =
        "[run]\nname = \"p\"\nt_end = 2.0\n[initial.plummer]\nn = 100\n[integrator.leapfrog]\ndt = \"1/64\"\n";
    folder.write("leap.toml", leapfrog);
    with_model(&folder, &["check", "leap.toml"]).exits(0).says(&["wall time", "measured: "]);
    assert!(!folder.path("runs").exists(), "a check writes nothing");

    // The same points give the same model, whatever the file held before; a damaged file gives a warning and stops no
    // check.
    let text = fs::read_to_string(folder.path("model.toml")).unwrap();
    let negative =
        |line: &str| if line.starts_with("force_pair = ") { "force_pair = -1.0".into() } else { line.to_owned() };
    folder.write("model.toml", text.lines().map(negative).collect::<Vec<_>>().join("\n"));
    let said = with_model(&folder, &["check", "run.toml"]).exits(0);
    said.says(&["measured: ", "the performance model is not used: ", "fit.force_pair", "at least 0"]);
    with_model(&folder, &["bench", "model"]).exits(2).says(&["fit.force_pair", "at least 0"]);
    folder.write("model.toml", text.replace("force_pair", "force_pare"));
    with_model(&folder, &["bench", "model"]).exits(2).says(&["unknown key `force_pare`: did you mean `force_pair`?"]);
}

/// Two particles on a circle, whose steps are all alike.
const TWO: &str = "[run]\nname = \"two\"\nt_end = 2.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p.csv\"\n\
                   [force]\nengine = \"cpu\"\nthreads = 1\n[integrator.hermite4]\ndt_max = 0.125\n";

fn two() -> Folder {
    let folder = Folder::new(TWO);
    folder.write("p.csv", "m,x,y,z,vx,vy,vz\n0.5,0.5,0,0,0,0.5,0\n0.5,-0.5,0,0,0,-0.5,0\n");
    folder
}

/// Returns what `tisane check` says of the wall time of a run, in one line.
fn wall_time(folder: &Folder, sets: &[&str]) -> String {
    let said = with_model(folder, &[&["check", "run.toml"], sets].concat()).exits(0);
    let said = unwrapped(&said.out);
    let (_, wall_time) = said.split_once("What it costs wall time").expect("a line");
    wall_time.split(" memory ").next().expect("a text").to_owned()
}

#[test]
fn check_measures_the_beginning_of_a_run_without_a_model() {
    let folder = two();
    let whole = wall_time(&folder, &[]);
    assert!(whole.contains("measured: the whole run"), "{whole}");
    // 10⁶ time units are more than any machine gets through in half a second.
    let long = ["--set", "run.t_end=1e6"];
    let multipoint = ["--set", "integrator={multipoint={dt_max=0.125}}"];
    let leapfrog = ["--set", "integrator={leapfrog={dt=0.015625}}", "--set", "softening.epsilon=0.1"];
    for scheme in [&[][..], &multipoint, &leapfrog] {
        let begun = wall_time(&folder, &[&long[..], scheme].concat());
        assert!(begun.contains("about ") && begun.contains("if it goes on as it begins; measured: "), "{begun}");
        assert!(begun.contains(" s, from 0.") && begun.contains("% of the run)"), "{begun}");
        assert!(!begun.contains("NaN") && !begun.contains("inf"), "{begun}");
    }
    // A particle that ends the run is the reason why there is no estimate.
    let short = ["--set", "integrator.hermite4.dt_min=0.02"];
    assert!(wall_time(&folder, &short).ends_with(" not known: see the warning below"));
    let warning = "warning: the run would end early: 2 particles need time steps below dt_min";
    let said = with_model(&folder, &[&["check", "run.toml"], &short[..]].concat()).exits(0);
    let said = said.says(&[warning, "softening.epsilon"]);
    // A very long line is broken.
    assert!(said.out.lines().all(|line| line.chars().count() <= 300), "{}", said.out);
}

#[test]
fn a_start_that_takes_all_the_time_is_extrapolated_by_its_time_steps() {
    let folder = Folder::new(RUN);
    // It evaluates the forces once at the start.
    let loaded = Config::from_file(folder.path("run.toml"), &["integrator.hermite4={}".into()]).unwrap();
    let set = assemble::prepare(loaded).unwrap();
    let pace = trial::pace(&set, Duration::ZERO).unwrap();
    assert_eq!((pace.covered, pace.pairs, pace.start_pairs), (0.0, 0, 100 * 99));
    // No particle takes more than dt_max, so that all together have at least one step.
    assert!(pace.pairs_per_dt_max >= 9900.0, "{pace:?}");
    assert!(pace.seconds_per_dt_max().is_finite() && pace.seconds_per_dt_max() > 0.0, "{pace:?}");
    let text = pace.wall_time(set.steps_to_end, (0.125, "T")).why;
    assert!(text.contains("the first forces alone, extrapolated by the time steps that they give"), "{text}");
    // With enough time all of it is measured, and the counts are those of a trial.
    let whole = trial::pace(&set, Duration::from_secs(3600)).unwrap();
    // The first dt_max, with the first steps, is measured apart.
    let after = set.steps_to_end - 1;
    assert_eq!((whole.skipped[1], whole.whole.len() as u64, whole.covered), (1.0, after, after as f64));
    let measured = trial::run(&set, Session::default(), 1..set.steps_to_end, None).unwrap().unwrap();
    assert_eq!(whole.pairs, measured.pairs);
}

#[test]
fn advice_tells_why_trials_have_no_result() {
    let folder = two();
    let advise = |sets: &[&str]| {
        let goal = ["advise", "run.toml", "--energy-error", "1e-6", "--budget", "10min", "--modes", "f64"];
        folder.tisane(&[&goal, sets].concat())
    };
    // All end at once: not for want of time.
    let said = advise(&["--set", "integrator.hermite4.dt_min=0.125"]).exits(2).says(&[
        "9 of 9 trials were ended by dt_min",
        "2 particles need time steps below dt_min",
        "softening.epsilon",
        "integrator.hermite4.dt_min = 1.2e-4 or less",
    ]);
    assert!(!said.err.contains("--budget"), "{}", said.err);
    // Of two schemes alone: the other is recommended, by a trial. Trials of what is recommended may join the others.
    let said = advise(&["--set", "integrator.hermite4.dt_min=0.015"]).exits(0);
    let (table, rest) = said.out.split_once(" trials were ended by dt_min; ").expect("the failures");
    assert!(table.lines().filter(|line| line.trim_end().ends_with(" dt_min")).count() >= 5, "{table}");
    assert!(table.lines().filter(|line| line.trim_end().ends_with(" measured")).count() >= 4, "{table}");
    let parts =
        ["hermite4, nu = 0.0025: 2 particles need", "help: ", "Measured: the trial with eta = ", "dt_min = 0.015"];
    assert!(parts.iter().all(|part| rest.contains(part)), "{rest}");
    // Too little time is told as that.
    let goal = ["advise", "run.toml", "--energy-error", "1e-6", "--budget", "1ns", "--modes", "f64"];
    let much = ["--set", "integrator.hermite4.dt_max=1.0", "--set", "integrator.hermite4.dt_min=1e-6"];
    let said = folder.tisane(&[&goal[..], &much].concat()).exits(2);
    said.says(&["9 of 9 trials did not get through one dt_max", "--budget"]);
}

#[test]
fn without_an_energy_error_there_is_no_advice() {
    // Of a single star no energy changes.
    let folder = Folder::new(&TWO.replace("p.csv", "one.csv"));
    folder.write("one.csv", "m,x,y,z,vx,vy,vz\n1,0,0,0,1,0,0\n");
    for goal in [["--energy-error", "1e-6"], ["--time", "1h"]] {
        let said = folder.tisane(&[&["advise", "run.toml", "--budget", "1min"][..], &goal].concat()).exits(2);
        let said = said.says(&["the energy error is not measured", "exactly 0", "compare runs with two accuracies"]);
        assert!(!said.out.contains("recommended"), "{}", said.out);
    }
}

#[test]
fn a_model_is_read_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let fit = Fit { engine: "cpu".into(), force_pair: 1.234_567_890_123_456_7e-10, step_factor: 0.5, ..Fit::default() };
    let mut model = Model { fit: vec![fit.clone()] };
    let path = dir.path().join("a folder/model.toml");
    assert_eq!(Model::read(&path).unwrap(), None);
    model.write(&path).unwrap();
    assert_eq!(Model::read(&path).unwrap(), Some(model.clone()));
    // A newer fit of the same engine, mode, threads and machine takes the place of the old one.
    model.merge(Model { fit: vec![Fit { force_pair: 2e-10, ..fit.clone() }, Fit { threads: 2, ..fit }] });
    assert_eq!(
        model.fit.iter().map(|fit| (fit.threads, fit.force_pair)).collect::<Vec<_>>(),
        [(0, 2e-10), (2, 1.234_567_890_123_456_7e-10)]
    );
}

#[test]
fn advice_is_lines_to_paste_or_says_that_the_goal_is_out_of_reach() {
    let config = "[run]\nname = \"p\"\nt_end = 2.0\n[initial.plummer]\nn = 32\n[softening]\nepsilon = 0.05\n[force]\nthreads = 1\n\
                  engine = \"cpu\"\n";
    let folder = Folder::new(config);
    let said = folder.tisane(&["advise", "run.toml", "--energy-error", "1e-5", "--budget", "10min"]).exits(0);
    let (table, advice) = said.out.split_once("recommended: ").unwrap_or_else(|| panic!("{}", said.out));
    assert!((18..=24).contains(&table.lines().filter(|line| line.trim_start().starts_with("cpu")).count()), "{table}");
    // Whole runs fit into the budget: what is recommended was tried, and its error is that of the run.
    assert!(advice.starts_with("|dE/E| ") && advice.contains(" (measured), wall time "), "{advice}");
    assert!(
        advice.contains("\nMeasured: the trial with ") && !said.out.contains("Predicted by the laws"),
        "{}",
        said.out
    );
    // The cheapest of the integrators, which the wall times of the trials choose.
    let lines = &advice[advice.find("\n[integrator.").unwrap()..];
    let pasted = config.replace("[force]\nthreads = 1\nengine = \"cpu\"\n", lines);
    folder.write("pasted.toml", &pasted);
    folder.tisane(&["run", "pasted.toml", "--output", "o", "-q"]).exits(0);
    let error = crate::program::summary(&folder.path("o"))["relative_energy_error"].as_f64().unwrap();
    assert!(error.abs() <= 1e-5, "the advice was for 1e-5: {error:e}\n{}", said.out);
    let told = advice.strip_prefix("|dE/E| ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(told, format!("{:.1e}", error.abs()), "{}", said.out);

    let fine = ["advise", "run.toml", "--energy-error", "1e-30", "--budget", "10min", "--modes", "f64"];
    folder.tisane(&fine).exits(7).says(&[
        "out of reach: an energy error of 1e-30",
        "eta from 0.02 to 0.5 or nu from 0.0001 to 0.1",
        "hermite4, nu = 0.0001",
        "multipoint6, eta = 0.02",
    ]);
    let timed = ["advise", "run.toml", "--time", "10min", "--budget", "10min"];
    folder.tisane(&timed).exits(0).says(&["recommended: |dE/E|", "[force]", "precision ="]);
    folder.tisane(&["advise", "run.toml"]).exits(2).says(&["--energy-error", "--time"]);
    folder.tisane(&["advise", "run.toml", "--energy-error", "0"]).exits(2).says(&["above 0, found 0"]);
    // A configuration with the multi-point scheme keeps it.
    let multipoint = config.replace("[force]", "[integrator.multipoint]\ndt_max = 0.0625\n[force]");
    folder.write("multipoint.toml", multipoint);
    let own = ["advise", "multipoint.toml", "--energy-error", "1e-5", "--budget", "10min", "--modes", "f64"];
    let said = folder.tisane(&own).exits(0);
    assert!(!said.out.contains("hermite4") && !said.out.contains("in place of"), "{}", said.out);
    assert!(said.out.contains("[integrator.multipoint]\norder = 6\neta = "), "{}", said.out);
    folder.write("leap.toml", config.replace("[force]", "[integrator.leapfrog]\ndt = \"1/64\"\n[force]"));
    folder.tisane(&["advise", "leap.toml", "--energy-error", "1e-5"]).exits(2).says(&["leapfrog"]);
}

#[test]
fn advice_for_positions_follows_the_particles_and_knows_where_f64_ends() {
    let config = "[run]\nname = \"p\"\nt_end = 2.0\n[initial.plummer]\nn = 12\nseed = 1\n[softening]\nepsilon = \"1/64\"\n[force]\n\
                  threads = 1\nengine = \"cpu\"\n";
    let folder = Folder::new(config);
    let advise = |sets: &[&str]| {
        let all = [&["advise", "run.toml", "--for", "positions", "--budget", "10min"][..], sets].concat();
        folder.tisane(&all)
    };
    let parts = ["errors grow by a factor of e", "rounding in f64", "recommended: positions right to 1 % at the end"];
    let said = advise(&[]).exits(0).says(&parts);
    // Errors fall with the steps, and finer runs are right for longer.
    let rows: Vec<Vec<&str>> = said
        .out
        .lines()
        .filter(|line| line.contains("multipoint"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let number = |row: &[&str], column: usize| row[column].parse::<f64>().unwrap();
    let sixth: Vec<&Vec<&str>> = rows.iter().filter(|row| row[0] == "multipoint6").collect();
    assert!(sixth.len() == 5 && rows.iter().filter(|row| row.len() == 5).count() == 9, "{}", said.out);
    for pair in sixth.windows(2) {
        assert!(number(pair[1], 1) < number(pair[0], 1), "{}", said.out);
        assert!(number(pair[1], 2) <= number(pair[0], 2) && number(pair[1], 3) >= number(pair[0], 3), "{}", said.out);
    }
    assert!(number(sixth[4], 2) < 1e-3 * number(sixth[0], 2), "{}", said.out);
    // What it recommends is right, as a run with much shorter steps says.
    let lines = &said.out[said.out.find("\n[integrator.").unwrap()..];
    folder.write("pasted.toml", config.replace("[force]\nthreads = 1\nengine = \"cpu\"\n", lines));
    let fine = ["--set", "integrator.multipoint.order=8", "--set", "integrator.multipoint.eta=0.01"];
    let run = ["run", "pasted.toml", "-q", "--set", "output.interval=2", "--output"];
    folder.tisane(&[&run[..], &["a"]].concat()).exits(0);
    folder.tisane(&[&run[..], &["b"], &fine].concat()).exits(0);
    let positions = |dir: &str| {
        folder
            .tisane(&["convert", &format!("{dir}/snapshots/snapshot_0001.hdf5"), &format!("{dir}.csv"), "-q"])
            .exits(0);
        let (rows, of) = (table(&folder, &format!("{dir}.csv")), ["x", "y", "z"]);
        let at = of.map(|name| rows[0].iter().position(|head| head.split(" [").next() == Some(name)).unwrap());
        rows[1..].iter().map(|row| at.map(|k| row[k].parse::<f64>().unwrap())).collect::<Vec<_>>()
    };
    let (a, b) = (positions("a"), positions("b"));
    let square = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
    let apart = (a.iter().zip(&b).map(|(a, b)| square(a, b)).sum::<f64>() / a.len() as f64).sqrt();
    assert!(a.len() == 12 && apart > 0.0 && apart < 0.01, "{apart:e}");

    // Nothing in f64 follows them for so long.
    advise(&["--set", "run.t_end=400"])
        .exits(7)
        .says(&["out of reach: no run in f64 is right for 400", "integrator.extrapolated"]);
    advise(&["--modes", "mixed"]).exits(2).says(&["--modes", "f64"]);
    // Runs that dt_min ends are left out, and the others still tell.
    let short = ["--set", "integrator.hermite4.dt_min=2^-12"];
    advise(&short).exits(0).says(&["6 of 11 trials were ended by dt_min", "recommended: positions right to 1 %"]);
    // A cluster without softening is followed orbit by orbit, and has the lines to paste for it.
    let open = ["--set", "softening.epsilon=0", "--set", "run.t_end=0.5"];
    advise(&open).exits(0).says(&["recommended: positions right to 1 %", "[encounters]", "perturbation = 0"]);
}

#[test]
fn advice_for_averages_and_binaries_says_how_few_digits_they_need() {
    let config = "[run]\nname = \"p\"\nt_end = 1.0\n[initial.plummer]\nn = 100\n[softening]\nepsilon = 0.05\n[force]\nthreads = 1\n\
                  engine = \"cpu\"\n";
    let folder = Folder::new(config);
    let advise = |purpose: &str| folder.tisane(&["advise", "run.toml", "--for", purpose, "--budget", "10min"]);
    let parts =
        ["recommended: |dE/E|", "for averages: an energy error of 1e-3", "scatters by about 0.09", "over 81 runs"];
    advise("averages").exits(0).says(&parts);
    advise("binaries").exits(0).says(&[
        "recommended: |dE/E|",
        "for binaries: an energy error of 6.6e-4",
        "a tenth of kT",
    ]);
    advise("orbits").exits(2).says(&["positions", "binaries", "averages"]);
    folder.write(
        "planets.toml",
        "run = { name = 'p', t_end = 10 }\ninitial.solar-system = {}\n\
         units = { mass = 'Msun', length = 'au', time = 'yr' }\n",
    );
    folder.tisane(&["advise", "planets.toml", "--for", "averages"]).exits(2).says(&["no cluster", "--for positions"]);
}
