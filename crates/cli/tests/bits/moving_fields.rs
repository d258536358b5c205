//! Promise: fields that move with the cluster, on a given path, or as bodies in the other fields act as masses that move so; the energy
//! without the work of the origin is conserved; such runs are stopped, resumed and reproduced as any other, to the bit.

use crate::hdf;
use crate::outcome::Outcome;
use crate::program::Folder;
use std::fmt::Write;
use std::fs;
use tisane::particles::Vec3;
use tisane_io::snapshot;

const PRECISE: &str = "[integrator.multipoint]\norder = 8\neta = 0.05\ndt_max = \"1/64\"\n";

fn numbers(outcome: &Outcome, column: &str) -> Vec<f64> {
    outcome.diagnostics[column].iter().map(|text| text.parse().unwrap()).collect()
}

fn largest(outcome: &Outcome, column: &str) -> f64 {
    numbers(outcome, column).into_iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// Runs `run.toml`; returns what it leaves.
fn run(folder: &Folder, output: &str) -> Outcome {
    folder.tisane(&["run", "run.toml", "-q", "--output", output]).exits(0);
    Outcome::read(&folder.path(output))
}

/// Places in the last snapshot, with that of a moving origin added.
fn places(folder: &Folder, output: &str) -> Vec<Vec3> {
    let snapshots = fs::read_dir(folder.path(output).join("snapshots")).unwrap();
    let last = snapshots.map(|entry| entry.unwrap().path()).max().unwrap();
    let header = hdf::open(&last).group("Header").unwrap();
    let origin = header.attr("OrbitPosition").map(|it| it.read_1d::<f64>().unwrap().to_vec());
    let origin = origin.map_or_else(|_| Vec3::zeros(), |it| Vec3::from_column_slice(&it));
    snapshot::read(&last).unwrap().pos.iter().map(|x| x + origin).collect()
}

/// Asserts that the last places of two runs agree.
#[track_caller]
fn assert_close(one: &[Vec3], other: &[Vec3], tolerance: f64) {
    assert_eq!(one.len(), other.len());
    let off = one.iter().zip(other).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(off < tolerance, "{off:e}");
}

/// Stars on orbits of their own about the origin, without mass, as lines of a file after the lines `before`.
fn stars(before: &str, shift: [f64; 6]) -> String {
    let line = |k: usize| {
        let (sine, cosine) = (1.3 * k as f64).sin_cos();
        let r = 1.0 + 0.1 * k as f64;
        let v = 0.9 / r.sqrt();
        let state = [r * cosine, r * sine, 0.05 * k as f64, -v * sine, v * cosine, 0.02];
        let numbers: Vec<String> = (0..6).map(|j| format!("{:?}", state[j] + shift[j])).collect();
        format!("0,{}\n", numbers.join(","))
    };
    (0..12).map(line).fold(format!("m,x,y,z,vx,vy,vz\n{before}"), |text, line| text + &line)
}

fn of_stars(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 6.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"stars.csv\"\n\
         [softening]\nepsilon = 0.25\n{PRECISE}{more}"
    )
}

/// A galaxy, and a satellite of a tenth of its mass with the softening of the particles as its scale radius.
const GALAXY: &str = "[[external.plummer]]\nmass = 1.0\nscale_radius = 0.25\n";
const SATELLITE: &str = "[[external.plummer]]\nmass = 0.1\nscale_radius = 0.25\nposition = [3.0, 0.0, 0.5]\n";

