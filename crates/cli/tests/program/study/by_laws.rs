//! Promise: studies and advice go by the law that they are given, and say where there is nothing to study.

use super::table;
use crate::program::Folder;
use std::fs;

/// Returns the column of a table as text.
fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|of| of.split(" [").next() == Some(name)).unwrap();
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

fn numbers(rows: &[Vec<String>], name: &str) -> Vec<f64> {
    column(rows, name).iter().map(|text| text.parse().unwrap()).collect()
}

const YUKAWA: &str = "law = { name = \"yukawa\", parameters = { lambda = 0.5 } }\n";

#[test]
fn errors_of_forces_are_those_of_the_law() {
    let sweep = "[force]\nn = [192]\nmodes = [\"mixed\"]\nengines = [\"cpu\", \"reference\"]\nbags = [64, 256]\n";
    let folder = Folder::new(&format!("{sweep}{YUKAWA}"));
    folder.tisane(&["study", "force", "run.toml", "--output", "yukawa", "-q"]).exits(0);
    // The same law as a formula has the same forces; Newton's by its name is no other law.
    folder.write("formula.toml", format!("{sweep}law = {{ potential = \"-m_i*m_j*exp(-s/0.5)/s\" }}\n"));
    folder.tisane(&["study", "force", "formula.toml", "--output", "formula", "-q"]).exits(0);
    folder.write("newton.toml", format!("{sweep}law = {{ name = \"newton\" }}\n"));
    folder.tisane(&["study", "force", "newton.toml", "--output", "newton", "-q"]).exits(0);
    let [yukawa, formula, newton] =
        ["yukawa", "formula", "newton"].map(|dir| table(&folder, &format!("{dir}/table.csv")));
    for name in ["acc_max", "jerk_rms", "pot_rms"] {
        let [yukawa, formula, newton] = [&yukawa, &formula, &newton].map(|rows| numbers(rows, name));
        assert_eq!(yukawa.len(), 3);
        assert!(yukawa.iter().all(|error| (1e-9..1e-4).contains(error)), "{name}: {yukawa:?}");
        // The rows: CPU, reference with bags of 256, reference.
        assert_eq!(yukawa[0], yukawa[2], "{name}: engines have the same sums");
        assert!(yukawa[1] != yukawa[2], "{name}: another bag has another sum");
        // λ in the program of the formula stands elsewhere: its rounding may differ in a bit.
        for (a, b) in yukawa.iter().zip(&formula) {
            assert!((a - b).abs() < 0.2 * a, "{name}: {a} is not {b}");
        }
        assert!(yukawa != newton, "{name}");
    }
    assert!(column(&yukawa, "pot_rms_law").iter().all(|text| text == "nan"), "growth laws are of Newton's potential");
    assert!(numbers(&newton, "pot_rms_law").iter().all(|law| *law > 0.0));
    let text = fs::read_to_string(folder.path("yukawa/table.csv")).unwrap();
    assert!(text.contains("yukawa, lambda = 0.5"), "{text}");
    // An acceleration has no potential to have an error.
    folder.write("cutoff.toml", format!("{sweep}law = {{ name = \"p3m-cutoff\", parameters = {{ radius = 2 }} }}\n"));
    folder.tisane(&["study", "force", "cutoff.toml", "--output", "cutoff", "-q"]).exits(0);
    let cutoff = table(&folder, "cutoff/table.csv");
    assert!(column(&cutoff, "pot_rms").iter().all(|text| text == "nan"));
    assert!(numbers(&cutoff, "acc_rms").iter().all(|error| *error > 0.0));
}

