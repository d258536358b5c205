//! Propagator: an integrator coupled with the engine that it needs, and an f64 engine for measurements.

use crate::integrator::encounters::{Description, Event};
use crate::integrator::{Integrator, Progress};
use tisane_force::error::Result;
use tisane_force::force::block_steps::{Pause, StepRules};
use tisane_force::force::profile::Profiler;
use tisane_force::force::{Evaluation, Field, ForceEngine, Forces, Targets};
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Integrator with the engine that it needs, and an f64 engine for energies and audits. The type that the engine
/// evaluates is hidden inside.
pub struct Propagator(Box<dyn Coupled>);

impl Propagator {
    /// Couples an integrator with its engine, and with a separate engine that computes forces in f64.
    #[must_use]
    pub fn new<I: Integrator + 'static>(
        integrator: I,
        engine: Box<dyn ForceEngine<I::Evaluation>>,
        f64_engine: Box<dyn ForceEngine>,
    ) -> Self {
        Self(Box::new(Coupling { integrator, engine, f64_engine }))
    }

    /// Couples an integrator with an engine that computes forces in f64, which therefore serves for measurements too.
    #[must_use]
    pub fn in_f64<I: Integrator<Evaluation = Forces> + 'static>(integrator: I, engine: Box<dyn ForceEngine>) -> Self {
        Self(Box::new(Coupling { integrator, engine, f64_engine: SameEngine }))
    }

    /// Wraps the integrator's engine in a stopwatch that reports to `profiler`.
    #[must_use]
    pub fn timed(self, profiler: &Profiler) -> Self {
        Self(self.0.timed(profiler))
    }

    /// Prepares a system at time zero of the axis; see [`Integrator::start`].
    ///
    /// # Errors
    /// Those of [`Integrator::start`].
    pub fn start(&mut self, p: &mut Particles) -> Result<Progress> {
        self.0.start(p)
    }

    /// Continues a system from the state after a step that reached `now`; see [`Integrator::resume`].
    ///
    /// # Errors
    /// Those of [`Integrator::resume`].
    pub fn resume(&mut self, p: &Particles, now: Time) -> Result<()> {
        self.0.resume(p, now)
    }

    /// Returns the state of all particles at the moment `now`; see [`Integrator::synchronised`].
    ///
    /// # Errors
    /// Those of [`Integrator::synchronised`].
    pub fn synchronised(&mut self, p: &Particles, now: Time) -> Result<Particles> {
        self.0.synchronised(p, now)
    }

    /// Sets the time at tick 0, for a system that starts anew at another time.
    pub fn set_start(&mut self, start: f64) {
        self.0.set_start(start);
    }

    /// Returns the rules of the block steps of these particles; see [`Integrator::step_rules`].
    pub fn step_rules(&mut self, p: &Particles) -> Option<StepRules> {
        self.0.step_rules(p)
    }

    /// Lets [`advance`](Self::advance) return early; see [`Integrator::set_pause`].
    pub fn set_pause(&mut self, pause: Pause) {
        self.0.set_pause(pause);
    }

    /// Returns the subsystems of a system that is synchronised at `now`; see [`Integrator::describe_subsystems`].
    ///
    /// # Errors
    /// Those of [`Integrator::describe_subsystems`].
    pub fn describe_subsystems(&self, now: Time) -> Result<Vec<Description>> {
        self.0.describe_subsystems(now)
    }

    /// Records changes of subsystems from now on; see [`Integrator::record_events`].
    pub fn record_events(&mut self) {
        self.0.record_events();
    }

    /// Returns the changes of subsystems since the last call; see [`Integrator::take_events`].
    pub fn take_events(&mut self) -> Vec<Event> {
        self.0.take_events()
    }

    /// Advances the system by up to `most` block steps, and by none that would pass `until`; see
    /// [`Integrator::advance`].
    ///
    /// # Errors
    /// Those of [`Integrator::advance`].
    pub fn advance(&mut self, p: &mut Particles, until: Time, most: u64) -> Result<Progress> {
        self.0.advance(p, until, most)
    }

    /// Returns the particles that the engines hold; see [`Integrator::loaded`].
    #[must_use]
    pub fn loaded<'a>(&'a self, p: &'a Particles) -> &'a Particles {
        self.0.loaded(p)
    }

    /// Returns the forces that the scheme uses on some of them; see [`Integrator::forces`].
    ///
    /// # Errors
    /// Those of [`Integrator::forces`].
    pub fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>) -> Result<Forces> {
        self.0.forces(p, now, targets)
    }

    /// Measures the field of a system that is synchronised at `now`, in f64. The f64 engine holds the system
    /// afterwards.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn field(&mut self, p: &Particles, now: Time) -> Result<Field> {
        self.0.field(p, now)
    }

    /// Returns the engine that measures in f64.
    pub fn f64_engine(&mut self) -> &mut dyn ForceEngine {
        self.0.f64_engine().0
    }
}

