//! Changes of the subsystems and of the stars at block times.

pub mod ahead;
pub mod apply;
pub mod balance;
pub mod crossings;
pub mod errors;
pub mod escapers;
pub mod events;
pub mod evolution;
pub mod mergers;
pub mod neighbour_lists;
pub mod rebuild;
pub mod unattended;
pub mod unions;
