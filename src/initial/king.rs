//! The King (1966) model.

use super::numerics::{bisect, interpolate, locate};
use super::random::{Uniform, isotropic_sample};
use tisane_force::particles::Particles;

/// Number of integration steps for a factor e in radius.
const STEPS_PER_E: f64 = 256.0;
/// Number of integration steps from the last point inside to the edge.
const LAST_STEPS: usize = 64;

/// King model (King 1966, AJ 71, 64): the lowered Maxwellian f(ε) ∝ exp(ε/σ²) − 1 for ε = Ψ − v²/2 > 0, where Ψ is the
/// potential relative to that at the edge. In units of King's core radius r₀ = (9σ²/(4πGρ₀))^(1/2), with W = Ψ/σ².
#[derive(Clone, Debug)]
pub struct King {
    radius: Vec<f64>,
    /// W at each radius.
    depth: Vec<f64>,
    /// G M(r)/(σ² r₀) at each radius.
    mass: Vec<f64>,
}

/// Returns the density of the lowered Maxwellian at a potential depth W, in units of 2√2 π^(3/2) σ³ times the factor of
/// f: e^W erf(√W) − (4W/π)^(1/2) (1 + 2W/3) (King 1966, eq. 12). It is computed as the power series Σ
/// W^(k+1/2)/Γ(k+3/2) from k = 2, which loses no digits near the edge.
#[must_use]
pub fn density(w: f64) -> f64 {
    if w <= 0.0 {
        return 0.0;
    }
    // 1/Γ(7/2) = 8/(15 √π)
    let mut term = 8.0 / 15.0 * std::f64::consts::FRAC_2_SQRT_PI / 2.0 * w * w * w.sqrt();
    let (mut total, mut k) = (0.0, 2.5);
    while term > total * 1e-17 {
        total += term;
        k += 1.0;
        term *= w / k;
    }
    total
}

impl King {
    /// Integrates Poisson's equation d²W/dR² + (2/R) dW/dR = −9 ρ(W)/ρ(W₀) (King 1966, eq. 22; Binney & Tremaine 2008,
    /// eq. 4.112) from the centre to the edge with the Runge-Kutta scheme of fourth order: in ln R while W > 0, and
    /// from the last such point in W itself, which ends exactly at the edge.
    ///
    /// # Panics
    /// Unless 0 < `w0` ≤ 20.
    #[must_use]
    pub fn new(w0: f64) -> Self {
        assert!(w0 > 0.0 && w0 <= 20.0, "W0 {w0}");
        let central = density(w0);
        let source = |w: f64| 9.0 * density(w) / central;
        // Close to the centre W = W₀ − 3R²/2 and the mass is 3R³, with errors of order R⁴/W₀ and R⁵.
        let mut r = 1e-4 * w0.min(1.0).sqrt();
        let (mut w, mut m) = (w0 - 1.5 * r * r, 3.0 * r * r * r);
        let mut model = Self { radius: vec![0.0, r], depth: vec![w0, w], mass: vec![0.0, m] };
        let growth = libm::exp(1.0 / STEPS_PER_E);
        let in_log_radius = |x: f64, [w, m]: [f64; 2]| {
            let r = libm::exp(x);
            [-m / r, source(w) * r * r * r]
        };
        loop {
            let next = runge_kutta(in_log_radius, libm::log(r), 1.0 / STEPS_PER_E, [w, m]);
            if next[0] <= 0.0 {
                break;
            }
            r *= growth;
            [w, m] = next;
            model.push(r, w, m);
        }
        let in_depth = |w: f64, [r, m]: [f64; 2]| [-r * r / m, -source(w) * r * r * r * r / m];
        let step = -w / LAST_STEPS as f64;
        for left in (0..LAST_STEPS).rev() {
            [r, m] = runge_kutta(in_depth, w, step, [r, m]);
            w = -step * left as f64;
            model.push(r, w, m);
        }
        model
    }

    fn push(&mut self, r: f64, w: f64, m: f64) {
        self.radius.push(r);
        self.depth.push(w);
        self.mass.push(m);
    }

    /// Returns the radius at which the density falls to zero, in core radii.
    #[must_use]
    pub fn tidal_radius(&self) -> f64 {
        self.radius.last().copied().unwrap_or_default()
    }

    /// Returns the total mass in σ² r₀/G.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.mass.last().copied().unwrap_or_default()
    }

    /// Returns the concentration c = log₁₀(tidal radius/core radius).
    #[must_use]
    pub fn concentration(&self) -> f64 {
        libm::log10(self.tidal_radius())
    }

    /// Returns the fraction of the mass inside a radius (in core radii).
    #[must_use]
    pub fn enclosed(&self, radius: f64) -> f64 {
        interpolate(&self.mass, locate(&self.radius, radius)) / self.total_mass()
    }

    /// Returns the potential depth W at a radius (in core radii).
    #[must_use]
    pub fn depth(&self, radius: f64) -> f64 {
        interpolate(&self.depth, locate(&self.radius, radius))
    }

    /// Returns a random sample of `n` equal masses 1/n in units in which G, the mass and the core radius are 1, without
    /// further scaling. The random numbers for each particle are radius from the enclosed mass (one), direction (two),
    /// speed by rejection from v² (e^(W − v²/2) − 1) (pairs), direction (two).
    #[must_use]
    pub fn sample(&self, n: usize, seed: u64) -> Particles {
        let sigma = 1.0 / self.total_mass().sqrt();
        let speed = |random: &mut Uniform, r: f64| {
            let w = self.depth(r);
            sigma * ((2.0 * w).sqrt() * speed_fraction(random, w))
        };
        isotropic_sample(n, seed, |random| self.radius(random.next()), speed)
    }

    /// Returns the radius inside which the fraction `enclosed` of the mass lies. Between two rows the density is taken
    /// as constant.
    fn radius(&self, enclosed: f64) -> f64 {
        let (row, share) = locate(&self.mass, enclosed * self.total_mass());
        let cube = |r: f64| r * r * r;
        let (low, high) = (cube(self.radius[row]), cube(self.radius[row + 1]));
        libm::cbrt(low + share * (high - low))
    }
}

/// Draws the ratio of speed to escape speed at a potential depth W.
fn speed_fraction(random: &mut Uniform, w: f64) -> f64 {
    let g = |q: f64| q * q * libm::expm1(w * (1.0 - q * q));
    // dg/dq = 0 where 1 − exp(−W(1 − q²)) = W q².
    let peak = bisect(|u| w * u + libm::expm1(-w * (1.0 - u)), 0.0, 0.0, 1.0).sqrt();
    let bound = g(peak) * (1.0 + 1e-9);
    loop {
        let q = random.next();
        if bound * random.next() <= g(q) {
            return q;
        }
    }
}

/// Returns `y` after one step `h` of the classical Runge-Kutta scheme.
fn runge_kutta(f: impl Fn(f64, [f64; 2]) -> [f64; 2], x: f64, h: f64, y: [f64; 2]) -> [f64; 2] {
    let along = |k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    let k1 = f(x, y);
    let k2 = f(x + 0.5 * h, along(k1, 0.5 * h));
    let k3 = f(x + 0.5 * h, along(k2, 0.5 * h));
    let k4 = f(x + h, along(k3, h));
    [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
}
