//! The pair force in plain scalars, and the predictor. Every engine repeats them operation by operation.
//!
//! Fused multiply-adds are written exactly where a vector unit or a GPU fuses them; everything else is a separately
//! rounded IEEE operation. This fixes the bits of a force on every machine. The pair is generic over the real type,
//! because precision modes compute it in f32 or f64; the predictor is always f64.

use crate::particles::Vec3;
use num_traits::Float;

/// Force of one source on a target: acceleration `m_s3 · r`, jerk `m_s3 · d`, potential `−m_s` (method.md, "The force
/// law"). The factors are kept apart, because the modes sum the products in different ways.
#[derive(Clone, Copy, Debug)]
pub struct Pair<R> {
    /// m / s.
    pub m_s: R,
    /// m / s³.
    pub m_s3: R,
    /// v − 3 (r·v) r / s².
    pub d: [R; 3],
}

/// Returns the force on a target of one source of mass `mass` at relative position `r = r_j − r_i` and relative
/// velocity `v = v_j − v_i`, with softening `eps2 = ε²`: the fundamental operation of the whole program.
#[inline(always)]
#[must_use]
pub fn pair<R: Float>(mass: R, r: [R; 3], v: [R; 3], eps2: R) -> Pair<R> {
    let ([x, y, z], [vx, vy, vz]) = (r, v);
    let minus_three = -(R::one() + R::one() + R::one());
    let Approach { s_inv2, m_s, m_s3 } = approach(mass, r, eps2);
    let rv = x.mul_add(vx, y.mul_add(vy, z * vz));
    let alpha = minus_three * (rv * s_inv2);
    Pair { m_s, m_s3, d: [alpha.mul_add(x, vx), alpha.mul_add(y, vy), alpha.mul_add(z, vz)] }
}

/// Returns the factor `m / s³` of the acceleration `m_s3 · r`, for schemes that need no jerk and potential, with the
/// bits of [`pair`]. The order of operations is `s² = fma(x, x, fma(y, y, fma(z, z, ε²)))`, `s⁻¹ = 1 / √s²`, `s⁻² = s⁻¹
/// · s⁻¹`, `(m · s⁻¹) · s⁻²`. The product is added to the target's sums like every other: in f64 `a_k = fma(m_s3, r_k,
/// a_k)`.
#[inline(always)]
#[must_use]
pub fn attraction<R: Float>(mass: R, r: [R; 3], eps2: R) -> R {
    approach(mass, r, eps2).m_s3
}

/// Common factors of acceleration, jerk and potential of a pair: s⁻², m / s and m / s³.
struct Approach<R> {
    s_inv2: R,
    m_s: R,
    m_s3: R,
}

/// Returns s² = r² + ε², as [`pair`] computes it.
#[inline(always)]
#[must_use]
pub fn softened_square<R: Float>([x, y, z]: [R; 3], eps2: R) -> R {
    x.mul_add(x, y.mul_add(y, z.mul_add(z, eps2)))
}

#[inline(always)]
fn approach<R: Float>(mass: R, r: [R; 3], eps2: R) -> Approach<R> {
    let s_inv = R::one() / softened_square(r, eps2).sqrt();
    let s_inv2 = s_inv * s_inv;
    let m_s = mass * s_inv;
    Approach { s_inv2, m_s, m_s3: m_s * s_inv2 }
}

/// Force on one target: a finished sum over all sources, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Force {
    /// Acceleration.
    pub acc: Vec3,
    /// Jerk, d acc / dt.
    pub jerk: Vec3,
    /// Potential per unit mass.
    pub pot: f64,
}

impl Force {
    /// Creates a force from the seven sums in the order acc, jerk, pot. Every −0 becomes +0: a vector lane that leaves
    /// a pair out adds an exact zero, which can only change the sign of a zero, and this removes the difference.
    #[inline(always)]
    #[must_use]
    pub fn from_sums(sums: [f64; 7]) -> Self {
        let [ax, ay, az, jx, jy, jz, pot] = sums.map(|x| x + 0.0);
        Self { acc: Vec3::new(ax, ay, az), jerk: Vec3::new(jx, jy, jz), pot }
    }
}

