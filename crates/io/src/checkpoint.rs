//! Checkpoints: the state of a run after a block step, from which it continues with the same bits.
//!
//! `checkpoint.hdf5` is the newest, `checkpoint.previous.hdf5` the one before. At any instant at least one of the two
//! is complete: see [`write()`].

mod header;
mod members;
mod numbers;
mod states;

pub use header::{CheckpointHeader, read_header};
pub(super) use members::numbers as members_in_progress;
pub use members::{MemberState, Signed, count_members, read_members, write_members};
pub use numbers::{Counters, OutputCounts, References};

use super::atomic::{remove_if_present, rename_durably, temporary_name};
use super::checksum::{self, ChecksumStatus, Digest};
use super::hdf::FileKind;
use super::hdf::read::{TisaneFile, TisaneGroup};
use super::hdf::write::{self as hdf, H5Result, new_group, put, put_array, put_dataset, put_text};
use super::history::{self, History};
use super::named_columns;
use super::provenance::{self, Provenance};
use hdf5::Group;
use numbers::{StateVisitor, visit};
use std::fs;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::particles::{Particles, Vec3, components, from_components};
use tisane::time::{Clock, Level, Time};
use tisane::units::Scale;

/// Name of the newest checkpoint in an output directory.
pub const NEWEST: &str = "checkpoint.hdf5";
/// Name of the checkpoint before the newest.
pub const PREVIOUS: &str = "checkpoint.previous.hdf5";

/// Dataset of the radii, if the particles have them.
const RADIUS: &str = "radius";

/// State of a run after a block step.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// All particles, each at its own time, in internal units.
    pub particles: Particles,
    /// Numbers of the run.
    pub run: RunState,
    /// Events that were reported.
    pub history: History,
    /// Provenance of the file, with the resolved configuration.
    pub provenance: Provenance,
}

/// State of a run, borrowed for writing: a copy would be the largest allocation of the run.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointRef<'a> {
    /// All particles, each at its own time, in internal units.
    pub particles: &'a Particles,
    /// Numbers of the run.
    pub run: &'a RunState,
    /// Events that were reported.
    pub history: &'a History,
    /// Provenance of the file, with the resolved configuration.
    pub provenance: &'a Provenance,
}

impl<'a> From<&'a Checkpoint> for CheckpointRef<'a> {
    fn from(checkpoint: &'a Checkpoint) -> Self {
        let Checkpoint { particles, run, history, provenance } = checkpoint;
        Self { particles, run, history, provenance }
    }
}

/// Numbers of a run, in internal units (G = 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunState {
    /// Time of the last block step.
    pub now: Time,
    /// Time axis.
    pub clock: Clock,
    /// Size of the internal units in the user's units.
    pub scale: Scale,
    /// Work done since the start of the run.
    pub counters: Counters,
    /// Output written since the start of the run.
    pub written: OutputCounts,
    /// Reference values of the error measures.
    pub references: References,
    /// Wall time spent so far, in s.
    pub wall_seconds: f64,
}

/// Visitor that writes the numbers as attributes of a group.
struct ToFile<'a>(&'a Group);

impl StateVisitor<hdf5::Error> for ToFile<'_> {
    fn count(&mut self, name: &str, value: &mut u64) -> H5Result {
        put(self.0, name, value)
    }
    fn count_since_2(&mut self, name: &str, value: &mut u64) -> H5Result {
        self.count(name, value)
    }
    fn count_if_any(&mut self, name: &str, value: &mut u64) -> H5Result {
        if *value == 0 { Ok(()) } else { self.count(name, value) }
    }
    fn digest(&mut self, name: &str, value: &mut Option<Digest>) -> H5Result {
        value.map_or(Ok(()), |digest| put_text(self.0, name, &digest.to_string()))
    }
    fn float(&mut self, name: &str, value: &mut f64) -> H5Result {
        put(self.0, name, value)
    }
    fn float_if_any(&mut self, name: &str, value: &mut Option<f64>) -> H5Result {
        value.map_or(Ok(()), |value| put(self.0, name, &value))
    }
    fn vector(&mut self, name: &str, value: &mut Vec3) -> H5Result {
        put_array(self.0, name, value.as_slice())
    }
}

/// Visitor that reads the numbers from the attributes of a group, in a file of a given format version.
struct FromFile<'a>(TisaneGroup<'a>, u64);

impl FromFile<'_> {
    /// Checks that values are finite.
    fn check_finite(&self, name: &str, values: &[f64]) -> Result<()> {
        if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(self.0.error(name, "not a finite number")) }
    }
}

