//! Whole block steps on the device: which kernels take them.

use super::launched_steps::{LaunchedSteps, Launcher};
use super::resident::{ResidentMember, ResidentSteps, take_together};
use super::system::System;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Pinned;
use crate::force::precision::Precision;

/// Kernels that take whole block steps. The choice changes no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKernels {
    /// Kernel that takes some hundred steps while the particles stay in shared memory (kernels/steps.cu).
    Resident,
    /// Several kernels a step (kernels/launched_steps.cu).
    Launched,
}

impl StepKernels {
    /// Returns the quicker kernels for a mode, a number of sources, and a number of devices that take steps together.
    #[must_use]
    pub const fn choose(precision: Precision, sources: usize, devices: usize) -> Self {
        if sources <= devices * precision.resident_wins_to() { Self::Resident } else { Self::Launched }
    }
}

/// Block steps on the device for a number of sources.
pub enum DeviceSteps {
    /// By the resident kernel.
    Resident(Box<ResidentSteps>),
    /// By launched kernels.
    Launched(Box<LaunchedSteps>),
}

impl DeviceSteps {
    /// Prepares the steps by the kernels that were asked for, or else by the quicker ones that the device has room for;
    /// [`None`] if there are none. The resident kernel has up to `blocks` thread blocks.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        precision: Precision,
        sizes: (usize, usize),
        (kernels, blocks): (Option<StepKernels>, usize),
    ) -> Result<Option<Self>> {
        let make = |kernels| -> Result<Option<Self>> {
            Ok(match kernels {
                StepKernels::Resident => {
                    ResidentSteps::new(device, precision, sizes, blocks)?.map(|steps| Self::Resident(Box::new(steps)))
                }
                StepKernels::Launched => {
                    LaunchedSteps::new(device, precision, sizes)?.map(|steps| Self::Launched(Box::new(steps)))
                }
            })
        };
        if let Some(kernels) = kernels {
            return make(kernels);
        }
        let (first, second) = match StepKernels::choose(precision, sizes.0, 1) {
            StepKernels::Resident => (StepKernels::Resident, StepKernels::Launched),
            StepKernels::Launched => (StepKernels::Launched, StepKernels::Resident),
        };
        Ok(match make(first)? {
            None => make(second)?,
            steps => steps,
        })
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        match self {
            Self::Resident(steps) => steps.outdate(),
            Self::Launched(steps) => steps.outdate(),
        }
    }

    /// Takes steps with the particles that the arrays of `launcher` hold, and stores the new state in `p`; [`None`] if
    /// they are not on schedule, or by the resident kernel in an external field. The pinned memory is for the way of the state: as large as the upload of all particles.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        launcher: Launcher<'_>,
        system: System<'_>,
        rules: &StepRules,
        span: Span,
        way: (Option<&Pause>, &mut Pinned),
    ) -> Result<Option<Taken>> {
        match self {
            Self::Resident(_) if system.field.is_some() => Ok(None),
            Self::Resident(steps) => {
                let (pause, through) = way;
                let member = ResidentMember { device: launcher.device, arrays: launcher.arrays, steps, through };
                take_together(&mut [member], system, rules, span, (pause, 0))
            }
            Self::Launched(steps) => steps.take(launcher, system, rules, span, way),
        }
    }
}
