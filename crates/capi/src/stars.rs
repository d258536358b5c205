//! Stars of a simulation that age.

use crate::columns::write_column;
use crate::status::Status;
use std::ffi::c_char;

/// Writes a quantity of all n stars at the present time, in the order of tisane_simulation_particles, of a simulation with the
/// section `[stellar_evolution]`: "type" (0 to 15, Hurley, Pols & Tout 2000), "initial_mass", "core_mass", "age" (in the
/// present life, which begins anew for helium stars and remnants), "radius", in the units of the simulation; "luminosity" in
/// solar luminosities; "temperature" in K, NaN where nothing is left. n must be the number of particles.
///
/// TISANE_INPUT for another name, and if stars do not age; otherwise as tisane_simulation_integrate. Masses of stars that age
/// cannot be changed after the start: tisane_simulation_change is TISANE_INPUT then, but for the masses that they have.
///
/// # Safety
/// The array holds n elements; `name` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_star_column(
    simulation: u64,
    name: *const c_char,
    n: i64,
    values: *mut f64,
) -> Status {
    unsafe { write_column(simulation, name, (n, values), |simulation, name| simulation.stars()?.column(name)) }
}
