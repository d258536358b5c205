//! Corrector of the Hermite scheme, and the arguments of its step criterion.

use crate::integrator::timestep::aarseth;
use crate::particles::Vec3;

/// Number of particles whose new steps are computed together, so that square roots and divisions use the vector unit.
pub(super) const LANES: usize = 16;

/// Particle after the corrector: position, velocity, and the scaled derivatives `a⁽²⁾ dt²` and `a⁽³⁾ dt³` at the end of
/// the step, so that no power of a short step over- or underflows.
pub(super) struct Corrected {
    pub pos: Vec3,
    pub vel: Vec3,
    pub snap: Vec3,
    pub crackle: Vec3,
}

/// Corrects a predicted position and velocity (Portegies Zwart et al. 2007, eqs 5–8). `old` and `new` are (acc, jerk)
/// at both ends of the step of length `dt`.
#[inline(always)]
pub(super) fn correct(dt: f64, (pos, vel): (Vec3, Vec3), old: (Vec3, Vec3), new: (Vec3, Vec3)) -> Corrected {
    let difference = old.0 - new.0;
    let a2 = -6.0 * difference - dt * (4.0 * old.1 + 2.0 * new.1);
    let a3 = 12.0 * difference + 6.0 * dt * (old.1 + new.1);
    Corrected {
        pos: pos + (a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0)) * (dt * dt),
        vel: vel + (a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0)) * dt,
        snap: a2 + a3,
        crackle: a3,
    }
}

/// Arguments of the step criterion for some particles, in columns: squares of norms.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes {
    dt: [f64; LANES],
    pub acc2: [f64; LANES],
    pub jerk2: [f64; LANES],
    snap2: [f64; LANES],
    crackle2: [f64; LANES],
}

impl Lanes {
    /// Stores the arguments of one particle. Only the part of the derivatives above the `noise` of the acceleration
    /// counts, which the corrector multiplies by 6 and by 12; otherwise the step would shrink to resolve rounding
    /// errors.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, dt: f64, noise: f64, [acc, jerk, snap, crackle]: [Vec3; 4]) {
        self.dt[lane] = dt;
        self.acc2[lane] = acc.dot(&acc);
        self.jerk2[lane] = jerk.dot(&jerk);
        self.snap2[lane] = snap.dot(&snap);
        self.crackle2[lane] = crackle.dot(&crackle);
        if noise > 0.0 {
            let noise2 = noise * noise;
            self.snap2[lane] = (self.snap2[lane] - 36.0 * noise2).max(0.0);
            self.crackle2[lane] = (self.crackle2[lane] - 144.0 * noise2).max(0.0);
        }
    }

    /// Computes the steps that the criterion gives. A function of its own, so that the compiler vectorises the loop.
    #[inline(never)]
    pub fn wanted(&self, nu: f64, wanted: &mut [f64; LANES]) {
        for (lane, wanted) in wanted.iter_mut().enumerate() {
            let (acc, jerk) = (self.acc2[lane].sqrt(), self.jerk2[lane].sqrt());
            let (snap, crackle) = (self.snap2[lane].sqrt(), self.crackle2[lane].sqrt());
            *wanted = aarseth(nu, self.dt[lane], acc, jerk, snap, crackle);
        }
    }
}
