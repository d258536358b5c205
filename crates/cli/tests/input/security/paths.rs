//! Paths and names in files: where they lead out, they are refused.

use crate::hdf;
use crate::program::Folder;
use hdf5::file::{FileBuilder, LibraryVersion};
use hdf5::types::{FixedUnicode, TypeDescriptor};
use hdf5::{File, Group, H5Type, Location, Selection};
use std::fs;
use std::path::Path;
use tisane::Result;
use tisane_io::{formats, snapshot, table};

/// What a hostile file would like to have read or written.
const SECRET: &str = "0f1e2d3c4b5a6978";
const RUN: &str = "[run]\nname = \"small\"\nt_end = 0.25\n[initial.plummer]\nn = 8\nseed = 1\n[softening]\nepsilon = 0.01\n\
                   [integrator.hermite4]\nnu = 0.02\n";

fn array<T: H5Type>(at: &Location, name: &str, values: &[T]) {
    at.new_attr::<T>().shape(values.len()).create(name).and_then(|a| a.write_raw(values)).unwrap();
}

/// Files of HDF5's first format, which has no checksums that would have to be made anew.
fn open() -> FileBuilder {
    let mut builder = hdf::options();
    builder.with_fapl(|p| p.libver_bounds(LibraryVersion::Earliest, LibraryVersion::V110));
    builder
}

/// Two particles as Gadget writes them, their group made by `make`.
fn gadget(path: &Path, make: impl Fn(&File)) {
    let file = open().create(path).unwrap();
    let header = file.create_group("Header").unwrap();
    array(&header, "NumPart_ThisFile", &[0i32, 0, 0, 0, 2, 0]);
    make(&file);
}

fn stars(group: &Group) {
    let vectors = |name: &str| {
        group
            .new_dataset::<f64>()
            .shape([2, 3])
            .create(name)
            .unwrap()
            .write_raw(&[0.5, 0.0, 0.0, -0.5, 0.0, 0.0])
            .unwrap();
    };
    vectors("Coordinates");
    vectors("Velocities");
    masses(group, "Masses");
}

fn masses(group: &Group, name: &str) {
    group.new_dataset::<f64>().shape(2).create(name).unwrap().write_raw(&[1.0, 2.0]).unwrap();
}

fn says<T>(result: Result<T>, part: &str) {
    let error = result.map(|_| "it was read").unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    assert!(error.to_string().contains(part), "expected {part} in: {error}");
}

