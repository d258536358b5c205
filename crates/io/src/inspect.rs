//! Description of a file, as printed by `tisane inspect`.

use super::checksum::ChecksumStatus;
use super::fields::Journal;
use super::file_units;
use super::formats::{self, Datasets, FileState};
use super::hdf::FileKind;
use super::hdf::read::{TisaneFile, TisaneGroup};
use super::provenance::{self, Provenance};
use super::subsystem_stars::SUBSYSTEM_STARS;
use super::table::{self, Table, Value};
use super::{checkpoint, snapshot, subsystem_table};
use std::fmt::Display;
use std::path::Path;
use tisane::compensated_sum::sum;
use tisane::error::{Error, Result};
use tisane::particles::Vec3;
use tisane::units::{Dimension, Units};

/// Describes a snapshot, a checkpoint, a journal (CSV or HDF5) or a file of particles in one of the [`formats`], after
/// checking all of it: kind, versions, N, time, units, masses, extent, velocities, energies, hashes, provenance,
/// datasets, as far as present.
///
/// # Errors
/// [`Error::Input`] if the file is missing, damaged, or not readable by tisane.
pub fn describe(path: &Path) -> Result<String> {
    let mut page = Page::default();
    page.line("file", path.display());
    if formats::is_packed(path) {
        page.line("packed", "by gzip");
    }
    formats::unpacked(path, |content| describe_content(&mut page, content))?;
    Ok(page.0)
}

fn describe_content(page: &mut Page, path: &Path) -> Result<()> {
    let probe = formats::probe(path)?;
    let guesses = formats::detect(path)?;
    let third_party = guesses.first().is_some_and(|(_, guess)| guess.sure) && !probe.is_from_tisane();
    if probe.is_hdf5() && !third_party {
        if let Some(error) = formats::unrecognised(path, &probe) {
            return Err(error);
        }
        describe_hdf5(page, path)?;
    } else if let Some(journal) = Journal::from_csv(&probe.head) {
        page.line("kind", format!("{}, CSV", FileKind::from_journal(journal).text()));
        describe_table(page, &table::read_csv(path)?, None);
    } else if is_table(&probe.head) {
        let table = table::read(path)?;
        page.line("kind", format!("{}, CSV", FileKind::Table.text()));
        page.line("title", &table.title);
        describe_table(page, &table, None);
    } else if !guesses.is_empty() {
        describe_particles(page, &formats::read(path, None)?);
    } else {
        let help = format!("{}; and the checkpoints and journals of its runs", formats::known());
        let other = || Error::input(path, "not a file that tisane reads").with_help(help);
        return Err(formats::unreadable(path, &probe).unwrap_or_else(other));
    }
    Ok(())
}

/// Returns true for a table as tisane writes it: its comments describe columns.
fn is_table(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut comments = text.lines().take_while(|line| line.starts_with('#'));
    comments.any(|line| line.starts_with("# column ") && line.contains(": "))
}

/// Describes a file of particles in the given format, for content that fits several formats.
///
/// # Errors
/// [`Error::Input`] if there is no such format, or the file is not in it.
pub fn describe_as(path: &Path, format: &str) -> Result<String> {
    let mut page = Page::default();
    page.line("file", path.display());
    describe_particles(&mut page, &formats::read(path, Some(format))?);
    Ok(page.0)
}

/// Describes a file of particles in the datasets that are named.
///
/// # Errors
/// As [`formats::read_datasets`].
pub fn describe_datasets(path: &Path, datasets: &Datasets) -> Result<String> {
    let mut page = Page::default();
    page.line("file", path.display());
    describe_particles(&mut page, &formats::read_datasets(path, datasets)?);
    Ok(page.0)
}

fn describe_hdf5(page: &mut Page, path: &Path) -> Result<()> {
    let tree = TisaneFile::open(path, &FileKind::ALL, false)?;
    page.line("kind", format!("{}, format version {}", tree.kind.text(), tree.version));
    match tree.kind {
        FileKind::Snapshot => describe_snapshot(page, path, &tree)?,
        FileKind::Checkpoint => describe_checkpoint(page, path, &tree)?,
        FileKind::Diagnostics
        | FileKind::Cluster
        | FileKind::Binaries
        | FileKind::Events
        | FileKind::Encounters
        | FileKind::Stars
        | FileKind::Stellar => {
            let units = file_units::read(&tree.group("Units")?)?.units;
            describe_table(page, &table::hdf5_file::read_tree(path, &tree, true)?, Some(&units));
            page.provenance(&provenance::read(&tree.group("Provenance")?, tree.version)?);
        }
        FileKind::Members => {
            let states = checkpoint::members_in_progress(&tree)?.len();
            page.line("members", format!("{states} in progress"));
        }
        FileKind::Table => describe_result(page, &table::hdf5_file::read_tree(path, &tree, false)?),
    }
    page.line(
        "bytes",
        match tree.checksum {
            ChecksumStatus::Valid => "match the SHA-256 at the end of the file",
            _ => "no SHA-256 at the end of the file: repacked or modified by another program",
        },
    );
    Ok(())
}

