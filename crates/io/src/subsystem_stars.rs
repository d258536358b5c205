//! Stars of subsystems in snapshots: their positions and velocities relative to each other, with all digits.

use super::fields::{self, FieldValues};
use super::file_units::{self, FileUnits};
use super::hdf::read::TisaneFile;
use super::hdf::write::{H5Result, new_group, put_dataset};
use hdf5::Group;
use std::collections::HashMap;
use tisane::error::Result;
use tisane::particles::{CloseStars, Vec3, from_components};
use tisane::subsystems::Description;

/// Group of the stars of subsystems.
pub(super) const SUBSYSTEM_STARS: &str = "SubsystemStars";

/// Writes the stars of the subsystems; nothing where there are none.
pub(super) fn write(root: &Group, subsystems: &[Description], units: &FileUnits) -> H5Result {
    if subsystems.iter().all(|one| one.stars.is_empty()) {
        return Ok(());
    }
    let group = new_group(root, SUBSYSTEM_STARS)?;
    for field in fields::SUBSYSTEM_STARS {
        let dataset = match (field.values)(subsystems) {
            FieldValues::Counts(values) => put_dataset(&group, field.name, field.width, &values)?,
            FieldValues::Floats(mut values) | FieldValues::Rests { low: mut values, .. } => {
                let scale = units.scale.factor(field.dimension);
                values.iter_mut().for_each(|v| *v *= scale);
                put_dataset(&group, field.name, field.width, &values)?
            }
        };
        file_units::describe(&dataset, &units.units, field.dimension, field.description)?;
    }
    Ok(())
}

/// Reads the stars of the subsystems of the particles `ids`, in the units of the file; none if the file has none.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) with the dataset for a star that is no particle or comes twice, rows that do not
/// ascend, and numbers that are not finite.
pub(super) fn read(tree: &TisaneFile, ids: &[u64]) -> Result<Vec<CloseStars>> {
    if !tree.root().has_dataset(SUBSYSTEM_STARS) {
        return Ok(Vec::new());
    }
    let group = tree.group(SUBSYSTEM_STARS)?;
    let star: Vec<u64> = group.column(fields::STAR_ID.name, None, 1)?;
    let subsystem: Vec<u64> = group.column(fields::STAR_SUBSYSTEM.name, Some(star.len()), 1)?;
    let vectors = |name: &str| -> Result<Vec<Vec3>> {
        let numbers: Vec<f64> = group.column(name, Some(star.len()), 3)?;
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(group.error(name, "a value is not a finite number"));
        }
        Ok(from_components(&numbers))
    };
    let (pos, vel) = (vectors(fields::STAR_POSITION.name)?, vectors(fields::STAR_VELOCITY.name)?);
    if !subsystem.is_sorted() {
        return Err(group.error(fields::STAR_SUBSYSTEM.name, "expected rows that ascend"));
    }
    // Each star is taken out, so that it is there once.
    let mut row_of: HashMap<u64, usize> = ids.iter().enumerate().map(|(row, id)| (*id, row)).collect();
    let mut found: Vec<CloseStars> = Vec::new();
    for k in 0..star.len() {
        let Some(row) = row_of.remove(&star[k]) else {
            let problem = format!("expected ids of particles, each once, found {}", star[k]);
            return Err(group.error(fields::STAR_ID.name, problem));
        };
        if k == 0 || subsystem[k] != subsystem[k - 1] {
            found.push(CloseStars::default());
        }
        if let Some(close) = found.last_mut() {
            close.rows.push(row);
            close.pos.push(pos[k]);
            close.vel.push(vel[k]);
        }
    }
    Ok(found)
}
