//! The main sequence, types 0 and 1: section 5.1 of Hurley, Pols & Tout (2000), from the zero age of Tout et al.
//! (1996). Masses, luminosities and radii in solar units, times in Myr.

use crate::coefficients::Coefficients;
use crate::numbers::{line, polynomial};
use crate::tables::C1;
use libm::{log10, pow};

/// Share of a main sequence below which its steep terms count as zero: they would underflow.
const YOUNG: f64 = 5e-8;

/// Returns the luminosity at zero age (Tout et al. 1996, equation 1).
pub(crate) fn l_zams(c: &Coefficients, m: f64) -> f64 {
    let [alpha, beta, gamma, delta, epsilon, zeta, eta] = c.zams_luminosity;
    let below = gamma + pow(m, 3.0) + delta * pow(m, 5.0) + epsilon * pow(m, 7.0);
    (alpha * pow(m, 5.5) + beta * pow(m, 11.0)) / (below + zeta * pow(m, 8.0) + eta * pow(m, 9.5))
}

/// Returns the radius at zero age (Tout et al. 1996, equation 2).
pub(crate) fn r_zams(c: &Coefficients, m: f64) -> f64 {
    let [theta, iota, kappa, lambda, mu, nu, xi, omicron, pi] = c.zams_radius;
    let above = theta * pow(m, 2.5) + iota * pow(m, 6.5) + kappa * pow(m, 11.0);
    let below = nu + xi * m * m + omicron * pow(m, 8.5) + pow(m, 18.5) + pi * pow(m, 19.5);
    (above + lambda * pow(m, 19.0) + mu * pow(m, 19.5)) / below
}

/// Returns the age at the base of the giant branch (equation 4).
pub(crate) fn t_bgb(c: &Coefficients, m: f64) -> f64 {
    let m7 = pow(m, 7.0);
    (c.a[1] + c.a[2] * pow(m, 4.0) + c.a[3] * pow(m, 5.5) + m7) / (c.a[4] * m * m + c.a[5] * m7)
}

/// Returns the share of t_BGB at which the hook begins: μ (equation 7).
pub(crate) fn hook_share(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    (1.0 - 0.01 * (a[6] * pow(m, -a[7])).max(a[8] + a[9] * pow(m, -a[10]))).max(0.5)
}

/// Returns the luminosity at the end of the main sequence (equation 8).
pub(crate) fn l_tms(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let above = a[11] * pow(m, 3.0) + a[12] * pow(m, 4.0) + a[13] * pow(m, a[16] + 1.8);
    above / (a[14] + a[15] * pow(m, 5.0) + pow(m, a[16]))
}

/// Returns the radius at the end of the main sequence (equation 9), at least 1.5 R_ZAMS for light stars.
pub(crate) fn r_tms(c: &Coefficients, m: f64, r_zams: f64) -> f64 {
    let a = &c.a;
    let light = |m: f64| (a[18] + a[19] * pow(m, a[21])) / (a[20] + pow(m, a[22]));
    let heavy =
        |m: f64| (C1 * pow(m, 3.0) + a[23] * pow(m, a[26]) + a[24] * pow(m, a[26] + 1.5)) / (a[25] + pow(m, 5.0));
    let (low, high) = (a[17], a[17] + 0.1);
    if m <= low {
        light(m).max(1.5 * r_zams)
    } else if m >= high {
        heavy(m)
    } else {
        line(m, (low, light(low)), (high, heavy(high)))
    }
}

/// Shape of the main sequence of one mass: the coefficients of equations 12 and 13.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// α_L (equation 19).
    pub alpha_l: f64,
    /// β_L (equation 20).
    pub beta_l: f64,
    /// η (equation 18).
    pub eta: f64,
    /// ΔL, the height of the hook (equation 16).
    pub delta_l: f64,
    /// α_R (equation 21).
    pub alpha_r: f64,
    /// β_R (equation 22).
    pub beta_r: f64,
    /// γ (equation 23).
    pub gamma: f64,
    /// ΔR (equation 17).
    pub delta_r: f64,
}

impl Shape {
    /// Evaluates the shape for a mass.
    pub(crate) fn new(c: &Coefficients, m: f64) -> Self {
        Self {
            alpha_l: alpha_l(c, m),
            beta_l: beta_l(c, m),
            eta: eta(c, m),
            delta_l: delta_l(c, m),
            alpha_r: alpha_r(c, m),
            beta_r: beta_r(c, m),
            gamma: gamma(c, m),
            delta_r: delta_r(c, m),
        }
    }

