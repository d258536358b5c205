//! HDF5 files. Random bytes end in libhdf5's own checks; so whole files are changed as a program could change them:
//! datasets and attributes of other types, shapes and values, what the header claims, links that lead elsewhere.

use super::hdf5_seeds::{SEEDS, Seed};
use super::{file, is_told};
use arbitrary::{Result, Unstructured};
use hdf5::types::{FixedAscii, TypeDescriptor, VarLenUnicode};
use hdf5::{File, H5Type, Location, Selection};
use std::path::Path;
use tisane::Error;
use tisane_io::formats::{Datasets, VectorDatasets};
use tisane_io::{checkpoint, checksum, elements, formats, inspect, provenance, snapshot, table};

/// Most changes to one file.
const CHANGES: usize = 6;
/// Most values that are written; what claims more is left unwritten.
const WRITTEN: usize = 4096;
/// Sizes that a header may claim.
const SIZES: [usize; 12] = [0, 1, 2, 3, 64, 1025, 1 << 16, 1 << 31, (1 << 32) + 1, 1 << 40, 1 << 60, (1 << 63) - 1];
/// Names that readers look for and that a file may not have.
const NAMES: [&str; 12] = [
    "PartType0",
    "PartType1/Masses",
    "PartType4/ParticleIDs",
    "PartType5",
    "Units",
    "Cosmology",
    "Parameters",
    "Header",
    "data/0000000002",
    "AMUSE_INF",
    "Table/error",
    "x",
];
/// Attributes likewise.
const ATTRIBUTES: [&str; 10] = [
    "MassTable",
    "HubbleParam",
    "BoxSize",
    "number_of_particles",
    "timestamp",
    "format",
    "format_version",
    "columns",
    "units",
    "system",
];

/// A file of each kind under changes, read in every way.
pub fn changed(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let Ok(seed) = u.choose(&SEEDS) else { return };
    let (_folder, path) = file("changed.hdf5", &seed.bytes);
    let Ok(with_checksum) = change(&mut u, seed, &path) else { return };
    if with_checksum {
        checksum::append(&path).expect("a checksum");
    }
    read(&path);
}

/// A file of each kind with bytes written over and its end cut off, below libhdf5.
pub fn damaged(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let Ok(content) = damage(&mut u) else { return };
    let (_folder, path) = file("damaged.hdf5", &content);
    read(&path);
}

fn damage(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    const TRAILER: usize = 80;
    let mut content = u.choose(&SEEDS)?.bytes.clone();
    if content.ends_with(b"\n") {
        content.truncate(content.len() - TRAILER);
    }
    for _ in 0..u.int_in_range(1..=8usize)? {
        if u.is_empty() {
            break;
        }
        let at = u.choose_index(content.len())?;
        let length = u.int_in_range(1..=8usize)?.min(u.len());
        let with = u.bytes(length)?;
        let end = (at + with.len()).min(content.len());
        content[at..end].copy_from_slice(&with[..end - at]);
    }
    if u.ratio(1, 8)? {
        content.truncate(u.int_in_range(8..=content.len())?);
    }
    Ok(content)
}

/// Every reader of HDF5.
fn read(path: &Path) {
    if let Some(state) = is_told(formats::read(path, None)) {
        assert!(state.particles.len() < WRITTEN, "{} particles", state.particles.len());
    }
    for format in ["amuse", "gadget", "tisane"] {
        let _ = is_told(formats::read(path, Some(format)));
    }
    let datasets = Datasets {
        mass: "PartType4/Masses".into(),
        position: VectorDatasets::One("PartType4/Coordinates".into()),
        velocity: VectorDatasets::Three(["x", "PartType4/Potential", "Table/error"].map(str::to_owned)),
        id: Some("PartType4/ParticleIDs".into()),
        radius: Some("PartType4/TimeStep".into()),
        columns: [("q".to_owned(), "PartType4/Masses".to_owned())].into(),
    };
    let _ = is_told(formats::read_datasets(path, &datasets).map_err(Error::from));
    let _ = is_told(snapshot::read(path));
    let _ = is_told(snapshot::read_header(path));
    let _ = is_told(checkpoint::read(path));
    let _ = is_told(table::read_hdf5(path));
    let _ = is_told(table::read(path));
    let _ = is_told(elements::read(path));
    let _ = is_told(provenance::from_file(path));
    let _ = is_told(inspect::describe(path));
}

/// Makes changes; returns true if the file gets a new checksum.
fn change(u: &mut Unstructured<'_>, seed: &Seed, path: &Path) -> Result<bool> {
    let file = File::open_rw(path).expect("a whole file");
    for _ in 0..CHANGES {
        if u.is_empty() {
            break;
        }
        // What libhdf5 will not write is no change.
        let _ = one(u, seed, &file)?;
    }
    u.arbitrary()
}

