//! Forces at any points of space: what a program asks for that uses an engine without an integrator.

use super::engine::ForceEngine;
use super::forces::Forces;
use crate::error::{Error, Result};
use crate::law::Law;
use crate::particles::Vec3;
use crate::time::Time;

/// Entry of [`Points::exclude`] of a point that feels all sources.
pub const NO_SOURCE: u32 = u32::MAX;

/// Points at which forces are evaluated, in columns. Unlike [`Targets`](super::targets::Targets) they need not be particles, may
/// be in any order and come several times, and do not move the sources.
#[derive(Clone, Copy, Debug, Default)]
pub struct Points<'a> {
    /// Index of the source that each point does not feel, which is the particle itself, or [`NO_SOURCE`].
    pub exclude: &'a [u32],
    /// Position of each point.
    pub pos: &'a [Vec3],
    /// Velocity of each point.
    pub vel: &'a [Vec3],
}

impl Points<'_> {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pos.len()
    }

    /// Returns true if there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pos.is_empty()
    }

    /// Checks that the columns have one length.
    ///
    /// # Errors
    /// [`Error::Integration`] with the lengths if they do not.
    pub fn check(&self) -> Result<()> {
        let lengths = [self.exclude.len(), self.pos.len(), self.vel.len()];
        if lengths == [self.len(); 3] {
            return Ok(());
        }
        Err(Error::Integration { problem: format!("columns of points with the lengths {lengths:?}"), help: None })
    }

    /// Checks that a law can be evaluated at the points, some of which may be no particles.
    ///
    /// # Errors
    /// [`Error::Integration`] if the law reads the target where there is none.
    pub(super) fn check_for(&self, law: &Law) -> Result<()> {
        if law.program().reads_target() && self.exclude.contains(&NO_SOURCE) {
            let problem = "the law reads the mass or a column of the target, which a point without a particle has not";
            return Err(Error::Integration { problem: problem.into(), help: None });
        }
        Ok(())
    }
}

/// Engine that also evaluates forces at points which are not its particles.
pub trait FieldEngine: ForceEngine {
    /// Evaluates the forces at `points` at the moment `now`, with every source predicted to `now`. A source that a point
    /// excludes is left out of its sums exactly. `out` is resized to the points, in their order.
    ///
    /// For points that are the particles of a block, at their predicted positions, the forces have the bits of
    /// [`ForceEngine::evaluate`] as long as engine and caller predict alike.
    ///
    /// # Errors
    /// If the columns differ in length or the engine fails.
    fn evaluate_at(&mut self, now: Time, points: Points<'_>, out: &mut Forces) -> Result<()>;

    /// Sets the square of the Plummer softening of all evaluations that follow (internal units).
    fn set_softening(&mut self, eps2: f64);
}
