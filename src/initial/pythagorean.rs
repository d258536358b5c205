//! The Pythagorean three-body problem.

use tisane_force::particles::{Particles, Vec3};

/// Returns masses 3, 4, 5 at rest at the corners of the 3-4-5 triangle, each opposite the side of its own length
/// (Burrau 1913, Astron. Nachr. 195, 113; Szebehely & Peters 1967, AJ 72, 876). G = 1; centre of mass at the origin;
/// energy −769/60.
#[must_use]
pub fn triangle() -> Particles {
    let pos = [[1.0, 3.0, 0.0], [-2.0, -1.0, 0.0], [1.0, -1.0, 0.0]].map(Vec3::from).to_vec();
    Particles::new(vec![3.0, 4.0, 5.0], pos, vec![Vec3::zeros(); 3])
}
