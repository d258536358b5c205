//! The reference engine: scalar, clear, slow. All other engines are checked against it, in every mode.

mod arithmetic;
mod law;

use super::canonical::{BAG, FULL_DEPTH, TreeSum};
use super::engine::ForceEngine;
use super::forces::{Accelerations, Forces};
use super::mode::{ACC_SUMS, Mode, Node, Order, SUMS, Sum, with_mode};
use super::neighbours::{IRREGULAR_SUMS, NeighbourForces, NeighbourTargets, limit, newton_only};
use super::points::{FieldEngine, Points};
use super::precision::Precision;
use super::real::Real;
use super::targets::{Block, Targets};
use crate::error::Result;
use crate::gravity::{Force, acceleration_from_sums, attraction, pair, predict_by, softened_square};
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};
use arithmetic::{add, relative, subtract};
use law::{LawPairs, Target};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Scalar engine for the precision mode `M`. For the order of summation see [`super::canonical`].
pub struct ReferenceEngine<M: Mode> {
    mode: PhantomData<M>,
    bag: usize,
    /// Law in place of Newton's.
    law: Option<LawPairs<M>>,
    eps2: f64,
    clock: Clock,
    sources: Particles,
    /// Derivatives of the acceleration from the second on, by which sources are predicted too.
    more: Vec<Vec<Vec3>>,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

/// Creates the reference engine for a precision mode. `epsilon` is the Plummer softening, `clock` the run's time axis
/// (internal units).
#[must_use]
pub fn engine(precision: Precision, epsilon: f64, clock: Clock) -> Box<dyn FieldEngine> {
    engine_with_bags(precision, epsilon, clock, BAG)
}

/// Creates the reference engine of a [law](crate::law) in place of Newton's.
#[must_use]
pub fn law_engine(law: &Arc<Law>, precision: Precision, epsilon: f64, clock: Clock) -> Box<dyn FieldEngine> {
    law_engine_with_bags(law, precision, epsilon, clock, BAG)
}

/// Creates the reference engine of a law with bags of `bag` sources, as [`engine_with_bags`] does that of Newton's.
#[must_use]
pub fn law_engine_with_bags(
    law: &Arc<Law>,
    precision: Precision,
    epsilon: f64,
    clock: Clock,
    bag: usize,
) -> Box<dyn FieldEngine> {
    let bag = bag.max(1);
    with_mode!(precision, M => {
        let law = Some(LawPairs::new(law, epsilon));
        Box::new(ReferenceEngine::<M> { law, bag, ..ReferenceEngine::new(epsilon, clock) })
    })
}

/// Creates the reference engine with bags of `bag` sources (at least 1) instead of the canonical number, to study the
/// effect of bags on the error.
#[must_use]
pub fn engine_with_bags(precision: Precision, epsilon: f64, clock: Clock, bag: usize) -> Box<dyn FieldEngine> {
    let bag = bag.max(1);
    with_mode!(precision, M => Box::new(ReferenceEngine::<M> { bag, ..ReferenceEngine::new(epsilon, clock) }))
}

impl<M: Mode> ReferenceEngine<M> {
    /// Creates an engine without sources. `epsilon` is the Plummer softening, `clock` the run's time axis (internal
    /// units).
    #[must_use]
    pub fn new(epsilon: f64, clock: Clock) -> Self {
        Self {
            mode: PhantomData,
            bag: BAG,
            law: None,
            eps2: epsilon * epsilon,
            clock,
            sources: Particles::default(),
            more: Vec::new(),
            pos: Vec::new(),
            vel: Vec::new(),
        }
    }

    fn predict_sources(&mut self, now: Time) {
        let s = &self.sources;
        for i in 0..s.len() {
            let dt = self.clock.between(s.time[i], now);
            (self.pos[i], self.vel[i]) = predict_by((s.pos[i], s.vel[i]), (s.acc[i], s.jerk[i]), (&self.more, i), dt);
        }
    }

    /// Sums the forces of the predicted sources on targets, each without the source of its index.
    fn sum(&self, targets: Targets<'_>, out: &mut Forces) {
        out.resize(targets.len());
        for (k, &i) in targets.index.iter().enumerate() {
            out.set(k, &self.force_on(i, targets.pos[k], targets.vel[k]));
        }
    }

    fn force_on(&self, i: u32, pos: Vec3, vel: Vec3) -> Force {
        if let Some(law) = &self.law {
            return self.law_force_on(law, Target { index: i, pos }, vel);
        }
        let i = i as usize;
        Force::from_sums(total::<M, SUMS>((self.sources.len(), self.bag), i, |sums, j| {
            self.add_source(sums, j, (pos, vel));
        }))
    }

    /// Returns the force by a law.
    fn law_force_on(&self, law: &LawPairs<M>, target: Target, vel: Vec3) -> Force {
        let mut registers = Vec::new();
        Force::from_sums(total::<M, SUMS>((self.sources.len(), self.bag), target.index as usize, |sums, j| {
            law.add_force(sums, (target, j), (self.pos[j], self.relative_velocity(j, vel)), &mut registers);
        }))
    }

