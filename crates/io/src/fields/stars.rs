//! Row of the journal of collisions and escapers.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::Value;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};

row! {
    /// Row of the stars journal, in internal units: a contact of two stars, or a star that escapes.
    StarRow in Stars {
        time: UserTime, TIME, "time: of the contact, or of the multiple of dt_max at which the star escaped";
        event: String, NONE, "what happened: touch (two stars touch and go on), merge (they become one), escape (a star leaves)";
        id: u64, NONE, "id of the first star, or of the one that escapes";
        other_id: String, NONE, "id of the second star; empty for an escape";
        new_id: String, NONE, "id of the star that two become, that of the more massive one, of equal ones the lower; else empty";
        mass: f64, MASS, "mass of the first star";
        other_mass: f64, MASS, "mass of the second; NaN for an escape, as below";
        radius: f64, LENGTH, "radius of the first star; NaN for an escape";
        other_radius: f64, LENGTH, "radius of the second";
        new_radius: f64, LENGTH, "radius of the star that two become; else NaN";
        position: Vec3, LENGTH, "position of the centre of mass of the two, or of the star that escapes";
        velocity: Vec3, VELOCITY, "its velocity";
        relative_position: Vec3, LENGTH, "position of the second star relative to the first at the contact";
        relative_velocity: Vec3, VELOCITY, "its velocity relative to the first";
        pericentre: f64, LENGTH, "pericentre distance of the orbit of the two at the contact";
        specific_energy: f64, POTENTIAL, "energy per unit mass: of the relative motion of the two at the contact, v^2/2 - G (m1 + m2)/r; of a star that escapes, or of the centre of mass of the subsystem that it is in, in the frame of the centre of mass of all; in a tide its Jacobi energy less the critical one, -3/2 G M / r_t";
        removed_energy: f64, ENERGY, "energy before the event less that after it; of several stars that escape as one subsystem, in the row of the lowest id; 0 for a touch, and for an escape that is only recorded";
    }
}
