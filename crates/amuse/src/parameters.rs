//! Parameters that AMUSE sets, and the configuration that they give.

use crate::columns::{Failure, Outcome};
use tisane::Error;
use tisane::integrator::{IntegratorKind, SchemeInfo, Variant};
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use tisane::units::names::{GM_SUN_CGS, PC_CGS, YEAR_CGS};
use toml::{Table, Value};

/// Sizes of the N-body units of the interface in the units of the simulation behind it: 1, or of a simulation in which stars age, in
/// solar masses, parsecs and Myr.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Unit of mass.
    pub mass: f64,
    /// Unit of length.
    pub length: f64,
    /// Unit of time, with which G is 1.
    pub time: f64,
}

impl Sizes {
    /// Returns the unit of velocity.
    #[must_use]
    pub fn velocity(&self) -> f64 {
        self.length / self.time
    }
}

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
    /// Stars that age, as the section `[stellar_evolution]` of a configuration in TOML; empty where they do not.
    pub stellar_evolution: String,
    /// Unit of mass of the interface, in solar masses, where stars age.
    pub unit_of_mass: f64,
    /// Its unit of length, in parsecs, where stars age.
    pub unit_of_length: f64,
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
            stellar_evolution: String::new(),
            unit_of_mass: 0.0,
            unit_of_length: 0.0,
            begin_time: 0.0,
            initialize_gpu_once: 0,
        }
    }
}

impl Parameters {
    /// Returns true if stars age.
    #[must_use]
    pub fn ages(&self) -> bool {
        !self.stellar_evolution.trim().is_empty()
    }

    /// Returns the sizes of the units of the interface in those of the simulation.
    ///
    /// # Errors
    /// If stars age and a size is not a positive number.
    pub fn sizes(&self) -> Outcome<Sizes> {
        if !self.ages() {
            return Ok(Sizes { mass: 1.0, length: 1.0, time: 1.0 });
        }
        let (mass, length) = (self.unit_of_mass, self.unit_of_length);
        for (name, size, unit) in [("unit_of_mass", mass, "solar masses"), ("unit_of_length", length, "parsecs")] {
            if !(size.is_finite() && size > 0.0) {
                return Err(Failure(format!(
                    "{name} is {size}: stars that age need the size of the N-body units, in {unit}: make the code with a converter"
                )));
            }
        }
        let (length_cgs, gm_cgs) = (length * PC_CGS, mass * GM_SUN_CGS);
        Ok(Sizes { mass, length, time: (length_cgs * length_cgs * length_cgs / gm_cgs).sqrt() / (1e6 * YEAR_CGS) })
    }

    /// Returns the configuration that the parameters give for a simulation that starts at a time, in TOML and without
    /// `[initial]`. Values are checked by who reads it.
    ///
    /// # Errors
    /// If there is no such integrator, the law or the section on stars is not TOML, or the units have no size where stars age.
    pub fn configuration(&self, time: f64) -> Outcome<String> {
        let sizes = self.sizes()?;
        let (time, dt_max) = (time * sizes.time, self.dt_max * sizes.time);
        let section = |keys: Vec<(&str, Value)>| {
            Value::Table(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Table>())
        };
        let text = |text: &str| Value::String(text.to_owned());
        let (name, mut scheme) = self.scheme(dt_max)?;
        if name != "leapfrog" {
            scheme.push(("dt_max", Value::Float(dt_max)));
            scheme.push(("on_dt_min", text(&self.on_dt_min)));
            let min = dt_max / f64::from(LOG2_TICKS_PER_DT_MAX).exp2();
            scheme.push(("dt_min", Value::Float(if self.dt_min == 0.0 { min } else { self.dt_min * sizes.time })));
        }
        let mut force = vec![
            ("engine", text(&self.engine)),
            ("device", Value::Integer(self.device.into())),
            ("threads", Value::Integer(self.threads.into())),
        ];
        if self.precision != "auto" {
            force.push(("precision", text(&self.precision)));
        }
        let table = |name: &str, text: &str| {
            let parsed = text.parse::<Table>();
            parsed.map(Value::Table).map_err(|error| Failure(format!("{name}: {}", error.message())))
        };
        if !self.law.trim().is_empty() {
            if self.ages() {
                let problem = "law: its numbers are in N-body units, and stars that age are integrated in Msun, pc and Myr: one of the two only";
                return Err(Failure(problem.to_owned()));
            }
            force.push(("law", table("law", &self.law)?));
        }
        // Nothing ends at the end, which every configuration has.
        let end = ("t_end", Value::Float(time + dt_max.abs()));
        let run = section(vec![("name", text("amuse")), ("t_start", Value::Float(time)), end]);
        let softening = section(vec![("epsilon", Value::Float(self.epsilon_squared.sqrt() * sizes.length))]);
        let integrator = section(vec![(name, section(scheme))]);
        let mut sections =
            vec![("run", run), ("softening", softening), ("integrator", integrator), ("force", section(force))];
        if self.ages() {
            let units = [("mass", "Msun"), ("length", "pc"), ("time", "Myr")].map(|(of, unit)| (of, text(unit)));
            sections.push(("units", section(units.to_vec())));
            sections.push(("stellar_evolution", table("stellar_evolution", &self.stellar_evolution)?));
        }
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
    fn scheme(&self, dt_max: f64) -> Outcome<(&'static str, Vec<(&'static str, Value)>)> {
        Ok(match self.integrator.as_str() {
            "leapfrog" => ("leapfrog", vec![("dt", Value::Float(dt_max))]),
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
