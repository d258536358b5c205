//! Coefficients of the fits at one metallicity: the polynomials, their bounds and the products that the equations use.

use crate::numbers::polynomial;
use crate::tables::{A, A76_MIN, A77_MIN, B, ZAMS_LUMINOSITY, ZAMS_RADIUS};
use libm::{log10, pow};

/// Coefficients of all fits at one metallicity, by the names and the indices of the paper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coefficients {
    /// Metallicity Z, a share of the mass.
    pub z: f64,
    /// Coefficients a1 to a81.
    pub a: [f64; 82],
    /// Coefficients b1 to b57.
    pub b: [f64; 58],
    /// α(a66) of equation 21a.
    pub alpha_r66: f64,
    /// Coefficients α to η of L_ZAMS.
    pub zams_luminosity: [f64; 7],
    /// Coefficients θ to π of R_ZAMS.
    pub zams_radius: [f64; 9],
    /// Mass above which the main sequence ends with a hook (equation 1).
    pub m_hook: f64,
    /// Mass below which helium ignites in a flash (equation 2).
    pub m_hef: f64,
    /// Mass below which helium ignites on the giant branch (equation 3).
    pub m_fgb: f64,
    /// Least share of t_BGB that the main sequence lasts (equation 6, linear in Z as SSE has it).
    pub x: f64,
    /// log D of light giants (below equation 38).
    pub log_d0: f64,
    /// Continuity of L_HeI at M_HeF: α1 of equation 49.
    pub alpha1: f64,
    /// Continuity of L_BAGB at M_HeF: α3 of equation 56.
    pub alpha3: f64,
    /// Continuity of L_min,He at M_FGB: c of equation 51.
    pub c_he: f64,
}

impl Coefficients {
    /// Evaluates all coefficients at the metallicity Z.
    pub fn new(z: f64) -> Self {
        let zeta = log10(z / 0.02);
        let m_hef = polynomial(&[1.995, 0.25, 0.087], zeta);
        let m_fgb = 16.5 * pow(z, 0.06) / (1.0 + pow(1e-4 / z, 1.27));
        let (a, alpha_r66) = evaluate_a(z, zeta);
        let b = evaluate_b(z, zeta, log10(m_hef / m_fgb));
        let ignition = ignition_above_flash(&b, m_hef);
        let agb = agb_base_above_flash(&b, m_hef);
        let at_fgb = pow(m_fgb, 0.1);
        Self {
            z,
            zams_luminosity: ZAMS_LUMINOSITY.map(|row| polynomial(&row, zeta)),
            zams_radius: ZAMS_RADIUS.map(|row| polynomial(&row, zeta)),
            m_hook: polynomial(&[1.0185, 0.16015, 0.0892], zeta),
            m_hef,
            m_fgb,
            x: (0.95 - (10.0 / 3.0) * (z - 0.01)).max((0.98 - (100.0 / 7.0) * (z - 0.001)).min(0.99)).max(0.95),
            log_d0: 5.37 + 0.135 * zeta,
            alpha1: (b[9] * pow(m_hef, b[10]) - ignition) / ignition,
            alpha3: (b[29] * pow(m_hef, b[30]) - agb) / agb,
            c_he: b[17] / at_fgb + (b[16] * b[17] - b[14]) / pow(m_fgb, b[15] + 0.1),
            alpha_r66,
            a,
            b,
        }
    }
}

/// Returns L_HeI above M_HeF (equation 49).
pub(crate) fn ignition_above_flash(b: &[f64; 58], m: f64) -> f64 {
    (b[11] + b[12] * pow(m, 3.8)) / (b[13] + m * m)
}

/// Returns L_BAGB above M_HeF (equation 56).
pub(crate) fn agb_base_above_flash(b: &[f64; 58], m: f64) -> f64 {
    (b[31] + b[32] * pow(m, b[33] + 1.8)) / (b[34] + pow(m, b[33]))
}

