//! The journals that a run writes, and what it says of the cluster.

use super::{Plan, Simulation};
use crate::cluster::{Journals, Seen};
use crate::error::Result;
use crate::force::Field;
use crate::io::checkpoint::Written;
use crate::io::fields::DiagnosticsRow;
use crate::io::file_units::FileUnits;
use crate::io::provenance::Provenance;
use crate::io::series::Series;

/// The journals of a run under way.
#[derive(Debug)]
pub struct Outputs {
    pub(super) diagnostics: Series<DiagnosticsRow>,
    cluster: Option<Journals>,
}

impl Outputs {
    /// Starts those of a new run.
    ///
    /// # Errors
    /// As [`Series::create`].
    pub(super) fn create(plan: &Plan, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let cluster = plan.cluster.map(|_| Journals::create(dir, units)).transpose()?;
        Ok(Self { diagnostics: Series::create(dir, units)?, cluster })
    }

    /// Takes up those of a run whose checkpoint says what was written. Later rows are cut off.
    ///
    /// # Errors
    /// As [`Series::resume`].
    pub(super) fn resume(plan: &Plan, written: &Written, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let diagnostics = Series::resume(dir, written.diagnostics_rows, units)?;
        let cluster = plan.cluster.map(|_| Journals::resume(dir, written, units)).transpose()?;
        Ok(Self { diagnostics, cluster })
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.diagnostics.sync()?;
        self.cluster.as_ref().map_or(Ok(()), Journals::sync)
    }

    pub(super) fn finish(&mut self, provenance: &Provenance) -> Result<()> {
        self.diagnostics.finish(provenance)?;
        self.cluster.as_mut().map_or(Ok(()), |cluster| cluster.finish(provenance))
    }
}

impl Simulation {
    /// Looks at the cluster, and writes what is found.
    pub(super) fn write_cluster(&mut self, outputs: &mut Outputs, measured: &Field) -> Result<()> {
        let (Some(plan), Some(journals)) = (self.plan.cluster, &mut outputs.cluster) else { return Ok(()) };
        let state = &self.state;
        let time = state.clock.time(state.now) * state.scale.time;
        let seen = Seen::in_run(&self.particles, &measured.pot, &state.scale, time, &plan.settings);
        let (mut history, mut written) = (std::mem::take(&mut self.history), state.written);
        let appended = journals.append(&seen, &mut history, &mut written, || self.provenance_now());
        (self.history, self.state.written) = (history, written);
        appended
    }
}
