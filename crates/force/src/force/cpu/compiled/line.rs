//! Lines of the memory of the code.

use crate::force::real::Real;

/// Cache line: the place of a vector in the memory of the code, and a column of a slot.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line([u8; LINE]);
pub const LINE: usize = 64;

impl Line {
    /// Line without a vector.
    pub const EMPTY: Self = Self([0; LINE]);

    /// Stores a vector.
    #[inline(always)]
    pub fn set<V: bytemuck::NoUninit>(&mut self, vector: V) {
        self.0[..size_of::<V>()].copy_from_slice(bytemuck::bytes_of(&vector));
    }

    /// Returns the vector.
    #[inline(always)]
    pub fn get<V: bytemuck::AnyBitPattern>(&self) -> V {
        bytemuck::pod_read_unaligned(&self.0[..size_of::<V>()])
    }

    /// Returns the numbers of a vector of type `V`.
    #[inline(always)]
    pub fn lanes<R: Real, V>(&self) -> &[R] {
        bytemuck::cast_slice(&self.0[..size_of::<V>()])
    }
}
