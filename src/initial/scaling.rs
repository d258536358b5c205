//! Exact scaling of a sampled system: centre of mass, virial ratio, energy, units.

use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::particles::{Particles, Vec3};

/// Moves the centre of mass to rest at the origin. Does nothing if the total mass is zero.
pub fn to_centre_of_mass(particles: &mut Particles) {
    let total = particles.total_mass();
    if total > 0.0 {
        remove_mean(&particles.mass, &mut particles.pos, total);
        remove_mean(&particles.mass, &mut particles.vel, total);
    }
}

/// Subtracts the mass-weighted mean from a column of vectors.
fn remove_mean(mass: &[f64], column: &mut [Vec3], total: f64) {
    let mean = sum3(mass.iter().zip(column.iter()).map(|(m, v)| v * *m)) / total;
    for v in column {
        *v -= mean;
    }
}

/// Scales positions and velocities so that T = Q |U| and T + U = `energy`, with Q = `virial_ratio` and T the kinetic
/// energy in the frame of the coordinates (so [`to_centre_of_mass`] has to be called before; scaling preserves it).
/// `potential_energy` is U of the current positions *without softening*, which alone scales as 1/length. Heggie &
/// Mathieu (1986) standard units are Q = ½, E = −¼: then U = −½ and T = ¼.
///
/// Returns false and leaves the particles unchanged if there is nothing to scale or no such scaling: U not negative (a
/// single particle, massless particles), a target that is not bound (`energy` ≥ 0, Q ≥ 1 or Q < 0), or all particles at
/// rest while Q > 0.
#[must_use = "false means that nothing was scaled"]
pub fn to_virial(particles: &mut Particles, potential_energy: f64, virial_ratio: f64, energy: f64) -> bool {
    let kinetic = kinetic_energy(particles);
    // E = T + U = (Q − 1) |U|
    let potential_target = energy / (1.0 - virial_ratio);
    let length = potential_energy / potential_target;
    let kinetic_target = -virial_ratio * potential_target;
    let velocity = if kinetic_target == 0.0 { 0.0 } else { (kinetic_target / kinetic).sqrt() };
    let bound = potential_energy < 0.0 && energy < 0.0 && (0.0..1.0).contains(&virial_ratio);
    let possible = bound && length.is_finite() && velocity.is_finite();
    if possible {
        rescale(particles, 1.0, length, velocity);
    }
    possible
}

/// Scales velocities alone so that T = Q |U| with Q = `virial_ratio`; `potential_energy` is U of the current positions.
///
/// Returns false and leaves the particles unchanged if there is no such scaling: U not negative, Q < 0, or all
/// particles at rest while Q > 0.
#[must_use = "false means that nothing was scaled"]
pub fn to_virial_ratio(particles: &mut Particles, potential_energy: f64, virial_ratio: f64) -> bool {
    let target = virial_ratio * potential_energy.abs();
    let velocity = if target == 0.0 { 0.0 } else { (target / kinetic_energy(particles)).sqrt() };
    let possible = potential_energy < 0.0 && virial_ratio >= 0.0 && velocity.is_finite();
    if possible {
        rescale(particles, 1.0, 1.0, velocity);
    }
    possible
}

/// Returns the kinetic energy ½ Σ m v², by a compensated sum.
pub(crate) fn kinetic_energy(particles: &Particles) -> f64 {
    let terms = particles.mass.iter().zip(&particles.vel);
    0.5 * sum(terms.map(|(m, v)| m * v.norm_squared()))
}

/// Multiplies masses, positions with radii, and velocities by one factor each, and relative states likewise.
pub fn rescale(particles: &mut Particles, mass: f64, length: f64, velocity: f64) {
    particles.mass.iter_mut().for_each(|m| *m *= mass);
    particles.pos.iter_mut().for_each(|x| *x *= length);
    particles.radius.iter_mut().for_each(|r| *r *= length);
    particles.vel.iter_mut().for_each(|v| *v *= velocity);
    particles.close.iter_mut().for_each(|close| close.rescale(length, velocity));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_scaled_is_left_alone() {
        let one = Particles::new(vec![1.0], vec![Vec3::new(1.0, 2.0, 3.0)], vec![Vec3::repeat(1.0)]);
        let resting = Particles::new(vec![1.0; 2], vec![Vec3::zeros(), Vec3::repeat(1.0)], vec![Vec3::zeros(); 2]);
        for (start, u, q, e) in [
            (&one, 0.0, 0.5, -0.25),
            (&resting, -0.5, 0.5, -0.25),
            (&resting, -0.5, 1.0, -0.25),
            (&resting, -0.5, 0.0, 0.25),
            (&resting, -0.5, f64::NAN, -0.25),
            (&resting, f64::NEG_INFINITY, 0.0, -0.25),
        ] {
            let mut p = start.clone();
            assert!(!to_virial(&mut p, u, q, e), "U {u} Q {q} E {e}");
            assert_eq!(&p, start);
        }
        let mut cold = resting.clone();
        assert!(to_virial(&mut cold, -1.0, 0.0, -0.25), "a cold start has no velocities to scale");
        assert_eq!(cold.pos[1], Vec3::repeat(4.0));
    }

    #[test]
    fn velocities_alone_reach_a_virial_ratio() {
        let pair =
            Particles::new(vec![1.0; 2], vec![Vec3::zeros(), 2.0 * Vec3::x()], vec![3.0 * Vec3::x(), Vec3::zeros()]);
        let mut p = pair.clone();
        assert!(to_virial_ratio(&mut p, -0.5, 0.25));
        assert_eq!(p.pos, pair.pos);
        assert!((kinetic_energy(&p) - 0.125).abs() < 1e-15, "{p:?}");
        let mut cold = pair.clone();
        assert!(to_virial_ratio(&mut cold, -0.5, 0.0));
        assert_eq!(cold.vel, [Vec3::zeros(); 2]);
        for (u, q) in [(0.0, 0.5), (-0.5, -1.0), (-0.5, f64::NAN), (f64::NAN, 0.5)] {
            let mut same = pair.clone();
            assert!(!to_virial_ratio(&mut same, u, q), "U {u} Q {q}");
            assert_eq!(same, pair);
        }
        cold.vel = vec![Vec3::zeros(); 2];
        assert!(!to_virial_ratio(&mut cold, -0.5, 0.5), "nothing moves");
    }

    #[test]
    fn massless_particles_have_no_centre() {
        let mut p = Particles::new(vec![0.0; 2], vec![Vec3::repeat(1.0); 2], vec![Vec3::repeat(1.0); 2]);
        let before = p.clone();
        to_centre_of_mass(&mut p);
        assert_eq!(p, before);
    }
}
