//! Eigenevolution: what tides and accretion before the main sequence make of binaries at birth (Kroupa 1995, MNRAS 277, 1507).
//! Close pairs become circular, and their secondaries gain mass.

use super::binaries::{Eccentricities, SemiMajorAxes, orbit};
use super::kepler::Elements;
use super::random::{Purpose, Uniform};
use crate::stellar::main_sequence_radius;
use libm::{exp, pow};

/// λ: range of tides, in solar radii, with the value of the paper.
const RANGE: f64 = 28.0;
/// χ: power of the pericentre distance, with the value of the paper.
const POWER: f64 = 0.75;
/// Orbits that are drawn for a binary at most. Where one per cent of the orbits are wide enough, one in 10⁴³ binaries gets none.
const MAX_DRAWN: usize = 10_000;

/// The Sun in the units of the binaries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// One solar mass, in the unit of mass.
    pub mass: f64,
    /// One solar radius, in the unit of length.
    pub radius: f64,
}

/// Masses and shape of the orbit of a binary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Masses of the stars, the heavier first.
    pub masses: [f64; 2],
    /// Semi-major axis.
    pub semi_major_axis: f64,
    /// Eccentricity, 0 ≤ e < 1.
    pub eccentricity: f64,
}

/// Binaries after their eigenevolution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Eigenevolved {
    /// Masses of the stars of each binary, the heavier first.
    pub masses: Vec<[f64; 2]>,
    /// Orbits.
    pub orbits: Vec<Elements>,
    /// Number of binaries whose first orbit was replaced, because the stars would touch.
    pub redrawn: usize,
    /// Number of binaries whose eccentricity is below a tenth of that at birth.
    pub circularised: usize,
}

/// Reason for which a binary has no orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoOrbit {
    /// The limits of the semi-major axes leave no period.
    NoPeriod,
    /// Stars of these masses touch on every orbit that was drawn.
    Touching([f64; 2]),
}

impl Pair {
    /// Returns the distance of the stars at the pericentre.
    #[must_use]
    pub fn pericentre(&self) -> f64 {
        self.semi_major_axis * (1.0 - self.eccentricity)
    }

    /// Returns true if the stars touch at the pericentre, by their radii on the zero-age main sequence.
    #[must_use]
    pub fn touches(&self, sun: Sun) -> bool {
        let [r1, r2] = self.masses.map(|mass| main_sequence_radius(mass / sun.mass) * sun.radius);
        self.pericentre() < r1 + r2
    }

    /// Returns what becomes of a pair at birth. With ρ = (λ R⊙/r_peri)^χ its eccentricity falls to e exp(−ρ), and the mass ratio q
    /// grows to q + (1 − q) min(ρ, 1), by mass that the secondary gains. The period changes by √(m/m′) [(1 − e)/(1 − e′)]^(3/2),
    /// with m the mass of both: by Kepler's third law, the pericentre distance stays.
    #[must_use]
    pub fn eigenevolved(&self, sun: Sun) -> Self {
        let (pericentre, [primary, secondary]) = (self.pericentre(), self.masses);
        let rho = pow(RANGE * sun.radius / pericentre, POWER);
        let eccentricity = self.eccentricity * exp(-rho);
        let grown = secondary + (primary - secondary) * rho.min(1.0);
        // The rounding of the sum must not make the secondary the heavier star.
        let masses = [primary, grown.min(primary)];
        Self { masses, semi_major_axis: pericentre / (1.0 - eccentricity), eccentricity }
    }
}

/// Draws orbits at birth for binaries of these masses, the heavier star first, as [`orbits`](super::binaries::orbits) does, and lets
/// each binary evolve. One whose stars then touch gets another orbit. `g` is the gravitational constant.
///
/// # Errors
/// [`NoOrbit`] for the first binary that gets no orbit.
pub fn orbits(
    masses: &[[f64; 2]],
    (axes, eccentricities): (&SemiMajorAxes, Eccentricities),
    (g, sun): (f64, Sun),
    seed: u64,
) -> Result<Eigenevolved, NoOrbit> {
    let mut random = Uniform::for_purpose(seed, Purpose::Orientations);
    let mut found = Eigenevolved::default();
    for &masses in masses {
        let mu = g * (masses[0] + masses[1]);
        let mut draw = || {
            let semi_major_axis = axes.draw(random.next(), mu).ok_or(NoOrbit::NoPeriod)?;
            let elements = orbit(semi_major_axis, eccentricities, &mut random);
            let birth = Pair { masses, semi_major_axis, eccentricity: elements.eccentricity };
            Ok((birth.eigenevolved(sun), elements))
        };
        let mut drawn = 1;
        let (pair, birth) = loop {
            let (pair, birth) = draw()?;
            if !pair.touches(sun) {
                break (pair, birth);
            }
            if drawn == MAX_DRAWN {
                return Err(NoOrbit::Touching(masses));
            }
            drawn += 1;
        };
        let Pair { semi_major_axis, eccentricity, .. } = pair;
        found.redrawn += usize::from(drawn > 1);
        found.circularised += usize::from(eccentricity < 0.1 * birth.eccentricity);
        found.masses.push(pair.masses);
        found.orbits.push(Elements { semi_major_axis, eccentricity, ..birth });
    }
    Ok(found)
}
