//! Argument of the kernels of whole block steps that the host launches one after the other.

use super::field_call::FieldCall;
use super::noise_call::NoiseCall;
use crate::force::cuda::driver::module::KernelArgument;
use crate::force::cuda::forces::launch::Call;
use crate::time::Time;

/// Argument of the kernels, with the layout of `Launched` in kernels/launched_steps.cuh, which describes the arrays. Both
/// must be changed together. The arrays are borrowed for the lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LaunchedCall<'a> {
    /// Evaluation of the forces on the targets.
    pub force: Call<'a>,
    /// Addresses of the arrays.
    pub arrays: LaunchedArrays,
    /// Longest step, ν or η.
    pub rules: [f64; 2],
    /// Rounding errors of the accelerations.
    pub noise: NoiseCall,
    /// Limits of coordinate, speed, smallest and largest acceleration.
    pub limits: [f64; 4],
    /// Number of chunks of particles.
    pub chunks: u32,
    /// Deepest level of a step.
    pub floor: u32,
    /// 1 if shorter steps are clamped to it.
    pub clamps: u32,
    /// Number of threads that share the spans of a sum, a power of two; 0 where the forces are complete.
    pub parts: u32,
    /// Number of earlier points of a multi-point scheme.
    pub points: u32,
    /// 1 if its criterion takes third derivatives.
    pub third: u32,
    /// 1 for the last evaluation of a step.
    pub last: u32,
    /// 1 if low parts of positions and velocities are kept.
    pub compensated: u32,
    /// External field.
    pub field: FieldCall,
    /// Search for pairs.
    pub watch: WatchCall,
}

/// Search for particles that may form a pair, with the layout of `Watch` in the same file, which describes the arrays.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct WatchCall {
    /// Places of the sources: two columns of `slots` units of 16 bytes; 0 where nothing is looked for.
    pub places: u64,
    /// What slices of the sources have at each target.
    pub weighed: u64,
    /// Targets whose update is due: `slots` u32.
    pub looked: u64,
    /// Targets that may form a pair, in the host's memory: `slots` u32.
    pub found: u64,
    /// Flags of the sources that are subsystems: `slots` u8.
    pub compound: u64,
    /// Time after which particles have moved, in ticks.
    pub since: u64,
    /// Limits; see [`Watch`](crate::force::watch::Watch).
    pub forms: f64,
    /// See `forms`.
    pub joins: f64,
    /// See `forms`.
    pub min_binding: f64,
    /// Number of warps that share the sources.
    pub warps: u32,
    /// See `forms`.
    pub log2_steps: u32,
}

// SAFETY: has the layout of `Launched` in kernels/launched_steps.cuh; whoever launches checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for LaunchedCall<'static> {
    type For<'a> = LaunchedCall<'a>;
}

/// Addresses of the arrays.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct LaunchedArrays {
    /// Potentials: `slots` f64.
    pub pot: u64,
    /// Levels: `slots` u8.
    pub level: u64,
    /// State of the targets after their step: 13 columns of `slots` f64.
    pub corrected: u64,
    /// Levels of the targets after their step: `slots` u8.
    pub new_level: u64,
    /// Numbers of particles of each chunk at each level or a deeper one: 37 × `chunks` u32.
    pub chunk_at_least: u64,
    /// Place of the first target of each chunk: `chunks` u32.
    pub first_of_chunk: u64,
    /// Schedule.
    pub schedule: u64,
    /// What a scheme keeps besides of the particles, and of the targets after their step; see
    /// [`super::step_history`].
    pub history: [u64; 2],
    /// Report, in the host's memory.
    pub report: u64,
    /// What the targets have after their step, in the host's memory, where it follows each step; otherwise 0.
    pub followed: u64,
}

impl<'a> LaunchedCall<'a> {
    /// Returns the call of kernels that evaluate forces alone.
    #[must_use]
    pub fn of_forces(force: Call<'a>) -> Self {
        Self {
            force,
            arrays: LaunchedArrays::default(),
            rules: [0.0; 2],
            noise: NoiseCall::default(),
            limits: [0.0; 4],
            chunks: 0,
            floor: 0,
            clamps: 0,
            parts: 0,
            points: 0,
            third: 0,
            last: 0,
            compensated: 0,
            field: FieldCall::default(),
            watch: WatchCall::default(),
        }
    }
}

impl LaunchedCall<'_> {
    /// Returns the call for the moment `now`, where the sources that are one of `placed` targets stand at its position.
    #[must_use]
    pub fn at(mut self, now: Time, placed: usize) -> Self {
        self.force = self.force.at(now.0, placed as u32);
        self
    }

    /// Returns the call of a step of which the host gets what the targets have after it, at an address of its memory.
    #[must_use]
    pub fn followed_by(mut self, address: u64) -> Self {
        self.arrays.followed = address;
        self
    }
}
