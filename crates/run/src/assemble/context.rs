//! What models need while a system is built.

use super::tide::tide_source;
use crate::config::{Loaded, Problem};
use tisane::error::Result;
use tisane::time::Clock;
use tisane::units::{Real, Scale, Units};

/// Number of steps in which an orbit is followed back where the longest step of the run is not known yet. The path is the same to
/// 2⁻⁴⁶ for any number.
const STEPS_BACK: f64 = 1024.0;

/// Configuration, units and warnings while a system is built.
pub(super) struct Context<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) units: Units,
    pub(super) warnings: &'a mut Vec<String>,
}

impl Context<'_> {
    /// Returns a number, 1 if there is none, times the tidal radius at the start of a mass, both in the units of the configuration;
    /// `key` is that of the number.
    ///
    /// # Errors
    /// [`Error::Config`](tisane::Error::Config) at the key where there is no tidal radius, and at those of the orbit and the fields.
    pub(super) fn tidal_radius(&self, key: &str, number: Option<Real>, mass: f64) -> Result<Real> {
        let (config, scale) = (&self.loaded.config, Scale::choose(&self.units, mass, 1.0));
        let wrong = |problem: &str| {
            let help = "give a radius of the model, or another orbit";
            self.loaded.explain(Problem::new(key, problem).with_help(help))
        };
        let Some(source) = tide_source(config, &scale)? else { return Err(wrong("there is no tide")) };
        let start = config.t_start().unwrap_or(0.0) / scale.time;
        let back = config.orbit.as_ref().and_then(|orbit| orbit.back).map_or(1.0, Real::get);
        let dt_max = if config.has_steps() { config.dt_max() } else { back / STEPS_BACK };
        let clock = Clock { start, dt_max: dt_max / scale.time };
        let orbit = config.orbit.as_ref().map(|orbit| orbit.state(&*source.field, &clock, (&self.units, &scale)));
        let orbit = orbit.transpose().map_err(|problem| self.loaded.explain(problem))?;
        let radius = source.with_origin(orbit, start).radius(mass / scale.mass);
        let radius = radius.and_then(|radius| Real::new(radius * scale.length * number.map_or(1.0, Real::get)));
        radius.ok_or_else(|| {
            wrong("there is no tidal radius at the start: the tide compresses there, as in the core of a galaxy")
        })
    }
}
