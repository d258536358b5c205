//! Orbit of two systems about each other.

use crate::particles::Vec3;

/// Returns position and velocity of the second of two points relative to the first, in the x-y plane. It is on the +x
/// axis at the distance `separation`, approaching, and turns in the positive sense. The orbit has the pericentre
/// distance `pericentre` and the `eccentricity` of an ellipse, a parabola or a hyperbola; `mu` = G (m₁ + m₂). From v² =
/// μ (2/r − (1 − e)/q) and the angular momentum √(μ q (1 + e)) (Murray & Dermott 1999, eqs 2.17–2.20 and 2.34).
///
/// # Panics
/// Unless q > 0, e ≥ 0 and the separation is on the orbit.
#[must_use]
pub fn approach(pericentre: f64, eccentricity: f64, separation: f64, mu: f64) -> (Vec3, Vec3) {
    let (q, e, d) = (pericentre, eccentricity, separation);
    assert!(q > 0.0 && e >= 0.0 && d >= q, "pericentre {q}, eccentricity {e}, separation {d}");
    let across = (mu * q * (1.0 + e)).sqrt() / d;
    let square = mu * (2.0 / d - (1.0 - e) / q);
    // At either end of the orbit rounding can give a negative number.
    let inwards = (square - across * across).max(0.0).sqrt();
    (Vec3::new(d, 0.0, 0.0), Vec3::new(-inwards, across, 0.0))
}
