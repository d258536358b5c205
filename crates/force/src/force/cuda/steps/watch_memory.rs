//! Memory of the search for particles that may form a pair (kernels/watch.cu).

use super::launched_call::WatchCall;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::shapes::layout::index_words;
use crate::force::watch::Watch;
use crate::time::Time;

/// Number of warps that share the sources, for each multiprocessor. No result depends on it.
const WARPS: usize = 16;
/// Bytes of a place of a source, and of what a slice of the sources has at a target.
const PLACE: usize = 32;
/// Number of steps whose places are kept.
const STEPS: usize = 2;
const WEIGHED: usize = 16;
/// Number of targets of a warp.
const LANES: usize = 32;

/// Memory for a number of sources.
pub struct WatchMemory {
    places: Memory,
    weighed: Memory,
    looked: Memory,
    compound: Memory,
    flags: Pinned,
    found: Pinned,
    /// Sources that have a flag on the device.
    flagged: Vec<u32>,
    warps: usize,
}

impl WatchMemory {
    /// Allocates memory for `slots` sources; [`None`] if there is too little.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, slots: usize) -> Result<Option<Self>> {
        let warps = WARPS * device.multiprocessors();
        // Either each group of targets has several slices of the sources, at most one a warp, or one.
        let weighed = WEIGHED * (warps * LANES).max(slots + LANES);
        let sizes = [STEPS * PLACE * slots, weighed, 4 * slots, slots];
        if sizes.iter().sum::<usize>() > device.free_bytes()? {
            return Ok(None);
        }
        let [places, weighed, looked, compound] = sizes.map(|bytes| device.memory(bytes));
        let (flags, found) = (device.pinned(slots.div_ceil(8))?, device.pinned(index_words(slots + 1))?);
        let (places, weighed, looked, compound) = (places?, weighed?, looked?, compound?);
        Ok(Some(Self { places, weighed, looked, compound, flags, found, flagged: Vec::new(), warps }))
    }

    /// Starts to send the flags of subsystems, if they have changed, and returns what the kernels are given for steps from a moment
    /// on.
    ///
    /// # Errors
    /// If the device fails.
    pub fn call(&mut self, device: &Device, watch: &Watch<'_>, from: Time) -> Result<WatchCall> {
        if self.flagged != watch.compound {
            // What was sent before is on its way no more.
            device.wait()?;
            let flags: &mut [u8] = bytemuck::cast_slice_mut(self.flags.words_mut());
            self.flagged.iter().for_each(|&row| flags[row as usize] = 0);
            watch.compound.iter().for_each(|&row| flags[row as usize] = 1);
            self.flagged.clear();
            self.flagged.extend_from_slice(watch.compound);
            device.copy_up(&self.flags, 0..self.flags.words().len(), &self.compound)?;
        }
        self.found.words_mut()[0] = 0;
        Ok(WatchCall {
            places: self.places.address(),
            weighed: self.weighed.address(),
            looked: self.looked.address(),
            found: self.found.address(),
            compound: self.compound.address(),
            since: from.0,
            forms: watch.forms,
            joins: watch.joins,
            min_binding: watch.min_binding,
            warps: self.warps as u32,
            log2_steps: u32::from(watch.log2_steps),
        })
    }

    /// Stores those that may form a pair after the last step, ascending, once the device is done.
    pub fn read(&self, to: &mut Vec<u32>) {
        let words: &[u32] = bytemuck::cast_slice(self.found.words());
        to.clear();
        to.extend_from_slice(&words[1..=words[0] as usize]);
        to.sort_unstable();
    }
}
