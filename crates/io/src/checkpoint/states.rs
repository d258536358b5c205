//! States of schemes in a checkpoint: their sizes as attributes, and their columns as datasets, under the names that the
//! schemes give them.

use super::columns::{floats, levels, ticks};
use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::particles::{Particles, components, from_components};
use tisane::saved_states;
use tisane::states::{Column, Sizes, States, Values, ValuesMut};
use tisane::time::{Level, Time};

/// Writes the states.
pub(super) fn write(g: &Group, states: &States) -> H5Result {
    for state in states.iter() {
        for (name, size) in state.sizes() {
            put(g, &name, &(size as u64))?;
        }
        for Column { name, values, .. } in state.columns() {
            match values {
                Values::Vectors(of) => put_dataset(g, &name, 3, components(of))?,
                Values::Numbers(of) => put_dataset(g, &name, 1, of)?,
                Values::Words(of) | Values::Digits(of) => put_with_length(g, &name, of)?,
                Values::Reals(of) => put_with_length(g, &name, of)?,
                Values::Moments(of) => put_ticks(g, &name, of)?,
                Values::Steps(of, levels) => {
                    put_ticks(g, &moments(&name), of)?;
                    let levels: Vec<u8> = levels.iter().map(|level| level.0).collect();
                    put_dataset(g, &steps(&name), 1, &levels)?
                }
                Values::Lists(of) => {
                    let [counts, entries] = lists(&name);
                    let lengths: Vec<u32> = of.iter().map(|list| list.len() as u32).collect();
                    let all: Vec<u32> = of.concat();
                    put(g, &sum(&name), &(all.len() as u64))?;
                    put_dataset(g, &counts, 1, &lengths)?;
                    put_dataset(g, &entries, 1, &all)?
                }
            };
        }
    }
    Ok(())
}

/// Writes a column without a row for each particle, with its length as an attribute of the same name.
fn put_with_length<T: hdf5::H5Type>(g: &Group, name: &str, values: &[T]) -> hdf5::Result<hdf5::Dataset> {
    put(g, name, &(values.len() as u64))?;
    put_dataset(g, name, 1, values)
}

fn put_ticks(g: &Group, name: &str, moments: &[Time]) -> hdf5::Result<hdf5::Dataset> {
    put_dataset(g, name, 1, &moments.iter().map(|time| time.0).collect::<Vec<u64>>())
}

/// Names of the two datasets of steps.
fn moments(name: &str) -> String {
    format!("{name}time_ticks")
}

fn steps(name: &str) -> String {
    format!("{name}level")
}

/// Names of the two datasets of lists: of their lengths, and of the entries of all, one after the other.
fn lists(name: &str) -> [String; 2] {
    ["counts", "lists"].map(|of| format!("{name}_{of}"))
}

/// Name of the attribute with the number of entries of all lists.
fn sum(name: &str) -> String {
    format!("{name}s")
}

/// Sizes as attributes of a group.
struct Attributes<'a, 'b>(&'a TisaneGroup<'b>);

impl Sizes for Attributes<'_, '_> {
    fn find(&self, name: &str, max: usize) -> Result<Option<usize>> {
        if self.0.has(name) { self.get(name, max).map(Some) } else { Ok(None) }
    }

    fn get(&self, name: &str, max: usize) -> Result<usize> {
        match self.0.get::<u64>(name)? {
            found if found <= max as u64 => Ok(found as usize),
            found => Err(self.0.error(name, format!("expected at most {max}, found {found}"))),
        }
    }
}

/// Reads the states of `n` particles.
pub(super) fn read(g: &TisaneGroup<'_>, n: usize) -> Result<States> {
    let mut states = saved_states::of_sizes(n, &Attributes(g))?;
    for column in states.iter_mut().flat_map(|state| state.columns_mut()) {
        let name = &*column.name;
        match column.values {
            ValuesMut::Vectors(of) => *of = from_components(&floats(g, name, n, 3)?),
            ValuesMut::Numbers(of) => *of = floats(g, name, n, 1)?,
            ValuesMut::Reals(of) => *of = floats(g, name, Attributes(g).get(name, usize::MAX)?, 1)?,
            ValuesMut::Words(of) | ValuesMut::Digits(of) => {
                *of = g.column(name, Some(Attributes(g).get(name, usize::MAX)?), 1)?
            }
            ValuesMut::Moments(of) => *of = ticks(g, name, n)?,
            ValuesMut::Steps(of, to) => (*of, *to) = (ticks(g, &moments(name), n)?, levels(g, &steps(name), n)?),
            ValuesMut::Lists(of) => *of = read_lists(g, name, n)?,
        }
    }
    Ok(states)
}

/// Reads lists of other particles.
fn read_lists(g: &TisaneGroup<'_>, name: &str, n: usize) -> Result<Vec<Vec<u32>>> {
    let (sum, [counts, lists]) = (sum(name), lists(name));
    let entries = Attributes(g).get(&sum, usize::MAX)?;
    let lengths: Vec<u32> = g.column(&counts, Some(n), 1)?;
    if lengths.iter().map(|&length| length as usize).sum::<usize>() != entries {
        return Err(g.error(&counts, format!("expected {entries} entries in all")));
    }
    let all: Vec<u32> = g.column(&lists, Some(entries), 1)?;
    let mut rest = all.as_slice();
    let mut found = Vec::with_capacity(n);
    for (i, length) in lengths.into_iter().enumerate() {
        let (list, after) = rest.split_at((length as usize).min(rest.len()));
        let is_list = list.windows(2).all(|pair| pair[0] < pair[1])
            && list.last().is_none_or(|&j| (j as usize) < n)
            && list.binary_search(&(i as u32)).is_err();
        if !is_list {
            return Err(g.error(&lists, "expected ascending numbers of other particles in each list"));
        }
        found.push(list.to_vec());
        rest = after;
    }
    Ok(found)
}

/// Checks that every step of the particles and of their schemes began at a multiple of its length and not after the moment
/// of the run, and that no earlier point is after the next one.
pub(super) fn check_times(path: &Path, p: &Particles, now: Time) -> Result<()> {
    let wrong = |row: Option<usize>, name: &str, problem: &str| match row.and_then(|i| p.id.get(i)) {
        Some(id) => Err(Error::input(path, format!("/Particles/{name}: particle {id} is {problem}"))),
        None => Ok(()),
    };
    let check = |name: &str, time: &[Time], step: &[Level]| {
        let bad = time.iter().zip(step).position(|(time, step)| *time > now || !time.is_multiple_of(*step));
        wrong(bad, &moments(name), "not at a multiple of its step")
    };
    check("", &p.time, &p.step)?;
    for state in p.states.iter() {
        let mut later = p.time.as_slice();
        for Column { name, values, .. } in state.columns() {
            match values {
                Values::Steps(time, level) => {
                    check(&name, time, level)?;
                    later = time;
                }
                Values::Moments(time) => {
                    wrong(time.iter().zip(later).position(|(time, later)| time > later), &name, "at a later point")?;
                    later = time;
                }
                _ => {}
            }
        }
    }
    Ok(())
}