/// Methods of a [`Coupling`] that do not depend on its types.
trait Coupled: Send {
    fn timed(self: Box<Self>, profiler: &Profiler) -> Box<dyn Coupled>;
    fn start(&mut self, p: &mut Particles) -> Result<Progress>;
    fn resume(&mut self, p: &Particles, now: Time) -> Result<()>;
    fn synchronised(&mut self, p: &Particles, now: Time) -> Result<Particles>;
    fn set_start(&mut self, start: f64);
    fn step_rules(&mut self, p: &Particles) -> Option<StepRules>;
    fn set_pause(&mut self, pause: Pause);
    fn describe_subsystems(&self, now: Time) -> Result<Vec<Description>>;
    fn record_events(&mut self);
    fn take_events(&mut self) -> Vec<Event>;
    fn advance(&mut self, p: &mut Particles, until: Time, most: u64) -> Result<Progress>;
    fn loaded<'a>(&'a self, p: &'a Particles) -> &'a Particles;
    fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>) -> Result<Forces>;
    fn field(&mut self, p: &Particles, now: Time) -> Result<Field>;
    /// Returns the f64 engine, and true if it holds the system already because it is the integrator's own.
    fn f64_engine(&mut self) -> (&mut dyn ForceEngine, bool);
}

/// Integrator, its engine and its f64 engine.
struct Coupling<I: Integrator, F> {
    integrator: I,
    engine: Box<dyn ForceEngine<I::Evaluation>>,
    f64_engine: F,
}

impl<I: Integrator + 'static, F: F64Engine<I::Evaluation> + 'static> Coupled for Coupling<I, F> {
    fn timed(self: Box<Self>, profiler: &Profiler) -> Box<dyn Coupled> {
        Box::new(Self { engine: profiler.timed(self.engine), ..*self })
    }

    fn start(&mut self, p: &mut Particles) -> Result<Progress> {
        self.integrator.start(p, &mut *self.engine)
    }

    fn resume(&mut self, p: &Particles, now: Time) -> Result<()> {
        self.integrator.resume(p, now, &mut *self.engine)
    }

    fn synchronised(&mut self, p: &Particles, now: Time) -> Result<Particles> {
        self.integrator.synchronised(p, now, &mut *self.engine)
    }

    fn set_start(&mut self, start: f64) {
        self.integrator.set_start(start);
        self.engine.set_start(start);
        self.f64_engine.set_start(start);
    }

    fn step_rules(&mut self, p: &Particles) -> Option<StepRules> {
        self.integrator.step_rules(p)
    }

    fn set_pause(&mut self, pause: Pause) {
        self.integrator.set_pause(pause);
    }

    fn describe_subsystems(&self, now: Time) -> Result<Vec<Description>> {
        self.integrator.describe_subsystems(now)
    }

    fn record_events(&mut self) {
        self.integrator.record_events();
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.integrator.take_events()
    }

    fn advance(&mut self, p: &mut Particles, until: Time, most: u64) -> Result<Progress> {
        self.integrator.advance(p, &mut *self.engine, until, most)
    }

    fn loaded<'a>(&'a self, p: &'a Particles) -> &'a Particles {
        self.integrator.loaded(p)
    }

    fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>) -> Result<Forces> {
        self.integrator.forces(p, now, targets, &mut *self.engine)
    }

    fn field(&mut self, p: &Particles, now: Time) -> Result<Field> {
        let (engine, is_own) = self.f64_engine.select(&mut *self.engine);
        self.integrator.field(p, now, engine, is_own)
    }

    fn f64_engine(&mut self) -> (&mut dyn ForceEngine, bool) {
        self.f64_engine.select(&mut *self.engine)
    }
}

