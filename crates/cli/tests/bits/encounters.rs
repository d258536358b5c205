//! Promise: a run with subsystems ends in the same bits on any number of threads, with any outputs, on either engine of the
//! CPU, and through a stop and a resume.

use crate::outcome::Outcome;
use crate::program::{Folder, summary};
use hdf5::types::FixedUnicode;
use std::fs;
use std::path::Path;
use tisane::force::precision::Precision;
use tisane_io::checkpoint;
use tisane_io::table::{self, Numbers, Table, Values};

/// Cluster of 80 systems, half of them binaries, some of which are far too close for single steps.
const CLUSTER: &str = "[run]\nname = \"r\"\nt_end = 0.25\n\
     [initial.plummer]\nn = 120\nseed = 3\n\
     [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 1e-6\na_max = 0.01\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n\
     [encounters]\n";

fn run(more: &[&str]) -> (Folder, Outcome) {
    run_of(CLUSTER, more)
}

fn run_of(text: &str, more: &[&str]) -> (Folder, Outcome) {
    let folder = Folder::new(text);
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], more].concat()).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    (folder, outcome)
}

fn journal(folder: &Folder) -> String {
    fs::read_to_string(folder.path("o/encounters.csv")).unwrap()
}

fn column<'a>(table: &'a Table, name: &str) -> Numbers<'a> {
    table.numbers(name).unwrap_or_else(|| panic!("no {name}"))
}

fn state(folder: &Folder) -> String {
    summary(&folder.path("o"))["state_sha256"].as_str().unwrap().to_owned()
}

/// Sections of the other schemes with block steps, and precision modes.
const OTHERS: [&str; 7] = [
    "[integrator.multipoint]\norder = 6\ndt_max = \"1/16\"\n",
    "[integrator.multipoint]\norder = 8\ndt_max = \"1/16\"\n",
    "[integrator.ahmad_cohen]\norder = 6\ndt_max = \"1/16\"\n",
    "[integrator.ahmad_cohen]\norder = 4\ndt_max = \"1/16\"\n",
    "[integrator.multipoint]\ndt_max = \"1/16\"\n[force]\nprecision = \"mixed\"\n",
    "[integrator.ahmad_cohen]\ndt_max = \"1/16\"\n[force]\nprecision = \"mixed\"\n",
    "[integrator.ahmad_cohen]\ndt_max = \"1/16\"\n[force]\nprecision = \"f32-kahan\"\n",
];

/// The cluster with hermite4, and with the others.
fn clusters() -> Vec<String> {
    let other = |section| CLUSTER.replace("[integrator.hermite4]\ndt_max = \"1/16\"\n", section);
    std::iter::once(CLUSTER.to_owned()).chain(OTHERS.map(other)).collect()
}

/// Steps of one call of the integrator count by their own sizes, and contacts are a phase of their own.
#[test]
fn a_profile_tells_small_blocks_from_large_ones() {
    let touching = "[collisions]\naction = \"stop\"\nradii = \"fixed\"\nradius = 1e-12\n";
    let (profiled, _) = run_of(&format!("{CLUSTER}{touching}"), &["--profile"]);
    let profile = summary(&profiled.path("o"))["profile"].clone();
    let buckets = profile["by_block_size"].as_array().unwrap();
    let steps = |of: &serde_json::Value| of["block_steps"].as_u64().unwrap();
    assert_eq!(buckets.iter().map(steps).sum::<u64>(), steps(&profile));
    let of_size = |from: u64| buckets.iter().find(|it| it["from"] == from).map_or(0, steps);
    assert!([1, 4, 16].into_iter().all(|from| of_size(from) > 10), "{profile}");
    assert!(
        ["contacts", "looks", "internal_motion"]
            .into_iter()
            .all(|phase| profile["seconds"][phase].as_f64() > Some(0.0))
    );
}

