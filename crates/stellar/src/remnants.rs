//! What a star leaves behind: white dwarfs, and the recipes for neutron stars and black holes. Masses in solar masses.

use crate::compact::CHANDRASEKHAR;
use crate::state::Kind;

/// Core of carbon and oxygen at which oxygen and neon in it capture electrons, in solar masses.
pub(crate) const ELECTRON_CAPTURE_CORE: f64 = 1.372;
/// Mass of a neutron star from electron capture, in solar masses.
pub(crate) const ELECTRON_CAPTURE_REMNANT: f64 = 1.26;
/// Helium cores at the base of the asymptotic giant branch between which electrons are captured, if that is on.
const ELECTRON_CAPTURE_RANGE: (f64, f64) = (1.6, 2.25);
/// Least helium core, at the same place, that does not burn carbon in a degenerate core.
const NEON: f64 = 1.6;
/// Share of the baryonic mass that a black hole has.
const BLACK_HOLE_SHARE: f64 = 0.9;

/// Recipe for the masses of neutron stars and black holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RemnantRecipe {
    /// Hurley, Pols & Tout (2000, equation 92): black holes above 1.8.
    Hurley2000,
    /// Belczynski, Kalogera & Bulik (2002, ApJ 572, 407): black holes above 3.
    Belczynski2002,
    /// Belczynski et al. (2008, ApJS 174, 223): black holes above 2.5, as in the two below.
    Belczynski2008,
    /// Fryer et al. (2012, ApJ 749, 91), rapid explosions.
    #[default]
    Fryer2012Rapid,
    /// Fryer et al. (2012), delayed explosions.
    Fryer2012Delayed,
}

impl RemnantRecipe {
    /// All recipes.
    pub const ALL: [Self; 5] =
        [Self::Hurley2000, Self::Belczynski2002, Self::Belczynski2008, Self::Fryer2012Rapid, Self::Fryer2012Delayed];

    /// Returns the name in options and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hurley2000 => "hurley2000",
            Self::Belczynski2002 => "belczynski2002",
            Self::Belczynski2008 => "belczynski2008",
            Self::Fryer2012Rapid => "fryer2012-rapid",
            Self::Fryer2012Delayed => "fryer2012-delayed",
        }
    }
}

/// Pair instability of heavy helium cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairInstability {
    /// Not considered.
    #[default]
    None,
    /// Belczynski et al. (2016, A&A 594, A97): cores of 45 to 65 leave 40.5, of 65 to 135 nothing.
    Belczynski2016,
    /// Moderate pulsations of cores of 40 to 65 (Leung, Nomoto & Blinnikov 2019, ApJ 887, 72), nothing from 65 to 135.
    Moderate,
    /// Weak pulsations (same source).
    Weak,
}

impl PairInstability {
    /// All treatments.
    pub const ALL: [Self; 4] = [Self::None, Self::Belczynski2016, Self::Moderate, Self::Weak];

    /// Returns the name in options and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Belczynski2016 => "belczynski2016",
            Self::Moderate => "moderate",
            Self::Weak => "weak",
        }
    }
}

/// Settings of the remnants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remnants {
    /// Recipe for neutron stars and black holes.
    pub recipe: RemnantRecipe,
    /// Flag for neutron stars from electron capture.
    pub electron_capture: bool,
    /// Pair instability.
    pub pair_instability: PairInstability,
    /// Least growth of the core of carbon and oxygen from the base of the asymptotic giant branch to the explosion
    /// (equation 75): 1.05 in SSE, 1.02 in the codes of the NBODY family.
    pub core_growth: f64,
}

impl Default for Remnants {
    fn default() -> Self {
        Self {
            recipe: RemnantRecipe::default(),
            electron_capture: true,
            pair_instability: PairInstability::default(),
            core_growth: 1.05,
        }
    }
}

/// Cause of a supernova.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Collapse of an iron core.
    CoreCollapse,
    /// Collapse of a core of oxygen and neon that captures electrons.
    ElectronCapture,
    /// Pulses of pair instability, then collapse.
    PulsationalPairInstability,
    /// Pair instability that leaves nothing.
    PairInstability,
    /// Thermonuclear explosion that leaves nothing: carbon in a degenerate core, or a white dwarf that is too heavy.
    Thermonuclear,
}

impl Cause {
    /// Returns the name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreCollapse => "core collapse",
            Self::ElectronCapture => "electron capture",
            Self::PulsationalPairInstability => "pulsational pair instability",
            Self::PairInstability => "pair instability",
            Self::Thermonuclear => "thermonuclear explosion",
        }
    }
}

