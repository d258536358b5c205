//! Chain of bodies, the vectors between neighbours: differences of close bodies lose no digits (Mikkola & Aarseth 1993,
//! Celestial Mechanics and Dynamical Astronomy 57, 439).

use std::cmp::Ordering;
use tisane_force::compensated_sum::two_sum;
use tisane_force::particles::Vec3;

/// Bodies in the order of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Masses along the chain, and their sum.
    pub mass: Vec<f64>,
    pub total: f64,
    /// Number of each body along the chain.
    pub body: Vec<usize>,
    /// Vectors from each body to the next: of positions.
    pub pos: Vec<Vec3>,
    /// And of velocities.
    pub vel: Vec<Vec3>,
    /// What rounding has cut off the positions.
    pub low_pos: Vec<Vec3>,
    /// And the velocities.
    pub low_vel: Vec<Vec3>,
}

/// Returns the order of a chain: it begins with the closest two bodies, and the body closest to one of its ends comes
/// next. Of equal distances the first pair counts.
fn order(at: &[Vec3]) -> Vec<usize> {
    let n = at.len();
    let mut nearest = (f64::INFINITY, 0, 0);
    for i in 0..n {
        for j in i + 1..n {
            let r2 = (at[j] - at[i]).norm_squared();
            if r2 < nearest.0 {
                nearest = (r2, i, j);
            }
        }
    }
    let mut chain = std::collections::VecDeque::from([nearest.1, nearest.2]);
    let mut left: Vec<usize> = (0..n).filter(|i| *i != nearest.1 && *i != nearest.2).collect();
    while !left.is_empty() {
        let (head, tail) = (chain[0], chain[chain.len() - 1]);
        let mut next = (f64::INFINITY, 0, true);
        for (k, &i) in left.iter().enumerate() {
            for (end, at_head) in [(head, true), (tail, false)] {
                let r2 = (at[i] - at[end]).norm_squared();
                if r2 < next.0 {
                    next = (r2, k, at_head);
                }
            }
        }
        let body = left.remove(next.1);
        if next.2 { chain.push_front(body) } else { chain.push_back(body) }
    }
    chain.into()
}

/// Returns the total mass of bodies in the order of their numbers: the order along the chain changes, its bits must not.
pub fn total(mass: &[f64]) -> f64 {
    mass.iter().sum()
}

