//! Integrators: schemes that move the particles, given an engine for the forces.

pub mod ahmad_cohen;
mod block_loop;
mod checks;
mod contract;
mod evolving;
pub mod extrapolated;
pub mod hermite;
pub mod hermite4;
mod kinds;
pub mod leapfrog;
mod masses;
pub mod multipoint;
mod pair_series;
pub(crate) mod particle_slices;
mod passages;
pub mod scheduler;
mod settings;
mod steps;
pub mod timestep;
mod variant;

pub use checks::InvalidSetting;
pub use contract::{Integrator, Progress};
pub use extrapolated::low_parts;
pub use kinds::{IntegratorKind, IntegratorSettings};
pub use pair_series::Source;
pub use passages::Passages;
pub use settings::{AnyIntegrator, BlockSteps, LateSetting, Scheme, SchemeInfo};
pub use steps::{RowChange, Steps, Succession};
pub use variant::Variant;
