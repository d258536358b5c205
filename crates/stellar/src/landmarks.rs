//! Times, luminosities and core masses at which the phases of a hydrogen star begin and end.

use crate::clock::{Clock, Relation};
use crate::compact::CHANDRASEKHAR;
use crate::giants::{l_bagb, l_bgb, l_hei, mc_bagb};
use crate::helium::A_HE;
use crate::main_sequence::{Shape, hook_share, l_tms, l_zams, r_tms, r_zams, t_bgb};
use crate::metallicity::Metallicity;
use crate::remnants::{ELECTRON_CAPTURE_CORE, Remnants};
use crate::state::Kind;
use libm::pow;

/// Burnt mass for each solar luminosity and Myr on the thermally pulsing asymptotic giant branch.
const A_H_HE: f64 = 1.27e-5;

/// Landmarks in the life of a hydrogen star, types 0 to 6, of one effective mass M0: times in Myr since zero age,
/// masses, luminosities and radii in solar units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landmarks {
    /// Effective initial mass M0.
    pub m0: f64,
    /// Zero-age luminosity.
    pub l_zams: f64,
    /// Zero-age radius.
    pub r_zams: f64,
    /// Luminosity at the end of the main sequence.
    pub l_tms: f64,
    /// Radius there.
    pub r_tms: f64,
    /// Shape of the main sequence.
    pub shape: Shape,
    /// Begin of the hook.
    pub t_hook: f64,
    /// End of the main sequence.
    pub t_ms: f64,
    /// Base of the giant branch; above M_FGB the ignition of helium.
    pub t_bgb: f64,
    /// Luminosity at the base of the giant branch.
    pub l_bgb: f64,
    /// Core mass at the end of the Hertzsprung gap.
    pub mc_bgb: f64,
    /// Relation of core mass and luminosity of giants.
    pub relation: Relation,
    /// Growth of the core on the first giant branch.
    pub giant_branch: Clock,
    /// Ignition of helium.
    pub t_hei: f64,
    /// Luminosity there.
    pub l_hei: f64,
    /// Core mass there.
    pub mc_hei: f64,
    /// Length of core helium burning.
    pub t_he: f64,
    /// Base of the asymptotic giant branch.
    pub t_bagb: f64,
    /// Luminosity there.
    pub l_bagb: f64,
    /// Helium core there, and until the second dredge-up.
    pub mc_bagb: f64,
    /// Growth of the core of carbon and oxygen on the early asymptotic giant branch.
    pub early_agb: Clock,
    /// Core mass after the second dredge-up (equation 69).
    pub mc_du: f64,
    /// Begin of the thermal pulses.
    pub t_du: f64,
    /// Growth of the core during the thermal pulses, without third dredge-up.
    pub pulsing_agb: Clock,
    /// λ of the third dredge-up (equation 73).
    pub dredge_up: f64,
    /// Core mass at which a giant explodes (equation 75).
    pub mc_sn: f64,
    /// Flag that the explosion is by electron capture.
    pub captures_electrons: bool,
    /// Time of the explosion if the star loses no mass.
    pub t_max: f64,
    is_below_flash: bool,
    is_below_fgb: bool,
}

impl Landmarks {
    /// Effective mass, in solar masses, above which a star, made by mergers, has the landmarks of this one: the fits of
    /// its radius cannot be extrapolated further.
    pub const HEAVIEST: f64 = 150.0;

    /// Evaluates the landmarks of a star of effective mass `m0`, in solar masses.
    #[must_use]
    pub fn new(z: &Metallicity, remnants: &Remnants, m0: f64) -> Self {
        let (c, m0) = (&z.c, m0.min(Self::HEAVIEST));
        let (is_below_flash, is_below_fgb) = (m0 <= c.m_hef, m0 <= c.m_fgb);
        let relation = Relation::hydrogen(c, m0);
        let (t_bgb, l_bgb, l_hei) = (t_bgb(c, m0), l_bgb(c, m0), l_hei(c, m0));
        let core_at_bgb = relation.core(l_bgb);
        let mc_hei = if is_below_flash { relation.core(l_hei) } else { z.mc_hei_above_flash(m0) };
        let mc_bgb = match (is_below_flash, is_below_fgb) {
            (true, _) => core_at_bgb,
            (_, true) => z.mc_bgb_above_flash(m0),
            _ => mc_hei,
        };
        let giant_branch = Clock::new(relation, hydrogen_rate(m0), core_at_bgb, t_bgb);
        let t_hei = if is_below_fgb { giant_branch.time(relation.core(l_hei)) } else { t_bgb };
        let t_he = z.t_he(m0, mc_hei);
        let (t_bagb, l_bagb, mc_bagb) = (t_hei + t_he, l_bagb(c, m0), mc_bagb(c, m0));
        let early_agb = Clock::new(relation, A_HE, relation.core(l_bagb), t_bagb);
        let mc_du = if (0.8..2.25).contains(&mc_bagb) { 0.44 * mc_bagb + 0.448 } else { mc_bagb };
        let t_du = early_agb.time(mc_du);
        let (r_zams, t_hook) = (r_zams(c, m0), hook_share(c, m0) * t_bgb);
        let mut marks = Self {
            m0,
            l_zams: l_zams(c, m0),
            r_zams,
            l_tms: l_tms(c, m0),
            r_tms: r_tms(c, m0, r_zams),
            shape: Shape::new(c, m0),
            t_hook,
            t_ms: t_hook.max(c.x * t_bgb),
            t_bgb,
            l_bgb,
            mc_bgb,
            relation,
            giant_branch,
            t_hei,
            l_hei,
            mc_hei,
            t_he,
            t_bagb,
            l_bagb,
            mc_bagb,
            early_agb,
            mc_du,
            t_du,
            pulsing_agb: pulsing(relation, &early_agb, mc_du, t_du),
            dredge_up: (0.3 + 0.001 * pow(m0, 5.0)).min(0.9),
            mc_sn: 0.0,
            captures_electrons: remnants.captures_electrons(mc_bagb),
            t_max: 0.0,
            is_below_flash,
            is_below_fgb,
        };
        marks.set_explosion(remnants.core_growth);
        marks
    }

