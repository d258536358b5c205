//! Irregular forces on the threads of the host: those of a CPU engine, and beside a device.

use super::irregular::Irregular;
use super::records::Records;
use super::width::Width;
use crate::error::Result;
use crate::force::forces::Forces;
use crate::force::mode::SUMS;
use crate::force::neighbours::NeighbourTargets;
use crate::force::targets::Targets;
use crate::gravity::Force;
use crate::particles::Particles;
use crate::spin_pool::min_share;
use crate::time::Time;
use rayon::prelude::*;

/// Nanoseconds in which a force is stored that a thread has summed. Not measured.
const COMPLETED: usize = 20;

/// Sums over lists of sources, in f64. Uses the threads of the rayon pool it is called in; neither their number nor the vector width
/// changes a bit of the result. Holds the sources of particles that have lists, and none of others.
pub struct ListSums {
    records: Records,
    width: Width,
    sums: Vec<[f64; SUMS]>,
}

impl ListSums {
    /// Creates sums without sources.
    #[must_use]
    pub fn new(width: Width) -> Self {
        Self { records: Records::default(), width, sums: Vec::new() }
    }

    /// Stores all particles, if they have lists.
    pub fn load(&mut self, p: &Particles) {
        self.records.load(p);
    }

    /// Stores the particles `changed`; those at the end may be new.
    pub fn store(&mut self, p: &Particles, changed: &[u32]) {
        self.records.grow(p.len());
        self.records.store(p, changed);
    }

    /// Predicts the sources that sums over the lists of a task need, and puts its targets where they are.
    ///
    /// # Errors
    /// If the particles that were loaded have no lists.
    pub fn predict(&mut self, task: &NeighbourTargets<'_>, tick: f64) -> Result<()> {
        self.records.check(task)?;
        self.records.predict((task.now, tick), task.targets, task.lists, self.width);
        Ok(())
    }

    /// Predicts the sources in more lists, after [`Self::predict`] at the same moment.
    pub fn predict_more(&mut self, (now, tick): (Time, f64), lists: &[&[u32]]) {
        self.records.predict_more((now, tick), lists, self.width);
    }

    /// Sums the forces of the predicted sources in the list of each target.
    pub fn sum(&mut self, targets: Targets<'_>, lists: &[&[u32]], eps2: f64, out: &mut Forces) {
        let task = Irregular { records: self.records.predicted(), targets, lists, eps2, width: self.width };
        task.run(&mut self.sums);
        out.resize(targets.len());
        let vectors = out.acc.par_iter_mut().zip(&mut out.jerk).zip(&mut out.pot);
        vectors.zip(&self.sums).with_min_len(min_share(COMPLETED)).for_each(|(((acc, jerk), pot), sums)| {
            let force = Force::from_sums(*sums);
            (*acc, *jerk, *pot) = (force.acc, force.jerk, force.pot);
        });
    }
}
