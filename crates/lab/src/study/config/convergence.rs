//! Sweep of `tisane study convergence`.

use super::checks::{Axes, check_integrators, once};
use crate::study::integrators::Integrator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tisane::force::precision::Precision;
use tisane::integrator::extrapolated::{BITS, ExtrapolatedSettings};
use tisane_run::config::{Engine, MAX_THREADS, Problem, Real, above, at_least, real, whole_multiple};

/// Longest step: intervals that are longer are divided into steps.
const LONGEST_STEP: f64 = 0.125;
/// Shortest interval, latest end and largest number of moments: their states are all kept.
const SHORTEST_INTERVAL: f64 = 1e-6;
const LATEST_END: f64 = 1000.0;
const MAX_MOMENTS: u64 = 10_000;
/// Range of the tolerances of triples.
const LEAST_TOLERANCE: f64 = 1e-240;
const MAX_TOLERANCE: f64 = 1e-6;
/// Digits of a tolerance that the largest number of bits leaves room for.
const MAX_DIGITS: u32 = 248;

/// Study of converged solutions, and of how runs diverge from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceFile {
    /// Sweep of `tisane study convergence`.
    #[serde(default)]
    pub convergence: ConvergenceSweep,
}

/// Sweep of `tisane study convergence`: converged solutions of Plummer spheres, and the divergence of runs from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConvergenceSweep {
    /// Numbers of particles.
    #[schemars(length(min = 1), inner(range(min = 2, max = 256)))]
    pub n: Vec<u32>,
    /// Seeds of the Plummer spheres.
    #[schemars(length(min = 1))]
    pub seeds: Vec<u64>,
    /// Plummer softening length.
    pub epsilon: Real,
    /// Time at which the solutions end; a multiple of interval.
    pub t_end: Real,
    /// Time between the moments at which solutions and runs are compared. The longest step is this over a power of two, at most 1/8.
    pub interval: Real,
    /// Decimal digits to which two solutions must agree at every moment, in parts of the half-mass radius and of the rms speed.
    #[schemars(range(min = 1, max = 15))]
    pub digits: u32,
    /// Largest number of bits of a solution: 106, 192, 256, 384, 512 or 1024. Where more would be needed, the solution is converged to an earlier time.
    #[schemars(extend("enum" = [106, 192, 256, 384, 512, 1024]))]
    pub max_bits: u32,
    /// Integrators that are compared with the solutions: hermite4, multipoint6, multipoint8 or ahmad_cohen6. Order 8 is left out in modes that are not f64.
    #[schemars(length(min = 1))]
    pub integrators: Vec<Integrator>,
    /// Precision modes.
    #[schemars(length(min = 1))]
    pub modes: Vec<Precision>,
    /// Accuracies of the time step of hermite4.
    #[schemars(length(min = 1))]
    pub nu: Vec<Real>,
    /// Accuracies of the time step of multipoint6, multipoint8 and ahmad_cohen6.
    #[schemars(length(min = 1))]
    pub eta: Vec<Real>,
    /// Rms distance of the particles from the solution, in half-mass radii, at which a run has diverged.
    pub threshold: Real,
    /// Number of members of the ensembles that show the bias of averages, with the seeds 1, 2, 3, …; 0 for none.
    #[schemars(range(max = 100_000))]
    pub ensemble: u32,
    /// Number of free-fall triples that are integrated until one body escapes, and back, for the share that returns; 0 for none, otherwise at least 2.
    #[schemars(range(max = 100_000))]
    pub triples: u32,
    /// Tolerances of the solutions of these triples, at most 1e-6.
    #[schemars(length(min = 1))]
    pub tolerances: Vec<Real>,
    /// Number of points measured at the same time. The results do not depend on it.
    #[schemars(range(min = 1, max = MAX_THREADS))]
    pub at_once: u32,
}

impl Default for ConvergenceSweep {
    fn default() -> Self {
        Self {
            n: vec![16, 64],
            seeds: vec![1, 2, 3],
            epsilon: real!(1.0 / 256.0),
            t_end: real!(20.0),
            interval: real!(0.125),
            digits: 4,
            max_bits: 106,
            integrators: ["hermite4", "multipoint6", "multipoint8"].into_iter().filter_map(Integrator::named).collect(),
            modes: vec![Precision::F64, Precision::Mixed, Precision::DoubleFloat],
            nu: vec![real!(0.01), real!(1e-3), real!(1e-4), real!(1e-5)],
            eta: vec![real!(0.35), real!(0.1), real!(0.05), real!(0.0125)],
            threshold: real!(0.01),
            ensemble: 0,
            triples: 0,
            tolerances: vec![real!(1e-8), real!(1e-11), real!(1e-14), real!(1e-17), real!(1e-20)],
            at_once: 1,
        }
    }
}

