//! Summary of an ensemble: `summary.json`.

use super::blueprint::Blueprint;
use super::columns::floats;
use super::member::FAILED;
use super::status::Status;
use crate::simulation::ExitReason;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::directory::SUMMARY;
use tisane_io::provenance::Provenance;
use tisane_io::table::{Table, Values};

/// Contents of the summary of an ensemble.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the ensemble.
    pub name: String,
    /// Number of members.
    pub members: u64,
    /// Number of members that have ended, those that failed included.
    pub ended: u64,
    /// Number of members by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Median and largest of the largest |energy error| of each member that did not fail and has an energy.
    pub energy_error: [f64; 2],
    /// Block steps of all members that have ended.
    pub block_steps: u64,
    /// Block steps of this session.
    pub block_steps_of_session: u64,
    /// Wall time of this session, in s.
    pub wall_seconds: f64,
    /// Engine of the session, with the reason for it.
    pub engine_choice: String,
    /// Reason for the end of the session: finished, interrupted, time-limit.
    pub exit_reason: &'static str,
    /// Program, machine and configuration.
    pub provenance: Provenance,
}

impl Summary {
    /// Summarises the `table` of the members that have ended.
    pub(super) fn new(
        blueprint: &Blueprint,
        table: &Table,
        status: &Status,
        engine_choice: String,
        ending: ExitReason,
        wall: Duration,
    ) -> Self {
        let config = &blueprint.config;
        let mut outcomes = BTreeMap::new();
        let ends = texts(table, "outcome");
        ends.iter().for_each(|how| *outcomes.entry(how.clone()).or_default() += 1);
        let errors = floats(table, "max_energy_error").zip(ends).filter(|(_, how)| *how != FAILED);
        let mut errors: Vec<f64> = errors.map(|(error, _)| error).filter(|error| !error.is_nan()).collect();
        errors.sort_by(f64::total_cmp);
        let at = |place: usize| errors.get(place).copied().unwrap_or(f64::NAN);
        let written = &blueprint.written;
        let provenance = Provenance {
            precision: config.force.precision().name().into(),
            config_as_written: written.config.clone(),
            config_resolved: config.resolved_toml().unwrap_or_default(),
            ..Provenance::current().with_overrides(&written.overrides)
        };
        Self {
            name: config.run.name.clone(),
            members: status.members,
            ended: status.ended,
            outcomes,
            energy_error: [at(errors.len() / 2), at(errors.len().wrapping_sub(1))],
            block_steps: floats(table, "block_steps").sum::<f64>() as u64,
            block_steps_of_session: status.block_steps,
            wall_seconds: wall.as_secs_f64(),
            engine_choice,
            exit_reason: ending.name(),
            provenance,
        }
    }

    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(SUMMARY);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::storage(&path, e))?;
        write_atomically(&path, |path| std::fs::write(path, format!("{text}\n")).map_err(|e| Error::storage(path, e)))
    }
}

fn texts<'a>(table: &'a Table, name: &str) -> &'a [String] {
    match table.column(name).map(|column| &column.values) {
        Some(Values::Text(texts)) => texts,
        _ => &[],
    }
}
