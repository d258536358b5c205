//! Particles in an HDF5 file of any layout, in datasets that the user names.

use super::gzip::unpacked;
use super::sniff::{FileProbe, head};
use super::state::{FileState, Locations};
use super::validate::validate;
use crate::checksum::{self, ChecksumStatus};
use crate::hdf::contents::Contents;
use crate::hdf::third_party::{DatasetInfo, ThirdPartyFile, ThirdPartyGroup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use tisane::Error;
use tisane::error::printable;
use tisane::particles::{NamedColumn, Particles, Vec3, from_components};

/// Largest number of datasets in a note.
const MAX_NOTED: usize = 8;
/// End of the error for a file without any dataset.
pub(super) const WITHOUT_DATASETS: &str = "without datasets";
/// Lines that name datasets, where no names suggest themselves.
const TEMPLATE: &str = "mass = \"…\"\nposition = \"…\"\nvelocity = \"…\"";

/// Datasets of the particles in an HDF5 file of any layout. Paths start at the root group: `particle/mass`. A column of a
/// compound table is `stars:mass`, one of a table of numbers, counted from 0, `phase:0`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Datasets {
    /// Dataset of the masses: N numbers.
    pub mass: String,
    /// Dataset of the positions, N x 3 numbers; or a list of three datasets, for x, y and z.
    pub position: VectorDatasets,
    /// Dataset of the velocities, N x 3 numbers; or a list of three datasets, for x, y and z.
    pub velocity: VectorDatasets,
    /// Dataset of the ids: N whole numbers, unique. Default: 0 to N - 1 in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Dataset of the radii: N numbers. Without it the particles have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<String>,
    /// Datasets of further columns, which a law of [force.law] reads: N numbers each, by the name of the column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
}

/// Dataset of vectors, or datasets of their components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VectorDatasets {
    /// One dataset, N x 3.
    One(String),
    /// Three datasets of N numbers.
    Three([String; 3]),
}

impl VectorDatasets {
    fn paths(&self) -> &[String] {
        match self {
            Self::One(path) => std::slice::from_ref(path),
            Self::Three(paths) => paths,
        }
    }
}

impl Datasets {
    /// Returns the keys with their paths.
    fn keys(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let mass = [("mass", std::slice::from_ref(&self.mass))];
        let vectors = [("position", self.position.paths()), ("velocity", self.velocity.paths())];
        let others = [("id", &self.id), ("radius", &self.radius)];
        let others = others.into_iter().filter_map(|(key, path)| Some((key, std::slice::from_ref(path.as_ref()?))));
        let columns = self.columns.values().map(|path| ("columns", std::slice::from_ref(path)));
        let all = mass.into_iter().chain(vectors).chain(others).chain(columns);
        all.flat_map(|(key, paths)| paths.iter().map(move |path| (key, path)))
    }

