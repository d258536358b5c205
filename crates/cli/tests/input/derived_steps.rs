//! Promise: in units by name, lengths of steps and the interval of outputs that are not set follow from the particles,
//! are the same every time, are in the resolved configuration, and go with those that are set.

use crate::cluster;
use crate::program::{Folder, summary};
use std::path::Path;
use tisane::Result;
use tisane_io::table;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, whole_multiple};
use tisane_run::in_memory::InMemory;

/// Setting of a run without subsystems, which a cluster has by default.
const PLAIN: &str = "encounters.perturbation=0";

fn prepared(text: &str, sets: &[&str]) -> Result<Setup> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    assemble::prepare(Config::from_str("test", text, Path::new(""), &sets)?)
}

/// Longest and shortest step, and the interval of outputs.
fn times(set: &Setup) -> [f64; 3] {
    let [dt_min, dt_max] = set.config.integrator.scheme().block_steps().unwrap().range;
    [dt_max, dt_min, dt_max * set.config.snapshot_every() as f64]
}

#[test]
fn they_follow_from_the_crossing_time_and_divide_the_run() {
    let set = prepared(&cluster::run(), &[PLAIN]).unwrap();
    let [dt_max, dt_min, interval] = times(&set);
    // G M^(5/2) / (2 |E|)^(3/2) in virial equilibrium: 2 √2 sqrt(r_v³ / (G M)), G = 0.0045 pc³ Msun⁻¹ Myr⁻².
    let crossing = (8.0 / (0.0045 * 50.0_f64)).sqrt();
    assert!((crossing / 32.0..crossing / 16.0).contains(&dt_max), "{dt_max} of {crossing}");
    assert_eq!((dt_max, dt_min), (0.2, 0.2 / f64::from(1 << 23)));
    assert_eq!((set.steps_to_end, whole_multiple(30.0, dt_max), interval), (150, Some(150), 0.2));
    let told = set.derived.join("; ");
    for part in
        ["dt_max = 0.2 Myr: 1/", " of the crossing time of 5.9", "dt_min = dt_max/2^23", "output.interval = 0.2 Myr"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    // The leapfrog has its step, and N-body units their defaults.
    let leapfrog = prepared(&cluster::run(), &["integrator.leapfrog.dt=0.01"]).unwrap();
    assert!(leapfrog.derived.is_empty());
    let henon = prepared("run = { name = 'x', t_end = 1 }\ninitial.plummer.n = 64\n", &[PLAIN]).unwrap();
    assert_eq!((times(&henon), henon.derived.len()), ([0.125, 0.125 / f64::from(1 << 23), 0.125], 0));
}

#[test]
fn the_resolved_configuration_has_them_and_gives_the_same_run() {
    let set = prepared(&cluster::run(), &[]).unwrap();
    let resolved = set.config.resolved_toml().unwrap();
    assert!(resolved.contains("\ndt_max = 0.2 ") && resolved.contains("\ninterval = 0.2 "), "{resolved}");
    let again = prepared(&resolved, &[]).unwrap();
    assert_eq!((times(&again), again.derived.len()), (times(&set), 0));
    assert_eq!((again.particles, again.clock), (set.particles, set.clock));
    assert_eq!(again.config, set.config);
}

#[test]
fn what_is_set_stays_and_the_rest_follows() {
    let of = |sets: &[&str]| times(&prepared(&cluster::run(), &[&[PLAIN], sets].concat()).unwrap());
    assert_eq!(of(&["output.interval=0.75"]), [0.25, 0.25 / f64::from(1 << 23), 0.75]);
    assert_eq!(of(&["integrator.multipoint.dt_min=1e-6"]), [0.2, 1e-6, 0.2]);
    assert_eq!(of(&["integrator.hermite4.dt_max=0.5"]), [0.5, 0.5 / f64::from(1 << 23), 0.5]);
    assert_eq!(of(&["integrator.hermite4.dt_min=0.01"])[..2], [0.2, 0.01]);
    // A shortest step that is longer than what the system asks for, and one that is too short for it.
    assert_eq!(of(&["integrator.hermite4.dt_min=1.0"])[..2], [1.0, 1.0]);
    let [dt_max, dt_min, _] = of(&["integrator.hermite4.dt_min=1e-13"]);
    assert!(dt_max / dt_min <= 2f64.powi(36) && dt_max >= 0.004, "{dt_max}");
    // A run shorter than a step, and one with more steps than can be counted.
    assert_eq!(of(&["run.t_end=0.07"])[0], 0.07);
    let set = prepared(&cluster::run(), &["run.t_end=1e9"]).unwrap();
    assert!(set.steps_to_end < 1 << 27, "{}", set.steps_to_end);
    let error = prepared(&cluster::run(), &["output.interval=2.718281828459045"]).err().unwrap().to_string();
    for part in ["missing key `dt_max`", "30, 2.718281828459045", "set dt_max to one that does"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[test]
fn a_few_bodies_have_them_from_their_shortest_period() {
    let planets = "run = { name = 'x', t_end = 10 }\nunits = { mass = 'Msun', length = 'au', time = 'yr' }\n\
                   initial.solar-system = {}\n";
    let set = prepared(planets, &[]).unwrap();
    assert_eq!(times(&set)[0], 0.01, "{:?}", set.derived);
    assert!(set.derived[0].ends_with("1/24 of the shortest period of 0.241 yr"), "{:?}", set.derived);
    let found = set.binaries().unwrap();
    let period = found.orbits[0].pair.period() * set.scale.time;
    // Mercury, and it alone has the ids 0 and 1; every planet but none of their pairs is there.
    assert!((period / 0.2408 - 1.0).abs() < 1e-3 && found.orbits[0].ids == [0, 1], "{period}");
    assert_eq!(found.orbits.len(), 8);
    assert!(found.orbits.iter().all(|orbit| orbit.ids[0] == 0 && orbit.bound));
}

#[test]
fn a_run_is_stopped_resumed_and_reproduced_with_the_same_bits() {
    let folder = Folder::new(&cluster::run());
    let short = ["--set", "run.t_end=2"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "whole"], &short[..]].concat()).exits(0);
    let part = ["--set", "limits.block_steps=9"];
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "part"], &short[..], &part].concat()).exits(3);
    folder.lift_block_limit("part");
    folder.tisane(&["resume", "part", "-q"]).exits(0);
    let state = |dir: &str| summary(&folder.path(dir))["state_sha256"].clone();
    assert_eq!(state("part"), state("whole"));
    folder
        .tisane(&["reproduce", "whole/summary.json", "--run", "--output", "again"])
        .exits(0)
        .says(&["lengths of steps are those that were found then"]);
    assert_eq!(state("again"), state("whole"));
    let log = std::fs::read_to_string(folder.path("whole/run.log")).unwrap();
    assert!(log.contains("defaults: dt_max = 0.2 Myr: 1/30 of the crossing time"), "{log}");
}

