//! Headers that claim far more than their file holds: the program says so, in an address space that has no room for the claim.

use crate::hdf;
use crate::program::{Folder, Said, finish};
use hdf5::{File, H5Type, Location};
use std::path::Path;
use std::process::Command;
use tisane_io::checksum;

/// Address space of the program, in bytes: what is claimed below is at least 25 times as much.
const ROOM: u64 = 2 << 30;
/// What the headers claim: 2^31 particles and more.
const CLAIMS: [u64; 5] = [1 << 31, (1 << 32) + 1, 1 << 48, 1 << 62, (1 << 63) - 1];

/// `tisane` with arguments, in [`ROOM`].
fn in_little_room(folder: &Folder, arguments: &[&str]) -> Said {
    let program = folder.command(arguments);
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--as={ROOM}")).arg(program.get_program()).args(program.get_args());
    limited.current_dir(program.get_current_dir().expect("the folder"));
    finish(limited)
}

/// A file is refused, by `inspect` and as initial conditions, with words and not by the system.
fn is_refused(folder: &Folder, name: &str, about: &str) {
    let config = "[run]\nname = \"a\"\nt_end = 1\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"FILE\"\n[softening]\nepsilon = 0.01\n\
                  [integrator.hermite4]\nnu = 0.02\n";
    folder.write("claim.toml", config.replace("FILE", name));
    for arguments in [["inspect", name], ["check", "claim.toml"]] {
        let said = in_little_room(folder, &arguments);
        assert!(said.code == 2 && !said.err.contains("panicked"), "{about}: exit code {}\n{}", said.code, said.err);
        assert!(said.err.contains(name), "{about}: {}", said.err);
    }
}

#[test]
fn there_is_room_for_what_is_whole() {
    let folder = Folder::new("");
    folder.write("good.csv", "m,x,y,z,vx,vy,vz\n1,0.5,0,0,0,1,0\n1,-0.5,0,0,0,-1,0\n");
    in_little_room(&folder, &["inspect", "good.csv"]).exits(0);
}

#[test]
fn headers_of_tipsy_and_nemo() {
    let folder = Folder::new("");
    for claim in [1u32 << 31, u32::MAX] {
        let words = [claim, 3, 0, claim, 0, 0].map(u32::to_be_bytes).concat();
        folder.write("tipsy", [&0f64.to_be_bytes()[..], &words, &[0; 36]].concat());
        is_refused(&folder, "tipsy", &format!("tipsy, {claim} particles"));
    }
    // Dimensions multiply: 2^31 - 1 three times over is 2^93.
    for dimensions in [vec![i32::MAX], vec![1 << 16, 1 << 15], vec![i32::MAX; 3], vec![i32::MAX; 7]] {
        let mut bytes = Vec::new();
        let item = |bytes: &mut Vec<u8>, kind: u8, name: &str, shape: &[i32]| {
            let magic: u16 = if shape.is_empty() { 0x0992 } else { 0x0b92 };
            bytes.extend(magic.to_le_bytes());
            bytes.extend([kind, 0]);
            bytes.extend(name.bytes().chain((kind != b')').then_some(0)));
            bytes.extend(shape.iter().chain((!shape.is_empty()).then_some(&0)).flat_map(|k| k.to_le_bytes()));
        };
        item(&mut bytes, b'(', "SnapShot", &[]);
        item(&mut bytes, b'(', "Parameters", &[]);
        item(&mut bytes, b'i', "Nobj", &[]);
        bytes.extend(dimensions[0].to_le_bytes());
        item(&mut bytes, b')', "", &[]);
        item(&mut bytes, b'(', "Particles", &[]);
        item(&mut bytes, b'd', "Mass", &dimensions);
        bytes.extend([0; 64]);
        folder.write("nemo", &bytes);
        is_refused(&folder, "nemo", &format!("nemo, {dimensions:?}"));
    }
}

#[test]
fn text_without_end() {
    let folder = Folder::new("");
    // 96 MiB in a line: neither a line nor a cell of it is taken for a number.
    for (name, content) in
        [("line.csv", "m,x,y,z,vx,vy,vz\n".to_owned() + &"1".repeat(96 << 20)), ("line.dat", "1 ".repeat(48 << 20))]
    {
        folder.write(name, content);
        is_refused(&folder, name, name);
    }
}

fn array<T: H5Type>(at: &Location, name: &str, values: &[T]) {
    at.new_attr::<T>().shape(values.len()).create(name).and_then(|a| a.write_raw(values)).unwrap();
}