    /// Returns the velocity of source `j` relative to a target, in the mode's numbers.
    fn relative_velocity(&self, j: usize, vel: Vec3) -> [M::Real; 3] {
        [0, 1, 2].map(|k| M::Real::from_f64(self.vel[j][k]) - M::Real::from_f64(vel[k]))
    }

    /// Returns the force of the sources beyond the limit, and lists the others.
    fn far_force_on(&self, i: usize, pos: Vec3, vel: Vec3, limit: f64, list: &mut Vec<u32>) -> Force {
        let limit = M::Real::from_f64(limit);
        list.clear();
        Force::from_sums(total::<M, SUMS>((self.sources.len(), self.bag), i, |sums, j| {
            if softened_square(relative::<M>(self.pos[j], pos), M::Real::from_f64(self.eps2)) < limit {
                list.push(j as u32);
            } else {
                self.add_source(sums, j, (pos, vel));
            }
        }))
    }

    /// Adds source `j` to the sums of a bag.
    fn add_source(&self, sums: &mut [[M::Real; 2]; SUMS], j: usize, (pos, vel): (Vec3, Vec3)) {
        let r = relative::<M>(self.pos[j], pos);
        let v = self.relative_velocity(j, vel);
        let pair = pair(M::Real::from_f64(self.sources.mass[j]), r, v, M::Real::from_f64(self.eps2));
        for k in 0..3 {
            add::<M>(&mut sums[k], pair.m_s3, r[k]);
            add::<M>(&mut sums[3 + k], pair.m_s3, pair.d[k]);
        }
        subtract::<M>(&mut sums[6], pair.m_s);
    }

    /// Returns the force of the sources in a list, in f64: each running sum takes every eighth.
    fn list_force_on(&self, pos: Vec3, vel: Vec3, list: &[u32]) -> Force {
        let mut tree = TreeSum::<[f64; SUMS], FULL_DEPTH>::default();
        for first in 0..IRREGULAR_SUMS {
            let mut sums = [0.0; SUMS];
            for j in list.iter().skip(first).step_by(IRREGULAR_SUMS).map(|&j| j as usize) {
                let (r, v) = (self.pos[j] - pos, self.vel[j] - vel);
                let pair = pair(self.sources.mass[j], r.into(), v.into(), self.eps2);
                for k in 0..3 {
                    sums[k] = pair.m_s3.mul_add(r[k], sums[k]);
                    sums[3 + k] = pair.m_s3.mul_add(pair.d[k], sums[3 + k]);
                }
                sums[6] -= pair.m_s;
            }
            tree.push(0, sums);
        }
        Force::from_sums(tree.root())
    }
}

/// Returns the sums over all of `n` sources but `own`, in the canonical order, in bags of `bag`. `add` adds a source to
/// the sums of its bag.
fn total<M: Mode, const K: usize>(
    (n, bag): (usize, usize),
    own: usize,
    mut add: impl FnMut(&mut [[M::Real; 2]; K], usize),
) -> [f64; K] {
    let mut tree = TreeSum::<[M::Node; K], FULL_DEPTH>::default();
    let mut in_order = [M::Node::zero(); K];
    let nothing = [[<M::Real as num_traits::Zero>::zero(); 2]; K];
    let mut sums = nothing;
    for first in (0..n).step_by(bag) {
        if M::ORDER != Order::Running {
            sums = nothing;
        }
        (first..n.min(first + bag)).filter(|&j| j != own).for_each(|j| add(&mut sums, j));
        let finished = sums.map(M::node);
        match M::ORDER {
            Order::Tree => tree.push(0, finished),
            Order::InOrder => in_order = in_order.plus(&finished),
            Order::Running => in_order = finished,
        }
    }
    let total = if M::ORDER == Order::Tree { tree.root() } else { in_order };
    total.map(|sum| sum.value())
}

/// Scalar engine of accelerations for the precision mode `M`, with the bits of a [`ReferenceEngine`] of the mode.
pub struct ReferenceAccelerations<M: Mode> {
    mode: PhantomData<M>,
    law: Option<LawPairs<M>>,
    eps2: f64,
    mass: Vec<f64>,
}

/// Creates the reference engine of accelerations for a precision mode. `epsilon` is the Plummer softening (internal
/// units).
#[must_use]
pub fn accelerations(precision: Precision, epsilon: f64) -> Box<dyn ForceEngine<Accelerations>> {
    with_mode!(precision, M => Box::new(ReferenceAccelerations::<M>::new(epsilon)))
}

/// Creates the reference engine of accelerations of a [law](crate::law) in place of Newton's.
#[must_use]
pub fn law_accelerations(law: &Arc<Law>, precision: Precision, epsilon: f64) -> Box<dyn ForceEngine<Accelerations>> {
    with_mode!(precision, M => {
        let law = Some(LawPairs::new(law, epsilon));
        Box::new(ReferenceAccelerations::<M> { law, ..ReferenceAccelerations::new(epsilon) })
    })
}

impl<M: Mode> ReferenceAccelerations<M> {
    /// Creates an engine without sources. `epsilon` is the Plummer softening (internal units).
    #[must_use]
    pub fn new(epsilon: f64) -> Self {
        Self { mode: PhantomData, law: None, eps2: epsilon * epsilon, mass: Vec::new() }
    }
}

impl<M: Mode> ForceEngine<Accelerations> for ReferenceAccelerations<M> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.mass.clone_from(&all.mass);
        self.law.as_mut().map_or(Ok(()), |law| law.load(all))
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        self.evaluate_part(now, targets, 0..targets.len(), out)
    }

    fn evaluate_part(
        &mut self,
        _: Time,
        targets: Targets<'_>,
        part: Range<usize>,
        out: &mut Accelerations,
    ) -> Result<()> {
        targets.check_all(self.mass.len())?;
        let (mass, pos, eps2) = (&self.mass, targets.pos, M::Real::from_f64(self.eps2));
        out.acc.clear();
        if let Some(law) = &self.law {
            let mut registers = Vec::new();
            out.acc.extend(part.map(|i| {
                let target = Target { index: i as u32, pos: pos[i] };
                acceleration_from_sums(total::<M, ACC_SUMS>((mass.len(), BAG), i, |sums, j| {
                    law.add_acceleration(sums, (target, j), pos[j], &mut registers);
                }))
            }));
            return Ok(());
        }
        out.acc.extend(part.map(|i| {
            acceleration_from_sums(total::<M, ACC_SUMS>((mass.len(), BAG), i, |sums, j| {
                let r = relative::<M>(pos[j], pos[i]);
                let m_s3 = attraction(M::Real::from_f64(mass[j]), r, eps2);
                (0..3).for_each(|k| add::<M>(&mut sums[k], m_s3, r[k]));
            }))
        }));
        Ok(())
    }
}

