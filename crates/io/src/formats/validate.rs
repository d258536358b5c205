//! Checks of the contents of files of particles, common to all formats.

use super::state::{FileState, columns};
use std::path::Path;
use tisane::{Error, Result};

/// Checks a state read from `path`: at least one particle; mass, position, velocity and radius finite; no
/// negative mass or radius; the total mass finite (it may be zero: test particles in an external field); the time finite;
/// ids unique. O(N log N).
///
/// # Errors
/// [`Error::Input`] with the place of the first invalid value, the expected and the found value.
pub fn validate(path: &Path, state: &FileState) -> Result<()> {
    let p = &state.particles;
    if p.is_empty() {
        return Err(Error::input(path, format!("expected at least one particle, found none ({} file)", state.format)));
    }
    if let Some(time) = state.time.filter(|t| !t.is_finite()) {
        return Err(Error::input(path, format!("the time of the file is {time}: expected a finite number")));
    }
    for i in 0..p.len() {
        if let Some((name, value)) =
            columns(p, i).iter().find_map(|(name, v)| Some((name, v.iter().find(|x| !x.is_finite())?)))
        {
            let problem = format!("{}: {name} is {value}: expected a finite number", state.place(i));
            return Err(Error::input(path, problem)
                .with_help("the program that wrote the file produced an invalid value for this particle"));
        }
        if p.mass[i] < 0.0 {
            let problem = format!("{}: mass is {}: expected zero or more", state.place(i), p.mass[i]);
            return Err(Error::input(path, problem).with_help("check the order of the columns: the mass comes first"));
        }
    }
    if let Some(i) = p.radius.iter().position(|radius| *radius < 0.0) {
        let problem = format!("{}: radius is {}: expected zero or more", state.place(i), p.radius[i]);
        return Err(Error::input(path, problem));
    }
    let total = p.total_mass();
    if !total.is_finite() {
        return Err(Error::input(path, format!("the total mass is {total}: expected a finite number")));
    }
    unique_ids(path, state)
}

/// Checks that ids are unique.
fn unique_ids(path: &Path, state: &FileState) -> Result<()> {
    let id = &state.particles.id;
    let mut order: Vec<usize> = (0..id.len()).collect();
    order.sort_by_key(|&i| (id[i], i));
    match order.windows(2).find(|pair| id[pair[0]] == id[pair[1]]) {
        None => Ok(()),
        Some(pair) => {
            let (first, second) = (state.place(pair[0]), state.place(pair[1]));
            let problem = format!("{second}: id {} was used before at {first}: ids must be unique", id[pair[1]]);
            Err(Error::input(path, problem))
        }
    }
}
