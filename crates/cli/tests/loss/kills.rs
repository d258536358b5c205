//! Promise: a run whose process ends at any instant, for any reason, can be resumed and ends in the same state as an
//! undisturbed run.
//!
//! Processes are ended by SIGKILL at random instants, half of them as a file is being written; others by SIGTERM, by
//! SIGINT twice, by a limit of wall time, or halted and continued. A dozen kills in `cargo test`; hundreds by
//! `scripts/check/endurance kills COUNT`.

use crate::configs::{SOFTENED, SUBSYSTEMS, often};
use crate::outcome;
use crate::program;
use outcome::{Outcome, assert_same_bytes_but_for_the_time};
use program::{Folder, files, finish, random, signal, wait_until};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tisane_io::lock::LOCK_FILE;
use tisane_io::{checkpoint, directory, snapshot};

/// Files under their temporary names, and what is being written then.
const WRITTEN: [(&str, &str); 10] = [
    (".checkpoint.hdf5.partial", "checkpoint"),
    (".checkpoint.previous.hdf5.partial", "keeping the former checkpoint"),
    (".snapshot_", "snapshot"),
    (".diagnostics.hdf5.partial", "diagnostics, HDF5"),
    (".cluster.hdf5.partial", "cluster, HDF5"),
    (".binaries.hdf5.partial", "binaries, HDF5"),
    (".events.hdf5.partial", "events, HDF5"),
    (".encounters.hdf5.partial", "encounters, HDF5"),
    (".config.toml.partial", "config.toml"),
    (".summary.json.partial", "summary.json"),
];

/// What ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Blow {
    Kill,
    Terminate,
    InterruptTwice,
    TimeLimit,
    HaltAndKill,
}

impl Blow {
    fn choose(dice: &mut u64) -> Self {
        match random(dice, 20) {
            0 => Self::Terminate,
            1 => Self::InterruptTwice,
            2 => Self::TimeLimit,
            3 => Self::HaltAndKill,
            _ => Self::Kill,
        }
    }
}

/// What came of the blows so far.
#[derive(Default)]
struct Tally {
    dice: u64,
    kills: u64,
    blows: BTreeMap<Blow, u64>,
    /// In the middle of what the kills fell.
    phases: BTreeMap<&'static str, u64>,
    runs: u64,
}

/// Temporary files below a run's directory, by name, with data that differs between writes.
fn temporary(output: &Path) -> BTreeMap<String, (u64, i64, u64)> {
    let mut found = BTreeMap::new();
    for folder in [output.to_owned(), output.join(directory::SNAPSHOTS)] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // It may have got its name in this instant.
            if let (true, Ok(about)) = (name.ends_with(".partial"), entry.metadata()) {
                found.insert(name, (about.ino(), about.mtime_nsec(), about.size()));
            }
        }
    }
    found
}

fn log_lines(output: &Path) -> usize {
    fs::read_to_string(output.join(directory::LOG)).map_or(0, |text| text.lines().count())
}

/// A session of a run under way.
struct Session {
    child: Child,
    output: PathBuf,
    temporary: BTreeMap<String, (u64, i64, u64)>,
    log_lines: usize,
}

