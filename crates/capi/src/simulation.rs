//! Simulations.

use crate::arrays::{TisaneVectors, count, put, put_text, slice, slice_if, text, text_if, write_if};
use crate::handles::Handles;
use crate::status::{Failure, Status, guarded, wrong};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use tisane::force::Forces;
use tisane::particles::Vec3;
use tisane_run::in_memory::{Changes, InMemory};
use tisane_run::system::System;

pub(crate) static OPEN: Handles<InMemory> = Handles::new("simulation");

/// Energies, momenta and errors of a simulation at one time, in its units.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TisaneMeasured {
    /// Time.
    pub time: f64,
    /// Kinetic energy.
    pub kinetic_energy: f64,
    /// Potential energy of the pairs, in f64 in every mode.
    pub potential_energy: f64,
    /// Potential energy in external fields.
    pub external_potential_energy: f64,
    /// Total energy.
    pub energy: f64,
    /// Energy error since the start, as relative_energy_error of a run; what the program's own changes added is no error.
    pub energy_error: f64,
    /// Momentum.
    pub momentum: [f64; 3],
    /// Angular momentum about the origin.
    pub angular_momentum: [f64; 3],
    /// Centre of mass.
    pub centre_of_mass: [f64; 3],
    /// Virial ratio T / |U| of the system in its own frame.
    pub virial_ratio: f64,
    /// Largest relative error of an acceleration against f64 on the CPU, in a sample; 0 where that computes the forces.
    pub largest_acceleration_error: f64,
    /// Block steps since the start.
    pub block_steps: u64,
    /// Particle steps since the start.
    pub particle_steps: u64,
    /// Pairs evaluated since the start.
    pub pairs: u64,
}

/// Function that is called after the first block step of an integration, and then from time to time, with the time and the
/// number of block steps so far. It returns 0 to stop the integration; otherwise the number of block steps after which it
/// is called again at the latest: 1 for every step, a negative number for any. Where a GPU takes whole block steps, it does
/// so between the calls, which then are some 25 ms apart if the number is large; elsewhere every step is followed by a call.
/// It must not use the simulation: that is TISANE_BUSY.
pub type TisaneGoOn = Option<unsafe extern "C" fn(time: f64, block_steps: u64, data: *mut c_void) -> c_int>;

/// Keeps a simulation and writes its handle.
unsafe fn open(simulation: *mut u64, make: impl FnOnce() -> Result<InMemory, Failure>) -> Result<Status, Failure> {
    if simulation.is_null() {
        return Err(wrong("simulation is NULL"));
    }
    let handle = OPEN.open(make()?);
    unsafe { put(handle, simulation, "simulation") }?;
    Ok(Status::TISANE_OK)
}

/// Creates a simulation from the text of a configuration in TOML (NULL for an empty one) and writes its handle to
/// `simulation`; tisane_simulation_close closes it. The text is that of the program's files: units, softening, integrator,
/// force; `[initial]` for a model or a file, or without it particles are added by tisane_simulation_add. Relative paths
/// start at the working directory.
///
/// TISANE_INPUT for a mistake in the text, which is named with its line.
///
/// # Safety
/// The pointers are NULL or valid; texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_new(toml: *const c_char, simulation: *mut u64) -> Status {
    guarded(|| unsafe {
        let toml = text_if(toml, "toml")?.unwrap_or_default();
        open(simulation, || Ok(InMemory::new(toml, Path::new(""), &[])?))
    })
}

/// Creates a simulation from a configuration file.
///
/// TISANE_INPUT as for tisane_simulation_new, and if the file cannot be read.
///
/// # Safety
/// As tisane_simulation_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_from_file(path: *const c_char, simulation: *mut u64) -> Status {
    guarded(|| unsafe {
        let path = text(path, "path")?;
        open(simulation, || Ok(InMemory::from_file(Path::new(path), &[])?))
    })
}

