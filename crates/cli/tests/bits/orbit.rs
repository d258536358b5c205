//! Promise: about an origin that moves on an orbit in external fields a cluster is integrated as accurately as alone, in every precision
//! mode, and such a run is measured, stopped, resumed and reproduced as any other, to the bit.

use crate::outcome::Outcome;
use crate::program::{Folder, diagnostics};
use std::fs;
use tisane::particles::Vec3;
use tisane_io::snapshot::{self, SnapshotData};

const LEAPFROG: &str = "[integrator.leapfrog]\ndt = \"1/512\"\n";

/// 128 stars on a circle of 8 kpc about 10¹¹ solar masses, for one revolution.
fn galaxy(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 217.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
         [initial.plummer]\nn = 128\nmass = 128.0\nvirial_radius = 1.5\n[softening]\nepsilon = 0.1\n\
         [external.point-mass]\nmass = 1e11\n[orbit]\ncircular = 8000.0\n[output]\ninterval = 31.0\n{more}"
    )
}

/// A cluster of the size of its tidal radius, in N-body units.
fn config(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 1.0\n[initial.plummer]\nn = 128\n[softening]\nepsilon = \"1/256\"\n\
         [external.point-mass]\nmass = 1e4\n[external.plummer]\nmass = 3e3\nscale_radius = 20.0\n\
         [orbit]\nposition = [60.0, 0.0, 5.0]\nvelocity = [2.0, 12.0, 0.0]\nback = 0.3\n\
         [output]\ninterval = \"1/4\"\n{more}"
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

fn largest(outcome: &Outcome, column: &str) -> f64 {
    numbers(outcome, column).into_iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

#[test]
fn verify_the_energy_is_conserved_as_that_of_a_cluster_alone() {
    for precision in ["f64", "mixed", "f32-kahan"] {
        let (_, outcome) = run(&galaxy("[integrator.hermite4]\ndt_max = 0.25\n"), &["--precision", precision]);
        let error = largest(&outcome, "relative_energy_error");
        assert!(error < 1e-6, "{precision}: {error:e}");
        // The energy in the tidal field, without the work of the origin, changes by far more.
        let work = numbers(&outcome, "tidal_work");
        let energy = numbers(&outcome, "energy");
        assert!(work[0] == 0.0 && work[7] > 10.0 * energy[0].abs(), "{work:?}");
        let [kinetic, pairs, tidal] =
            ["kinetic_energy", "potential_energy", "tidal_potential_energy"].map(|name| numbers(&outcome, name));
        for row in 0..energy.len() {
            let sum = kinetic[row] + pairs[row] + tidal[row] - work[row];
            assert!((energy[row] - sum).abs() < 1e-12 * work[7], "row {row}");
        }
        let orbit = numbers(&outcome, "orbit_energy");
        assert!(orbit.iter().all(|energy| (energy / orbit[0] - 1.0).abs() < 1e-13), "{orbit:?}");
    }
}

#[test]
fn verify_every_scheme_conserves_the_energy() {
    for (scheme, most) in [
        ("[integrator.hermite4]\ndt_max = 0.25\niterations = 2\n", 3e-6),
        ("[integrator.multipoint]\ndt_max = 0.25\n", 1e-6),
        ("[integrator.multipoint]\ndt_max = 0.25\norder = 8\n", 1e-7),
        ("[integrator.ahmad_cohen]\ndt_max = 0.25\n", 2e-6),
        ("[integrator.ahmad_cohen]\ndt_max = 0.25\norder = 4\n", 2e-6),
        ("[integrator.leapfrog]\ndt = \"1/64\"\n", 1e-4),
    ] {
        let (_, outcome) = run(&galaxy(scheme), &[]);
        let error = largest(&outcome, "relative_energy_error");
        assert!(error < most, "{scheme}: {error:e}");
    }
}

#[test]
fn verify_the_energy_is_conserved_with_subsystems() {
    let folder = Folder::new(&config("[integrator.multipoint]\n"));
    let arguments = ["run", "run.toml", "-q", "--output", "o", "--set", "softening.epsilon=0"];
    folder.tisane(&arguments).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    assert!(outcome.diagnostics.contains_key("subsystems"), "subsystems are the default about a moving origin");
    let error = largest(&outcome, "relative_energy_error");
    assert!(error < 1e-5, "{error:e}");
}

#[test]
fn engines_and_threads_give_the_same_bits_about_a_moving_origin() {
    for more in ["", LEAPFROG, "[integrator.ahmad_cohen]\n"] {
        let config = config(more);
        let (_, one) = run(&config, &["--threads", "1"]);
        one.assert_same(&run(&config, &["--threads", "3"]).1, "3 threads");
        let (_, mut reference) = run(&config, &["--engine", "reference"]);
        for (name, values) in &mut reference.diagnostics {
            if name.starts_with("audit_") {
                values.clone_from(&one.diagnostics[name]);
            }
        }
        one.assert_same(&reference, "reference");
    }
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits() {
    for (more, limit) in [("", 150), (LEAPFROG, 100), ("[integrator.multipoint]\n", 70)] {
        let plain = config(more);
        let (_, expected) = run(&plain, &[]);
        let folder = Folder::new(&format!("{plain}[limits]\nblock_steps = {limit}\n"));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
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
fn a_run_goes_on_with_another_longest_step() {
    for dt_max in ["1/4", "1/16"] {
        let folder = Folder::new(&config("[integrator.hermite4]\ndt_max = \"1/8\"\n"));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "run.t_end=0.5"]).exits(0);
        let set = format!("integrator.hermite4.dt_max={dt_max}");
        folder.tisane(&["resume", "o", "-q", "--t-end", "1.0", "--set", &set]).exits(0);
        let error = largest(&Outcome::read(&folder.path("o")), "relative_energy_error");
        assert!(error < 1e-5, "{dt_max}: {error:e}");
        // The origin is where it is without the change.
        let (whole, _) = run(&config("[integrator.hermite4]\ndt_max = \"1/8\"\n"), &[]);
        let (found, expected) = (origin(&last(&folder)), origin(&last(&whole)));
        assert!((found - expected).norm() < 1e-13, "{found:?} {expected:?}");
    }
}

/// Path of the last snapshot of a run.
pub fn last(folder: &Folder) -> std::path::PathBuf {
    let snapshots = fs::read_dir(folder.path("o/snapshots")).unwrap();
    snapshots.map(|entry| entry.unwrap().path()).max().unwrap()
}

/// Place of the origin in a snapshot.
fn origin(path: &std::path::Path) -> Vec3 {
    let file = crate::hdf::open(path);
    let header = file.group("Header").unwrap();
    let read = |name: &str| header.attr(name).unwrap().read_1d::<f64>().unwrap().to_vec();
    assert_eq!(read("OrbitVelocity").len(), 3);
    Vec3::from_column_slice(&read("OrbitPosition"))
}

/// Stars without mass near the origin of coordinates, at rest there, as lines of a file; `at` is added to places and velocities.
fn stars(at: [f64; 6]) -> String {
    let line = |k: usize| {
        let x = |j: usize| at[j] + 0.002 * (((k * (j + 3) * 37) % 41) as f64 / 41.0 - 0.5) * f64::from(u8::from(j < 3));
        let numbers: Vec<String> = (0..6).map(|j| format!("{:?}", x(j))).collect();
        format!("0,{}\n", numbers.join(","))
    };
    (0..20).map(line).fold("m,x,y,z,vx,vy,vz\n".to_owned(), |text, line| text + &line)
}

/// Runs stars without mass for nearly one revolution of a circular orbit of the radius 1 about a mass of 1.
fn run_stars(stars: &str, more: &str) -> SnapshotData {
    let folder = Folder::new(&format!(
        "[run]\nname = \"r\"\nt_end = 6.25\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"stars.csv\"\n\
         [softening]\nepsilon = 0.001\n[external.point-mass]\nmass = 1.0\n{more}"
    ));
    folder.write("stars.csv", stars);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let path = last(&folder);
    let mut data = snapshot::read(&path).unwrap();
    if more.contains("[orbit]") {
        let origin = origin(&path);
        let off = (origin - Vec3::new(6.25f64.cos(), 6.25f64.sin(), 0.0)).norm();
        assert!(off < 1e-13, "{off:e}");
        data.pos.iter_mut().for_each(|x| *x += origin);
    }
    data
}

#[test]
fn verify_stars_move_as_in_the_frame_of_the_field() {
    for scheme in ["[integrator.multipoint]\norder = 8\ndt_max = \"1/64\"\n", "[integrator.hermite4]\nnu = 1e-6\n"] {
        let about = run_stars(&stars([0.0; 6]), &format!("[orbit]\ncircular = 1.0\n{scheme}"));
        let at_rest = run_stars(&stars([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), scheme);
        for (a, b) in about.pos.iter().zip(&at_rest.pos) {
            assert!((a - b).norm() < 1e-9, "{scheme}: {:e}", (a - b).norm());
        }
    }
}

#[test]
fn a_star_without_mass_at_the_origin_stays_there() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let folder = Folder::new(&format!(
            "[run]\nname = \"r\"\nt_end = 62.5\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"one.csv\"\n\
             [external.point-mass]\nmass = 1.0\n[orbit]\ncircular = 1.0\n[integrator.{scheme}]\n"
        ));
        folder.write("one.csv", "m,x,y,z,vx,vy,vz\n0,0,0,0,0,0,0\n");
        folder.tisane(&["check", "run.toml"]).exits(0);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        let found = snapshot::read(&last(&folder)).unwrap().pos[0].norm();
        assert!(found < 1e-11, "{scheme}: {found:e}");
    }
}

#[test]
fn the_energies_of_stars_without_mass_are_measured() {
    let folder = Folder::new(
        "[run]\nname = \"r\"\nt_end = 6.25\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"stars.csv\"\n\
         [softening]\nepsilon = 0.001\n[external.point-mass]\nmass = 1.0\n[orbit]\ncircular = 1.0\n",
    );
    folder.write("stars.csv", stars([0.1, 0.0, 0.0, 0.0, 0.2, 0.0]));
    folder.tisane(&["run", "run.toml", "--output", "o"]).exits(0).says(&["energies of the massless bodies"]);
    let outcome = Outcome::read(&folder.path("o"));
    let error = largest(&outcome, "relative_energy_error");
    assert!(error > 0.0 && error < 1e-4, "{error:e}");
}

#[test]
fn check_describes_the_orbit() {
    let folder = Folder::new(&galaxy(""));
    folder.tisane(&["check", "run.toml"]).exits(0).says(&[
        "circle of radius 8000 pc",
        "pericentre 8000 pc, apocentre 8000 pc, period 217 pc/(km/s), circular velocity 232 km/s",
        "in the tidal field about the origin",
        "in the galaxy tidal radius 6.02 pc, half-mass radius 0.2",
    ]);
    folder.write("run.toml", galaxy("").replace("mass = 1e11", "mass = 1e14"));
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["half of the mass is beyond the tidal radius"]);
    folder.write("run.toml", galaxy(""));
    let plunging = galaxy("[integrator.hermite4]\ndt_max = 0.25\n")
        .replace("circular = 8000.0", "position = [8000.0, 0.0, 0.0]\nvelocity = [0.0, 40.0, 0.0]");
    folder.write("run.toml", plunging);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["long at the pericentre of the orbit"]);
    let resting = galaxy("").replace("circular = 8000.0", "position = [0.0, 0.0, 0.0]\nvelocity = [0.0, 0.0, 0.0]");
    folder.write("run.toml", resting.replace("mass = 1e11", "mass = 1e11\nsoftening = 10.0"));
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["the origin rests in the centre of the fields"]);
    folder.write("run.toml", galaxy("").replace("mass = 1e11", "mass = 1e11\nposition = [0.0, 5.0, 0.0]"));
    folder.tisane(&["check", "run.toml"]).exits(2).says(&["orbit.circular: no circular orbit of radius 8000 pc"]);
}

