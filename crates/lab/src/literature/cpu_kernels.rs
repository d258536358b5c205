//! The CPU kernels of the report "GPU-accelerated simulation of the gravitational N-body problem" (§5.2), to be
//! measured: plain scalar loops, in f32 or f64, on the threads of the rayon pool they are called in. Their number
//! changes no bit. The pair is that of GPU Gems 3 (Nyland, Harris and Prins 2007, §31.3.1) without fused operations,
//! and they are not a mode of runs.

use num_traits::Float;
use rayon::prelude::*;
use tisane::error::Result;
use tisane::force::{Accelerations, ForceEngine, Targets};
use tisane::particles::Particles;
use tisane::particles::Vec3;
use tisane::time::Time;

/// Number of parts of the pairs of [`Edges`], each with its own sums: at most this number of threads share them.
const PARTS: usize = 64;
/// Number of targets that a thread takes at a time.
const TILE: usize = 16;

/// Floating-point type that these kernels compute in.
pub trait Number: Float + Default + Send + Sync {
    /// Returns the number nearest to `x`.
    fn from_f64(x: f64) -> Self;
    /// Returns the value, which an f64 holds exactly.
    fn value(self) -> f64;
}

impl Number for f32 {
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    fn value(self) -> f64 {
        f64::from(self)
    }
}

impl Number for f64 {
    fn from_f64(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
}

/// Bodies and softening in a kernel's numbers.
struct Bodies<R> {
    mass: Vec<R>,
    pos: Vec<[R; 3]>,
    eps2: R,
}

impl<R: Number> Bodies<R> {
    fn new(epsilon: f64) -> Self {
        Self { mass: Vec::new(), pos: Vec::new(), eps2: R::from_f64(epsilon * epsilon) }
    }

    fn load(&mut self, mass: &[f64]) {
        self.mass = mass.iter().map(|&m| R::from_f64(m)).collect();
    }

    fn place(&mut self, targets: Targets<'_>) -> Result<()> {
        targets.check_all(self.mass.len())?;
        self.pos.clear();
        self.pos.extend(targets.pos.iter().map(|x| <[f64; 3]>::from(*x).map(R::from_f64)));
        Ok(())
    }

    /// Returns the vector from body `i` to body `j`, and 1/s³.
    #[inline(always)]
    fn pair(&self, i: usize, j: usize) -> ([R; 3], R) {
        let (a, b) = (self.pos[i], self.pos[j]);
        let r = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        let s2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + self.eps2;
        (r, R::one() / (s2 * s2.sqrt()))
    }
}

#[inline(always)]
fn add<R: Number>(sum: &mut [R; 3], factor: R, r: [R; 3]) {
    for k in 0..3 {
        sum[k] = sum[k] + factor * r[k];
    }
}

/// All pairs, each target's by one thread (the report's CPU0).
pub struct Basic<R>(Bodies<R>);

/// Each pair once, for both of its bodies (the report's CPU1). The targets are dealt to a fixed number of parts, a long
/// row of pairs with a short one, so that all parts have as much to do; each part adds up for itself, and the parts are
/// added up in order.
pub struct Edges<R>(Bodies<R>);

impl<R: Number> Basic<R> {
    /// The kernel without bodies. `epsilon` is the Plummer softening.
    #[must_use]
    pub fn new(epsilon: f64) -> Self {
        Self(Bodies::new(epsilon))
    }
}

impl<R: Number> Edges<R> {
    /// The kernel without bodies. `epsilon` is the Plummer softening.
    #[must_use]
    pub fn new(epsilon: f64) -> Self {
        Self(Bodies::new(epsilon))
    }

    /// Returns the sums of part number `part` of `parts`.
    fn part(&self, part: usize, parts: usize) -> Vec<[R; 3]> {
        let bodies = &self.0;
        let n = bodies.mass.len();
        let mut sums = vec![[R::zero(); 3]; n];
        let mut row = |i: usize| {
            let mut own = [R::zero(); 3];
            for (j, sum) in sums.iter_mut().enumerate().skip(i + 1) {
                let (r, factor) = bodies.pair(i, j);
                add(&mut own, bodies.mass[j] * factor, r);
                add(sum, -(bodies.mass[i] * factor), r);
            }
            add(&mut sums[i], R::one(), own);
        };
        for low in (part..n.div_ceil(2)).step_by(parts) {
            row(low);
            if n - 1 - low != low {
                row(n - 1 - low);
            }
        }
        sums
    }
}

impl<R: Number> ForceEngine<Accelerations> for Basic<R> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.0.load(&all.mass);
        Ok(())
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, _: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        self.0.place(targets)?;
        let bodies = &self.0;
        out.acc.resize(targets.len(), Vec3::zeros());
        out.acc.par_iter_mut().with_min_len(TILE).enumerate().for_each(|(i, acc)| {
            let mut sum = [R::zero(); 3];
            for j in (0..i).chain(i + 1..bodies.mass.len()) {
                let (r, factor) = bodies.pair(i, j);
                add(&mut sum, bodies.mass[j] * factor, r);
            }
            *acc = Vec3::from(sum.map(R::value));
        });
        Ok(())
    }
}

impl<R: Number> ForceEngine<Accelerations> for Edges<R> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.0.load(&all.mass);
        Ok(())
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, _: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        self.0.place(targets)?;
        out.acc.resize(targets.len(), Vec3::zeros());
        let parts = PARTS.min(targets.len().div_ceil(2));
        let sums: Vec<_> = (0..parts).into_par_iter().with_max_len(1).map(|part| self.part(part, parts)).collect();
        out.acc.par_iter_mut().with_min_len(TILE).enumerate().for_each(|(i, acc)| {
            let mut sum = [R::zero(); 3];
            for part in &sums {
                add(&mut sum, R::one(), part[i]);
            }
            *acc = Vec3::from(sum.map(R::value));
        });
        Ok(())
    }
}
