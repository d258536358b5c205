//! Reference state of a system, by which the errors of its energy and its angular momentum are measured.
//!
//! An error is the change of a conserved quantity since the reference state, divided by a scale. One rule gives the scale:
//! the magnitude of the quantity in the system's own frame, where it is well above the rounding of its terms; else the sum of
//! the magnitudes of its terms, which is T + |U|, or Σ m r v. A system that moves as a whole is measured in a frame
//! that moves with it, and a system in an external field by its internal energy: the energy of its orbit would hide an error
//! of the whole system.

use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::force::Field;
use tisane_force::particles::{Particles, Vec3};

/// Share of the sum of the magnitudes of its terms below which a quantity is no scale for its own error: it is the rest of
/// terms that cancel, as the energy of a parabolic orbit, and has the digits of the input at most.
const CANCELLED: f64 = 1e-6;
/// Share of the kinetic energy, or of the moment of inertia, below which the motion or the place of the whole counts as zero.
const AT_REST: f64 = 1e-9;
/// Share of the kinetic energy in the coordinates below which that about the mean velocity is the rounding of that mean.
const ROUNDING: f64 = 1e-28;

/// Share of the energies of all below which the energy without that inside of binaries is rounding.
const NOTHING_LEFT: f64 = 1e-13;

/// What the error of the energy is relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// Total energy.
    #[default]
    Total,
    /// Internal energy: kinetic energy in the own frame, and potential energy of the pairs.
    Internal,
    /// Sum of kinetic and potential energy, both positive, in the own frame, where the energy is the rest of terms that cancel.
    Terms,
    /// Energies of the massless bodies in the field of the others, each with unit mass; for no other energy changes.
    Massless,
    /// Nothing: no energy is measured.
    NotMeasured,
}

impl Basis {
    /// All kinds, in the order of their numbers in files.
    pub const ALL: [Self; 5] = [Self::Total, Self::Internal, Self::Terms, Self::Massless, Self::NotMeasured];

    /// Returns the name, as it follows "relative to".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "total energy",
            Self::Internal => "internal energy",
            Self::Terms => "sum of kinetic and |potential| energy",
            Self::Massless => "energies of the massless bodies",
            Self::NotMeasured => "not measured",
        }
    }
}

/// Energy of a system in its own frame: that of its mean velocity, without an external field. In internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InternalEnergy {
    /// Mean velocity, by mass; zero where the mass is zero.
    pub velocity: Vec3,
    /// ½ Σ m |v − V|², with the mean velocity V.
    pub kinetic: f64,
    /// ½ Σ m φ by the potential of the pairs.
    pub potential: f64,
}

impl InternalEnergy {
    /// Computes the sums; `pot` is the potential of the pairs, one entry a particle.
    #[must_use]
    pub fn new(p: &Particles, pot: &[f64]) -> Self {
        let mass = sum(p.mass.iter().copied());
        let momentum = sum3(p.mass.iter().zip(&p.vel).map(|(m, v)| *m * v));
        let velocity = if mass == 0.0 { Vec3::zeros() } else { momentum / mass };
        let about = |of: Vec3| 0.5 * sum(p.mass.iter().zip(&p.vel).map(|(m, v)| m * (v - of).norm_squared()));
        let kinetic = Some(about(velocity)).filter(|kinetic| *kinetic > ROUNDING * about(Vec3::zeros())).unwrap_or(0.0);
        Self { velocity, kinetic, potential: 0.5 * sum(p.mass.iter().zip(pot).map(|(m, phi)| m * phi)) }
    }

    /// Returns the energy.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Returns the scale of an energy error, with its kind: this energy, or T + |U| where this is the rest of terms that
    /// cancel. It is zero where nothing moves.
    #[must_use]
    pub fn scale(&self) -> (f64, Basis) {
        let terms = self.kinetic + self.potential.abs();
        match well_above_rounding(self.energy(), terms) {
            true => (self.energy().abs(), Basis::Internal),
            false => (terms, Basis::Terms),
        }
    }

    /// Returns what remains without the energy `inside` of some parts, as binaries, whose centres have the kinetic energy
    /// `kinetic` together with all other bodies. [`None`] if that is within the rounding of what is taken away.
    #[must_use]
    pub fn without(&self, inside: f64, kinetic: f64) -> Option<Self> {
        let rest = Self { kinetic, potential: self.energy() - inside - kinetic, ..*self };
        let terms = self.kinetic + self.potential.abs();
        (rest.kinetic + rest.potential.abs() > NOTHING_LEFT * terms).then_some(rest)
    }
}

