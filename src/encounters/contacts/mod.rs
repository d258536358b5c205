//! Contacts of stars: inside of subsystems, and on the ways of bodies.

pub mod inside;
pub mod neighbours;
pub mod path;
pub mod ways;
