//! Promise: a mistake is reported with its location and exit code 2, and nothing is written or lost.

use crate::program;
#[path = "bad_input/checkpoints.rs"]
mod checkpoints;
#[path = "bad_input/directories.rs"]
mod directories;
#[path = "bad_input/locks.rs"]
mod locks;
#[path = "bad_input/surroundings.rs"]
mod surroundings;

use program::{Folder, SMALL};

/// A run from the file `particles`.
const FROM_FILE: &str = "[run]
name = \"file\"
t_end = 0.5
[units]
system = \"henon\"
[initial.file]
path = \"particles\"
[softening]
epsilon = 0.01
";

/// `check`, `run` and `run` over an existing run all refuse the configuration with the same words and touch no file.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    folder.write("other.toml", SMALL);
    folder.tisane(&["run", "other.toml", "-q", "--output", "existing", "--overwrite"]).exits(0);
    let before = folder.files();
    let whole = |verb: &[&'static str], more: &[&'static str]| -> Vec<String> {
        verb.iter().chain(arguments).chain(more).map(|&word| word.to_owned()).collect()
    };
    for command in [
        whole(&["check"], &[]),
        whole(&["run"], &["--output", "new"]),
        whole(&["run"], &["--output", "existing", "--overwrite"]),
    ] {
        let said = folder.tisane(&command.iter().map(String::as_str).collect::<Vec<_>>()).exits(2).says(parts);
        assert!(!said.err.contains("panicked") && said.out.is_empty(), "{command:?}: {}\n{}", said.out, said.err);
        assert!(folder.files() == before, "{command:?} touched a file");
    }
}

#[test]
fn mistakes_in_the_configuration_are_told_with_file_line_and_key() {
    for (from, to, parts) in [
        ("epsilon", "epsilom", &["run.toml:7:", "epsilom", "did you mean `epsilon`"][..]),
        ("[softening]", "[sofening]", &["run.toml:6:", "sofening", "did you mean `softening`"]),
        ("n = 16", "n = \"many\"", &["run.toml:5:", "initial.plummer.n", "whole number", "many"]),
        ("n = 16", "n = 16.5", &["run.toml:5:", "initial.plummer.n", "16.5"]),
        ("n = 16", "", &["run.toml:4:", "initial.plummer", "missing key `n`"]),
        ("t_end = 0.5", "", &["run.toml:1:", "missing key `t_end`"]),
        ("n = 16", "n = 0", &["run.toml:5:", "initial.plummer.n", "at least 1", "found 0"]),
        ("n = 16", "n = 16\nmass = -1.0", &["run.toml:6:", "initial.plummer.mass", "-1"]),
        ("0.01", "-0.01", &["run.toml:7:", "softening.epsilon", "-0.01"]),
        ("t_end = 0.5", "t_end = 0.5\nt_start = 1.0", &["run.toml:3:", "t_end", "1"]),
        (
            "t_end = 0.5",
            "t_end = 10000000000000002\nt_start = 1e16",
            &["run.toml:3:", "t_end", "too coarse for dt_max", "nearer to 0"],
        ),
        (
            "[softening]",
            "[limits]\nenergy_error = 0.0\n[softening]",
            &["run.toml:7:", "limits.energy_error", "above 0"],
        ),
        ("t_end = 0.5", "t_end = 0.55", &["run.toml:3:", "t_end", "nearest", "0.5", "0.625"]),
        ("[softening]", "[integrator.hermite4]\nnu = 0.0\n[softening]", &["run.toml:7:", "nu", "above 0"]),
        ("[softening]", "[integrator.multipoint]\neta = 0.0\n[softening]", &["run.toml:7:", "eta", "above 0"]),
        (
            "[softening]",
            "[integrator.multipoint]\neta = 0.8\n[softening]",
            &["run.toml:7:", "eta", "at most 0.7", "0.8"],
        ),
        ("[softening]", "[integrator.multipoint]\norder = 7\n[softening]", &["run.toml:7:", "order", "6 or 8", "7"]),
        (
            "[softening]",
            "[integrator.multipoint]\norder = 8\n[force]\nprecision = \"mixed\"\n[softening]",
            &["run.toml:7:", "order", "f64", "\"mixed\"", "expected 6"],
        ),
        (
            "[softening]",
            "[integrator.multipoint]\nnu = 0.01\n[softening]",
            &["run.toml:7:", "`nu`", "valid here", "eta"],
        ),
        (
            "[softening]",
            "[integrator.ahmad_cohen]\norder = 8\n[softening]",
            &["run.toml:7:", "integrator.ahmad_cohen.order", "expected 4 or 6, found 8"],
        ),
        (
            "[softening]",
            "[integrator.ahmad_cohen]\neta = 0.8\n[softening]",
            &["run.toml:7:", "eta", "at most 0.7", "0.8"],
        ),
        (
            "[softening]",
            "[integrator.ahmad_cohen]\nneighbours = 0\n[softening]",
            &["run.toml:7:", "neighbours", "above 0, found 0"],
        ),
        (
            "[softening]\nepsilon = 0.01",
            "[integrator.ahmad_cohen]\n[encounters]",
            &["run.toml:6:", "expected [integrator.hermite4], which alone can have [encounters]"],
        ),
        (
            "[softening]\nepsilon = 0.01",
            "[integrator.ahmad_cohen]\n[collisions]\naction = \"record\"\nradii = \"input\"",
            &["run.toml:7:", "[collisions] needs [encounters], which resolves close encounters"],
        ),
        ("[softening]", "[integrator.multipoints]\n[softening]", &["run.toml:6:", "did you mean `multipoint`"]),
        (
            "[softening]",
            "[initial.pythagorean]\n[softening]",
            &["run.toml:6:", "pythagorean", "plummer", "two at once"],
        ),
        ("[softening]", "[softening", &["run.toml:6:"]),
        ("n = 16", "n = 4294967295", &["run.toml:5:", "initial.plummer.n", "memory"]),
    ] {
        assert!(SMALL.contains(from));
        refused(&Folder::new(&SMALL.replacen(from, to, 1)), &["run.toml"], parts);
    }
}