/// All changes by the first scheme; the others, which differ in the motion of the systems alone, take them by turns.
#[test]
fn threads_engines_and_outputs_change_no_bit() {
    for (scheme, text) in clusters().into_iter().enumerate() {
        let (folder, one) = run_of(&text, &["--threads", "1"]);
        one.assert_same(&run_of(&text, &["--threads", "3"]).1, &format!("{text}, 3 threads"));
        let want = state(&folder);
        let changes = journal(&folder);
        assert!(changes.lines().count() > 45, "{changes}");
        let all = [
            ["--engine", "reference"],
            ["--set", "output.interval=0.0625"],
            ["--set", "output.snapshot_interval=0.125"],
        ];
        for (_, more) in all.into_iter().enumerate().filter(|(turn, _)| scheme == 0 || scheme % 3 == *turn) {
            let (other, _) = run_of(&text, &more);
            assert_eq!((state(&other), journal(&other)), (want.clone(), changes.clone()), "{text} {more:?}");
        }
    }
}

#[test]
fn a_stop_and_a_resume_change_no_bit() {
    for (scheme, text) in clusters().into_iter().enumerate() {
        let (whole, outcome) = run_of(&text, &[]);
        for (_, blocks) in ["7", "200"].into_iter().enumerate().filter(|(turn, _)| scheme == 0 || scheme % 2 == *turn) {
            let folder = Folder::new(&text);
            let limit = format!("limits.block_steps={blocks}");
            folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
            folder.lift_block_limit("o");
            folder.tisane(&["resume", "o", "-q"]).exits(0);
            assert_eq!(state(&folder), state(&whole), "{text} after {blocks} block steps");
            outcome.assert_same(&Outcome::read(&folder.path("o")), blocks);
        }
    }
}

/// Not even an empty journal, or a shortest step that is shorter; a cluster with neither the section nor a shortest step has
/// subsystems.
#[test]
fn a_perturbation_of_zero_is_no_section() {
    let small = "[run]\nname = \"r\"\nt_end = 0.25\n[initial.plummer]\nn = 64\n";
    for more in [
        "[integrator.hermite4]\ndt_min = \"2^-26\"\n",
        "[softening]\nepsilon = 0.01\n",
        "[integrator.leapfrog]\ndt = \"1/256\"\n",
    ] {
        let outcome = |text: &str| {
            let folder = Folder::new(text);
            folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
            assert!(!folder.path("o/encounters.csv").exists());
            Outcome::read(&folder.path("o"))
        };
        let without = outcome(&format!("{small}{more}"));
        outcome(&format!("{small}{more}[encounters]\nperturbation = 0\n")).assert_same(&without, more);
    }
}

/// The state of subsystems counts times in ticks of dt_max.
#[test]
fn another_longest_step_is_refused() {
    let (folder, outcome) = run(&[]);
    let set = ["--set", "integrator.hermite4.dt_max=1/32", "--set", "output.interval=1/16"];
    let words = ["dt_max", "a run with subsystems continues with its own dt_max, 0.0625"];
    folder.tisane(&[&["resume", "o", "-q", "--t-end", "0.5"], &set[..]].concat()).exits(2).says(&words);
    outcome.assert_same(&Outcome::read(&folder.path("o")), "refused");
}

/// A kill after rows that the last checkpoint does not count.
#[test]
fn no_change_is_lost_or_written_twice() {
    let (whole, outcome) = run(&[]);
    for has_csv in [true, false] {
        let (folder, _) = run(&[]);
        let at = |name: &str| folder.path("o").join(name);
        // The checkpoint of the start.
        fs::rename(at(checkpoint::PREVIOUS), at(checkpoint::NEWEST)).unwrap();
        let half = journal(&folder) + "0.25,form,3 7,(3";
        fs::write(at("encounters.csv"), half).unwrap();
        if !has_csv {
            fs::remove_file(at("encounters.csv")).unwrap();
        }
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        assert_eq!(state(&folder), state(&whole));
        outcome.assert_same(&Outcome::read(&folder.path("o")), if has_csv { "CSV" } else { "HDF5" });
    }
}

