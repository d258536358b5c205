//! Particles in columns.

mod close;
mod evolving;

pub use crate::vector::{Vec3, components, components_mut, from_components};
pub use close::CloseStars;
pub use evolving::EvolvingStar;

use crate::states::digits::Digits;
use crate::states::history::History;
use crate::states::low_parts::LowParts;
use crate::states::neighbours::Neighbours;
use crate::states::{States, keep};
use crate::time::{Clock, Level, Time};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// All particles of a system, one column a quantity, all of length N, in internal units (G = 1). Every particle stands
/// at its own [`time`](Self::time).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Unique identity, kept from the input throughout.
    pub id: Vec<u64>,
    /// Mass.
    pub mass: Vec<f64>,
    /// Position at the particle's own time.
    pub pos: Vec<Vec3>,
    /// Velocity.
    pub vel: Vec<Vec3>,
    /// Radius, for collisions; empty where particles have none.
    pub radius: Vec<f64>,
    /// Further quantities, which a [law](crate::law) reads: charges, for instance. Empty for gravity.
    pub columns: Vec<NamedColumn>,
    /// Tracks of stellar evolution, in solar units and Myr; empty where stars do not evolve.
    pub stars: Vec<EvolvingStar>,
    /// Acceleration, as evaluated at the predicted position.
    pub acc: Vec<Vec3>,
    /// Jerk, d acc / dt.
    pub jerk: Vec<Vec3>,
    /// Potential per unit mass, self term left out.
    pub pot: Vec<f64>,
    /// Time that the particle has reached.
    pub time: Vec<Time>,
    /// Block level of its next step.
    pub step: Vec<Level>,
    /// What the schemes that move them keep of them.
    pub states: States,
    /// Stars whose relative states are known better than from `pos` and `vel`, until the integration starts.
    pub close: Vec<CloseStars>,
}

/// Quantity of the particles that has a name instead of a meaning to the program: N values as the user gave them.
/// A [law](crate::law) knows their unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedColumn {
    /// Name, as formulas and files have it.
    pub name: String,
    /// Value of each particle.
    pub values: Vec<f64>,
}

impl Particles {
    /// Creates particles at time zero with the given masses, positions and velocities; everything else is zero, ids are
    /// 0 … N−1.
    ///
    /// # Panics
    /// If the columns differ in length: a programming error.
    #[must_use]
    pub fn new(mass: Vec<f64>, pos: Vec<Vec3>, vel: Vec<Vec3>) -> Self {
        let n = mass.len();
        assert!(pos.len() == n && vel.len() == n, "columns of different lengths");
        Self {
            id: (0..n as u64).collect(),
            mass,
            pos,
            vel,
            radius: Vec::new(),
            columns: Vec::new(),
            stars: Vec::new(),
            acc: vec![Vec3::zeros(); n],
            jerk: vec![Vec3::zeros(); n],
            pot: vec![0.0; n],
            time: vec![Time::default(); n],
            step: vec![Level::default(); n],
            states: States::default(),
            close: Vec::new(),
        }
    }

    /// Returns the number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Returns true if there are no particles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// Returns the derivatives of the acceleration, from the second on, by which engines predict the particles besides
    /// acceleration and jerk: those of a [`History`]. None in a scheme of two parts of the force, whose history is that of
    /// one part.
    #[must_use]
    pub fn derivatives(&self) -> &[Vec<Vec3>] {
        if self.states.get::<Neighbours>().is_empty() { &self.states.get::<History>().derivatives } else { &[] }
    }

    /// Returns the column of a name, if there is one.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }

    /// Removes the particles at `rows`, ascending indices. [States](States::keep_rows) that name rows, and relative
    /// states, are gone.
    ///
    /// # Panics
    /// If there is no such row: a programming error.
    pub fn remove_rows(&mut self, rows: &[usize]) {
        let mut stays = vec![true; self.len()];
        rows.iter().for_each(|&row| stays[row] = false);
        self.close.clear();
        keep(&mut self.id, &stays);
        [&mut self.mass, &mut self.radius, &mut self.pot].into_iter().for_each(|column| keep(column, &stays));
        self.columns.iter_mut().for_each(|column| keep(&mut column.values, &stays));
        keep(&mut self.stars, &stays);
        [&mut self.pos, &mut self.vel, &mut self.acc, &mut self.jerk].into_iter().for_each(|of| keep(of, &stays));
        keep(&mut self.time, &stays);
        keep(&mut self.step, &stays);
        self.states.keep_rows(&stays);
    }

