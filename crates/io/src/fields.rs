//! Every output quantity, declared once: name, dimension, description. Files, docs and readers follow these tables.

mod cluster;
mod rows;

pub use cluster::{BinaryRow, ClusterRow, EventRow, FRACTIONS};
pub use rows::{ColumnSpec, DiagnosticsRow, Journal, JournalRow, UserTime};

use tisane::force::Field;
use tisane::particles::{Particles, Vec3, components};
use tisane::time::Clock;
use tisane::units::Dimension;

/// One dataset of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotField {
    /// Name of the dataset.
    pub name: &'static str,
    /// What it is made of.
    pub dimension: Dimension,
    /// Values a particle: 1 or 3.
    pub width: usize,
    /// Description.
    pub description: &'static str,
    /// Its values, from particles that all stand at one moment, the forces there, and the time axis.
    pub values: fn(&Particles, &Field, &Clock) -> FieldValues,
}

/// The values of a snapshot's field, in row order and internal units.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValues {
    /// Quantities.
    Floats(Vec<f64>),
    /// Identities.
    Counts(Vec<u64>),
}

fn vectors(column: &[Vec3]) -> FieldValues {
    FieldValues::Floats(components(column).to_vec())
}

macro_rules! fields {
    ($($constant:ident = $name:literal, $dimension:ident, $width:literal, $text:literal, $values:expr;)*) => {
        $(
            #[doc = concat!("Snapshot: ", $text, ".")]
            pub const $constant: SnapshotField = SnapshotField {
                name: $name,
                dimension: Dimension::$dimension,
                width: $width,
                description: $text,
                values: $values,
            };
        )*
        /// All datasets of a snapshot, in the order in which they are written and hashed.
        pub const SNAPSHOT: &[SnapshotField] = &[$($constant),*];
    };
}

fields! {
    COORDINATES = "Coordinates", LENGTH, 3, "position", |p, _, _| vectors(&p.pos);
    VELOCITIES = "Velocities", VELOCITY, 3, "velocity", |p, _, _| vectors(&p.vel);
    MASSES = "Masses", MASS, 1, "mass", |p, _, _| FieldValues::Floats(p.mass.clone());
    PARTICLE_IDS = "ParticleIDs", NONE, 1, "identity, unique, kept from the initial conditions",
        |p, _, _| FieldValues::Counts(p.id.clone());
    POTENTIAL = "Potential", POTENTIAL, 1, "potential per unit mass, without the self term",
        |_, field, _| FieldValues::Floats(field.pot.clone());
    ACCELERATION = "Acceleration", ACCELERATION, 3, "acceleration", |_, field, _| vectors(&field.acc);
    TIME_STEP = "TimeStep", TIME, 1, "length of the next step, dt_max / 2^level",
        |p, _, clock| FieldValues::Floats(p.step.iter().map(|level| level.step(clock.dt_max)).collect());
}
