//! Row of the journal of subsystems.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::Value;
use tisane::units::{Dimension, Scale};

row! {
    /// Row of the encounters journal, in internal units: a change of subsystems.
    EncounterRow in Encounters {
        time: UserTime, TIME, "time";
        kind: String, NONE, "what happened: form, join, open, close, split, dissolve";
        before: String, NONE, "stars and subsystems that end, by the ids of their stars, with a space between two";
        after: String, NONE, "those that begin";
        number: u64, NONE, "stars that take part";
        mass: f64, MASS, "their mass";
        binding_energy_before: f64, ENERGY, "binding energy inside of the subsystems that end";
        binding_energy: f64, ENERGY, "that inside of those that begin";
        mass_1: f64, MASS, "mass of the first body of the pair of the row; NaN where there is no pair, as of three bodies that meet";
        mass_2: f64, MASS, "mass of the second";
        semi_major_axis: f64, LENGTH, "semi-major axis of their orbit; negative where they are not bound";
        eccentricity: f64, NONE, "its eccentricity";
        period: f64, TIME, "its period; NaN where they are not bound";
        perturbation: f64, NONE, "2 r^3 D / M of the subsystem that begins, at split and dissolve of the one that ends: extent r, mass M, D = sum m / r^3 of all others; of an inner pair by the other bodies inside, at its apocentre";
        changes: Option<u64>, NONE, "number of changes that the row stands for";
        first_time: Option<f64>, TIME, "time of the first of them";
    }
}
