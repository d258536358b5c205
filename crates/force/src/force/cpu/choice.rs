//! Choice of the vector instructions at run time.

use super::trial;
use super::width::Width;
use crate::force::precision::Precision;
use pulp::{Scalar, x86::V4};

impl Width {
    /// Returns the widest set of instructions that this machine supports. If it has two divisions in f64, the quicker one
    /// is taken, which the first call in a process finds by a trial of 0.1 ms.
    #[must_use]
    pub fn widest() -> Self {
        Self::widest_for(Precision::F64)
    }

    /// As [`Self::widest`]; a mode that does not compute in f64 needs no trial.
    fn widest_for(precision: Precision) -> Self {
        match V4::try_new() {
            Some(unit) if precision.in_f64() => trial::quicker(unit),
            _ => Self::available().first().copied().unwrap_or(Self::Baseline(Scalar)),
        }
    }

    /// Returns [`Self::widest`], or the width that [`Self::VARIABLE`] forces.
    ///
    /// # Errors
    /// A message with the widths of this machine, if the variable names none of them.
    pub fn choose() -> Result<Self, String> {
        Self::choose_for(Precision::F64)
    }

    /// As [`Self::choose`], for an engine of one precision mode: without a trial where the mode needs none.
    ///
    /// # Errors
    /// As [`Self::choose`].
    pub fn choose_for(precision: Precision) -> Result<Self, String> {
        match std::env::var(Self::VARIABLE) {
            Err(_) => Ok(Self::widest_for(precision)),
            Ok(name) => Self::from_name(&name).ok_or_else(|| {
                let here: Vec<_> = Self::available().iter().map(Self::name).collect();
                format!("{}={name}: this machine has {}", Self::VARIABLE, here.join(", "))
            }),
        }
    }
}
