//! Mass loss by winds.

use crate::envelope::envelope_share;
use crate::state::{Kind, State};
use libm::{log10, pow};

/// Recipe for winds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindRecipe {
    /// No mass loss.
    None,
    /// Section 7.1 of Hurley, Pols & Tout (2000).
    Hurley2000,
    /// Belczynski et al. (2010, ApJ 714, 1217): hot stars by Vink, de Koter & Lamers (2001, A&A 369, 574), luminous
    /// blue variables and helium stars of their own, all others as above.
    #[default]
    Belczynski2010,
}

impl WindRecipe {
    /// All recipes.
    pub const ALL: [Self; 3] = [Self::None, Self::Hurley2000, Self::Belczynski2010];

    /// Returns the name in options and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Hurley2000 => "hurley2000",
            Self::Belczynski2010 => "belczynski2010",
        }
    }
}

/// Settings of the winds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Winds {
    /// Recipe.
    pub recipe: WindRecipe,
    /// Factor η of the law of Kudritzki & Reimers (1978) for giants.
    pub reimers: f64,
    /// Factor of the wind of helium stars in [`WindRecipe::Hurley2000`]: 0.5 or 1 in the literature.
    pub helium_stars: f64,
}

impl Default for Winds {
    fn default() -> Self {
        Self { recipe: WindRecipe::default(), reimers: 0.5, helium_stars: 0.5 }
    }
}

/// Solar metallicity that belongs to the formulae.
const SOLAR: f64 = 0.02;
/// Luminosity above which a star may be a luminous blue variable, in solar luminosities.
const HUMPHREYS_DAVIDSON: f64 = 6e5;

impl Winds {
    /// Returns the mass loss of a star at the metallicity `z`, in solar masses for each Myr.
    #[must_use]
    pub fn mass_loss(&self, z: f64, star: &State) -> f64 {
        let a_year = match self.recipe {
            _ if star.kind.is_remnant() => 0.0,
            WindRecipe::None => 0.0,
            WindRecipe::Hurley2000 => self.hurley(z, star),
            WindRecipe::Belczynski2010 => self.belczynski(z, star),
        };
        1e6 * a_year
    }

    fn hurley(&self, z: f64, star: &State) -> f64 {
        if star.kind.is_main_sequence() {
            luminous(z, star)
        } else if star.kind.is_helium_star() {
            self.reimers(star).max(self.helium_stars * wolf_rayet(star.luminosity))
        } else {
            self.cool_giant(z, star) + blue_variable(star)
        }
    }

    fn belczynski(&self, z: f64, star: &State) -> f64 {
        let l = star.luminosity;
        if star.kind.is_helium_star() {
            return wolf_rayet(l) * pow(z / SOLAR, 0.86);
        }
        if l > HUMPHREYS_DAVIDSON && 1e-5 * star.radius * l.sqrt() > 1.0 {
            return 1.5e-4;
        }
        let temperature = pow(10.0, 3.762 + 0.25 * log10(l) - 0.5 * log10(star.radius)).min(50_000.0);
        if temperature < 12_500.0 { self.cool_giant(z, star) } else { hot(z, star, temperature) }
    }

    /// Wind of hydrogen stars that are not hot.
    fn cool_giant(&self, z: f64, star: &State) -> f64 {
        let mut rate = luminous(z, star).max(self.reimers(star));
        if matches!(star.kind, Kind::EarlyAsymptoticGiant | Kind::ThermallyPulsingGiant) {
            rate = rate.max(superwind(star));
        }
        match envelope_share(star.kind, star.mass, star.core_mass, star.luminosity) {
            Some(mu) if mu < 1.0 => rate.max(wolf_rayet(star.luminosity) * (1.0 - mu)),
            _ => rate,
        }
    }

    fn reimers(&self, star: &State) -> f64 {
        4e-13 * self.reimers * star.luminosity * star.radius / star.mass
    }
}

/// Wind of luminous stars (Nieuwenhuijzen & de Jager 1990, A&A 231, 134, with a dependence on Z).
fn luminous(z: f64, star: &State) -> f64 {
    let l = star.luminosity;
    if l <= 4000.0 {
        return 0.0;
    }
    let begin = ((l - 4000.0) / 500.0).min(1.0);
    9.6e-15 * begin * pow(star.radius, 0.81) * pow(l, 1.24) * pow(star.mass, 0.16) * (z / SOLAR).sqrt()
}

/// Wind of pulsating giants (Vassiliadis & Wood 1993, ApJ 413, 641).
fn superwind(star: &State) -> f64 {
    let period = pow(10.0, -2.07 - 0.9 * log10(star.mass) + 1.94 * log10(star.radius)).min(2000.0);
    let delay = 100.0 * (star.mass - 2.5).max(0.0);
    pow(10.0, -11.4 + 0.0125 * (period - delay)).min(1.36e-9 * star.luminosity)
}

/// Wind of stars that have lost their envelope (Hamann, Koesterke & Wessolowski 1995, reduced).
fn wolf_rayet(luminosity: f64) -> f64 {
    1e-13 * pow(luminosity, 1.5)
}

/// Further loss of luminous blue variables (Humphreys & Davidson 1994).
fn blue_variable(star: &State) -> f64 {
    let excess = 1e-5 * star.radius * star.luminosity.sqrt() - 1.0;
    if star.luminosity > HUMPHREYS_DAVIDSON && excess > 0.0 {
        0.1 * pow(excess, 3.0) * (star.luminosity / HUMPHREYS_DAVIDSON - 1.0)
    } else {
        0.0
    }
}

/// Wind of hot hydrogen stars on both sides of the jump at 25000 K (Vink et al. 2001, equations 24 and 25).
fn hot(z: f64, star: &State, temperature: f64) -> f64 {
    let (log_l, log_m) = (log10(star.luminosity / 1e5), log10(star.mass / 30.0));
    let metals = 0.85 * log10(z / SOLAR);
    let log_rate = if temperature <= 25_000.0 {
        let cold = 1.07 * log10(temperature.min(22_500.0) / 20_000.0);
        -6.688 + 2.210 * log_l - 1.339 * log_m - 1.601 * log10(1.3 / 2.0) + metals + cold
    } else {
        let y = log10(temperature.max(27_500.0) / 40_000.0);
        let warm = 0.933 * y * (1.0 - 11.704 * y);
        -6.697 + 2.194 * log_l - 1.313 * log_m - 1.226 * log10(2.6 / 2.0) + metals + warm
    };
    pow(10.0, log_rate)
}
