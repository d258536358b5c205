//! Bodies from tables of orbital elements: the orbits are those of the table, and invalid tables give an error.

use crate::program;
use program::{Folder, data_of_others, summary};
use std::f64::consts::TAU;
use std::fs;
use tisane::diagnostics::orbit::Orbit;
use tisane::initial::scaling;
use tisane::particles::{Particles, Vec3};
use tisane_run::{assemble, config::Config};

const PLANETS: &str = "[run]\nname = \"e\"\nt_start = 0.25\nt_end = 1.25\n[units]\nmass = \"Msun\"\nlength = \"au\"\n\
                       time = \"yr\"\n[initial.elements]\npath = \"table.csv\"\ncentral_mass = 1.0\n[integrator.hermite4]\n\
                       nu = 1e-4\ndt_max = \"1/8\"\ndt_min = \"2^-30\"\n[output]\ninterval = \"1/2\"\n";

/// The particles in the units of the configuration, and the gravitational constant in them.
fn built(folder: &Folder, set: &[&str]) -> (Particles, f64) {
    let sets: Vec<String> = set.iter().map(ToString::to_string).collect();
    let setup = assemble::prepare(Config::from_file(folder.path("run.toml"), &sets).unwrap()).unwrap();
    let mut p = setup.particles.clone();
    scaling::rescale(&mut p, setup.scale.mass, setup.scale.length, setup.scale.velocity);
    (p, setup.config.units().g())
}

/// The orbit of particle `k` about particle 0; `g` is that of the units.
fn orbit(p: &Particles, k: usize, g: f64) -> Orbit {
    let from = |of: &[Vec3]| of[k] - of[0];
    Orbit::from_state(from(&p.pos), from(&p.vel), g * (p.mass[0] + p.mass[k]))
}

#[test]
fn verify_the_orbits_are_those_of_the_table() {
    let folder = Folder::new(PLANETS);
    folder.write("table.csv", "a,e,i,node,pericentre,t_pericentre,m\n1,0.5,30,40,50,0,0\n4,0.1,170,10,20,-1,0.25\n");
    let (p, g) = built(&folder, &[]);
    assert_eq!((p.len(), p.mass.clone()), (3, vec![1.0, 0.0, 0.25]));
    for (k, [a, e, i]) in [(1, [1.0, 0.5, 30.0]), (2, [4.0, 0.1, 170.0])] {
        let found = orbit(&p, k, g);
        let off = [found.semi_major_axis - a, found.eccentricity - e, found.inclination.to_degrees() - i];
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?}");
    }
    // Mean anomalies: a quarter of a year, and 1.25 yr, in periods of 2π √(a³/GM).
    let anomaly = |k: usize, angles: f64| (orbit(&p, k, g).mean_longitude - angles.to_radians()).rem_euclid(TAU);
    assert!((anomaly(1, 90.0) - 0.25 * g.sqrt()).abs() < 1e-9);
    assert!((anomaly(2, 30.0) - 1.25 * (1.25 * g / 64.0).sqrt()).abs() < 1e-9);
    // The centre of mass rests at the origin.
    for column in [&p.pos, &p.vel] {
        let sum = [0, 1, 2].map(|axis| p.mass.iter().zip(column).map(|(m, x)| m * x[axis]).sum::<f64>());
        assert!(sum.iter().all(|x| x.abs() < 1e-14), "{sum:?}");
    }
}

#[test]
fn an_axis_in_arc_seconds_and_an_anomaly_mean_the_same() {
    let folder = Folder::new(PLANETS);
    folder.write("table.csv", "a,e,i,node,pericentre,t_pericentre\n1,0.5,30,40,50,0\n");
    let (by_time, g) = built(&folder, &[]);
    let anomaly = (0.25 * g.sqrt()).to_degrees();
    let table = format!("a,e,i,node,pericentre,mean_anomaly\n0.01,0.5,30,40,50,{anomaly}\n");
    folder.write("table.csv", &table);
    let (by_angle, _) = built(&folder, &["initial.elements.distance=100"]);
    for (a, b) in by_time.pos[1].iter().zip(&by_angle.pos[1]) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_table_that_cannot_be_is_told() {
    let folder = Folder::new(PLANETS);
    let names = "a,e,i,node,pericentre,t_pericentre";
    for (table, expected) in [
        (format!("{names}\n1,1.5,0,0,0,0\n"), "row 1: expected an ellipse"),
        (format!("{names}\n1,0,0,0,0,0\n-1,0,0,0,0,0\n"), "row 2: expected an ellipse"),
        (format!("{names},m\n1,0,0,0,0,0,-1\n"), "row 1: expected a mass of at least 0"),
        ("a,e,i,node,t_pericentre\n1,0,0,0,0\n".into(), "no column of numbers 'pericentre'"),
        ("a,e,i,node,pericentre\n1,0,0,0,0\n".into(), "no column of numbers 't_pericentre'"),
        (format!("{names}\n1,0,0,0,0,x\n"), "no column of numbers 't_pericentre'"),
        (format!("{names}\n1,0,0,inf,0,0\n"), "row 1 of 'node'"),
        (format!("{names}\n1,0,0,0,0\n"), "line 2"),
        (String::new(), "empty"),
        ("\u{89}HDF\r\n\u{1a}\n".into(), "table.csv"),
    ] {
        folder.write("table.csv", &table);
        folder.tisane(&["check", "run.toml"]).exits(2).says(&["table.csv", expected]);
    }
    fs::remove_file(folder.path("table.csv")).unwrap();
    folder.tisane(&["check", "run.toml"]).exits(2).says(&["table.csv"]);
}

#[test]
fn validate_the_stars_about_the_galactic_centre() {
    let Some(path) = data_of_others("SStars2009.amuse.h5") else { return };
    let path = path.canonicalize().unwrap();
    let text = PLANETS.replace("table.csv", path.to_str().unwrap()).replace("= 1.0\n", "= 4.31e6\ndistance = 8330\n");
    let text = text.replace("t_start = 0.25\nt_end = 1.25", "t_end = 16");
    let folder = Folder::new(&text);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["27 bodies on orbits", "particles 28", "4.31e6 Msun"]);
    // Gillessen et al. (2009, ApJ 692, 1075), table 7: S2 has a period of 15.8 yr.
    let (p, g) = built(&folder, &[]);
    let period = TAU * (orbit(&p, 2, g).semi_major_axis.powi(3) / (4.31e6 * g)).sqrt();
    assert!((period / 15.8 - 1.0).abs() < 0.02, "{period} yr");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    assert_eq!(summary(&folder.path("o"))["exit_reason"], "finished");
    // What a run cut off would have, the table cut off must not become.
    let whole = fs::read(&path).unwrap();
    let copy = folder.path("cut.h5");
    fs::write(&copy, &whole[..whole.len() / 2]).unwrap();
    let set = format!("initial.elements.path={}", copy.display());
    folder.tisane(&["check", "run.toml", "--set", &set]).exits(2).says(&["cut.h5"]);
    let henon = ["--set", "units={system=\"henon\"}"];
    folder.tisane(&[&["check", "run.toml"][..], &henon].concat()).exits(2).says(&["distance"]);
}
