//! What thread blocks that take whole block steps in shared memory are given, and the memory by which they exchange words.

use super::noise_call::NoiseCall;
use super::step_state::StepState;
use crate::error::Result;
use crate::force::block_steps::{Span, StepRules, Taken};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::driver::module::{Kernel, KernelArgument};
use crate::force::cuda::forces::launch::Arrays;
use crate::force::cuda::shapes::step_shape::{MAX_BLOCKS, StepShape, THREADS};
use crate::force::mode::Order;
use crate::force::precision::Precision;
use crate::time::{Clock, Time};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// Words of a report: moment, steps, particle steps, reason, exchange, and the clamped steps of each group.
const REPORT: usize = 5 + MAX_BLOCKS;
/// Reason of a launch that took no step, and of one after which the host has to look for pairs: `REFUSED` and `FOUND` of
/// kernels/members.cuh.
pub const REFUSED: u64 = 2;
/// See [`REFUSED`].
pub const FOUND: u64 = 3;
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

impl StepsCall<'_> {
    /// Returns true if several devices take the steps.
    pub const fn is_together(&self) -> bool {
        self.devices > 1
    }
}

/// What devices share of a step.
#[derive(Clone, Copy)]
pub struct Sharing<'a> {
    /// Addresses of their mailboxes; one where nothing is shared.
    pub mail: &'a [u64],
    /// Number of the device among them.
    pub device: usize,
    /// Number of pairs of a block from which on they share its forces.
    pub from_pairs: usize,
}

/// What thread blocks that take steps exchange, and how many there are, for a number of sources.
pub struct ResidentMemory {
    /// Division of the sources.
    pub shape: StepShape,
    shared_bytes: usize,
    headers: Memory,
    targets: Memory,
    nodes: Memory,
    report: Pinned,
    exchange: u64,
    /// Number of sources.
    pub sources: usize,
    /// Number of sources and padding.
    pub slots: usize,
    /// Number of steps of the next launch.
    pub steps: u64,
}

