//! `inspect`: any file that tisane reads or writes.

use crate::program::{Folder, data_of_others};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn inspect_knows_every_file_that_a_run_writes() {
    let folder = Folder::new("[run]\nname = \"i\"\nt_end = 0.125\n[initial.plummer]\nn = 8\nseed = 5\n");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    for (file, parts) in [
        ("snapshots/snapshot_0001.hdf5", &["snapshot", "particles 8", "time 0.125", "seed 5", "match"][..]),
        ("checkpoint.hdf5", &["checkpoint", "particles 8", "block steps", "state_sha256"]),
        ("diagnostics.hdf5", &["diagnostics", "rows 2", "relative_energy_error"]),
        ("diagnostics.csv", &["diagnostics", "rows 2", "relative_energy_error"]),
        ("config.toml", &["this configuration is valid", "particles"]),
    ] {
        let before = folder.files();
        let said = folder.tisane(&["inspect", &format!("o/{file}")]).exits(0).says(parts);
        assert!(said.err.is_empty() && said.out.lines().count() < 70, "one screen or so:\n{}", said.out);
        assert!(folder.files() == before, "inspect writes nothing");
    }
}

#[test]
fn inspect_knows_the_files_of_others() {
    let folder = Folder::new("");
    folder.write("p.csv", "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1,1,0,0,0,1,0\n");
    folder.write("p.dat", "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n");
    folder.tisane(&["inspect", "p.csv"]).exits(0).says(&["csv", "particles 2"]);
    folder.tisane(&["inspect", "p.dat"]).exits(0).says(&["nbody6", "particles 2"]);
    for (name, parts) in
        [("N1k.dat.10", ["nbody6", "particles 1000"]), ("galaxy_20K.tipsy", ["tipsy", "particles 20000"])]
    {
        let Some(path) = data_of_others(name) else { return };
        folder.tisane(&["inspect", path.to_str().unwrap()]).exits(0).says(&parts);
    }
}

#[test]
fn inspect_takes_the_format_where_the_content_does_not_tell_it() {
    let folder = Folder::new("");
    folder.write("p.dat", "1 0 0 0 0 0 0\n1 1 0 0 0 1 0\n");
    folder.tisane(&["inspect", "p.dat"]).exits(0).says(&["nbody6", "could also be petar", "not stated in the file"]);
    folder.tisane(&["inspect", "p.dat", "--from", "petar"]).exits(0).says(&["petar", "as named", "pc/Myr"]);
    folder.tisane(&["inspect", "p.dat", "--from", "gadget"]).exits(2).says(&["not an HDF5 file"]);
    folder.tisane(&["inspect", "p.dat", "--from", "gaget"]).exits(2).says(&["gaget", "gadget"]);
}

#[test]
fn convert_goes_through_every_format_and_back_to_the_same_numbers() {
    let folder = Folder::new("");
    // Numbers that a 4-byte float holds, so that Tipsy loses nothing either.
    let csv = "m,x,y,z,vx,vy,vz,id\n1.0,0.5,0.0,0.0,0.0,0.25,0.0,0\n2.0,-0.5,0.125,0.0,0.0,-0.25,3.0,1\n";
    folder.write("0.csv", csv);
    let mut last = "0.csv".to_owned();
    for (step, format) in ["gadget", "amuse", "nemo", "tipsy", "nbody6", "petar", "csv"].into_iter().enumerate() {
        let next = format!("{}.{format}", step + 1);
        let mut words = vec!["convert", &last, &next, "--to", format];
        // The first and those after a format without units.
        if ["gadget", "tipsy", "nbody6", "petar"].contains(&format) {
            words.extend(["--units", "mass=Msun,length=pc,velocity=pc/Myr,time=Myr"]);
        }
        let said = folder
            .tisane(&words)
            .exits(0)
            .says(&[&format!("{next}: {format}, 2 particles, read back with the same bits")]);
        assert!(said.out.is_empty(), "{}", said.out);
        last = next;
    }
    assert_eq!(std::fs::read_to_string(folder.path(&last)).unwrap(), csv);
}

