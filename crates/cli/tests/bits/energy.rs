//! Promise: energy is conserved as ν says, on the published workload and on files that other programs wrote.

use crate::program;
use program::{Folder, data_of_others, diagnostics, summary};
use serde_json::Value as Json;
use tisane_io::table;

/// The timed Plummer workload (ε = 1/256, dt_max = 1/8): |relative energy error| from t = 0.25 to 0.5 for each N and ν.
fn workload(n: &str, nu: &str) -> Vec<(u64, f64, f64)> {
    let folder = Folder::new("");
    let said = folder.tisane(&["bench", "run", "--n", n, "--nu", nu, "--repeat", "1", "--json"]).exits(0);
    let report: Json = serde_json::from_str(&said.out).unwrap();
    let number = |row: &Json, key: &str| row[key].as_f64().unwrap();
    let rows = report["rows"].as_array().unwrap().iter();
    let rows =
        rows.map(|row| (row["n"].as_u64().unwrap(), number(row, "nu"), number(row, "relative_energy_error").abs()));
    rows.inspect(|(n, nu, error)| println!("N = {n:5}, nu = {nu:.4e}: |dE/E| = {error:.2e}")).collect()
}

/// Portegies Zwart et al. (2007): (1.9 ± 1.2)e-7 with GRAPE; ph4 reaches 5e-9.
#[test]
fn validate_plummer_energy_at_nu_001() {
    for (n, nu, error) in workload("256,1024,4096", "0.01") {
        assert!(error <= 3e-8, "N = {n}, nu = {nu}: {error:e}");
    }
}

/// A 4th-order scheme with steps as √ν: the error goes with ν², four times less at each half.
#[test]
fn validate_plummer_energy_over_nu() {
    let halves: Vec<f64> = (0..=8).map(|k| 0.1 / 2f64.powi(k)).collect();
    let list: Vec<String> = halves.iter().map(f64::to_string).collect();
    let errors: Vec<f64> = workload("1024", &list.join(",")).into_iter().map(|(_, _, error)| error).collect();
    assert_eq!(errors.len(), halves.len());
    assert!(errors[8] < 5e-11, "nu = 0.1/2^8: {:e}", errors[8]);
    // Single errors scatter, as contributions of either sign add up: compare those two halves apart.
    for k in 0..7 {
        assert!(
            errors[k + 2] < errors[k],
            "nu = {}: {:e}, nu = {}: {:e}",
            halves[k],
            errors[k],
            halves[k + 2],
            errors[k + 2]
        );
    }
    let slope = (errors[0] / errors[8]).log2() / 8.0;
    assert!((1.5..=3.0).contains(&slope), "error ~ nu^{slope:.2}: {errors:?}");
}

