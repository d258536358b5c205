//! Earlier points of the particles in a checkpoint, which only multi-point schemes have.

use super::ticks;
use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::Result;
use tisane::particles::{History, MOST_DERIVATIVES, MOST_POINTS, Point, Vec3, components};

/// Attribute with the number of earlier points that the particles keep, if any.
const EARLIER_POINTS: &str = "earlier_points";
/// Attribute with the number of derivatives of the acceleration from the second on, where there are earlier points.
const DERIVATIVES: &str = "derivatives";

/// Writes what multi-point schemes keep of the particles; nothing for other schemes.
pub(super) fn write(g: &Group, history: &History) -> H5Result {
    let History { derivatives, points } = history;
    if points.is_empty() && derivatives.is_empty() {
        return Ok(());
    }
    put(g, EARLIER_POINTS, &(points.len() as u64))?;
    put(g, DERIVATIVES, &(derivatives.len() as u64))?;
    for (k, column) in derivatives.iter().enumerate() {
        put_dataset(g, &format!("derivative_{}", k + 2), 3, components(column))?;
    }
    for (k, point) in points.iter().enumerate().map(|(k, point)| (k + 1, point)) {
        put_dataset(g, &format!("acceleration_before_{k}"), 3, components(&point.acc))?;
        put_dataset(g, &format!("jerk_before_{k}"), 3, components(&point.jerk))?;
        let ticks: Vec<u64> = point.time.iter().map(|t| t.0).collect();
        put_dataset(g, &format!("time_ticks_before_{k}"), 1, &ticks)?;
    }
    Ok(())
}

/// Reads the earlier points of `n` particles, whose columns of vectors `vectors` reads; none where there are none.
pub(super) fn read(g: &TisaneGroup<'_>, n: usize, vectors: impl Fn(&str) -> Result<Vec<Vec3>>) -> Result<History> {
    let mut history = History::default();
    if g.has(EARLIER_POINTS) {
        let count = |name: &str, most: usize| match g.get::<u64>(name)? {
            found if found <= most as u64 => Ok(found),
            found => Err(g.error(name, format!("expected at most {most}, found {found}"))),
        };
        for k in 0..count(DERIVATIVES, MOST_DERIVATIVES)? {
            history.derivatives.push(vectors(&format!("derivative_{}", k + 2))?);
        }
        for k in 1..=count(EARLIER_POINTS, MOST_POINTS)? {
            history.points.push(Point {
                acc: vectors(&format!("acceleration_before_{k}"))?,
                jerk: vectors(&format!("jerk_before_{k}"))?,
                time: ticks(g, &format!("time_ticks_before_{k}"), n)?,
            });
        }
    }
    Ok(history)
}
