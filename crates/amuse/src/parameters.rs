//! Parameters that AMUSE sets, and the configuration that they give.

use crate::columns::{Failure, Outcome};
use tisane::Error;
use tisane::integrator::{IntegratorKind, SchemeInfo, Variant};
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use toml::{Table, Value};

/// Parameters, in N-body units (G = 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Square of the softening length.
    pub epsilon_squared: f64,
    /// Integrator: `hermite4`, `multipoint6`, `multipoint8`, `ahmad_cohen6` or `leapfrog`.
    pub integrator: String,
    /// Accuracy ν of the steps of hermite4, dt = √(ν …).
    pub nu: f64,
    /// Accuracy η of the first steps of hermite4, dt = η a/ȧ; 0 for the default, √ν/4.
    pub initial_eta: f64,
    /// Evaluations and corrections in each step of hermite4.
    pub iterations: i32,
    /// Accuracy η of the steps of multipoint6 and multipoint8; 0 for the default.
    pub eta: f64,
    /// Accuracy η of the steps of ahmad_cohen6; 0 for the default.
    pub neighbour_eta: f64,
    /// Longest step; of the leapfrog, the step.
    pub dt_max: f64,
    /// Shortest step; 0 for dt_max/2³⁶, the least: N-body units of AMUSE may be any, so that `dt_max` says little.
    pub dt_min: f64,
    /// Treatment of a particle that needs a shorter step than `dt_min`: `stop` or `clamp`.
    pub on_dt_min: String,
    /// Engine: `auto`, `cpu`, `cuda` or `reference`.
    pub engine: String,
    /// Precision mode; `auto` for the default of the engine.
    pub precision: String,
    /// Number of the GPU.
    pub device: i32,
    /// Number of threads of the CPU engine; 0 for one per core.
    pub threads: i32,
    /// Law of the forces in place of Newton's, as the section `[force.law]` of a configuration in TOML; empty for Newton's.
    pub law: String,
    /// Time at which the simulation starts.
    pub begin_time: f64,
    /// Flag of phiGRAPE, kept for its scripts: this code keeps its engine in any case.
    pub initialize_gpu_once: i32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            epsilon_squared: 0.0,
            integrator: "hermite4".to_owned(),
            nu: 0.01,
            initial_eta: 0.0,
            iterations: 1,
            eta: 0.0,
            neighbour_eta: 0.0,
            dt_max: 0.125,
            dt_min: 0.0,
            on_dt_min: "stop".to_owned(),
            engine: "auto".to_owned(),
            precision: "auto".to_owned(),
            device: 0,
            threads: 0,
            law: String::new(),
            begin_time: 0.0,
            initialize_gpu_once: 0,
        }
    }
}

impl Parameters {
    /// Returns the configuration that the parameters give for a simulation that starts at a time, in TOML and without
    /// `[initial]`. Values are checked by who reads it.
    ///
    /// # Errors
    /// If there is no such integrator, or the law is not TOML.
    pub fn configuration(&self, time: f64) -> Outcome<String> {
        let section = |keys: Vec<(&str, Value)>| {
            Value::Table(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Table>())
        };
        let text = |text: &str| Value::String(text.to_owned());
        let (name, mut scheme) = self.scheme()?;
        if name != "leapfrog" {
            scheme.push(("dt_max", Value::Float(self.dt_max)));
            scheme.push(("on_dt_min", text(&self.on_dt_min)));
            let min = self.dt_max / f64::from(LOG2_TICKS_PER_DT_MAX).exp2();
            scheme.push(("dt_min", Value::Float(if self.dt_min == 0.0 { min } else { self.dt_min })));
        }
        let mut force = vec![
            ("engine", text(&self.engine)),
            ("device", Value::Integer(self.device.into())),
            ("threads", Value::Integer(self.threads.into())),
        ];
        if self.precision != "auto" {
            force.push(("precision", text(&self.precision)));
        }
        if !self.law.trim().is_empty() {
            let law = self.law.parse::<Table>().map_err(|error| Failure(format!("law: {}", error.message())))?;
            force.push(("law", Value::Table(law)));
        }
        // Nothing ends at the end, which every configuration has.
        let end = ("t_end", Value::Float(time + self.dt_max.abs()));
        let run = section(vec![("name", text("amuse")), ("t_start", Value::Float(time)), end]);
        let softening = section(vec![("epsilon", Value::Float(self.epsilon_squared.sqrt()))]);
        let integrator = section(vec![(name, section(scheme))]);
        let sections = [("run", run), ("softening", softening), ("integrator", integrator), ("force", section(force))];
        Ok(sections.into_iter().map(|(name, keys)| (name.to_owned(), keys)).collect::<Table>().to_string())
    }

