//! Promise: a power cut at any instant leaves whole files. Shown by the order of the system calls: a file is written
//! under a temporary name and flushed, only then renamed, and its directory is flushed before anything else is written;
//! a checkpoint gets its name only after the rows that it counts are flushed.

use crate::program;
use crate::strace;
use program::{Folder, finish};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const CONFIG: &str = r#"
[run]
name = "p"
t_end = 1.0
[initial.plummer]
n = 64
[softening]
epsilon = "1/256"
[output]
interval = "1/8"
[cluster]
encounter_radius = 8.0
[checkpoint]
interval = "1ms"
"#;

/// Files that grow by lines, or have no name that lasts; all others must be written under a temporary name.
fn is_written_in_place(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.ends_with(".csv") || name == "run.log" || name == "tisane.lock"
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.starts_with('.') && name.ends_with(".partial")
}

/// Calls one a line, those that strace shows in two parts put together; failed ones left out.
fn calls(log: &str) -> Vec<String> {
    let mut begun = BTreeMap::new();
    let mut found = Vec::new();
    for line in log.lines() {
        let (process, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        let whole = if let Some(first) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first.to_owned());
            continue;
        } else if let Some((_, rest)) = call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>")) {
            begun.remove(process).unwrap() + rest
        } else {
            call.to_owned()
        };
        if !whole.contains(" = -1 ") && whole.contains(") ") {
            found.push(whole);
        }
    }
    found
}

/// The path of the open file that is a call's first argument: `fsync(4</a/b>)`.
fn open_file(call: &str) -> PathBuf {
    let (_, rest) = call.split_once('<').unwrap();
    rest.split_once('>').unwrap().0.into()
}

/// The paths among a call's arguments, as the program wrote them.
fn quoted(call: &str) -> Vec<PathBuf> {
    call.split('"').skip(1).step_by(2).map(PathBuf::from).collect()
}

/// What the disk is sure to hold, as the calls go on.
#[derive(Default)]
struct Disk {
    /// Files written to since they were flushed.
    dirty: BTreeSet<PathBuf>,
    flushed: BTreeSet<PathBuf>,
    /// Directories in which a name was given since they were flushed.
    renamed_in: BTreeSet<PathBuf>,
    made_in: BTreeSet<PathBuf>,
    renames: BTreeMap<PathBuf, u32>,
}

impl Disk {
    fn goes_on(&mut self, call: &str, below: &Path) {
        let name = call.split('(').next().unwrap();
        match name {
            "write" | "pwrite64" | "ftruncate" => {
                let path = open_file(call);
                if path.starts_with(below) {
                    assert!(is_written_in_place(&path) || is_temporary(&path), "written in place: {call}");
                    assert!(
                        self.renamed_in.is_empty() || path.ends_with("run.log"),
                        "{:?} not flushed: {call}",
                        self.renamed_in
                    );
                    self.flushed.remove(&path);
                    self.dirty.insert(path);
                }
            }
            "fsync" | "fdatasync" => {
                let path = open_file(call);
                self.dirty.remove(&path);
                self.renamed_in.remove(&path);
                self.made_in.remove(&path);
                self.flushed.insert(path);
            }
            "rename" | "renameat" | "renameat2" => self.rename(call, below),
            "mkdir" | "mkdirat" => {
                let path = below.join(&quoted(call)[0]);
                self.made_in.insert(path.parent().unwrap().to_owned());
            }
            // A second name for a file is as flushed as the file.
            "link" | "linkat" => {
                let paths: Vec<PathBuf> = quoted(call).iter().map(|path| below.join(path)).collect();
                assert!(!self.dirty.contains(&paths[0]), "{call}");
                self.flushed.insert(paths[1].clone());
            }
            _ => {}
        }
    }

    fn rename(&mut self, call: &str, below: &Path) {
        let [from, to] = quoted(call).iter().map(|path| below.join(path)).collect::<Vec<_>>().try_into().unwrap();
        assert!(is_temporary(&from) && from.parent() == to.parent(), "{call}");
        assert!(self.flushed.contains(&from) && !self.dirty.contains(&from), "named before it was flushed: {call}");
        assert!(self.renamed_in.is_empty(), "{:?} not flushed: {call}", self.renamed_in);
        if to.ends_with("checkpoint.hdf5") {
            let rows: Vec<_> = self.dirty.iter().filter(|path| path.extension().is_some_and(|e| e == "csv")).collect();
            assert!(rows.is_empty(), "rows not flushed before the checkpoint that counts them: {rows:?}");
            assert!(self.made_in.is_empty(), "a directory is not flushed: {:?}", self.made_in);
        }
        self.flushed.remove(&from);
        self.renamed_in.insert(to.parent().unwrap().to_owned());
        *self.renames.entry(to).or_default() += 1;
    }
}

#[test]
fn every_file_is_flushed_before_it_gets_its_name_and_its_directory_after() {
    if !strace::is_here() {
        return;
    }
    let folder = Folder::new(CONFIG);
    let below = fs::canonicalize(folder.path("")).unwrap();
    let trace = "trace=write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,mkdir,mkdirat";
    let stopped = ["run", "run.toml", "-q", "--output", "deep/o", "--set", "limits.block_steps=300"];
    let on = ["resume", "deep/o", "-q"];
    let mut renames = BTreeMap::new();
    for (arguments, code) in [(&stopped[..], 3), (&on, 3)] {
        let options = ["-y", "-s", "0", "-e", trace, "-o", "calls"];
        finish(strace::command(&folder, &options, arguments)).exits(code);
        let mut disk = Disk::default();
        calls(&fs::read_to_string(folder.path("calls")).unwrap()).iter().for_each(|call| disk.goes_on(call, &below));
        assert!(disk.renamed_in.is_empty(), "{:?} not flushed at the end", disk.renamed_in);
        for (path, count) in disk.renames {
            *renames.entry(path.strip_prefix(below.join("deep/o")).unwrap().to_owned()).or_insert(0) += count;
        }
    }
    // What the calls were seen of.
    for name in [
        "config.toml",
        "checkpoint.hdf5",
        "checkpoint.previous.hdf5",
        "snapshots/snapshot_0001.hdf5",
        "diagnostics.hdf5",
        "cluster.hdf5",
        "binaries.hdf5",
        "events.hdf5",
        "summary.json",
    ] {
        assert!(renames.contains_key(Path::new(name)), "{name} is not among {renames:?}");
    }
}
