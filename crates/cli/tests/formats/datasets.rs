//! Promise: an HDF5 file of any layout is read by the names of its datasets; one in no known layout is refused with a
//! list of them, bounded, and with the lines that name them; a message about a dataset names its key.

use crate::fixtures::{assert_says, complaint_about, file};
use crate::hdf;
use hdf5::{File, Group, H5Type};
use std::path::Path;
use tisane::particles::{Particles, Vec3};
use tisane::{Error, Result};
use tisane_io::formats::{self, Datasets, FileState, VectorDatasets};
use tisane_run::assemble;
use tisane_run::config::{Config, parse_datasets};

fn put<T: H5Type>(at: &Group, name: &str, shape: &[usize], values: &[T]) {
    at.new_dataset::<T>().shape(shape).create(name).and_then(|d| d.write_raw(values)).expect("a dataset");
}

/// Three particles, in types of every size: what is read from any of the two ways to name them.
fn layout(path: &Path) -> File {
    let file = hdf::create(path);
    let group = file.create_group("snap/particle").or_else(|_| {
        file.create_group("snap")?;
        file.create_group("snap/particle")
    });
    let group = group.expect("a group");
    put(&group, "mass", &[3], &[1.0f32, 2.0, 0.5]);
    put(&group, "pos", &[3, 3], &[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    put(&group, "vel", &[3, 3], &[1i16, 0, 0, 0, -1, 0, 0, 0, 1]);
    for (name, values) in [("x", [1.0f32, 4.0, 7.0]), ("y", [2.0, 5.0, 8.0]), ("z", [3.0, 6.0, 9.0])] {
        put(&group, name, &[3], &values);
    }
    put(&group, "id", &[3], &[30i32, 10, 20]);
    put(&group, "radius", &[3], &[0.5f32, 0.0, 0.25]);
    put(&group, "transposed", &[3, 4], &[0.0f64; 12]);
    put(&group, "flat", &[9], &[0.0f64; 9]);
    put(&group, "flag", &[3], &[true, false, true]);
    file
}

fn named(text: &str) -> Datasets {
    parse_datasets(text).expect("good datasets")
}

const ONE: &str = r#"{ mass = "snap/particle/mass", position = "/snap/particle/pos", velocity = "snap/particle/vel" }"#;

/// What a file of [`layout`], changed, gives for the datasets named.
fn read(change: impl FnOnce(&File), datasets: &Datasets) -> Result<FileState> {
    let (_folder, path) = file("particles.hdf5", "");
    change(&layout(&path));
    Ok(formats::read_datasets(&path, datasets)?)
}

/// The message, with its advice, for the datasets named.
fn refused(change: impl FnOnce(&File), datasets: &Datasets) -> String {
    match read(change, datasets) {
        Err(error @ Error::Input { .. }) => format!("{error} | {}", error.advice().unwrap_or_default()),
        other => panic!("expected an input error, found {other:?}"),
    }
}

#[test]
fn numbers_of_any_type_are_read_from_tables_and_from_columns() {
    let expected = Particles::new(
        vec![1.0, 2.0, 0.5],
        vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0), Vec3::new(7.0, 8.0, 9.0)],
        vec![Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)],
    );
    let state = read(|_| (), &named(ONE)).expect("a good file");
    assert_eq!(state.particles, expected);
    assert_eq!(
        (state.format, &*state.guess, state.time, state.units.is_some()),
        ("hdf5", "datasets as named", None, false)
    );
    assert_says(&state.notes.join("; "), &["not named are not read: snap/particle/flag", "snap/particle/x"]);
    let columns = r#"["snap/particle/x", "snap/particle/y", "snap/particle/z"]"#;
    let three = ONE.replace("\"/snap/particle/pos\"", columns).replace(" }", ", id = \"snap/particle/id\" }");
    let state = read(|_| (), &named(&three)).expect("a good file");
    let expected = Particles { id: vec![30, 10, 20], ..expected };
    assert_eq!(state.particles, expected);
    let radii = three.replace(" }", ", radius = \"snap/particle/radius\" }");
    let state = read(|_| (), &named(&radii)).expect("a good file");
    assert_eq!(state.particles, Particles { radius: vec![0.5, 0.0, 0.25], ..expected });
}

#[test]
fn a_unit_that_the_file_states_is_told() {
    let with_unit = |file: &File| {
        let mass = file.dataset("snap/particle/mass").expect("the masses");
        let text: hdf5::types::VarLenUnicode = "Msun".parse().expect("text");
        mass.new_attr::<hdf5::types::VarLenUnicode>()
            .create("units")
            .and_then(|a| a.write_scalar(&text))
            .expect("a unit");
    };
    let notes = read(with_unit, &named(ONE)).expect("a good file").notes.join("; ");
    assert_says(&notes, &["the unit of snap/particle/mass is \"Msun\" in the file", "taken as they are"]);
}