/// Returns an acceleration from its three sums, without a −0, as [`Force::from_sums`].
#[inline(always)]
#[must_use]
pub fn acceleration_from_sums(sums: [f64; 3]) -> Vec3 {
    Vec3::from(sums.map(|x| x + 0.0))
}

/// Returns one component of the predicted position and velocity after `dt` (Portegies Zwart et al. 2007, eqs 3 and 4,
/// in Horner form; nothing is fused).
#[inline(always)]
#[must_use]
pub fn predict_component(pos: f64, vel: f64, acc: f64, jerk: f64, dt: f64) -> (f64, f64) {
    const THIRD: f64 = 1.0 / 3.0;
    let half_dt = 0.5 * dt;
    let x = ((jerk * (dt * THIRD) + acc) * half_dt + vel) * dt + pos;
    let v = (jerk * half_dt + acc) * dt + vel;
    (x, v)
}

/// Returns what derivative `k` of the acceleration, from the second on, and those above it add, for the next one below: to
/// the jerk in the position and in the velocity at last. Horner's scheme, by its first two numbers 0, from above.
#[inline(always)]
#[must_use]
pub fn further((x, v): (f64, f64), k: usize, derivative: f64, dt: f64) -> (f64, f64) {
    // Derivative k over (k + 2)! in the position, and over (k + 1)! in the velocity.
    const INVERSE: [f64; 8] = [1.0, 1.0, 0.5, 1.0 / 3.0, 0.25, 0.2, 1.0 / 6.0, 1.0 / 7.0];
    ((x + derivative) * (dt * INVERSE[k + 2]), (v + derivative) * (dt * INVERSE[k + 1]))
}

/// Returns one component of the predicted position and velocity after `dt`, as [`predict_component`] does, where further
/// derivatives add to the jerk.
#[inline(always)]
#[must_use]
pub fn predict_component_with(
    (pos, vel): (f64, f64),
    (acc, jerk): (f64, f64),
    (x, v): (f64, f64),
    dt: f64,
) -> (f64, f64) {
    const THIRD: f64 = 1.0 / 3.0;
    let half = 0.5 * dt;
    ((((x + jerk) * (dt * THIRD) + acc) * half + vel) * dt + pos, ((v + jerk) * half + acc) * dt + vel)
}

/// Returns a component of what [`predict_with`] returns.
#[inline(always)]
#[must_use]
pub fn predict_component_by<const K: usize>(at: (f64, f64), by: (f64, f64), more: [f64; K], dt: f64) -> (f64, f64) {
    let added = (0..K).rev().fold((0.0, 0.0), |added, k| further(added, k + 2, more[k], dt));
    predict_component_with(at, by, added, dt)
}

/// Returns the predicted position and velocity after `dt`, with further derivatives of the acceleration, from the second on.
#[inline(always)]
#[must_use]
pub fn predict_with<const K: usize>(
    (pos, vel): (Vec3, Vec3),
    (acc, jerk): (Vec3, Vec3),
    more: [Vec3; K],
    dt: f64,
) -> (Vec3, Vec3) {
    let (mut x, mut v) = (Vec3::zeros(), Vec3::zeros());
    for c in 0..3 {
        (x[c], v[c]) = predict_component_by((pos[c], vel[c]), (acc[c], jerk[c]), more.map(|of| of[c]), dt);
    }
    (x, v)
}

/// Returns the predicted position and velocity after `dt`.
#[inline(always)]
#[must_use]
pub fn predict(pos: Vec3, vel: Vec3, acc: Vec3, jerk: Vec3, dt: f64) -> (Vec3, Vec3) {
    let (mut x, mut v) = (Vec3::zeros(), Vec3::zeros());
    for k in 0..3 {
        (x[k], v[k]) = predict_component(pos[k], vel[k], acc[k], jerk[k], dt);
    }
    (x, v)
}

