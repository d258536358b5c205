//! Promises on forces: the same bits on every engine, and sums that agree with theory.

mod force_parity;
#[path = "../common/systems.rs"]
mod systems;
