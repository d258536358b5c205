//! Acceleration by what is outside.

use tisane_force::particles::Vec3;

/// Acceleration of the bodies by others.
pub trait Tide: Sync {
    /// Stores in `acc` the accelerations of the bodies at `offsets` from their centre of mass, in the order in which the
    /// bodies were given, at `time` after the begin of the call of [`Motion::advance`](super::Motion::advance). A common acceleration does not count:
    /// the motion is that about the centre of mass.
    fn acc(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]);
}
