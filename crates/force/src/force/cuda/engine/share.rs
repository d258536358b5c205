//! Share of an engine in forces in two parts.

use crate::force::cuda::forces::launch::Scalars;
use crate::force::neighbours::NeighbourTargets;
use std::ops::Range;

/// Share of an engine in forces in two parts: places of regular targets, and of targets with irregular forces, if these are the devices'.
#[derive(Clone)]
pub(super) struct Share {
    pub regular: Range<usize>,
    pub targets: Range<usize>,
}

impl Share {
    /// Returns that of one engine alone.
    pub fn all(task: &NeighbourTargets<'_>) -> Self {
        Self { regular: 0..task.regular.len(), targets: 0..task.targets.len() }
    }
}

/// Forces in two parts that were started.
#[derive(Default)]
pub(super) struct TwoParts {
    /// What they were launched with.
    pub scalars: Scalars,
    /// Flag that the irregular forces are among them.
    pub is_listed: bool,
}
