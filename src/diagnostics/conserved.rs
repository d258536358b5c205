//! Quantities that an isolated system conserves; in a constant external field, the energy alone is; about an origin that moves in a
//! field, the energy without the work that this does.

use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::force::Field;
use tisane_force::particles::{Particles, Vec3};

/// Energy, momentum, angular momentum and centre of mass, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conserved {
    /// ½ Σ m v².
    pub kinetic: f64,
    /// ½ Σ m φ, softened as the forces are.
    pub potential: f64,
    /// Σ m φₑₓₜ, the potential energy in an external field, which counts whole; 0 without one.
    pub external: f64,
    /// Work that a moving origin of coordinates has done so far; 0 without one.
    pub work: f64,
    /// Σ m v.
    pub momentum: Vec3,
    /// Σ m x × v, about the origin.
    pub angular_momentum: Vec3,
    /// Σ m x / Σ m; zero where the mass is zero.
    pub centre_of_mass: Vec3,
    /// Σ m.
    pub mass: f64,
}

impl Conserved {
    /// Computes the sums over all particles at their positions, with the field measured there.
    #[must_use]
    pub fn in_field(p: &Particles, field: &Field) -> Self {
        let external = sum(p.mass.iter().zip(&field.external).map(|(m, phi)| m * phi));
        let work = field.about.map_or(0.0, |about| about.work.masses);
        Self { external, work, ..Self::from_particles(p, &field.pot) }
    }

    /// Computes the sums over all particles at their positions; `pot` is the potential of the pairs there, one entry a
    /// particle.
    #[must_use]
    pub fn from_particles(p: &Particles, pot: &[f64]) -> Self {
        let each = || (0..p.len()).map(|i| (p.mass[i], p.pos[i], p.vel[i]));
        let mass = sum(p.mass.iter().copied());
        let moment = sum3(each().map(|(m, x, _)| m * x));
        Self {
            kinetic: 0.5 * sum(each().map(|(m, _, v)| m * v.norm_squared())),
            potential: 0.5 * sum(p.mass.iter().zip(pot).map(|(m, phi)| m * phi)),
            external: 0.0,
            work: 0.0,
            momentum: sum3(each().map(|(m, _, v)| m * v)),
            angular_momentum: sum3(each().map(|(m, x, v)| m * x.cross(&v))),
            centre_of_mass: if mass == 0.0 { Vec3::zeros() } else { moment / mass },
            mass,
        }
    }

    /// Returns the total energy, without the work of a moving origin.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential + self.external - self.work
    }

    /// Returns the virial ratio T / |U| by the potential energy of the pairs: ½ in equilibrium without an external
    /// field, infinite or NaN without potential energy.
    #[must_use]
    pub fn virial_ratio(&self) -> f64 {
        self.kinetic / self.potential.abs()
    }
}

/// Returns `(value − reference) / |reference|`, or the plain difference where the reference is zero.
#[must_use]
pub fn relative(value: f64, reference: f64) -> f64 {
    (value - reference) / nonzero(reference.abs())
}

/// Returns the value, or 1 where it is zero, for use as the divisor of a relative error.
#[must_use]
pub fn nonzero(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_by_hand() {
        let p = Particles::new(vec![1.0, 3.0], vec![3.0 * Vec3::x(), -Vec3::x()], vec![3.0 * Vec3::y(), -Vec3::y()]);
        let c = Conserved::from_particles(&p, &[-0.75, -0.25]);
        assert_eq!((c.kinetic, c.potential, c.mass), (6.0, -0.75, 4.0));
        assert_eq!((c.momentum, c.centre_of_mass), (Vec3::zeros(), Vec3::zeros()));
        assert_eq!(c.angular_momentum, 12.0 * Vec3::z());
        assert_eq!((c.energy(), c.virial_ratio()), (5.25, 8.0));
    }

    #[test]
    fn an_external_potential_counts_whole() {
        let p = Particles::new(vec![1.0, 3.0], vec![Vec3::x(), -Vec3::x()], vec![Vec3::y(), -Vec3::y()]);
        let field = Field { pot: vec![-1.5, -0.5], external: vec![-2.0, -4.0], ..Field::default() };
        let (c, alone) = (Conserved::in_field(&p, &field), Conserved::from_particles(&p, &field.pot));
        assert_eq!((c.potential, c.external, c.energy()), (-1.5, -14.0, 2.0 - 1.5 - 14.0));
        assert_eq!(Conserved::in_field(&p, &Field { external: vec![], ..field }), alone);
        assert_eq!((alone.external, alone.energy()), (0.0, 0.5));
    }

    #[test]
    fn relative_to_zero_is_absolute() {
        assert_eq!(relative(-0.3, -0.25), (-0.3 + 0.25) / 0.25);
        assert_eq!(relative(1e-9, 0.0), 1e-9);
    }
}
