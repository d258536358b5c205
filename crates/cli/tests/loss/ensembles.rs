//! Promise: an ensemble whose output cannot be written, or whose files were damaged, ends after a resume with the files of
//! an undisturbed one, and tells what it found.

use crate::program::{Folder, copy_folder, random};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tisane_io::checkpoint;
use tisane_io::snapshot;
use tisane_io::table;

const CONFIG: &str = "[run]\nname = 'e'\nt_end = 1\n[initial.plummer]\nn = 40\n[softening]\nepsilon = '1/64'\n\
                      [output]\ninterval = '1/4'\n[checkpoint]\ninterval = '10ms'\n\
                      [ensemble]\nrealisations = 5\nseries = true\nsnapshots = 'all'\n";
/// Members that end between two outputs, and keep one snapshot.
const DISSOLVES: &str = "[run]\nname = 'e'\nt_end = 64\n[initial.plummer]\nn = 40\nvirial_ratio = 0.99\n\
                         [softening]\nepsilon = '1/64'\n[output]\ninterval = 16\n\
                         [ensemble]\nrealisations = 3\nseries = true\nsnapshots = 'end'\nstop = 'dissolution'\n\
                         bound_fraction = 0.8\ncheck_interval = 1\n";

/// Rows of the tables without the wall time, and the states of the snapshots.
fn outcome(dir: &Path) -> BTreeMap<String, String> {
    let table = |file: &str| {
        let mut table = table::read(&dir.join(file)).expect(file);
        table.columns.retain(|column| column.name != "wall_seconds");
        (file.to_owned(), format!("{:?}", table.columns))
    };
    let mut found: BTreeMap<String, String> =
        ["members.csv", "members.hdf5", "series.csv", "series.hdf5"].map(table).into_iter().collect();
    for entry in fs::read_dir(dir.join("snapshots")).expect("a folder") {
        let path = entry.expect("a file").path();
        let state = snapshot::read(&path).expect("a snapshot").provenance.state_sha256;
        found.insert(path.file_name().expect("a name").to_string_lossy().into_owned(), state);
    }
    found
}

#[test]
fn an_output_that_cannot_be_written_is_made_by_the_next_session() {
    for (config, member, outputs) in [(CONFIG, 4, &[0, 1, 3, 4][..]), (DISSOLVES, 2, &[0][..])] {
        let folder = Folder::new(config);
        folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
        let want = outcome(&folder.path("whole"));
        for (output, threads) in outputs.iter().flat_map(|output| [(output, "1"), (output, "2")]) {
            // Stopped before the last member has its turn.
            let run =
                ["run", "run.toml", "-q", "--output", "o", "--overwrite", "--threads", "1", "--time-limit", "1ms"];
            folder.tisane(&run).exits(3);
            let name = format!("o/snapshots/member_{member:06}_{output:04}.hdf5");
            let obstacle = folder.path(&name);
            fs::create_dir(&obstacle).expect("the last member has not begun");
            let said = folder.tisane(&["resume", "o", "-q", "--threads", threads]).exits(5);
            said.says(&["cannot write", &name, "this is a folder"]);
            fs::remove_dir(&obstacle).expect("the obstacle");
            folder.tisane(&["resume", "o", "-q", "--threads", threads]).exits(0);
            assert!(outcome(&folder.path("o")) == want, "output {output} on {threads} threads");
        }
    }
}

#[test]
fn an_ensemble_that_is_killed_again_and_again_comes_to_the_same_end() {
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")))
    };
    let (wanted, mut dice) = (number("TISANE_KILLS", 12), number("TISANE_SEED", 1));
    let folder = Folder::new(&CONFIG.replace("realisations = 5", "realisations = 20"));
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    let want = outcome(&folder.path("whole"));
    let begin = ["run", "run.toml", "-q", "--output", "o", "--overwrite"];
    let (mut kills, mut arguments) = (0, &begin[..]);
    loop {
        let mut child = folder.start(arguments);
        if kills < wanted {
            std::thread::sleep(Duration::from_millis(random(&mut dice, 200)));
            // It may have ended by itself.
            kills += u64::from(child.try_wait().expect("a child").is_none() && child.kill().is_ok());
        }
        let ended = child.wait().expect("an end");
        let has_begun = folder.path("o/ensemble.json").is_file();
        arguments = if has_begun { &["resume", "o", "-q"] } else { &begin };
        if ended.success() {
            assert!(outcome(&folder.path("o")) == want, "after {kills} kills");
            if kills >= wanted {
                return;
            }
            arguments = &begin;
        }
    }
}

