//! Points of the study: solutions, runs beside them, members of ensembles. All are kept in its journal.

use super::divergence::rms_distance;
use super::ensemble::EndState;
use super::system::{Scheme, State, System};
use super::triples::{Return, Triple};
use crate::study::config::{Moments, tolerance};
use crate::study::journal::Outcome;
use crate::study::plummer::{self, Sphere};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tisane::diagnostics::reference::Reference;
use tisane::error::{Error, Result};
use tisane::particles::Particles;
use tisane::spin_pool;
use tisane::time::{TICKS_PER_DT_MAX, Time};
use tisane_run::assemble::{self, Session};
use tisane_run::config::Config;

/// What a point is measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Key {
    /// Solution by the extrapolated leapfrog.
    Solution {
        /// System.
        system: System,
        /// Digits of its tolerance, 10^-digits.
        digits: u32,
        /// Bits of its numbers.
        bits: u32,
    },
    /// Run beside a solution, up to the last of the system's moments.
    Run {
        /// System.
        system: System,
        /// Scheme.
        scheme: Scheme,
        /// Digits of the tolerance of the solution.
        solution: u32,
    },
    /// Member of an ensemble.
    Member {
        /// System.
        system: System,
        /// Scheme.
        scheme: Scheme,
    },
    /// Triple that is integrated and turned back.
    Triple(Triple),
}

/// Result of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Measured {
    /// Of a solution: its states at the start and at each moment.
    Solution {
        /// States.
        states: Vec<State>,
        /// Pairs evaluated.
        pairs: u64,
    },
    /// Of a run.
    Run {
        /// Rms distance of the particles from the solution at each moment, without the start.
        distances: Vec<f64>,
        /// Largest |E − E₀| / |E₀| at the moments.
        energy_error: f64,
        /// Pairs evaluated.
        pairs: u64,
    },
    /// Of a member.
    Member(EndState),
    /// Of a triple.
    Triple(Return),
}

/// Course of a run: its largest energy error at the moments, and its cost.
struct Course {
    energy_error: f64,
    pairs: u64,
}

/// Integrates a configuration and shows its particles at the start and at each moment.
fn follow(text: &str, moments: Moments, see: &mut (dyn FnMut(&Particles) + Send)) -> Result<Course> {
    let set = assemble::prepare(Config::from_str("a point of a study", text, Path::new(""), &[])?)?;
    let integrate = || {
        let mut propagator = assemble::propagator(&set, Session::default())?;
        let mut p = set.particles.clone();
        propagator.start(&mut p)?;
        let start = Reference::new(&p, &propagator.field(&p, Time::default())?);
        see(&p);
        let mut it = Course { energy_error: 0.0, pairs: 0 };
        let mut now = Time::default();
        for moment in 1..=moments.count as u64 {
            let until = Time::from_dt_max(moment * moments.steps);
            while now < until {
                let done = propagator.advance(&mut p, until, u64::MAX)?;
                (now, it.pairs) = (done.now, it.pairs + done.pairs);
            }
            let field = propagator.field(&p, now)?;
            let error = start.energy_error(start.energy_of(&p, &field)).abs();
            if !error.is_finite() {
                return Err(Error::Integration { problem: "the energy is not a finite number".into(), help: None });
            }
            it.energy_error = error.max(it.energy_error);
            see(&p);
        }
        Ok(it)
    };
    // Systems so small take no time on a second thread, and several points are measured at once.
    spin_pool::on_threads(1, integrate).map_err(|error| error.in_run(&set.run_context()))
}

impl System {
    fn head(&self) -> String {
        let sphere = Sphere { n: self.n, seed: self.seed, epsilon: self.epsilon };
        plummer::head(sphere, self.interval * self.moments as f64)
    }

    /// Returns the moments with the steps of a sweep.
    fn moments(&self, of: Moments) -> Moments {
        Moments { count: self.moments, ..of }
    }

    fn solve(&self, digits: u32, bits: u32, moments: Moments) -> Result<Measured> {
        let tolerance = tolerance(digits).map_or(f64::NAN, |it| it.get());
        let text = format!(
            "{}[integrator.extrapolated]\ntolerance = {tolerance:e}\nbits = {bits}\ndt_max = {:?}\n",
            self.head(),
            moments.dt_max
        );
        let mut states = Vec::with_capacity(self.moments + 1);
        let course = follow(&text, self.moments(moments), &mut |p| states.push(State::new(p)))?;
        Ok(Measured::Solution { states, pairs: course.pairs })
    }