impl StateVisitor<Error> for FromFile<'_> {
    fn count(&mut self, name: &str, value: &mut u64) -> Result<()> {
        *value = self.0.get(name)?;
        Ok(())
    }
    fn count_since_2(&mut self, name: &str, value: &mut u64) -> Result<()> {
        if self.1 < 2 { Ok(()) } else { self.count(name, value) }
    }
    fn count_if_any(&mut self, name: &str, value: &mut u64) -> Result<()> {
        if self.0.has(name) { self.count(name, value) } else { Ok(()) }
    }
    fn digest(&mut self, name: &str, value: &mut Option<Digest>) -> Result<()> {
        if self.0.attributes()?.iter().any(|attribute| attribute == name) {
            let text = self.0.text(name)?;
            *value = Some(Digest::parse(&text).ok_or_else(|| self.0.error(name, "not a SHA-256 in hexadecimal"))?);
        }
        Ok(())
    }
    fn float(&mut self, name: &str, value: &mut f64) -> Result<()> {
        *value = self.0.get(name)?;
        self.check_finite(name, &[*value])
    }
    fn float_if_any(&mut self, name: &str, value: &mut Option<f64>) -> Result<()> {
        if self.0.has(name) { self.float(name, value.get_or_insert_default()) } else { Ok(()) }
    }
    fn vector(&mut self, name: &str, value: &mut Vec3) -> Result<()> {
        *value = self.0.get_array::<_, 3>(name)?.into();
        self.check_finite(name, value.as_slice())
    }
}

/// Writes `checkpoint.hdf5` in `dir` and keeps the previous one as `checkpoint.previous.hdf5`.
///
/// One of the two names holds a complete checkpoint at any instant: the new checkpoint is written and flushed under a
/// temporary name; the present `checkpoint.hdf5`, if it is intact, replaces the previous one by a hard link and a
/// rename; then the new one replaces `checkpoint.hdf5` by a rename. A damaged checkpoint never replaces an intact one.
///
/// # Errors
/// [`Error::Storage`] if it cannot be written; the existing checkpoints are kept.
pub fn write<'a>(dir: &Path, checkpoint: impl Into<CheckpointRef<'a>>) -> Result<()> {
    let newest = dir.join(NEWEST);
    let checkpoint = checkpoint.into();
    let pending = hdf::write_pending(&newest, FileKind::Checkpoint, |root| fill(root, checkpoint))?;
    if checksum::check(&newest).is_ok_and(|status| status == ChecksumStatus::Valid) {
        keep_as_previous(&newest, &dir.join(PREVIOUS))?;
    }
    pending.commit()
}

/// Writes a checkpoint as one file of any name, atomically: a file of that name is replaced, whole or not at all.
///
/// # Errors
/// [`Error::Storage`] if it cannot be written.
pub fn write_file<'a>(path: &Path, checkpoint: impl Into<CheckpointRef<'a>>) -> Result<()> {
    let checkpoint = checkpoint.into();
    hdf::write_pending(path, FileKind::Checkpoint, |root| fill(root, checkpoint))?.commit()
}

/// Gives the newest checkpoint the name of the previous one as well.
fn keep_as_previous(newest: &Path, previous: &Path) -> Result<()> {
    let link = temporary_name(previous)?;
    remove_if_present(&link).map_err(|e| Error::storage(&link, e))?;
    if fs::hard_link(newest, &link).is_err() {
        // The file system has no hard links: until the next rename only the previous checkpoint exists.
        return rename_durably(newest, previous);
    }
    rename_durably(&link, previous)?;
    // After a kill between the two renames both names were the same file; renaming one to the other then leaves both.
    remove_if_present(&link).map_err(|e| Error::storage(&link, e))
}

fn fill(root: &Group, c: CheckpointRef<'_>) -> H5Result {
    put_text(root, "note", "internal units: G = 1; user units = internal units times the scale_* attributes of /Run")?;
    visit(&mut { *c.run }, &mut ToFile(&new_group(root, "Run")?))?;
    fill_particles(&new_group(root, "Particles")?, c.particles)?;
    history::write(c.history, &new_group(root, "History")?)?;
    provenance::write(c.provenance, &new_group(root, "Provenance")?)
}

fn fill_particles(g: &Group, p: &Particles) -> H5Result {
    put(g, "n", &(p.len() as u64))?;
    put_dataset(g, "id", 1, &p.id)?;
    put_dataset(g, "mass", 1, &p.mass)?;
    put_dataset(g, "position", 3, components(&p.pos))?;
    put_dataset(g, "velocity", 3, components(&p.vel))?;
    if !p.radius.is_empty() {
        put_dataset(g, RADIUS, 1, &p.radius)?;
    }
    put_dataset(g, "acceleration", 3, components(&p.acc))?;
    put_dataset(g, "jerk", 3, components(&p.jerk))?;
    put_dataset(g, "potential", 1, &p.pot)?;
    put_dataset(g, "time_ticks", 1, &p.time.iter().map(|t| t.0).collect::<Vec<_>>())?;
    put_dataset(g, "level", 1, &p.step.iter().map(|level| level.0).collect::<Vec<_>>())?;
    named_columns::write(g, &p.columns)?;
    states::write(g, &p.states)
}

