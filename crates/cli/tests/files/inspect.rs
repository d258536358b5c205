//! Promise: `inspect` shows one screen about any file that tisane reads, and says what it reads about any other.
//! (tisane's own files: see `snapshot_layout`, `checkpoint_file` and `series`.)

use std::fs;
use tisane_io::inspect;

fn describe(name: &str, content: &[u8]) -> Result<String, tisane::Error> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a small file");
    inspect::describe(&path)
}

fn assert_shows(page: &str, lines: &[(&str, &str)]) {
    for (name, value) in lines {
        let line = format!("{name:<28} {value}\n");
        assert!(page.contains(&line), "{line} is missing in\n{page}");
    }
}

#[test]
fn particles_are_shown_in_every_format() {
    let csv = "m,x,y,z,vx,vy,vz\n1,0.5,0,0,0,3,4\n3,-0.5,2,0,0,0,0\n";
    // The kind of a file is recognised from its content, not its name.
    for name in ["a.csv", "a"] {
        let page = describe(name, csv.as_bytes()).expect("a good file");
        assert_shows(
            &page,
            &[
                ("kind", "particles, csv format"),
                ("particles", "2"),
                ("total mass", "4"),
                ("  of one particle", "1 to 3"),
                ("extent in x", "-0.5 to 0.5"),
                ("  in y", "0 to 2"),
                ("speeds", "0 to 5"),
            ],
        );
    }
    let page = describe("dat.10", b"1 0 0 0 0 0 0\n2 1 0 0 0 0 0\n").expect("a good file");
    assert_shows(&page, &[("kind", "particles, nbody6 format"), ("total mass", "3"), ("speeds", "0 to 0")]);
    let mut tipsy = [2.5f64.to_be_bytes().to_vec()].concat();
    [1u32, 3, 0, 1, 0, 0].iter().for_each(|n| tipsy.extend(n.to_be_bytes()));
    [2.0f32, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.125, 0.0].iter().for_each(|x| tipsy.extend(x.to_be_bytes()));
    let page = describe("a.tipsy", &tipsy).expect("a good file");
    assert_shows(
        &page,
        &[
            ("kind", "particles, tipsy format"),
            ("time", "2.5"),
            (
                "softening of one particle",
                "0.125 in the file's unit of length (dark); tisane has one for all, softening.epsilon",
            ),
        ],
    );
}

#[test]
fn what_cannot_be_read_is_told_with_what_can() {
    for (name, content, expected) in [
        ("a.toml", &b"[list]\nname = 1\n"[..], "not a file that tisane reads"),
        ("a.toml", b"[run]\nname = 1\n", "this is a configuration of a run"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"m,x,y,z,vx,vy,vz\n1,2,3,4,5,6\n", "line 2"),
        ("a.hdf5", b"\x89HDF\r\n\x1a\n and then not", "not HDF5"),
    ] {
        let error = describe(name, content).expect_err(expected);
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(expected), "{error}");
    }
    let tisane::Error::Input { help, .. } = describe("a", &[0, 1, 2]).expect_err("unknown") else {
        panic!("expected an input error")
    };
    let help = help.unwrap_or_default();
    for name in ["tisane", "tipsy", "csv", "nbody6", "checkpoints", "journals"] {
        assert!(help.contains(name), "{name} is missing in {help}");
    }
    let missing = inspect::describe(std::path::Path::new("no such")).expect_err("missing");
    assert!(missing.to_string().contains("no such file"), "{missing}");
}

#[test]
fn tables_of_ensembles_and_studies_are_described() {
    let table = "# Members\n# seed: 1\n# column member: number of the member\n# column end: why it ended\n\
                 member [1],end\n0,finished\n1,dissolved\n";
    let page = describe("members.csv", table.as_bytes()).expect("a table");
    assert_shows(&page, &[("kind", "tisane table, CSV"), ("title", "Members"), ("rows", "2"), ("columns", "2")]);
    assert_shows(&page, &[("  member", "1.0"), ("  end", "dissolved")]);
}
