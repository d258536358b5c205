//! What goes up to the device in one copy, and comes down in one: columns of words in pinned memory.

use super::device::{Device, Memory, Pinned};
use super::launch::Columns;
use crate::error::Result;
use crate::force::{Forces, Targets};
use crate::particles::{Particles, Vec3};

/// f64 of a corrected particle: position, velocity, acceleration, jerk.
const STATE: usize = 12;
/// f64 of a force.
pub const FORCE: usize = 7;

/// Pinned memory on both ways.
pub struct Staging {
    up: Pinned,
    down: Pinned,
    /// Particles of the upload that wait to be taken over.
    changed: usize,
    slots: usize,
}

/// Words of a column of `n` u32.
const fn index_words(n: usize) -> usize {
    n.div_ceil(2)
}

/// Words of an upload for `slots` corrected particles and `slots` targets.
#[must_use]
pub const fn upload_words(slots: usize) -> usize {
    2 * index_words(slots) + (1 + STATE + 6) * slots
}

impl Staging {
    /// Room for `slots` particles and as many targets.
    ///
    /// # Errors
    /// If there is too little memory that can be pinned.
    pub fn new(device: &Device, slots: usize) -> Result<Self> {
        let (up, down) = (device.pinned(upload_words(slots))?, device.pinned(FORCE * slots)?);
        Ok(Self { up, down, changed: 0, slots })
    }

    /// Corrected particles that wait.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// Where the columns start with `targets` targets behind the corrected particles.
    pub fn columns(&self, targets: usize) -> Columns {
        let ticks = index_words(self.changed);
        let block = ticks + (1 + STATE) * self.changed;
        let pos = block + index_words(targets);
        Columns { changed: [0, ticks, ticks + self.changed], targets: [block, pos, pos + 3 * targets] }
    }

    /// Words up to the end of the block.
    pub fn words(&self, targets: usize) -> usize {
        self.columns(targets).targets[2] + 3 * targets
    }

    /// Takes the state of the particles `changed`, to be sent with the next block. Slots beyond the last particle, which
    /// only [`Staging::everyone`] sends, stand still at `nowhere`.
    fn take(&mut self, all: &Particles, changed: impl ExactSizeIterator<Item = usize> + Clone, nowhere: f64) {
        self.changed = changed.len();
        let [_, ticks, state] = self.columns(0).changed;
        let n = self.changed;
        let words = self.up.words_mut();
        let index: &mut [u32] = bytemuck::cast_slice_mut(&mut words[..ticks]);
        for (index, i) in index.iter_mut().zip(changed.clone()) {
            assert!(i < self.slots, "particle {i} of {}", self.slots);
            *index = i as u32;
        }
        for (word, i) in words[ticks..state].iter_mut().zip(changed.clone()) {
            *word = all.time.get(i).map_or(0, |time| time.0);
        }
        let state: &mut [Vec3] = bytemuck::cast_slice_mut(&mut words[state..state + STATE * n]);
        let (pos, rest) = state.split_at_mut(n);
        let (vel, rest) = rest.split_at_mut(n);
        let (acc, jerk) = rest.split_at_mut(n);
        for (k, i) in changed.enumerate() {
            if i < all.len() {
                (pos[k], vel[k], acc[k], jerk[k]) = (all.pos[i], all.vel[i], all.acc[i], all.jerk[i]);
            } else {
                (pos[k], vel[k], acc[k], jerk[k]) = ([nowhere; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
            }
        }
    }

    /// Takes the state of the particles `changed`, to be sent with the next block.
    pub fn change(&mut self, all: &Particles, changed: &[u32]) {
        assert!(changed.iter().all(|&i| (i as usize) < all.len()), "a corrected particle beyond the last");
        self.take(all, changed.iter().map(|&i| i as usize), 0.0);
    }

    /// Takes everyone and the padding, and copies the masses to the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn everyone(&mut self, device: &Device, all: &Particles, nowhere: f64, mass: &Memory) -> Result<()> {
        self.take(all, 0..self.slots, nowhere);
        // The block's part of the upload is free: no block is on its way.
        let first = self.columns(0).targets[0];
        let masses = &mut self.up.words_mut()[first..first + all.len()];
        bytemuck::cast_slice_mut::<_, f64>(masses).copy_from_slice(&all.mass);
        device.copy_up(&self.up, first..first + all.len(), mass)
    }

    /// Puts a block behind the corrected particles.
    pub fn add_block(&mut self, targets: &Targets, sources: usize) {
        let n = targets.len();
        assert!(targets.index.iter().all(|&i| (i as usize) < sources), "a target beyond the last particle");
        let [index, pos, vel] = self.columns(n).targets;
        let end = self.words(n);
        let words = self.up.words_mut();
        bytemuck::cast_slice_mut::<_, u32>(&mut words[index..pos])[..n].copy_from_slice(&targets.index);
        bytemuck::cast_slice_mut::<_, Vec3>(&mut words[pos..vel]).copy_from_slice(&targets.pos);
        bytemuck::cast_slice_mut::<_, Vec3>(&mut words[vel..end]).copy_from_slice(&targets.vel);
    }

    /// Starts the copy of the corrected particles and a block of `targets`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, targets: usize, upload: &Memory) -> Result<()> {
        device.copy_up(&self.up, 0..self.words(targets), upload)?;
        self.changed = 0;
        Ok(())
    }

    /// Where the device puts the forces.
    pub fn out(&self) -> u64 {
        self.down.address()
    }

    /// The forces, once they have come.
    pub fn forces(&self, targets: usize, out: &mut Forces) {
        let numbers: &[[f64; FORCE]] = bytemuck::cast_slice(&self.down.words()[..FORCE * targets]);
        out.acc.clear();
        out.acc.extend(numbers.iter().map(|f| [f[0], f[1], f[2]]));
        out.jerk.clear();
        out.jerk.extend(numbers.iter().map(|f| [f[3], f[4], f[5]]));
        out.pot.clear();
        out.pot.extend(numbers.iter().map(|f| f[6]));
    }
}
