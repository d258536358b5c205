//! One screen about a file that tisane wrote.

use super::fields::Value;
use super::hdf::Kind;
use super::hdf::read::{Node, Tree};
use super::provenance::{self, Provenance};
use super::seal::Seal;
use super::table::{self, Table};
use super::user_units::{self, UserUnits};
use super::{checkpoint, snapshot};
use crate::error::Result;
use crate::particles::Vec3;
use crate::units::Dimension;
use std::fmt::Display;
use std::path::Path;

/// Describes a snapshot, a checkpoint or diagnostics (CSV or HDF5), checking all of it: kind, versions, N, time, units, energies,
/// hashes, provenance, datasets.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) if the file is missing, damaged, or not one that tisane wrote.
pub fn describe(path: &Path) -> Result<String> {
    let mut page = Page::default();
    page.line("file", path.display());
    if path.extension().is_some_and(|extension| extension == "csv") {
        page.line("kind", "tisane diagnostics, CSV");
        describe_table(&mut page, &table::read_csv(path)?, None);
        return Ok(page.0);
    }
    let tree = Tree::open(path, &Kind::ALL, false)?;
    page.line("kind", format!("{}, format version {}", tree.kind.text(), tree.root().get::<u64>("format_version")?));
    match tree.kind {
        Kind::Snapshot => describe_snapshot(&mut page, path, &tree)?,
        Kind::Checkpoint => describe_checkpoint(&mut page, path, &tree)?,
        Kind::Diagnostics => {
            let units = user_units::read(&tree.group("Units")?)?;
            describe_table(&mut page, &table::read_hdf5(path)?, Some(&units));
            page.provenance(&provenance::read(&tree.group("Provenance")?)?);
        }
    }
    page.line(
        "bytes",
        match tree.seal {
            Seal::Whole => "match the SHA-256 at the end of the file",
            _ => "no SHA-256 at the end of the file: repacked or changed by another program",
        },
    );
    Ok(page.0)
}

/// Lines of a name and a value.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, name: &str, value: impl Display) {
        self.0.push_str(&format!("{name:<28} {value}\n"));
    }

    fn provenance(&mut self, p: &Provenance) {
        self.line("written by", format!("tisane {} ({}) on {}, {}", p.version, p.git_commit, p.host, p.created));
        self.line("force", format!("engine {}, precision {}", p.engine, p.precision));
        if let Some(seed) = p.seed {
            self.line("seed", seed);
        }
    }

    fn units(&mut self, units: &UserUnits) {
        let UserUnits { system, mass, length, velocity, time, .. } = units;
        self.line("units", format!("{system}: mass {mass}, length {length}, velocity {velocity}, time {time}"));
    }

    fn datasets(&mut self, group: &Node<'_>, unit: bool) -> Result<()> {
        for name in group.members()? {
            let shape = group.shape(&name)?.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
            let unit = if unit { format!(", in {}", group.text_of(&name, "unit")?) } else { String::new() };
            self.line(&format!("  {name}"), shape + &unit);
        }
        Ok(())
    }
}

fn describe_snapshot(page: &mut Page, path: &Path, tree: &Tree) -> Result<()> {
    let s = snapshot::read(path)?;
    let unit = |d| s.units.text(d);
    page.line("particles", s.mass.len());
    page.line("time", format!("{} {}", s.time, unit(Dimension::TIME)));
    page.line("total mass", format!("{} {}", crate::sum::sum(s.mass.iter().copied()), unit(Dimension::MASS)));
    page.units(&s.units);
    let (kinetic, potential) = energies(&s.mass, &s.vel, &s.pot);
    page.line("energy", format!("{} {}", kinetic + potential, unit(Dimension::ENERGY)));
    page.line("  kinetic, potential", format!("{kinetic}, {potential}; T/|U| = {}", kinetic / potential.abs()));
    page.line("values", format!("match their SHA-256 {}", s.content_sha256));
    page.provenance(&s.provenance);
    page.line("datasets", "");
    page.datasets(&tree.group(snapshot::PARTICLES)?, true)
}

fn describe_checkpoint(page: &mut Page, path: &Path, tree: &Tree) -> Result<()> {
    let c = checkpoint::read(path)?;
    let (p, run) = (&c.particles, &c.run);
    page.line("particles", p.len());
    let time = run.clock.time(run.now) * run.scale.of(Dimension::TIME);
    let synchronised = if run.now.is_synchronised() { "synchronised" } else { "between synchronised times" };
    page.line("time", format!("{time} in the user's unit, {synchronised}"));
    page.line("initial energy", format!("{} in internal units (G = 1)", run.references.energy));
    page.line("max |dE/E0|", format!("{:e}", run.references.max_relative_energy_error));
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

fn describe_table(page: &mut Page, table: &Table, units: Option<&UserUnits>) {
    page.line("rows", table.rows());
    page.line("columns", table.columns.len());
    if let Some(units) = units {
        page.units(units);
    }
    page.line("last row", "");
    for (name, values) in &table.columns {
        match values.last() {
            // Most of the 37 levels are empty.
            Some(Value::Count(0)) | None => {}
            Some(Value::Count(n)) => page.line(&format!("  {name}"), n),
            Some(Value::Float(x)) => page.line(&format!("  {name}"), format!("{x:?}")),
        }
    }
}

/// Kinetic and potential energy.
fn energies(mass: &[f64], vel: &[Vec3], pot: &[f64]) -> (f64, f64) {
    let kinetic = mass.iter().zip(vel).map(|(m, [x, y, z])| 0.5 * m * (x * x + y * y + z * z));
    let potential = mass.iter().zip(pot).map(|(m, phi)| 0.5 * m * phi);
    (crate::sum::sum(kinetic), crate::sum::sum(potential))
}
