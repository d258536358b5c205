//! The papers' kernels, to be measured next to tisane's, and the tables that the papers print.
//!
//! The kernels are no mode of runs: those of the report and of GPU Gems 3 take each particle's pair with itself into
//! the sum and

pub mod citations;
pub mod cpu_kernels;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "calls of cuBLAS, a C library")]
mod cublas;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "declares what the kernels of this module take")]
mod gpu_kernels;
pub mod kernel;
pub mod scattering;
pub mod tables;

#[cfg(feature = "cuda")]
pub use cublas::is_present as has_cublas;
#[cfg(feature = "cuda")]
pub use gpu_kernels::{MIN_SOFTENING, PaperKernel};