#[test]
fn what_is_wrong_with_a_dataset_is_told_with_what_to_do() {
    let with = |change: fn(&mut Datasets)| {
        let mut datasets = named(ONE);
        change(&mut datasets);
        datasets
    };
    let position = |path: &str| VectorDatasets::One(path.to_owned());
    for (datasets, expected) in [
        (
            with(|d| d.mass = "snap/particle/mas".into()),
            &[
                "/snap/particle/mas: no such dataset; did you mean \"snap/particle/mass\"?",
                "snap/particle/pos         3 x 3  float64",
            ][..],
        ),
        (with(|d| d.mass = "snap/particles/mass".into()), &["/snap/particles: no such group", "did you mean"]),
        (with(|d| d.mass = "snap/particle".into()), &["/snap/particle: no such dataset", "snap/particle/mass"]),
        (with(|d| d.mass = "snap/particle/flag".into()), &["/snap/particle/flag: expected numbers, found bool"]),
        (with(|d| d.mass = "snap/particle/pos".into()), &["expected 3 rows of 1, found shape [3, 3]"]),
        (with(|d| d.id = Some("snap/particle/x".into())), &["/snap/particle/x: expected integers"]),
        (with(|d| d.radius = Some("snap/particle/pos".into())), &["expected 3 rows of 1, found shape [3, 3]"]),
        (
            with(|d| d.id = Some("snap/particle/ids".into())),
            &["/snap/particle/ids: no such dataset", "snap/particle/id"],
        ),
        (
            Datasets { position: position("snap/particle/flat"), ..named(ONE) },
            &["expected 3 rows of 3, found shape [9]", "the masses has 3 rows"],
        ),
        (
            Datasets { position: position("snap/particle/x"), ..named(ONE) },
            &["expected 3 rows of 3, found shape [3]", "three datasets in a list"],
        ),
    ] {
        assert_says(&refused(|_| (), &datasets), expected);
    }
    // Four particles, and their positions as 3 rows of 4.
    let four = |file: &File| {
        let group = file.group("snap/particle").expect("the group");
        group.unlink("mass").expect("the masses");
        put(&group, "mass", &[4], &[1.0f64; 4]);
    };
    let transposed = Datasets { position: position("snap/particle/transposed"), ..named(ONE) };
    assert_says(&refused(four, &transposed), &["expected 4 rows of 3, found shape [3, 4]", "transposed"]);
    // The checks of every format.
    let negative = |file: &File| {
        file.dataset("snap/particle/mass").and_then(|mass| mass.write_raw(&[1.0f32, -2.0, 1.0])).expect("masses");
    };
    assert_says(&refused(negative, &named(ONE)), &["particle 1 (from 0): mass is -2"]);
    let twice = |file: &File| file.dataset("snap/particle/id").and_then(|id| id.write_raw(&[1i32, 2, 1])).expect("ids");
    let with_id = named(&ONE.replace(" }", ", id = \"snap/particle/id\" }"));
    assert_says(&refused(twice, &with_id), &["id 1 was used before"]);
}

#[test]
fn values_that_are_not_in_the_file_itself_are_refused() {
    let (_folder, other) = file("other.hdf5", "");
    drop(layout(&other));
    let other = other.to_str().expect("a path");
    let elsewhere = |file: &File| {
        file.unlink("snap/particle/mass").expect("the masses");
        file.link_external(other, "snap/particle/mass", "snap/particle/mass").expect("a link");
    };
    assert_says(&refused(elsewhere, &named(ONE)), &["/snap/particle/mass", "a link to another file"]);
    let group_elsewhere = |file: &File| {
        file.unlink("snap/particle").expect("the group");
        file.link_external(other, "snap/particle", "snap/particle").expect("a link");
    };
    assert_says(&refused(group_elsewhere, &named(ONE)), &["/snap/particle", "a link to another file"]);
    // 10^12 particles in a few kB.
    let claim = |file: &File| {
        file.unlink("snap/particle/mass").expect("the masses");
        let claim = file.new_dataset::<f64>().chunk(1024).shape(1_000_000_000_000usize);
        claim.create("snap/particle/mass").expect("an unwritten dataset");
    };
    assert_says(&refused(claim, &named(ONE)), &["expected 8000000000000 bytes", "only 0 are stored"]);
}

