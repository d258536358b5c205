//! Diagnostics: pure functions of the particles. Sums are compensated and in f64, whatever computed the forces.

pub mod audit;
pub mod cluster;
pub mod conserved;
pub mod orbit;
pub mod steps;
pub mod structure;
