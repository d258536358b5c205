//! tisane's own HDF5 snapshots, in the Gadget layout: /Header with the attribute Time; /PartType4 with Coordinates and
//! Velocities (N × 3), Masses and ParticleIDs (N); optionally /Units in cgs.

use super::{CgsUnits, FileState, Places};
use crate::particles::{Particles, Vec3};
use crate::{Error, Result};
use hdf5::types::TypeDescriptor;
use hdf5::{Dataset, Group};
use std::path::Path;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
const GROUP: &str = "PartType4";
/// No more than this many bytes come out of one stored byte: the limit of deflate, the filter that tisane writes. A file
/// that claims more was not written whole, and nothing is allocated for it.
const MAX_COMPRESSION: u64 = 1032;

/// The HDF5 signature: any HDF5 file, so that the message about another program's file can say what is missing.
pub(super) fn detect(head: &[u8], _length: u64) -> bool {
    head.starts_with(SIGNATURE)
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<FileState> {
    let length = std::fs::metadata(path).map_err(|e| Error::input(path, e))?.len();
    let file = hdf5::File::open(path).map_err(|e| {
        Error::input(path, format!("cannot be opened as HDF5: {e}")).with_help("the file is cut off or damaged")
    })?;
    let source = Source { path, length, root: &file };
    let group = source.particle_group()?;
    let (pos, vel) = (source.vectors(&group, "Coordinates")?, source.vectors(&group, "Velocities")?);
    let (mass, id) = (source.floats(&group, "Masses", None)?, source.ids(&group)?);
    let lengths = [pos.len(), vel.len(), mass.len(), id.len()];
    if lengths.iter().any(|&n| n != lengths[0]) {
        let [x, v, m, i] = lengths;
        let found = format!("Coordinates {x}, Velocities {v}, Masses {m}, ParticleIDs {i}");
        return Err(Error::input(path, format!("/{GROUP}: expected datasets of one length, found {found}")));
    }
    let particles = Particles { id, ..Particles::new(mass, pos, vel) };
    let (time, units) = (source.attribute("Header", "Time")?, source.units()?);
    Ok(FileState { particles, time, format: "tisane", softening: None, units, places: Places::Records })
}

/// An open file and what messages and limits need to know of it.
struct Source<'a> {
    path: &'a Path,
    length: u64,
    root: &'a Group,
}

