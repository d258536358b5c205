//! `inspect`: any file that tisane reads or writes.

use crate::program::{Folder, data_of_others};
use crate::transcript::Transcript;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

#[test]
fn inspect_knows_every_file_that_a_run_writes() {
    let folder = Folder::new("[run]\nname = \"i\"\nt_end = 0.125\n[initial.plummer]\nn = 8\nseed = 5\n");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let mut transcript = Transcript::default();
    for file in
        ["snapshots/snapshot_0001.hdf5", "checkpoint.hdf5", "diagnostics.hdf5", "diagnostics.csv", "config.toml"]
    {
        let before = folder.files();
        let said = transcript.tisane(&folder, &["inspect", &format!("o/{file}")]).exits(0);
        assert!(said.err.is_empty() && said.out.lines().count() < 70, "one screen or so:\n{}", said.out);
        assert!(folder.files() == before, "inspect writes nothing");
    }
    transcript.is("inspect_files_of_a_run");
}

#[test]
fn inspect_describes_a_run_in_every_state() {
    let folder = Folder::new(
        "[run]\nname = \"i\"\nt_end = 0.5\n[initial.plummer]\nn = 16\n[softening]\nepsilon = 0.01\n\
         [integrator.hermite4]\ndt_max = 0.125\n[output]\ninterval = 0.125\n",
    );
    let mut transcript = Transcript::default();
    let mut state = |what: &str| {
        let before = folder.files();
        let said = folder.tisane(&["inspect", "o"]).exits(0);
        assert!(said.err.is_empty() && said.out.lines().count() < 30, "one screen:\n{}", said.out);
        assert!(folder.files() == before, "inspect writes nothing");
        transcript.add(what, &said);
        said.out
    };
    let o = folder.path("o");
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let page = state("# finished");
    let error = crate::program::summary(&o)["relative_energy_error"].as_f64().unwrap();
    assert!(page.contains(&format!("dE/E {error:+.3e} at 0.5 T, largest ")), "{page}");

    // Another process has the directory: what its last session wrote at its end is no news.
    let lock = tisane_io::lock::Lock::take(&o).unwrap();
    let page = state("# in progress");
    assert!(page.contains(&format!("in progress: process {} on ", std::process::id())), "{page}");
    drop(lock);

    // Killed: no summary, and the lock of a process that is gone.
    fs::remove_file(o.join("summary.json")).unwrap();
    fs::write(o.join("tisane.lock"), "process 0 on node17, since then\n").unwrap();
    state("# killed");
    fs::remove_file(o.join("tisane.lock")).unwrap();

    // Files that are not there, or damaged, are told, with everything else.
    fs::remove_file(o.join("snapshots/snapshot_0002.hdf5")).unwrap();
    fs::write(o.join("checkpoint.hdf5"), "damaged").unwrap();
    state("# without a snapshot, with a damaged checkpoint");
    fs::remove_file(o.join("checkpoint.hdf5")).unwrap();
    fs::remove_file(o.join("checkpoint.previous.hdf5")).unwrap();
    state("# without a checkpoint");
    transcript.tisane(&folder, &["inspect", "o/snapshots"]).exits(2);
    transcript.is("inspect_a_run");
}

#[test]
fn inspect_tells_why_a_run_stopped_and_what_was_changed() {
    let folder = Folder::new(
        "[run]\nname = \"e\"\nt_end = 4.0\n[initial.two-body]\neccentricity = 0.9\n[integrator.hermite4]\n\
         dt_max = 0.125\ndt_min = \"2^-9\"\n[limits]\nblock_steps = 3\n",
    );
    let mut transcript = Transcript::default();
    for (words, code) in [
        (&["run", "run.toml", "-q", "--output", "o"][..], 3),
        (&["resume", "o", "-q", "--set", "limits.block_steps=1000000"], 4),
        (&["resume", "o", "-q", "--set", "integrator.hermite4.dt_min=\"2^-30\""], 0),
    ] {
        folder.tisane(words).exits(code);
        transcript.add(&format!("# after {}", words.join(" ")), &folder.tisane(&["inspect", "o"]).exits(0));
    }
    transcript.is("inspect_stopped_and_changed");
}