    /// Keeps the particles at `rows` alone, in this order. Relative states are gone; lists of rows in [states](States::select) name
    /// the new ones.
    ///
    /// # Panics
    /// If there is no such row: a programming error.
    pub fn select_rows(&mut self, rows: &[u32]) {
        fn select<T: Copy>(column: &mut Vec<T>, rows: &[u32]) {
            if !column.is_empty() {
                *column = rows.iter().map(|&row| column[row as usize]).collect();
            }
        }
        let mut new_of = vec![u32::MAX; self.len()];
        rows.iter().zip(0..).for_each(|(&row, new)| new_of[row as usize] = new);
        self.close.clear();
        select(&mut self.id, rows);
        [&mut self.mass, &mut self.radius, &mut self.pot].into_iter().for_each(|column| select(column, rows));
        self.columns.iter_mut().for_each(|column| select(&mut column.values, rows));
        select(&mut self.stars, rows);
        [&mut self.pos, &mut self.vel, &mut self.acc, &mut self.jerk].into_iter().for_each(|of| select(of, rows));
        select(&mut self.time, rows);
        select(&mut self.step, rows);
        self.states.select(&rows.iter().map(|&row| Some(row)).collect::<Vec<_>>(), &new_of);
    }

    /// Returns the total mass, by a compensated sum.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        crate::compensated_sum::sum(self.mass.iter().copied())
    }

    /// Returns the digits beyond f64 of all particles, the same number of words for each; none where no scheme keeps any.
    fn digits(&self) -> &[u64] {
        &self.states.get::<Digits>().words
    }

    /// Returns the SHA-256 hash of the state: mass, pos, vel, time of all particles in id order as little-endian f64,
    /// one particle after the other (m, x, y, z, vx, vy, vz, t), in internal units; where a scheme keeps more digits than f64,
    /// then its words of each particle, and where it keeps low parts that are not all zero, then these of each particle (x, y,
    /// z, vx, vy, vz). Lower-case hexadecimal.
    #[must_use]
    pub fn state_sha256(&self, clock: &Clock) -> String {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&i| self.id[i]);
        let mut hash = Sha256::new();
        let digits = self.digits();
        let words = digits.len().checked_div(self.len()).unwrap_or_default();
        let low = Some(self.states.get::<LowParts>()).filter(|low| low.has(self.len()) && !low.are_zero());
        for i in order {
            let t = clock.time(self.time[i]);
            let (x, v) = (self.pos[i], self.vel[i]);
            for value in [self.mass[i], x.x, x.y, x.z, v.x, v.y, v.z, t] {
                hash.update(value.to_le_bytes());
            }
            digits[i * words..(i + 1) * words].iter().for_each(|word| hash.update(word.to_le_bytes()));
            if let Some(low) = low {
                low.pos[i].iter().chain(&low.vel[i]).for_each(|low| hash.update(low.to_le_bytes()));
            }
        }
        hexadecimal(&hash.finalize())
    }
}

/// Returns bytes as lower-case hexadecimal digits, the text form of hashes.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Particles {
    /// Forgets the relative states of stars of which one is in these rows, whose position or velocity has changed.
    pub fn forget_close(&mut self, rows: &[usize]) {
        if !self.close.is_empty() {
            let changed: HashSet<usize> = rows.iter().copied().collect();
            self.close.retain(|close| !close.rows.iter().any(|row| changed.contains(row)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_depends_on_every_bit_and_not_on_storage_order() {
        let mut p = Particles::new(vec![1.0, 2.0], vec![Vec3::zeros(), Vec3::repeat(1.0)], vec![Vec3::zeros(); 2]);
        let mut swapped = p.clone();
        swapped.id.swap(0, 1);
        swapped.mass.swap(0, 1);
        swapped.pos.swap(0, 1);
        let clock = Clock { start: 0.0, dt_max: 0.125 };
        assert_eq!(p.state_sha256(&clock), swapped.state_sha256(&clock));
        let mut touched = p.clone();
        touched.vel[1][2] = f64::from_bits(1);
        assert_ne!(p.state_sha256(&clock), touched.state_sha256(&clock));
        // Low parts count as the particle's, and none are as zeros.
        let mut low = LowParts::new(2);
        p.states.set(low.clone());
        assert_eq!(p.state_sha256(&clock), swapped.state_sha256(&clock));
        low.vel[1][2] = 1e-20;
        p.states.set(low.clone());
        assert_ne!(p.state_sha256(&clock), swapped.state_sha256(&clock));
        low.vel.swap(0, 1);
        swapped.states.set(low);
        assert_eq!(p.state_sha256(&clock), swapped.state_sha256(&clock));
    }

    #[test]
    fn removed_rows_are_gone_from_all_columns() {
        let numbers = |n: u32| (0..n).map(f64::from).collect::<Vec<_>>();
        let vectors = |n: u32| numbers(n).into_iter().map(Vec3::repeat).collect::<Vec<_>>();
        let mut p = Particles::new(numbers(4), vectors(4), vectors(4));
        p.radius = numbers(4);
        p.states.set(History::new(4, 1, 1));
        p.states.set(Neighbours::new(4, 0, 0));
        p.remove_rows(&[0, 2]);
        let left = Particles::new(
            vec![1.0, 3.0],
            [1.0, 3.0].map(Vec3::repeat).to_vec(),
            [1.0, 3.0].map(Vec3::repeat).to_vec(),
        );
        let mut left = Particles { id: vec![1, 3], radius: vec![1.0, 3.0], ..left };
        left.states.set(History::new(2, 1, 1));
        assert_eq!(p, left);
        p.radius.clear();
        p.remove_rows(&[1]);
        assert_eq!((p.id, p.radius), (vec![1], vec![]));
    }
}
