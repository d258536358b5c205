//! Rows of the journals of a run, with their columns.

use super::journal::Journal;
use crate::table::columns::{Column, ColumnKind, Value, Values};
use tisane::diagnostics::relative_error::Spread;
use tisane::particles::Vec3;
use tisane::time::LEVELS;
use tisane::units::{Dimension, Scale, Units};

/// Declaration of a column of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// Name, the same in the CSV and the HDF5 file.
    pub name: String,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Dimension, from which the unit follows.
    pub dimension: Dimension,
    /// Description.
    pub description: String,
    /// True if only journals of some runs have the column: [`JournalWriter`](super::super::journal::JournalWriter) knows
    /// which.
    pub optional: bool,
}

impl ColumnSpec {
    /// Returns the column in the units of a file, without values.
    #[must_use]
    pub fn column(&self, units: &Units) -> Column {
        Column::new(&*self.name, units.label(self.dimension), &*self.description, Values::empty(self.kind))
    }
}

/// Type of a field of a [`JournalRow`], which has one column or several.
pub(super) trait RowField {
    /// Initial value. ([`Default`] is not implemented for arrays of more than 32 elements.)
    const ZERO: Self;
    /// Type of the values of its columns.
    const KIND: ColumnKind;
    /// True if a journal may be without the column.
    const OPTIONAL: bool = false;
    /// Returns the suffix of the field's name for each column.
    fn suffixes() -> Vec<String>;
    /// Appends one value a column; `scale` converts from internal to the user's units.
    fn push(&self, scale: f64, values: &mut Vec<Value>);
}

impl RowField for f64 {
    const ZERO: Self = 0.0;
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Float(self * scale));
    }
}

/// An optional column; NaN in a row without the value.
impl RowField for Option<f64> {
    const ZERO: Self = None;
    const KIND: ColumnKind = ColumnKind::Float;
    const OPTIONAL: bool = true;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Float(self.map_or(f64::NAN, |x| x * scale)));
    }
}

impl RowField for Vec3 {
    const ZERO: Self = Self::new(0.0, 0.0, 0.0);
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        ["_x", "_y", "_z"].map(String::from).to_vec()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend(self.iter().map(|x| Value::Float(x * scale)));
    }
}

/// Optional columns; NaN in a row without the value.
impl RowField for Option<Vec3> {
    const ZERO: Self = None;
    const KIND: ColumnKind = ColumnKind::Float;
    const OPTIONAL: bool = true;
    fn suffixes() -> Vec<String> {
        <Vec3 as RowField>::suffixes()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        RowField::push(&self.unwrap_or(Vec3::repeat(f64::NAN)), scale, values);
    }
}

impl RowField for Spread {
    const ZERO: Self = Self { max: 0.0, rms: 0.0, p99: 0.0 };
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        ["_max", "_rms", "_p99"].map(String::from).to_vec()
    }
    fn push(&self, scale: f64, values: &mut Vec<Value>) {
        values.extend([self.max, self.rms, self.p99].map(|x| Value::Float(x * scale)));
    }
}

impl RowField for u64 {
    const ZERO: Self = 0;
    const KIND: ColumnKind = ColumnKind::Count;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Count(*self));
    }
}

/// An optional column; 0 in a row without the value.
impl RowField for Option<u64> {
    const ZERO: Self = None;
    const KIND: ColumnKind = ColumnKind::Count;
    const OPTIONAL: bool = true;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Count(self.unwrap_or(0)));
    }
}

impl RowField for [u64; LEVELS] {
    const ZERO: Self = [0; LEVELS];
    const KIND: ColumnKind = ColumnKind::Count;
    fn suffixes() -> Vec<String> {
        (0..LEVELS).map(|level| format!("_{level:02}")).collect()
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.extend(self.map(Value::Count));
    }
}

/// Time in the user's unit. It is not converted again, so that a row has the time of the snapshot to the last bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserTime(pub f64);

