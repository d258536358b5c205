//! Diagnostics: pure functions of the particles. Sums are compensated and in f64, with forces of any engine.

pub mod cluster;
pub mod conserved;
pub mod force_audit;
pub mod orbit;
pub mod outcome;
pub mod reference;
pub mod relative_error;
pub mod runaways;
pub mod steps;
pub mod structure;
pub mod tidal_work;
