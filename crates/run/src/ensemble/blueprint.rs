//! Configuration of an ensemble, and those of its members.

use super::journals::{KEPT, is_of_members};
use super::members::{Files, Members, as_text, find_files, place};
use super::rows::Tables;
use crate::assemble;
use crate::config::{Config, Engine, Loaded, Open, Problem};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::force::block_steps::StepScheme;
use tisane::force::precision::Precision;
use tisane_io::fields::Journal;

/// Configuration of an ensemble as it was written, from which the configurations of its members are read.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// Configuration that the members have in common, resolved.
    pub config: Config,
    /// Settings of the members.
    pub members: Members,
    /// Text, overrides, place and files of the configuration.
    pub written: Written,
}

/// Text of the configuration of an ensemble with what belongs to it: the file `ensemble.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Version of tisane.
    pub version: String,
    /// Configuration file, byte for byte.
    pub config: String,
    /// Overrides (`section.key=value`).
    pub overrides: Vec<String>,
    /// Directory at which relative paths start.
    pub base: PathBuf,
    /// Files of the patterns, by key.
    pub files: Files,
    /// Journals that are kept of the members whose runs alone have them; none in ensembles of version 0.3.0 and older.
    #[serde(default)]
    pub journals: Vec<Journal>,
    /// Flag that the series has the columns of clusters that ensembles of version 0.3.0 and older do not have: energy error, bound
    /// binaries, tide.
    #[serde(default)]
    pub more_of_clusters: bool,
    /// SHA-256 of what the members follow from, in the file; ensembles of version 0.2 do not have it.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// Number of members from which a GPU is chosen where the configuration leaves it to the program, and largest number of
/// particles of a member: 1000 members of 256 took a tenth of the time of 16 cores, 16 of 1024 as long.
const GPU_WINS_FROM: u64 = 256;
const LARGEST_BY_CHOICE: u64 = 1024;

impl Blueprint {
    /// Reads the members of a configuration, whose relative paths start at `base`, and checks the configurations of
    /// those that together have all values.
    ///
    /// # Errors
    /// [`Error::Config`] with the key.
    pub fn new(loaded: &Loaded, base: &Path) -> Result<Self> {
        let files = find_files(&loaded.config, base).map_err(|problem| loaded.explain(problem))?;
        let members = Members::new(&loaded.config, &files).map_err(|problem| loaded.explain(problem))?;
        let written = Written {
            version: tisane_io::provenance::version().into(),
            config: loaded.written.clone(),
            overrides: loaded.overrides().to_vec(),
            // Of an empty path there is no absolute one.
            base: std::path::absolute(base.join(".")).map_err(|e| Error::input(base, e))?,
            files,
            journals: KEPT.to_vec(),
            more_of_clusters: true,
            sha256: None,
        };
        let mut blueprint = Self { config: loaded.config.clone(), members, written };
        blueprint.settle(loaded.open)?;
        for member in blueprint.members.probes() {
            let checked = blueprint.member(member).and_then(|loaded| loaded.check_subsystems());
            checked.map_err(|error| blueprint.at_its_key(loaded, member, error))?;
        }
        Ok(blueprint)
    }

    /// Gives all members what member 0 gets by default as a cluster, unless a key is varied that this does not go with. It is written
    /// as overrides: where the steps of members are taken does not depend on their particles, and a version that decides
    /// otherwise goes on as it began.
    fn settle(&mut self, open: Open) -> Result<()> {
        let is_of = |section: &str, key: &str| key.split('.').next() == Some(section);
        let may = self.members.keys().all(|key| {
            let is_of_law = key == "force" || key.starts_with("force.law");
            let stays = !["softening", "external", "encounters"].iter().any(|section| is_of(section, key));
            stays && !is_of_law && key != "integrator" && key != "force.stepping"
        });
        if !(open.subsystems && may) {
            return Ok(());
        }
        let scheme = open.scheme && !self.members.keys().any(|key| is_of("integrator", key));
        let mut first = self.member(0)?;
        first.open = Open { scheme, ..open };
        // Particles that cannot be read are told with the member that needs them.
        let defaults = assemble::defaults_of_cluster(&first).unwrap_or_default();
        if !defaults.is_empty() {
            let Written { config, overrides, base, .. } = &mut self.written;
            overrides.extend(defaults);
            // Whoever read the configuration may have chosen another directory.
            let directory = self.config.output.directory.take();
            self.config = Config::from_str("the configuration", config, base, overrides)?.config;
            self.config.output.directory = directory;
        }
        Ok(())
    }

