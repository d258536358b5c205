//! Propagator: an integrator coupled with the engine that it needs, and an f64 engine for measurements.

use crate::integrator::{Integrator, Progress};
use crate::star_changes::{Lost, StarChanges};
use crate::subsystems::Subsystems;
use tisane_force::error::Result;
use tisane_force::force::block_steps::{Pause, StepRules};
use tisane_force::force::profile::Profiler;
use tisane_force::force::{Accelerations, Field, ForceEngine, Forces, Targets};
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Integrator with the engine that it needs, and an f64 engine for energies and audits. The type that the engine
/// evaluates is hidden inside.
pub struct Propagator(Coupling);

/// Integrator and engine by what the engine evaluates, and the engine that measures in f64.
enum Coupling {
    Forces {
        integrator: Box<dyn Integrator<Evaluation = Forces>>,
        engine: Box<dyn ForceEngine>,
        /// [`None`] where the integrator's own engine measures.
        f64_engine: Option<Box<dyn ForceEngine>>,
    },
    Accelerations {
        integrator: Box<dyn Integrator<Evaluation = Accelerations>>,
        engine: Box<dyn ForceEngine<Accelerations>>,
        f64_engine: Box<dyn ForceEngine>,
    },
}

/// Evaluates an expression with the integrator and its engine, for both kinds of evaluation.
macro_rules! coupled {
    ($coupling:expr, |$integrator:ident, $engine:ident| $value:expr) => {
        match $coupling {
            Coupling::Forces { integrator: $integrator, engine: $engine, .. } => $value,
            Coupling::Accelerations { integrator: $integrator, engine: $engine, .. } => $value,
        }
    };
}

impl Propagator {
    /// Couples an integrator with its engine, and with a separate engine that computes forces in f64.
    #[must_use]
    pub fn new(
        integrator: Box<dyn Integrator<Evaluation = Forces>>,
        engine: Box<dyn ForceEngine>,
        f64_engine: Box<dyn ForceEngine>,
    ) -> Self {
        Self(Coupling::Forces { integrator, engine, f64_engine: Some(f64_engine) })
    }

    /// Couples an integrator with an engine that computes forces in f64, which therefore serves for measurements too.
    #[must_use]
    pub fn in_f64(integrator: Box<dyn Integrator<Evaluation = Forces>>, engine: Box<dyn ForceEngine>) -> Self {
        Self(Coupling::Forces { integrator, engine, f64_engine: None })
    }

    /// Couples an integrator that needs accelerations alone with its engine, and with one that computes forces in f64.
    #[must_use]
    pub fn of_accelerations(
        integrator: Box<dyn Integrator<Evaluation = Accelerations>>,
        engine: Box<dyn ForceEngine<Accelerations>>,
        f64_engine: Box<dyn ForceEngine>,
    ) -> Self {
        Self(Coupling::Accelerations { integrator, engine, f64_engine })
    }

    /// Wraps the integrator's engine in a stopwatch that reports to `profiler`, as the integrator does.
    #[must_use]
    pub fn timed(mut self, profiler: &Profiler) -> Self {
        coupled!(&mut self.0, |integrator, _engine| integrator.set_profiler(profiler));
        Self(match self.0 {
            Coupling::Forces { integrator, engine, f64_engine } => {
                Coupling::Forces { integrator, engine: profiler.timed(engine), f64_engine }
            }
            Coupling::Accelerations { integrator, engine, f64_engine } => {
                Coupling::Accelerations { integrator, engine: profiler.timed(engine), f64_engine }
            }
        })
    }

    /// Prepares a system at time zero of the axis; see [`Integrator::start`].
    ///
    /// # Errors
    /// Those of [`Integrator::start`].
    pub fn start(&mut self, p: &mut Particles) -> Result<Progress> {
        coupled!(&mut self.0, |integrator, engine| integrator.start(p, &mut **engine))
    }

    /// Continues a system from the state after a step that reached `now`; see [`Integrator::resume`].
    ///
    /// # Errors
    /// Those of [`Integrator::resume`].
    pub fn resume(&mut self, p: &Particles, now: Time) -> Result<()> {
        coupled!(&mut self.0, |integrator, engine| integrator.resume(p, now, &mut **engine))
    }

    /// Returns the state of all particles at the moment `now`; see [`Integrator::synchronised`].
    ///
    /// # Errors
    /// Those of [`Integrator::synchronised`].
    pub fn synchronised(&mut self, p: &Particles, now: Time) -> Result<Particles> {
        coupled!(&mut self.0, |integrator, engine| integrator.synchronised(p, now, &mut **engine))
    }

    /// Sets the time at tick 0, for a system that starts anew at another time.
    pub fn set_start(&mut self, start: f64) {
        coupled!(&mut self.0, |integrator, engine| {
            integrator.set_start(start);
            engine.set_start(start);
        });
        match &mut self.0 {
            Coupling::Forces { f64_engine: None, .. } => {}
            Coupling::Forces { f64_engine: Some(engine), .. } | Coupling::Accelerations { f64_engine: engine, .. } => {
                engine.set_start(start);
            }
        }
    }