impl ResidentMemory {
    /// Allocates memory for the steps of `sources` sources by up to `blocks` thread blocks; [`None`] if there is too little for it and
    /// for `besides` bytes that depend on its shape, or the sources do not fit.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        precision: Precision,
        (sources, slots): (usize, usize),
        blocks: usize,
        besides: impl FnOnce(StepShape) -> usize,
    ) -> Result<Option<Self>> {
        let shared = device.max_shared_bytes()?;
        let Some(shape) = StepShape::choose(precision, sources, blocks, shared) else { return Ok(None) };
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
        if sizes.iter().sum::<usize>() + besides(shape) > device.free_bytes()? {
            return Ok(None);
        }
        let [headers, targets, nodes] = sizes.map(|bytes| device.memory(bytes));
        Ok(Some(Self {
            shape,
            shared_bytes: shape.shared_bytes(precision),
            headers: headers?,
            targets: targets?,
            nodes: nodes?,
            report: device.pinned(REPORT)?,
            exchange: 0,
            sources,
            slots,
            steps: FIRST_STEPS,
        }))
    }

    /// Launches a kernel of steps.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn launch<C: KernelArgument>(&self, device: &Device, kernel: Kernel<C>, call: &C::For<'_>) -> Result<()> {
        let StepShape { groups, replicas, .. } = self.shape;
        device.bind()?;
        kernel.launch_together(device, (groups * replicas) as u32, THREADS as u32, self.shared_bytes as u32, call)
    }

    /// Waits for the end of a launch. Thread blocks have exchanged words in this memory and `besides`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn end(&mut self, device: &Device, besides: &[&Memory]) -> Result<()> {
        device.bind()?;
        device.wait()?;
        let [.., exchange] = self.report();
        self.exchange = exchange;
        if self.exchange > MAX_EXCHANGES {
            self.exchange = 0;
            let own = [&self.headers, &self.targets, &self.nodes];
            own.iter().chain(besides).try_for_each(|it| device.clear(it))?;
            // Others write to the mailbox.
            device.wait()?;
        }
        Ok(())
    }

    /// Counts what the last of these launches took, of up to `steps` steps. Returns true if another one may follow.
    pub fn count(&mut self, launches: &mut Launches, steps: u64, launched: Instant) -> bool {
        let clamped = self.report.words()[5..5 + self.shape.groups].iter().sum::<u64>();
        let goes_on = launches.count(self.report(), clamped, steps);
        if goes_on && launches.again == 0 {
            let ratio = LAUNCH.as_secs_f64() / launched.elapsed().as_secs_f64().max(1e-6);
            self.steps = ((steps as f64 * ratio.min(4.0)) as u64).clamp(1, 1 << 20);
        }
        goes_on
    }

    /// Returns true if the host has to look for pairs after the last launch.
    pub fn has_found(&self) -> bool {
        self.report()[3] == FOUND
    }

    fn report(&self) -> [u64; 5] {
        std::array::from_fn(|k| self.report.words()[k])
    }

    /// Returns the call of the kernels for particles in the arrays, with their `state`.
    pub fn call<'a>(
        &'a self,
        (arrays, state): (&'a Arrays, &StepState),
        (clock, eps2): (Clock, f64),
        rules: &StepRules,
        span: Span,
        sharing: Sharing<'_>,
    ) -> StepsCall<'a> {
        let StepShape { bags, groups, replicas, tile, cooperates } = self.shape;
        let [history, working_history] = state.history_addresses();
        let Sharing { mail, device, from_pairs } = sharing;
        StepsCall {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            pot: state.pot.address(),
            level: state.level.address(),
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

/// Launches that take the steps of a span.
pub struct Launches {
    /// What they have taken.
    pub taken: Taken,
    max: u64,
    /// Number of steps before one that the last launch refused, by which it took none; 0 otherwise.
    again: u64,
}

impl Launches {
    /// Begins a span.
    #[must_use]
    pub fn of(span: Span) -> Self {
        Self { taken: Taken { now: span.from, ..Taken::default() }, max: span.max, again: 0 }
    }

    /// Returns the largest number of steps of the next launch, of `steps` where nothing else ends it; [`None`] at the end.
    #[must_use]
    pub fn next(&self, steps: u64) -> Option<u64> {
        let steps = if self.again > 0 { self.again } else { steps };
        Some(steps.min(self.max - self.taken.block_steps)).filter(|&steps| steps > 0)
    }

    /// Counts what a launch of up to `steps` steps took. Returns true if another one may follow.
    fn count(&mut self, [now, block_steps, particle_steps, reason, _]: [u64; 5], clamped: u64, steps: u64) -> bool {
        let refuses = self.again > 0;
        self.again = 0;
        if reason == REFUSED {
            // The state is that from before the launch. It can take the steps up to the one that it refuses.
            self.again = block_steps.saturating_sub(1);
            self.taken.refused = u64::from(self.again == 0);
            return self.again > 0;
        }
        self.taken.now = Time(now);
        self.taken.block_steps += block_steps;
        self.taken.particle_steps += particle_steps;
        self.taken.clamped += clamped;
        self.taken.refused = u64::from(refuses && reason != FOUND);
        !refuses && block_steps == steps && reason != FOUND
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

    const DONE: u64 = 1;

    fn launches() -> Launches {
        Launches::of(Span { from: Time(1), until: Time(1 << 20), max: 100 })
    }

    /// A launch refuses its seventh step: another one takes the six before it, and the host gets the seventh.
    #[test]
    fn the_steps_before_a_refused_one_are_taken() {
        let mut of = launches();
        assert!(of.next(64) == Some(64) && of.count([65, 64, 128, DONE, 0], 2, 64));
        assert!(of.next(64) == Some(36) && of.count([70, 7, 14, REFUSED, 0], 9, 36));
        assert!(of.next(64) == Some(6) && !of.count([71, 6, 12, DONE, 0], 1, 6));
        let taken = Taken { now: Time(71), block_steps: 70, particle_steps: 140, clamped: 3, refused: 1, pairs: None };
        assert_eq!(of.taken, taken);
        // There is none before the first.
        let mut of = launches();
        assert!(!of.count([9, 1, 2, REFUSED, 0], 3, 64));
        assert_eq!(of.taken, Taken { now: Time(1), refused: 1, ..Taken::default() });
    }

    #[test]
    fn launches_end_with_the_span_and_where_a_pair_may_form() {
        for (reason, steps) in [(FOUND, 64), (DONE, 60)] {
            let mut of = launches();
            assert!(!of.count([9, steps, 2, reason, 0], 0, 64) && of.taken.refused == 0, "{reason} {steps}");
        }
        let mut of = launches();
        of.count([9, 100, 2, DONE, 0], 0, 100);
        assert_eq!((of.next(64), of.taken.refused), (None, 0));
    }

    proptest! {
        #[test]
        fn a_number_is_divided_by_that_of_the_devices(number in 0_u64..1 << 28, devices in 2..=MAX_DEVICES as u64) {
            prop_assert_eq!((number * u64::from(inverse(devices))) >> 32, number / devices);
        }
    }
}
