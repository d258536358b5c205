//! Corrector of the Hermite scheme.

use tisane_force::particles::Vec3;

/// Particle after the corrector: position, velocity, and the scaled derivatives `a⁽²⁾ dt²` and `a⁽³⁾ dt³` at the end of
/// the step, so that no power of a short step over- or underflows.
pub struct Corrected {
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
    /// `a⁽²⁾ dt²`.
    pub snap: Vec3,
    /// `a⁽³⁾ dt³`.
    pub crackle: Vec3,
}

/// Returns the additions to a predicted position, in units of dt², and velocity, in units of dt (Portegies Zwart et al.
/// 2007, eqs 5–8), and the scaled derivatives `a⁽²⁾ dt²` and `a⁽³⁾ dt³` at the beginning of the step. `old` and `new` are
/// (acc, jerk) at both ends of the step of length `dt`.
#[inline(always)]
pub fn brackets(dt: f64, old: (Vec3, Vec3), new: (Vec3, Vec3)) -> [Vec3; 4] {
    let difference = old.0 - new.0;
    let a2 = -6.0 * difference - dt * (4.0 * old.1 + 2.0 * new.1);
    let a3 = 12.0 * difference + 6.0 * dt * (old.1 + new.1);
    [a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0), a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0), a2, a3]
}

/// Corrects a predicted position and velocity: [`brackets`] has the rest.
#[inline(always)]
pub fn correct(dt: f64, (pos, vel): (Vec3, Vec3), old: (Vec3, Vec3), new: (Vec3, Vec3)) -> Corrected {
    let [for_pos, for_vel, a2, a3] = brackets(dt, old, new);
    Corrected { pos: pos + for_pos * (dt * dt), vel: vel + for_vel * dt, snap: a2 + a3, crackle: a3 }
}
