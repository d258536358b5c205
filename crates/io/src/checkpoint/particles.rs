//! Particles of a checkpoint.

use super::columns::{self, levels, ticks};
use super::{stars, states};
use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_dataset};
use crate::named_columns;
use hdf5::Group;
use tisane::error::{Error, Result};
use tisane::particles::{Particles, components, from_components};

/// Dataset of the radii, if the particles have them.
const RADIUS: &str = "radius";

/// Writes the particles.
pub fn fill(g: &Group, p: &Particles) -> H5Result {
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
    stars::write(g, &p.stars)?;
    states::write(g, &p.states)
}

/// Reads the particles and checks values, levels and ids.
pub fn read(g: &TisaneGroup<'_>) -> Result<Particles> {
    let n = usize::try_from(g.get::<u64>("n")?).map_err(|e| g.error("n", e))?;
    let floats = |name: &str, width| columns::floats(g, name, n, width);
    let vectors = |name: &str| Ok::<_, Error>(from_components(&floats(name, 3)?));
    let id: Vec<u64> = g.column("id", Some(n), 1)?;
    let mut sorted = id.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(g.error("id", "two particles have the same id"));
    }
    let stars = stars::read(g, &id)?;
    Ok(Particles {
        id,
        mass: floats("mass", 1)?,
        pos: vectors("position")?,
        vel: vectors("velocity")?,
        radius: if g.has_dataset(RADIUS) { floats(RADIUS, 1)? } else { Vec::new() },
        columns: named_columns::read(g, n)?,
        stars,
        acc: vectors("acceleration")?,
        jerk: vectors("jerk")?,
        pot: floats("potential", 1)?,
        time: ticks(g, "time_ticks", n)?,
        step: levels(g, "level", n)?,
        states: states::read(g, n)?,
        close: Vec::new(),
    })
}
