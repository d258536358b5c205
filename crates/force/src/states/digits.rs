//! Digits: positions and velocities with more digits than f64, which schemes of that accuracy keep.

use super::{Column, SchemeState, Sizes, Values, ValuesMut};
use crate::error::Result;
use crate::units::Dimension;
use std::borrow::Cow;

/// Name of the column.
const MOTION: &str = "digits_of_motion";
/// Name of the number of bits.
const BITS: &str = "bits_of_digits";
/// Largest number of bits.
pub const MAX_BITS: usize = 1024;

/// Words of the numbers x, y, z, vx, vy, vz of each particle, one particle after the other, in internal units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digits {
    /// Number of bits of the arithmetic; it says how many words a number has and what they mean.
    pub bits: usize,
    /// Words.
    pub words: Vec<u64>,
}

impl SchemeState for Digits {
    fn none() -> &'static Self {
        static NONE: Digits = Digits { bits: 0, words: Vec::new() };
        &NONE
    }

    fn of_sizes(_: usize, sizes: &dyn Sizes) -> Result<Option<Self>> {
        Ok(sizes.find(BITS, MAX_BITS)?.map(|bits| Self { bits, words: Vec::new() }))
    }

    fn sizes(&self) -> Vec<(Cow<'static, str>, usize)> {
        (self.bits > 0).then_some((BITS.into(), self.bits)).into_iter().collect()
    }

    fn columns(&self) -> Vec<Column<Values<'_>>> {
        vec![Column::new(MOTION, Dimension::NONE, Values::Digits(&self.words))]
    }

    fn columns_mut(&mut self) -> Vec<Column<ValuesMut<'_>>> {
        vec![Column::new(MOTION, Dimension::NONE, ValuesMut::Digits(&mut self.words))]
    }
}
