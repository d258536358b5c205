//! Plain data of subsystems: checkpoints, descriptions, energies.

pub mod description;
pub mod field;
pub mod parts;
pub mod repeats;
pub mod star_changes;
pub mod state;
pub mod store;