#[test]
fn mistakes_in_overrides_are_told_with_the_override() {
    let folder = Folder::new(SMALL);
    for (set, parts) in [
        ("nonsense", &["--set nonsense", "section.key=value"][..]),
        ("softening.epsilom=1", &["--set softening.epsilom=1", "did you mean `epsilon`"]),
        ("softening.epsilon=-1", &["--set softening.epsilon=-1", "at least 0"]),
        ("initial.plummer.n=many", &["--set initial.plummer.n=many", "whole number"]),
        ("force.threads=100000", &["--set force.threads=100000", "threads", "at most"]),
    ] {
        refused(&folder, &["run.toml", "--set", set], parts);
    }
    let none = || folder.files();
    let before = none();
    folder.tisane(&["run", "run.toml", "--threads", "100000"]).exits(2).says(&["--threads", "100000"]);
    folder.tisane(&["run", "run.toml", "--time-limit", "soon"]).exits(2).says(&["--time-limit", "soon"]);
    folder.tisane(&["run", "run.toml", "--nonsense"]).exits(2).says(&["--nonsense"]);
    folder.tisane(&["run", "nowhere.toml"]).exits(2).says(&["nowhere.toml", "No such file"]);
    folder.tisane(&["brew"]).exits(2).says(&["brew"]);
    assert!(none() == before);
}

#[test]
fn a_configuration_is_a_file() {
    refused(&Folder::new(SMALL), &["/dev/null"], &["/dev/null", "not a regular file"]);
}

#[test]
fn an_unknown_vector_width_is_told() {
    let folder = Folder::new(SMALL);
    let before = folder.files();
    let mut command = folder.command(&["run", "run.toml"]);
    command.env("TISANE_SIMD", "neon");
    program::finish(command).exits(2).says(&["TISANE_SIMD=neon", "this machine has", "baseline"]);
    assert!(folder.files() == before);
}

#[test]
fn mistakes_in_an_input_file_are_told_with_file_and_place() {
    let csv = |rows: &str| format!("m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,1\n{rows}");
    let tipsy = {
        let mut bytes = 0f64.to_le_bytes().to_vec();
        bytes.extend([2i32, 3, 0, 2, 0].iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend([1f32; 18].iter().flat_map(|x| x.to_le_bytes()));
        bytes
    };
    for (content, parts) in [
        (Vec::new(), &["particles", "empty"][..]),
        (b"\x89HDF\r\n\x1a\n and nothing more".to_vec(), &["particles", "HDF5"]),
        (b"%PDF-1.4\n".to_vec(), &["particles", "not in a format that tisane reads"]),
        (tipsy[..tipsy.len() - 9].to_vec(), &["particles", "truncated"]),
        (csv("1,NaN,0,0,0,0,0,2").into(), &["particles", "line 3", "position is NaN"]),
        (csv("1,1,0,0,0,0,0,1").into(), &["particles", "line 3", "id 1 was used before"]),
        (csv("1,1,0,0,0,0").into(), &["particles", "line 3", "expected 8 columns", "found 6"]),
        (csv("-1,1,0,0,0,0,0,2").into(), &["particles", "line 3", "mass is -1"]),
        (b"1 0 0 0 0 0 0\n1 1 0 0 0 0\n".to_vec(), &["particles", "line 2", "expected 7 columns", "found 6"]),
    ] {
        let folder = Folder::new(FROM_FILE);
        folder.write("particles", content);
        refused(&folder, &["run.toml"], parts);
    }
    refused(
        &Folder::new(FROM_FILE),
        &["run.toml"],
        &["particles", "no such file", "a path in a configuration is relative"],
    );
}

#[test]
fn a_snapshot_cut_off_or_in_other_units_is_refused() {
    let folder = Folder::new(FROM_FILE);
    folder.write("other.toml", SMALL);
    folder.tisane(&["run", "other.toml", "-q", "--output", "o"]).exits(0);
    let snapshot = std::fs::read(folder.path("o/snapshots/snapshot_0001.hdf5")).unwrap();
    folder.write("particles", &snapshot[..snapshot.len() / 2]);
    refused(&folder, &["run.toml"], &["particles"]);
    let units =
        "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n[integrator.hermite4]\ndt_max = 0.125\n";
    let folder = Folder::new(&FROM_FILE.replace("[units]\nsystem = \"henon\"\n", ""));
    refused(&folder, &["run.toml"], &["[units]", "missing"]);
    let folder = Folder::new(&(units.to_owned() + &FROM_FILE.replace("[units]\nsystem = \"henon\"\n", "")));
    folder.write("particles", "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n1 1 0 0 0 0 0");
    folder.tisane(&["check", "run.toml"]).exits(0);
}

#[test]
fn coincident_particles_without_softening_are_refused() {
    let folder = Folder::new(&FROM_FILE.replace("0.01", "0.0"));
    folder.write("particles", "m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,7\n1,1,0,0,0,0,0,8\n1,0,0,0,0,1,0,9\n");
    refused(&folder, &["run.toml"], &["run.toml:9:", "softening.epsilon", "particles 7 and 9", "same place"]);
}
