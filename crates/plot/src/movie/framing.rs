//! The first look at the snapshots of a film: what all frames must share.

use super::interpolation::rows_in;
use super::settings::{Centre, Colour, Settings};
use super::shades::{self, REMNANTS, TEMPERATURES};
use crate::snapshots::Look;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tisane::compensated_sum::{sum, sum3};
use tisane::error::{Error, Result};
use tisane::force::external::guide::OrbitState;
use tisane::particles::Vec3;
use tisane_io::file_units::FileUnits;
use tisane_io::snapshot;
use tisane_stellar::State;

/// The view holds this share of the particles of every snapshot, and some room around.
const SHARE: f64 = 0.9;
const ROOM: f64 = 1.15;
/// The colours reach up to the speed that this share of the particles stays below.
const FAST: f64 = 0.98;

/// Data of a snapshot that a film needs.
#[derive(Clone, Debug)]
pub(super) struct Glimpse {
    pub path: PathBuf,
    pub time: f64,
    pub units: FileUnits,
    /// SHA-256 of its values.
    pub content: String,
    /// SHA-256 of the particles that its run began with; empty where the file does not tell.
    start: String,
    /// Place and velocity of a moving origin of coordinates, in the user's units.
    pub orbit: Option<OrbitState>,
    /// Centre of the picture, in the user's unit.
    pub centre: Vec3,
    /// Half the side of a square around it that holds most particles.
    pub half: f64,
    /// Lowest and highest value that has a colour of its own.
    pub range: (f64, f64),
    /// Flag of stars that age, and which remnants are among them.
    pub is_aging: bool,
    pub remnants: [bool; REMNANTS.len()],
}

/// Returns the meaning of the colours of a film for which none is asked: temperature where the stars of the first whole snapshot age,
/// otherwise speed.
#[must_use]
pub fn default_colour(paths: &[PathBuf]) -> Colour {
    let first = paths.iter().find_map(|path| snapshot::read(path).ok());
    if first.is_some_and(|data| !data.stars.is_empty()) { Colour::Temperature } else { Colour::Speed }
}

/// The snapshots that a film can be made of, by time, and what is wrong with the others.
pub(super) fn survey(paths: &[PathBuf], settings: &Settings, seen: impl Fn() + Sync) -> (Vec<Glimpse>, Vec<String>) {
    let look = |path: &PathBuf| {
        let found = glimpse(path, settings);
        seen();
        found
    };
    let (mut kept, mut left_out): (Vec<Glimpse>, Vec<String>) = (Vec::new(), Vec::new());
    let mut ids_before = Vec::new();
    // Ids of a few snapshots are in memory at a time.
    for some in paths.chunks(rayon::current_num_threads()) {
        let found: Vec<Result<(Glimpse, Vec<u64>)>> = some.par_iter().with_max_len(1).map(look).collect();
        for one in found {
            let fits = one.and_then(|(glimpse, ids)| match kept.last() {
                Some(before) => follows((before, &ids_before), (&glimpse, &ids)).map(|()| (glimpse, ids)),
                None => Ok((glimpse, ids)),
            });
            match fits {
                Ok((glimpse, ids)) => {
                    kept.push(glimpse);
                    ids_before = ids;
                }
                Err(why) => left_out.push(why.to_string()),
            }
        }
    }
    (kept, left_out)
}

/// Checks that a snapshot is a later one of the same run. Particles may have come or gone meanwhile: then some are in both, and
/// both name the same start.
fn follows((before, ids_before): (&Glimpse, &[u64]), (glimpse, ids): (&Glimpse, &[u64])) -> Result<()> {
    let wrong = |why| Err(Error::input(&glimpse.path, why));
    if glimpse.units != before.units {
        return wrong("other units than in the snapshots before: of another run");
    }
    if ids != ids_before {
        let both_tell = !glimpse.start.is_empty() && !before.start.is_empty();
        if both_tell && glimpse.start != before.start {
            return wrong("other particles than in the snapshots before, and from another start: of another run");
        }
        if !rows_in(ids_before, ids).any(|row| row.is_some()) {
            return wrong("no particle of the snapshots before: of another run");
        }
    }
    if glimpse.time <= before.time {
        return wrong("not later than the snapshot before");
    }
    Ok(())
}

/// Takes what a film needs from a snapshot, with its ids in order.
fn glimpse(path: &Path, settings: &Settings) -> Result<(Glimpse, Vec<u64>)> {
    let look = Look::read(path)?;
    let stars = &look.stars;
    if stars.is_empty() {
        return Err(Error::input(path, "no particles"));
    }
    let length = look.units.scale.length;
    let centre = match settings.centre {
        Centre::Density => look.centre,
        Centre::Mass => mean(&stars.mass, &stars.pos) * length,
        Centre::Origin => Vec3::zeros(),
    };
    let mut ids = stars.id.clone();
    ids.sort_unstable();
    let distances = stars.pos.iter().map(|x| (x * length - centre).norm()).collect();
    let radius = quantile(distances, SHARE);
    let colours = colours(&look, settings.colour);
    let range = match settings.colour {
        Colour::Speed => (0.0, quantile(colours, FAST)),
        Colour::Temperature => TEMPERATURES,
        Colour::Mass => colours.iter().fold((f64::INFINITY, 0.0), |(low, high), m| (low.min(*m), m.max(high))),
    };
    let glimpse = Glimpse {
        path: path.to_owned(),
        time: look.time,
        orbit: look.orbit,
        centre,
        half: if radius > 0.0 { ROOM * radius } else { 1.0 },
        range,
        is_aging: look.is_aging(),
        remnants: std::array::from_fn(|k| look.stars.states.iter().any(|state| shades::remnant(state) == Some(k))),
        start: look.start,
        content: look.content,
        units: look.units,
    };
    Ok((glimpse, ids))
}

/// Quantity that sets the colours of the particles, in the user's unit and the order of the file; temperatures in K.
pub(super) fn colours(look: &Look, colour: Colour) -> Vec<f64> {
    let (stars, scale) = (&look.stars, &look.units.scale);
    match colour {
        Colour::Mass => stars.mass.iter().map(|m| m * scale.mass).collect(),
        Colour::Temperature => stars.states.iter().map(State::temperature).collect(),
        Colour::Speed => {
            let velocity = mean(&stars.mass, &stars.vel);
            stars.vel.iter().map(|v| (v - velocity).norm() * scale.velocity).collect()
        }
    }
}

/// Mean of some vectors by mass; zero without any.
fn mean(mass: &[f64], vectors: &[Vec3]) -> Vec3 {
    let total = sum(mass.iter().copied());
    let moment = sum3(mass.iter().zip(vectors).map(|(m, x)| x * *m));
    if total > 0.0 { moment / total } else { Vec3::zeros() }
}

/// The value that a share of all stays at or below; 0 of none.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.retain(|x| x.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    let held = (share * values.len() as f64).ceil() as usize;
    values.get(held.saturating_sub(1)).copied().unwrap_or(0.0)
}