/// A supernova.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Supernova {
    /// Cause.
    pub cause: Cause,
    /// Share of the ejected mass that falls back, 0 to 1: 1 is a direct collapse.
    pub fallback: f64,
}

/// Remnant of a star: its type and mass, and the supernova if there was one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Remnant {
    pub kind: Kind,
    pub mass: f64,
    pub supernova: Option<Supernova>,
}

impl Remnant {
    /// Returns a remnant without explosion.
    pub fn quiet(kind: Kind, mass: f64) -> Self {
        Self { kind, mass, supernova: None }
    }

    /// Returns the end of a star that leaves nothing.
    pub fn nothing(cause: Cause) -> Self {
        Self { kind: Kind::NoRemnant, mass: 0.0, supernova: Some(Supernova { cause, fallback: 0.0 }) }
    }

    /// Returns the neutron star from electron capture.
    pub fn of_electron_capture() -> Self {
        let supernova = Some(Supernova { cause: Cause::ElectronCapture, fallback: 0.0 });
        Self { kind: Kind::NeutronStar, mass: ELECTRON_CAPTURE_REMNANT, supernova }
    }
}

/// Giant at the end of its life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dying {
    /// Core of carbon and oxygen.
    pub core: f64,
    /// Mass of the helium core, or of the helium star, that decides what the core becomes.
    pub helium: f64,
    /// Mass of the star.
    pub mass: f64,
    /// Flag of a naked helium star.
    pub is_helium_star: bool,
}

impl Remnants {
    /// Returns true if a star with this helium core at the base of the asymptotic giant branch explodes by electron
    /// capture.
    pub(crate) fn captures_electrons(&self, mc_bagb: f64) -> bool {
        let (least, greatest) = ELECTRON_CAPTURE_RANGE;
        self.electron_capture && mc_bagb >= least && mc_bagb <= greatest
    }

    /// Returns the mass of the heaviest neutron star.
    #[must_use]
    pub fn heaviest_neutron_star(&self) -> f64 {
        match self.recipe {
            RemnantRecipe::Hurley2000 => 1.8,
            RemnantRecipe::Belczynski2002 => 3.0,
            _ => 2.5,
        }
    }

    /// Returns the type of a compact star of this mass: neutron star or black hole.
    pub(crate) fn compact_kind(&self, mass: f64) -> Kind {
        if mass <= self.heaviest_neutron_star() { Kind::NeutronStar } else { Kind::BlackHole }
    }

    /// Returns what a giant leaves whose core has reached its end (below equation 75 and equation 89).
    pub(crate) fn of(&self, star: &Dying) -> Remnant {
        let &Dying { core, helium, mass, is_helium_star } = star;
        if core >= CHANDRASEKHAR {
            return if helium < NEON { Remnant::nothing(Cause::Thermonuclear) } else { self.collapse(star) };
        }
        if helium >= NEON {
            return Remnant::quiet(Kind::OxygenNeonWhiteDwarf, core);
        }
        // The rest of a light helium star is not lost: the core grows until 1.45 M - 0.31 (equation 89).
        let left = if is_helium_star { core.max((core + 0.31) / 1.45).min(mass) } else { core };
        Remnant::quiet(Kind::CarbonOxygenWhiteDwarf, left)
    }

    fn collapse(&self, star: &Dying) -> Remnant {
        if let Some(remnant) = self.pair_unstable(star.helium, star.mass) {
            return remnant;
        }
        let (mass, fallback) = self.collapsed(star.core, star.mass);
        let kind = self.compact_kind(mass);
        // Equation 92 gives no fallback: a black hole counts as a direct collapse.
        let is_direct = self.recipe == RemnantRecipe::Hurley2000 && kind == Kind::BlackHole;
        let fallback = if is_direct { 1.0 } else { fallback };
        Remnant { kind, mass, supernova: Some(Supernova { cause: Cause::CoreCollapse, fallback }) }
    }