    /// Returns the mistakes that can be seen without the file, each with its key: empty paths, and datasets named twice.
    #[must_use]
    pub fn mistakes(&self) -> Vec<(&'static str, String)> {
        let named: Vec<_> = self.keys().map(|(key, path)| (key, path.trim_matches('/'))).collect();
        let mistake = |(at, (key, path)): (usize, &(&'static str, &str))| {
            if path.is_empty() {
                return Some((*key, "expected the path of a dataset, found empty text".to_owned()));
            }
            let (first, _) = named[..at].iter().find(|(_, other)| other == path)?;
            let columns = "columns of one table are named as \"stars:mass\", or with their numbers as \"phase:0\"";
            Some((*key, format!("the dataset {path:?} was named for {first} already; {columns}")))
        };
        named.iter().enumerate().filter_map(mistake).collect()
    }
}

/// Error of a file whose datasets were named.
#[derive(Debug)]
pub struct DatasetsError {
    /// Key of [`Datasets`] whose dataset is wrong; [`None`] for an error of the file.
    pub key: Option<&'static str>,
    /// The error.
    pub error: Error,
}

impl From<DatasetsError> for Error {
    fn from(error: DatasetsError) -> Self {
        error.error
    }
}

/// Reads particles from the named datasets of an HDF5 file: see [`super::read_datasets`].
pub(super) fn read(path: &Path, datasets: &Datasets) -> Result<FileState, DatasetsError> {
    let mut key = None;
    let state = unpacked(path, |content| {
        read_plain(content, datasets).map_err(|error| {
            key = error.key;
            error.error
        })
    });
    state.map_err(|error| DatasetsError { key, error })
}

/// Reads a file that is not packed.
fn read_plain(path: &Path, datasets: &Datasets) -> Result<FileState, DatasetsError> {
    let of_file = |error| DatasetsError { key: None, error };
    head(path).map_err(of_file)?;
    let file = ThirdPartyFile::open(path).map_err(of_file)?;
    let reader = Reader { path, file: &file };
    let mass = reader.column("mass", &datasets.mass, None, 1)?;
    let n = mass.len();
    let (pos, vel) =
        (reader.vectors("position", &datasets.position, n)?, reader.vectors("velocity", &datasets.velocity, n)?);
    let mut particles = Particles::new(mass, pos, vel);
    if let Some(id) = &datasets.id {
        particles.id = reader.ids(id, n)?;
    }
    if let Some(radius) = &datasets.radius {
        particles.radius = reader.column("radius", radius, Some(n), 1)?;
    }
    for (name, path) in &datasets.columns {
        let values = reader.column("columns", path, Some(n), 1)?;
        particles.columns.push(NamedColumn { name: name.clone(), values });
    }
    let mut state = FileState::new("hdf5", particles, Locations::Records);
    state.guess = "datasets as named".into();
    state.notes = reader.notes(datasets);
    validate(path, &state).map_err(of_file)?;
    Ok(state)
}

/// Reader of named datasets.
struct Reader<'a> {
    path: &'a Path,
    file: &'a ThirdPartyFile,
}

