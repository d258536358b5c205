//! Row of the journal of collisions and escapers.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::Value;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};

row! {
    /// Row of the stars journal, in internal units: a contact of two stars, or a star that escapes.
    StarRow in Stars {
        time: UserTime, TIME, "time of the contact, or the multiple of dt_max at which a star escaped";
        event: String, NONE, "touch (two stars touch and go on), merge (they become one), escape (a star leaves)";
        id: u64, NONE, "id of the first star, or of the escaper";
        other_id: String, NONE, "id of the second; empty for an escape";
        new_id: String, NONE, "id of the star that two become; else empty";
        mass: f64, MASS, "mass of the first star";
        other_mass: f64, MASS, "mass of the second; NaN for an escape, as are radii and relative columns";
        radius: f64, LENGTH, "radius of the first star";
        other_radius: f64, LENGTH, "that of the second";
        new_radius: f64, LENGTH, "that of the star that two become; else NaN";
        position: Vec3, LENGTH, "position of the centre of mass of the two, or of the escaper";
        velocity: Vec3, VELOCITY, "its velocity";
        relative_position: Vec3, LENGTH, "position of the second star relative to the first";
        relative_velocity: Vec3, VELOCITY, "its velocity relative to the first";
        pericentre: f64, LENGTH, "pericentre of their orbit";
        specific_energy: f64, POTENTIAL, "v^2/2 - G (m1 + m2)/r of the two; of an escaper, or its subsystem, energy per unit mass in the frame of the centre of mass of all, in a tide its Jacobi energy + 3/2 G M / r_t";
        removed_energy: f64, ENERGY, "energy before the event less that after it: in the row of the lowest id for a subsystem; 0 for a touch or what is only recorded";
    }
}
