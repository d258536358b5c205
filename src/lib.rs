//! Direct N-body integration: accurate, fast, reproducible.
//!
//! This crate is the engine of tisane as a library: particles, forces on the CPU's vector units or on an NVIDIA GPU,
//! integrators with individual block time steps, diagnostics and initial models. It reads no files and prints nothing;
//! the crates `tisane-io` and `tisane-run` add HDF5 and the TOML configuration, and `tisane-cli` is the program.
//!
//! # Example
//! A Plummer sphere of 256 stars over one time unit, and its energy error:
//! ```
//! use tisane::diagnostics::conserved::Conserved;
//! use tisane::force::{cpu, precision::Precision};
//! use tisane::initial::plummer;
//! use tisane::integrator::hermite4::{Hermite4, Parameters};
//! use tisane::propagator::Propagator;
//! use tisane::time::{Clock, Time};
//!
//! # fn main() -> tisane::Result<()> {
//! let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
//! let mut stars = plummer::sample(256, 1, 0.999);
//! let engine = cpu::engine(Precision::F64, 1.0 / 64.0, clock, cpu::Width::widest());
//! let mut system = Propagator::in_f64(Box::new(Hermite4::new(Parameters::new(Precision::F64), clock)), engine);
//! system.start(&mut stars)?;
//! let before = Conserved::from_particles(&stars, &system.field(&stars, Time::default())?.pot).energy();
//!
//! let end = Time::from_dt_max(8);
//! system.advance(&mut stars, end, u64::MAX)?;
//! let after = Conserved::from_particles(&stars, &system.field(&stars, end)?.pot).energy();
//! println!("dE/E = {:.1e}", after / before - 1.0);
//! # assert!((after / before - 1.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```
//! The folder `examples/` has a cluster with Lagrangian radii, the planets of the Sun, and a force engine of one's own.
//!
//! # One block step
//! 1. The [scheduler](integrator::scheduler) finds the smallest `t + dt` and the particles that are due then: the
//!    block.
//! 2. The [`integrator`] predicts the block to that moment.
//! 3. A [`ForceEngine`](force::ForceEngine) predicts all its sources to the same moment,
//! 4. sums acceleration, jerk and potential over bags of sources, and the bags over the [canonical
//!    tree](force::canonical),
//! 5. and returns the forces on the block.
//! 6. The corrector turns the difference between old and new forces into higher derivatives and corrects the block.
//! 7. The [step criterion](integrator::timestep) gives new steps, which may halve freely and double once if
//!    commensurate.
//! 8. The scheduler takes the block back at its new levels.
//! 9. The engine takes the corrected state of the block.
//! 10. At multiples of `dt_max` all particles stand at the same time; there, outputs can be taken without touching the
//!     trajectory.
//!
//! # Units and bits
//! Inside, G = 1; [`units`] scales from and to the user's units. The same input gives the same bits on any number of
//! threads and any vector width, and in mode [`F64`](force::precision::Precision::F64) on CPU and GPU alike.
//!
//! # Features
//! - `cuda` (default): the engine for NVIDIA GPUs. The driver is loaded at run time.
//! - `compiled-laws`: machine code of [laws](law) on x86-64. Without it the CPU computes a law operation by operation, with
//!   the same bits and more slowly.
//! - `serde`: units, modes and the settings of integrators as serde types with a JSON Schema.

// A mistake of a caller ends in an `Error`, not in a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod density;
pub mod diagnostics;
pub mod encounters;
pub mod few_body;
pub mod initial;
pub mod integrator;
pub mod nearest;
pub mod pericentre;
pub mod propagator;
pub mod saved_states;
pub mod star_changes;
pub mod stellar;
pub mod subsystems;
pub mod tidal_frame;

pub use tisane_force::{
    Error, Result, compensated_sum, error, force, formula, gravity, law, pair, particles, real, spin_pool, states,
    time, units,
};
