//! The journals that a run writes, and what it says of the cluster.

use super::{Plan, Simulation};
use crate::cluster::{self, Journals, Seen};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use tisane::error::Result;
use tisane::force::Field;
use tisane_io::checkpoint::OutputCounts;
use tisane_io::directory;
use tisane_io::fields::DiagnosticsRow;
use tisane_io::file_units::FileUnits;
use tisane_io::journal::{JournalWriter, ResumableJournal};

/// The journals of a run under way.
#[derive(Debug)]
pub struct Outputs {
    pub(super) diagnostics: JournalWriter<DiagnosticsRow>,
    cluster: Option<Journals>,
    /// A look at the cluster that goes on beside the run.
    look: Option<Receiver<Seen>>,
}

impl Outputs {
    /// Starts those of a new run.
    ///
    /// # Errors
    /// As [`JournalWriter::create`].
    pub(super) fn create(plan: &Plan, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let cluster = plan.cluster.map(|_| Journals::create(dir, units)).transpose()?;
        Ok(Self { diagnostics: JournalWriter::create(dir, units, plan.external_field)?, cluster, look: None })
    }

    /// Takes up those of a run whose checkpoint says what was written. Once all have been looked at, the summary goes, and
    /// later rows are cut off.
    ///
    /// # Errors
    /// As [`ResumableJournal::check`], [`directory::remove_summary`] and [`ResumableJournal::resume`].
    pub(super) fn resume(plan: &Plan, written: &OutputCounts, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let of_checkpoint = (written.diagnostics_rows, written.diagnostics_sha256);
        let diagnostics = ResumableJournal::check(dir, of_checkpoint, units, plan.external_field)?;
        let cluster = plan.cluster.map(|_| cluster::Stopped::look(dir, written, units)).transpose()?;
        // From here on it is not true any more.
        directory::remove_summary(dir)?;
        let cluster = cluster.map(cluster::Stopped::resume).transpose()?;
        Ok(Self { diagnostics: diagnostics.resume()?, cluster, look: None })
    }

    /// Flushes them to the disk, all that was seen told.
    pub(super) fn sync(&self) -> Result<()> {
        self.diagnostics.sync()?;
        self.cluster.as_ref().map_or(Ok(()), Journals::sync)
    }

    /// Notes for a checkpoint what they hold.
    pub(super) fn note(&self, written: &mut OutputCounts) {
        written.diagnostics_sha256 = Some(self.diagnostics.sha256());
        if let Some(cluster) = &self.cluster {
            cluster.note(written);
        }
    }

    /// What a look has seen: that of now, or with `wait` that of the look under way. A thread that waits takes part in it.
    fn seen(&mut self, wait: bool) -> Option<Seen> {
        let look = self.look.as_ref()?;
        let seen = loop {
            match look.try_recv() {
                Err(TryRecvError::Empty) if wait => {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::yield_now();
                    }
                }
                Err(TryRecvError::Empty) => return None,
                Ok(seen) => break Some(seen),
                // It panicked, and with it the run.
                Err(TryRecvError::Disconnected) => break None,
            }
        };
        self.look = None;
        seen
    }
}

impl Simulation {
    /// Begins a look at the cluster, beside the run: its rows are written once it is over, before the next look, a checkpoint or
    /// the end.
    pub(super) fn look_at_cluster(&mut self, outputs: &mut Outputs, measured: &Field) -> Result<()> {
        self.tell_of_cluster(outputs, true)?;
        let Some(plan) = self.plan.cluster else { return Ok(()) };
        let state = &self.state;
        let time = state.clock.time(state.now) * state.scale.time;
        let stars = Seen::stars(&self.particles, &measured.pot, &state.scale);
        let (tell, look) = mpsc::channel();
        // Nobody waits any more if the run has ended in an error.
        rayon::spawn(move || drop(tell.send(Seen::of(&stars, time, &plan.settings))));
        outputs.look = Some(look);
        Ok(())
    }

    /// Writes what a look at the cluster has seen, if it is over; with `wait` it will be.
    pub(super) fn tell_of_cluster(&mut self, outputs: &mut Outputs, wait: bool) -> Result<()> {
        let Some(seen) = outputs.seen(wait) else { return Ok(()) };
        let Some(journals) = &mut outputs.cluster else { return Ok(()) };
        let (history, written) = self.insist(|| journals.append(&seen, &self.history, &self.state.written))?;
        (self.history, self.state.written) = (history, written);
        self.insist(|| journals.refresh(|| self.provenance_now()))
    }

    /// Brings all journals up to date on the disk.
    pub(super) fn finish(&mut self, outputs: &mut Outputs) -> Result<()> {
        self.tell_of_cluster(outputs, true)?;
        outputs.sync()?;
        let provenance = self.provenance_now();
        self.insist(|| outputs.diagnostics.rewrite(&provenance))?;
        self.insist(|| outputs.cluster.as_mut().map_or(Ok(()), |cluster| cluster.rewrite(&provenance)))
    }
}
