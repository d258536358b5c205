//! Units of an HDF5 file: names, sizes in cgs, and the scale of internal units.

use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put, put_array, put_text};
use hdf5::Group;
use tisane::error::Result;
use tisane::units::{Dimension, Scale, Unit, Units};

/// Units in which the files of a run are written.
#[derive(Clone, Debug, PartialEq)]
pub struct FileUnits {
    /// Units of the user, in which the values are given.
    pub units: Units,
    /// Size of the internal units in the user's units: `user = internal × scale`.
    pub scale: Scale,
}

/// Value of `system` for N-body units, which have no physical size.
const HENON: &str = "henon";
/// Value of `system` for units with a physical size.
const PHYSICAL: &str = "physical";

/// Attributes of the units: the one with the name and the one with the size in cgs. `UnitTime_in_s` is not among them:
/// for readers of Gadget files it is `UnitLength / UnitVelocity`, the unit of `Time` in the header.
const NAMES: [(&str, &str); 4] = [
    ("mass", "UnitMass_in_g"),
    ("length", "UnitLength_in_cm"),
    ("velocity", "UnitVelocity_in_cm_per_s"),
    ("time", "time_in_s"),
];

/// Writes the units as attributes of a group: names, and sizes in cgs under the names that readers of Gadget files
/// expect.
pub(super) fn write(file_units: &FileUnits, group: &Group) -> H5Result {
    let units = &file_units.units;
    for ((name, size), unit) in NAMES.into_iter().zip([&units.mass, &units.length, &units.velocity, &units.time]) {
        put_text(group, name, &unit.name)?;
        put(group, size, &unit.cgs)?;
    }
    put(group, "UnitTime_in_s", &(units.length.cgs / units.velocity.cgs))?;
    put(group, "G", &units.g())?;
    put_text(group, "system", if units.is_henon() { HENON } else { PHYSICAL })?;
    let Scale { mass, length, velocity, time } = file_units.scale;
    put_array(group, "internal_mass_length_velocity_time", &[mass, length, velocity, time])?;
    let note = if units.is_henon() {
        "N-body units, G = 1: no physical scale, so the cgs factors of 1 stand for nothing"
    } else {
        "values in this file times the cgs factors are in cgs; internal units (G = 1) times internal_* are these units"
    };
    put_text(group, "note", note)
}

/// Reads units that [`write()`] wrote.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) if an attribute is missing or not valid.
pub(super) fn read(node: &TisaneGroup<'_>) -> Result<FileUnits> {
    let [mass, length, velocity, time] = node.get_array("internal_mass_length_velocity_time")?;
    let system = node.text("system")?;
    let units = match system.as_str() {
        HENON => Units::henon(),
        PHYSICAL => read_physical(node)?,
        _ => return Err(node.error("system", format!("expected {HENON} or {PHYSICAL}, found {system}"))),
    };
    Ok(FileUnits { units, scale: Scale { mass, length, velocity, time } })
}

fn read_physical(node: &TisaneGroup<'_>) -> Result<Units> {
    let unit = |(name, size)| Ok::<_, tisane::Error>(Unit { name: node.text(name)?, cgs: node.get(size)? });
    let [mass, length, velocity, time] = NAMES;
    let stated = Units::from_sizes([unit(mass)?, unit(length)?, unit(velocity)?, unit(time)?], node.get("G")?);
    stated.ok_or_else(|| node.error("", "expected positive, finite sizes of units"))
}

/// Writes the attributes of a dataset: unit, conversion factor to cgs, description.
pub(super) fn describe(at: &hdf5::Dataset, units: &Units, dimension: Dimension, text: &str) -> H5Result {
    put_text(at, "unit", &units.label(dimension))?;
    put(at, "to_cgs", &units.cgs(dimension))?;
    put_text(at, "description", text)
}

/// Writes the attributes from which readers of Gadget files (pynbody) derive the unit of a dataset: powers of `U_M`,
/// `U_L`, `U_V` as given in `/Units`, and no cosmological factors. `U_T` is length / velocity for them: a quantity in
/// another unit of time gets no such attributes.
pub(super) fn describe_for_gadget(at: &hdf5::Dataset, units: &Units, dimension: Dimension, text: &str) -> H5Result {
    let own_time = (units.time.cgs * units.velocity.cgs / units.length.cgs - 1.0).abs() > 1e-9;
    if dimension.time != 0 && own_time {
        return Ok(());
    }
    let powers =
        [("U_M", dimension.mass), ("U_L", dimension.length), ("U_V", dimension.velocity), ("U_T", dimension.time)];
    let used = powers.into_iter().filter(|(_, power)| *power != 0);
    // pynbody requires text after the last power.
    let factors: String = used.map(|(name, power)| format!("{name}^{power} ")).collect();
    put_text(at, "VarDescription", &format!("{factors} {text}"))?;
    put(at, "CGSConversionFactor", &units.cgs(dimension))?;
    put(at, "aexp-scale-exponent", &0.0f64)?;
    put(at, "h-scale-exponent", &0.0f64)
}
