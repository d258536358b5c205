//! Promise: a run in an external field is measured, audited, stopped, resumed and reproduced as any other, to the bit.

use crate::outcome::Outcome;
use crate::program::{Folder, diagnostics, summary};
use std::fs;
use tisane_io::snapshot;

const FIELD: &str = "[external.point-mass]\nmass = 4.0\nposition = [3.0, 0.5, 0.0]\nsoftening = 0.1\n\
                     [external.plummer]\nmass = 1.0\nscale_radius = 2.0\n";
/// Fields by formulas: a list, a bar that turns, a strength that changes, a formula of the user.
const FORMULAS: &str = "[[external.miyamoto-nagai]]\nmass = 2.0\nscale_length = 3.0\nscale_height = 0.5\n\
                        [[external.miyamoto-nagai]]\nmass = -0.5\nscale_length = 6.0\nscale_height = 0.5\n\
                        [external.dehnen-bar]\nstrength = 0.1\nr0 = 4.0\nv0 = 1.0\nbar_radius = 2.0\npattern_speed = 3.0\n\
                        position = [1.0, -2.0, 0.25]\n\
                        [external.power-law]\nmass = 1.0\nslope = 1.8\ncutoff_radius = 2.0\nposition = [4.0, 0.0, 0.0]\n\
                        variation = { form = \"decay\", start = 0.25, time = 0.5 }\n\
                        [external.formula]\npotential = \"-G*mass/sqrt(r^2 + a^2)*(1 + cos(3*t)/2)\"\n\
                        parameters = { mass = 1.0, a = 2.0 }\n";
const LEAPFROG: &str = "[integrator.leapfrog]\ndt = \"1/512\"\n";

fn config(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 0.5\n[initial.plummer]\nn = 128\n[softening]\nepsilon = \"1/256\"\n\
         [output]\ninterval = \"1/8\"\n{more}"
    )
}

fn run(config: &str, arguments: &[&str]) -> (Folder, Outcome) {
    let folder = Folder::new(config);
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], arguments].concat()).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    (folder, outcome)
}

fn numbers(outcome: &Outcome, column: &str) -> Vec<f64> {
    outcome.diagnostics[column].iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn the_energy_has_the_external_term_whole_and_is_conserved() {
    let (folder, outcome) = run(&config(FIELD), &[]);
    let [energy, kinetic, pairs, external] =
        ["energy", "kinetic_energy", "potential_energy", "external_potential_energy"]
            .map(|name| numbers(&outcome, name));
    assert_eq!(energy.len(), 5);
    for row in 0..energy.len() {
        assert_eq!(energy[row], kinetic[row] + pairs[row] + external[row]);
    }
    // At the start the sphere stands in the middle of both fields: −4/3 by the point mass and about −1/2 by the other.
    assert!((-2.0..-1.6).contains(&external[0]), "{external:?}");
    assert!(external.windows(2).all(|rows| rows[1] < rows[0]), "the cluster falls: {external:?}");
    let error = numbers(&outcome, "relative_energy_error")[4].abs();
    assert!(error < 1e-7, "{error:e}");
    // It is not an error that the momentum changes.
    assert!(numbers(&outcome, "momentum_drift")[4] > 0.1);
    folder.tisane(&["inspect", "o/diagnostics.hdf5"]).exits(0).says(&["external_potential_energy"]);
}

/// Two stars have another energy in a field than their mass at its centre: the motion inside of a subsystem takes up the difference.
#[test]
fn subsystems_in_a_field_conserve_the_energy_where_they_form_and_end() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let (_, outcome) = run(
            &format!(
                "[run]\nname = \"r\"\nt_end = 3.0\n[initial.plummer]\nn = 128\nseed = 1\n[initial.masses]\nfunction = \"kroupa\"\n\
                 [external.plummer]\nmass = 10.0\nscale_radius = 0.5\n[encounters]\n[integrator.{scheme}]\ndt_max = \"1/8\"\n"
            ),
            &[],
        );
        assert!(outcome.encounters.as_ref().unwrap().matches(",dissolve,").count() > 3, "{scheme}");
        let errors = numbers(&outcome, "relative_energy_error");
        let largest = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
        assert!(largest < 2e-6, "{scheme}: {errors:?}");
    }
}

