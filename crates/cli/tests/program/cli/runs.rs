//! `init`, `check` and `run`.

use crate::program::{Folder, SMALL, diagnostics, finish, summary, unwrapped};
use crate::transcript::Transcript;
use std::fs;

const MODELS: [&str; 13] = [
    "plummer",
    "king",
    "hernquist",
    "eff",
    "uniform-sphere",
    "fractal",
    "clusters",
    "file",
    "elements",
    "two-body",
    "figure-eight",
    "pythagorean",
    "solar-system",
];
/// Seven columns for the model `file`: a cluster of four in Msun, pc, km/s.
const FOUR: &str = "1 0 0 0 0 0 0\n1 1 0 0 0 0.1 0\n1 0 1 0 0 0 0.1\n1 0 0 1 0.1 0 0\n";

#[test]
fn each_model_of_init_checks_and_runs() {
    let mut transcript = Transcript::default();
    for model in MODELS {
        let folder = Folder::new("");
        let config = folder.tisane(&["init", model]).exits(0).out;
        assert!(config.lines().filter(|line| line.contains('#')).count() > 5, "{model} is commented:\n{config}");
        folder.write("run.toml", &config);
        folder.write("my-cluster.dat", FOUR);
        folder.write("my-elements.csv", "a,e,i,node,pericentre,t_pericentre\n1,0.2,3,40,50,0\n");
        let said = folder.tisane(&["check", "run.toml", "--set", "force.engine=cpu"]).exits(0);
        transcript.add(&format!("$ tisane check of the template {model}"), &said);
        let table: toml::Table = config.parse().unwrap();
        // The model `file` leaves it to the particles.
        let by_default = toml::Value::Float(1.0 / 64.0);
        let (scheme, settings) = table["integrator"].as_table().and_then(|it| it.iter().next()).expect("a scheme");
        let dt_max = settings.get("dt_max").unwrap_or(&by_default);
        let set = format!("integrator.{scheme}.dt_max={dt_max}");
        let short = format!("run.t_end={dt_max}");
        let every = format!("output.interval={dt_max}");
        folder.tisane(&["run", "run.toml", "--output", "o", "--set", &set, "--set", &short, "--set", &every]).exits(0);
        assert_eq!(summary(&folder.path("o"))["exit_reason"], "finished", "{model}");
        assert_eq!(diagnostics(&folder.path("o"))["time"].len(), 2, "{model}");
    }
    transcript.is("checks_of_templates");
    let folder = Folder::new("");
    assert_eq!(folder.tisane(&["init"]).out, folder.tisane(&["init", "plummer"]).out);
    folder.tisane(&["init", "galaxy"]).exits(2).says(&["galaxy", "plummer", "solar-system"]);
}

#[test]
fn regress_check_of_many_particles_does_not_sum_over_all_pairs() {
    let folder = Folder::new(
        "[run]\nname = \"p\"\nt_end = 1.0\n[initial.plummer]\nn = 66000\n[softening]\nepsilon = \"1/256\"\n\
         [force]\nengine = \"cpu\"\n",
    );
    let said = folder.tisane(&["check", "run.toml"]).exits(0).says(&[
        "virial ratio Q 0.500 total energy",
        "from the potentials of 4096 particles, as there are more than 65536; a run sums over all pairs",
        "of the particles, whose time grows as N^2, and",
        "memory about",
        "none of at least 1 kT",
    ]);
    assert!(!said.out.contains("warning"), "{}", said.out);
    // Of hermite4: 400 bytes a particle; of the neighbour scheme with its lists.
    let lists = ["check", "run.toml", "--set", "integrator={ahmad_cohen={}}", "--set", "initial.plummer.n=10000"];
    folder.tisane(&lists).exits(0).says(&["memory about 58.65 MiB", "virial ratio Q 0.5000"]);
    let few = ["check", "run.toml", "--set", "initial.plummer.n=2000"];
    let said = folder.tisane(&few).exits(0).says(&["virial ratio Q 0.500"]);
    assert!(!said.out.contains("estimate"), "{}", said.out);
}

