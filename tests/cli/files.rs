//! `inspect`: any file that tisane reads or writes.

use crate::program::{Folder, data_of_others};

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