impl Session {
    /// Starts the run, or resumes it where it has a checkpoint.
    fn start(folder: &Folder, dice: &mut u64, more: &[&str]) -> Self {
        let output = folder.path("o");
        let threads = if random(dice, 2) == 0 { "1" } else { "2" };
        let verb = match output.join(checkpoint::NEWEST).exists() {
            true => &["resume", "o"][..],
            false => &["run", "run.toml", "--output", "o", "--overwrite"],
        };
        let (temporary, log_lines) = (temporary(&output), log_lines(&output));
        let child = folder.start(&[verb, &["-q", "--threads", threads], more].concat());
        Self { child, output, temporary, log_lines }
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for a random time, or until a file of a random kind is being written and a little longer.
    fn wait(&mut self, dice: &mut u64) {
        let aim = usize::try_from(random(dice, 2 * WRITTEN.len() as u64)).unwrap();
        // Half of the runs that have just been started do not get to their first checkpoint.
        let early = !self.output.join(checkpoint::NEWEST).exists() && random(dice, 2) == 0;
        let patience = Duration::from_micros(random(dice, if early { 30_000 } else { 400_000 }));
        let began = Instant::now();
        let Some((prefix, _)) = WRITTEN.get(aim) else {
            while began.elapsed() < patience && !self.has_ended() {
                std::thread::sleep(Duration::from_micros(200));
            }
            return;
        };
        let is_written = |(name, about): (&String, &(u64, i64, u64)), before: &BTreeMap<_, _>| {
            name.starts_with(prefix) && before.get(name) != Some(about)
        };
        while began.elapsed() < 2 * patience && !self.has_ended() {
            if temporary(&self.output).iter().any(|found| is_written(found, &self.temporary)) {
                std::thread::sleep(Duration::from_micros(random(dice, 3_000)));
                return;
            }
        }
    }

    /// In the middle of what a kill fell.
    fn phase(&self) -> &'static str {
        let now = temporary(&self.output);
        let fresh = |prefix: &str| {
            now.iter().any(|(name, about)| name.starts_with(prefix) && self.temporary.get(name) != Some(about))
        };
        if let Some((_, what)) = WRITTEN.iter().find(|(prefix, _)| fresh(prefix)) {
            what
        } else if !self.output.join(checkpoint::NEWEST).exists() {
            "before the first checkpoint"
        } else if log_lines(&self.output) <= self.log_lines {
            "reading the checkpoint"
        } else {
            "integration and rows of the CSV"
        }
    }
}

/// What must hold at any instant: a checkpoint once there was one, and snapshots that are whole.
fn assert_whole(output: &Path) {
    if output.join(checkpoint::NEWEST).exists() {
        let (_, warning) = checkpoint::read_newest(output).unwrap();
        assert_eq!(warning, None);
    }
    for number in directory::snapshot_numbers(output).unwrap_or_default() {
        snapshot::read(&directory::snapshot(output, number)).unwrap();
    }
}

/// Starts or resumes the run and ends the process in some way; true if the run has come to its end.
fn session(folder: &Folder, tally: &mut Tally) -> bool {
    let blow = Blow::choose(&mut tally.dice);
    let limit = format!("{}ms", 1 + random(&mut tally.dice, 200));
    let more: &[&str] = if blow == Blow::TimeLimit { &["--time-limit", &limit] } else { &[] };
    let mut session = Session::start(folder, &mut tally.dice, more);
    if blow != Blow::TimeLimit {
        session.wait(&mut tally.dice);
    }
    let alive = !session.has_ended();
    match blow {
        Blow::TimeLimit => {}
        _ if !alive => {}
        Blow::Kill => session.child.kill().unwrap(),
        Blow::Terminate => signal(&session.child, "-TERM"),
        Blow::InterruptTwice => {
            signal(&session.child, "-INT");
            std::thread::sleep(Duration::from_micros(random(&mut tally.dice, 3_000)));
            // It may be gone by now.
            let _ = finish({
                let mut kill = std::process::Command::new("kill");
                kill.args(["-INT", &session.child.id().to_string()]);
                kill
            });
        }
        Blow::HaltAndKill => {
            signal(&session.child, "-STOP");
            std::thread::sleep(Duration::from_millis(20));
            signal(&session.child, "-CONT");
            session.wait(&mut tally.dice);
            session.child.kill().unwrap();
        }
    }
    let code = session.child.wait().unwrap().code();
    if code == Some(0) {
        return true;
    }
    let expected: &[Option<i32>] = match blow {
        Blow::Kill | Blow::HaltAndKill => &[None],
        // Before the program listens to signals, they end it as a kill does.
        Blow::Terminate => &[Some(3), None],
        Blow::InterruptTwice => &[Some(3), Some(130), None],
        Blow::TimeLimit => &[Some(3)],
    };
    assert!(expected.contains(&code), "{blow:?}: {code:?}");
    *tally.blows.entry(blow).or_default() += 1;
    if code.is_none() {
        tally.kills += 1;
        *tally.phases.entry(session.phase()).or_default() += 1;
    }
    assert_whole(&session.output);
    false
}

fn names(output: &Path) -> BTreeSet<PathBuf> {
    files(output).into_keys().map(|path| path.strip_prefix(output).unwrap().to_owned()).collect()
}

#[test]
fn a_run_that_is_killed_again_and_again_comes_to_the_same_end() {
    killed_again_and_again(SOFTENED);
}

