//! Forces of given sources at any points.

use crate::arrays::{TisaneVectors, count, put, slice, slice_if, text_if, write_if};
use crate::handles::Handles;
use crate::status::{Failure, Status, guarded, wrong};
use std::ffi::c_char;
use tisane::Error;
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Forces, SourceForces};
use tisane::particles::Vec3;

/// Engine, and memory that its calls use again: large arrays that are new take longer than small forces.
struct Engine {
    forces: SourceForces,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
    found: Forces,
}

static OPEN: Handles<Engine> = Handles::new("force engine");

/// Opens an engine that computes the forces of sources at any points, in units with G = 1, and writes its handle to
/// `forces`; tisane_forces_close closes it. As many may be open as wanted, and each may be used by any thread, but by one
/// at a time.
///
/// `engine` is "cpu" (NULL stands for it), "cuda" for the first NVIDIA GPU, "cuda:K" for GPU number K, or "reference".
/// `precision` is a mode by its name in configurations, such as "mixed" or "f64"; NULL stands for "mixed" on a GPU and
/// "f64" elsewhere. `softening` is the Plummer softening, 0 or more.
///
/// TISANE_INPUT if there is no such engine, GPU or mode, or the softening is negative or not finite.
///
/// # Safety
/// The pointers are NULL or valid; texts end with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_forces_open(
    engine: *const c_char,
    precision: *const c_char,
    softening: f64,
    forces: *mut u64,
) -> Status {
    guarded(|| {
        let (engine, precision) = unsafe { (text_if(engine, "engine")?, text_if(precision, "precision")?) };
        let (kind, device) = kind(engine.unwrap_or("cpu"))?;
        let default = if kind == EngineKind::Cuda { Precision::Mixed } else { Precision::F64 };
        let precision = precision.map_or(Ok(default), mode)?;
        if forces.is_null() {
            return Err(wrong("forces is NULL"));
        }
        let opened = SourceForces::open(kind, precision, softening, device)?;
        let engine = Engine { forces: opened, pos: Vec::new(), vel: Vec::new(), found: Forces::default() };
        unsafe { put(OPEN.open(engine), forces, "forces") }?;
        Ok(Status::TISANE_OK)
    })
}

/// Returns the engine and the number of the GPU of a name.
fn kind(name: &str) -> Result<(EngineKind, usize), Failure> {
    let (kind, device) = name.split_once(':').unwrap_or((name, "0"));
    let found = EngineKind::from_name(kind).zip(device.parse().ok());
    let found = found.filter(|(kind, _)| *kind == EngineKind::Cuda || !name.contains(':'));
    let problem =
        format!("{name:?}: expected \"cpu\", \"cuda\", \"cuda:K\" with the number of a GPU, or \"reference\"");
    found.ok_or_else(|| Error::input("engine", problem).into())
}

/// Returns the mode of a name.
fn mode(name: &str) -> Result<Precision, Failure> {
    let names: Vec<_> = Precision::ALL.iter().map(|mode| mode.name()).collect();
    let found = Precision::ALL.into_iter().find(|mode| mode.name() == name);
    found.ok_or_else(|| Error::input("precision", format!("{name:?}: expected one of {}", names.join(", "))).into())
}

/// Closes an engine; its handle is never used again.
#[unsafe(no_mangle)]
pub extern "C" fn tisane_forces_close(forces: u64) -> Status {
    guarded(|| OPEN.close(forces))
}

/// Replaces all sources by n: `mass`, `pos` and `vel` (which may be left out for sources at rest). They are copied, and
/// numbered from 0. Sources without mass cost nothing.
///
/// TISANE_INPUT for negative masses and numbers that are not finite or that the mode cannot represent; then nothing has
/// changed.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_forces_set(
    forces: u64,
    n: i64,
    mass: *const f64,
    pos: TisaneVectors,
    vel: TisaneVectors,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (mass, pos, vel) = unsafe { (slice(mass, n, "mass")?, pos.read(n, "pos")?, vel.read_if(n, "vel")?) };
        let vel = vel.unwrap_or_else(|| vec![Default::default(); n]);
        OPEN.with(forces, |engine| Ok(engine.forces.set(mass, &pos, &vel)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Changes the n sources whose numbers are in `index`: their `mass`, `pos` and `vel` (left out: at rest). Cheap as long as
/// no mass changes.
///
/// TISANE_INPUT as for tisane_forces_set, and for a number of no source; then nothing has changed.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_forces_set_some(
    forces: u64,
    n: i64,
    index: *const u64,
    mass: *const f64,
    pos: TisaneVectors,
    vel: TisaneVectors,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let (index, mass) = unsafe { (slice(index, n, "index")?, slice(mass, n, "mass")?) };
        let (pos, vel) = unsafe { (pos.read(n, "pos")?, vel.read_if(n, "vel")?) };
        let vel = vel.unwrap_or_else(|| vec![Default::default(); n]);
        OPEN.with(forces, |engine| Ok(engine.forces.set_some(index, mass, &pos, &vel)?))?;
        Ok(Status::TISANE_OK)
    })
}

/// Evaluates the forces of all sources at n points with the positions `pos` and the velocities `vel` (left out: at rest).
/// Point k does not feel the source number `exclude[k]`, which for a particle is its own; UINT64_MAX excludes none, and
/// NULL for `exclude` none at any point.
///
/// Writes to `acc` the accelerations, to `jerk` their time derivatives and to `pot` the potentials per unit mass (below 0);
/// each may be left out. They may be the arrays of `pos` and `vel`.
///
/// TISANE_INPUT if a force is not a finite number, as at the place of a source without softening.
///
/// # Safety
/// The arrays hold n elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tisane_forces_evaluate(
    forces: u64,
    n: i64,
    exclude: *const u64,
    pos: TisaneVectors,
    vel: TisaneVectors,
    acc: TisaneVectors,
    jerk: TisaneVectors,
    pot: *mut f64,
) -> Status {
    guarded(|| {
        let n = count(n, "n")?;
        let exclude = unsafe { slice_if(exclude, n) }.unwrap_or_default();
        OPEN.with(forces, |engine| {
            unsafe { pos.read_into(n, &mut engine.pos, "pos") }?;
            unsafe { vel.read_into(if vel.is_left_out() { 0 } else { n }, &mut engine.vel, "vel") }?;
            let Engine { forces, pos, vel, found } = engine;
            forces.evaluate(exclude, pos, vel, found)?;
            unsafe {
                acc.write(&found.acc, "acc")?;
                jerk.write(&found.jerk, "jerk")?;
                write_if(&found.pot, pot);
            }
            Ok(Status::TISANE_OK)
        })
    })
}
