//! Block steps in shared memory that end where a pair may form (kernels/watched_steps.cuh), of particles that
//! [`FollowedSteps`](super::followed_steps::FollowedSteps) keeps on the device.

use super::resident_memory::{Launches, ResidentMemory, Sharing, StepsCall};
use super::step_state::StepState;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Memory;
use crate::force::cuda::driver::module::{Kernel, KernelArgument, Module};
use crate::force::cuda::forces::launch::Arrays;
use crate::force::cuda::shapes::step_shape::StepShape;
use crate::force::precision::Precision;
use crate::force::watch::Watch;
use crate::particles::Particles;
use crate::time::{Clock, Level, Time};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a word that thread blocks exchange.
const WORD: usize = 16;
/// Largest change of a velocity by a correction, in units of the speed of a pair of mean mass at the mean distance of neighbours: a
/// larger one is looked at by the host, and by as much the search is less sharp. No result depends on it.
const CHANGE: f64 = 1e-2;

/// Argument of the kernels, with the layout of `WatchedSteps` in kernels/watched_steps.cuh.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct WatchedCall<'a> {
    steps: StepsCall<'a>,
    search: SearchCall,
}

/// Search for pairs, with the layout of `Search` in the same file, which describes the arrays. Both must be changed together.
#[derive(Clone, Copy)]
#[repr(C)]
struct SearchCall {
    rows: u64,
    weighed: u64,
    shifts: u64,
    compound: u64,
    forms: f64,
    joins: f64,
    min_binding: f64,
    speed: f64,
    lightest: f32,
    log2_steps: u32,
}

// SAFETY: has the layout of `WatchedSteps` in kernels/watched_steps.cuh; the engine checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for WatchedCall<'static> {
    type For<'a> = WatchedCall<'a>;
}

/// Kernels with their memory, for a number of sources.
pub struct WatchedSteps {
    // Keeps the kernels loaded.
    _module: Arc<Module>,
    /// Of the 4th-order scheme with one evaluation a step, and of all schemes.
    kernels: [Kernel<WatchedCall<'static>>; 2],
    memory: ResidentMemory,
    rows: Memory,
    weighed: Memory,
    shifts: Memory,
}

impl WatchedSteps {
    /// Prepares the steps of `sources` sources by up to `blocks` thread blocks; [`None`] if there are no kernels for this device, or too
    /// little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, precision: Precision, sizes: (usize, usize), blocks: usize) -> Result<Option<Self>> {
        let own = |shape: StepShape| {
            let sources = shape.groups * shape.own();
            [2 * WORD * sources, WORD * shape.groups * sizes.1, size_of::<f32>() * shape.replicas * sources]
        };
        let besides = |shape| own(shape).into_iter().sum();
        let Some(memory) = ResidentMemory::new(device, precision, sizes, blocks, besides)? else { return Ok(None) };
        let Some(module) = Module::watched_steps(device)? else { return Ok(None) };
        let mode = precision.name().replace('-', "_");
        let kernel = |name: &str| module.kernel(&format!("{name}_{mode}"));
        let kernels = [kernel("watched_steps")?, kernel("any_watched_steps")?];
        kernels.iter().try_for_each(|kernel| kernel.allow_shared_memory(device))?;
        let [rows, weighed, shifts] = own(memory.shape).map(|bytes| device.memory(bytes));
        Ok(Some(Self { _module: module, kernels, memory, rows: rows?, weighed: weighed?, shifts: shifts? }))
    }

    /// Sets the number of sources, for which there are slots, and which are [divided alike](StepShape::is_alike).
    pub const fn set_sources(&mut self, sources: usize) {
        self.memory.sources = sources;
    }

