//! Accelerations alone by the CPU's vector units: the lane body with three sums in the place of seven.

use super::Width;
use super::lanes::Partial;
use super::sources::Slots;
use super::sum::{Sum, Targeted};
use crate::error::Result;
use crate::force::AccelerationEngine;
use crate::force::mode::{ACC_SUMS, Mode, with_mode};
use crate::force::precision::Precision;
use crate::gravity::acceleration_from_sums;
use crate::particles::Vec3;

/// Vectorised engine of accelerations for the precision mode `M`. Uses the threads of the rayon pool it is called in; neither
/// their number nor the vector width changes a bit, and the bits are those of a [`super::CpuEngine`] of the mode.
pub struct CpuAccelerations<M: Mode> {
    eps2: f64,
    width: Width,
    sources: Slots<M, ACC_SUMS>,
    index: Vec<u32>,
    partial: Vec<Partial<M, ACC_SUMS>>,
}

/// The CPU's engine of accelerations for a precision mode.
#[must_use]
pub fn accelerations(precision: Precision, epsilon: f64, width: Width) -> Box<dyn AccelerationEngine> {
    with_mode!(precision, M => Box::new(CpuAccelerations::<M>::new(epsilon, width)))
}

impl<M: Mode> CpuAccelerations<M> {
    /// An engine without sources. `epsilon` is the Plummer softening (internal units).
    #[must_use]
    pub fn new(epsilon: f64, width: Width) -> Self {
        Self { eps2: epsilon * epsilon, width, sources: Slots::default(), index: Vec::new(), partial: Vec::new() }
    }
}

impl<M: Mode> AccelerationEngine for CpuAccelerations<M> {
    fn load(&mut self, mass: &[f64]) -> Result<()> {
        self.sources.load(mass);
        self.index = (0..mass.len() as u32).collect();
        Ok(())
    }

    fn accelerate(&mut self, pos: &[Vec3], acc: &mut Vec<Vec3>) -> Result<()> {
        for (i, &pos) in pos.iter().enumerate() {
            self.sources.put(i, pos, Vec3::zeros());
        }
        acc.resize(pos.len(), Vec3::zeros());
        let targets = Targeted { index: &self.index, pos, vel: &[] };
        let sum = Sum { sources: &self.sources, targets, eps2: self.eps2, width: self.width };
        sum.all(&mut self.partial, |k, sums| acc[k] = acceleration_from_sums(sums));
        Ok(())
    }
}
