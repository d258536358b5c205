//! Perturbed pair in regular coordinates (Kustaanheimo & Stiefel 1965, Journal für die reine und angewandte Mathematik 218,
//! 204), in which a Kepler orbit of any eccentricity, a fall head-on too, is a harmonic oscillation.
//!
//! With dt = r ds, β = 2μ/r − v² and x = L(u) u: u'' = −β u / 4 + r Lᵀ f / 2. The leapfrog's drift is the motion without the
//! tide f, exact for any step; its kick is that of f alone. So its errors are of the order of f, and vanish with it.

use super::extrapolation::{Leapfrog, SHARE, projection};
use super::kepler::universal::Universal;
use super::tide::Tide;
use tisane_force::particles::Vec3;

/// Numbers of a change: those of u, u', t and β.
pub const WIDTH: usize = 10;
type Four = [f64; 4];

fn norm_squared(u: &Four) -> f64 {
    dot(u, u)
}

fn dot(a: &Four, b: &Four) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

/// Returns L(u) w.
fn forward(u: &Four, w: &Four) -> Vec3 {
    Vec3::new(
        (u[0] * w[0] - u[1] * w[1]) + (u[3] * w[3] - u[2] * w[2]),
        (u[1] * w[0] + u[0] * w[1]) - (u[3] * w[2] + u[2] * w[3]),
        (u[2] * w[0] + u[3] * w[1]) + (u[0] * w[2] + u[1] * w[3]),
    )
}

/// Returns Lᵀ(u) f.
fn backward(u: &Four, f: Vec3) -> Four {
    [
        u[0] * f[0] + u[1] * f[1] + u[2] * f[2],
        u[0] * f[1] - u[1] * f[0] + u[3] * f[2],
        u[0] * f[2] - u[2] * f[0] - u[3] * f[1],
        u[3] * f[0] - u[2] * f[1] + u[1] * f[2],
    ]
}

/// Pair at the begin of a step.
pub struct Pair<'a> {
    mu: f64,
    /// Shares of the total mass.
    share: [f64; 2],
    u: Four,
    w: Four,
    beta: f64,
    tide: Option<&'a dyn Tide>,
    /// Time of the begin, as the tide counts it.
    time: f64,
    tolerance: f64,
    pub evaluations: u64,
}

/// Relative motion of a pair; β is a variable of its own, which is not computed from position and velocity.
pub(super) struct PairState {
    pub pos: Vec3,
    pub vel: Vec3,
    pub beta: f64,
}

impl<'a> Pair<'a> {
    /// Creates the pair of these masses with this relative motion.
    pub fn new(mass: [f64; 2], PairState { pos, vel, beta }: PairState, tide: Option<&'a dyn Tide>) -> Self {
        let r = pos.norm();
        // One of the two roots is of a number not below r/2: no digits are lost.
        let u = if pos[0] >= 0.0 {
            let root = (0.5 * (r + pos[0])).sqrt();
            [root, 0.5 * pos[1] / root, 0.5 * pos[2] / root, 0.0]
        } else {
            let root = (0.5 * (r - pos[0])).sqrt();
            [0.5 * pos[1] / root, root, 0.0, 0.5 * pos[2] / root]
        };
        let mu = mass[0] + mass[1];
        let share = mass.map(|m| m / mu);
        Self { mu, share, u, w: backward(&u, 0.5 * vel), beta, tide, time: 0.0, tolerance: 0.0, evaluations: 0 }
    }

    /// Sets the time of the begin, as the tide counts it, and the tolerance of a step.
    pub fn at(mut self, time: f64, tolerance: f64) -> Self {
        (self.time, self.tolerance) = (time, tolerance);
        self
    }

