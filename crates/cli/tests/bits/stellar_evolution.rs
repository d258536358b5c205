//! Promise: a run with stars that evolve ends in the same bits on any number of threads, with any outputs, and through a stop, a kill and
//! a resume; its energy error is that of the integration, and its files agree on what the stars did.

use crate::outcome::Outcome;
use crate::program::{Folder, summary};
use std::fs;
use tisane_io::table::{self, Table};
use tisane_io::{checkpoint, snapshot};

/// Young cluster of 80 stars, a third of the systems binaries, of which the heavy ones explode within the run.
const CLUSTER: &str = "[run]\nname = \"r\"\nt_end = 5.0\n\
     [units]\nmass = \"Msun\"\nlength = \"pc\"\ntime = \"Myr\"\n\
     [initial.plummer]\nn = 80\nseed = 5\nhalf_mass_radius = 0.7\n\
     [initial.masses]\nfunction = \"salpeter\"\nm_min = 2.0\nm_max = 120.0\n\
     [initial.binaries]\nfraction = 0.33\nsemi_major_axis = \"opik\"\na_min = 1e-5\na_max = 1e-2\neccentricity = \"thermal\"\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n\
     [encounters]\n\
     [escapers]\nhalf_mass_radii = 20.0\n\
     [output]\ninterval = \"1/2\"\n\
     [stellar_evolution]\nmetallicity = 0.02\nblack_hole_kicks = \"full\"\nkick_dispersion = 20.0\n";

/// The cluster with the schemes of block steps, and softened by the leapfrog.
fn clusters() -> [String; 4] {
    let softened = CLUSTER
        .replace("[encounters]\n[escapers]\nhalf_mass_radii = 20.0\n", "[softening]\nepsilon = 0.02\n")
        .replace("[integrator.hermite4]\ndt_max = \"1/16\"", "[integrator.leapfrog]\ndt = \"1/128\"");
    let [a, b, c] = ["hermite4", "multipoint", "ahmad_cohen"].map(|scheme| CLUSTER.replace("hermite4", scheme));
    [a, b, c, softened]
}

fn run(text: &str, more: &[&str]) -> (Folder, Outcome) {
    let folder = Folder::new(text);
    folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], more].concat()).exits(0);
    let outcome = Outcome::read(&folder.path("o"));
    (folder, outcome)
}

fn state(folder: &Folder) -> String {
    summary(&folder.path("o"))["state_sha256"].as_str().unwrap().to_owned()
}

fn journal(folder: &Folder) -> String {
    fs::read_to_string(folder.path("o/stellar.csv")).unwrap()
}

fn rows(folder: &Folder, name: &str) -> Table {
    table::read_csv(&folder.path(name)).unwrap()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.numbers(name).unwrap().iter().collect()
}

#[test]
fn threads_and_outputs_change_no_bit_of_stars_that_evolve() {
    for text in clusters() {
        let (folder, one) = run(&text, &["--threads", "1"]);
        one.assert_same(&run(&text, &["--threads", "3"]).1, "3 threads");
        let (want, stars) = (state(&folder), journal(&folder));
        assert!(stars.matches(",supernova,").count() > 1, "{stars}");
        for more in [["--engine", "reference"], ["--set", "output.interval=1.5"]] {
            let (other, _) = run(&text, &more);
            assert_eq!((state(&other), journal(&other)), (want.clone(), stars.clone()), "{more:?}");
        }
    }
}

#[test]
fn a_stop_or_a_kill_changes_no_bit_of_stars_that_evolve() {
    for text in clusters() {
        let (whole, outcome) = run(&text, &[]);
        let steps = summary(&whole.path("o"))["block_steps"].as_u64().unwrap();
        for blocks in [7, steps / 3, steps / 2, steps - 5] {
            let folder = Folder::new(&text);
            let limit = format!("limits.block_steps={blocks}");
            folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
            folder.lift_block_limit("o");
            folder.tisane(&["resume", "o", "-q"]).exits(0);
            outcome.assert_same(&Outcome::read(&folder.path("o")), &limit);
            assert_eq!(journal(&folder), journal(&whole), "{limit}");
        }
        // A kill after rows that the last checkpoint does not count.
        let (folder, _) = run(&text, &[]);
        let at = |name: &str| folder.path("o").join(name);
        fs::rename(at(checkpoint::PREVIOUS), at(checkpoint::NEWEST)).unwrap();
        fs::write(at("stellar.csv"), journal(&folder) + "0.25,0.3,7").unwrap();
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        outcome.assert_same(&Outcome::read(&folder.path("o")), "kill");
        assert_eq!(journal(&folder), journal(&whole));
    }
}

