//! Simulation in the memory of a program, without files: what the C library, the Python package and the AMUSE worker
//! have in common.
//!
//! Settings are those of a configuration. Everything that a program gives and is given is in its units. A simulation
//! starts at the first call that needs forces; from there on its bits are those of `tisane run`, as long as the program
//! changes nothing. The program may ask for any time: between block steps, the particles that stand earlier take one
//! corrected step to it in a copy, and the integration does not notice.
//!
//! A change of particles or settings ends the integration at the present time, and the next call starts it anew there:
//! first steps, first forces, a new axis of time. The reference energy moves by the energy that the change added, so
//! that the energy error is that of the integration alone.

mod aging;
mod change;
mod columns;
mod file;
mod stars;
mod started;
mod state;
mod threads;

pub use change::Changes;
pub use stars::Stars;
pub use started::Measured;
pub use state::State;

use crate::assemble::{self, Setup};
use crate::config::{Config, LawSection, Loaded, Model};
use crate::star_columns;
use crate::system::System;
use change::{check_unique, find, places};
use columns::{MISSING, column_of};
use started::Started;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use threads::Threads;
use tisane::error::{Error, Result, nearest};
use tisane::force::Forces;
use tisane::force::external::ExternalField;
use tisane::initial::InitialState;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Level, Time};
use tisane::units::Units;

/// Name of a configuration that a program gives as text, in messages.
const NAME: &str = "configuration";

/// Simulation in memory.
pub struct InMemory {
    text: String,
    base: PathBuf,
    sets: Vec<String>,
    loaded: Loaded,
    /// True if the settings have an end, which steps that follow from the particles then divide.
    ends: bool,
    threads: Arc<Threads>,
    phase: Phase,
    /// Field of the program, in the units of the configuration.
    own_field: Option<Arc<dyn ExternalField>>,
}

/// Phase of a simulation.
enum Phase {
    /// Particles in the units of the configuration, and their time.
    New(Box<InitialState>),
    Started(Box<Started>),
}

/// Returns the configuration of a text, completed by the sections that a simulation in memory does not need, and true
/// if it has an end without that.
fn read(text: &str, base: &Path, sets: &[String]) -> Result<(Loaded, bool)> {
    let mut all: Vec<String> = Vec::new();
    let mut ends = true;
    // A text that is not TOML is reported below, with the line.
    if let Ok(table) = text.parse::<toml::Table>() {
        let has = |key: &str| table.contains_key(key);
        if !has("initial") {
            all.push("initial.memory={}".into());
        }
        if !has("run") {
            all.extend(["run.name=memory".into(), "run.t_end=1".into()]);
            ends = sets.iter().any(|set| set.trim_start().starts_with("run.t_end"));
        }
    }
    all.extend_from_slice(sets);
    Ok((Config::from_str(NAME, text, base, &all)?, ends))
}

/// Returns the particles of a configuration, none if a program adds them, in its units.
fn initial_state(loaded: &Loaded) -> Result<InitialState> {
    if matches!(loaded.config.initial.model, Model::Memory {}) {
        return Ok(InitialState::new(Particles::default(), "particles of a program"));
    }
    Ok(assemble::initial_state(loaded)?.0)
}

impl InMemory {
    /// Creates a simulation from the text of a configuration, which may be empty. Without `[initial]` it has no particles
    /// yet. Relative paths start at `base`; `settings` (`section.key=value`) come on top of the text.
    ///
    /// # Errors
    /// [`Error::Config`] for every mistake in the text, and [`Error::Input`] if a file of particles cannot be read.
    pub fn new(text: &str, base: &Path, settings: &[String]) -> Result<Self> {
        let (loaded, ends) = read(text, base, settings)?;
        let threads = Threads::new(loaded.config.force.threads as usize)?;
        let initial = threads.run(|| initial_state(&loaded))?;
        let (text, base, sets) = (text.to_owned(), base.to_owned(), settings.to_vec());
        let phase = Phase::New(Box::new(initial));
        Ok(Self { text, base, sets, loaded, ends, threads, phase, own_field: None })
    }

