//! Who belongs to which subsystem, and by which criteria that changes.

pub mod centre;
pub mod change;
pub mod coupled_engine;
pub mod decisions;
pub mod each;
pub mod energy;
pub mod hierarchy;
