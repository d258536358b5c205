//! Promise: a run with stars that evolve ends in the same bits on any number of threads, with any outputs, and through a stop, a kill and
//! a resume; its energy error is that of the integration, and its files agree on what the stars did.

use crate::outcome::Outcome;
use crate::program::{Folder, summary};
use crate::statistics::{integral, kolmogorov_smirnov};
use std::f64::consts::PI;
use std::fs;
use tisane::units::names::{PC_CGS, R_SUN_CGS, YEAR_CGS};
use tisane_io::table::{self, Table, Values};
use tisane_io::{checkpoint, snapshot};
use tisane_stellar::{BlackHoleKicks, Kicks, Model, Options, Star};

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
        assert!(stars.matches(",supernova,").count() > 0, "{stars}");
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

/// With a law without a potential there is no energy: the output has no error of it and no loss, and a stopped run can be resumed.
#[test]
fn a_stop_changes_no_bit_of_a_run_without_an_energy() {
    let [.., softened] = clusters();
    let text =
        softened + "[force.law]\nacceleration = \"G*m_j/s^2*exp(-s/lambda)\"\nparameters = { lambda = \"200 pc\" }\n";
    let whole = Folder::new(&text);
    whole.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let of_whole = summary(&whole.path("o"));
    assert!(journal(&whole).contains(",supernova,"));
    assert!(
        of_whole["energy_final"].is_null() && of_whole["removed"].as_array().is_none_or(Vec::is_empty),
        "{of_whole}"
    );
    let said = whole.tisane(&["inspect", "o"]).exits(0);
    assert!(!said.out.contains("by the evolution of stars"), "{}", said.out);
    for blocks in [7, 300] {
        let folder = Folder::new(&text);
        let limit = format!("limits.block_steps={blocks}");
        folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
        folder.lift_block_limit("o");
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        assert_eq!((state(&folder), journal(&folder)), (state(&whole), journal(&whole)), "{limit}");
    }
}

/// The same cluster with stars that keep their masses has about the same error of the energy and of the angular momentum: what
/// winds, explosions, kicks and escapes take is no error. In a galaxy there is no error of the angular momentum to tell.
#[test]
fn the_errors_are_those_of_the_integration() {
    for text in clusters() {
        let still = text.split("[stellar_evolution]").next().unwrap();
        let [evolves, keeps] = [&text, still].map(|text| {
            let (folder, _) = run(text, &[]);
            let rows = rows(&folder, "o/diagnostics.csv");
            let [energy, angular] =
                ["relative_energy_error", "angular_momentum_error"].map(|name| numbers(&rows, name));
            assert_eq!(summary(&folder.path("o"))["angular_momentum_error"].as_f64(), angular.last().copied());
            [energy, angular].map(|errors| errors.iter().fold(0.0, |max: f64, error| max.max(error.abs())))
        });
        assert!(evolves[0] < 5.0 * keeps[0].max(1e-7), "{evolves:?}, {keeps:?} of stars that keep their masses");
        // Two histories that part: with six seeds and two schemes the ratio is from 0.1 to 10.
        assert!(evolves[1] < 20.0 * keeps[1].max(1e-12), "{evolves:?}, {keeps:?} of stars that keep their masses");
    }
}

