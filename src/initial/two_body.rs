//! Two bodies on an elliptic orbit.

use super::scaling;
use tisane_force::particles::{Particles, Vec3};

/// Returns a bound pair in the x-y plane turning from +x to +y, centre of mass at rest at the origin. The second body
/// is, relative to the first, at pericentre on the +x axis, or else at apocentre on the −x axis. The units are those of
/// the arguments, including the gravitational constant `g`. From the vis-viva equation (Murray & Dermott 1999, eqs
/// 2.34–2.35).
///
/// # Panics
/// Unless `m1`, `m2` ≥ 0, `m1 + m2` > 0, `semi_major_axis` > 0, 0 ≤ `eccentricity` < 1 and `g` > 0, all finite.
#[must_use]
pub fn orbit(m1: f64, m2: f64, semi_major_axis: f64, eccentricity: f64, at_pericentre: bool, g: f64) -> Particles {
    let (total, a, e) = (m1 + m2, semi_major_axis, eccentricity);
    assert!(m1 >= 0.0 && m2 >= 0.0 && total > 0.0 && total.is_finite(), "masses {m1}, {m2}");
    assert!(a > 0.0 && a.is_finite() && (0.0..1.0).contains(&e), "semi-major axis {a}, eccentricity {e}");
    assert!(g > 0.0 && g.is_finite(), "gravitational constant {g}");
    // At apocentre both signs change: e → −e exchanges the ends of the orbit.
    let (e, side) = if at_pericentre { (e, 1.0) } else { (-e, -1.0) };
    let x = side * a * (1.0 - e);
    let v = side * (g * total / a * (1.0 + e) / (1.0 - e)).sqrt();
    let (pos, vel) = (Vec3::new(x, 0.0, 0.0), Vec3::new(0.0, v, 0.0));
    let mut pair = Particles::new(vec![m1, m2], vec![Vec3::zeros(), pos], vec![Vec3::zeros(), vel]);
    scaling::to_centre_of_mass(&mut pair);
    pair
}
