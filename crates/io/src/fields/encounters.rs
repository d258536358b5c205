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
        before: String, NONE, "stars and subsystems that end, by the ids of their stars: 12 stars alone, (3+7) two that move about each other, ((3+7)+12) with an inner subsystem; a space between two";
        after: String, NONE, "stars and subsystems that begin, likewise";
        number: u64, NONE, "stars that take part";
        mass: f64, MASS, "their mass";
        binding_energy_before: f64, ENERGY, "binding energy inside of the subsystems that end, positive where they are bound";
        binding_energy: f64, ENERGY, "binding energy inside of those that begin";
        mass_1: f64, MASS, "mass of the first body of the pair that the row is about: at form and join the new pair, at open and close the inner pair, at split the pair that is left (of two the one with the larger binding energy), at dissolve the pair that ends; NaN where there is no pair, as of three bodies that meet";
        mass_2: f64, MASS, "mass of the second body of that pair";
        semi_major_axis: f64, LENGTH, "semi-major axis of its orbit; negative where it is not bound";
        eccentricity: f64, NONE, "eccentricity of its orbit";
        period: f64, TIME, "period of its orbit; NaN where it is not bound";
        perturbation: f64, NONE, "relative perturbation 2 r^3 D / M of the subsystem that begins, at split and dissolve of the one that ends: its extent r and mass M, and D = sum m / r^3 of all others; of an inner pair that by the other bodies inside, at its apocentre";
        changes: Option<u64>, NONE, "number of changes that the row stands for: 1, or more where the same stars went to and fro between two states since first_time: the row has the last change, the others have none; not in journals of earlier versions";
        first_time: Option<f64>, TIME, "time of the first of these changes; likewise";
    }
}
