//! Columns of the input in which stars that age have their own age and metallicity.

use crate::config::Config;
use tisane_stellar::Metallicity;

/// Name of the column of ages where stars begin; unit: time.
pub(crate) const AGE: &str = "age";
/// Name of the column of metallicities Z.
pub(crate) const METALLICITY: &str = "metallicity";

/// Returns the names of the columns that the stars of a configuration may have.
pub(crate) fn names(config: &Config) -> Vec<String> {
    let names: &[&str] = if config.stellar_evolution.is_some() { &[AGE, METALLICITY] } else { &[] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns what is wrong with a value of one of these columns; [`None`] where nothing is, and for other columns.
pub(crate) fn problem(name: &str, value: f64) -> Option<String> {
    let (least, greatest) = match name {
        AGE => (0.0, f64::MAX),
        METALLICITY => Metallicity::RANGE,
        _ => return None,
    };
    let expected = if name == AGE { "an age of 0 or more".to_owned() } else { format!("Z from {least} to {greatest}") };
    (!(least..=greatest).contains(&value)).then(|| format!("{name} is {value:?}: expected {expected}"))
}
