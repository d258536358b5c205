//! Leapfrog of a chain of bodies in the fictitious time of the logarithmic Hamiltonian.

use super::chain::Chain;
use super::extrapolation::{Leapfrog, SHARE};
use super::tide::Tide;
use tisane_force::particles::Vec3;

/// Rounding error of T + B in units of T.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Returns how many numbers a change of `n` bodies has: positions and velocities along the chain, t and B.
pub fn width(n: usize) -> usize {
    6 * (n - 1) + 2
}

/// Chain at the begin of a step, and room for the points on its way.
pub struct Logarithmic<'a> {
    chain: &'a Chain,
    binding: f64,
    tide: Option<&'a dyn Tide>,
    /// Time of the begin, as the tide counts it.
    time: f64,
    tolerance: f64,
    /// U at the begin.
    pub potential: f64,
    pub evaluations: u64,
    room: &'a mut Room,
}

/// Room for the numbers of a chain on its way.
#[derive(Debug)]
pub struct Room {
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
    pub acc: Vec<Vec3>,
    offsets: Vec<Vec3>,
    tidal: Vec<Vec3>,
}

impl Room {
    pub fn new(n: usize) -> Self {
        let of = |n: usize| vec![Vec3::zeros(); n];
        Self { pos: of(n - 1), vel: of(n - 1), acc: of(n - 1), offsets: of(n), tidal: of(n) }
    }
}

impl<'a> Logarithmic<'a> {
    /// Creates the begin of a step at this time, as the tide counts it.
    pub fn new(
        (chain, binding): (&'a Chain, f64),
        tide: Option<&'a dyn Tide>,
        (time, tolerance): (f64, f64),
        room: &'a mut Room,
    ) -> Self {
        let potential = chain.accelerations(&chain.pos, &mut room.acc);
        let tolerance = tolerance.max(ROUNDING * chain.kinetic(&chain.vel) / potential);
        Self { chain, binding, tide, time, tolerance, potential, evaluations: 0, room }
    }

    /// Stores in `change` the changes by one leapfrog over the *time* `dt`, so short that the error has no digits.
    pub fn leap_in_time(&mut self, dt: f64, change: &mut [f64]) {
        self.start(change);
        self.drift(0.5 * dt, change);
        self.chain.accelerations(&self.room.pos, &mut self.room.acc);
        self.evaluations += 1;
        self.kick(dt, change);
        self.drift(0.5 * dt, change);
    }

    fn start(&mut self, change: &mut [f64]) {
        change.fill(0.0);
        self.room.pos.copy_from_slice(&self.chain.pos);
        self.room.vel.copy_from_slice(&self.chain.vel);
    }

    /// Moves by the time `dt`.
    #[inline]
    fn drift(&mut self, dt: f64, change: &mut [f64]) {
        let n = self.chain.pos.len();
        let (moves, rest) = change.split_at_mut(3 * n);
        for (k, moved) in moves.chunks_exact_mut(3).enumerate() {
            for (c, moved) in moved.iter_mut().enumerate() {
                *moved += self.room.vel[k][c] * dt;
                self.room.pos[k][c] = self.chain.pos[k][c] + (self.chain.low_pos[k][c] + *moved);
            }
        }
        rest[3 * n] += dt;
    }

    /// Changes the velocities over the time `dt` by the accelerations in the room and the tide.
    #[inline]
    fn kick(&mut self, dt: f64, change: &mut [f64]) {
        let n = self.chain.pos.len();
        let (vectors, scalars) = change.split_at_mut(6 * n);
        if let Some(tide) = self.tide {
            self.add_tide(tide, dt, scalars);
        }
        for (k, gained) in vectors[3 * n..].chunks_exact_mut(3).enumerate() {
            for (c, gained) in gained.iter_mut().enumerate() {
                *gained += self.room.acc[k][c] * dt;
                self.room.vel[k][c] = self.chain.vel[k][c] + (self.chain.low_vel[k][c] + *gained);
            }
        }
    }

    /// Adds the tide to the accelerations, and its work over the time `dt` to the change of B.
    fn add_tide(&mut self, tide: &dyn Tide, dt: f64, scalars: &mut [f64]) {
        let Room { pos, vel, acc, offsets, tidal } = &mut *self.room;
        self.chain.store_offsets(pos, offsets);
        tide.acc(self.time + scalars[0], offsets, tidal);
        let of = &self.chain.body;
        for (acc, two) in acc.iter_mut().zip(of.windows(2)) {
            *acc += tidal[two[1]] - tidal[two[0]];
        }
        // Σ m v·f about the centre of mass is the sum of mᵢ mⱼ vᵢⱼ·fᵢⱼ / M over the pairs.
        let mass = &self.chain.mass;
        let mut power = 0.0;
        for i in 0..of.len() {
            let mut speed = Vec3::zeros();
            for j in i + 1..of.len() {
                speed += vel[j - 1] + acc[j - 1] * (0.5 * dt);
                power += mass[i] * mass[j] * speed.dot(&(tidal[of[j]] - tidal[of[i]]));
            }
        }
        scalars[1] -= dt * power / self.chain.total;
    }
}

impl Leapfrog for Logarithmic<'_> {
    fn leap(&mut self, length: f64, parts: u32, change: &mut [f64]) {
        let h = length / f64::from(parts);
        let b = change.len() - 1;
        self.start(change);
        for part in 0..=parts {
            let s = if part == 0 || part == parts { 0.5 * h } else { h };
            self.drift(s / (self.chain.kinetic(&self.room.vel) + (self.binding + change[b])), change);
            if part < parts {
                let potential = self.chain.accelerations(&self.room.pos, &mut self.room.acc);
                self.kick(h / potential, change);
            }
        }
        self.evaluations += u64::from(parts);
    }

    fn is_near(&self, before: &[f64], last: &[f64]) -> bool {
        let Chain { pos, vel, .. } = self.chain;
        let limit = self.tolerance * self.tolerance;
        let vectors = before.chunks_exact(3).zip(last.chunks_exact(3)).zip(pos.iter().chain(vel));
        // Relative to what comes out: a step to a pericentre from far away must not lose its digits.
        let are_near = vectors.into_iter().all(|((before, last), from)| {
            let (before, last) = (Vec3::from_column_slice(before), Vec3::from_column_slice(last));
            (last - before).norm_squared() <= limit * (from + last).norm_squared()
        });
        let t = last.len() - 2;
        let size = self.binding.abs() + SHARE * self.potential;
        are_near
            && (last[t] - before[t]).abs() <= self.tolerance * last[t].abs()
            && (last[t + 1] - before[t + 1]).abs() <= self.tolerance * size
    }
}