    /// Returns luminosity and radius (equations 12 and 13) at the share `tau` of the main sequence and the age `t`,
    /// between `zero` and `end`: luminosity and radius at its ends.
    pub(crate) fn at(&self, tau: f64, t: f64, t_hook: f64, zero: (f64, f64), end: (f64, f64)) -> (f64, f64) {
        let tau1 = (t / t_hook).min(1.0);
        let tau2 = ((t - 0.99 * t_hook) / (0.01 * t_hook)).clamp(0.0, 1.0);
        let steep = |power: f64| if tau > YOUNG { pow(tau, power) } else { 0.0 };
        let squares = tau1 * tau1 - tau2 * tau2;
        let cubes = tau1 * tau1 * tau1 - tau2 * tau2 * tau2;
        let l_rest = log10(end.0 / zero.0) - self.alpha_l - self.beta_l;
        let r_rest = log10(end.1 / zero.1) - self.alpha_r - self.beta_r - self.gamma;
        let log_l = self.alpha_l * tau + self.beta_l * steep(self.eta) + l_rest * tau * tau - self.delta_l * squares;
        let log_r = self.alpha_r * tau + self.beta_r * steep(10.0) + self.gamma * steep(40.0);
        let log_r = log_r + r_rest * tau * tau * tau - self.delta_r * cubes;
        (zero.0 * pow(10.0, log_l), zero.1 * pow(10.0, log_r))
    }
}

fn delta_l(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let heavy = |m: f64| (a[34] * pow(m, -a[35])).min(a[36] * pow(m, -a[37]));
    if m <= c.m_hook {
        0.0
    } else if m >= a[33] {
        heavy(m)
    } else {
        heavy(a[33]) * pow((m - c.m_hook) / (a[33] - c.m_hook), 0.4)
    }
}

fn delta_r(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let heavy = |m: f64| (a[38] + a[39] * pow(m, 3.5)) / (a[40] * pow(m, 3.0) + pow(m, a[41])) - 1.0;
    if m <= c.m_hook {
        0.0
    } else if m <= a[42] {
        a[43] * ((m - c.m_hook) / (a[42] - c.m_hook)).sqrt()
    } else if m <= 2.0 {
        a[43] + (heavy(2.0) - a[43]) * pow((m - a[42]) / (2.0 - a[42]), a[44])
    } else {
        heavy(m)
    }
}

fn eta(c: &Coefficients, m: f64) -> f64 {
    if c.z > 0.0009 { 10.0 } else { line(m.clamp(1.0, 1.1), (1.0, 10.0), (1.1, 20.0)) }
}

fn alpha_l(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let heavy = |m: f64| (a[45] + a[46] * pow(m, a[48])) / (pow(m, 0.4) + a[47] * pow(m, 1.9));
    if m >= 2.0 {
        heavy(m)
    } else if m <= 0.5 {
        a[49]
    } else if m <= 0.7 {
        line(m, (0.5, a[49]), (0.7, 0.3))
    } else if m <= a[52] {
        line(m, (0.7, 0.3), (a[52], a[50]))
    } else if m <= a[53] {
        line(m, (a[52], a[50]), (a[53], a[51]))
    } else {
        line(m, (a[53], a[51]), (2.0, heavy(2.0)))
    }
}

fn beta_l(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let light = |m: f64| (a[54] - a[55] * pow(m, a[56])).max(0.0);
    if m > a[57] && light(m) > 0.0 {
        let end = light(a[57]);
        (end - 10.0 * end * (m - a[57])).max(0.0)
    } else {
        light(m)
    }
}

fn alpha_r(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let middle = |m: f64| a[58] * pow(m, a[60]) / (a[59] + pow(m, a[61]));
    if m <= 0.5 {
        a[62]
    } else if m <= 0.65 {
        line(m, (0.5, a[62]), (0.65, a[63]))
    } else if m <= a[68] {
        line(m, (0.65, a[63]), (a[68], a[64]))
    } else if m <= a[66] {
        line(m, (a[68], a[64]), (a[66], c.alpha_r66))
    } else if m <= a[67] {
        middle(m)
    } else {
        middle(a[67]) + a[65] * (m - a[67])
    }
}

fn beta_r(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let middle = |m: f64| a[69] * pow(m, 3.5) / (a[70] + pow(m, a[71]));
    let value = if m <= 1.0 {
        1.06
    } else if m <= a[74] {
        line(m, (1.0, 1.06), (a[74], a[72]))
    } else if m <= 2.0 {
        line(m, (a[74], a[72]), (2.0, middle(2.0)))
    } else if m <= 16.0 {
        middle(m)
    } else {
        middle(16.0) + a[73] * (m - 16.0)
    };
    value - 1.0
}

fn gamma(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    let at_one = (a[76] + a[77] * pow(1.0 - a[78], a[79])).max(0.0);
    let value = if m <= 1.0 {
        a[76] + a[77] * pow((m - a[78]).abs(), a[79])
    } else if m <= a[75] {
        at_one + (a[80] - at_one) * pow((m - 1.0) / (a[75] - 1.0), a[81])
    } else if m <= a[75] + 0.1 {
        let end = if a[75] > 1.0 { a[80] } else { at_one };
        end - 10.0 * end * (m - a[75])
    } else {
        0.0
    };
    value.max(0.0)
}

/// Returns the least radius of a main-sequence star that is partly degenerate (equation 24).
pub(crate) fn degenerate_radius(c: &Coefficients, m: f64) -> f64 {
    let hydrogen = polynomial(&[0.76, -3.0], c.z);
    0.0258 * pow(1.0 + hydrogen, 5.0 / 3.0) * pow(m, -1.0 / 3.0)
}
