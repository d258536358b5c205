//! State of a neighbour scheme in a checkpoint, which other schemes do not have.

use super::earlier_points::{self, Names};
use super::{levels, ticks};
use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::Result;
use tisane::particles::{Neighbours, Vec3, components};

/// Attribute with the number of entries in all lists, which only neighbour schemes have.
const ENTRIES: &str = "neighbours";
/// Dataset of the numbers of entries in the lists, and of the entries of all lists, one after the other.
const COUNTS: &str = "neighbour_counts";
const LISTS: &str = "neighbour_lists";

/// Writes the state; nothing where there is none.
pub(super) fn write(g: &Group, state: &Neighbours) -> H5Result {
    if state.is_empty() {
        return Ok(());
    }
    let counts: Vec<u32> = state.lists.iter().map(|list| list.len() as u32).collect();
    let lists: Vec<u32> = state.lists.concat();
    put(g, ENTRIES, &(lists.len() as u64))?;
    for (name, column) in [
        ("irregular_acceleration", &state.acc),
        ("irregular_jerk", &state.jerk),
        ("regular_acceleration", &state.regular_acc),
        ("regular_jerk", &state.regular_jerk),
    ] {
        put_dataset(g, name, 3, components(column))?;
    }
    put_dataset(g, "regular_potential", 1, &state.regular_pot)?;
    put_dataset(g, "regular_time_ticks", 1, &state.regular_time.iter().map(|t| t.0).collect::<Vec<_>>())?;
    put_dataset(g, "regular_level", 1, &state.regular_step.iter().map(|level| level.0).collect::<Vec<_>>())?;
    earlier_points::write(g, Names::OF_REGULAR, &state.regular_history)?;
    put_dataset(g, "neighbour_radius", 1, &state.radius)?;
    put_dataset(g, COUNTS, 1, &counts)?;
    put_dataset(g, LISTS, 1, &lists).map(drop)
}

/// Reads the state of `n` particles, whose columns of vectors and numbers are read by the functions given.
pub(super) fn read(
    g: &TisaneGroup<'_>,
    n: usize,
    vectors: impl Fn(&str) -> Result<Vec<Vec3>>,
    numbers: impl Fn(&str) -> Result<Vec<f64>>,
) -> Result<Neighbours> {
    if !g.has(ENTRIES) {
        return Ok(Neighbours::default());
    }
    let entries = usize::try_from(g.get::<u64>(ENTRIES)?).map_err(|e| g.error(ENTRIES, e))?;
    let counts: Vec<u32> = g.column(COUNTS, Some(n), 1)?;
    if counts.iter().map(|&count| count as usize).sum::<usize>() != entries {
        return Err(g.error(COUNTS, format!("expected {entries} entries in all")));
    }
    let all: Vec<u32> = g.column(LISTS, Some(entries), 1)?;
    let mut rest = all.as_slice();
    let mut list = |count: &u32| {
        let (list, after) = rest.split_at((*count as usize).min(rest.len()));
        rest = after;
        list.to_vec()
    };
    let state = Neighbours {
        lists: counts.iter().map(&mut list).collect(),
        acc: vectors("irregular_acceleration")?,
        jerk: vectors("irregular_jerk")?,
        regular_acc: vectors("regular_acceleration")?,
        regular_jerk: vectors("regular_jerk")?,
        regular_pot: numbers("regular_potential")?,
        regular_time: ticks(g, "regular_time_ticks", n)?,
        regular_step: levels(g, "regular_level", n)?,
        regular_history: earlier_points::read(g, Names::OF_REGULAR, n, &vectors)?,
        radius: numbers("neighbour_radius")?,
    };
    let [points, derivatives] = [state.regular_history.points.len(), state.regular_history.derivatives.len()];
    if !state.has(n, points, derivatives) {
        return Err(g.error(LISTS, "expected ascending numbers of other particles in each list"));
    }
    Ok(state)
}
