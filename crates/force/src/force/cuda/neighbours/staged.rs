//! Arrays on the device with pinned memory for their way there and back.

use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use bytemuck::Pod;

/// Array on the device with pinned memory for its way there and back.
pub struct Staged {
    /// On the device.
    pub memory: Memory,
    pinned: Pinned,
}

impl Staged {
    /// Allocates `words` words of both, all zero.
    ///
    /// # Errors
    /// If there is too little memory.
    pub fn new(device: &Device, words: usize) -> Result<Self> {
        Ok(Self { memory: device.memory(8 * words)?, pinned: device.pinned(words)? })
    }

    /// Returns the host's memory.
    pub fn host<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.pinned.words_mut())
    }

    /// Starts the copy of the first `n` numbers to the device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn send<T: Pod>(&self, device: &Device, n: usize) -> Result<()> {
        device.copy_up(&self.pinned, 0..(n * size_of::<T>()).div_ceil(8), &self.memory)
    }

    /// Starts the copy of the first `n` numbers from the device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn fetch<T: Pod>(&mut self, device: &Device, n: usize) -> Result<()> {
        device.copy_words_down(&self.memory, &mut self.pinned, (n * size_of::<T>()).div_ceil(8))
    }

    /// Returns the memory on the device alone.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// Returns the address on the device.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }
}