    /// Creates a simulation from a configuration file, with settings (`section.key=value`) on top.
    ///
    /// # Errors
    /// As [`InMemory::new`].
    pub fn from_file(path: &Path, settings: &[String]) -> Result<Self> {
        Self::new(&crate::config::read_text(path)?, path.parent().unwrap_or(Path::new("")), settings)
    }

    /// Changes a setting, as `section.key=value` with a value in TOML, like `--set` of the program. After the start, the
    /// integration is started anew with it at the present time; units and model can only be set before.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such setting or its value is wrong; then nothing has changed.
    pub fn set(&mut self, setting: &str) -> Result<()> {
        self.set_all(&[setting.to_owned()])
    }

    /// Changes several settings at once, as [`InMemory::set`] does one.
    ///
    /// # Errors
    /// As [`InMemory::set`]; then none of them has changed.
    pub fn set_all(&mut self, settings: &[String]) -> Result<()> {
        let sets = [&self.sets[..], settings].concat();
        let (mut loaded, ends) = read(&self.text, &self.base, &sets)?;
        if matches!(self.phase, Phase::Started(_)) {
            let open = loaded.open;
            self.loaded.settle_likewise(&mut loaded.config, open)?;
            loaded.config.adopt_steps(&self.loaded.config)?;
        }
        let (old, new) = (&self.loaded.config, &loaded.config);
        let fixed = [("units", old.units == new.units), ("initial", old.initial == new.initial)];
        if matches!(self.phase, Phase::Started(_)) {
            let fixed = [
                ("orbit", old.orbit == new.orbit, "the origin moves"),
                (
                    "stellar_evolution",
                    old.stellar_evolution == new.stellar_evolution,
                    "stars are on their tracks, or do not age",
                ),
            ];
            if let Some((section, _, why)) = fixed.into_iter().find(|(_, same, _)| !same) {
                let problem = format!("[{section}] cannot change any more: {why}");
                return Err(Error::input(section, problem).with_help("set it before the start"));
            }
        }
        let is_new = matches!(&self.phase, Phase::New(initial) if initial.particles.is_empty());
        if let Some((section, _)) = fixed.into_iter().find(|(_, same)| !same && !is_new) {
            let problem = format!("[{section}] cannot change any more: there are particles");
            return Err(Error::input(section, problem).with_help("set it before the first particle"));
        }
        let threads = match old.force.threads == new.force.threads {
            true => self.threads.clone(),
            false => Threads::new(new.force.threads as usize)?,
        };
        let remodelled = old.initial != new.initial;
        let initial = if remodelled { Some(threads.run(|| initial_state(&loaded))?) } else { None };
        match (&mut self.phase, initial) {
            (phase @ Phase::New(_), Some(initial)) => *phase = Phase::New(Box::new(initial)),
            (Phase::Started(started), _) => {
                let threads = threads.clone();
                threads.run(|| started.edit().map(|_| ()))?;
                started.rebuild = true;
            }
            (Phase::New(_), None) => {}
        }
        (self.sets, self.loaded, self.ends, self.threads) = (sets, loaded, ends, threads);
        Ok(())
    }

    /// Returns the configuration, with all defaults filled in; those that follow from the particles from the start on.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// Returns the longest step; unit: time.
    ///
    /// # Errors
    /// [`Error::Input`] if it follows from the particles and there are none yet; otherwise as [`InMemory::start`].
    pub fn dt_max(&self) -> Result<f64> {
        match &self.phase {
            Phase::New(initial) if !self.config().has_steps() => {
                if initial.particles.is_empty() {
                    let problem = "the longest step follows from the particles, and there are none yet";
                    let help = "add particles first, or set dt_max of the integrator";
                    return Err(Error::input("integrator", problem).with_help(help));
                }
                let (loaded, initial) = (self.settled(initial)?, InitialState::clone(initial));
                let ends = self.ends;
                let setup = move || assemble::set_up(loaded, initial, Vec::new(), ends);
                Ok(self.threads.run(setup)?.config.dt_max())
            }
            _ => Ok(self.config().dt_max()),
        }
    }

