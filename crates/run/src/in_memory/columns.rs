//! Columns of the particles that a law reads, as a program sets and sees them: charges, for instance. Their numbers are
//! those of the program, in the unit that the law gives them.

use super::InMemory;
use super::change::{find, places};
use tisane::error::{Error, Result, nearest};
use tisane::particles::{NamedColumn, Particles};

/// Value of a particle that was given none: the simulation does not start with it.
const MISSING: f64 = f64::NAN;

/// Adds values of `n` new particles to each column, those of the law's `names` among them; `given` has some of them.
pub(super) fn extend(p: &mut Particles, names: &[String], n: usize, given: &[(&str, &[f64])]) {
    let before = p.len();
    for name in names {
        column_of(p, name, before);
    }
    for column in &mut p.columns {
        let values = given.iter().find(|(name, _)| *name == column.name).map(|(_, values)| *values);
        column.values.resize(before, MISSING);
        column.values.extend_from_slice(values.unwrap_or(&vec![MISSING; n]));
    }
}

/// Returns the values of a column of `n` particles, made if there is none, in the order of names that files have.
fn column_of<'a>(p: &'a mut Particles, name: &str, n: usize) -> &'a mut Vec<f64> {
    let place = match p.columns.binary_search_by(|column| column.name.as_str().cmp(name)) {
        Ok(place) => place,
        Err(place) => {
            p.columns.insert(place, NamedColumn { name: name.to_owned(), values: vec![MISSING; n] });
            place
        }
    };
    &mut p.columns[place].values
}

impl InMemory {
    /// Returns the names of the columns that the law of the settings reads.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        self.config().law_section().map(crate::config::LawSection::column_names).unwrap_or_default()
    }

    /// Checks columns of `n` values.
    pub(super) fn check_columns(&self, id: &[u64], columns: &[(&str, &[f64])]) -> Result<()> {
        let wrong = |problem: String| Err(Error::input("particles", problem));
        for (name, values) in columns {
            self.check_name(name)?;
            if values.len() != id.len() {
                return wrong(format!("columns of different lengths: {} and {} of `{name}`", id.len(), values.len()));
            }
            if let Some((i, value)) = find(values, |value| !value.is_finite()) {
                return wrong(format!("id {}: {name} is {value:?}: expected a finite number", id[i]));
            }
        }
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<()> {
        let known = self.column_names();
        if known.iter().any(|it| it == name) {
            return Ok(());
        }
        let error = |problem: String| Error::input("particles", problem);
        if known.is_empty() {
            let help = "columns are those that a law in place of Newton's reads: set [force.law] first";
            return Err(error(format!("no law reads a column `{name}`")).with_help(help));
        }
        let near = nearest(name, &known.iter().map(String::as_str).collect::<Vec<_>>());
        let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        Err(error(format!("the law reads no column `{name}`{near}"))
            .with_help(format!("it reads {}", known.join(", "))))
    }

    /// Returns the values of all particles in a column that the law reads: NaN for those that were given none.
    ///
    /// # Errors
    /// [`Error::Input`] for a column that the law does not read.
    pub fn column(&self, name: &str) -> Result<Vec<f64>> {
        self.check_name(name)?;
        let p = self.particles();
        Ok(p.column(name).map_or_else(|| vec![MISSING; p.len()], <[f64]>::to_vec))
    }

    /// Gives some particles new values in a column that the law reads.
    ///
    /// # Errors
    /// [`Error::Input`] for a column that the law does not read, numbers that are not finite, another number of them, and
    /// identities that there are not; then nothing has changed.
    pub fn set_column(&mut self, name: &str, id: &[u64], values: &[f64]) -> Result<()> {
        self.check_columns(id, &[(name, values)])?;
        if id.is_empty() {
            return Ok(());
        }
        let index = places(self.particles(), id)?;
        let (p, _) = self.editable()?;
        let n = p.len();
        let column = column_of(p, name, n);
        for (i, value) in index.into_iter().zip(values) {
            column[i] = *value;
        }
        Ok(())
    }
}