/// The same cluster with stars that keep their masses has about the same error.
#[test]
fn the_energy_error_is_that_of_the_integration() {
    for text in clusters() {
        let still = text.split("[stellar_evolution]").next().unwrap();
        let [evolves, keeps] = [&text, still].map(|text| {
            let (folder, _) = run(text, &[]);
            let rows = rows(&folder, "o/diagnostics.csv");
            numbers(&rows, "relative_energy_error").iter().fold(0.0, |max: f64, error| max.max(error.abs()))
        });
        assert!(evolves < 5.0 * keeps.max(1e-7), "{evolves:e}, {keeps:e} of stars that keep their masses");
    }
}

/// Tracks know nothing of orbits: half of the longest step, another scheme, another size of the cluster.
#[test]
fn tracks_do_not_depend_on_orbits() {
    let of = |text: &str| {
        let (folder, _) = run(text, &[]);
        let rows = rows(&folder, "o/stellar.csv");
        let [time, id, mass] = ["time", "id", "mass"].map(|name| numbers(&rows, name));
        let mut all: Vec<(u64, u64, u64)> =
            time.iter().zip(&id).zip(&mass).map(|((t, id), m)| (*id as u64, t.to_bits(), m.to_bits())).collect();
        all.sort_unstable();
        all
    };
    let base = of(CLUSTER);
    assert!(base.len() > 4);
    let others = [
        ("\"1/16\"", "\"1/32\""),
        ("hermite4", "ahmad_cohen"),
        ("fraction = 0.33", "fraction = 0.33\npairing_above = 1e3"),
    ];
    for (from, to) in others {
        assert_eq!(of(&CLUSTER.replace(from, to)), base, "{to}");
    }
}

#[test]
fn the_files_agree_on_the_stars() {
    let (folder, _) = run(CLUSTER, &[]);
    let diagnostics = rows(&folder, "o/diagnostics.csv");
    let last = |name: &str| diagnostics.numbers(name).unwrap().last().unwrap();
    let stellar = rows(&folder, "o/stellar.csv");
    let applied = numbers(&stellar, "applied");
    assert!(applied.windows(2).all(|two| two[0] <= two[1]));
    let late = applied.iter().zip(numbers(&stellar, "time")).map(|(applied, time)| applied - time);
    assert!(late.clone().all(|late| (0.0..=1.0 / 16.0 + 1e-12).contains(&late)), "{:?}", late.collect::<Vec<_>>());
    let end = snapshot::read(&folder.path("o/snapshots/snapshot_0010.hdf5")).unwrap();
    assert_eq!((end.stars.len(), end.id.len() as f64), (end.mass.len(), last("particles")));
    let sum = |of: &dyn Fn(usize) -> f64| (0..end.mass.len()).map(of).sum::<f64>();
    assert!((sum(&|i| end.stars[i].initial_mass) / last("initial_mass") - 1.0).abs() < 1e-12);
    assert!((sum(&|i| end.stars[i].state.luminosity) / last("luminosity") - 1.0).abs() < 1e-12);
    // Orbits know the masses up to the step of the mass.
    assert!((sum(&|i| end.mass[i]) / last("stellar_mass") - 1.0).abs() < 1e-3);
    assert!(last("stellar_mass") < 0.98 * last("initial_mass"));
    folder.tisane(&["inspect", "o/stellar.hdf5"]).exits(0).says(&["tisane stellar", "type_before"]);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["stellar evolution", "supernovae", "change their type"]);
    // A new run from the snapshot goes on with the same stars.
    let more = CLUSTER.replace("t_end = 5.0", "t_end = 5.5");
    let (begin, end) = (more.find("[initial.plummer]").unwrap(), more.find("[integrator").unwrap());
    let file = "[initial.file]\npath = \"o/snapshots/snapshot_0010.hdf5\"\n";
    folder.write("more.toml", format!("{}{file}{}", &more[..begin], &more[end..]));
    folder.tisane(&["run", "more.toml", "-q", "--output", "s"]).exits(0);
    let first = snapshot::read(&folder.path("s/snapshots/snapshot_0000.hdf5")).unwrap();
    for (a, b) in first.stars.iter().zip(&snapshot::read(&folder.path("o/snapshots/snapshot_0010.hdf5")).unwrap().stars)
    {
        assert!(a.state.kind == b.state.kind && (a.state.age - b.state.age).abs() < 1e-9, "{a:?} {b:?}");
        assert!((a.state.luminosity / b.state.luminosity - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
}
