//! The user's units as the files name them: text for people, cgs factors for readers.

use super::hdf::read::Node;
use super::hdf::write::{H5Result, put, put_array, put_text};
use crate::error::Result;
use crate::units::{Dimension, Scale, Units};
use hdf5::Group;

/// The units that files are written in.
#[derive(Clone, Debug, PartialEq)]
pub struct UserUnits {
    /// The system's name: `henon`, or `physical`.
    pub system: String,
    /// Name of the unit of mass, as `Msun`.
    pub mass: String,
    /// Name of the unit of length, as `pc`.
    pub length: String,
    /// Name of the unit of velocity, as `km/s`.
    pub velocity: String,
    /// Name of the unit of time, as `Myr`.
    pub time: String,
    /// User units in one internal unit: `user = internal × scale`.
    pub scale: Scale,
    /// Cgs units (g, cm, cm/s, s) in one user unit; 1 where the system has no physical scale.
    pub cgs: Scale,
}

impl UserUnits {
    /// Hénon units (G = 1, no physical scale): internal units as they are, named `M`, `L`, `V`, `T`.
    #[must_use]
    pub fn henon() -> Self {
        let [mass, length, velocity, time] = ["M", "L", "V", "T"].map(String::from);
        Self { system: "henon".into(), mass, length, velocity, time, scale: Scale::IDENTITY, cgs: Scale::IDENTITY }
    }

    /// The units of a run whose internal units are `scale` of the user's.
    #[must_use]
    pub fn new(units: &Units, scale: Scale) -> Self {
        if units.is_henon() {
            return Self { scale, ..Self::henon() };
        }
        let [mass, length, velocity, time] = [&units.mass, &units.length, &units.velocity, &units.time];
        Self {
            system: "physical".into(),
            mass: mass.name.clone(),
            length: length.name.clone(),
            velocity: velocity.name.clone(),
            time: time.name.clone(),
            scale,
            cgs: Scale { mass: mass.cgs, length: length.cgs, velocity: velocity.cgs, time: time.cgs },
        }
    }

    /// True if the units have no physical scale, so that the cgs factors mean nothing.
    #[must_use]
    pub fn is_dimensionless(&self) -> bool {
        self.system == "henon"
    }

    /// The unit of a quantity as text, as `Msun (km/s)^2`; `1` for a pure number.
    #[must_use]
    pub fn text(&self, d: Dimension) -> String {
        let factors =
            [(&self.mass, d.mass), (&self.length, d.length), (&self.velocity, d.velocity), (&self.time, d.time)];
        let words: Vec<String> = factors
            .into_iter()
            .filter(|(_, power)| *power != 0)
            .map(|(name, power)| match power {
                1 => name.clone(),
                _ if name.contains('/') => format!("({name})^{power}"),
                _ => format!("{name}^{power}"),
            })
            .collect();
        if words.is_empty() { "1".into() } else { words.join(" ") }
    }
}

/// Writes the units as a group's attributes: cgs factors as Gadget readers expect them, and the names.
/// `UnitTime_in_s` is `UnitLength / UnitVelocity`, the unit of the header's `Time`; the user's unit of time is `time_in_s`.
pub(super) fn write(units: &UserUnits, group: &Group) -> H5Result {
    put(group, "UnitMass_in_g", &units.cgs.mass)?;
    put(group, "UnitLength_in_cm", &units.cgs.length)?;
    put(group, "UnitVelocity_in_cm_per_s", &units.cgs.velocity)?;
    put(group, "UnitTime_in_s", &(units.cgs.length / units.cgs.velocity))?;
    put(group, "time_in_s", &units.cgs.time)?;
    for (name, text) in
        [("mass", &units.mass), ("length", &units.length), ("velocity", &units.velocity), ("time", &units.time)]
    {
        put_text(group, name, text)?;
    }
    put_text(group, "system", &units.system)?;
    let Scale { mass, length, velocity, time } = units.scale;
    put_array(group, "internal_mass_length_velocity_time", &[mass, length, velocity, time])?;
    let note = if units.is_dimensionless() {
        "N-body units, G = 1: no physical scale, so the cgs factors of 1 stand for nothing"
    } else {
        "values in this file times the cgs factors are in cgs; internal units (G = 1) times internal_* are these units"
    };
    put_text(group, "note", note)
}

/// Reads what [`write`] wrote.
pub(super) fn read(node: &Node<'_>) -> Result<UserUnits> {
    let [mass, length, velocity, time] = node.get_array("internal_mass_length_velocity_time")?;
    Ok(UserUnits {
        system: node.text("system")?,
        mass: node.text("mass")?,
        length: node.text("length")?,
        velocity: node.text("velocity")?,
        time: node.text("time")?,
        scale: Scale { mass, length, velocity, time },
        cgs: Scale {
            mass: node.get("UnitMass_in_g")?,
            length: node.get("UnitLength_in_cm")?,
            velocity: node.get("UnitVelocity_in_cm_per_s")?,
            time: node.get("time_in_s")?,
        },
    })
}

/// Attributes that every dataset of a quantity has: its unit, its cgs factor, what it is.
pub(super) fn describe(at: &hdf5::Dataset, units: &UserUnits, dimension: Dimension, text: &str) -> H5Result {
    put_text(at, "unit", &units.text(dimension))?;
    put(at, "to_cgs", &units.cgs.of(dimension))?;
    put_text(at, "description", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_units_read_as_people_write_them() {
        let units = UserUnits {
            system: "physical".into(),
            mass: "Msun".into(),
            length: "pc".into(),
            velocity: "km/s".into(),
            time: "Myr".into(),
            ..UserUnits::henon()
        };
        assert_eq!(units.text(Dimension::ENERGY), "Msun (km/s)^2");
        assert_eq!(units.text(Dimension::ACCELERATION), "pc^-1 (km/s)^2");
        assert_eq!(units.text(Dimension::TIME), "Myr");
        assert_eq!(units.text(Dimension::NONE), "1");
    }
}
