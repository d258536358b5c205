//! What ended a run, or slows it: findings from the files in its directory, for `tisane why` and the live view.
//!
//! [`Findings::read`] takes what is there: a run may be in progress, stopped, killed, damaged or of an older version.
//! [`Findings::page`] answers first, then gives the findings by subject, then advice.

mod advice;
mod answer;
mod disk;
mod ending;
mod intervals;
mod page;
mod sections;
mod settings;
mod short_steps;
mod state;
mod words;

pub use disk::{Course, Disk};
pub use ending::{Ending, LogLine};
pub use intervals::{EnergyError, Events, Growth, Interval, Row};
pub use page::{Advice, Page, Section, TextTable};
pub use settings::{Scheme, Settings};
pub use short_steps::{Group, Orbit, Partner, Share, ShortStep, ShortSteps};
pub use state::{InternalMotion, Progress, State};

use crate::checkpoint::Counters;
use crate::directory::{self, CONFIG};
use crate::fields::Journal;
use crate::pace::{self, Moment};
use crate::provenance::{Change, Provenance};
use crate::regular_file;
use crate::table;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Findings about a run, in the user's units.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Directory of the run, as it was given.
    pub directory: PathBuf,
    /// Settings of the run.
    pub settings: Settings,
    /// State of the run.
    pub ending: Ending,
    /// Warnings and errors of its last session.
    pub log: Vec<LogLine>,
    /// Its summary, if it has one.
    pub summary: Option<Value>,
    /// Rows of its diagnostics.
    pub rows: Vec<Row>,
    /// Energy error, and where it arose.
    pub energy: Option<EnergyError>,
    /// Events that were recorded.
    pub events: Events,
    /// Particles with the shortest steps.
    pub short_steps: Option<ShortSteps>,
    /// Subsystem with the most evaluations of its internal motion, if the newest state is a checkpoint of a run with subsystems.
    pub internal_motion: Option<InternalMotion>,
    /// Time and wall time of the newest checkpoint.
    pub checkpoint: Option<Progress>,
    /// Engine, precision and GPU, as the newest file says.
    pub engine: [String; 3],
    /// Settings that were changed when it was resumed.
    pub changes: Vec<Change>,
    /// Space that it takes and needs.
    pub disk: Disk,
    /// Files that are missing or damaged, and why.
    pub problems: Vec<String>,
}

impl Findings {
    /// Reads the directory of a run. Files that are missing or damaged are named among the findings.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not the directory of a run.
    pub fn read(dir: &Path) -> Result<Self> {
        let help = "give the output directory of a run, by default runs/<name>/";
        if !dir.is_dir() {
            return Err(directory::no_such_run(dir));
        }
        if directory::run_marker(dir).is_none() {
            let problem = format!("not the output directory of a run: it has no {CONFIG} and no journals");
            return Err(Error::input(dir, problem).with_help(help));
        }
        let mut problems = Vec::new();
        let mut kept = |found: Result<Option<Value>, String>| found.unwrap_or_else(|why| none(&mut problems, why));
        let summary = kept(ending::read_summary(dir));
        let log = ending::read_log(dir).unwrap_or_else(|why| none(&mut problems, why));
        let configured = configuration(dir).unwrap_or_else(|why| none(&mut problems, why));
        let (state, checkpoint, unreadable) = state::newest(dir, &configured.clone().unwrap_or_default());
        problems.extend(unreadable);
        let provenance = state.as_ref().map(|state| &state.provenance);
        let settings = configured.or_else(|| Settings::parse(&provenance?.config_resolved)).unwrap_or_default();
        let rows = journal(dir, Journal::Diagnostics)
            .map_or_else(|why| none(&mut problems, why), |table| intervals::rows(&table));
        let events = match journal(dir, Journal::Events) {
            Ok(table) => Events::new(&table),
            Err(why) if settings.records_events => none(&mut problems, why),
            Err(_) => Events::default(),
        };
        let course = rows.first().zip(rows.last()).map(|(first, last)| Course {
            start: first.time,
            reached: last.time,
            wall_seconds: last.wall_seconds,
        });
        Ok(Self {
            directory: dir.to_owned(),
            ending: Ending::find(dir, summary.as_ref(), &log),
            short_steps: state.as_ref().and_then(|state| ShortSteps::find(state, settings.epsilon)),
            internal_motion: state.as_ref().and_then(|state| state.internal_motion.clone()),
            engine: provenance.map_or_else(Default::default, |Provenance { engine, precision, gpu, .. }| {
                [engine, precision, gpu].map(Clone::clone)
            }),
            changes: provenance.and_then(|provenance| provenance.changes().ok()).unwrap_or_default(),
            disk: Disk::measure(dir, &settings, course),
            energy: EnergyError::find(&rows),
            settings,
            log,
            summary,
            rows,
            events,
            checkpoint,
            problems,
        })
    }

