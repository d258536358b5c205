//! Section `[stellar_evolution]`: stars that age, by the fits of Hurley, Pols & Tout (2000).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::real;
use tisane::units::names::YEAR_CGS;
use tisane::units::{Real, Units};
use tisane_stellar::{self as stellar, Options, Star};

/// Evolution of single stars: they lose mass by winds, become remnants, and are kicked at supernovae. For units by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "StellarEvolution")]
pub struct StellarEvolution {
    /// Metallicity Z, the share of the mass that is neither hydrogen nor helium: 1e-4 to 0.03; 0.02 is the Sun's.
    pub metallicity: Real,
    /// Age of all stars at the start, 0 or more; unit: time. Masses of the input are those at birth.
    pub start_age: Real,
    /// Recipe for winds.
    pub winds: WindRecipe,
    /// Factor of Reimers's wind of giants, 0 to 100.
    pub reimers: Real,
    /// Recipe for the masses of neutron stars and black holes.
    pub remnants: RemnantRecipe,
    /// Flag for neutron stars from electron capture.
    pub electron_capture: bool,
    /// Treatment of pair instability in heavy helium cores.
    pub pair_instability: PairInstability,
    /// Dispersion of the kicks at the collapse of iron cores, each component, in km/s.
    pub kick_dispersion: Real,
    /// The same after electron capture, in km/s.
    pub electron_capture_kick_dispersion: Real,
    /// Kicks of black holes.
    pub black_hole_kicks: BlackHoleKicks,
    /// Seed of the kicks, which depend on it and on the ids of the stars. Default: the seed of the initial conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kick_seed: Option<u64>,
    /// Largest relative loss of mass that orbits do not follow yet, 0 to 0.1; at 0 they follow at every multiple of dt_max.
    pub mass_step: Real,
}

impl Default for StellarEvolution {
    fn default() -> Self {
        Self {
            metallicity: real!(0.02),
            start_age: real!(0.0),
            winds: WindRecipe::default(),
            reimers: real!(0.5),
            remnants: RemnantRecipe::default(),
            electron_capture: true,
            pair_instability: PairInstability::default(),
            kick_dispersion: real!(265.0),
            electron_capture_kick_dispersion: real!(3.0),
            black_hole_kicks: BlackHoleKicks::default(),
            kick_seed: None,
            mass_step: real!(1e-3),
        }
    }
}

/// Declares names of recipes as users write them, each for that of the model.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($(#[$text:meta])* $variant:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$text])* $variant),*
        }

        impl From<$name> for stellar::$name {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant),*
                }
            }
        }
    };
}

names! {
    /// Recipe for winds.
    WindRecipe {
        /// No mass loss.
        #[serde(rename = "none")]
        None,
        /// Hurley, Pols & Tout (2000).
        #[serde(rename = "hurley2000")]
        Hurley2000,
        /// Belczynski et al. (2010), with hot stars by Vink et al. (2001).
        #[serde(rename = "belczynski2010")]
        #[default]
        Belczynski2010,
    }
}

names! {
    /// Recipe for the masses of neutron stars and black holes.
    RemnantRecipe {
        /// Hurley, Pols & Tout (2000).
        #[serde(rename = "hurley2000")]
        Hurley2000,
        /// Belczynski, Kalogera & Bulik (2002).
        #[serde(rename = "belczynski2002")]
        Belczynski2002,
        /// Belczynski et al. (2008).
        #[serde(rename = "belczynski2008")]
        Belczynski2008,
        /// Fryer et al. (2012), rapid explosions.
        #[serde(rename = "fryer2012-rapid")]
        #[default]
        Fryer2012Rapid,
        /// Fryer et al. (2012), delayed explosions.
        #[serde(rename = "fryer2012-delayed")]
        Fryer2012Delayed,
    }
}

names! {
    /// Treatment of pair instability.
    PairInstability {
        /// Not considered.
        #[serde(rename = "none")]
        #[default]
        None,
        /// Belczynski et al. (2016).
        #[serde(rename = "belczynski2016")]
        Belczynski2016,
        /// Moderate pulsations (Leung et al. 2019).
        #[serde(rename = "moderate")]
        Moderate,
        /// Weak pulsations (same source).
        #[serde(rename = "weak")]
        Weak,
    }
}

names! {
    /// Kicks of black holes.
    BlackHoleKicks {
        /// Kicks of neutron stars and black holes times one minus the share of the mass that falls back.
        #[serde(rename = "fallback")]
        #[default]
        Fallback,
        /// No kicks of black holes, full ones of neutron stars.
        #[serde(rename = "none")]
        None,
        /// Full kicks of both.
        #[serde(rename = "full")]
        Full,
    }
}

impl StellarEvolution {
    /// Returns the greatest age with which a star may begin, [`Star::LATEST`], in the user's unit of time.
    pub(crate) fn latest(units: &Units) -> f64 {
        Star::LATEST * 1e6 * YEAR_CGS / units.time.cgs
    }

    /// Returns the model of the stars; `seed` is that of the initial conditions.
    ///
    /// # Errors
    /// If a number is outside of its range.
    pub(crate) fn model(&self, seed: Option<u64>) -> Result<stellar::Model, stellar::Error> {
        let kicks = stellar::Kicks {
            sigma: self.kick_dispersion.get(),
            sigma_electron_capture: self.electron_capture_kick_dispersion.get(),
            black_holes: self.black_hole_kicks.into(),
            seed: self.kick_seed.or(seed).unwrap_or(stellar::Kicks::default().seed),
        };
        let winds =
            stellar::Winds { recipe: self.winds.into(), reimers: self.reimers.get(), ..stellar::Winds::default() };
        let remnants = stellar::Remnants {
            recipe: self.remnants.into(),
            electron_capture: self.electron_capture,
            pair_instability: self.pair_instability.into(),
            ..stellar::Remnants::default()
        };
        stellar::Model::new(self.metallicity.get(), Options { winds, remnants, kicks, ..Options::default() })
    }
}
