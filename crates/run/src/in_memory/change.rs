//! Changes of particles by a program.

use std::collections::{HashMap, HashSet};
use tisane::error::{Error, Result};
use tisane::particles::{Particles, Vec3};

/// New values of some particles, in the units of the configuration; a column that is left out stays as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// Identities of the particles.
    pub id: &'a [u64],
    /// Masses; unit: mass.
    pub mass: Option<&'a [f64]>,
    /// Positions; unit: length.
    pub pos: Option<&'a [Vec3]>,
    /// Velocities; unit: velocity.
    pub vel: Option<&'a [Vec3]>,
}

impl Changes<'_> {
    /// Checks lengths and values.
    pub(super) fn check(&self) -> Result<()> {
        let n = self.id.len();
        let lengths = [self.mass.map(<[f64]>::len), self.pos.map(<[Vec3]>::len), self.vel.map(<[Vec3]>::len)];
        if let Some(other) = lengths.into_iter().flatten().find(|len| *len != n) {
            return Err(Error::input("particles", format!("columns of different lengths: {n} and {other}")));
        }
        let wrong = |i: usize, what: &str, found: &dyn std::fmt::Debug, expected: &str| {
            Err(Error::input("particles", format!("id {}: {what} is {found:?}: expected {expected}", self.id[i])))
        };
        if let Some((i, m)) = self.mass.and_then(|mass| find(mass, |m| !(m.is_finite() && *m >= 0.0))) {
            return wrong(i, "mass", m, "a finite number, zero or more");
        }
        for (what, column) in [("position", self.pos), ("velocity", self.vel)] {
            if let Some((i, v)) = column.and_then(|column| find(column, |v| !v.iter().all(|x| x.is_finite()))) {
                return wrong(i, what, &v.as_slice(), "finite numbers");
            }
        }
        Ok(())
    }
}

/// Returns the first value that is `bad`, with its index.
pub(super) fn find<T>(column: &[T], bad: impl Fn(&T) -> bool) -> Option<(usize, &T)> {
    column.iter().enumerate().find(|(_, value)| bad(value))
}

/// Returns the index of each identity.
pub(super) fn places(p: &Particles, id: &[u64]) -> Result<Vec<usize>> {
    // Programs mostly name all particles, in the order in which they are stored.
    if p.id == id {
        return Ok((0..id.len()).collect());
    }
    let index: HashMap<u64, usize> = p.id.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let missing = |id: u64| Error::input("particles", format!("there is no particle with the id {id}"));
    id.iter().map(|id| index.get(id).copied().ok_or_else(|| missing(*id))).collect()
}

/// Returns an error that names an identity that comes twice.
pub(super) fn check_unique<'a>(id: impl Iterator<Item = &'a u64>) -> Result<()> {
    let mut seen = HashSet::new();
    for id in id {
        if !seen.insert(*id) {
            return Err(Error::input("particles", format!("two particles have the id {id}: ids must be unique")));
        }
    }
    Ok(())
}
