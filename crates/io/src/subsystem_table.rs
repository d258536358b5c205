//! Subsystems in snapshots: a row for each, with its orbit and energies.

use super::fields;
use super::file_units::{self, FileUnits};
use super::hdf::read::TisaneFile;
use super::hdf::write::{H5Result, new_group};
use super::table::columns::Values;
use super::table::hdf5_file::{new_dataset, read_values, write_rows};
use hdf5::Group;
use tisane::diagnostics::cluster::followed::FollowedPair;
use tisane::error::Result;
use tisane::subsystems::Description;

/// Group of the subsystems, in runs with `[encounters]`.
pub(super) const SUBSYSTEMS: &str = "Subsystems";

/// Writes the subsystems; nothing where there are none.
pub(super) fn write(root: &Group, subsystems: &[Description], units: &FileUnits) -> H5Result {
    if subsystems.is_empty() {
        return Ok(());
    }
    let group = new_group(root, SUBSYSTEMS)?;
    for field in fields::SUBSYSTEMS {
        let mut values = (field.values)(subsystems);
        if let Values::Floats(values) = &mut values {
            let scale = units.scale.factor(field.dimension);
            values.iter_mut().for_each(|v| *v *= scale);
        }
        let dataset = new_dataset(&group, (field.name, field.kind), values.len(), values.len())?;
        write_rows(&dataset, 0, &values)?;
        file_units::describe(&dataset, &units.units, field.dimension, field.description)?;
    }
    Ok(())
}

/// Reads the bound pairs among the subsystems, in the units of the file; none if the file has none.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) with the dataset if one is missing or has other rows than the members.
pub(super) fn read(tree: &TisaneFile) -> Result<Vec<FollowedPair>> {
    if !tree.root().has_dataset(SUBSYSTEMS) {
        return Ok(Vec::new());
    }
    let group = tree.group(SUBSYSTEMS)?;
    let Values::Text(members) = read_values(&group, fields::SUBSYSTEM_MEMBERS, None)? else {
        return Err(group.error(fields::SUBSYSTEM_MEMBERS, "expected text"));
    };
    let numbers = |name: &str| group.column::<f64>(name, Some(members.len()), 1);
    let [axis, eccentricity, period, binding] =
        [fields::SUBSYSTEM_AXIS, fields::SUBSYSTEM_ECCENTRICITY, fields::SUBSYSTEM_PERIOD, fields::SUBSYSTEM_BINDING]
            .map(numbers);
    let (axis, eccentricity, period, binding) = (axis?, eccentricity?, period?, binding?);
    let of = |row: usize| {
        // Three or more bodies that move about each other have no orbit, and are no pair of pairs.
        let members = members[row].parse().ok().filter(|_| axis[row] > 0.0)?;
        let (semi_major_axis, eccentricity) = (axis[row], eccentricity[row]);
        Some(FollowedPair { members, semi_major_axis, eccentricity, period: period[row], binding: binding[row] })
    };
    Ok((0..members.len()).filter_map(of).collect())
}
