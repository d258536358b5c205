//! The reference engine: scalar, clear, slow. The oracle that every other engine is held against.

use super::canonical::{BAG, FULL_DEPTH, TreeSum};
use super::{ForceEngine, Forces, Targets};
use crate::error::Result;
use crate::gravity::{Pull, predict};
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};

/// Scalar f64 engine; see [`super::canonical`] for the order of summation.
#[derive(Debug)]
pub struct ReferenceEngine {
    eps2: f64,
    clock: Clock,
    sources: Particles,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

impl ReferenceEngine {
    /// An engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock) -> Self {
        Self { eps2: epsilon * epsilon, clock, sources: Particles::default(), pos: Vec::new(), vel: Vec::new() }
    }

    fn predict_sources(&mut self, now: Time, targets: &Targets) {
        let s = &self.sources;
        for i in 0..s.len() {
            let dt = self.clock.between(s.time[i], now);
            (self.pos[i], self.vel[i]) = predict(s.pos[i], s.vel[i], s.acc[i], s.jerk[i], dt);
        }
        for (k, &i) in targets.index.iter().enumerate() {
            self.pos[i as usize] = targets.pos[k];
            self.vel[i as usize] = targets.vel[k];
        }
    }

    fn force_on(&self, i: usize, pos: Vec3, vel: Vec3) -> Pull {
        let mut tree = TreeSum::<FULL_DEPTH>::default();
        let n = self.sources.len();
        for first in (0..n).step_by(BAG) {
            let mut bag = Pull::default();
            for j in (first..n.min(first + BAG)).filter(|&j| j != i) {
                let r = [0, 1, 2].map(|k| self.pos[j][k] - pos[k]);
                let v = [0, 1, 2].map(|k| self.vel[j][k] - vel[k]);
                bag.add_pair(self.sources.mass[j], r, v, self.eps2);
            }
            tree.push(0, bag);
        }
        tree.root().canonical()
    }
}

impl ForceEngine for ReferenceEngine {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.sources = all.clone();
        self.pos = all.pos.clone();
        self.vel = all.vel.clone();
        Ok(())
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let s = &mut self.sources;
        for i in changed.iter().map(|&i| i as usize) {
            (s.pos[i], s.vel[i], s.acc[i], s.jerk[i]) = (all.pos[i], all.vel[i], all.acc[i], all.jerk[i]);
            s.time[i] = all.time[i];
        }
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: &Targets, out: &mut Forces) -> Result<()> {
        self.predict_sources(now, targets);
        out.resize(targets.len());
        for (k, &i) in targets.index.iter().enumerate() {
            out.set(k, &self.force_on(i as usize, targets.pos[k], targets.vel[k]));
        }
        Ok(())
    }
}
