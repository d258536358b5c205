//! Engine with an external field, in coordinates at rest or about an origin that moves in the field.

use super::field::{ExternalField, parts_of};
use super::guide::MovingOrigin;
use super::on_targets::{OnTargets, tides};
use super::parts::FieldParts;
use crate::error::Result;
use crate::force::block_steps::{NextStep, Pause, Span, StepField, StepRules, StepScheme, Taken};
use crate::force::engine::ForceEngine;
use crate::force::forces::Evaluation;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::force::targets::Targets;
use crate::force::watch::Watch;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};
use std::sync::Arc;
use std::time::Instant;

/// Engine that adds an external field to what another engine evaluates.
pub struct WithExternal<E> {
    engine: Box<dyn ForceEngine<E>>,
    field: Arc<dyn ExternalField>,
    clock: Clock,
    /// The field for an engine that takes block steps by itself, if it can be taken apart.
    parts: Option<Arc<FieldParts>>,
    /// Origin of the particles' coordinates; none where it is that of the field.
    origin: Option<MovingOrigin>,
    /// What the field gives on the targets of a block, and true if that is of an evaluation in progress.
    found: OnTargets,
    is_begun: bool,
}

impl<E: Evaluation> WithExternal<E> {
    /// Wraps an engine of a run on the time axis `clock`.
    #[must_use]
    pub fn new(engine: Box<dyn ForceEngine<E>>, field: Arc<dyn ExternalField>, clock: Clock) -> Self {
        let parts = parts_of(&*field, false).map(Arc::new);
        Self { engine, field, clock, parts, origin: None, found: OnTargets::default(), is_begun: false }
    }

    /// Wraps an engine for particles whose places and velocities are relative to an origin that moves in its field.
    #[must_use]
    pub fn about(engine: Box<dyn ForceEngine<E>>, origin: MovingOrigin, clock: Clock) -> Self {
        let parts = parts_of(&**origin.field(), true).map(Arc::new);
        Self { origin: Some(origin.clone()), parts, ..Self::new(engine, origin.field().clone(), clock) }
    }

    /// Calls `read` with the field in the particles' coordinates at a moment, and the time.
    fn at<T>(&self, now: Time, read: impl FnOnce(&dyn ExternalField, f64) -> T) -> Result<T> {
        let t = self.clock.time(now);
        self.field.covers(t)?;
        Ok(match &self.origin {
            Some(origin) => read(&origin.tidal(now)?, t),
            None => read(&*self.field, t),
        })
    }

    /// Evaluates the field on targets at a moment.
    fn find(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        let mut found = std::mem::take(&mut self.found);
        self.at(now, |field, t| E::evaluate_external(field, targets, t, &mut found))?;
        self.found = found;
        Ok(())
    }
}

impl<E: Evaluation> WithExternal<E> {
    /// Lets the engine take steps in the field from a moment on, by `take` with the moment up to which the orbit of the origin is known
    /// at once. [`None`] if it cannot.
    fn take_in_field(
        &mut self,
        rules: &StepRules,
        (from, until): (Time, Time),
        take: impl FnOnce(&mut dyn ForceEngine<E>, StepField<'_>, Time) -> Result<Option<Taken>>,
    ) -> Result<Option<Taken>> {
        let Some(parts) = self.parts.clone() else { return Ok(None) };
        // Before the orbit is followed for steps that the engine does not take.
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) || !self.engine.can_take_steps_in(&parts)? {
            return Ok(None);
        }
        let orbit = self.origin.as_ref().map(|origin| origin.span(from).ok().flatten());
        let Some(orbit) = orbit.map_or(Some(None), |known| known.map(Some)) else { return Ok(None) };
        let until = orbit.as_ref().map_or(until, |orbit| until.min(orbit.until));
        let field = StepField { parts: &parts, start: self.clock.start, orbit: orbit.as_ref() };
        take(&mut *self.engine, field, until)
    }
}

