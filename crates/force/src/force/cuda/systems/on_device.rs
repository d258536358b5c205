//! Block steps of many independent systems on one device (kernels/systems.cu, kernels/few_bodies.cu): a thread block a
//! system, or several where systems are few or large, or a thread where they have a few bodies.

use super::several_blocks::SeveralBlocks;
use super::shares::{expected_steps, shares};
use super::system_call::{SystemCall, SystemReport, SystemsCall};
use super::system_store::{State, Store, forces, low_words, unpack, words};
use crate::error::{Error, Result};
use crate::force::block_steps::{Pause, SystemStepper, SystemSteps, Taken, is_on_schedule};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::module::{Kernel, Module};
use crate::force::cuda::shapes::system_shape::{FEW, FEW_THREADS, SystemShape, shared_bytes_of_few};
use crate::force::cuda::steps::resident_memory::REFUSED;
use crate::force::forces::Forces;
use crate::force::precision::Precision;
use crate::particles::Particles;
use crate::time::Time;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Smallest number of steps of a launch, and time that one is to take: a signal is seen between two, and some
/// multiprocessors wait for the last system of each.
const FIRST_STEPS: u64 = 64;
const LAUNCH: Duration = Duration::from_millis(50);
/// Largest number of steps of a launch.
const MAX_STEPS: u64 = 1 << 20;
/// Minimum number of systems that a thread reads back.
const SHARE: usize = 16;
/// Smallest number of particles of a system for which several thread blocks are quicker than one, and smallest number
/// of thread blocks that it is worth while for.
const SEVERAL_FROM: usize = 257;
const MIN_BLOCKS: usize = 4;

/// Block steps and forces of many independent systems on one device. Each system's bits are those of the same system
/// alone: in f64 those of every engine, in other modes those of [`CudaEngine`](crate::force::cuda::CudaEngine).
pub struct SystemsOnDevice {
    // Declared in the order in which they must be dropped: kernels and memory before the device.
    _module: Arc<Module>,
    kernel: Kernel<SystemsCall<'static>>,
    /// Kernel for a few bodies, in f64.
    few: Option<Kernel<SystemsCall<'static>>>,
    store: Store,
    several: SeveralBlocks,
    device: Device,
    precision: Precision,
    shared: usize,
    largest: usize,
    shape: Option<SystemShape>,
    /// Steps of a launch of the wanted time, and the number of particles that it was of.
    paced: Option<(u64, usize)>,
}

/// How systems are stepped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Crew {
    /// A thread a system.
    Thread,
    /// A thread block a system.
    Block(SystemShape),
    /// Several thread blocks a system.
    Several,
}

impl SystemStepper for SystemsOnDevice {
    fn forces(&mut self, systems: &[(&Particles, f64)]) -> Result<Vec<Forces>> {
        self.check(systems.iter().map(|(p, _)| p.len()))?;
        let mut found = vec![Forces::default(); systems.len()];
        // Systems of one kind together.
        let sizes: Vec<usize> = systems.iter().map(|(p, _)| p.len()).collect();
        for (crew, mut members) in self.crews(&sizes) {
            if crew == Crew::Several {
                self.several.forces(systems, &members, &mut found)?;
                continue;
            }
            while !members.is_empty() {
                let count = Store::at_once(&self.device, members.iter().map(|&k| sizes[k]))?;
                let later = members.split_off(count);
                let particles: Vec<&Particles> = members.iter().map(|&k| systems[k].0).collect();
                let calls = members.iter().map(|&k| SystemCall::for_forces(sizes[k], systems[k].1));
                let calls = placed(calls.collect(), members.iter().map(|&k| sizes[k]));
                let all_words = self.send(&particles, State::Places)?;
                self.launch(crew, &calls, &members.iter().map(|&k| sizes[k]).collect::<Vec<_>>(), true)?;
                self.store.fetch(&self.device, all_words)?;
                let states = self.store.states(members.iter().map(|&k| sizes[k]));
                let of_members = states.into_par_iter().zip(&members).with_min_len(SHARE);
                let read: Vec<(usize, Forces)> = of_members.map(|(state, &k)| (k, forces(state, sizes[k]))).collect();
                read.into_iter().for_each(|(k, forces)| found[k] = forces);
                members = later;
            }
        }
        Ok(found)
    }

