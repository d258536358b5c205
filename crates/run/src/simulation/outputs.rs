//! Journals of a run, and surveys of its cluster.

use super::{Plan, Simulation};
use crate::cluster::{Journals, ResumableJournals, TimedSurvey};
use crate::{stars, subsystems};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use tisane::error::Result;
use tisane::force::Field;
use tisane::subsystems::{Event, EventKind};
use tisane_io::checkpoint::OutputCounts;
use tisane_io::directory;
use tisane_io::fields::{DiagnosticsRow, EncounterRow, StarRow};
use tisane_io::file_units::FileUnits;
use tisane_io::journal::{JournalWriter, ResumableJournal};

/// Journals of a running simulation.
#[derive(Debug)]
pub struct Outputs {
    pub(super) diagnostics: JournalWriter<DiagnosticsRow>,
    cluster: Option<Journals>,
    /// Changes of subsystems.
    encounters: Option<JournalWriter<EncounterRow>>,
    /// Collisions and escapers.
    stars: Option<JournalWriter<StarRow>>,
    /// Receiver of the survey of the cluster that a thread is computing.
    survey: Option<Receiver<TimedSurvey>>,
}

impl Outputs {
    /// Creates the journals of a new run.
    ///
    /// # Errors
    /// As [`JournalWriter::create`].
    pub(super) fn create(plan: &Plan, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let cluster = plan.cluster.map(|_| Journals::create(dir, units)).transpose()?;
        let encounters = plan.subsystems.then(|| JournalWriter::create(dir, units, &[])).transpose()?;
        let stars = plan.star_events.then(|| JournalWriter::create(dir, units, &[])).transpose()?;
        let diagnostics = JournalWriter::create(dir, units, &plan.optional_columns())?;
        Ok(Self { diagnostics, cluster, encounters, stars, survey: None })
    }

    /// Resumes the journals at the lengths `written` of a checkpoint. Once all have been checked, the summary is
    /// removed and later rows are cut off.
    ///
    /// # Errors
    /// As [`ResumableJournal::check`], [`directory::remove_summary`] and [`ResumableJournal::resume`].
    pub(super) fn resume(plan: &Plan, written: &OutputCounts, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let of_checkpoint = (written.diagnostics_rows, written.diagnostics_sha256);
        let diagnostics = ResumableJournal::check(dir, of_checkpoint, units, &plan.optional_columns())?;
        let cluster = plan.cluster.map(|_| ResumableJournals::check(dir, written, units)).transpose()?;
        let of_checkpoint = (written.encounters_rows, written.encounters_sha256);
        let encounters =
            plan.subsystems.then(|| ResumableJournal::check(dir, of_checkpoint, units, &[])).transpose()?;
        let of_checkpoint = (written.stars_rows, written.stars_sha256);
        let stars = plan.star_events.then(|| ResumableJournal::check(dir, of_checkpoint, units, &[])).transpose()?;
        // The summary describes the earlier end, which no longer holds.
        directory::remove_summary(dir)?;
        let cluster = cluster.map(ResumableJournals::resume).transpose()?;
        let encounters = encounters.map(ResumableJournal::resume).transpose()?;
        let stars = stars.map(ResumableJournal::resume).transpose()?;
        Ok(Self { diagnostics: diagnostics.resume()?, cluster, encounters, stars, survey: None })
    }

    /// Flushes the journals to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.diagnostics.sync()?;
        self.cluster.as_ref().map_or(Ok(()), Journals::sync)?;
        self.encounters.as_ref().map_or(Ok(()), JournalWriter::sync)?;
        self.stars.as_ref().map_or(Ok(()), JournalWriter::sync)
    }

    /// Records the hashes of the journals for a checkpoint.
    pub(super) fn record_hashes(&self, written: &mut OutputCounts) {
        written.diagnostics_sha256 = Some(self.diagnostics.sha256());
        if let Some(cluster) = &self.cluster {
            cluster.record_hashes(written);
        }
        written.encounters_sha256 = self.encounters.as_ref().map(JournalWriter::sha256);
        written.stars_sha256 = self.stars.as_ref().map(JournalWriter::sha256);
    }

    /// Takes the result of a survey: if it is ready, or with `wait` once it is. A waiting thread of the pool takes part
    /// in it.
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
                // The survey panicked, which aborts the run.
                Err(TryRecvError::Disconnected) => break None,
            }
        };
        self.survey = None;
        survey
    }
}

