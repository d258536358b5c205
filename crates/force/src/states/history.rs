//! History: derivatives and earlier points of the particles, which multi-point and neighbour schemes keep.

use super::{Column, SchemeState, Sizes, Values, ValuesMut};
use crate::error::Result;
use crate::time::Time;
use crate::units::Dimension;
use crate::vector::Vec3;
use std::borrow::Cow;

/// Largest number of earlier points in a [`History`].
pub const MAX_POINTS: usize = 2;
/// Largest number of derivatives in a [`History`].
pub const MAX_DERIVATIVES: usize = 4;

/// Names of the sizes.
const POINTS: &str = "earlier_points";
const DERIVATIVES: &str = "derivatives";

/// Lists the columns, whose names begin with a prefix, for reading or for changes.
macro_rules! list {
    ($self:ident, $prefix:ident, $Values:ident, $iter:ident) => {{
        let (names, mut found) = (Names($prefix), Vec::new());
        for (k, column) in $self.derivatives.$iter().enumerate() {
            found.push(names.derivative(k, $Values::Vectors(column)));
        }
        for (k, Point { acc, jerk, time }) in $self.points.$iter().enumerate() {
            found.push(names.point("acceleration", Dimension::ACCELERATION, k, $Values::Vectors(acc)));
            found.push(names.point("jerk", Dimension::of_derivative(1), k, $Values::Vectors(jerk)));
            found.push(names.point("time_ticks", Dimension::NONE, k, $Values::Moments(time)));
        }
        found
    }};
}

/// Derivatives and earlier points, in columns of length N; none for schemes that keep none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Derivatives of the acceleration at the particle's own time, from the second on.
    pub derivatives: Vec<Vec<Vec3>>,
    /// Earlier points in time, the latest first.
    pub points: Vec<Point>,
}

/// Earlier point of every particle, in columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Jerk.
    pub jerk: Vec<Vec3>,
    /// Moment of the point. A particle whose moment is not before that of the next point has no such point.
    pub time: Vec<Time>,
}

impl History {
    /// Creates the history of `n` particles at time zero that have no earlier points yet, with room for `points` of them
    /// and for `derivatives`.
    #[must_use]
    pub fn new(n: usize, points: usize, derivatives: usize) -> Self {
        let zeros = || vec![Vec3::zeros(); n];
        let point = || Point { acc: zeros(), jerk: zeros(), time: vec![Time::default(); n] };
        Self {
            derivatives: (0..derivatives).map(|_| zeros()).collect(),
            points: (0..points).map(|_| point()).collect(),
        }
    }

    /// Lets particles at `rows` begin at the moment `now`, without earlier points, among `n`; those at the end may be new.
    pub fn begin(&mut self, n: usize, rows: &[u32], now: Time) {
        let vectors = self.points.iter_mut().flat_map(|Point { acc, jerk, .. }| [acc, jerk]);
        for column in self.derivatives.iter_mut().chain(vectors) {
            begin(column, n, rows, Vec3::zeros());
        }
        for point in &mut self.points {
            begin(&mut point.time, n, rows, now);
        }
    }

    /// Returns true if it has these numbers of points and derivatives, of `n` particles each.
    #[must_use]
    pub fn has(&self, n: usize, points: usize, derivatives: usize) -> bool {
        let is_whole = |point: &Point| [point.acc.len(), point.jerk.len(), point.time.len()] == [n; 3];
        (self.points.len(), self.derivatives.len()) == (points, derivatives)
            && self.points.iter().all(is_whole)
            && self.derivatives.iter().all(|column| column.len() == n)
    }

    /// As [`SchemeState::of_sizes`], with names that begin with a prefix.
    pub(super) fn of_prefixed_sizes(prefix: &str, n: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        let of = |name: &str| format!("{prefix}{name}");
        let Some(points) = sizes.find(&of(POINTS), MAX_POINTS)? else { return Ok(None) };
        Ok(Some(Self::new(n, points, sizes.get(&of(DERIVATIVES), MAX_DERIVATIVES)?)))
    }

    /// As [`SchemeState::sizes`], with names that begin with a prefix.
    pub(super) fn prefixed_sizes(&self, prefix: &str) -> Vec<(Cow<'static, str>, usize)> {
        let sizes = [(POINTS, self.points.len()), (DERIVATIVES, self.derivatives.len())];
        let is_none = sizes.iter().all(|(_, size)| *size == 0);
        sizes.into_iter().filter(|_| !is_none).map(|(name, size)| (format!("{prefix}{name}").into(), size)).collect()
    }

    /// As [`SchemeState::columns`], with names that begin with a prefix.
    pub(super) fn prefixed_columns(&self, prefix: &str) -> Vec<Column<Values<'_>>> {
        list!(self, prefix, Values, iter)
    }

    /// As [`SchemeState::columns_mut`], with names that begin with a prefix.
    pub(super) fn prefixed_columns_mut(&mut self, prefix: &str) -> Vec<Column<ValuesMut<'_>>> {
        list!(self, prefix, ValuesMut, iter_mut)
    }
}

/// Sets rows of a column of `n`, of which those at the end may be new.
pub(super) fn begin<T: Copy>(column: &mut Vec<T>, n: usize, rows: &[u32], value: T) {
    column.resize(n, value);
    rows.iter().for_each(|&i| column[i as usize] = value);
}

/// Names of the columns, which begin with a prefix.
struct Names<'a>(&'a str);

impl Names<'_> {
    fn derivative<V>(&self, k: usize, values: V) -> Column<V> {
        Column::new(format!("{}derivative_{}", self.0, k + 2), Dimension::of_derivative(k as i32 + 2), values)
    }

    fn point<V>(&self, name: &str, dimension: Dimension, k: usize, values: V) -> Column<V> {
        Column::new(format!("{}{name}_before_{}", self.0, k + 1), dimension, values)
    }
}

impl SchemeState for History {
    fn none() -> &'static Self {
        static NONE: History = History { derivatives: Vec::new(), points: Vec::new() };
        &NONE
    }

    fn of_sizes(n: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        Self::of_prefixed_sizes("", n, sizes)
    }

    fn sizes(&self) -> Vec<(Cow<'static, str>, usize)> {
        self.prefixed_sizes("")
    }

    fn columns(&self) -> Vec<Column<Values<'_>>> {
        self.prefixed_columns("")
    }

    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
        self.prefixed_columns_mut("")
    }
}