    /// Returns the units of everything that is given and returned.
    #[must_use]
    pub fn units(&self) -> Units {
        self.loaded.config.units()
    }

    /// Returns the number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.phase {
            Phase::New(initial) => initial.particles.len(),
            Phase::Started(started) => started.len(),
        }
    }

    /// Returns true if there are no particles.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the time; unit: time.
    #[must_use]
    pub fn time(&self) -> f64 {
        match &self.phase {
            Phase::New(initial) => self.loaded.config.t_start().unwrap_or(initial.time),
            Phase::Started(started) => started.time,
        }
    }

    /// Returns the particles at the present time.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn state(&mut self) -> Result<State> {
        match &mut self.phase {
            Phase::New(initial) => Ok(State::new(&initial.particles, [1.0; 3])),
            Phase::Started(started) => self.threads.run(|| started.state()),
        }
    }

    /// Computes the first forces and steps, or those after a change, if that has not happened yet.
    ///
    /// # Errors
    /// [`Error::Config`] and [`Error::Input`] for particles and settings that do not go together, such as two particles
    /// at one place without softening; otherwise if the engine fails.
    pub fn start(&mut self) -> Result<()> {
        self.started().map(|_| ())
    }

    /// Returns the configuration with what the particles get by default as a cluster.
    fn settled(&self, initial: &InitialState) -> Result<Loaded> {
        let mut settled = self.loaded.clone();
        if self.own_field.is_none() {
            settled.settle(&initial.particles.mass)?;
        }
        Ok(settled)
    }

    /// Returns the started simulation with the threads that it computes on.
    fn started(&mut self) -> Result<(&mut Started, &Threads, &Loaded)> {
        let integrator = &self.loaded.config.integrator;
        if self.own_field.is_some() && integrator.scheme().max_particles().is_some() {
            let problem = format!("expected no field: {} has its own forces, by Newton's law", integrator.info().title);
            return Err(Error::input("external field", problem).with_help("choose a scheme with block steps"));
        }
        if let Phase::New(initial) = &self.phase {
            if initial.particles.is_empty() {
                return Err(Error::input("particles", "there are none").with_help("add particles first"));
            }
            let (mut settled, initial) = (self.settled(initial)?, InitialState::clone(initial));
            let loaded = settled.clone();
            let start = || Started::new((loaded, self.ends), initial, self.own_field.as_ref());
            let (started, config) = self.threads.run(start)?;
            settled.config.adopt_steps(&config)?;
            self.loaded = settled;
            self.phase = Phase::Started(Box::new(started));
        }
        match &mut self.phase {
            Phase::Started(started) => {
                self.threads.run(|| started.restart_if_changed(&mut self.loaded, self.own_field.as_ref()))?;
                Ok((started, &self.threads, &self.loaded))
            }
            Phase::New(_) => Err(Error::input("particles", "there are none")),
        }
    }

    /// Advances the particles to the time `t`, which may be any. After the first block step, and then from time to time,
    /// `go_on` is shown the system. It returns the number of block steps after which it is shown it again at the latest: with
    /// 1 it sees every step, and with a large number a GPU that takes whole block steps takes many from call to call, for
    /// some 25 ms. Without such a GPU it sees every step in any case. Where it returns 0 the simulation stops at that time,
    /// from which it may go on later with the same bits. Returns true if `t` was reached.
    ///
    /// # Errors
    /// [`Error::Input`] for a time before the present one; otherwise if the integration fails: then no further step can
    /// be taken.
    pub fn integrate(&mut self, t: f64, go_on: &mut (dyn FnMut(&System) -> u64 + Send)) -> Result<bool> {
        let (started, threads, loaded) = self.started()?;
        threads.run(|| started.integrate(t, &loaded.config, go_on))
    }

    /// Measures energies, momenta and the errors of energy and forces at the present time.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn measure(&mut self) -> Result<Measured> {
        let (started, threads, _) = self.started()?;
        threads.run(|| started.measured().map(|(measured, _)| measured.clone()))
    }

    /// Returns the acceleration, the jerk (zero with the leapfrog) and the potential of every particle at the present time, in
    /// f64 but for the jerk, by the other particles and external fields.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn forces(&mut self) -> Result<Forces> {
        let (started, threads, _) = self.started()?;
        threads.run(|| started.forces())
    }

    /// Returns the acceleration, jerk and potential that all particles and external fields cause at any points, at which
    /// bodies with the velocities `vel` are; in f64.
    ///
    /// # Errors
    /// If the columns differ in length or an engine fails.
    pub fn field_at(&mut self, pos: &[Vec3], vel: &[Vec3]) -> Result<Forces> {
        let (started, threads, loaded) = self.started()?;
        threads.run(|| started.field_at(&loaded.config, pos, vel))
    }

    /// Returns place and velocity in the external fields of the origin that the particles are relative to, at the present time;
    /// [`None`] without the section `[orbit]`.
    ///
    /// # Errors
    /// As [`InMemory::start`].
    pub fn orbit(&mut self) -> Result<Option<[Vec3; 2]>> {
        let (started, ..) = self.started()?;
        started.orbit()
    }

    /// Returns the system that is integrated, as it stands after the last block step, in internal units; [`None`] before
    /// the start.
    #[must_use]
    pub fn system(&self) -> Option<&System> {
        match &self.phase {
            Phase::New(_) => None,
            Phase::Started(started) => Some(&started.system),
        }
    }

    /// Returns the name of the engine with the reason for its choice; empty before the start.
    #[must_use]
    pub fn engine(&self) -> &str {
        match &self.phase {
            Phase::New(_) => "",
            Phase::Started(started) => &started.info.engine_choice,
        }
    }

    /// Returns the SHA-256 of the state of the integration, as [`Particles::state_sha256`] computes it: after the same
    /// block steps that of `tisane run`.
    ///
    /// # Errors
    /// As [`InMemory::start`].
    pub fn state_sha256(&mut self) -> Result<String> {
        let (started, ..) = self.started()?;
        Ok(started.system.particles.state_sha256(&started.system.state.clock))
    }
}

