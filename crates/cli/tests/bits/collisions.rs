//! Promise: a run with collisions and escapers ends in the same bits on any number of threads, with any outputs, and through a
//! stop and a resume; what it takes out of the energy is in its files.

use crate::outcome::Outcome;
use crate::program::{Folder, summary};
use std::fs;
use tisane_io::checkpoint;
use tisane_io::removed::Removed;
use tisane_io::table::{self, Values};

/// Cluster of 80 systems, half of them binaries, of large stars, inside a narrow limit.
const CLUSTER: &str = "[run]\nname = \"r\"\nt_end = 0.5\n\
     [initial.plummer]\nn = 120\nseed = 3\nvirial_ratio = 0.9\n\
     [initial.binaries]\nfraction = 0.5\nsemi_major_axis = \"opik\"\na_min = 3e-4\na_max = 0.05\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n\
     [encounters]\n\
     [collisions]\naction = \"merge\"\nradii = \"fixed\"\nradius = 1e-4\n\
     [escapers]\nradius = 1.0\n";

/// Two stars on an eccentric orbit.
const PAIR: &str = "[run]\nname = \"r\"\nt_end = 4.0\n\
     [initial.two-body]\neccentricity = 0.9\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n\
     [encounters]\n\
     [collisions]\naction = \"stop\"\nradii = \"fixed\"\nradius = 0.06\n";

/// The cluster, and the same with other schemes.
fn clusters() -> [String; 3] {
    ["hermite4", "multipoint", "ahmad_cohen"].map(|scheme| CLUSTER.replace("hermite4", scheme))
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
    fs::read_to_string(folder.path("o/stars.csv")).unwrap()
}

#[test]
fn threads_and_outputs_change_no_bit_of_mergers() {
    for text in clusters() {
        let (folder, one) = run(&text, &["--threads", "1"]);
        one.assert_same(&run(&text, &["--threads", "3"]).1, "3 threads");
        let (want, stars) = (state(&folder), journal(&folder));
        assert!(stars.matches(",merge,").count() > 3 && stars.matches(",escape,").count() > 0, "{stars}");
        for more in [["--engine", "reference"], ["--set", "output.interval=0.25"]] {
            let (other, _) = run(&text, &more);
            assert_eq!((state(&other), journal(&other)), (want.clone(), stars.clone()), "{more:?}");
        }
    }
}

#[test]
fn a_stop_or_a_kill_changes_no_bit_of_mergers() {
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
        }
        // A kill after rows that the last checkpoint does not count.
        let (folder, _) = run(&text, &[]);
        let at = |name: &str| folder.path("o").join(name);
        fs::rename(at(checkpoint::PREVIOUS), at(checkpoint::NEWEST)).unwrap();
        fs::write(at("stars.csv"), journal(&folder) + "0.25,merge,3").unwrap();
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        outcome.assert_same(&Outcome::read(&folder.path("o")), "kill");
    }
}