    /// Returns the keys of a scheme at an order: these, and the accuracy if its parameter is not 0.
    fn of_variant(&self, info: &SchemeInfo, variant: &Variant) -> Vec<(&'static str, Value)> {
        let order = variant.has_order_key.then_some(("order", Value::Integer(variant.order.into())));
        let accuracy = if info.accuracy_key == "nu" {
            self.nu
        } else {
            // Both schemes take η, each of its own size.
            if variant.name == "ahmad_cohen6" { self.neighbour_eta } else { self.eta }
        };
        let accuracy = (accuracy != 0.0).then_some((info.accuracy_key, Value::Float(accuracy)));
        order.into_iter().chain(accuracy).collect()
    }

    /// Returns the name of the integrator's section and the keys that only it has.
    fn scheme(&self) -> Outcome<(&'static str, Vec<(&'static str, Value)>)> {
        Ok(match self.integrator.as_str() {
            "leapfrog" => ("leapfrog", vec![("dt", Value::Float(self.dt_max))]),
            "hermite4" => {
                let mut keys = vec![("nu", self.nu.into()), ("iterations", Value::Integer(self.iterations.into()))];
                if self.initial_eta != 0.0 {
                    keys.push(("nu_start", Value::Float(self.initial_eta * self.initial_eta)));
                }
                ("hermite4", keys)
            }
            other => match variants().find(|(_, variant)| variant.name == other) {
                Some((info, variant)) => (info.name(), self.of_variant(&info, variant)),
                None => {
                    let known: Vec<&str> = variants().map(|(_, variant)| variant.name).collect();
                    return Err(Failure(format!(
                        "integrator is \"{other}\": expected {} or leapfrog",
                        known.join(", ")
                    )));
                }
            },
        })
    }
}

/// Returns the schemes of block steps at each of their orders.
fn variants() -> impl Iterator<Item = (SchemeInfo, &'static Variant)> {
    IntegratorKind::ALL.iter().flat_map(|kind| kind.variants().iter().map(|variant| (kind.info(), variant)))
}

/// Keys of the configuration in messages, and the parameters that they come from; those of sections last.
const NAMES: [(&str, &str); 14] = [
    ("softening.epsilon", "epsilon_squared"),
    ("integrator.hermite4.nu_start", "initial_timestep_parameter"),
    ("integrator.hermite4.nu", "timestep_parameter"),
    ("integrator.multipoint.eta", "multipoint_eta"),
    ("integrator.ahmad_cohen.eta", "ahmad_cohen_eta"),
    ("integrator.leapfrog.dt", "dt_max"),
    ("integrator.hermite4.", ""),
    ("integrator.multipoint.", ""),
    ("integrator.ahmad_cohen.", ""),
    ("force.law", "law"),
    ("force.", ""),
    ("run.t_start", "time"),
    ("run.t_end", "time"),
    ("tisane resume", "evolve_model"),
];

impl From<tisane::Error> for Failure {
    fn from(error: tisane::Error) -> Self {
        Self(explain(&error))
    }
}

/// Returns the text of an error in terms of the parameters, with its advice.
#[must_use]
pub fn explain(error: &Error) -> String {
    let mut text = match error {
        // The line is one of a text that the user does not see.
        Error::Config(error) => format!("{}: {}", error.key, error.problem),
        other => other.to_string(),
    };
    if let Some(help) = tisane_run::help::advice(error) {
        text = format!("{text} ({help})");
    }
    NAMES.iter().fold(text, |text, (key, name)| text.replace(key, name))
}
