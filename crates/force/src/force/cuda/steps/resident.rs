//! Whole block steps on the device by a kernel that keeps the particles in shared memory (kernels/steps.cu): the host
//! launches some hundred at a time.

use super::noise_call::NoiseCall;
use super::step_state::StepState;
use super::system::System;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken, is_on_schedule};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::driver::module::{Kernel, KernelArgument, Module};
use crate::force::cuda::forces::launch::{Arrays, SourceHistory};
use crate::force::cuda::shapes::step_shape::{MAX_BLOCKS, StepShape, THREADS};
use crate::force::mode::Order;
use crate::force::precision::Precision;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Words of a report: moment, steps, particle steps, reason, exchange, and the clamped steps of each group.
const REPORT: usize = 5 + MAX_BLOCKS;
/// Reason of a launch that took no step: `REFUSED` of kernels/steps.cuh.
pub const REFUSED: u64 = 2;
/// Number of steps of a first launch, and time that later ones are to take: a signal is seen between them.
const FIRST_STEPS: u64 = 64;
const LAUNCH: Duration = Duration::from_millis(10);
/// Largest number of devices that take steps together (`MAX_DEVICES` of kernels/steps.cuh).
pub const MAX_DEVICES: usize = 8;
/// Number of the last exchange before the buffers are cleared and the numbers begin anew.
const MAX_EXCHANGES: u64 = 1 << 31;

/// Argument of the kernels, with the layout of `Steps` in kernels/steps.cuh, which describes the arrays. Both must be
/// changed together. The arrays are borrowed for the lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StepsCall<'a> {
    held: u64,
    ticks: u64,
    mass: u64,
    pot: u64,
    level: u64,
    headers: u64,
    targets: u64,
    nodes: u64,
    report: u64,
    history: u64,
    working_history: u64,
    mail: [u64; MAX_DEVICES],
    now: u64,
    until: u64,
    max: u64,
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
    slots: u32,
    bags: u32,
    groups: u32,
    replicas: u32,
    tile: u32,
    exchange: u32,
    floor: u32,
    clamps: u32,
    cooperates: u32,
    iterations: u32,
    points: u32,
    third: u32,
    devices: u32,
    device: u32,
    share_from: u32,
    inverse: u32,
    compensated: u32,
    arrays: PhantomData<&'a Memory>,
}

// SAFETY: has the layout of `Steps` in kernels/steps.cuh; the engine checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for StepsCall<'static> {
    type For<'a> = StepsCall<'a>;
}

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

/// What devices share of a step.
struct Sharing<'a> {
    /// Addresses of their mailboxes; one where nothing is shared.
    mail: &'a [u64],
    /// Number of the device among them.
    device: usize,
    /// Number of pairs of a block from which on they share its forces.
    from_pairs: usize,
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
    let mut taken = Taken { now: span.from, ..Taken::default() };
    while taken.block_steps < span.max {
        let steps = members[0].steps.steps.min(span.max - taken.block_steps);
        let launched = Instant::now();
        for (k, member) in members.iter_mut().enumerate() {
            let part = Span { from: taken.now, until: span.until, max: steps };
            let sharing = Sharing { mail: &mail, device: k, from_pairs: shared_pairs };
            let call = member.steps.call(member.arrays, (clock, eps2), rules, part, sharing);
            member.steps.launch(member.device, rules, &call)?;
        }
        members.iter_mut().try_for_each(|member| member.steps.end(member.device))?;
        // All have the same.
        let first = &mut *members[0].steps;
        let [now, block_steps, particle_steps, reason, _] = first.report();
        if reason == REFUSED {
            taken.refused = block_steps.max(1);
            break;
        }
        taken.now = Time(now);
        taken.block_steps += block_steps;
        taken.particle_steps += particle_steps;
        taken.clamped += first.report.words()[5..5 + first.shape.groups].iter().sum::<u64>();
        if block_steps < steps {
            break;
        }
        let ratio = LAUNCH.as_secs_f64() / launched.elapsed().as_secs_f64().max(1e-6);
        first.steps = ((steps as f64 * ratio.min(4.0)) as u64).clamp(1, 1 << 20);
        if pause.is_some_and(|pause| pause.is_due(began)) {
            break;
        }
    }
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
    shape: StepShape,
    shared_bytes: usize,
    state: StepState,
    headers: Memory,
    targets: Memory,
    nodes: Memory,
    /// What steps with other devices need, once there were some.
    shared: Option<Shared>,
    report: Pinned,
    exchange: u64,
    sources: usize,
    slots: usize,
    /// Number of steps of the next launch.
    steps: u64,
}

