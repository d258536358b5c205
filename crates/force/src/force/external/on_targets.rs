//! What a field gives on the targets of a block, in columns.

use super::field::ExternalField;
use super::places::{LANES, Places, vector};
use crate::force::targets::Targets;
use crate::particles::Vec3;
use crate::spin_pool::min_share;
use rayon::prelude::*;

/// Nanoseconds in which a field of some hundred operations is evaluated on a target.
const FIELD: usize = 200;

/// Accelerations, and of schemes that take them jerks and potentials, by a field on targets, in their order.
#[derive(Clone, Debug, Default)]
pub struct OnTargets {
    /// Accelerations.
    pub acc: Vec<Vec3>,
    /// Jerks.
    pub jerk: Vec<Vec3>,
    /// Potentials per unit mass.
    pub pot: Vec<f64>,
}

impl OnTargets {
    /// Evaluates a field on targets at the time `t`, on threads where there are many. The bits are those of one target.
    pub fn evaluate(&mut self, field: &dyn ExternalField, targets: Targets<'_>, t: f64) {
        let n = targets.len();
        self.acc.resize(n, Vec3::zeros());
        self.jerk.resize(n, Vec3::zeros());
        self.pot.resize(n, 0.0);
        let columns = self.acc.par_chunks_mut(LANES).zip(self.jerk.par_chunks_mut(LANES));
        let columns = columns.zip(self.pot.par_chunks_mut(LANES));
        let states = targets.pos.par_chunks(LANES).zip(targets.vel.par_chunks(LANES));
        columns.zip(states).with_min_len(share()).for_each(|(((acc, jerk), pot), (x, v))| {
            let found = field.forces(&Places::new(x, v), t);
            for lane in 0..x.len() {
                (acc[lane], jerk[lane], pot[lane]) = found.of(lane);
            }
        });
    }

    /// Evaluates the accelerations alone.
    pub fn evaluate_accelerations(&mut self, field: &dyn ExternalField, targets: Targets<'_>, t: f64) {
        self.acc.resize(targets.len(), Vec3::zeros());
        let chunks = self.acc.par_chunks_mut(LANES).zip(targets.pos.par_chunks(LANES));
        chunks.with_min_len(share()).for_each(|(acc, x)| {
            let found = field.accelerations(&Places::at_rest(x), t);
            acc.iter_mut().enumerate().for_each(|(lane, acc)| *acc = vector(&found, lane));
        });
    }

    /// Returns what there is on the targets at some places, ascending.
    #[must_use]
    pub fn of_places(&self, places: &[u32]) -> Self {
        let of = |column: &[Vec3]| places.iter().map(|&k| column[k as usize]).collect();
        let pot = places.iter().map(|&k| self.pot[k as usize]).collect();
        Self { acc: of(&self.acc), jerk: of(&self.jerk), pot }
    }
}

/// Returns the tidal tensors of a field at some places at the time `t`, on threads where there are many.
pub(super) fn tides(field: &dyn ExternalField, pos: &[Vec3], t: f64) -> Vec<[f64; 6]> {
    let chunks = pos.par_chunks(LANES).with_min_len(share());
    let of_chunk = |x: &[Vec3]| {
        let found = field.tides(&Places::at_rest(x), t);
        (0..x.len()).map(move |lane| found.map(|component| component[lane]))
    };
    chunks.flat_map_iter(of_chunk).collect()
}

/// Returns the least number of chunks of targets that are worth a thread.
fn share() -> usize {
    (min_share(FIELD) / LANES).max(1)
}
