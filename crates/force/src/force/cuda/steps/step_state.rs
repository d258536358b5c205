//! What whole block steps on the device keep of each particle, besides what the forces need: its way there and back.

use super::step_history::{Kept, StepHistory};
use crate::error::Result;
use crate::force::block_steps::StepRules;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::{Arrays, SourceHistory};
use crate::force::cuda::shapes::step_shape::COLUMNS;
use crate::particles::{Particles, Vec3};
use crate::states::low_parts::LowParts;
use crate::time::{Level, Time};
use rayon::prelude::*;

/// Minimum number of particles that a thread copies.
const SHARE: usize = 4096;

/// Potentials and levels on the device. They and the state of the particles pass pinned memory of [`COLUMNS`] words and a
/// byte for each slot, or more: that of the upload.
pub struct StepState {
    /// Potentials: `slots` f64.
    pub pot: Memory,
    /// Levels: `slots` u8.
    pub level: Memory,
    /// What a scheme keeps besides, once it was asked for.
    history: Option<StepHistory>,
    slots: usize,
    /// Flag that they are those of the host.
    pub current: bool,
}

impl StepState {
    /// Returns the bytes on the device for `slots` particles.
    #[must_use]
    pub const fn bytes(slots: usize) -> usize {
        9 * slots
    }

    /// Allocates memory for `slots` particles.
    ///
    /// # Errors
    /// If there is too little.
    pub fn new(device: &Device, slots: usize) -> Result<Self> {
        Ok(Self { pot: device.memory(8 * slots)?, level: device.memory(slots)?, slots, history: None, current: false })
    }

    /// Sets the number of particles, for which there are slots.
    pub fn set_sources(&mut self, sources: usize) {
        self.history.iter_mut().for_each(|history| history.set_sources(sources));
    }

    /// Makes room for what a scheme keeps by its rules of `sources` particles, unless it is `held` with the forces, and of
    /// `working` particles besides. Returns false if there is too little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn prepare(
        &mut self,
        device: &Device,
        rules: &StepRules,
        (sources, working): (usize, usize),
        held: Option<&SourceHistory>,
    ) -> Result<bool> {
        let kept = Kept::by(rules);
        if self.history.as_ref().map(StepHistory::kept).unwrap_or_default() != kept {
            (self.history, self.current) = (None, false);
            if kept.columns() > 0 {
                self.history = StepHistory::new(device, kept, (sources, self.slots), working, held)?;
            }
        }
        Ok(kept.columns() == 0 || self.history.is_some())
    }

    /// Returns the addresses of the histories: of the particles, and of those besides.
    pub fn history_addresses(&self) -> [u64; 2] {
        self.history.as_ref().map_or([0; 2], StepHistory::addresses)
    }

    /// Starts the copy of potentials, levels and histories to the device, `through` pinned memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, p: &Particles, through: &mut Pinned) -> Result<()> {
        let (slots, words) = (self.slots, through.words_mut());
        bytemuck::cast_slice_mut::<_, f64>(&mut words[..p.len()]).copy_from_slice(&p.pot);
        let levels: &mut [u8] = bytemuck::cast_slice_mut(&mut words[slots..]);
        levels.iter_mut().zip(&p.step).for_each(|(to, level)| *to = level.0);
        device.copy_up(through, 0..slots, &self.pot)?;
        device.copy_up(through, slots..slots + slots.div_ceil(8), &self.level)?;
        if let Some(history) = &mut self.history {
            history.send(device, &p.states)?;
        }
        self.current = true;
        Ok(())
    }

    /// Reads the state of the particles back after steps up to `now`, `through` pinned memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn read(
        &mut self,
        device: &Device,
        arrays: &Arrays,
        (p, now): (&mut Particles, Time),
        through: &mut Pinned,
    ) -> Result<()> {
        let slots = self.slots;
        device.copy_down(&arrays.held, through, 0)?;
        device.copy_down(&self.pot, through, 12 * slots)?;
        device.copy_down(&self.level, through, COLUMNS * slots)?;
        if let Some(history) = &mut self.history {
            history.fetch(device)?;
        }
        device.wait()?;
        let (columns, levels) = through.words().split_at(COLUMNS * slots);
        let (columns, levels): (&[f64], &[u8]) = (bytemuck::cast_slice(columns), bytemuck::cast_slice(levels));
        let vector = |first: usize, i: usize| {
            Vec3::new(columns[first * slots + i], columns[(first + 1) * slots + i], columns[(first + 2) * slots + i])
        };
        let vectors = [(&mut p.pos, 0), (&mut p.vel, 3), (&mut p.acc, 6), (&mut p.jerk, 9)];
        for (to, first) in vectors {
            to.par_iter_mut().with_min_len(SHARE).enumerate().for_each(|(i, to)| *to = vector(first, i));
        }
        let n = p.len();
        p.pot.copy_from_slice(&columns[12 * slots..12 * slots + n]);
        for ((step, time), &level) in p.step.iter_mut().zip(&mut p.time).zip(levels) {
            *step = Level(level);
            *time = Time(now.0 / step.ticks() * step.ticks());
        }
        let kept = self.history.as_ref().is_some_and(|history| history.kept().low);
        LowParts::keep(&mut p.states, n, kept);
        if let Some(history) = &self.history {
            history.unpack(&mut p.states);
        }
        Ok(())
    }
}
