//! Diagnostics: pure functions of the particles. Sums are compensated and in f64, whatever computed the forces.

pub mod cluster;
pub mod conserved;
pub mod force_audit;
pub mod orbit;
pub mod relative_error;
pub mod steps;
pub mod structure;
