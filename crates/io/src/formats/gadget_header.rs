//! Header groups of Gadget HDF5 files: counts, masses, time, units, h. Gadget-2 and -4, AREPO, GIZMO, SWIFT and tisane
//! store them in different places.

use super::physical::from_cgs;
use crate::hdf::third_party::{ThirdPartyFile, ThirdPartyGroup};
use std::path::Path;
use tisane::Result;
use tisane::units::Units;

/// Names of the particle types by number; SWIFT has a seventh.
pub(super) const KINDS: [&str; 7] = ["gas", "halo", "disk", "bulge", "stars", "black holes or boundary", "neutrinos"];
/// Remark for a file that does not state its units.
pub(super) const NO_UNITS: &str =
    "the file does not state its units; those of Gadget are usually 1e10 Msun/h, kpc/h, km/s";
/// Help for a cosmological file.
pub(super) const PHYSICAL: &str =
    "write the system in physical coordinates first, for instance by pynbody's physical_units()";

/// Header of a file.
pub(super) struct GadgetHeader {
    /// Number of particles of each type in this file.
    pub(super) counts: Vec<f64>,
    /// Mass of each particle of a type, if above zero.
    pub(super) masses: Vec<f64>,
    /// Time in units of length / velocity, without h.
    pub(super) time: Option<f64>,
    /// Units, if the file states them.
    pub(super) units: Option<Units>,
    /// Factor by which masses, lengths and times must be divided.
    pub(super) h: f64,
    /// Remarks for the user.
    pub(super) notes: Vec<String>,
}

/// Reads the header groups.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) for cosmological and split files, and if an attribute is not valid.
pub(super) fn read(file: &ThirdPartyFile) -> Result<GadgetHeader> {
    let root = file.root();
    let header = root.group("Header").ok_or_else(|| root.error("Header", "no such group"))?;
    let parameters = root.group("Parameters");
    refuse_cosmology(&root, &header, parameters.as_ref())?;
    if let Some(files) = header.number("NumFilesPerSnapshot")?.filter(|n| *n > 1.0) {
        let problem = format!("this is one of {files} files of a snapshot{}", siblings(file.path(), files as u32));
        return Err(header.error("NumFilesPerSnapshot", problem).with_help("join them into one file first"));
    }
    let counts = header.numbers("NumPart_ThisFile")?.unwrap_or_default();
    let whole = totals(&header)?;
    let masses = header.numbers("MassTable")?.unwrap_or_default();
    let contradiction = contradiction(&Counts { here: &counts, whole: &whole });
    let (mut notes, swift) = (
        Vec::from_iter(contradiction),
        root.group("Units").filter(|units| units.numbers(SWIFT[0]).ok().flatten().is_some()),
    );
    let h = if swift.is_some() { None } else { hubble(&header, parameters.as_ref())? };
    if let Some(h) = h {
        notes.push(without_h(h));
    }
    if let Some(size) = header.numbers("BoxSize")?.and_then(|size| size.into_iter().find(|size| *size > 0.0)) {
        notes.push(box_note(size));
    }
    let units = match &swift {
        Some(group) => swift_units(group)?,
        None => stated_units(&root, &header, parameters.as_ref())?,
    };
    if units.is_none() {
        notes.push(NO_UNITS.into());
    }
    let h = h.unwrap_or(1.0);
    let time = header.numbers("Time")?.and_then(|time| time.first().copied()).map(|time| time / h);
    Ok(GadgetHeader { counts, masses, time, units, h, notes })
}

/// Checks that a file is not cosmological: tisane does not integrate comoving coordinates.
fn refuse_cosmology(
    root: &ThirdPartyGroup<'_>,
    header: &ThirdPartyGroup<'_>,
    parameters: Option<&ThirdPartyGroup<'_>>,
) -> Result<()> {
    let on = |group: Option<&ThirdPartyGroup<'_>>, name: &str| -> Result<bool> {
        let numbers = group.map(|group| group.numbers(name)).transpose()?.flatten();
        Ok(numbers.is_some_and(|numbers| numbers.first().is_some_and(|value| *value != 0.0)))
    };
    let cosmology = root.group("Cosmology");
    let redshift = header.numbers("Redshift")?.and_then(|z| z.first().copied()).filter(|z| z.abs() > 1e-9);
    let time = header.numbers("Time")?.and_then(|time| time.first().copied());
    let why = if on(parameters, "ComovingIntegrationOn")? {
        "ComovingIntegrationOn is set".to_owned()
    } else if on(cosmology.as_ref(), "Cosmological run")? {
        "it is a cosmological run".to_owned()
    } else if let Some(z) = redshift {
        let time = time.map(|time| format!(" and its time {time}")).unwrap_or_default();
        format!("its redshift is {z}{time}")
    } else {
        return Ok(());
    };
    Err(root
        .error("Header", format!("expected a system in physical coordinates, but {why}: they are comoving"))
        .with_help(PHYSICAL))
}

/// Reads h; [`None`] if it is absent, 0 (not set) or 1.
fn hubble(header: &ThirdPartyGroup<'_>, parameters: Option<&ThirdPartyGroup<'_>>) -> Result<Option<f64>> {
    let in_parameters = parameters.map(|group| group.number("HubbleParam")).transpose()?.flatten();
    let h = header.number("HubbleParam")?.or(in_parameters).unwrap_or(0.0);
    valid_h(h).map_err(|problem| header.error("HubbleParam", problem))
}

