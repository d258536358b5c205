//! Integration of a simulation in memory, in turns of block steps between which the program may end it.

use super::Started;
use crate::config::Config;
use crate::system::System;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane::force::block_steps::Pause;
use tisane::subsystems::EventKind;

/// Time after which a GPU that takes whole block steps hands the state over: programs see a signal within some 50 ms,
/// with many subsystems within the time that handing over the state is worth.
const TURN: Duration = Duration::from_millis(25);

impl Started {
    /// Advances the system by the settings of `config`; see [`crate::in_memory::InMemory::integrate`].
    pub(in super::super) fn integrate(
        &mut self,
        t: f64,
        config: &Config,
        go_on: &mut (dyn FnMut(&System) -> u64 + Send),
    ) -> Result<bool> {
        let until = self.moment(t)?;
        if t < self.time || until < self.until {
            let problem = format!("{t} is before the present time, {}: the integration goes forward only", self.time);
            return Err(Error::input("time", problem));
        }
        self.check_whole()?;
        if self.info.steps_on_device {
            self.system.engines.propagator.set_pause(Pause::new(|| false, TURN));
        }
        let mut max = 1;
        loop {
            // Elsewhere nothing would end a turn of many steps.
            let at_once = if self.info.steps_on_device { max } else { 1 };
            let done = match self.system.advance(until, at_once) {
                Ok(done) => done,
                Err(error) => return Err(self.fail(error, config)),
            };
            let events = self.system.take_events();
            self.take_star_events();
            if done.block_steps == 0 {
                self.arrive(until, t);
                return Ok(true);
            }
            max = go_on(&self.system);
            if config.stops_at_contact() && events.iter().any(|event| event.kind == EventKind::Touch) {
                max = 0;
            }
            if max == 0 && done.now != until {
                let state = &self.system.state;
                self.arrive(done.now, state.clock.time(done.now) * state.scale.time);
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::assemble::{OnGpu, force_engine};
    use crate::config::Engine;
    use crate::in_memory::{InMemory, Phase};
    use crate::system::System;
    use std::path::Path;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};
    use tisane::error::Result;
    use tisane::force::block_steps::{Pause, Span, StepRules, Taken};
    use tisane::force::precision::Precision;
    use tisane::force::{ForceEngine, Forces, Targets};
    use tisane::integrator::{AnyIntegrator, Integrator};
    use tisane::particles::Particles;
    use tisane::propagator::Propagator;
    use tisane::time::{Clock, Time};

    const TEXT: &str = "initial.plummer = { n = 64, seed = 3 }\nsoftening.epsilon = 0.02\n\
                        integrator.hermite4.dt_max = 0.125\nforce = { engine = 'cpu', precision = 'f64' }\n";
    const END: f64 = 1.0;

    fn on_cpu(clock: Clock) -> Box<dyn ForceEngine> {
        force_engine(None, Engine::Cpu, Precision::F64, 0.02, clock, OnGpu::default()).unwrap()
    }

    fn hermite(simulation: &InMemory, clock: Clock) -> Box<dyn Integrator<Evaluation = Forces>> {
        match simulation.config().integrator.scheme().build(Precision::F64, clock) {
            AnyIntegrator::Forces(integrator) => integrator,
            AnyIntegrator::Accelerations(_) => unreachable!("a Hermite scheme"),
        }
    }

    /// Takes steps by itself, by an integrator of its own, at most 200 at a time, as after a pause. Notes how many it was
    /// asked for.
    struct Stepping {
        engine: Box<dyn ForceEngine>,
        own: Box<dyn Integrator<Evaluation = Forces>>,
        asked: Arc<Mutex<Vec<u64>>>,
    }

    impl ForceEngine for Stepping {
        fn load(&mut self, all: &Particles) -> Result<()> {
            self.engine.load(all)
        }

        fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
            self.engine.update(all, changed)
        }

        fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
            self.engine.evaluate(now, targets, out)
        }

        fn take_steps(
            &mut self,
            p: &mut Particles,
            _: &StepRules,
            span: Span,
            pause: Option<&Pause>,
        ) -> Result<Option<Taken>> {
            let late = Instant::now().checked_sub(Duration::from_millis(50)).unwrap();
            assert!(pause.is_some_and(|pause| pause.is_due(late)), "signals are seen soon");
            self.asked.lock().unwrap().push(span.max);
            self.own.resume(p, span.from, &mut *self.engine)?;
            let done = self.own.advance(p, &mut *self.engine, span.until, span.max.min(200))?;
            let (now, block_steps, particle_steps) = (done.now, done.block_steps, done.particle_steps);
            Ok(Some(Taken { now, block_steps, particle_steps, ..Taken::default() }))
        }
    }

