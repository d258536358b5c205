//! Rotation about the z axis.

use super::random::{Purpose, Uniform};
use super::scaling::kinetic_energy;
use tisane_force::compensated_sum::sum;
use tisane_force::particles::Particles;

/// Reverses the azimuthal velocity of the fraction `fraction` of the particles that move backwards (L_z < 0):
/// Lynden-Bell's demon (Lynden-Bell 1960, MNRAS 120, 204). Density and energies are unchanged, so that a spherical
/// equilibrium remains one. One random number for each particle.
pub fn flip(p: &mut Particles, fraction: f64, seed: u64) {
    let mut random = Uniform::for_purpose(seed, Purpose::Rotation);
    for (x, v) in p.pos.iter().zip(&mut p.vel) {
        let chosen = random.next() < fraction;
        let (turning, rho2) = (x.xy().perp(&v.xy()), x.xy().norm_squared());
        if chosen && turning < 0.0 {
            // v − 2 (v·e) e with e = (−y, x)/ρ.
            let twice = 2.0 * turning / rho2;
            v[0] += twice * x[1];
            v[1] -= twice * x[0];
        }
    }
}

/// Returns the moment of inertia about the z axis and the angular momentum along it.
fn about_axis(p: &Particles) -> (f64, f64) {
    let each = || p.mass.iter().zip(p.pos.iter().zip(&p.vel));
    let inertia = sum(each().map(|(m, (x, _))| m * x.xy().norm_squared()));
    let turning = sum(each().map(|(m, (x, v))| m * x.xy().perp(&v.xy())));
    (inertia, turning)
}

/// Returns the mean angular velocity L_z/I_z; NaN if all particles are on the axis.
#[must_use]
pub fn angular_velocity(p: &Particles) -> f64 {
    let (inertia, turning) = about_axis(p);
    turning / inertia
}

/// Adds a rigid rotation that has the fraction `share` of the kinetic energy, after removing the net rotation of the
/// sample. Does nothing if all particles are on the axis.
///
/// # Panics
/// Unless 0 ≤ `share` < 1.
pub fn solid_body(p: &mut Particles, share: f64) {
    assert!((0.0..1.0).contains(&share), "share {share}");
    let (inertia, turning) = about_axis(p);
    if inertia > 0.0 {
        turn(p, -turning / inertia);
        // Without net rotation the energies of the random motion and of the rotation add up.
        let omega = (2.0 * share / (1.0 - share) * kinetic_energy(p) / inertia).sqrt();
        turn(p, omega);
    }
}

/// Adds a rigid rotation with an angular velocity about the z axis.
fn turn(p: &mut Particles, omega: f64) {
    for (x, v) in p.pos.iter().zip(&mut p.vel) {
        v[0] -= omega * x[1];
        v[1] += omega * x[0];
    }
}
