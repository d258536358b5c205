//! Promise: binaries are found in the particles, count as one body each, and settings that tear them apart or cannot
//! follow them are warned of wherever a run is looked at.

use crate::program::{Folder, Said, data_of_others, diagnostics, summary, unwrapped};
use crate::transcript::Transcript;
use std::fs;

/// A cluster of 120 stars, of which 60 are in binaries of 2 to 200 au; written as NBODY6 text without any word about
/// binaries.
const SAMPLED: &str = "[run]
name = 'sampled'
t_end = 0.01
[units]
mass = 'Msun'
length = 'pc'
velocity = 'km/s'
time = 'Myr'
[initial.plummer]
n = 120
mass = 60.0
virial_radius = 0.5
[initial.binaries]
fraction = 0.3333333333333333
semi_major_axis = 'opik'
a_min = 1e-5
a_max = 1e-3
eccentricity = 'circular'
[integrator.hermite4]
dt_max = 0.01
dt_min = '0.01/2^36'
";

const FROM_FILE: &str = "[run]
name = 'cluster'
t_end = 20.0
[units]
mass = 'Msun'
length = 'pc'
velocity = 'km/s'
time = 'Myr'
[initial.file]
path = 'stars.dat'
";

/// Setting of a run without subsystems, which a cluster has by default.
const PLAIN: &str = "encounters.perturbation=0";

/// A folder with the cluster in `stars.dat` and a run of it in `run.toml`.
pub fn cluster() -> Folder {
    let folder = Folder::new(FROM_FILE);
    folder.write("sampled.toml", SAMPLED);
    folder.tisane(&["run", "sampled.toml", "-q", "--output", "s", "--set", "limits.block_steps=1"]).exits(3);
    folder.tisane(&["convert", "s/snapshots/snapshot_0000.hdf5", "stars.dat", "--to", "nbody6", "-q"]).exits(0);
    folder
}

/// Value of a line of `tisane check`.
fn line<'a>(said: &'a Said, name: &str) -> &'a str {
    let found = said.out.lines().find_map(|line| line.trim_start().strip_prefix(name));
    found.unwrap_or_else(|| panic!("no line {name} in\n{}", said.out)).trim()
}