#[test]
fn check_prints_what_would_run() {
    let folder =
        Folder::new("[run]\nname = \"p\"\nt_end = 2.0\n[initial.plummer]\nn = 1000\n[output]\ninterval = \"1/2\"\n");
    let before = folder.files();
    let said = folder.tisane(&["check", "run.toml"]).exits(0);
    let value = |name: &str| -> String {
        let line = said.out.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("no {name} in\n{}", said.out))[22..].trim().to_owned()
    };
    let number = |name: &str| -> f64 { value(name).split(' ').next().unwrap().parse().unwrap() };
    let near = |name: &str, expected: f64, tolerance: f64| {
        let found = number(name);
        assert!((found - expected).abs() <= tolerance, "{name}: {found}, expected {expected} ± {tolerance}");
    };
    near("particles", 1000.0, 0.0);
    near("total mass", 1.0, 1e-6);
    near("virial radius", 1.0, 1e-6);
    near("virial ratio Q", 0.5, 1e-6);
    near("total energy", -0.25, 1e-6);
    // Plummer: r_h = 0.7686 r_v; crossing time 2√2; t_rh = 0.138 N r_h^1.5 / ln(0.11 N).
    near("half-mass radius", 0.769, 0.08);
    near("crossing time", 8f64.sqrt(), 5e-3);
    near("relaxation time", 19.8, 3.0);
    assert!(value("outputs").starts_with("5 snapshots, 5 rows"), "{}", value("outputs"));
    assert!(value("memory").contains("MiB") && value("disk").contains("iB"));
    assert!(value("time").starts_with("0 to 2 T: 0.70"), "{}", value("time"));
    assert!(value("outputs").contains("every 0.5 T (0.17"), "{}", value("outputs"));
    let titles: Vec<&str> = said.out.lines().filter(|line| line.starts_with("What ")).collect();
    assert_eq!(titles, ["What it is", "What it does", "What it costs"], "there are no warnings");
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
    assert!(!said.out.contains("warning"), "{}", said.out);
    assert!(folder.files() == before, "check writes nothing");
}

#[test]
fn check_warns_of_implausible_input() {
    let plummer = "[run]\nname = \"p\"\nt_end = 10.0\n[initial.plummer]\nn = 100\n";
    let folder = Folder::new(plummer);
    folder
        .tisane(&["check", "run.toml", "--set", "softening.epsilon=1.0"])
        .exits(0)
        .says(&["warning", "mean separation"]);
    folder.tisane(&["check", "run.toml", "--set", "integrator.hermite4.nu=1"]).exits(0).says(&["warning", "nu = 1"]);
    let long = ["check", "run.toml", "--set", "integrator.hermite4.dt_max=10"];
    folder.tisane(&long).exits(0).says(&["warning", "dt_max is longer than half a crossing time"]);
    let leapfrog = |epsilon| {
        let of = ["check", "run.toml", "--set", "integrator.leapfrog.dt=1/64", "--set", epsilon];
        folder.tisane(&of).exits(0).says(&["leapfrog, one step for all", "0.0156 T"]).out
    };
    assert!(leapfrog("softening.epsilon=1/128").contains("warning: within one step of the leapfrog"));
    assert!(leapfrog("softening.epsilon=0").contains("warning: within one step of the leapfrog"));
    assert!(!leapfrog("softening.epsilon=1/16").contains("warning"));
    folder
        .tisane(&["check", "run.toml", "--set", "run.t_end=0.125"])
        .exits(0)
        .says(&["warning", "tenth of a crossing"]);
    folder
        .tisane(&["check", "run.toml", "--set", "integrator.hermite4.dt_min=2^-20"])
        .exits(0)
        .says(&["What is missing or implausible warning: neither softening nor [encounters]"]);
    folder
        .tisane(&["check", "run.toml", "--set", "output.interval=5"])
        .exits(0)
        .says(&["warning: the rows of diagnostics are farther apart than the relaxation time"]);
    let file = "[run]\nname = \"f\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p\"\n";
    let folder = Folder::new(file);
    for (velocity, words) in [("9", "not bound"), ("0.01", "collapse")] {
        folder.write("p", FOUR.replace("0.1", velocity));
        folder.tisane(&["check", "run.toml"]).exits(0).says(&["warning", words, "Q = "]);
    }
}

#[test]
fn check_tells_of_a_tide_at_the_pericentre_and_of_all_members() {
    let config = "[run]\nname = \"p\"\nt_end = 1.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"\n\
                  [initial.king]\nn = 100\nmass = 100.0\nw0 = 5.0\nhalf_mass_radius = 1.5\n[external.mw-2014]\n[orbit]\n\
                  position = [8000.0, 0.0, 0.0]\nvelocity = [0.0, 12.0, 0.0]\n[output]\ninterval = 0.5\n";
    let folder = Folder::new(config);
    let words = "warning: half of the mass is beyond the tidal radius at the pericentre, 1.53 pc against 0.450 pc";
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["at pericentre", words]);
    folder.write("e.toml", "[run]\nname = \"e\"\nt_end = 1.0\n[initial.plummer]\nn = 16\n[softening]\nepsilon = 0.1\n[ensemble]\nrealisations = 1000\n");
    let said = folder.tisane(&["check", "e.toml"]).exits(0);
    let said = said.says(&[
        "of each member a row in members.csv, no series, no snapshots",
        "wall time of all about ",
        "CPU time of all about ",
    ]);
    // A thousand rows of a kB, and no snapshots.
    let disk = unwrapped(&said.out).split_once(" disk about ").expect("a line").1.to_owned();
    assert!(disk.starts_with("1.") && disk.contains(" MiB"), "{disk}");
}

