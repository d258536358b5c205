//! Columns of the subsystems in a snapshot.

use crate::table::columns::{ColumnKind, Values};
use tisane::subsystems::{Description, PairOrbit};
use tisane::units::Dimension;

/// Name of the column of the members.
pub const SUBSYSTEM_MEMBERS: &str = "Members";
/// Name of the column of the semi-major axes.
pub const SUBSYSTEM_AXIS: &str = "SemiMajorAxis";
/// Name of the column of the eccentricities.
pub const SUBSYSTEM_ECCENTRICITY: &str = "Eccentricity";
/// Name of the column of the periods.
pub const SUBSYSTEM_PERIOD: &str = "Period";
/// Name of the column of the binding energies.
pub const SUBSYSTEM_BINDING: &str = "BindingEnergy";

/// Declaration of a column of the subsystems in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SubsystemField {
    /// Name of the dataset.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Dimension, from which the unit follows.
    pub dimension: Dimension,
    /// Description.
    pub description: &'static str,
    /// Values, in internal units.
    pub values: fn(&[Description]) -> Values,
}

fn floats(of: &[Description], value: impl Fn(&Description) -> f64) -> Values {
    Values::Floats(of.iter().map(value).collect())
}

fn counts(of: &[Description], value: impl Fn(usize, &Description) -> usize) -> Values {
    Values::Counts(of.iter().enumerate().map(|(row, one)| value(row, one) as u64).collect())
}

/// Returns a column of numbers of the orbits; NaN where there is none.
fn orbits(of: &[Description], value: impl Fn(&PairOrbit) -> f64) -> Values {
    floats(of, |one| one.orbit.as_ref().map_or(f64::NAN, &value))
}

macro_rules! columns {
    ($($name:expr, $kind:ident, $dimension:ident, $text:literal, $values:expr;)*) => {
        /// Columns of the subsystems in a snapshot: a row for each, followed by those inside of it.
        pub const SUBSYSTEMS: &[SubsystemField] = &[$(SubsystemField {
            name: $name,
            kind: ColumnKind::$kind,
            dimension: Dimension::$dimension,
            description: $text,
            values: $values,
        }),*];
    };
}

columns! {
    SUBSYSTEM_MEMBERS, Text, NONE, "its stars by their ids: (3+7), or ((3+7)+12) with an inner subsystem",
        |of| Values::Text(of.iter().map(|one| one.members.to_string()).collect());
    "Number", Count, NONE, "how many they are", |of| counts(of, |_, one| one.members.ids().len());
    "InsideOf", Count, NONE, "row of the subsystem around it; its own row if there is none",
        |of| counts(of, |row, one| one.inside_of.unwrap_or(row));
    "Mass", Float, MASS, "mass", |of| floats(of, |one| one.mass);
    "Mass1", Float, MASS, "mass of the first of two bodies; NaN for more", |of| orbits(of, |orbit| orbit.mass[0]);
    "Mass2", Float, MASS, "mass of the second", |of| orbits(of, |orbit| orbit.mass[1]);
    SUBSYSTEM_AXIS, Float, LENGTH, "semi-major axis of their orbit; negative where they are not bound",
        |of| orbits(of, |orbit| orbit.semi_major_axis);
    SUBSYSTEM_ECCENTRICITY, Float, NONE, "its eccentricity", |of| orbits(of, |orbit| orbit.eccentricity);
    SUBSYSTEM_PERIOD, Float, TIME, "its period; NaN where they are not bound", |of| orbits(of, |orbit| orbit.period);
    SUBSYSTEM_BINDING, Float, ENERGY, "binding energy of its bodies on each other: the sum of all rows is binding_energy of the diagnostics",
        |of| floats(of, |one| one.binding);
    "Perturbed", Count, NONE, "1 if the forces of others act on its motion, 0 if not",
        |of| counts(of, |_, one| usize::from(one.is_perturbed));
    "Averaged", Count, NONE, "1 if it is followed in the mean over its orbit, 0 if not",
        |of| counts(of, |_, one| usize::from(one.is_averaged));
    "NeglectedEnergy", Float, ENERGY, "energy of the tides that are neglected; 0 inside of another",
        |of| floats(of, |one| one.neglected);
}