/// Describes the table of a result: title, remarks and columns.
fn describe_result(page: &mut Page, table: &Table) {
    page.line("title", &table.title);
    for (name, value) in &table.remarks {
        page.line(name, value);
    }
    for column in &table.columns {
        page.line(&column.name, format!("[{}] {}", column.unit, column.description));
    }
}

/// Lines with a name and a value.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl Display) {
        self.0.push_str(&format!("{name:<28} {value}\n"));
    }

    fn provenance(&mut self, p: &Provenance) {
        self.line("written by", format!("tisane {} ({}) on {}, {}", p.version, p.git_commit, p.host, p.created));
        if !p.build_rustc.is_empty() {
            let features = if p.build_features.is_empty() { "none" } else { &p.build_features };
            let build = format!("{}, {}, opt-level {}", p.build_rustc, p.build_target, p.build_opt_level);
            self.line("built", format!("by {build}, features {features}"));
            self.line("machine", format!("{} ({})", p.cpu, p.cpu_features));
        }
        self.line("force", format!("engine {}, precision {}", p.engine, p.precision));
        if !p.gpu.is_empty() {
            self.line("gpu", &p.gpu);
        }
        for input in p.inputs().unwrap_or_default() {
            self.line("input file", input.file);
        }
        if !p.initial_sha256.is_empty() {
            self.line("initial_sha256", &p.initial_sha256);
        }
        if let Some(seed) = p.seed {
            self.line("seed", seed);
        }
    }

    fn units(&mut self, units: &Units) {
        let system = if units.is_henon() { "Henon" } else { "physical" };
        let [mass, length, velocity, time] =
            [&units.mass, &units.length, &units.velocity, &units.time].map(|u| &u.name);
        self.line("units", format!("{system}: mass {mass}, length {length}, velocity {velocity}, time {time}"));
    }

    /// Adds number, masses, extent and speeds of particles, with units if the file states them.
    fn particles(&mut self, mass: &[f64], pos: &[Vec3], vel: &[Vec3], units: Option<&Units>) {
        let unit = |d| units.map_or(String::new(), |units| format!(" {}", units.label(d)));
        self.line("particles", mass.len());
        self.line("total mass", format!("{}{}", sum(mass.iter().copied()), unit(Dimension::MASS)));
        self.line("  of one particle", range(mass.iter().copied()) + &unit(Dimension::MASS));
        for (k, axis) in ["extent in x", "  in y", "  in z"].into_iter().enumerate() {
            self.line(axis, range(pos.iter().map(|r| r[k])) + &unit(Dimension::LENGTH));
        }
        let speeds = vel.iter().map(|v| v.norm());
        self.line("speeds", range(speeds) + &unit(Dimension::VELOCITY));
    }

    fn datasets(&mut self, group: &TisaneGroup<'_>, unit: bool) -> Result<()> {
        for name in group.members()? {
            let shape = group.shape(&name)?.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
            let unit = if unit { format!(", in {}", group.dataset_text(&name, "unit")?) } else { String::new() };
            self.line(&format!("  {name}"), shape + &unit);
        }
        Ok(())
    }
}

fn describe_snapshot(page: &mut Page, path: &Path, tree: &TisaneFile) -> Result<()> {
    let s = snapshot::read(path)?;
    let units = &s.units.units;
    page.line("time", format!("{} {}", s.time, units.label(Dimension::TIME)));
    page.units(units);
    page.particles(&s.mass, &s.pos, &s.vel, Some(units));
    let (kinetic, potential) = energies(&s.mass, &s.vel, &s.pot);
    page.line("energy", format!("{} {}", kinetic + potential, units.label(Dimension::ENERGY)));
    page.line("  kinetic, potential", format!("{kinetic}, {potential}; T/|U| = {}", kinetic / potential.abs()));
    page.line("values", format!("match their SHA-256 {}", s.content_sha256));
    page.provenance(&s.provenance);
    page.line("datasets", "");
    page.datasets(&tree.group(snapshot::PARTICLES)?, true)?;
    if tree.root().members()?.iter().any(|name| name == subsystem_table::SUBSYSTEMS) {
        page.line("subsystems", "each followed by those inside of it");
        page.datasets(&tree.group(subsystem_table::SUBSYSTEMS)?, true)?;
    }
    if tree.root().has_dataset(SUBSYSTEM_STARS) {
        page.line("stars of subsystems", "relative to their centres of mass");
        page.datasets(&tree.group(SUBSYSTEM_STARS)?, true)?;
    }
    Ok(())
}