/// An ensemble stopped with some members at their ends and one in progress, in `half`, and what it ends in.
fn stopped() -> (Folder, BTreeMap<String, String>) {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml", "-q", "--output", "whole"]).exits(0);
    let on_one = ["-q", "--threads", "1"];
    let briefly = ["--time-limit", "1ms"];
    folder.tisane(&[&["run", "run.toml", "--output", "half"], &on_one[..], &briefly].concat()).exits(3);
    let obstacle = folder.path("half/snapshots/member_000002_0002.hdf5");
    fs::create_dir(&obstacle).expect("member 2 has not begun");
    folder.tisane(&[&["resume", "half"], &on_one[..]].concat()).exits(5);
    fs::remove_dir(&obstacle).expect("the obstacle");
    folder.tisane(&[&["resume", "half"], &on_one[..], &briefly].concat()).exits(3);
    let want = outcome(&folder.path("whole"));
    (folder, want)
}

/// Changes the text of a file in `o`.
fn change(folder: &Folder, name: &str, change: impl FnOnce(&str) -> String) {
    let path = folder.path("o").join(name);
    let text = fs::read_to_string(&path).expect(name);
    let changed = change(&text);
    assert_ne!(text, changed, "{name} was not changed");
    fs::write(path, changed).expect(name);
}

/// Replaces a part of the row of a number, from 0 on.
fn in_row(number: usize, change: impl Fn(&str) -> String) -> impl FnOnce(&str) -> String {
    move |text: &str| {
        let mut row = 0;
        let lines = text.lines().map(|line| {
            let is_row = line.starts_with(|first: char| first.is_ascii_digit());
            row += usize::from(is_row);
            if is_row && row == number + 1 { change(line) } else { line.to_owned() + "\n" }
        });
        lines.collect()
    }
}

fn other_digit(line: &str) -> String {
    let place = line.find("e-").expect("a number") - 1;
    let other = if line.as_bytes()[place] == b'7' { "8" } else { "7" };
    format!("{}{other}{}\n", &line[..place], &line[place + 1..])
}

type Damage<'a> = (&'a str, &'a dyn Fn(&Folder), &'a str);

#[test]
fn damaged_rows_are_restored_or_computed_again() {
    let (folder, want) = stopped();
    let twice = |line: &str| format!("{line}\n{line}\n");
    let cut = |text: &str| text[..text.len() - 30].rsplit_once('\n').expect("rows").0.to_owned() + "\n";
    let changed = "were changed, lost or doubled since they were written";
    let damages: [Damage<'_>; 8] = [
        ("a digit of a member", &|it| change(it, "members.csv", in_row(0, other_digit)), changed),
        ("a digit of an output", &|it| change(it, "series.csv", in_row(1, other_digit)), changed),
        ("a member twice", &|it| change(it, "members.csv", in_row(0, twice)), "stood there twice"),
        ("an output twice", &|it| change(it, "series.csv", in_row(3, twice)), "stood there twice"),
        ("a member lost", &|it| change(it, "members.csv", in_row(0, |_| String::new())), changed),
        ("an output lost", &|it| change(it, "series.csv", in_row(2, |_| String::new())), changed),
        ("the last outputs lost", &|it| change(it, "series.csv", cut), changed),
        ("all members lost", &|it| fs::remove_file(it.path("o/members.csv")).expect("a table"), changed),
    ];
    for (what, damage, said) in damages {
        for killed in [false, true] {
            let _ = fs::remove_dir_all(folder.path("o"));
            copy_folder(&folder.path("half"), &folder.path("o"));
            if killed {
                // A process that is killed has not written the tables in HDF5.
                for name in ["members.hdf5", "series.hdf5"] {
                    fs::remove_file(folder.path("o").join(name)).expect(name);
                }
            }
            damage(&folder);
            let after = folder.tisane(&["resume", "o", "--threads", "1"]).exits(0).says(&["WARN", said]);
            let remedy = if killed { "computed again, to the same bits" } else { "restored from the tables in HDF5" };
            assert!(said != changed || after.err.contains(remedy), "{what}, {killed}: {}", after.err);
            assert!(outcome(&folder.path("o")) == want, "{what}, {killed}");
            let again = folder.tisane(&["resume", "o"]).exits(0);
            assert!(!again.err.contains("WARN"), "{what}: told again: {}", again.err);
        }
    }
    // A row that cannot be read is refused at its line, and what is there stays.
    let _ = fs::remove_dir_all(folder.path("o"));
    copy_folder(&folder.path("half"), &folder.path("o"));
    change(&folder, "members.csv", in_row(0, |line| line.replacen("e-", "t-", 1) + "\n"));
    folder.tisane(&["resume", "o"]).exits(2).says(&["members.csv: line", "expected a number", "without this row"]);
}

