//! tisane: direct N-body integration, accurate, fast and reproducible.
//!
//! The gravitational N-body problem by direct summation: a 4th-order Hermite scheme with individual block time steps on the
//! host, force and jerk by an engine, the result in HDF5, the energy error always measured. (Or a [leapfrog](integrator::leapfrog)
//! with one step for all, by an engine of accelerations alone.) One block step, in order:
//!
//! 1. [`integrator::scheduler`] finds the smallest `t + dt` and everyone who is due then: the block.
//! 2. [`integrator::hermite4`] predicts the block to that moment.
//! 3. A [`force::ForceEngine`] predicts all its sources to the same moment,
//! 4. sums acceleration, jerk and potential over bags of sources and the bags over the [canonical tree](force::canonical),
//! 5. and hands the block's forces back.
//! 6. The corrector turns the difference of the two forces into the next derivatives: 4th-order positions and velocities,
//! 7. and Aarseth's criterion into a new step, which may halve freely and double once if commensurate.
//! 8. The scheduler takes the block back at its new levels, and the engine the block's new state.
//! 9. [`simulation`] looks whether the moment is a multiple of `dt_max`, where everybody stands at the same time:
//! 10. there, and only there, diagnostics and snapshots are taken. They do not touch the trajectory.
//!
//! [`assemble`] builds a [`simulation::Simulation`] from a [`config::Config`]; [`cli`] is the program around it. Inside,
//! G = 1; [`units`] says how that is scaled from what the user writes.

// What a user hands in may be wrong in any way: it ends in an `Error`, not in a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod compensated_sum;
pub mod diagnostics;
pub mod error;
pub mod force;
pub mod gravity;
pub mod initial;
pub mod integrator;
pub mod particles;
pub mod propagator;
pub mod spin_pool;
pub mod time;
pub mod units;

pub use error::{Error, Result};
