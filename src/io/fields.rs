//! Every output quantity, declared once: name, dimension, description. Files, docs and readers follow these tables.

use crate::particles::{Particles, Vec3};
use crate::time::{Clock, LEVELS};
use crate::units::{Dimension, Scale};

/// One dataset of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name of the dataset.
    pub name: &'static str,
    /// What it is made of.
    pub dimension: Dimension,
    /// Values a particle: 1 or 3.
    pub width: usize,
    /// Description.
    pub text: &'static str,
    /// Its values.
    pub values: fn(&Particles, &Clock) -> FieldValues,
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
    FieldValues::Floats(column.as_flattened().to_vec())
}

macro_rules! fields {
    ($($constant:ident = $name:literal, $dimension:ident, $width:literal, $text:literal, $values:expr;)*) => {
        $(
            #[doc = concat!("Snapshot: ", $text, ".")]
            pub const $constant: Field = Field {
                name: $name,
                dimension: Dimension::$dimension,
                width: $width,
                text: $text,
                values: $values,
            };
        )*
        /// All datasets of a snapshot, in the order in which they are written and hashed.
        pub const SNAPSHOT: &[Field] = &[$($constant),*];
    };
}

fields! {
    COORDINATES = "Coordinates", LENGTH, 3, "position", |p, _| vectors(&p.pos);
    VELOCITIES = "Velocities", VELOCITY, 3, "velocity", |p, _| vectors(&p.vel);
    MASSES = "Masses", MASS, 1, "mass", |p, _| FieldValues::Floats(p.mass.clone());
    PARTICLE_IDS = "ParticleIDs", NONE, 1, "identity, unique, kept from the initial conditions",
        |p, _| FieldValues::Counts(p.id.clone());
    POTENTIAL = "Potential", POTENTIAL, 1, "potential per unit mass, without the self term",
        |p, _| FieldValues::Floats(p.pot.clone());
    ACCELERATION = "Acceleration", ACCELERATION, 3, "acceleration", |p, _| vectors(&p.acc);
    TIME_STEP = "TimeStep", TIME, 1, "length of the next step, dt_max / 2^level",
        |p, clock| FieldValues::Floats(p.step.iter().map(|level| level.step(clock.dt_max)).collect());
}

/// What a diagnostics column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// f64.
    Float,
    /// u64.
    Count,
}

/// One column of the diagnostics.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, the same in the CSV and the HDF5 file.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// What it is made of.
    pub dimension: Dimension,
    /// Description.
    pub text: String,
}

/// One value of a diagnostics column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A measured quantity.
    Float(f64),
    /// A count.
    Count(u64),
}

/// A field of [`DiagnosticsRow`]: one column, or several.
trait Cell {
    const KIND: ColumnKind;
    /// What is appended to the field's name for each column.
    fn suffixes() -> Vec<String>;
    /// One value a column; `scale` turns internal units into the user's.
    fn push(&self, scale: f64, values: &mut Vec<Value>);
}

impl Cell for f64 {
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Float(self * scale));
    }
}

impl Cell for [f64; 3] {
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        ["_x", "_y", "_z"].map(String::from).to_vec()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend(self.map(|x| Value::Float(x * scale)));
    }
}

/// Maximum, root mean square and 99th percentile of an error over many particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The largest.
    pub max: f64,
    /// Root mean square.
    pub rms: f64,
    /// 99 of 100 are no larger.
    pub p99: f64,
}

impl Spread {
    /// Of an error that has no meaning.
    pub const NOT_COMPARED: Self = Self { max: f64::NAN, rms: f64::NAN, p99: f64::NAN };
}

impl Cell for Spread {
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        ["_max", "_rms", "_p99"].map(String::from).to_vec()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend([self.max, self.rms, self.p99].map(|x| Value::Float(x * scale)));
    }
}

impl Cell for u64 {
    const KIND: ColumnKind = ColumnKind::Count;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Count(*self));
    }
}

impl Cell for [u64; LEVELS] {
    const KIND: ColumnKind = ColumnKind::Count;
    fn suffixes() -> Vec<String> {
        (0..LEVELS).map(|level| format!("_{level:02}")).collect()
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.extend(self.map(Value::Count));
    }
}

