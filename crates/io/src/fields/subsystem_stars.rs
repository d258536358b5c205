//! Columns of the stars of subsystems in a snapshot.

use super::values::FieldValues;
use tisane::particles::Vec3;
use tisane::subsystems::{Description, StarInside};
use tisane::units::Dimension;

/// Declaration of a column of the stars of subsystems in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SubsystemStarField {
    /// Name of the dataset.
    pub name: &'static str,
    /// Dimension, from which the unit follows.
    pub dimension: Dimension,
    /// Number of values of a star: 1 or 3.
    pub width: usize,
    /// Description.
    pub description: &'static str,
    /// Values of all stars of the subsystems, in internal units.
    pub values: fn(&[Description]) -> FieldValues,
}

fn counts(of: &[Description], value: impl Fn(usize, &StarInside) -> u64) -> FieldValues {
    let rows = of.iter().enumerate().flat_map(|(row, one)| one.stars.iter().map(move |star| (row, star)));
    FieldValues::Counts(rows.map(|(row, star)| value(row, star)).collect())
}

fn vectors(of: &[Description], value: impl Fn(&StarInside) -> Vec3) -> FieldValues {
    let all = of.iter().flat_map(|one| &one.stars).map(value);
    FieldValues::Floats(all.flat_map(<[f64; 3]>::from).collect())
}

macro_rules! columns {
    ($($constant:ident = $name:literal, $dimension:ident, $width:literal, $text:literal, $values:expr;)*) => {
        $(
            #[doc = concat!("Star of a subsystem: ", $text, ".")]
            pub const $constant: SubsystemStarField = SubsystemStarField {
                name: $name,
                dimension: Dimension::$dimension,
                width: $width,
                description: $text,
                values: $values,
            };
        )*
        /// Columns of the stars of subsystems in a snapshot: those of one subsystem after the other.
        pub const SUBSYSTEM_STARS: &[SubsystemStarField] = &[$($constant),*];
    };
}

columns! {
    STAR_ID = "ParticleIDs", NONE, 1, "identity, as in `/PartType4`", |of| counts(of, |_, star| star.id);
    STAR_SUBSYSTEM = "Subsystem", NONE, 1, "row in `/Subsystems` of its outermost subsystem",
        |of| counts(of, |row, _| row as u64);
    STAR_POSITION = "RelativePosition", LENGTH, 3, "position relative to its centre of mass",
        |of| vectors(of, |star| star.pos);
    STAR_VELOCITY = "RelativeVelocity", VELOCITY, 3, "velocity relative to it", |of| vectors(of, |star| star.vel);
}
