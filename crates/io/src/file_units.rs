//! The units of a file: names and cgs sizes for people and readers, and the internal scale.

use super::hdf::read::Node;
use super::hdf::write::{H5Result, put, put_array, put_text};
use hdf5::Group;
use tisane::error::Result;
use tisane::units::{Dimension, Scale, Unit, Units};

/// What a run's files are written in.
#[derive(Clone, Debug, PartialEq)]
pub struct FileUnits {
    /// The user's units: those of the values.
    pub units: Units,
    /// User units in one internal unit: `user = internal × scale`.
    pub scale: Scale,
}

/// The text of `system` for Hénon units, whose sizes mean nothing.
const HENON: &str = "henon";
/// The text of `system` for units that have a size.
const PHYSICAL: &str = "physical";

/// The units by the names of their text attributes and of the attributes with their sizes. `UnitTime_in_s` is not among them:
/// to Gadget's readers it is `UnitLength / UnitVelocity`, the unit of the header's `Time`.
const NAMES: [(&str, &str); 4] = [
    ("mass", "UnitMass_in_g"),
    ("length", "UnitLength_in_cm"),
    ("velocity", "UnitVelocity_in_cm_per_s"),
    ("time", "time_in_s"),
];

/// Writes the units as a group's attributes: cgs factors as Gadget readers expect them, and the names.
pub(super) fn write(of_file: &FileUnits, group: &Group) -> H5Result {
    let units = &of_file.units;
    for ((name, size), unit) in NAMES.into_iter().zip([&units.mass, &units.length, &units.velocity, &units.time]) {
        put_text(group, name, &unit.name)?;
        put(group, size, &unit.cgs)?;
    }
    put(group, "UnitTime_in_s", &(units.length.cgs / units.velocity.cgs))?;
    put(group, "G", &units.g())?;
    put_text(group, "system", if units.is_henon() { HENON } else { PHYSICAL })?;
    let Scale { mass, length, velocity, time } = of_file.scale;
    put_array(group, "internal_mass_length_velocity_time", &[mass, length, velocity, time])?;
    let note = if units.is_henon() {
        "N-body units, G = 1: no physical scale, so the cgs factors of 1 stand for nothing"
    } else {
        "values in this file times the cgs factors are in cgs; internal units (G = 1) times internal_* are these units"
    };
    put_text(group, "note", note)
}

/// Reads what [`write`] wrote.
pub(super) fn read(node: &Node<'_>) -> Result<FileUnits> {
    let [mass, length, velocity, time] = node.get_array("internal_mass_length_velocity_time")?;
    let system = node.text("system")?;
    let units = match system.as_str() {
        HENON => Units::henon(),
        PHYSICAL => read_physical(node)?,
        _ => return Err(node.error("system", format!("{HENON} or {PHYSICAL} expected, {system} found"))),
    };
    Ok(FileUnits { units, scale: Scale { mass, length, velocity, time } })
}

fn read_physical(node: &Node<'_>) -> Result<Units> {
    let unit = |(name, size)| Ok::<_, tisane::Error>(Unit { name: node.text(name)?, cgs: node.get(size)? });
    let [mass, length, velocity, time] = NAMES;
    let stated = Units::from_sizes([unit(mass)?, unit(length)?, unit(velocity)?, unit(time)?], node.get("G")?);
    stated.ok_or_else(|| node.error("", "expected sizes of units above zero, and finite"))
}

/// Attributes that every dataset of a quantity has: its unit, its cgs factor, what it is.
pub(super) fn describe(at: &hdf5::Dataset, units: &Units, dimension: Dimension, text: &str) -> H5Result {
    put_text(at, "unit", &units.label(dimension))?;
    put(at, "to_cgs", &units.cgs(dimension))?;
    put_text(at, "description", text)
}

/// Attributes by which Gadget's readers (pynbody) know the unit of a dataset: powers of `U_M`, `U_L`, `U_V`, which `/Units`
/// has, and no cosmological factors. `U_T` is length / velocity to them: a quantity in another unit of time gets none.
pub(super) fn describe_for_gadget(at: &hdf5::Dataset, units: &Units, dimension: Dimension, text: &str) -> H5Result {
    let own_time = (units.time.cgs * units.velocity.cgs / units.length.cgs - 1.0).abs() > 1e-9;
    if dimension.time != 0 && own_time {
        return Ok(());
    }
    let powers =
        [("U_M", dimension.mass), ("U_L", dimension.length), ("U_V", dimension.velocity), ("U_T", dimension.time)];
    let used = powers.into_iter().filter(|(_, power)| *power != 0);
    // pynbody wants something after the last power.
    let factors: String = used.map(|(name, power)| format!("{name}^{power} ")).collect();
    put_text(at, "VarDescription", &format!("{factors} {text}"))?;
    put(at, "CGSConversionFactor", &units.cgs(dimension))?;
    put(at, "aexp-scale-exponent", &0.0f64)?;
    put(at, "h-scale-exponent", &0.0f64)
}
