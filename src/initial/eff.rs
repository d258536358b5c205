//! The profile of Elson, Fall & Freeman (1987), and Nuker profiles.

use super::numerics::{interpolate, locate};
use super::random::Uniform;
use libm::{exp, log, pow};
use std::f64::consts::PI;
use tisane_force::particles::{Particles, Vec3};

/// Number of rows of the table.
const ROWS: usize = 1024;
/// Smallest radius of the table, in scale radii.
const INNERMOST: f64 = 1e-6;

/// Spherical cluster whose surface density is a Nuker profile (Lauer et al. 1995, AJ 110, 2622, eq. 3),
/// I(R) ∝ R^(−γ) (1 + R^α)^((γ − β)/α), here with R in scale radii, inner slope γ, outer slope β and sharpness α. With
/// γ = 0 and α = 2 it is that of Elson, Fall & Freeman (1987, ApJ 323, 54), I ∝ (1 + R²)^(−β/2), whose β they call γ.
/// There is no mass beyond the cut-off radius. McLuster has the same family (Küpper et al. 2011, MNRAS 417, 2300).
#[derive(Clone, Debug)]
pub struct Eff {
    radius: Vec<f64>,
    /// Fraction of the mass inside each radius.
    mass: Vec<f64>,
    /// Dispersion of each velocity component at each radius, with G = M = 1.
    sigma: Vec<f64>,
    /// Escape speed at each radius.
    escape: Vec<f64>,
}

/// Slopes of a Nuker profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes {
    /// Slope of the surface density far out, above 1.
    pub outer: f64,
    /// Slope of the surface density in the centre, from 0 to below 1.
    pub inner: f64,
    /// Sharpness of the transition between the slopes.
    pub sharpness: f64,
}

impl Slopes {
    /// Returns the density at a radius up to a factor, by Abel's integral ρ(r) = −(1/π) ∫ (dI/dR) dR/√(R² − r²) over R
    /// from r, with R² = r² + t² and t = e^x by the trapezoidal rule, which converges exponentially here.
    #[must_use]
    pub fn density(&self, r: f64) -> f64 {
        const STEP: f64 = 0.125;
        let (from, to) = (log(r) - 32.0, log(r.max(1.0)) + 32.0);
        let steps = ((to - from) / STEP) as usize;
        let mut total = 0.0;
        for k in 0..=steps {
            let t = exp(from + k as f64 * STEP);
            let distance = (r * r + t * t).sqrt();
            total += self.steepness(distance) / distance * t;
        }
        total * STEP / PI
    }

    /// Returns −dI/dR.
    fn steepness(&self, r: f64) -> f64 {
        let Self { outer, inner, sharpness } = *self;
        let power = pow(r, sharpness);
        let surface = pow(r, -inner) * pow(1.0 + power, (inner - outer) / sharpness);
        surface / r * (inner + (outer - inner) * power / (1.0 + power))
    }
}

impl Eff {
    /// Computes enclosed mass, potential and the solution σ² = (1/ρ) ∫ ρ M/r² dr (from r to the cut-off) of Jeans'
    /// equation without anisotropy (Binney & Tremaine 2008, eq. 4.216), by Simpson's rule in ln r.
    ///
    /// # Panics
    /// Unless `outer` > 1, 0 ≤ `inner` < 1, `sharpness` > 0 and `cut_off` ≥ 1.
    #[must_use]
    pub fn new(slopes: Slopes, cut_off: f64) -> Self {
        let Slopes { outer, inner, sharpness } = slopes;
        assert!(outer > 1.0 && (0.0..1.0).contains(&inner) && sharpness > 0.0 && cut_off >= 1.0, "{slopes:?}");
        let (from, to) = (log(INNERMOST), log(cut_off));
        let half = (to - from) / (2 * ROWS) as f64;
        // Twice the rows: Simpson's rule needs the midpoints.
        let fine: Vec<f64> = (0..=2 * ROWS).map(|k| exp(from + k as f64 * half)).collect();
        let density: Vec<f64> = fine.iter().map(|r| slopes.density(*r)).collect();
        let at = |k: usize| (fine[k], density[k]);
        let simpson =
            |f: &dyn Fn(usize) -> f64, row: usize| half / 3.0 * (f(2 * row) + 4.0 * f(2 * row + 1) + f(2 * row + 2));
        let shell = |k: usize| {
            let (r, rho) = at(k);
            4.0 * PI * rho * r * r * r
        };
        // Inside the first row the density falls with at most the slope 1 + γ.
        let mut mass = vec![shell(0) / (2.0 - inner)];
        (0..ROWS).for_each(|row| mass.push(mass[row] + simpson(&shell, row)));
        let total = mass[ROWS];
        mass.iter_mut().for_each(|m| *m /= total);
        let middle =
            |k: usize| if k.is_multiple_of(2) { mass[k / 2] } else { middle_mass(&mass, &density, &fine, k, total) };
        let pressure = |k: usize| {
            let (r, rho) = at(k);
            rho * middle(k) / r
        };
        let outside = |k: usize| {
            let (r, rho) = at(k);
            4.0 * PI * rho * r * r / total
        };
        let (mut sigma, mut escape) = (vec![0.0; ROWS + 1], vec![0.0; ROWS + 1]);
        let (mut p, mut u) = (0.0, 0.0);
        for row in (0..=ROWS).rev() {
            if row < ROWS {
                p += simpson(&pressure, row);
                u += simpson(&outside, row);
            }
            let (r, rho) = at(2 * row);
            sigma[row] = (p / rho).sqrt();
            escape[row] = (2.0 * (mass[row] / r + u)).sqrt();
        }
        let radius = fine.iter().step_by(2).copied().collect();
        Self { radius, mass, sigma, escape }
    }

