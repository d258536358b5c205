//! Dissolution of a cluster in its tide, from its journal `cluster`.

use super::fields::Journal;
use super::journal::cells::{for_each_row, number};
use std::path::Path;
use tisane::error::Result;

/// Part of the mass within the tidal radius at the start below which a cluster is dissolved, where nothing else is set (Baumgardt &
/// Makino 2003, MNRAS 340, 227).
pub const BOUND_FRACTION: f64 = 0.05;

/// Mass within the tidal radius over time, as the rows of a journal follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dissolution {
    /// That at the first measurement that has one.
    pub first: Option<f64>,
    /// Time of the first measurement at which it was below a fraction of that.
    pub time: Option<f64>,
}

impl Dissolution {
    /// Takes note of a measurement; without a tidal radius the mass is NaN, and says nothing.
    pub fn note(&mut self, time: f64, mass: f64, fraction: f64) {
        if mass.is_nan() {
            return;
        }
        let first = *self.first.get_or_insert(mass);
        if self.time.is_none() && mass < fraction * first {
            self.time = Some(time);
        }
    }
}

/// Returns what the journal of the run in `dir` says, with times in the user's unit. The rows are read one by one: there may be
/// many.
///
/// # Errors
/// [`tisane::Error::Input`] if the journal is missing, or has no tidal masses.
pub fn read(dir: &Path, fraction: f64) -> Result<Dissolution> {
    let mut found = Dissolution::default();
    for_each_row((dir, Journal::Cluster), ["time", "tidal_mass"], |[time, mass]| {
        found.note(number(time), number(mass), fraction);
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_dissolved_from_the_first_row_below_the_fraction_on() {
        let dir = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(dir.path().join(Journal::Cluster.csv()), text).unwrap();
        write("time,tidal_mass\n0,NaN\n1,2e2\n2,2.1e1\n3,NaN\n4,9.9\n5,1e2\n6,0\n");
        assert_eq!(read(dir.path(), 0.05).unwrap(), Dissolution { first: Some(200.0), time: Some(4.0) });
        assert_eq!(read(dir.path(), 0.2).unwrap().time, Some(2.0));
        write("time,tidal_mass\n0,1\n1,0.5\n");
        assert_eq!(read(dir.path(), 0.05).unwrap(), Dissolution { first: Some(1.0), time: None });
        write("time,core_mass\n");
        assert!(read(dir.path(), 0.05).unwrap_err().to_string().contains("no column 'tidal_mass'"));
    }
}