#[test]
fn verify_a_field_that_moves_in_another_acts_as_a_massive_particle() {
    let folder = Folder::new(&of_stars(GALAXY));
    folder.write("stars.csv", stars("0.1,3,0,0.5,0.1,0.5,0\n", [0.0; 6]));
    run(&folder, "particle");
    let particle = places(&folder, "particle");
    folder.write("stars.csv", stars("", [0.0; 6]));
    let satellite = format!("{SATELLITE}motion = {{ velocity = [0.1, 0.5, 0.0], moves = true }}\n");
    folder.write("run.toml", of_stars(&format!("{GALAXY}{satellite}")));
    run(&folder, "field");
    assert_close(&places(&folder, "field"), &particle[1..], 1e-9);
    // About an origin that moves in both.
    folder.write("stars.csv", stars("", [-1.0, -0.5, 0.0, 0.0, -0.8, 0.0]));
    let orbit = "[orbit]\nposition = [1.0, 0.5, 0.0]\nvelocity = [0.0, 0.8, 0.0]\n";
    folder.write("run.toml", of_stars(&format!("{GALAXY}{satellite}{orbit}")));
    run(&folder, "about");
    assert_close(&places(&folder, "about"), &particle[1..], 1e-9);
}

#[test]
fn verify_a_field_that_accelerates_the_galaxy_is_one_of_two_massive_particles() {
    // Galaxy and satellite as particles: places relative to the galaxy.
    let folder = Folder::new(&of_stars(""));
    folder.write("stars.csv", stars("1,0,0,0,0,0,0\n0.1,3,0,0.5,0.1,0.5,0\n", [0.0; 6]));
    run(&folder, "particles");
    let all = places(&folder, "particles");
    let relative: Vec<Vec3> = all[2..].iter().map(|x| x - all[0]).collect();
    folder.write("stars.csv", stars("", [0.0; 6]));
    let satellite = format!("{SATELLITE}motion = {{ velocity = [0.1, 0.5, 0.0], moves = true, reflex = true }}\n");
    folder.write("run.toml", of_stars(&format!("{GALAXY}{satellite}")));
    run(&folder, "field");
    assert_close(&places(&folder, "field"), &relative, 1e-9);
    folder.write("stars.csv", stars("", [-1.0, -0.5, 0.0, 0.0, -0.8, 0.0]));
    let orbit = "[orbit]\nposition = [1.0, 0.5, 0.0]\nvelocity = [0.0, 0.8, 0.0]\n";
    folder.write("run.toml", of_stars(&format!("{GALAXY}{satellite}{orbit}")));
    run(&folder, "about");
    assert_close(&places(&folder, "about"), &relative, 1e-9);
}

/// Table of a circle of the radius 3 with an angular velocity, to `end`.
fn circle(omega: f64, end: f64) -> String {
    let mut text = "# a circle\nt,x,y,z,vx,vy,vz\n".to_owned();
    for k in 0..=200 {
        let t = end * f64::from(k) / 200.0;
        let (sine, cosine) = (omega * t).sin_cos();
        let (x, y, vx, vy) = (3.0 * cosine, 3.0 * sine, -3.0 * omega * sine, 3.0 * omega * cosine);
        writeln!(text, "{t:?},{x:?},{y:?},0,{vx:?},{vy:?},0").unwrap();
    }
    text
}

#[test]
fn verify_a_field_on_a_path_is_where_the_table_says() {
    // On a circle of the radius 3 about the galaxy.
    let omega = (9.0f64 + 0.0625).powf(-0.75);
    let moves = format!(
        "{GALAXY}[[external.plummer]]\nmass = 0.1\nscale_radius = 0.25\nposition = [3.0, 0.0, 0.0]\n\
         motion = {{ velocity = [0.0, {:?}, 0.0], moves = true }}\n",
        3.0 * omega
    );
    let folder = Folder::new(&of_stars(&moves));
    folder.write("stars.csv", stars("", [0.0; 6]));
    folder.write("circle.csv", circle(omega, 6.0));
    run(&folder, "moves");
    let path = format!(
        "{GALAXY}[[external.plummer]]\nmass = 0.1\nscale_radius = 0.25\nmotion = {{ path = \"circle.csv\" }}\n"
    );
    folder.write("run.toml", of_stars(&path));
    run(&folder, "path");
    assert_close(&places(&folder, "path"), &places(&folder, "moves"), 1e-9);
}