    /// Sets when and with which core a giant explodes (equation 75 and below).
    fn set_explosion(&mut self, core_growth: f64) {
        self.mc_sn = if self.captures_electrons {
            ELECTRON_CAPTURE_CORE
        } else {
            let grown = core_growth * self.relation.core(self.l_bagb);
            CHANDRASEKHAR.max(0.773 * self.mc_bagb - 0.35).max(grown)
        };
        let time = if self.mc_sn <= self.mc_du {
            self.early_agb.time(self.mc_sn)
        } else {
            self.pulsing_agb.time(self.before_dredge_up(self.mc_sn))
        };
        self.t_max = time.max(self.t_bagb);
    }

    /// Returns the core mass without third dredge-up where that with it is `core` (inverse of equation 73).
    fn before_dredge_up(&self, core: f64) -> f64 {
        (core - self.dredge_up * self.mc_du) / (1.0 - self.dredge_up)
    }

    /// Returns true if helium ignites in a flash.
    #[must_use]
    pub fn is_below_flash(&self) -> bool {
        self.is_below_flash
    }

    /// Returns true if helium ignites on the giant branch.
    #[must_use]
    pub fn is_below_fgb(&self) -> bool {
        self.is_below_fgb
    }

    /// Returns the luminosity at the end of the Hertzsprung gap.
    #[must_use]
    pub fn l_ehg(&self) -> f64 {
        if self.is_below_fgb { self.l_bgb } else { self.l_hei }
    }

    /// Returns the time at which the core is as heavy as the star, of type `kind` and present mass `m`, or explodes.
    #[must_use]
    pub fn t_n(&self, kind: Kind, m: f64) -> f64 {
        let is_asymptotic = kind >= Kind::EarlyAsymptoticGiant;
        let time = if (m - self.mc_bagb).abs() < 1e-14 && !is_asymptotic {
            self.t_bagb
        } else if m > self.mc_bagb || (m >= self.mc_du && is_asymptotic) {
            let pulses = kind == Kind::ThermallyPulsingGiant;
            self.pulsing_agb.time(if pulses { self.before_dredge_up(m) } else { m })
        } else {
            self.t_n_before_agb(m)
        };
        time.min(self.t_max)
    }

    fn t_n_before_agb(&self, m: f64) -> f64 {
        if m <= self.mc_bgb && self.is_below_fgb {
            self.t_bgb
        } else if m <= self.mc_hei {
            if !self.is_below_fgb {
                self.t_hei
            } else if self.is_below_flash {
                self.giant_branch.time(m)
            } else {
                self.t_bgb + (self.t_hei - self.t_bgb) * (m - self.mc_bgb) / (self.mc_hei - self.mc_bgb)
            }
        } else {
            self.t_hei + self.t_he * (m - self.mc_hei) / (self.mc_bagb - self.mc_hei)
        }
    }
}

/// Returns the clock of the thermal pulses. A core that begins on its second branch keeps the first one of the clock
/// before, as SSE has it: only the time at which a lighter core was as heavy as the star asks for it.
fn pulsing(relation: Relation, before: &Clock, core: f64, start: f64) -> Clock {
    let clock = Clock::new(relation, A_H_HE, core, start);
    if core > relation.mx { Clock { t1: before.t1, tx: before.tx, ..clock } } else { clock }
}

/// Returns the burnt mass for each solar luminosity and Myr on the first giant branch: A_H (below equation 43).
fn hydrogen_rate(m: f64) -> f64 {
    pow(10.0, (0.8 * m - 5.7).min(0.14 * m - 4.1).max(-4.8))
}
