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
        external_potential_energy: Option<f64>, ENERGY, "potential energy in the external field, sum m phi, which is part of E; only in runs with an external field";
        tidal_potential_energy: Option<f64>, ENERGY, "potential energy in the tidal field about the origin, sum m Phi, in place of external_potential_energy; only in runs with the section orbit, like the next two columns";
        tidal_work: Option<f64>, ENERGY, "work W of the moving origin since the start of the run, which is taken out of E";
        orbit_energy: Option<f64>, POTENTIAL, "energy of the origin on its orbit per unit mass, V^2 / 2 + phi(X); constant in a field that does not depend on the time";
        energy: f64, ENERGY, "total energy E = T + U";
        relative_energy_error: f64, NONE, "change of the energy since the start of the run, signed, relative to the internal energy at the start: that in the frame of the mean velocity, without an external field; it is |E0| for a system at rest. Relative to T + |U| in that frame where the internal energy is the rest of terms that cancel. Of massless bodies about a single body or in a field: change of their own energies with unit mass, relative to their sum. NaN where no energy is measured";
        relative_energy_error_step: f64, NONE, "its change since the row before";
        cluster_energy_error: Option<f64>, NONE, "the same change of the energy relative to the present internal energy of the cluster with each binary and hierarchy of at least 1 kT as one body, signed; bodies that leave the cluster, as in virial_ratio, do not count; that of relative_energy_error for fewer than 10 bodies; only in runs begun by a version that measures it";
        jacobi_energy: Option<f64>, ENERGY, "Jacobi energy T + U + sum m Phi - Omega L of all particles, with the angular momentum L about the centre of the tide along the axis of its orbit; only in runs where it is conserved: with orbit.circular in constant fields that are round about the axis, and with external.tide alone; like the next column";
        jacobi_energy_error: Option<f64>, NONE, "its change since the start of the run, with what was taken out, relative to the same internal energy as relative_energy_error";
        removed_energy: Option<f64>, ENERGY, "energy that mergers, escapes and the evolution of stars have taken out since the start of the run: E before less E after; errors of the energy are those of E + removed_energy; only in runs with the sections collisions, escapers or stellar_evolution";
        particles: Option<u64>, NONE, "number of particles; only in such runs";
        initial_mass: Option<f64>, MASS, "sum of the masses at birth of the stars that are there; only in runs with the section stellar_evolution, like the next seven columns";
        stellar_mass: Option<f64>, MASS, "sum of their present masses";
        luminosity: Option<f64>, NONE, "sum of their luminosities, in solar luminosities";
        giants: Option<u64>, NONE, "stars of types 2 to 6, from the Hertzsprung gap to the asymptotic giant branch";
        white_dwarfs: Option<u64>, NONE, "white dwarfs, types 10 to 12";
        neutron_stars: Option<u64>, NONE, "neutron stars";
        black_holes: Option<u64>, NONE, "black holes";
        remnant_mass: Option<f64>, MASS, "mass of white dwarfs, neutron stars and black holes";
        subsystems: Option<u64>, NONE, "subsystems: binaries and small groups that are integrated apart; only in runs with the section encounters, like the next five columns";
        binding_energy: Option<f64>, ENERGY, "binding energy inside of subsystems, positive";
        binding_energy_change: Option<f64>, ENERGY, "its change since the start of the run";
        outer_energy: Option<f64>, ENERGY, "E + binding_energy: the energy without that inside of subsystems";
        outer_energy_error: Option<f64>, NONE, "the same change of the energy relative to the present internal energy without that inside of subsystems, signed; bodies that leave a cluster, as in virial_ratio, do not count; |outer_energy| for a system at rest that nothing leaves";
        neglected_energy: Option<f64>, ENERGY, "energy of the tides that are left out at this moment, with no regard to signs: sum of |(1 - K) phi| over each subsystem and each other body, with phi their potential energy less that of two points, of which the part K is integrated; without bodies of which m / M (s / r)^3 is below 1e-12, or 1e-16 N of more than 10000 bodies, with the mass M and the size s of the subsystem";
        virial_ratio: f64, NONE, "virial ratio T / |U| of the system in its own frame, that of its mean velocity, without an external field; in a cluster, of at least 10 bodies none of which has more than half of the mass, binaries and hierarchies of at least 1 kT are one body each, and unbound bodies farther than 10 half-mass radii or faster than sqrt(2) times the speed of escape do not count; up to version 0.2.0 of all particles, in the frame of the coordinates";
        momentum: Vec3, MOMENTUM, "total momentum";
        momentum_drift: f64, MOMENTUM, "length of the change of the total momentum since the start of the run";
        angular_momentum: Vec3, ANGULAR_MOMENTUM, "total angular momentum L about the origin";
        angular_momentum_error: f64, NONE, "|L - L0| / |L0| since the start of the run, about the centre of mass and in its frame, unless there is an external field; relative to sum m r v where |L0| is the rest of terms that cancel";
        centre_of_mass: Vec3, LENGTH, "centre of mass";
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
