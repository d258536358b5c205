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

use crate::transcript::Transcript;
use program::{Folder, SMALL, Said};

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

/// `check`, `run` and `run` over an existing run all refuse the configuration with the same words, which are returned, and
/// touch no file.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str]) -> Said {
    folder.write("other.toml", SMALL);
    folder.tisane(&["run", "other.toml", "-q", "--output", "existing", "--overwrite"]).exits(0);
    let before = folder.files();
    let whole = |verb: &[&'static str], more: &[&'static str]| -> Vec<String> {
        verb.iter().chain(arguments).chain(more).map(|&word| word.to_owned()).collect()
    };
    let all = [
        whole(&["check"], &[]),
        whole(&["run"], &["--output", "new"]),
        whole(&["run"], &["--output", "existing", "--overwrite"]),
    ]
    .map(|command| {
        let said = folder.tisane(&command.iter().map(String::as_str).collect::<Vec<_>>()).exits(2);
        assert!(!said.err.contains("panicked") && said.out.is_empty(), "{command:?}: {}\n{}", said.out, said.err);
        assert!(folder.files() == before, "{command:?} touched a file");
        said
    });
    assert!(all.iter().all(|said| said.err == all[0].err), "{all:?}");
    all.into_iter().next().unwrap()
}

#[test]
fn mistakes_in_the_configuration_are_told_with_file_line_and_key() {
    let mut transcript = Transcript::default();
    for (from, to) in [
        ("epsilon", "epsilom"),
        ("[softening]", "[sofening]"),
        ("n = 16", "n = \"many\""),
        ("n = 16", "n = 16.5"),
        ("n = 16", ""),
        ("t_end = 0.5", ""),
        ("n = 16", "n = 0"),
        ("n = 16", "n = 16\nmass = -1.0"),
        ("0.01", "-0.01"),
        ("t_end = 0.5", "t_end = 0.5\nt_start = 1.0"),
        ("t_end = 0.5", "t_end = 10000000000000002\nt_start = 1e16"),
        ("[softening]", "[limits]\nenergy_error = 0.0\n[softening]"),
        ("t_end = 0.5", "t_end = 0.55"),
        ("[softening]", "[integrator.hermite4]\nnu = 0.0\n[softening]"),
        ("[softening]", "[integrator.multipoint]\neta = 0.0\n[softening]"),
        ("[softening]", "[integrator.multipoint]\neta = 0.8\n[softening]"),
        ("[softening]", "[integrator.multipoint]\norder = 7\n[softening]"),
        ("[softening]", "[integrator.multipoint]\norder = 8\n[force]\nprecision = \"mixed\"\n[softening]"),
        ("[softening]", "[integrator.multipoint]\nnu = 0.01\n[softening]"),
        ("[softening]", "[integrator.ahmad_cohen]\norder = 8\n[softening]"),
        ("[softening]", "[integrator.ahmad_cohen]\neta = 0.8\n[softening]"),
        ("[softening]", "[integrator.ahmad_cohen]\nneighbours = 0\n[softening]"),
        (
            "[softening]\nepsilon = 0.01",
            "[softening]\nepsilon = 0.01\n[collisions]\naction = \"record\"\nradii = \"input\"",
        ),
        ("[softening]", "[integrator.multipoints]\n[softening]"),
        ("[softening]", "[initial.pythagorean]\n[softening]"),
        ("[softening]", "[softening"),
    ] {
        assert!(SMALL.contains(from));
        let config = SMALL.replacen(from, to, 1);
        transcript.add(&format!("# {from:?} -> {to:?}"), &refused(&Folder::new(&config), &["run.toml"]));
    }
    transcript.is("mistakes_in_the_configuration");
    // The memory that there is differs between machines.
    let config = SMALL.replacen("n = 16", "n = 4294967295", 1);
    refused(&Folder::new(&config), &["run.toml"]).says(&["run.toml:5:", "initial.plummer.n", "memory"]);
}

