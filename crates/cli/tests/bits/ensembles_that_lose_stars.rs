//! Promise: members with collisions and escapers have the bits of the same runs alone, on any number of threads and through stops; their
//! tables tell what happened, star by star, and what was taken out.

use crate::journals_of_ensembles::rows_of;
use crate::program::{Folder, summary};
use std::fs;
use std::path::Path;
use tisane_io::fields::Journal;
use tisane_io::table::{self, Table, Values};

/// Small clusters of the size of their tidal radius on an orbit about two spheres.
const IN_A_TIDE: &str = "[run]\nname = \"e\"\nt_end = 6.0\n[initial.plummer]\nn = 64\n[external.point-mass]\nmass = 1e4\n\
     [external.plummer]\nmass = 3e3\nscale_radius = 20.0\n[orbit]\nposition = [60.0, 0.0, 5.0]\nvelocity = [2.0, 12.0, 0.0]\n\
     [output]\ninterval = 1.0\n";
/// Small clusters of large stars, half of them binaries.
const WITH_MERGERS: &str = "[run]\nname = \"e\"\nt_end = 0.5\n[initial.plummer]\nn = 60\n\
     [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 3e-4\na_max = 0.05\n\
     [output]\ninterval = 0.125\n[collisions]\naction = \"merge\"\nradii = \"fixed\"\nradius = 1e-4\n\
     [escapers]\nradius = 1.0\n";
/// Gas that leaves the cluster it moves with, and a satellite that accelerates the galaxy.
const MOVING: &str = "[external.hernquist]\nmass = 0.5\nscale_radius = 0.4\nmotion = { orbit = \"cluster\" }\n\
     variation = { form = \"expulsion\", start = 0.52, time = 0.4 }\n[external.isochrone]\nmass = 2e3\nscale_radius = 5.0\n\
     position = [90.0, 0.0, 0.0]\nmotion = { velocity = [0.0, 9.0, 2.0], moves = true, reflex = true, time = 0.25 }\n";
const ENSEMBLE: &str = "[ensemble]\nrealisations = 4\nseries = true\n";

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    table.numbers(name).expect(name).iter().collect()
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    match &table.column(name).expect(name).values {
        Values::Text(texts) => texts.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// The tables of an ensemble without the wall time, and without columns in which no cell has a value.
fn tables(dir: &Path) -> [Table; 3] {
    ["members", "series", "stars"].map(|name| {
        let mut table = table::read_hdf5(&dir.join(format!("{name}.hdf5"))).expect(name);
        let has_value = |values: &Values| !matches!(values, Values::Floats(all) if all.iter().all(|x| x.is_nan()));
        table.columns.retain(|column| column.name != "wall_seconds" && has_value(&column.values));
        table
    })
}

/// Text of `stars.csv`.
fn stars_csv(dir: &Path) -> String {
    fs::read_to_string(dir.join("stars.csv")).unwrap()
}

/// Rows of `stars.csv` of a run: the number of those of an event.
fn events(dir: &Path, event: &str) -> usize {
    stars_csv(dir).matches(&format!(",{event},")).count()
}

/// Runs an ensemble and compares it with the runs of its members alone, on other threads and with stops. Returns its table of members.
fn compared(config: &str) -> Table {
    let folder = Folder::new(&format!("{config}{ENSEMBLE}"));
    folder.write("alone.toml", config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "e", "--threads", "1"]).exits(0);
    let [members, series, stars] = tables(&folder.path("e"));
    let (hashes, n) = (texts(&members, "state_sha256"), numbers(&members, "n"));
    let of_start = numbers(&series, "particles")[0];
    for (k, hash) in hashes.iter().enumerate() {
        let (set, output) = (format!("initial.plummer.seed={}", k + 1), format!("alone-{k}"));
        let code = folder.tisane(&["run", "alone.toml", "-q", "--output", &output, "--set", &set]).code;
        assert_eq!(code, if texts(&members, "outcome")[k] == "collision" { 3 } else { 0 }, "member {k}");
        let dir = folder.path(&output);
        let alone = summary(&dir);
        assert_eq!(alone["state_sha256"], *hash, "member {k}");
        // Null where the first output was the only one.
        let error = alone["relative_energy_error"].as_f64().unwrap_or(0.0);
        assert_eq!(error, numbers(&members, "energy_error")[k], "member {k}");
        let [touch, merge, escape] = ["touch", "merge", "escape"].map(|event| events(&dir, event));
        assert_eq!(numbers(&members, "contacts")[k], (touch + merge) as f64, "member {k}");
        assert_eq!(numbers(&members, "escapes")[k], escape as f64, "member {k}");
        for journal in [Journal::Stars, Journal::Encounters] {
            let [of_member, of_run] = [rows_of(&folder.path("e"), journal, Some(k)), rows_of(&dir, journal, None)];
            assert_eq!(of_member, of_run, "member {k}: {}", journal.csv());
        }
        let own: Vec<usize> = (0..series.rows()).filter(|row| numbers(&series, "member")[*row] == k as f64).collect();
        let last = *own.last().expect("rows");
        assert_eq!(numbers(&series, "particles")[own[0]], of_start);
        if texts(&members, "outcome")[k] == "finished" {
            assert_eq!(numbers(&series, "particles")[last], n[k], "member {k}");
            assert_eq!(numbers(&series, "removed_energy")[last], numbers(&members, "removed_energy")[k], "member {k}");
        }
    }
    folder.tisane(&["run", "run.toml", "-q", "--output", "threads", "--threads", "3"]).exits(0);
    let whole = [members.clone(), series, stars];
    assert!(tables(&folder.path("threads")) == whole, "3 threads");
    let begun = ["run", "run.toml", "-q", "--output", "stopped", "--time-limit", "20ms", "--threads", "1"];
    let code = folder.tisane(&begun).code;
    // Members that a contact ends may be over before.
    assert!(code == 3 || texts(&members, "outcome").contains(&"collision".to_owned()), "no stop");
    assert!([0, 3].contains(&code), "{code}");
    if code == 3 {
        folder.resume_until_it_ends("stopped", 100);
    }
    assert!(tables(&folder.path("stopped")) == whole, "stops");
    for journal in [Journal::Stars, Journal::Encounters] {
        let [of_stopped, of_threads, of_whole] = ["stopped", "threads", "e"]
            .map(|output| fs::read_to_string(folder.path(output).join(journal.csv())).unwrap());
        assert_eq!(of_stopped, of_whole);
        assert_eq!(of_threads, of_whole);
    }
    members
}