impl InMemory {
    /// Sets a field that acts beside those of the configuration, or none. It takes and returns the units of the
    /// configuration. After the start, the integration is started anew with it at the present time. It is in no file:
    /// after [`InMemory::load`] it must be set again.
    ///
    /// # Errors
    /// If an engine fails, or the scheme takes no field: at the start too, where the scheme is chosen later.
    pub fn set_external(&mut self, field: Option<Arc<dyn ExternalField>>) -> Result<()> {
        if let Phase::Started(started) = &mut self.phase {
            self.threads.run(|| started.edit().map(|_| ()))?;
            started.rebuild = true;
        }
        self.own_field = field;
        Ok(())
    }

    /// Returns the particles as the program knows them, apart from the time of positions and velocities.
    fn particles(&self) -> &Particles {
        match &self.phase {
            Phase::New(initial) => &initial.particles,
            Phase::Started(started) => started.particles(),
        }
    }

    /// Returns the particles that may be changed, and the factors from the units of the configuration to theirs.
    fn editable(&mut self) -> Result<(&mut Particles, [f64; 3])> {
        let Self { phase, threads, .. } = self;
        match phase {
            Phase::New(initial) => Ok((&mut initial.particles, [1.0; 3])),
            Phase::Started(started) => {
                let scale = started.system.state.scale;
                let particles = threads.run(|| started.edit())?;
                Ok((particles, [1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity]))
            }
        }
    }