/// Evaluates a1 to a81 and α(a66), with the bounds of the paper's appendix.
fn evaluate_a(z: f64, zeta: f64) -> ([f64; 82], f64) {
    let sigma = log10(z);
    let mut a = A.map(|row| polynomial(&row, zeta));
    a[11] *= a[14];
    a[12] *= a[14];
    a[18] *= a[20];
    a[19] *= a[20];
    a[29] = pow(a[29], a[32]);
    let middle = (0.1461 + 0.1237 * (sigma + 2.0)).min(0.1461);
    a[17] = pow(10.0, (0.097 - 0.1072 * (sigma + 3.0)).max(middle.max(0.097)));
    a[33] = (1.5135 + 0.3769 * zeta).min(1.4).max((0.6355 - 0.4192 * zeta).max(1.25));
    a[57] = a[33];
    a[42] = a[42].clamp(1.1, 1.25);
    a[44] = a[44].clamp(0.45, 1.3);
    a[49] = a[49].max(0.145);
    a[50] = a[50].min(0.306 + 0.053 * zeta);
    a[51] = a[51].min(0.3625 + 0.062 * zeta);
    a[52] = a[52].max(0.9);
    a[53] = a[53].max(1.0);
    a[62] = a[62].max(0.065);
    if z < 0.004 {
        a[63] = a[63].min(0.055);
    }
    a[64] = a[64].clamp(0.091, 0.121);
    a[66] = a[66].max((-0.308 - 1.046 * zeta).min(1.6));
    a[66] = a[66].min(0.8 - 2.0 * zeta).max(0.8);
    a[68] = a[68].clamp(0.9, 1.0);
    let alpha_r66 = a[58] * pow(a[66], a[60]) / (a[59] + pow(a[66], a[61]));
    if a[68] > a[66] {
        a[68] = a[66];
        a[64] = alpha_r66;
    }
    if z > 0.01 {
        a[52] = a[52].min(1.0);
        a[53] = a[53].min(1.1);
        a[72] = a[72].max(0.95);
    }
    a[74] = a[74].clamp(1.4, 1.6);
    a[75] = a[75].clamp(1.0, 1.27).max(0.6355 - 0.4192 * zeta);
    a[76] = a[76].max(polynomial(&A76_MIN, zeta));
    a[77] = a[77].min(0.0).max(polynomial(&A77_MIN, zeta));
    a[78] = a[78].min(7.454 + 9.046 * zeta).max(0.0);
    a[79] = a[79].min((-13.3 - 18.6 * zeta).max(2.0));
    a[80] = a[80].max(0.058_554_2);
    a[81] = a[81].clamp(0.4, 1.5);
    (a, alpha_r66)
}

/// Evaluates b1 to b57, with the bounds of the paper's appendix. `log_ratio` is log10(M_HeF/M_FGB).
fn evaluate_b(z: f64, zeta: f64, log_ratio: f64) -> [f64; 58] {
    let (sigma, rho) = (log10(z), zeta + 1.0);
    let mut b = B.map(|row| polynomial(&row, zeta));
    b[1] = b[1].min(0.54);
    b[2] = pow(10.0, -4.6739 - 0.9394 * sigma).max(-0.04167 + 55.67 * z).min(0.4771 - 9329.21 * pow(z, 2.94));
    b[3] = pow(10.0, (-2.2794 - 1.5175 * sigma - 0.254 * sigma * sigma).max(-0.1451));
    if z > 0.004 {
        b[3] = b[3].max(0.7307 + 14265.1 * pow(z, 3.395));
    }
    b[11] *= b[11];
    b[13] *= b[13];
    b[14] = pow(b[14], b[15]);
    b[16] = pow(b[16], b[15]);
    // The exponent of SSE; that in the paper's appendix is a coefficient of b16.
    b[17] = if zeta > -1.0 { 1.0 - 0.388_052_3 * pow(rho, 0.637_176) } else { 1.0 };
    b[24] = pow(b[24], b[28]);
    b[26] = 5.0 - 0.091_380_12 * pow(z, -0.367_140_7);
    b[27] = pow(b[27], 2.0 * b[28]);
    b[31] = pow(b[31], b[33]);
    b[34] = pow(b[34], b[33]);
    b[36] = pow(b[36], 4.0);
    b[37] *= 4.0;
    b[38] = pow(b[38], 4.0);
    b[40] = b[40].max(1.0);
    b[41] = pow(b[41], b[42]);
    b[44] = pow(b[44], 5.0);
    b[45] = if rho > 0.0 { 1.0 - polynomial(&[0.0, 2.47162, -5.401_682, 3.247_361], rho) } else { 1.0 };
    b[46] *= -log_ratio;
    b[47] = polynomial(&[0.0, 1.127_733, 0.234_441_6, -0.379_372_6], rho);
    b[55] = b[55].min(0.99164 - 743.123 * pow(z, 2.83));
    b
}
