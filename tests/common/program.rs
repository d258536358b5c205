//! The program as a user has it: run in a folder of its own, its words, its files.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tisane_io::table;

/// Longest time that a test waits for an event before it fails. It ends a test that would hang; no machine is so loaded
/// that it is reached otherwise.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A small run: 16 particles and five outputs.
pub const SMALL: &str = "[run]
name = \"small\"
t_end = 0.5
[initial.plummer]
n = 16
[softening]
epsilon = 0.01
";

/// Waits until something has happened.
#[track_caller]
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < PATIENCE, "not within {} s: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What the program said, and its exit code.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Asserts the exit code, showing what was said otherwise.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Asserts that each part was said, wherever lines were broken.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        let all = unwrapped(&self.out) + " " + &unwrapped(&self.err);
        for part in parts {
            assert!(all.contains(part), "expected {part:?} in\n{}\n{}", self.out, self.err);
        }
        self
    }
}

/// Text without the line breaks of an error report.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder with a configuration `run.toml`; the program runs in it.
pub struct Folder {
    temporary: TempDir,
}

impl Folder {
    pub fn new(config: &str) -> Self {
        let folder = Self { temporary: tempfile::tempdir().unwrap() };
        folder.write("run.toml", config);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// The program with arguments, ready to start.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(arguments).current_dir(self.temporary.path()).stdin(Stdio::null());
        command.env_remove("TISANE_SIMD").env_remove("HDF5_USE_FILE_LOCKING");
        // Widths of help texts.
        command.env_remove("COLUMNS").env_remove("LINES");
        command
    }

    pub fn tisane(&self, arguments: &[&str]) -> Said {
        finish(self.command(arguments))
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Removes the limit of block steps from the configuration of the stopped run in `output`, so that it can be
    /// resumed to its end.
    pub fn lift_block_limit(&self, output: &str) {
        let config = format!("{output}/config.toml");
        let text = fs::read_to_string(self.path(&config)).unwrap();
        let (limit, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("block_steps = "));
        assert_eq!(limit.len(), 1, "{text}");
        self.write(&config, rest.join("\n") + "\n");
    }

    /// Resumes the stopped run in `output` again and again, until it ends. Each session may take half as long again as the one
    /// before, the first `milliseconds`: on a busy machine sessions of one length could come to no end.
    pub fn resume_until_it_ends(&self, output: &str, mut milliseconds: u64) {
        loop {
            let limit = format!("{milliseconds}ms");
            let said = self.tisane(&["resume", output, "-q", "--time-limit", &limit]);
            if said.code != 3 {
                said.exits(0);
                return;
            }
            milliseconds += milliseconds / 2;
        }
    }

    /// Every file below the folder with its content, and the folders.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files(self.temporary.path())
    }
}

/// Returns [`SMALL`] stopped with two checkpoints in `o`, and the hash of the state that it ends in undisturbed.
pub fn stopped_twice() -> (Folder, String) {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=9"]).exits(3);
    folder.tisane(&["resume", "o", "-q"]).exits(3);
    folder.lift_block_limit("o");
    assert!(folder.path("o/checkpoint.previous.hdf5").exists());
    let state = summary(&folder.path("whole"))["state_sha256"].to_string();
    (folder, state)
}

/// Returns a command that starts tisane with no signal ignored.
fn program() -> Command {
    with_default_signals(env!("CARGO_BIN_EXE_tisane"))
}

/// Returns a command that starts a program with no signal ignored. Scripts and nohup have the tests ignore SIGINT or
/// SIGHUP, which a child process inherits.
pub fn with_default_signals(program: &str) -> Command {
    let (hang_up, interrupt) = (1, 2);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    if ignored & (1 << (hang_up - 1) | 1 << (interrupt - 1)) == 0 {
        return Command::new(program);
    }
    // By its path, as a test may take PATH away.
    let mut command = Command::new("/usr/bin/env");
    command.args(["--default-signal", program]);
    command
}

/// Runs a command to its end.
pub fn finish(mut command: Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // A process that a signal ended has no code.
    Said { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Every file below `dir` with its content, and the folders with none.
pub fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, Vec::new());
        } else {
            let content = fs::read(&path).unwrap();
            found.insert(path, content);
        }
    }
    found
}

/// A file that another program wrote, from the folder beside the checkout; says so where it is missing.
pub fn data_of_others(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("../shared/data").join(name);
    if !path.is_file() {
        eprintln!("SKIPPED: {name} is not in ../shared/data beside this checkout");
        return None;
    }
    Some(path)
}

/// `summary.json` of a run.
pub fn summary(dir: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap()
}

/// The columns of `diagnostics.csv` as text, which has every bit, without those that tell the wall time. Asserts that
/// `diagnostics.hdf5` holds the same values and that time goes on without a gap or a duplicate.
pub fn diagnostics(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let csv = table::read_csv(&dir.join("diagnostics.csv")).unwrap();
    let hdf5 = table::read_hdf5(&dir.join("diagnostics.hdf5")).unwrap();
    // As text, which has every bit, because NaN does not equal NaN.
    let contents = |table: &table::Table| format!("{:?}", table.contents().collect::<Vec<_>>());
    assert_eq!(contents(&csv), contents(&hdf5), "diagnostics.csv and diagnostics.hdf5");
    let text = fs::read_to_string(dir.join("diagnostics.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<_> = lines.next().unwrap().collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, value) in columns.iter_mut().zip(line) {
            column.push(value.to_owned());
        }
    }
    let mut columns: BTreeMap<String, Vec<String>> = names.into_iter().map(str::to_owned).zip(columns).collect();
    let times: Vec<f64> = columns["time"].iter().map(|time| time.parse().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "times {times:?}");
    for wall in ["wall_seconds", "pairs_per_second"] {
        assert!(columns.remove(wall).is_some(), "no column {wall}");
    }
    columns
}

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Pseudo-random numbers below `bound`, the same in every run of the tests.
pub fn random(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Sends a signal, such as `-TERM`.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
}