#[test]
fn hdf5_of_any_layout_is_run_converted_and_inspected_by_the_names_of_its_datasets() {
    let datasets = "{ mass = \"p/m\", position = [\"p/x\", \"p/y\", \"p/z\"], velocity = \"p/v\" }";
    let folder = Folder::new(&format!(
        "[run]\nname = \"d\"\nt_end = 0.125\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"p.hdf5\"\n\
         datasets = {datasets}\n[integrator.hermite4]\ndt_max = 0.125\n",
    ));
    let file = crate::hdf::create(folder.path("p.hdf5"));
    let group = file.create_group("p").unwrap();
    for (name, values) in [("m", [0.5f32, 0.5]), ("x", [1.0, -1.0]), ("y", [0.0; 2]), ("z", [0.0; 2])] {
        group.new_dataset::<f32>().shape(2).create(name).and_then(|d| d.write_raw(&values)).unwrap();
    }
    let v = group.new_dataset::<f64>().shape((2, 3)).create("v").unwrap();
    v.write_raw(&[0.0, 0.25, 0.0, 0.0, -0.25, 0.0]).unwrap();
    drop((v, group, file));
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["hdf5, N = 2; format datasets as named"]);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    // The resolved configuration names them too.
    folder.tisane(&["run", "o/config.toml", "-q", "--output", "again"]).exits(0);
    let state = |dir: &str| crate::program::summary(&folder.path(dir))["state_sha256"].clone();
    assert_eq!(state("o"), state("again"));
    let words = ["inspect", "p.hdf5", "--datasets", datasets];
    folder.tisane(&words).exits(0).says(&["particles 2", "kind particles, hdf5 format", "total mass 1"]);
    folder.tisane(&["convert", "p.hdf5", "p.csv", "--datasets", datasets]).exits(0).says(&["datasets as named"]);
    let text = fs::read_to_string(folder.path("p.csv")).unwrap();
    assert!(text.ends_with("\n0.5,-1.0,0.0,0.0,0.0,-0.25,0.0,1\n"), "{text}");
    let wrong = ["check", "run.toml", "--set", "initial.file.datasets.mass=p/x/m"];
    for words in [&["inspect", "p.hdf5"][..], &["convert", "p.hdf5", "q.csv"], &wrong] {
        folder.tisane(words).exits(2).says(&["p/v 2 x 3 float64", "p/m 2 float32"]);
    }
    let words = ["inspect", "p.hdf5", "--datasets", "{ mass = \"p/m\" }"];
    folder.tisane(&words).exits(2).says(&["missing key `position` in [datasets]"]);
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
    let mut transcript = Transcript::default();
    for words in [
        &["p.csv", "p.tipsy"][..],
        &["p.csv", "p.out"],
        &["p.csv", "g.hdf5", "--to", "gadget"],
        &["p.csv", "g.hdf5", "--to", "tisane"],
        &["p.csv", "g.hdf5", "--to", "gadgte"],
        &["p.csv", "g.csv", "--to-units", "henon"],
        &["p.petar", "g.csv", "--from", "petar", "--units", "henon"],
        &["p.petar", "g.csv", "--from", "petar", "--to-units", "henon"],
        &["p.csv", "g.csv", "--units", "mass=Msun,length=kp,velocity=km/s"],
        &["p.csv", "g.csv", "--units", "mass=Msun,lenght=pc"],
        &["p.csv", "g.csv", "--units", "mass=Msun,length=pc"],
        &["p.csv", "nowhere/g.csv"],
        &["nowhere.csv", "g.csv"],
    ] {
        let said = transcript.tisane(&folder, &[&["convert"], words].concat());
        assert!([2, 5].contains(&said.code), "{words:?}: {}", said.err);
        assert!(folder.files() == before, "{words:?} wrote something");
    }
    transcript.is("convert_refused");
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
    let mut transcript = Transcript::default();
    for words in [
        ["p.csv", "p.csv"],
        ["link", "p.csv"],
        ["p.csv", "twin"],
        ["p.csv", "link"],
        ["p.csv", "lost"],
        ["p.csv", "folder"],
        ["p.csv", "pipe"],
    ] {
        for more in [&["--overwrite"][..], &[]] {
            transcript.tisane(&folder, &[&["convert"], &words[..], &["--to", "tipsy"], more].concat()).exits(2);
            assert!(all() == before && fs::read_dir(folder.path("")).unwrap().count() == count, "{words:?}");
        }
    }
    transcript.is("convert_in_place_of_others");
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
        let softening = "0.44017076 L (dark), 0.13347219 to 0.17132822 L (star), which are not used: all pairs have the one \
                         of softening.epsilon, 0.1 L";
        let parts = ["particles 20000", "2500 dark, 17500 star particles were merged", softening];
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
    let mut transcript = Transcript::default();
    for file in ["garbage.hdf5", "empty.csv", "nowhere.hdf5", ""] {
        transcript.tisane(&folder, &["inspect", file]).exits(2);
    }
    transcript.is("inspect_refused");
}
