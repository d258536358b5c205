//! Promise: `tisane init file FILE` prints a configuration that fits the file and can be run as it is.

use super::binaries::cluster;
use crate::program::{Folder, SMALL, data_of_others};
use crate::transcript::Transcript;
use std::path::Path;
use tisane_run::config::{Config, template};

/// What is printed for a file, which the program then accepts.
fn proposed(folder: &Folder, file: &str) -> (String, Config) {
    let said = folder.tisane(&["init", "file", file]).exits(0);
    folder.write("proposed.toml", &said.out);
    folder.tisane(&["check", "proposed.toml"]).exits(0);
    let config = Config::from_str("proposed", &said.out, Path::new(""), &[]).unwrap().config;
    (said.out, config)
}

#[test]
fn a_cluster_gets_its_scales_in_comments_and_steps_that_follow_its_binaries() {
    let folder = cluster();
    let (text, config) = proposed(&folder, "stars.dat");
    assert_eq!((config.run.name.as_str(), config.softening.epsilon.get()), ("stars", 0.0));
    assert_eq!((config.dt_max(), config.t_end()), (0.1, 20.0));
    for part in [
        "#   particles          120\n",
        "#   mass               60.0 Msun\n",
        "#   crossing time      2.01 Myr\n",
        "#   hard binaries      30 ",
        "#   shortest period ",
        "# The file does not state its units, and these are a guess: are they right?\n# In them the virial ratio is Q = 0.",
        "; in N-body units (system = \"henon\") it is 0.00",
        "mass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\ntime = \"Myr\"\n",
        "path = \"stars.dat\"",
        "format = \"nbody6\"",
        "# pc; 0 follows the 30 hard binaries, which a softening would tear apart\n",
        "# Myr; longest step: 1/",
        "[encounters]\nperturbation = 1e-5         # ",
        "[integrator.hermite4]\nnu = 0.005 ",
        "# Myr; snapshots and rows of diagnostics: 200 after the first\n",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    // It runs: for as long as a test may take.
    folder.tisane(&["run", "proposed.toml", "-q", "--set", "limits.block_steps=500"]).exits(3);
    assert!(folder.path("runs/stars/checkpoint.hdf5").is_file());
}

#[test]
fn units_that_a_file_states_and_its_time_are_kept() {
    let folder = Folder::new(SMALL);
    folder.tisane(&["run", "run.toml", "-q", "--output", "r"]).exits(0);
    let (text, config) = proposed(&folder, "r/snapshots/snapshot_0002.hdf5");
    assert!(config.units().is_henon() && text.contains("# as the file states\nsystem = \"henon\"\n"), "{text}");
    // The snapshot is of t = 1/4, from which the run goes on.
    assert_eq!(config.steps_to_end(0.25), Ok(200), "{text}");
    let units = ["--units", "mass=Msun,length=au,velocity=au/yr,time=yr", "--to", "amuse", "-q"];
    folder.write("planets.csv", "m,x,y,z,vx,vy,vz\n1.0,0,0,0,0,0,0\n1e-6,1,0,0,0,6.28,0\n1e-6,0,5,0,2.81,0,0\n");
    folder.tisane(&[&["convert", "planets.csv", "planets.amuse"], &units[..]].concat()).exits(0);
    for file in ["planets.csv", "planets.amuse"] {
        let (text, config) = proposed(&folder, file);
        assert_eq!(config.units().describe(), "Msun, au, au/yr, yr", "{text}");
        assert_eq!((config.dt_max(), config.t_end(), config.run.name.as_str()), (0.05, 100.0, "planets"), "{text}");
        assert!(text.contains("#   shortest period    0.999 yr") && !text.contains("binar"), "{text}");
        assert!(text.contains("/2^36\" ") && text.contains("shortest step: the least possible"), "{text}");
        assert!(text.contains("[integrator.multipoint]\neta = 0.35 ") && !text.contains("[encounters]"), "{text}");
        assert_eq!(text.contains("are they right?"), file == "planets.csv", "{text}");
    }
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

#[test]
fn a_format_can_be_named() {
    let folder = cluster();
    let said = folder.tisane(&["init", "file", "stars.dat", "--from", "petar"]).exits(0);
    assert!(said.out.contains("format = \"petar\"") && said.out.contains("velocity = \"pc/Myr\""), "{}", said.out);
}

#[test]
fn validate_files_of_other_programs_get_configurations_that_fit() {
    if let Some(path) = data_of_others("N1k.dat.10") {
        let (text, config) = proposed(&Folder::new(""), path.to_str().unwrap());
        assert_eq!((config.dt_max(), config.t_end(), config.run.name.as_str()), (0.1, 20.0, "N1k.dat"), "{text}");
        assert!(text.contains("#   crossing time      2.60 Myr\n"), "{text}");
    }
    if let Some(path) = data_of_others("galaxy_20K.tipsy") {
        let (text, config) = proposed(&Folder::new(""), path.to_str().unwrap());
        assert!(config.units().is_henon() && config.dt_max() == 2.0, "{text}");
        assert!(text.contains(
            "# The file has softening lengths: 0.44017076 L (dark), 0.13347219 to 0.17132822 L (star); a run has one"
        ));
    }
}