impl RowField for UserTime {
    const ZERO: Self = Self(0.0);
    const KIND: ColumnKind = ColumnKind::Float;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Float(self.0));
    }
}

impl RowField for String {
    const ZERO: Self = Self::new();
    const KIND: ColumnKind = ColumnKind::Text;
    fn suffixes() -> Vec<String> {
        vec![String::new()]
    }
    fn push(&self, _scale: f64, values: &mut Vec<Value>) {
        values.push(Value::Text(self.clone()));
    }
}

/// Row of a journal, in internal units.
pub trait JournalRow {
    /// Journal of the row.
    const JOURNAL: Journal;

    /// Returns the columns, optional ones included, in file order. A vector has three columns (`_x`, `_y`, `_z`), a
    /// histogram one a bin.
    #[must_use]
    fn columns() -> Vec<ColumnSpec>;

    /// Returns the values, one a column of [`columns`](Self::columns), in the user's units.
    #[must_use]
    fn values(&self, scale: &Scale) -> Vec<Value>;
}

/// Declares the struct of a row and its columns from one list, so that each name is written once.
macro_rules! row {
    ($(#[$doc:meta])* $row:ident in $journal:ident { $($name:ident: $type:ty, $dimension:ident, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row {
            $(#[doc = $text] pub $name: $type,)*
        }

        impl JournalRow for $row {
            const JOURNAL: Journal = Journal::$journal;

            fn columns() -> Vec<ColumnSpec> {
                let mut columns = Vec::new();
                $(for suffix in <$type as RowField>::suffixes() {
                    columns.push(ColumnSpec {
                        name: format!("{}{suffix}", stringify!($name)),
                        kind: <$type as RowField>::KIND,
                        dimension: Dimension::$dimension,
                        description: $text.to_string(),
                        optional: <$type as RowField>::OPTIONAL,
                    });
                })*
                columns
            }

            fn values(&self, scale: &Scale) -> Vec<Value> {
                let mut values = Vec::new();
                $(RowField::push(&self.$name, scale.factor(Dimension::$dimension), &mut values);)*
                values
            }
        }

        impl Default for $row {
            fn default() -> Self {
                Self { $($name: <$type as RowField>::ZERO,)* }
            }
        }
    };
}
pub(super) use row;

row! {
    /// Row of the diagnostics, in internal units, written at every output.
    DiagnosticsRow in Diagnostics {
        time: f64, TIME, "time";
        kinetic_energy: f64, ENERGY, "kinetic energy T";
        potential_energy: f64, ENERGY, "potential energy U, softened as the forces are";
        external_potential_energy: Option<f64>, ENERGY, "potential energy sum m phi in the external field, part of E";
        tidal_potential_energy: Option<f64>, ENERGY, "potential energy sum m Phi in the tidal field about the origin";
        tidal_work: Option<f64>, ENERGY, "work W of the moving origin, which is taken out of E";
        orbit_energy: Option<f64>, POTENTIAL, "energy of the origin on its orbit per unit mass, V^2 / 2 + phi(X)";
        energy: f64, ENERGY, "total energy E = T + U";
        relative_energy_error: f64, NONE, "change of the energy since the start, signed, over the scale that energy_error_relative_to of summary.json names";
        relative_energy_error_step: f64, NONE, "its change since the row before";
        cluster_energy_error: Option<f64>, NONE, "energy error of the bound cluster: that change, less that of runaways, over max(|T + U|, |U| / 2), binaries and hierarchies as one body each; NaN for fewer than 10 bound bodies, relative_energy_error for fewer in all";
        jacobi_energy: Option<f64>, ENERGY, "Jacobi energy T + U + sum m Phi - Omega L, with L about the centre of the tide";
        jacobi_energy_error: Option<f64>, NONE, "its change since the start, over the scale of relative_energy_error";
        removed_energy: Option<f64>, ENERGY, "energy that mergers, escapes and ageing took out: errors are those of E + removed_energy";
        particles: Option<u64>, NONE, "number of particles";
        initial_mass: Option<f64>, MASS, "sum of the masses at birth of the stars that are there";
        stellar_mass: Option<f64>, MASS, "sum of their present masses";
        luminosity: Option<f64>, NONE, "sum of their luminosities, in solar luminosities";
        giants: Option<u64>, NONE, "stars of types 2 to 6";
        white_dwarfs: Option<u64>, NONE, "white dwarfs, types 10 to 12";
        neutron_stars: Option<u64>, NONE, "neutron stars";
        black_holes: Option<u64>, NONE, "black holes";
        remnant_mass: Option<f64>, MASS, "mass of these three";
        subsystems: Option<u64>, NONE, "subsystems";
        binding_energy: Option<f64>, ENERGY, "binding energy inside of them, positive";
        binding_energy_change: Option<f64>, ENERGY, "its change since the start";
        outer_energy: Option<f64>, ENERGY, "E + binding_energy";
        outer_energy_error: Option<f64>, NONE, "cluster_energy_error with the energy inside of binaries that are no subsystems as part of the cluster's";
        neglected_energy: Option<f64>, ENERGY, "sum of |(1 - K) phi| over each subsystem and each other body: phi is their tidal energy, of which the part K is integrated";
        virial_ratio: f64, NONE, "T / |U| in the frame of the mean velocity, without external field; in a cluster each binary and hierarchy of at least 1 kT is one body";
        momentum: Vec3, MOMENTUM, "total momentum";
        momentum_drift: f64, MOMENTUM, "length of its change since the start";
        angular_momentum: Vec3, ANGULAR_MOMENTUM, "total angular momentum L about the origin";
        angular_momentum_error: f64, NONE, "|L - L0| / |L0| about the centre of mass, in its frame";
        centre_of_mass: Vec3, LENGTH, "centre of mass";
        centre_of_mass_drift: f64, LENGTH, "its distance from where its initial velocity leads";
        audit_sample: u64, NONE, "particles whose forces were computed again; 0 where the run uses the f64 CPU path";
        audit_acceleration: Spread, NONE, "relative error |a - a64| / |a64| of these: maximum, root mean square, 99th percentile";
        audit_jerk: Spread, NONE, "that of the jerk; NaN where the integrator needs none";
        audit_potential: Spread, NONE, "that of the potential, likewise";
        step_min: f64, TIME, "shortest step in use";
        step_mean: f64, TIME, "mean step";
        step_max: f64, TIME, "longest step";
        steps_level: [u64; LEVELS], NONE, "particles with the step dt_max / 2^level, the level at the end of the name; with the leapfrog all have level 0";
        block_steps: u64, NONE, "block steps since the start";
        particle_steps: u64, NONE, "particle steps since the start";
        clamped_steps: u64, NONE, "particle steps held at dt_min";
        pair_interactions: u64, NONE, "pairs evaluated since the start";
        mean_block_size: f64, NONE, "particle steps per block step since the row before";
        wall_seconds: f64, NONE, "wall time since the start, in s";
        pairs_per_second: f64, NONE, "pairs per second of wall time since the row before";
    }
}

impl DiagnosticsRow {
    /// Returns which optional columns the diagnostics of a run have: by its external field, with a Jacobi energy that is `conserved`
    /// in it or not, with subsystems or not, with collisions or escapers or not, and with stars that evolve or not. Of columns that are not named, a journal
    /// keeps those that it was begun with.
    #[must_use]
    pub fn optional_columns(
        (field, conserved): (FieldColumns, bool),
        subsystems: bool,
        star_events: bool,
        evolution: bool,
    ) -> Vec<(&'static str, bool)> {
        const OF_SUBSYSTEMS: [&str; 6] = [
            "subsystems",
            "binding_energy",
            "binding_energy_change",
            "outer_energy",
            "outer_energy_error",
            "neglected_energy",
        ];
        let without = OF_SUBSYSTEMS.into_iter().filter(|_| !subsystems).map(|name| (name, false));
        let stars = [
            ("removed_energy", star_events || evolution),
            ("particles", star_events || evolution),
            ("initial_mass", evolution),
            ("stellar_mass", evolution),
            ("luminosity", evolution),
            ("giants", evolution),
            ("white_dwarfs", evolution),
            ("neutron_stars", evolution),
            ("black_holes", evolution),
            ("remnant_mass", evolution),
        ];
        let tidal = field == FieldColumns::Tidal;
        let of_field = [
            ("external_potential_energy", field == FieldColumns::External),
            ("tidal_potential_energy", tidal),
            ("tidal_work", tidal),
            ("orbit_energy", tidal),
        ];
        let of_circle =
            ["jacobi_energy", "jacobi_energy_error"].into_iter().filter(|_| !conserved).map(|name| (name, false));
        of_field.into_iter().chain(of_circle).chain(without).chain(stars).collect()
    }
}

/// Columns of the diagnostics by what acts from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldColumns {
    /// Nothing.
    #[default]
    None,
    /// Fields, in coordinates at rest.
    External,
    /// Fields, about an origin that moves in them.
    Tidal,
}

