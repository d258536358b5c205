//! The CUDA engine: the sources are held on an NVIDIA GPU, which predicts them and sums the forces in the canonical
//! order.
//!
//! Each evaluation makes one copy to the device (the particles corrected since the last, and the block) and one back
//! (the forces). Between them a few kernels run on one stream, and nothing is allocated. In `f64` the bits are those of
//! the reference engine; in the other modes every operation is the CPU's too, except that 1/√ is the hardware's
//! approximation. The kernels are in `kernels/`, compiled in advance by `scripts/gpu/kernels`; the driver is loaded at
//! run time.
//!
//! Each folder uses those before it: [`driver`] (the driver as safe types), `shapes` (launch shapes, memory, layouts),
//! `forces` (kernels of forces and accelerations), `steps` (whole block steps), `neighbours` (forces in two parts, and
//! block steps by these), `engine` (one GPU, and several as one), `systems` (many systems on one GPU).

pub mod driver;
mod engine;
mod forces;
#[cfg(test)]
mod mirrored;
mod neighbours;
mod shapes;
mod steps;
mod systems;

pub use driver::ahead::OpenAhead;
pub use driver::device_list::{DeviceInfo, find, list};
pub use engine::CudaEngine;
pub use engine::group::CudaGroup;
pub use forces::acceleration::CudaAccelerations;
pub use forces::law::{law_source, law_type};
pub use shapes::acceleration_shape::AccelerationShape;
pub use shapes::candidates::candidates;
pub use shapes::launch_shape::LaunchShape;
pub use shapes::memory_plan::MemoryPlan;
pub use shapes::step_shape::StepShape;
pub use shapes::system_shape::SystemShape;
pub use shapes::tuning_table::{HEADER, TuningRow, TuningTable};
pub use steps::device_steps::StepKernels;
pub use steps::field_source::field_type;
pub use systems::on_device::SystemsOnDevice;
