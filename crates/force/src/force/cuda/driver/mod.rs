//! The driver as safe types: device, memory, modules and typed launches, for kernels other than the engine's too.

pub(super) mod ahead;
#[allow(unsafe_code, reason = "calls of the driver, a C library")]
pub(super) mod device;
#[allow(unsafe_code, reason = "calls of the driver, a C library")]
pub(super) mod device_list;
pub(super) mod failure;
#[allow(unsafe_code, reason = "calls of the driver, a C library")]
pub(super) mod memory;
#[allow(unsafe_code, reason = "calls of the driver, a C library")]
pub(super) mod module;
#[allow(unsafe_code, reason = "calls of NVRTC, a C library")]
pub(super) mod nvrtc;

pub use device::{Device, Stopwatch};
pub use memory::{Memory, Pinned};
pub use module::{Image, Kernel, KernelArgument, Module};