#[test]
fn values_of_other_files_are_not_read_as_a_files_own() {
    let folder = tempfile::tempdir().unwrap();
    let (other, path) = (folder.path().join("other.hdf5"), folder.path().join("snap.hdf5"));
    gadget(&other, |file| {
        stars(&file.create_group("PartType4").unwrap());
        masses(file, "Masses");
    });
    formats::read(&other, None).expect("whole where it stands itself");
    let other = other.to_str().unwrap();
    // The raw bytes of a file that is none of HDF5's.
    let secret = folder.path().join("secret");
    fs::write(&secret, [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat()).unwrap();
    let secret = secret.to_str().unwrap();
    let in_group = |make: &dyn Fn(&Group)| {
        gadget(&path, |file| {
            let group = file.create_group("PartType4").unwrap();
            stars(&group);
            group.unlink("Masses").unwrap();
            make(&group);
        });
        formats::read(&path, None)
    };
    gadget(&path, |file| file.link_external(other, "PartType4", "PartType4").unwrap());
    says(formats::read(&path, None), "no such group");
    gadget(&path, |file| {
        file.link_external(other, "PartType4", "hidden").unwrap();
        file.link_soft("hidden", "PartType4").unwrap();
    });
    says(formats::read(&path, None), "no such group");
    says(
        in_group(&|group| group.link_external(other, "Masses", "Masses").unwrap()),
        "/PartType4/Masses: it is a link to another file",
    );
    says(
        in_group(&|group| drop(group.new_dataset::<f64>().external(secret, 0, 16).shape(2).create("Masses").unwrap())),
        "/PartType4/Masses: its values are stored in another file or dataset",
    );
    says(
        in_group(&|group| {
            let view = group.new_dataset::<f64>();
            let view = view.virtual_map(other, "Masses", 2, Selection::All, 2, Selection::All);
            view.shape(2).create("Masses").unwrap();
        }),
        "/PartType4/Masses: its values are stored in another file or dataset",
    );
    in_group(&|group| masses(group, "Masses")).expect("whole with masses of its own");
}

#[test]
fn nor_as_a_snapshots_or_a_tables() {
    let folder = Folder::new(RUN);
    folder.tisane(&["run", "run.toml", "--quiet", "--output", "o"]).exits(0);
    let good = folder.path("o/snapshots/snapshot_0000.hdf5");
    let path = folder.path("snapshot_0000.hdf5");
    let with = |change: &dyn Fn(&File)| {
        fs::copy(&good, &path).unwrap();
        change(&hdf::change(&path));
    };
    let other = good.to_str().unwrap();
    with(&|file| {
        file.unlink("PartType4/Masses").unwrap();
        file.link_external(other, "PartType4/Masses", "PartType4/Masses").unwrap();
    });
    says(snapshot::read(&path), "/PartType4/Masses: it is a link to another file");
    with(&|file| {
        file.unlink("Provenance").unwrap();
        file.link_external(other, "Provenance", "Provenance").unwrap();
    });
    says(snapshot::read(&path), "/Provenance: it is a link to another file");
    let (good, path) = (folder.path("o/diagnostics.hdf5"), folder.path("diagnostics.hdf5"));
    fs::copy(&good, &path).unwrap();
    let file = hdf::change(&path);
    file.unlink("Diagnostics/energy").unwrap();
    file.link_external(good.to_str().unwrap(), "Diagnostics/energy", "Diagnostics/energy").unwrap();
    drop(file);
    says(table::read(&path), "energy: it is a link to another file");
}

/// Masses packed by HDF5's own deflate, with as many parameters more, each of which is `MARK`.
fn packed(at: &Group, n: usize, more: usize) {
    let builder = at.new_dataset::<f64>().chunk(n).add_filter(1, &[&[9], &vec![MARK; more][..]].concat());
    builder.shape(n).create("Masses").unwrap().write_raw(&vec![0.125; n]).unwrap();
}
const MARK: u32 = 0x5ad1_7e5b;

/// Gives the filter with such a parameter the number of a plug-in, which HDF5 makes no file with where it has not the
/// plug-in.
fn by_a_plug_in(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let mark = bytes.windows(4).position(|four| four == MARK.to_le_bytes()).unwrap();
    // Number, length of the name, flags, number of parameters, the name, the first parameter.
    let number = mark - 4 - 8 - 8;
    assert_eq!((&bytes[number..number + 4], &bytes[mark - 12..mark - 4]), (&[1, 0, 8, 0][..], &b"deflate\0"[..]));
    bytes[number..number + 2].copy_from_slice(&32_015u16.to_le_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn values_packed_by_a_filter_that_may_be_a_plug_in_are_not_read() {
    const REFUSED: &str = "its values are packed by Zstandard, which tisane cannot unpack";
    let folder = Folder::new(RUN);
    let path = folder.path("packed.hdf5");
    // With more than 32 parameters hdf5-metno does not tell the filters of a file but panics.
    for more in [1, 100] {
        gadget(&path, |file| {
            let group = file.create_group("PartType4").unwrap();
            stars(&group);
            group.unlink("Masses").unwrap();
            packed(&group, 2, more);
        });
        assert_eq!(formats::read(&path, None).unwrap().particles.mass, [0.125; 2]);
        by_a_plug_in(&path);
        says(formats::read(&path, None), REFUSED);
    }
    folder.tisane(&["run", "run.toml", "--quiet", "--output", "o"]).exits(0);
    let path = folder.path("o/snapshots/snapshot_0000.hdf5");
    let file = open().open_rw(&path).unwrap();
    file.unlink("PartType4/Masses").unwrap();
    packed(&file.group("PartType4").unwrap(), 8, 1);
    drop(file);
    by_a_plug_in(&path);
    says(snapshot::read(&path), REFUSED);
}

#[test]
fn the_name_of_a_run_leads_nowhere() {
    let folder = Folder::new("");
    for name in ["../up", "/abs", "a/b", "..", ".hidden", "-o", "a\\\\b", "a\\u0000b", "a\\nb", "~"] {
        folder.write("run.toml", RUN.replace("small", name));
        folder.tisane(&["run", "run.toml", "--quiet"]).exits(2).says(&["run.name"]);
    }
    assert!(!folder.path("runs").exists() && !folder.path("../up").exists());
}

#[test]
fn a_resumed_run_writes_where_it_lies_and_not_where_its_checkpoint_says() {
    let folder = Folder::new(RUN);
    let there = folder.path("there");
    folder.tisane(&["run", "run.toml", "--quiet", "--output", there.to_str().unwrap()]).exits(0);
    fs::rename(&there, folder.path("here")).unwrap();
    folder.tisane(&["resume", "here", "--t-end", "0.5", "--quiet"]).exits(0);
    assert!(!there.exists(), "the directory that the checkpoint names was made again");
    assert!(fs::read_to_string(folder.path("here/summary.json")).unwrap().contains("\"finished\""));
}

#[test]
fn a_reproduced_run_writes_where_the_user_says_and_not_where_its_file_says() {
    let folder = Folder::new(RUN);
    let there = folder.path("there");
    folder.tisane(&["run", "run.toml", "--quiet", "--output", there.to_str().unwrap()]).exits(0);
    fs::rename(&there, folder.path("here")).unwrap();
    folder.tisane(&["reproduce", "here/summary.json", "--run", "--quiet", "--output", "again"]).exits(0);
    assert!(!there.exists() && folder.path("again/summary.json").exists());
}

#[test]
fn a_case_reads_and_writes_its_own_files_alone() {
    let check = "[[checks]]\nwhat = \"n\"\nrun = \"rows\"\nquantity = \"row\"\nvalue = \"/n\"\nreference = 8\ntolerance = 0\n\
                 kind = \"absolute\"\nsource = \"here\"\n";
    let case = |runs: &str| format!("title = \"Rows\"\n[[runs]]\nname = \"rows\"\n{runs}\n{check}");
    let folder = Folder::new("");
    fs::create_dir_all(folder.path("cases/rows")).unwrap();
    folder.write("data.csv", SECRET);
    let data = folder.path("data.csv");
    let absolute = data.to_str().unwrap();
    let bench =
        "command = [\"bench\", \"force\", \"--json\", \"--n\", \"8\", \"--targets\", \"8\", \"--repeat\", \"1\"]";
    for (case, says) in [
        (case("command = [\"run\", \"x.toml\"]"), "runs[1].command: expected `bench` with --json or `study`"),
        (case("command = [\"bench\", \"force\", \"--tune\", \"shapes.csv\"]"), "runs[1].command"),
        (case("command = [\"study\", \"force\", \"--output\", \"elsewhere\"]"), "runs[1].command"),
        (
            case(&format!("command = [\"study\", \"force\", \"{absolute}\", \"--output\", \"{{out}}\"]")),
            "leads out of the case",
        ),
        (case("command = [\"study\", \"force\", \"../x.toml\", \"--output\", \"{out}\"]"), "leads out of the case"),
        (
            case("command = [\"study\", \"force\", \"--output\", \"{out}\", \"--output={out}/../x\"]"),
            "leads out of the case",
        ),
        (case(&format!("{bench}\ntable = \"{absolute}\"")), "runs[1].table: expected the name of a file"),
        (case(&format!("{bench}\ntable = \"../data.csv\"")), "runs[1].table: expected the name of a file"),
        (
            case(bench).replace("[[runs]]", &format!("[needs]\ndata = \"{absolute}\"\n[[runs]]")),
            "needs.data: expected the name",
        ),
        (case(bench).replace("[[runs]]", "[needs]\ndata = \"../data.csv\"\n[[runs]]"), "needs.data: expected the name"),
    ] {
        folder.write("cases/rows/case.toml", &case);
        folder.tisane(&["validate", "--from", "cases", "--data", "."]).exits(2).says(&[says]);
        assert_eq!(fs::read_to_string(&data).unwrap(), SECRET);
    }
    folder.write("cases/rows/case.toml", case(bench));
    folder.tisane(&["validate", "--from", "cases"]).exits(0);
}

#[test]
fn texts_of_files_do_not_command_the_terminal() {
    let folder = Folder::new(RUN);
    folder.tisane(&["run", "run.toml", "--quiet", "--output", "o"]).exits(0);
    let path = folder.path("o/snapshots/snapshot_0000.hdf5");
    let file = hdf::change(&path);
    let group = file.group("Provenance").unwrap();
    group.delete_attr("host").unwrap();
    let host: FixedUnicode<32> = "a\u{1b}[2Jb\u{9b}1mc\rd".parse().unwrap();
    group
        .new_attr_builder()
        .empty_as(TypeDescriptor::FixedUnicode(32))
        .create("host")
        .unwrap()
        .write_scalar(&host)
        .unwrap();
    drop((group, file));
    let said = folder.tisane(&["inspect", path.to_str().unwrap()]).exits(0).says(&["a?[2Jb¿1mc d"]);
    assert!(!said.out.contains(|c: char| c.is_control() && c != '\n'), "{:?}", said.out);
    folder.write("bad.csv", "m,x,y,z,vx,vy,v\u{1b}[31mz\n1,2,3,4,5,6,7\n");
    folder.write("bad.toml", "[run]\nname = \"\\u001b[31m\"\nt_end = 1 # \u{1b}[32m\n");
    folder.write("worse.toml", "[run]\n\"\\u001b[33m\" = 1\n");
    for arguments in [["inspect", "bad.csv"], ["check", "bad.toml"], ["check", "worse.toml"]] {
        let said = folder.tisane(&arguments).exits(2);
        assert!(!said.err.contains(['\u{1b}', '\u{9b}']), "{arguments:?}: {:?}", said.err);
    }
}
