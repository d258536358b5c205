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

/// Numbers of derivatives that a multi-point scheme keeps for each earlier point, and of columns of a point (`History` of
/// kernels/multipoint.cuh).
pub const DERIVATIVES: usize = 2;
/// See [`DERIVATIVES`].
pub const POINT_COLUMNS: usize = 7;

/// Number of columns of low parts of position and velocity (`LOW_COLUMNS` of the same file).
pub const LOW_COLUMNS: usize = 6;

/// Returns the number of columns of the history of a scheme with `points` earlier points.
#[must_use]
pub const fn columns_of(points: usize) -> usize {
    (3 * DERIVATIVES + POINT_COLUMNS) * points
}

/// Returns the same for a scheme that keeps so many derivatives, with room for low parts.
#[must_use]
pub const fn columns_of_derivatives(derivatives: usize) -> usize {
    columns_of(derivatives.div_ceil(DERIVATIVES)) + LOW_COLUMNS
}

/// Returns the number of words of a column of `n` u32.
pub const fn index_words(n: usize) -> usize {
    n.div_ceil(2)
}

/// Returns the number of words of an upload of `slots` corrected particles with further `derivatives`, and `slots` targets.
#[must_use]
pub const fn upload_words(slots: usize, derivatives: usize) -> usize {
    2 * index_words(slots) + (STATE + 3 * derivatives + TARGET) * slots
}
