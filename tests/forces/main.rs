//! Promises on forces: the same bits on every engine, and sums that agree with theory.

#[path = "../common/changed.rs"]
mod changed;
mod changed_rows;
mod force_parity;
#[cfg(feature = "cuda")]
mod law_kernels;
mod law_machine_code;
mod law_parity;
mod laws;
mod neighbour_forces;
mod odd_distances;
mod points;
#[path = "../common/systems.rs"]
mod systems;
#[cfg(feature = "cuda")]
mod watch_kernels;