/// Choice of the engine that measures in f64: a separate one, or the integrator's own.
trait F64Engine<E: Evaluation>: Send {
    /// Returns the engine, and true if it is the integrator's `own`.
    fn select<'a>(&'a mut self, own: &'a mut dyn ForceEngine<E>) -> (&'a mut dyn ForceEngine, bool);

    /// Sets the time at tick 0 of a separate engine.
    fn set_start(&mut self, _: f64) {}
}

impl<E: Evaluation> F64Engine<E> for Box<dyn ForceEngine> {
    fn select<'a>(&'a mut self, _: &'a mut dyn ForceEngine<E>) -> (&'a mut dyn ForceEngine, bool) {
        (&mut **self, false)
    }

    fn set_start(&mut self, start: f64) {
        ForceEngine::set_start(&mut **self, start);
    }
}

/// The integrator's own engine measures in f64.
struct SameEngine;

impl F64Engine<Forces> for SameEngine {
    fn select<'a>(&'a mut self, own: &'a mut dyn ForceEngine) -> (&'a mut dyn ForceEngine, bool) {
        (own, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initial::plummer;
    use crate::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
    use crate::integrator::leapfrog::Leapfrog;
    use tisane_force::force::cpu::{self, Width};
    use tisane_force::force::precision::Precision;
    use tisane_force::force::range::Range;
    use tisane_force::time::{Clock, Level};

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 64.0 };
    const EPSILON: f64 = 1.0 / 64.0;

    fn propagators() -> [Propagator; 2] {
        let width = Width::choose().unwrap();
        let forces = || cpu::engine(Precision::F64, EPSILON, CLOCK, width);
        let parameters = Parameters {
            nu: 0.02,
            nu_start: 0.02,
            iterations: 1,
            limits: Limits { floor: Level::DEEPEST, on_floor: OnFloor::Clamp, ..Limits::new(Precision::F64) },
        };
        let accelerations = cpu::accelerations(Precision::F64, EPSILON, width);
        [
            Propagator::in_f64(Hermite4::new(parameters, CLOCK), forces()),
            Propagator::new(Leapfrog::new(CLOCK, Range::F64), accelerations, forces()),
        ]
    }

    /// Returns the state after four dt_max, and the work done, in calls of up to `most` block steps.
    fn run(mut propagator: Propagator, most: u64) -> (Particles, Progress) {
        let (mut p, end, mut sum) = (plummer::sample(100, 3, 0.999), Time::from_dt_max(4), Progress::default());
        propagator.start(&mut p).unwrap();
        while sum.now < end {
            let done = propagator.advance(&mut p, end, most).unwrap();
            assert!((1..=most).contains(&done.block_steps) && done.now > sum.now && done.now <= end);
            sum = Progress {
                now: done.now,
                block_steps: sum.block_steps + done.block_steps,
                particle_steps: sum.particle_steps + done.particle_steps,
                pairs: sum.pairs + done.pairs,
                clamped: sum.clamped + done.clamped,
            };
        }
        assert_eq!(propagator.advance(&mut p, end, most).unwrap(), Progress { now: end, ..Progress::default() });
        (p, sum)
    }

    #[test]
    fn the_division_of_block_steps_among_calls_changes_nothing() {
        let whole = propagators().map(|propagator| run(propagator, u64::MAX));
        assert!(whole[0].1.block_steps > 40 && whole[1].1.block_steps == 4, "{:?}", whole.map(|(_, done)| done));
        for most in [1, 3] {
            let parts = propagators().map(|propagator| run(propagator, most));
            assert!(parts == whole, "{most} block steps at a time");
        }
    }

    #[test]
    fn no_block_step_passes_the_moment_asked_for() {
        for mut propagator in propagators() {
            let mut p = plummer::sample(100, 3, 0.999);
            propagator.start(&mut p).unwrap();
            // An odd number of ticks, at which no particle is due.
            let until = Time(Time::from_dt_max(2).0 - 1);
            let done = propagator.advance(&mut p, until, u64::MAX).unwrap();
            assert!(done.block_steps > 0 && done.now < until && p.time.iter().all(|time| *time <= done.now));
            let before = p.clone();
            assert_eq!(propagator.advance(&mut p, until, u64::MAX).unwrap().block_steps, 0);
            assert!(p == before);
        }
    }
}