#[test]
fn members_in_a_tide_lose_stars_as_runs_alone_do() {
    let removed = compared(&format!("{IN_A_TIDE}[escapers]\naction = \"remove\"\n"));
    let (n, escapes) = (numbers(&removed, "n"), numbers(&removed, "escapes"));
    assert!(
        n.iter().zip(&escapes).all(|(n, gone)| n + gone == 64.0) && escapes.iter().sum::<f64>() > 4.0,
        "{escapes:?}"
    );
    assert!(numbers(&removed, "removed_energy").iter().any(|energy| *energy != 0.0));
    // A field does not conserve the angular momentum.
    assert!(removed.column("angular_momentum_error").is_none());
    // Recorded, they go on.
    let recorded = compared(&format!("{IN_A_TIDE}[escapers]\n"));
    assert_eq!(numbers(&recorded, "n"), [64.0; 4]);
    assert!(
        numbers(&recorded, "escapes").iter().sum::<f64>() > 4.0 && numbers(&recorded, "removed_energy") == [0.0; 4]
    );
}

#[test]
fn members_in_fields_that_move_are_as_runs_alone() {
    let members = compared(&format!("{IN_A_TIDE}{MOVING}[escapers]\naction = \"remove\"\n"));
    assert!(numbers(&members, "escapes").iter().sum::<f64>() > 4.0);
    assert!(numbers(&members, "max_energy_error").iter().all(|error| *error < 1e-3));
}

#[test]
fn members_whose_stars_merge_or_touch_are_as_runs_alone() {
    let merged = compared(WITH_MERGERS);
    assert!(numbers(&merged, "contacts").iter().sum::<f64>() > 2.0, "{:?}", numbers(&merged, "contacts"));
    let errors = numbers(&merged, "angular_momentum_error");
    assert!(errors.iter().all(|error| *error < 1e-4), "{errors:?}");
    let stopped = compared(&WITH_MERGERS.replace("\"merge\"", "\"stop\""));
    let outcomes = texts(&stopped, "outcome");
    assert!(outcomes.contains(&"collision".to_owned()), "{outcomes:?}");
    for (outcome, contacts) in outcomes.iter().zip(numbers(&stopped, "contacts")) {
        assert_eq!(outcome == "collision", contacts > 0.0);
    }
}

#[test]
fn the_share_of_the_mass_that_is_left_is_that_of_the_start() {
    let more =
        "[escapers]\naction = \"remove\"\n[ensemble]\nrealisations = 2\nstop = \"dissolution\"\nbound_fraction = 0.5\n";
    let folder = Folder::new(&format!("{IN_A_TIDE}{more}"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "e", "--set", "run.t_end=30.0"]).exits(0);
    let members = table::read_hdf5(&folder.path("e/members.hdf5")).unwrap();
    // All stars that are left may be within the tidal radius: they are less than half of those of the start.
    for (outcome, n) in texts(&members, "outcome").iter().zip(numbers(&members, "n")) {
        assert!(outcome == "dissolved" && n < 64.0, "{outcome} {n}");
    }
}

