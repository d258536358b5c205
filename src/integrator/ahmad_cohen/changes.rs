//! Pairs that entered or left a list: what the two parts of the force exchange.

use super::AhmadCohen;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

/// Derivatives 0 … 3 of the acceleration by the pairs that entered a list, less those of the pairs that left it.
pub type Exchange = [Vec3; 4];

/// Relative state of a pair: position, velocity, acceleration and jerk of the source less those of the target.
pub struct Relative {
    pub pos: Vec3,
    pub vel: Vec3,
    pub acc: Vec3,
    pub jerk: Vec3,
}

/// Returns the acceleration of a target by a source of mass `mass`, softened by `eps2 = ε²`, and its first three
/// derivatives (Aarseth 2003, Gravitational N-Body Simulations, eqs 2.3 and 2.4).
pub fn pair_derivatives(mass: f64, at: &Relative, eps2: f64) -> Exchange {
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
pub fn before(exchange: &Exchange, tau: f64) -> (Vec3, Vec3) {
    let [f0, f1, f2, f3] = exchange;
    (f0 - (f1 - (f2 * 0.5 - f3 * (tau / 6.0)) * tau) * tau, f1 - (f2 - f3 * (0.5 * tau)) * tau)
}

/// Returns the entries of an ascending list that are not in another: first those of `old`, then, with true, those of
/// `new`.
fn changed<'a>(old: &'a [u32], new: &'a [u32]) -> impl Iterator<Item = (u32, bool)> + 'a {
    let alone = |list: &'a [u32], other: &'a [u32]| {
        let mut rest = other;
        list.iter().copied().filter(move |&entry| {
            let below = rest.iter().take_while(|&&other| other < entry).count();
            rest = &rest[below..];
            rest.first() != Some(&entry)
        })
    };
    alone(old, new).map(|j| (j, false)).chain(alone(new, old).map(|j| (j, true)))
}

impl AhmadCohen {
    /// Returns the exchange of the target `k` of the block, whose new forces and list are those at `rank`. Reads
    /// positions and velocities as they stood before the block step, so the result does not depend on the order of
    /// correction.
    pub(super) fn exchange(&self, p: &Particles, now: Time, k: usize, rank: usize) -> Option<Exchange> {
        let i = self.block[k] as usize;
        let (old, new) = (&p.states.get::<Neighbours>().lists[i], &self.forces.lists[rank]);
        if old == new {
            return None;
        }
        let acc = self.forces.regular.acc[rank] + self.forces.renewed.acc[rank];
        let jerk = self.forces.regular.jerk[rank] + self.forces.renewed.jerk[rank];
        let mut sum = [Vec3::zeros(); 4];
        for (j, entered) in changed(old, new) {
            let j = j as usize;
            let dt = self.clock.between(p.time[j], now);
            let (pos, vel) = self.predicted(p, j, now, p.step[j] >= now.shallowest_level());
            let relative = Relative {
                pos: pos - self.targets.pos[k],
                vel: vel - self.targets.vel[k],
                acc: p.acc[j] + p.jerk[j] * dt - acc,
                jerk: p.jerk[j] - jerk,
            };
            let sign = if entered { 1.0 } else { -1.0 };
            let pair = pair_derivatives(sign * p.mass[j], &relative, self.forces.eps2);
            sum.iter_mut().zip(pair).for_each(|(sum, term)| *sum += term);
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differ_by_what_one_of_them_has() {
        for (old, new, expected) in [
            (&[1, 3, 5][..], &[1, 3, 5][..], &[][..]),
            (&[], &[2, 4], &[(2, true), (4, true)]),
            (&[2, 4], &[], &[(2, false), (4, false)]),
            (&[1, 2, 7, 9], &[2, 3, 9, 10], &[(1, false), (7, false), (3, true), (10, true)]),
        ] {
            assert_eq!(changed(old, new).collect::<Vec<_>>(), expected);
        }
    }

    /// On a path with given derivatives: differences of each derivative are the next one.
    #[test]
    fn verify_pair_derivatives() {
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
            pair_derivatives(1.7, &relative, 0.01)
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