#[test]
fn members_of_an_ensemble_may_have_orbits_of_their_own() {
    let folder = Folder::new(&config("[ensemble.vary]\n'orbit.back' = [0.3, 0.9]\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let (_, one) = run(&config("").replace("back = 0.3", "back = 0.9"), &[]);
    let table = fs::read_to_string(folder.path("o/members.csv")).unwrap();
    let names = table.lines().find(|line| line.starts_with("member,")).unwrap();
    let at = names.split(',').position(|name| name.starts_with("energy_error [")).unwrap();
    let found: f64 = table.lines().last().unwrap().split(',').nth(at).unwrap().parse().unwrap();
    assert_eq!(found, *numbers(&one, "relative_energy_error").last().unwrap());
}

#[test]
fn a_run_about_a_moving_origin_is_reproduced_and_has_its_columns() {
    let (folder, _) = run(&config(""), &[]);
    folder.tisane(&["reproduce", "o/summary.json", "--run", "--output", "again"]).exits(0);
    let columns = diagnostics(&folder.path("o"));
    assert!(columns.contains_key("tidal_work") && !columns.contains_key("external_potential_energy"));
    folder.tisane(&["inspect", "o/diagnostics.hdf5"]).exits(0).says(&["tidal_potential_energy", "orbit_energy"]);
}