#[test]
fn the_sums_of_diagnostics_journal_and_snapshot_agree() {
    let (folder, _) = run(&[]);
    let rows = table::read_csv(&folder.path("o/diagnostics.csv")).unwrap();
    let last = |name: &str| column(&rows, name).last().unwrap();
    let (first, energy) = (column(&rows, "energy").first().unwrap(), last("energy"));
    let binding = last("binding_energy");
    assert!(binding > 10.0 && last("subsystems") > 20.0, "{binding}");
    assert_eq!(last("binding_energy_change"), binding - column(&rows, "binding_energy").first().unwrap());
    assert_eq!(last("outer_energy"), energy + binding);
    // By the energies of the bound bodies in cluster.csv. Binaries that are no subsystems have some of the outer energy.
    let cluster = table::read_csv(&folder.path("o/cluster.csv")).unwrap();
    assert_eq!(column(&cluster, "time").last(), column(&rows, "time").last());
    let [kinetic, potential] =
        ["kinetic_energy", "potential_energy"].map(|name| column(&cluster, name).last().unwrap());
    let by_hand = (energy - first) / (kinetic + potential).abs().max(potential.abs() / 2.0);
    assert!((last("cluster_energy_error") / by_hand - 1.0).abs() < 1e-3, "{by_hand:e}");
    let ratio = last("outer_energy_error") / by_hand;
    assert!((ratio - 1.0).abs() < 0.1, "{by_hand:e} {ratio}");
    assert!((-1.0..0.0).contains(&last("outer_energy")), "that of the cluster is -1/4");
    // Sums of tides below 1e-5 of each binary, mostly of wide ones.
    let neglected = last("neglected_energy");
    assert!(neglected > 0.0 && neglected < 1e-4, "{neglected:e}");
    // Units begin with the events that name them, and end with them.
    let changes = table::read_csv(&folder.path("o/encounters.csv")).unwrap();
    let booked = |name: &str| column(&changes, name).iter().sum::<f64>();
    let from_events = booked("binding_energy") - booked("binding_energy_before");
    assert!((from_events / binding - 1.0).abs() < 1e-2, "{from_events} {binding}");
    let file = crate::hdf::open(folder.path("o/snapshots/snapshot_0004.hdf5"));
    let read = |name: &str| file.dataset(&format!("Subsystems/{name}")).unwrap();
    let sum = read("BindingEnergy").read_raw::<f64>().unwrap().iter().sum::<f64>();
    assert!((sum / binding - 1.0).abs() < 1e-12, "{sum} {binding}");
    let inside_of = read("InsideOf").read_raw::<u64>().unwrap();
    let outermost = (0u64..).zip(&inside_of).filter(|(row, of)| row == *of).count();
    assert_eq!(outermost as f64, last("subsystems"));
    folder.tisane(&["inspect", "o/snapshots/snapshot_0004.hdf5"]).exits(0).says(&["subsystems", "Averaged"]);
    folder.tisane(&["inspect", "o"]).exits(0).says(&[&format!("encounters {}", changes.rows())]);
    folder.tisane(&["inspect", "o/encounters.hdf5"]).exits(0).says(&["tisane encounters", "perturbation"]);
}

/// Rows of binaries.csv at the last output, by their members, with the numbers of `columns`.
fn last_binaries(path: &Path, columns: &[&str]) -> Vec<(String, Vec<f64>)> {
    let table = table::read_csv(path).unwrap();
    let Values::Text(members) = &table.column("members").unwrap().values else { panic!("members") };
    let times = column(&table, "time");
    let last = times.last().unwrap();
    let numbers = |row: usize| columns.iter().map(|name| column(&table, name).at(row)).collect();
    let rows = (0..table.rows()).filter(|row| times.at(*row) == last);
    rows.map(|row| (members[row].clone(), numbers(row))).collect()
}

