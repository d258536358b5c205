//! Promise: a study ends in the same table however often it is killed, says what is wrong with what it is given, and
//! what it measures follows theory; the performance model and the advice hold what they say.

use crate::program;
#[path = "study/by_laws.rs"]
mod by_laws;
#[path = "study/convergence.rs"]
mod convergence;
#[path = "study/planted.rs"]
mod planted;
#[path = "study/sound.rs"]
mod sound;

use program::{Folder, wait_until};
use std::fs;

/// A dozen points of some tens of milliseconds.
const ENERGY: &str = "[energy]\nn = [128]\nmodes = [\"f64\", \"mixed\", \"f32-direct\"]\nnu = [0.01, 0.005]\nseeds = [1, 2]\n\
                      goals = [1e-7]\n";

/// The table without remarks and without the columns that measure time.
fn table(folder: &Folder, path: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.path(path)).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut reader = csv::Reader::from_reader(lines.join("\n").leak().as_bytes());
    let names = reader.headers().unwrap().clone();
    let kept = |record: &csv::StringRecord| {
        let pairs = names.iter().zip(record.iter()).filter(|(name, _)| !name.contains("seconds"));
        pairs.map(|(_, value)| value.to_owned()).collect()
    };
    let mut rows = vec![kept(&names)];
    rows.extend(reader.records().map(|record| kept(&record.unwrap())));
    rows
}

#[test]
fn a_study_that_is_killed_goes_on_to_the_same_table() {
    let folder = Folder::new(ENERGY);
    folder.tisane(&["study", "energy", "run.toml", "--output", "whole", "-q"]).exits(0);
    let expected = table(&folder, "whole/table.csv");
    assert_eq!(expected.len(), 13, "{expected:?}");

    // After the same points this sweep has others that take hours, so that it cannot be over before it is killed.
    let longer = ["--set", "energy.n=[128, 65536]"];
    let mut child = folder.start(&[&["study", "energy", "run.toml", "--output", "killed", "-q"], &longer[..]].concat());
    let journal = folder.path("killed/points.jsonl");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    wait_until("three points", || lines() >= 4);
    // SIGKILL: nothing can be tidied up.
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "it was over before it was killed");
    assert!((4..=13).contains(&lines()), "{} lines when it was killed", lines());
    assert!(!folder.path("killed/table.csv").exists());
    // What a kill in the middle of a line leaves.
    let kept = fs::read(&journal).unwrap();
    let whole = kept.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    fs::write(&journal, [&kept[..whole], b"{\"key\":{\"n\":12"].concat()).unwrap();

    let said = folder.tisane(&["study", "energy", "run.toml", "--output", "killed"]).exits(0);
    assert!(said.err.contains("points are finished already"), "{}", said.err);
    assert_eq!(table(&folder, "killed/table.csv"), expected);
    assert_eq!(table(&folder, "killed/laws.csv"), table(&folder, "whole/laws.csv"));
    assert!(fs::read(&journal).unwrap().starts_with(&kept[..whole]), "points were measured again");

    // Again: nothing is left to be measured, and the files are the same.
    let before = folder.files();
    folder.tisane(&["study", "energy", "run.toml", "--output", "killed", "-q"]).exits(0);
    assert!(folder.files() == before);
    // A larger sweep goes on from the same points.
    let said = folder.tisane(&["study", "energy", "run.toml", "--output", "killed", "--set", "energy.seeds=[1,2,3]"]);
    assert!(said.exits(0).err.contains("12 points are finished already, 6 are missing"));
    assert_eq!(table(&folder, "killed/table.csv").len(), 19);
}