/// Returns h; [`None`] if it is 0 (not set) or 1.
///
/// # Errors
/// A message if it is negative or not finite.
pub(super) fn valid_h(h: f64) -> Result<Option<f64>, String> {
    match h {
        0.0 | 1.0 => Ok(None),
        h if h > 0.0 && h.is_finite() => Ok(Some(h)),
        h => Err(format!("expected a positive number as HubbleParam, found {h}")),
    }
}

/// Reads the number of particles of each type in the whole snapshot; empty if the file does not state it.
fn totals(header: &ThirdPartyGroup<'_>) -> Result<Vec<f64>> {
    let low = header.numbers("NumPart_Total")?.unwrap_or_default();
    let high = header.numbers("NumPart_Total_HighWord")?.unwrap_or_default();
    let high = high.into_iter().chain(std::iter::repeat(0.0));
    // Files with 8-byte totals have the higher words as well, with zeros.
    Ok(low.into_iter().zip(high).map(|(low, high)| low + high * 4_294_967_296.0).collect())
}

/// Number of particles of each type.
pub(super) struct Counts<'a> {
    /// In this file.
    pub(super) here: &'a [f64],
    /// In the whole snapshot; empty if the file does not state it.
    pub(super) whole: &'a [f64],
}

/// Returns a remark if the numbers of particles of a snapshot in one file do not agree.
pub(super) fn contradiction(counts: &Counts<'_>) -> Option<String> {
    let pairs = counts.here.iter().zip(counts.whole).zip(KINDS);
    let wrong: Vec<String> = pairs
        .filter(|((here, whole), _)| here != whole)
        .map(|((here, whole), kind)| format!("NumPart_Total has {whole} {kind}, this file, the only one, {here}"))
        .collect();
    let all = || format!("the header contradicts itself: {}; those of this file were read", wrong.join("; "));
    (!wrong.is_empty()).then(all)
}

/// Returns a remark about several types that became one.
pub(super) fn merged(counts: &[f64]) -> Option<String> {
    let present = counts.iter().zip(KINDS).enumerate().filter(|(_, (n, _))| **n > 0.0);
    let kinds: Vec<String> = present.map(|(type_of, (n, kind))| format!("{n} {kind} (PartType{type_of})")).collect();
    (kinds.len() > 1).then(|| format!("{} were merged: all become point masses", kinds.join(", ")))
}

/// Returns a remark about h.
pub(super) fn without_h(h: f64) -> String {
    format!("HubbleParam = {h}: masses, lengths and the time were divided by it")
}

/// Returns a remark about a periodic box.
pub(super) fn box_note(size: f64) -> String {
    format!("BoxSize = {size}: read as an isolated system without periodic boundaries")
}

/// Names the other files of a snapshot, whose names have a number in place of that of this one; empty if it has none.
pub(super) fn siblings(path: &Path, files: u32) -> String {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let parts: Vec<&str> = name.split('.').collect();
    let at = parts.iter().rposition(|part| part.parse::<u32>().is_ok_and(|number| number < files));
    let Some(at) = at.filter(|at| *at > 0) else { return String::new() };
    let with = |number: u32| {
        let number = number.to_string();
        let parts: Vec<&str> =
            parts.iter().enumerate().map(|(k, part)| if k == at { &*number } else { *part }).collect();
        parts.join(".")
    };
    format!(", {} to {}", with(0), with(files - 1))
}

/// Attributes of `/Units` in SWIFT files: mass, length, time.
const SWIFT: [&str; 3] = ["Unit mass in cgs (U_M)", "Unit length in cgs (U_L)", "Unit time in cgs (U_t)"];
/// Attributes of units in Gadget and AREPO files: mass, length, velocity.
const GADGET: [&str; 3] = ["UnitMass_in_g", "UnitLength_in_cm", "UnitVelocity_in_cm_per_s"];
/// Attributes of units in GIZMO files: mass, length, velocity.
const GIZMO: [&str; 3] = ["UnitMass_In_CGS", "UnitLength_In_CGS", "UnitVelocity_In_CGS"];

/// Reads the units of a SWIFT file.
fn swift_units(group: &ThirdPartyGroup<'_>) -> Result<Option<Units>> {
    let one = |name: &str| group.number(name)?.ok_or_else(|| group.error(name, "no such attribute"));
    let (mass, length, time) = (one(SWIFT[0])?, one(SWIFT[1])?, one(SWIFT[2])?);
    checked(group, mass, length, length / time)
}

/// Reads units from `/Units`, `/Parameters` (Gadget-4) or `/Header` (AREPO, GIZMO).
fn stated_units(
    root: &ThirdPartyGroup<'_>,
    header: &ThirdPartyGroup<'_>,
    parameters: Option<&ThirdPartyGroup<'_>>,
) -> Result<Option<Units>> {
    let units = root.group("Units");
    if let Some(group) = &units
        && group.text("system").ok().flatten().as_deref() == Some("henon")
    {
        return Ok(Some(Units::henon()));
    }
    for group in [units.as_ref(), parameters, Some(header)].into_iter().flatten() {
        for names in [GADGET, GIZMO] {
            let [mass, length, velocity] = names.map(|name| group.number(name));
            if let (Some(mass), Some(length), Some(velocity)) = (mass?, length?, velocity?) {
                return checked(group, mass, length, velocity);
            }
        }
    }
    Ok(None)
}

/// Returns units from their sizes in cgs after checking these.
fn checked(group: &ThirdPartyGroup<'_>, mass: f64, length: f64, velocity: f64) -> Result<Option<Units>> {
    match from_cgs(mass, length, velocity, None) {
        None => Err(group.error("", "expected positive, finite sizes of units")),
        units => Ok(units),
    }
}