/// Returns true if a sum is well above the rounding of its terms, whose magnitudes add up to `terms`.
fn well_above_rounding(value: f64, terms: f64) -> bool {
    value != 0.0 && value.abs() >= CANCELLED * terms
}

/// Sums of some bodies that have left the system, about the origin of the coordinates and in their frame, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    /// Energy that left with them.
    pub energy: f64,
    /// Σ m v.
    pub momentum: Vec3,
    /// Σ m x × v.
    pub angular_momentum: Vec3,
    /// Σ m.
    pub mass: f64,
    /// Σ m x, moved back to the time of the reference state with the velocities.
    pub moment: Vec3,
}

/// Reference state of a system, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reference {
    /// What energy errors are relative to.
    pub basis: Basis,
    /// Number of the bodies whose energies are measured, where those are the massless ones; else 0.
    pub massless: u64,
    /// Velocity of the frame: the mean velocity; zero for a system at rest, and in an external field, which is at rest.
    pub velocity: Vec3,
    /// Origin of the frame at the time of the reference state: the centre of mass, or the origin of the coordinates.
    pub centre: Vec3,
    /// Energy in this frame.
    pub energy: f64,
    /// Scale of errors of the energy, positive.
    pub energy_scale: f64,
    /// Angular momentum in this frame.
    pub angular_momentum: Vec3,
    /// Scale of errors of the angular momentum, positive.
    pub angular_momentum_scale: f64,
}

impl Reference {
    /// Takes the present state of a system, at whose places `field` was measured, as the reference.
    #[must_use]
    pub fn new(p: &Particles, field: &Field) -> Self {
        let internal = InternalEnergy::new(p, &field.pot);
        let mut reference = Self::frame(p, field, &internal);
        let (scale, basis) = internal.scale();
        let in_coordinates = reference.velocity == Vec3::zeros() && field.external.is_empty();
        reference.basis = if in_coordinates && basis == Basis::Internal { Basis::Total } else { basis };
        reference.energy_scale = scale;
        if scale == 0.0 {
            reference.without_internal_motion(p, field);
        }
        if reference.basis != Basis::NotMeasured {
            reference.energy = reference.energy_of(p, field);
        }
        reference.angular_momentum = reference.angular_momentum_of(p, 0.0);
        let terms = reference.angular_momentum_terms(p);
        let whole = reference.angular_momentum.norm();
        reference.angular_momentum_scale = match well_above_rounding(whole, terms) {
            true => whole,
            false => positive(terms),
        };
        reference
    }

    /// Returns the reference of a run that was begun by a version that measured errors in the coordinates, relative to the
    /// total energy and angular momentum.
    #[must_use]
    pub fn in_coordinates(energy: f64, angular_momentum: Vec3) -> Self {
        Self {
            energy,
            energy_scale: positive(energy.abs()),
            angular_momentum,
            angular_momentum_scale: positive(angular_momentum.norm()),
            ..Self::default()
        }
    }

    /// Returns a reference with the frame alone.
    fn frame(p: &Particles, field: &Field, internal: &InternalEnergy) -> Self {
        let (velocity, mass) = (internal.velocity, p.total_mass());
        if !field.external.is_empty() || mass == 0.0 {
            return Self::default();
        }
        let centre = sum3(p.mass.iter().zip(&p.pos).map(|(m, x)| *m * x)) / mass;
        let inertia = sum(p.mass.iter().zip(&p.pos).map(|(m, x)| m * (x - centre).norm_squared()));
        if 0.5 * mass * velocity.norm_squared() > AT_REST * internal.kinetic {
            Self { velocity, centre, ..Self::default() }
        } else if mass * centre.norm_squared() > AT_REST * inertia {
            Self { centre, ..Self::default() }
        } else {
            Self::default()
        }
    }

    /// Chooses basis and scale of a system without any internal energy: a single body with mass, or none.
    fn without_internal_motion(&mut self, p: &Particles, field: &Field) {
        let massive = p.mass.iter().filter(|m| **m != 0.0).count();
        let massless = (p.len() - massive) as u64;
        // A body at constant velocity, or a field at rest, conserves the energy of each massless body; both together do not.
        let conserved = massive == 0 || massive == 1 && field.external.is_empty();
        if massless > 0 && conserved {
            self.massless = massless;
        } else {
            (self.velocity, self.centre) = (Vec3::zeros(), Vec3::zeros());
        }
        let [kinetic, potential, external] = self.energies(p, field);
        let energy = kinetic + potential + external;
        let terms = kinetic + potential.abs() + external.abs();
        (self.energy_scale, self.basis) = match well_above_rounding(energy, terms) {
            true => (energy.abs(), Basis::Total),
            false => (terms, Basis::Terms),
        };
        if self.energy_scale == 0.0 {
            (self.energy_scale, self.basis) = (1.0, Basis::NotMeasured);
        } else if self.massless > 0 {
            self.basis = Basis::Massless;
        }
    }