impl Reader<'_> {
    /// Reads a dataset of `width` numbers a row, of any number of rows if `rows` is [`None`].
    fn column(
        &self,
        key: &'static str,
        dataset: &str,
        rows: Option<usize>,
        width: usize,
    ) -> Result<Vec<f64>, DatasetsError> {
        let (group, name) = self.open(key, dataset)?;
        let found = group.rows(name).map_err(|error| self.missing(key, dataset, &problem_of(&error)))?;
        let n = rows.unwrap_or(found);
        group.any_numbers(name, n, width).map_err(|error| {
            let help = if found == n {
                "three numbers a row, or three datasets in a list".to_owned()
            } else if (found, width) == (3, 3) {
                "a row for each particle is needed: write the table transposed, or x, y and z as three datasets".into()
            } else {
                format!("the dataset of the masses has {n} rows: name datasets of the same particles")
            };
            let error = match (width == 3 || found != n, &error) {
                (true, _) => error.with_help(help),
                (false, Error::Input { help: None, problem, .. }) if problem.contains("found shape") => {
                    error.with_help(format!("a column of a table is named with its number, from 0 on: \"{dataset}:0\""))
                }
                _ => error,
            };
            DatasetsError { key: Some(key), error }
        })
    }

    /// Opens the group of a dataset; returns it with the name of the dataset in it.
    fn open<'p>(&self, key: &'static str, dataset: &'p str) -> Result<(ThirdPartyGroup<'_>, &'p str), DatasetsError> {
        self.file.root().group_of(dataset).map_err(|problem| self.missing(key, dataset, &problem))
    }

    fn vectors(&self, key: &'static str, datasets: &VectorDatasets, n: usize) -> Result<Vec<Vec3>, DatasetsError> {
        match datasets {
            VectorDatasets::One(path) => Ok(from_components(&self.column(key, path, Some(n), 3)?)),
            VectorDatasets::Three([x, y, z]) => {
                let [x, y, z] = [x, y, z].map(|path| self.column(key, path, Some(n), 1));
                Ok(x?.into_iter().zip(y?).zip(z?).map(|((x, y), z)| Vec3::new(x, y, z)).collect())
            }
        }
    }

    fn ids(&self, dataset: &str, n: usize) -> Result<Vec<u64>, DatasetsError> {
        let (group, name) = self.open("id", dataset)?;
        group.rows(name).map_err(|error| self.missing("id", dataset, &problem_of(&error)))?;
        group.ids(name, n).map_err(|error| DatasetsError { key: Some("id"), error })
    }

    /// Returns the error for a dataset that is not there, or cannot be opened, with the nearest and all others.
    fn missing(&self, key: &'static str, dataset: &str, reason: &str) -> DatasetsError {
        let contents = Contents::list(&self.file.root());
        let near = contents.nearest(dataset).filter(|near| *near != dataset.trim_matches('/'));
        let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let error = Error::input(self.path, format!("{reason}{near}"));
        let help = printable(&format!("datasets of the file, with shape and type:\n{contents}"));
        DatasetsError { key: Some(key), error: error.with_help(help.trim_end()) }
    }

    /// Returns remarks for the user: units that the file states and tisane does not read, datasets that were not named.
    fn notes(&self, datasets: &Datasets) -> Vec<String> {
        let root = self.file.root();
        let unit = |path: &str| {
            let (group, name) = root.group_of(path).ok()?;
            let stated = ["units", "unit"].into_iter().find_map(|name_of| group.dataset_text(name, name_of).ok()?)?;
            Some(format!("the unit of {path} is {stated:?} in the file: its numbers were taken as they are"))
        };
        let mut notes: Vec<String> = datasets.keys().filter_map(|(_, path)| unit(path)).collect();
        let named: Vec<&str> = datasets.keys().map(|(_, path)| path.trim_matches('/')).collect();
        let contents = Contents::list(&root);
        let others: Vec<&str> =
            contents.datasets.iter().map(|d| d.path.as_str()).filter(|p| !named.contains(p)).collect();
        if !others.is_empty() {
            let more = if others.len() > MAX_NOTED { ", …" } else { "" };
            let list = others[..others.len().min(MAX_NOTED)].join(", ");
            notes.push(format!("datasets that were not named are not read: {list}{more}"));
        }
        notes
    }
}

/// Returns the problem of an error without the path of the file.
fn problem_of(error: &Error) -> String {
    match error {
        Error::Input { problem, .. } => problem.clone(),
        other => other.to_string(),
    }
}

/// Returns the error for an HDF5 file in a layout that tisane does not recognise: what is in it, and how to name it.
/// [`None`] for files of tisane, also damaged ones: these still have the line of their checksum.
pub(super) fn unrecognised(path: &Path, probe: &FileProbe) -> Option<Error> {
    let file = probe.hdf5.as_ref().filter(|_| !probe.is_from_tisane())?;
    let no_checksum = checksum::check(path).is_ok_and(|status| status == ChecksumStatus::Missing);
    no_checksum.then(|| describe_unrecognised(path, file))
}

fn describe_unrecognised(path: &Path, file: &ThirdPartyFile) -> Error {
    let contents = Contents::list(&file.root());
    let layout = "HDF5 in a layout that tisane does not recognise";
    if contents.datasets.is_empty() {
        return Error::input(path, format!("{layout}, {WITHOUT_DATASETS}"));
    }
    if let Some((filter, remedy)) = contents.datasets.iter().find_map(|dataset| dataset.packed.as_ref()) {
        let problem =
            format!("HDF5 with values packed by {filter}, which tisane cannot unpack; its datasets:\n{contents}");
        return Error::input(path, problem.trim_end()).with_help(printable(remedy));
    }
    let named = propose(&contents.datasets).or_else(|| seven_columns(&contents.datasets));
    let by_number = named.as_ref().is_some_and(|named| named.mass.ends_with(":0"));
    let order = if by_number { "\nif the columns are m x y z vx vy vz, in this order" } else { "" };
    let lines = named.as_ref().map_or_else(|| TEMPLATE.to_owned(), |named| as_toml(named, "\n"));
    let section = format!("  [initial.file.datasets]\n  {}", lines.replace('\n', "\n  "));
    let option = named.map_or_else(|| TEMPLATE.replace('\n', ", "), |named| as_toml(&named, ", "));
    let problem = format!("{layout}; its datasets, with shape and type:\n{contents}");
    Error::input(path, problem.trim_end()).with_help(printable(&format!(
        "name those of the particles in the configuration:\n{section}\nor, with tisane inspect and tisane convert: \
         --datasets '{{ {option} }}'{order}"
    )))
}

