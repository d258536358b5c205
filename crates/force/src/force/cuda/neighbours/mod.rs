//! Forces in two parts, and whole block steps by these.

pub mod call;
pub mod forces;
pub mod irregular;
pub mod kernels;
mod staged;
pub mod steps;
