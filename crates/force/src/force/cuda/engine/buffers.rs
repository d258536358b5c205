//! Memory of the engine for the particles that it holds.

use crate::error::{Error, Result};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::forces::launch::{Arrays, SourceHistory};
use crate::force::cuda::forces::staging::Staging;
use crate::force::cuda::neighbours::forces::HostNeighbours;
use crate::force::cuda::neighbours::steps::NeighbourSteps;
use crate::force::cuda::shapes::layout::PARTIAL_BYTES;
use crate::force::cuda::shapes::memory_plan::MemoryPlan;
use crate::force::cuda::shapes::step_shape::StepShape;
use crate::force::cuda::steps::device_steps::DeviceSteps;
use crate::force::cuda::steps::followed_steps::FollowedSteps;
use std::sync::Arc;

/// Memory for a number of sources.
pub(super) struct Buffers {
    pub arrays: Arrays,
    pub staging: Staging,
    pub sources: usize,
    pub slots: usize,
    /// Block steps on the device, if they were asked for and are possible.
    pub steps: Option<Option<DeviceSteps>>,
    /// Block steps on the device that the host follows one by one, as well.
    pub followed: Option<Option<Box<FollowedSteps>>>,
    /// Forces in two parts, and block steps by them, if they were asked for and are possible.
    pub neighbours: Option<HostNeighbours>,
    pub neighbour_steps: Option<Option<Box<NeighbourSteps>>>,
}

impl Buffers {
    /// Allocates memory for `sources` particles by its plan.
    ///
    /// # Errors
    /// If there is too little.
    pub fn new(device: &Device, plan: MemoryPlan, sources: usize) -> Result<Self> {
        let memory = |bytes| device.memory(bytes);
        let MemoryPlan { arrays: [held, ticks, mass, predicted, arrived], upload, slots, history } = plan;
        let (derivatives, bytes) = history;
        let history =
            if derivatives > 0 { Some(SourceHistory { columns: Arc::new(memory(bytes)?), derivatives }) } else { None };
        let arrays = Arrays {
            held: memory(held)?,
            ticks: memory(ticks)?,
            mass: memory(mass)?,
            history,
            predicted: memory(predicted)?,
            partial: memory(PARTIAL_BYTES)?,
            arrived: memory(arrived)?,
            upload: memory(upload)?,
        };
        let staging = Staging::new(device, slots, derivatives)?;
        Ok(Self {
            arrays,
            staging,
            sources,
            slots,
            steps: None,
            followed: None,
            neighbours: None,
            neighbour_steps: None,
        })
    }

    /// Notes another number of sources, for which there are slots.
    pub fn set_sources(&mut self, sources: usize) {
        if self.sources != sources {
            let is_alike = StepShape::is_alike(self.sources, sources);
            self.sources = sources;
            (self.steps, self.neighbour_steps) = (None, None);
            // Its memory costs more than the steps between two changes of a system.
            self.followed = self.followed.take().filter(|_| is_alike);
            self.followed.iter_mut().flatten().for_each(|steps| steps.set_sources(sources));
            self.neighbours.iter_mut().for_each(|it| it.set_sources(sources));
        }
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.steps.iter_mut().flatten().for_each(DeviceSteps::outdate);
        self.followed.iter_mut().flatten().for_each(|steps| steps.outdate());
        self.neighbour_steps.iter_mut().flatten().for_each(|steps| steps.outdate());
    }

    /// Notes that the host changed some particles.
    pub fn note_changed(&mut self, changed: &[u32]) {
        self.steps.iter_mut().flatten().for_each(DeviceSteps::outdate);
        self.followed.iter_mut().flatten().for_each(|steps| steps.note_changed(changed));
        self.neighbour_steps.iter_mut().flatten().for_each(|steps| steps.outdate());
    }

    /// Notes that the host has the memory of the block steps for itself.
    pub fn drop_ahead(&mut self) {
        self.followed.iter_mut().flatten().for_each(|steps| steps.drop_ahead());
    }
}

/// Returns the memory of loaded particles.
///
/// # Errors
/// If none were loaded.
pub(super) fn held(held: &mut Option<Buffers>) -> Result<&mut Buffers> {
    let problem = "the CUDA engine was asked for forces before particles were loaded";
    held.as_mut().ok_or_else(|| Error::Integration { problem: problem.into(), help: None })
}
