//! Links, pipes and files with other names in the place of what a command writes: nothing elsewhere is written or removed,
//! and nothing waits. The names are those that the commands leave, with the temporary ones and the locks.

use crate::program::{Folder, copy_folder, files, wait_until};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

const RUN: &str = "[run]\nname = \"r\"\nt_end = 0.25\n[initial.plummer]\nn = 16\n[initial.binaries]\nfraction = 0.5\na_min = 1e-3\n\
                   a_max = 1e-2\n[encounters]\n[collisions]\naction = \"record\"\nradii = \"fixed\"\nradius = 1e-9\n\
                   [output]\ninterval = 0.125\n";
const ENSEMBLE: &str = "[run]\nname = \"e\"\nt_end = 0.5\n[initial.plummer]\nn = 16\n[softening]\nepsilon = 0.01\n\
                        [output]\ninterval = 0.25\n[ensemble]\nrealisations = 3\nseries = true\nsnapshots = \"all\"\n";
const STUDY: &str = "[energy]\nn = [64]\nmodes = [\"f64\"]\nnu = [0.01]\nseeds = [1]\ngoals = [1e-7]\n";
const CASE: &str = "title = \"Rows\"\n[[runs]]\nname = \"rows\"\ncommand = [\"bench\", \"force\", \"--json\", \"--n\", \"8\", \
                    \"--targets\", \"8\", \"--repeat\", \"1\"]\n[[checks]]\nwhat = \"n\"\nrun = \"rows\"\nquantity = \"row\"\n\
                    value = \"/n\"\nreference = 8\ntolerance = 0\nkind = \"absolute\"\nsource = \"here\"\n";

/// Commands that make the files in `o`, and commands that write there again: in the folder `within`, or anywhere.
struct Subject {
    config: &'static str,
    make: &'static [&'static [&'static str]],
    again: &'static [&'static [&'static str]],
    within: &'static str,
}

const SUBJECTS: [Subject; 8] = [
    Subject {
        config: RUN,
        make: &[&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=20"]],
        again: &[&["resume", "o", "-q"], &["run", "run.toml", "-q", "--output", "o", "--overwrite"]],
        within: "",
    },
    Subject {
        config: ENSEMBLE,
        make: &[&["run", "run.toml", "-q", "--output", "o"]],
        again: &[&["resume", "o", "-q"], &["run", "run.toml", "-q", "--output", "o", "--overwrite"]],
        within: "",
    },
    Subject {
        config: RUN,
        make: &[&["run", "run.toml", "-q", "--output", "o"], &["analyze", "o", "-q"]],
        again: &[&["analyze", "o", "-q"]],
        within: "",
    },
    Subject {
        config: RUN,
        make: &[&["run", "run.toml", "-q", "--output", "o"], &["plot", "o", "-q", "--theme", "light"]],
        again: &[&["plot", "o", "-q", "--theme", "light"]],
        within: "plots",
    },
    Subject {
        config: RUN,
        make: &[
            &["run", "run.toml", "-q", "--output", "o"],
            &["movie", "o", "-q", "--width", "64", "--height", "64", "--frames", "2"],
        ],
        again: &[&["movie", "o", "-q", "--width", "64", "--height", "64", "--frames", "3", "--overwrite"]],
        within: "movie",
    },
    Subject {
        config: STUDY,
        make: &[&["study", "energy", "run.toml", "-q", "--output", "o"]],
        again: &[&["study", "energy", "run.toml", "-q", "--output", "o"]],
        within: "",
    },
    Subject {
        config: RUN,
        make: &[&["bench", "scaling", "--n", "32", "--threads", "1", "--repeat", "1", "--output", "o"]],
        again: &[&["bench", "scaling", "--n", "32", "--threads", "1", "--repeat", "1", "--output", "o"]],
        within: "",
    },
    Subject {
        config: RUN,
        make: &[&["validate", "--from", "cases", "-q", "--output", "o"], &["check", "run.toml", "--plot", "o/figure"]],
        again: &[&["validate", "--from", "cases", "-q", "--output", "o"], &["check", "run.toml", "--plot", "o/figure"]],
        within: "",
    },
];

/// What is put at the path of an output before the program writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Link,
    /// A link to a file that is not there.
    Dangling,
    /// Another name of a file.
    Name,
    Pipe,
}

impl Kind {
    fn put(self, path: &Path, elsewhere: &Path) {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        let _ = fs::remove_file(path);
        match self {
            Self::Link => symlink(elsewhere.join("precious"), path).expect("a link"),
            Self::Dangling => symlink(elsewhere.join("none"), path).expect("a link"),
            Self::Name => fs::hard_link(elsewhere.join("precious"), path).expect("a name"),
            Self::Pipe => assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success()),
        }
    }
}

/// Runs a command to its end, which comes whatever stands in its way.
fn ends(folder: &Folder, arguments: &[&str]) {
    let mut child = folder.start(arguments);
    wait_until(&format!("the end of {arguments:?}"), || child.try_wait().expect("a child").is_some());
}

/// The files that may be written in `o`: those that are there, with their temporary names, and a lock in each folder.
fn names(made: &Path) -> BTreeSet<PathBuf> {
    let mut names = BTreeSet::new();
    for path in files(made).into_keys().chain([made.to_owned()]) {
        let name = path.strip_prefix(made).expect("in it").to_owned();
        if path.is_dir() {
            names.insert(name.join("tisane.lock"));
        } else {
            let partial = format!(".{}.partial", name.file_name().expect("a name").to_string_lossy());
            names.extend([name.with_file_name(partial), name]);
        }
    }
    names
}

/// Tries a subject; returns the number of trials.
fn try_all(Subject { config, make, again, within }: Subject) -> usize {
    let folder = Folder::new(config);
    fs::create_dir_all(folder.path("cases/rows")).expect("a folder");
    folder.write("cases/rows/case.toml", CASE);
    for command in make {
        let said = folder.tisane(command);
        assert!([0, 3].contains(&said.code), "{command:?}: {}", said.err);
    }
    fs::rename(folder.path("o"), folder.path("made")).expect("what was made");
    let (made, output, elsewhere) = (folder.path("made"), folder.path("o"), folder.path("elsewhere"));
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("precious"), "mine").expect("a file");
    let mut tried = 0;
    for (number, name) in names(&made).into_iter().filter(|name| name.starts_with(within)).enumerate() {
        // Each name with one kind and command in turn, and with all of them what is opened where it stands.
        let all = [Kind::Link, Kind::Dangling, Kind::Name, Kind::Pipe];
        let in_place = ["lock", "log", "csv", "jsonl"].iter().any(|end| name.to_string_lossy().ends_with(end));
        let every = all.iter().flat_map(|kind| again.iter().map(move |command| (kind, command)));
        let one = (number + number / 4) % (all.len() * again.len());
        let (from, some) = if in_place { (0, usize::MAX) } else { (one, 1) };
        for (kind, command) in every.skip(from).take(some) {
            let _ = fs::remove_dir_all(&output);
            copy_folder(&made, &output);
            kind.put(&output.join(&name), &elsewhere);
            ends(&folder, command);
            let there = files(&elsewhere);
            assert!(there.len() == 1 && there.into_values().eq([b"mine"]), "{kind:?} {}: {command:?}", name.display());
            tried += 1;
        }
    }
    tried
}

