//! The performance model of PZ section 5 (eqs 10–17), fitted to a machine, and what it says about a run before it starts.
//!
//! A block step of n particles among N takes t = t_host + t_force + t_comm (eq. 10). The paper has t_host = t_pred N + t_corr n
//! (eqs 11, 12), t_force = t_pair N n (eq. 15) and t_comm proportional to the particles sent (eq. 13). Here the engine predicts its
//! sources, so the term in N is measured inside it; and each part has a constant: what starting a step and an evaluation takes.
//! Host and engine are timed apart, so the two terms in n, correction and communication, do not mix.
//!
//! Where a GPU takes whole block steps there is no part of the host, and the same terms have other values: a fit says
//! what took its steps. The steps of many systems at once have the times of a GPU that is full of them.

use super::cost::row::Row;
use super::fit;
use super::integrators::Integrator;
use super::journal::Stamp;
use super::trial::Group;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane_io::atomic::write_atomically;
use tisane_run::config::{Problem, commented, read, read_text};

/// Variable that names the file of the model.
pub const VARIABLE: &str = "TISANE_MODEL";

/// Fitted parameters of a machine: the file of `tisane bench model`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Fits, one for each engine, mode, integrator and number of threads.
    #[serde(default)]
    pub fit: Vec<Fit>,
}

/// What takes the block steps that a fit is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepsBy {
    /// The host, with the engine's forces.
    #[default]
    Host,
    /// A GPU by itself.
    Device,
    /// A GPU, those of many systems at once: the times are its time for a step of any of them.
    Together,
}

impl StepsBy {
    /// Returns the name in files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Device => "device",
            Self::Together => "together",
        }
    }
}

/// Fit of an engine in a mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Engine, with what it computes on.
    pub engine: String,
    /// Precision mode.
    pub mode: Precision,
    /// Integrator that took the steps.
    #[serde(default)]
    pub integrator: Integrator,
    /// What took the steps.
    #[serde(default)]
    pub steps_by: StepsBy,
    /// Number of threads.
    pub threads: u32,
    /// Name of the machine.
    pub host: String,
    /// Processor of the machine.
    pub processor: String,
    /// Commit of tisane.
    pub git_commit: String,
    /// Time of the fit: UTC, RFC 3339.
    pub created: String,
    /// Least N measured.
    pub n_least: u32,
    /// Largest N measured.
    pub n_most: u32,
    /// Seconds of the host for a block step.
    pub host_step: f64,
    /// Seconds of the host for a block step and particle of the system.
    pub host_source: f64,
    /// Seconds of the host for a particle of the block (eq. 12).
    pub host_target: f64,
    /// Seconds of the engine for an evaluation.
    pub force_step: f64,
    /// Seconds of the engine for a source: its prediction (eq. 11).
    pub force_source: f64,
    /// Seconds of the engine for a target: communication (eq. 13).
    pub force_target: f64,
    /// Seconds of the engine for a pair (eq. 15).
    pub force_pair: f64,
    /// Root mean square of ln(measured / model) over the spheres.
    pub scatter: f64,
    /// Ratio of the steps to sqrt(nu) |a| / |jerk| at the start, before they are rounded down to a power of two. For
    /// eta, nu is the one by which Aarseth's criterion has steps of about the same length.
    pub step_factor: f64,
    /// Root mean square of ln(measured / predicted), where the wall time is predicted from the particles alone.
    pub prediction_scatter: f64,
}

impl Fit {
    /// Names and meanings of [`Self::parameters`].
    pub const PARAMETERS: [(&'static str, &'static str); 7] = [
        ("host_step", "host, for a block step"),
        ("host_source", "host, for a block step and particle of the system"),
        ("host_target", "host, for a particle of the block (eq. 12)"),
        ("force_step", "engine, for an evaluation"),
        ("force_source", "engine, for a source: its prediction (eq. 11)"),
        ("force_target", "engine, for a target: communication (eq. 13)"),
        ("force_pair", "engine, for a pair (eq. 15)"),
    ];

