//! Files that a run writes on its way: rows of diagnostics, snapshots and checkpoints, when they are due.

use super::error_watch::Digits;
use super::{LastMeasured, Measured, Observer, Outputs, Simulation};
use crate::cluster::TimedSurvey;
use crate::{stars, subsystems};
use std::sync::mpsc;
use std::time::Instant;
use tisane::diagnostics::force_audit::Audit;
use tisane::error::Result;
use tisane::force::Field;
use tisane::subsystems::{Event, EventKind};
use tisane::time::TICKS_PER_DT_MAX;
use tisane::units::{Dimension, twelve_digits};
use tisane_io::checkpoint::{self, CheckpointRef, RunState};
use tisane_io::directory;
use tisane_io::fields::DiagnosticsRow;
use tisane_io::history::History;
use tisane_io::snapshot::{self, Snapshot};

/// Outputs that are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    row: bool,
    cluster: bool,
    snapshot: bool,
}

impl Simulation {
    /// Returns the outputs that are due at a synchronised time, if any are; all are due at the end.
    pub(super) fn due(&self) -> Option<Due> {
        let periods = self.system.state.now.0 / TICKS_PER_DT_MAX;
        let due = |every: u64| periods.is_multiple_of(every) || self.system.state.now >= self.plan.end;
        let (row, snapshot) = (due(self.plan.diagnostics_every), due(self.plan.snapshots_every));
        let cluster = self.plan.cluster.is_some_and(|cluster| due(cluster.every));
        (row || cluster || snapshot).then_some(Due { row, cluster, snapshot })
    }

