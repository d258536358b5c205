//! External field of block steps on the device.

use super::field_call::{FieldCall, orbit_words, words};
use crate::error::Result;
use crate::force::block_steps::StepField;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::external::FieldParts;
use std::sync::Arc;

/// Bytes of the place and the velocity of a target, and of what a part gives at a point: acceleration and jerk.
const STATE_BYTES: usize = 48;
/// Largest number of targets that a thread block of the resident kernel corrects at a time, and the origin.
const POINTS: usize = 65;

/// Field on the device.
pub struct FieldMemory {
    field: Arc<FieldParts>,
    /// Steps of the programs, parts, order of the sums.
    arrays: [Memory; 3],
    /// Segments of the orbit, with their way there.
    segments: Option<(Memory, Pinned)>,
    /// What the thread blocks of the resident kernel find, and where they put targets.
    working: Option<[Memory; 2]>,
}

impl FieldMemory {
    /// Copies a field to the device, with room for `blocks` thread blocks of the resident kernel with up to `own` targets each; [`None`]
    /// if there is too little memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, field: &Arc<FieldParts>, (blocks, own): (usize, usize)) -> Result<Option<Self>> {
        let words = words(field);
        let working = [blocks * field.parts.len() * POINTS, blocks * own].map(|number| number * STATE_BYTES);
        let bytes = words.iter().map(|words| 8 * words.len()).sum::<usize>() + working.iter().sum::<usize>();
        if bytes > device.free_bytes()? {
            return Ok(None);
        }
        let [steps, parts, order] = words.map(|words| send(device, &words));
        let working = if blocks > 0 {
            let [found, placed] = working.map(|bytes| device.memory(bytes));
            Some([found?, placed?])
        } else {
            None
        };
        Ok(Some(Self { field: Arc::clone(field), arrays: [steps?, parts?, order?], segments: None, working }))
    }

    /// Returns true for the memory of this field.
    pub fn is_of(&self, field: &Arc<FieldParts>) -> bool {
        Arc::ptr_eq(&self.field, field)
    }

    /// Copies the orbit to the device, and returns what kernels are given. The device must be done with the last one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn call(&mut self, device: &Device, field: StepField<'_>) -> Result<FieldCall> {
        let [steps, parts, order] = self.arrays.each_ref().map(Memory::address);
        let mut call = FieldCall {
            arrays: [steps, parts, order, 0],
            working: self.working.as_ref().map_or([0; 2], |working| working.each_ref().map(Memory::address)),
            start: field.start,
            parts: self.field.parts.len() as u32,
            of_origin: self.field.of_origin as u32,
            order_of_others: self.field.order_of_others as u32,
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
                call.arrays[3] = memory.address();
            }
            let ticks = (orbit.until.0 - orbit.from.0) / (orbit.segments.len() - 1) as u64;
            (call.from, call.shift) = (orbit.from.0, ticks.ilog2());
        }
        Ok(call)
    }
}

/// Copies words to the device.
fn send(device: &Device, words: &[u64]) -> Result<Memory> {
    // A field of spheres has no programs.
    let number = words.len().max(1);
    let (memory, mut through) = (device.memory(8 * number)?, device.pinned(number)?);
    through.words_mut()[..words.len()].copy_from_slice(words);
    device.copy_up(&through, 0..number, &memory)?;
    // The pinned memory ends here.
    device.wait()?;
    Ok(memory)
}
