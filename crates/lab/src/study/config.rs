//! Sweep of a study, as one TOML file. The documentation of each key is also its text in the resolved file.

mod checks;
mod convergence;
mod time_span;

pub use checks::{LEFT_OUT, left_out};
pub use convergence::{ConvergenceFile, ConvergenceSweep, Moments, tolerance};
pub use time_span::TimeSpan;

use super::integrators::Integrator;
use checks::{Axes, check_integrators, check_law, once};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tisane::error::Result;
use tisane::force::canonical::BAG;
use tisane::force::precision::Precision;
use tisane_run::config::real;
use tisane_run::config::{
    Engine, LawSection, MAX_DEVICE, MAX_THREADS, Problem, Real, above, at_least, commented, read,
};

/// File of a study: read, checked and written like the configuration of a run.
pub trait StudyFile: Default + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// Commented file to start from: `configs/studies/`.
    const TEMPLATE: &'static str;

    /// Returns the problems of its values.
    fn problems(&self) -> Vec<Problem>;

    /// Reads one from text, with overrides on top. `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`tisane::Error::Config`] for every mistake, at file, line and key.
    fn from_text(name: &str, text: &str, sets: &[String]) -> Result<Self> {
        read::<Self>((name, text), sets, Self::problems).map(|(file, _)| file)
    }

    /// Returns the file with every default written out.
    ///
    /// # Errors
    /// As [`commented`].
    fn resolved(&self) -> Result<String> {
        commented(self, "Every parameter of the study, defaults written out.")
    }
}

/// Study of the error of forces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceFile {
    /// Sweep of `tisane study force`.
    #[serde(default)]
    pub force: ForceSweep,
}

/// Study of the error of the energy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnergyFile {
    /// Sweep of `tisane study energy`.
    #[serde(default)]
    pub energy: EnergySweep,
}

/// Study of wall time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostFile {
    /// Sweep of `tisane study cost`.
    #[serde(default)]
    pub cost: CostSweep,
}

/// Sweep of `tisane study force`: forces on Plummer spheres against f64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForceSweep {
    /// Numbers of particles.
    #[schemars(length(min = 1), inner(range(min = 2)))]
    pub n: Vec<u32>,
    /// Precision modes.
    #[schemars(length(min = 1))]
    pub modes: Vec<Precision>,
    /// Force engines: cpu, cuda or reference.
    #[schemars(length(min = 1))]
    pub engines: Vec<Engine>,
    /// Number of the GPU of the engine cuda.
    #[schemars(range(max = MAX_DEVICE))]
    pub device: u32,
    /// Numbers of sources in a bag. The engines have 64; other sizes are always summed by the reference engine.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub bags: Vec<u32>,
    /// Numbers of particles for bags other than 64, among those of n. Default: the largest up to 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 2)))]
    pub n_of_bags: Option<Vec<u32>>,
    /// Plummer softening length.
    pub epsilon: Real,
    /// Seeds of the Plummer spheres.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u64>,
    /// Largest number of particles on which forces are compared, spread over all; 0 for all.
    pub targets: u32,
    /// Number of threads; 0 for one per core. The errors do not depend on it.
    #[schemars(range(max = MAX_THREADS))]
    pub threads: u32,
    /// Law of the force between two particles in place of Newton's: a ready one by its name, or a formula. Default: Newton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSection>,
}

impl Default for ForceSweep {
    fn default() -> Self {
        Self {
            n: vec![256, 512, 1024, 2048, 4096, 8192, 16384],
            modes: Precision::ALL.into_iter().filter(|mode| !mode.in_f64()).collect(),
            engines: vec![Engine::Cpu],
            device: 0,
            bags: vec![1, 4, 16, 64, 256, 1024],
            n_of_bags: None,
            epsilon: real!(0.1),
            seeds: vec![1],
            targets: 0,
            threads: 0,
            law: None,
        }
    }
}

impl ForceSweep {
    /// Returns the numbers of particles for bags other than 64.
    #[must_use]
    pub fn n_of_bags(&self) -> Vec<u32> {
        let largest = || self.n.iter().copied().filter(|n| *n <= 4096).max().into_iter().collect();
        self.n_of_bags.clone().unwrap_or_else(largest)
    }
}