/// A star without mass on a circular orbit of the period 2π about a mass of 1, from a file.
const ONE_STAR: &str = "m,x,y,z,vx,vy,vz\n0,1,0,0,0,1,0\n";

fn of_file(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 6.25\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"one.csv\"\n{more}"
    )
}

#[test]
fn verify_a_star_without_mass_goes_round_a_point_mass() {
    let folder = Folder::new(&of_file("[external.point-mass]\nmass = 1.0\n"));
    folder.write("one.csv", ONE_STAR);
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let config = of_file(&format!("[external.point-mass]\nmass = 1.0\n[integrator.{scheme}]\n"));
        folder.write("run.toml", config);
        folder.tisane(&["check", "run.toml"]).exits(0);
        folder.tisane(&["run", "run.toml", "-q", "--output", scheme]).exits(0);
        let snapshots = fs::read_dir(folder.path(scheme).join("snapshots")).unwrap();
        let last = snapshot::read(&snapshots.map(|entry| entry.unwrap().path()).max().unwrap()).unwrap();
        assert_eq!(last.time, 6.25);
        let off = (last.pos[0][0] - 6.25f64.cos()).hypot(last.pos[0][1] - 6.25f64.sin());
        assert!(off < 1e-3, "{scheme}: {off:e}");
    }
}

#[test]
fn verify_a_star_in_a_tide_moves_on_its_epicycle() {
    let (omega, kappa, nu, x0, z0) = (1.0, 1.3, 2.1, 0.01, 0.02);
    let tide = "[external.tide]\nomega = 1.0\nkappa = 1.3\nnu = 2.1\n";
    let folder = Folder::new("");
    // In axes that do not turn: v = Ω × d + (0, −2Ω x₀).
    folder.write("one.csv", format!("m,x,y,z,vx,vy,vz\n0,{x0},0,{z0},0,{},0\n", -omega * x0));
    for (accuracy, tolerance) in [(1e-3, 1e-5), (1e-5, 1e-9)] {
        folder.write("run.toml", of_file(&format!("{tide}[integrator.hermite4]\nnu = {accuracy}\n")));
        let output = format!("o{accuracy}");
        folder.tisane(&["run", "run.toml", "-q", "--output", &output]).exits(0);
        let snapshots = fs::read_dir(folder.path(&output).join("snapshots")).unwrap();
        let last = snapshot::read(&snapshots.map(|entry| entry.unwrap().path()).max().unwrap()).unwrap();
        let t: f64 = last.time;
        let (x, y) = (x0 * (kappa * t).cos(), -2.0 * omega / kappa * x0 * (kappa * t).sin());
        let (sine, cosine) = (omega * t).sin_cos();
        let expected = [x * cosine - y * sine, x * sine + y * cosine, z0 * (nu * t).cos()];
        let off = (0..3).map(|k| (last.pos[0][k] - expected[k]).abs()).fold(0.0, f64::max);
        assert!(off < tolerance * x0, "{accuracy}: {:?} is not {expected:?}", last.pos[0]);
    }
}

#[test]
fn particles_without_mass_and_without_a_field_are_refused() {
    let folder = Folder::new(&of_file(""));
    folder.write("one.csv", ONE_STAR);
    for command in [&["run", "run.toml", "-q"][..], &["check", "run.toml"], &["init", "file", "one.csv"]] {
        folder.tisane(command).exits(2).says(&["the total mass is 0", "[external"]);
    }
}

#[test]
fn a_run_without_a_field_has_no_column_of_it() {
    let (folder, _) = run(&config(""), &[]);
    assert!(!diagnostics(&folder.path("o")).contains_key("external_potential_energy"));
    assert!(!fs::read_to_string(folder.path("o/config.toml")).unwrap().contains("external"));
}