    /// Returns relative position and velocity and β after changes.
    pub fn after(&self, change: &[f64]) -> PairState {
        let plus = |from: &Four, at: usize| [0, 1, 2, 3].map(|k| from[k] + change[at + k]);
        let (u, w, beta) = (plus(&self.u, 0), plus(&self.w, 4), self.beta + change[9]);
        let r = norm_squared(&u);
        let (more_pos, more_vel) = projection(2.0 * norm_squared(&w) / r, self.mu / r, 0.5 * beta);
        let (pos, vel) = (forward(&u, &u), forward(&u, &w) * (2.0 / r));
        PairState { pos: pos + pos * more_pos, vel: vel + vel * more_vel, beta }
    }

    /// Moves by the fictitious time `h` without a tide.
    #[inline]
    fn drift(&self, h: f64, (u, w): (&mut Four, &mut Four), change: &mut [f64; WIDTH]) {
        let beta = self.beta + change[9];
        let half = Universal::new(beta, 0.5 * h);
        let whole = half.doubled();
        let (r, eta) = (norm_squared(u), 2.0 * dot(u, w));
        change[8] += r * whole.g1 + (eta * whole.g2 + self.mu * whole.g3);
        // Increments: cos − 1 and sin of √β h / 2.
        let (less, far, back) = (-beta * half.g2, 2.0 * half.g1, -0.5 * beta * half.g1);
        for k in 0..4 {
            change[k] += less * u[k] + far * w[k];
            change[k + 4] += back * u[k] + less * w[k];
        }
        for k in 0..4 {
            u[k] = self.u[k] + change[k];
            w[k] = self.w[k] + change[k + 4];
        }
    }

    /// Changes the velocity by the tide over the fictitious time `h`.
    #[inline]
    fn kick(&self, tide: &dyn Tide, h: f64, (u, w): (&Four, &mut Four), change: &mut [f64; WIDTH]) {
        let apart = forward(u, u);
        let mut acc = [Vec3::zeros(); 2];
        tide.acc(self.time + change[8], &[apart * -self.share[1], apart * self.share[0]], &mut acc);
        let pull = backward(u, acc[1] - acc[0]);
        let part = 0.5 * h * norm_squared(u);
        let mut work = 0.0;
        for k in 0..4 {
            let more = part * pull[k];
            work += (w[k] + 0.5 * more) * pull[k];
            change[k + 4] += more;
            w[k] = self.w[k] + change[k + 4];
        }
        change[9] -= 4.0 * h * work;
    }
}

impl Leapfrog for Pair<'_> {
    fn leap(&mut self, length: f64, parts: u32, found: &mut [f64]) {
        let h = length / f64::from(parts);
        let (mut u, mut w, mut change) = (self.u, self.w, [0.0; WIDTH]);
        if let Some(tide) = self.tide {
            self.drift(0.5 * h, (&mut u, &mut w), &mut change);
            for part in 1..=parts {
                self.kick(tide, h, (&u, &mut w), &mut change);
                self.drift(if part == parts { 0.5 * h } else { h }, (&mut u, &mut w), &mut change);
            }
        } else {
            self.drift(length, (&mut u, &mut w), &mut change);
        }
        self.evaluations += u64::from(parts);
        found.copy_from_slice(&change);
    }

    fn is_near(&self, before: &[f64], last: &[f64]) -> bool {
        let near = |from: &Four, at: usize| {
            let off = [0, 1, 2, 3].map(|k| last[at + k] - before[at + k]);
            let new = [0, 1, 2, 3].map(|k| from[k] + last[at + k]);
            norm_squared(&off) <= self.tolerance * self.tolerance * (norm_squared(from) + norm_squared(&new))
        };
        let new = [0, 1, 2, 3].map(|k| self.u[k] + last[k]);
        let size = self.beta.abs() + SHARE * self.mu / (norm_squared(&self.u) + norm_squared(&new));
        near(&self.u, 0)
            && near(&self.w, 4)
            && (last[8] - before[8]).abs() <= self.tolerance * last[8].abs()
            && (last[9] - before[9]).abs() <= self.tolerance * size
    }
}