    /// Returns true if two fits are of the same engine, mode, threads and machine.
    fn is_of_place(&self, other: &Self) -> bool {
        let place = |it: &Self| (it.engine.clone(), it.mode, it.threads, it.host.clone());
        place(self) == place(other)
    }

    /// The parameters of the model, in s.
    #[must_use]
    pub const fn parameters(&self) -> [f64; 7] {
        [
            self.host_step,
            self.host_source,
            self.host_target,
            self.force_step,
            self.force_source,
            self.force_target,
            self.force_pair,
        ]
    }

    /// Seconds of a block step of `block` particles among `n` (eq. 10).
    #[must_use]
    pub fn step(&self, n: f64, block: f64) -> f64 {
        self.host_step
            + self.host_source * n
            + self.host_target * block
            + self.force_step
            + self.force_source * n
            + self.force_target * block
            + self.force_pair * n * block
    }

    /// Seconds of counted block steps among `n` particles: the model is linear, so their mean size serves.
    #[must_use]
    pub fn seconds_of(&self, n: f64, groups: &[Group]) -> f64 {
        let of = |group: &Group| {
            let steps = group.block_steps as f64;
            if steps > 0.0 { steps * self.step(n, group.particle_steps as f64 / steps) } else { 0.0 }
        };
        groups.iter().map(of).sum()
    }

    /// Fits the model to spheres of one engine and mode, whose steps the same took. Every group of block steps of like size counts by its share in the wall
    /// time of its sphere.
    ///
    /// # Errors
    /// [`Error::Input`] if there is nothing to fit.
    pub fn from_rows(rows: &[Row]) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::input("the performance model", "there are no measurements to fit it to"));
        };
        let (mut host, mut force) = (Vec::new(), Vec::new());
        for row in rows {
            let n = f64::from(row.key.n);
            for group in row.best.groups.iter().filter(|group| group.block_steps > 0) {
                let steps = group.block_steps as f64;
                let block = group.particle_steps as f64 / steps;
                let weight = steps / row.best.seconds;
                host.push(([1.0, n, block].map(|x| x * weight), weight * group.host / steps));
                force.push(([1.0, n, block, n * block].map(|x| x * weight), weight * group.force / steps));
            }
        }
        let [host_step, host_source, host_target] = fit::nonnegative(&host);
        let [force_step, force_source, force_target, force_pair] = fit::nonnegative(&force);
        let stamp = Stamp::now("model");
        let mut fit = Self {
            engine: first.key.engine.clone(),
            mode: first.key.mode,
            integrator: first.key.integrator,
            steps_by: if first.best.steps_on_device { StepsBy::Device } else { StepsBy::Host },
            threads: first.key.threads as u32,
            host: stamp.host,
            processor: stamp.processor,
            git_commit: stamp.git_commit,
            created: stamp.created,
            n_least: rows.iter().map(|row| row.key.n).min().unwrap_or_default(),
            n_most: rows.iter().map(|row| row.key.n).max().unwrap_or_default(),
            host_step,
            host_source,
            host_target,
            force_step,
            force_source,
            force_target,
            force_pair,
            ..Self::default()
        };
        let misfit = |row: &Row| (row.best.seconds / fit.seconds_of(f64::from(row.key.n), &row.best.groups)).ln();
        fit.scatter = (rows.iter().map(|row| misfit(row).powi(2)).sum::<f64>() / rows.len() as f64).sqrt();
        Ok(fit)
    }

    /// Fits the model to systems whose steps a GPU takes together: for each size N the mean block, and the time of the
    /// GPU for a step of any system, in s. All else is that of `alone`, the fit of a single system on the GPU.
    #[must_use]
    pub fn together(alone: &Self, sizes: &[(u32, f64, f64)]) -> Self {
        let row = |&(n, block, seconds): &(u32, f64, f64)| {
            let n = f64::from(n);
            ([1.0, n, block, n * block].map(|x| x / seconds), 1.0)
        };
        let rows: Vec<_> = sizes.iter().map(row).collect();
        let [force_step, force_source, force_target, force_pair] = fit::nonnegative(&rows);
        let mut fit = Self {
            steps_by: StepsBy::Together,
            n_least: sizes.iter().map(|(n, ..)| *n).min().unwrap_or_default(),
            n_most: sizes.iter().map(|(n, ..)| *n).max().unwrap_or_default(),
            host_step: 0.0,
            host_source: 0.0,
            host_target: 0.0,
            force_step,
            force_source,
            force_target,
            force_pair,
            ..alone.clone()
        };
        let misfit = |(n, block, seconds): &(u32, f64, f64)| (seconds / fit.step(f64::from(*n), *block)).ln().powi(2);
        fit.scatter = (sizes.iter().map(misfit).sum::<f64>() / sizes.len() as f64).sqrt();
        fit
    }
}

