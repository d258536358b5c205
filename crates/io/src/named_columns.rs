//! Further columns of particles, which a law reads: datasets `column_NAME` next to the others. None without columns.

use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put_dataset};
use hdf5::Group;
use tisane::error::Result;
use tisane::particles::NamedColumn;

/// Beginning of the names of their datasets.
const PREFIX: &str = "column_";

/// Writes columns into the group of the particles.
pub(crate) fn write(group: &Group, columns: &[NamedColumn]) -> H5Result {
    for column in columns {
        put_dataset(group, &format!("{PREFIX}{}", column.name), 1, &column.values)?;
    }
    Ok(())
}

/// Reads the columns of `n` particles, in the order of their names.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if one has another length or a value that is not finite.
pub(crate) fn read(group: &TisaneGroup<'_>, n: usize) -> Result<Vec<NamedColumn>> {
    let mut columns = Vec::new();
    for dataset in group.members()? {
        let Some(name) = dataset.strip_prefix(PREFIX) else { continue };
        let values: Vec<f64> = group.column(&dataset, Some(n), 1)?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(group.error(&dataset, "a value is not a finite number"));
        }
        columns.push(NamedColumn { name: name.to_owned(), values });
    }
    Ok(columns)
}