#[test]
fn energy_errors_are_those_of_the_law_and_fall_with_its_steps() {
    let folder = Folder::new(&format!(
        "[energy]\nn = [64]\nmodes = [\"f64\"]\nintegrators = [\"hermite4\", \"multipoint6\"]\nnu = [0.04, 0.01]\n\
         eta = [0.5, 0.25]\nseeds = [1, 2]\ngoals = [1e-4]\n{YUKAWA}[energy.stretch]\nepsilon = 0.05\n"
    ));
    let study = ["study", "energy", "run.toml", "--output", "o", "-q"];
    folder.tisane(&study).exits(0);
    let rows = table(&folder, "o/table.csv");
    assert_eq!(rows.len(), 9);
    let errors = numbers(&rows, "energy_error");
    for pair in errors.chunks(4) {
        let rms = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (coarse, fine) = (rms(&pair[..2]), rms(&pair[2..]));
        assert!(fine > 0.0 && fine < 0.5 * coarse && coarse < 1e-3, "{errors:?}");
    }
    // Points by another law do not count.
    let other = ["--set", "energy.law.parameters.lambda=0.6"];
    let said = folder.tisane(&[&study[..5], &other[..]].concat()).exits(0);
    assert!(!said.err.contains("finished already"), "{}", said.err);
    assert!(numbers(&table(&folder, "o/table.csv"), "energy_error") != errors);
}

#[test]
fn what_a_law_leaves_nothing_to_study_of_is_told() {
    for (study, config, parts) in [
        (
            "energy",
            "[energy]\nlaw = { acceleration = \"m_j/s\" }\n",
            &["run.toml:2", "energy.law", "no potential: there is no energy"][..],
        ),
        (
            "energy",
            "[energy]\nintegrators = [\"ahmad_cohen6\"]\nlaw = { potential = \"-m_i*m_j/s^2\" }\n",
            &["run.toml:2", "energy.integrators", "the neighbour scheme knows Newton's law only"],
        ),
        (
            "force",
            "[force]\nlaw = { potential = \"-m_i*m_j/r\" }\n",
            &["run.toml:2", "force.law.potential", "unknown name `r`"],
        ),
        (
            "energy",
            "[energy.law]\nname = \"yukawa\"\n",
            &["energy.law.parameters.lambda", "missing parameter `lambda`"],
        ),
        (
            "force",
            "[force.law]\nname = \"coulomb\"\nparameters = { k = 1 }\n",
            &["run.toml:1", "force.law", "the spheres of a study have none"],
        ),
    ] {
        let folder = Folder::new(config);
        folder.tisane(&["study", study, "run.toml"]).exits(2).says(parts);
        assert!(!folder.path("studies").exists(), "{config}: nothing may be written");
    }
}

#[test]
fn advice_goes_by_the_law_of_the_run() {
    let run = "[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 48\n[softening]\nepsilon = \"1/16\"\n";
    let law = "[force.law]\nname = \"yukawa\"\nparameters = { lambda = 0.5 }\n";
    let folder = Folder::new(&format!("{run}{law}"));
    let goal = ["advise", "run.toml", "--energy-error", "1e-5", "--budget", "10min"];
    let said = folder.tisane(&goal).exits(0);
    assert!(said.out.contains("recommended: ") && said.out.contains("multipoint6"), "{}", said.out);
    assert!(!said.out.contains("ahmad_cohen6"), "the neighbour scheme knows Newton's law only: {}", said.out);
    let lines: String =
        said.out.lines().skip_while(|line| !line.starts_with("recommended")).skip(2).collect::<Vec<_>>().join("\n");
    let (integrator, force) = lines.split_once("[force]\n").expect("lines to paste");
    let integrator = integrator.lines().skip_while(|line| !line.starts_with('[')).collect::<Vec<_>>().join("\n");
    folder.write("as-advised.toml", format!("{run}{integrator}\n[force]\n{force}\n{law}"));
    folder.tisane(&["run", "as-advised.toml", "-q", "--output", "o"]).exits(0);
    let error = crate::program::summary(&folder.path("o"))["relative_energy_error"].as_f64().unwrap();
    assert!(error.abs() < 1e-4, "advised for 1e-5: {error:e}");
    folder.write("run.toml", format!("{run}[force.law]\nacceleration = \"m_j/s\"\n"));
    folder.tisane(&goal).exits(2).says(&["force.law", "advice is about the energy error"]);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["law acceleration m_j/s"]);
}
