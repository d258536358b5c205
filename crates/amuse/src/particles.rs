//! Particles as AMUSE knows them: columns in the units of the interface, found by index.

use std::collections::BTreeMap;

/// Vector of numbers.
pub type Vector = [f64; 3];

/// Particles at the time reached, in the units of the interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Masses; empty where they do not change.
    pub mass: Vec<f64>,
    /// Positions.
    pub pos: Vec<Vector>,
    /// Velocities.
    pub vel: Vec<Vector>,
    /// Radii of stars that age; empty where they do not.
    pub radius: Vec<f64>,
}

/// Particles in columns, in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Index that AMUSE knows each particle by: from 1, ascending, never given twice.
    pub index: Vec<i32>,
    /// Mass.
    pub mass: Vec<f64>,
    /// Position.
    pub pos: Vec<Vector>,
    /// Velocity.
    pub vel: Vec<Vector>,
    /// Radius, which only stopping conditions use.
    pub radius: Vec<f64>,
    /// Columns that a law reads, by name, once AMUSE has set a value in them; NaN where it has set none.
    pub columns: BTreeMap<String, Vec<f64>>,
    last: i32,
}

impl Particles {
    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no particles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Adds a particle; returns its index, or [`None`] after 2³¹ - 1 particles.
    pub fn add(&mut self, mass: f64, pos: Vector, vel: Vector, radius: f64) -> Option<i32> {
        self.last = self.last.checked_add(1)?;
        self.index.push(self.last);
        self.mass.push(mass);
        self.pos.push(pos);
        self.vel.push(vel);
        self.radius.push(radius);
        self.columns.values_mut().for_each(|column| column.push(f64::NAN));
        Some(self.last)
    }

    /// Takes over what an integration has changed.
    pub fn take_over(&mut self, state: State) {
        let State { mass, pos, vel, radius } = state;
        (self.pos, self.vel) = (pos, vel);
        self.take_over_stars(mass, radius);
    }

    /// Takes over masses and radii, if stars age.
    pub fn take_over_stars(&mut self, mass: Vec<f64>, radius: Vec<f64>) {
        if !mass.is_empty() {
            (self.mass, self.radius) = (mass, radius);
        }
    }

    /// Returns the row of the particle with an index.
    #[must_use]
    pub fn row(&self, index: i32) -> Option<usize> {
        self.index.binary_search(&index).ok()
    }

    /// Returns the value of a row in a column: NaN where AMUSE has set none.
    #[must_use]
    pub fn value(&self, column: &str, row: usize) -> f64 {
        self.columns.get(column).map_or(f64::NAN, |values| values[row])
    }

    /// Sets the value of a row in a column.
    pub fn set_value(&mut self, column: &str, row: usize, value: f64) {
        let n = self.len();
        if let Some(values) = self.columns.get_mut(column) {
            values[row] = value;
            return;
        }
        let mut values = vec![f64::NAN; n];
        values[row] = value;
        self.columns.insert(column.to_owned(), values);
    }

    /// Removes rows, which are ascending and each given once.
    pub fn remove(&mut self, rows: &[usize]) {
        fn without<T>(column: &mut Vec<T>, rows: &[usize]) {
            let (mut rows, mut row) = (rows.iter().peekable(), 0);
            column.retain(|_| {
                let removed = rows.next_if_eq(&&row).is_some();
                row += 1;
                !removed
            });
        }
        without(&mut self.index, rows);
        without(&mut self.mass, rows);
        without(&mut self.pos, rows);
        without(&mut self.vel, rows);
        without(&mut self.radius, rows);
        self.columns.values_mut().for_each(|column| without(column, rows));
    }

    /// Total mass.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.mass.iter().sum()
    }

    /// Mean of a column of vectors, weighted by mass; of massless particles the plain mean, of none zero.
    #[must_use]
    pub fn mean(&self, column: &[Vector]) -> Vector {
        let total = self.total_mass();
        let plain = 1.0 / column.len().max(1) as f64;
        std::array::from_fn(|axis| {
            if total > 0.0 {
                self.mass.iter().zip(column).map(|(m, x)| m * x[axis]).sum::<f64>() / total
            } else {
                column.iter().map(|x| x[axis] * plain).sum()
            }
        })
    }

    /// Largest distance of a particle from the centre of mass.
    #[must_use]
    pub fn total_radius(&self) -> f64 {
        let centre = self.mean(&self.pos);
        self.pos.iter().map(|&x| distance(x, centre)).fold(0.0, f64::max)
    }

    /// Kinetic energy.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        let twice = self.mass.iter().zip(&self.vel).map(|(m, v)| m * v.iter().map(|v| v * v).sum::<f64>());
        0.5 * twice.sum::<f64>()
    }
}

/// Returns the distance of two points.
#[must_use]
pub fn distance(a: Vector, b: Vector) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    square.sqrt()
}
