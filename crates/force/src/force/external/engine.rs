//! Engine with an external field.

use super::field::ExternalField;
use crate::error::Result;
use crate::force::engine::ForceEngine;
use crate::force::forces::Evaluation;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::force::targets::{Block, Targets};
use crate::law::Law;
use crate::particles::Particles;
use crate::time::{Clock, Time};
use std::sync::Arc;

/// Engine that adds an external field to what another engine evaluates.
pub struct WithExternal<E> {
    engine: Box<dyn ForceEngine<E>>,
    field: Arc<dyn ExternalField>,
    clock: Clock,
}

impl<E: Evaluation> WithExternal<E> {
    /// Wraps an engine of a run on the time axis `clock`.
    #[must_use]
    pub fn new(engine: Box<dyn ForceEngine<E>>, field: Arc<dyn ExternalField>, clock: Clock) -> Self {
        Self { engine, field, clock }
    }
}

impl<E: Evaluation> ForceEngine<E> for WithExternal<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.replace(all, changed)
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.engine.begin(now, targets)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        out.add_external(&*self.field, targets, self.clock.time(now));
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        self.engine.evaluate_neighbours(task, out)?;
        let (NeighbourTargets { targets, regular, .. }, t) = (*task, self.clock.time(task.now));
        out.irregular.add_external(&*self.field, targets, t);
        out.renewed.add_external(&*self.field, Block::of_places(targets, regular).view(), t);
        Ok(())
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.engine.law()
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
        self.engine.set_start(start);
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.engine.spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::field::{FieldSum, SHARE};
    use crate::force::forces::{Accelerations, Forces};
    use crate::force::precision::Precision;
    use crate::force::reference;
    use crate::particles::Vec3;

    const CLOCK: Clock = Clock { start: 2.0, dt_max: 0.5 };

    /// Field whose every value says by which arguments it came.
    struct Probe;

    impl ExternalField for Probe {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            pos * t
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            pos + vel * t
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            pos.x + t
        }
    }

    /// A number of particles above that from which threads share them.
    fn particles() -> Particles {
        let n = 3 * SHARE;
        let place = |i: usize| Vec3::new(i as f64, 1.0, 0.5);
        Particles::new(vec![0.0; n], (0..n).map(place).collect(), vec![Vec3::y(); n])
    }

    #[test]
    fn a_field_is_added_at_the_targets_and_its_potential_stays_apart() {
        let (p, now) = (particles(), Time::from_dt_max(2));
        for index in [vec![3, 7], (0..p.len() as u32).collect()] {
            let block = Block::from_particles(&p, index);
            let engine = reference::engine(Precision::F64, 1.0, CLOCK);
            let (mut engine, mut found) = (WithExternal::new(engine, Arc::new(Probe), CLOCK), Forces::default());
            engine.load(&p).unwrap();
            // Twice into the same columns: nothing of the first call stays.
            for _ in 0..2 {
                engine.evaluate(now, block.view(), &mut found).unwrap();
            }
            for (k, &i) in block.index.iter().enumerate() {
                let pos = p.pos[i as usize];
                assert_eq!(found.acc[k], pos * 3.0);
                assert_eq!(found.jerk[k], pos + Vec3::y() * 3.0);
                assert_eq!((found.pot[k], found.external[k]), (0.0, pos.x + 3.0));
            }
            assert_eq!(found.external.len(), block.len());
        }
        let all = Block::from_particles(&p, (0..p.len() as u32).collect());
        let engine = reference::accelerations(Precision::F64, 1.0);
        let (mut engine, mut found) = (WithExternal::new(engine, Arc::new(Probe), CLOCK), Accelerations::default());
        engine.load(&p).unwrap();
        engine.evaluate(now, all.view(), &mut found).unwrap();
        assert!(found.acc.iter().zip(&p.pos).all(|(acc, pos)| *acc == pos * 3.0));
    }

    #[test]
    fn columns_that_had_an_external_potential_have_none_without_a_field() {
        let (p, mut found) = (particles(), Forces { external: vec![1.0], ..Forces::default() });
        let block = Block::from_particles(&p, vec![0, 1]);
        let mut engine = reference::engine(Precision::F64, 1.0, CLOCK);
        engine.load(&p).unwrap();
        engine.evaluate(Time::default(), block.view(), &mut found).unwrap();
        assert!(found.external.is_empty());
    }

    #[test]
    fn fields_add_up() {
        let sum = FieldSum(vec![Box::new(Probe), Box::new(Probe)]);
        let (x, v) = (Vec3::new(1.0, 2.0, 3.0), Vec3::z());
        assert_eq!(sum.acc(x, 0.5), 2.0 * Probe.acc(x, 0.5));
        assert_eq!(sum.jerk(x, v, 0.5), 2.0 * Probe.jerk(x, v, 0.5));
        assert_eq!(sum.pot(x, 0.5), 2.0 * Probe.pot(x, 0.5));
    }
}
