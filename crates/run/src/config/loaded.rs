//! A configuration that was read.

use super::configuration::Config;
use super::error::Problem;
use super::file::{Source, read, read_text};
use super::validate;
use std::path::Path;
use tisane::compensated_sum::sum;
use tisane::diagnostics::cluster::bodies::MIN_BODIES;
use tisane::{Error, Result};

/// A configuration that has been read, checked and resolved, with its text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration, with all defaults filled in and absolute paths of input files.
    pub config: Config,
    /// Original text, without overrides.
    pub written: String,
    /// Flag that a run of a cluster has subsystems although the configuration does not say so.
    pub(crate) subsystems_of_cluster: bool,
    /// Flag that potentials of many particles may be estimated.
    pub(crate) estimates: bool,
    pub(super) source: Source,
}

impl Loaded {
    /// Returns the overrides (`section.key=value`) on top of the text.
    #[must_use]
    pub fn overrides(&self) -> &[String] {
        self.source.overrides()
    }

    /// Lets potentials of more than [`MAX_SUMMED`](crate::assemble::MAX_SUMMED) particles be estimated, which would
    /// otherwise be sums over all pairs: for a forecast of a run. The virial ratio of a sampled model is then right to
    /// about 10⁻³ (several clusters: 10⁻²), and the bits are not those of the run.
    #[must_use]
    pub fn for_forecast(self) -> Self {
        Self { estimates: true, ..self }
    }

    /// Turns on the subsystems of particles with these masses if they are a cluster and the configuration leaves that open.
    /// Returns true if it does.
    pub(crate) fn settle_subsystems(&mut self, mass: &[f64]) -> Result<bool> {
        let adds = self.subsystems_of_cluster && is_cluster(mass);
        if adds {
            self.config.add_subsystems().map_err(|problem| self.explain(problem))?;
        }
        Ok(adds)
    }

    /// Returns a problem that is found after reading (with the time of an input file, say) as an error, with the
    /// location of its setting.
    #[must_use]
    pub fn explain(&self, problem: Problem) -> Error {
        self.source.explain(problem)
    }
}

impl Config {
    /// Reads a configuration file, with overrides (`section.key=value`) on top.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that cannot be read as text; [`Error::Config`] for every mistake in it.
    pub fn from_file(path: impl AsRef<Path>, sets: &[String]) -> Result<Loaded> {
        let path = path.as_ref();
        let text = read_text(path)?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::from_str(&path.display().to_string(), &text, base, sets)
    }

    /// Reads a configuration from text. `name` is the name of the file in messages; relative paths start at `base`.
    ///
    /// # Errors
    /// [`Error::Config`] for every mistake, at file, line and key.
    pub fn from_str(name: &str, text: &str, base: &Path, sets: &[String]) -> Result<Loaded> {
        let (mut config, source) = read::<Self>((name, text), sets, validate::validate)?;
        let subsystems_of_cluster = config.leaves_subsystems_open();
        config.resolve(base).map_err(|problem| source.explain(problem))?;
        Ok(Loaded { config, written: text.to_owned(), subsystems_of_cluster, estimates: false, source })
    }

    /// Returns the number of steps of `dt_max` from `start` (unit: time) to the end of the run.
    ///
    /// # Errors
    /// If the end is not after `start`, not a whole number of steps from it, or too many steps from it.
    pub fn steps_to_end(&self, start: f64) -> Result<u64, Problem> {
        validate::steps_to_end(self, start)
    }

    /// Checks that the end is after the start at `start`; unit: time.
    pub(crate) fn check_end(&self, start: f64) -> Result<(), Problem> {
        validate::end(self, start)
    }
}

/// Part of the total mass above which one particle dominates: then orbits about it are the motion of the system.
const DOMINANT: f64 = 0.5;

/// Returns true if particles of these masses may be a cluster: there are enough of them, and no one and no two dominate, as in
/// planets about a binary.
pub(crate) fn is_cluster(mass: &[f64]) -> bool {
    let all = sum(mass.iter().copied());
    let heaviest = mass.iter().fold([0.0, 0.0], |[first, second]: [f64; 2], &mass| match mass > first {
        true => [mass, first],
        false => [first, second.max(mass)],
    });
    mass.len() >= MIN_BODIES && heaviest[0] + heaviest[1] <= DOMINANT * all
}