/// On a circle in the Galaxy the Jacobi energy is conserved, with what the stars have lost and the work on it.
#[test]
fn the_jacobi_energy_is_conserved_on_an_orbit() {
    let text = CLUSTER
        .replace("[escapers]\n", "[external.mw-2014]\n[orbit]\ncircular = 3000.0\n[escapers]\n")
        .replace("half_mass_radii = 20.0", "tidal_radii = 2.0");
    let (folder, outcome) = run(&text, &[]);
    let diagnostics = rows(&folder, "o/diagnostics.csv");
    for name in ["relative_energy_error", "jacobi_energy_error"] {
        let errors = numbers(&diagnostics, name);
        assert!(errors.iter().all(|error| error.abs() < 1e-6), "{name}: {errors:?}");
    }
    assert!(summary(&folder.path("o"))["angular_momentum_error"].is_null());
    let stopped = Folder::new(&text);
    stopped.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=5000"]).exits(3);
    stopped.lift_block_limit("o");
    stopped.tisane(&["resume", "o", "-q"]).exits(0);
    outcome.assert_same(&Outcome::read(&stopped.path("o")), "a stop");
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

/// Close pairs of giants and others become one star, by radii of the tracks.
#[test]
fn stars_merge_by_the_radii_of_their_tracks() {
    let collisions = "[encounters]\n[collisions]\naction = \"merge\"\nradii = \"evolution\"\n";
    let close = CLUSTER.replace("fraction = 0.33", "fraction = 0.6");
    let close = close.replace("a_min = 1e-5\na_max = 1e-2", "a_min = 1e-6\na_max = 5e-6");
    let text = close.replace("[encounters]\n", collisions);
    let (folder, outcome) = run(&text, &["--threads", "1"]);
    let stellar = journal(&folder);
    let stars = fs::read_to_string(folder.path("o/stars.csv")).unwrap();
    let mergers = stars.matches(",merge,").count();
    assert!(mergers > 0 && stellar.matches(",merger,").count() == mergers, "{stars}\n{stellar}");
    outcome.assert_same(&run(&text, &["--threads", "3"]).1, "3 threads");
    let steps = summary(&folder.path("o"))["block_steps"].as_u64().unwrap();
    for blocks in [steps / 3, steps / 2] {
        let stopped = Folder::new(&text);
        let limit = format!("limits.block_steps={blocks}");
        stopped.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
        stopped.lift_block_limit("o");
        stopped.tisane(&["resume", "o", "-q"]).exits(0);
        outcome.assert_same(&Outcome::read(&stopped.path("o")), &limit);
        assert_eq!(journal(&stopped), stellar, "{limit}");
    }
    // The particles have the radii and the masses of the tracks, up to the steps in which they take them over.
    let end = snapshot::read(&folder.path("o/snapshots/snapshot_0010.hdf5")).unwrap();
    for (star, (mass, radius)) in end.stars.iter().zip(end.mass.iter().zip(&end.radius)) {
        let of_track = star.state.radius * R_SUN_CGS / PC_CGS;
        assert!((radius / of_track - 1.0).abs() < 0.011, "{radius:e} {of_track:e}");
        assert!((mass / star.state.mass - 1.0).abs() < 2e-3, "{mass} {star:?}");
    }
    let errors = numbers(&rows(&folder, "o/diagnostics.csv"), "relative_energy_error");
    assert!(errors.iter().all(|error| error.abs() < 1e-4), "{errors:?}");
}

/// Masses at the quantiles of Kroupa's law from 0.08 to 100 solar masses, without the noise of a sample: slopes -1.3, and -2.3 above 0.5.
fn kroupa(n: usize) -> Vec<f64> {
    let [least, middle, most] = [(0.08, 0.3), (0.5, 1.3), (100.0, 1.3)].map(|(m, power): (f64, f64)| m.powf(-power));
    let turn = 0.5f64.powf(-0.3);
    // Numbers below and above 0.5, with the same density there.
    let [low, high] = [(least - turn) / 0.3, 0.5 * (middle - most) / 1.3];
    let mass = |k: usize| {
        let number = (k as f64 + 0.5) / n as f64 * (low + high);
        if number < low {
            (least - 0.3 * number).powf(-1.0 / 0.3)
        } else {
            (middle - 1.3 * (number - low) / 0.5).powf(-1.0 / 1.3)
        }
    };
    (0..n).map(mass).collect()
}

/// Kroupa's stars keep the shares of their mass of an independent population (Z = 0.02, tables of the page on stellar evolution).
#[test]
fn validate_the_mass_of_a_population() {
    // Far from each other: nothing but the stars changes.
    let text = |step: &str, end: &str, interval: &str| {
        format!(
            "[run]\nname = \"p\"\nt_end = {end}\n[units]\nmass = \"Msun\"\nlength = \"pc\"\ntime = \"Myr\"\n\
             [initial.plummer]\nseed = 1\nhalf_mass_radius = 1e6\n\
             [initial.masses]\nfunction = \"file\"\npath = \"masses.txt\"\n\
             [softening]\nepsilon = 1e4\n[integrator.leapfrog]\ndt = {step}\n[cluster]\nenabled = false\n\
             [output]\ninterval = {interval}\n[stellar_evolution]\nkick_dispersion = 0.0\nwinds = \"hurley2000\"\n\
             remnants = \"belczynski2002\"\nelectron_capture = false\n"
        )
    };
    let [short, long] = [text("5.0", "100.0", "5.0"), text("500.0", "10000.0", "500.0")].map(|text| {
        let folder = Folder::new(&text);
        folder.write("masses.txt", kroupa(5000).iter().map(|mass| format!("{mass}\n")).collect::<String>());
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        let diagnostics = rows(&folder, "o/diagnostics.csv");
        let [now, birth] = ["stellar_mass", "initial_mass"].map(|name| numbers(&diagnostics, name));
        now.iter().zip(birth).map(|(now, birth)| now / birth).collect::<Vec<f64>>()
    });
    for (left, expected) in
        [(short[1], 0.952), (short[4], 0.868), (short[20], 0.790), (long[2], 0.691), (long[20], 0.598)]
    {
        println!("{left:.4} of the mass is left, {expected} in the table");
        assert!((left - expected).abs() < 2e-3, "{left} {expected}; {short:?} {long:?}");
    }
}

/// Members of other metallicities are runs of these.
#[test]
fn members_of_an_ensemble_are_runs() {
    let few = CLUSTER.replace("n = 80", "n = 30").replace("[escapers]\nhalf_mass_radii = 20.0\n", "");
    let vary = "[ensemble]\nseries = true\n[ensemble.vary]\n\"stellar_evolution.metallicity\" = [0.02, 0.001]\n";
    let folder = Folder::new(&(few.clone() + vary));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let members = table::read(&folder.path("o/members.hdf5")).unwrap();
    let Values::Text(hashes) = &members.column("state_sha256").unwrap().values else { panic!("no text") };
    for (metallicity, hash) in ["0.02", "0.001"].iter().zip(hashes) {
        let (alone, _) = run(&few.replace("metallicity = 0.02", &format!("metallicity = {metallicity}")), &[]);
        assert_eq!(*hash, state(&alone), "{metallicity}");
    }
    assert_ne!(hashes[0], hashes[1]);
    let left = numbers(&table::read(&folder.path("o/series.hdf5")).unwrap(), "stellar_mass");
    let (half, end) = (left.len() / 2, left.len());
    assert!(left[0] == left[half] && left[half - 1] < left[end - 1], "poor stars lose less: {left:?}");
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

#[test]
fn the_survey_of_a_cluster_counts_its_stars_by_class() {
    // With kicks that leave remnants in the cluster.
    let text = CLUSTER.replace("kick_dispersion = 20.0", "kick_dispersion = 0.5");
    let (folder, _) = run(&text, &[]);
    let cluster = rows(&folder, "o/cluster.csv");
    let column = |name: &str| numbers(&cluster, name);
    let classes = ["main_sequence", "giant", "helium_star", "white_dwarf", "neutron_star", "black_hole"];
    let sum = |of: &str, row: usize| classes.iter().map(|class| column(&format!("{class}_{of}"))[row]).sum::<f64>();
    for row in 0..column("time").len() {
        assert!((sum("mass", row) / column("bound_mass")[row] - 1.0).abs() < 1e-12, "row {row}");
        assert_eq!(sum("number", row), column("bound_number")[row], "row {row}");
        for radius in ["half_mass_radius", "half_light_radius"] {
            let (sphere, circle) = (column(radius)[row], column(&format!("projected_{radius}"))[row]);
            // A circle holds all that the sphere of its radius holds, and more.
            assert!(sphere.is_nan() || circle.is_nan() || circle <= sphere, "{radius}, row {row}: {circle} > {sphere}");
        }
    }
    let holes = column("black_hole_mass");
    assert!(holes[0] == 0.0 && holes.iter().any(|mass| *mass > 3.0), "{holes:?}");
    // All stars are bound at the start: the light is that of the diagnostics.
    assert_eq!(column("unbound_number")[0], 0.0);
    let light = rows(&folder, "o/diagnostics.csv").numbers("luminosity").unwrap().first().unwrap();
    assert!((column("luminosity")[0] / light - 1.0).abs() < 1e-12);
    // The snapshots alone give the same rows.
    folder.tisane(&["analyze", "o", "-q"]).exits(0);
    let lines = |folder: &Folder, name: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.path(name)).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(lines(&folder, "o/analysis/cluster.csv"), lines(&folder, "o/cluster.csv"));
    // Without stars that age there is none of this.
    let (plain, _) = run(CLUSTER.split("[stellar_evolution]").next().unwrap(), &[]);
    let header = &lines(&plain, "o/cluster.csv")[0];
    assert!(header.contains("bound_mass") && !header.contains("half_light_radius"), "{header}");
}

#[test]
fn the_table_of_binaries_has_the_types_of_the_stars() {
    let (folder, _) = run(CLUSTER, &["--set", "run.t_end=12", "--set", "stellar_evolution.kick_dispersion=0.1"]);
    let table = rows(&folder, "o/binaries.csv");
    let Values::Text(members) = &table.column("members").unwrap().values else { panic!("members") };
    let [times, id_1, id_2, companion, type_1, type_2] =
        ["time", "id_1", "id_2", "companion", "type_1", "type_2"].map(|name| numbers(&table, name));
    let mut remnants = 0;
    for path in tisane_io::directory::snapshots(&folder.path("o")).unwrap() {
        let snapshot = snapshot::read(&path).unwrap();
        let type_of = |id: f64| {
            let row = snapshot.id.iter().position(|other| *other as f64 == id).unwrap();
            f64::from(snapshot.stars[row].state.kind as u8)
        };
        for row in (0..members.len()).filter(|row| times[*row] == snapshot.time) {
            let pair = format!("({}+{})", id_1[row], id_2[row]);
            if members[row] == pair {
                assert_eq!([type_1[row], type_2[row]], [id_1[row], id_2[row]].map(type_of), "{pair}");
                remnants += usize::from(type_1[row].max(type_2[row]) >= 10.0);
            } else {
                // A component of several stars has no type, and is a row of its own that names the other one.
                assert!(type_1[row].is_nan() || type_2[row].is_nan(), "{}", members[row]);
                let ids = [id_1[row], id_2[row]];
                let inner = |other: usize| {
                    times[other] == times[row] && ids.contains(&id_1[other]) && ids.contains(&companion[other])
                };
                assert!((0..members.len()).any(|other| other != row && inner(other)), "{}", members[row]);
            }
        }
    }
    assert!(remnants > 0, "some binaries have a neutron star or a black hole");
    folder.tisane(&["analyze", "o"]).exits(0);
    let bytes = |path: &str| fs::read_to_string(folder.path(path)).unwrap();
    assert_eq!(bytes("o/analysis/binaries.csv"), bytes("o/binaries.csv"), "in units that round, too");
}

#[test]
fn verify_kicks_are_those_of_maxwell() {
    const DISPERSION: f64 = 190.0;
    // So far apart that nothing else changes a velocity.
    let text = format!(
        "[run]\nname = \"r\"\nt_end = 40.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\ntime = \"Myr\"\n\
         [initial.plummer]\nn = 1500\nseed = 3\nhalf_mass_radius = 1e5\n\
         [initial.masses]\nfunction = \"power-law\"\nslopes = [2.0]\nm_min = 9.0\nm_max = 18.0\n\
         [softening]\nepsilon = 1.0\n[integrator.leapfrog]\ndt = 0.5\n[output]\ninterval = 40.0\n\
         [stellar_evolution]\nelectron_capture = false\nblack_hole_kicks = \"none\"\nkick_dispersion = {DISPERSION}\n"
    );
    let (folder, _) = run(&text, &[]);
    let stellar = rows(&folder, "o/stellar.csv");
    let (types, ids) = (numbers(&stellar, "stellar_type"), numbers(&stellar, "id"));
    let components = ["kick_x", "kick_y", "kick_z"].map(|name| numbers(&stellar, name));
    let exploded: Vec<usize> = (0..types.len()).filter(|&row| types[row] == 13.0).collect();
    assert!(exploded.len() > 1000, "{}", exploded.len());
    // In the user's unit, pc/Myr.
    let dispersion = DISPERSION * 1e5 * 1e6 * YEAR_CGS / PC_CGS;
    let speed = |row: usize| components.iter().map(|kick| kick[row].powi(2)).sum::<f64>().sqrt() / dispersion;
    let gauss = |x: f64| (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    let normal = |x: f64| 0.5 + integral(gauss, 0.0, x);
    let maxwell = |v: f64| integral(|v| 2.0 * v * v * gauss(v), 0.0, v);
    // A value above 1.63 has a probability of 1 %.
    const LIMIT: f64 = 1.63;
    let off = |scale: f64| kolmogorov_smirnov(exploded.iter().map(|&row| speed(row)).collect(), |v| maxwell(v / scale));
    assert!(off(1.0) < LIMIT && off(1.1) > LIMIT, "{} {}", off(1.0), off(1.1));
    for kick in &components {
        let off = kolmogorov_smirnov(exploded.iter().map(|&row| kick[row] / dispersion).collect(), normal);
        assert!(off < LIMIT, "{off}");
    }
    // The orbits have them.
    let [before, after] =
        [0, 1].map(|k| snapshot::read(&folder.path(&format!("o/snapshots/snapshot_000{k}.hdf5"))).unwrap());
    for &row in &exploded {
        let place = |of: &[u64]| of.iter().position(|id| *id as f64 == ids[row]).unwrap();
        let change = after.vel[place(&after.id)] - before.vel[place(&before.id)];
        for (axis, kick) in components.iter().enumerate() {
            assert!((change[axis] - kick[row]).abs() < 1e-3 * dispersion, "{change} {}", kick[row]);
        }
    }
}

/// Stars of two populations, far from each other.
const POPULATIONS: &str = "# of two ages\nm,x,y,z,vx,vy,vz,age,metallicity\n25,0,0,0,0,0,0,0,0.02\n25,9,0,0,0,0,0,0,0.001\n\
     2,0,9,0,0,0,0,1500,0.0001\n2,0,0,9,0,0,0,900,0.02\n";

/// Configuration with these stars.
const OF_FILE: &str = "[run]\nname = \"r\"\nt_end = 8.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\ntime = \"Myr\"\n\
     [initial.file]\npath = \"stars.csv\"\n[softening]\nepsilon = 0.1\n[integrator.hermite4]\ndt_max = \"1/16\"\n\
     [output]\ninterval = 4\n[stellar_evolution]\nblack_hole_kicks = \"none\"\n";

fn with_stars(stars: &str, text: &str) -> Folder {
    let folder = Folder::new(text);
    folder.write("stars.csv", stars);
    folder
}

/// The tracks are those of the model for each metallicity and age.
#[test]
fn stars_may_have_ages_and_metallicities_of_their_own() {
    let folder = with_stars(POPULATIONS, OF_FILE);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let end = snapshot::read(&folder.path("o/snapshots/snapshot_0002.hdf5")).unwrap();
    let options =
        Options { kicks: Kicks { black_holes: BlackHoleKicks::None, ..Kicks::default() }, ..Options::default() };
    for (row, (mass, age, z)) in
        [(25.0, 0.0, 0.02), (25.0, 0.0, 0.001), (2.0, 1500.0, 1e-4), (2.0, 900.0, 0.02)].into_iter().enumerate()
    {
        let model = Model::new(z, options).unwrap();
        let mut star = Star::new(&model, row as u64, mass, -age).unwrap();
        star.advance_to(&model, 8.0, &mut Vec::new());
        let (expected, found) = (star.state_at(&model, 8.0), end.stars[row]);
        assert_eq!((found.metallicity, found.state.kind), (Some(z), expected.kind), "star {row}");
        for (found, expected) in [
            (found.state.core_mass, expected.core_mass),
            (found.state.radius, expected.radius),
            (found.state.luminosity, expected.luminosity),
        ] {
            // Of a black hole there is no light.
            assert!((found - expected).abs() <= 1e-9 * expected.abs(), "star {row}: {found}, {expected}");
        }
    }
    // Poor stars end otherwise: the differences are those of the columns.
    assert!(end.mass[0] < 8.0 && end.mass[1] > 10.0 && end.stars[2].state.kind != end.stars[3].state.kind);
    // Through a stop, and in a new run that begins with the snapshot in the middle.
    let stopped = with_stars(POPULATIONS, OF_FILE);
    stopped.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=70"]).exits(3);
    stopped.lift_block_limit("o");
    stopped.tisane(&["resume", "o", "-q"]).exits(0);
    assert_eq!(state(&stopped), state(&folder));
    let more = OF_FILE.replace("stars.csv", "o/snapshots/snapshot_0001.hdf5");
    folder.write("more.toml", more);
    folder.tisane(&["run", "more.toml", "-q", "--output", "s"]).exits(0);
    let again = snapshot::read(&folder.path("s/snapshots/snapshot_0001.hdf5")).unwrap();
    for (a, b) in again.stars.iter().zip(&end.stars) {
        assert_eq!((a.metallicity, a.state.kind), (b.metallicity, b.state.kind));
        assert!((a.state.mass / b.state.mass - 1.0).abs() < 1e-3, "{a:?} {b:?}");
    }
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["Z = 0.02, 2 stars with their own, 0.0001 to 0.001"]);
}

/// An ECSV file states the unit of ages; a unit of metallicities is not read.
#[test]
fn ages_are_read_in_the_unit_that_the_file_states() {
    let in_years = POPULATIONS.replace(",1500,", ",1.5e9,").replace(",900,", ",9e8,");
    let header = |age: &str| {
        let columns = ["m", "x", "y", "z", "vx", "vy", "vz", age, "metallicity, unit: dex"];
        let columns: String = columns.iter().map(|name| format!("# - {{name: {name}, datatype: float64}}\n")).collect();
        format!("# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n{columns}")
    };
    let plain = with_stars(POPULATIONS, OF_FILE);
    plain.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let folder = with_stars(&(header("age, unit: yr") + &in_years), OF_FILE);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    assert_eq!(state(&folder), state(&plain));
    let said =
        folder.tisane(&["check", "run.toml"]).exits(0).says(&["the unit of metallicity in the file is not read"]);
    assert!(![said.out, said.err].concat().contains("[force.law]"));
    let folder = with_stars(&(header("age, unit: km") + &in_years), OF_FILE);
    folder.tisane(&["check", "run.toml"]).exits(2).says(&["column age: the unit \"km\" is not one of this quantity"]);
}

#[test]
fn ages_and_metallicities_out_of_range_are_refused_with_their_line() {
    for (from, to, says) in [
        ("0,0.001", "0,0.5", "stars.csv: line 4: metallicity is 0.5: expected Z from 0.0001 to 0.03"),
        ("900,", "-1,", "stars.csv: line 6: age is -1.0: expected an age from 0 to 1000000 Myr"),
        ("900,", "1e300,", "stars.csv: line 6: age is 1e300: expected an age from 0 to 1000000 Myr"),
        ("1500,", "old,", "stars.csv: line 5, column age: expected a number, found \"old\""),
        (
            ",metallicity",
            ",metalicity",
            "column 9 is \"metalicity\": not a column of this format (nearest: metallicity)",
        ),
    ] {
        let folder = with_stars(&POPULATIONS.replace(from, to), OF_FILE);
        folder.tisane(&["check", "run.toml"]).exits(2).says(&[says]);
    }
    // Without stars that age such columns are unknown.
    let folder = with_stars(POPULATIONS, OF_FILE.split("[stellar_evolution]").next().unwrap());
    folder.tisane(&["check", "run.toml"]).exits(2).says(&["column 8 is \"age\": not a column of this format"]);
}

/// One population is made, the other one of a file: what that does not say is of the section.
#[test]
fn a_list_of_clusters_keeps_the_columns_of_each() {
    let clusters = "[[initial.clusters]]\n[initial.clusters.plummer]\nn = 3\nmass = 6.0\nhalf_mass_radius = 1.0\n\
         [[initial.clusters]]\nposition = [100, 0, 0]\nfile.path = \"stars.csv\"\n";
    let text = OF_FILE.replace("[initial.file]\npath = \"stars.csv\"\n", clusters);
    let folder = with_stars(POPULATIONS, &text);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let end = snapshot::read(&folder.path("o/snapshots/snapshot_0000.hdf5")).unwrap();
    let found: Vec<_> = end.stars.iter().filter_map(|star| star.metallicity).collect();
    assert_eq!(found, [0.02, 0.02, 0.02, 0.02, 0.001, 1e-4, 0.02]);
    assert_eq!([3, 4].map(|row| end.stars[row].initial_mass), [25.0; 2]);
    // Beside stars that have aged others cannot begin at birth.
    let aged = text.replace("stars.csv", "o/snapshots/snapshot_0002.hdf5");
    folder.write("aged.toml", &aged);
    folder.tisane(&["check", "aged.toml"]).exits(2).says(&[
        "initial.clusters: stars of some of the clusters have aged already, those of others not",
        "with ages in a column `age`",
    ]);
}

/// Newton's law as a formula gives what Newton's law gives, and the energy that stars take out is booked by every scheme.
#[test]
fn stars_age_by_a_law_of_ones_own() {
    let softened =
        CLUSTER.replace("[encounters]\n[escapers]\nhalf_mass_radii = 20.0\n", "[softening]\nepsilon = 0.05\n");
    let softened = softened.replace("[initial.binaries]", "[unused]");
    let (begin, end) = (softened.find("[unused]").unwrap(), softened.find("[integrator").unwrap());
    let plain = format!("{}{}", &softened[..begin], &softened[end..]);
    // By a law there is no cluster.csv.
    let run = |text: &str| {
        let folder = Folder::new(text);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        folder
    };
    let law = "[force.law]\npotential = \"-G*m_i*m_j/s\"\n";
    for scheme in ["hermite4", "multipoint", "leapfrog"] {
        let text = match scheme {
            "leapfrog" => {
                plain.replace("[integrator.hermite4]\ndt_max = \"1/16\"", "[integrator.leapfrog]\ndt = \"1/128\"")
            }
            _ => plain.replace("hermite4", scheme),
        };
        let [of_newton, of_law] = [text.clone(), format!("{text}{law}")].map(|text| {
            let folder = run(&text);
            let rows = rows(&folder, "o/diagnostics.csv");
            let last = |name: &str| *numbers(&rows, name).last().unwrap();
            let errors = numbers(&rows, "relative_energy_error");
            let error = errors.iter().fold(0.0, |max: f64, error| max.max(error.abs()));
            (journal(&folder), [last("stellar_mass"), last("removed_energy"), last("kinetic_energy")], error)
        });
        assert_eq!(of_law.0, of_newton.0, "{scheme}");
        for (found, expected) in of_law.1.iter().zip(of_newton.1) {
            assert!((found / expected - 1.0).abs() < 1e-2, "{scheme}: {found}, {expected}");
        }
        assert!(of_law.2 < 3.0 * of_newton.2.max(1e-7), "{scheme}: {:e}, {:e} by Newton's law", of_law.2, of_newton.2);
    }
    // Through a stop.
    let text = format!("{plain}{law}");
    let whole = run(&text);
    let steps = summary(&whole.path("o"))["block_steps"].as_u64().unwrap();
    let folder = Folder::new(&text);
    folder
        .tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &format!("limits.block_steps={}", steps / 2)])
        .exits(3);
    folder.lift_block_limit("o");
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    assert_eq!((state(&folder), journal(&folder)), (state(&whole), journal(&whole)));
}

