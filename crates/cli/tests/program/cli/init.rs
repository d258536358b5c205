//! Promise: `tisane init file FILE` prints a configuration that fits the file and can be run as it is.

use super::binaries::cluster;
use crate::program::{Folder, SMALL, data_of_others};
use crate::transcript::Transcript;
use std::path::Path;
use tisane_run::config::{Config, template};

/// What is printed for a file, which the program then accepts.
fn proposed(folder: &Folder, file: &str, transcript: &mut Transcript) -> Config {
    let said = transcript.tisane(folder, &["init", "file", file]).exits(0);
    folder.write("proposed.toml", &said.out);
    folder.tisane(&["check", "proposed.toml"]).exits(0);
    Config::from_str("proposed", &said.out, Path::new(""), &[]).unwrap().config
}

#[test]
fn a_cluster_gets_its_scales_in_comments_and_steps_that_follow_its_binaries() {
    let (folder, mut transcript) = (cluster(), Transcript::default());
    let config = proposed(&folder, "stars.dat", &mut transcript);
    assert_eq!((config.run.name.as_str(), config.softening.epsilon.get()), ("stars", 0.0));
    assert_eq!((config.dt_max(), config.t_end()), (0.1, 20.0));
    // It runs: for as long as a test may take.
    folder.tisane(&["run", "proposed.toml", "-q", "--set", "limits.block_steps=500"]).exits(3);
    assert!(folder.path("runs/stars/checkpoint.hdf5").is_file());
    // The format can be named.
    transcript.tisane(&folder, &["init", "file", "stars.dat", "--from", "petar"]).exits(0);
    transcript.is("init_of_a_cluster");
}

#[test]
fn units_that_a_file_states_and_its_time_are_kept() {
    let (folder, mut transcript) = (Folder::new(SMALL), Transcript::default());
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let config = proposed(&folder, "r/snapshots/snapshot_0002.hdf5", &mut transcript);
    assert!(config.units().is_henon());
    // The snapshot is of t = 1/4, from which the run goes on.
    assert_eq!(config.steps_to_end(0.25), Ok(200));
    let units = ["--units", "mass=Msun,length=au,velocity=au/yr,time=yr", "--to", "amuse", "-q"];
    folder.write("planets.csv", "m,x,y,z,vx,vy,vz\n1.0,0,0,0,0,0,0\n1e-6,1,0,0,0,6.28,0\n1e-6,0,5,0,2.81,0,0\n");
    folder.tisane(&[&["convert", "planets.csv", "planets.amuse"], &units[..]].concat()).exits(0);
    for file in ["planets.csv", "planets.amuse"] {
        let config = proposed(&folder, file, &mut transcript);
        assert_eq!(config.units().describe(), "Msun, au, au/yr, yr");
        assert_eq!((config.dt_max(), config.t_end(), config.run.name.as_str()), (0.05, 100.0, "planets"));
    }
    transcript.is("init_of_files");
}

#[test]
fn without_a_file_it_is_the_template_and_mistakes_are_told() {
    let folder = Folder::new("");
    assert_eq!(folder.tisane(&["init", "file"]).exits(0).out, template("file").unwrap());
    folder.write("text.dat", "not particles\n");
    folder.write("coincident.dat", "1 0 0 0 0 0 0\n1 0 0 0 0 1 0\n1 3 0 0 0 1 0\n");
    let mut transcript = Transcript::default();
    for arguments in [
        &["king", "stars.dat"][..],
        &["file", "missing.dat"],
        &["file", "text.dat"],
        &["file", "--from", "csv"],
        &["file", "coincident.dat"],
    ] {
        transcript.tisane(&folder, &[&["init"], arguments].concat()).exits(2);
    }
    transcript.is("init_refused");
    assert_eq!(folder.files().len(), 3, "nothing is written");
}

/// The same for a file of another program, whose particles are not in the repository.
fn proposed_of_others(path: &Path) -> (String, Config) {
    let folder = Folder::new("");
    let config = proposed(&folder, path.to_str().unwrap(), &mut Transcript::default());
    (std::fs::read_to_string(folder.path("proposed.toml")).unwrap(), config)
}

#[test]
fn validate_files_of_other_programs_get_configurations_that_fit() {
    if let Some(path) = data_of_others("N1k.dat.10") {
        let (text, config) = proposed_of_others(&path);
        assert_eq!((config.dt_max(), config.t_end(), config.run.name.as_str()), (0.1, 20.0, "N1k.dat"), "{text}");
        assert!(text.contains("#   crossing time      2.60 Myr\n"), "{text}");
    }
    if let Some(path) = data_of_others("galaxy_20K.tipsy") {
        let (text, config) = proposed_of_others(&path);
        assert!(config.units().is_henon() && config.dt_max() == 2.0, "{text}");
        assert!(text.contains(
            "# The file has softening lengths: 0.44017076 L (dark), 0.13347219 to 0.17132822 L (star); a run has one"
        ));
    }
}

#[test]
fn whole_situations_check_and_run() {
    for name in ["open-cluster", "globular-cluster"] {
        let folder = Folder::new("");
        folder.write("run.toml", folder.tisane(&["init", name]).exits(0).out);
        // Fewer stars, and one output.
        let small = ["--set", "initial.king.n=120", "--set", "run.t_end=0.5", "--set", "output.interval=0.5"];
        let short = ["--set", "output.snapshot_interval=0.5"];
        let said = folder.tisane(&[&["check", "run.toml"], &small[..], &short[..]].concat()).exits(0);
        let said =
            said.says(&["King model", "Kroupa (2001)", "binaries", "tidal radius", "stellar evolution", "wall time"]);
        assert!(said.out.contains(&format!("{name}: this configuration is valid")), "{}", said.out);
        folder.tisane(&[&["run", "run.toml", "-q", "--output", "o"], &small[..], &short[..]].concat()).exits(0);
        assert!(folder.path("o/binaries.csv").is_file() && folder.path("o/stellar.csv").is_file(), "{name}");
    }
}
