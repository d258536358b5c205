//! Promise: a cluster without softening has subsystems, and the scheme that is fastest for its number of particles, where the
//! configuration leaves that open. This is said, written into the resolved configuration, and the same when the run is resumed
//! or reproduced; nothing else has them unless it asks for them.

use crate::cluster;
use crate::program::{Folder, summary};
use std::path::Path;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Config;

const HENON: &str = "run = { name = 'x', t_end = 0.25 }\ninitial.plummer.n = 16\n";

fn prepared(text: &str, sets: &[&str]) -> Setup {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    assemble::prepare(Config::from_str("test", text, Path::new(""), &sets).unwrap()).unwrap()
}

/// The perturbation of the subsystems, and the shortest step in the longest one, as a power of two.
fn settings(text: &str, sets: &[&str]) -> (Option<f64>, f64) {
    let config = prepared(text, sets).config;
    let [dt_min, dt_max] = config.integrator.scheme().block_steps().unwrap().range;
    (config.subsystems().map(|it| it.perturbation.get()), (dt_max / dt_min).log2())
}

#[test]
fn a_cluster_has_them_in_units_of_any_kind() {
    for text in [HENON, &cluster::run()] {
        assert_eq!(settings(text, &[]), (Some(1e-5), 36.0));
        assert_eq!(settings(text, &["integrator.hermite4.dt_max=0.25", "run.t_end=1"]), (Some(1e-5), 36.0));
        assert_eq!(settings(text, &["encounters.perturbation=1e-4"]), (Some(1e-4), 36.0));
        for scheme in ["integrator.ahmad_cohen.eta=0.3", "integrator.multipoint.eta=0.3", "integrator.hermite4={}"] {
            assert_eq!(settings(text, &[scheme]), (Some(1e-5), 36.0), "{scheme}");
        }
        let told = prepared(text, &[]).derived.join("; ");
        assert!(told.contains("encounters.perturbation = 1e-5, as nothing softens"), "{told}");
    }
}

#[test]
fn nothing_else_has_them() {
    let off = ["encounters.perturbation=0", "softening.epsilon=0.01", "force.stepping=device", "initial.plummer.n=9"];
    for set in off {
        assert_eq!(settings(HENON, &[set]), (None, 23.0), "{set}");
    }
    assert_eq!(settings(HENON, &["integrator.hermite4.dt_min='0.125/2^30'"]), (None, 30.0));
    assert_eq!(settings(HENON, &["integrator.multipoint.dt_min='0.125/2^30'"]), (None, 30.0));
    // A body with more than half of the mass, planets about two stars, and a field whose tide they would not feel.
    assert_eq!(settings(HENON, &["initial.central={ mass = 2.0 }"]).0, None);
    assert_eq!(settings(HENON, &["initial.central={ mass = 0.5 }"]).0, Some(1e-5));
    assert_eq!(settings(HENON, &["external.point-mass={ mass = 1.0 }"]).0, None);
    // Near an origin that moves in it the tide is weak.
    assert_eq!(settings(HENON, &["external.point-mass={ mass = 1.0 }", "orbit={ circular = 40.0 }"]).0, Some(1e-5));
    let planets = Folder::new("");
    let star = |k: usize| format!("{},{k},0,0,0,{k},0\n", if k < 2 { 0.5 } else { 1e-9 });
    planets.write("planets.csv", (0..12).map(star).fold("m,x,y,z,vx,vy,vz\n".to_owned(), |text, line| text + &line));
    let text = format!("initial.file.path = '{}'\n", planets.path("planets.csv").display());
    let text = format!("run = {{ name = 'x', t_end = 1 }}\nunits.system = 'henon'\n{text}");
    assert_eq!(settings(&text, &[]).0, None);
}

/// The scheme of a run with its main settings.
fn scheme(text: &str, sets: &[&str]) -> String {
    prepared(text, sets).config.integrator.scheme().describe()[0].clone()
}

#[test]
fn its_number_of_particles_alone_chooses_the_scheme() {
    for (n, expected, told) in [
        ("10", "multipoint, order 6, eta = 0.35", "fewer than 4096 particles"),
        ("4095", "multipoint, order 6, eta = 0.35", "fewer than 4096 particles"),
        ("4096", "ahmad_cohen, order 6, eta = 0.25", "4096 particles or more"),
    ] {
        let n = format!("initial.plummer.n={n}");
        assert!(scheme(HENON, &[&n]).starts_with(expected), "{n}: {}", scheme(HENON, &[&n]));
        for more in ["force.threads=2", "force.precision=mixed"] {
            assert!(scheme(HENON, &[&n, more]).starts_with(expected), "{n} {more}");
        }
        let derived = prepared(HENON, &[&n]).derived.join("; ");
        assert!(derived.contains(told) && derived.contains("the fastest scheme for a cluster of"), "{derived}");
    }
    assert!(scheme(&cluster::run(), &[]).starts_with("multipoint, order 6, eta = 0.35"));
}