impl Source<'_> {
    fn wrong(&self, place: &str, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, format!("{place}: {problem}"))
    }

    /// /PartType4, which must be the only kind of particles: none is left out silently.
    fn particle_group(&self) -> Result<Group> {
        let names = self.root.member_names().map_err(|e| self.wrong("/", e))?;
        let others: Vec<_> = names.iter().filter(|n| n.starts_with("PartType") && *n != GROUP).cloned().collect();
        if !others.is_empty() {
            let problem = format!("expected particles in {GROUP} only, found {} too", others.join(", "));
            return Err(self.wrong("/", problem).with_help("convert the file to csv: m,x,y,z,vx,vy,vz,id"));
        }
        self.root.group(GROUP).map_err(|_| {
            let found = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            let problem = format!("an HDF5 file, but not a snapshot: expected the group {GROUP}, found {found}");
            self.wrong("/", problem).with_help("convert the file to csv: m,x,y,z,vx,vy,vz,id")
        })
    }

    /// A dataset of the expected shape, (N) or (N, 3), whose claimed size its storage supports.
    fn dataset(&self, group: &Group, name: &str, width: Option<usize>) -> Result<Dataset> {
        let place = format!("/{GROUP}/{name}");
        let dataset = group.dataset(name).map_err(|_| self.wrong(&place, "expected a dataset, found none"))?;
        let shape = dataset.get_shape().map_err(|e| self.wrong(&place, e))?;
        let (expected, fits) = match width {
            Some(w) => (format!("N x {w}"), shape.len() == 2 && shape[1] == w),
            None => ("N".to_owned(), shape.len() == 1),
        };
        if !fits {
            return Err(self.wrong(&place, format!("expected the shape {expected}, found {shape:?}")));
        }
        let claimed = shape.iter().fold(8u64, |bytes, &n| bytes.saturating_mul(n as u64));
        let stored = dataset.storage_size().min(self.length);
        if claimed > stored.saturating_mul(MAX_COMPRESSION) {
            let problem = format!("claims the shape {shape:?}, but only {stored} bytes are stored for it");
            return Err(self.wrong(&place, problem).with_help("the file was not written to its end, or is damaged"));
        }
        Ok(dataset)
    }

    /// The type of a dataset's numbers.
    fn kind(&self, dataset: &Dataset, name: &str) -> Result<TypeDescriptor> {
        let kind = dataset.dtype().and_then(|t| t.to_descriptor());
        kind.map_err(|e| {
            self.wrong(&format!("/{GROUP}/{name}"), format!("expected numbers, found an unknown type: {e}"))
        })
    }

    /// A dataset of floating-point numbers of any width.
    fn floats(&self, group: &Group, name: &str, width: Option<usize>) -> Result<Vec<f64>> {
        let dataset = self.dataset(group, name, width)?;
        let kind = self.kind(&dataset, name)?;
        let place = format!("/{GROUP}/{name}");
        if !matches!(kind, TypeDescriptor::Float(_)) {
            return Err(self.wrong(&place, format!("expected floating-point numbers, found {kind}")));
        }
        dataset.read_raw().map_err(|e| self.wrong(&place, e))
    }

    fn vectors(&self, group: &Group, name: &str) -> Result<Vec<Vec3>> {
        let flat = self.floats(group, name, Some(3))?;
        Ok(flat.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect())
    }

    /// The ids: whole numbers only, since an id that went through a float may be another particle's.
    fn ids(&self, group: &Group) -> Result<Vec<u64>> {
        const NAME: &str = "ParticleIDs";
        let dataset = self.dataset(group, NAME, None)?;
        let place = format!("/{GROUP}/{NAME}");
        match self.kind(&dataset, NAME)? {
            TypeDescriptor::Unsigned(_) => dataset.read_raw().map_err(|e| self.wrong(&place, e)),
            TypeDescriptor::Integer(_) => {
                let signed: Vec<i64> = dataset.read_raw().map_err(|e| self.wrong(&place, e))?;
                let negative = |id: i64| self.wrong(&place, format!("expected ids of zero or more, found {id}"));
                signed.into_iter().map(|id| u64::try_from(id).map_err(|_| negative(id))).collect()
            }
            kind => Err(self.wrong(&place, format!("expected whole numbers, found {kind}"))),
        }
    }

    /// A number in an attribute of a group, [`None`] if either does not exist.
    fn attribute(&self, group: &str, name: &str) -> Result<Option<f64>> {
        let Ok(attribute) = self.root.group(group).and_then(|g| g.attr(name)) else { return Ok(None) };
        let place = format!("/{group}/{name}");
        let shape = attribute.get_shape().map_err(|e| self.wrong(&place, e))?;
        if shape.iter().product::<usize>() != 1 {
            return Err(self.wrong(&place, format!("expected one number, found the shape {shape:?}")));
        }
        let values: Vec<f64> =
            attribute.read_raw().map_err(|e| self.wrong(&place, format!("expected a number: {e}")))?;
        Ok(values.first().copied())
    }

    /// The units, where all three are named.
    fn units(&self) -> Result<Option<CgsUnits>> {
        let cgs = |name| self.attribute("Units", name);
        let all = (cgs("UnitLength_in_cm")?, cgs("UnitMass_in_g")?, cgs("UnitVelocity_in_cm_per_s")?);
        let (Some(length), Some(mass), Some(velocity)) = all else { return Ok(None) };
        let units = CgsUnits { length, mass, velocity };
        if [length, mass, velocity].iter().any(|x| !(*x > 0.0 && x.is_finite())) {
            return Err(self.wrong("/Units", format!("expected numbers above zero, found {units:?}")));
        }
        Ok(Some(units))
    }
}
