//! Promise: a kill at any instant leaves a directory from which the run resumes to the same rows, snapshots and state,
//! without a gap, a duplicate or a leftover.

use std::fs;
use std::path::{Path, PathBuf};
use tisane_io::checkpoint::{self, RunState};
use tisane_io::fields::{DiagnosticsRow, Journal};
use tisane_io::{snapshot, table};
use tisane_run::assemble;
use tisane_run::config::Config;
use tisane_run::simulation::{ExitReason, Observer};

/// Forces of the runs: softened, and with subsystems.
const SOFTENED: &str = "[initial.plummer]\nn = 24\nseed = 3\n[softening]\nepsilon = \"1/16\"";
const ENCOUNTERS: &str = "[initial.plummer]\nn = 48\nseed = 3\n[initial.binaries]\nfraction = 0.7\na_min = 1e-5\na_max = 0.05\n\
                          [encounters]";

/// Diagnostics and snapshots fall on different moments, and the end on none of either's.
fn config(dir: &Path, checkpoint_interval: &str, forces: &str) -> String {
    format!(
        r#"
[run]
name = "kill"
t_end = "7/8"
{forces}
[integrator.hermite4]
nu = 0.04
dt_max = "1/8"
[output]
directory = '{}'
diagnostics_interval = "1/4"
snapshot_interval = "3/8"
[checkpoint]
interval = "{checkpoint_interval}"
"#,
        dir.display()
    )
}

/// Copies the output directory at every moment it is called, as a kill would leave it.
struct Killer {
    dir: PathBuf,
    copies: PathBuf,
    steps: usize,
    killed: Vec<PathBuf>,
}

impl Killer {
    fn kill(&mut self) {
        let copy = self.copies.join(self.killed.len().to_string());
        copy_folder(&self.dir, &copy);
        self.killed.push(copy);
    }
}

impl Observer for Killer {
    fn step(&mut self, state: &RunState) {
        self.steps += 1;
        // After the outputs of a synchronised moment, and now and then between such moments.
        if state.now.is_synchronised() || self.steps.is_multiple_of(41) {
            self.kill();
        }
    }

    /// Between the row and the snapshot or the checkpoint.
    fn output(&mut self, _row: &DiagnosticsRow, _survey: bool) {
        self.kill();
    }
}

/// Looks away.
struct Nobody;

impl Observer for Nobody {
    fn step(&mut self, _state: &RunState) {}
    fn output(&mut self, _row: &DiagnosticsRow, _survey: bool) {}
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}

fn begin(dir: &Path, (checkpoint_interval, forces): (&str, &str), watch: &mut dyn Observer) {
    let loaded =
        Config::from_str("test", &config(dir, checkpoint_interval, forces), dir, &[]).expect("a good configuration");
    let set = assemble::prepare(loaded).expect("a good model");
    fs::create_dir_all(dir.join("snapshots")).expect("a folder");
    fs::write(dir.join("config.toml"), set.config_of_files().resolved_toml().expect("TOML")).expect("a file");
    let mut simulation = assemble::new_run(set, assemble::Session::default()).expect("a simulation");
    let mut series = simulation.start(watch).expect("a start");
    let reason = simulation.run(&mut series, watch).expect("a run");
    assert_eq!(reason, ExitReason::Finished);
}

fn resume(dir: &Path) {
    let resumed = assemble::resumed_run(dir, assemble::Session::default(), &[]).expect("a checkpoint to resume from");
    let mut simulation = resumed.simulation;
    assert_eq!(resumed.warnings, [""; 0]);
    let mut series = simulation.resume().expect("a resume");
    simulation.run(&mut series, &mut Nobody).expect("a run");
}

