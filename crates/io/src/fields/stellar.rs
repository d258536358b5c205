//! Row of the journal of stars that evolve.

use super::journal::Journal;
use super::rows::{ColumnSpec, JournalRow, RowField, UserTime, row};
use crate::table::columns::Value;
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};

row! {
    /// Row of the stellar journal, in internal units: a change of type of a star.
    StellarRow in Stellar {
        time: UserTime, TIME, "time of the change on the track of the star";
        applied: UserTime, TIME, "time at which the orbits have it: the next multiple of dt_max";
        id: u64, NONE, "id of the star";
        other_id: String, NONE, "id of the star that merged with it, or of its partner; else empty";
        event: String, NONE, "type (a change of type), supernova, end (nothing is left), merger (two became one, before is that of the id that stays), roche (the star fills its Roche lobe at pericentre)";
        type_before: u64, NONE, "type before, 0 to 15";
        stellar_type: u64, NONE, "type after";
        initial_mass: f64, MASS, "mass at birth";
        mass_before: f64, MASS, "mass before";
        mass: f64, MASS, "mass after";
        core_mass: f64, MASS, "core mass after";
        radius: f64, LENGTH, "radius after";
        luminosity: f64, NONE, "luminosity after, in solar luminosities";
        temperature: f64, NONE, "effective temperature after, in K; NaN where nothing is left";
        kick: Vec3, VELOCITY, "change of the velocity at a supernova; else 0";
        fallback: f64, NONE, "share of the mass that falls back at a supernova; else NaN";
    }
}
