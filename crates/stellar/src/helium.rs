//! Naked helium stars, types 7, 8 and 9: section 6.1 of Hurley, Pols & Tout (2000). Masses, luminosities and radii in
//! solar units, times in Myr. Nothing here depends on the metallicity.

use crate::clock::{Clock, Relation};
use crate::compact::CHANDRASEKHAR;
use libm::{exp, log10, pow};

/// Burnt mass for each solar luminosity and Myr of helium: A_He of SSE; the paper has 7.66e-5.
pub(crate) const A_HE: f64 = 8e-5;

/// Returns the luminosity at zero age (equation 77).
pub(crate) fn l_zhe(m: f64) -> f64 {
    let below = pow(m, 9.0) + 29.54 * pow(m, 7.5) + 31.18 * pow(m, 6.0) + 0.0469;
    15262.0 * pow(m, 10.25) / below
}

/// Returns the radius at zero age (equation 78).
pub(crate) fn r_zhe(m: f64) -> f64 {
    0.2391 * pow(m, 4.6) / (pow(m, 4.0) + 0.162 * pow(m, 3.0) + 0.0065)
}

/// Returns the length of the helium main sequence (equation 79).
pub(crate) fn t_hems(m: f64) -> f64 {
    (0.4129 + 18.81 * pow(m, 4.0) + 1.853 * pow(m, 6.0)) / pow(m, 6.5)
}

/// Returns the luminosity at the share `tau` of the helium main sequence (equation 80).
pub(crate) fn l_hems(m0: f64, tau: f64) -> f64 {
    let alpha = (0.85 - 0.08 * m0).max(0.0);
    l_zhe(m0) * (1.0 + 0.45 * tau + alpha * tau * tau)
}

/// Returns the radius at the share `tau` of the helium main sequence (equation 81).
pub(crate) fn r_hems(m: f64, tau: f64) -> f64 {
    let beta = (0.4 - 0.22 * log10(m)).max(0.0);
    r_zhe(m) * (1.0 + beta * (tau - pow(tau, 6.0)))
}

/// Returns the radius of a helium giant of mass `m`, and true if its envelope is deep, type 9 (equations 85 to 88).
pub(crate) fn giant_radius(m: f64, l: f64, l_the: f64) -> (f64, bool) {
    let scale = 500.0 * (2.0 + pow(m, 5.0)) / pow(m, 2.5);
    let hot = r_zhe(m) * pow(l / l_the, 0.2) + 0.02 * (exp(l / scale) - exp(l_the / scale));
    let cool = 0.08 * pow(l, 0.75);
    (hot.min(cool), hot >= cool)
}

/// Returns the part of a helium giant that its core can reach: the rest is envelope (below equation 89).
pub(crate) fn burnable_mass(m: f64) -> f64 {
    let part = m.min(1.45 * m - 0.31);
    if part <= 0.0 { m } else { part }
}

/// Time scales of a helium star of one effective mass M0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeliumLandmarks {
    /// Effective initial mass M0, in solar masses.
    pub m0: f64,
    /// End of the helium main sequence, in Myr.
    pub t_hems: f64,
    /// Luminosity there, in solar luminosities.
    pub l_the: f64,
    /// Relation of core mass and luminosity afterwards.
    pub relation: Relation,
    /// Growth of the core afterwards.
    pub clock: Clock,
}

impl HeliumLandmarks {
    /// Evaluates the time scales of a helium star of effective mass `m0`.
    #[must_use]
    pub fn new(m0: f64) -> Self {
        let (t_hems, l_the, relation) = (t_hems(m0), l_hems(m0, 1.0), Relation::helium(m0));
        let clock = Clock::new(relation, A_HE, relation.core(l_the), t_hems);
        Self { m0, t_hems, l_the, relation, clock }
    }

    /// Returns the core mass at which a star of present mass `m` ends (equation 89).
    #[must_use]
    pub fn last_core(&self, m: f64) -> f64 {
        burnable_mass(m).min(CHANDRASEKHAR.max(0.773 * self.m0 - 0.35))
    }

    /// Returns the time of that.
    #[must_use]
    pub fn t_n(&self, m: f64) -> f64 {
        self.clock.time(self.last_core(m)).max(self.t_hems)
    }
}