#[test]
fn the_files_agree_on_what_was_taken_out() {
    let folder = Folder::new(CLUSTER);
    let said = folder.tisane(&["run", "run.toml", "--output", "o"]).exits(0);
    let rows = table::read_csv(&folder.path("o/diagnostics.csv")).unwrap();
    let column = |name: &str| rows.numbers(name).unwrap();
    let (first, last) = (column("energy").first().unwrap(), column("energy").last().unwrap());
    let removed = column("removed_energy").last().unwrap();
    let error = column("relative_energy_error").last().unwrap();
    assert!((error - (last + removed - first) / first.abs()).abs() < 1e-9, "{error:e}");
    assert!(removed.abs() > 0.01 && error.abs() < 1e-5, "{removed:e} {error:e}");
    let stars = table::read_csv(&folder.path("o/stars.csv")).unwrap();
    let sum: f64 = stars.numbers("removed_energy").unwrap().iter().sum();
    assert!((sum / removed - 1.0).abs() < 1e-12, "{sum} {removed}");
    let n = column("particles").last().unwrap();
    assert_eq!(n as usize + stars.rows(), column("particles").first().unwrap() as usize);
    let summary = summary(&folder.path("o"));
    assert_eq!((summary["n"].as_f64(), summary["relative_energy_error"].as_f64()), (Some(n), Some(error)));
    // The screen, the summary, `inspect` and the report say what lies between the two energies.
    let parts: Vec<Removed> = serde_json::from_value(summary["removed"].clone()).unwrap();
    let sum: f64 = parts.iter().map(|part| part.energy).sum();
    assert!((sum / removed - 1.0).abs() < 1e-12, "{parts:?} {removed}");
    assert_eq!(parts.iter().map(|part| &*part.event).collect::<Vec<_>>(), ["merge", "escape"]);
    let merged = stars.column("event").map(|column| &column.values);
    let Some(Values::Text(events)) = merged else { panic!("no text") };
    assert_eq!(parts[0].number as usize, events.iter().filter(|event| *event == "merge").count());
    let words = parts.iter().map(Removed::describe).collect::<Vec<_>>();
    let line = format!("  removed          {}", words.join("; "));
    assert!(words[0].contains(" mergers: -") && said.out.contains(&line), "{line}: {}", said.out);
    folder.tisane(&["inspect", "o"]).exits(0).says(&["removed energy", &words[0], &words[1]]);
    assert!(column("momentum_drift").last().unwrap() < 1e-6 && column("centre_of_mass_drift").last().unwrap() < 1e-6);
    let numbers = format!("particles {n} at 0.5 T, 120 at the start");
    folder.tisane(&["inspect", "o"]).exits(0).says(&[&format!("stars {}", stars.rows()), &numbers]);
    folder.tisane(&["inspect", "o/stars.hdf5"]).exits(0).says(&["tisane stars", "removed_energy"]);
    folder.tisane(&["plot", "o", "-q", "--theme", "light"]).exits(0);
    let page = fs::read_to_string(folder.path("o/plots/report.html")).unwrap();
    for part in ["<h2 id=\"subsystems\">", "subsystems-light-panel-4", "Removed by mergers and escapes", &words[0]] {
        assert!(page.contains(part), "{part}");
    }
    // The radii of the end are those of the volumes; a new run takes them from the snapshot.
    let file = crate::hdf::open(folder.path("o/snapshots/snapshot_0008.hdf5"));
    let radii = file.dataset("PartType4/Radius").unwrap().read_raw::<f64>().unwrap();
    assert!(radii.len() == n as usize && radii.iter().any(|radius| *radius > 1.2e-4), "{radii:?}");
    let more = "[run]\nname = \"s\"\nt_end = 0.5625\n[units]\nsystem = \"henon\"\n\
                [initial.file]\npath = \"o/snapshots/snapshot_0008.hdf5\"\n[integrator.hermite4]\ndt_max = \"1/16\"\n\
                [encounters]\n[collisions]\naction = \"record\"\nradii = \"input\"\n";
    folder.write("more.toml", more);
    folder.tisane(&["run", "more.toml", "-q", "--output", "s"]).exits(0);
}