#[test]
fn a_run_with_subsystems_that_is_killed_again_and_again_comes_to_the_same_end() {
    let expected = killed_again_and_again(SUBSYSTEMS);
    assert!(expected.encounters.is_some_and(|journal| journal.lines().count() > 50), "too little to show a loss");
}

/// Kills runs of a system, and asserts that they come to the same end as one that is not disturbed, which is returned.
fn killed_again_and_again(system: &str) -> Outcome {
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")))
    };
    let (wanted, seed) = (number("TISANE_KILLS", 12), number("TISANE_SEED", 1));
    println!("kills: {wanted}, seed {seed} (TISANE_KILLS, TISANE_SEED)");
    let config = often(system);
    let undisturbed = Folder::new(&config);
    undisturbed.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let whole = undisturbed.path("o");
    let expected = Outcome::read(&whole);
    assert!(
        expected.cluster.iter().all(|journal| journal.lines().count() > 9),
        "too little in the journals to show a loss"
    );
    let mut tally = Tally { dice: seed, ..Tally::default() };
    let began = Instant::now();
    while tally.kills < wanted {
        let folder = Folder::new(&config);
        let before = tally.blows.values().sum::<u64>();
        while tally.kills < wanted && !session(&folder, &mut tally) {}
        let output = folder.path("o");
        if !output.join(checkpoint::NEWEST).exists() {
            folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--overwrite"]).exits(0);
        }
        folder.tisane(&["resume", "o", "-q"]).exits(0);
        let what = format!("run {} of seed {seed}", tally.runs);
        expected.assert_same(&Outcome::read(&output), &what);
        assert_eq!(names(&output), names(&whole), "{what}");
        for number in directory::snapshot_numbers(&whole).unwrap() {
            let [one, other] = [&whole, &output].map(|output| directory::snapshot(output, number));
            assert_same_bytes_but_for_the_time(&one, &other);
        }
        tally.runs += 1;
        let blows = tally.blows.values().sum::<u64>() - before;
        println!("{what}: the same end after {blows} blows; {} kills, {} s", tally.kills, began.elapsed().as_secs());
    }
    println!(
        "\n{} kills in {} runs, all of which came to the same end; they fell in the middle of",
        tally.kills, tally.runs
    );
    tally.phases.iter().for_each(|(phase, count)| println!("{count:8}  {phase}"));
    println!("ended by");
    tally.blows.iter().for_each(|(blow, count)| println!("{count:8}  {blow:?}"));
    expected
}

#[test]
fn a_halted_process_keeps_its_lock_and_goes_on_to_the_same_end() {
    let undisturbed = Folder::new(&often(SOFTENED));
    undisturbed.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let expected = Outcome::read(&undisturbed.path("o"));
    // On a loaded machine a run may be over before it is halted for the first time.
    let halts = (0..20).map(|_| halted_again_and_again(&expected)).find(|halts| *halts > 0);
    assert!(halts.is_some(), "every run was over before it could be halted");
}

/// Does a run that is halted up to five times, and asserts that it is refused to others then and comes to the same end.
/// Returns how often it was halted.
fn halted_again_and_again(expected: &Outcome) -> u32 {
    let folder = Folder::new(&often(SOFTENED));
    let mut child = folder.start(&["run", "run.toml", "-q", "--output", "o"]);
    let output = folder.path("o");
    wait_until("the first checkpoint", || output.join(checkpoint::NEWEST).exists());
    let mut halts = 0;
    while halts < 5 {
        signal(&child, "-STOP");
        wait_until("the halt", || child.try_wait().unwrap().is_some() || is_halted(&child));
        // Its last act is to take the lock away.
        if !output.join(LOCK_FILE).exists() {
            break;
        }
        let id = format!("process {} on", child.id());
        folder.tisane(&["resume", "o", "-q"]).exits(2).says(&["another tisane process is using this directory", &id]);
        signal(&child, "-CONT");
        std::thread::sleep(Duration::from_millis(20));
        halts += 1;
    }
    // Of one that has ended there is no process any more.
    if child.try_wait().unwrap().is_none() {
        signal(&child, "-CONT");
    }
    assert!(child.wait().unwrap().success());
    expected.assert_same(&Outcome::read(&output), &format!("{halts} halts"));
    halts
}