/// A cluster in its natal gas, which is expelled, on an orbit in a galaxy with a satellite.
fn cluster(more: &str) -> String {
    format!(
        "[run]\nname = \"r\"\nt_end = 2.0\n[initial.plummer]\nn = 128\n[softening]\nepsilon = \"1/64\"\n\
         [[external.plummer]]\nmass = 3.0\nscale_radius = 0.8\nmotion = {{ orbit = \"cluster\" }}\n\
         variation = {{ form = \"expulsion\", start = 0.52, time = 0.4 }}\n\
         [[external.plummer]]\nmass = 2e3\nscale_radius = 5.0\nposition = [90.0, 0.0, 0.0]\n\
         motion = {{ velocity = [0.0, 9.0, 2.0], moves = true, reflex = true, time = 0.25 }}\n\
         [[external.plummer]]\nmass = 50.0\nscale_radius = 2.0\nmotion = {{ path = \"path.csv\" }}\n\
         [external.point-mass]\nmass = 1e4\nposition = [1.0, 0.0, 0.0]\nmotion = {{ velocity = [0.1, 0.0, 0.0], time = 1.0 }}\n\
         [orbit]\nposition = [60.0, 0.0, 5.0]\nvelocity = [2.0, 12.0, 0.0]\n\
         [output]\ninterval = \"1/4\"\n{more}"
    )
}

/// A mass that passes the cluster at a distance of some units.
fn passing() -> String {
    let mut text = "t,x,y,z,vx,vy,vz\n".to_owned();
    for k in 0..=40 {
        let t = -0.5 + 0.1 * f64::from(k);
        writeln!(text, "{t:?},{:?},{:?},8,4,9,0", 58.0 + 4.0 * t, 9.0 * t).unwrap();
    }
    text
}

#[test]
fn verify_the_energy_is_conserved_where_gas_is_expelled_and_fields_move() {
    // The jerk jumps where the gas begins to leave: shorter steps of the stars have less of an error there.
    for (dt_max, eta, most) in [("1/16", 0.35, 1e-4), ("1/64", 0.02, 3e-6)] {
        let scheme = format!("[integrator.multipoint]\norder = 8\neta = {eta}\ndt_max = \"{dt_max}\"\n");
        let folder = Folder::new(&cluster(&scheme));
        folder.write("path.csv", passing());
        let outcome = run(&folder, "o");
        // What the gas and the masses that pass do is far more than the error.
        let work = numbers(&outcome, "tidal_work");
        assert!(work.last().unwrap().abs() > 0.3, "{work:?}");
        let error = largest(&outcome, "relative_energy_error");
        assert!(error < most, "{dt_max}: {error:e}");
    }
}

#[test]
fn a_cluster_expands_where_its_gas_is_expelled() {
    let radius = |variation: &str| {
        let folder = Folder::new(&format!(
            "[run]\nname = \"r\"\nt_end = 4.0\n[initial.plummer]\nn = 256\n[softening]\nepsilon = \"1/64\"\n\
             [external.point-mass]\nmass = 1e4\n[external.plummer]\nmass = 2.0\nscale_radius = 0.6\nmotion = {{ orbit = \"cluster\" }}\n\
             {variation}[orbit]\ncircular = 100.0\n"
        ));
        let outcome = run(&folder, "o");
        *numbers(&outcome, "kinetic_energy").last().unwrap()
    };
    let (held, expelled) = (radius(""), radius("variation = { form = \"expulsion\", start = 0.5, time = 0.1 }\n"));
    assert!(expelled < 0.5 * held, "{expelled} {held}");
}

