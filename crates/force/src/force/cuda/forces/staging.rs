//! Staging of the data copied to the device and back: records of words in pinned memory.

use super::launch::Columns;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
#[cfg(doc)]
use crate::force::cuda::shapes::layout::MAX_COLUMNS;
use crate::force::cuda::shapes::layout::{FORCE, STATE, TARGET, index_words, upload_words};
use crate::force::forces::Forces;
use crate::force::targets::Targets;
use crate::particles::{Particles, Vec3};
use crate::spin_pool::min_share;
use rayon::prelude::*;

/// Time in which a record is copied, in nanoseconds, where other cores have just written its parts. Not measured.
const WORK: usize = 20;

/// Pinned memory for both directions.
pub struct Staging {
    up: Pinned,
    down: Pinned,
    /// Corrected particles that are not yet on the device: their rows and records.
    waiting: Vec<(u32, [u64; STATE])>,
    /// Further derivatives of each of these.
    waiting_more: Vec<u64>,
    /// Number of further derivatives.
    derivatives: usize,
    /// Place of each row among these; [`NONE`] if it is not.
    places: Vec<u32>,
    /// Number of particles that are staged to be sent.
    changed: usize,
    slots: usize,
}

/// Number of masses up to which they are copied one by one. Not measured.
const FEW: usize = 32;

/// Mark of a row that does not wait.
const NONE: u32 = u32::MAX;

/// Returns the record of a particle: its time, position, velocity, acceleration and jerk.
fn record(all: &Particles, i: usize) -> [u64; STATE] {
    let mut record = [all.time[i].0; STATE];
    let state = [all.pos[i], all.vel[i], all.acc[i], all.jerk[i]];
    record[1..].copy_from_slice(&bytemuck::cast::<[Vec3; 4], [u64; STATE - 1]>(state));
    record
}

/// Writes the further derivatives of a particle.
fn put_further(all: &Particles, i: usize, to: &mut [u64]) {
    for (to, derivative) in to.chunks_exact_mut(3).zip(all.derivatives()) {
        to.copy_from_slice(&bytemuck::cast::<Vec3, [u64; 3]>(derivative[i]));
    }
}

/// Writes the list `index` to the `words`, and behind it a record for each of its entries.
fn write<const N: usize>(words: &mut [u64], index: &[u32], record: impl Fn(usize, u32) -> [u64; N] + Sync) {
    let (list, records) = words.split_at_mut(index_words(index.len()));
    bytemuck::cast_slice_mut::<_, u32>(list)[..index.len()].copy_from_slice(index);
    let (records, _) = records.as_chunks_mut::<N>();
    let one = |(k, (to, &i)): (usize, (&mut [u64; N], &u32))| *to = record(k, i);
    let share = min_share(WORK);
    if index.len() < 2 * share {
        records.iter_mut().zip(index).enumerate().for_each(one);
    } else {
        records.par_iter_mut().zip(index).with_min_len(share).enumerate().for_each(one);
    }
}

impl Staging {
    /// Allocates memory for `slots` particles with further `derivatives`, and as many targets.
    ///
    /// # Errors
    /// If too little memory can be pinned.
    pub fn new(device: &Device, slots: usize, derivatives: usize) -> Result<Self> {
        let (up, down) = (device.pinned(upload_words(slots, derivatives))?, device.pinned(FORCE * slots)?);
        let places = vec![NONE; slots];
        Ok(Self { up, down, waiting: Vec::new(), waiting_more: Vec::new(), derivatives, places, changed: 0, slots })
    }

    /// Returns the number of further derivatives.
    pub const fn derivatives(&self) -> usize {
        self.derivatives
    }

    /// Returns the number of particles that are staged to be sent.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// Returns true if corrected particles are not yet on the device.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the first words of the columns, with `targets` targets behind the corrected particles.
    pub fn columns(&self, targets: usize) -> Columns {
        let state = index_words(self.changed);
        let more = state + STATE * self.changed;
        let block = more + 3 * self.derivatives * self.changed;
        Columns { changed: [0, state, more], targets: [block, block + index_words(targets)] }
    }

    /// Returns the number of words up to the end of a block of `targets`.
    pub fn words(&self, targets: usize) -> usize {
        self.columns(targets).targets[1] + TARGET * targets
    }

    /// Notes the state of the particles `changed`, to be sent with the next block.
    pub fn note_changed(&mut self, all: &Particles, changed: &[u32]) {
        assert!(changed.last().is_none_or(|&i| (i as usize) < all.len()), "a corrected particle beyond the last");
        let Self { waiting, waiting_more, places, derivatives, .. } = self;
        let (first, mut new) = (waiting.len(), Vec::with_capacity(changed.len()));
        for &i in changed {
            let place = &mut places[i as usize];
            match waiting.get_mut(*place as usize) {
                Some(waiting) => waiting.1 = record(all, i as usize),
                None => {
                    *place = (first + new.len()) as u32;
                    new.push(i);
                }
            }
        }
        let records = new.par_iter().with_min_len(min_share(WORK)).map(|&i| (i, record(all, i as usize)));
        waiting.par_extend(records);
        let words = 3 * *derivatives;
        if words > 0 {
            waiting_more.resize(words * waiting.len(), 0);
            for &i in changed {
                let place = words * places[i as usize] as usize;
                put_further(all, i as usize, &mut waiting_more[place..place + words]);
            }
        }
    }

    /// Returns the words of the further derivatives of the `changed` particles.
    fn further(&mut self) -> &mut [u64] {
        let Columns { changed: [_, _, more], targets: [block, _] } = self.columns(0);
        &mut self.up.words_mut()[more..block]
    }