impl Chain {
    /// Creates the chain of bodies at these positions.
    #[must_use]
    pub fn new(mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Self {
        let body = order(pos);
        let between = |at: &[Vec3]| body.windows(2).map(|two| at[two[1]] - at[two[0]]).collect();
        let (pos, vel) = (between(pos), between(vel));
        Self::along(body, mass, pos, vel)
    }

    /// Creates the chain of bodies with these vectors from each to the next.
    #[must_use]
    pub fn from_vectors(mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Self {
        let mut chain = Self::along((0..mass.len()).collect(), mass, pos.to_vec(), vel.to_vec());
        chain.renew();
        chain
    }

    /// Creates a chain of bodies in this order.
    fn along(body: Vec<usize>, mass: &[f64], pos: Vec<Vec3>, vel: Vec<Vec3>) -> Self {
        let low = vec![Vec3::zeros(); pos.len()];
        let total = total(mass);
        let mass: Vec<f64> = body.iter().map(|&i| mass[i]).collect();
        Self { total, mass, body, pos, vel, low_pos: low.clone(), low_vel: low }
    }

    /// Returns the number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// Returns the sum of the vectors from body `from` to body `to` of the chain.
    #[must_use]
    pub fn between(vectors: &[Vec3], from: usize, to: usize) -> Vec3 {
        let sum = |from: usize, to: usize| vectors[from + 1..to].iter().fold(vectors[from], |sum, next| sum + next);
        match from.cmp(&to) {
            Ordering::Less => sum(from, to),
            Ordering::Equal => Vec3::zeros(),
            Ordering::Greater => -sum(to, from),
        }
    }

    /// Stores the offsets of the bodies, by their numbers, from the centre of mass, for vectors along the chain.
    pub fn store_offsets(&self, vectors: &[Vec3], found: &mut [Vec3]) {
        let (mut along, mut moment) = (Vec3::zeros(), Vec3::zeros());
        found[self.body[0]] = along;
        for ((vector, mass), &body) in vectors.iter().zip(&self.mass[1..]).zip(&self.body[1..]) {
            along += vector;
            moment += along * *mass;
            found[body] = along;
        }
        let centre = moment / self.total;
        found.iter_mut().for_each(|x| *x -= centre);
    }

    /// Returns what [`Self::store_offsets`] stores.
    #[must_use]
    pub fn offsets(&self, vectors: &[Vec3]) -> Vec<Vec3> {
        let mut found = vec![Vec3::zeros(); self.len()];
        self.store_offsets(vectors, &mut found);
        found
    }

    /// Adds changes of positions and velocities along the chain, three numbers each.
    pub fn add(&mut self, change: &[f64]) {
        let (pos, vel) = change.split_at(3 * self.pos.len());
        add_all((&mut self.pos, &mut self.low_pos), pos);
        add_all((&mut self.vel, &mut self.low_vel), vel);
    }

    /// Makes the positions longer by `of_pos` of them, and the velocities by `of_vel`.
    pub fn stretch(&mut self, of_pos: f64, of_vel: f64) {
        for (high, low, by) in [(&mut self.pos, &mut self.low_pos, of_pos), (&mut self.vel, &mut self.low_vel, of_vel)]
        {
            for (high, low) in high.iter_mut().zip(low) {
                for c in 0..3 {
                    (high[c], low[c]) = two_sum(high[c], low[c] + high[c] * by);
                }
            }
        }
    }

    /// Brings the bodies into the order of the chain that they would have now. Vectors between neighbours that stay
    /// neighbours keep their bits.
    pub fn renew(&mut self) {
        if self.is_in_order() {
            return;
        }
        let mut along = vec![Vec3::zeros(); self.len()];
        for k in 1..along.len() {
            along[k] = along[k - 1] + self.pos[k - 1];
        }
        let order = order(&along);
        let is_same =
            order.iter().enumerate().all(|(k, &i)| k == i) || order.iter().rev().enumerate().all(|(k, &i)| k == i);
        if is_same {
            return;
        }
        let renewed = |vectors: &[Vec3]| order.windows(2).map(|two| Self::between(vectors, two[0], two[1])).collect();
        (self.pos, self.vel) = (renewed(&self.pos), renewed(&self.vel));
        (self.low_pos, self.low_vel) = (renewed(&self.low_pos), renewed(&self.low_vel));
        self.mass = order.iter().map(|&k| self.mass[k]).collect();
        self.body = order.iter().map(|&k| self.body[k]).collect();
    }

    /// Returns true if a chain of up to three bodies is in order; of more, this does not tell.
    fn is_in_order(&self) -> bool {
        match self.pos[..] {
            [_] => true,
            [first, second] => (first + second).norm_squared() > first.norm_squared().max(second.norm_squared()),
            _ => false,
        }
    }

    /// Computes the accelerations of the vectors at the positions `pos`, and returns U = Σ mᵢ mⱼ / rᵢⱼ.
    #[inline]
    pub fn accelerations(&self, pos: &[Vec3], acc: &mut [Vec3]) -> f64 {
        // Three bodies as a case of its own, for the compiler.
        if self.len() == 3 {
            accelerations(3, &self.mass, pos, acc)
        } else {
            accelerations(self.len(), &self.mass, pos, acc)
        }
    }

    /// Returns the fastest rate of a pair, the largest of √((mᵢ + mⱼ) / r³) and v / r, and dU/dt.
    #[must_use]
    pub fn rates(&self) -> (f64, f64) {
        let (n, mut max, mut slope) = (self.len(), 0.0f64, 0.0);
        for i in 0..n {
            let (mut distance, mut speed) = (Vec3::zeros(), Vec3::zeros());
            for j in i + 1..n {
                distance += self.pos[j - 1];
                speed += self.vel[j - 1];
                let r2 = distance.norm_squared();
                let r3 = r2 * r2.sqrt();
                max = max.max((self.mass[i] + self.mass[j]) / r3).max(speed.norm_squared() / r2);
                slope -= self.mass[i] * self.mass[j] * distance.dot(&speed) / r3;
            }
        }
        (max.sqrt(), slope)
    }

    /// Returns the kinetic energy relative to the centre of mass for velocities `vel` of the vectors.
    #[must_use]
    pub fn kinetic(&self, vel: &[Vec3]) -> f64 {
        let sum = if self.len() == 3 { weighted(3, &self.mass, vel) } else { weighted(self.len(), &self.mass, vel) };
        0.5 * sum / self.total
    }
}

/// Adds changes to vectors, whose lower digits are apart.
fn add_all((high, low): (&mut [Vec3], &mut [Vec3]), change: &[f64]) {
    for ((high, low), change) in high.iter_mut().zip(low).zip(change.chunks_exact(3)) {
        for c in 0..3 {
            (high[c], low[c]) = two_sum(high[c], low[c] + change[c]);
        }
    }
}

/// Returns Σ mᵢ mⱼ vᵢⱼ² for velocities along a chain of `n`.
#[inline(always)]
fn weighted(n: usize, mass: &[f64], vel: &[Vec3]) -> f64 {
    let (mass, vel) = (&mass[..n], &vel[..n - 1]);
    let mut sum = 0.0;
    for i in 0..n {
        let mut speed = Vec3::zeros();
        for j in i + 1..n {
            speed += vel[j - 1];
            sum += mass[i] * mass[j] * speed.norm_squared();
        }
    }
    sum
}

/// Computes the accelerations of the vectors of a chain of `n`, and returns U.
#[inline(always)]
fn accelerations(n: usize, mass: &[f64], pos: &[Vec3], acc: &mut [Vec3]) -> f64 {
    let (mass, pos, acc) = (&mass[..n], &pos[..n - 1], &mut acc[..n - 1]);
    let mut potential = 0.0;
    acc.fill(Vec3::zeros());
    for i in 0..n {
        let mut distance = Vec3::zeros();
        for j in i + 1..n {
            distance += pos[j - 1];
            let r2 = distance.norm_squared();
            let inverse = 1.0 / r2.sqrt();
            potential += mass[i] * mass[j] * inverse;
            let pull = distance * (inverse * inverse * inverse);
            // Of body i towards j, and of j towards i: body k has +1 in vector k − 1 and −1 in vector k.
            let (of_i, of_j) = (pull * mass[j], pull * -mass[i]);
            if i > 0 {
                acc[i - 1] += of_i;
            }
            acc[i] -= of_i;
            acc[j - 1] += of_j;
            if j < n - 1 {
                acc[j] -= of_j;
            }
        }
    }
    potential
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies() -> (Vec<f64>, Vec<Vec3>, Vec<Vec3>) {
        let pos =
            [[0.0, 0.0, 0.0], [5.0, 1.0, 0.0], [0.1, 0.0, 0.2], [5.0, 1.5, 0.5], [-3.0, 2.0, 1.0]].map(Vec3::from);
        let vel =
            [[0.1, 0.2, 0.3], [-0.5, 0.0, 0.1], [0.3, -0.1, 0.0], [0.0, 0.7, 0.0], [0.2, 0.2, -0.2]].map(Vec3::from);
        (vec![1.0, 2.0, 0.5, 3.0, 0.25], pos.to_vec(), vel.to_vec())
    }

    #[test]
    fn neighbours_of_the_chain_are_close() {
        let (mass, pos, vel) = bodies();
        let chain = Chain::new(&mass, &pos, &vel);
        assert_eq!(chain.body, [4, 0, 2, 1, 3]);
        assert_eq!(chain.pos[1], pos[2] - pos[0]);
        let (offsets, centre) =
            (chain.offsets(&chain.pos), pos.iter().zip(&mass).fold(Vec3::zeros(), |s, (x, m)| s + x * *m) / 6.75);
        offsets.iter().zip(&pos).for_each(|(offset, x)| assert!((offset - (x - centre)).norm() < 1e-14));
    }

    #[test]
    fn forces_and_energies_are_those_of_the_bodies() {
        let (mass, pos, vel) = bodies();
        let chain = Chain::new(&mass, &pos, &vel);
        let mut acc = [Vec3::zeros(); 4];
        let potential = chain.accelerations(&chain.pos, &mut acc);
        let (mut direct, mut expected) = (vec![Vec3::zeros(); 5], 0.0);
        for i in 0..5 {
            for j in (0..5).filter(|j| *j != i) {
                let r = pos[j] - pos[i];
                direct[i] += r * (mass[j] / r.norm().powi(3));
                expected += 0.5 * mass[i] * mass[j] / r.norm();
            }
        }
        assert!((potential - expected).abs() < 1e-14 * expected);
        for (k, two) in chain.body.windows(2).enumerate() {
            assert!((acc[k] - (direct[two[1]] - direct[two[0]])).norm() < 1e-13 * (1.0 + acc[k].norm()), "vector {k}");
        }
        let mean = vel.iter().zip(&mass).fold(Vec3::zeros(), |s, (v, m)| s + v * *m) / 6.75;
        let kinetic: f64 = vel.iter().zip(&mass).map(|(v, m)| 0.5 * m * (v - mean).norm_squared()).sum();
        assert!((chain.kinetic(&chain.vel) - kinetic).abs() < 1e-14);
    }

    #[test]
    fn a_renewed_chain_is_that_of_the_new_positions() {
        let (mass, pos, vel) = bodies();
        let mut chain = Chain::new(&mass, &pos, &vel);
        let before = chain.clone();
        chain.renew();
        assert_eq!(chain, before);
        // Body 4 moves next to body 3.
        chain.pos[0] += pos[4] - (pos[3] + Vec3::new(0.01, 0.0, 0.0));
        chain.renew();
        let place = |body: usize| chain.body.iter().position(|b| *b == body).unwrap();
        assert_eq!(place(4).abs_diff(place(3)), 1);
        let offsets = chain.offsets(&chain.pos);
        assert!((offsets[4] - offsets[3] - Vec3::new(0.01, 0.0, 0.0)).norm() < 1e-14);
        assert!((offsets[1] - offsets[0] - (pos[1] - pos[0])).norm() < 1e-14);
        let speeds = chain.offsets(&chain.vel);
        assert!((speeds[4] - speeds[0] - (vel[4] - vel[0])).norm() < 1e-14);
    }
}
