//! Memory of the search for particles that may form a pair (kernels/watch.cu).

use super::launched_call::WatchCall;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::shapes::layout::index_words;
use crate::force::watch::Watch;

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
    found: Pinned,
    warps: usize,
}

/// Flags of the sources that are subsystems.
pub struct CompoundFlags {
    memory: Memory,
    flags: Pinned,
    /// Sources that have a flag on the device.
    flagged: Vec<u32>,
}

impl CompoundFlags {
    /// Allocates memory for `slots` sources.
    ///
    /// # Errors
    /// If there is too little.
    pub fn new(device: &Device, slots: usize) -> Result<Self> {
        Ok(Self { memory: device.memory(slots)?, flags: device.pinned(slots.div_ceil(8))?, flagged: Vec::new() })
    }

    /// Starts to send the flags, if they have changed, and returns their address.
    ///
    /// # Errors
    /// If the device fails.
    pub fn send(&mut self, device: &Device, compound: &[u32]) -> Result<u64> {
        if self.flagged != compound {
            // What was sent before is on its way no more.
            device.wait()?;
            let flags: &mut [u8] = bytemuck::cast_slice_mut(self.flags.words_mut());
            self.flagged.iter().for_each(|&row| flags[row as usize] = 0);
            compound.iter().for_each(|&row| flags[row as usize] = 1);
            self.flagged.clear();
            self.flagged.extend_from_slice(compound);
            device.copy_up(&self.flags, 0..self.flags.words().len(), &self.memory)?;
        }
        Ok(self.memory.address())
    }
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
        let sizes = [STEPS * PLACE * slots, weighed, 4 * slots];
        if sizes.iter().sum::<usize>() > device.free_bytes()? {
            return Ok(None);
        }
        let [places, weighed, looked] = sizes.map(|bytes| device.memory(bytes));
        let found = device.pinned(index_words(slots + 1))?;
        Ok(Some(Self { places: places?, weighed: weighed?, looked: looked?, found, warps }))
    }

    /// Returns what the kernels are given, with the address of the flags of subsystems.
    pub fn call(&mut self, watch: &Watch<'_>, compound: u64) -> WatchCall {
        self.found.words_mut()[0] = 0;
        WatchCall {
            places: self.places.address(),
            weighed: self.weighed.address(),
            looked: self.looked.address(),
            found: self.found.address(),
            compound,
            since: 0,
            forms: watch.forms,
            joins: watch.joins,
            min_binding: watch.min_binding,
            warps: self.warps as u32,
            log2_steps: u32::from(watch.log2_steps),
        }
    }

    /// Stores those that may form a pair after the last step, ascending, once the device is done.
    pub fn read(&self, to: &mut Vec<u32>) {
        let words: &[u32] = bytemuck::cast_slice(self.found.words());
        to.clear();
        to.extend_from_slice(&words[1..=words[0] as usize]);
        to.sort_unstable();
    }
}