    /// Returns the fraction of the mass inside a radius (in scale radii).
    #[must_use]
    pub fn enclosed(&self, radius: f64) -> f64 {
        interpolate(&self.mass, locate(&self.radius, radius))
    }

    /// Returns the dispersion of each velocity component at a radius, with G, the mass and the scale radius 1.
    #[must_use]
    pub fn sigma(&self, radius: f64) -> f64 {
        interpolate(&self.sigma, locate(&self.radius, radius))
    }

    /// Returns a random sample of `n` equal masses 1/n in units in which G, the mass and the scale radius are 1,
    /// without further scaling. The random numbers for each particle are radius from the enclosed mass (one), direction
    /// (two), velocity from a Maxwellian of the local dispersion (six), repeated until it is below the escape speed.
    ///
    /// Jeans' equation is used and not Eddington's inversion, because the profile ends with a step at the cut-off
    /// (necessarily where the mass would be infinite, outer slope ≤ 2), and for a density with a step no isotropic
    /// distribution function is ≥ 0. The dispersions are those of equilibrium at every radius; the shape of the
    /// velocity distribution is an assumption.
    #[must_use]
    pub fn sample(&self, n: usize, seed: u64) -> Particles {
        let mut random = Uniform::new(seed);
        let (mut pos, mut vel) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for _ in 0..n {
            let r = self.draw_radius(random.next());
            pos.push(random.isotropic(r));
            vel.push(self.draw_velocity(&mut random, r));
        }
        Particles::new(vec![1.0 / n as f64; n], pos, vel)
    }

    /// Returns the radius inside which the fraction `enclosed` of the mass lies; between two rows log M is linear in
    /// log r.
    fn draw_radius(&self, enclosed: f64) -> f64 {
        if enclosed <= self.mass[0] {
            return self.radius[0] * libm::cbrt(enclosed / self.mass[0]);
        }
        let (row, _) = locate(&self.mass, enclosed);
        let (low, high) = (self.mass[row], self.mass[row + 1]);
        let share = log(enclosed / low) / log(high / low);
        self.radius[row] * exp(share * log(self.radius[row + 1] / self.radius[row]))
    }

    fn draw_velocity(&self, random: &mut Uniform, r: f64) -> Vec3 {
        let place = locate(&self.radius, r);
        let (sigma, escape) = (interpolate(&self.sigma, place), interpolate(&self.escape, place));
        loop {
            let v = random.maxwellian().map(|x| sigma * x);
            if v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < escape * escape {
                return v;
            }
        }
    }
}

/// Returns the mass inside the midpoint `k` between two rows, from the row below it with the cubic accuracy of
/// Simpson's rule: the quadratic through the three densities, integrated over the first half.
fn middle_mass(mass: &[f64], density: &[f64], fine: &[f64], k: usize, total: f64) -> f64 {
    let shell = |k: usize| 4.0 * PI * density[k] * fine[k] * fine[k] * fine[k] / total;
    let half = log(fine[k] / fine[k - 1]);
    mass[k / 2] + half / 12.0 * (5.0 * shell(k - 1) + 8.0 * shell(k) - shell(k + 1))
}
