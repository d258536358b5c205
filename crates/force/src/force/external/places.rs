//! Fields at several places together: most of the time of a field goes to the operations of its formula, and vector units take
//! several places at once.

use crate::particles::Vec3;

/// Number of places that are evaluated together.
pub const LANES: usize = 16;

/// A number for each place.
pub type Lanes = [f64; LANES];

/// Places, and velocities of particles there, by component.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Number of places: the first lanes. The others repeat the last place.
    pub number: usize,
    /// Places.
    pub pos: [Lanes; 3],
    /// Velocities.
    pub vel: [Lanes; 3],
}

impl Places {
    /// Collects at least one place and at most [`LANES`], with the velocities there.
    #[must_use]
    pub fn new(pos: &[Vec3], vel: &[Vec3]) -> Self {
        Self { vel: columns(vel), ..Self::at_rest(pos) }
    }

    /// Collects places, with the velocity 0.
    #[must_use]
    pub fn at_rest(pos: &[Vec3]) -> Self {
        Self { number: pos.len().min(LANES), pos: columns(pos), vel: [[0.0; LANES]; 3] }
    }

    /// Returns the place of a lane.
    #[must_use]
    pub fn place(&self, lane: usize) -> Vec3 {
        vector(&self.pos, lane)
    }

    /// Returns the velocity of a lane.
    #[must_use]
    pub fn velocity(&self, lane: usize) -> Vec3 {
        vector(&self.vel, lane)
    }

    /// Returns the same relative to an origin with another place and velocity, which are added.
    #[must_use]
    pub fn plus(&self, pos: Vec3, vel: Vec3) -> Self {
        let add = |of: &[Lanes; 3], to: Vec3| std::array::from_fn(|axis| of[axis].map(|x| to[axis] + x));
        Self { number: self.number, pos: add(&self.pos, pos), vel: add(&self.vel, vel) }
    }

    /// Calls a function with each lane, and collects its vectors by component.
    pub fn vectors(&self, of: impl Fn(usize) -> Vec3) -> [Lanes; 3] {
        self.numbers(|lane| of(lane).into())
    }

    /// Calls a function with each lane, and collects its results.
    pub fn number(&self, of: impl Fn(usize) -> f64) -> Lanes {
        let [found] = self.numbers(|lane| [of(lane)]);
        found
    }

    /// Calls a function with each lane, and collects each of its numbers.
    pub fn numbers<const N: usize>(&self, of: impl Fn(usize) -> [f64; N]) -> [Lanes; N] {
        let mut found = [[0.0; LANES]; N];
        for lane in 0..self.number {
            found.iter_mut().zip(of(lane)).for_each(|(lanes, x)| lanes[lane] = x);
        }
        found
    }
}

/// Returns vectors by component. Lanes beyond the last vector repeat it.
fn columns(of: &[Vec3]) -> [Lanes; 3] {
    std::array::from_fn(|axis| std::array::from_fn(|lane| of[lane.min(of.len() - 1)][axis]))
}

/// Returns the vector of a lane.
#[must_use]
pub fn vector(of: &[Lanes; 3], lane: usize) -> Vec3 {
    Vec3::new(of[0][lane], of[1][lane], of[2][lane])
}

/// Acceleration, jerk and potential of a field at several places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldForces {
    /// Acceleration.
    pub acc: [Lanes; 3],
    /// Jerk.
    pub jerk: [Lanes; 3],
    /// Potential per unit mass.
    pub pot: Lanes,
}

impl FieldForces {
    /// No force.
    pub const ZERO: Self = Self { acc: [[0.0; LANES]; 3], jerk: [[0.0; LANES]; 3], pot: [0.0; LANES] };

    /// Returns the sum of two forces at each place.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let [pot] = plus(&[self.pot], &[other.pot]);
        Self { acc: plus(&self.acc, &other.acc), jerk: plus(&self.jerk, &other.jerk), pot }
    }

    /// Returns the force in a lane.
    #[must_use]
    pub fn of(&self, lane: usize) -> (Vec3, Vec3, f64) {
        (vector(&self.acc, lane), vector(&self.jerk, lane), self.pot[lane])
    }
}

/// Returns the sums of numbers in each lane.
#[must_use]
pub fn plus<const N: usize>(a: &[Lanes; N], b: &[Lanes; N]) -> [Lanes; N] {
    std::array::from_fn(|k| std::array::from_fn(|lane| a[k][lane] + b[k][lane]))
}