/// Sweep of `tisane study energy`: energy errors of Plummer spheres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnergySweep {
    /// Numbers of particles.
    #[schemars(length(min = 1), inner(range(min = 2)))]
    pub n: Vec<u32>,
    /// Precision modes.
    #[schemars(length(min = 1))]
    pub modes: Vec<Precision>,
    /// Force engines: cpu, cuda or reference.
    #[schemars(length(min = 1))]
    pub engines: Vec<Engine>,
    /// Number of the GPU of the engine cuda.
    #[schemars(range(max = MAX_DEVICE))]
    pub device: u32,
    /// Integrators: hermite4, multipoint6, multipoint8 or ahmad_cohen6. Order 8 is left out in modes that are not f64.
    #[schemars(length(min = 1))]
    pub integrators: Vec<Integrator>,
    /// Accuracies of the time step of hermite4.
    #[schemars(length(min = 1))]
    pub nu: Vec<Real>,
    /// Accuracies of the time step of multipoint6, multipoint8 and ahmad_cohen6.
    #[schemars(length(min = 1))]
    pub eta: Vec<Real>,
    /// Seeds of the Plummer spheres: the error of a single one may be small by chance.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u64>,
    /// Energy errors to be reached, for the table of the cheapest integrators, modes and accuracies that reach them.
    pub goals: Vec<Real>,
    /// Number of threads of each point; 0 for one per core. The errors do not depend on it, the wall time does.
    #[schemars(range(max = MAX_THREADS))]
    pub threads: u32,
    /// Number of points measured at the same time: on the CPU any, with the engine cuda those that differ in the seed alone. Above 1 they disturb each other, and no wall time is kept.
    #[schemars(range(min = 1, max = MAX_THREADS))]
    pub at_once: u32,
    /// Span of time that is measured, with softening and steps.
    pub stretch: TimeSpan,
    /// Law of the force between two particles in place of Newton's: a ready one by its name, or a formula. Default: Newton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSection>,
}

impl Default for EnergySweep {
    fn default() -> Self {
        Self {
            n: vec![1024],
            modes: Precision::ALL.into_iter().filter(|mode| mode.on_cpu() == *mode).collect(),
            engines: vec![Engine::Cpu],
            device: 0,
            integrators: vec![Integrator::default()],
            nu: vec![
                real!(0.1),
                real!(0.1 / 2.0),
                real!(0.1 / 4.0),
                real!(0.1 / 8.0),
                real!(0.1 / 16.0),
                real!(0.1 / 32.0),
                real!(0.1 / 64.0),
                real!(0.1 / 128.0),
                real!(0.1 / 256.0),
            ],
            eta: vec![real!(0.5), real!(0.35), real!(0.25), real!(0.18), real!(0.13), real!(0.09), real!(0.06)],
            seeds: vec![1, 2, 3],
            goals: vec![real!(1e-6), real!(1e-7), real!(1e-8), real!(1e-9), real!(1e-10), real!(1e-11)],
            threads: 1,
            at_once: 1,
            stretch: TimeSpan::default(),
            law: None,
        }
    }
}

/// Sweep of `tisane study cost`: wall time of Plummer spheres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CostSweep {
    /// Numbers of particles.
    #[schemars(length(min = 1), inner(range(min = 2)))]
    pub n: Vec<u32>,
    /// Precision modes.
    #[schemars(length(min = 1))]
    pub modes: Vec<Precision>,
    /// Force engines: cpu, cuda or reference.
    #[schemars(length(min = 1))]
    pub engines: Vec<Engine>,
    /// Number of the GPU of the engine cuda.
    #[schemars(range(max = MAX_DEVICE))]
    pub device: u32,
    /// Integrators: hermite4, multipoint6, multipoint8 or ahmad_cohen6. Order 8 is left out in modes that are not f64.
    #[schemars(length(min = 1))]
    pub integrators: Vec<Integrator>,
    /// Accuracy of the time step of hermite4.
    pub nu: Real,
    /// Accuracy of the time step of multipoint6, multipoint8 and ahmad_cohen6.
    pub eta: Real,
    /// Seeds of the Plummer spheres.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u64>,
    /// Number of measurements of each point, of which the fastest counts.
    #[schemars(range(min = 1, max = 1000))]
    pub repeat: u32,
    /// Number of threads; 0 for one per core.
    #[schemars(range(max = MAX_THREADS))]
    pub threads: u32,
    /// Span of time that is measured, with softening and steps.
    pub stretch: TimeSpan,
}

