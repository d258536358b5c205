//! Points of the studies that integrate: their parameters, and what they are measured on.

use super::config::TimeSpan;
use super::integrators::Integrator;
use super::journal::Outcome;
use super::plummer::{self, Sphere};
use super::trial::{self, Measured};
use serde::{Deserialize, Serialize};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::spin_pool;
use tisane_run::assemble::{self, Session};
use tisane_run::config::{Engine, LawSection, Real};

/// Parameters of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Number of particles.
    pub n: u32,
    /// Seed of the Plummer sphere.
    pub seed: u64,
    /// Engine, with what it computes on.
    pub engine: String,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator.
    #[serde(default)]
    pub integrator: Integrator,
    /// Accuracy of the time step: the integrator's parameter.
    #[serde(alias = "nu")]
    pub accuracy: f64,
    /// Softening.
    pub epsilon: f64,
    /// Longest time step.
    pub dt_max: f64,
    /// Shortest time step.
    pub dt_min: f64,
    /// Times at which measuring begins and ends.
    pub span: [f64; 2],
    /// Threads.
    pub threads: usize,
    /// Number of the repetition; [`None`] if other points were measured at the same time, so that its time says
    /// nothing.
    pub repetition: Option<u32>,
    /// Law in place of Newton's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSection>,
}

impl Key {
    /// Returns the span of time that is measured, with softening and steps.
    ///
    /// # Errors
    /// [`Error::Input`] for a length or a time that is not finite.
    pub fn time_span(&self) -> Result<TimeSpan> {
        let finite = |name: &str, value: f64| {
            let problem = || format!("{name}: expected a finite number, found {value}");
            Real::new(value).ok_or_else(|| Error::input("a point of a study", problem()))
        };
        Ok(TimeSpan {
            epsilon: finite("epsilon", self.epsilon)?,
            dt_max: finite("dt_max", self.dt_max)?,
            dt_min: finite("dt_min", self.dt_min)?,
            t_start: finite("span[0]", self.span[0])?,
            t_end: finite("span[1]", self.span[1])?,
        })
    }
}

/// Returns the number of threads; 0 asks for one per core.
#[must_use]
pub fn threads(asked: u32) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads as usize,
    }
}

/// Parameters that all points of a sweep of trials share.
#[derive(Clone, Debug)]
pub struct Common {
    /// Engines with their descriptions.
    pub engines: Vec<(Engine, String)>,
    /// GPU of the engine cuda.
    pub device: u32,
    /// Span of time that is measured.
    pub time_span: TimeSpan,
    /// Threads of a point.
    pub threads: usize,
    /// Law in place of Newton's.
    pub law: Option<LawSection>,
}

impl Common {
    /// Looks up the hardware of the engines.
    ///
    /// # Errors
    /// If one is not there.
    pub fn new(engines: &[Engine], device: u32, time_span: &TimeSpan, threads_asked: u32) -> Result<Self> {
        let described = |engine: &Engine| Ok((*engine, assemble::describe_engine(*engine, device)?));
        let engines = engines.iter().map(described).collect::<Result<_>>()?;
        Ok(Self { engines, device, time_span: time_span.clone(), threads: threads(threads_asked), law: None })
    }

    /// Returns the parameters of a point.
    #[must_use]
    pub fn key(
        &self,
        engine: &str,
        (n, seed): (u32, u64),
        mode: Precision,
        (integrator, accuracy): (Integrator, f64),
        repetition: Option<u32>,
    ) -> Key {
        let it = &self.time_span;
        Key {
            n,
            seed,
            engine: engine.into(),
            mode,
            integrator,
            accuracy,
            epsilon: it.epsilon.get(),
            dt_max: it.dt_max.get(),
            dt_min: it.dt_min.get(),
            span: [it.t_start.get(), it.t_end.get()],
            threads: self.threads,
            repetition,
            law: self.law.clone(),
        }
    }

    /// Returns the engine of a point.
    #[must_use]
    pub fn engine(&self, key: &Key) -> Engine {
        self.engines.iter().find(|(_, name)| *name == key.engine).map_or(Engine::Cpu, |(engine, _)| *engine)
    }

    /// Measures a point.
    ///
    /// # Errors
    /// As [`trial::run`].
    pub fn measure(&self, key: &Key) -> Result<Measured> {
        let engine = self.engine(key);
        let time_span = key.time_span()?;
        let sphere = Sphere { n: key.n, seed: key.seed, epsilon: key.epsilon };
        spin_pool::on_threads(key.threads, || {
            let scheme = (key.integrator, key.accuracy);
            let set = plummer::setup_by(key.law.as_ref(), sphere, &time_span, scheme, (engine, key.mode))?;
            let session = Session { device: Some(self.device), ..Session::default() };
            let measured = trial::run(&set, session, plummer::steps(&time_span), None)?;
            measured
                .ok_or_else(|| Error::Integration { problem: "a trial without a limit ended early".into(), help: None })
        })
    }
}

/// Returns the relative cost of a point: particle steps times N, as PZ eqs 14 and 17 have them, and dt ∝ √ν.
#[must_use]
pub fn cost(key: &Key) -> f64 {
    let n = f64::from(key.n);
    // The overhead of a block step equals some hundred thousand pairs.
    n.powf(0.35) * (n.powf(1.81) * 0.2 + 2e4) / key.integrator.equivalent_nu(key.accuracy, key.mode).sqrt()
        * key.span[1]
}

/// Describes a point and its result in one line.
#[must_use]
pub fn describe(key: &Key, outcome: &Outcome<Measured>) -> String {
    let Key { n, seed, engine, mode, integrator, accuracy, .. } = key;
    let accuracy = format!("{} = {accuracy:.3e}", integrator.accuracy_key());
    let what = match outcome {
        Outcome::Done(it) if key.repetition.is_none() => format!("dE/E {:+.2e}", it.energy_error),
        Outcome::Done(it) => format!("{:.3} s, dE/E {:+.2e}", it.seconds, it.energy_error),
        Outcome::Failed(why) => why.clone(),
    };
    format!("N = {n}, seed {seed}, {engine}, {}, {}, {accuracy}: {what}", mode.name(), integrator.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_journals_without_an_integrator_are_those_of_hermite4() {
        let old = r#"{"n":64,"seed":1,"engine":"cpu","mode":"f64","nu":0.01,"epsilon":0.1,"dt_max":0.125,
                      "dt_min":1e-7,"span":[0.25,0.5],"threads":1,"repetition":0}"#;
        let key: Key = serde_json::from_str(old).unwrap();
        assert_eq!((key.integrator, key.accuracy), (Integrator::named("hermite4").unwrap(), 0.01));
        let key = Key { integrator: Integrator::named("multipoint6").unwrap(), accuracy: 0.35, ..key };
        assert_eq!(serde_json::from_str::<Key>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
    }
}
