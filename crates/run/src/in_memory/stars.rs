//! Stars that age, as a program sees them.

use tisane::error::{Error, Result, nearest};
use tisane::units::Units;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS, YEAR_CGS};
use tisane_io::stellar_columns::StarState;

/// Stars that age at one time, in the order of the particles: one column a quantity, in the units of the configuration. They are those of
/// the tracks, which orbits take over at multiples of dt_max: the mass of a particle may be a little larger than that of its star.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stars {
    /// Types, 0 to 15 (Hurley, Pols & Tout 2000).
    pub stellar_type: Vec<u8>,
    /// Masses at birth; unit: mass.
    pub initial_mass: Vec<f64>,
    /// Masses of the cores; unit: mass.
    pub core_mass: Vec<f64>,
    /// Ages in the present life, which begins anew for naked helium stars and remnants; unit: time.
    pub age: Vec<f64>,
    /// Radii; unit: length.
    pub radius: Vec<f64>,
    /// Luminosities, in solar luminosities.
    pub luminosity: Vec<f64>,
    /// Effective temperatures, in K; NaN where nothing is left, and of black holes.
    pub temperature: Vec<f64>,
}

impl Stars {
    /// Names of the columns of numbers.
    pub const COLUMNS: [&str; 7] = ["type", "initial_mass", "core_mass", "age", "radius", "luminosity", "temperature"];

    /// Returns stars in solar units and Myr as those of these units.
    pub(super) fn new(stars: &[StarState], units: &Units) -> Self {
        let (msun, rsun) = (GM_SUN_CGS / G_CGS / units.mass.cgs, R_SUN_CGS / units.length.cgs);
        let myr = 1e6 * YEAR_CGS / units.time.cgs;
        let column = |value: fn(&StarState) -> f64, unit: f64| stars.iter().map(|star| value(star) * unit).collect();
        Self {
            stellar_type: stars.iter().map(|star| star.state.kind.number()).collect(),
            initial_mass: column(|star| star.initial_mass, msun),
            core_mass: column(|star| star.state.core_mass, msun),
            age: column(|star| star.state.age, myr),
            radius: column(|star| star.state.radius, rsun),
            luminosity: column(|star| star.state.luminosity, 1.0),
            temperature: column(StarState::temperature, 1.0),
        }
    }

    /// Returns the column of one of these names, in which types are numbers like all others.
    ///
    /// # Errors
    /// [`Error::Input`] for another name, with the nearest one.
    pub fn column(&self, name: &str) -> Result<Vec<f64>> {
        Ok(match name {
            "type" => self.stellar_type.iter().map(|kind| f64::from(*kind)).collect(),
            "initial_mass" => self.initial_mass.clone(),
            "core_mass" => self.core_mass.clone(),
            "age" => self.age.clone(),
            "radius" => self.radius.clone(),
            "luminosity" => self.luminosity.clone(),
            "temperature" => self.temperature.clone(),
            _ => {
                let near = nearest(name, &Self::COLUMNS);
                let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
                return Err(Error::input("particles", format!("stars have no column `{name}`{near}"))
                    .with_help(format!("they have {}", Self::COLUMNS.join(", "))));
            }
        })
    }
}
