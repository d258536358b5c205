//! A configuration that was read.

use super::configuration::Config;
use super::error::Problem;
use super::file::{Source, read, read_text};
use super::of_cluster::{ClusterScheme, Settled, is_cluster};
use super::validate;
use std::path::Path;
use tisane::{Error, Result};

/// A configuration that has been read, checked and resolved, with its text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration, with all defaults filled in and absolute paths of input files.
    pub config: Config,
    /// Original text, without overrides.
    pub written: String,
    /// What the configuration leaves open: it follows from the particles.
    pub(crate) open: Open,
    /// Flag that potentials of many particles may be estimated.
    pub(crate) estimates: bool,
    pub(super) source: Source,
}

/// What a configuration leaves open for a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Open {
    /// Flag that a cluster has subsystems although the configuration does not say so.
    pub subsystems: bool,
    /// Flag that a cluster that gets subsystems by default gets a scheme too: the configuration has no `[integrator]`.
    pub scheme: bool,
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

    /// Returns what particles of these masses get by default; [`None`] if they are no cluster, or the configuration leaves nothing open.
    pub(crate) fn defaults_of(&self, mass: &[f64]) -> Option<Settled> {
        let found = self.open.subsystems && is_cluster(mass);
        found.then(|| Settled { scheme: self.open.scheme.then(|| ClusterScheme::of(mass.len())) })
    }

    /// Gives particles of these masses subsystems, and a scheme, if they are a cluster and the configuration leaves that open.
    /// Returns what they got.
    pub(crate) fn settle(&mut self, mass: &[f64]) -> Result<Option<Settled>> {
        let settled = self.defaults_of(mass);
        if let Some(Settled { scheme }) = settled {
            let scheme = scheme.map(ClusterScheme::settings).transpose();
            let added = scheme.and_then(|scheme| self.config.add_subsystems(scheme));
            added.map_err(|problem| self.explain(problem))?;
        }
        Ok(settled)
    }

    /// Gives a configuration of the same particles what they got here by default, as far as it leaves that open.
    pub(crate) fn settle_likewise(&self, other: &mut Config, open: Open) -> Result<(), Problem> {
        if !(open.subsystems && self.open.subsystems && self.config.subsystems().is_some()) {
            return Ok(());
        }
        let scheme = || {
            let mut scheme = self.config.integrator.clone();
            // The lengths of steps follow from units and particles.
            if let Some(mut set) = scheme.scheme().steps_set() {
                (set.dt_max, set.dt_min) = (None, None);
                scheme.scheme_mut().replace_steps(set);
            }
            scheme
        };
        other.add_subsystems((open.scheme && self.open.scheme).then(scheme))
    }

    /// Checks that collisions and escapers, if they are looked for, have subsystems, once it is known what the particles get by default.
    pub(crate) fn check_subsystems(&self) -> Result<()> {
        self.config.missing_subsystems().into_iter().next().map_or(Ok(()), |problem| Err(self.explain(problem)))
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
        let subsystems = config.leaves_subsystems_open();
        let open = Open { subsystems, scheme: subsystems && !source.has("integrator") };
        config.resolve(base).map_err(|problem| source.explain(problem))?;
        Ok(Loaded { config, written: text.to_owned(), open, estimates: false, source })
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