/// Describes a file of particles.
fn describe_particles(page: &mut Page, state: &FileState) {
    page.line("kind", format!("particles, {} format", state.format));
    page.line("format", &state.guess);
    let unit = |d| state.units.as_ref().map_or(String::new(), |units| format!(" {}", units.label(d)));
    if let Some(time) = state.time {
        page.line("time", format!("{time}{}", unit(Dimension::TIME)));
    }
    match &state.units {
        Some(units) => page.units(units),
        None => page.line("units", "not stated in the file"),
    }
    let length = state.units.as_ref().map_or("in the file's unit of length".into(), |u| u.label(Dimension::LENGTH));
    if let Some(lengths) = state.softening_text(&length) {
        page.line("softening of one particle", format!("{lengths}; tisane has one for all, softening.epsilon"));
    }
    let p = &state.particles;
    page.particles(&p.mass, &p.pos, &p.vel, state.units.as_ref());
    let ids = p.id.iter().fold([u64::MAX, 0], |[min, max], &id| [min.min(id), max.max(id)]);
    page.line("ids", format!("{} to {}", ids[0], ids[1]));
    for note in &state.notes {
        page.line("note", note);
    }
}

fn describe_checkpoint(page: &mut Page, path: &Path, tree: &TisaneFile) -> Result<()> {
    let c = checkpoint::read(path)?;
    let (p, run, units) = (&c.particles, &c.run, c.provenance.units());
    // Checkpoints whose configuration does not name the units are not written by runs.
    let unit = |d: Dimension| units.as_ref().map_or("in the user's unit".into(), |units| units.label(d));
    page.line("particles", p.len());
    let synchronised = if run.now.is_synchronised() { "synchronised" } else { "between synchronised times" };
    page.line("time", format!("{} {}, {synchronised}", run.time(), unit(Dimension::TIME)));
    if let Some(units) = &units {
        page.units(units);
    }
    let energy = run.references.energy * run.scale.factor(Dimension::ENERGY);
    page.line("initial energy", format!("{energy} {}", unit(Dimension::ENERGY)));
    page.line("max energy error", format!("{:e}", run.references.max_relative_energy_error));
    let counters = run.counters;
    page.line("block steps", counters.block_steps);
    page.line("particle steps", counters.particle_steps);
    page.line("pair interactions", counters.pair_interactions);
    page.line("snapshots, rows", format!("{}, {}", run.written.snapshots, run.written.diagnostics_rows));
    page.line("wall time", format!("{:.1} s", run.wall_seconds));
    page.line("state_sha256", p.state_sha256(&run.clock));
    page.provenance(&c.provenance);
    page.line("datasets", "in internal units (G = 1)");
    page.datasets(&tree.group("Particles")?, false)
}

fn describe_table(page: &mut Page, table: &Table, units: Option<&Units>) {
    page.line("rows", table.rows());
    page.line("columns", table.columns.len());
    if let Some(units) = units {
        page.units(units);
    }
    page.line("last row", "");
    for column in &table.columns {
        let name = &column.name;
        match column.values.last() {
            // Skips zero counts: most of the 37 levels are empty.
            Some(Value::Count(0)) | None => {}
            Some(Value::Count(n)) => page.line(&format!("  {name}"), n),
            Some(Value::Float(x)) => page.line(&format!("  {name}"), format!("{x:?}")),
            Some(Value::Text(text)) => page.line(&format!("  {name}"), text),
        }
    }
}

/// Returns the kinetic and the potential energy.
fn energies(mass: &[f64], vel: &[Vec3], pot: &[f64]) -> (f64, f64) {
    let kinetic = mass.iter().zip(vel).map(|(m, v)| 0.5 * m * v.norm_squared());
    let potential = mass.iter().zip(pot).map(|(m, phi)| 0.5 * m * phi);
    (sum(kinetic), sum(potential))
}

/// Formats the smallest and the largest value.
fn range(values: impl Iterator<Item = f64>) -> String {
    let (min, max) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    format!("{min} to {max}")
}
