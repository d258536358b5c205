//! Forces in two parts, and whole block steps by these.

pub mod call;
pub mod forces;
pub mod kernels;
pub mod steps;