#[test]
fn engines_threads_and_stops_leave_the_same_bits_with_fields_that_move() {
    let folder = Folder::new(&cluster(""));
    folder.write("path.csv", passing());
    let expected = run(&folder, "o");
    folder.tisane(&["run", "run.toml", "-q", "--output", "threads", "--threads", "3"]).exits(0);
    expected.assert_same(&Outcome::read(&folder.path("threads")), "3 threads");
    folder.write("run.toml", cluster("[limits]\nblock_steps = 100\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "stopped"]).exits(3);
    let mut stops = 1;
    while folder.tisane(&["resume", "stopped", "-q"]).code == 3 {
        stops += 1;
        assert!(stops < 1000, "no progress");
    }
    assert!(stops > 1, "{stops} stops");
    expected.assert_same(&Outcome::read(&folder.path("stopped")), &format!("{stops} stops"));
    folder.tisane(&["reproduce", "o/summary.json", "--run", "--output", "again"]).exits(0);
}

#[test]
fn a_table_that_ends_too_early_is_missing_or_has_changed_is_refused() {
    let folder = Folder::new(&cluster("[limits]\nblock_steps = 20\n"));
    for command in [&["run", "run.toml", "-q"][..], &["check", "run.toml"]] {
        folder.tisane(command).exits(2).says(&["external.plummer[3].motion.path", "path.csv"]);
    }
    let all = passing();
    let lines: Vec<&str> = all.lines().collect();
    folder.write("path.csv", lines[..20].join("\n"));
    folder.tisane(&["run", "run.toml", "-q"]).exits(2).says(&[
        "run.t_end",
        "path.csv of external.plummer.motion.path: line 20: the table ends at t = 1.3",
        "needed at t = 2",
    ]);
    folder.write("path.csv", &all);
    folder.tisane(&["check", "run.toml", "--set", "orbit.back=5"]).exits(2).says(&[
        "orbit.back",
        "line 42: the table ends at t = 3.5",
        "needed at t = 5",
    ]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    folder.write("path.csv", all.replace("58", "57"));
    folder.tisane(&["resume", "o", "-q"]).exits(2).says(&["not the table that the run began with", "path.csv"]);
    fs::remove_file(folder.path("path.csv")).unwrap();
    folder.tisane(&["resume", "o", "-q"]).exits(2).says(&["external.plummer[3].motion.path", "path.csv"]);
}

#[test]
fn verify_a_tensor_from_a_table_is_the_linear_tide_of_its_orbit() {
    // Of a point mass on a circle with Ω = 1: T = 3 e e − 1.
    let mut tensor = "t,txx,txy,txz,tyy,tyz,tzz\n".to_owned();
    for k in 0..=800 {
        let t = 0.01 * f64::from(k);
        let (s, c) = t.sin_cos();
        writeln!(tensor, "{t:?},{:?},{:?},0,{:?},0,-1", 3.0 * c * c - 1.0, 3.0 * c * s, 3.0 * s * s - 1.0).unwrap();
    }
    let config = |field: &str, more: &str| {
        format!(
            "[run]\nname = \"r\"\nt_end = 4.0\n[initial.plummer]\nn = 64\n[softening]\nepsilon = 0.125\n{PRECISE}\
             [external.{field}\n{more}[output]\ninterval = 1.0\n"
        )
    };
    let folder = Folder::new(&config("tide]\nomega = 1.0\nkappa = 1.0\nnu = 1.0", ""));
    run(&folder, "tide");
    folder.write("tensor.csv", tensor);
    folder.write("run.toml", config("tidal-tensor]\npath = \"tensor.csv\"", ""));
    run(&folder, "tensor");
    assert_close(&places(&folder, "tensor"), &places(&folder, "tide"), 1e-5);
    // An origin at rest there takes the work of the tensor out of the energy.
    let at_rest = "[orbit]\nposition = [0.0, 0.0, 0.0]\nvelocity = [0.0, 0.0, 0.0]\n";
    folder.write("run.toml", config("tidal-tensor]\npath = \"tensor.csv\"", at_rest));
    let outcome = run(&folder, "work");
    assert_close(&places(&folder, "work"), &places(&folder, "tide"), 1e-5);
    let error = largest(&outcome, "relative_energy_error");
    let work = numbers(&outcome, "tidal_work")[4].abs();
    assert!(work > 0.1 && error < 1e-5 * work, "{error:e} {work}");
}