    /// Returns a started simulation whose engine takes steps by itself, and the numbers of steps that it is asked for.
    fn stepping() -> (InMemory, Arc<Mutex<Vec<u64>>>) {
        let mut simulation = InMemory::new(TEXT, Path::new(""), &[]).unwrap();
        simulation.start().unwrap();
        let clock = simulation.system().unwrap().state.clock;
        let [integrator, own] = [(); 2].map(|()| hermite(&simulation, clock));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let engine = Stepping { engine: on_cpu(clock), own, asked: asked.clone() };
        let Phase::Started(started) = &mut simulation.phase else { unreachable!("started") };
        let System { particles, state, engines, .. } = &mut started.system;
        engines.propagator = Propagator::in_f64(integrator, Box::new(engine));
        engines.propagator.resume(particles, state.now).unwrap();
        started.info.steps_on_device = true;
        (simulation, asked)
    }

    /// Integrates to the end; returns the number of calls of `go_on`, the block steps, and the hash of the state.
    fn to_end(simulation: &mut InMemory, go_on: impl Fn(&System) -> u64 + Send + Sync) -> (u64, u64, String) {
        let mut calls = 0;
        while simulation.time() < END {
            let mut go_on = |system: &System| {
                calls += 1;
                go_on(system)
            };
            simulation.integrate(END, &mut go_on).unwrap();
        }
        let steps = simulation.system().unwrap().state.counters.block_steps;
        (calls, steps, simulation.state_sha256().unwrap())
    }

    #[test]
    fn an_engine_that_steps_by_itself_is_asked_for_many_steps_at_once() {
        let (calls, steps, hash) = to_end(&mut InMemory::new(TEXT, Path::new(""), &[]).unwrap(), |_| u64::MAX);
        assert!(calls == steps && steps > 500, "without such an engine every step is shown: {calls} of {steps}");
        let (mut simulation, asked) = stepping();
        let (calls, ..) = to_end(&mut simulation, |_| u64::MAX);
        assert_eq!(simulation.state_sha256().unwrap(), hash);
        assert!(calls < steps / 50, "{calls} calls");
        assert!(asked.lock().unwrap().iter().all(|&max| max == u64::MAX));
        // Every step is seen where that is asked for.
        let (mut simulation, asked) = stepping();
        assert_eq!(to_end(&mut simulation, |_| 1), (steps, steps, hash.clone()));
        assert!(asked.lock().unwrap().is_empty());
        // Stopped after up to 100 steps, again and again.
        let (mut simulation, asked) = stepping();
        let stop = |system: &System| if system.state.counters.block_steps % 101 == 1 { 100 } else { 0 };
        let (_, found, of_stopped) = to_end(&mut simulation, stop);
        assert_eq!((found, of_stopped), (steps, hash));
        assert!(!asked.lock().unwrap().is_empty());
        assert!(asked.lock().unwrap().iter().all(|&max| max == 100));
    }

    /// Gas that is expelled: its rate changes between multiples of the longest step.
    const EXPULSION: &str = "[run]\nname = \"r\"\nt_end = 1.0\n[initial.plummer]\nn = 64\n[external.point-mass]\nmass = 1e4\n\
                             [external.plummer]\nmass = 2.0\nscale_radius = 0.6\nmotion = { orbit = \"cluster\" }\n\
                             variation = { form = \"expulsion\", start = 0.3, time = 0.2 }\n[orbit]\ncircular = 100.0\n\
                             [encounters]\n[integrator.hermite4]\ndt_max = 0.125\n";

    #[test]
    fn the_work_of_a_moving_origin_does_not_depend_on_pauses() {
        let run = |pauses: bool, max: u64| {
            let mut simulation = InMemory::new(EXPULSION, Path::new(""), &[]).unwrap();
            simulation.start().unwrap();
            let Phase::Started(started) = &mut simulation.phase else { unreachable!("started") };
            let system = &mut started.system;
            system.engines.propagator.set_pause(Pause::new(move || pauses, Duration::from_secs(3600)));
            let (until, mut calls) = (Time::from_dt_max(8), 0);
            while system.state.now < until {
                system.advance(until, max).unwrap();
                calls += 1;
            }
            (system.state.orbit.map(|orbit| orbit.tidal), system.particles.state_sha256(&system.state.clock), calls)
        };
        let (work, hash, calls) = run(false, u64::MAX);
        assert!(work.is_some_and(|work| work.work.masses.abs() > 1e-3) && calls < 40, "{work:?}, {calls} calls");
        for (pauses, max) in [(true, u64::MAX), (false, 1), (true, 3)] {
            let (found, of_state, more) = run(pauses, max);
            assert_eq!((found, of_state), (work, hash.clone()), "pauses: {pauses}, {max} at once");
            assert!(more > 100, "{more} calls");
        }
    }
}