/// Returns the datasets that hold the particles by their names and shapes, in one group; [`None`] if they are not clear.
fn propose(datasets: &[DatasetInfo]) -> Option<Datasets> {
    let split = |dataset: &DatasetInfo| {
        // Columns of a compound table are together as datasets of a group are.
        let (above, name) = dataset.path.rsplit_once(['/', ':']).unwrap_or(("", &dataset.path));
        (above.to_owned(), name.to_lowercase())
    };
    let find = |above: &str, shape: &[usize], fits: &dyn Fn(&str) -> bool| {
        let found = datasets.iter().find(|dataset| {
            let (group, name) = split(dataset);
            group == above && dataset.shape == shape && fits(&name) && !dataset.kind.contains("string")
        });
        found.map(|dataset| dataset.path.clone())
    };
    let mut masses = datasets.iter().filter(|dataset| {
        let name = split(dataset).1;
        dataset.shape.len() == 1 && (name.starts_with("mass") || name == "m")
    });
    masses.find_map(|mass| {
        let (above, n) = (split(mass).0, *mass.shape.first()?);
        let vector = |prefixes: &[&str], axes: [&str; 3]| {
            let table = find(&above, &[n, 3], &|name| prefixes.iter().any(|prefix| name.starts_with(prefix)));
            let [x, y, z] = axes.map(|axis| find(&above, &[n], &|name| name == axis));
            table.map(VectorDatasets::One).or_else(|| Some(VectorDatasets::Three([x?, y?, z?])))
        };
        let position = vector(&["pos", "coord", "x", "r"], ["x", "y", "z"])?;
        let velocity = vector(&["v"], ["vx", "vy", "vz"])?;
        let id = find(&above, &[n], &|name| name.starts_with("id") || name.ends_with("id") || name.ends_with("ids"));
        // What is called radius may be a distance from the centre.
        Some(Datasets { mass: mass.path.clone(), position, velocity, id, radius: None, columns: BTreeMap::new() })
    })
}

/// Returns the columns of a table of seven or more in the order of the text formats; [`None`] unless there is one such.
fn seven_columns(datasets: &[DatasetInfo]) -> Option<Datasets> {
    let is_table = |dataset: &&DatasetInfo| matches!(dataset.shape[..], [_, columns] if columns >= 7);
    let mut tables = datasets.iter().filter(is_table);
    let (table, None) = (tables.next()?, tables.next()) else { return None };
    let column = |k: usize| format!("{}:{k}", table.path);
    let three = |first: usize| VectorDatasets::Three([column(first), column(first + 1), column(first + 2)]);
    let (mass, position, velocity) = (column(0), three(1), three(4));
    Some(Datasets { mass, position, velocity, id: None, radius: None, columns: BTreeMap::new() })
}

/// Returns the keys as TOML, with `between` between them.
fn as_toml(datasets: &Datasets, between: &str) -> String {
    let vector = |of: &VectorDatasets| match of {
        VectorDatasets::One(path) => format!("{path:?}"),
        VectorDatasets::Three(paths) => format!("{paths:?}"),
    };
    let mut lines = vec![
        format!("mass = {:?}", datasets.mass),
        format!("position = {}", vector(&datasets.position)),
        format!("velocity = {}", vector(&datasets.velocity)),
    ];
    let others = [("id", &datasets.id), ("radius", &datasets.radius)];
    lines.extend(others.into_iter().filter_map(|(key, path)| Some(format!("{key} = {:?}", path.as_ref()?))));
    lines.join(between)
}
