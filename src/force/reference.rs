//! The reference engine: scalar, clear, slow. The oracle that every other engine is held against, in every mode.

use super::canonical::{BAG, FULL_DEPTH, TreeSum};
use super::mode::{DoubleFloat, F32Chamomile, F32Direct, F32Kahan, F64, Mixed, Mode, Node, Order, SUMS, Sum};
use super::precision::Precision;
use super::real::Real;
use super::{ForceEngine, Forces, Targets};
use crate::error::Result;
use crate::gravity::{Pair, Pull, pair, predict};
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};
use num_traits::Zero;
use pulp::Scalar;
use std::marker::PhantomData;

/// Scalar engine for the precision mode `M`; see [`super::canonical`] for the order of summation.
pub struct ReferenceEngine<M> {
    mode: PhantomData<M>,
    bag: usize,
    eps2: f64,
    clock: Clock,
    sources: Particles,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

/// The reference engine for a precision mode.
#[must_use]
pub fn engine(precision: Precision, epsilon: f64, clock: Clock) -> Box<dyn ForceEngine> {
    engine_with_bags(precision, epsilon, clock, BAG)
}

/// The same with bags of another size than the canonical one, to study what bags do to the error. At least 1.
#[must_use]
pub fn engine_with_bags(precision: Precision, epsilon: f64, clock: Clock, bag: usize) -> Box<dyn ForceEngine> {
    fn new<M: Mode>(epsilon: f64, clock: Clock, bag: usize) -> Box<dyn ForceEngine> {
        Box::new(ReferenceEngine::<M> { bag: bag.max(1), ..ReferenceEngine::new(epsilon, clock) })
    }
    match precision {
        Precision::F32Direct => new::<F32Direct>(epsilon, clock, bag),
        Precision::F32Chamomile => new::<F32Chamomile>(epsilon, clock, bag),
        Precision::F32Kahan => new::<F32Kahan>(epsilon, clock, bag),
        Precision::Mixed => new::<Mixed>(epsilon, clock, bag),
        Precision::DoubleFloat => new::<DoubleFloat>(epsilon, clock, bag),
        Precision::F64Fast | Precision::F64 => new::<F64>(epsilon, clock, bag),
    }
}

impl<M: Mode> ReferenceEngine<M> {
    /// An engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock) -> Self {
        Self {
            mode: PhantomData,
            bag: BAG,
            eps2: epsilon * epsilon,
            clock,
            sources: Particles::default(),
            pos: Vec::new(),
            vel: Vec::new(),
        }
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

    /// Position and velocity of `j` relative to a target, in the mode's numbers.
    fn relative(&self, j: usize, pos: Vec3, vel: Vec3) -> ([M::Real; 3], [M::Real; 3]) {
        let r = [0, 1, 2].map(|k| {
            let (source, target) = (M::Real::split(self.pos[j][k]), M::Real::split(pos[k]));
            let difference = source[0] - target[0];
            if M::SPLIT { difference + (source[1] - target[1]) } else { difference }
        });
        (r, [0, 1, 2].map(|k| M::Real::of(self.vel[j][k]) - M::Real::of(vel[k])))
    }

    fn force_on(&self, i: usize, pos: Vec3, vel: Vec3) -> Pull {
        let mut tree = TreeSum::<[M::Node; SUMS], FULL_DEPTH>::default();
        let mut in_order = [M::Node::default(); SUMS];
        let n = self.sources.len();
        let mut sums = [[M::Real::zero(); 2]; SUMS];
        for first in (0..n).step_by(self.bag) {
            if M::ORDER != Order::Running {
                sums = [[M::Real::zero(); 2]; SUMS];
            }
            for j in (first..n.min(first + self.bag)).filter(|&j| j != i) {
                let (r, v) = self.relative(j, pos, vel);
                let pair = pair(M::Real::of(self.sources.mass[j]), r, v, M::Real::of(self.eps2));
                add_pair::<M>(&mut sums, &pair, r);
            }
            let bag = sums.map(M::node);
            match M::ORDER {
                Order::Tree => tree.push(0, bag),
                Order::InOrder => in_order = in_order.plus(&bag),
                Order::Running => in_order = bag,
            }
        }
        let total = if M::ORDER == Order::Tree { tree.root() } else { in_order };
        Pull::from_sums(total.map(|sum| sum.value()))
    }
}

/// Adds a pair to the sums acc, jerk, pot. A number is a vector of one lane, so the mode's own sums serve here too.
fn add_pair<M: Mode>(sums: &mut [[M::Real; 2]; SUMS], pair: &Pair<M::Real>, r: [M::Real; 3]) {
    let mut add = |k: usize, a: M::Real, b: M::Real| {
        let mut sum = sums[k].map(|x| M::Real::splat(Scalar, x));
        M::add_product(Scalar, &mut sum, M::Real::splat(Scalar, a), M::Real::splat(Scalar, b));
        sums[k] = sum.map(M::Real::single);
    };
    for (k, (r, d)) in r.into_iter().zip(pair.d).enumerate() {
        add(k, pair.m_s3, r);
        add(3 + k, pair.m_s3, d);
    }
    let mut pot = sums[6].map(|x| M::Real::splat(Scalar, x));
    M::subtract(Scalar, &mut pot, M::Real::splat(Scalar, pair.m_s));
    sums[6] = pot.map(M::Real::single);
}

impl<M: Mode> ForceEngine for ReferenceEngine<M> {
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
