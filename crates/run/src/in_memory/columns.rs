//! Columns of the particles that a law reads, as a program sets and sees them: charges, for instance. Their numbers are
//! those of the program, in the unit that the law gives them.

use tisane::particles::{NamedColumn, Particles};

/// Value of a particle that was given none: the simulation does not start with it.
pub(super) const MISSING: f64 = f64::NAN;

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
pub(super) fn column_of<'a>(p: &'a mut Particles, name: &str, n: usize) -> &'a mut Vec<f64> {
    let place = match p.columns.binary_search_by(|column| column.name.as_str().cmp(name)) {
        Ok(place) => place,
        Err(place) => {
            p.columns.insert(place, NamedColumn { name: name.to_owned(), values: vec![MISSING; n] });
            place
        }
    };
    &mut p.columns[place].values
}