#[test]
fn a_scheme_that_is_written_stays_and_what_is_no_cluster_has_the_first() {
    for set in [
        "integrator.hermite4={}",
        "encounters.perturbation=0",
        "encounters.perturbation=1e-5",
        "softening.epsilon=0.01",
        "force.stepping=device",
        "initial.plummer.n=9",
        "initial.central={ mass = 2.0 }",
        "external.point-mass={ mass = 1.0 }",
    ] {
        assert!(scheme(HENON, &[set]).starts_with("hermite4, nu = 0.01"), "{set}: {}", scheme(HENON, &[set]));
    }
    assert!(scheme(HENON, &["integrator.ahmad_cohen={}"]).starts_with("ahmad_cohen, order 6, eta = 0.36"));
}

#[test]
fn a_stopped_run_resumes_with_the_scheme_it_began_with() {
    let folder = Folder::new(HENON);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "stopped", "--set", "limits.block_steps=20"]).exits(3);
    folder.tisane(&["resume", "stopped", "-q", "--set", "limits.block_steps=100000"]).exits(0);
    let bits = |dir: &str| summary(&folder.path(dir))["state_sha256"].clone();
    assert_eq!(bits("stopped"), bits("whole"));
    let resolved = std::fs::read_to_string(folder.path("whole/config.toml")).unwrap();
    assert!(resolved.contains("[integrator.multipoint]\n") && resolved.contains("eta = 0.35"), "{resolved}");
    folder.tisane(&["run", "whole/config.toml", "-q", "--output", "again"]).exits(0);
    assert_eq!(bits("again"), bits("whole"));
    let by_hermite4 = ["--set", "integrator.hermite4={}"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "hermite4"], &by_hermite4[..]].concat()).exits(0);
    assert_ne!(bits("hermite4"), bits("whole"));
}

#[test]
fn members_of_an_ensemble_have_the_scheme_of_their_number_of_particles() {
    let folder = Folder::new(HENON);
    let scheme = |dir: &str, vary: &str| {
        let vary = format!("ensemble={{ vary = {{ {vary} }} }}");
        folder.tisane(&["run", "run.toml", "-q", "--output", dir, "--set", &vary]).exits(0);
        std::fs::read_to_string(folder.path(dir).join("config.toml")).unwrap()
    };
    let seeds = scheme("seeds", "\"initial.plummer.seed\" = [1, 2]");
    assert!(seeds.contains("[integrator.multipoint]\n") && seeds.contains("[encounters]\n"), "{seeds}");
    let accuracies = scheme("accuracies", "\"integrator.hermite4.nu\" = [0.01, 0.02]");
    assert!(accuracies.contains("[integrator.hermite4]\n") && accuracies.contains("[encounters]\n"), "{accuracies}");
}

#[test]
fn the_resolved_configuration_says_so_and_means_the_same() {
    for sets in [&[][..], &["encounters.perturbation=0"], &["initial.plummer.n=9"]] {
        let config = prepared(HENON, sets).config;
        let again = prepared(&config.resolved_toml().unwrap(), &[]);
        assert_eq!(again.config, config);
        assert!(again.derived.is_empty(), "{:?}", again.derived);
    }
}

#[test]
fn runs_are_reproduced_with_and_without_them_and_members_are_those_runs() {
    let folder = Folder::new(HENON);
    let bits = |dir: &str| summary(&folder.path(dir))["state_sha256"].clone();
    for (dir, set) in [("with", "limits.block_steps=100000"), ("without", "encounters.perturbation=0")] {
        folder.tisane(&["run", "run.toml", "-q", "--output", dir, "--set", set]).exits(0);
        let log = std::fs::read_to_string(folder.path(dir).join("run.log")).unwrap();
        assert_eq!(log.contains("encounters.perturbation = "), dir == "with", "{log}");
        assert_eq!(folder.path(dir).join("encounters.csv").exists(), dir == "with");
        let file = format!("{dir}/summary.json");
        folder.tisane(&["reproduce", &file, "--run", "--output", "again"]).exits(0).says(&["the same bits"]);
        std::fs::remove_dir_all(folder.path("again")).unwrap();
    }
    folder
        .tisane(&["run", "run.toml", "-q", "--set", "ensemble={ vary = { \"initial.plummer.seed\" = [1] } }"])
        .exits(0);
    let members = std::fs::read_to_string(folder.path("runs/x/members.csv")).unwrap();
    assert!(members.contains(bits("with").as_str().unwrap()), "{members}");
    let log = std::fs::read_to_string(folder.path("runs/x/run.log")).unwrap();
    assert!(
        log.contains("from member 0, a cluster without softening: encounters.perturbation = 1e-5; multipoint, order 6"),
        "{log}"
    );
    // What is written is the configuration of its members.
    let set = ["--set", "ensemble={ vary = { \"initial.plummer.seed\" = [1] } }"];
    folder.tisane(&[&["run", "runs/x/config.toml", "-q", "--output", "again"], &set[..]].concat()).exits(0);
    let again = std::fs::read_to_string(folder.path("again/members.csv")).unwrap();
    assert!(again.contains(bits("with").as_str().unwrap()), "{again}");
    let vary = "ensemble={ vary = { \"softening.epsilon\" = [0.0, 0.01] } }";
    folder.tisane(&["run", "run.toml", "-q", "--output", "soft", "--set", vary]).exits(0);
    let soft = std::fs::read_to_string(folder.path("soft/members.csv")).unwrap();
    assert!(soft.contains(bits("without").as_str().unwrap()), "{soft}");
}