    /// Takes steps with the particles that the arrays and `state` hold, up to the first after which one of the particles may form a pair
    /// by `watch`. `p` has masses and potentials of about now; the address is that of the flags of subsystems. Returns the steps, and
    /// whether the host has to look at all particles whose update is due.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        (device, arrays, state): (&Device, &Arrays, &StepState),
        (p, clock, eps2): (&Particles, Clock, f64),
        (rules, span): (&StepRules, Span),
        ((watch, compound), pause): ((&Watch<'_>, u64), Option<&Pause>),
    ) -> Result<(Taken, bool)> {
        let mut launches = Launches::of(span);
        let Scales { speed, lightest } = Scales::of(p);
        let search = SearchCall {
            rows: self.rows.address(),
            weighed: self.weighed.address(),
            shifts: self.shifts.address(),
            compound,
            forms: watch.forms,
            joins: watch.joins,
            min_binding: watch.min_binding,
            speed,
            lightest,
            log2_steps: u32::from(watch.log2_steps),
        };
        let kernel = self.kernels[usize::from(rules.scheme.plain_nu().is_none())];
        let began = Instant::now();
        while let Some(steps) = launches.next(self.memory.steps) {
            let launched = Instant::now();
            let part = Span { from: launches.taken.now, until: span.until, max: steps };
            let alone = Sharing { mail: &[0], device: 0, from_pairs: 0 };
            let steps_call = self.memory.call((arrays, state), (clock, eps2), rules, part, alone);
            self.memory.launch(device, kernel, &WatchedCall { steps: steps_call, search })?;
            self.memory.end(device, &[&self.rows, &self.weighed])?;
            if !self.memory.count(&mut launches, steps, launched) || pause.is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        let taken = launches.taken;
        Ok((taken, taken.refused == 0 && self.memory.has_found()))
    }
}

/// Scales of a system: a speed that hardly any correction reaches, and a mass that no particle with a mass is below.
struct Scales {
    speed: f64,
    lightest: f32,
}

impl Scales {
    fn of(p: &Particles) -> Self {
        let n = p.len() as f64;
        let (deep, lightest) = p.pot.iter().zip(&p.mass).fold((0.0, f64::MAX), |(deep, lightest), (pot, &mass)| {
            (deep - pot, if mass > 0.0 { lightest.min(mass) } else { lightest })
        });
        // A pair of mass 2 M/N at the distance R N^(-1/3), with M/R = -φ.
        let speed = CHANGE * (deep / n).max(0.0).sqrt() * n.powf(-1.0 / 3.0);
        Self { speed, lightest: lightest as f32 * (1.0 - 1e-6) }
    }
}

/// Returns the particles whose update is due after steps up to `now`, among those that have moved, ascending.
#[must_use]
pub fn due(p: &Particles, now: Time, moved: &[u32], log2_steps: u8) -> Vec<u32> {
    let is_due = |&i: &u32| {
        let (i, level) = (i as usize, p.step[i as usize].0.saturating_sub(log2_steps));
        p.time[i] == now && now.is_multiple_of(Level(level))
    };
    let mut rows: Vec<u32> = moved.iter().copied().filter(is_due).collect();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_due_once_in_some_steps_of_those_that_moved() {
        let mut p = Particles::default();
        // The moment is the sixth step of level 3, so that it is a multiple of steps of level 2.
        let now = Time(6 * Level(3).ticks());
        for (level, time) in [(3, now), (4, now), (2, now), (4, Time(0)), (5, now)] {
            p.step.push(Level(level));
            p.time.push(time);
        }
        assert_eq!(due(&p, now, &[4, 0, 1, 3, 2], 1), [0, 1, 4]);
        assert_eq!(due(&p, now, &[0, 1, 2], 2), [1]);
        assert_eq!(due(&p, now, &[0, 2, 4], 2), [4]);
    }

    #[test]
    fn scales_are_those_of_the_particles_with_a_mass() {
        let p = Particles { mass: vec![0.25, 0.0, 0.5, 1e-3], pot: vec![-4.0; 4], ..Particles::default() };
        let Scales { speed, lightest } = Scales::of(&p);
        // The mean potential is -4.
        assert!((speed / (CHANGE * 2.0 / 4.0_f64.cbrt()) - 1.0).abs() < 1e-12);
        assert!(f64::from(lightest) < 1e-3 && f64::from(lightest) > 0.999e-3);
    }
}