fn one(u: &mut Unstructured<'_>, seed: &Seed, file: &File) -> Result<hdf5::Result<()>> {
    match u.int_in_range(0..=9u8)? {
        0 => Ok(file.unlink(place(u, seed)?)),
        1 => {
            let (at, name) = attribute(u, seed)?;
            Ok(with(file, at, |at| at.delete_attr(name)))
        }
        2..=4 => {
            let (at, name) = attribute(u, seed)?;
            let _ = with(file, at, |at| at.delete_attr(name));
            let kind = Kind::any(u)?;
            Ok(with(file, at, |at| kind.attribute(at, name)))
        }
        5..=7 => {
            let name = place(u, seed)?;
            let _ = file.unlink(name);
            Kind::any(u)?.dataset(u, file, name)
        }
        8 => {
            let name = place(u, seed)?;
            let _ = file.unlink(name);
            Ok(file.create_group(name).map(|_| ()))
        }
        _ => link(u, seed, file),
    }
}

/// A link to another place, to another file, to itself.
fn link(u: &mut Unstructured<'_>, seed: &Seed, file: &File) -> Result<hdf5::Result<()>> {
    let (name, target) = (place(u, seed)?, place(u, seed)?);
    let _ = file.unlink(name);
    Ok(match u.int_in_range(0..=2u8)? {
        0 => file.link_soft(target, name),
        1 => file.link_hard(target, name),
        _ => file.link_external(&file.filename(), target, name),
    })
}

fn place<'a>(u: &mut Unstructured<'_>, seed: &'a Seed) -> Result<&'a str> {
    if u.ratio(1, 5)? { u.choose(&NAMES).copied() } else { u.choose(&seed.places).map(String::as_str) }
}

fn attribute<'a>(u: &mut Unstructured<'_>, seed: &'a Seed) -> Result<(&'a str, &'a str)> {
    let (at, name) = u.choose(&seed.attributes)?;
    let name = if u.ratio(1, 5)? { u.choose(&ATTRIBUTES)? } else { name.as_str() };
    Ok((at, name))
}

/// Does something to what bears attributes.
fn with(file: &File, at: &str, act: impl FnOnce(&Location) -> hdf5::Result<()>) -> hdf5::Result<()> {
    match file.group(at) {
        Ok(group) => act(&group),
        Err(_) => act(&*file.dataset(at)?),
    }
}

/// Values of a type, and a shape.
enum Kind {
    Floats(Vec<f64>),
    Singles(Vec<f32>),
    Whole(Vec<u64>),
    Signed(Vec<i64>),
    Ints(Vec<i32>),
    Bytes(Vec<u8>),
    Text(String),
    FixedText(usize, String),
}

impl Kind {
    fn any(u: &mut Unstructured<'_>) -> Result<Self> {
        const FLOATS: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e308, f64::INFINITY, f64::NAN];
        let whole = |u: &mut Unstructured<'_>| -> Result<u64> {
            let near = *u.choose(&SIZES)? as u64;
            if u.arbitrary()? { Ok(near) } else { u.arbitrary() }
        };
        let count = *u.choose(&[1usize, 1, 1, 2, 3, 6, 7, 65])?;
        Ok(match u.int_in_range(0..=7u8)? {
            0 => Self::Floats((0..count).map(|_| u.choose(&FLOATS).copied()).collect::<Result<_>>()?),
            1 => Self::Singles((0..count).map(|_| u.choose(&FLOATS).map(|x| *x as f32)).collect::<Result<_>>()?),
            2 => Self::Whole((0..count).map(|_| whole(u)).collect::<Result<_>>()?),
            3 => Self::Signed((0..count).map(|_| whole(u).map(|n| n as i64)).collect::<Result<_>>()?),
            4 => Self::Ints((0..count).map(|_| whole(u).map(|n| n as i32)).collect::<Result<_>>()?),
            5 => Self::Bytes(vec![u.arbitrary()?; count]),
            6 => Self::Text(text(u)?),
            _ => Self::FixedText(*u.choose(&[1usize, 8, 64, 65, 1025, 50_000])?, text(u)?),
        })
    }

    fn attribute(&self, at: &Location, name: &str) -> hdf5::Result<()> {
        fn put<T: H5Type>(at: &Location, name: &str, values: &[T]) -> hdf5::Result<()> {
            match values {
                [one] => at.new_attr::<T>().create(name)?.write_scalar(one),
                many => at.new_attr::<T>().shape(many.len()).create(name)?.write_raw(many),
            }
        }
        match self {
            Self::Floats(values) => put(at, name, values),
            Self::Singles(values) => put(at, name, values),
            Self::Whole(values) => put(at, name, values),
            Self::Signed(values) => put(at, name, values),
            Self::Ints(values) => put(at, name, values),
            Self::Bytes(values) => put(at, name, values),
            Self::Text(text) => {
                let value: VarLenUnicode = text.parse().map_err(|e| format!("{e}"))?;
                at.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&value)
            }
            Self::FixedText(length, text) => {
                let in_file = TypeDescriptor::FixedUnicode(*length);
                let value: FixedAscii<64> = FixedAscii::from_ascii(text).map_err(|e| format!("{e}"))?;
                let made = at.new_attr_builder().empty_as(&in_file).create(name)?;
                made.write_scalar(&value)
            }
        }
    }

    fn dataset(&self, u: &mut Unstructured<'_>, file: &File, name: &str) -> Result<hdf5::Result<()>> {
        match self {
            Self::Floats(values) => dataset(u, file, name, values),
            Self::Singles(values) => dataset(u, file, name, values),
            Self::Whole(values) => dataset(u, file, name, values),
            Self::Signed(values) => dataset(u, file, name, values),
            Self::Ints(values) => dataset(u, file, name, values),
            Self::Bytes(values) => dataset(u, file, name, values),
            Self::Text(text) | Self::FixedText(_, text) => {
                let cell = text.parse::<VarLenUnicode>();
                Ok(cell
                    .map_err(|e| format!("{e}").into())
                    .and_then(|cell| file.new_dataset::<VarLenUnicode>().shape(1).create(name)?.write_raw(&[cell])))
            }
        }
    }
}