fn number(said: &Said, name: &str) -> f64 {
    line(said, name).split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn check_measures_the_cluster_and_not_its_binaries() {
    let (folder, mut transcript) = (cluster(), Transcript::default());
    let said = transcript.tisane(&folder, &["check", "run.toml", "--set", PLAIN]).exits(0);
    // 2 √2 sqrt(r_v³ / (G M)) with G = 0.0045 pc³ Msun⁻¹ Myr⁻²; with the binaries' own energy it is 1e-4 Myr.
    let crossing = (8.0 * 0.125_f64 / (0.0045 * 60.0)).sqrt();
    assert!((number(&said, "crossing time") / crossing - 1.0).abs() < 0.15, "{crossing}: {}", said.out);
    assert!((number(&said, "virial ratio Q") - 0.5).abs() < 0.05);
    assert!((number(&said, "virial radius") / 0.5 - 1.0).abs() < 0.1);
    // The same stars as sampled, where the binaries are known.
    let sampled = transcript.tisane(&folder, &["check", "sampled.toml"]).exits(0);
    assert_eq!(line(&sampled, "hard binaries"), line(&said, "hard binaries"));
    transcript.is("check_of_a_cluster");
    assert!((number(&sampled, "crossing time") / number(&said, "crossing time") - 1.0).abs() < 2e-3);
}

#[test]
fn a_softening_that_tears_binaries_apart_is_warned_of_everywhere() {
    let folder = cluster();
    let steps = ["--set", "integrator.hermite4.dt_max=0.1", "--set", "integrator.hermite4.dt_min=0.1/2^36"];
    let soft = [&["--set", "softening.epsilon=0.001", "--set", "run.t_end=0.2"], &steps[..]].concat();
    let warning = "softening.epsilon = 0.00100 pc (206 au) tears ";
    let mut transcript = Transcript::default();
    let checked = transcript.tisane(&folder, &[&["check", "run.toml"], &soft[..]].concat()).exits(0);
    transcript.is("check_of_a_softening");
    let goal = ["advise", "run.toml", "--energy-error", "1e-6", "--budget", "2s"];
    let advice = folder.tisane(&[&goal[..], &soft[..]].concat());
    let said = folder.tisane(&[&["run", "run.toml", "--output", "r"], &soft[..]].concat()).exits(0);
    assert!(said.err.contains("WARN") && said.err.contains(warning), "{}", said.err);
    assert!(fs::read_to_string(folder.path("r/run.log")).unwrap().contains(warning));
    let warnings = summary(&folder.path("r"))["warnings"].clone();
    let text = warnings[0].as_str().expect("a warning");
    assert!(text.starts_with(warning) && warnings.as_array().is_some_and(|all| all.len() == 1), "{warnings}");
    let told = format!("warning: {text}");
    checked.says(&[&told]);
    advice.says(&[&told]);
    folder.tisane(&["plot", "r", "--theme", "light"]).exits(0);
    let page = fs::read_to_string(folder.path("r/plots/report.html")).unwrap();
    let section = page.split("<section class=\"warnings\">").nth(1).expect("a section of warnings");
    assert!(section.split("</section>").next().unwrap().contains(warning), "{section}");
    // A resumed run finds them in its first snapshot; a run without warnings has no section.
    folder.tisane(&["resume", "r", "-q", "--t-end", "0.3"]).exits(0);
    assert!(summary(&folder.path("r"))["warnings"][0].as_str().unwrap().starts_with(warning));
    folder.write("plain.toml", crate::program::SMALL);
    folder.tisane(&["run", "plain.toml", "-q", "--output", "p"]).exits(0);
    assert_eq!(summary(&folder.path("p"))["warnings"], serde_json::json!([]));
    folder.tisane(&["plot", "p", "--theme", "light"]).exits(0);
    assert!(!fs::read_to_string(folder.path("p/plots/report.html")).unwrap().contains("<section"));
}

#[test]
fn a_shortest_step_that_is_too_long_is_warned_of_and_the_advice_helps() {
    let folder = cluster();
    let steps = ["--set", "integrator.hermite4.dt_max=0.1", "--set", "integrator.hermite4.dt_min=1e-4"];
    let mut transcript = Transcript::default();
    let said = transcript.tisane(&folder, &[&["check", "run.toml"], &steps[..]].concat()).exits(0);
    let told = unwrapped(&said.out);
    assert!(told.contains("need steps below"), "{told}");
    let advice = told.split("Set integrator.hermite4.dt_min = \"").nth(1).and_then(|rest| rest.split('"').next());
    let advised = format!("integrator.hermite4.dt_min={}", advice.expect("a value"));
    // Dead at the start with the first, which says why; alive with the advice.
    let short = ["--set", "run.t_end=0.1", "--set", "limits.block_steps=3000"];
    let dead = folder.tisane(&[&["run", "run.toml", "--output", "d"], &steps[..], &short].concat()).exits(4);
    dead.says(&["need steps below integrator.hermite4.dt_min"]);
    let alive = ["--set", "integrator.hermite4.dt_max=0.1", "--set", &advised];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "a"], &alive[..], &short].concat()).exits(3);
    // What follows from the particles needs no advice; and as subsystems, the default, binaries need no short steps.
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "b", "--set", PLAIN], &short[..]].concat()).exits(3);
    transcript.tisane(&folder, &["check", "run.toml"]).exits(0);
    transcript.is("check_of_short_steps");
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "c"], &short[..]].concat()).exits(0);
}

#[test]
fn the_energy_error_of_the_cluster_is_without_the_energy_inside_of_binaries() {
    let folder = cluster();
    let set = ["--set", "run.t_end=0.001", "--set", "integrator.hermite4.dt_max=0.001"];
    let set = [&set[..], &["--set", "integrator.hermite4.dt_min=0.001/2^36"]].concat();
    let said = folder.tisane(&[&["run", "run.toml", "--output", "r"], &set[..]].concat()).exits(0);
    let said = said.says(&["of the energy of the cluster, binaries as one body each"]);
    let last = |column: &str| diagnostics(&folder.path("r"))[column].last().unwrap().parse::<f64>().unwrap();
    let first: f64 = diagnostics(&folder.path("r"))["energy"][0].parse().unwrap();
    // By its definition the error gives the energy of the cluster, that which check finds too, but for T above |U| / 2.
    let of_cluster = -((last("energy") - first) / last("cluster_energy_error")).abs();
    let checked = number(&folder.tisane(&[&["check", "run.toml"], &set[..]].concat()).exits(0), "total energy");
    assert!((of_cluster / checked - 1.0).abs() < 0.03, "{of_cluster}, {checked}\n{}", said.out);
    // The binaries hold nearly all of the energy, and hide the error.
    assert!(last("energy").abs() > 10.0 * of_cluster.abs(), "{of_cluster}\n{}", said.out);
    assert!(last("cluster_energy_error").abs() > 10.0 * last("relative_energy_error").abs());
}

