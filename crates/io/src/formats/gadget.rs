//! Gadget's HDF5 files (Springel 2005, MNRAS 364, 1105), as Gadget, AREPO, GIZMO and SWIFT write them: groups
//! `PartType0` … `PartType5`, one for each type of particle. All become point masses here. Files are written with
//! stars, type 4, in double precision.

use super::format::{Format, WritableUnits, Writer};
use super::gadget_header::{self, GadgetHeader, KINDS};
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use crate::hdf::third_party::{ThirdPartyFile, ThirdPartyGroup};
use crate::hdf::write::{H5Result, new_group, put, put_array, put_dataset, put_text, write_for_others};
use crate::snapshot::{COUNTS, OUR_TYPE, PARTICLES, SECONDS_PER_GYR, TYPES, write_flag_for_yt, write_header};
use hdf5::Group;
use std::path::Path;
use tisane::particles::{Particles, components, from_components};
use tisane::units::Units;
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "gadget",
    description: "Gadget's HDF5 as Gadget, AREPO, GIZMO and SWIFT write it",
    schema_text: "Gadget's HDF5: Gadget, AREPO, GIZMO, SWIFT.",
    schema_order: 7,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Named, radii: false, loses: "nothing", write }),
};

/// Recognises HDF5 with a header of particle numbers.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let root = probe.hdf5.as_ref()?.root();
    let counts = root.group("Header")?.numbers("NumPart_ThisFile").ok()??;
    if probe.is_from_tisane() {
        return Guess::unsure("HDF5 with /Header/NumPart_ThisFile");
    }
    let swift = root.group("SubgridScheme").is_some() || root.group("InternalCodeUnits").is_some();
    let by = if swift { ", from SWIFT" } else { "" };
    Guess::sure(format!("HDF5 with /Header/NumPart_ThisFile of {} types{by}", counts.len()))
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let file = ThirdPartyFile::open(path)?;
    let GadgetHeader { counts, masses, time, units, h, mut notes } = gadget_header::read(&file)?;
    let root = file.root();
    let (mut all, mut here, mut ids) = (FlatColumns::default(), [0.0; KINDS.len()], Some(Vec::new()));
    for (number, kind) in KINDS.into_iter().enumerate() {
        let claimed = counts.get(number).copied();
        let Some(group) = root.group(&format!("PartType{number}")) else {
            if let Some(n) = claimed.filter(|n| *n > 0.0) {
                let problem = format!("no such group, but the header announces {n} particles in it");
                return Err(root.error(&format!("PartType{number}"), problem));
            }
            continue;
        };
        let mass = masses.get(number).copied().unwrap_or(0.0);
        let first = all.mass.len();
        let n = kind_of(&group, claimed, mass, &mut all)?;
        notes.extend(two_masses(kind, mass, &all.mass[first..]));
        here[number] = n as f64;
        match &mut ids {
            Some(ids) if group.has("ParticleIDs") => ids.extend(group.ids("ParticleIDs", n)?),
            _ if n > 0 => ids = None,
            _ => {}
        }
    }
    notes.extend(gadget_header::merged(&here));
    if h != 1.0 {
        all.mass.iter_mut().for_each(|m| *m /= h);
        all.pos.iter_mut().for_each(|x| *x /= h);
    }
    let mut particles = Particles::new(all.mass, from_components(&all.pos), from_components(&all.vel));
    match ids {
        Some(ids) => particles.id = ids,
        None => notes.push("not every particle has an id: ids were assigned from 0".into()),
    }
    Ok(FileState { time, units, notes, ..FileState::new("gadget", particles, Locations::Records) })
}

/// Columns of all particle types, vectors as three values a row.
#[derive(Default)]
struct FlatColumns {
    mass: Vec<f64>,
    pos: Vec<f64>,
    vel: Vec<f64>,
}