    /// Stages the particles that wait, in the order of their rows.
    pub fn stage_changed(&mut self) {
        let Self { waiting, places, up, .. } = self;
        let mut rows: Vec<u32> = waiting.iter().map(|waiting| waiting.0).collect();
        if !rows.is_sorted() {
            rows.par_sort_unstable();
        }
        write(up.words_mut(), &rows, |_, row| waiting[places[row as usize] as usize].1);
        self.changed = rows.len();
        let words = 3 * self.derivatives;
        if words > 0 {
            let (places, from) = (std::mem::take(&mut self.places), std::mem::take(&mut self.waiting_more));
            for (to, &row) in self.further().chunks_exact_mut(words).zip(&rows) {
                let place = words * places[row as usize] as usize;
                to.copy_from_slice(&from[place..place + words]);
            }
            (self.places, self.waiting_more) = (places, from);
        }
        self.forget_waiting();
    }

    /// Forgets the particles that wait.
    fn forget_waiting(&mut self) {
        self.waiting.iter().for_each(|waiting| self.places[waiting.0 as usize] = NONE);
        self.waiting.clear();
        self.waiting_more.clear();
    }

    /// Stages all particles and the padding, and copies the masses to the device, with the values of `columns` behind
    /// them: at most [`MAX_COLUMNS`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn upload_all(
        &mut self,
        device: &Device,
        (all, columns): (&Particles, &[&[f64]]),
        nowhere: f64,
        mass: &Memory,
    ) -> Result<()> {
        self.forget_waiting();
        self.changed = self.slots;
        // Slots beyond the last particle stand still, far away.
        let mut padding = [0; STATE];
        padding[1..4].fill(nowhere.to_bits());
        let rows: Vec<u32> = (0..self.slots as u32).collect();
        write(
            self.up.words_mut(),
            &rows,
            |_, i| if (i as usize) < all.len() { record(all, i as usize) } else { padding },
        );
        let words = 3 * self.derivatives;
        if words > 0 {
            let (of, padding) = self.further().split_at_mut(words * all.len());
            let share = min_share(WORK);
            of.par_chunks_exact_mut(words).with_min_len(share).enumerate().for_each(|(i, to)| put_further(all, i, to));
            padding.fill(0);
        }
        // The block's part of the upload is free: no block is being copied.
        let first = self.columns(0).targets[0];
        let words = first..first + self.slots * (1 + columns.len());
        let to: &mut [f64] = bytemuck::cast_slice_mut(&mut self.up.words_mut()[words.clone()]);
        let values = std::iter::once(&all.mass[..]).chain(columns.iter().copied());
        for (to, values) in to.chunks_exact_mut(self.slots).zip(values) {
            // Padding has no mass.
            let (to, padding) = to.split_at_mut(values.len());
            to.copy_from_slice(values);
            padding.fill(0.0);
        }
        device.copy_up(&self.up, words, mass)
    }

    /// Starts the copy of the masses of the particles `changed` to the device, while nothing else is copied: of many, with all others.
    ///
    /// # Errors
    /// If the device fails.
    pub fn upload_masses(
        &mut self,
        device: &Device,
        (all, changed): (&Particles, &[u32]),
        mass: &Memory,
    ) -> Result<()> {
        let words = self.up.words_mut();
        if changed.len() > FEW {
            words[..all.len()].copy_from_slice(bytemuck::cast_slice(&all.mass));
            return device.copy_up(&self.up, 0..all.len(), mass);
        }
        for (&i, word) in changed.iter().zip(words) {
            *word = all.mass[i as usize].to_bits();
        }
        (0..).zip(changed).try_for_each(|(k, &i)| device.copy_up_to(&self.up, k..k + 1, (mass, i as usize)))
    }

    /// Stages a block, of as many targets as there are slots at most, behind the corrected particles.
    pub fn stage_block(&mut self, targets: Targets<'_>) {
        let first = self.columns(0).targets[0];
        write(&mut self.up.words_mut()[first..], targets.index, |k, _| {
            bytemuck::cast::<[Vec3; 2], [u64; TARGET]>([targets.pos[k], targets.vel[k]])
        });
    }

    /// Starts the copy of the corrected particles and a block of `targets` targets to the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, targets: usize, upload: &Memory) -> Result<()> {
        device.copy_up(&self.up, 0..self.words(targets), upload)?;
        self.changed = 0;
        Ok(())
    }

    /// Returns the pinned memory of the upload, which others may use while no particle is staged and nothing is copied.
    pub fn free_words(&mut self) -> &mut Pinned {
        debug_assert!(self.changed == 0 && !self.is_waiting(), "a corrected particle would be lost");
        &mut self.up
    }

    /// Returns the address at which the device writes the forces.
    pub fn out_address(&self) -> u64 {
        self.down.address()
    }

    /// Copies the forces on targets from number `first` on to `out`, which has their number of entries, after the device is
    /// done.
    pub fn read_forces(&self, first: usize, out: &mut Forces) {
        let n = out.pot.len();
        let forces: &[[f64; FORCE]] = bytemuck::cast_slice(&self.down.words()[FORCE * first..FORCE * (first + n)]);
        let one = |(((acc, jerk), pot), f): (((&mut Vec3, &mut Vec3), &mut f64), &[f64; FORCE])| {
            (*acc, *jerk, *pot) = (Vec3::new(f[0], f[1], f[2]), Vec3::new(f[3], f[4], f[5]), f[6]);
        };
        let share = min_share(WORK);
        if n < 2 * share {
            let vectors = out.acc.iter_mut().zip(&mut out.jerk).zip(&mut out.pot);
            vectors.zip(forces).for_each(one);
        } else {
            let vectors = out.acc.par_iter_mut().zip(&mut out.jerk).zip(&mut out.pot);
            vectors.zip(forces).with_min_len(share).for_each(one);
        }
    }
}