    /// Writes outputs.
    pub(super) fn output(&mut self, due: Due, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<()> {
        let _span = tracing::trace_span!("output", time = %self.time()).entered();
        // The rows of an output are whole before those of the next one.
        self.finish_cluster_survey(outputs, observer, true)?;
        let measured = self.measure()?;
        if due.row {
            self.write_row(outputs, &measured, (due.cluster, observer))?;
        }
        if due.cluster {
            self.start_cluster_survey(outputs, &measured)?;
            // Where the run stops must not depend on how long the survey takes.
            self.finish_cluster_survey(outputs, observer, self.plan.bound_fraction.is_some())?;
        }
        if due.snapshot {
            self.write_snapshot(&measured)?;
        }
        Ok(())
    }

    /// Measures the field and the subsystems at a synchronised time.
    pub(super) fn measure(&mut self) -> Result<Measured> {
        let _span = tracing::trace_span!("measure").entered();
        let subsystems = self.system.describe_subsystems()?;
        Ok(Measured { field: self.system.field()?, subsystems })
    }

    /// Writes a row of diagnostics, and shows it to the observer, with word of whether a survey at its time follows.
    pub(super) fn write_row(
        &mut self,
        outputs: &mut Outputs,
        measured: &Measured,
        (survey, observer): (bool, &mut dyn Observer),
    ) -> Result<()> {
        let _span = tracing::trace_span!("row").entered();
        self.system.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let (mut row, audit) = self.system.measure(&measured.field)?;
        let errors =
            self.system.cluster_energy_errors(&row, (&measured.field, &measured.subsystems), self.plan.epsilon);
        row.cluster_energy_error = Some(errors.with_binaries_as_bodies);
        if self.plan.star_events || self.plan.evolution {
            row.removed_energy = Some(self.system.state.references.removed.energy);
            row.particles = Some(self.system.particles.len() as u64);
        }
        if self.plan.subsystems {
            subsystems::measure(&mut row, &self.system.state.references, &measured.subsystems);
            row.outer_energy_error = Some(errors.outer);
        }
        self.system.choose_runaways(&errors.runaways, &measured.field)?;
        self.retry_when_full(|| outputs.diagnostics.append(&row))?;
        self.retry_when_full(|| outputs.diagnostics.refresh(|| self.provenance_now()))?;
        let state = &mut self.system.state;
        state.written.diagnostics_rows += 1;
        let references = &mut state.references;
        references.previous_energy = row.energy;
        references.relative_energy_error = row.relative_energy_error;
        references.previous_removed_energy = references.removed.energy;
        references.previous_counters = state.counters;
        references.previous_wall_seconds = state.wall_seconds;
        references.angular_momentum_error = row.angular_momentum_error;
        references.max_relative_energy_error =
            references.max_relative_energy_error.max(row.relative_energy_error.abs());
        observer.output(&row, survey);
        let end = self.system.state.clock.time(self.plan.end);
        let (units, scale) = (&self.units.units, self.system.state.scale.time);
        let time = |t: f64, digits| match digits {
            Digits::Few => units.readable(t * scale, Dimension::TIME),
            Digits::All => format!("{} {}", twelve_digits(t * scale), units.time.name),
        };
        let basis = self.system.state.references.start.basis;
        for warning in self.watch.observe((&row, basis), end, time) {
            tracing::warn!("{warning}");
        }
        self.measured = Some(LastMeasured { time: row.time, cluster_energy_error: row.cluster_energy_error });
        let verdict = self.check_row(&row, &measured.field, audit.as_ref());
        if verdict.is_err() {
            self.checkpoint(outputs, observer)?;
            self.finish(outputs, observer)?;
        }
        verdict
    }

    /// Returns an error for a row whose energy error or audit exceeds its limit.
    pub(super) fn check_row(&self, row: &DiagnosticsRow, field: &Field, audit: Option<&Audit>) -> Result<()> {
        let time = self.time();
        let energy = self.system.check_energy(row, field, self.plan.energy_error, &time);
        energy.map_err(|error| self.advise_to_begin_anew(error, row.relative_energy_error))?;
        self.system.check_audit(audit, &time)
    }

    /// Returns the present time with its unit.
    fn time(&self) -> String {
        let state = &self.system.state;
        self.units.units.readable(state.clock.time(state.now) * state.scale.time, Dimension::TIME)
    }

    pub(super) fn write_snapshot(&mut self, measured: &Measured) -> Result<()> {
        let _span = tracing::trace_span!("snapshot").entered();
        let path = directory::snapshot(&self.plan.directory, self.system.state.written.snapshots);
        let provenance = self.provenance_now();
        let stars = self.system.star_states();
        let snapshot = Snapshot {
            particles: &self.system.particles,
            field: &measured.field,
            subsystems: &measured.subsystems,
            stars: &stars,
            now: self.system.state.now,
            clock: &self.system.state.clock,
            units: &self.units,
            provenance: &provenance,
        };
        self.retry_when_full(|| snapshot::write(&path, &snapshot))?;
        self.system.state.written.snapshots += 1;
        tracing::debug!(path = %path.display(), time = %self.time(), "wrote a snapshot");
        Ok(())
    }

    /// Writes a checkpoint of the present state.
    ///
    /// # Errors
    /// [`tisane::Error::Storage`]; the last checkpoint stays whole.
    pub fn checkpoint(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<()> {
        let _span = tracing::trace_span!("checkpoint").entered();
        self.finish_cluster_survey(outputs, observer, true)?;
        outputs.sync()?;
        outputs.record_hashes(&mut self.system.state.written);
        self.system.state.wall_seconds = self.session.wall_before + self.session.began.elapsed().as_secs_f64();
        let provenance = self.provenance_now();
        let history = History { runaways: self.system.runaways.clone(), ..self.history.clone() };
        let checkpoint = CheckpointRef {
            particles: &self.system.particles,
            run: &self.system.state,
            history: &history,
            provenance: &provenance,
        };
        self.retry_when_full(|| checkpoint::write(&self.plan.directory, checkpoint))?;
        self.session.last_checkpoint = Instant::now();
        let block_steps = self.system.state.counters.block_steps;
        tracing::debug!(time = %self.time(), block_steps, "wrote a checkpoint");
        Ok(())
    }
}

impl Simulation {
    /// Starts a survey of the cluster on the thread pool. Its rows are written once it is finished, at the latest
    /// before the next output, a checkpoint or the end.
    pub(super) fn start_cluster_survey(&mut self, outputs: &mut Outputs, measured: &Measured) -> Result<()> {
        let Some(plan) = self.plan.cluster else { return Ok(()) };
        let state = &self.system.state;
        let time = state.clock.time(state.now) * state.scale.time;
        let Measured { field, subsystems } = measured;
        let states = self.system.star_states();
        let stars = TimedSurvey::stars(&self.system.particles, &field.pot, (&states, subsystems), &self.units);
        let tide = self.system.tide(field);
        let (sender, receiver) = mpsc::channel();
        // The receiver is gone if the run has ended in an error.
        rayon::spawn(move || drop(sender.send(TimedSurvey::new(&stars, time, &plan.settings, tide.as_ref()))));
        outputs.survey = Some(receiver);
        Ok(())
    }

    /// Writes the rows of a finished survey of the cluster, and shows them to the observer; with `wait`, waits for the survey
    /// to finish.
    pub(super) fn finish_cluster_survey(
        &mut self,
        outputs: &mut Outputs,
        observer: &mut dyn Observer,
        wait: bool,
    ) -> Result<()> {
        let Some(survey) = outputs.take_survey(wait) else { return Ok(()) };
        if let (Some(fraction), Some(tidal)) = (self.plan.bound_fraction, &survey.survey.tidal) {
            // In the user's units, as the rows that a resumed run reads.
            self.session.dissolution.note(survey.time, tidal.mass * self.units.scale.mass, fraction);
        }
        let Some(journals) = &mut outputs.cluster else { return Ok(()) };
        let (history, written) =
            self.retry_when_full(|| journals.append(&survey, &self.history, &self.system.state.written))?;
        (self.history, self.system.state.written) = (history, written);
        self.retry_when_full(|| journals.refresh(|| self.provenance_now()))?;
        observer.surveyed(&survey.row());
        Ok(())
    }

    /// Writes the changes of subsystems since the last call.
    pub(super) fn write_encounters(&mut self, outputs: &mut Outputs) -> Result<()> {
        let Some(journal) = &mut outputs.encounters else { return Ok(()) };
        let events = self.system.take_events();
        let state = &self.system.state;
        let rows = subsystems::rows(&events, &state.clock, &state.scale);
        self.retry_when_full(|| journal.append_all(&rows))?;
        self.system.state.written.encounters_rows = journal.rows();
        self.retry_when_full(|| journal.refresh(|| self.provenance_now()))?;
        self.write_stars(outputs, &events)
    }

    /// Writes the changes of type of stars since the last call.
    pub(super) fn write_type_changes(&mut self, outputs: &mut Outputs) -> Result<()> {
        let Some(journal) = &mut outputs.stellar else { return Ok(()) };
        let changes = std::mem::take(&mut self.system.type_changes);
        let RunState { clock, scale, .. } = self.system.state;
        let Some(evolution) = self.system.engines.evolution.as_ref().filter(|_| !changes.is_empty()) else {
            return Ok(());
        };
        let rows = evolution.rows(&changes, &clock, &scale);
        self.retry_when_full(|| journal.append_all(&rows))?;
        self.system.state.written.stellar_rows = journal.rows();
        self.retry_when_full(|| journal.refresh(|| self.provenance_now()))
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

    /// Writes rows for the changes of subsystems that are held back: no checkpoint counts them, so that a resumed run takes them off
    /// and goes on as if it had not stopped.
    fn write_held_back(&mut self, outputs: &mut Outputs) -> Result<()> {
        let Some(journal) = &mut outputs.encounters else { return Ok(()) };
        if let Some(end) = outputs.counted.take() {
            journal.truncate(end);
        }
        outputs.counted = Some(journal.position());
        let events = self.system.held_back();
        let state = &self.system.state;
        let rows = subsystems::rows(&events, &state.clock, &state.scale);
        self.retry_when_full(|| journal.append_all(&rows))
    }

    /// Completes all journals on the disk, with the present provenance.
    pub(super) fn finish(&mut self, outputs: &mut Outputs, observer: &mut dyn Observer) -> Result<()> {
        self.finish_cluster_survey(outputs, observer, true)?;
        self.write_held_back(outputs)?;
        outputs.sync()?;
        let provenance = self.provenance_now();
        self.retry_when_full(|| outputs.diagnostics.rewrite(&provenance))?;
        self.retry_when_full(|| outputs.cluster.as_mut().map_or(Ok(()), |cluster| cluster.rewrite(&provenance)))?;
        self.retry_when_full(|| outputs.encounters.as_mut().map_or(Ok(()), |journal| journal.rewrite(&provenance)))?;
        self.retry_when_full(|| outputs.stars.as_mut().map_or(Ok(()), |journal| journal.rewrite(&provenance)))?;
        self.retry_when_full(|| outputs.stellar.as_mut().map_or(Ok(()), |journal| journal.rewrite(&provenance)))
    }
}