#[test]
fn a_long_run_of_a_tight_binary_and_a_long_leapfrog_step_are_warned_of() {
    let (folder, mut transcript) = (cluster(), Transcript::default());
    transcript.tisane(&folder, &["check", "run.toml", "--set", "run.t_end=1e6", "--set", PLAIN]).exits(0);
    transcript.tisane(&folder, &["check", "run.toml", "--set", "integrator.leapfrog.dt=0.01"]).exits(0);
    transcript.is("check_of_long_runs_and_steps");
}

#[test]
fn check_draws_the_binaries_that_it_finds() {
    let folder = cluster();
    let soft = ["--set", "softening.epsilon=1e-3", "--plot", "pictures"];
    folder.tisane(&[&["check", "run.toml"], &soft[..]].concat()).exits(0);
    let svg = fs::read_to_string(folder.path("pictures/cluster-initial.svg")).unwrap();
    for label in ["Binaries of at least 1 kT", "semi-major axis [pc]", "eccentricity", "softening length", "Density"] {
        assert!(svg.contains(label), "{label}");
    }
    // A few bodies have orbits, and no words of clusters.
    folder.write(
        "planets.toml",
        "run = { name = 'p', t_end = 10 }\ninitial.solar-system = {}\n\
         units = { mass = 'Msun', length = 'au', time = 'yr' }\n",
    );
    let mut transcript = Transcript::default();
    transcript.tisane(&folder, &["check", "planets.toml", "--plot", "pictures"]).exits(0);
    transcript.is("check_of_planets");
    let svg = fs::read_to_string(folder.path("pictures/p-initial.svg")).unwrap();
    assert!(svg.contains("Orbits") && svg.contains("semi-major axis [au]"));
}

#[test]
fn longest_steps_that_do_not_resolve_the_motion_of_the_sun_are_warned_of() {
    let folder = Folder::new(
        "run = { name = 'p', t_end = 10 }\ninitial.solar-system = {}\n\
         units = { mass = 'Msun', length = 'au', time = 'yr' }\n[integrator.multipoint]\norder = 8\neta = 0.05\n",
    );
    let check = |sets: &[&str]| unwrapped(&folder.tisane(&[&["check", "run.toml"], sets].concat()).exits(0).out);
    let long = check(&["--set", "integrator.multipoint.dt_max=1/16"]);
    for part in ["dt_max = 0.0625 yr", "particles 0 and 1", "do not resolve", "0.0161 yr"] {
        assert!(long.contains(part), "{part}: {long}");
    }
    // The default, what is proposed, and an accuracy at which other errors are larger.
    for fine in [&[][..], &["--set", "integrator.multipoint.dt_max=1/64"]] {
        let said = check(fine);
        assert!(!said.contains("do not resolve"), "{fine:?}: {said}");
    }
    let coarse = check(&["--set", "integrator.multipoint.dt_max=1/16", "--set", "integrator.multipoint.eta=0.2"]);
    assert!(!coarse.contains("do not resolve"), "{coarse}");
}

#[test]
fn validate_the_cluster_of_mcluster_has_the_scales_of_its_table() {
    let Some(path) = data_of_others("N1k.dat.10") else { return };
    let folder = Folder::new(&FROM_FILE.replace("stars.dat", path.to_str().unwrap()));
    let said = folder.tisane(&["check", "run.toml"]).exits(0);
    assert!(
        (number(&said, "crossing time") - 2.6).abs() < 0.01 && (number(&said, "virial ratio Q") - 0.5).abs() < 0.01
    );
    assert_eq!(line(&said, "defaults"), "dt_max = 0.1 Myr: 1/26 of the crossing time of 2.60 Myr");
    assert!(said.out.contains("encounters.perturbation = 1e-5, as nothing softens the forces in this cluster"));
}
