//! The figure-eight choreography of three equal masses.

use tisane_force::particles::{Particles, Vec3};

/// Returns three unit masses that follow each other along one figure-eight curve (Moore 1993, PRL 70, 3675; Chenciner &
/// Montgomery 2000, Ann. Math. 152, 881, with C. Simó's initial values). G = 1, centre of mass at rest at the origin,
/// angular momentum zero, energy −1.287 141 995 631 847, period 6.325 913 982 926 287.
///
/// The paper prints eight decimals; Fenucci (2022, arXiv:2201.01205, section 5) fourteen. The values here have all
/// digits of an f64: Newton's method on the choreography condition after a third of the period, in 30-digit Taylor
/// integration, reached a residual of 1e-27 and agrees with the fourteen digits.
#[must_use]
pub fn orbit() -> Particles {
    let (x, y) = (0.970_004_356_697_345_6, -0.243_087_531_535_832_9);
    let (vx, vy) = (-0.932_407_371_441_032_6, -0.864_731_460_921_019_7);
    let half = Vec3::new(-vx / 2.0, -vy / 2.0, 0.0);
    let pos = vec![Vec3::new(x, y, 0.0), Vec3::new(-x, -y, 0.0), Vec3::zeros()];
    Particles::new(vec![1.0; 3], pos, vec![half, half, Vec3::new(vx, vy, 0.0)])
}
