//! The contract of external fields, and sums of them.

use crate::particles::Vec3;

/// Least number of targets that a thread gets: waking it costs as much as some hundred of them.
pub(crate) const SHARE: usize = 1024;

/// Gravitational field that particles feel and do not act on, in internal units (G = 1). The time `t` is that of the
/// [`Clock`](crate::time::Clock), so on the axis that the user sees, in internal units too.
///
/// Fields depend on place and time alone. A force that depends on the velocity (drag, the Coriolis force of a rotating
/// frame) is not one of these: the leapfrog would lose its order, and the jerk would need the acceleration by all
/// particles.
///
/// The same arguments must give the same bits on every machine: take `libm`, not the functions of the system, beyond
/// `sqrt`.
pub trait ExternalField: Send + Sync {
    /// Returns the acceleration at `pos`.
    fn acc(&self, pos: Vec3, t: f64) -> Vec3;

    /// Returns the time derivative of the acceleration along the path of a particle that passes `pos` with the velocity
    /// `vel`: (v · ∇) a + ∂a/∂t. The order of the Hermite scheme depends on it.
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3;

    /// Returns the potential per unit mass at `pos`: a = −∇φ. It goes into the energy, which is conserved where φ does
    /// not depend on the time, and bounds the first step of the Hermite scheme.
    fn pot(&self, pos: Vec3, t: f64) -> f64;
}

/// Least share of the whole acceleration by which a step is measured.
const MIN_SHARE: f64 = 1.0 / 256.0;

/// Returns the acceleration by which the next step of a particle is measured, of which `acc` is the whole acceleration
/// and `external` that by a field: the part by the other particles alone.
///
/// A field accelerates neighbours alike, so that its acceleration says nothing of the time scale of their motion about
/// each other; in the criterion it would make the steps longer, by the square root of its ratio to that of the pairs.
/// Where the pairs hardly act, as on a star far from all others, the part counts as at least 2⁻⁸ of the whole: at a
/// turning point, where the jerk of the field vanishes, a smaller one would let the steps shrink without end. Where they
/// do not act at all, it is the whole.
#[inline]
#[must_use]
pub fn for_step(acc: Vec3, external: Vec3) -> Vec3 {
    let pairs = acc - external;
    let min = acc * MIN_SHARE;
    if pairs == Vec3::zeros() {
        acc
    } else if pairs.norm_squared() < min.norm_squared() {
        min
    } else {
        pairs
    }
}

/// Sum of several fields, added in their order.
pub struct FieldSum(pub Vec<Box<dyn ExternalField>>);

impl ExternalField for FieldSum {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.0.iter().fold(Vec3::zeros(), |sum, field| sum + field.acc(pos, t))
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.0.iter().fold(Vec3::zeros(), |sum, field| sum + field.jerk(pos, vel, t))
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.0.iter().fold(0.0, |sum, field| sum + field.pot(pos, t))
    }
}
