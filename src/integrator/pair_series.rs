//! Force of one particle on another as a Taylor series, and what of it goes with particles that end.

use tisane_force::gravity::{self, Force};
use tisane_force::particles::{Particles, Vec3};

/// Acceleration and its first three derivatives.
pub type Series = [Vec3; 4];

/// Relative state of a pair: position, velocity, acceleration and jerk of the source less those of the target.
pub struct Relative {
    pub pos: Vec3,
    pub vel: Vec3,
    pub acc: Vec3,
    pub jerk: Vec3,
}

/// Returns the acceleration of a target by a source of mass `mass`, softened by `eps2 = ε²`, and its first three
/// derivatives (Aarseth 2003, Gravitational N-Body Simulations, eqs 2.3 and 2.4).
pub fn pair_series(mass: f64, at: &Relative, eps2: f64) -> Series {
    let Relative { pos: r, vel: v, acc: a, jerk: j } = at;
    let s2 = r.norm_squared() + eps2;
    let m_s3 = mass / (s2 * s2.sqrt());
    let alpha = r.dot(v) / s2;
    let beta = (v.norm_squared() + r.dot(a)) / s2 + alpha * alpha;
    let gamma = (3.0 * v.dot(a) + r.dot(j)) / s2 + alpha * (3.0 * beta - 4.0 * alpha * alpha);
    let f0 = r * m_s3;
    let f1 = v * m_s3 - f0 * (3.0 * alpha);
    let f2 = a * m_s3 - f1 * (6.0 * alpha) - f0 * (3.0 * beta);
    let f3 = j * m_s3 - f2 * (9.0 * alpha) - f1 * (9.0 * beta) - f0 * (3.0 * gamma);
    [f0, f1, f2, f3]
}

/// Returns the acceleration and the jerk a time `tau` before the moment of these derivatives.
pub fn before(series: &Series, tau: f64) -> (Vec3, Vec3) {
    let [f0, f1, f2, f3] = series;
    (f0 - (f1 - (f2 * 0.5 - f3 * (tau / 6.0)) * tau) * tau, f1 - (f2 - f3 * (0.5 * tau)) * tau)
}

/// Takes the forces of particles that end, without softening, out of those on all others, which stand at one moment. `besides`
/// takes the force of each pair out of what else is known: it gets the particles, the target, the source, the force, and its
/// series.
pub fn take_out(p: &mut Particles, gone: &[u32], mut besides: impl FnMut(&mut Particles, usize, u32, &Force, &Series)) {
    let mut stays = vec![true; p.len()];
    gone.iter().for_each(|&j| stays[j as usize] = false);
    for i in (0..p.len()).filter(|&i| stays[i]) {
        let (acc, jerk) = (p.acc[i], p.jerk[i]);
        for &source in gone {
            let j = source as usize;
            let (pos, vel) = (p.pos[j] - p.pos[i], p.vel[j] - p.vel[i]);
            let pair = gravity::pair(p.mass[j], pos.into(), vel.into(), 0.0);
            let force = Force { acc: pos * pair.m_s3, jerk: Vec3::from(pair.d) * pair.m_s3, pot: -pair.m_s };
            p.acc[i] -= force.acc;
            p.jerk[i] -= force.jerk;
            p.pot[i] -= force.pot;
            let relative = Relative { pos, vel, acc: p.acc[j] - acc, jerk: p.jerk[j] - jerk };
            besides(p, i, source, &force, &pair_series(p.mass[j], &relative, 0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a path with given derivatives: differences of each derivative are the next one.
    #[test]
    fn verify_pair_series() {
        let path = [
            Vec3::new(0.3, -0.5, 0.2),
            Vec3::new(0.7, 0.1, -0.4),
            Vec3::new(-0.2, 0.9, 0.3),
            Vec3::new(0.5, -0.3, 0.8),
        ];
        let at = |t: f64| {
            let [x, v, a, j] = path;
            let relative = Relative {
                pos: x + v * t + a * (t * t / 2.0) + j * (t * t * t / 6.0),
                vel: v + a * t + j * (t * t / 2.0),
                acc: a + j * t,
                jerk: j,
            };
            pair_series(1.7, &relative, 0.01)
        };
        let (h, here) = (1e-5, at(0.0));
        for k in 0..3 {
            let difference = (at(h)[k] - at(-h)[k]) / (2.0 * h);
            assert!((difference - here[k + 1]).norm() < 1e-7 * here[k + 1].norm(), "derivative {}", k + 1);
        }
        let ((acc, jerk), then) = (before(&here, 0.01), at(-0.01));
        assert!((acc - then[0]).norm() < 1e-6 * then[0].norm() && (jerk - then[1]).norm() < 1e-4 * then[1].norm());
    }
}