#[test]
fn the_change_of_the_angular_momentum_is_an_error_without_a_field_only() {
    let folder = Folder::new(&config(""));
    folder.tisane(&["run", "run.toml", "--output", "alone"]).exits(0).says(&["relative error", ", angular momentum "]);
    folder.write("run.toml", config(FIELD));
    let said = folder.tisane(&["run", "run.toml", "--output", "o"]).exits(0).says(&["relative error"]);
    assert!(!said.out.contains("angular momentum"), "{}", said.out);
    let error = |dir: &str| summary(&folder.path(dir))["angular_momentum_error"].clone();
    assert!(error("alone").as_f64().is_some_and(|error| error < 1e-3) && error("o").is_null());
    // The journal has the change all the same.
    assert!(diagnostics(&folder.path("o")).contains_key("angular_momentum_error"));
}

#[test]
fn engines_and_threads_give_the_same_bits_in_a_field() {
    for (fields, more) in [(FIELD, ""), (FIELD, LEAPFROG), (FORMULAS, "")] {
        let config = config(&format!("{fields}{more}"));
        let (_, one) = run(&config, &["--threads", "1"]);
        one.assert_same(&run(&config, &["--threads", "3"]).1, "3 threads");
        let (_, mut reference) = run(&config, &["--engine", "reference"]);
        // The reference is audited, against the CPU in the same field.
        let audited = numbers(&reference, "audit_acceleration_max");
        assert!(audited.iter().all(|error| *error == 0.0), "{audited:?}");
        for (name, values) in &mut reference.diagnostics {
            if name.starts_with("audit_") {
                values.clone_from(&one.diagnostics[name]);
            }
        }
        one.assert_same(&reference, "reference");
    }
}

#[test]
fn the_audit_of_a_mode_compares_forces_in_the_same_field() {
    for more in ["", LEAPFROG] {
        let (_, outcome) = run(&config(&format!("{FIELD}{more}")), &["--precision", "mixed"]);
        let errors = numbers(&outcome, "audit_acceleration_max");
        assert!(errors.iter().all(|error| (1e-12..1e-5).contains(error)), "{errors:?}");
    }
}

#[test]
fn a_run_in_a_field_stopped_anywhere_goes_on_to_the_same_bits() {
    for (fields, more, limit) in [(FIELD, "", 150), (FIELD, LEAPFROG, 100), (FORMULAS, "", 150)] {
        let plain = config(&format!("{fields}{more}"));
        let (_, expected) = run(&plain, &[]);
        let folder = Folder::new(&format!("{plain}[limits]\nblock_steps = {limit}\n"));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
        // The journal is made again from its HDF5 file, the optional column among the others.
        fs::remove_file(folder.path("o/diagnostics.csv")).unwrap();
        let mut stops = 1;
        while folder.tisane(&["resume", "o", "-q"]).code == 3 {
            stops += 1;
            assert!(stops < 1000, "no progress");
        }
        assert!(stops > 1, "{stops} stops");
        expected.assert_same(&Outcome::read(&folder.path("o")), &format!("{stops} stops"));
    }
}

#[test]
fn a_run_does_not_go_on_in_another_field() {
    let folder = Folder::new(&format!("{}[limits]\nblock_steps = 20\n", config(FIELD)));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    let path = "o/config.toml";
    let text = fs::read_to_string(folder.path(path)).unwrap();
    assert!(text.contains("mass = 4.0"), "{text}");
    folder.write(path, text.replace("mass = 4.0", "mass = 5.0"));
    folder
        .tisane(&["resume", "o", "-q"])
        .exits(2)
        .says(&["its run had external.point-mass.mass = 4.0, and config.toml has 5.0"]);
}

#[test]
fn a_run_in_a_field_is_checked_and_reproduced() {
    let (folder, _) = run(&config(FIELD), &[]);
    let said = folder.tisane(&["check", "run.toml"]).exits(0);
    for part in
        ["external field", "point mass, 4 M at (3, 0.5, 0) L, softening 0.1 L", "Plummer sphere, 1 M at (0, 0, 0) L"]
    {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    folder.tisane(&["reproduce", "o/summary.json", "--run", "--output", "again"]).exits(0);
}