/// A planet of one solar mass in a binary of 20 au at a large angle: its eccentricity goes up and down in some thousand years.
const TRIPLE: &str = "[run]
name = \"triple\"
t_end = 4000.0
[units]
mass = \"Msun\"
length = \"au\"
time = \"yr\"
[initial.elements]
path = \"triple.csv\"
central_mass = 1.0
[output]
interval = 4000.0
";

/// Eccentricity of the planet about its star at the end of a run with these sections.
fn eccentricity(folder: &Folder, output: &str, sections: &str) -> f64 {
    folder.write("triple.toml", format!("{TRIPLE}{sections}"));
    folder.tisane(&["run", "triple.toml", "-q", "--output", output]).exits(0);
    let data = tisane_io::snapshot::read(&folder.path(&format!("{output}/snapshots/snapshot_0001.hdf5"))).unwrap();
    let mu = data.units.units.g() * (data.mass[0] + data.mass[1]);
    tisane::diagnostics::orbit::Orbit::from_state(data.pos[1] - data.pos[0], data.vel[1] - data.vel[0], mu).eccentricity
}

#[test]
fn a_stable_triple_is_averaged_and_told_unless_its_orbits_are_to_be_followed() {
    let folder = Folder::new("");
    let table = "a,e,i,node,pericentre,mean_anomaly,m\n1,0.1,0,0,10,0,1e-3\n20,0.2,80,30,40,60,1\n";
    folder.write("triple.csv", table);
    let subsystems = |keys: &str| format!("[encounters]\n{keys}[integrator.hermite4]\ndt_max = 0.05\n");
    let steps = "[integrator.multipoint]\norder = 8\neta = 0.2\ndt_max = 0.05\n";
    let followed = eccentricity(&folder, "star-by-star", steps);
    let averaged = eccentricity(&folder, "averaged", &subsystems(""));
    let said = [
        "follows a stable system (particles 0 + 1 + 2) in the mean over its inner and its outer orbit",
        "mean_orbits = false",
    ];
    folder.tisane(&["check", "triple.toml"]).exits(0).says(&said);
    let warnings = summary(&folder.path("averaged"))["warnings"].to_string();
    assert!(warnings.contains("follows a stable system"), "{warnings}");
    let each = eccentricity(&folder, "each", &subsystems("mean_orbits = false\n"));
    let told = folder.tisane(&["check", "triple.toml"]).exits(0);
    assert!(!told.out.contains("in the mean over"), "{}", told.out);
    let off = [(each - followed).abs(), (averaged - followed).abs()];
    assert!(off[0] < 2e-3 && off[1] > 3.0 * off[0], "star by star {followed}, subsystem {each}, averaged {averaged}");
}

#[test]
fn pairs_that_touch_at_the_pericentre_are_told() {
    // Pericentre at 0.1 au, radii in au.
    let folder = Folder::new("");
    let config = "run = { name = 'pair', t_end = 1 }\nunits = { mass = 'Msun', length = 'au', time = 'yr' }\n\
                  [initial.two-body]\nm1 = 1\nm2 = 1\nsemi_major_axis = 1\neccentricity = 0.9\n\
                  [encounters]\n[collisions]\naction = 'record'\nradii = 'fixed'\nradius = 0.051\n";
    folder.write("pair.toml", config);
    folder.tisane(&["check", "pair.toml"]).exits(0).says(&["particles 0 and 1 touch at the pericentre"]);
    for apart in ["collisions.radius=0.049", "initial.two-body.eccentricity=0.8"] {
        let told = folder.tisane(&["check", "pair.toml", "--set", apart]).exits(0);
        assert!(!told.out.contains("touch at the pericentre"), "{apart}: {}", told.out);
    }
}