#[test]
fn convert_says_what_it_does_and_what_is_lost() {
    let folder = Folder::new("");
    folder.write("p.csv", "m,x,y,z,vx,vy,vz,id\n0.1,0.5,0,0,0,1,0,7\n2,-0.5,0.1,0,0,-1,0,3\n");
    let units = ["--units", "mass=Msun,length=pc,velocity=km/s"];
    let convert = |words: &[&str]| folder.tisane(&[&["convert"], words].concat());
    convert(&["p.csv", "p.tipsy"]).exits(0).says(&[
        "from the content: text with commas",
        "lost: digits",
        "lost: the particles' ids",
    ]);
    convert(&["p.tipsy", "p.dat", "--to", "nbody6"]).exits(0).says(&["lost: the time, 0"]);
    convert(&[&["p.csv", "p.petar", "--to", "petar"][..], &units].concat())
        .exits(0)
        .says(&["converted from Msun, pc, km/s", "pc/Myr"]);
    let text = std::fs::read_to_string(folder.path("p.petar")).unwrap();
    // 1 km/s is 1.0227 pc/Myr.
    assert!(text.starts_with("0.1 0.5 0.0 0.0 0.0 1.02271216504"), "{text}");
    let quiet = convert(&["p.csv", "q.tipsy", "-q"]).exits(0);
    assert!(quiet.out.is_empty() && quiet.err.is_empty(), "{}", quiet.err);
    let before = folder.files();
    for (words, parts) in [
        (&["p.csv", "p.tipsy"][..], &["p.tipsy", "such a file already", "--overwrite"][..]),
        (&["p.csv", "p.out"], &["does not say a format", "--to amuse | gadget"]),
        (&["p.csv", "g.hdf5", "--to", "gadget"], &["not known", "--units"]),
        (&["p.csv", "g.hdf5", "--to", "tisane"], &["but does not write them", "tisane writes amuse, gadget"]),
        (&["p.csv", "g.hdf5", "--to", "gadgte"], &["gadgte", "gadget"]),
        (&["p.csv", "g.csv", "--to-units", "henon"], &["does not say its units"]),
        (&["p.petar", "g.csv", "--from", "petar", "--units", "henon"], &["says its units itself", "--to-units"]),
        (&["p.petar", "g.csv", "--from", "petar", "--to-units", "henon"], &["cannot be converted to Henon units"]),
        (&["p.csv", "g.csv", "--units", "mass=Msun,length=kp,velocity=km/s"], &["\"kp\"", "did you mean kpc?"]),
        (&["p.csv", "g.csv", "--units", "mass=Msun,lenght=pc"], &["lenght", "did you mean length?"]),
        (&["p.csv", "g.csv", "--units", "mass=Msun,length=pc"], &["velocity=… or time=…"]),
        (&["p.csv", "nowhere/g.csv"], &["nowhere"]),
        (&["nowhere.csv", "g.csv"], &["no such file"]),
    ] {
        let said = convert(words);
        assert!([2, 5].contains(&said.code) && !said.err.contains("panicked"), "{words:?}: {}", said.err);
        said.says(parts);
        assert!(folder.files() == before, "{words:?} wrote something");
    }
    convert(&["p.csv", "p.tipsy", "--overwrite"]).exits(0);
}

