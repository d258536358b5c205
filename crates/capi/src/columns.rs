//! Columns of the particles of a simulation that a law in place of Newton's reads: charges, for instance.

use crate::arrays::{count, slice, text, write_if};
use crate::simulation::{OPEN, check_room};
use crate::status::{Status, guarded, wrong};
use std::ffi::c_char;
use tisane::error::Result;
use tisane_run::in_memory::InMemory;

/// Gives the n particles with the identities `id` the values in the column `name` that the law of the simulation reads:
/// "charge", for instance. Particles that were added have no value in it, and the simulation goes on once all have one.
///
/// TISANE_INPUT for a column that the law does not read, an identity that there is not, and numbers that are not finite;
/// then nothing has changed.
///
/// # Safety
/// The arrays hold n elements; `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_set_column(
    simulation: u64,
    name: *const c_char,
    n: i64,
    id: *const u64,
    values: *const f64,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (name, id, values) = unsafe { (text(name, "name")?, slice(id, n, "id")?, slice(values, n, "values")?) };
        OPEN.with(simulation, |simulation| Ok(simulation.set_column(name, id, values)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Writes the values of all n particles in the column `name` that the law of the simulation reads, in the order of
/// tisane_simulation_particles: NaN for those that were given none. n must be the number of particles.
///
/// TISANE_INPUT for a column that the law does not read.
///
/// # Safety
/// As tisane_simulation_set_column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_column(
    simulation: u64,
    name: *const c_char,
    n: i64,
    values: *mut f64,
) -> Status {
    unsafe { write_column(simulation, name, (n, values), |simulation, name| simulation.column(name)) }
}

/// Writes a column of all n particles that `find` returns for a name.
///
/// # Safety
/// The array holds n elements; `name` ends with a zero byte.
pub(crate) unsafe fn write_column(
    simulation: u64,
    name: *const c_char,
    (n, values): (i64, *mut f64),
    find: impl FnOnce(&mut InMemory, &str) -> Result<Vec<f64>>,
) -> Status {
    guarded(|| {
        let name = unsafe { text(name, "name") }?;
        let found = OPEN.with(simulation, |simulation| {
            check_room(n, simulation.len())?;
            Ok(find(simulation, name)?)
        })?;
        if values.is_null() && !found.is_empty() {
            return Err(wrong("values is NULL"));
        }
        unsafe { write_if(&found, values) };
        Ok(Status::TISANE_OK)
    })
}
