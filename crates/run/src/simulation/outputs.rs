//! Journals of a run, and surveys of its cluster.

use super::plan::Plan;
use crate::cluster::{Journals, ResumableJournals, TimedSurvey};
use std::sync::mpsc::{Receiver, TryRecvError};
use tisane::error::Result;
use tisane_io::checkpoint::OutputCounts;
use tisane_io::directory;
use tisane_io::fields::{DiagnosticsRow, EncounterRow, StarRow, StellarRow};
use tisane_io::file_units::FileUnits;
use tisane_io::journal::{JournalPosition, JournalWriter, ResumableJournal};

/// Journals of a running simulation.
#[derive(Debug)]
pub struct Outputs {
    pub(super) diagnostics: JournalWriter<DiagnosticsRow>,
    pub(super) cluster: Option<Journals>,
    /// Changes of subsystems.
    pub(super) encounters: Option<JournalWriter<EncounterRow>>,
    /// End of its rows that checkpoints count, once others follow: at the end of a session.
    pub(super) counted: Option<JournalPosition>,
    /// Collisions and escapers.
    pub(super) stars: Option<JournalWriter<StarRow>>,
    /// Changes of type of stars that evolve.
    pub(super) stellar: Option<JournalWriter<StellarRow>>,
    /// Receiver of the survey of the cluster that a thread is computing.
    pub(super) survey: Option<Receiver<TimedSurvey>>,
}

impl Outputs {
    /// Creates the journals of a new run.
    ///
    /// # Errors
    /// As [`JournalWriter::create`].
    pub(super) fn create(plan: &Plan, units: &FileUnits) -> Result<Self> {
        let dir = &plan.directory;
        let cluster = plan.cluster.map(|cluster| Journals::create(dir, units, cluster.columns)).transpose()?;
        let encounters = plan.subsystems.then(|| JournalWriter::create(dir, units, &[])).transpose()?;
        let stars = plan.star_events.then(|| JournalWriter::create(dir, units, &[])).transpose()?;
        let stellar = plan.evolution.then(|| JournalWriter::create(dir, units, &[])).transpose()?;
        let diagnostics = JournalWriter::create(dir, units, &plan.optional_columns())?;
        Ok(Self { diagnostics, cluster, encounters, counted: None, stars, stellar, survey: None })
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
        let cluster =
            plan.cluster.map(|cluster| ResumableJournals::check(dir, written, units, cluster.columns)).transpose()?;
        let of_checkpoint = (written.encounters_rows, written.encounters_sha256);
        let encounters =
            plan.subsystems.then(|| ResumableJournal::check(dir, of_checkpoint, units, &[])).transpose()?;
        let of_checkpoint = (written.stars_rows, written.stars_sha256);
        let stars = plan.star_events.then(|| ResumableJournal::check(dir, of_checkpoint, units, &[])).transpose()?;
        let of_checkpoint = (written.stellar_rows, written.stellar_sha256);
        let stellar = plan.evolution.then(|| ResumableJournal::check(dir, of_checkpoint, units, &[])).transpose()?;
        // The summary describes the earlier end, which no longer holds.
        directory::remove_summary(dir)?;
        let cluster = cluster.map(ResumableJournals::resume).transpose()?;
        let encounters = encounters.map(ResumableJournal::resume).transpose()?;
        let stars = stars.map(ResumableJournal::resume).transpose()?;
        let stellar = stellar.map(ResumableJournal::resume).transpose()?;
        Ok(Self {
            diagnostics: diagnostics.resume()?,
            cluster,
            encounters,
            counted: None,
            stars,
            stellar,
            survey: None,
        })
    }

    /// Flushes the journals to the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.diagnostics.sync()?;
        self.cluster.as_ref().map_or(Ok(()), Journals::sync)?;
        self.encounters.as_ref().map_or(Ok(()), JournalWriter::sync)?;
        self.stars.as_ref().map_or(Ok(()), JournalWriter::sync)?;
        self.stellar.as_ref().map_or(Ok(()), JournalWriter::sync)
    }

    /// Records the hashes of the journals for a checkpoint.
    pub(super) fn record_hashes(&self, written: &mut OutputCounts) {
        written.diagnostics_sha256 = Some(self.diagnostics.sha256());
        if let Some(cluster) = &self.cluster {
            cluster.record_hashes(written);
        }
        written.encounters_sha256 = self.encounters.as_ref().map(JournalWriter::sha256);
        written.stars_sha256 = self.stars.as_ref().map(JournalWriter::sha256);
        written.stellar_sha256 = self.stellar.as_ref().map(JournalWriter::sha256);
    }

    /// Takes the result of a survey: if it is ready, or with `wait` once it is. A waiting thread of the pool takes part
    /// in it.
    pub(super) fn take_survey(&mut self, wait: bool) -> Option<TimedSurvey> {
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
