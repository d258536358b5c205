//! States of schemes: what a scheme keeps of the particles besides their motion, in columns that have names.
//!
//! A scheme owns its columns and says what they are. Everybody else treats all columns alike: checkpoints write and read
//! them under their names, another longest step counts their moments in other ticks, particles that leave take their
//! rows with them. A state is the type of a scheme's own file; [`States`] holds those of the schemes at work.

pub mod digits;
pub mod history;
pub mod low_parts;
pub mod neighbours;

use crate::error::Result;
use crate::time::{Level, Time};
use crate::units::Dimension;
use crate::vector::Vec3;
use rayon::prelude::*;
use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Debug};

/// Column of a state: its name in files, its dimension, and its values, which are in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct Column<V> {
    /// Name in files.
    pub name: Cow<'static, str>,
    /// Dimension.
    pub dimension: Dimension,
    /// Values.
    pub values: V,
}

impl<V> Column<V> {
    /// Creates a column.
    pub fn new(name: impl Into<Cow<'static, str>>, dimension: Dimension, values: V) -> Self {
        Self { name: name.into(), dimension, values }
    }
}

/// Values of a column, by their kind. All but the last three have a row for each particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// Vectors.
    Vectors(&'a [Vec3]),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Steps: the moment that each has begun at, and its level.
    Steps(&'a [Time], &'a [Level]),
    /// Moments that are not after those of the column of moments or steps before it; of the first such column, not after
    /// the particle's own.
    Moments(&'a [Time]),
    /// Lists of other particles: ascending rows.
    Lists(&'a [Vec<u32>]),
    /// Whole numbers that only the scheme reads; they may name rows and moments.
    Words(&'a [u64]),
    /// Numbers that only the scheme reads.
    Reals(&'a [f64]),
    /// Digits of numbers: as many words for each particle, one particle after the other.
    Digits(&'a [u64]),
}

/// Values of a column, for changes; see [`Values`].
#[derive(Debug, PartialEq)]
pub enum ValuesMut<'a> {
    /// Vectors.
    Vectors(&'a mut Vec<Vec3>),
    /// Numbers.
    Numbers(&'a mut Vec<f64>),
    /// Steps.
    Steps(&'a mut Vec<Time>, &'a mut Vec<Level>),
    /// Moments.
    Moments(&'a mut Vec<Time>),
    /// Lists of other particles.
    Lists(&'a mut Vec<Vec<u32>>),
    /// Whole numbers that only the scheme reads.
    Words(&'a mut Vec<u64>),
    /// Numbers that only the scheme reads.
    Reals(&'a mut Vec<f64>),
    /// Digits of numbers.
    Digits(&'a mut Vec<u64>),
}

impl Values<'_> {
    /// Returns true if the values name rows, so that they must be made anew where rows change.
    #[must_use]
    pub const fn name_rows(&self) -> bool {
        matches!(self, Self::Lists(_) | Self::Words(_))
    }

    /// Returns the number of rows; [`None`] for values without a row for each particle.
    #[must_use]
    pub const fn rows(&self) -> Option<usize> {
        match self {
            Self::Vectors(column) => Some(column.len()),
            Self::Numbers(column) => Some(column.len()),
            Self::Steps(column, _) | Self::Moments(column) => Some(column.len()),
            Self::Lists(column) => Some(column.len()),
            Self::Words(_) | Self::Reals(_) | Self::Digits(_) => None,
        }
    }
}

/// Whole numbers by which a state is made anew, as files have them.
pub trait Sizes {
    /// Returns the number of a name, if there is one.
    ///
    /// # Errors
    /// If it is above `max`, or cannot be read.
    fn find(&self, name: &str, max: usize) -> Result<Option<usize>>;

    /// Returns the number of a name.
    ///
    /// # Errors
    /// If there is none, or as [`Self::find`].
    fn get(&self, name: &str, max: usize) -> Result<usize>;
}

/// State of a scheme.
pub trait SchemeState: AnyState {
    /// Returns the state without columns, of particles of another scheme.
    fn none() -> &'static Self
    where
        Self: Sized;

    /// Returns the state of `n` particles with columns of these sizes and any values; [`None`] if the sizes have no such
    /// state.
    ///
    /// # Errors
    /// Those of `sizes`.
    fn of_sizes(n: usize, sizes: &dyn Sizes) -> Result<Option<Self>>
    where
        Self: Sized;

    /// Returns the numbers by which [`Self::of_sizes`] makes it anew. The sums of the lengths of lists, and the lengths of
    /// columns without a row for each particle, are not among them: files have these with the columns.
    fn sizes(&self) -> Vec<(Cow<'static, str>, usize)> {
        Vec::new()
    }

    /// Returns the columns.
    fn columns(&self) -> Vec<Column<Values<'_>>>;

    /// Returns the columns, in the same order, for changes.
    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>>;
}

/// What every [`SchemeState`] can that is a value: known by its type, copied, compared.
pub trait AnyState: Any + Debug + Send + Sync {
    /// Returns it by its type.
    fn as_any(&self) -> &dyn Any;
    /// Returns it by its type, for changes.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Returns a copy.
    fn copied(&self) -> Box<dyn SchemeState>;
    /// Returns true if the other is the same.
    fn is(&self, other: &dyn SchemeState) -> bool;
    /// Returns true if it is [`SchemeState::none`].
    fn is_none(&self) -> bool;
}

impl<T: SchemeState + Clone + PartialEq> AnyState for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn copied(&self) -> Box<dyn SchemeState> {
        Box::new(self.clone())
    }

    fn is(&self, other: &dyn SchemeState) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }

    fn is_none(&self) -> bool {
        self == T::none()
    }
}

/// States of the schemes that move some particles, one of a type.
#[derive(Default)]
pub struct States(Vec<Box<dyn SchemeState>>);

impl States {
    /// Returns the state of a type; the one without columns if there is none.
    #[must_use]
    pub fn get<T: SchemeState>(&self) -> &T {
        self.0.iter().find_map(|state| (**state).as_any().downcast_ref()).unwrap_or_else(|| T::none())
    }

    /// Returns the state of a type for changes.
    pub fn get_mut<T: SchemeState + Default>(&mut self) -> &mut T {
        if !self.0.iter().any(|state| (**state).as_any().is::<T>()) {
            self.0.push(Box::<T>::default());
        }
        let found = self.0.iter_mut().find_map(|state| (**state).as_any_mut().downcast_mut());
        found.unwrap_or_else(|| unreachable!("it was put in"))
    }

    /// Returns the states of two types for changes.
    pub fn two_mut<A: SchemeState + Default, B: SchemeState + Default>(&mut self) -> (&mut A, &mut B) {
        self.get_mut::<A>();
        self.get_mut::<B>();
        let (mut first, mut second) = (None, None);
        for state in self.0.iter_mut().map(|state| (**state).as_any_mut()) {
            match state.is::<A>() {
                true => first = state.downcast_mut(),
                false if state.is::<B>() => second = state.downcast_mut(),
                false => {}
            }
        }
        first.zip(second).unwrap_or_else(|| unreachable!("they were put in"))
    }

    /// Puts in a state, in place of the one of its type.
    pub fn set<T: SchemeState>(&mut self, state: T) {
        self.put(Box::new(state));
    }

    /// Puts in a state, in place of the one of its type.
    pub fn put(&mut self, state: Box<dyn SchemeState>) {
        let of = (*state).as_any().type_id();
        self.0.retain(|other| (**other).as_any().type_id() != of);
        self.0.push(state);
    }

    /// Takes all states out: the particles are those of no scheme.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the states that have something.
    pub fn iter(&self) -> impl Iterator<Item = &dyn SchemeState> {
        self.0.iter().map(|state| &**state).filter(|state| !state.is_none())
    }

    /// Returns the states for changes.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (dyn SchemeState + 'static)> {
        self.0.iter_mut().map(|state| &mut **state)
    }

    /// Takes rows, each once at most, in another order: new row `k` is the old row `rows[k]`; zeros and an empty list where that is
    /// none. An entry of a list becomes its `new_of`, and goes where that is `u32::MAX`. States without rows are left out.
    ///
    /// # Panics
    /// If there is no such row: a programming error.
    pub fn select(&mut self, rows: &[Option<u32>], new_of: &[u32]) {
        let of = std::mem::take(self);
        self.take_rows(&of, rows, new_of);
    }

    /// Becomes what others are after [`Self::select`], in the memory that is there: a copy of all lists takes longer than what is copied.
    ///
    /// # Panics
    /// If there is no such row: a programming error.
    pub fn take_rows(&mut self, of: &Self, rows: &[Option<u32>], new_of: &[u32]) {
        let has_rows = |state: &dyn SchemeState| state.columns().iter().any(|column| column.values.rows().is_some());
        let is_like = |own: &dyn SchemeState, other: &dyn SchemeState| {
            let names = |state: &dyn SchemeState| state.columns().into_iter().map(|it| it.name.into_owned()).collect();
            let (own_names, other_names): (Vec<String>, Vec<String>) = (names(own), names(other));
            own.as_any().type_id() == other.as_any().type_id() && own_names == other_names
        };
        let mut before = std::mem::take(&mut self.0);
        for state in of.0.iter().map(|state| &**state).filter(|state| has_rows(*state)) {
            let place = before.iter().position(|own| is_like(&**own, state));
            let mut own = place.map_or_else(|| state.copied(), |place| before.swap_remove(place));
            let pairs: Vec<_> = own.columns_mut().into_iter().zip(state.columns()).collect();
            pairs.into_par_iter().for_each(|(to, from)| take_column(to.values, from.values, rows, new_of));
            self.0.push(own);
        }
    }

    /// Removes the rows of particles that do not stay, and the states that name rows, which their schemes make anew.
    pub fn keep_rows(&mut self, stays: &[bool]) {
        self.0.retain(|state| !state.columns().iter().any(|column| column.values.name_rows()));
        for column in self.iter_mut().flat_map(SchemeState::columns_mut) {
            match column.values {
                ValuesMut::Vectors(of) => keep(of, stays),
                ValuesMut::Numbers(of) => keep(of, stays),
                ValuesMut::Moments(of) => keep(of, stays),
                ValuesMut::Steps(of, levels) => {
                    keep(of, stays);
                    keep(levels, stays);
                }
                ValuesMut::Digits(of) => {
                    let words = of.len().checked_div(stays.len()).unwrap_or_default();
                    let mut row = (0..).map(|k| stays[k / words]);
                    of.retain(|_| row.next() == Some(true));
                }
                ValuesMut::Lists(_) | ValuesMut::Words(_) | ValuesMut::Reals(_) => {}
            }
        }
    }
}

/// Stores rows of a column, as [`States::take_rows`] does; a column without rows stays empty.
fn take_column(to: ValuesMut<'_>, from: Values<'_>, rows: &[Option<u32>], new_of: &[u32]) {
    fn take<T: Clone + Default>(to: &mut Vec<T>, from: &[T], rows: &[Option<u32>]) {
        to.clear();
        if !from.is_empty() {
            to.extend(rows.iter().map(|row| row.map_or_else(T::default, |row| from[row as usize].clone())));
        }
    }
    match (to, from) {
        (ValuesMut::Vectors(to), Values::Vectors(from)) => take(to, from, rows),
        (ValuesMut::Numbers(to), Values::Numbers(from)) => take(to, from, rows),
        (ValuesMut::Moments(to), Values::Moments(from)) => take(to, from, rows),
        (ValuesMut::Steps(to, to_levels), Values::Steps(from, levels)) => {
            take(to, from, rows);
            take(to_levels, levels, rows);
        }
        (ValuesMut::Lists(to), Values::Lists(from)) => {
            to.resize(if from.is_empty() { 0 } else { rows.len() }, Vec::new());
            to.par_iter_mut().zip(rows).for_each(|(to, row)| {
                to.clear();
                let from = row.map_or(&[][..], |row| &from[row as usize]);
                to.extend(from.iter().map(|&entry| new_of[entry as usize]).filter(|&entry| entry != u32::MAX));
                to.sort_unstable();
            });
        }
        (ValuesMut::Words(to) | ValuesMut::Digits(to), Values::Words(from) | Values::Digits(from)) => {
            to.clear();
            to.extend_from_slice(from);
        }
        (ValuesMut::Reals(to), Values::Reals(from)) => {
            to.clear();
            to.extend_from_slice(from);
        }
        _ => unreachable!("a state lists its columns alike for reading and for changes"),
    }
}

/// Removes the rows of a column that do not stay; nothing from one that is empty.
pub(crate) fn keep<T>(column: &mut Vec<T>, stays: &[bool]) {
    let mut rows = stays.iter();
    column.retain(|_| rows.next().is_none_or(|stays| *stays));
}

/// Those that have something.
impl Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Clone for States {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|state| state.copied()).collect())
    }
}

impl PartialEq for States {
    /// A state that has nothing is no difference.
    fn eq(&self, other: &Self) -> bool {
        self.iter().count() == other.iter().count() && self.iter().all(|state| other.iter().any(|it| state.is(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::history::History;
    use super::neighbours::Neighbours;
    use super::*;

    /// State without rows.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Rowless(Vec<u64>);

    impl SchemeState for Rowless {
        fn none() -> &'static Self {
            static NONE: Rowless = Rowless(Vec::new());
            &NONE
        }

        fn of_sizes(_: usize, _: &dyn Sizes) -> Result<Option<Self>> {
            Ok(None)
        }

        fn columns(&self) -> Vec<Column<Values<'_>>> {
            vec![Column::new("words", Dimension::NONE, Values::Words(&self.0))]
        }

        fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
            vec![Column::new("words", Dimension::NONE, ValuesMut::Words(&mut self.0))]
        }
    }

    #[test]
    fn rows_in_another_order_have_all_that_they_had() {
        let (mut states, mut of) = (States::default(), Neighbours::new(4, 1, 2));
        of.acc = (0..4).map(|i| Vec3::repeat(f64::from(i))).collect();
        of.radius = vec![10.0, 11.0, 12.0, 13.0];
        of.regular_time = [20, 21, 22, 23].map(Time).to_vec();
        of.regular_step = [1, 2, 3, 4].map(Level).to_vec();
        of.lists = vec![vec![1, 2, 3], vec![0, 3], vec![1], vec![0, 1, 2]];
        states.set(of);
        states.set(History::default());
        states.set(Rowless(vec![7]));
        // The old row 1 goes, 0 and 3 change places, and a row without a particle is new.
        states.select(&[Some(3), None, Some(2), Some(0)], &[3, u32::MAX, 2, 0]);
        let of = states.get::<Neighbours>();
        assert!(of.has(4, 1, 2));
        assert_eq!(of.acc, [3.0, 0.0, 2.0, 0.0].map(Vec3::repeat));
        assert_eq!(of.radius, [13.0, 0.0, 12.0, 10.0]);
        assert_eq!(of.regular_time, [23, 0, 22, 20].map(Time));
        assert_eq!(of.regular_step, [4, 0, 3, 1].map(Level));
        assert_eq!(of.lists, [vec![2, 3], vec![], vec![], vec![0, 2]]);
        assert_eq!(states.iter().count(), 1);
        // In the memory of more rows, and of a state that has other columns.
        for before in [Neighbours { lists: vec![vec![9; 8]; 8], ..Neighbours::new(8, 1, 2) }, Neighbours::new(2, 0, 0)]
        {
            let (mut taken, mut expected) = (States::default(), states.clone());
            taken.set(before);
            taken.set(Rowless(vec![9]));
            let (rows, new_of) = ([Some(0), None, Some(3)], [0, u32::MAX, u32::MAX, 2]);
            expected.select(&rows, &new_of);
            taken.take_rows(&states, &rows, &new_of);
            assert_eq!(taken, expected);
            assert_eq!(taken.get::<Neighbours>().lists, [vec![2], vec![], vec![0]]);
        }
    }
}
