//! Forces on targets: the contract that every force engine implements, and the engines.
//!
//! An engine holds its own copy of the sources and predicts them, as a GRAPE does, so that only the active particles
//! cross from host to engine and back in a block step. All engines compute the [canonical sum](canonical). An engine
//! evaluates either accelerations alone or acceleration, jerk and potential; its type says which.

pub mod block_steps;
pub mod canonical;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod engine;
mod engine_kind;
pub mod external;
mod field;
mod forces;
mod given;
pub mod mode;
pub mod neighbours;
pub mod noise;
pub mod operations;
mod points;
pub mod precision;
pub mod profile;
pub mod range;
pub mod real;
pub mod reference;
mod source_forces;
pub mod split;
mod targets;
pub mod watch;

pub use engine::ForceEngine;
pub use engine_kind::EngineKind;
pub use field::Field;
pub use forces::{Accelerations, Evaluation, Forces};
pub use given::GivenForces;
pub use points::{FieldEngine, NO_SOURCE, Points};
pub use source_forces::SourceForces;
pub use targets::{Block, Targets};
