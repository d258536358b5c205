//! Memory of a device, and memory of the host that a device reads and writes.

use cudarc::driver::{CudaContext, result, sys};
use std::sync::Arc;

/// Device memory, freed when dropped.
pub struct Memory {
    pub(super) address: sys::CUdeviceptr,
    pub(super) bytes: usize,
    pub(super) context: Arc<CudaContext>,
}

impl Memory {
    /// Returns the address on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        // SAFETY: the only free of this allocation, which waits for the device's work. An error means that the device
        // is lost, and its memory with it.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Pinned host memory, freed when dropped.
pub struct Pinned {
    pub(super) address: *mut u64,
    pub(super) words: usize,
    pub(super) context: Arc<CudaContext>,
}

// SAFETY: owns its allocation like a Vec; nothing about it is bound to a thread.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Returns the address for the device, which shares one address space with the host.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address as u64
    }

    /// Returns the words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        // SAFETY: `words` initialised words that belong to `self` alone.
        unsafe { std::slice::from_raw_parts(self.address, self.words) }
    }

    /// Returns the words, mutably.
    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.words) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        // SAFETY: the only free of this allocation. An error means that the driver is gone, and nothing is left to do.
        let _ = unsafe { result::free_host(self.address.cast()) };
    }
}
