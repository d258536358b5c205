//! Calls of the machine code.

use super::line::{LINE, Line};
use super::pair_code::{BESIDE, PairCode};
use crate::force::canonical::BAG;
use crate::force::real::Real;
use std::mem::transmute;

/// The code: its memory, the first number of the slots, the addresses of columns, the number of turns before the last.
type Function = unsafe extern "sysv64" fn(*mut Line, *const u8, *const *const u8, u32);

impl PairCode {
    /// Adds a number of sources, a multiple of [`Self::TURN`], to the sums at the beginning of `memory`. The slots and the
    /// columns begin with the number of the first source in the first lane.
    #[inline(always)]
    pub fn run<R: Real>(&self, over_bags: bool, memory: &mut [Line], slots: &[R], columns: &[&[R]], sources: usize) {
        assert!(sources >= Self::TURN && sources.is_multiple_of(Self::TURN) && sources <= BAG);
        let last = self.reads[usize::from(over_bags)];
        let (of_slots, of_column) = (sources * self.stride - LINE + last, (sources - 1) * LINE + last);
        let mut addresses = [std::ptr::null(); BESIDE.len()];
        assert!(memory.len() >= self.lines && size_of_val(slots) >= of_slots && columns.len() == self.beside);
        for (address, column) in addresses.iter_mut().zip(columns) {
            assert!(size_of_val(*column) >= of_column);
            *address = column.as_ptr().cast();
        }
        let entry = self.memory[self.entries[usize::from(over_bags)]..].as_ptr();
        // SAFETY: the memory is executable and holds a function of this type at the entry; it has instructions
        // that this machine has: `Unit::of_size`. It reads and writes `lines` lines, and reads as much
        // of the slots and of each column as was compared above.
        unsafe {
            let function = transmute::<*const u8, Function>(entry);
            let turns = (sources / Self::TURN - 1) as u32;
            function(memory.as_mut_ptr(), slots.as_ptr().cast(), addresses.as_ptr(), turns);
        }
    }
}
