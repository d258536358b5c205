//! Particles in columns.

mod close;
pub(crate) mod vector;

pub use close::CloseStars;
pub use vector::Vec3;

use crate::time::{Clock, Level, Time};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Returns the components of a column of vectors as one slice of 3 N numbers: x₀, y₀, z₀, x₁, …
#[must_use]
pub fn components(column: &[Vec3]) -> &[f64] {
    bytemuck::cast_slice(column)
}

/// Returns the components of a column of vectors as one mutable slice of 3 N numbers, in the order of [`components`].
#[must_use]
pub fn components_mut(column: &mut [Vec3]) -> &mut [f64] {
    bytemuck::cast_slice_mut(column)
}

/// Returns the column of vectors with these components, in the order of [`components`].
///
/// # Panics
/// If the number of components is not a multiple of 3: a programming error.
#[must_use]
pub fn from_components(components: &[f64]) -> Vec<Vec3> {
    bytemuck::cast_slice(components).to_vec()
}

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
    /// Derivatives and earlier points that multi-point schemes keep; with a neighbour scheme the points are those of the
    /// irregular force.
    pub history: History,
    /// Parts of the force and lists that a neighbour scheme keeps.
    pub neighbours: Neighbours,
    /// Subsystems of few bodies, if the scheme has them.
    pub subsystems: SubsystemState,
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

/// State of the subsystems of an integration as plain numbers, which only their scheme reads: without it the particles
/// alone do not say how the integration goes on. Empty where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubsystemState {
    /// Whole numbers: members, moments, levels, counts.
    pub words: Vec<u64>,
    /// All others.
    pub numbers: Vec<f64>,
}

/// Largest number of earlier points in a [`History`].
pub const MOST_POINTS: usize = 2;
/// Largest number of derivatives in a [`History`].
pub const MOST_DERIVATIVES: usize = 4;

/// Columns of multi-point schemes, all of length N; empty for other schemes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Derivatives of the acceleration at the particle's own time, from the second on.
    pub derivatives: Vec<Vec<Vec3>>,
    /// Earlier points in time, the latest first.
    pub points: Vec<Point>,
}

/// Earlier point of every particle, in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Jerk.
    pub jerk: Vec<Vec3>,
    /// Moment of the point. A particle whose moment is not before that of the next point has no such point.
    pub time: Vec<Time>,
}

impl History {
    /// Creates the history of `n` particles at time zero that have no earlier points yet, with room for `points` of them
    /// and for `derivatives`.
    #[must_use]
    pub fn new(n: usize, points: usize, derivatives: usize) -> Self {
        let zeros = || vec![Vec3::zeros(); n];
        let point = || Point { acc: zeros(), jerk: zeros(), time: vec![Time::default(); n] };
        Self {
            derivatives: (0..derivatives).map(|_| zeros()).collect(),
            points: (0..points).map(|_| point()).collect(),
        }
    }

    /// Returns true if it has these numbers of points and derivatives, of `n` particles each.
    #[must_use]
    pub fn has(&self, n: usize, points: usize, derivatives: usize) -> bool {
        let is_whole = |point: &Point| [point.acc.len(), point.jerk.len(), point.time.len()] == [n; 3];
        (self.points.len(), self.derivatives.len()) == (points, derivatives)
            && self.points.iter().all(is_whole)
            && self.derivatives.iter().all(|column| column.len() == n)
    }
}

/// State of a neighbour scheme, which takes the force in two parts (see [`crate::force::neighbours`]), in columns of
/// length N; empty for other schemes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Irregular acceleration at the particle's own time.
    pub acc: Vec<Vec3>,
    /// Irregular jerk.
    pub jerk: Vec<Vec3>,
    /// Regular acceleration at the time of the last regular step.
    pub regular_acc: Vec<Vec3>,
    /// Regular jerk.
    pub regular_jerk: Vec<Vec3>,
    /// Potential of the regular force.
    pub regular_pot: Vec<f64>,
    /// Time of the last regular step.
    pub regular_time: Vec<Time>,
    /// Block level of the next regular step.
    pub regular_step: Vec<Level>,
    /// Derivatives and earlier points of the regular force, at the time of the last regular step.
    pub regular_history: History,
    /// Radius for the next list.
    pub radius: Vec<f64>,
    /// Neighbours of each particle: ascending indices.
    pub lists: Vec<Vec<u32>>,
}

impl Neighbours {
    /// Creates the state of `n` particles without neighbours at time zero, with room for `points` earlier points and for
    /// `derivatives` of the regular force.
    #[must_use]
    pub fn new(n: usize, points: usize, derivatives: usize) -> Self {
        let zeros = || vec![Vec3::zeros(); n];
        Self {
            acc: zeros(),
            jerk: zeros(),
            regular_acc: zeros(),
            regular_jerk: zeros(),
            regular_pot: vec![0.0; n],
            regular_time: vec![Time::default(); n],
            regular_step: vec![Level::default(); n],
            regular_history: History::new(n, points, derivatives),
            radius: vec![0.0; n],
            lists: vec![Vec::new(); n],
        }
    }