#[test]
fn the_table_of_binaries_has_all_subsystems_that_are_pairs_and_all_that_are_found() {
    let (folder, _) = run(&[]);
    let columns = ["semi_major_axis", "eccentricity", "period", "number", "id_1", "id_2", "found", "subsystem"];
    let rows = last_binaries(&folder.path("o/binaries.csv"), &columns);
    let of = |which: [f64; 2]| rows.iter().filter(|(_, numbers)| numbers[6..] == which).count();
    let (both, soft) = (of([1.0, 1.0]), of([0.0, 1.0]));
    assert!(both > 10 && both + soft + of([1.0, 0.0]) == rows.len(), "{rows:?}");
    let cluster = table::read_csv(&folder.path("o/cluster.csv")).unwrap();
    let counted = |name: &str| column(&cluster, name).last().unwrap();
    assert_eq!((rows.len() - soft) as f64, counted("binaries") + counted("hierarchies"));
    let pairs = last_binaries(&folder.path("o/binaries.csv"), &["number", "found", "bound"]);
    let bound = pairs.iter().filter(|(_, numbers)| numbers[..] == [2.0, 1.0, 1.0]).count();
    assert_eq!(bound as f64, counted("bound_binaries"));
    // Each subsystem of two bodies that are bound is there once, with its orbit to the last bit.
    let file = crate::hdf::open(folder.path("o/snapshots/snapshot_0004.hdf5"));
    let read = |name: &str| file.dataset(&format!("Subsystems/{name}")).unwrap().read_raw::<f64>().unwrap();
    let names = file.dataset("Subsystems/Members").unwrap().read_raw::<FixedUnicode<256>>().unwrap();
    let names: Vec<String> = names.iter().map(|name| name.as_str().to_owned()).collect();
    let (axis, eccentricity, period) = (read("SemiMajorAxis"), read("Eccentricity"), read("Period"));
    let mut told = 0;
    for k in (0..names.len()).filter(|k| axis[*k] > 0.0) {
        let found: Vec<_> = rows.iter().filter(|(members, _)| *members == names[k]).collect();
        let [(_, numbers)] = found.as_slice() else { panic!("{}: {found:?}", names[k]) };
        assert_eq!(numbers[7], 1.0, "{}", names[k]);
        assert_eq!(numbers[..3], [axis[k], eccentricity[k], period[k]], "{}", names[k]);
        told += 1;
    }
    assert_eq!(told, both + soft);
    for (members, numbers) in rows.iter().filter(|(_, numbers)| numbers[3] == 2.0) {
        assert_eq!(*members, format!("({}+{})", numbers[4], numbers[5]));
    }
    // The same from the snapshots, to the bit.
    folder.tisane(&["analyze", "o"]).exits(0);
    let text = |path: &str| fs::read_to_string(folder.path(path)).unwrap();
    assert_eq!(text("o/analysis/binaries.csv"), text("o/binaries.csv"));
}

#[test]
fn binaries_cost_no_energy() {
    let (folder, _) = run(&[]);
    let summary = summary(&folder.path("o"));
    let error = summary["relative_energy_error"].as_f64().unwrap();
    assert!(error.abs() < 1e-7, "{error:e}");
    assert!(summary["block_steps"].as_u64().unwrap() < 200_000, "no step follows the closest binary");
}

/// Subsystems move in f64 in every mode; a mode computes the forces between units, which the audit compares.
#[test]
fn every_mode_has_subsystems_with_its_own_error() {
    let bound = |precision: Precision| match precision {
        in_f64 if in_f64.in_f64() => 5e-7,
        // Accurate to the rounding of its pairs.
        rounding if rounding.noise() > 0.0 => 1e-6,
        _ => 1e-5,
    };
    for precision in Precision::ALL {
        let mode = precision.name();
        let set = format!("force.precision=\"{mode}\"");
        let (folder, whole) = run(&["--set", &set, "--threads", "1"]);
        let rows = table::read_csv(&folder.path("o/diagnostics.csv")).unwrap();
        let last = |name: &str| column(&rows, name).last().unwrap();
        let error = last("outer_energy_error");
        assert!(error.abs() < bound(precision), "{mode}: {error:e}");
        assert!(last("subsystems") > 20.0, "{mode}");
        let (audited, worst) = (last("audit_sample"), last("audit_acceleration_max"));
        if precision.in_f64() {
            assert_eq!(audited, 0.0, "{mode}");
        } else {
            assert!((70.0..120.0).contains(&audited), "{mode}: {audited} units of 120 stars");
            assert!(worst > 0.0 && worst < precision.audit_limit(), "{mode}: {worst:e}");
        }
        // Stopped, and resumed on other threads.
        let folder = Folder::new(CLUSTER);
        let limit = ["--set", "limits.block_steps=150", "--threads", "3"];
        folder.tisane(&[&["run", "run.toml", "-q", "--output", "o", "--set", &set], &limit[..]].concat()).exits(3);
        folder.lift_block_limit("o");
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        whole.assert_same(&Outcome::read(&folder.path("o")), mode);
    }
}
