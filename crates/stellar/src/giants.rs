//! Luminosities, radii and core masses of giants as functions of mass: sections 5.1 to 5.4 of Hurley, Pols & Tout
//! (2000). All in solar units.

use crate::coefficients::{Coefficients, agb_base_above_flash, ignition_above_flash};
use crate::helium::{l_zhe, r_zhe};
use crate::numbers::line;
use crate::tables::{C2, C3};
use libm::{exp, pow};

/// Least value of a share whose power or logarithm is taken.
pub(crate) const TINY: f64 = 1e-12;

/// Returns the luminosity at the base of the giant branch (equation 10).
pub(crate) fn l_bgb(c: &Coefficients, m: f64) -> f64 {
    let a = &c.a;
    (a[27] * pow(m, a[31]) + a[28] * pow(m, C2)) / (a[29] + a[30] * pow(m, C3) + pow(m, a[32]))
}

/// Returns the luminosity at the ignition of helium (equation 49).
pub(crate) fn l_hei(c: &Coefficients, m: f64) -> f64 {
    if m < c.m_hef {
        c.b[9] * pow(m, c.b[10]) / (1.0 + c.alpha1 * exp(15.0 * (m - c.m_hef)))
    } else {
        ignition_above_flash(&c.b, m)
    }
}

/// Returns the luminosity at the base of the asymptotic giant branch (equation 56).
pub(crate) fn l_bagb(c: &Coefficients, m: f64) -> f64 {
    if m < c.m_hef {
        c.b[29] * pow(m, c.b[30]) / (1.0 + c.alpha3 * exp(15.0 * (m - c.m_hef)))
    } else {
        agb_base_above_flash(&c.b, m)
    }
}

/// Returns the least luminosity during core helium burning, above M_HeF (equation 51).
pub(crate) fn l_min_he(c: &Coefficients, m: f64) -> f64 {
    let b = &c.b;
    l_hei(c, m) * (b[14] + c.c_he * pow(m, b[15] + 0.1)) / (b[16] + pow(m, b[15]))
}

/// Returns the mass of the helium core at the base of the asymptotic giant branch (equation 66).
pub(crate) fn mc_bagb(c: &Coefficients, m: f64) -> f64 {
    pow(c.b[36] * pow(m, c.b[37]) + c.b[38], 0.25)
}

/// Returns the mass of a star that has this core at the base of the asymptotic giant branch: inverse of [`mc_bagb`].
pub(crate) fn mass_of_mc_bagb(c: &Coefficients, core: f64) -> f64 {
    pow(((pow(core, 4.0) - c.b[38]) / c.b[36]).max(TINY), 1.0 / c.b[37])
}

/// Returns the radius on the first giant branch (equation 46).
pub(crate) fn r_gb(c: &Coefficients, m: f64, l: f64) -> f64 {
    let b = &c.b;
    let scale = (b[4] * pow(m, -b[5])).min(b[6] * pow(m, -b[7]));
    scale * (pow(l, b[1]) + b[2] * pow(l, b[3]))
}

/// Returns the radius on the asymptotic giant branch (equation 74).
pub(crate) fn r_agb(c: &Coefficients, m: f64, l: f64) -> f64 {
    let b = &c.b;
    let heavy = |m: f64| (b[51] * pow(m, -b[52])).min(b[53] * pow(m, -b[54]));
    let light = |m: f64| b[56] + b[57] * m;
    let (low, high) = (c.m_hef - 0.2, c.m_hef);
    let (scale, share) = if m >= high {
        (heavy(m), b[55])
    } else if m <= low {
        (light(m), 1.0)
    } else {
        (line(m, (low, light(low)), (high, heavy(high))), line(m, (low, 1.0), (high, b[55])))
    };
    scale * (pow(l, b[1]) + b[2] * pow(l, share * b[3]))
}

/// Returns the least radius during core helium burning, above M_HeF (equation 55).
pub(crate) fn r_min_he(c: &Coefficients, m: f64) -> f64 {
    let b = &c.b;
    let power = pow(m, b[28]);
    (b[24] * m + pow(b[25] * m, b[26]) * power) / (b[27] + power)
}

/// Returns the luminosity on the zero-age horizontal branch, below M_HeF (equation 53).
pub(crate) fn l_zahb(c: &Coefficients, m: f64, core: f64) -> f64 {
    let b = &c.b;
    let (mu, bare, least) = (mantle_share(c, m, core), l_zhe(core), l_min_he(c, c.m_hef));
    let alpha2 = (b[18] + bare - least) / (least - bare);
    let shape = (1.0 + b[20]) / (1.0 + b[20] * pow(mu, 1.647_903));
    bare + shape * b[18] * pow(mu, b[19]) / (1.0 + alpha2 * exp(15.0 * (m - c.m_hef)))
}

/// Returns the radius on the zero-age horizontal branch, below M_HeF (equation 54).
pub(crate) fn r_zahb(c: &Coefficients, m: f64, core: f64) -> f64 {
    let b = &c.b;
    let mu = mantle_share(c, m, core);
    let share = (1.0 + b[21]) * pow(mu, b[22]) / (1.0 + b[21] * pow(mu, b[23]));
    (1.0 - share) * r_zhe(core) + share * r_gb(c, m, l_zahb(c, m, core))
}

/// Returns μ of equation 52.
fn mantle_share(c: &Coefficients, m: f64, core: f64) -> f64 {
    ((m - core) / (c.m_hef - core)).max(TINY)
}