/// Makes the row and its table of columns from one list, so that no name is written twice.
macro_rules! diagnostics {
    ($($name:ident: $type:ty, $dimension:ident, $text:literal;)*) => {
        /// One row of the diagnostics, in internal units: what the simulation fills at every output.
        #[derive(Clone, Debug, PartialEq)]
        pub struct DiagnosticsRow {
            $(#[doc = $text] pub $name: $type,)*
        }

        impl DiagnosticsRow {
            /// The columns, in file order. A vector is three columns (`_x`, `_y`, `_z`), the step histogram one a level.
            #[must_use]
            pub fn columns() -> Vec<Column> {
                let mut columns = Vec::new();
                $(for suffix in <$type as Cell>::suffixes() {
                    columns.push(Column {
                        name: format!("{}{suffix}", stringify!($name)),
                        kind: <$type as Cell>::KIND,
                        dimension: Dimension::$dimension,
                        text: $text.to_string(),
                    });
                })*
                columns
            }

            /// The values, in the order of [`columns`](Self::columns), in the user's units.
            #[must_use]
            pub fn values(&self, scale: &Scale) -> Vec<Value> {
                let mut values = Vec::new();
                $(self.$name.push(scale.of(Dimension::$dimension), &mut values);)*
                values
            }
        }

        impl Default for DiagnosticsRow {
            fn default() -> Self {
                Self { $($name: <$type as Zero>::ZERO,)* }
            }
        }
    };
}

/// Zero of a field's type ([`Default`] stops at arrays of 32).
trait Zero {
    const ZERO: Self;
}
impl Zero for f64 {
    const ZERO: Self = 0.0;
}
impl Zero for Spread {
    const ZERO: Self = Self { max: 0.0, rms: 0.0, p99: 0.0 };
}
impl Zero for u64 {
    const ZERO: Self = 0;
}
impl Zero for [f64; 3] {
    const ZERO: Self = [0.0; 3];
}
impl Zero for [u64; LEVELS] {
    const ZERO: Self = [0; LEVELS];
}

diagnostics! {
    time: f64, TIME, "time";
    kinetic_energy: f64, ENERGY, "kinetic energy T";
    potential_energy: f64, ENERGY, "potential energy U, softened as the forces are";
    energy: f64, ENERGY, "total energy E = T + U";
    relative_energy_error: f64, NONE, "(E - E0) / |E0| since the start of the run, signed";
    relative_energy_error_step: f64, NONE, "energy change since the row before, divided by |E0|, signed";
    virial_ratio: f64, NONE, "T / |U|";
    momentum: [f64; 3], MOMENTUM, "total momentum";
    momentum_drift: f64, MOMENTUM, "length of the change of the total momentum since the start of the run";
    angular_momentum: [f64; 3], ANGULAR_MOMENTUM, "total angular momentum L about the origin";
    angular_momentum_error: f64, NONE, "|L - L0| / |L0| since the start of the run; where L0 = 0, |L - L0| in internal units (G = 1)";
    centre_of_mass: [f64; 3], LENGTH, "centre of mass";
    centre_of_mass_drift: f64, LENGTH, "distance of the centre of mass from the initial one moved on with its initial velocity";
    audit_sample: u64, NONE, "particles whose forces were computed again by the f64 CPU path; 0 where the run uses that path";
    audit_acceleration: Spread, NONE, "relative error |a - a64| / |a64| of the acceleration over the audited particles: maximum, root mean square, 99th percentile";
    audit_jerk: Spread, NONE, "relative error of the jerk, likewise; NaN where the integrator needs no jerk";
    audit_potential: Spread, NONE, "relative error of the potential, likewise; NaN where the integrator needs no potential";
    step_min: f64, TIME, "shortest step in use";
    step_mean: f64, TIME, "mean step over the particles";
    step_max: f64, TIME, "longest step in use";
    steps_level: [u64; LEVELS], NONE, "particles whose step is dt_max / 2^level, the level being the number at the end of the name; with the leapfrog all have level 0, the step dt";
    block_steps: u64, NONE, "block steps since the start of the run";
    particle_steps: u64, NONE, "particle steps since the start of the run";
    clamped_steps: u64, NONE, "particle steps held at dt_min since the start of the run";
    pair_interactions: u64, NONE, "pair interactions evaluated since the start of the run";
    mean_block_size: f64, NONE, "particle steps per block step since the row before";
    wall_seconds: f64, NONE, "wall time since the start of the run, in s, all its parts added";
    pairs_per_second: f64, NONE, "pair interactions per second of wall time since the row before";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_values_go_together() {
        let columns = DiagnosticsRow::columns();
        let scale = Scale { mass: 2.0, length: 4.0, velocity: 8.0, time: 16.0 };
        let row = DiagnosticsRow { time: 1.0, energy: -0.25, momentum: [0.0, 1.0, 0.0], ..Default::default() };
        let values = row.values(&scale);
        assert_eq!(columns.len(), values.len());
        let at = |name: &str| values[columns.iter().position(|c| c.name == name).unwrap()];
        assert_eq!(at("time"), Value::Float(16.0));
        assert_eq!(at("energy"), Value::Float(-0.25 * 2.0 * 64.0));
        assert_eq!(at("momentum_y"), Value::Float(16.0));
        assert_eq!(at("steps_level_36"), Value::Count(0));
        for (column, value) in columns.iter().zip(values) {
            assert_eq!(column.kind == ColumnKind::Count, matches!(value, Value::Count(_)), "{}", column.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<String> = DiagnosticsRow::columns().into_iter().map(|c| c.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), DiagnosticsRow::columns().len());
    }
}