    fn take(&mut self, systems: &mut [SystemSteps<'_>], pause: Option<&Pause>) -> Result<Vec<Taken>> {
        self.check(systems.iter().map(|system| system.particles.len()))?;
        let began = Instant::now();
        let begin = |system: &SystemSteps<'_>| {
            let on_schedule = !system.particles.is_empty() && is_on_schedule(system.particles, system.span.from);
            let takes = on_schedule && system.rules.scheme.plain_nu().is_some();
            let (now, refused) = (system.span.from, u64::from(!takes));
            Taken { now, refused, ..Taken::default() }
        };
        let mut taken: Vec<Taken> = systems.par_iter().with_min_len(SHARE).map(begin).collect();
        // Others take no step.
        let steppable = |(system, taken): (&SystemSteps<'_>, &Taken)| {
            if taken.refused == 0 && has_step(system) { system.particles.len() } else { 0 }
        };
        let sizes: Vec<usize> = systems.iter().zip(&taken).map(steppable).collect();
        for (crew, mut members) in self.crews(&sizes) {
            if crew == Crew::Several {
                self.several.take(systems, &members, (pause, began), &mut taken)?;
                members.clear();
            }
            while !members.is_empty() {
                let count = Store::at_once(&self.device, members.iter().map(|&k| sizes[k]))?;
                let later = members.split_off(count);
                self.take_together(crew, systems, &members, (pause, began), &mut taken)?;
                members = later;
                if pause.is_some_and(|pause| pause.is_due(began)) {
                    break;
                }
            }
            if pause.is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        Ok(taken)
    }
}

impl SystemsOnDevice {
    /// Prepares steps of systems of up to `largest` particles on device number `device`; [`None`] if it cannot take
    /// them: it is older than the A100, has too little memory, or systems are too large.
    ///
    /// # Errors
    /// [`Error::Input`] with advice if there is no driver or no such device, or the kernels do not load.
    pub fn new(device: usize, precision: Precision, largest: usize) -> Result<Option<Self>> {
        let ordinal = device;
        let device = Device::open(ordinal)?;
        let Some(module) = Module::block_steps(&device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let Some(kernel) = module.find(&format!("systems_{mode}"))? else { return Ok(None) };
        let few = (precision == Precision::F64).then(|| module.kernel("few_bodies_f64")).transpose()?;
        let shared = device.max_shared_bytes()?;
        kernel.allow_shared_memory(&device)?;
        let several = SeveralBlocks::new(ordinal, precision, device.multiprocessors(), shared);
        if largest > 0 && SystemShape::choose(precision, largest, shared).is_none() && !several.takes(largest) {
            return Ok(None);
        }
        let store = Store::new(&device, 0, 0)?;
        Ok(Some(Self {
            _module: module,
            kernel,
            few,
            store,
            several,
            device,
            precision,
            shared,
            largest,
            shape: None,
            paced: None,
        }))
    }

    /// Forces a shape on the systems that fit in it, or with [`None`] leaves the choice to the program: for tuning, and
    /// for tests that no shape changes a bit.
    ///
    /// # Panics
    /// If the shape is not valid: a programming error.
    pub fn set_shape(&mut self, shape: Option<SystemShape>) {
        assert!(shape.is_none_or(|shape| shape.is_valid()), "no such shape: {shape:?}");
        self.shape = shape;
    }

    /// Takes steps of the systems `members`, in ascending order, which fit on the device together.
    fn take_together(
        &mut self,
        crew: Crew,
        systems: &mut [SystemSteps<'_>],
        members: &[usize],
        (pause, began): (Option<&Pause>, Instant),
        taken: &mut [Taken],
    ) -> Result<()> {
        let particles: Vec<&Particles> = members.iter().map(|&k| &*systems[k].particles).collect();
        let sizes: Vec<usize> = particles.iter().map(|p| p.len()).collect();
        let all_words = self.send(&particles, State::Whole)?;
        let of_system = |&k: &usize| {
            let SystemSteps { particles, clock, epsilon, rules, span, .. } = &systems[k];
            // The others are not among them.
            let nu = rules.scheme.plain_nu().unwrap_or_default();
            SystemCall::for_steps(particles.len(), *epsilon, *clock, (rules, nu), span.until)
        };
        let calls = placed(members.iter().map(of_system).collect(), sizes.iter().copied());
        // Places among the members of the systems that go on, and their calls.
        let mut going: Vec<(usize, SystemCall)> = calls.into_iter().enumerate().collect();
        // As the last launch: for more particles as many times fewer steps.
        let particles: usize = sizes.iter().sum();
        let (steps, of) = self.paced.unwrap_or((FIRST_STEPS, particles));
        let mut steps = (steps * of.min(particles) as u64 / particles as u64).max(FIRST_STEPS);
        while !going.is_empty() {
            let expected = going.iter().map(|(m, _)| expected_steps(&systems[members[*m]], &taken[members[*m]]));
            let shares = match crew {
                // The threads of a warp wait for each other.
                Crew::Thread => vec![steps; going.len()],
                _ => shares(&expected.collect::<Vec<_>>(), steps),
            };
            for ((m, call), share) in going.iter_mut().zip(shares) {
                let (span, taken) = (systems[members[*m]].span, &taken[members[*m]]);
                (call.now, call.max) = (taken.now.0, share.min(span.max - taken.block_steps));
            }
            // The longest first, so that none of them is left alone at the end.
            going.sort_by_key(|(m, call)| Reverse(call.max.saturating_mul(sizes[*m] as u64)));
            let launched = Instant::now();
            let of_going: Vec<usize> = going.iter().map(|(m, _)| sizes[*m]).collect();
            let calls: Vec<SystemCall> = going.iter().map(|(_, call)| *call).collect();
            self.launch(crew, &calls, &of_going, false)?;
            let reports = self.store.reports(going.len());
            let mean = reports.iter().map(|report| report.block_steps).sum::<u64>() / going.len() as u64;
            let mut reports = reports.iter();
            going.retain(|(m, call)| {
                let (Some(report), k) = (reports.next(), members[*m]) else { return false };
                note(&mut taken[k], report, call.max) && taken[k].block_steps < systems[k].span.max
            });
            let ratio = LAUNCH.as_secs_f64() / launched.elapsed().as_secs_f64().max(1e-6);
            steps = ((mean as f64 * ratio.min(4.0)) as u64).clamp(FIRST_STEPS, MAX_STEPS);
            self.paced = Some((steps, of_going.iter().sum()));
            if pause.is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        self.store.fetch(&self.device, all_words)?;
        let mut member = members.iter().peekable();
        let of_members = systems.iter_mut().enumerate().filter(|(k, _)| member.next_if_eq(&k).is_some());
        let states = self.store.states(sizes.iter().copied());
        let changed: Vec<_> = of_members.zip(states).filter(|((k, _), _)| taken[*k].block_steps > 0).collect();
        let taken = &*taken;
        let read = changed.into_par_iter().with_min_len(SHARE);
        read.for_each(|((k, system), state)| unpack(state, system.particles, taken[k].now, system.rules.compensated));
        Ok(())
    }

    /// Divides the systems by how they are stepped, each kind in ascending order.
    fn crews(&self, sizes: &[usize]) -> Vec<(Crew, Vec<usize>)> {
        let large = sizes.iter().filter(|&&n| n >= SEVERAL_FROM).count();
        let few_large = large * MIN_BLOCKS <= self.device.multiprocessors();
        let mut crews: Vec<(Crew, Vec<usize>)> = Vec::new();
        for (k, &n) in sizes.iter().enumerate().filter(|(_, n)| **n > 0) {
            let crew = self.crew(n, few_large);
            match crews.iter_mut().find(|(other, _)| *other == crew) {
                Some((_, members)) => members.push(k),
                None => crews.push((crew, vec![k])),
            }
        }
        crews
    }

    /// Returns how a system of `n` particles is stepped.
    fn crew(&self, n: usize, few_large: bool) -> Crew {
        if let Some(shape) = self.shape.filter(|shape| shape.fits(self.precision, n, self.shared)) {
            return Crew::Block(shape);
        }
        match SystemShape::choose(self.precision, n, self.shared) {
            _ if n <= FEW && self.few.is_some() => Crew::Thread,
            Some(shape) if n < SEVERAL_FROM || !few_large || !self.several.takes(n) => Crew::Block(shape),
            _ => Crew::Several,
        }
    }

    /// Checks the sizes of systems.
    fn check(&self, mut sizes: impl Iterator<Item = usize>) -> Result<()> {
        let Some(n) = sizes.find(|&n| n > self.largest) else { return Ok(()) };
        let problem = format!("a system of {n} particles: expected up to {}", self.largest);
        Err(Error::input("systems on a GPU", problem))
    }

    /// Sends the states of systems. Returns their words.
    fn send(&mut self, systems: &[&Particles], state: State) -> Result<usize> {
        self.device.bind()?;
        let all: usize = systems.iter().map(|p| words(p.len())).sum();
        if !self.store.has_room(all, systems.len()) {
            // The old memory goes first.
            self.store = Store::new(&self.device, 0, 0)?;
            self.store = Store::new(&self.device, all, systems.len())?;
        }
        self.store.send(&self.device, systems, state)?;
        Ok(all)
    }

    /// Launches systems of these sizes, and waits.
    fn launch(&mut self, crew: Crew, calls: &[SystemCall], sizes: &[usize], only_forces: bool) -> Result<()> {
        self.store.send_calls(&self.device, calls)?;
        let [systems, state, low, report] = self.store.addresses();
        let largest = sizes.iter().copied().max().unwrap_or_default();
        let mut call = SystemsCall {
            systems,
            state,
            low,
            report,
            count: calls.len() as u32,
            tile: largest as u32,
            cooperates: 0,
            sharers: 0,
            forces: u32::from(only_forces),
            arrays: PhantomData,
        };
        match (crew, self.few) {
            (Crew::Thread, Some(few)) => {
                let (blocks, shared) = (calls.len().div_ceil(FEW_THREADS), shared_bytes_of_few(largest));
                few.launch(&self.device, (blocks as u32, 1), (FEW_THREADS as u32, 1), shared as u32, &call)?;
            }
            (Crew::Block(shape), _) => {
                let SystemShape { threads, tile, sharers, cooperates } = shape;
                (call.tile, call.sharers, call.cooperates) = (tile as u32, sharers as u32, cooperates as u32);
                let shared = shape.shared_bytes(self.precision, largest) as u32;
                self.kernel.launch(&self.device, (calls.len() as u32, 1), (threads as u32, 1), shared, &call)?;
            }
            _ => {}
        }
        self.device.wait()
    }
}

/// Returns true if the next block step lies within the span.
fn has_step(system: &SystemSteps<'_>) -> bool {
    let SystemSteps { particles, span, .. } = system;
    let ticks = particles.step.iter().max().copied().unwrap_or_default().ticks();
    span.max > 0 && span.from.0 / ticks * ticks + ticks <= span.until.0
}

/// Gives each system, of these sizes, the place of its state behind those before it.
fn placed(mut calls: Vec<SystemCall>, sizes: impl Iterator<Item = usize>) -> Vec<SystemCall> {
    let (mut first, mut low) = (0, 0);
    for (call, n) in calls.iter_mut().zip(sizes) {
        (call.first, call.low) = (first as u64, low as u64);
        first += words(n);
        low += low_words(n);
    }
    calls
}

/// Notes a system's report of a launch of up to `asked` steps. Returns true if the system may go on.
fn note(taken: &mut Taken, report: &SystemReport, asked: u64) -> bool {
    if report.reason == REFUSED {
        taken.refused = report.block_steps.max(1);
        return false;
    }
    taken.now = Time(report.now);
    taken.block_steps += report.block_steps;
    taken.particle_steps += report.particle_steps;
    taken.clamped += report.clamped;
    report.block_steps == asked
}