/// Everything that a run leaves, except wall time.
#[derive(Debug, PartialEq)]
struct Result {
    rows: String,
    snapshots: Vec<(String, f64, String)>,
    state: String,
    counters: checkpoint::Counters,
    others: Vec<String>,
    journals: Vec<String>,
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn result(dir: &Path) -> Result {
    let [csv, hdf5] = [
        table::read_csv(&dir.join(Journal::Diagnostics.csv())),
        table::read_hdf5(&dir.join(Journal::Diagnostics.hdf5())),
    ];
    let mut rows = csv.expect("the journal");
    assert!(rows.contents().eq(hdf5.expect("the diagnostics").contents()), "the same rows in both files");
    rows.columns.retain(|column| column.name != "wall_seconds" && column.name != "pairs_per_second");
    let snapshots = names(&dir.join("snapshots")).into_iter().map(|name| {
        let s = snapshot::read(&dir.join("snapshots").join(&name)).expect("a whole snapshot");
        (name, s.time, s.content_sha256)
    });
    let snapshots = snapshots.collect();
    let last = checkpoint::read(&dir.join(checkpoint::NEWEST)).expect("the last checkpoint");
    let state = last.particles.state_sha256(&last.run.clock);
    let journals = [Journal::Cluster, Journal::Binaries, Journal::Events, Journal::Encounters];
    let journals = journals.into_iter().filter(|journal| dir.join(journal.csv()).exists()).map(|journal| {
        let csv = fs::read_to_string(dir.join(journal.csv())).expect("a journal");
        let hdf5 = table::read_hdf5(&dir.join(journal.hdf5())).expect("the same");
        assert_eq!(csv.lines().count(), hdf5.rows() + 1, "{journal:?}");
        csv
    });
    let journals = journals.collect();
    let (counters, others) = (last.run.counters, names(dir));
    Result { rows: format!("{rows:?}"), snapshots, state, counters, others, journals }
}

#[test]
fn a_kill_at_any_instant_changes_nothing_in_the_end() {
    for (checkpoint_interval, forces) in
        [("1h", SOFTENED), ("20ms", SOFTENED), ("1h", ENCOUNTERS), ("20ms", ENCOUNTERS)]
    {
        let [dir, copies] = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
        let mut killer = Killer { dir: dir.path().into(), copies: copies.path().into(), steps: 0, killed: Vec::new() };
        begin(dir.path(), (checkpoint_interval, forces), &mut killer);
        let expected = result(dir.path());
        let times: Vec<_> = expected.snapshots.iter().map(|(_, time, _)| *time).collect();
        assert_eq!(times, [0.0, 0.375, 0.75, 0.875]);
        let (min, changes) = if forces == ENCOUNTERS { (10, 5) } else { (16, 0) };
        assert!(killer.killed.len() >= min, "{}", killer.killed.len());
        let last = expected.journals.last().expect("a journal");
        let later = last.lines().skip(1).filter(|row| !row.starts_with("0.0,")).count();
        assert!(later >= changes, "{last}");
        // The very first kill comes before the run has a checkpoint, and before it has done anything.
        for killed in &killer.killed[1..] {
            // What else a kill may leave: half a row and half-written files.
            let mut journal = fs::read(killed.join(Journal::Diagnostics.csv())).expect("the journal");
            journal.extend(b"0.5,0.1");
            fs::write(killed.join(Journal::Diagnostics.csv()), journal).expect("the journal");
            let events = killed.join(Journal::Events.csv());
            let text = fs::read_to_string(&events).expect("the events");
            fs::write(events, text + "7,0.5,escape,1").expect("the events");
            let encounters = killed.join(Journal::Encounters.csv());
            if let Ok(text) = fs::read_to_string(&encounters) {
                fs::write(encounters, text + "0.5,form,1 2,(1").expect("the encounters");
            }
            for half in
                [".checkpoint.hdf5.partial", ".diagnostics.hdf5.partial", "snapshots/.snapshot_0003.hdf5.partial"]
            {
                fs::write(killed.join(half), "half").expect("a file");
            }
            resume(killed);
            assert_eq!(result(killed), expected, "killed at {}", killed.display());
        }
    }
}

#[test]
fn outputs_of_another_plan_are_not_left_behind() {
    let [dir, copies] = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
    let mut killer = Killer { dir: dir.path().into(), copies: copies.path().into(), steps: 0, killed: Vec::new() };
    begin(dir.path(), ("1h", SOFTENED), &mut killer);
    // All outputs there, and only the checkpoint of the start.
    let killed = killer.killed.last().expect("a kill");
    assert_eq!(names(&killed.join("snapshots")).len(), 4);
    let other = config(killed, "1h", SOFTENED).replace("3/8", "7/8");
    fs::write(killed.join("config.toml"), other).expect("a file");
    resume(killed);
    let times: Vec<_> = result(killed).snapshots.into_iter().map(|(_, time, _)| time).collect();
    assert_eq!(times, [0.0, 0.875]);
}
