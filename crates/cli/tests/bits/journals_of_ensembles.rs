//! Promise: the journals of an ensemble have the rows of the runs of its members alone, on any number of threads and through stops and
//! kills. Rows that were changed or lost are found.

use crate::program::{Folder, random};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tisane_io::fields::Journal;
use tisane_io::table::{self, Value};

/// Young clusters of heavy stars, a third of the systems binaries.
const CLUSTER: &str = "[run]\nname = \"e\"\nt_end = 4.0\n[units]\nmass = \"Msun\"\nlength = \"pc\"\ntime = \"Myr\"\n\
     [initial.plummer]\nn = 24\nseed = 5\nhalf_mass_radius = 0.4\n\
     [initial.masses]\nfunction = \"salpeter\"\nm_min = 20.0\nm_max = 120.0\n\
     [initial.binaries]\nfraction = 0.33\nsemi_major_axis = \"opik\"\na_min = 1e-5\na_max = 1e-2\neccentricity = \"thermal\"\n\
     [integrator.hermite4]\ndt_max = \"1/16\"\n[output]\ninterval = 0.5\n[stellar_evolution]\nkick_dispersion = 20.0\n";
/// Subsystems of their stars, and what happens to these.
const WITH_SUBSYSTEMS: &str = "[encounters]\n[escapers]\nhalf_mass_radii = 5.0\n";
const ENSEMBLE: &str = "[checkpoint]\ninterval = \"10ms\"\n[ensemble]\nrealisations = 4\n";
const JOURNALS: [Journal; 3] = [Journal::Encounters, Journal::Stars, Journal::Stellar];

/// Cells of the rows of a journal of a run, or of a member of an ensemble.
pub fn rows_of(dir: &Path, journal: Journal, member: Option<usize>) -> Vec<Vec<String>> {
    let table = table::read_hdf5(&dir.join(journal.hdf5())).unwrap();
    let rows = (0..table.rows()).map(|row| table.row(row).iter().map(Value::cell).collect::<Vec<String>>());
    let of_member = |cells: Vec<String>| match member {
        Some(number) => (cells[0] == number.to_string()).then(|| cells[1..].to_vec()),
        None => Some(cells),
    };
    rows.filter_map(of_member).collect()
}

/// Texts of the journals of an ensemble; none of those that it does not have.
fn texts(dir: &Path) -> [Option<String>; 3] {
    JOURNALS.map(|journal| fs::read_to_string(dir.join(journal.csv())).ok())
}

fn ensemble(config: &str) -> Folder {
    let folder = Folder::new(&format!("{config}{ENSEMBLE}"));
    folder.write("alone.toml", config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "e", "--threads", "1"]).exits(0);
    folder
}

/// Compares the journals of an ensemble with those of the runs of its members alone, which have the settings.
fn compare(folder: &Folder, journals: &[Journal], settings: &[String]) {
    let dir = folder.path("e");
    for (member, set) in settings.iter().enumerate() {
        let output = format!("alone-{member}");
        folder.tisane(&["run", "alone.toml", "-q", "--output", &output, "--set", set]).exits(0);
        for journal in JOURNALS {
            let (name, alone) = (journal.csv(), folder.path(&output));
            // A run without the journal.
            if !alone.join(name).is_file() {
                assert!(!dir.join(name).is_file() || rows_of(&dir, journal, Some(member)).is_empty(), "{name}");
                continue;
            }
            assert_eq!(rows_of(&dir, journal, Some(member)), rows_of(&alone, journal, None), "member {member}: {name}");
        }
    }
    for journal in JOURNALS {
        let is_there = dir.join(journal.csv()).is_file();
        assert_eq!(is_there, journals.contains(&journal), "{}", journal.csv());
        assert!(!is_there || !rows_of(&dir, journal, None).is_empty(), "{} has no row", journal.csv());
    }
}

fn seeds() -> Vec<String> {
    (5..9).map(|seed| format!("initial.plummer.seed={seed}")).collect()
}

#[test]
fn journals_of_members_are_those_of_the_runs_alone() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        let folder = ensemble(&(CLUSTER.replace("hermite4", scheme) + WITH_SUBSYSTEMS));
        let members = if scheme == "hermite4" { 4 } else { 2 };
        compare(&folder, &JOURNALS, &seeds()[..members]);
    }
}

#[test]
fn journals_count_in_the_disk_space_that_is_expected() {
    let folder = Folder::new(&format!("{CLUSTER}{WITH_SUBSYSTEMS}{ENSEMBLE}"));
    let said = folder.tisane(&["check", "run.toml"]).exits(0);
    said.says(&["its rows in encounters.csv and stars.csv and stellar.csv", "for encounters.csv"]);
    folder.write("run.toml", format!("{CLUSTER}[softening]\nepsilon = 0.02\n{ENSEMBLE}"));
    let said = folder.tisane(&["check", "run.toml"]).exits(0).says(&["its rows in stellar.csv, no snapshots"]);
    assert!(!said.out.contains("for encounters.csv"), "{}", said.out);
}

#[test]
fn a_journal_that_no_run_alone_has_is_not_written() {
    let folder = ensemble(&(CLUSTER.to_owned() + "[softening]\nepsilon = 0.02\n"));
    compare(&folder, &[Journal::Stellar], &seeds());
    folder.tisane(&["inspect", "e"]).exits(0).says(&["members.csv, stellar.csv with changes of type next"]);
}