impl<M: Mode> ForceEngine for ReferenceEngine<M> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.sources = all.clone();
        self.more = if M::PRECISION.in_f64() { all.derivatives().to_vec() } else { Vec::new() };
        self.pos = all.pos.clone();
        self.vel = all.vel.clone();
        self.law.as_mut().map_or(Ok(()), |law| law.load(all))
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.law.as_ref().map(|of| (of.law.clone(), of.eps2))
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        let s = &mut self.sources;
        for i in changed.iter().map(|&i| i as usize) {
            (s.pos[i], s.vel[i], s.acc[i], s.jerk[i]) = (all.pos[i], all.vel[i], all.acc[i], all.jerk[i]);
            s.time[i] = all.time[i];
            for (column, of) in self.more.iter_mut().zip(all.derivatives()) {
                column[i] = of[i];
            }
        }
        Ok(())
    }

    fn derivatives(&self) -> usize {
        self.more.len()
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.evaluate_part(now, targets, 0..targets.len(), out)
    }

    fn evaluate_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>, out: &mut Forces) -> Result<()> {
        self.predict_sources(now);
        for (k, &i) in targets.index.iter().enumerate() {
            self.pos[i as usize] = targets.pos[k];
            self.vel[i as usize] = targets.vel[k];
        }
        self.sum(targets.part(part), out);
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        newton_only(self.law.is_some())?;
        let NeighbourTargets { now, targets, lists, regular, .. } = *task;
        self.predict_sources(now);
        for (k, &i) in targets.index.iter().enumerate() {
            (self.pos[i as usize], self.vel[i as usize]) = (targets.pos[k], targets.vel[k]);
        }
        out.eps2 = self.eps2;
        out.irregular.resize(targets.len());
        for (k, list) in lists.iter().enumerate() {
            out.irregular.set(k, &self.list_force_on(targets.pos[k], targets.vel[k], list));
        }
        out.resize(regular.len());
        out.regular.resize(regular.len());
        let some = Block::of_places(targets, regular);
        for (k, &i) in some.index.iter().enumerate() {
            let limit = limit(task.radius[k], self.eps2);
            out.regular.set(k, &self.far_force_on(i as usize, some.pos[k], some.vel[k], limit, &mut out.lists[k]));
        }
        for k in out.cut(regular.len(), task.max).into_iter().map(|k| k as usize) {
            out.regular.set(k, &self.force_on(some.index[k], some.pos[k], some.vel[k]));
        }
        out.renewed.resize(regular.len());
        for (k, list) in out.lists[..regular.len()].iter().enumerate() {
            out.renewed.set(k, &self.list_force_on(some.pos[k], some.vel[k], list));
        }
        Ok(())
    }
}

impl<M: Mode> FieldEngine for ReferenceEngine<M> {
    fn evaluate_at(&mut self, now: Time, points: Points<'_>, out: &mut Forces) -> Result<()> {
        points.check()?;
        self.law.as_ref().map_or(Ok(()), |law| points.check_for(&law.law))?;
        self.predict_sources(now);
        self.sum(Targets { index: points.exclude, pos: points.pos, vel: points.vel }, out);
        Ok(())
    }

    fn set_softening(&mut self, eps2: f64) {
        self.eps2 = eps2;
        if let Some(law) = &mut self.law {
            law.eps2 = eps2;
        }
    }
}