#[cfg(test)]
mod tests {
    use super::super::{BinaryRow, ClusterRow, EncounterRow, EventRow, StarRow};
    use super::*;

    #[test]
    fn columns_and_values_go_together() {
        let columns = DiagnosticsRow::columns();
        let scale = Scale { mass: 2.0, length: 4.0, velocity: 8.0, time: 16.0 };
        let row = DiagnosticsRow {
            time: 1.0,
            external_potential_energy: Some(-0.5),
            energy: -0.25,
            momentum: Vec3::y(),
            ..Default::default()
        };
        let values = row.values(&scale);
        assert_eq!(columns.len(), values.len());
        let at = |name: &str| values[columns.iter().position(|c| c.name == name).unwrap()].clone();
        assert_eq!(at("time"), Value::Float(16.0));
        assert_eq!(at("energy"), Value::Float(-0.25 * 2.0 * 64.0));
        assert_eq!(at("momentum_y"), Value::Float(16.0));
        assert_eq!(at("steps_level_36"), Value::Count(0));
        assert_eq!(at("external_potential_energy"), Value::Float(-0.5 * 2.0 * 64.0));
        let without = DiagnosticsRow { external_potential_energy: None, ..row }.values(&scale);
        assert!(without.len() == columns.len() && matches!(without[3], Value::Float(x) if x.is_nan()), "{without:?}");
        for (column, value) in columns.iter().zip(values) {
            assert_eq!(column.kind == ColumnKind::Count, matches!(value, Value::Count(_)), "{}", column.name);
        }
    }

    #[test]
    fn names_are_unique_and_rows_have_a_value_a_column() {
        for journal in Journal::ALL {
            let mut names: Vec<String> = journal.columns().into_iter().map(|c| c.name).collect();
            let columns = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), columns, "{journal:?}");
            assert!(
                journal.columns().iter().all(|c| !c.description.is_empty() && !c.name.contains(',')),
                "{journal:?}"
            );
        }
        assert_eq!(ClusterRow::default().values(&Scale::IDENTITY).len(), ClusterRow::columns().len());
        assert_eq!(EventRow::default().values(&Scale::IDENTITY).len(), EventRow::columns().len());
        assert_eq!(EncounterRow::default().values(&Scale::IDENTITY).len(), EncounterRow::columns().len());
        assert_eq!(StarRow::default().values(&Scale::IDENTITY).len(), StarRow::columns().len());
        assert_eq!(BinaryRow::default().values(&Scale::IDENTITY).len(), BinaryRow::columns().len());
    }
}