#[test]
fn nothing_elsewhere_is_written_to() {
    let tried: usize = thread::scope(|all| {
        let trials = SUBJECTS.map(|subject| all.spawn(|| try_all(subject)));
        trials.into_iter().map(|trial| trial.join().expect("nothing written elsewhere")).sum()
    });
    assert!(tried > 150, "only {tried} tried");
}

#[test]
fn a_folder_that_is_a_link_is_refused() {
    let folder = Folder::new(RUN);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--set", "limits.block_steps=20"]).exits(3);
    folder.write("e.toml", ENSEMBLE);
    folder.tisane(&["run", "e.toml", "-q", "--output", "e"]).exits(0);
    for (output, name, command) in [
        ("o", "snapshots", &["resume", "o"][..]),
        ("o", "snapshots", &["run", "run.toml", "--output", "o", "--overwrite"]),
        ("e", "snapshots", &["resume", "e"]),
        ("e", "snapshots", &["run", "e.toml", "--output", "e", "--overwrite"]),
        ("o", "analysis", &["analyze", "o"]),
        ("o", "plots", &["plot", "o"]),
        ("o", "movie", &["movie", "o"]),
    ] {
        let (place, target) = (folder.path(output).join(name), folder.path("elsewhere"));
        let _ = fs::rename(&place, &target);
        let _ = fs::create_dir(&target);
        symlink(&target, &place).expect("a link");
        let before = files(&folder.path(output));
        folder.tisane(command).exits(2).says(&[name, "a link to", "nothing is written"]);
        assert!(files(&folder.path(output)) == before, "{command:?}");
        fs::remove_file(&place).expect("the link");
        let _ = fs::rename(&target, &place);
    }
    // The directory itself may be a link: it is what the user named.
    symlink(folder.path("o"), folder.path("l")).expect("a link");
    folder.tisane(&["resume", "l", "-q"]).exits(3);
}