/// Loads a simulation that tisane_simulation_save saved, or a checkpoint of the program: it goes on with the same bits.
///
/// TISANE_INPUT if the file is not a whole checkpoint.
///
/// # Safety
/// As tisane_simulation_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_load(path: *const c_char, simulation: *mut u64) -> Status {
    guarded(|| unsafe {
        let path = text(path, "path")?;
        open(simulation, || Ok(InMemory::load(Path::new(path))?))
    })
}

/// Saves the state and the settings in one file, which replaces a file of that name whole or not at all.
///
/// TISANE_STORAGE if it cannot be written; otherwise as tisane_simulation_integrate.
///
/// # Safety
/// As tisane_simulation_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_save(simulation: u64, path: *const c_char) -> Status {
    guarded(|| {
        let path = Path::new(unsafe { text(path, "path") }?);
        OPEN.with(simulation, |simulation| Ok(simulation.save(path)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Closes a simulation; its handle is never used again.
#[unsafe(no_mangle)]
pub extern "C" fn tisane_simulation_close(simulation: u64) -> Status {
    guarded(|| OPEN.close(simulation))
}

/// Changes a setting, as "section.key=value" with a value in TOML: "integrator.multipoint.eta=0.2". Once the simulation
/// has started, the integration begins anew with it at the present time.
///
/// TISANE_INPUT if there is no such setting or its value is wrong; then nothing has changed.
///
/// # Safety
/// As tisane_simulation_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_set(simulation: u64, setting: *const c_char) -> Status {
    guarded(|| {
        let setting = unsafe { text(setting, "setting") }?;
        OPEN.with(simulation, |simulation| Ok(simulation.set(setting)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Adds n particles with the identities `id` (NULL: the numbers that follow the largest), masses, positions and
/// velocities, which are copied. Writes their identities to `added`, unless it is NULL.
///
/// TISANE_INPUT for identities that come twice, negative masses and numbers that are not finite; then nothing has changed.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_add(
    simulation: u64,
    n: i64,
    id: *const u64,
    mass: *const f64,
    pos: TisaneVectors,
    vel: TisaneVectors,
    added: *mut u64,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (id, mass) = unsafe { (slice_if(id, n), slice(mass, n, "mass")?) };
        let (pos, vel) = unsafe { (pos.read(n, "pos")?, vel.read(n, "vel")?) };
        let id = OPEN.with(simulation, |simulation| Ok(simulation.add(id, mass, &pos, &vel)?))?;
        unsafe { write_if(&id, added) };
        Ok(Status::TISANE_OK)
    })
}

/// Removes the n particles with the identities `id`.
///
/// TISANE_INPUT for an identity that there is not; then nothing has changed.
///
/// # Safety
/// The array holds n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_remove(simulation: u64, n: i64, id: *const u64) -> Status {
    guarded(|| {
        let id = unsafe { slice(id, count(n, "n")?, "id") }?;
        OPEN.with(simulation, |simulation| Ok(simulation.remove(id)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Gives the n particles with the identities `id` new masses (NULL: as they are), positions and velocities (left out: as
/// they are).
///
/// TISANE_INPUT for an identity that there is not, negative masses and numbers that are not finite; then nothing has
/// changed.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_change(
    simulation: u64,
    n: i64,
    id: *const u64,
    mass: *const f64,
    pos: TisaneVectors,
    vel: TisaneVectors,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (id, mass) = unsafe { (slice(id, n, "id")?, slice_if(mass, n)) };
        let (pos, vel) = unsafe { (pos.read_if(n, "pos")?, vel.read_if(n, "vel")?) };
        let changes = Changes { id, mass, pos: pos.as_deref(), vel: vel.as_deref() };
        OPEN.with(simulation, |simulation| Ok(simulation.change(changes)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Pointer of the caller that its own callback is given back, on a thread of the library.
struct Data(*mut c_void);
// The pointer is only handed to the callback, while the caller waits.
unsafe impl Send for Data {}

/// Integrates to the time `t`, which may be any that is not before the present one; asking for more times changes no bit.
/// Calls `go_on` with `data` after block steps, as often as it asks for, unless it is NULL, from a thread of the library while
/// the caller waits. TISANE_STOPPED if it ended the integration: the present time is then that of its last call, and a
/// further call of this function goes on from there.
///
/// TISANE_INPUT for particles and settings that do not go together, such as two particles at one place without
/// softening; TISANE_FAILED if the integration fails.
///
/// # Safety
/// `go_on` is NULL or a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_integrate(
    simulation: u64,
    t: f64,
    go_on: TisaneGoOn,
    data: *mut c_void,
) -> Status {
    guarded(|| {
        let data = Data(data);
        let mut call = move |system: &System| {
            let (data, state) = (&data, &system.state);
            let time = state.clock.time(state.now) * state.scale.time;
            let max = go_on.map(|go_on| unsafe { go_on(time, state.counters.block_steps, data.0) });
            max.and_then(|max| u64::try_from(max).ok()).unwrap_or(u64::MAX)
        };
        let arrived = OPEN.with(simulation, |simulation| Ok(simulation.integrate(t, &mut call)?))?;
        Ok(if arrived { Status::TISANE_OK } else { Status::TISANE_STOPPED })
    })
}

/// Writes the number of particles to `n`.
///
/// # Safety
/// `n` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_count(simulation: u64, n: *mut i64) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| Ok(simulation.len() as i64))?;
        unsafe { put(found, n, "n") }?;
        Ok(Status::TISANE_OK)
    })
}

/// Writes the present time to `t`.
///
/// # Safety
/// `t` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_time(simulation: u64, t: *mut f64) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| Ok(simulation.time()))?;
        unsafe { put(found, t, "t") }?;
        Ok(Status::TISANE_OK)
    })
}

/// Writes one of the vectors of the orbit of the origin to the caller.
unsafe fn write_orbit(simulation: u64, which: usize, to: *mut f64, what: &str) -> Result<Status, Failure> {
    let orbit = OPEN.with(simulation, |simulation| Ok(simulation.orbit()?))?;
    let Some(vectors) = orbit else {
        return Err(wrong("the origin of coordinates does not move: the settings have no section [orbit]"));
    };
    unsafe { put(<[f64; 3]>::from(vectors[which]), to.cast::<[f64; 3]>(), what) }?;
    Ok(Status::TISANE_OK)
}

/// Writes the place in the external fields of the origin that positions are relative to, with the section `[orbit]`, to the three
/// numbers of `position`.
///
/// # Safety
/// `position` is NULL or has three elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_orbit_position(simulation: u64, position: *mut f64) -> Status {
    guarded(|| unsafe { write_orbit(simulation, 0, position, "position") })
}

/// Writes the velocity of that origin to the three numbers of `velocity`.
///
/// # Safety
/// `velocity` is NULL or has three elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_orbit_velocity(simulation: u64, velocity: *mut f64) -> Status {
    guarded(|| unsafe { write_orbit(simulation, 1, velocity, "velocity") })
}

/// Checks that the caller has room for all particles.
pub(crate) fn check_room(n: i64, particles: usize) -> Result<(), Failure> {
    if count(n, "n")? == particles {
        return Ok(());
    }
    Err(wrong(format!("n: the simulation has {particles} particles, found {n}")))
}

/// Writes the identities, masses, positions and velocities of all n particles at the present time; each array may be
/// NULL. n must be the number of particles.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_particles(
    simulation: u64,
    n: i64,
    id: *mut u64,
    mass: *mut f64,
    pos: TisaneVectors,
    vel: TisaneVectors,
) -> Status {
    guarded(|| {
        let state = OPEN.with(simulation, |simulation| {
            check_room(n, simulation.len())?;
            Ok(simulation.state()?)
        })?;
        unsafe {
            write_if(&state.id, id);
            write_if(&state.mass, mass);
            pos.write(&state.pos, "pos")?;
            vel.write(&state.vel, "vel")?;
        }
        Ok(Status::TISANE_OK)
    })
}

/// Writes forces to the caller.
unsafe fn write_forces(
    found: &Forces,
    (acc, jerk, pot): (TisaneVectors, TisaneVectors, *mut f64),
) -> Result<Status, Failure> {
    unsafe {
        acc.write(&found.acc, "acc")?;
        jerk.write(&found.jerk, "jerk")?;
        write_if(&found.pot, pot);
    }
    Ok(Status::TISANE_OK)
}

/// Writes the accelerations, jerks (zero with the leapfrog) and potentials per unit mass of all n particles at the present
/// time, those by external fields included; each array may be left out. n must be the number of particles.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_forces(
    simulation: u64,
    n: i64,
    acc: TisaneVectors,
    jerk: TisaneVectors,
    pot: *mut f64,
) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| {
            check_room(n, simulation.len())?;
            Ok(simulation.forces()?)
        })?;
        unsafe { write_forces(&found, (acc, jerk, pot)) }
    })
}

