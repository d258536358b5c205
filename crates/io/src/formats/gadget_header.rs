//! Header groups of Gadget HDF5 files: counts, masses, time, units, h. Gadget-2 and -4, AREPO, GIZMO, SWIFT and tisane
//! store them in different places.

use super::physical::from_cgs;
use crate::hdf::third_party::{ThirdPartyFile, ThirdPartyGroup};
use tisane::Result;
use tisane::units::Units;

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
        let problem = format!("this is one of {files} files of a snapshot");
        return Err(header.error("NumFilesPerSnapshot", problem).with_help("join them into one file first"));
    }
    let counts = header.numbers("NumPart_ThisFile")?.unwrap_or_default();
    let masses = header.numbers("MassTable")?.unwrap_or_default();
    let (mut notes, swift) =
        (Vec::new(), root.group("Units").filter(|units| units.numbers(SWIFT[0]).ok().flatten().is_some()));
    let h = if swift.is_some() { None } else { hubble(&header, parameters.as_ref())? };
    if let Some(h) = h {
        notes.push(format!("HubbleParam = {h}: masses, lengths and the time were divided by it"));
    }
    if let Some(size) = header.numbers("BoxSize")?.and_then(|size| size.into_iter().find(|size| *size > 0.0)) {
        notes.push(format!("BoxSize = {size}: read as an isolated system without periodic boundaries"));
    }
    let units = match &swift {
        Some(group) => swift_units(group)?,
        None => stated_units(&root, &header, parameters.as_ref())?,
    };
    if units.is_none() {
        notes.push("the file does not state its units; those of Gadget are usually 1e10 Msun/h, kpc/h, km/s".into());
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
    let redshift = header.numbers("Redshift")?.and_then(|z| z.first().copied()).filter(|z| *z > 1e-9);
    let why = if on(parameters, "ComovingIntegrationOn")? {
        "ComovingIntegrationOn is set".to_owned()
    } else if on(cosmology.as_ref(), "Cosmological run")? {
        "it is a cosmological run".to_owned()
    } else if let Some(z) = redshift {
        format!("its redshift is {z}")
    } else {
        return Ok(());
    };
    Err(root
        .error("Header", format!("expected a system in physical coordinates, but {why}: they are comoving"))
        .with_help("write the system in physical coordinates first, for instance by pynbody's physical_units()"))
}

/// Reads h; [`None`] if it is absent, 0 (not set) or 1.
fn hubble(header: &ThirdPartyGroup<'_>, parameters: Option<&ThirdPartyGroup<'_>>) -> Result<Option<f64>> {
    let in_parameters = parameters.map(|group| group.number("HubbleParam")).transpose()?.flatten();
    let h = header.number("HubbleParam")?.or(in_parameters).filter(|h| *h != 0.0 && *h != 1.0);
    match h {
        Some(h) if !(h > 0.0 && h.is_finite()) => {
            Err(header.error("HubbleParam", format!("expected a positive number, found {h}")))
        }
        other => Ok(other),
    }
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