/// Reads a checkpoint and checks that it is complete and consistent.
///
/// # Errors
/// [`Error::Input`] if it is missing, truncated, damaged, of another kind or a newer version, or has values that no run
/// produces.
pub fn read(path: &Path) -> Result<Checkpoint> {
    let tree = TisaneFile::open(path, &[FileKind::Checkpoint], true)?;
    let mut run = header::unread();
    visit(&mut run, &mut FromFile(tree.group("Run")?, tree.version))?;
    let particles = read_particles(&tree.group("Particles")?)?;
    states::check_times(path, &particles, run.now)?;
    let history = if tree.version < 2 { History::default() } else { history::read(&tree.group("History")?)? };
    Ok(Checkpoint { particles, run, history, provenance: provenance::read(&tree.group("Provenance")?, tree.version)? })
}

/// Reads the particles and checks values, levels and ids.
fn read_particles(g: &TisaneGroup<'_>) -> Result<Particles> {
    let n = usize::try_from(g.get::<u64>("n")?).map_err(|e| g.error("n", e))?;
    let floats = |name: &str, width| floats(g, name, n, width);
    let vectors = |name: &str| Ok::<_, Error>(from_components(&floats(name, 3)?));
    let id: Vec<u64> = g.column("id", Some(n), 1)?;
    let mut sorted = id.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(g.error("id", "two particles have the same id"));
    }
    Ok(Particles {
        id,
        mass: floats("mass", 1)?,
        pos: vectors("position")?,
        vel: vectors("velocity")?,
        radius: if g.has_dataset(RADIUS) { floats(RADIUS, 1)? } else { Vec::new() },
        columns: named_columns::read(g, n)?,
        acc: vectors("acceleration")?,
        jerk: vectors("jerk")?,
        pot: floats("potential", 1)?,
        time: ticks(g, "time_ticks", n)?,
        step: levels(g, "level", n)?,
        states: states::read(g, n)?,
        close: Vec::new(),
    })
}

/// Reads a column of finite numbers, `width` of them a row.
fn floats(g: &TisaneGroup<'_>, name: &str, n: usize, width: usize) -> Result<Vec<f64>> {
    let values: Vec<f64> = g.column(name, Some(n), width)?;
    if values.iter().all(|v| v.is_finite()) { Ok(values) } else { Err(g.error(name, "a value is not a finite number")) }
}

/// Reads a column of levels.
fn levels(g: &TisaneGroup<'_>, name: &str, n: usize) -> Result<Vec<Level>> {
    let levels: Vec<u8> = g.column(name, Some(n), 1)?;
    if levels.iter().any(|&level| level > Level::DEEPEST.0) {
        return Err(g.error(name, format!("a level is above {}", Level::DEEPEST.0)));
    }
    Ok(levels.into_iter().map(Level).collect())
}

/// Reads a column of times.
fn ticks(g: &TisaneGroup<'_>, name: &str, n: usize) -> Result<Vec<Time>> {
    Ok(g.column::<u64>(name, Some(n), 1)?.into_iter().map(Time).collect())
}

/// Reads the newest valid checkpoint of an output directory: `checkpoint.hdf5`, or the previous one if that is missing
/// or damaged. The text then gives the reason.
///
/// # Errors
/// [`Error::Input`] with both reasons if neither is valid.
pub fn read_newest(dir: &Path) -> Result<(Checkpoint, Option<String>)> {
    let newest = match read(&dir.join(NEWEST)) {
        Ok(checkpoint) => return Ok((checkpoint, None)),
        Err(error) => error,
    };
    match read(&dir.join(PREVIOUS)) {
        Ok(checkpoint) => Ok((checkpoint, Some(format!("{newest}; using {PREVIOUS} instead")))),
        Err(previous) => {
            let problem = format!("no valid checkpoint here:\n  {newest}\n  {previous}");
            let began = dir.join(super::directory::names::LOG).is_file();
            Err(Error::input(dir, problem).with_help(match began {
                true => {
                    "if this run ended before its first checkpoint, nothing is lost: begin it anew with `tisane run \
                     --overwrite`"
                }
                false => "give the output directory of a run that wrote checkpoints",
            }))
        }
    }
}