#[test]
fn members_may_differ_in_what_their_journals_follow_from() {
    let vary = "realisations = 1\n[ensemble.vary]\n\"encounters.perturbation\" = [0.0, 1e-5, 1e-3]\n";
    let folder = Folder::new("");
    let (single, _) = CLUSTER.split_once("[initial.binaries]").unwrap();
    let (_, others) = CLUSTER.split_once("[integrator.hermite4]").unwrap();
    // Wide enough to go on without subsystems.
    let wide = single.replace("seed = 5\nhalf_mass_radius = 0.4", "seed = 2\nhalf_mass_radius = 1.0");
    let config = format!("{wide}[integrator.hermite4]{others}[encounters]\n");
    folder.write("run.toml", config.clone() + &ENSEMBLE.replace("realisations = 4\n", vary));
    folder.write("alone.toml", config);
    folder.tisane(&["run", "run.toml", "-q", "--output", "e"]).exits(0);
    let settings = ["0.0", "1e-5", "1e-3"].map(|value| format!("encounters.perturbation={value}"));
    compare(&folder, &[Journal::Encounters, Journal::Stellar], &settings);
    assert!(rows_of(&folder.path("e"), Journal::Encounters, Some(0)).is_empty());
    assert!(!folder.path("alone-0/encounters.csv").exists());
}

#[test]
fn threads_stops_and_kills_change_no_row_of_a_journal() {
    let folder = ensemble(&(CLUSTER.to_owned() + WITH_SUBSYSTEMS));
    let want = texts(&folder.path("e"));
    assert!(want.iter().all(Option::is_some));
    folder.tisane(&["run", "run.toml", "-q", "--output", "threads", "--threads", "3"]).exits(0);
    assert!(texts(&folder.path("threads")) == want, "3 threads");
    let begun = ["run", "run.toml", "-q", "--output", "stopped", "--time-limit", "5ms", "--threads", "1"];
    folder.tisane(&begun).exits(3);
    folder.resume_until_it_ends("stopped", 50);
    assert!(texts(&folder.path("stopped")) == want, "stops");
    let (mut dice, mut kills) = (7, 0);
    let mut arguments: &[&str] = &["run", "run.toml", "-q", "--output", "killed", "--threads", "2", "--overwrite"];
    loop {
        let mut child = folder.start(arguments);
        if kills < 8 {
            std::thread::sleep(Duration::from_millis(random(&mut dice, 150)));
            // It may have ended by itself.
            kills += u32::from(child.try_wait().unwrap().is_none() && child.kill().is_ok());
        }
        if child.wait().unwrap().success() {
            break;
        }
        if folder.path("killed/ensemble.json").is_file() {
            arguments = &["resume", "killed", "-q"];
        }
    }
    assert!(texts(&folder.path("killed")) == want, "{kills} kills");
}

#[test]
fn rows_of_journals_that_were_changed_or_lost_are_restored_or_computed_again() {
    let folder = ensemble(&(CLUSTER.to_owned() + WITH_SUBSYSTEMS));
    let dir = folder.path("e");
    let want = texts(&dir);
    for (number, journal) in JOURNALS.into_iter().enumerate() {
        let path = dir.join(journal.csv());
        let whole = fs::read_to_string(&path).unwrap();
        let is_row = |line: &&str| line.starts_with(|first: char| first.is_ascii_digit());
        let rows: Vec<&str> = whole.lines().filter(is_row).collect();
        assert!(rows.len() > 1, "{whole}");
        let digit = rows[1].rfind(|c: char| c.is_ascii_digit() && c != '0').unwrap();
        let changed = format!("{}0{}", &rows[1][..digit], &rows[1][digit + 1..]);
        let damaged = [
            whole.replacen(&format!("{}\n", rows[1]), "", 1),
            whole.replacen(rows[1], &format!("{}\n{}", rows[1], rows[1]), 1),
            whole.replacen(rows[1], &changed, 1),
            whole[..whole.find(rows[0]).unwrap()].to_owned(),
        ];
        for (kind, text) in damaged.iter().enumerate() {
            // Each damage with the HDF5 file and without it, by turns of the journals.
            let has_twin = (number + kind) % 2 == 0;
            fs::write(&path, text).unwrap();
            if !has_twin {
                fs::remove_file(dir.join(journal.hdf5())).unwrap();
            }
            folder.tisane(&["resume", "e"]).exits(0).says(&["WARN"]);
            assert!(texts(&dir) == want, "{}: damage {kind}, {has_twin}", journal.csv());
            let again = folder.tisane(&["resume", "e"]).exits(0);
            assert!(!again.err.contains("WARN"), "{}: told again: {}", journal.csv(), again.err);
        }
    }
}

#[test]
fn a_row_that_a_power_cut_took_is_missed_before_there_is_a_hash_of_it() {
    let folder = Folder::new(&format!("{CLUSTER}{WITH_SUBSYSTEMS}{ENSEMBLE}"));
    let begun = ["run", "run.toml", "-q", "--output", "e", "--time-limit", "1ms", "--threads", "1"];
    folder.tisane(&begun).exits(3);
    let (dir, states) = (folder.path("e"), folder.path("e/in_progress.hdf5"));
    let early = fs::read(&states).unwrap();
    folder.tisane(&["resume", "e", "-q"]).exits(0);
    let want = texts(&dir);
    for journal in JOURNALS {
        // The last row of all: of a member that had not begun when the states were written.
        let path = dir.join(journal.csv());
        let whole = fs::read_to_string(&path).unwrap();
        let cut = whole.trim_end().rfind('\n').unwrap();
        fs::write(&path, &whole[..=cut]).unwrap();
        fs::write(&states, &early).unwrap();
        folder.tisane(&["resume", "e"]).exits(0).says(&["are not whole, as after a power cut"]);
        assert!(texts(&dir) == want, "{}", journal.csv());
    }
}
