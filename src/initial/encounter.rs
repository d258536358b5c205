//! Orbit of two systems about each other.

use tisane_force::particles::Vec3;

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

/// Returns position and velocity of the second of two points relative to the first, in the x-y plane, on a hyperbola that
/// it came in on from infinity with the relative speed `velocity` and the impact parameter `impact`. It is on the +x axis
/// at the distance `separation`, approaching, and turns in the positive sense; `mu` = G (m₁ + m₂). From the energy v∞²/2
/// and the angular momentum b v∞ per reduced mass, which are exact however small b is, unlike an eccentricity near 1.
///
/// # Panics
/// Unless v∞ > 0, b ≥ 0 and the separation is on the orbit: at least its [`pericentre`].
#[must_use]
pub fn from_infinity(impact: f64, velocity: f64, separation: f64, mu: f64) -> (Vec3, Vec3) {
    let (b, v, d) = (impact, velocity, separation);
    assert!(v > 0.0 && b >= 0.0 && d > 0.0, "velocity {v}, impact parameter {b}, separation {d}");
    let across = b * v / d;
    let square = v * v + 2.0 * mu / d;
    let inwards = square - across * across;
    // At the pericentre rounding can give a negative number.
    assert!(inwards >= -1e-12 * square, "separation {d} is below the pericentre of impact parameter {b}");
    (Vec3::new(d, 0.0, 0.0), Vec3::new(-inwards.max(0.0).sqrt(), across, 0.0))
}

/// Returns the pericentre distance of the hyperbola of an impact parameter and a velocity at infinity, q = b² v² / (μ (1 +
/// e)) with e² = 1 + (b v²/μ)² (Binney & Tremaine 2008, section 3.1).
#[must_use]
pub fn pericentre(impact: f64, velocity: f64, mu: f64) -> f64 {
    let turn = impact * velocity * velocity / mu;
    impact * turn / (1.0 + (1.0 + turn * turn).sqrt())
}
