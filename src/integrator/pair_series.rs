//! Force of one particle on another as a Taylor series, and forces that begin or end at a moment.

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

/// Mass that begins to attract all others at a moment, as if it always had; a negative one ends to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Row of its particle, on which it does not act.
    pub row: u32,
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

impl Source {
    /// Returns the source that takes a particle of a row out of the forces on others.
    pub fn without(p: &Particles, row: u32) -> Self {
        Self { mass: -p.mass[row as usize], ..Self::with(p, row) }
    }

    /// Returns the sources of a particle of a row that gets another mass, and a change of its velocity.
    pub fn of_change(p: &Particles, row: u32, mass: f64, kick: Vec3) -> Vec<Self> {
        let before = Self::with(p, row);
        if kick == Vec3::zeros() {
            return vec![Self { mass: mass - before.mass, ..before }];
        }
        vec![Self::without(p, row), Self { mass, vel: before.vel + kick, ..before }]
    }

    /// Returns the source that adds a particle of a row to the forces on others.
    pub fn with(p: &Particles, row: u32) -> Self {
        let i = row as usize;
        Self { row, mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] }
    }
}

/// Adds the forces of sources, softened by `eps2 = ε²`, to those on the particles that are `targets`; all stand at one moment.
/// `besides` adds the force of each pair to what else is known: it gets the particles, the target, the row of the source, the force,
/// and its series.
pub fn add_sources(
    p: &mut Particles,
    sources: &[Source],
    eps2: f64,
    targets: impl Fn(usize) -> bool,
    mut besides: impl FnMut(&mut Particles, usize, u32, &Force, &Series),
) {
    // As they were before: sources may be targets.
    let motion: Vec<(Vec3, Vec3)> =
        sources.iter().map(|source| (p.acc[source.row as usize], p.jerk[source.row as usize])).collect();
    for i in (0..p.len()).filter(|&i| targets(i)) {
        let (acc, jerk) = (p.acc[i], p.jerk[i]);
        for (source, (acc_of, jerk_of)) in sources.iter().zip(&motion).filter(|(source, _)| source.row as usize != i) {
            let (pos, vel) = (source.pos - p.pos[i], source.vel - p.vel[i]);
            let pair = gravity::pair(source.mass, pos.into(), vel.into(), eps2);
            let force = Force { acc: pos * pair.m_s3, jerk: Vec3::from(pair.d) * pair.m_s3, pot: -pair.m_s };
            p.acc[i] += force.acc;
            p.jerk[i] += force.jerk;
            p.pot[i] += force.pot;
            let relative = Relative { pos, vel, acc: acc_of - acc, jerk: jerk_of - jerk };
            besides(p, i, source.row, &force, &pair_series(source.mass, &relative, eps2));
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