#[test]
fn the_progress_has_the_structure_where_it_was_measured() {
    let config = "[run]\nname = \"small\"\nt_end = 0.5\n[initial.plummer]\nn = 32\n[softening]\nepsilon = 0.001\n[output]\ninterval = \"1/4\"\n";
    let folder = Folder::new(config);
    let rows = |more: &[&str]| {
        let said = folder.tisane(&[&["run", "run.toml", "--overwrite", "--set"], more].concat()).exits(0);
        let rows = said.out.lines().take_while(|line| !line.is_empty()).map(unwrapped);
        rows.map(|row| row.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    // The structure is measured at every other output: the rows are those of their times all the same.
    let sparse = rows(&["cluster.interval=0.5"]);
    let without: Vec<_> = sparse.iter().skip(1).map(|row| (row[0].as_str(), row[1] == "-")).collect();
    assert_eq!(without, [("0.000", false), ("0.250", true), ("0.500", false)], "{sparse:?}");
    let header = |rows: &[Vec<String>]| rows[0].join(" ");
    let unmeasured = header(&rows(&["cluster.enabled=false"]));
    assert_eq!(unmeasured, "time [T] dE/E of cluster Q block steps mean block min step to go");
    let few = header(&rows(&["initial={two-body={}}"]));
    assert_eq!(few, "time [T] dE/E Q block steps mean block min step to go");
}

#[test]
fn a_run_leaves_what_it_promises() {
    let config = "[run]\nname = \"small\"\nt_end = 0.5\n[initial.plummer]\nn = 32\n[softening]\nepsilon = 0.001\n[output]\ninterval = \"1/4\"\n";
    let folder = Folder::new(config);
    let said = folder.tisane(&["run", "run.toml"]).exits(0).says(&["small finished", "relative error", "sha256"]);
    assert!(said.err.is_empty(), "{}", said.err);
    assert_eq!(
        said.out.lines().filter(|line| line.contains('e') && line.starts_with("       0.")).count(),
        3,
        "{}",
        said.out
    );
    let header = "time [T] M_bound [M] r_h [L] binaries dE/E of cluster block steps to go 0.000 ";
    assert!(unwrapped(&said.out).starts_with(header), "{}", said.out);
    let output = folder.path("runs/small");
    let mut names: Vec<_> = crate::program::files(&output).into_keys().collect();
    names.iter_mut().for_each(|name| *name = name.strip_prefix(&output).unwrap().to_owned());
    let names: Vec<_> = names.iter().map(|name| name.to_str().unwrap()).collect();
    // A run this short has the checkpoints of its start and of its end.
    assert_eq!(
        names,
        [
            "binaries.csv",
            "binaries.hdf5",
            "checkpoint.hdf5",
            "checkpoint.previous.hdf5",
            "cluster.csv",
            "cluster.hdf5",
            "config.toml",
            "diagnostics.csv",
            "diagnostics.hdf5",
            "events.csv",
            "events.hdf5",
            "run.log",
            "snapshots",
            "snapshots/snapshot_0000.hdf5",
            "snapshots/snapshot_0001.hdf5",
            "snapshots/snapshot_0002.hdf5",
            "summary.json",
        ]
    );
    let summary = summary(&output);
    for key in
        "name version git_commit n time engine precision threads energy_initial energy_final relative_energy_error \
                max_relative_energy_error angular_momentum_error block_steps particle_steps pair_interactions \
                wall_seconds pairs_per_second exit_reason state_sha256 time_start energy_time cluster_energy_error"
            .split_whitespace()
    {
        assert!(!summary[key].is_null(), "{key} in {summary}");
    }
    assert_eq!((summary["n"].as_u64(), summary["time"].as_f64()), (Some(32), Some(0.5)));
    assert_eq!(summary["state_sha256"].as_str().unwrap().len(), 64);
    // The resolved configuration is the same run.
    fs::copy(output.join("config.toml"), folder.path("resolved.toml")).unwrap();
    folder.tisane(&["run", "resolved.toml", "-q", "--output", "again"]).exits(0);
    assert_eq!(crate::program::summary(&folder.path("again"))["state_sha256"], summary["state_sha256"]);
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let folder = Folder::new("[run]\nname = \"q\"\nt_end = 0.125\n[initial.plummer]\nn = 8\n");
    let quiet = folder.tisane(&["run", "run.toml", "-q"]).exits(0);
    assert!(quiet.out.is_empty() && quiet.err.is_empty(), "{}{}", quiet.out, quiet.err);
    let more = folder.tisane(&["run", "run.toml", "-v", "--overwrite"]).exits(0).says(&["INFO", "starting q"]);
    assert!(!more.err.contains('\u{1b}'), "colours in a pipe: {}", more.err);
    folder.tisane(&["run", "run.toml", "-vv", "--overwrite"]).exits(0).says(&["DEBUG", "wrote a checkpoint"]);
    folder.tisane(&["run", "run.toml", "-q", "-v"]).exits(2);
    let log = fs::read_to_string(folder.path("runs/q/run.log")).unwrap();
    assert!(log.contains("starting q") && log.contains("finished"), "{log}");
}

#[test]
fn odd_surroundings_do_not_matter() {
    let folder = Folder::new("[run]\nname = \"q\"\nt_end = 0.125\n[initial.plummer]\nn = 8\n");
    let mut command = folder.command(&["run", "run.toml", "--output", "a folder/with 'names' ü"]);
    command.env_clear().env("TERM", "dumb");
    finish(command).exits(0);
    folder.tisane(&["resume", "a folder/with 'names' ü", "--t-end", "1/4", "-q"]).exits(0);
    let at = folder.path("a folder/with 'names' ü/snapshots/snapshot_0002.hdf5");
    folder.tisane(&["inspect", at.to_str().unwrap()]).exits(0).says(&["snapshot", "particles 8"]);
    // One and two particles, and one step.
    for n in ["1", "2"] {
        let set = format!("initial.plummer.n={n}");
        folder.tisane(&["run", "run.toml", "-q", "--output", n, "--set", &set]).exits(0);
        assert_eq!(summary(&folder.path(n))["n"].to_string(), n);
    }
}

#[test]
fn runs_are_inspected_side_by_side() {
    let folder = Folder::new(SMALL);
    for (name, limit) in [("a", "100000"), ("longer-name", "3")] {
        let set = format!("limits.block_steps={limit}");
        folder.tisane(&["run", "run.toml", "-q", "--output", name, "--set", &set]);
    }
    let out = folder.tisane(&["inspect", "a", "longer-name"]).exits(0).out;
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split("  ").map(str::trim).collect()).collect();
    let cells = |k: usize| lines[k].iter().filter(|cell| !cell.is_empty()).copied().collect::<Vec<_>>();
    assert_eq!(cells(0)[..5], ["run", "state", "time", "particles", "integrator"]);
    assert_eq!((cells(1)[0], cells(1)[1], cells(1)[2], cells(1)[3]), ("a", "finished", "0.5 T", "16"));
    assert_eq!((cells(2)[0], cells(2)[1], cells(2)[5]), ("longer-name", "stopped", "-"), "no row after the start");
    let error = summary(&folder.path("a"))["relative_energy_error"].as_f64().unwrap();
    assert_eq!(cells(1)[5], format!("{error:+.2e}"));
    // Columns begin below each other.
    let state = out.lines().next().unwrap().find("state").unwrap();
    assert!(out.lines().skip(1).all(|line| line[state - 1..].starts_with(' ') && !line[state..].starts_with(' ')));
    // `*` may stand for an ensemble, too.
    folder.write("e.toml", format!("{SMALL}[ensemble]\nrealisations = 2\n"));
    folder.tisane(&["run", "e.toml", "-q", "--output", "e"]).exits(0);
    let out = folder.tisane(&["inspect", "a", "e"]).exits(0).out;
    assert!(out.lines().nth(2).unwrap().starts_with("e    an ensemble: inspect it alone"), "{out}");
    folder.tisane(&["inspect", "a", "run.toml"]).exits(2).says(&["run.toml", "not the directory of a run"]);
    folder.tisane(&["inspect", "a", "b"]).exits(2).says(&["b"]);
    folder.tisane(&["inspect", "a", "a", "--from", "csv"]).exits(2).says(&["--from is for one file"]);
}