/// Reads the particles of a type. Returns their number.
fn kind_of(group: &ThirdPartyGroup<'_>, claimed: Option<f64>, mass: f64, all: &mut FlatColumns) -> Result<usize> {
    if !group.has("Coordinates") && claimed.is_none_or(|n| n == 0.0) {
        return Ok(0);
    }
    let n = group.rows("Coordinates")?;
    if let Some(claimed) = claimed.filter(|claimed| *claimed != n as f64) {
        let problem = format!("the header announces {claimed} particles, found {n}");
        return Err(group.error("Coordinates", problem));
    }
    all.pos.extend(group.floats("Coordinates", n, 3)?);
    all.vel.extend(group.floats("Velocities", n, 3)?);
    match ["Masses", "DynamicalMasses"].into_iter().find(|name| group.has(name)) {
        Some(name) => all.mass.extend(group.floats(name, n, 1)?),
        None if mass > 0.0 => all.mass.extend(std::iter::repeat_n(mass, n)),
        None => return Err(group.error("Masses", "no such dataset, and no mass in /Header/MassTable")),
    }
    Ok(n)
}

/// Returns a remark if the masses of a type differ from the one that the header has for it, to more than the rounding of
/// 4-byte floats.
fn two_masses(kind: &str, of_header: f64, masses: &[f64]) -> Option<String> {
    let differs = |mass: &f64| (mass - of_header).abs() > 1e-6 * of_header;
    if of_header <= 0.0 || !masses.iter().any(differs) {
        return None;
    }
    let [min, max] = masses.iter().fold([f64::INFINITY, 0.0f64], |[a, b], &m| [a.min(m), b.max(m)]);
    Some(format!(
        "the header contradicts the masses of {kind}: {of_header} in MassTable, but {min} to {max} in the file, which \
         were read"
    ))
}

/// Writes a file.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let units = state.units.as_ref().ok_or_else(|| Error::input(path, "the units are unknown"))?;
    let time = time_of_header(state, units);
    if !time.is_finite() {
        let time = state.time.unwrap_or(0.0);
        let problem =
            format!("the time {time:e} is beyond the range of 8-byte floats in Gadget's unit, length / velocity");
        return Err(Error::input(path, problem).with_help("choose other units: --to-units"));
    }
    write_for_others(path, |root| fill(root, state, units, time))?;
    let henon = "the meaning of the units: readers other than tisane take N-body units for g, cm, cm/s";
    Ok(if units.is_henon() { vec![henon.into()] } else { Vec::new() })
}

/// Returns the time of the Gadget header, in units of length / velocity.
fn time_of_header(state: &FileState, units: &Units) -> f64 {
    let (time, unit) = (state.time.unwrap_or(0.0), units.length.cgs / units.velocity.cgs);
    if units.time.cgs == unit { time } else { time * units.time.cgs / unit }
}

fn fill(root: &Group, state: &FileState, units: &Units, time: f64) -> H5Result {
    let p = &state.particles;
    let header = new_group(root, "Header")?;
    // 32 bits as in Gadget: some readers accept no more.
    let mut count = [0u32; TYPES];
    count[OUR_TYPE] = u32::try_from(p.len()).map_err(|_| "more than 2^32 - 1 particles".to_owned())?;
    put_array(&header, COUNTS, &count)?;
    write_header(&header, p.len() as u64, time)?;
    // Required by readers of Gadget files; they change no values.
    for (name, value) in [("HubbleParam", 1.0f64), ("Omega0", 0.0), ("OmegaLambda", 0.0)] {
        put(&header, name, &value)?;
    }
    put(&header, "Time_GYR", &(state.time.unwrap_or(0.0) * units.time.cgs / SECONDS_PER_GYR))?;
    let group = new_group(root, "Units")?;
    put(&group, "UnitMass_in_g", &units.mass.cgs)?;
    put(&group, "UnitLength_in_cm", &units.length.cgs)?;
    put(&group, "UnitVelocity_in_cm_per_s", &units.velocity.cgs)?;
    put(&group, "UnitTime_in_s", &(units.length.cgs / units.velocity.cgs))?;
    put_text(&group, "system", if units.is_henon() { "henon" } else { "physical" })?;
    put_text(&group, "names", &units.describe())?;
    write_flag_for_yt(root)?;
    let particles = new_group(root, PARTICLES)?;
    put_dataset(&particles, "Coordinates", 3, components(&p.pos))?;
    put_dataset(&particles, "Velocities", 3, components(&p.vel))?;
    put_dataset(&particles, "Masses", 1, &p.mass)?;
    put_dataset(&particles, "ParticleIDs", 1, &p.id)?;
    Ok(())
}