impl Simulation {
    /// Starts a survey of the cluster on the thread pool. Its rows are written once it is finished, at the latest
    /// before the next survey, a checkpoint or the end.
    pub(super) fn start_cluster_survey(&mut self, outputs: &mut Outputs, measured: &Field) -> Result<()> {
        self.finish_cluster_survey(outputs, true)?;
        let Some(plan) = self.plan.cluster else { return Ok(()) };
        let state = &self.system.state;
        let time = state.clock.time(state.now) * state.scale.time;
        let stars = TimedSurvey::stars(&self.system.particles, &measured.pot, &state.scale);
        let (sender, receiver) = mpsc::channel();
        // The receiver is gone if the run has ended in an error.
        rayon::spawn(move || drop(sender.send(TimedSurvey::new(&stars, time, &plan.settings))));
        outputs.survey = Some(receiver);
        Ok(())
    }

    /// Writes the rows of a finished survey of the cluster; with `wait`, waits for the survey to finish.
    pub(super) fn finish_cluster_survey(&mut self, outputs: &mut Outputs, wait: bool) -> Result<()> {
        let Some(survey) = outputs.take_survey(wait) else { return Ok(()) };
        let Some(journals) = &mut outputs.cluster else { return Ok(()) };
        let (history, written) =
            self.retry_when_full(|| journals.append(&survey, &self.history, &self.system.state.written))?;
        (self.history, self.system.state.written) = (history, written);
        self.retry_when_full(|| journals.refresh(|| self.provenance_now()))
    }

    /// Writes the changes of subsystems since the last call.
    pub(super) fn write_encounters(&mut self, outputs: &mut Outputs) -> Result<()> {
        let Some(journal) = &mut outputs.encounters else { return Ok(()) };
        let events = self.system.take_events();
        let state = &self.system.state;
        self.retry_when_full(|| subsystems::append(journal, &events, &state.clock, &state.scale))?;
        self.system.state.written.encounters_rows = journal.rows();
        self.retry_when_full(|| journal.refresh(|| self.provenance_now()))?;
        self.write_stars(outputs, &events)
    }

    /// Writes collisions and escapers, logs them, and takes note of a contact at which the run is to stop.
    fn write_stars(&mut self, outputs: &mut Outputs, events: &[Event]) -> Result<()> {
        let Some(journal) = &mut outputs.stars else { return Ok(()) };
        let scale = self.system.state.scale;
        for line in stars::describe(events, &self.units.units, &scale) {
            if self.plan.stops_at_contact {
                tracing::warn!("{line}");
            } else {
                tracing::info!("{line}");
            }
        }
        self.session.has_contact |= events.iter().any(|event| event.kind == EventKind::Touch);
        let rows = stars::rows(events, &self.system.state.clock, &scale);
        self.retry_when_full(|| journal.append_all(&rows))?;
        self.system.state.written.stars_rows = journal.rows();
        self.retry_when_full(|| journal.refresh(|| self.provenance_now()))
    }

    /// Completes all journals on the disk, with the present provenance.
    pub(super) fn finish(&mut self, outputs: &mut Outputs) -> Result<()> {
        self.finish_cluster_survey(outputs, true)?;
        outputs.sync()?;
        let provenance = self.provenance_now();
        self.retry_when_full(|| outputs.diagnostics.rewrite(&provenance))?;
        self.retry_when_full(|| outputs.cluster.as_mut().map_or(Ok(()), |cluster| cluster.rewrite(&provenance)))?;
        self.retry_when_full(|| outputs.encounters.as_mut().map_or(Ok(()), |journal| journal.rewrite(&provenance)))?;
        self.retry_when_full(|| outputs.stars.as_mut().map_or(Ok(()), |journal| journal.rewrite(&provenance)))
    }
}