    /// Adds particles. Without `id` they get the numbers that follow the largest identity. Returns the identities.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths, numbers that are not finite, negative masses and identities
    /// that come twice; then nothing has changed.
    pub fn add(&mut self, id: Option<&[u64]>, mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Result<Vec<u64>> {
        self.add_with_columns(id, mass, (pos, vel), &[])
    }

    /// Adds particles with their values in the columns that the law reads, by name. Those in columns that are left out are
    /// to be [set](Self::set_column) before the simulation goes on. Stars that age may have `age` and `metallicity` of their own.
    ///
    /// # Errors
    /// As [`InMemory::add`], and for columns that the law does not read.
    pub fn add_with_columns(
        &mut self,
        id: Option<&[u64]>,
        mass: &[f64],
        (pos, vel): (&[Vec3], &[Vec3]),
        columns: &[(&str, &[f64])],
    ) -> Result<Vec<u64>> {
        let p = self.particles();
        let next = p.id.iter().max().map_or(0, |id| id.wrapping_add(1));
        let id = id.map_or_else(|| (next..next + mass.len() as u64).collect(), <[u64]>::to_vec);
        Changes { id: &id, mass: Some(mass), pos: Some(pos), vel: Some(vel) }.check()?;
        check_unique(p.id.iter().chain(&id))?;
        self.check_columns(&id, columns, &self.columns_of_new())?;
        if p.len() + id.len() >= u32::MAX as usize {
            return Err(Error::input("particles", "there are too many particles"));
        }
        if id.is_empty() {
            return Ok(id);
        }
        let names = self.column_names();
        let new = match &self.phase {
            Phase::Started(started) => started.newborn(&id, mass, columns)?,
            Phase::New(_) => Vec::new(),
        };
        let (p, [to_mass, to_length, to_velocity]) = self.editable()?;
        let n = p.len() + id.len();
        columns::extend(p, &names, id.len(), columns);
        p.id.extend_from_slice(&id);
        p.mass.extend(mass.iter().map(|m| m * to_mass));
        p.pos.extend(pos.iter().map(|x| x * to_length));
        p.vel.extend(vel.iter().map(|v| v * to_velocity));
        if !p.radius.is_empty() {
            p.radius.resize(n, 0.0);
        }
        p.acc.resize(n, Vec3::zeros());
        p.jerk.resize(n, Vec3::zeros());
        p.pot.resize(n, 0.0);
        p.time.resize(n, Time::default());
        p.step.resize(n, Level::default());
        p.states.clear();
        for (row, star) in (n - new.len()..).zip(new) {
            p.mass[row] = star.mass;
            p.radius.get_mut(row).into_iter().for_each(|radius| *radius = star.radius);
            p.stars.push(star.star);
        }
        Ok(id)
    }

    /// Removes particles.
    ///
    /// # Errors
    /// [`Error::Input`] for an identity that there is not, or that comes twice, and for all particles of a simulation
    /// that has started; then nothing has changed.
    pub fn remove(&mut self, id: &[u64]) -> Result<()> {
        check_unique(id.iter())?;
        let started = matches!(self.phase, Phase::Started(_));
        if id.is_empty() {
            return Ok(());
        }
        if started && id.len() >= self.len() {
            return Err(Error::input("particles", "all would be removed: a simulation that has started keeps one"));
        }
        places(self.particles(), id)?;
        let (p, _) = self.editable()?;
        let gone: HashSet<u64> = id.iter().copied().collect();
        let stays: Vec<bool> = p.id.iter().map(|id| !gone.contains(id)).collect();
        let keep = |i: &usize| stays[*i];
        let index: Vec<usize> = (0..p.len()).filter(keep).collect();
        let mut left = Particles::new(
            index.iter().map(|&i| p.mass[i]).collect(),
            index.iter().map(|&i| p.pos[i]).collect(),
            index.iter().map(|&i| p.vel[i]).collect(),
        );
        left.id = index.iter().map(|&i| p.id[i]).collect();
        left.radius = index.iter().filter_map(|&i| p.radius.get(i).copied()).collect();
        left.stars = index.iter().filter_map(|&i| p.stars.get(i).copied()).collect();
        left.columns = std::mem::take(&mut p.columns);
        left.columns.iter_mut().for_each(|column| column.values = index.iter().map(|&i| column.values[i]).collect());
        *p = left;
        Ok(())
    }

    /// Changes masses, positions or velocities of some particles.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths, numbers that are not finite, negative masses, identities
    /// that there are not, and after the start other masses of stars that age than they have; then nothing has changed.
    pub fn change(&mut self, changes: Changes<'_>) -> Result<()> {
        changes.check()?;
        if let Some(mass) = changes.mass {
            self.check_masses(changes.id, mass)?;
        }
        if changes.id.is_empty() {
            return Ok(());
        }
        let index = places(self.particles(), changes.id)?;
        let ages = self.ages();
        let (p, [mass, length, velocity]) = self.editable()?;
        if changes.pos.is_some() || changes.vel.is_some() {
            p.forget_close(&index);
        }
        for (k, i) in index.into_iter().enumerate() {
            // The mass of a star that ages is the one that it has.
            if let Some(column) = changes.mass.filter(|_| !ages) {
                p.mass[i] = column[k] * mass;
            }
            if let Some(column) = changes.pos {
                p.pos[i] = column[k] * length;
            }
            if let Some(column) = changes.vel {
                p.vel[i] = column[k] * velocity;
            }
        }
        Ok(())
    }

    /// Returns the names of the columns that particles have: those that the law of the settings reads, and until the start those of stars
    /// that age, `age` and `metallicity`.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        match self.phase {
            Phase::New(_) => self.columns_of_new(),
            Phase::Started(_) => self.columns_of_law(),
        }
    }

    fn columns_of_law(&self) -> Vec<String> {
        self.config().law_section().map(LawSection::column_names).unwrap_or_default()
    }

    /// Returns the names of the columns that particles may be given when they are added.
    fn columns_of_new(&self) -> Vec<String> {
        [self.columns_of_law(), star_columns::names(self.config())].concat()
    }

    /// Checks columns of values, one for each id, whose names are among the `known` ones.
    fn check_columns(&self, id: &[u64], columns: &[(&str, &[f64])], known: &[String]) -> Result<()> {
        let wrong = |problem: String| Err(Error::input("particles", problem));
        for (name, values) in columns {
            self.check_name(name, known)?;
            if values.len() != id.len() {
                return wrong(format!("columns of different lengths: {} and {} of `{name}`", id.len(), values.len()));
            }
            if let Some((i, value)) = find(values, |value| !value.is_finite()) {
                return wrong(format!("id {}: {name} is {value:?}: expected a finite number", id[i]));
            }
            let of_star = |(i, value): (usize, &f64)| Some((i, star_columns::problem(self.config(), name, *value)?));
            if let Some((i, problem)) = values.iter().enumerate().find_map(of_star) {
                return wrong(format!("id {}: {problem}", id[i]));
            }
        }
        Ok(())
    }

    fn check_name(&self, name: &str, known: &[String]) -> Result<()> {
        if known.iter().any(|it| it == name) {
            return Ok(());
        }
        let error = |problem: String| Error::input("particles", problem);
        if star_columns::names(self.config()).iter().any(|of_star| of_star == name) {
            let help = "give it when the star is added, or before the start";
            return Err(error(format!("the column `{name}` is used up: stars are on their tracks")).with_help(help));
        }
        if known.is_empty() {
            let help = "columns are those that a law in place of Newton's reads: set [force.law] first";
            return Err(error(format!("no law reads a column `{name}`")).with_help(help));
        }
        let near = nearest(name, &known.iter().map(String::as_str).collect::<Vec<_>>());
        let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        let by = if self.columns_of_law().is_empty() { "stars have" } else { "the law reads" };
        Err(error(format!("{by} no column `{name}`{near}")).with_help(format!("there are {}", known.join(", "))))
    }

    /// Returns the values of all particles in a column that the law reads: NaN for those that were given none.
    ///
    /// # Errors
    /// [`Error::Input`] for a column that the law does not read.
    pub fn column(&self, name: &str) -> Result<Vec<f64>> {
        self.check_name(name, &self.column_names())?;
        let p = self.particles();
        Ok(p.column(name).map_or_else(|| vec![MISSING; p.len()], <[f64]>::to_vec))
    }

    /// Gives some particles new values in a column that the law reads.
    ///
    /// # Errors
    /// [`Error::Input`] for a column that the law does not read, numbers that are not finite, another number of them, and
    /// identities that there are not; then nothing has changed.
    pub fn set_column(&mut self, name: &str, id: &[u64], values: &[f64]) -> Result<()> {
        self.check_columns(id, &[(name, values)], &self.column_names())?;
        if id.is_empty() {
            return Ok(());
        }
        let index = places(self.particles(), id)?;
        let (p, _) = self.editable()?;
        let n = p.len();
        let column = column_of(p, name, n);
        for (i, value) in index.into_iter().zip(values) {
            column[i] = *value;
        }
        Ok(())
    }

    /// Prepares a run with files from the present particles, with settings (`section.key=value`) on top of those of the
    /// simulation; `run.t_end` is needed. Before the start, this is the run of the configuration. After it, the run begins
    /// anew at the present time, with first steps.
    ///
    /// # Errors
    /// [`Error::Config`] and [`Error::Input`], also if the program has a field of its own, without which the run could
    /// not be resumed.
    pub fn setup(&mut self, settings: &[String]) -> Result<Setup> {
        if self.own_field.is_some() {
            let problem = "a function of the program acts on the particles: a run with files cannot contain it";
            let help = "describe the field in the configuration, in [external], or integrate without files";
            return Err(Error::input("external field", problem).with_help(help));
        }
        if self.is_empty() {
            return Err(Error::input("particles", "there are none").with_help("add particles first"));
        }
        let read = |more: &[String]| read(&self.text, &self.base, &[&self.sets[..], more, settings].concat());
        let loaded;
        let initial = match &mut self.phase {
            Phase::New(initial) => {
                let (mut settled, _) = read(&[])?;
                settled.settle(&initial.particles.mass)?;
                loaded = settled;
                InitialState::clone(initial)
            }
            Phase::Started(started) => {
                let stars = started.particles().stars.clone();
                let (time, model) = (self.time(), "initial={memory={}}".to_owned());
                let start = format!("run.t_start={time:?}");
                let open = read(std::slice::from_ref(&start))?.0.open;
                let (mut settled, _) = read(&[model, start])?;
                if settled.config.stellar_evolution != self.loaded.config.stellar_evolution {
                    let problem =
                        "[stellar_evolution] cannot change any more: stars are on their tracks, or do not age";
                    return Err(Error::input("stellar_evolution", problem).with_help("set it before the start"));
                }
                self.loaded.settle_likewise(&mut settled.config, open)?;
                loaded = settled;
                let state = self.state()?;
                let mut particles = Particles::new(state.mass, state.pos, state.vel);
                particles.id = state.id;
                particles.columns = self.particles().columns.clone();
                particles.stars = stars;
                InitialState { time, ..InitialState::new(particles, "particles of a program") }
            }
        };
        self.threads.run(|| assemble::set_up(loaded, initial, Vec::new(), true))
    }
}

impl PartialEq for InMemory {
    /// Returns true if both hold the same particles bit for bit, at the same times with the same next steps, and go on by
    /// the same settings.
    fn eq(&self, other: &Self) -> bool {
        let differ = crate::assemble::differing_section(&self.loaded.config, &other.loaded.config);
        differ.is_none()
            && match (&self.phase, &other.phase) {
                (Phase::New(a), Phase::New(b)) => a.particles == b.particles && self.time() == other.time(),
                (Phase::Started(a), Phase::Started(b)) => a.same_bits(b),
                _ => false,
            }
    }
}
