//! Kernels of forces and of accelerations alone.

pub mod acceleration;
pub mod launch;
pub mod law;
pub mod operations;
pub mod staging;