    /// Returns the rules of the block steps of these particles; see [`Integrator::step_rules`].
    pub fn step_rules(&mut self, p: &Particles) -> Option<StepRules> {
        coupled!(&mut self.0, |integrator, _engine| integrator.step_rules(p))
    }

    /// Lets [`advance`](Self::advance) return early; see [`Integrator::set_pause`].
    pub fn set_pause(&mut self, pause: Pause) {
        coupled!(&mut self.0, |integrator, _engine| integrator.set_pause(pause));
    }

    /// Returns access to descriptions and events of the subsystems; see [`Integrator::subsystems`].
    pub fn subsystems(&mut self) -> Option<&mut dyn Subsystems> {
        coupled!(&mut self.0, |integrator, _engine| integrator.subsystems())
    }

    /// Advances the system by up to `max` block steps, and by none that would pass `until`; see
    /// [`Integrator::advance`].
    ///
    /// # Errors
    /// Those of [`Integrator::advance`].
    pub fn advance(&mut self, p: &mut Particles, until: Time, max: u64) -> Result<Progress> {
        coupled!(&mut self.0, |integrator, engine| integrator.advance(p, &mut **engine, until, max))
    }

    /// Changes stars at `now`, a multiple of dt_max that the particles have reached; see [`Integrator::change_stars`]. Returns what
    /// the changes take out of the system.
    ///
    /// # Errors
    /// Those of [`Integrator::change_stars`].
    pub fn change_stars(&mut self, p: &mut Particles, changes: &StarChanges<'_>, now: Time) -> Result<Lost> {
        coupled!(&mut self.0, |integrator, engine| integrator.change_stars(p, &mut **engine, changes, now))
    }

    /// Returns the particles that the engines hold; see [`Integrator::loaded`].
    #[must_use]
    pub fn loaded<'a>(&'a self, p: &'a Particles) -> &'a Particles {
        coupled!(&self.0, |integrator, _engine| integrator.loaded(p))
    }

    /// Returns the forces that the scheme uses on some of them; see [`Integrator::forces`].
    ///
    /// # Errors
    /// Those of [`Integrator::forces`].
    pub fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>) -> Result<Forces> {
        coupled!(&mut self.0, |integrator, engine| integrator.forces(p, now, targets, &mut **engine))
    }

    /// Measures the field of a system that is synchronised at `now`, in f64. The f64 engine holds the system
    /// afterwards.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn field(&mut self, p: &Particles, now: Time) -> Result<Field> {
        match &mut self.0 {
            Coupling::Forces { integrator, engine, f64_engine: None } => integrator.field(p, now, &mut **engine, true),
            Coupling::Forces { integrator, f64_engine: Some(engine), .. } => {
                integrator.field(p, now, &mut **engine, false)
            }
            Coupling::Accelerations { integrator, f64_engine, .. } => {
                integrator.field(p, now, &mut **f64_engine, false)
            }
        }
    }

    /// Returns the engine that measures in f64.
    pub fn f64_engine(&mut self) -> &mut dyn ForceEngine {
        match &mut self.0 {
            Coupling::Forces { engine, f64_engine: None, .. }
            | Coupling::Forces { f64_engine: Some(engine), .. }
            | Coupling::Accelerations { f64_engine: engine, .. } => &mut **engine,
        }
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
            Propagator::in_f64(Box::new(Hermite4::new(parameters, CLOCK)), forces()),
            Propagator::of_accelerations(Box::new(Leapfrog::new(CLOCK, Range::F64)), accelerations, forces()),
        ]
    }

    /// Returns the state after four dt_max, and the work done, in calls of up to `max` block steps.
    fn run(mut propagator: Propagator, max: u64) -> (Particles, Progress) {
        let (mut p, end, mut sum) = (plummer::sample(100, 3, 0.999), Time::from_dt_max(4), Progress::default());
        propagator.start(&mut p).unwrap();
        while sum.now < end {
            let done = propagator.advance(&mut p, end, max).unwrap();
            assert!((1..=max).contains(&done.block_steps) && done.now > sum.now && done.now <= end);
            sum = sum.plus(&done);
        }
        assert_eq!(propagator.advance(&mut p, end, max).unwrap(), Progress { now: end, ..Progress::default() });
        (p, sum)
    }

    #[test]
    fn the_division_of_block_steps_among_calls_changes_nothing() {
        let whole = propagators().map(|propagator| run(propagator, u64::MAX));
        assert!(whole[0].1.block_steps > 40 && whole[1].1.block_steps == 4, "{:?}", whole.map(|(_, done)| done));
        for max in [1, 3] {
            let parts = propagators().map(|propagator| run(propagator, max));
            assert!(parts == whole, "{max} block steps at a time");
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
