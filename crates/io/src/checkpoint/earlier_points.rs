//! Earlier points of the particles in a checkpoint, which only multi-point and neighbour schemes have.

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

/// Names of one history in a file: those of the force, or of the regular part of it.
#[derive(Clone, Copy)]
pub(super) struct Names(&'static str);

impl Names {
    pub const OF_FORCE: Self = Self("");
    pub const OF_REGULAR: Self = Self("regular_");

    fn of(self, name: &str) -> String {
        format!("{}{name}", self.0)
    }

    /// Returns the name of the moments of earlier point `k`, from 1 on.
    pub fn moments(self, k: impl std::fmt::Display) -> String {
        self.of(&format!("time_ticks_before_{k}"))
    }
}

/// Writes what multi-point schemes keep of the particles; nothing for other schemes.
pub(super) fn write(g: &Group, names: Names, history: &History) -> H5Result {
    let History { derivatives, points } = history;
    if points.is_empty() && derivatives.is_empty() {
        return Ok(());
    }
    put(g, &names.of(EARLIER_POINTS), &(points.len() as u64))?;
    put(g, &names.of(DERIVATIVES), &(derivatives.len() as u64))?;
    for (k, column) in derivatives.iter().enumerate() {
        put_dataset(g, &names.of(&format!("derivative_{}", k + 2)), 3, components(column))?;
    }
    for (k, point) in points.iter().enumerate().map(|(k, point)| (k + 1, point)) {
        put_dataset(g, &names.of(&format!("acceleration_before_{k}")), 3, components(&point.acc))?;
        put_dataset(g, &names.of(&format!("jerk_before_{k}")), 3, components(&point.jerk))?;
        let ticks: Vec<u64> = point.time.iter().map(|t| t.0).collect();
        put_dataset(g, &names.moments(k), 1, &ticks)?;
    }
    Ok(())
}

/// Reads the earlier points of `n` particles, whose columns of vectors `vectors` reads; none where there are none.
pub(super) fn read(
    g: &TisaneGroup<'_>,
    names: Names,
    n: usize,
    vectors: impl Fn(&str) -> Result<Vec<Vec3>>,
) -> Result<History> {
    let mut history = History::default();
    if g.has(&names.of(EARLIER_POINTS)) {
        let count = |name: &str, most: usize| match g.get::<u64>(name)? {
            found if found <= most as u64 => Ok(found),
            found => Err(g.error(name, format!("expected at most {most}, found {found}"))),
        };
        for k in 0..count(&names.of(DERIVATIVES), MOST_DERIVATIVES)? {
            history.derivatives.push(vectors(&names.of(&format!("derivative_{}", k + 2)))?);
        }
        for k in 1..=count(&names.of(EARLIER_POINTS), MOST_POINTS)? {
            history.points.push(Point {
                acc: vectors(&names.of(&format!("acceleration_before_{k}")))?,
                jerk: vectors(&names.of(&format!("jerk_before_{k}")))?,
                time: ticks(g, &names.moments(k), n)?,
            });
        }
    }
    Ok(history)
}