#[test]
fn collisions_and_escapers_need_subsystems_which_clusters_have_by_default() {
    let folder = Folder::new(WITH_MERGERS);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    assert!(fs::read_to_string(folder.path("o/config.toml")).unwrap().contains("[encounters]"));
    let refused = |more: &str| {
        folder.write("run.toml", format!("{WITH_MERGERS}{more}"));
        folder.tisane(&["run", "run.toml", "--output", "no"]).exits(2)
    };
    let section = "[collisions] needs [encounters], which resolves close encounters: only a cluster without softening";
    for more in ["[softening]\nepsilon = 0.1\n", "[softening]\nepsilon = 0.1\n[ensemble]\nrealisations = 2\n"] {
        refused(more).says(&["run.toml:13: collisions", section]);
    }
    // Two stars are no cluster: what they need is known with the particles.
    folder.write(
        "run.toml",
        WITH_MERGERS.replace("n = 60", "n = 3").replace(
            "[initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 3e-4\na_max = 0.05\n",
            "",
        ),
    );
    folder.tisane(&["run", "run.toml", "--output", "no"]).exits(2).says(&["collisions", section]);
    folder.tisane(&["check", "run.toml", "--set", "ensemble.realisations=2"]).exits(2).says(&[section]);
    assert!(!folder.path("no").exists());
    folder.write(
        "run.toml",
        "[run]\nname = \"e\"\nt_end = 9\n[initial.binary-single]\nvelocity = 1.0\n[encounters]\n[escapers]\nradius = 9.0\n[ensemble]\nstop = \"escape\"\n",
    );
    folder
        .tisane(&["run", "run.toml", "--output", "no"])
        .exits(2)
        .says(&["escapers", "follows three stars to the end"]);
}

#[test]
fn rows_about_stars_that_were_changed_or_lost_are_restored_or_computed_again() {
    let folder = Folder::new(&format!("{IN_A_TIDE}[escapers]\n{ENSEMBLE}"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "e"]).exits(0);
    let (want, path) = (stars_csv(&folder.path("e")), folder.path("e/stars.csv"));
    folder.tisane(&["inspect", "e"]).exits(0).says(&["stars.csv with contacts and escapers"]);
    let is_row = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
    let rows: Vec<&str> = want.lines().filter(is_row).collect();
    assert!(rows.len() > 4, "{want}");
    let damaged = [
        want.replacen(&format!("{}\n", rows[1]), "", 1),
        want.replacen(rows[1], &format!("{}\n{}", rows[1], rows[1]), 1),
        want.replacen(rows[1], &rows[1].replace(",escape,", ",merge,"), 1),
        want[..want.find(rows[0]).unwrap()].to_owned(),
    ];
    for (k, text) in damaged.iter().enumerate() {
        for has_twin in [true, false] {
            fs::write(&path, text).unwrap();
            if !has_twin {
                fs::remove_file(folder.path("e/stars.hdf5")).unwrap();
            }
            folder.tisane(&["resume", "e"]).exits(0).says(&["WARN"]);
            assert_eq!(stars_csv(&folder.path("e")), want, "{k}, {has_twin}");
            let again = folder.tisane(&["resume", "e"]).exits(0);
            assert!(!again.err.contains("WARN"), "{k}: told again: {}", again.err);
        }
    }
}

#[test]
fn an_ensemble_of_version_0_3_0_goes_on_without_journals() {
    let folder = Folder::new(&format!("{IN_A_TIDE}[escapers]\n{ENSEMBLE}"));
    let begun = ["run", "run.toml", "-q", "--output", "e", "--time-limit", "1ms", "--threads", "1"];
    folder.tisane(&begun).exits(3);
    let path = folder.path("e/ensemble.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(older.as_object_mut().unwrap().remove("journals").is_some(), "{text}");
    fs::write(&path, older.to_string()).unwrap();
    for name in ["stars", "encounters", "members"] {
        fs::remove_file(folder.path(&format!("e/{name}.csv"))).unwrap();
        let _ = fs::remove_file(folder.path(&format!("e/{name}.hdf5")));
    }
    folder.tisane(&["resume", "e", "-q"]).exits(0);
    let members = table::read_hdf5(&folder.path("e/members.hdf5")).unwrap();
    assert!(numbers(&members, "escapes").iter().sum::<f64>() > 4.0);
    assert!(!folder.path("e/stars.csv").exists() && !folder.path("e/encounters.csv").exists());
    assert!(members.column("encounters_rows").is_none());
}
