//! External field of block steps on the device.

use super::field_call::{FieldCall, orbit_words};
use crate::error::Result;
use crate::force::block_steps::StepField;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};

/// Bytes of what a target is given by the field that acts on the origin too, and by the one that moves with it: acceleration and jerk.
const POINT_BYTES: usize = 2 * 48;

/// Memory of an external field.
pub struct FieldMemory {
    /// What the targets are given, and the origin.
    found: Memory,
    /// Segments of the orbit, with their way there.
    segments: Option<(Memory, Pinned)>,
}

impl FieldMemory {
    /// Makes room for up to `slots` targets; [`None`] if there is too little memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, slots: usize) -> Result<Option<Self>> {
        let bytes = (slots + 1) * POINT_BYTES;
        if bytes > device.free_bytes()? {
            return Ok(None);
        }
        Ok(Some(Self { found: device.memory(bytes)?, segments: None }))
    }

    /// Copies the orbit to the device, and returns what kernels are given. The device must be done with the last one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn call(&mut self, device: &Device, field: StepField<'_>) -> Result<FieldCall> {
        let mut call = FieldCall {
            found: self.found.address(),
            start: field.start,
            is_there: 1,
            is_carried: u32::from(field.parts.carried.is_some()),
            ..FieldCall::default()
        };
        if let Some(orbit) = field.orbit {
            let words = orbit_words(&orbit.segments);
            if self.segments.as_ref().is_none_or(|(memory, _)| memory.bytes() < 8 * words.len()) {
                self.segments = Some((device.memory(8 * words.len())?, device.pinned(words.len())?));
            }
            if let Some((memory, through)) = &mut self.segments {
                through.words_mut()[..words.len()].copy_from_slice(&words);
                device.copy_up(through, 0..words.len(), memory)?;
                call.segments = memory.address();
            }
            let ticks = (orbit.until.0 - orbit.from.0) / (orbit.segments.len() - 1) as u64;
            (call.from, call.shift) = (orbit.from.0, ticks.ilog2());
        }
        Ok(call)
    }
}
