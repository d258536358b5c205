//! What is told, kept in checkpoints and measured of subsystems.

pub mod description;
pub mod field;
pub mod parts;
pub mod star_changes;
pub mod state;
pub mod store;
