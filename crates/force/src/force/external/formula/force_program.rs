//! Program of the acceleration and the jerk of a field, for a device.

use super::variable::FieldVariable;
use crate::formula::op::{Op, Register, needed};

/// Straight-line program of the acceleration and the jerk of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceProgram {
    pub(crate) ops: Vec<Op<FieldVariable>>,
    /// Acceleration, jerk.
    pub(crate) results: [Register; 6],
}

impl ForceProgram {
    /// Takes what some results of a program need.
    pub(super) fn new(ops: &[Op<FieldVariable>], results: [Register; 6]) -> Self {
        let (ops, results) = needed(ops, &results);
        Self { ops, results: std::array::from_fn(|k| results[k]) }
    }
}
