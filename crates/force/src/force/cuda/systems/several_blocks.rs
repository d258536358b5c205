//! Systems that are stepped by several thread blocks each, some systems at a time: by engines that share the device's
//! multiprocessors, each with its own stream.

use crate::error::Result;
use crate::force::block_steps::{Pause, SystemSteps, Taken};
use crate::force::cuda::engine::CudaEngine;
use crate::force::cuda::shapes::step_shape::StepShape;
use crate::force::engine::ForceEngine;
use crate::force::forces::Forces;
use crate::force::precision::Precision;
use crate::force::targets::Targets;
use crate::particles::Particles;
use crate::time::Clock;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Largest number of systems at a time: each has an engine with some 100 MB of device memory, and a thread on the host.
const MAX_LANES: usize = 32;

/// Engines for systems with several thread blocks each.
pub struct SeveralBlocks {
    lanes: Vec<CudaEngine>,
    device: usize,
    precision: Precision,
    multiprocessors: usize,
    shared: usize,
}

impl SeveralBlocks {
    /// Prepares engines for a device with these numbers of multiprocessors and of bytes of shared memory; none is made
    /// before it is needed.
    pub fn new(device: usize, precision: Precision, multiprocessors: usize, shared: usize) -> Self {
        Self { lanes: Vec::new(), device, precision, multiprocessors, shared }
    }

    /// Returns true if systems of `n` particles can be stepped.
    pub fn takes(&self, n: usize) -> bool {
        self.shape(n, 1).is_some()
    }

    /// Returns the shape where `lanes` systems share the device.
    fn shape(&self, n: usize, lanes: usize) -> Option<StepShape> {
        StepShape::choose(self.precision, n, self.multiprocessors / lanes, self.shared)
    }

    /// Makes the engines for systems of these sizes.
    fn lanes(&mut self, sizes: impl Iterator<Item = usize> + Clone) -> Result<&mut [CudaEngine]> {
        let max = sizes.clone().count().min(MAX_LANES).min(self.multiprocessors).max(1);
        // Fewer systems at a time have more thread blocks each, which the largest needs.
        let largest = sizes.max().unwrap_or_default();
        let lanes = (1..=max).rev().find(|&lanes| self.shape(largest, lanes).is_some()).unwrap_or(1);
        while self.lanes.len() < lanes {
            self.lanes.push(CudaEngine::new(self.precision, 0.0, Clock { start: 0.0, dt_max: 1.0 }, self.device)?);
        }
        let blocks = self.multiprocessors / lanes;
        self.lanes[..lanes].iter_mut().for_each(|engine| engine.set_step_blocks(blocks));
        Ok(&mut self.lanes[..lanes])
    }

    /// Takes steps of the systems `members`, in ascending order: see [`super::on_device::SystemsOnDevice::take`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        systems: &mut [SystemSteps<'_>],
        members: &[usize],
        (pause, began): (Option<&Pause>, Instant),
        taken: &mut [Taken],
    ) -> Result<()> {
        let sizes = members.iter().map(|&k| systems[k].particles.len());
        let lanes = self.lanes(sizes.collect::<Vec<_>>().into_iter())?;
        let mut member = members.iter().peekable();
        let of_members = systems.iter_mut().zip(taken).enumerate().filter(|(k, _)| member.next_if_eq(&k).is_some());
        let queue = Mutex::new(of_members.map(|(_, both)| both));
        in_turn(lanes, &queue, |engine, first, (system, taken)| {
            if !first && pause.is_some_and(|pause| pause.is_due(began)) {
                return Ok(());
            }
            let pause = pause.map(|pause| pause.left(began));
            engine.clock = system.clock;
            engine.eps2 = system.epsilon * system.epsilon;
            engine.load(system.particles)?;
            let done = engine.take_steps(system.particles, &system.rules, system.span, pause.as_ref())?;
            // Without memory for its sums a system is the host's.
            *taken = done.unwrap_or(Taken { refused: 1, ..*taken });
            Ok(())
        })
    }

    /// Evaluates the forces of the systems `members`, in ascending order: see [`super::on_device::SystemsOnDevice::forces`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn forces(&mut self, systems: &[(&Particles, f64)], members: &[usize], found: &mut [Forces]) -> Result<()> {
        let lanes = self.lanes(members.iter().map(|&k| systems[k].0.len()))?;
        let mut member = members.iter().peekable();
        let of_members = systems.iter().zip(found).enumerate().filter(|(k, _)| member.next_if_eq(&k).is_some());
        let queue = Mutex::new(of_members.map(|(_, both)| both));
        in_turn(lanes, &queue, |engine, _, ((p, epsilon), found)| {
            engine.eps2 = epsilon * epsilon;
            engine.load(p)?;
            let index: Vec<u32> = (0..p.len() as u32).collect();
            let now = p.time.iter().copied().max().unwrap_or_default();
            engine.evaluate(now, Targets::all(p, &index), found)
        })
    }
}

/// Lets the engines work in threads of their own until the queue is empty; the flag of `work` is true for the first
/// system of an engine.
fn in_turn<T: Send>(
    lanes: &mut [CudaEngine],
    queue: &Mutex<impl Iterator<Item = T> + Send>,
    work: impl Fn(&mut CudaEngine, bool, T) -> Result<()> + Sync,
) -> Result<()> {
    let next = || locked(queue).next();
    let lane = |engine: &mut CudaEngine| {
        let mut first = true;
        while let Some(system) = next() {
            work(engine, first, system)?;
            first = false;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = lanes.iter_mut().map(|engine| scope.spawn(|| lane(engine))).collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
        ends.fold(Ok(()), Result::and)
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
