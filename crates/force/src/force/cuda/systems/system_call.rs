//! Arguments of the kernels that step many systems.

use crate::force::block_steps::StepRules;
use crate::force::cuda::driver::memory::Memory;
use crate::force::cuda::driver::module::KernelArgument;
use crate::force::cuda::steps::noise_call::NoiseCall;
use crate::time::{Clock, Time};
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;

/// System of a launch, with the layout of `System` in kernels/systems.cuh, which describes the fields. Both must be
/// changed together.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SystemCall {
    /// First word of its state.
    pub first: u64,
    /// Moment of the last block.
    pub now: u64,
    until: u64,
    /// Largest number of steps.
    pub max: u64,
    tick: f64,
    dt_max: f64,
    eps2: f64,
    nu: f64,
    noise: NoiseCall,
    coordinate: f64,
    speed: f64,
    min_acc: f64,
    max_acc: f64,
    sources: u32,
    floor: u32,
    clamps: u32,
    compensated: u32,
    /// First word of the low parts with which the kernel works.
    pub low: u64,
}

/// Number of words of a [`SystemCall`].
pub const WORDS: usize = size_of::<SystemCall>() / 8;

impl SystemCall {
    /// Returns the call for the forces on `sources` particles alone.
    pub fn for_forces(sources: usize, epsilon: f64) -> Self {
        Self { sources: sources as u32, eps2: epsilon * epsilon, ..Self::default() }
    }

    /// Returns the call for steps of `sources` particles that do not pass `until`, by the 4th-order scheme with the
    /// parameter `nu`.
    pub fn for_steps(sources: usize, epsilon: f64, clock: Clock, (rules, nu): (&StepRules, f64), until: Time) -> Self {
        Self {
            until: until.0,
            tick: clock.tick(),
            dt_max: rules.dt_max,
            nu,
            noise: rules.noise.into(),
            coordinate: rules.thresholds.coordinate,
            speed: rules.thresholds.speed,
            min_acc: rules.thresholds.min_acc,
            max_acc: rules.thresholds.max_acc,
            floor: u32::from(rules.floor.0),
            clamps: u32::from(rules.clamps),
            compensated: u32::from(rules.compensated),
            ..Self::for_forces(sources, epsilon)
        }
    }
}

/// Argument of the kernels, with the layout of `Systems` in kernels/systems.cuh. The arrays are borrowed for the
/// lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SystemsCall<'a> {
    /// Address of the systems.
    pub systems: u64,
    /// Address of the states.
    pub state: u64,
    /// Address of the low parts with which the kernels work.
    pub low: u64,
    /// Address of the reports.
    pub report: u64,
    /// Number of systems.
    pub count: u32,
    /// See [`crate::force::cuda::SystemShape`].
    pub tile: u32,
    /// Likewise.
    pub cooperates: u32,
    /// Likewise.
    pub sharers: u32,
    /// 1 if only forces are wanted.
    pub forces: u32,
    /// Lifetime of the arrays.
    pub arrays: PhantomData<&'a Memory>,
}

// SAFETY: has the layout of `Systems` in kernels/systems.cuh; whoever launches checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for SystemsCall<'static> {
    type For<'a> = SystemsCall<'a>;
}

/// Report of a system.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SystemReport {
    /// Moment of the last block.
    pub now: u64,
    /// Number of block steps.
    pub block_steps: u64,
    /// Number of particle steps.
    pub particle_steps: u64,
    /// Why the steps ended: [`crate::force::cuda::steps::resident_memory::REFUSED`] or another reason.
    pub reason: u64,
    /// Number of particle steps that were clamped to the floor.
    pub clamped: u64,
}

/// Number of words of a [`SystemReport`] (`REPORTED` of kernels/systems.cuh).
pub const REPORTED: usize = size_of::<SystemReport>() / 8;
