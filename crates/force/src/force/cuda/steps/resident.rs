//! Whole block steps on the device by a kernel that keeps the particles in shared memory (kernels/steps.cu): the host
//! launches some hundred at a time.

use super::resident_memory::{Launches, MAX_DEVICES, ResidentMemory, Sharing, StepsCall};
use super::step_state::StepState;
use super::system::System;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken, is_on_schedule};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::driver::module::{Kernel, Module};
use crate::force::cuda::forces::launch::{Arrays, SourceHistory};
use crate::force::precision::Precision;
use crate::particles::Particles;
use crate::time::Time;
use std::sync::Arc;
use std::time::Instant;

/// Device that takes steps, alone or with others.
pub struct ResidentMember<'a> {
    /// Device, and its arrays.
    pub device: &'a Device,
    /// Arrays of the forces.
    pub arrays: &'a Arrays,
    /// Kernel.
    pub steps: &'a mut ResidentSteps,
    /// Pinned memory for the way of the state: as large as the upload of all particles.
    pub through: &'a mut Pinned,
}

/// Takes steps by all members alike, which share the forces on blocks of at least `shared_pairs` pairs, and stores the new state in `p`; [`None`] if the
/// particles are not on schedule, there is too little memory for their history, or several have not joined. Each member reaches the memory of the others.
///
/// # Errors
/// If a device fails.
pub fn take_together(
    members: &mut [ResidentMember<'_>],
    System { p, clock, eps2, .. }: System<'_>,
    rules: &StepRules,
    span: Span,
    (pause, shared_pairs): (Option<&Pause>, usize),
) -> Result<Option<Taken>> {
    let together = members.len() > 1;
    for ResidentMember { device, arrays, steps, through } in members.iter_mut() {
        device.bind()?;
        let held = arrays.history.as_ref();
        if together && steps.shared.is_none() || !steps.send((device, held), (&*p, span.from), rules, through)? {
            return Ok(None);
        }
        if together {
            // Before another device writes to the mailbox, or waits for this one.
            device.wait()?;
        }
    }
    let mail = |it: &ResidentMember<'_>| it.steps.shared.as_ref().map_or(0, |it| it.mail.address());
    let mail: Vec<_> = members.iter().map(mail).collect();
    let began = Instant::now();
    let mut launches = Launches::of(span);
    while let Some(steps) = launches.next(members[0].steps.memory.steps) {
        let launched = Instant::now();
        for (k, member) in members.iter_mut().enumerate() {
            let part = Span { from: launches.taken.now, until: span.until, max: steps };
            let sharing = Sharing { mail: &mail, device: k, from_pairs: shared_pairs };
            let steps = &*member.steps;
            let call = steps.memory.call((member.arrays, &steps.state), (clock, eps2), rules, part, sharing);
            steps.launch(member.device, rules, &call)?;
        }
        members.iter_mut().try_for_each(|member| member.steps.end(member.device))?;
        // All have the same.
        if !members[0].steps.memory.count(&mut launches, steps, launched) {
            break;
        }
        if pause.is_some_and(|pause| pause.is_due(began)) {
            break;
        }
    }
    let taken = launches.taken;
    if taken.block_steps > 0 {
        let ResidentMember { device, arrays, steps, through } = &mut members[0];
        device.bind()?;
        steps.state.read(device, arrays, (p, taken.now), through)?;
    }
    Ok(Some(taken))
}

/// Kernels of the 4th-order scheme with one evaluation a step, and of all schemes.
type StepKernelPair = [Kernel<StepsCall<'static>>; 2];

/// What steps with other devices need.
struct Shared {
    // Keeps the kernels loaded.
    _module: Arc<Module>,
    kernels: StepKernelPair,
    /// Mailbox for the forces of other devices.
    mail: Memory,
}

/// Kernel of block steps with its memory, for a number of sources.
pub struct ResidentSteps {
    // Keeps the kernel loaded.
    _module: Arc<Module>,
    kernels: StepKernelPair,
    precision: Precision,
    memory: ResidentMemory,
    state: StepState,
    /// What steps with other devices need, once there were some.
    shared: Option<Shared>,
}

impl ResidentSteps {
    /// Prepares the steps of `sources` sources by up to `blocks` thread blocks; [`None`] if there is no kernel for this device, or too little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, precision: Precision, sizes: (usize, usize), blocks: usize) -> Result<Option<Self>> {
        let besides = |_| StepState::bytes(sizes.1);
        let Some(memory) = ResidentMemory::new(device, precision, sizes, blocks, besides)? else { return Ok(None) };
        let Some(module) = Module::block_steps(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let Some(plain) = module.find(&format!("steps_{mode}"))? else { return Ok(None) };
        let kernels = [plain, module.kernel(&format!("any_steps_{mode}"))?];
        kernels.iter().try_for_each(|kernel| kernel.allow_shared_memory(device))?;
        let state = StepState::new(device, sizes.1)?;
        Ok(Some(Self { _module: module, kernels, precision, memory, state, shared: None }))
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.state.current = false;
    }

    /// Prepares the device for steps by the rules, and sends the state of the particles, `through` pinned memory, unless the
    /// device has it. Returns false if they are not on schedule, or there is too little memory for their history.
    fn send(
        &mut self,
        (device, held): (&Device, Option<&SourceHistory>),
        (p, from): (&Particles, Time),
        rules: &StepRules,
        through: &mut Pinned,
    ) -> Result<bool> {
        let working = self.memory.shape.working();
        if !self.state.prepare(device, rules, (self.memory.sources, working), held)? {
            return Ok(false);
        }
        if !self.state.current {
            if !is_on_schedule(p, from) {
                return Ok(false);
            }
            self.state.send(device, p, through)?;
        }
        Ok(true)
    }

    /// Prepares steps with other devices. Returns false if this device has no kernels for them.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn join(&mut self, device: &Device) -> Result<bool> {
        if self.shared.is_none() {
            let Some(module) = Module::shared_steps(device)? else { return Ok(false) };
            let mode = self.precision.name().replace('-', "_");
            let kernel = |name: &str| module.kernel(&format!("{name}_{mode}"));
            let kernels = [kernel("shared_steps")?, kernel("any_shared_steps")?];
            // This also loads them now: not while another device waits for this one.
            kernels.iter().try_for_each(|kernel| kernel.allow_shared_memory(device))?;
            // As `mail` in kernels/steps.cuh has it.
            let mail = device.memory(16 * (MAX_DEVICES + 2 * 8 * self.memory.slots))?;
            self.shared = Some(Shared { _module: module, kernels, mail });
        }
        Ok(true)
    }

    fn launch(&self, device: &Device, rules: &StepRules, call: &StepsCall<'_>) -> Result<()> {
        let [plain, any] = self.shared.as_ref().filter(|_| call.is_together()).map_or(&self.kernels, |it| &it.kernels);
        let kernel = if rules.scheme.plain_nu().is_some() { plain } else { any };
        self.memory.launch(device, *kernel, call)
    }

    /// Waits for the end of a launch.
    fn end(&mut self, device: &Device) -> Result<()> {
        self.memory.end(device, self.shared.as_ref().map(|it| &it.mail).as_slice())
    }
}
