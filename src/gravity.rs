//! The pair formulas in plain scalar f64, and the predictor. Every engine mirrors these operation by operation.
//!
//! Fused multiply-adds ([`f64::mul_add`]) stand exactly where a vector unit or a GPU fuses them; everything else is a
//! separately rounded IEEE operation. That fixes the bits of a force on every machine.

use crate::particles::Vec3;

/// What one source, or a sum over sources, does to one target: the three columns of the method (method.md, "The force law").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// Acceleration.
    pub acc: Vec3,
    /// Jerk, d acc / dt.
    pub jerk: Vec3,
    /// Potential per unit mass.
    pub pot: f64,
}

impl Pull {
    /// Adds the pull of one source of mass `mass` at relative position `r = r_j − r_i` and relative velocity
    /// `v = v_j − v_i`, with softening `eps2 = ε²`: the fundamental operation of the whole program.
    #[inline(always)]
    pub fn add_pair(&mut self, mass: f64, r: Vec3, v: Vec3, eps2: f64) {
        let [x, y, z] = r;
        let [vx, vy, vz] = v;
        let s2 = x.mul_add(x, y.mul_add(y, z.mul_add(z, eps2)));
        let s_inv = 1.0 / s2.sqrt();
        let s_inv2 = s_inv * s_inv;
        let m_s = mass * s_inv;
        let m_s3 = m_s * s_inv2;
        let rv = x.mul_add(vx, y.mul_add(vy, z * vz));
        let alpha = -3.0 * (rv * s_inv2);
        for k in 0..3 {
            self.acc[k] = m_s3.mul_add(r[k], self.acc[k]);
            self.jerk[k] = m_s3.mul_add(alpha.mul_add(r[k], v[k]), self.jerk[k]);
        }
        self.pot -= m_s;
    }

    /// Sum of two partial sums, component by component: one node of the canonical tree.
    #[inline(always)]
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            acc: [0, 1, 2].map(|k| self.acc[k] + other.acc[k]),
            jerk: [0, 1, 2].map(|k| self.jerk[k] + other.jerk[k]),
            pot: self.pot + other.pot,
        }
    }

    /// The same with every −0 turned into +0. A vector lane that leaves a pair out adds an exact zero, which can only
    /// change the sign of a zero; this takes that difference out.
    #[inline(always)]
    #[must_use]
    pub fn canonical(&self) -> Self {
        self.plus(&Self::default())
    }
}

/// One component of the predicted position and velocity after `dt` (Portegies Zwart et al. 2007, eqs 3 and 4, in Horner
/// form; nothing is fused).
#[inline(always)]
#[must_use]
pub fn predict_component(pos: f64, vel: f64, acc: f64, jerk: f64, dt: f64) -> (f64, f64) {
    const THIRD: f64 = 1.0 / 3.0;
    let half_dt = 0.5 * dt;
    let x = ((jerk * (dt * THIRD) + acc) * half_dt + vel) * dt + pos;
    let v = (jerk * half_dt + acc) * dt + vel;
    (x, v)
}

/// Predicted position and velocity after `dt`.
#[inline(always)]
#[must_use]
pub fn predict(pos: Vec3, vel: Vec3, acc: Vec3, jerk: Vec3, dt: f64) -> (Vec3, Vec3) {
    let (mut x, mut v) = ([0.0; 3], [0.0; 3]);
    for k in 0..3 {
        (x[k], v[k]) = predict_component(pos[k], vel[k], acc[k], jerk[k], dt);
    }
    (x, v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_by_hand() {
        let mut pull = Pull::default();
        pull.add_pair(2.0, [3.0, 0.0, 4.0], [1.0, 2.0, 0.0], 0.0);
        // s = 5, m/s³ = 2/125, r·v = 3
        assert!((pull.acc[0] - 6.0 / 125.0).abs() < 1e-16 && (pull.acc[2] - 8.0 / 125.0).abs() < 1e-16);
        let expect = [1.0 - 9.0 * 3.0 / 25.0, 2.0, -9.0 * 4.0 / 25.0].map(|t| 2.0 / 125.0 * t);
        for (got, want) in pull.jerk.into_iter().zip(expect) {
            assert!((got - want).abs() < 1e-16);
        }
        assert!((pull.pot + 0.4).abs() < 1e-16);
    }

    #[test]
    fn the_jerk_is_the_derivative_of_the_acceleration() {
        let (r, v, h) = ([0.3, -0.8, 0.5], [0.2, 0.7, -0.4], 1e-4);
        let acc_at = |t: f64| {
            let mut pull = Pull::default();
            pull.add_pair(1.3, [0, 1, 2].map(|k| r[k] + v[k] * t), v, 0.01);
            pull
        };
        let (here, before, after) = (acc_at(0.0), acc_at(-h), acc_at(h));
        for k in 0..3 {
            let difference = (after.acc[k] - before.acc[k]) / (2.0 * h);
            assert!((here.jerk[k] - difference).abs() < 1e-6, "component {k}");
        }
    }

    #[test]
    fn prediction_is_the_taylor_series_and_exact_at_zero() {
        let (x, v) = predict_component(1.0, 2.0, 3.0, 4.0, 0.5);
        assert!((x - (1.0 + 1.0 + 0.375 + 4.0 * 0.125 / 6.0)).abs() < 1e-15);
        assert!((v - (2.0 + 1.5 + 0.5)).abs() < 1e-15);
        assert_eq!(predict_component(0.1, 0.2, 0.3, 0.4, 0.0), (0.1, 0.2));
    }
}