impl Default for CostSweep {
    fn default() -> Self {
        Self {
            n: vec![256, 512, 1024, 2048, 4096],
            modes: vec![Precision::F64, Precision::Mixed],
            engines: vec![Engine::Cpu],
            device: 0,
            integrators: vec![Integrator::default()],
            nu: real!(0.01),
            eta: real!(0.35),
            seeds: vec![1],
            repeat: 3,
            threads: 0,
            stretch: TimeSpan::default(),
        }
    }
}

impl StudyFile for ForceFile {
    const TEMPLATE: &'static str = include_str!("../../../../configs/studies/force.toml");

    fn problems(&self) -> Vec<Problem> {
        let it = &self.force;
        let axes = Axes { section: "force", n: &it.n, modes: &it.modes, engines: &it.engines, seeds: &it.seeds };
        let mut found = axes.problems();
        at_least(&mut found, "force.epsilon", Some(it.epsilon), 0.0);
        once("force.bags", &it.bags, &mut found);
        if let Some(n) = it.n_of_bags().iter().find(|n| !it.n.contains(n)) {
            found.push(Problem::new("force.n_of_bags", format!("expected numbers among those of n, found {n}")));
        }
        if !it.bags.contains(&(BAG as u32)) && it.n_of_bags().is_empty() {
            let problem =
                format!("expected {BAG} among them, or numbers of particles in n_of_bags: else there is nothing to do");
            found.push(Problem::new("force.bags", problem));
        }
        check_law("force.law", it.law.as_ref(), &mut found);
        found
    }
}

impl StudyFile for EnergyFile {
    const TEMPLATE: &'static str = include_str!("../../../../configs/studies/energy.toml");

    fn problems(&self) -> Vec<Problem> {
        let it = &self.energy;
        let axes = Axes { section: "energy", n: &it.n, modes: &it.modes, engines: &it.engines, seeds: &it.seeds };
        let mut found = axes.problems();
        it.goals.iter().for_each(|value| above(&mut found, "energy.goals", Some(*value), 0.0));
        once("energy.goals", &it.goals, &mut found);
        check_integrators("energy", &it.integrators, &it.modes, (&it.nu, &it.eta), &mut found);
        it.stretch.check("energy", &mut found);
        let law = check_law("energy.law", it.law.as_ref(), &mut found);
        if law.as_ref().is_some_and(|law| !law.has_potential()) {
            let problem = "this law has no potential: there is no energy, and no energy error to study";
            found.push(Problem::new("energy.law", problem));
        }
        if law.is_some() && it.integrators.iter().any(|it| it.needs_lists()) {
            let problem = "the neighbour scheme knows Newton's law only: expected others with [energy.law]";
            found.push(Problem::new("energy.integrators", problem));
        }
        found
    }
}

impl StudyFile for CostFile {
    const TEMPLATE: &'static str = include_str!("../../../../configs/studies/cost.toml");

    fn problems(&self) -> Vec<Problem> {
        let it = &self.cost;
        let axes = Axes { section: "cost", n: &it.n, modes: &it.modes, engines: &it.engines, seeds: &it.seeds };
        let mut found = axes.problems();
        check_integrators("cost", &it.integrators, &it.modes, (&[it.nu], &[it.eta]), &mut found);
        it.stretch.check("cost", &mut found);
        found
    }
}

impl StudyFile for ConvergenceFile {
    const TEMPLATE: &'static str = include_str!("../../../../configs/studies/convergence.toml");

    fn problems(&self) -> Vec<Problem> {
        self.convergence.problems()
    }
}
