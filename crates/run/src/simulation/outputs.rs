//! The journals that a run writes, and what it says of the cluster.

use super::{Plan, Simulation};
use crate::cluster::{Journals, ResumableJournals, TimedSurvey};
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
    survey: Option<Receiver<TimedSurvey>>,
}

impl Outputs {
    /// Starts those of a new run.
    ///
    /// # Errors
    /// As [`JournalWriter::create`].
    pub(super) fn create(plan: &Plan, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let cluster = plan.cluster.map(|_| Journals::create(dir, units)).transpose()?;
        Ok(Self { diagnostics: JournalWriter::create(dir, units)?, cluster, survey: None })
    }

    /// Takes up those of a run whose checkpoint says what was written. Once all have been looked at, the summary goes, and
    /// later rows are cut off.
    ///
    /// # Errors
    /// As [`ResumableJournal::check`], [`directory::remove_summary`] and [`ResumableJournal::resume`].
    pub(super) fn resume(plan: &Plan, written: &OutputCounts, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let diagnostics = ResumableJournal::check(dir, (written.diagnostics_rows, written.diagnostics_sha256), units)?;
        let cluster = plan.cluster.map(|_| ResumableJournals::check(dir, written, units)).transpose()?;
        // From here on it is not true any more.
        directory::remove_summary(dir)?;
        let cluster = cluster.map(ResumableJournals::resume).transpose()?;
        Ok(Self { diagnostics: diagnostics.resume()?, cluster, survey: None })
    }

    /// Flushes them to the disk, all that was seen told.
    pub(super) fn sync(&self) -> Result<()> {
        self.diagnostics.sync()?;
        self.cluster.as_ref().map_or(Ok(()), Journals::sync)
    }

    /// Notes for a checkpoint what they hold.
    pub(super) fn record_hashes(&self, written: &mut OutputCounts) {
        written.diagnostics_sha256 = Some(self.diagnostics.sha256());
        if let Some(cluster) = &self.cluster {
            cluster.record_hashes(written);
        }
    }

    /// What a look has survey: that of now, or with `wait` that of the look under way. A thread that waits takes part in it.
    fn take_survey(&mut self, wait: bool) -> Option<TimedSurvey> {
        let receiver = self.survey.as_ref()?;
        let survey = loop {
            match receiver.try_recv() {
                Err(TryRecvError::Empty) if wait => {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::yield_now();
                    }
                }
                Err(TryRecvError::Empty) => return None,
                Ok(survey) => break Some(survey),
                // It panicked, and with it the run.
                Err(TryRecvError::Disconnected) => break None,
            }
        };
        self.survey = None;
        survey
    }
}

impl Simulation {
    /// Begins a look at the cluster, beside the run: its rows are written once it is over, before the next look, a checkpoint or
    /// the end.
    pub(super) fn start_cluster_survey(&mut self, outputs: &mut Outputs, measured: &Field) -> Result<()> {
        self.finish_cluster_survey(outputs, true)?;
        let Some(plan) = self.plan.cluster else { return Ok(()) };
        let state = &self.state;
        let time = state.clock.time(state.now) * state.scale.time;
        let stars = TimedSurvey::stars(&self.particles, &measured.pot, &state.scale);
        let (sender, receiver) = mpsc::channel();
        // Nobody waits any more if the run has ended in an error.
        rayon::spawn(move || drop(sender.send(TimedSurvey::new(&stars, time, &plan.settings))));
        outputs.survey = Some(receiver);
        Ok(())
    }

    /// Writes what a look at the cluster has survey, if it is over; with `wait` it will be.
    pub(super) fn finish_cluster_survey(&mut self, outputs: &mut Outputs, wait: bool) -> Result<()> {
        let Some(survey) = outputs.take_survey(wait) else { return Ok(()) };
        let Some(journals) = &mut outputs.cluster else { return Ok(()) };
        let (history, written) =
            self.retry_when_full(|| journals.append(&survey, &self.history, &self.state.written))?;
        (self.history, self.state.written) = (history, written);
        self.retry_when_full(|| journals.refresh(|| self.provenance_now()))
    }

    /// Brings all journals up to date on the disk.
    pub(super) fn finish(&mut self, outputs: &mut Outputs) -> Result<()> {
        self.finish_cluster_survey(outputs, true)?;
        outputs.sync()?;
        let provenance = self.provenance_now();
        self.retry_when_full(|| outputs.diagnostics.rewrite(&provenance))?;
        self.retry_when_full(|| outputs.cluster.as_mut().map_or(Ok(()), |cluster| cluster.rewrite(&provenance)))
    }
}