/// Datasets of that many rows of which nothing is stored: plain, in chunks, packed.
fn unwritten(at: &hdf5::Group, name: &str, rows: u64, width: usize, k: usize) {
    let rows = rows as usize;
    let (shape, chunk) = if width == 1 { (vec![rows], vec![1024]) } else { (vec![rows, width], vec![1024, width]) };
    let plain = at.new_dataset::<f64>();
    let made = match k {
        0 => plain.shape(shape.as_slice()).create(name),
        1 => plain.chunk(chunk).shape(shape.as_slice()).create(name),
        _ => plain.chunk(chunk).deflate(9).shape(shape.as_slice()).create(name),
    };
    made.unwrap();
}

#[test]
fn headers_of_gadget_and_amuse() {
    let folder = Folder::new("");
    for (claim, k) in CLAIMS.into_iter().flat_map(|claim| (0..3).map(move |k| (claim, k))) {
        // Beyond what HDF5 itself lets a dataset have.
        let rows = claim.min(1 << 56);
        let file = hdf::create(folder.path("gadget.hdf5"));
        array(&file.create_group("Header").unwrap(), "NumPart_ThisFile", &[0u64, 0, 0, 0, claim, 0]);
        let stars = file.create_group("PartType4").unwrap();
        unwritten(&stars, "Coordinates", rows, 3, k);
        unwritten(&stars, "Velocities", rows, 3, k);
        unwritten(&stars, "Masses", rows, 1, k);
        drop(file);
        is_refused(&folder, "gadget.hdf5", &format!("gadget, {claim} particles, {k}"));
        let file = hdf::create(folder.path("amuse.hdf5"));
        let set = file.create_group("particles").and_then(|all| all.create_group("0000000001")).unwrap();
        let attributes = set.create_group("attributes").unwrap();
        set.new_attr::<u64>().create("number_of_particles").unwrap().write_scalar(&claim).unwrap();
        unwritten(&set, "keys", rows, 1, k);
        for name in ["mass", "x", "y", "z", "vx", "vy", "vz"] {
            unwritten(&attributes, name, rows, 1, k);
        }
        drop(file);
        is_refused(&folder, "amuse.hdf5", &format!("amuse, {claim} particles, {k}"));
    }
}

/// Writes another number over one of a file, and appends a new checksum as if a run had written it.
fn claims(path: &Path, change: impl FnOnce(&File)) {
    change(&hdf::change(path));
    checksum::append(path).unwrap();
}

#[test]
fn headers_of_tisanes_own_files() {
    let folder = Folder::new(
        "[run]\nname = \"a\"\nt_end = 0.25\n[initial.plummer]\nn = 8\n[softening]\nepsilon = 0.01\n[integrator.hermite4]\n\
         nu = 0.02\n",
    );
    folder.tisane(&["run", "run.toml", "--quiet", "--output", "o"]).exits(0);
    for claim in CLAIMS {
        let rows = claim.min(1 << 56);
        for (from, name, group, column) in [
            ("o/checkpoint.hdf5", "checkpoint.hdf5", "Particles", "mass"),
            ("o/snapshots/snapshot_0000.hdf5", "snapshot.hdf5", "PartType4", "Masses"),
            ("o/diagnostics.hdf5", "diagnostics.hdf5", "Diagnostics", "time"),
        ] {
            std::fs::copy(folder.path(from), folder.path(name)).unwrap();
            claims(&folder.path(name), |file| {
                let group = file.group(group).unwrap();
                if group.attr("n").is_ok() {
                    group.attr("n").unwrap().write_scalar(&claim).unwrap();
                }
                group.unlink(column).unwrap();
                unwritten(&group, column, rows, 1, 1);
            });
            let said = in_little_room(&folder, &["inspect", name]);
            assert!(said.code == 2 && said.err.contains(name), "{name}, {claim}: {} {}", said.code, said.err);
        }
        // The checkpoint as the one to go on from.
        std::fs::create_dir_all(folder.path("r")).unwrap();
        for file in ["config.toml", "run.log", "diagnostics.csv"] {
            std::fs::copy(folder.path("o").join(file), folder.path("r").join(file)).unwrap();
        }
        std::fs::copy(folder.path("checkpoint.hdf5"), folder.path("r/checkpoint.hdf5")).unwrap();
        let said = in_little_room(&folder, &["resume", "r"]);
        assert!(said.code == 2 && said.err.contains("checkpoint.hdf5"), "{claim}: {} {}", said.code, said.err);
    }
}