#[test]
fn recorded_escapers_stay_in_the_run() {
    let folder = Folder::new(&CLUSTER.replace("radius = 1.0\n", "half_mass_radii = 1.5\naction = \"record\"\n"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let rows = table::read_csv(&folder.path("o/stars.csv")).unwrap();
    let Values::Text(events) = &rows.column("event").unwrap().values else { panic!("no text") };
    let mergers = events.iter().filter(|event| *event == "merge").count();
    assert!(mergers > 3 && mergers < events.len(), "{events:?}");
    assert_eq!(summary(&folder.path("o"))["n"].as_u64(), Some(120 - mergers as u64));
    // Rows of one moment are in the order of the ids.
    let [time, id, removed] = ["time", "id", "removed_energy"].map(|name| rows.numbers(name).unwrap());
    let escapes: Vec<usize> = (0..events.len()).filter(|&k| events[k] == "escape").collect();
    assert!(escapes.windows(2).all(|two| (time.at(two[0]), id.at(two[0])) < (time.at(two[1]), id.at(two[1]))));
    assert!(escapes.iter().all(|&k| removed.at(k) == 0.0));
    // The same stars are not recorded again after a change of the radius, and those that are taken out now are.
    folder.tisane(&["resume", "o", "-q", "--t-end", "1", "--set", "escapers.action=remove"]).exits(0);
    assert!(summary(&folder.path("o"))["n"].as_u64() < Some(120 - mergers as u64));
}

#[test]
fn a_run_stops_at_a_contact_and_goes_on() {
    let folder = Folder::new(PAIR);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    let found = summary(&folder.path("o"));
    assert_eq!((found["exit_reason"].as_str(), found["n"].as_u64()), (Some("collision"), Some(2)));
    assert_eq!(journal(&folder).matches(",touch,0,1,,").count(), 1);
    folder.tisane(&["why", "o"]).exits(0).says(&["two stars touched"]);
    // They go on as points, and are not named again while their orbit leads them inside of each other.
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    assert_eq!(journal(&folder).lines().count(), 2);
    folder.tisane(&["resume", "o", "-q", "--set", "collisions.action=\"merge\"", "--t-end", "8"]).exits(0);
    assert_eq!(summary(&folder.path("o"))["n"].as_u64(), Some(1));
    assert_eq!(journal(&folder).matches(",merge,0,1,0,").count(), 1);
}

/// Light bodies about a heavy one, of which two meet head on, and a swarm without masses that falls on it.
fn light(action: &str) -> Folder {
    let config = format!(
        "[run]\nname = \"r\"\nt_end = 3.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"light.csv\"\n\
         [integrator.hermite4]\ndt_max = \"1/16\"\n[encounters]\n\
         [collisions]\naction = \"{action}\"\nradii = \"input\"\n"
    );
    let folder = Folder::new(&config);
    let mut rows = "m,x,y,z,vx,vy,vz,radius\n1.0,0,0,0,0,0,0,0.1\n\
                    1e-4,1.3,0,0,0,0.8770580193070292,0,0.01\n1e-4,-1.3,0,0,0,0.8770580193070292,0,0.01\n"
        .to_owned();
    for k in 0..12 {
        let (s, c) = (0.5 * f64::from(k)).sin_cos();
        rows += &format!("0,{},{},0.3,{},{},0,0.02\n", 0.9 * c, 0.9 * s, -0.6 * c, -0.6 * s);
    }
    folder.write("light.csv", rows);
    folder
}

#[test]
fn contacts_of_light_bodies_have_the_same_bits_for_outputs_threads_and_stops() {
    for action in ["record", "merge"] {
        let whole = light(action);
        whole.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        let rows = table::read_csv(&whole.path("o/stars.csv")).unwrap();
        let [time, x, a, b] =
            ["time", "relative_position_x", "radius", "other_radius"].map(|name| rows.numbers(name).unwrap());
        let [y, z] = ["relative_position_y", "relative_position_z"].map(|name| rows.numbers(name).unwrap());
        assert!(rows.rows() >= 13, "{}", journal(&whole));
        for k in 0..rows.rows() {
            let r = (x.at(k) * x.at(k) + y.at(k) * y.at(k) + z.at(k) * z.at(k)).sqrt();
            // A star that two have become is larger, and may touch the next at once.
            let min = if action == "merge" { 0.97 } else { 1.0 - 1e-6 };
            let part = r / (a.at(k) + b.at(k));
            assert!(part > min && part < 1.0 + 1e-6, "{action} at {}: {r}", time.at(k));
        }
        assert!((0..rows.rows()).any(|k| (time.at(k) - 2.31667146).abs() < 1e-4), "{}", journal(&whole));
        for more in [["--set", "output.interval=\"1/16\""], ["--threads", "3"], ["--set", "output.interval=3"]] {
            let folder = light(action);
            folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"][..], &more].concat()).exits(0);
            assert_eq!((state(&folder), journal(&folder)), (state(&whole), journal(&whole)), "{action} {more:?}");
        }
        let steps = summary(&whole.path("o"))["block_steps"].as_u64().unwrap();
        for blocks in [1, steps / 5, steps / 2, steps * 3 / 4, steps - 1] {
            let folder = light(action);
            let limit = format!("limits.block_steps={blocks}");
            folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", &limit]).exits(3);
            folder.lift_block_limit("o");
            folder.tisane(&["resume", "o", "-q"]).exits(0);
            assert_eq!((state(&folder), journal(&folder)), (state(&whole), journal(&whole)), "{action} {blocks}");
        }
    }
}

#[test]
fn a_run_stops_at_a_contact_of_light_bodies() {
    let folder = light("stop");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(3);
    assert_eq!(summary(&folder.path("o"))["exit_reason"].as_str(), Some("collision"));
    let first = journal(&folder).lines().count();
    // All contacts of one block step are in the journal. Then those of the next.
    folder.tisane(&["resume", "o", "-q"]).exits(3);
    assert!(journal(&folder).lines().count() > first);
    folder.tisane(&["resume", "o", "-q", "--set", "collisions.action=\"merge\""]).exits(0);
    assert!(summary(&folder.path("o"))["n"].as_u64() < Some(5), "{}", journal(&folder));
}
