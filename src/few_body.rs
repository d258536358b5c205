//! Few bodies without softening, through any encounter: a time-transformed leapfrog in chain coordinates with
//! extrapolation, a pair in regular coordinates, and the motion of two bodies in closed form.
//!
//! Three or more bodies: the logarithmic Hamiltonian (Mikkola & Tanikawa 1999, MNRAS 310, 745; Preto & Tremaine 1999, AJ 118,
//! 2532) has a fictitious time s in which a leapfrog follows a Kepler orbit exactly but for its phase, however eccentric:
//! with the kinetic energy T, U = Σ mᵢ mⱼ / rᵢⱼ and the binding energy B = U − T, positions move for dt = h/(T + B) and
//! velocities for dt = h/U. Two bodies: the harmonic oscillation of Kustaanheimo & Stiefel, exact without a tide, whose
//! leapfrog has the error of the tide alone. Extrapolation to h → 0 (Gragg, Bulirsch & Stoer; Deuflhard 1983, Numerische
//! Mathematik 41, 399) makes both as accurate as f64 allows. Only + − × ÷ and √ are used, in a fixed order: the same bits on
//! every machine.
//!
//! Each step moves positions and velocities to the binding energy, a variable: the error of the energy does not grow, and is no
//! measure of the accuracy of the orbits. T + B is U only to the rounding error of T, so that three bodies that pass each other
//! much faster than their mutual escape velocity lose digits, T/U of them: the tolerance of a step is then not asked for. The
//! fictitious time sees the pairs by the products of their masses: close passages of bodies of almost no mass are right, but
//! take several times as many evaluations as those of heavy ones.
//!
//! G = 1. [`FewBody`] is alone in space; a [`Motion`] may be under a [`Tide`].
//! ```
//! use tisane::few_body::FewBody;
//! use tisane::particles::Vec3;
//!
//! # fn main() -> tisane::Result<()> {
//! // Burrau's problem: three bodies at rest.
//! let pos = [[1.0, 3.0, 0.0], [-2.0, -1.0, 0.0], [1.0, -1.0, 0.0]].map(Vec3::from);
//! let mut bodies = FewBody::new(&[3.0, 4.0, 5.0], &pos, &[Vec3::zeros(); 3])?;
//! bodies.advance(70.0)?;
//! let error = bodies.present_binding_energy() / bodies.binding_energy() - 1.0;
//! println!("dE/E = {error:.1e} after {} evaluations", bodies.evaluations());
//! # assert!(error.abs() < 1e-10);
//! # Ok(())
//! # }
//! ```

mod chain;
mod extrapolation;
pub mod kepler;
mod logarithmic;
mod motion;
mod parts;
mod regular;
mod tide;
mod watch;

pub use motion::Motion;
pub(crate) use motion::{AT_ONE_PLACE, TOO_CLOSE};
pub use parts::Parts;
pub use tide::Tide;
pub use watch::{Contact, Watch};

use tisane_force::error::{Error, Result};
use tisane_force::particles::Vec3;

/// System of two or more bodies in isolation.
#[derive(Clone, Debug)]
pub struct FewBody {
    motion: Motion,
    /// Position and velocity of the centre of mass at time 0.
    centre: [Vec3; 2],
    time: f64,
}

impl FewBody {
    /// Creates the system of bodies with these masses, positions and velocities at time 0. The relative tolerance of a step
    /// is 1e-13; see [`Self::set_tolerance`].
    ///
    /// # Errors
    /// [`Error::Input`] for fewer than two bodies, columns of different lengths, numbers that are not finite, negative
    /// masses, no mass at all, or two bodies at one place.
    pub fn new(mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Result<Self> {
        let wrong = |problem: String| Err(Error::input("few bodies", problem));
        if mass.len() < 2 || pos.len() != mass.len() || vel.len() != mass.len() {
            let [n, p, v] = [mass.len(), pos.len(), vel.len()];
            return wrong(format!("{n} masses, {p} positions and {v} velocities: expected two or more of each"));
        }
        if let Some(i) = (0..mass.len()).find(|&i| !(mass[i] >= 0.0 && mass[i].is_finite())) {
            return wrong(format!("body {i} has the mass {}: expected 0 or a positive number", mass[i]));
        }
        if let Some(i) = (0..mass.len()).find(|&i| !pos[i].iter().chain(&vel[i]).all(|x| x.is_finite())) {
            return wrong(format!("body {i} has a position or velocity that is not a finite number"));
        }
        let same = (0..mass.len()).flat_map(|i| (0..i).map(move |j| (j, i))).find(|&(j, i)| pos[i] == pos[j]);
        if let Some((j, i)) = same {
            return wrong(format!("bodies {j} and {i} are at one place"));
        }
        let total: f64 = mass.iter().sum();
        if total == 0.0 {
            return wrong("no body has a mass".into());
        }
        let mean = |of: &[Vec3]| of.iter().zip(mass).fold(Vec3::zeros(), |sum, (x, m)| sum + x * *m) / total;
        Ok(Self { motion: Motion::new(mass, pos, vel), centre: [mean(pos), mean(vel)], time: 0.0 })
    }

    /// Sets the relative tolerance of a step, the largest change by the last column of the extrapolation. Less than 1e-14,
    /// which f64 does not reach, counts as that.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.motion.set_tolerance(tolerance);
    }

    /// Returns the time.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Returns the binding energy, −E in the frame of the centre of mass, which is constant.
    #[must_use]
    pub fn binding_energy(&self) -> f64 {
        self.motion.binding()
    }

    /// Returns the binding energy of the present positions and velocities: see [`Motion::present_binding`].
    #[must_use]
    pub fn present_binding_energy(&self) -> f64 {
        self.motion.present_binding()
    }

    /// Returns the number of evaluations of the forces so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.motion.evaluations()
    }

    /// Returns positions and velocities of the bodies.
    #[must_use]
    pub fn state(&self) -> (Vec<Vec3>, Vec<Vec3>) {
        let [centre, drift] = self.centre;
        let here = centre + drift * self.time;
        let (mut pos, mut vel) = (self.motion.offsets(), self.motion.speeds());
        pos.iter_mut().for_each(|x| *x += here);
        vel.iter_mut().for_each(|v| *v += drift);
        (pos, vel)
    }

    /// Advances the bodies to the time `until`, not before the present one. A time has a relative error of 2⁻⁵², so that late
    /// in a long integration a place on a very eccentric orbit, near its pericentre, has an error of that time.
    ///
    /// # Errors
    /// [`Error::Input`] for an earlier time; [`Error::Integration`] where no step is short enough for the tolerance, as in a
    /// collision of more than two bodies.
    pub fn advance(&mut self, until: f64) -> Result<()> {
        if !(until >= self.time && until.is_finite()) {
            let problem = format!("{until} is not a time from the present one, {}, on", self.time);
            return Err(Error::input("few bodies", problem));
        }
        self.motion.advance(until - self.time, None)?;
        self.time = until;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
