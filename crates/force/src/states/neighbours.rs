//! State of a neighbour scheme: the two parts of the force, and lists.

use super::history::{History, begin};
use super::{Column, SchemeState, Sizes, Values, ValuesMut};
use crate::error::Result;
use crate::time::{Level, Time};
use crate::units::Dimension;
use crate::vector::Vec3;
use rayon::prelude::*;
use std::borrow::Cow;

/// Beginning of the names of the history of the regular force.
const REGULAR: &str = "regular_";
/// Name of the lists; files have the number of entries under its plural.
const LISTS: &str = "neighbour";
const ENTRIES: &str = "neighbours";

/// Lists the columns, for reading or for changes.
macro_rules! list {
    ($self:ident, $Values:ident, $history:ident $(, $mutable:tt)?) => {{
        let mut found = vec![
            Column::new("irregular_acceleration", Dimension::ACCELERATION, $Values::Vectors(&$($mutable)? $self.acc)),
            Column::new("irregular_jerk", Dimension::of_derivative(1), $Values::Vectors(&$($mutable)? $self.jerk)),
            Column::new("regular_acceleration", Dimension::ACCELERATION, $Values::Vectors(&$($mutable)? $self.regular_acc)),
            Column::new("regular_jerk", Dimension::of_derivative(1), $Values::Vectors(&$($mutable)? $self.regular_jerk)),
            Column::new("regular_potential", Dimension::POTENTIAL, $Values::Numbers(&$($mutable)? $self.regular_pot)),
            Column::new(
                REGULAR,
                Dimension::NONE,
                $Values::Steps(&$($mutable)? $self.regular_time, &$($mutable)? $self.regular_step),
            ),
        ];
        found.extend($self.regular_history.$history(REGULAR));
        found.push(Column::new("neighbour_radius", Dimension::LENGTH, $Values::Numbers(&$($mutable)? $self.radius)));
        found.push(Column::new(LISTS, Dimension::NONE, $Values::Lists(&$($mutable)? $self.lists)));
        found
    }};
}

/// State of a neighbour scheme, which takes the force in two parts (see [`crate::force::neighbours`]), in columns of
/// length N; empty for other schemes. The [`History`] besides it is that of the irregular force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    /// Irregular acceleration at the particle's own time.
    pub acc: Vec<Vec3>,
    /// Irregular jerk.
    pub jerk: Vec<Vec3>,
    /// Regular acceleration at the time of the last regular step.
    pub regular_acc: Vec<Vec3>,
    /// Regular jerk.
    pub regular_jerk: Vec<Vec3>,
    /// Potential of the regular force.
    pub regular_pot: Vec<f64>,
    /// Time of the last regular step.
    pub regular_time: Vec<Time>,
    /// Block level of the next regular step.
    pub regular_step: Vec<Level>,
    /// Derivatives and earlier points of the regular force, at the time of the last regular step.
    pub regular_history: History,
    /// Radius for the next list.
    pub radius: Vec<f64>,
    /// Neighbours of each particle: ascending indices.
    pub lists: Vec<Vec<u32>>,
}

impl Neighbours {
    /// Creates the state of `n` particles without neighbours at time zero, with room for `points` earlier points and for
    /// `derivatives` of the regular force.
    #[must_use]
    pub fn new(n: usize, points: usize, derivatives: usize) -> Self {
        let zeros = || vec![Vec3::zeros(); n];
        Self {
            acc: zeros(),
            jerk: zeros(),
            regular_acc: zeros(),
            regular_jerk: zeros(),
            regular_pot: vec![0.0; n],
            regular_time: vec![Time::default(); n],
            regular_step: vec![Level::default(); n],
            regular_history: History::new(n, points, derivatives),
            radius: vec![0.0; n],
            lists: vec![Vec::new(); n],
        }
    }

    /// Lets particles at `rows` begin at the moment `now`, without forces, radius and neighbours, among `n`; those at the end
    /// may be new.
    pub fn begin(&mut self, n: usize, rows: &[u32], now: Time) {
        for column in [&mut self.acc, &mut self.jerk, &mut self.regular_acc, &mut self.regular_jerk] {
            begin(column, n, rows, Vec3::zeros());
        }
        for column in [&mut self.regular_pot, &mut self.radius] {
            begin(column, n, rows, 0.0);
        }
        begin(&mut self.regular_time, n, rows, now);
        begin(&mut self.regular_step, n, rows, Level::default());
        self.regular_history.begin(n, rows, now);
        self.lists.resize(n, Vec::new());
        rows.iter().for_each(|&i| self.lists[i as usize].clear());
    }

    /// Returns true if no scheme keeps anything here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Returns true if it is whole for `n` particles, with these numbers of earlier points and derivatives of the regular
    /// force, and lists that are ascending numbers of other particles.
    #[must_use]
    pub fn has(&self, n: usize, points: usize, derivatives: usize) -> bool {
        let is_list = |(i, list): (usize, &Vec<u32>)| {
            list.windows(2).all(|pair| pair[0] < pair[1])
                && list.last().is_none_or(|&j| (j as usize) < n)
                && list.binary_search(&(i as u32)).is_err()
        };
        self.regular_history.has(n, points, derivatives)
            && self.columns().iter().all(|column| column.values.rows() == Some(n))
            && self.regular_step.len() == n
            && self.lists.par_iter().enumerate().all(is_list)
    }
}

impl SchemeState for Neighbours {
    fn none() -> &'static Self {
        static NONE: Neighbours = Neighbours {
            acc: Vec::new(),
            jerk: Vec::new(),
            regular_acc: Vec::new(),
            regular_jerk: Vec::new(),
            regular_pot: Vec::new(),
            regular_time: Vec::new(),
            regular_step: Vec::new(),
            regular_history: History { derivatives: Vec::new(), points: Vec::new() },
            radius: Vec::new(),
            lists: Vec::new(),
        };
        &NONE
    }

    fn of_sizes(n: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        if sizes.find(ENTRIES, usize::MAX)?.is_none() {
            return Ok(None);
        }
        let regular_history = History::of_prefixed_sizes(REGULAR, n, sizes)?.unwrap_or_default();
        Ok(Some(Self { regular_history, ..Self::new(n, 0, 0) }))
    }

    fn sizes(&self) -> Vec<(Cow<'static, str>, usize)> {
        self.regular_history.prefixed_sizes(REGULAR)
    }

    fn columns(&self) -> Vec<Column<Values<'_>>> {
        list!(self, Values, prefixed_columns)
    }

    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
        list!(self, ValuesMut, prefixed_columns_mut, mut)
    }
}
