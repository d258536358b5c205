//! Promise: a run in a tide tells its tidal radius, the mass within it and who may leave, from its snapshots too, to the bit.

use crate::orbit::last;
use crate::outcome::Outcome;
use crate::program::{Folder, summary};
use std::collections::HashMap;
use std::fs;
use tisane::particles::Vec3;
use tisane_io::snapshot;

/// 256 stars of 1000 solar masses on a circle of 8 kpc in the Milky Way of Bovy (2015).
fn milky_way(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 8.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
         [initial.king]\nn = 256\nw0 = 5.0\nmass = 1000.0\nvirial_radius = 3.0\n[softening]\nepsilon = 0.1\n\
         [external.mw-2014]\n[integrator.multipoint]\ndt_max = 0.5\n[output]\ninterval = 2.0\n{more}"
    )
}

type Columns = HashMap<String, Vec<f64>>;

/// Columns of `cluster.csv` in a folder.
fn cluster(folder: &Folder, dir: &str) -> Columns {
    let text = fs::read_to_string(folder.path(dir).join("cluster.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    names.iter().enumerate().map(|(k, name)| ((*name).to_owned(), rows.iter().map(|row| row[k]).collect())).collect()
}

fn run(config: &str) -> (Folder, Columns) {
    let folder = Folder::new(config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let found = cluster(&folder, "o");
    (folder, found)
}

#[test]
fn verify_the_tidal_radius_in_the_milky_way() {
    // r_t of 1000 solar masses by Ω and κ with 40 digits.
    let of_1000 = 13.720_53;
    let about = run(&milky_way("[orbit]\ncircular = 8000.0\n"));
    let linear = run(&milky_way("[external.tide]\nradius = 8000.0\n"));
    for (folder, found) in [&about, &linear] {
        for (radius, mass) in found["tidal_radius"].iter().zip(&found["tidal_mass"]) {
            assert!((radius / (of_1000 * (mass / 1000.0).cbrt()) - 1.0).abs() < 1e-6, "{radius} {mass}");
            assert!(*mass > 900.0 && *mass <= 1000.0 * (1.0 + 1e-12), "{mass}");
        }
        let check = |row: usize| {
            let of = |name: &str| found[name][row];
            assert!((of("tidal_number") - 256.0 * of("tidal_mass") / 1000.0).abs() < 1e-6);
            assert!(of("tidal_half_mass_radius") < of("tidal_radius") / 3.0);
            assert!(of("jacobi_bound_mass") <= of("tidal_mass") && of("potential_escapers") <= of("tidal_number"));
            let centre = ["x", "y", "z"].map(|axis| of(&format!("density_centre_{axis}")));
            let offset = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((of("offset") - offset).abs() < 1e-12 * 8000.0 && offset < 2.0, "{offset}");
        };
        (0..found["time"].len()).for_each(check);
        // From the snapshots, to the bit.
        folder.tisane(&["analyze", "o"]).exits(0);
        let read = |path: &str| fs::read_to_string(folder.path(path)).unwrap();
        assert_eq!(read("o/analysis/cluster.csv"), read("o/cluster.csv"));
    }
    let (folder, found) = &about;
    let origin = snapshot::read(&last(folder)).unwrap().orbit.unwrap();
    let end = |name: &str| *found[name].last().unwrap();
    assert_eq!(
        [end("orbit_position_x"), end("orbit_position_y"), end("orbit_velocity_y")],
        [origin.pos.x, origin.pos.y, origin.vel.y]
    );
    let radius = (end("orbit_position_x").powi(2) + end("orbit_position_y").powi(2)).sqrt();
    assert!((radius - 8000.0).abs() < 1e-8, "{radius}");
    assert!(!linear.1.contains_key("orbit_position_x"));
    // On an eccentric orbit: r_t at the nearest of four pericentres, by an orbit of scipy (DOP853) and differences of the acceleration.
    let eccentric =
        Folder::new(&milky_way("[orbit]\nposition = [8500.0, 0.0, 2000.0]\nvelocity = [-60.0, 120.0, 40.0]\n"));
    let at_pericentre = format!("at pericentre tidal radius {:.2} pc", 0.702_263_103 * 1000f64.cbrt());
    eccentric.tisane(&["check", "run.toml"]).exits(0).says(&[&at_pericentre]);
    // A run without a tide has none of these columns, and in the centre of a core there is no tidal radius.
    let plain = run(&milky_way("").replace("[external.mw-2014]\n", ""));
    assert!(!plain.1.keys().any(|name| name.starts_with("tidal") || name == "offset"));
    let core = milky_way("[orbit]\nposition = [0.1, 0.0, 0.0]\nvelocity = [0.0, 0.0, 0.0]\n");
    let core = run(&core.replace("[external.mw-2014]", "[external.plummer]\nmass = 1e6\nscale_radius = 1000.0"));
    assert!(core.1["tidal_radius"].iter().chain(&core.1["tidal_mass"]).all(|x| x.is_nan()));
    assert!(core.1["tidal_number"].iter().all(|n| *n == 0.0));
}

#[test]
fn verify_the_tidal_radius_at_the_pericentre_of_a_kepler_orbit() {
    // About a point mass M, with the eccentricity ½ and the pericentre 30, from the apocentre 90 on: r_t = p (m / (M (3 + e)))^(1/3)
    // at the pericentre p (King 1962, AJ 67, 471, equation 11). The period is 2 π 60^(3/2) / 100 = 29.2.
    let (near, eccentricity) = (30.0f64, 0.5);
    let speed = (1e4 * (1.0 - eccentricity) / 90.0f64).sqrt();
    let folder = Folder::new(&format!(
        "[run]\nname = \"r\"\nt_end = 40.0\n[units]\nsystem = \"henon\"\n[initial.plummer]\nn = 64\nvirial_radius = 0.5\n\
         [softening]\nepsilon = 0.1\n[external.point-mass]\nmass = 1e4\n\
         [orbit]\nposition = [0.0, 90.0, 0.0]\nvelocity = [0.0, 0.0, {speed:?}]\n[integrator.multipoint]\ndt_max = 0.125\n\
         [output]\ninterval = 4.0\n[cluster]\ninterval = 0.5\n"
    ));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let found = cluster(&folder, "o");
    let of_1 = near / (1e4 * (3.0 + eccentricity)).cbrt();
    let mut smallest = f64::INFINITY;
    for (row, time) in found["time"].iter().enumerate() {
        let of = |name: &str| found[name][row];
        let expected = of_1 * of("tidal_mass").cbrt();
        let at_pericentre = of("tidal_radius_at_pericentre");
        assert!((at_pericentre / expected - 1.0).abs() < 1e-9, "t = {time}: {at_pericentre} {expected}");
        assert!(at_pericentre <= of("tidal_radius") * (1.0 + 1e-9), "t = {time}");
        smallest = smallest.min(of("tidal_radius") / at_pericentre);
    }
    assert!(found["tidal_radius"][0] > 3.0 * found["tidal_radius_at_pericentre"][0] && smallest < 1.05, "{smallest}");
    folder.tisane(&["check", "run.toml"]).exits(0).says(&[&format!("at pericentre tidal radius {of_1:.3} L")]);
    // With stops, and from the snapshots, to the bit.
    let mut code = folder.tisane(&["run", "run.toml", "-q", "--output", "s", "--set", "limits.block_steps=5000"]).code;
    let mut stops = 0;
    while code == 3 {
        stops += 1;
        code = folder.tisane(&["resume", "s", "-q"]).code;
    }
    assert!(code == 0 && stops > 0, "{code}, {stops} stops");
    let read = |path: &str| fs::read_to_string(folder.path(path)).unwrap();
    assert_eq!(read("s/cluster.csv"), read("o/cluster.csv"));
    folder.tisane(&["analyze", "o"]).exits(0);
    let analysis = cluster(&folder, "o/analysis");
    for (row, time) in analysis["time"].iter().enumerate() {
        let same = found["time"].iter().position(|t| t == time).unwrap();
        let name = "tidal_radius_at_pericentre";
        assert_eq!(analysis[name][row], found[name][same], "t = {time}");
    }
}

#[test]
fn verify_a_star_at_the_tidal_radius_stays_there() {
    // A star without mass at rest on L1 of a body of mass 1, in axes that turn: (4 Ω² − κ²) r³ = 1.
    let radius = (1.0 / (4.0 - 1.69f64)).cbrt();
    let folder = Folder::new(
        "[run]\nname = \"r\"\nt_end = 4.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"two.csv\"\n\
         [softening]\nepsilon = 0.0\n[encounters]\nperturbation = 0.0\n[integrator.multipoint]\norder = 8\neta = 0.02\n\
         [external.tide]\nomega = 1.0\nkappa = 1.3\nnu = 2.1\n",
    );
    folder.write("two.csv", format!("m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n0,{radius:?},0,0,0,{radius:?},0\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let found = snapshot::read(&last(&folder)).unwrap();
    let (s, c) = 4f64.sin_cos();
    let [x, y, z] = found.pos[1].into();
    let off = (x - radius * c).hypot(y - radius * s).hypot(z);
    // Errors grow as e^(2.1 t).
    assert!(off < 1e-8, "{off:e}");
}

/// A cluster of the size of its tidal radius about two spheres, with its escapers, in N-body units; `action` is what becomes of them.
fn losing(action: &str, more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 8.0\n[initial.plummer]\nn = 128\n[external.point-mass]\nmass = 1e4\n\
         [external.plummer]\nmass = 3e3\nscale_radius = 20.0\n[orbit]\nposition = [60.0, 0.0, 5.0]\nvelocity = [2.0, 12.0, 0.0]\n\
         [encounters]\n[escapers]\n{action}[output]\ninterval = 1.0\n{more}"
    )
}

/// Rows of `stars.csv`, each by the names of the columns.
fn stars(folder: &Folder) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(folder.path("o/stars.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| names.iter().zip(line.split(',')).map(|(a, b)| ((*a).into(), b.into())).collect();
    lines.map(row).collect()
}

#[test]
fn stars_that_leave_in_a_tide_are_beyond_the_tidal_radius_with_the_energy_to() {
    let folder = Folder::new(&losing("", "[cluster]\ninterval = \"1/8\"\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let (found, cluster) = (stars(&folder), cluster(&folder, "o"));
    assert!(found.len() > 5, "{} escapers", found.len());
    for star in &found {
        let of = |name: &str| star[name].parse::<f64>().unwrap();
        // Recorded, which is the default in a tide; the energy is that above the critical one.
        assert!(star["event"] == "escape" && of("removed_energy") == 0.0 && of("specific_energy") > 0.0, "{star:?}");
        // The survey has the same density centre and tidal radius but for those that have escaped before.
        let row = cluster["time"].iter().position(|t| *t == of("time")).unwrap();
        let apart = ["x", "y", "z"]
            .map(|axis| of(&format!("position_{axis}")) - cluster[&format!("density_centre_{axis}")][row]);
        let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(distance > 1.9 * cluster["tidal_radius"][row], "{star:?}");
    }
    assert_eq!(snapshot::read(&last(&folder)).unwrap().id.len(), 128);
    // Farther out there are fewer.
    let far = Folder::new(&losing("tidal_radii = 3.0\n", ""));
    far.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    assert!(stars(&far).len() < found.len());
}

#[test]
fn verify_the_energy_of_those_that_are_taken_out_of_a_tide_is_known() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let (_, error, removed) = taken_out(scheme);
        assert!(removed > 5, "{scheme}: {removed} escapers");
        assert!(error < 1e-5, "{scheme}: {error:e}");
    }
}

/// Runs with a scheme, and takes escapers out. Returns the result, the largest energy error, and the number of escapers.
fn taken_out(scheme: &str) -> (Outcome, f64, usize) {
    let folder = Folder::new(&losing("action = \"remove\"\n", &format!("[integrator.{scheme}]\n")));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--threads", "1"]).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    let errors = outcome.diagnostics["relative_energy_error"].iter().map(|x| x.parse::<f64>().unwrap().abs());
    let largest = errors.fold(0.0, f64::max);
    let particles: Vec<usize> = outcome.diagnostics["particles"].iter().map(|n| n.parse().unwrap()).collect();
    (outcome, largest, 128 - particles.last().unwrap())
}

#[test]
fn escapers_in_a_tide_have_the_same_bits_on_threads_and_through_stops() {
    for scheme in ["multipoint", "ahmad_cohen"] {
        let (expected, ..) = taken_out(scheme);
        let config = losing("action = \"remove\"\n", &format!("[integrator.{scheme}]\n"));
        let folder = Folder::new(&config);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--threads", "3"]).exits(0);
        expected.assert_same(&Outcome::read(&folder.path("o")), "3 threads");
        let folder = Folder::new(&format!("{config}[limits]\nblock_steps = 900\n"));
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

/// A softened cluster that its tide dissolves quickly.
fn dissolving(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 60.0\n[initial.plummer]\nn = 64\n[softening]\nepsilon = \"1/32\"\n\
         [external.point-mass]\nmass = 1e4\n[orbit]\ncircular = 40.0\n[output]\ninterval = 60.0\n[cluster]\ninterval = 1.0\n{more}"
    )
}

/// The mass at the start, which a resumed run reads from its journal, is in the user's units there.
#[test]
fn a_resumed_run_dissolves_where_it_does_in_one_go() {
    let text = "[run]\nname = \"r\"\nt_end = 400.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
         [initial.plummer]\nn = 64\nhalf_mass_radius = 0.8\n[initial.masses]\nfunction = \"kroupa\"\n[softening]\nepsilon = 0.05\n\
         [external.point-mass]\nmass = 4e5\n[orbit]\ncircular = 40.0\n[output]\ninterval = 400.0\n[cluster]\ninterval = 2.5\n\
         [limits]\nbound_fraction = 0.3\n";
    let folder = Folder::new(text);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(3);
    let whole = summary(&folder.path("whole"));
    assert_eq!(whole["exit_reason"], "dissolution");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=300"]).exits(3);
    let mut stops = 0;
    while summary(&folder.path("o"))["exit_reason"] == "block-step-limit" {
        stops += 1;
        assert!(stops < 1000, "no progress");
        folder.tisane(&["resume", "o", "-q"]).exits(3);
    }
    let said = summary(&folder.path("o"));
    assert!(stops > 1, "{stops} stops");
    assert_eq!((&said["exit_reason"], &said["time"]), (&whole["exit_reason"], &whole["time"]));
    assert_eq!(said["state_sha256"], whole["state_sha256"]);
}

#[test]
fn a_run_stops_where_its_cluster_has_dissolved() {
    let folder = Folder::new(&dissolving("[limits]\nbound_fraction = 0.3\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    let said = summary(&folder.path("o"));
    let cluster_of = |folder: &Folder| cluster(folder, "o");
    let found = cluster_of(&folder);
    let mass = &found["tidal_mass"];
    let first = mass.iter().position(|held| *held < 0.3 * mass[0]).unwrap();
    assert_eq!((first + 1, said["exit_reason"].as_str()), (mass.len(), Some("dissolution")));
    assert_eq!([said["time"].as_f64(), said["dissolution_time"].as_f64()], [Some(found["time"][first]); 2]);
    folder.tisane(&["inspect", "o"]).exits(0).says(&["stopped where the cluster had dissolved"]);
    folder.tisane(&["why", "o"]).exits(0).says(&["where the cluster had dissolved (dissolution)"]);
    // It goes on to the next measurement, and without the limit to the end; the time is that of the default then, or none.
    folder.tisane(&["resume", "o", "-q"]).exits(3);
    assert_eq!(cluster_of(&folder)["time"].len(), mass.len() + 1);
    let plain = Folder::new(&dissolving(""));
    plain.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let (said, all) = (summary(&plain.path("o")), cluster_of(&plain));
    assert_eq!(all["tidal_mass"][..mass.len()], mass[..]);
    let dissolved = all["tidal_mass"].iter().position(|held| *held < 0.05 * mass[0]);
    assert_eq!(said["dissolution_time"].as_f64(), dissolved.map(|row| all["time"][row]));
    // A member of an ensemble ends at the mass within its tidal radius, too.
    let members =
        Folder::new(&dissolving("[ensemble]\nstop = \"dissolution\"\nbound_fraction = 0.3\ncheck_interval = 1.0\n"));
    members.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let table = fs::read_to_string(members.path("o/members.csv")).unwrap();
    let line = table.lines().last().unwrap();
    // Of all mass at the start, of which some is beyond the tidal radius.
    let end = all["tidal_mass"].iter().position(|held| *held < 0.3).unwrap();
    assert!(line.contains("dissolved") && line.contains(&format!(",{:e},", all["time"][end])), "{line}");
}

#[test]
fn verify_models_fill_their_tidal_radius() {
    let of_1000 = 13.720_53;
    let first = |config: &str| {
        let folder = Folder::new(config);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "run.t_end=0.5"]).exits(0);
        let first = fs::read_dir(folder.path("o/snapshots")).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
        let found = snapshot::read(&first).unwrap();
        let mut radii: Vec<f64> = found.pos.iter().map(|x| x.norm()).collect();
        radii.sort_by(f64::total_cmp);
        radii
    };
    for tide in [
        "[orbit]\ncircular = 8000.0\n",
        "[orbit]\ncircular = 8000.0\nback = 30.0\n",
        "[external.tide]\nradius = 8000.0\n",
    ] {
        let king = milky_way(tide).replace("virial_radius = 3.0", "tidal_filling = 1.0");
        let radii = first(&king);
        assert!(radii[255] < of_1000 && radii[255] > 0.6 * of_1000, "{tide}: {}", radii[255]);
        let plummer = milky_way(tide).replace("[initial.king]", "[initial.plummer]").replace("w0 = 5.0\n", "");
        let radii = first(&plummer.replace("virial_radius = 3.0", "tidal_filling = 0.15"));
        assert!((radii[127] / (0.15 * of_1000) - 1.0).abs() < 1e-6, "{tide}: {}", radii[127]);
    }
    // In the core of a galaxy there is no tidal radius to fill.
    let core = milky_way("[orbit]\nposition = [0.1, 0.0, 0.0]\nvelocity = [0.0, 0.0, 0.0]\n")
        .replace("[external.mw-2014]", "[external.plummer]\nmass = 1e6\nscale_radius = 1000.0")
        .replace("virial_radius = 3.0", "tidal_filling = 1.0");
    let folder = Folder::new(&core);
    folder
        .tisane(&["check", "run.toml"])
        .exits(2)
        .says(&["initial.king.tidal_filling", "there is no tidal radius at the start"]);
}

/// Diagnostics of a run: the largest value of a column, without its sign.
fn largest(folder: &Folder, column: &str) -> Option<f64> {
    let values = &Outcome::read(&folder.path("o")).diagnostics;
    let values = values.get(column)?.iter().map(|x| x.parse::<f64>().unwrap().abs());
    Some(values.fold(0.0, f64::max))
}

#[test]
fn verify_the_jacobi_energy_is_conserved_on_circles() {
    let cluster = |tide: &str, more: &str| {
        let folder = Folder::new(&format!(
            "[run]\nname = \"r\"\nt_end = 217.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n\
             [initial.plummer]\nn = 128\nmass = 128.0\nvirial_radius = 1.5\n[softening]\nepsilon = 0.1\n{tide}\
             [integrator.hermite4]\ndt_max = 0.25\n[output]\ninterval = 31.0\n{more}"
        ));
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        folder
    };
    let galaxy = "[external.point-mass]\nmass = 1e11\n";
    for tide in ["[orbit]\ncircular = 8000.0\n", "[external.tide]\nradius = 8000.0\nposition = [5.0, 0.0, 0.0]\n"] {
        let folder = cluster(&format!("{galaxy}{tide}"), "");
        let error = largest(&folder, "jacobi_energy_error").unwrap();
        assert!(error > 0.0 && error < 2e-6, "{tide}: {error:e}");
    }
    // Not on other orbits, and not in fields that change.
    let other =
        ["[orbit]\nposition = [8000.0, 0.0, 0.0]\nvelocity = [0.0, 200.0, 0.0]\n", "[orbit]\ncircular = 8000.0\n"];
    let growing =
        "[external.point-mass]\nmass = 1e11\nvariation = { form = \"growth\", start = -200.0, time = 500.0 }\n";
    for (field, orbit) in [galaxy, growing].into_iter().zip(other) {
        let folder = cluster(&format!("{field}{orbit}"), "[limits]\nenergy_error = 1.0\n");
        assert_eq!(largest(&folder, "jacobi_energy_error"), None, "{orbit}");
    }
}

#[test]
fn verify_the_jacobi_energy_of_those_that_are_taken_out_is_known() {
    let circle = losing("action = \"remove\"\n", "")
        .replace("position = [60.0, 0.0, 5.0]\nvelocity = [2.0, 12.0, 0.0]", "circular = 60.0");
    let folder = Folder::new(&circle);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let removed = stars(&folder).len();
    let [error, energy] = ["jacobi_energy_error", "relative_energy_error"].map(|name| largest(&folder, name).unwrap());
    assert!(removed > 5 && error < 1e-5 && energy < 1e-5, "{removed}: {error:e} {energy:e}");
}

/// Two stars of mass ½ about each other in a strong tide, inclined to the plane by 60 degrees, from their pericentre.
fn binary(axis: f64, more: &str) -> Folder {
    let folder = Folder::new(&format!(
        "[run]\nname = \"r\"\nt_end = 20.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"two.csv\"\n\
         [external.tide]\nomega = 1.0\nkappa = 1.3\nnu = 2.1\n[output]\ninterval = 5.0\n{more}"
    ));
    let (q, v) = (0.5 * axis, (3.0 / axis).sqrt());
    let line = |sign: f64| {
        format!("0.5,{:?},0,0,0,{:?},{:?}\n", sign * q / 2.0, sign * v * 0.25, sign * v * 0.75f64.sqrt() / 2.0)
    };
    folder.write("two.csv", format!("m,x,y,z,vx,vy,vz\n{}{}", line(1.0), line(-1.0)));
    folder
}

/// Angular momentum and eccentricity vector of the two at the end.
fn orbit_of_two(folder: &Folder) -> [Vec3; 2] {
    let data = snapshot::read(&last(folder)).unwrap();
    let (x, v) = (data.pos[0] - data.pos[1], data.vel[0] - data.vel[1]);
    let h = x.cross(&v);
    [h, v.cross(&h) - x / x.norm()]
}

#[test]
fn verify_a_binary_in_a_strong_tide_turns_as_without_subsystems() {
    // The tide at apocentre is 3e-4 of the attraction: a subsystem, which feels it.
    let direct = binary(0.0272, "[encounters]\nperturbation = 0.0\n[integrator.multipoint]\norder = 8\neta = 0.05\n");
    direct.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let with = binary(0.0272, "[encounters]\n[integrator.multipoint]\n");
    with.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let subsystems = &Outcome::read(&with.path("o")).diagnostics["subsystems"];
    assert!(subsystems.iter().all(|n| n == "1"), "{subsystems:?}");
    let ([h, e], [with_h, with_e]) = (orbit_of_two(&direct), orbit_of_two(&with));
    let start = Vec3::new(0.5, 0.0, 0.0);
    let turned = (e - start).norm();
    assert!(turned > 0.05, "{turned}");
    assert!(
        (with_e - e).norm() < 0.02 * turned && (with_h - h).norm() < 0.02 * h.norm(),
        "{e:?} {with_e:?} {h:?} {with_h:?}"
    );
}

#[test]
fn a_field_that_tears_a_pair_dissolves_it() {
    let folder = binary(0.3, "[encounters]\n[integrator.multipoint]\n");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let changes = fs::read_to_string(folder.path("o/encounters.csv")).unwrap();
    assert!(changes.contains(",dissolve,"), "{changes}");
    let error = largest(&folder, "jacobi_energy_error").unwrap();
    assert!(error < 1e-3, "{error:e}");
}

#[test]
fn check_tells_the_tide_of_a_cluster() {
    for tide in ["[orbit]\ncircular = 8000.0\n", "[external.tide]\nradius = 8000.0\n"] {
        let folder = Folder::new(&milky_way(tide));
        // E_crit = −1.5 G 1000 / 13.7.
        let said = ["tidal radius 13.7", "of it; stars leave with a Jacobi energy above -0.47"];
        folder.tisane(&["check", "run.toml"]).exits(0).says(&said);
        folder.write("run.toml", milky_way(tide).replace("virial_radius = 3.0", "virial_radius = 30.0"));
        folder.tisane(&["check", "run.toml"]).exits(0).says(&["half of the mass is beyond the tidal radius"]);
    }
}