#[test]
fn a_file_in_no_known_layout_is_refused_with_its_datasets_and_the_lines_that_name_them() {
    let (folder, path) = file("particles.hdf5", "");
    drop(layout(&path));
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(
        &said,
        &[
            "does not recognise; its datasets, with shape and type:",
            "  snap/particle/mass        3      float32\n",
            "  snap/particle/pos         3 x 3  float64\n",
            "  snap/particle/vel         3 x 3  int16\n",
            "--datasets '{ mass = \"snap/particle/mass\", position = \"snap/particle/pos\", ",
        ],
    );
    assert_eq!(said, complaint_about(&path, formats::read(&path, Some("tisane"))));
    let inspected = tisane_io::inspect::describe(&path).expect_err("no known layout");
    assert!(said.contains(&inspected.advice().expect("advice")), "{inspected}");
    // The lines do what they say, pasted into a configuration or a command line.
    let start = said.find("  [initial.file.datasets]").expect("the section");
    let end = said.find("or, with tisane inspect").expect("the option");
    let text = format!(
        "[run]\nname = \"x\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"particles.hdf5\"\n{}",
        &said[start..end]
    );
    let config = Config::from_str("x.toml", &text, folder.path(), &[]).expect("a good configuration");
    assert_eq!(assemble::prepare(config).expect("a good run").particles.id, [30, 10, 20]);
    let option = said.split_once("--datasets '").and_then(|(_, rest)| rest.split_once('\'')).expect("the option").0;
    assert_eq!(formats::read_datasets(&path, &named(option)).expect("a good file").particles.id, [30, 10, 20]);
    // Columns of components are found as well; where nothing is clear, the keys are left open.
    hdf::change(&path).unlink("snap/particle/pos").expect("the positions");
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(&said, &["position = [\"snap/particle/x\", \"snap/particle/y\", \"snap/particle/z\"]"]);
    hdf::change(&path).unlink("snap/particle/vel").expect("the velocities");
    assert_says(&complaint_about(&path, formats::read(&path, None)), &["  mass = \"…\"\n  position = \"…\"\n"]);
}

#[test]
fn the_list_of_datasets_is_bounded() {
    let (_folder, path) = file("many.hdf5", "");
    let many = hdf::create(&path);
    for k in 0..40 {
        put(&many, &format!("column_{k:02}"), &[1], &[k]);
    }
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(&said, &["  column_00  1  int32\n", "  column_23  1  int32\n", "  and 16 more"]);
    assert!(!said.contains("column_24"), "{said}");
    // Groups in a circle, each in two of them.
    drop(many);
    let circle = hdf::create(&path);
    circle.create_group("a").and_then(|a| a.create_group("b")).expect("groups");
    circle.link_hard("a", "a/b/a").expect("a link");
    circle.link_hard("a", "a/c").expect("a link");
    put(&circle, "a/b/mass", &[2], &[1.0, 2.0]);
    drop(circle);
    let said = complaint_about(&path, formats::read(&path, None));
    assert_says(&said, &["  a/b/mass", "more"]);
    assert!(said.lines().count() < 50, "{said}");
    drop(hdf::create(&path));
    assert_says(&complaint_about(&path, formats::read(&path, None)), &["does not recognise, without datasets", "csv"]);
}

#[test]
fn what_the_configuration_names_wrongly_is_told_at_its_line() {
    let (folder, path) = file("particles.hdf5", "");
    drop(layout(&path));
    let message = |datasets: &str| {
        let text = format!(
            "[run]\nname = \"x\"\nt_end = 1.0\n[units]\nsystem = \"henon\"\n[[initial.clusters]]\n\
             [initial.clusters.file]\npath = \"particles.hdf5\"\ndatasets = {datasets}\n"
        );
        let loaded = Config::from_str("x.toml", &text, folder.path(), &[]).expect("a good configuration");
        assemble::prepare(loaded).map(|_| ()).expect_err("a wrong dataset").to_string()
    };
    let said = message(&ONE.replace("particle/vel", "particle/velo"));
    assert!(said.starts_with("x.toml:9: initial.clusters[1].file.datasets.velocity: "), "{said}");
    assert_says(&said, &["particles.hdf5: /snap/particle/velo: no such dataset; did you mean \"snap/particle/vel\"?"]);
    for (wrong, expected) in [
        (
            r#"{ mas = "m", position = "x", velocity = "v" }"#,
            &["unknown key `mas`: did you mean `mass`?", "valid here"][..],
        ),
        (
            r#"{ mass = "m", position = "x", velocity = 1 }"#,
            &["expected text in quotes or a list in [ ], found the number 1"],
        ),
        (r#"{ mass = "m", position = ["x", "y"], velocity = "v" }"#, &["expected 3 values, found 2"]),
        (
            r#"{ mass = "m", position = "x", velocity = "/x" }"#,
            &["datasets.velocity: the dataset \"x\" was named for position already"],
        ),
        (
            r#"{ mass = "", position = "x", velocity = "v" }"#,
            &["datasets.mass: expected the path of a dataset, found empty text"],
        ),
        ("m", &["not valid TOML"]),
    ] {
        assert_says(&parse_datasets(wrong).expect_err(wrong), expected);
    }
}