#[test]
fn convert_writes_files_and_nothing_in_their_place() {
    let folder = Folder::new("");
    folder.write("p.csv", "m,x,y,z,vx,vy,vz,id\n0.1,0.5,0,0,0,1,0,7\n2,-0.5,0.1,0,0,-1,0,3\n");
    let [csv, folder_there, pipe, link, lost, twin] =
        ["p.csv", "folder", "pipe", "link", "lost", "twin"].map(|name| folder.path(name));
    fs::create_dir(&folder_there).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("p.csv", &link).unwrap();
    symlink("nothing", &lost).unwrap();
    fs::hard_link(&csv, &twin).unwrap();
    let about = |path: &Path| {
        let about = fs::symlink_metadata(path).unwrap();
        (about.ino(), about.file_type(), about.mtime_nsec(), about.size())
    };
    let all = || [&csv, &folder_there, &pipe, &link, &lost, &twin].map(|path| about(path));
    let (before, count) = (all(), fs::read_dir(folder.path("")).unwrap().count());
    for (words, parts) in [
        (["p.csv", "p.csv"], ["p.csv", "the input file", "another file"]),
        (["link", "p.csv"], ["p.csv", "the input file", "another file"]),
        (["p.csv", "twin"], ["twin", "the input file", "another file"]),
        (["p.csv", "link"], ["link", "a link to p.csv", "the path of the file itself"]),
        (["p.csv", "lost"], ["lost", "a link to nothing", "the path of the file itself"]),
        (["p.csv", "folder"], ["folder", "a folder", "only regular files"]),
        (["p.csv", "pipe"], ["pipe", "a device, a pipe or a socket", "only regular files"]),
    ] {
        for more in [&["--overwrite"][..], &[]] {
            folder.tisane(&[&["convert"], &words[..], &["--to", "tipsy"], more].concat()).exits(2).says(&parts);
            assert!(all() == before && fs::read_dir(folder.path("")).unwrap().count() == count, "{words:?}");
        }
    }
}

#[test]
fn files_of_real_programs_load_and_run_for_a_crossing_time() {
    let config = |path: &std::path::Path, units: &str, rest: &str| {
        let path = path.display();
        format!("[run]\nname = \"real\"\nt_end = 4.0\n[units]\n{units}\n[initial.file]\npath = \"{path}\"\n{rest}")
    };
    if let Some(path) = data_of_others("N1k.dat.10") {
        let units = "mass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"";
        let rest = "[softening]\nepsilon = 0.01\n[integrator.hermite4]\ndt_max = \"1/16\"\n[output]\ninterval = 0.5\n";
        let folder = Folder::new(&config(&path, units, rest));
        let said = folder.tisane(&["check", "run.toml"]).exits(0);
        let said = said.says(&["particles 1000", "could also be petar", "crossing time"]);
        let crossing = said.out.lines().find(|line| line.contains("crossing time")).unwrap();
        let crossing: f64 = crossing.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert!(crossing > 0.1 && crossing < 4.0, "{crossing} Myr");
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        let error = crate::program::summary(&folder.path("o"))["max_relative_energy_error"].as_f64().unwrap();
        assert!(error < 1e-5, "{error}");
    }
    if let Some(path) = data_of_others("galaxy_20K.tipsy") {
        let folder = Folder::new(&config(&path, "system = \"henon\"", "[softening]\nepsilon = 0.1\n"));
        let parts = ["particles 20000", "2500 dark, 17500 star particles were merged", "softening length"];
        folder.tisane(&["check", "run.toml"]).exits(0).says(&parts);
    }
    if let Some(path) = data_of_others("SStars2009.amuse.h5") {
        let folder = Folder::new("");
        let parts = ["orbital elements", "semimajor_axis", "[initial.elements]"];
        folder.tisane(&["inspect", path.to_str().unwrap()]).exits(2).says(&parts);
    }
}

#[test]
fn inspect_refuses_what_it_does_not_know() {
    let folder = Folder::new("");
    folder.write("garbage.hdf5", "garbage");
    folder.write("empty.csv", "");
    for (file, parts) in [
        ("garbage.hdf5", &["garbage.hdf5"][..]),
        ("empty.csv", &["empty.csv"]),
        ("nowhere.hdf5", &["nowhere.hdf5", "no such file"]),
        ("", &[]),
    ] {
        let said = folder.tisane(&["inspect", file]).exits(2).says(parts);
        assert!(!said.err.contains("panicked"), "{}", said.err);
    }
}
