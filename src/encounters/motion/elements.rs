//! Kepler elements of pairs, and sizes of motions.

use crate::few_body::Motion;
use std::f64::consts::TAU;
use tisane_force::particles::Vec3;

/// Kepler elements of a bound pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elements {
    /// Semi-major axis.
    pub axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Period.
    pub period: f64,
}

/// Returns the elements of a relative orbit with 2 μ/r − v² = `beta`; [`None`] if it is not bound.
pub fn elements(pos: Vec3, vel: Vec3, mu: f64, beta: f64) -> Option<Elements> {
    let axis = mu / beta;
    let period = TAU * axis / beta.sqrt();
    (beta > 0.0 && period.is_finite()).then(|| {
        let e2 = 1.0 - pos.cross(&vel).norm_squared() / (axis * mu);
        Elements { axis, eccentricity: e2.max(0.0).sqrt(), period }
    })
}

/// Returns the distance at pericentre.
pub fn pericentre(pos: Vec3, vel: Vec3, mu: f64) -> f64 {
    // h² / (μ (1 + e)), without the loss of digits of a (1 − e).
    let h = pos.cross(&vel);
    let e = (vel.cross(&h) / mu - pos / pos.norm()).norm();
    h.norm_squared() / (mu * (1.0 + e))
}

/// Returns the elements of two bound bodies.
pub fn pair_elements(motion: &Motion) -> Option<Elements> {
    let (_, beta) = motion.pair_constants()?;
    let (pos, vel) = motion.pair();
    elements(pos, vel, motion.total_mass(), beta)
}

/// Returns the distance at apocentre of two bound bodies.
pub fn apocentre(motion: &Motion) -> Option<f64> {
    pair_elements(motion).map(|pair| pair.axis * (1.0 + pair.eccentricity))
}

/// Returns the largest distance of two bodies.
pub fn extent(motion: &Motion) -> f64 {
    let n = motion.len();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    pairs.map(|(i, j)| motion.vectors(i, j).0.norm()).fold(0.0, f64::max)
}

/// Returns a pair with an energy added to its binding energy: its orbit changes in size alone.
pub fn bound_by(motion: &Motion, energy: f64) -> Motion {
    let mut changed = motion.clone();
    let ((pos, vel), constants) = (motion.pair(), motion.pair_constants());
    if let Some((reduced, beta)) = constants.filter(|(reduced, beta)| 0.5 * reduced * beta + energy > 0.0) {
        let beta_after = beta + 2.0 * energy / reduced;
        let scale = beta / beta_after;
        changed.set_pair_state(pos * scale, vel / scale.sqrt(), beta_after);
    }
    changed
}