/// Text that looks like a unit of AMUSE's, a list of names, or nothing.
fn text(u: &mut Unstructured<'_>) -> Result<String> {
    const WORDS: [&str; 20] = [
        "system.get('S.I.').base('length')",
        "system.get('N-body').base('mass')",
        "base('time')",
        "(",
        ")",
        " * ",
        "**",
        "-1",
        "1e308",
        "1000.0",
        "none",
        ",",
        "time",
        "tisane snapshot",
        "tisane table",
        "henon",
        "physical",
        "../",
        "/",
        "é",
    ];
    let count = u.int_in_range(0..=6usize)?;
    (0..count).map(|_| u.choose(&WORDS).copied()).collect()
}

/// A dataset: with these values, or of a shape that claims far more than is stored.
fn dataset<T: H5Type>(u: &mut Unstructured<'_>, file: &File, name: &str, values: &[T]) -> Result<hdf5::Result<()>> {
    if u.arbitrary()? {
        let made = file.new_dataset::<T>().shape(values.len()).create(name);
        return Ok(made.and_then(|dataset| dataset.write_raw(values)));
    }
    let rows = *u.choose(&SIZES)?;
    let shape = match u.int_in_range(0..=4u8)? {
        0 => vec![],
        1 => vec![rows],
        2 => vec![rows, *u.choose(&SIZES)?],
        3 => vec![rows, 3, 1],
        _ => vec![rows, 3],
    };
    // Beyond that HDF5 itself makes none.
    if shape.iter().try_fold(size_of::<T>(), |n, k| n.checked_mul(*k)).is_none() {
        return Ok(Ok(()));
    }
    let chunk: Vec<usize> = shape.iter().map(|n| (*n).clamp(1, 16)).collect();
    let builder = file.new_dataset::<T>();
    let made = match u.int_in_range(0..=7u8)? {
        _ if shape.is_empty() => builder.create(name),
        0 => builder.shape(shape.as_slice()).create(name),
        1 => builder.chunk(chunk).deflate(9).shape(shape.as_slice()).create(name),
        2 => builder.chunk(chunk).shuffle().fletcher32().shape(shape.as_slice()).create(name),
        // Filters by number, with parameters that they do not have.
        6 => {
            let filter = *u.choose(&[1, 2, 3, 5, 6])?;
            let parameters = vec![1; *u.choose(&[0usize, 1, 20, 33, 100])?];
            builder.chunk(chunk).add_filter(filter, &parameters).shape(shape.as_slice()).create(name)
        }
        // Values that are elsewhere: in another file, in another dataset.
        3 => builder.external("elsewhere", 0, 1 << 40).shape(shape.as_slice()).create(name),
        4 => {
            let (here, there) = (shape.as_slice(), shape.as_slice());
            builder.virtual_map(".", "x", there, Selection::All, here, Selection::All).shape(here).create(name)
        }
        _ => builder.chunk(chunk).shape(shape.as_slice()).create(name),
    };
    Ok(made.map(|_| ()))
}
