//! Accelerations alone by the CPU's vector units: the loop body of the CPU engine with three sums instead of seven.

use super::law::LawSources;
use super::sources::Slots;
use super::sum::{Partials, Summation};
use super::width::Width;
use crate::error::Result;
use crate::force::engine::ForceEngine;
use crate::force::forces::Accelerations;
use crate::force::mode::{ACC_SUMS, Mode, with_mode};
use crate::force::precision::Precision;
use crate::force::targets::Targets;
use crate::gravity::acceleration_from_sums;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use std::ops::Range;
use std::sync::Arc;

/// Vectorised engine of accelerations for the precision mode `M`. Uses the threads of the rayon pool it is called in;
/// neither their number nor the vector width changes a bit. The bits are those of a [`super::CpuEngine`] of the mode.
pub struct CpuAccelerations<M: Mode> {
    eps2: f64,
    width: Width,
    sources: Slots<M, ACC_SUMS>,
    partials: Partials<M, ACC_SUMS>,
    law: Option<LawSources<M>>,
}

/// Creates the CPU's engine of accelerations for a precision mode. `epsilon` is the Plummer softening (internal units).
#[must_use]
pub fn accelerations(precision: Precision, epsilon: f64, width: Width) -> Box<dyn ForceEngine<Accelerations>> {
    with_mode!(precision, M => Box::new(CpuAccelerations::<M>::new(epsilon, width)))
}

/// Creates the CPU's engine of accelerations of a [law](crate::law) in place of Newton's.
#[must_use]
pub fn law_accelerations(
    law: &Arc<Law>,
    precision: Precision,
    epsilon: f64,
    width: Width,
) -> Box<dyn ForceEngine<Accelerations>> {
    with_mode!(precision, M => {
        let law = Some(LawSources::new::<ACC_SUMS>(law));
        Box::new(CpuAccelerations::<M> { law, ..CpuAccelerations::new(epsilon, width) })
    })
}

impl<M: Mode> CpuAccelerations<M> {
    /// Creates an engine without sources. `epsilon` is the Plummer softening (internal units).
    #[must_use]
    pub fn new(epsilon: f64, width: Width) -> Self {
        Self { eps2: epsilon * epsilon, width, sources: Slots::default(), partials: Partials::default(), law: None }
    }
}

impl<M: Mode> ForceEngine<Accelerations> for CpuAccelerations<M> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.sources.load(&all.mass);
        self.law.as_mut().map_or(Ok(()), |law| law.load(all))
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Accelerations) -> Result<()> {
        self.evaluate_part(now, targets, 0..targets.len(), out)
    }

    fn evaluate_part(
        &mut self,
        _: Time,
        targets: Targets<'_>,
        part: Range<usize>,
        out: &mut Accelerations,
    ) -> Result<()> {
        targets.check_all(self.sources.len())?;
        for (i, &pos) in targets.pos.iter().enumerate() {
            self.sources.put(i, pos, Vec3::zeros());
        }
        out.acc.resize(part.len(), Vec3::zeros());
        let targets = Targets { index: &targets.index[part.clone()], pos: &targets.pos[part], vel: &[] };
        let (sources, law) = (&self.sources, self.law.as_ref());
        let sum = Summation { sources, targets, eps2: self.eps2, limits: &[], width: self.width, law };
        sum.run(&mut self.partials, |k, sums| out.acc[k] = acceleration_from_sums(sums));
        Ok(())
    }
}