/// Returns true once a signal has halted all threads of a process.
fn is_halted(child: &Child) -> bool {
    let state = |stat: PathBuf| {
        let text = fs::read_to_string(stat).unwrap_or_default();
        text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
    };
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    threads.map(|thread| state(thread.path().join("stat"))).all(|state| state == Some('T'))
}

#[test]
fn a_run_that_goes_on_and_is_killed_does_not_say_that_it_finished() {
    let folder = Folder::new(&often(SOFTENED));
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let output = folder.path("o");
    let rows = || fs::read_to_string(output.join("diagnostics.csv")).unwrap().lines().count();
    let (before, exit_reason) = (rows(), || program::summary(&output)["exit_reason"].clone());
    assert_eq!(exit_reason(), "finished");
    let mut child = folder.start(&["resume", "o", "-q", "--t-end", "1000"]);
    while rows() <= before {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!output.join(directory::SUMMARY).exists());
    folder.tisane(&["plot", "o", "-q"]).exits(0);
    let report = fs::read_to_string(output.join("plots/report.html")).unwrap();
    assert!(report.contains("none yet: the run is under way, or was killed"));
    folder.tisane(&["resume", "o", "-q", "--time-limit", "1ns"]).exits(3);
    assert_eq!(exit_reason(), "time-limit");
    // One that is refused has not begun.
    folder.tisane(&["resume", "o", "-q", "--t-end", "0"]).exits(2);
    let csv = output.join("diagnostics.csv");
    let whole = fs::read(&csv).unwrap();
    fs::write(&csv, &whole[..whole.len() / 2]).unwrap();
    // From it the rows would be restored.
    fs::remove_file(output.join("diagnostics.hdf5")).unwrap();
    folder.tisane(&["resume", "o", "-q"]).exits(2);
    assert_eq!(exit_reason(), "time-limit");
}

#[test]
fn the_time_limit_of_the_configuration_stops_every_session() {
    let undisturbed = Folder::new(&often(SOFTENED));
    undisturbed.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let folder = Folder::new(&(often(SOFTENED) + "[limits]\nwall_time = \"100ms\"\n"));
    let mut code = folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).code;
    let mut stops = 0;
    while code == 3 {
        assert_eq!(program::summary(&folder.path("o"))["exit_reason"], "time-limit");
        stops += 1;
        // A machine so loaded that a session gets nowhere is let off in the end.
        let more: &[&str] = if stops < 100 { &[] } else { &["--time-limit", "1h"] };
        code = folder.tisane(&[&["resume", "o", "-q"], more].concat()).code;
    }
    assert_eq!(code, 0);
    assert!(stops > 0, "the run was over before the limit");
    Outcome::read(&undisturbed.path("o")).assert_same(&Outcome::read(&folder.path("o")), &format!("{stops} sessions"));
}

/// A run under way, started by a shell that does something first.
fn after(first: &str, folder: &Folder) -> Child {
    let mut shell = program::with_default_signals("sh");
    let run = format!("{first} exec \"$0\" run run.toml -q --output o --set run.t_end=1000000");
    shell.current_dir(folder.path("")).args(["-c", &run, env!("CARGO_BIN_EXE_tisane")]);
    let mut child = shell.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path("o").join(checkpoint::NEWEST).exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn what_a_batch_system_sends_stops_a_run_in_order() {
    for name in ["-XCPU", "-USR1", "-USR2", "-HUP"] {
        let folder = Folder::new(&often(SOFTENED));
        let mut child = after("", &folder);
        signal(&child, name);
        // Linux sends SIGXCPU every second.
        if name == "-XCPU" {
            Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
        }
        assert_eq!(child.wait().unwrap().code(), Some(3), "{name}");
        assert_eq!(program::summary(&folder.path("o"))["exit_reason"], "interrupted");
        assert_whole(&folder.path("o"));
    }
}

#[test]
fn signals_that_are_ignored_for_the_run_do_not_stop_it() {
    let folder = Folder::new(&often(SOFTENED));
    // As nohup has it, and a script for what it starts in the background.
    let mut child = after("trap '' HUP INT;", &folder);
    for name in ["-HUP", "-INT", "-INT"] {
        signal(&child, name);
        std::thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "{name} ended the run");
    }
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}
