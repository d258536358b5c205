//! Promise: solutions that `tisane study convergence` calls converged are right, runs are at their true distance from them, and
//! the study goes on where it was.

use super::table;
use crate::program::Folder;
use std::fs;

/// Two spheres of four stars for two time units, without and with digits to spare.
const SWEEP: &str = "[convergence]\nn = [4]\nseeds = [1, 2]\nt_end = 2\ninterval = 0.25\ndigits = 6\nintegrators = [\"hermite4\", \"multipoint8\"]\n\
                     modes = [\"f64\", \"f32-direct\"]\nnu = [0.01, 1e-3]\neta = [0.1]\nensemble = 3\n";

/// Values of a column.
fn column(folder: &Folder, path: &str, name: &str) -> Vec<String> {
    let rows = table(folder, path);
    let at = rows[0].iter().position(|of| of.split(" [").next() == Some(name)).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

fn numbers(folder: &Folder, path: &str, name: &str) -> Vec<f64> {
    column(folder, path, name).iter().map(|value| value.parse().unwrap()).collect()
}

#[test]
fn runs_are_compared_with_what_a_run_of_more_digits_gives() {
    let folder = Folder::new(SWEEP);
    let study = ["study", "convergence", "run.toml", "--output", "o"];
    let said = folder.tisane(&study).exits(0);
    assert!(said.out.contains("left out: multipoint8 in f32-direct"), "{}", said.out);
    assert_eq!(numbers(&folder, "o/solutions.csv", "converged_to"), [2.0, 2.0]);
    assert!(numbers(&folder, "o/solutions.csv", "agreement").iter().all(|it| *it > 0.0 && *it < 1e-6));

    // Two systems with hermite4 in two modes and accuracies, and order 8 in f64.
    assert_eq!(column(&folder, "o/table.csv", "integrator").len(), 10);
    let (errors, distances) =
        (numbers(&folder, "o/table.csv", "energy_error"), numbers(&folder, "o/table.csv", "distance"));
    assert!(errors[1] < 0.1 * errors[0] && distances[1] < 0.1 * distances[0], "{errors:?} {distances:?}");
    assert!(distances[3] != distances[1], "modes: {distances:?}");
    // The distance of the first run, by two runs of the program: hermite4, and a solution of its own.
    let head = "[run]\nname = \"a\"\nt_end = 2\n[initial.plummer]\nn = 4\nseed = 1\n[softening]\nepsilon = \"1/256\"\n\
                [output]\ninterval = 2\n";
    folder.write("run.toml", format!("{head}[integrator.hermite4]\nnu = 0.01\ndt_max = 0.125\ndt_min = \"2^-39\"\n"));
    folder.write("exact.toml", format!("{head}[integrator.extrapolated]\ntolerance = 1e-24\n"));
    for name in ["run", "exact"] {
        folder.tisane(&["run", &format!("{name}.toml"), "--output", name, "-q"]).exits(0);
        folder.tisane(&["convert", &format!("{name}/snapshots/snapshot_0001.hdf5"), &format!("{name}.csv")]).exits(0);
    }
    let places = |name: &str| ["x", "y", "z"].map(|axis| numbers(&folder, &format!("{name}.csv"), axis));
    let (run, exact) = (places("run"), places("exact"));
    let squares = (0..4).flat_map(|i| (0..3).map(move |c| (i, c))).map(|(i, c)| (run[c][i] - exact[c][i]).powi(2));
    let distance = (squares.sum::<f64>() / 4.0).sqrt();
    // The half-mass radius at the start, from the distances of both: it is that of two of four stars.
    let radius = distance / distances[0];
    assert!((0.2..2.0).contains(&radius), "{radius}");
    let second = numbers(&folder, "o/divergence.csv", "distance");
    assert_eq!(second.len(), 8 * (2 + 10));

    // One ensemble of each scheme, beside the most accurate one.
    assert_eq!(column(&folder, "o/bias.csv", "members"), ["3"; 5]);
    let reference = column(&folder, "o/bias.csv", "role").iter().position(|role| role == "reference").unwrap();
    assert_eq!(numbers(&folder, "o/bias.csv", "ln_half")[reference], 0.0);
    for figure in ["divergence", "threshold"] {
        let drawn = fs::read_to_string(folder.path(&format!("o/{figure}.svg"))).unwrap();
        assert!(drawn.contains("N = 4") && drawn.contains("multipoint8, f64"), "{figure}");
    }
}

#[test]
fn a_study_of_solutions_goes_on_where_it_was() {
    let folder = Folder::new(SWEEP);
    let study = |output: &str, more: &[&str]| {
        let common = ["study", "convergence", "run.toml", "--output", output];
        folder.tisane(&[&common[..], more].concat()).exits(0)
    };
    study("whole", &["-q"]);
    let journal = fs::read_to_string(folder.path("whole/points.jsonl")).unwrap();
    // What is left of a journal that a kill cut off amid the runs, and amid the solutions.
    for lines in [1, 2, 4, 6, 12] {
        let kept: String = journal.split_inclusive('\n').take(lines).collect();
        let output = format!("cut{lines}");
        fs::create_dir(folder.path(&output)).unwrap();
        folder.write(&format!("{output}/points.jsonl"), &kept);
        study(&output, &["--set", "convergence.at_once=2", "-q"]);
        for name in ["table", "solutions", "divergence", "bias"] {
            let [of_whole, of_cut] = ["whole", &output].map(|of| table(&folder, &format!("{of}/{name}.csv")));
            assert_eq!(of_cut, of_whole, "{name} from {lines} lines");
        }
        let again = fs::read_to_string(folder.path(&format!("{output}/points.jsonl"))).unwrap();
        assert!(again.starts_with(&kept) && again.lines().count() == journal.lines().count());
    }
    // More seeds and accuracies need the missing points alone.
    let said = study("whole", &["--set", "convergence.nu=[0.01, 1e-3, 0.1]"]);
    assert!(said.err.contains("10 points are finished already, 4 are missing"), "{}", said.err);
    // Without ensembles there is no table of them, and none of the older sweep.
    assert!(["csv", "hdf5"].iter().all(|ending| folder.path(&format!("whole/bias.{ending}")).exists()));
    study("whole", &["--set", "convergence.ensemble=0", "-q"]);
    assert!(["csv", "hdf5"].iter().all(|ending| !folder.path(&format!("whole/bias.{ending}")).exists()));
    assert!(folder.path("whole/table.csv").exists());
}

#[test]
fn a_solution_of_few_bits_is_converged_to_an_earlier_time() {
    // More digits than double-double numbers have left at the end.
    let folder = Folder::new(SWEEP);
    let sets = ["--set", "convergence.max_bits=106", "--set", "convergence.digits=15", "--set", "convergence.t_end=16"];
    let only = ["--set", "convergence.n=[8]", "--set", "convergence.seeds=[1]", "--set", "convergence.ensemble=0"];
    let mode = ["--set", "convergence.modes=[\"f64\"]"];
    let study = ["study", "convergence", "run.toml", "--output", "o", "-q"];
    folder.tisane(&[&study[..], &sets[..], &only[..], &mode[..]].concat()).exits(0);
    let to = numbers(&folder, "o/solutions.csv", "converged_to")[0];
    assert!(to > 1.0 && to < 16.0, "{to}");
    let tolerance = numbers(&folder, "o/solutions.csv", "tolerance");
    assert!(matches!(tolerance[..], [it] if (it / 1e-24 - 1.0).abs() < 1e-12), "{tolerance:?}");
    assert!(numbers(&folder, "o/table.csv", "compared_to").iter().all(|it| *it == to));
    assert!(!folder.path("o/bias.csv").exists());
}

#[test]
fn a_solution_that_cannot_be_found_ends_no_other_seed() {
    let folder = Folder::new(SWEEP);
    let study = ["study", "convergence", "run.toml", "--output", "o", "-q"];
    folder.tisane(&study).exits(0);
    let journal = fs::read_to_string(folder.path("o/points.jsonl")).unwrap();
    // What measured the points, and the first two solutions of each seed, with the last one failed.
    let lines: Vec<&str> = journal.lines().take(5).collect();
    let (key, _) = lines[4].split_once(",\"result\":").unwrap();
    folder
        .write("o/points.jsonl", format!("{}\n{key},\"result\":{{\"failed\":\"planted\"}}}}\n", lines[..4].join("\n")));
    folder.tisane(&study).exits(0);
    assert_eq!(numbers(&folder, "o/solutions.csv", "converged_to"), [2.0, 0.0]);
    assert_eq!(column(&folder, "o/solutions.csv", "failure"), ["", "planted"]);
    assert_eq!(column(&folder, "o/table.csv", "seed"), ["1"; 5]);
    assert!(fs::read_to_string(folder.path("o/divergence.svg")).unwrap().contains("N = 4, one seed"));
}