#[test]
fn a_changed_configuration_is_refused() {
    let (folder, want) = stopped();
    let anew = || {
        let _ = fs::remove_dir_all(folder.path("o"));
        copy_folder(&folder.path("half"), &folder.path("o"));
    };
    let refused = |says: &[&str]| {
        let before = outcome_of_csv(&folder);
        folder.tisane(&["resume", "o"]).exits(2).says(says);
        assert_eq!(outcome_of_csv(&folder), before);
    };
    anew();
    change(&folder, "ensemble.json", |text| text.replace("1/64", "1/94"));
    refused(&["ensemble.json", "was changed", "another ensemble"]);
    // With a hash that was made to fit, or none.
    for hash in [None, Some("null")] {
        anew();
        change(&folder, "ensemble.json", |text| {
            let (head, tail) = text
                .replace("1/64", "1/94")
                .rsplit_once("\"sha256\"")
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .expect("a hash");
            let end = tail.find('\n').unwrap_or(tail.len());
            match hash {
                Some(hash) => format!("{head}\"sha256\": {hash}{}", &tail[end..]),
                None => format!("{}\n}}\n", head.trim_end().trim_end_matches(',')),
            }
        });
        refused(&["ensemble.json", "in_progress.hdf5 is of another configuration"]);
    }
    for (from, to, says) in [
        ("epsilon = 0.015625", "epsilon = 0.5", "softening.epsilon = 0.5, and the ensemble has 0.015625"),
        ("t_end = 1.0", "t_end = 4.0", "run.t_end = 4.0"),
        ("[softening]", "[softening", "not valid TOML"),
    ] {
        anew();
        change(&folder, "config.toml", |text| text.replace(from, to));
        refused(&["config.toml", says, "remove this file"]);
    }
    anew();
    fs::remove_file(folder.path("o/config.toml")).expect("a file");
    folder.tisane(&["resume", "o"]).exits(0).says(&["config.toml", "written anew"]);
    assert!(outcome(&folder.path("o")) == want);
    let written = |of: &str| fs::read_to_string(folder.path(&format!("{of}/config.toml"))).expect("a file");
    assert_eq!(written("o"), written("half").replace("directory = \"half\"", "directory = \"o\""));
}

fn outcome_of_csv(folder: &Folder) -> [Vec<u8>; 2] {
    ["members.csv", "series.csv"].map(|name| fs::read(folder.path("o").join(name)).expect(name))
}

#[test]
fn ensembles_of_version_0_2_are_gone_on_with() {
    let (folder, want) = stopped();
    copy_folder(&folder.path("half"), &folder.path("o"));
    let path = folder.path("o/in_progress.hdf5");
    let is_between = |state: &checkpoint::MemberState| (4.0 * state.run.time()).fract() != 0.0;
    let stands_between = |states: &[checkpoint::MemberState]| !states.is_empty() && states.iter().all(is_between);
    // Between two outputs: version 0.2 lost those that it could not write. A busy machine may take no step in a
    // millisecond, an idle one end all members in a few.
    for limit in (1..=8).map(|ms| format!("{ms}ms")).cycle() {
        if stands_between(&checkpoint::read_members(&path).expect("states").0) {
            break;
        }
        if folder.tisane(&["resume", "o", "-q", "--threads", "1", "--time-limit", &limit]).code == 0 {
            fs::remove_dir_all(folder.path("o")).expect("a folder");
            copy_folder(&folder.path("half"), &folder.path("o"));
        }
    }
    change(&folder, "ensemble.json", |text| {
        let (head, _) = text.rsplit_once("\"sha256\"").expect("a hash");
        format!("{}\n}}\n", head.trim_end().trim_end_matches(','))
    });
    let (mut states, _) = checkpoint::read_members(&path).expect("states");
    for state in &mut states {
        (state.run.written.diagnostics_rows, state.run.written.diagnostics_sha256) = (0, None);
    }
    checkpoint::write_members(&path, states.iter(), None).expect("states");
    let limit = ["--threads", "1", "--time-limit", "1ms"];
    let said = folder.tisane(&[&["resume", "o"][..], &limit].concat());
    said.exits(3).says(&["no hashes of the rows", "version 0.2"]);
    let said = folder.tisane(&["resume", "o"]).exits(0);
    assert!(!said.err.contains("WARN"), "{}", said.err);
    assert!(outcome(&folder.path("o")) == want);
}

#[test]
fn the_way_on_is_told() {
    let folder = Folder::new(CONFIG);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    folder.tisane(&["view", "o"]).exits(2).says(&["this is an ensemble", "tisane plot o"]);
    // What a kill leaves before the first file of the ensemble.
    fs::remove_file(folder.path("o/ensemble.json")).expect("a file");
    folder.tisane(&["resume", "o"]).exits(2).says(&["ended before it had a member", "--overwrite"]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--overwrite"]).exits(0);
    // What a kill leaves while the states are written.
    folder.write("o/.in_progress.hdf5.partial", "half");
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    assert!(!folder.path("o/.in_progress.hdf5.partial").exists());
}
