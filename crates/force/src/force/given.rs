//! Forces that were computed elsewhere, for the start of an integrator.

use super::engine::ForceEngine;
use super::forces::Forces;
use super::targets::Targets;
use crate::error::{Error, Result};
use crate::particles::Particles;
use crate::time::Time;

/// Engine that returns given forces on the particles at their start, and can do nothing else. An integrator that starts
/// with it has the bits of one that starts with the engine by which they were computed. Without forces it serves to
/// resume an integrator whose steps another engine took.
#[derive(Clone, Debug, Default)]
pub struct GivenForces {
    forces: Forces,
}

impl GivenForces {
    /// Takes the forces on all particles, in their order.
    #[must_use]
    pub fn new(forces: Forces) -> Self {
        Self { forces }
    }
}

impl ForceEngine for GivenForces {
    fn load(&mut self, _: &Particles) -> Result<()> {
        Ok(())
    }

    fn update(&mut self, _: &Particles, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        let Self { forces } = self;
        if now != Time::default() || targets.index.last().is_some_and(|&i| i as usize >= forces.pot.len()) {
            let problem = "the forces that were computed before are those at the start alone";
            return Err(Error::Integration { problem: problem.into(), help: None });
        }
        out.resize(targets.len());
        for (k, &i) in targets.index.iter().enumerate() {
            let i = i as usize;
            (out.acc[k], out.jerk[k], out.pot[k]) = (forces.acc[i], forces.jerk[i], forces.pot[i]);
        }
        Ok(())
    }
}
