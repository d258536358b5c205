//! Promises on GPUs: parity with the CPU, determinism, the papers' kernels. Without a GPU each test says that it is
//! skipped.

#[path = "../../../../tests/common/changed.rs"]
mod changed;
mod cuda_determinism;
mod cuda_external;
mod cuda_field_steps;
mod cuda_followed_steps;
mod cuda_group;
mod cuda_laws;
mod cuda_neighbours;
mod cuda_parity;
mod cuda_points;
mod cuda_steps;
mod cuda_subsystems;
mod cuda_systems;
#[path = "../../../../tests/common/gpu.rs"]
mod gpu;
#[path = "../../../../tests/common/matrix.rs"]
mod matrix;
mod paper_kernels;
#[path = "../../../../tests/common/systems.rs"]
mod systems;
