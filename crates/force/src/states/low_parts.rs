//! Low parts of positions and velocities: what their rounding in f64 cuts off, which compensated correctors keep.

use super::history::begin;
use super::{Column, SchemeState, Sizes, States, Values, ValuesMut};
use crate::error::Result;
use crate::units::Dimension;
use crate::vector::Vec3;
use std::borrow::Cow;

/// Name of the size.
const LOW_PARTS: &str = "low_parts";

/// Low parts, in columns of length N; none for schemes that keep none, and where none was kept yet: then they are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowParts {
    /// What positions lack, at most half a unit in their last place.
    pub pos: Vec<Vec3>,
    /// The same of velocities.
    pub vel: Vec<Vec3>,
}

impl LowParts {
    /// Creates those of `n` particles, all zero.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { pos: vec![Vec3::zeros(); n], vel: vec![Vec3::zeros(); n] }
    }

    /// Lets the states of `n` particles have low parts, or none, as a corrector keeps them. Those that are missing are zero.
    pub fn keep(states: &mut States, n: usize, kept: bool) {
        let low = states.get::<Self>();
        if kept && !low.has(n) {
            let mut low = low.clone();
            low.begin(n, &[]);
            states.set(low);
        } else if !kept && *low != Self::default() {
            states.set(Self::default());
        }
    }

    /// Sets those at `rows` to zero, among `n`; those at the end may be new.
    pub fn begin(&mut self, n: usize, rows: &[u32]) {
        begin(&mut self.pos, n, rows, Vec3::zeros());
        begin(&mut self.vel, n, rows, Vec3::zeros());
    }

    /// Returns true if it has those of `n` particles.
    #[must_use]
    pub fn has(&self, n: usize) -> bool {
        [self.pos.len(), self.vel.len()] == [n; 2]
    }

    /// Returns true if there are none but zeros.
    #[must_use]
    pub fn are_zero(&self) -> bool {
        self.pos.iter().chain(&self.vel).all(|low| *low == Vec3::zeros())
    }
}

impl SchemeState for LowParts {
    fn none() -> &'static Self {
        static NONE: LowParts = LowParts { pos: Vec::new(), vel: Vec::new() };
        &NONE
    }

    fn of_sizes(n: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        Ok(sizes.find(LOW_PARTS, 1)?.filter(|&there| there > 0).map(|_| Self::new(n)))
    }

    fn sizes(&self) -> Vec<(Cow<'static, str>, usize)> {
        vec![(LOW_PARTS.into(), 1)]
    }

    fn columns(&self) -> Vec<Column<Values<'_>>> {
        vec![
            Column::new("low_position", Dimension::LENGTH, Values::Vectors(&self.pos)),
            Column::new("low_velocity", Dimension::VELOCITY, Values::Vectors(&self.vel)),
        ]
    }

    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
        vec![
            Column::new("low_position", Dimension::LENGTH, ValuesMut::Vectors(&mut self.pos)),
            Column::new("low_velocity", Dimension::VELOCITY, ValuesMut::Vectors(&mut self.vel)),
        ]
    }
}