/// A giant of 5 solar masses fills its lobe in a pair of 100 solar radii: there is one event, also if the run is stopped and resumed.
#[test]
fn a_star_that_fills_its_roche_lobe_is_told_once() {
    // 100 solar radii and the speed of the circle, in pc and pc/Myr.
    let axis = 100.0 * R_SUN_CGS / PC_CGS;
    let speed = (4.498_502e-3 * 7.0 / axis).sqrt();
    let pair = format!(
        "m,x,y,z,vx,vy,vz\n5,{:?},0,0,0,{:?},0\n2,{:?},0,0,0,{:?},0\n1,0,30,0,0,0,0\n",
        axis * 2.0 / 7.0,
        speed * 2.0 / 7.0,
        -axis * 5.0 / 7.0,
        -speed * 5.0 / 7.0
    );
    let text = OF_FILE
        .replace("[softening]\nepsilon = 0.1\n", "[encounters]\n")
        .replace("t_end = 8.0", "t_end = 108.0")
        .replace("\"1/16\"", "1.0")
        .replace("interval = 4", "interval = 27");
    let folder = with_stars(&pair, &text);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let events = |folder: &Folder| {
        let found = rows(folder, "o/stellar.csv");
        let Values::Text(kinds) = &found.column("event").unwrap().values else { panic!("no text") };
        let (times, ids) = (numbers(&found, "applied"), numbers(&found, "id"));
        kinds.iter().zip(times).zip(ids).map(|((kind, time), id)| (kind.clone(), time, id)).collect::<Vec<_>>()
    };
    let told = events(&folder);
    let contacts: Vec<_> = told.iter().filter(|(kind, ..)| kind == "roche").collect();
    assert!(contacts.len() == 1 && contacts[0].2 == 0.0, "{told:?}");
    assert!((95.0..108.0).contains(&contacts[0].1), "{told:?}");
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["in 1 of 1 close pairs a star would fill its lobe"]);
    let steps = summary(&folder.path("o"))["block_steps"].as_u64().unwrap();
    for blocks in [steps - 30, steps - 2] {
        let stopped = with_stars(&pair, &text);
        stopped
            .tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &format!("limits.block_steps={blocks}")])
            .exits(3);
        stopped.lift_block_limit("o");
        stopped.tisane(&["resume", "o", "-q"]).exits(0);
        assert_eq!((events(&stopped), state(&stopped)), (told.clone(), state(&folder)), "{blocks}");
    }
}