impl ResidentSteps {
    /// Prepares the steps of `sources` sources by up to `blocks` thread blocks; [`None`] if there is no kernel for this device, or too little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        precision: Precision,
        (sources, slots): (usize, usize),
        blocks: usize,
    ) -> Result<Option<Self>> {
        let shared = device.max_shared_bytes()?;
        let Some(shape) = StepShape::choose(precision, sources, blocks, shared) else { return Ok(None) };
        let Some(module) = Module::block_steps(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let Some(plain) = module.find(&format!("steps_{mode}"))? else { return Ok(None) };
        let kernels = [plain, module.kernel(&format!("any_steps_{mode}"))?];
        let parts = match precision.arithmetic().order {
            Order::InOrder => shape.bags * shape.groups,
            _ => shape.groups,
        };
        let words = if precision.in_f64() {
            4
        } else if precision.arithmetic().split {
            3
        } else {
            2
        };
        let sizes = [2 * 8 * MAX_BLOCKS, 2 * shape.groups * shape.own() * words * 16, parts * slots * 7 * 16];
        if sizes.iter().sum::<usize>() + StepState::bytes(slots) > device.free_bytes()? {
            return Ok(None);
        }
        let shared_bytes = shape.shared_bytes(precision);
        kernels.iter().try_for_each(|kernel| kernel.allow_shared_memory(device))?;
        let [headers, targets, nodes] = sizes.map(|bytes| device.memory(bytes));
        Ok(Some(Self {
            _module: module,
            kernels,
            shape,
            shared_bytes,
            state: StepState::new(device, slots)?,
            headers: headers?,
            targets: targets?,
            nodes: nodes?,
            shared: None,
            precision,
            report: device.pinned(REPORT)?,
            exchange: 0,
            sources,
            slots,
            steps: FIRST_STEPS,
        }))
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
        let working = self.shape.groups * self.shape.replicas * self.shape.own();
        if !self.state.prepare(device, rules, (self.sources, working), held)? {
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
            let mail = device.memory(16 * (MAX_DEVICES + 2 * 8 * self.slots))?;
            self.shared = Some(Shared { _module: module, kernels, mail });
        }
        Ok(true)
    }

    fn launch(&self, device: &Device, rules: &StepRules, call: &StepsCall<'_>) -> Result<()> {
        let threads = (THREADS as u32, self.shared_bytes as u32);
        let blocks = (self.shape.groups * self.shape.replicas) as u32;
        let [plain, any] = self.shared.as_ref().filter(|_| call.devices > 1).map_or(&self.kernels, |it| &it.kernels);
        let kernel = if rules.scheme.plain_nu().is_some() { plain } else { any };
        device.bind()?;
        kernel.launch_together(device, blocks, threads.0, threads.1, call)
    }

    /// Waits for the end of a launch.
    fn end(&mut self, device: &Device) -> Result<()> {
        device.bind()?;
        device.wait()?;
        let [.., exchange] = self.report();
        self.exchange = exchange;
        if self.exchange > MAX_EXCHANGES {
            self.exchange = 0;
            let mail = self.shared.iter().map(|it| &it.mail);
            [&self.headers, &self.targets, &self.nodes].into_iter().chain(mail).try_for_each(|it| device.clear(it))?;
            // Others write to the mailbox.
            device.wait()?;
        }
        Ok(())
    }

    fn report(&self) -> [u64; 5] {
        std::array::from_fn(|k| self.report.words()[k])
    }

    fn call<'a>(
        &'a self,
        arrays: &'a Arrays,
        (clock, eps2): (Clock, f64),
        rules: &StepRules,
        span: Span,
        sharing: Sharing<'_>,
    ) -> StepsCall<'a> {
        let StepShape { bags, groups, replicas, tile, cooperates } = self.shape;
        let [history, working_history] = self.state.history_addresses();
        let Sharing { mail, device, from_pairs } = sharing;
        StepsCall {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            pot: self.state.pot.address(),
            level: self.state.level.address(),
            headers: self.headers.address(),
            targets: self.targets.address(),
            nodes: self.nodes.address(),
            report: self.report.address(),
            history,
            working_history,
            mail: std::array::from_fn(|k| mail.get(k).copied().unwrap_or_default()),
            now: span.from.0,
            until: span.until.0,
            max: span.max,
            tick: clock.tick(),
            dt_max: rules.dt_max,
            eps2,
            nu: rules.scheme.accuracy(),
            noise: rules.noise.into(),
            coordinate: rules.thresholds.coordinate,
            speed: rules.thresholds.speed,
            min_acc: rules.thresholds.min_acc,
            max_acc: rules.thresholds.max_acc,
            sources: self.sources as u32,
            slots: self.slots as u32,
            bags: bags as u32,
            groups: groups as u32,
            replicas: replicas as u32,
            tile: tile as u32,
            exchange: self.exchange as u32,
            floor: u32::from(rules.floor.0),
            clamps: u32::from(rules.clamps),
            cooperates: cooperates as u32,
            iterations: rules.scheme.iterations(),
            points: rules.scheme.points(),
            third: u32::from(rules.scheme.is_third()),
            devices: mail.len() as u32,
            device: device as u32,
            share_from: if mail.len() > 1 { from_pairs.div_ceil(self.sources) as u32 } else { u32::MAX },
            inverse: inverse(mail.len().max(2) as u64),
            compensated: u32::from(rules.compensated),
            arrays: PhantomData,
        }
    }
}

/// Returns 2³²/d rounded up, by which kernels divide numbers below 2²⁸ by the number d of devices, at least two.
const fn inverse(devices: u64) -> u32 {
    (1_u64 << 32).div_ceil(devices) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_divided_by_that_of_the_devices(number in 0_u64..1 << 28, devices in 2..=MAX_DEVICES as u64) {
            prop_assert_eq!((number * u64::from(inverse(devices))) >> 32, number / devices);
        }
    }
}
