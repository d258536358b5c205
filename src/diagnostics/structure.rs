//! Size and time scales of a system.

use super::cluster::spheres::RadialOrder;
use std::f64::consts::PI;
use tisane_force::particles::{Particles, Vec3};

/// Returns the distance of each particle from `centre`.
#[must_use]
pub fn radii(p: &Particles, centre: Vec3) -> Vec<f64> {
    p.pos.iter().map(|x| (x - centre).norm()).collect()
}

/// Returns the Lagrangian radius: that of the smallest sphere about `centre` that holds at least the fraction
/// `fraction` of the mass; ½ gives the half-mass radius. NaN if the innermost particle alone exceeds the fraction, and
/// for no particles.
#[must_use]
pub fn lagrangian_radius(p: &Particles, centre: Vec3, fraction: f64) -> f64 {
    let radial = RadialOrder::new(&p.id, &p.pos, centre, 0..p.len() as u32);
    let [held] = radial.spheres(&p.mass, [fraction]);
    radial.radius_enclosing(held)
}

/// Returns the median distance of the particles from `centre`, unweighted: a typical length even if one mass dominates.
#[must_use]
pub fn median_radius(p: &Particles, centre: Vec3) -> f64 {
    let mut radii = radii(p, centre);
    radii.sort_unstable_by(f64::total_cmp);
    radii.get(radii.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the virial radius, `G M² / (2 |U|)` with G = 1.
#[must_use]
pub fn virial_radius(mass: f64, potential_energy: f64) -> f64 {
    mass * mass / (2.0 * potential_energy.abs())
}

/// Returns the crossing time, `G M^(5/2) / (2 |E|)^(3/2)` with G = 1: 2 √2 in N-body units (Heggie & Mathieu 1986).
#[must_use]
pub fn crossing_time(mass: f64, energy: f64) -> f64 {
    mass.powf(2.5) / (2.0 * energy.abs()).powf(1.5)
}

/// Returns the crossing time by kinetic and potential energy; that of virial equilibrium where their sum is above an eighth of the
/// potential energy: in a system that is hardly bound, or not at all, it says how far the system will expand. NaN without
/// potential energy.
#[must_use]
pub fn crossing_time_of(mass: f64, [kinetic, potential]: [f64; 2]) -> f64 {
    let energy = if kinetic + potential < 0.125 * potential { kinetic + potential } else { 0.5 * potential };
    if potential < 0.0 { crossing_time(mass, energy) } else { f64::NAN }
}

/// Returns the half-mass relaxation time, `0.138 sqrt(N r_h³ / (G m)) / ln(γ N)` with G = 1, mean mass m and γ = 0.11
/// (Spitzer 1987, eq. 2-63; Giersz & Heggie 1994 for γ). NaN for N < 10, where the Coulomb logarithm has no meaning.
#[must_use]
pub fn half_mass_relaxation_time(n: usize, mass: f64, half_mass_radius: f64) -> f64 {
    if n < 10 {
        return f64::NAN;
    }
    let n = n as f64;
    0.138 * n * (half_mass_radius.powi(3) / mass).sqrt() / (0.11 * n).ln()
}

/// Returns the mean separation inside the half-mass radius, `(4π/3 r_h³ / (N/2))^(1/3)`.
#[must_use]
pub fn mean_separation(n: usize, half_mass_radius: f64) -> f64 {
    (4.0 / 3.0 * PI * half_mass_radius.powi(3) / (0.5 * n as f64)).cbrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_mass_of_a_row_of_particles() {
        let p = Particles::new(
            vec![1.0, 1.0, 1.0, 5.0],
            [1.0, 2.0, 3.0, 4.0].map(|x| x * Vec3::x()).to_vec(),
            vec![Vec3::zeros(); 4],
        );
        assert_eq!(lagrangian_radius(&p, Vec3::zeros(), 0.5), 4.0);
        assert_eq!(lagrangian_radius(&p, Vec3::zeros(), 0.25), 2.0);
        assert_eq!(median_radius(&p, Vec3::zeros()), 3.0);
    }

    #[test]
    fn henon_units_have_the_known_scales() {
        assert_eq!(virial_radius(1.0, -0.5), 1.0);
        assert!((crossing_time(1.0, -0.25) - 8f64.sqrt()).abs() < 1e-12);
        // The same where it is hardly bound, and not at all.
        for kinetic in [0.25, 0.45, 0.5, 0.7] {
            assert!((crossing_time_of(1.0, [kinetic, -0.5]) - 8f64.sqrt()).abs() < 1e-12);
        }
        assert!(crossing_time_of(1.0, [0.4, -0.5]) > 10.0 && crossing_time_of(1.0, [0.5, 0.0]).is_nan());
        // N = 1000, r_h = 0.77: about 20 time units.
        let t = half_mass_relaxation_time(1000, 1.0, 0.77);
        assert!((15.0..25.0).contains(&t), "{t}");
    }
}
