//! What is the same for all stars: the metallicity and the options.

use crate::error::Error;
use crate::kicks::Kicks;
use crate::metallicity::Metallicity;
use crate::remnants::Remnants;
use crate::winds::Winds;

/// Longest steps of a track, as shares of the time scales of its phases. A step never loses more than 1 % of the mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Share for the main sequences and the Hertzsprung gap, types 0, 1, 2 and 7.
    pub main_sequence: f64,
    /// Share for the first giant branch, core helium burning and helium giants, types 3, 4, 8 and 9.
    pub giants: f64,
    /// Share for the asymptotic giant branch, types 5 and 6.
    pub asymptotic: f64,
}

impl Default for Steps {
    fn default() -> Self {
        Self { main_sequence: 0.01, giants: 0.005, asymptotic: 0.005 }
    }
}

/// Options of stellar evolution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Winds.
    pub winds: Winds,
    /// White dwarfs, neutron stars and black holes.
    pub remnants: Remnants,
    /// Kicks at supernovae.
    pub kicks: Kicks,
    /// Steps of the tracks.
    pub steps: Steps,
}

impl Options {
    /// Checks that all numbers are in their ranges.
    fn check(&self) -> Result<(), Error> {
        let Self { winds, remnants, kicks, steps } = self;
        for (quantity, value, bounds) in [
            ("factor of Reimers's wind", winds.reimers, (0.0, 100.0)),
            ("factor of the wind of helium stars", winds.helium_stars, (0.0, 100.0)),
            ("growth of the core until the supernova", remnants.core_growth, (1.0, 2.0)),
            ("dispersion of kicks in km/s", kicks.sigma, (0.0, 1e5)),
            ("dispersion of kicks after electron capture in km/s", kicks.sigma_electron_capture, (0.0, 1e5)),
            ("step on the main sequence", steps.main_sequence, (1e-5, 0.1)),
            ("step of giants", steps.giants, (1e-5, 0.1)),
            ("step on the asymptotic giant branch", steps.asymptotic, (1e-5, 0.1)),
        ] {
            Error::unless_within(quantity, value, bounds)?;
        }
        Ok(())
    }
}

/// Model of stellar evolution: with it, the life of a star is a function of its mass at birth.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    metallicity: Metallicity,
    options: Options,
}

impl Model {
    /// Creates the model for a metallicity Z (a share of the mass, 1e-4 to 0.03) and options.
    ///
    /// # Errors
    /// If a number is outside of its range.
    pub fn new(z: f64, options: Options) -> Result<Self, Error> {
        options.check()?;
        Ok(Self { metallicity: Metallicity::new(z)?, options })
    }

    /// Returns the model with the same options for another metallicity.
    ///
    /// # Errors
    /// If it is outside of its range.
    pub fn at_metallicity(&self, z: f64) -> Result<Self, Error> {
        Ok(Self { metallicity: Metallicity::new(z)?, options: self.options })
    }

    /// Returns the fits at the metallicity.
    #[must_use]
    pub fn metallicity(&self) -> &Metallicity {
        &self.metallicity
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}
