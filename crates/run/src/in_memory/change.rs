//! Changes of particles by a program.

use super::{InMemory, Phase, columns};
use std::collections::{HashMap, HashSet};
use tisane::error::{Error, Result};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Level, Time};

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
    fn check(&self) -> Result<()> {
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
fn check_unique<'a>(id: impl Iterator<Item = &'a u64>) -> Result<()> {
    let mut seen = HashSet::new();
    for id in id {
        if !seen.insert(*id) {
            return Err(Error::input("particles", format!("two particles have the id {id}: ids must be unique")));
        }
    }
    Ok(())
}

impl InMemory {
    /// Returns the particles as the program knows them, apart from the time of positions and velocities.
    pub(super) fn particles(&self) -> &Particles {
        match &self.phase {
            Phase::New(initial) => &initial.particles,
            Phase::Started(started) => started.particles(),
        }
    }

    /// Returns the particles that may be changed, and the factors from the units of the configuration to theirs.
    pub(super) fn editable(&mut self) -> Result<(&mut Particles, [f64; 3])> {
        let Self { phase, threads, .. } = self;
        match phase {
            Phase::New(initial) => Ok((&mut initial.particles, [1.0; 3])),
            Phase::Started(started) => {
                let scale = started.system.state.scale;
                let particles = threads.run(|| started.edit())?;
                Ok((particles, [1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity]))
            }
        }
    }

    /// Adds particles. Without `id` they get the numbers that follow the largest identity. Returns the identities.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths, numbers that are not finite, negative masses and identities
    /// that come twice; then nothing has changed.
    pub fn add(&mut self, id: Option<&[u64]>, mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Result<Vec<u64>> {
        self.add_with_columns(id, mass, (pos, vel), &[])
    }

    /// Adds particles with their values in the columns that the law reads, by name. Those in columns that are left out are
    /// to be [set](Self::set_column) before the simulation goes on.
    ///
    /// # Errors
    /// As [`InMemory::add`], and for columns that the law does not read.
    pub fn add_with_columns(
        &mut self,
        id: Option<&[u64]>,
        mass: &[f64],
        (pos, vel): (&[Vec3], &[Vec3]),
        columns: &[(&str, &[f64])],
    ) -> Result<Vec<u64>> {
        let p = self.particles();
        let next = p.id.iter().max().map_or(0, |id| id.wrapping_add(1));
        let id = id.map_or_else(|| (next..next + mass.len() as u64).collect(), <[u64]>::to_vec);
        Changes { id: &id, mass: Some(mass), pos: Some(pos), vel: Some(vel) }.check()?;
        check_unique(p.id.iter().chain(&id))?;
        self.check_columns(&id, columns)?;
        if p.len() + id.len() >= u32::MAX as usize {
            return Err(Error::input("particles", "there are too many particles"));
        }
        if id.is_empty() {
            return Ok(id);
        }
        let names = self.column_names();
        let (p, [to_mass, to_length, to_velocity]) = self.editable()?;
        let n = p.len() + id.len();
        columns::extend(p, &names, id.len(), columns);
        p.id.extend_from_slice(&id);
        p.mass.extend(mass.iter().map(|m| m * to_mass));
        p.pos.extend(pos.iter().map(|x| x * to_length));
        p.vel.extend(vel.iter().map(|v| v * to_velocity));
        if !p.radius.is_empty() {
            p.radius.resize(n, 0.0);
        }
        p.acc.resize(n, Vec3::zeros());
        p.jerk.resize(n, Vec3::zeros());
        p.pot.resize(n, 0.0);
        p.time.resize(n, Time::default());
        p.step.resize(n, Level::default());
        p.states.clear();
        Ok(id)
    }

    /// Removes particles.
    ///
    /// # Errors
    /// [`Error::Input`] for an identity that there is not, or that comes twice, and for all particles of a simulation
    /// that has started; then nothing has changed.
    pub fn remove(&mut self, id: &[u64]) -> Result<()> {
        check_unique(id.iter())?;
        let started = matches!(self.phase, Phase::Started(_));
        if id.is_empty() {
            return Ok(());
        }
        if started && id.len() >= self.len() {
            return Err(Error::input("particles", "all would be removed: a simulation that has started keeps one"));
        }
        places(self.particles(), id)?;
        let (p, _) = self.editable()?;
        let gone: HashSet<u64> = id.iter().copied().collect();
        let stays: Vec<bool> = p.id.iter().map(|id| !gone.contains(id)).collect();
        let keep = |i: &usize| stays[*i];
        let index: Vec<usize> = (0..p.len()).filter(keep).collect();
        let mut left = Particles::new(
            index.iter().map(|&i| p.mass[i]).collect(),
            index.iter().map(|&i| p.pos[i]).collect(),
            index.iter().map(|&i| p.vel[i]).collect(),
        );
        left.id = index.iter().map(|&i| p.id[i]).collect();
        left.radius = index.iter().filter_map(|&i| p.radius.get(i).copied()).collect();
        left.columns = std::mem::take(&mut p.columns);
        left.columns.iter_mut().for_each(|column| column.values = index.iter().map(|&i| column.values[i]).collect());
        *p = left;
        Ok(())
    }

    /// Changes masses, positions or velocities of some particles.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths, numbers that are not finite, negative masses, and identities
    /// that there are not; then nothing has changed.
    pub fn change(&mut self, changes: Changes<'_>) -> Result<()> {
        changes.check()?;
        if changes.id.is_empty() {
            return Ok(());
        }
        let index = places(self.particles(), changes.id)?;
        let (p, [mass, length, velocity]) = self.editable()?;
        if changes.pos.is_some() || changes.vel.is_some() {
            p.forget_close(&index);
        }
        for (k, i) in index.into_iter().enumerate() {
            if let Some(column) = changes.mass {
                p.mass[i] = column[k] * mass;
            }
            if let Some(column) = changes.pos {
                p.pos[i] = column[k] * length;
            }
            if let Some(column) = changes.vel {
                p.vel[i] = column[k] * velocity;
            }
        }
        Ok(())
    }
}
