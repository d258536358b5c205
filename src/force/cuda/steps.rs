//! Whole block steps on the device by a kernel that keeps the particles in shared memory (kernels/steps.cu): the host
//! launches some hundred at a time.

use super::device::{Device, Memory, Pinned};
use super::launch::Arrays;
use super::module::{Kernel, Module};
use super::step_history::StepHistory;
use super::step_shape::{COLUMNS, MOST_BLOCKS, StepShape, THREADS};
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken, is_on_schedule};
use crate::force::mode::Order;
use crate::force::precision::Precision;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use rayon::prelude::*;
use std::marker::PhantomData;
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
/// Minimum number of particles that a thread copies.
const SHARE: usize = 4096;

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
    _module: Module,
    /// Kernels of the 4th-order scheme with one evaluation a step, and of all schemes.
    plain: Kernel<StepsCall<'static>>,
    any: Kernel<StepsCall<'static>>,
    shape: StepShape,
    shared_bytes: usize,
    pot: Memory,
    level: Memory,
    headers: Memory,
    targets: Memory,
    nodes: Memory,
    /// Report, and potentials and levels on their way.
    report: Pinned,
    up: [Pinned; 2],
    /// State on its way back: the columns of a particle, and levels.
    down: Pinned,
    /// What a multi-point scheme keeps, once it was asked for.
    history: Option<StepHistory>,
    exchange: u64,
    sources: usize,
    slots: usize,
    /// Number of steps of the next launch.
    steps: u64,
    /// Flag that potentials and levels on the device are those of the host.
    current: bool,
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
        let sizes = [
            8 * slots,
            slots,
            2 * 8 * MOST_BLOCKS,
            2 * shape.groups * shape.own() * words * 16,
            parts * slots * 7 * 16,
        ];
        if sizes.iter().sum::<usize>() > device.free_bytes()? {
            return Ok(None);
        }
        let shared_bytes = shape.shared_bytes(precision);
        plain.allow_shared_bytes(shared_bytes)?;
        any.allow_shared_bytes(shared_bytes)?;
        let [pot, level, headers, targets, nodes] = sizes.map(|bytes| device.memory(bytes));
        Ok(Some(Self {
            _module: module,
            plain,
            any,
            shape,
            shared_bytes,
            pot: pot?,
            level: level?,
            headers: headers?,
            targets: targets?,
            nodes: nodes?,
            report: device.pinned(REPORT)?,
            up: [device.pinned(slots)?, device.pinned(slots.div_ceil(8))?],
            down: device.pinned(COLUMNS * slots + slots.div_ceil(8))?,
            history: None,
            exchange: 0,
            sources,
            slots,
            steps: FIRST_STEPS,
            current: false,
        }))
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.current = false;
    }

    /// Takes steps with the particles that `arrays` hold, and stores the new state in `p`; [`None`] if they are not on
    /// schedule, or there is too little memory for their history.
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
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if !self.prepare_history(device, rules.scheme)? {
            return Ok(None);
        }
        if !self.current {
            if !is_on_schedule(p, span.from) {
                return Ok(None);
            }
            self.send(device, p)?;
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
            self.read(device, arrays, p, taken.now)?;
        }
        self.current = true;
        Ok(Some(taken))
    }

    /// Allocates memory for what a scheme keeps. Returns false if there is too little.
    fn prepare_history(&mut self, device: &Device, scheme: StepScheme) -> Result<bool> {
        let working = self.shape.groups * self.shape.replicas * self.shape.own();
        let sizes = (self.sources, self.slots, working);
        let (ready, anew) = StepHistory::prepare(&mut self.history, device, scheme, sizes)?;
        self.current &= !anew;
        Ok(ready)
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
        let [history, working_history] = self.history.as_ref().map_or([0; 2], StepHistory::addresses);
        StepsCall {
            held: arrays.held.address(),
            ticks: arrays.ticks.address(),
            mass: arrays.mass.address(),
            pot: self.pot.address(),
            level: self.level.address(),
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

    /// Sends potentials, levels and history.
    fn send(&mut self, device: &Device, p: &Particles) -> Result<()> {
        let [pot, level] = &mut self.up;
        bytemuck::cast_slice_mut::<_, f64>(pot.words_mut())[..p.len()].copy_from_slice(&p.pot);
        let levels: &mut [u8] = bytemuck::cast_slice_mut(level.words_mut());
        levels.iter_mut().zip(&p.step).for_each(|(to, level)| *to = level.0);
        device.copy_up(pot, 0..self.slots, &self.pot)?;
        device.copy_up(level, 0..self.slots / 8, &self.level)?;
        self.history.as_mut().map_or(Ok(()), |history| history.send(device, &p.history))
    }

    /// Reads the state back after steps up to `now`.
    fn read(&mut self, device: &Device, arrays: &Arrays, p: &mut Particles, now: Time) -> Result<()> {
        let slots = self.slots;
        device.copy_down(&arrays.held, &mut self.down, 0)?;
        device.copy_down(&self.pot, &mut self.down, 12 * slots)?;
        device.copy_down(&self.level, &mut self.down, COLUMNS * slots)?;
        if let Some(history) = &mut self.history {
            history.fetch(device)?;
        }
        device.wait()?;
        let (columns, levels) = self.down.words().split_at(COLUMNS * slots);
        let (columns, levels): (&[f64], &[u8]) = (bytemuck::cast_slice(columns), bytemuck::cast_slice(levels));
        let vector = |first: usize, i: usize| {
            Vec3::new(columns[first * slots + i], columns[(first + 1) * slots + i], columns[(first + 2) * slots + i])
        };
        let vectors = [(&mut p.pos, 0), (&mut p.vel, 3), (&mut p.acc, 6), (&mut p.jerk, 9)];
        for (to, first) in vectors {
            to.par_iter_mut().with_min_len(SHARE).enumerate().for_each(|(i, to)| *to = vector(first, i));
        }
        p.pot.copy_from_slice(&columns[12 * slots..12 * slots + self.sources]);
        for ((step, time), &level) in p.step.iter_mut().zip(&mut p.time).zip(levels) {
            *step = Level(level);
            *time = Time(now.0 / step.ticks() * step.ticks());
        }
        if let Some(history) = &self.history {
            history.unpack(&mut p.history);
        }
        Ok(())
    }
}