    /// Returns true if no scheme keeps anything here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns true if it is whole for `n` particles, with these numbers of earlier points and derivatives of the regular
    /// force, and lists that are ascending numbers of other particles.
    #[must_use]
    pub fn has(&self, n: usize, points: usize, derivatives: usize) -> bool {
        let vectors = [&self.acc, &self.jerk, &self.regular_acc, &self.regular_jerk];
        let is_list = |(i, list): (usize, &Vec<u32>)| {
            list.windows(2).all(|pair| pair[0] < pair[1])
                && list.last().is_none_or(|&j| (j as usize) < n)
                && list.binary_search(&(i as u32)).is_err()
        };
        vectors.iter().all(|column| column.len() == n)
            && [self.regular_pot.len(), self.radius.len()] == [n; 2]
            && [self.regular_time.len(), self.regular_step.len(), self.lists.len()] == [n; 3]
            && self.regular_history.has(n, points, derivatives)
            && self.lists.iter().enumerate().all(is_list)
    }
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
            acc: vec![Vec3::zeros(); n],
            jerk: vec![Vec3::zeros(); n],
            pot: vec![0.0; n],
            time: vec![Time::default(); n],
            step: vec![Level::default(); n],
            history: History::default(),
            neighbours: Neighbours::default(),
            subsystems: SubsystemState::default(),
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

    /// Returns the column of a name, if there is one.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }

    /// Removes the particles at `rows`, ascending indices. The state of subsystems and of a neighbour scheme, which count
    /// rows, must be made anew; relative states are gone.
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
        [&mut self.pos, &mut self.vel, &mut self.acc, &mut self.jerk].into_iter().for_each(|of| keep(of, &stays));
        keep(&mut self.time, &stays);
        keep(&mut self.step, &stays);
        self.history.derivatives.iter_mut().for_each(|column| keep(column, &stays));
        for Point { acc, jerk, time } in &mut self.history.points {
            keep(acc, &stays);
            keep(jerk, &stays);
            keep(time, &stays);
        }
    }

    /// Returns the total mass, by a compensated sum.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        crate::compensated_sum::sum(self.mass.iter().copied())
    }

    /// Returns the SHA-256 hash of the state: mass, pos, vel, time of all particles in id order as little-endian f64,
    /// one particle after the other (m, x, y, z, vx, vy, vz, t), in internal units. Lower-case hexadecimal.
    #[must_use]
    pub fn state_sha256(&self, clock: &Clock) -> String {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&i| self.id[i]);
        let mut hash = Sha256::new();
        for i in order {
            let t = clock.time(self.time[i]);
            let (x, v) = (self.pos[i], self.vel[i]);
            for value in [self.mass[i], x.x, x.y, x.z, v.x, v.y, v.z, t] {
                hash.update(value.to_le_bytes());
            }
        }
        hexadecimal(&hash.finalize())
    }
}

/// Removes the rows of a column that do not stay; nothing from one that is empty.
fn keep<T>(column: &mut Vec<T>, stays: &[bool]) {
    let mut rows = stays.iter();
    column.retain(|_| rows.next().is_none_or(|stays| *stays));
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
        let p = Particles::new(vec![1.0, 2.0], vec![Vec3::zeros(), Vec3::repeat(1.0)], vec![Vec3::zeros(); 2]);
        let mut swapped = p.clone();
        swapped.id.swap(0, 1);
        swapped.mass.swap(0, 1);
        swapped.pos.swap(0, 1);
        let clock = Clock { start: 0.0, dt_max: 0.125 };
        assert_eq!(p.state_sha256(&clock), swapped.state_sha256(&clock));
        let mut touched = p.clone();
        touched.vel[1][2] = f64::from_bits(1);
        assert_ne!(p.state_sha256(&clock), touched.state_sha256(&clock));
    }

    #[test]
    fn removed_rows_are_gone_from_all_columns() {
        let numbers = |n: u32| (0..n).map(f64::from).collect::<Vec<_>>();
        let vectors = |n: u32| numbers(n).into_iter().map(Vec3::repeat).collect::<Vec<_>>();
        let mut p = Particles::new(numbers(4), vectors(4), vectors(4));
        (p.radius, p.history) = (numbers(4), History::new(4, 1, 1));
        p.remove_rows(&[0, 2]);
        let left = Particles::new(
            vec![1.0, 3.0],
            [1.0, 3.0].map(Vec3::repeat).to_vec(),
            [1.0, 3.0].map(Vec3::repeat).to_vec(),
        );
        let left = Particles { id: vec![1, 3], radius: vec![1.0, 3.0], history: History::new(2, 1, 1), ..left };
        assert_eq!(p, left);
        p.radius.clear();
        p.remove_rows(&[1]);
        assert_eq!((p.id, p.radius), (vec![1], vec![]));
    }

    #[test]
    fn a_column_of_vectors_is_a_column_of_numbers() {
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut column = from_components(&numbers);
        assert_eq!(column, [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]);
        assert_eq!(components(&column), numbers);
        components_mut(&mut column)[4] = 0.0;
        assert_eq!(column[1], Vec3::new(4.0, 0.0, 6.0));
        assert_eq!(size_of::<Vec3>(), 24);
    }
}