/// Writes the accelerations, jerks and potentials that all particles and external fields cause at n points with the
/// positions `pos` and the velocities `vel` (left out: at rest), in f64; each result may be left out.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_field_at(
    simulation: u64,
    n: i64,
    pos: TisaneVectors,
    vel: TisaneVectors,
    acc: TisaneVectors,
    jerk: TisaneVectors,
    pot: *mut f64,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (pos, vel) = unsafe { (pos.read(n, "pos")?, vel.read_if(n, "vel")?) };
        let vel = vel.unwrap_or_else(|| vec![Vec3::zeros(); n]);
        let found = OPEN.with(simulation, |simulation| Ok(simulation.field_at(&pos, &vel)?))?;
        unsafe { write_forces(&found, (acc, jerk, pot)) }
    })
}

/// Measures energies, momenta and errors at the present time and writes them to `measured`.
///
/// # Safety
/// `measured` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_measure(simulation: u64, measured: *mut TisaneMeasured) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| {
            let m = simulation.measure()?;
            let counters = simulation.system().map(|system| system.state.counters).unwrap_or_default();
            Ok(TisaneMeasured {
                time: m.time,
                kinetic_energy: m.kinetic_energy,
                potential_energy: m.potential_energy,
                external_potential_energy: m.external_potential_energy,
                energy: m.energy,
                energy_error: m.energy_error,
                momentum: m.momentum.into(),
                angular_momentum: m.angular_momentum.into(),
                centre_of_mass: m.centre_of_mass.into(),
                virial_ratio: m.virial_ratio,
                largest_acceleration_error: m.audit.map_or(0.0, |audit| audit.acc.max),
                block_steps: counters.block_steps,
                particle_steps: counters.particle_steps,
                pairs: counters.pair_interactions,
            })
        })?;
        unsafe { put(found, measured, "measured") }?;
        Ok(Status::TISANE_OK)
    })
}

/// Writes the SHA-256 of the state of the integration as 64 hexadecimal digits and a zero byte to `text` of `size` bytes:
/// after the same block steps that of the program tisane.
///
/// # Safety
/// `size` bytes can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_state_sha256(simulation: u64, text: *mut c_char, size: usize) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| Ok(simulation.state_sha256()?))?;
        unsafe { put_text(&found, text, size, "text") }?;
        Ok(Status::TISANE_OK)
    })
}

/// Writes the name of the engine with the reason for its choice to `text` of `size` bytes; empty before the start.
///
/// # Safety
/// `size` bytes can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_simulation_engine(simulation: u64, text: *mut c_char, size: usize) -> Status {
    guarded(|| {
        let found = OPEN.with(simulation, |simulation| Ok(simulation.engine().to_owned()))?;
        unsafe { put_text(&found, text, size, "text") }?;
        Ok(Status::TISANE_OK)
    })
}