impl Model {
    /// The user's file: `TISANE_MODEL`, else `tisane/model.toml` in `XDG_CONFIG_HOME` or `~/.config`.
    #[must_use]
    pub fn path() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let config = || set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
        set(VARIABLE).or_else(|| Some(config()?.join("tisane").join("model.toml")))
    }

    /// Reads a model; [`None`] if there is no such file.
    ///
    /// # Errors
    /// [`Error::Input`] or [`Error::Config`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(path)?;
        Ok(Some(read::<Self>((&path.display().to_string(), &text), &[], Self::problems)?.0))
    }

    /// Constants that no measurement gives.
    fn problems(&self) -> Vec<Problem> {
        let wrong = |fit: &Fit| {
            let negative = Fit::PARAMETERS.into_iter().zip(fit.parameters()).find(|(_, value)| *value < 0.0);
            match negative {
                Some(((name, _), value)) => {
                    Some(Problem::new(format!("fit.{name}"), format!("expected a time of at least 0, found {value:e}")))
                }
                None if fit.step_factor <= 0.0 => {
                    let problem = format!("expected a number above 0, found {}", fit.step_factor);
                    Some(Problem::new("fit.step_factor", problem))
                }
                None => None,
            }
        };
        self.fit.iter().filter_map(wrong).collect()
    }

    /// Returns the fits for runs with an integrator whose steps something takes: those that were measured with it, and
    /// elsewhere those of the Hermite scheme, whose forces are the same.
    #[must_use]
    pub fn fits_for(&self, integrator: Integrator, steps_by: StepsBy) -> Vec<&Fit> {
        let of =
            |integrator| self.fit.iter().filter(move |fit| (fit.integrator, fit.steps_by) == (integrator, steps_by));
        let measured: Vec<&Fit> = of(integrator).collect();
        let without = |fit: &&Fit| !measured.iter().any(|it| it.is_of_place(fit));
        let others = of(Integrator::default());
        let others: Vec<&Fit> = others.filter(without).collect();
        measured.into_iter().chain(others).collect()
    }

    /// Writes it, its folder too.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = commented(self, "Performance model of tisane on this machine: `tisane bench model`. Times in s.")?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| Error::storage(folder, e))?;
        }
        write_atomically(path, |path| std::fs::write(path, &text).map_err(|e| Error::storage(path, e)))
    }

    /// Adds other fits, and replaces those of the same engine, mode, integrator, threads and machine with steps by the
    /// same.
    pub fn merge(&mut self, newer: Self) {
        for fit in newer.fit {
            let kind = |it: &Fit| (it.integrator, it.steps_by);
            self.fit.retain(|old| !(old.is_of_place(&fit) && kind(old) == kind(&fit)));
            self.fit.push(fit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::trial::Measured;
    use crate::study::trials::Key;

    /// Rows of a table in the folder of the GPU's measurements, the first after the text `after`: the first `K` numbers.
    fn rows<const K: usize>(file: &str, after: &str) -> Vec<[f64; K]> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/performance/cuda").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let numbers = |line: &str| -> Option<[f64; K]> {
            let numbers = line.split_whitespace().map_while(|word| word.parse().ok()).take(K);
            numbers.collect::<Vec<_>>().try_into().ok()
        };
        let lines = text.lines().skip_while(|line| !line.contains(after));
        let found: Vec<_> = lines.map(numbers).skip_while(Option::is_none).map_while(|row| row).collect();
        assert!(found.len() >= 5, "{file}: {after}");
        found
    }

    /// The sphere of a line of `tisane bench run`, with whole block steps on the device: N, ν, seconds, block steps in a
    /// time unit, their law, mean block.
    fn row([n, nu, seconds, steps, _, block]: [f64; 6]) -> Row {
        let key = Key {
            n: n as u32,
            seed: 1,
            engine: "cuda".into(),
            mode: Precision::Mixed,
            integrator: Integrator::named("hermite4").unwrap(),
            accuracy: nu,
            epsilon: 1.0 / 256.0,
            dt_max: 0.125,
            dt_min: 0.5f64.powi(26),
            span: [0.25, 0.5],
            threads: 16,
            repetition: Some(0),
            law: None,
        };
        let block_steps = (0.25 * steps) as u64;
        let particle_steps = (block * block_steps as f64) as u64;
        let group = Group { block_steps, particle_steps, host: 0.0, force: seconds };
        let groups = vec![group];
        let best = Measured { seconds, span: 0.25, block_steps, particle_steps, groups, ..Measured::default() };
        let best = Measured { steps_on_device: true, ..best };
        Row { key, best, modelled: f64::NAN, from_n: f64::NAN, targets_share: f64::NAN }
    }

    /// A step of one H200 takes microseconds, and a pair what the kernel's loop needs.
    #[test]
    fn the_model_is_that_of_steps_on_a_device() {
        for (mode, pair) in [("mixed, 16", 1.55e-12), ("f64, 16", 2.9e-12)] {
            let rows: Vec<Row> = rows("steps.txt", &format!("device 0), {mode}")).into_iter().map(row).collect();
            let fit = Fit::from_rows(&rows).unwrap();
            assert_eq!((fit.steps_by, fit.host_step), (StepsBy::Device, 0.0));
            assert!((2e-6..6e-6).contains(&fit.force_step), "{mode}: {:e}", fit.force_step);
            assert!((fit.force_pair / pair).ln().abs() < 0.5, "{mode}: {:e}", fit.force_pair);
            assert!(fit.scatter < 0.1, "{mode}: {:?}, {}", fit.parameters(), fit.scatter);
        }
    }

    #[test]
    fn the_model_is_that_of_many_systems_at_once() {
        let alone = Fit { engine: "cuda".into(), step_factor: 0.5, host_step: 1.0, ..Fit::default() };
        for (mode, pair) in [("--precision mixed", 2.7e-12), ("--precision f64", 4.0e-12)] {
            let size = |[n, _, steps, block, _, seconds]: [f64; 6]| (n as u32, block, seconds / steps);
            let sizes: Vec<_> = rows("systems.txt", mode).into_iter().map(size).collect();
            let fit = Fit::together(&alone, &sizes);
            assert_eq!((fit.steps_by, fit.n_least, fit.n_most), (StepsBy::Together, 64, 1024));
            assert!((fit.force_pair / pair).ln().abs() < 0.5, "{mode}: {:e}", fit.force_pair);
            assert!(fit.scatter < 0.15 && fit.host_step == 0.0, "{mode}: {:?}, {}", fit.parameters(), fit.scatter);
        }
    }

    /// The multi-point scheme has the forces of the Hermite scheme, but its steps are the host's.
    #[test]
    fn whole_steps_on_a_device_say_nothing_of_those_of_the_host() {
        let by = |steps_by| Fit { steps_by, threads: 1, ..Fit::default() };
        let mut model = Model { fit: vec![by(StepsBy::Device), by(StepsBy::Together)] };
        assert!(model.fits_for(Integrator::named("multipoint6").unwrap(), StepsBy::Host).is_empty());
        assert!(model.fits_for(Integrator::named("hermite4").unwrap(), StepsBy::Host).is_empty());
        assert_eq!(model.fits_for(Integrator::named("hermite4").unwrap(), StepsBy::Device), [&by(StepsBy::Device)]);
        model.merge(Model { fit: vec![by(StepsBy::Host), by(StepsBy::Device)] });
        assert_eq!(model.fit.len(), 3);
        assert_eq!(model.fits_for(Integrator::named("multipoint6").unwrap(), StepsBy::Host), [&by(StepsBy::Host)]);
    }
}
