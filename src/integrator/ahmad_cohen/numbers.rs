//! Order of the scheme, and its numbers of neighbours.

/// Smallest number of neighbours that is wanted.
const MIN_NEIGHBOURS: f64 = 4.0;
/// Largest number of neighbours in a list, in units of the one that is wanted. Beyond, the list stays empty until the
/// radius has shrunk: as right, and not dearer than a list of most particles.
pub const MAX_LISTED: f64 = 4.0;

/// Order of the scheme, of both parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Hermite steps between two points, with P of first degree.
    Four,
    /// Hermite steps with an earlier point, with P of third degree.
    Six,
}

impl Order {
    /// Returns the numbers of earlier points and of derivatives that particles keep of each part.
    #[must_use]
    pub const fn history(self) -> [usize; 2] {
        match self {
            Self::Four => [0, 0],
            Self::Six => [1, 2],
        }
    }
}

/// Returns the default of the mean number of neighbours in a system of `n` particles, 0.75 √N: where the wall time on a
/// CPU is shortest. The number has hardly an influence on the error.
#[must_use]
pub fn neighbour_number(n: usize) -> f64 {
    0.75 * (n as f64).sqrt()
}

/// Returns the mean number of neighbours where the settings do not give it.
pub fn default_number(n: usize) -> f64 {
    neighbour_number(n).max(MIN_NEIGHBOURS)
}
