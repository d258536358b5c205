//! Encounter of a binary with a single star that comes from infinity: binary-single scattering.

use super::binaries::{self, Eccentricities};
use super::encounter;
use super::random::Uniform;
use super::scaling;
use tisane_force::particles::{Particles, Vec3};

/// Distribution of encounters, from which a seed draws one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encounters {
    /// Masses of the two stars of the binary, then of the single star.
    pub masses: [f64; 3],
    /// Semi-major axis of the binary.
    pub semi_major_axis: f64,
    /// Distribution of the binary's eccentricity.
    pub eccentricities: Eccentricities,
    /// Relative velocity at infinity, in units of the [critical velocity](Encounters::critical_velocity).
    pub velocity: f64,
    /// Largest impact parameter, in units of the semi-major axis.
    pub impact_parameter: f64,
    /// Relative tidal perturbation of the binary at the start, which gives the [distance of the start](tidal_radius).
    pub tidal_tolerance: f64,
}

/// Encounter as drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// The two stars of the binary, then the single star. Centre of mass at rest at the origin.
    pub particles: Particles,
    /// Impact parameter of the single star and the binary's centre of mass; unit: length.
    pub impact_parameter: f64,
    /// Relative velocity at infinity; unit: velocity.
    pub velocity: f64,
    /// Eccentricity of the binary.
    pub eccentricity: f64,
    /// Distance of the single star from the binary's centre of mass at the start; unit: length.
    pub separation: f64,
}

impl Encounters {
    /// Returns the critical velocity √(G m₁ m₂ (m₁ + m₂ + m₃) / (m₃ (m₁ + m₂) a)), for which the total energy of the
    /// three stars is zero: ionisation needs at least this (Hut & Bahcall 1983, ApJ 268, 319). Unit: velocity; `g` is the
    /// gravitational constant.
    #[must_use]
    pub fn critical_velocity(&self, g: f64) -> f64 {
        let [m1, m2, m3] = self.masses;
        let binary = m1 + m2;
        (g * m1 * m2 * (binary + m3) / (m3 * binary * self.semi_major_axis)).sqrt()
    }

    /// Draws the encounter of a seed: b² uniform up to its largest value, so that b is uniform in area, then eccentricity,
    /// orientation (isotropic) and mean anomaly (uniform) of the binary. The single star is on the +x side of the binary
    /// and moves in the x-y plane; it starts where the binary's tidal perturbation is `tidal_tolerance`, or at the pericentre
    /// of an orbit that stays outside, having moved there from infinity on a hyperbola. `g` is the gravitational constant.
    ///
    /// # Panics
    /// Unless masses, semi-major axis, velocity, impact parameter, tolerance and `g` are above 0 and finite, and a given
    /// eccentricity is from 0 to below 1.
    #[must_use]
    pub fn draw(&self, seed: u64, g: f64) -> Encounter {
        let ([m1, m2, m3], a) = (self.masses, self.semi_major_axis);
        let numbers = [m1, m2, m3, a, self.velocity, self.impact_parameter, self.tidal_tolerance, g];
        assert!(numbers.iter().all(|x| *x > 0.0 && x.is_finite()), "{self:?}, gravitational constant {g}");
        let mut random = Uniform::new(seed);
        // Zero, which would be a head-on orbit, is not among these deviates.
        let impact_parameter = self.impact_parameter * a * (1.0 - random.next()).sqrt();
        let orbit = binaries::orbit(a, self.eccentricities, &mut random);
        let (velocity, mu) = (self.velocity * self.critical_velocity(g), g * (m1 + m2 + m3));
        let unperturbed = tidal_radius([m1 + m2, m3], a, orbit.eccentricity, self.tidal_tolerance);
        let separation = unperturbed.max(encounter::pericentre(impact_parameter, velocity, mu));
        let (pos, vel) = encounter::from_infinity(impact_parameter, velocity, separation, mu);
        let [one, two] = binaries::members([m1, m2], &orbit, g, Vec3::zeros(), Vec3::zeros());
        let mut particles = Particles::new(vec![m1, m2, m3], vec![one.0, two.0, pos], vec![one.1, two.1, vel]);
        scaling::to_centre_of_mass(&mut particles);
        Encounter { particles, impact_parameter, velocity, eccentricity: orbit.eccentricity, separation }
    }
}

/// Returns the largest impact parameter, in semi-major axes, beyond which encounters do little to the binary: C/v + D with C
/// = 4 and D = 0.6 (1 + e), and the velocity in units of the critical one (Hut & Bahcall 1983). The first term is the
/// gravitational focusing. It has the same value for all members of an ensemble if `eccentricity` is the largest one.
#[must_use]
pub fn largest_impact_parameter(velocity: f64, eccentricity: f64) -> f64 {
    4.0 / velocity + 0.6 * (1.0 + eccentricity)
}

/// Returns the distance of a third body at which its tidal force on a binary at apocentre, relative to the force between
/// the binary's stars, is `tolerance`: r³ = 2 (M + m) / (M `tolerance`) · (a (1 + e))³ for the masses M of the binary and m of
/// the third body. With M + m in place of m the limit also holds for the binary's effect on a light third body (Fregeau et
/// al. 2004, MNRAS 352, 1, in the form of the Fewbody code's `sigma_binsingle`). Unit: that of the semi-major axis.
#[must_use]
pub fn tidal_radius([binary, third]: [f64; 2], semi_major_axis: f64, eccentricity: f64, tolerance: f64) -> f64 {
    let ratio = 2.0 * (binary + third) / (binary * tolerance);
    libm::cbrt(ratio) * semi_major_axis * (1.0 + eccentricity)
}
