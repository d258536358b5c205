//! Output of a study: tables and figures.

use super::integrators::Integrator;
use super::model::Model;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane_io::table::{Column, Table, Values};
use tisane_plot::{Figure, Theme};

/// Name of the remark of a table on a law in place of Newton's.
pub(super) const LAW: &str = "law";

/// Name of the file of a fitted performance model.
pub const MODEL: &str = "model.toml";

/// The result of a study.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Tables by the names of their files.
    pub tables: Vec<(&'static str, Table)>,
    /// Figures by the names of their files.
    pub figures: Vec<(&'static str, Figure)>,
    /// The performance model, where the study fits one.
    pub model: Option<Model>,
    /// Names of tables and of figures that some sweeps of the study have.
    pub optional: [&'static [&'static str]; 2],
}

impl Report {
    /// Writes every table as CSV and HDF5 and every figure as SVG and PNG, light and dark. Returns the paths. Files that an older sweep
    /// left and this one does not have are removed.
    ///
    /// # Errors
    /// [`tisane::Error::Storage`].
    pub fn write(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        self.remove_older(dir)?;
        let mut paths = Vec::new();
        for (name, table) in &self.tables {
            let (csv, hdf5) = (dir.join(format!("{name}.csv")), dir.join(format!("{name}.hdf5")));
            table.write_csv(&csv)?;
            table.write_hdf5(&hdf5)?;
            paths.extend([csv, hdf5]);
        }
        for (name, figure) in &self.figures {
            paths.extend(figure.write(&dir.join(name), &Theme::ALL)?);
        }
        if let Some(model) = &self.model {
            paths.push(dir.join(MODEL));
            model.write(&dir.join(MODEL))?;
        }
        Ok(paths)
    }

    fn remove_older(&self, dir: &Path) -> Result<()> {
        let [tables, figures] = self.optional;
        let tables = tables.iter().filter(|name| self.tables.iter().all(|(there, _)| there != *name));
        let figures = figures.iter().filter(|name| self.figures.iter().all(|(there, _)| there != *name));
        let tables = tables.flat_map(|name| ["csv", "hdf5"].map(|ending| dir.join(format!("{name}.{ending}"))));
        let of_themes = |name: &str| Theme::ALL.map(|theme| format!("{name}{}", theme.suffix()));
        let stems = figures.flat_map(|name| of_themes(name));
        let figures = stems.flat_map(|stem| ["svg", "png"].map(|ending| dir.join(format!("{stem}.{ending}"))));
        for path in tables.chain(figures) {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::storage(&path, error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Rows that become columns.
pub struct Rows<'a, T>(pub &'a [T]);

impl<T> Rows<'_, T> {
    /// Makes a column of text.
    pub fn text(&self, name: &str, text: &str, of: impl Fn(&T) -> String) -> Column {
        Column::new(name, "", text, Values::Text(self.0.iter().map(of).collect()))
    }

    /// Makes a column of counts.
    pub fn counts(&self, name: &str, unit: &str, text: &str, of: impl Fn(&T) -> u64) -> Column {
        Column::new(name, unit, text, Values::Counts(self.0.iter().map(of).collect()))
    }

    /// Makes a column of measured quantities.
    pub fn numbers(&self, name: &str, unit: &str, text: &str, of: impl Fn(&T) -> f64) -> Column {
        Column::new(name, unit, text, Values::Floats(self.0.iter().map(of).collect()))
    }
}

impl<T> Rows<'_, T> {
    /// Makes the columns of the accuracies of integrators, `nu` and `eta`: each is NaN where the integrator has the
    /// other.
    pub fn accuracies(&self, text: &str, of: impl Fn(&T) -> Option<(Integrator, f64)>) -> [Column; 2] {
        ["nu", "eta"].map(|key| {
            let value = |row: &T| of(row).filter(|(it, _)| it.accuracy_key() == key).map_or(f64::NAN, |(_, x)| x);
            self.numbers(key, "1", &format!("{text}, where the integrator has {key}"), value)
        })
    }
}

/// The names of some modes, each once, in their usual order.
pub fn mode_names(modes: impl Iterator<Item = Precision>) -> String {
    let there: Vec<Precision> = modes.collect();
    let names: Vec<&str> =
        Precision::ALL.into_iter().filter(|mode| there.contains(mode)).map(Precision::name).collect();
    names.join(", ")
}
