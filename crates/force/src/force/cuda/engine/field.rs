//! Forces of one GPU at points that are not its particles.

use super::CudaEngine;
use crate::error::Result;
use crate::force::forces::Forces;
use crate::force::points::{FieldEngine, Points};
use crate::force::targets::Targets;
use crate::time::Time;

impl FieldEngine for CudaEngine {
    fn evaluate_at(&mut self, now: Time, points: Points<'_>, out: &mut Forces) -> Result<()> {
        points.check()?;
        self.law.as_ref().map_or(Ok(()), |law| points.check_for(law))?;
        let Some(slots) = self.held.as_ref().map(|held| held.slots) else {
            *out = Forces::default();
            out.resize(points.len());
            return Ok(());
        };
        let n = points.len();
        if n <= slots {
            let targets = Targets { index: points.exclude, pos: points.pos, vel: points.vel };
            return self.sum(now, (targets, 0..n), false, out);
        }
        let mut some = Forces::default();
        out.resize(n);
        // As many at a time as the staging memory takes.
        for first in (0..n).step_by(slots) {
            let tile = first..n.min(first + slots);
            let Points { exclude, pos, vel } = points;
            let targets = Targets { index: &exclude[tile.clone()], pos: &pos[tile.clone()], vel: &vel[tile.clone()] };
            self.sum(now, (targets, 0..targets.len()), false, &mut some)?;
            out.acc[tile.clone()].copy_from_slice(&some.acc);
            out.jerk[tile.clone()].copy_from_slice(&some.jerk);
            out.pot[tile].copy_from_slice(&some.pot);
        }
        Ok(())
    }

    fn set_softening(&mut self, eps2: f64) {
        self.eps2 = eps2;
    }
}