/// A run of a file of another program; returns the largest relative energy error of its rows, and its angular
/// momentum's.
fn run_file(config: &str, n: usize) -> (f64, f64) {
    let folder = Folder::new(config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let (summary, rows) = (summary(&folder.path("o")), diagnostics(&folder.path("o")));
    assert_eq!(summary["n"], n);
    let number = |key: &str| summary[key].as_f64().unwrap();
    let (error, angular) = (number("max_relative_energy_error"), number("angular_momentum_error"));
    println!("N = {n}, t = {}: |dE/E| <= {error:.2e}, |dL/L| = {angular:.2e}", number("time"));
    let drift: f64 = rows["centre_of_mass_drift"].last().unwrap().parse().unwrap();
    // Individual steps do not conserve momentum exactly; the systems are of sizes 1 and 44.
    assert!(drift < 1e-6, "centre of mass {drift:e}");
    (error, angular)
}

/// A cluster of 1000 stars, Q = 0.499, unsoftened, with the encounters as they come: one crossing time of 2.65
/// pc/(km/s).
#[test]
fn validate_n1k_over_a_crossing_time() {
    let Some(path) = data_of_others("N1k.dat.10") else { return };
    let config = |nu: f64| {
        format!(
            "[run]\nname = \"n1k\"\nt_end = \"171/64\"\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
             [initial.file]\npath = {path:?}\n[integrator.hermite4]\nnu = {nu}\ndt_max = \"1/64\"\ndt_min = \"2^-40\"\n\
             [output]\nsnapshot_interval = \"171/64\"\ndiagnostics_interval = \"9/64\"\n"
        )
    };
    let (coarse, _) = run_file(&config(0.01), 1000);
    let (fine, angular) = run_file(&config(0.001), 1000);
    assert!(coarse < 1e-6 && fine < 1e-8, "nu = 0.01: {coarse:e}, nu = 0.001: {fine:e}");
    assert!(fine < coarse / 10.0, "nu = 0.01: {coarse:e}, nu = 0.001: {fine:e}");
    assert!(angular < 1e-6, "{angular:e}");
}

/// 20000 particles of three kinds from a Tipsy file, Q = 0.499 with G = 1, with a softening between those of its
/// particles (0.13 to 0.44): a part of its crossing time of 71.5. The whole takes many minutes.
#[test]
fn validate_galaxy_20k_over_a_part_of_a_crossing_time() {
    let Some(path) = data_of_others("galaxy_20K.tipsy") else { return };
    let config = format!(
        "[run]\nname = \"galaxy\"\nt_end = 0.5\n[units]\nsystem = \"henon\"\n[initial.file]\npath = {path:?}\n\
         [softening]\nepsilon = 0.17\n[integrator.hermite4]\nnu = 0.01\ndt_max = 0.5\n"
    );
    let (error, angular) = run_file(&config, 20_000);
    assert!(error < 1e-7, "{error:e}");
    assert!(angular < 1e-6, "{angular:e}");
}

/// Runs the bodies of a table and returns the folder and what was said.
fn run_bodies(config: &str, bodies: &str, sets: &[&str]) -> (Folder, program::Said) {
    let folder = Folder::new(&format!("[run]\nname = \"bodies\"\n{config}\n[initial.file]\npath = \"bodies.csv\"\n"));
    std::fs::write(folder.path("bodies.csv"), bodies).unwrap();
    let said = folder.tisane(&[&["run", "run.toml", "--output", "o"], sets].concat()).exits(0);
    (folder, said)
}

fn of_summary(folder: &Folder, key: &str) -> f64 {
    summary(&folder.path("o"))[key].as_f64().unwrap_or(f64::NAN)
}

/// A parabola: E = 0 up to rounding, T = |U| = 0.25 at the start.
#[test]
fn the_error_of_a_parabola_is_relative_to_its_terms() {
    let bodies = "m,x,y,z,vx,vy,vz\n0.5,-0.5,0,0,0,-0.7071067811865476,0\n0.5,0.5,0,0,0,0.7071067811865476,0\n";
    let (folder, said) = run_bodies("t_end = 4.0\n[units]\nsystem = \"henon\"", bodies, &[]);
    said.says(&["of the sum of kinetic and |potential| energy"]);
    let rows = diagnostics(&folder.path("o"));
    let energy = |row: usize| rows["energy"][row].parse::<f64>().unwrap();
    assert!(energy(0).abs() < 1e-15, "{:e}", energy(0));
    let (change, error) = (energy(rows["energy"].len() - 1) - energy(0), of_summary(&folder, "relative_energy_error"));
    assert!(error.abs() < 1e-5 && (error * 0.5 / change - 1.0).abs() < 1e-3, "{error:e} {change:e}");
}

/// A cluster that moves as a whole has the errors that it has at rest, apart from the rounding of its places.
#[test]
fn errors_do_not_depend_on_the_motion_of_the_cluster() {
    let errors = |position: &str, velocity: &str| {
        let folder = Folder::new(&format!(
            "[run]\nname = \"moved\"\nt_end = 2.0\n[units]\nsystem = \"henon\"\n[[initial.clusters]]\n\
             position = {position}\nvelocity = {velocity}\n[initial.clusters.plummer]\nn = 64\n\
             [softening]\nepsilon = \"1/64\"\n[integrator.hermite4]\nnu = 0.05\ndt_max = \"1/16\"\n"
        ));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        ["max_relative_energy_error", "cluster_energy_error", "angular_momentum_error"]
            .map(|key| of_summary(&folder, key).abs())
    };
    let still = errors("[0, 0, 0]", "[0, 0, 0]");
    assert!(still.iter().all(|error| *error > 1e-8), "{still:?}");
    for (position, velocity) in
        [("[0, 0, 0]", "[3, 0, 0]"), ("[20, -7, 1]", "[0, 50, 0]"), ("[0, 100, 0]", "[0, 0, 0]")]
    {
        let moved = errors(position, velocity);
        for (moved, still) in moved.iter().zip(&still) {
            assert!((moved / still - 1.0).abs() < 0.01, "{position} {velocity}: {moved:e} {still:e}");
        }
    }
}

/// The energy error of a cluster on an orbit about a point mass is relative to its own energy, and a lost cluster ends
/// the run: the energy of the orbit, 2e4 times larger, hides neither.
#[test]
fn an_error_in_a_field_is_relative_to_the_energy_of_the_cluster() {
    let config = |nu: &str| {
        format!(
            "[run]\nname = \"tide\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[[initial.clusters]]\n\
             position = [1000, 0, 0]\nvelocity = [0, 110, 0]\n[initial.clusters.plummer]\nn = 64\n\
             [softening]\nepsilon = \"1/64\"\n[external.point-mass]\nmass = 12100000.0\n\
             [integrator.hermite4]\nnu = {nu}\nnu_start = {nu}\ndt_max = \"1/4\"\n"
        )
    };
    let folder = Folder::new(&config("0.01"));
    folder.tisane(&["run", "run.toml", "--output", "o"]).exits(0).says(&["of the internal energy"]);
    let rows = diagnostics(&folder.path("o"));
    let last = |name: &str| rows[name].last().unwrap().parse::<f64>().unwrap();
    let change = last("energy") - rows["energy"][0].parse::<f64>().unwrap();
    let scale = change / last("relative_energy_error");
    assert!((0.2..0.3).contains(&scale), "the energy of a Plummer sphere is 1/4, not that of its orbit: {scale}");
    let cluster = last("cluster_energy_error") / last("relative_energy_error");
    assert!((0.5..2.0).contains(&cluster), "{cluster}");
    // Steps so long that the cluster is lost.
    let folder = Folder::new(&config("10.0"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(4).says(&["of the internal energy at the start"]);
}

/// Massless bodies about a star: the sum of their energies shows the error of their orbits.
#[test]
fn massless_bodies_have_an_error() {
    let bodies = "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n0,1,0,0,0,1,0\n0,0,2,0,-0.5,0,0\n";
    let config = "t_end = 60.0\n[units]\nsystem = \"henon\"\n[integrator.hermite4]\nnu = 0.02\ndt_max = 1.0\n";
    let (folder, said) = run_bodies(config, bodies, &[]);
    said.says(&["of the energies of the massless bodies"]);
    let error = of_summary(&folder, "relative_energy_error").abs();
    // By hand, from the last snapshot and the start.
    let snapshots = std::fs::read_dir(folder.path("o/snapshots")).unwrap().count();
    let file = crate::hdf::open(folder.path(&format!("o/snapshots/snapshot_{:04}.hdf5", snapshots - 1)));
    let read = |name: &str| file.dataset(&format!("PartType4/{name}")).unwrap().read_raw::<f64>().unwrap();
    let (x, v) = (read("Coordinates"), read("Velocities"));
    let at = |of: &[f64], i: usize| tisane::particles::Vec3::new(of[3 * i], of[3 * i + 1], of[3 * i + 2]);
    let energy = |i: usize| 0.5 * (at(&v, i) - at(&v, 0)).norm_squared() - 1.0 / (at(&x, i) - at(&x, 0)).norm();
    let start = -0.5 + (0.125 - 0.5);
    let by_hand = ((energy(1) + energy(2) - start) / start).abs();
    assert!(error > 1e-12 && (error / by_hand - 1.0).abs() < 1e-2, "{error:e} {by_hand:e}");
    // About two stars their energies change: that of the stars is measured, and it is said that theirs are not.
    let pair =
        "m,x,y,z,vx,vy,vz\n0.5,-1,0,0,0,-0.35355339059327373,0\n0.5,1,0,0,0,0.35355339059327373,0\n0,9,0,0,0,0.3,0\n";
    let (folder, said) = run_bodies(config, pair, &[]);
    said.says(&["the massless body is not in it"]);
    assert!(of_summary(&folder, "relative_energy_error").is_finite());
    // A body alone at rest.
    let alone = "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n";
    let (folder, said) = run_bodies(config, alone, &[]);
    said.says(&["not measured"]);
    assert!(summary(&folder.path("o"))["relative_energy_error"].is_null());
}

/// The reference of the errors survives a stop: the resumed run has the rows of an undisturbed one.
#[test]
fn errors_of_a_moving_cluster_go_on_after_a_stop() {
    let config = "[run]\nname = \"moved\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[[initial.clusters]]\n\
                  velocity = [0, 50, 0]\n[initial.clusters.plummer]\nn = 32\n[softening]\nepsilon = \"1/64\"\n\
                  [integrator.hermite4]\nnu = 0.05\ndt_max = \"1/16\"\n";
    let folder = Folder::new(config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=20"]).exits(3);
    folder.lift_block_limit("o");
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    let column = |run: &str, name: &str| diagnostics(&folder.path(run))[name].clone();
    for name in
        ["relative_energy_error", "relative_energy_error_step", "cluster_energy_error", "angular_momentum_error"]
    {
        assert_eq!(column("o", name), column("whole", name), "{name}");
    }
}

/// A star that falls through the centre of the galaxy, with thousands of times the energy of the cluster that it has left, has a large error.
/// That of the cluster is the one that it has without that star.
#[test]
fn the_error_of_a_star_that_has_left_is_not_that_of_the_cluster() {
    let config = "[run]\nname = \"x\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"stars.csv\"\n\
                  [softening]\nepsilon = \"1/64\"\n[external.point-mass]\nmass = 12100000.0\n[orbit]\n\
                  position = [1000, 0, 0]\nvelocity = [0, 110, 0]\n[integrator.hermite4]\nnu = 0.05\ndt_max = \"1/64\"\n\
                  [output]\ninterval = 0.125\n";
    let folder = Folder::new(config);
    let sphere = tisane::initial::plummer::sample(64, 1, 0.999);
    let mut stars = "m,x,y,z,vx,vy,vz\n".to_owned();
    let mut add = |m: f64, x: tisane::particles::Vec3, v: tisane::particles::Vec3| {
        stars += &format!("{m:?},{:?},{:?},{:?},{:?},{:?},{:?}\n", x.x, x.y, x.z, v.x, v.y, v.z);
    };
    (0..sphere.len()).for_each(|i| add(sphere.mass[i], sphere.pos[i], sphere.vel[i]));
    folder.write("stars.csv", &stars);
    let run = |to: &str, more: &[&str], code: i32| {
        folder.tisane(&[&["run", "run.toml", "-q", "--output", to], more].concat()).exits(code);
    };
    run("alone", &[], 0);
    let with = format!("{stars}0.01,-900,60,0,-300,-110,0\n");
    folder.write("stars.csv", &with);
    run("with", &["--threads", "1"], 0);
    run("stopped", &["--threads", "2", "--set", "limits.block_steps=301"], 3);
    folder.lift_block_limit("stopped");
    folder.tisane(&["resume", "stopped", "-q"]).exits(0);
    let column = |run: &str, name: &str| diagnostics(&folder.path(run))[name].clone();
    let last = |run: &str, name: &str| column(run, name).last().unwrap().parse::<f64>().unwrap();
    let [alone, of_cluster] = ["alone", "with"].map(|run| last(run, "cluster_energy_error"));
    let of_all = last("with", "relative_energy_error");
    assert!(of_all.abs() > 1e-2 && alone.abs() > 1e-8, "{of_all:e} {alone:e}");
    assert!((of_cluster / alone - 1.0).abs() < 0.05, "{of_cluster:e} {alone:e}");
    let of_run = column("with", "cluster_energy_error");
    assert_eq!(column("stopped", "cluster_energy_error"), of_run);
    // A member of an ensemble has the errors of the run alone, also through stops.
    let vary = "[ensemble]\nseries = true\n[ensemble.vary]\n\"integrator.hermite4.nu\" = [0.05, 0.04]\n";
    folder.write("members.toml", format!("{config}{vary}"));
    folder.tisane(&["run", "members.toml", "-q", "--output", "members"]).exits(0);
    let errors = |dir: &str| {
        let series = table::read(&folder.path(dir).join("series.csv")).expect("a table");
        series.numbers("cluster_energy_error").expect("errors").iter().collect::<Vec<_>>()
    };
    let of_run: Vec<f64> = of_run.iter().map(|error| error.parse().unwrap()).collect();
    assert_eq!(errors("members")[..of_run.len()], of_run);
    let stopped = ["run", "members.toml", "-q", "--output", "often", "--time-limit", "10ms", "--threads", "1"];
    folder.tisane(&stopped).exits(3);
    folder.resume_until_it_ends("often", 100);
    assert_eq!(errors("often"), errors("members"));
}
