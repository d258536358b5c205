//! Sizes of what host and device exchange, and of the memory for sums.

/// Bytes of device memory for partial sums; larger blocks are evaluated in batches.
pub const PARTIAL_BYTES: usize = 64 << 20;
/// Largest number of columns of a law: they travel to the device with the masses.
pub const MAX_COLUMNS: usize = 4;
/// Number of words of a corrected particle: ticks, position, velocity, acceleration, jerk.
pub const STATE: usize = 13;
/// Number of words of a target: position, velocity.
pub const TARGET: usize = 6;
/// Number of f64 of a force.
pub const FORCE: usize = 7;

/// Returns the number of words of a column of `n` u32.
pub const fn index_words(n: usize) -> usize {
    n.div_ceil(2)
}

/// Returns the number of words of an upload of `slots` corrected particles and `slots` targets.
#[must_use]
pub const fn upload_words(slots: usize) -> usize {
    2 * index_words(slots) + (STATE + TARGET) * slots
}
