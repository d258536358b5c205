//! External fields of a configuration: their tables, and the field that is built of them.

use super::configuration::Config;
use super::error::Problem;
use super::resolve::absolute_path;
use std::path::Path;
use std::sync::Arc;
use tisane::force::external::{ExternalField, FieldUnits, Mistake, Tables, TimeTable};
use tisane::units::Scale;
use tisane_io::formats::read_time_table;

/// Tables in files, by absolute paths.
#[derive(Debug)]
struct Files;

impl Tables for Files {
    fn read(&self, path: &str, columns: &[&'static str]) -> Result<TimeTable, String> {
        read_time_table(Path::new(path), columns).map_err(|error| error.to_string())
    }
}

/// Returns a mistake in the settings of a field as a problem.
pub(super) fn problem(mistake: Mistake) -> Problem {
    match mistake.formula {
        Some(formula) => Problem::in_formula(mistake.key, formula),
        None => Problem::new(mistake.key, mistake.problem),
    }
}

impl Config {
    /// Returns the sum of all fields in internal units, if there are any; `scale` has the user units in one internal unit.
    ///
    /// # Errors
    /// [`Problem`] with the key, for values that make no field, and for tables with file and line.
    pub fn external_field(&self, scale: &Scale) -> Result<Option<Arc<dyn ExternalField>>, Problem> {
        self.external.build(FieldUnits { units: &self.units(), scale, tables: &Files }).map_err(problem)
    }

    /// Returns every file that particles, masses or fields are read from, with its key.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, &Path)> {
        let mut found = self.initial.inputs();
        for (section, field) in self.external.sections() {
            found.extend(
                field.all_tables().into_iter().map(|(key, path)| (format!("{section}.{key}"), Path::new(path))),
            );
        }
        found
    }

    /// Makes the paths of tables absolute, from `base`.
    pub(super) fn resolve_tables(&mut self, base: &Path) -> Result<(), Problem> {
        for field in self.external.iter_mut() {
            let section = field.section();
            field.each_table_mut(|key, path| {
                *path = absolute_path(&format!("{section}.{key}"), base, path)?;
                Ok::<_, Problem>(())
            })?;
        }
        Ok(())
    }
}
