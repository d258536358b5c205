//! Clusters of a list, each by itself.

use super::law;
use super::setup::Setup;
use crate::binaries::Binaries;
use std::ops::Range;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::own_frame::OwnFrame;
use tisane::error::Result;
use tisane::particles::{NamedColumn, Particles};

impl Setup {
    /// Measures each cluster of a list by itself, by the forces among its own particles; the system, which was `found`, if it
    /// is one.
    ///
    /// # Errors
    /// As the CPU engine.
    pub fn in_own_frames(&self, found: &Binaries) -> Result<Vec<OwnFrame>> {
        if let [_] = self.clusters[..] {
            return Ok(vec![found.whole.clone()]);
        }
        let measure = |range: &Range<usize>| {
            let p = of_range(&self.particles, range);
            let stars = Stars::new(&p, &law::potentials(self, &p)?);
            Ok(match self.law {
                Some(_) => OwnFrame::of_particles(&stars),
                None => OwnFrame::find(&stars, self.epsilon()),
            })
        };
        self.clusters.iter().map(|cluster| measure(&cluster.particles)).collect()
    }
}

/// Returns the particles of a range, with their ids and columns.
fn of_range(p: &Particles, range: &Range<usize>) -> Particles {
    let column = |column: &NamedColumn| NamedColumn { values: column.values[range.clone()].to_vec(), ..column.clone() };
    let [pos, vel] = [&p.pos, &p.vel].map(|of| of[range.clone()].to_vec());
    Particles {
        id: p.id[range.clone()].to_vec(),
        columns: p.columns.iter().map(column).collect(),
        ..Particles::new(p.mass[range.clone()].to_vec(), pos, vel)
    }
}
