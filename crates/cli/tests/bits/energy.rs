//! Promise: energy is conserved as ν says, on the published workload and on files that other programs wrote.

use crate::program;
use program::{Folder, data_of_others, diagnostics, summary};
use serde_json::Value as Json;

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
        "[run]\nname = \"galaxy\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = {path:?}\n\
         [softening]\nepsilon = 0.17\n[integrator.hermite4]\nnu = 0.01\ndt_max = 0.5\n"
    );
    let (error, angular) = run_file(&config, 20_000);
    assert!(error < 1e-7, "{error:e}");
    assert!(angular < 1e-6, "{angular:e}");
}
