//! Columns of the input in which stars that age have their own age and metallicity.

use crate::config::{Config, StellarEvolution};
use tisane_stellar::{Metallicity, Star};

/// Name of the column of ages where stars begin; unit: time.
pub(crate) const AGE: &str = "age";
/// Name of the column of metallicities Z.
pub(crate) const METALLICITY: &str = "metallicity";

/// Returns the names of the columns that the stars of a configuration may have.
pub(crate) fn names(config: &Config) -> Vec<String> {
    let names: &[&str] = if config.stellar_evolution.is_some() { &[AGE, METALLICITY] } else { &[] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns what is wrong with a value of one of these columns; [`None`] where nothing is, for other columns, and where stars do not age.
pub(crate) fn problem(config: &Config, name: &str, value: f64) -> Option<String> {
    config.stellar_evolution.as_ref()?;
    let (range, expected) = match name {
        AGE => ((0.0, StellarEvolution::latest(&config.units())), format!("an age from 0 to {} Myr", Star::LATEST)),
        METALLICITY => (Metallicity::RANGE, format!("Z from {} to {}", Metallicity::RANGE.0, Metallicity::RANGE.1)),
        _ => return None,
    };
    (!(range.0..=range.1).contains(&value)).then(|| format!("{name} is {value:?}: expected {expected}"))
}