/// Moments at which a system is compared, as steps of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Time between them.
    pub interval: f64,
    /// Number of them, without the start.
    pub count: usize,
    /// Longest step.
    pub dt_max: f64,
    /// Number of longest steps between them.
    pub steps: u64,
}

impl ConvergenceSweep {
    /// Returns the moments at which solutions and runs are compared.
    #[must_use]
    pub fn moments(&self) -> Moments {
        let interval = self.interval.get();
        let mut steps = 1;
        while interval / steps as f64 > LONGEST_STEP {
            steps *= 2;
        }
        let count = whole_multiple(self.t_end.get(), interval).unwrap_or(0) as usize;
        Moments { interval, count, dt_max: interval / steps as f64, steps }
    }

    /// Returns the number of bits of a solution whose tolerance has this many decimal digits; [`None`] if more are needed than
    /// allowed.
    #[must_use]
    pub fn bits(&self, digits: u32) -> Option<u32> {
        let bits = ExtrapolatedSettings::new(tolerance(digits)?, self.interval).bits();
        (bits <= self.max_bits && digits <= MAX_DIGITS).then_some(bits)
    }
}

/// Returns the tolerance of a solution, 10^-digits.
pub fn tolerance(digits: u32) -> Option<Real> {
    format!("1e-{digits}").parse().ok().and_then(Real::new)
}

impl ConvergenceSweep {
    /// Returns the problems of its values.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let it = self;
        let engines = [Engine::Cpu];
        let axes = Axes { section: "convergence", n: &it.n, modes: &it.modes, engines: &engines, seeds: &it.seeds };
        let mut found = axes.problems();
        check_integrators("convergence", &it.integrators, &it.modes, (&it.nu, &it.eta), &mut found);
        once("convergence.seeds", &it.seeds, &mut found);
        at_least(&mut found, "convergence.epsilon", Some(it.epsilon), 0.0);
        above(&mut found, "convergence.threshold", Some(it.threshold), 0.0);
        if it.threshold.get() > 0.0 && it.threshold.get() <= 10f64.powi(-(it.digits as i32)) {
            let problem = format!(
                "expected more than 10^-{} half-mass radii, to which the solutions are right by `digits`, found {}",
                it.digits, it.threshold
            );
            found.push(Problem::new("convergence.threshold", problem));
        }
        if !BITS.contains(&it.max_bits) {
            let names = BITS.map(|bits| bits.to_string()).join(", ");
            let problem = format!("expected one of {names}, found {}", it.max_bits);
            found.push(Problem::new("convergence.max_bits", problem));
        }
        once("convergence.tolerances", &it.tolerances, &mut found);
        if let Some(wrong) = it.tolerances.iter().find(|it| !(LEAST_TOLERANCE..=MAX_TOLERANCE).contains(&it.get())) {
            let problem = format!("expected {LEAST_TOLERANCE:e} to {MAX_TOLERANCE:e}, found {wrong}");
            found.push(Problem::new("convergence.tolerances", problem));
        }
        if it.ensemble == 1 {
            let problem = "a single member has no standard error: expected 0 for none, or at least 2";
            found.push(Problem::new("convergence.ensemble", problem));
        }
        if it.triples == 1 {
            let problem = "the share of a single triple has no standard error: expected 0 for none, or at least 2";
            found.push(Problem::new("convergence.triples", problem));
        }
        at_least(&mut found, "convergence.interval", Some(it.interval), SHORTEST_INTERVAL);
        above(&mut found, "convergence.t_end", Some(it.t_end), 0.0);
        let (interval, t_end) = (it.interval.get(), it.t_end.get());
        if interval < SHORTEST_INTERVAL || t_end <= 0.0 {
            return found;
        }
        match whole_multiple(t_end, interval) {
            _ if t_end > LATEST_END => {
                let problem = format!("expected at most {LATEST_END}, found {}", it.t_end);
                found.push(Problem::new("convergence.t_end", problem));
            }
            None => {
                let problem = format!("{} is not a whole multiple of interval = {}", it.t_end, it.interval);
                found.push(Problem::new("convergence.t_end", problem));
            }
            Some(moments) if moments > MAX_MOMENTS => {
                let problem = format!("expected at most {MAX_MOMENTS} moments up to t_end, found {moments}");
                found.push(Problem::new("convergence.interval", problem));
            }
            Some(_) => {}
        }
        found
    }
}
