//! Defaults written out, and the resolved configuration as TOML.

use std::path::{Path, absolute};

use serde_json::Value as Json;
use toml::de::DeTable;

use super::error::Problem;
use super::file::commented;
use super::number::Real;
use super::schema::{follow, summary};
use super::{Config, Initial, Integrator, System};
use crate::Result;

impl Config {
    /// Writes every default into its key, and makes the path of an input file absolute (from `base`). Defaults that
    /// depend on nothing are there already; what stays empty has no default: limits, and the start of a file.
    pub(super) fn resolve(&mut self, base: &Path) -> Result<(), Problem> {
        if self.units().is_henon() {
            self.units.system = Some(System::Henon);
        }
        if let Integrator::Hermite4(hermite) = &mut self.integrator {
            let (nu_start, dt_max, dt_min) = (hermite.nu_start(), hermite.dt_max(), hermite.dt_min());
            (hermite.nu_start, hermite.dt_max, hermite.dt_min) =
                (Some(Real::new(nu_start)), Some(Real::new(dt_max)), Some(Real::new(dt_min)));
        }
        let interval = self.output.interval.unwrap_or(Real::new(self.integrator.output_interval()));
        self.output.interval = Some(interval);
        self.output.snapshot_interval.get_or_insert(interval);
        self.output.diagnostics_interval.get_or_insert(interval);
        self.cluster.interval.get_or_insert(interval);
        self.output.directory.get_or_insert(format!("runs/{}", self.run.name));
        if !matches!(self.initial, Initial::File(_)) {
            self.run.t_start.get_or_insert(Real::new(0.0));
        }
        let precision = self.force.precision();
        self.force.precision = Some(precision);
        self.audit.limit = Some(Real::new(self.audit.limit(precision)));
        self.resolve_initial(base)
    }

    fn resolve_initial(&mut self, base: &Path) -> Result<(), Problem> {
        match &mut self.initial {
            Initial::Plummer(model) => {
                let (mass, radius) = (model.mass(), model.virial_radius());
                (model.mass, model.virial_radius) = (Some(Real::new(mass)), Some(Real::new(radius)));
            }
            Initial::UniformSphere(model) => {
                let (mass, radius) = (model.mass(), model.radius());
                (model.mass, model.radius) = (Some(Real::new(mass)), Some(Real::new(radius)));
            }
            Initial::TwoBody(model) => {
                let (m1, m2, axis) = (model.m1(), model.m2(), model.semi_major_axis());
                (model.m1, model.m2, model.semi_major_axis) =
                    (Some(Real::new(m1)), Some(Real::new(m2)), Some(Real::new(axis)));
            }
            Initial::File(model) => {
                let path = base.join(&model.path);
                let path = absolute(&path).unwrap_or(path);
                let wrong = || format!("{} is not UTF-8: the configuration cannot name it", path.display());
                model.path = path.to_str().ok_or_else(|| Problem::new("initial.file.path", wrong()))?.to_owned();
            }
            Initial::FigureEight {} | Initial::Pythagorean {} | Initial::SolarSystem {} => {}
        }
        Ok(())
    }

    /// The configuration as TOML: every parameter used, with its meaning and unit beside it. Reading it again gives the
    /// same configuration, bit for bit.
    ///
    /// # Errors
    /// [`crate::Error::Config`] for a number beyond TOML's integers (2⁶³), which no TOML file can have brought.
    pub fn resolved_toml(&self) -> Result<String> {
        commented(self, "Every parameter of the run, defaults written out.")
    }
}

/// The meaning of each value below a table, and the byte at which the value ends.
pub(super) fn collect(root: &Json, schema: &Json, table: &DeTable<'_>, comments: &mut Vec<(usize, String)>) {
    for (key, value) in table {
        let Some(schema) = property(root, schema, key.get_ref()) else { continue };
        match value.get_ref().as_table() {
            Some(table) => collect(root, schema, table, comments),
            None => comments.push((value.span().end, summary(root, schema))),
        }
    }
}

/// The schema of a key of a section, or of one of several models.
fn property<'a>(root: &'a Json, schema: &'a Json, key: &str) -> Option<&'a Json> {
    let schema = follow(root, schema);
    let mut choices = schema.get("oneOf").and_then(Json::as_array).into_iter().flatten().chain([schema]);
    choices.find_map(|choice| choice.get("properties")?.get(key))
}