#[test]
fn late_times_of_a_fine_cadence_are_accepted() {
    // The rounding of t is 3e-7 of dt_max.
    let text = "[run]\nname = \"late\"\nt_end = 100.000001\nt_start = 100.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\n\
                velocity = \"km/s\"\ntime = \"Myr\"\n[initial.two-body]\nm1 = 1.0\nm2 = 1.0\nsemi_major_axis = 1.0\n\
                [integrator.hermite4]\ndt_max = 5e-8\n[output]\ninterval = 5e-8\n";
    let folder = Folder::new(text);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let rows = table::read_csv(&folder.path("o/diagnostics.csv")).unwrap();
    let last = rows.numbers("time").unwrap().last().unwrap();
    assert!(rows.rows() == 21 && (last - 100.000_001).abs() < 1e-12, "{} rows to {last}", rows.rows());
    folder.tisane(&["resume", "o", "-q", "--t-end", "100.00000125"]).exits(0);
    assert_eq!(table::read_csv(&folder.path("o/diagnostics.csv")).unwrap().rows(), 26);
    folder.tisane(&["resume", "o", "-q", "--t-end", "100.00000133"]).exits(2).says(&[
        "100.00000133 is not a whole multiple of dt_max",
        "nearest valid values: 100.0000013 and 100.00000135",
    ]);
    // Without dt_max the step follows from the times.
    let derived = ["check", "run.toml", "--set", "integrator.hermite4={}"];
    folder.tisane(&derived).exits(0).says(&["dt_max = 0.00000005 Myr"]);
    let ensemble = text.to_owned() + "[ensemble]\nvary = { \"run.t_end\" = [100.0000005, 100.000001] }\n";
    folder.write("ensemble.toml", ensemble);
    folder.tisane(&["check", "ensemble.toml"]).exits(0);
    let loaded = Config::from_str("late", text, Path::new(""), &[]).unwrap();
    assert_eq!(assemble::prepare(loaded).unwrap().steps_to_end, 20);
    let mut memory = InMemory::new(text, Path::new(""), &[]).unwrap();
    memory.integrate(100.000_001, &mut |_| u64::MAX).unwrap();
    // All particles stand at this moment: it is that of twenty steps.
    assert_eq!(memory.state_sha256().unwrap(), summary(&folder.path("whole"))["state_sha256"].as_str().unwrap());
}
