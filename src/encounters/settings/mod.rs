//! Settings of subsystems and of events of stars, and the criteria.

pub mod criteria;
pub mod section;
pub mod stars;