#[test]
fn integrators_are_swept_with_their_own_accuracies() {
    let sweep = "[energy]\nn = [64]\nmodes = [\"f64\", \"mixed\"]\nintegrators = [\"hermite4\"]\nnu = [0.02, 0.01]\n\
                 eta = [0.4, 0.3]\nseeds = [1]\ngoals = [1e-3]\nat_once = 2\n";
    let folder = Folder::new(sweep);
    let study = ["study", "energy", "run.toml", "--output", "o"];
    folder.tisane(&study).exits(0);
    // A journal from before there were several integrators: its points count as those of hermite4.
    let journal = fs::read_to_string(folder.path("o/points.jsonl")).unwrap();
    let old = journal.replace("\"integrator\":\"hermite4\",\"accuracy\":", "\"nu\":");
    assert_eq!(old.matches("\"nu\":").count(), 4, "{journal}");
    folder.write("o/points.jsonl", &old);
    let all = ["--set", "energy.integrators=[\"hermite4\",\"multipoint6\",\"multipoint8\"]"];
    let said = folder.tisane(&[&study[..], &all[..]].concat()).exits(0);
    assert!(said.err.contains("4 points are finished already, 6 are missing"), "{}", said.err);
    assert!(said.out.contains("left out: multipoint8 in mixed: order 8 needs forces in f64"), "{}", said.out);

    let rows = table(&folder, "o/table.csv");
    let column = |name: &str| {
        let at = rows[0].iter().position(|of| of.split(" [").next() == Some(name)).unwrap();
        rows[1..].iter().map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    let expected = [["hermite4"; 4], ["multipoint6"; 4]].concat();
    assert_eq!(column("integrator"), [&expected[..], &["multipoint8"; 2]].concat());
    let is_nan = |name: &str| column(name).iter().map(|value| value == "nan").collect::<Vec<_>>();
    assert_eq!(is_nan("nu"), [[false; 4].as_slice(), &[true; 6]].concat());
    assert_eq!(is_nan("eta"), [[true; 4].as_slice(), &[false; 6]].concat());
    // Each particle step evaluates the pairs with all others.
    for (pairs, steps) in column("pairs").iter().zip(column("particle_steps")) {
        assert_eq!(pairs.parse::<u64>().unwrap(), 63 * steps.parse::<u64>().unwrap());
    }
    // Without times fewer pairs are cheaper: not the largest number among nu and eta.
    let choice = table(&folder, "o/choice.csv");
    assert_eq!(choice.len(), 2, "{choice:?}");
    assert!(choice[0].iter().any(|name| name.starts_with("pairs")), "{choice:?}");
    let figure = fs::read_to_string(folder.path("o/energy.svg")).unwrap();
    for text in ["pairs evaluated in a time unit", "multipoint6, N = 64", "hermite4, N = 64"] {
        assert!(figure.contains(text), "{text}");
    }
}

#[test]
fn points_at_once_have_the_same_errors_and_no_time() {
    let folder = Folder::new(ENERGY);
    let set = "energy.modes=[\"f64\"]";
    folder.tisane(&["study", "energy", "run.toml", "--output", "one", "-q", "--set", set]).exits(0);
    let at_once = ["study", "energy", "run.toml", "--output", "many", "-q", "--set", set, "--set", "energy.at_once=3"];
    folder.tisane(&at_once).exits(0);
    assert_eq!(table(&folder, "one/table.csv"), table(&folder, "many/table.csv"));
    let text = fs::read_to_string(folder.path("many/table.csv")).unwrap();
    let first = text.lines().filter(|line| !line.starts_with('#')).nth(1).unwrap();
    assert!(first.contains(",nan,"), "{first}");
}

#[test]
fn what_is_wrong_is_told_where_it_was_made() {
    for (study, config, parts) in [
        (
            "force",
            "[force]\nmodes = [\"f46\"]\n",
            &["run.toml:2", "force.modes", "found \"f46\"; did you mean \"f64\"?"][..],
        ),
        ("force", "[force]\nmodes = []\n", &["run.toml:2", "force.modes", "at least one value, found an empty list"]),
        ("force", "[force]\nmodes = \"f64\"\n", &["run.toml:2", "force.modes", "expected a list in [ ]"]),
        ("force", "[force]\nbag = [64]\n", &["run.toml:2", "unknown key `bag`", "did you mean `bags`"]),
        ("force", "[force]\nbags = [0]\n", &["run.toml:2", "force.bags", "at least 1, found 0"]),
        ("force", "[force]\nn = [128]\nn_of_bags = [256]\n", &["run.toml:3", "among those of n, found 256"]),
        ("force", "[force]\nbags = [8]\nn_of_bags = []\n", &["run.toml:2", "there is nothing to do"]),
        ("force", "[force]\nn = [1]\n", &["run.toml:2", "force.n", "at least 2, found 1"]),
        ("force", "[force]\nn = [64, 64]\n", &["run.toml:2", "64 stands twice in the list"]),
        ("force", "[energy]\nn = [64]\n", &["run.toml:1", "unknown section `energy`", "valid here: force"]),
        ("force", "[force]\nepsilon = -1\n", &["run.toml:2", "force.epsilon", "at least 0, found -1"]),
        ("energy", "[energy]\nnu = [0.01, 0]\n", &["run.toml:2", "energy.nu", "above 0, found 0"]),
        ("energy", "[energy]\nnu = []\n", &["run.toml:2", "energy.nu", "empty list"]),
        ("energy", "[energy]\nengines = [\"auto\"]\n", &["run.toml:2", "energy.engines", "found \"auto\""]),
        ("energy", "[energy.stretch]\nt_end = 0.3\n", &["run.toml:2", "t_end", "not a whole multiple of dt_max"]),
        ("energy", "[energy.stretch]\nt_start = 0.5\n", &["t_end", "after t_start"]),
        ("energy", "[energy.stretch]\ndt_min = 1\n", &["run.toml:2", "dt_min", "found 1"]),
        ("energy", "[energy]\nintegrators = [\"multipoint\"]\n", &["run.toml:2", "energy.integrators", "did you mean"]),
        (
            "energy",
            "[energy]\nintegrators = [\"multipoint6\"]\neta = [0.8]\n",
            &["run.toml:3", "energy.eta", "at most 0.7, found 0.8"],
        ),
        (
            "energy",
            "[energy]\nintegrators = [\"multipoint8\"]\nmodes = [\"mixed\"]\n",
            &["run.toml:2", "energy.integrators", "order 8 needs forces in f64"],
        ),
        ("cost", "[cost]\neta = 0\n", &["run.toml:2", "cost.eta", "above 0, found 0"]),
        ("cost", "[cost]\nrepeat = 0\n", &["run.toml:2", "cost.repeat", "at least 1, found 0"]),
        ("convergence", "[convergence]\nn = [512]\n", &["run.toml:2", "convergence.n", "at most 256, found 512"]),
        ("convergence", "[convergence]\nintegrator = []\n", &["run.toml:2", "did you mean `integrators`"]),
        ("convergence", "[convergence]\nmax_bits = 128\n", &["run.toml:2", "convergence.max_bits", "106, 192, 256"]),
        ("convergence", "[convergence]\nt_end = 0.3\n", &["run.toml:2", "not a whole multiple of interval"]),
        ("convergence", "[convergence]\nt_end = 2000\n", &["run.toml:2", "at most 1000, found 2000"]),
        ("convergence", "[convergence]\ninterval = \"2^-12\"\n", &["run.toml:2", "at most 10000 moments", "81920"]),
        ("convergence", "[convergence]\ninterval = 0\n", &["run.toml:2", "convergence.interval", "found 0"]),
        ("convergence", "[convergence]\nensemble = 1\n", &["run.toml:2", "no standard error", "at least 2"]),
        (
            "convergence",
            "[convergence]\nthreshold = 1e-6\n",
            &["run.toml:2", "convergence.threshold", "found 0.000001"],
        ),
        ("convergence", "[convergence]\nthreshold = 0\n", &["run.toml:2", "convergence.threshold", "above 0"]),
        ("convergence", "[convergence]\ndigits = 20\n", &["run.toml:2", "convergence.digits", "at most 15"]),
        ("convergence", "[convergence]\nmodes = [\"auto\"]\n", &["run.toml:2", "convergence.modes"]),
        ("cost", "cost = 3\n", &["run.toml:1", "cost", "expected a section"]),
        ("cost", "[cost\n", &["run.toml:1", "not valid TOML"]),
    ] {
        let folder = Folder::new(config);
        folder.tisane(&["study", study, "run.toml"]).exits(2).says(parts);
        assert!(!folder.path("studies").exists(), "{config}: nothing may be written");
    }
    let folder = Folder::new("");
    folder.tisane(&["study", "force", "none.toml"]).exits(2).says(&["none.toml", "cannot read it"]);
    folder
        .tisane(&["study", "force", "--set", "force.n=many"])
        .exits(2)
        .says(&["--set force.n=many", "expected a list"]);
    folder.tisane(&["study", "forces"]).exits(2).says(&["force"]);
}

#[test]
fn an_earlier_result_that_is_none_is_told_with_its_line() {
    let folder = Folder::new("[force]\nn = [64]\nbags = [64]\nmodes = [\"mixed\"]\n");
    let study = ["study", "force", "run.toml", "--output", "o", "-q"];
    folder.tisane(&study).exits(0);
    let good = fs::read_to_string(folder.path("o/points.jsonl")).unwrap();
    let (head, point) = good.split_once('\n').unwrap();
    let commit = head.split("\"git_commit\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let table_before = fs::read(folder.path("o/table.csv")).unwrap();
    for (journal, parts) in [
        (
            format!("{head}\nnonsense\n{point}"),
            &["o/points.jsonl", "line 2", "expected a point of the study", "--overwrite"][..],
        ),
        (format!("{head}\n{}", point.replace("\"seed\"", "\"sead\"")), &["line 2", "sead"]),
        (format!("{head}\n{}", point.replace("\"mixed\"", "\"mixde\"")), &["line 2", "mixde"]),
        (format!("nonsense\n{point}"), &["line 1", "expected what measured the points"]),
        (good.replace(&commit, "another"), &["git_commit was \"another\" and is", "--overwrite", "--output"]),
        (good.replace("\"study\":\"force\"", "\"study\":\"energy\""), &["study was \"energy\" and is \"force\""]),
        (good.replace("\"format\":1", "\"format\":9"), &["its format is 9"]),
    ] {
        folder.write("o/points.jsonl", &journal);
        folder.tisane(&study).exits(2).says(parts);
        assert_eq!(fs::read_to_string(folder.path("o/points.jsonl")).unwrap(), journal, "left as it was");
        assert_eq!(fs::read(folder.path("o/table.csv")).unwrap(), table_before);
    }
    folder.write("o/points.jsonl", [b"\xff\xfe\n".as_slice(), good.as_bytes()].concat());
    folder.tisane(&study).exits(2).says(&["line 1", "not UTF-8"]);
    folder.tisane(&["study", "force", "run.toml", "--output", "o", "-q", "--overwrite"]).exits(0);
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/notes.txt", "");
    folder.tisane(&["study", "force", "run.toml", "--output", "mine"]).exits(2).says(&["mine", "holds files"]);
}
