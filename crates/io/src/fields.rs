//! Output quantities, each declared once with name, dimension and description. Writers, readers and the guide use these
//! tables.

mod cluster;
mod encounters;
mod journal;
mod rows;
mod stars;
mod stellar;
mod subsystem_stars;
mod subsystems;
mod values;

pub use cluster::{BinaryRow, ClusterColumns, ClusterRow, EventRow, FRACTIONS, TideColumns};
pub use encounters::EncounterRow;
pub use journal::Journal;
pub use rows::{ColumnSpec, DiagnosticsRow, FieldColumns, JournalRow, UserTime};
pub use stars::StarRow;
pub use stellar::StellarRow;
pub use subsystem_stars::{STAR_ID, STAR_POSITION, STAR_SUBSYSTEM, STAR_VELOCITY, SUBSYSTEM_STARS, SubsystemStarField};
pub use subsystems::{
    SUBSYSTEM_AXIS, SUBSYSTEM_BINDING, SUBSYSTEM_ECCENTRICITY, SUBSYSTEM_MEMBERS, SUBSYSTEM_PERIOD, SUBSYSTEMS,
    SubsystemField,
};
pub use values::FieldValues;

use tisane::force::Field;
use tisane::integrator::low_parts;
use tisane::particles::{Particles, Vec3, components};
use tisane::time::Clock;
use tisane::units::Dimension;

impl Journal {
    /// Returns the journal, of this or another version, whose CSV begins with `head`. It is recognised by the names of
    /// its first two columns.
    #[must_use]
    pub fn from_csv(head: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
        let names: Vec<&str> = line.trim_end().split(',').collect();
        let begins = |journal: &Self| {
            let columns = journal.columns();
            columns.len() > 1 && names.len() > 1 && columns.iter().zip(&names).take(2).all(|(c, name)| c.name == *name)
        };
        Self::ALL.into_iter().find(begins)
    }

    /// Returns the columns.
    #[must_use]
    pub fn columns(self) -> Vec<ColumnSpec> {
        match self {
            Self::Diagnostics => DiagnosticsRow::columns(),
            Self::Cluster => ClusterRow::columns(),
            Self::Binaries => BinaryRow::columns(),
            Self::Events => EventRow::columns(),
            Self::Encounters => EncounterRow::columns(),
            Self::Stars => StarRow::columns(),
            Self::Stellar => StellarRow::columns(),
        }
    }
}

/// Declaration of a dataset of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotField {
    /// Name of the dataset.
    pub name: &'static str,
    /// Dimension, from which the unit follows.
    pub dimension: Dimension,
    /// Number of values of a particle: 1 or 3.
    pub width: usize,
    /// Description.
    pub description: &'static str,
    /// Values of synchronised particles, from their state, the field at their positions and the time axis; none where the
    /// particles lack the quantity, which a snapshot then has no dataset of.
    pub values: fn(&Particles, &Field, &Clock) -> FieldValues,
}

/// Returns the components of vectors, three values a row.
fn vectors(column: &[Vec3]) -> FieldValues {
    FieldValues::Floats(components(column).to_vec())
}

/// Returns what vectors have beyond f64.
fn rests(high: &[Vec3], low: Option<Vec<Vec3>>) -> FieldValues {
    match low {
        Some(low) => FieldValues::Rests { high: components(high).to_vec(), low: components(&low).to_vec() },
        None => FieldValues::Rests { high: Vec::new(), low: Vec::new() },
    }
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
        /// Datasets of a snapshot, in the order in which they are written and hashed.
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
    RADIUS = "Radius", LENGTH, 1, "radius, in runs with `[collisions]`", |p, _, _| FieldValues::Floats(p.radius.clone());
    COORDINATES_LOW = "CoordinatesLow", LENGTH, 3, "digits of the position beyond `Coordinates`, in runs with `[integrator.extrapolated]`",
        |p, _, _| rests(&p.pos, low_parts(p).map(|[pos, _]| pos));
    VELOCITIES_LOW = "VelocitiesLow", VELOCITY, 3, "digits of the velocity beyond `Velocities`, in runs with `[integrator.extrapolated]`",
        |p, _, _| rests(&p.vel, low_parts(p).map(|[_, vel]| vel));
}