/// Returns the predicted position and velocity of row `i` after `dt`, with as many further derivatives of the acceleration
/// as there are columns of them: none, two or four.
#[inline(always)]
#[must_use]
pub fn predict_by(
    (pos, vel): (Vec3, Vec3),
    (acc, jerk): (Vec3, Vec3),
    (more, i): (&[Vec<Vec3>], usize),
    dt: f64,
) -> (Vec3, Vec3) {
    match more {
        [a, b] => predict_with((pos, vel), (acc, jerk), [a[i], b[i]], dt),
        [a, b, c, d] => predict_with((pos, vel), (acc, jerk), [a[i], b[i], c[i], d[i]], dt),
        _ => predict(pos, vel, acc, jerk, dt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_by_hand() {
        let pair = pair(2.0, [3.0, 0.0, 4.0], [1.0, 2.0, 0.0], 0.0);
        // s = 5, m/s = 2/5, m/s³ = 2/125, r·v = 3
        assert!((pair.m_s - 0.4f64).abs() < 1e-16 && (pair.m_s3 - 2.0 / 125.0).abs() < 1e-16);
        for (got, want) in pair.d.into_iter().zip([1.0 - 9.0 * 3.0 / 25.0, 2.0, -9.0 * 4.0 / 25.0]) {
            assert!((got - want).abs() < 1e-15);
        }
    }

    #[test]
    fn the_jerk_is_the_derivative_of_the_acceleration() {
        let (r, v, h) = ([0.3, -0.8, 0.5], [0.2, 0.7, -0.4], 1e-4);
        let at = |t: f64| [0, 1, 2].map(|k| r[k] + v[k] * t);
        let acc = |t: f64, k: usize| pair(1.3, at(t), v, 0.01).m_s3 * at(t)[k];
        let here = pair(1.3, r, v, 0.01);
        for k in 0..3 {
            let difference = (acc(h, k) - acc(-h, k)) / (2.0 * h);
            assert!((here.m_s3 * here.d[k] - difference).abs() < 1e-6, "component {k}");
        }
    }

    #[test]
    fn prediction_is_the_taylor_series_and_exact_at_zero() {
        let (x, v) = predict_component(1.0, 2.0, 3.0, 4.0, 0.5);
        assert!((x - (1.0 + 1.0 + 0.375 + 4.0 * 0.125 / 6.0)).abs() < 1e-15);
        assert!((v - (2.0 + 1.5 + 0.5)).abs() < 1e-15);
        assert_eq!(predict_component(0.1, 0.2, 0.3, 0.4, 0.0), (0.1, 0.2));
    }

    #[test]
    fn further_derivatives_continue_the_taylor_series() {
        let (of, rates) = ((1.0, 2.0), (3.0, 4.0));
        let (of, rates, dt) = (pairs(of), pairs(rates), 0.5f64);
        let plain = predict(of.0, of.1, rates.0, rates.1, dt);
        assert_eq!(predict_with(of, rates, [], dt), plain);
        assert_eq!(predict_with(of, rates, [Vec3::zeros(); 4], dt), plain);
        let (x, v) = predict_with(of, rates, [5.0, 6.0, 7.0, 8.0].map(Vec3::repeat), dt);
        let term = |k: i32| dt.powi(k) / (1..=k).map(f64::from).product::<f64>();
        let (mut x0, mut v0) = (plain.0.x, plain.1.x);
        for (k, derivative) in (2..).zip([5.0, 6.0, 7.0, 8.0]) {
            x0 += derivative * term(k + 2);
            v0 += derivative * term(k + 1);
        }
        assert!((x.z - x0).abs() < 1e-14 && (v.y - v0).abs() < 1e-14, "{x} {x0} {v} {v0}");
    }

    fn pairs((a, b): (f64, f64)) -> (Vec3, Vec3) {
        (Vec3::repeat(a), Vec3::repeat(b))
    }
}