impl<E: Evaluation> ForceEngine<E> for WithExternal<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.replace(all, changed)
    }

    /// The field is the host's work while a device is at its own.
    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.engine.begin(now, targets)?;
        self.find(now, targets)?;
        self.is_begun = true;
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        if !std::mem::take(&mut self.is_begun) {
            self.engine.begin(now, targets)?;
            self.find(now, targets)?;
        }
        self.engine.evaluate(now, targets, out)?;
        out.add_external(&self.found);
        Ok(())
    }

    fn begin_neighbours(&mut self, task: &NeighbourTargets<'_>) -> Result<()> {
        self.engine.begin_neighbours(task)?;
        self.find(task.now, task.targets)?;
        self.is_begun = true;
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        if !std::mem::take(&mut self.is_begun) {
            self.engine.begin_neighbours(task)?;
            self.find(task.now, task.targets)?;
        }
        self.engine.evaluate_neighbours(task, out)?;
        out.irregular.add_external(&self.found);
        out.renewed.add_external(&self.found.of_places(task.regular));
        Ok(())
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.engine.law()
    }

    fn external_potential(&self, now: Time, pos: Vec3) -> Result<f64> {
        Ok(self.engine.external_potential(now, pos)? + self.at(now, |field, t| field.pot(pos, t))?)
    }

    fn external_tides(&self, now: Time, pos: &[Vec3]) -> Result<Vec<[f64; 6]>> {
        if pos.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.at(now, |field, t| tides(field, pos, t))?;
        for (sum, of) in found.iter_mut().zip(self.engine.external_tides(now, pos)?) {
            sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
        }
        Ok(found)
    }

    fn can_take_steps(&mut self) -> Result<bool> {
        self.parts.as_ref().map_or(Ok(false), |parts| self.engine.can_take_steps_in(parts))
    }

    /// With a moving origin the engine takes the steps up to each multiple of the longest one by themselves.
    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let Some(parts) = self.parts.clone() else { return Ok(None) };
        // Before the orbit is followed for steps that the engine does not take.
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) || !self.engine.can_take_steps_in(&parts)? {
            return Ok(None);
        }
        let (began, mut all) = (Instant::now(), None::<Taken>);
        loop {
            let before = all.unwrap_or(Taken { now: span.from, ..Taken::default() });
            // Where the field has moments within the step, the host takes it, and where the orbit cannot be followed beyond it: there the
            // host knows at which moment.
            let orbit = self.origin.as_ref().map(|origin| origin.span(before.now).ok().flatten());
            let Some(orbit) = orbit.map_or(Some(None), |known| known.map(Some)) else { return Ok(all) };
            let until = orbit.as_ref().map_or(span.until, |orbit| span.until.min(orbit.until));
            let field = StepField { parts: &parts, start: self.clock.start, orbit: orbit.as_ref() };
            let part = Span { from: before.now, until, max: span.max - before.block_steps };
            let left = pause.map(|pause| pause.left(began));
            let Some(taken) = self.engine.take_steps_in(field, p, rules, part, left.as_ref())? else { return Ok(all) };
            let sum = Taken {
                block_steps: before.block_steps + taken.block_steps,
                particle_steps: before.particle_steps + taken.particle_steps,
                clamped: before.clamped + taken.clamped,
                ..taken
            };
            all = Some(sum);
            let goes_on = sum.now == until && until < span.until && sum.block_steps < span.max && sum.refused == 0;
            if !goes_on || pause.is_some_and(|pause| pause.is_due(began)) {
                return Ok(all);
            }
        }
    }

    fn take_step(&mut self, p: &mut Particles, rules: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        self.take_in_field(rules, (next.from, next.until), |engine, field, until| {
            if next.now > until {
                return Ok(None);
            }
            engine.take_step_in(field, p, rules, NextStep { until, ..next })
        })
    }

    fn take_watched_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        self.take_in_field(rules, (span.from, span.until), |engine, field, until| {
            engine.take_watched_steps_in(field, p, rules, Span { until, ..span }, watch, pause)
        })
    }

    fn reschedule(&mut self, changed: &[u32]) {
        self.engine.reschedule(changed);
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
    use crate::force::external::Plummer;
    use crate::force::external::field::FieldSum;
    use crate::force::external::guide::{OrbitPoint, OrbitState};
    use crate::force::forces::{Accelerations, Forces};
    use crate::force::noise::Noise;
    use crate::force::precision::Precision;
    use crate::force::range::{Range, RangeGuard};
    use crate::force::reference;
    use crate::force::targets::Block;
    use crate::time::{Level, TICKS_PER_DT_MAX};
    use std::sync::Mutex;

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

    /// Particles in a number that threads share.
    fn particles() -> Particles {
        let n = 3001;
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
    fn about_a_moving_origin_targets_have_the_field_relative_to_it() {
        let sphere = Plummer { mass: 3.0, position: Vec3::zeros(), scale_radius: 1.0 };
        let start = OrbitState { pos: Vec3::new(5.0, 0.0, 0.0), vel: Vec3::new(0.0, 0.7, 0.1) };
        let origin = MovingOrigin::new(Arc::new(sphere), CLOCK, (0, start));
        let engine = || reference::engine(Precision::F64, 1.0, CLOCK);
        let mut engines = [
            WithExternal::about(engine(), origin.clone(), CLOCK),
            WithExternal::new(engine(), origin.field().clone(), CLOCK),
        ];
        let now = Time::from_dt_max(3);
        let OrbitPoint { pos, vel, acc, jerk, .. } = origin.at(now).unwrap();
        // The same bodies, relative to the origin and in the frame of the field.
        let mut p = Particles::new(vec![0.25; 2], vec![Vec3::x(), -Vec3::y()], vec![Vec3::z(), Vec3::x()]);
        let places = p.pos.clone();
        let mut found = [Forces::default(), Forces::default()];
        for (engine, found) in engines.iter_mut().zip(&mut found) {
            p.time.fill(now);
            engine.load(&p).unwrap();
            engine.evaluate(now, Block::from_particles(&p, vec![0, 1]).view(), found).unwrap();
            p.pos.iter_mut().for_each(|x| *x += pos);
            p.vel.iter_mut().for_each(|v| *v += vel);
        }
        let [about, at_rest] = found;
        for (k, place) in places.into_iter().enumerate() {
            assert!((about.acc[k] + acc - at_rest.acc[k]).norm() < 1e-15);
            assert!((about.jerk[k] + jerk - at_rest.jerk[k]).norm() < 1e-15);
            assert_eq!(about.external_acc[k], origin.tidal(now).unwrap().acc(place, 0.0));
        }
    }

    /// Moments from which and to which an engine was asked to step, and the beginning and the segments of the orbit.
    type Asked = Arc<Mutex<Vec<(Time, Time, Option<(Time, usize)>)>>>;

    /// Takes five steps whenever it is asked, in any field, up to a moment from which it refuses.
    struct Stepper {
        asked: Asked,
        refuses_from: Time,
    }

    impl ForceEngine for Stepper {
        fn load(&mut self, _: &Particles) -> Result<()> {
            Ok(())
        }
        fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
            Ok(())
        }
        fn evaluate(&mut self, _: Time, _: Targets<'_>, _: &mut Forces) -> Result<()> {
            Ok(())
        }
        fn can_take_steps_in(&mut self, _: &Arc<FieldParts>) -> Result<bool> {
            Ok(true)
        }
        fn take_steps_in(
            &mut self,
            field: StepField<'_>,
            _: &mut Particles,
            _: &StepRules,
            span: Span,
            _: Option<&Pause>,
        ) -> Result<Option<Taken>> {
            assert_eq!(field.start, CLOCK.start);
            let orbit = field.orbit.map(|orbit| (orbit.from, orbit.segments.len()));
            self.asked.lock().unwrap().push((span.from, span.until, orbit));
            if span.from >= self.refuses_from {
                return Ok(Some(Taken { now: span.from, refused: 7, ..Taken::default() }));
            }
            let block_steps = span.max.min(5);
            // With fewer steps left than it would take it does not get to the end.
            let now = if block_steps == 5 { span.until } else { Time(span.from.0 + 1) };
            Ok(Some(Taken { now, block_steps, particle_steps: 10, clamped: 1, ..Taken::default() }))
        }

        fn take_watched_steps_in(
            &mut self,
            field: StepField<'_>,
            p: &mut Particles,
            rules: &StepRules,
            span: Span,
            watch: &mut Watch<'_>,
            pause: Option<&Pause>,
        ) -> Result<Option<Taken>> {
            watch.found.push(7);
            self.take_steps_in(field, p, rules, span, pause)
        }
    }

    #[test]
    fn an_engine_takes_steps_in_a_field_and_about_a_moving_origin_one_longest_step_at_a_time() {
        let sphere = || Arc::new(Plummer { mass: 3.0, position: Vec3::zeros(), scale_radius: 1.0 });
        let start = OrbitState { pos: Vec3::new(5.0, 0.0, 0.0), vel: Vec3::new(0.0, 0.7, 0.1) };
        let rules = StepRules {
            scheme: StepScheme::Hermite4 { nu: 0.01, iterations: 1 },
            dt_max: CLOCK.dt_max,
            floor: Level::DEEPEST,
            clamps: true,
            compensated: false,
            noise: Noise::new(0.0, &[], 0.0),
            thresholds: RangeGuard::new(Range::F64, CLOCK.dt_max).thresholds(),
        };
        let moment = |halves: u64| Time(halves * TICKS_PER_DT_MAX / 2);
        let take = |engine: &mut WithExternal<Forces>, max: u64| {
            let span = Span { from: moment(1), until: moment(5), max };
            engine.take_steps(&mut Particles::default(), &rules, span, None).unwrap()
        };
        let stepper = |refuses_from: u64| {
            let asked = Asked::default();
            (asked.clone(), Box::new(Stepper { asked, refuses_from: moment(refuses_from) }))
        };
        let all = |steps: u64| Taken { now: moment(5), block_steps: steps, ..Taken::default() };
        // At rest in one part.
        let (asked, engine) = stepper(9);
        let mut at_rest = WithExternal::new(engine, sphere(), CLOCK);
        assert!(at_rest.can_take_steps().unwrap());
        assert_eq!(take(&mut at_rest, 99), Some(Taken { particle_steps: 10, clamped: 1, ..all(5) }));
        assert_eq!(*asked.lock().unwrap(), [(moment(1), moment(5), None)]);
        // About an origin in three.
        let about =
            |engine: Box<Stepper>| WithExternal::about(engine, MovingOrigin::new(sphere(), CLOCK, (0, start)), CLOCK);
        let (asked, engine) = stepper(9);
        assert_eq!(take(&mut about(engine), 99), Some(Taken { particle_steps: 30, clamped: 3, ..all(15) }));
        let parts = [(1, 2, 0), (2, 4, 2), (4, 5, 4)];
        let parts = parts.map(|(from, until, orbit)| (moment(from), moment(until), Some((moment(orbit), 2))));
        assert_eq!(*asked.lock().unwrap(), parts);
        // With too few steps for all, and where one is refused.
        let (asked, engine) = stepper(9);
        let taken = take(&mut about(engine), 8).unwrap();
        assert_eq!((taken.now, taken.block_steps, asked.lock().unwrap().len()), (Time(moment(2).0 + 1), 8, 2));
        let (asked, engine) = stepper(2);
        let taken = take(&mut about(engine), 99).unwrap();
        assert_eq!((taken.now, taken.block_steps, taken.refused), (moment(2), 5, 7));
        assert_eq!(asked.lock().unwrap().len(), 2);
        // With a search for pairs up to the first multiple of the longest step about an origin, and to the end at rest.
        let watched = |engine: &mut WithExternal<Forces>| {
            let (compound, found) = (&[][..], Vec::new());
            let mut watch = Watch { compound, forms: 0.0, joins: 0.0, min_binding: 0.5, log2_steps: 2, found };
            let span = Span { from: moment(1), until: moment(5), max: 99 };
            let taken = engine.take_watched_steps(&mut Particles::default(), &rules, span, &mut watch, None).unwrap();
            (taken.map(|taken| taken.now), watch.found.len())
        };
        let (asked, engine) = stepper(9);
        assert_eq!(watched(&mut about(engine)), (Some(moment(2)), 1));
        assert_eq!(*asked.lock().unwrap(), parts[..1]);
        assert_eq!(watched(&mut WithExternal::new(stepper(9).1, sphere(), CLOCK)), (Some(moment(5)), 1));
        // A field of one's own is the host's.
        let (asked, engine) = stepper(9);
        let mut of_user = WithExternal::new(engine, Arc::new(Probe), CLOCK);
        assert!(!of_user.can_take_steps().unwrap() && take(&mut of_user, 99).is_none());
        assert_eq!(watched(&mut of_user), (None, 0));
        assert!(asked.lock().unwrap().is_empty());
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
