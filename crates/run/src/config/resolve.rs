//! Resolution of defaults, and the resolved configuration as TOML.

use std::path::{Path, absolute};

use super::configuration::Config;
use super::document::item_path;
use super::error::Problem;
use super::file::commented;
use super::initial::{BinarySingle, Initial, Masses, Model, ORIGIN, Size, TwoBody};
use super::sections::System;
use tisane::Result;
use tisane::real;
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use tisane::units::Real;

impl Config {
    /// Fills in every default that depends on other keys, and makes the paths of input files absolute (from `base`).
    /// Keys that stay empty have no default: limits, and the start time with an input file; or they follow from the
    /// particles: steps and intervals in units by name.
    pub(super) fn resolve(&mut self, base: &Path) -> Result<(), Problem> {
        if self.units().is_henon() {
            self.units.system = Some(System::Henon);
        }
        if self.law_section().is_some() {
            // Its binaries, escapers and densities are those of Newton's law.
            self.cluster.enabled = false;
        }
        if self.has_steps() {
            self.resolve_times()?;
        }
        self.output.directory.get_or_insert(format!("runs/{}", self.run.name));
        if !matches!(self.initial.model, Model::File(_)) {
            self.run.t_start.get_or_insert(real!(0.0));
        }
        let precision = self.force.precision();
        self.force.precision = Some(precision);
        self.audit.limit = Some(finite("audit.limit", self.audit.limit(precision))?);
        let (units, henon) = (self.units(), self.units().is_henon());
        if let Some(orbit) = &mut self.orbit {
            if orbit.sky.is_some() {
                orbit.sun.get_or_insert_default();
            }
            if let Some(sun) = &mut orbit.sun {
                sun.resolve(&units);
            }
        }
        self.resolve_tables(base)?;
        self.initial.resolve("initial", base, henon, 1)
    }

    /// Fills in the defaults of lengths of steps and intervals of outputs, once the longest step is known.
    pub(super) fn resolve_times(&mut self) -> Result<(), Problem> {
        if self.subsystems().is_some() && self.integrator.scheme().steps_set().is_some_and(|set| set.dt_min.is_none()) {
            self.resolve_floor_of_subsystems()?;
        }
        self.integrator.scheme_mut().resolve();
        let interval = match self.output.interval {
            Some(interval) => interval,
            None => finite("output.interval", self.integrator.scheme().output_interval())?,
        };
        self.output.interval = Some(interval);
        self.output.snapshot_interval.get_or_insert(interval);
        self.output.diagnostics_interval.get_or_insert(interval);
        self.cluster.interval.get_or_insert(interval);
        Ok(())
    }

    /// Sets the shortest step of a run with subsystems: the least possible, as these form and end between the steps of all
    /// others.
    pub(super) fn resolve_floor_of_subsystems(&mut self) -> Result<(), Problem> {
        let key = format!("{}.dt_max", self.integrator.info().section);
        let dt_min = self.integrator.scheme().dt_max() / f64::from(LOG2_TICKS_PER_DT_MAX).exp2();
        self.integrator.scheme_mut().set_dt_min(finite(&key, dt_min)?);
        Ok(())
    }

    /// Returns the configuration as TOML: every parameter, with its meaning and unit in a comment. Reading it again
    /// gives the same configuration, bit for bit.
    ///
    /// # Errors
    /// [`tisane::Error::Config`] for an integer of 2⁶³ or more, which TOML cannot hold.
    pub fn resolved_toml(&self) -> Result<String> {
        commented(self, "Every parameter of the run, defaults written out.")
    }
}

impl Initial {
    /// Fills in the defaults of the system at the key path `at`, the `number`th of a list.
    fn resolve(&mut self, at: &str, base: &Path, henon: bool, number: u64) -> Result<(), Problem> {
        match &mut self.model {
            Model::TwoBody(model) => {
                model.m1.get_or_insert(TwoBody::MASS);
                model.m2.get_or_insert(TwoBody::MASS);
                model.semi_major_axis.get_or_insert(TwoBody::SEMI_MAJOR_AXIS);
            }
            Model::BinarySingle(model) => {
                for mass in [&mut model.m1, &mut model.m2, &mut model.m3] {
                    mass.get_or_insert(BinarySingle::MASS);
                }
                model.semi_major_axis.get_or_insert(BinarySingle::SEMI_MAJOR_AXIS);
                let largest = finite(&format!("{at}.binary-single.impact_parameter"), model.impact_parameter())?;
                model.impact_parameter.get_or_insert(largest);
                model.seed.get_or_insert(number);
            }
            Model::Elements(model) => model.path = absolute_path(&format!("{at}.elements.path"), base, &model.path)?,
            Model::File(model) => model.path = absolute_path(&format!("{at}.file.path"), base, &model.path)?,
            Model::Clusters(clusters) => {
                for (number, cluster) in clusters.iter_mut().enumerate() {
                    let at = item_path(&format!("{at}.clusters"), number);
                    cluster.initial.resolve(&at, base, henon, number as u64 + 1)?;
                    if self.orbit.is_none() {
                        cluster.position.get_or_insert(ORIGIN);
                        cluster.velocity.get_or_insert(ORIGIN);
                    }
                }
            }
            _ => self.resolve_sampled(henon, number),
        }
        match &mut self.masses {
            Some(masses) => masses.resolve(&format!("{at}.masses.path"), base),
            None => Ok(()),
        }
    }

    fn resolve_sampled(&mut self, henon: bool, number: u64) {
        let Some((size, ratio)) = self.model.sampled().map(|model| (model.size(), model.default_virial_ratio())) else {
            return;
        };
        if let (Model::UniformSphere(model), Some(Size::Own(_, radius))) = (&mut self.model, size) {
            model.radius = Some(radius);
        }
        let Some(sampling) = self.model.sampling_mut() else { return };
        sampling.seed.get_or_insert(number);
        sampling.virial_ratio.get_or_insert(ratio);
        if let Some(Size::Virial(radius)) = size {
            sampling.virial_radius = Some(radius);
        }
        if henon {
            sampling.mass.get_or_insert(real!(1.0));
        }
    }
}

impl Masses {
    fn resolve(&mut self, key: &str, base: &Path) -> Result<(), Problem> {
        if let Some((min, max)) = self.default_limits() {
            self.m_min.get_or_insert(min);
            self.m_max.get_or_insert(max);
        }
        if let Some(path) = &mut self.path {
            *path = absolute_path(key, base, path)?;
        }
        Ok(())
    }
}

/// Returns a default as a [`Real`]. A default computed from other keys may be too large for a number.
fn finite(key: &str, value: f64) -> Result<Real, Problem> {
    Real::new(value).ok_or_else(|| Problem::new(key, format!("expected a finite number, and its default is {value}")))
}

/// Returns the absolute path of an input file, relative to the directory `base`.
pub(super) fn absolute_path(key: &str, base: &Path, path: &str) -> Result<String, Problem> {
    let path = base.join(path);
    let path = absolute(&path).unwrap_or(path);
    let wrong = || format!("{} is not UTF-8: the configuration cannot name it", path.display());
    Ok(path.to_str().ok_or_else(|| Problem::new(key, wrong()))?.to_owned())
}