    /// Returns kinetic energy, potential energy of the pairs, and potential energy in the external field, without the work of a
    /// moving origin, in the frame: of the masses, or of the massless bodies with unit mass, which do not act on each other.
    fn energies(&self, p: &Particles, field: &Field) -> [f64; 3] {
        let of_massless = self.massless > 0;
        let weight = |m: f64| if of_massless { f64::from(m == 0.0) } else { m };
        let weighted = |potential: &[f64]| sum(p.mass.iter().zip(potential).map(|(m, phi)| weight(*m) * phi));
        let kinetic = sum(p.mass.iter().zip(&p.vel).map(|(m, v)| weight(*m) * (v - self.velocity).norm_squared()));
        let pairs = weighted(&field.pot);
        let work = field.about.map_or(0.0, |about| if of_massless { about.work.massless } else { about.work.masses });
        [0.5 * kinetic, if of_massless { pairs } else { 0.5 * pairs }, weighted(&field.external) - work]
    }

    /// Returns the energy in the frame of this reference, of the kind that errors are measured by; NaN if it is not measured,
    /// or that of massless bodies after one of them has left.
    #[must_use]
    pub fn energy_of(&self, p: &Particles, field: &Field) -> f64 {
        let lost = self.massless > 0 && p.mass.iter().filter(|m| **m == 0.0).count() as u64 != self.massless;
        if lost || self.basis == Basis::NotMeasured {
            return f64::NAN;
        }
        let [kinetic, potential, external] = self.energies(p, field);
        kinetic + potential + external
    }

    /// Returns the number of massless bodies whose own energies are not in the error of the energy.
    #[must_use]
    pub fn massless_not_measured(&self, p: &Particles) -> u64 {
        if self.massless > 0 { 0 } else { p.mass.iter().filter(|m| **m == 0.0).count() as u64 }
    }

    /// Returns the angular momentum in the frame of this reference, a time `elapsed` after it.
    #[must_use]
    pub fn angular_momentum_of(&self, p: &Particles, elapsed: f64) -> Vec3 {
        let origin = self.centre + self.velocity * elapsed;
        let each = (0..p.len()).map(|i| p.mass[i] * (p.pos[i] - origin).cross(&(p.vel[i] - self.velocity)));
        sum3(each)
    }

    fn angular_momentum_terms(&self, p: &Particles) -> f64 {
        let each =
            (0..p.len()).map(|i| p.mass[i] * (p.pos[i] - self.centre).norm() * (p.vel[i] - self.velocity).norm());
        sum(each)
    }

    /// Returns the energy of `left` in the frame of this reference; 0 where the energies of massless bodies are measured.
    #[must_use]
    pub fn energy_of_left(&self, left: &Left) -> f64 {
        if self.massless > 0 {
            return 0.0;
        }
        left.energy - self.velocity.dot(&left.momentum) + 0.5 * left.mass * self.velocity.norm_squared()
    }

    /// Returns the angular momentum of `left` in the frame of this reference, which free motion does not change.
    #[must_use]
    pub fn angular_momentum_of_left(&self, left: &Left) -> Vec3 {
        left.angular_momentum - self.centre.cross(&left.momentum) - left.moment.cross(&self.velocity)
            + left.mass * self.centre.cross(&self.velocity)
    }

    /// Returns the relative error of an energy of this frame, signed; NaN if no energy is measured.
    #[must_use]
    pub fn energy_error(&self, energy: f64) -> f64 {
        (energy - self.energy) / self.energy_scale
    }

    /// Returns the relative error of an angular momentum of this frame.
    #[must_use]
    pub fn angular_momentum_error(&self, angular_momentum: Vec3) -> f64 {
        (angular_momentum - self.angular_momentum).norm() / self.angular_momentum_scale
    }
}

/// Returns a scale, or 1 where it is zero: the error is then absolute.
fn positive(scale: f64) -> f64 {
    if scale == 0.0 { 1.0 } else { scale }
}

#[cfg(test)]
mod tests;
