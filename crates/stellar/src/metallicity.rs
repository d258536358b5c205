//! The fits at one metallicity with their continuity constants.

use crate::clock::Relation;
use crate::coefficients::Coefficients;
use crate::error::Error;
use crate::giants::{TINY, l_bgb, l_hei, l_zahb, mc_bagb, r_agb, r_gb, r_min_he, r_zahb};
use crate::helium::t_hems;
use crate::main_sequence::t_bgb;
use libm::{log10, pow};

/// Exponent of the blue loops of [`Metallicity::blue_share`], as SSE has it; the paper has 0.414.
const BLUE: f64 = 0.480_542_8;
/// Slope and exponent of the core mass in equation 44: as SSE has them.
const CORE_SLOPE: f64 = 0.097_961_64;
const CORE_EXPONENT: f64 = 5.402_216;

/// Fits of Hurley, Pols & Tout (2000) at one metallicity: everything that does not depend on a star.
#[derive(Clone, Debug, PartialEq)]
pub struct Metallicity {
    pub(crate) c: Coefficients,
    /// Core mass at M_HeF at the base of the giant branch, in solar masses.
    pub(crate) mc_hef_bgb: f64,
    /// Core mass at M_HeF at the ignition of helium: a lighter helium star does not burn.
    pub(crate) mc_hef_hei: f64,
    /// C_r: R_mHe over R_GB on the horizontal branch at M_HeF (below equation 55).
    pub(crate) c_r: f64,
    /// α4 of equation 57.
    alpha4: f64,
    /// f_bl(M_FGB) of equation 58.
    blue_at_fgb: f64,
}

impl Metallicity {
    /// Least and greatest metallicity Z of the fits.
    pub const RANGE: (f64, f64) = (1e-4, 0.03);

    /// Evaluates the fits at the metallicity `z`, a share of the mass: 0.02 is that of the Sun here.
    ///
    /// # Errors
    /// If `z` is outside of [`Self::RANGE`].
    pub fn new(z: f64) -> Result<Self, Error> {
        let z = Error::unless_within("metallicity Z", z, Self::RANGE)?;
        let c = Coefficients::new(z);
        let relation = Relation::hydrogen(&c, c.m_hef);
        let (mc_hef_bgb, mc_hef_hei) = (relation.core(l_bgb(&c, c.m_hef)), relation.core(l_hei(&c, c.m_hef)));
        let c_r = r_min_he(&c, c.m_hef) / r_gb(&c, c.m_hef, l_zahb(&c, c.m_hef, mc_hef_bgb));
        let alpha4 = (t_he_above_flash(&c, c.m_hef) - c.b[39]) / c.b[39];
        let blue_at_fgb = blue(&c, c.m_fgb);
        Ok(Self { mc_hef_bgb, mc_hef_hei, c_r, alpha4, blue_at_fgb, c })
    }

    /// Returns the metallicity Z.
    #[must_use]
    pub fn z(&self) -> f64 {
        self.c.z
    }

    /// Returns M_hook: heavier stars leave the main sequence by a hook (equation 1), in solar masses.
    #[must_use]
    pub fn m_hook(&self) -> f64 {
        self.c.m_hook
    }

    /// Returns M_HeF: lighter stars ignite helium in a flash (equation 2), in solar masses.
    #[must_use]
    pub fn m_hef(&self) -> f64 {
        self.c.m_hef
    }

    /// Returns M_FGB: lighter stars ignite helium on the giant branch (equation 3), in solar masses.
    #[must_use]
    pub fn m_fgb(&self) -> f64 {
        self.c.m_fgb
    }

    /// Returns the core mass at M_HeF, in solar masses, at the base of the giant branch and at the ignition of helium.
    #[must_use]
    pub fn cores_at_m_hef(&self) -> (f64, f64) {
        (self.mc_hef_bgb, self.mc_hef_hei)
    }

    /// Returns the core mass at the base of the giant branch of stars above M_HeF (equation 44).
    pub(crate) fn mc_bgb_above_flash(&self, m: f64) -> f64 {
        self.core(m, self.mc_hef_bgb)
    }

    /// Returns the core mass at the ignition of helium of stars above M_HeF (equation 44 with another constant).
    pub(crate) fn mc_hei_above_flash(&self, m: f64) -> f64 {
        self.core(m, self.mc_hef_hei)
    }

    fn core(&self, m: f64, at_hef: f64) -> f64 {
        let slope = pow(CORE_SLOPE, 4.0);
        let constant = pow(at_hef, 4.0) - slope * pow(self.c.m_hef, CORE_EXPONENT);
        pow(constant + slope * pow(m, CORE_EXPONENT), 0.25).min(0.95 * mc_bagb(&self.c, m))
    }

    /// Returns the length of core helium burning in Myr (equation 57). `core` is the core mass at its begin.
    pub(crate) fn t_he(&self, m: f64, core: f64) -> f64 {
        let (c, b) = (&self.c, &self.c.b);
        if m > c.m_hef {
            return t_he_above_flash(c, m);
        }
        let mu = ((c.m_hef - m) / (c.m_hef - core)).max(TINY);
        let flat = b[39] + (t_hems(core) - b[39]) * pow(mu, b[40]);
        flat * (1.0 + self.alpha4 * libm::exp(15.0 * (m - c.m_hef)))
    }

    /// Returns the share of core helium burning that a star is blue: τ_bl (equation 58).
    pub(crate) fn blue_share(&self, m: f64) -> f64 {
        let (c, b) = (&self.c, &self.c.b);
        let share = if m <= c.m_hef {
            1.0
        } else if m <= c.m_fgb {
            let ratio = c.m_hef / c.m_fgb;
            let logs = (log10(m / c.m_fgb) / log10(ratio)).max(TINY);
            b[45] * pow(m / c.m_fgb, BLUE) + (1.0 - b[45] * pow(ratio, BLUE)) * pow(logs, b[46])
        } else {
            (1.0 - b[47]) * blue(c, m) / self.blue_at_fgb
        };
        if share < 1e-10 { 0.0 } else { share.min(1.0) }
    }

    /// Returns the radius on the horizontal branch of a light star with its present core (equation 54).
    pub(crate) fn r_zahb(&self, m: f64, core: f64) -> f64 {
        r_zahb(&self.c, m, core)
    }
}

fn t_he_above_flash(c: &Coefficients, m: f64) -> f64 {
    let b = &c.b;
    let m5 = pow(m, 5.0);
    t_bgb(c, m) * (b[41] * pow(m, b[42]) + b[43] * m5) / (b[44] + m5)
}

/// Returns f_bl(M) of equation 58.
fn blue(c: &Coefficients, m: f64) -> f64 {
    let ratio = r_min_he(c, m) / r_agb(c, m, l_hei(c, m));
    pow(m, c.b[48]) * pow((1.0 - ratio).max(TINY), c.b[49])
}