    fn run(&self, scheme: &Scheme, moments: Moments, see: &mut (dyn FnMut(&Particles) + Send)) -> Result<Course> {
        let dt_min = moments.dt_max / TICKS_PER_DT_MAX as f64;
        let steps = format!("dt_max = {:?}\ndt_min = {dt_min:?}\n", moments.dt_max);
        let section = scheme.integrator.section(scheme.accuracy, &steps);
        let text =
            format!("{}{section}[force]\nengine = \"cpu\"\nprecision = \"{}\"\n", self.head(), scheme.mode.name());
        follow(&text, self.moments(moments), see)
    }
}

impl Key {
    /// Measures the point, in steps of a sweep; `states` are those of its solution.
    ///
    /// # Errors
    /// As the integrators.
    pub fn measure(&self, moments: Moments, states: &[State]) -> Result<Measured> {
        match self {
            Self::Solution { system, digits, bits } => system.solve(*digits, *bits, moments),
            Self::Run { system, scheme, .. } => {
                let (mut distances, mut at) = (Vec::with_capacity(system.moments), 0);
                let mut see = |p: &Particles| {
                    if let Some(state) = states.get(at).filter(|_| at > 0) {
                        distances.push(rms_distance(p, state));
                    }
                    at += 1;
                };
                let Course { energy_error, pairs } = system.run(scheme, moments, &mut see)?;
                Ok(Measured::Run { distances, energy_error, pairs })
            }
            Self::Member { system, scheme } => {
                let mut last = Particles::default();
                let Course { energy_error, pairs } = system.run(scheme, moments, &mut |p| last.clone_from(p))?;
                Ok(Measured::Member(EndState::new(&last, system.epsilon, energy_error, pairs)))
            }
            Self::Triple(triple) => Ok(Measured::Triple(triple.measure()?)),
        }
    }

    /// Returns the relative cost of the point.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let span = |system: &System| f64::from(system.n).powf(2.3) * system.interval * system.moments as f64;
        match self {
            // Evaluations grow with the 1.8th power of the digits; numbers beyond double-double take some fifty times as long.
            Self::Solution { system, digits, bits } => {
                let number = if *bits == 106 { 1.0 } else { f64::from(*bits) / 4.0 };
                span(system) * f64::from(*digits).powf(1.8) * number
            }
            Self::Run { system, scheme, .. } | Self::Member { system, scheme } => {
                span(system) * 5.0 / scheme.integrator.equivalent_nu(scheme.accuracy, scheme.mode).sqrt()
            }
            Self::Triple(triple) => (-triple.tolerance.log10()).powf(1.8),
        }
    }
}

/// Describes a point and its result in one line.
#[must_use]
pub fn describe(key: &Key, outcome: &Outcome<Measured>) -> String {
    let name = |System { n, seed, .. }: &System| format!("N = {n}, seed {seed}");
    let what = match key {
        Key::Solution { system, digits, bits } => {
            format!("{}, solution of tolerance 1e-{digits}, {bits} bits", name(system))
        }
        Key::Run { system, scheme, .. } | Key::Member { system, scheme } => {
            format!("{}, {}", name(system), scheme.describe())
        }
        Key::Triple(Triple { number, tolerance }) => format!("triple {number}, tolerance {tolerance:e}"),
    };
    let result = match outcome {
        Outcome::Done(Measured::Solution { pairs, .. }) => format!("{:.2e} pairs", *pairs as f64),
        Outcome::Done(Measured::Run { distances, energy_error, .. }) => {
            format!("dE/E {energy_error:.1e}, distance {:.1e} at the end", distances.last().copied().unwrap_or(0.0))
        }
        Outcome::Done(Measured::Member(end)) => format!("dE/E {:.1e}", end.energy_error),
        Outcome::Done(Measured::Triple(Return { time, distance: Some(distance), .. })) => {
            format!("turned back at {time}, distance {distance:.1e} at the end")
        }
        Outcome::Done(Measured::Triple(Return { time, distance: None, .. })) => {
            format!("forward to {time}, then steps did not converge")
        }
        Outcome::Failed(why) => why.clone(),
    };
    format!("{what}: {result}")
}