#[test]
fn mistakes_in_overrides_are_told_with_the_override() {
    let folder = Folder::new(SMALL);
    let mut transcript = Transcript::default();
    for set in
        ["nonsense", "softening.epsilom=1", "softening.epsilon=-1", "initial.plummer.n=many", "force.threads=100000"]
    {
        transcript.add(&format!("# --set {set}"), &refused(&folder, &["run.toml", "--set", set]));
    }
    let before = folder.files();
    for arguments in [
        &["run", "run.toml", "--threads", "100000"][..],
        &["run", "run.toml", "--time-limit", "soon"],
        &["run", "run.toml", "--nonsense"],
        &["run", "nowhere.toml"],
        &["brew"],
    ] {
        transcript.tisane(&folder, arguments).exits(2);
    }
    assert!(folder.files() == before);
    transcript.is("mistakes_on_the_command_line");
}

#[test]
fn a_configuration_is_a_file() {
    refused(&Folder::new(SMALL), &["/dev/null"]).says(&["/dev/null", "not a regular file"]);
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
    let mut transcript = Transcript::default();
    for (case, content) in [
        ("an empty file", Vec::new()),
        ("not HDF5 behind its first bytes", b"\x89HDF\r\n\x1a\n and nothing more".to_vec()),
        ("of another kind", b"%PDF-1.4\n".to_vec()),
        ("Tipsy, cut off", tipsy[..tipsy.len() - 9].to_vec()),
        ("CSV, not a number", csv("1,NaN,0,0,0,0,0,2").into()),
        ("CSV, an id twice", csv("1,1,0,0,0,0,0,1").into()),
        ("CSV, a row too short", csv("1,1,0,0,0,0").into()),
        ("CSV, a negative mass", csv("-1,1,0,0,0,0,0,2").into()),
        ("NBODY6, a row too short", b"1 0 0 0 0 0 0\n1 1 0 0 0 0\n".to_vec()),
    ] {
        let folder = Folder::new(FROM_FILE);
        folder.write("particles", content);
        transcript.add(&format!("# {case}"), &refused(&folder, &["run.toml"]));
    }
    transcript.add("# no file", &refused(&Folder::new(FROM_FILE), &["run.toml"]));
    transcript.is("mistakes_in_an_input_file");
}

#[test]
fn a_snapshot_cut_off_or_in_other_units_is_refused() {
    let folder = Folder::new(FROM_FILE);
    folder.write("other.toml", SMALL);
    folder.tisane(&["run", "other.toml", "-q", "--output", "o"]).exits(0);
    let snapshot = std::fs::read(folder.path("o/snapshots/snapshot_0001.hdf5")).unwrap();
    folder.write("particles", &snapshot[..snapshot.len() / 2]);
    refused(&folder, &["run.toml"]).says(&["particles"]);
    let units =
        "[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n[integrator.hermite4]\ndt_max = 0.125\n";
    let folder = Folder::new(&FROM_FILE.replace("[units]\nsystem = \"henon\"\n", ""));
    refused(&folder, &["run.toml"]).says(&["[units]", "missing"]);
    let folder = Folder::new(&(units.to_owned() + &FROM_FILE.replace("[units]\nsystem = \"henon\"\n", "")));
    folder.write("particles", "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n1 1 0 0 0 0 0");
    folder.tisane(&["check", "run.toml"]).exits(0);
}

#[test]
fn coincident_particles_without_softening_are_refused() {
    let folder = Folder::new(&FROM_FILE.replace("0.01", "0.0"));
    folder.write("particles", "m,x,y,z,vx,vy,vz,id\n1,0,0,0,0,0,0,7\n1,1,0,0,0,0,0,8\n1,0,0,0,0,1,0,9\n");
    let parts = ["run.toml:9:", "softening.epsilon", "particles 7 and 9", "same place"];
    refused(&folder, &["run.toml"]).says(&parts);
}

/// The square of their distance is 0, or has lost its digits.
#[test]
fn particles_that_are_too_close_for_f64_are_refused() {
    for apart in ["1e-162", "1e-158", "1e-300", "5e-324"] {
        let folder = Folder::new(&(FROM_FILE.replace("0.01", "0.0") + "\n[encounters]\n"));
        folder.write(
            "particles",
            format!("m,x,y,z,vx,vy,vz,id\n.3,0,0,0,0,0,0,7\n.4,1,0,0,0,1,0,8\n.3,{apart},0,0,0,0,0,9\n"),
        );
        let parts =
            ["run.toml:9:", "softening.epsilon", "particles 7 and 9", "same place", apart, "take one of the two"];
        folder.tisane(&["check", "run.toml"]).exits(2).says(&parts);
        refused(&folder, &["run.toml"]).says(&parts);
    }
}