    /// Returns the error of a member at the key of `[ensemble.vary]` that gives the wrong setting, if one does.
    fn at_its_key(&self, loaded: &Loaded, member: u64, error: Error) -> Error {
        let Error::Config(wrong) = &error else { return error };
        let settings = self.members.settings(member);
        let is_given = |key: &str| wrong.key == key || wrong.key.starts_with(&format!("{key}."));
        let Some(setting) = settings.iter().find(|(key, _)| is_given(key)) else { return error };
        let problem = format!("member {member}, {}: {}", as_text(setting), wrong.problem);
        let problem = Problem::new(place(&setting.0), problem);
        loaded.explain(match &wrong.help {
            Some(help) => problem.with_help(help),
            None => problem,
        })
    }

    /// Reads a blueprint again from what was written.
    ///
    /// # Errors
    /// [`Error::Config`] if this version reads it otherwise.
    pub fn from_written(written: Written) -> Result<Self> {
        let loaded = Config::from_str("ensemble.json", &written.config, &written.base, &written.overrides)?;
        let members = Members::new(&loaded.config, &written.files).map_err(|problem| loaded.explain(problem))?;
        Ok(Self { config: loaded.config, members, written })
    }

    /// Returns the journals of members that the ensemble has as tables.
    #[must_use]
    pub fn journals(&self) -> Vec<Journal> {
        let Self { config, members, written } = self;
        written.journals.iter().copied().filter(|journal| is_of_members(*journal, config, members)).collect()
    }

    /// Returns the tables of the ensemble, without rows.
    pub(super) fn tables(&self) -> Tables {
        Tables::new(&self.config, &self.members, &self.journals(), self.written.more_of_clusters)
    }

    /// Describes the members, as text in lines.
    #[must_use]
    pub fn describe(&self) -> String {
        let name = &self.config.run.name;
        let mut text = format!("{name}: an ensemble of {} members, of which member 0 is below\n", self.members.count());
        for (key, values) in self.members.describe() {
            let _ = writeln!(text, "  {key:<34} {values}");
        }
        text
    }

    /// Returns the engine of the members, and the reason for it, where `asked` may ask for another than the configuration. The
    /// program chooses by itself only where the bits do not depend on it: in f64.
    #[must_use]
    pub fn engine(&self, asked: Option<Engine>, device: u32) -> (Engine, String) {
        let (config, members) = (&self.config, self.members.count());
        match asked.unwrap_or(config.force.engine) {
            Engine::Auto => {}
            engine => return (engine, format!("{}, as asked for", engine.name())),
        }
        let plain = assemble::scheme_on_device(config).and_then(StepScheme::plain_nu).is_some();
        let small = config.initial.sampled().is_none_or(|(n, ..)| n.is_none_or(|n| n <= LARGEST_BY_CHOICE));
        let why = if config.force.precision() != Precision::F64 {
            "cpu and cuda have different bits in this mode"
        } else if members < GPU_WINS_FROM || !small || !plain {
            "a GPU wins with many small members whose block steps it can take"
        } else if !assemble::system_stepper(Precision::F64, device, LARGEST_BY_CHOICE as usize)
            .is_ok_and(|it| it.is_some())
        {
            "there is no GPU that takes block steps"
        } else {
            return (Engine::Cuda, format!("auto: cuda: {members} members whose block steps a GPU takes"));
        };
        (Engine::Cpu, format!("auto: cpu: {why}"))
    }

    /// Reads the configuration of a member.
    ///
    /// # Errors
    /// [`Error::Config`], whose place is the setting of the member.
    pub fn member(&self, member: u64) -> Result<Loaded> {
        let own: Vec<String> = self.members.settings(member).iter().map(as_text).collect();
        // The values of all members are not read again for each of them.
        let common = self.written.overrides.iter().map(|set| match set.split_once('=') {
            Some(("ensemble.vary", _)) => "ensemble.vary={}".to_owned(),
            _ => set.clone(),
        });
        let sets: Vec<String> = common.chain(own).collect();
        let read = Config::from_str("the configuration", &self.written.config, &self.written.base, &sets);
        let mut loaded = read.map_err(|error| located(error, member))?;
        loaded.config.ensemble = None;
        // Decided for all members together.
        loaded.open = Open::default();
        Ok(loaded)
    }
}

/// Returns the error of a member, with its number in place of an override.
fn located(error: Error, member: u64) -> Error {
    match error {
        Error::Config(mut config) => {
            if let Some(setting) = config.place.strip_prefix("--set ") {
                config.place = format!("member {member}, {setting}");
            }
            Error::Config(config)
        }
        other => other,
    }
}