    /// Returns the page of the findings.
    #[must_use]
    pub fn page(&self) -> Page {
        Page { title: self.title(), answer: self.answer(), sections: self.sections(), advice: self.advice() }
    }

    /// Returns the latest time that a file of the run has.
    #[must_use]
    pub fn reached(&self) -> Option<f64> {
        let row = self.rows.last().map(|row| row.time);
        let state = self.short_steps.as_ref().map(|steps| steps.time);
        let checkpoint = self.checkpoint.map(|checkpoint| checkpoint.time);
        let summary = self.summary.as_ref().and_then(|summary| summary.get("time")?.as_f64());
        [row, state, checkpoint, summary].into_iter().flatten().reduce(f64::max)
    }

    /// Returns the wall time of the run until its last row or checkpoint, in s.
    #[must_use]
    pub fn wall_seconds(&self) -> Option<f64> {
        let row = self.rows.last().map(|row| row.wall_seconds);
        let checkpoint = self.checkpoint.map(|checkpoint| checkpoint.wall_seconds);
        [row, checkpoint].into_iter().flatten().reduce(f64::max)
    }

    /// Returns the time from the latest one to the end of the run; [`None`] if it is there.
    #[must_use]
    pub fn left(&self) -> Option<f64> {
        let left = self.settings.t_end? - self.reached()?;
        Some(left).filter(|left| *left > 0.0 && !self.ending.is_finished())
    }

    /// Returns the interval from the last row to the newest checkpoint, if that is later; its energy is not measured.
    #[must_use]
    pub fn since_last_row(&self) -> Option<Interval> {
        Interval::new(&[*self.rows.last()?, self.after_the_rows()?])
    }

    /// Returns the newest checkpoint as a row, if it is later than the last row.
    fn after_the_rows(&self) -> Option<Row> {
        let (last, checkpoint) = (self.rows.last()?, self.checkpoint?);
        let Counters { block_steps, particle_steps, pair_interactions, clamped_steps, .. } = checkpoint.counters;
        let row = Row {
            time: checkpoint.time,
            wall_seconds: checkpoint.wall_seconds,
            block_steps: block_steps as f64,
            particle_steps: particle_steps as f64,
            pairs: pair_interactions as f64,
            clamped_steps: clamped_steps as f64,
            step_min: self.short_steps.as_ref().map_or(f64::NAN, |steps| steps.shortest),
            error: f64::NAN,
            cluster_error: last.cluster_error.map(|_| f64::NAN),
            audit_sample: 0.0,
            audit: f64::NAN,
        };
        (checkpoint.time > last.time).then_some(row)
    }

    /// Returns the rows, with the newest checkpoint as a last one, if it is later.
    fn course(&self) -> Vec<Row> {
        self.rows.iter().copied().chain(self.after_the_rows()).collect()
    }

    /// Returns the interval whose pace is the present one.
    #[must_use]
    pub fn last_interval(&self) -> Option<Interval> {
        let course = self.course();
        Interval::new(&course[pace::recent(&moments(&course))?..])
    }

    /// Returns the wall time that the run still takes at its present pace, in s.
    #[must_use]
    pub fn wall_to_go(&self) -> Option<f64> {
        self.left()?;
        pace::to_go(&moments(&self.course()), self.settings.t_end?)
    }

    /// Returns the largest part of all particle steps so far that `stars` particles can have taken: each takes at most one in a
    /// block step. [`None`] where the files do not have the counts.
    #[must_use]
    pub fn max_so_far(&self, stars: usize) -> Option<f64> {
        let course = self.course();
        let last = course.last()?;
        let max = stars as f64 * last.block_steps / last.particle_steps;
        Some(max.min(1.0)).filter(|max| max.is_finite())
    }
}

/// Returns the moments of rows.
fn moments(rows: &[Row]) -> Vec<Moment> {
    rows.iter().map(|row| Moment { time: row.time, wall_seconds: row.wall_seconds }).collect()
}

/// Records why something could not be read, and returns nothing in its place.
fn none<T: Default>(problems: &mut Vec<String>, why: String) -> T {
    problems.push(why);
    T::default()
}

/// Reads the settings of a run from its configuration.
fn configuration(dir: &Path) -> Result<Option<Settings>, String> {
    let text = regular_file::read_to_string(&dir.join(CONFIG)).map_err(|e| format!("{CONFIG}: {e}"))?;
    Settings::parse(&text).map(Some).ok_or_else(|| format!("{CONFIG}: not TOML"))
}

/// Reads a journal of a run.
fn journal(dir: &Path, journal: Journal) -> Result<table::Table, String> {
    let [csv, hdf5] = [journal.csv(), journal.hdf5()].map(|name| dir.join(name));
    match table::read_journal(&csv, &hdf5) {
        // Of a run in progress, the HDF5 file may be damaged while the rows are whole.
        Err(_) if csv.is_file() => table::read_journal(&csv, &dir.join("")).map_err(|e| e.to_string()),
        read => read.map_err(|e| e.to_string()),
    }
}

#[cfg(test)]
mod tests;
