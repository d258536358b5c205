//! Bodies on Kepler orbits about a central body.

use super::kepler::Elements;
use super::scaling;
use tisane_force::particles::{Particles, Vec3};

/// Returns the central body, particle 0, and one body on each orbit about it, as if the others did not exist; the
/// centre of mass is at rest at the origin. Masses of the bodies may be zero. `g` is the gravitational constant.
///
/// # Panics
/// If the numbers of orbits and masses differ.
#[must_use]
pub fn orbits(central: f64, elements: &[Elements], masses: &[f64], g: f64) -> Particles {
    assert_eq!(elements.len(), masses.len(), "orbits and masses");
    let (mut mass, mut pos, mut vel) = (vec![central], vec![Vec3::zeros()], vec![Vec3::zeros()]);
    for (orbit, m) in elements.iter().zip(masses) {
        let (x, v) = orbit.relative_state(g * (central + m));
        mass.push(*m);
        pos.push(x);
        vel.push(v);
    }
    let mut system = Particles::new(mass, pos, vel);
    scaling::to_centre_of_mass(&mut system);
    system
}