    /// Returns the remnant of a helium core that pair instability disturbs, [`None`] for all others.
    fn pair_unstable(&self, helium: f64, mass: f64) -> Option<Remnant> {
        let least = match self.pair_instability {
            PairInstability::None => return None,
            PairInstability::Belczynski2016 => 45.0,
            PairInstability::Moderate | PairInstability::Weak => 40.0,
        };
        if helium < least || helium >= 135.0 {
            return None;
        }
        if helium >= 65.0 {
            return Some(Remnant::nothing(Cause::PairInstability));
        }
        let baryons = match self.pair_instability {
            PairInstability::Moderate if helium < 60.0 => 0.65 * helium + 12.2,
            PairInstability::Moderate if helium < 62.5 => 51.2,
            PairInstability::Moderate => -14.3 * helium + 938.0,
            PairInstability::Weak if helium < 60.0 => 0.83 * helium + 6.0,
            PairInstability::Weak if helium < 62.5 => 55.6,
            PairInstability::Weak => -14.3 * helium + 938.1,
            PairInstability::Belczynski2016 | PairInstability::None => 45.0,
        };
        let supernova = Some(Supernova { cause: Cause::PulsationalPairInstability, fallback: 1.0 });
        Some(Remnant { kind: Kind::BlackHole, mass: BLACK_HOLE_SHARE * baryons.min(mass), supernova })
    }

    /// Returns the mass after the collapse of a core in a star of mass `m`, and the share that falls back.
    fn collapsed(&self, core: f64, m: f64) -> (f64, f64) {
        let (proto, fallback) = match self.recipe {
            RemnantRecipe::Hurley2000 => return (1.17 + 0.09 * core, 0.0),
            RemnantRecipe::Belczynski2002 => (iron_core_2002(core), fallback_2002(core)),
            RemnantRecipe::Belczynski2008 => (iron_core_2008(core), fallback_2002(core)),
            RemnantRecipe::Fryer2012Rapid => (1.0, fallback_rapid(core, m - 1.0)),
            RemnantRecipe::Fryer2012Delayed => {
                let proto = proto_delayed(core);
                (proto, fallback_delayed(core, m - proto))
            }
        };
        let baryons = (proto + fallback * (m - proto)).min(m);
        let is_baryonic = self.recipe == RemnantRecipe::Belczynski2002;
        (if is_baryonic { baryons } else { self.gravitational(baryons) }, fallback)
    }

    /// Returns the gravitational mass of a compact star of this baryonic mass (Timmes, Woosley & Weaver 1996, ApJ 457,
    /// 834, for neutron stars), with a smooth change to black holes above the heaviest neutron star.
    fn gravitational(&self, baryons: f64) -> f64 {
        let heaviest = self.heaviest_neutron_star();
        let mass = ((1.0 + 0.3 * baryons).sqrt() - 1.0) / 0.15;
        if mass <= heaviest {
            mass
        } else if mass <= heaviest + 1.0 {
            let end = 1.0 / (0.075 * heaviest + 1.0);
            baryons * (BLACK_HOLE_SHARE - (heaviest + 1.0 - mass) * (BLACK_HOLE_SHARE - end))
        } else {
            BLACK_HOLE_SHARE * baryons
        }
    }
}

fn iron_core_2002(core: f64) -> f64 {
    if core < 2.5 { 0.161_767 * core + 1.067_055 } else { 0.314_154 * core + 0.686_088 }
}

fn iron_core_2008(core: f64) -> f64 {
    if core < 4.82 {
        1.5
    } else if core < 6.31 {
        2.11
    } else if core < 6.75 {
        0.69255 * core - 2.26
    } else {
        0.37 * core - 0.0828
    }
}

fn fallback_2002(core: f64) -> f64 {
    ((core - 5.0) / 2.6).clamp(0.0, 1.0)
}

/// Returns the share of the mass `rest` outside of the proto-neutron star that falls back (Fryer et al. 2012, equation
/// 16).
fn fallback_rapid(core: f64, rest: f64) -> f64 {
    if core < 2.5 {
        0.2 / rest
    } else if core < 6.0 {
        (0.286 * core - 0.514) / rest
    } else if core < 7.0 {
        1.0
    } else if core < 11.0 {
        let slope = 0.25 - 1.275 / rest;
        slope * core + 1.0 - 11.0 * slope
    } else {
        1.0
    }
}

fn proto_delayed(core: f64) -> f64 {
    if core < 3.5 {
        1.2
    } else if core < 6.0 {
        1.3
    } else if core < 11.0 {
        1.4
    } else {
        1.6
    }
}

/// Returns the same of delayed explosions (Fryer et al. 2012, equation 19).
fn fallback_delayed(core: f64, rest: f64) -> f64 {
    if core < 2.5 {
        0.2 / rest
    } else if core < 3.5 {
        (0.5 * core - 1.05) / rest
    } else if core < 11.0 {
        let slope = 0.133 - 0.093 / rest;
        slope * core + 1.0 - 11.0 * slope
    } else {
        1.0
    }
}
