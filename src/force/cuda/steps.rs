//! Whole block steps on the device by a kernel that keeps the particles in shared memory (kernels/steps.cu): the host
//! launches some hundred at a time.

use super::device::Device;
use super::launch::Arrays;
use super::memory::{Memory, Pinned};
use super::module::{Kernel, Module};
use super::step_shape::{MOST_BLOCKS, StepShape, THREADS};
use super::step_state::StepState;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken, is_on_schedule};
use crate::force::mode::Order;
use crate::force::precision::Precision;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Words of a report: moment, steps, particle steps, reason, exchange, and the clamped steps of each group.
const REPORT: usize = 5 + MOST_BLOCKS;
/// Reason of a launch that took no step: `REFUSED` of kernels/steps.cuh.
pub const REFUSED: u64 = 2;
/// Number of steps of a first launch, and time that later ones are to take: a signal is seen between them.
const FIRST_STEPS: u64 = 64;
const LAUNCH: Duration = Duration::from_millis(10);
/// Number of the last exchange before the buffers are cleared and the numbers begin anew.
const MOST_EXCHANGES: u64 = 1 << 31;

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
    now: u64,
    until: u64,
    most: u64,
    tick: f64,
    dt_max: f64,
    eps2: f64,
    nu: f64,
    noise: f64,
    per_mass: f64,
    coordinate: f64,
    speed: f64,
    least_acc: f64,
    most_acc: f64,
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
    unused: u32,
    arrays: PhantomData<&'a Memory>,
}

/// Kernel of block steps with its memory, for a number of sources.
pub struct ResidentSteps {
    // Keeps the kernel loaded.
    _module: Arc<Module>,
    /// Kernels of the 4th-order scheme with one evaluation a step, and of all schemes.
    plain: Kernel<StepsCall<'static>>,
    any: Kernel<StepsCall<'static>>,
    shape: StepShape,
    shared_bytes: usize,
    state: StepState,
    headers: Memory,
    targets: Memory,
    nodes: Memory,
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
        let shared = device.most_shared_bytes()?;
        let Some(shape) = StepShape::choose(precision, sources, blocks, shared) else { return Ok(None) };
        let Some(module) = Module::block_steps(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let Some(plain) = module.find(&format!("steps_{mode}"))? else { return Ok(None) };
        let any = module.kernel(&format!("any_steps_{mode}"))?;
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
        let sizes = [2 * 8 * MOST_BLOCKS, 2 * shape.groups * shape.own() * words * 16, parts * slots * 7 * 16];
        if sizes.iter().sum::<usize>() + StepState::bytes(slots) > device.free_bytes()? {
            return Ok(None);
        }
        let shared_bytes = shape.shared_bytes(precision);
        plain.allow_shared_memory(device)?;
        any.allow_shared_memory(device)?;
        let [headers, targets, nodes] = sizes.map(|bytes| device.memory(bytes));
        Ok(Some(Self {
            _module: module,
            plain,
            any,
            shape,
            shared_bytes,
            state: StepState::new(device, slots)?,
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

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.state.current = false;
    }

    /// Takes steps with the particles that `arrays` hold, and stores the new state in `p`, which passes `through` pinned
    /// memory; [`None`] if they are not on schedule, or there is too little memory for their history.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        device: &Device,
        arrays: &Arrays,
        (p, clock, eps2): (&mut Particles, Clock, f64),
        rules: &StepRules,
        span: Span,
        (pause, through): (Option<&Pause>, &mut Pinned),
    ) -> Result<Option<Taken>> {
        let working = self.shape.groups * self.shape.replicas * self.shape.own();
        if !self.state.prepare(device, rules.scheme, (self.sources, working))? {
            return Ok(None);
        }
        if !self.state.current {
            if !is_on_schedule(p, span.from) {
                return Ok(None);
            }
            self.state.send(device, p, through)?;
        }
        let began = Instant::now();
        let mut taken = Taken { now: span.from, ..Taken::default() };
        while taken.block_steps < span.most {
            let steps = self.steps.min(span.most - taken.block_steps);
            let launched = Instant::now();
            let call = self.call(arrays, (clock, eps2), rules, (taken.now, span.until, steps));
            let threads = (THREADS as u32, self.shared_bytes as u32);
            let blocks = (self.shape.groups * self.shape.replicas) as u32;
            let kernel = if rules.scheme.plain_nu().is_some() { &self.plain } else { &self.any };
            kernel.launch_together(device, blocks, threads.0, threads.1, &call)?;
            device.wait()?;
            let [now, block_steps, particle_steps, reason, exchange] = self.report();
            self.exchange = exchange;
            if self.exchange > MOST_EXCHANGES {
                self.begin_anew(device)?;
            }
            if reason == REFUSED {
                taken.refused = block_steps.max(1);
                break;
            }
            taken.now = Time(now);
            taken.block_steps += block_steps;
            taken.particle_steps += particle_steps;
            taken.clamped += self.report.words()[5..5 + self.shape.groups].iter().sum::<u64>();
            if block_steps < steps {
                break;
            }
            let ratio = LAUNCH.as_secs_f64() / launched.elapsed().as_secs_f64().max(1e-6);
            self.steps = ((steps as f64 * ratio.min(4.0)) as u64).clamp(1, 1 << 20);
            if pause.is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        if taken.block_steps > 0 {
            self.state.read(device, arrays, (p, taken.now), through)?;
        }
        Ok(Some(taken))
    }

    fn report(&self) -> [u64; 5] {
        std::array::from_fn(|k| self.report.words()[k])
    }

    fn begin_anew(&mut self, device: &Device) -> Result<()> {
        self.exchange = 0;
        [&self.headers, &self.targets, &self.nodes].into_iter().try_for_each(|memory| device.clear(memory))
    }

    fn call<'a>(
        &'a self,
        arrays: &'a Arrays,
        (clock, eps2): (Clock, f64),
        rules: &StepRules,
        (now, until, most): (Time, Time, u64),
    ) -> StepsCall<'a> {
        let StepShape { bags, groups, replicas, tile, cooperates } = self.shape;
        let [history, working_history] = self.state.history_addresses();
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
            now: now.0,
            until: until.0,
            most,
            tick: clock.tick(),
            dt_max: rules.dt_max,
            eps2,
            nu: rules.scheme.accuracy(),
            noise: rules.noise,
            per_mass: rules.per_mass,
            coordinate: rules.thresholds.coordinate,
            speed: rules.thresholds.speed,
            least_acc: rules.thresholds.least_acc,
            most_acc: rules.thresholds.most_acc,
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
            unused: 0,
            arrays: PhantomData,
        }
    }
}
