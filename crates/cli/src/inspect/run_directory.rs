//! `tisane inspect DIR`: what the directory of a run holds, and how to go on with it.

use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::units::{Dimension, Units, digits, wall_time};
use tisane_io::checkpoint::{self, CheckpointHeader};
use tisane_io::directory::{self, CONFIG, LOG, SUMMARY};
use tisane_io::fields::Journal;
use tisane_io::journal::tail::JournalTail;
use tisane_io::provenance::Change;
use tisane_io::snapshot::{self, SnapshotHeader};
use tisane_io::{lock, regular_file, removed};
use tisane_run::config::Config;

/// Bytes at the end of the log in which the end of the last session is searched.
const LOG_END: u64 = 1 << 16;
/// Length up to which a number is written with all digits.
const SHORT: usize = 8;
/// Length of the names of the lines.
const NAME: usize = 16;

/// What a table of runs says of each.
pub const HEADINGS: [&str; 9] =
    ["run", "state", "time", "particles", "integrator", "dE/E", "dE/E of cluster", "largest dE/E", "wall time"];

/// Describes the directory of a run in one screen.
///
/// # Errors
/// [`Error::Input`] if it is not the directory of a run; [`Error::Config`] for its configuration.
pub fn describe(dir: &Path) -> Result<String> {
    let contents = read(dir)?;
    let mut page = Page::default();
    contents.describe_run(&mut page);
    contents.describe_files(&mut page);
    contents.describe_next(&mut page);
    Ok(page.0)
}

/// Returns what a table of runs says of one, as texts for [`HEADINGS`].
///
/// # Errors
/// As [`describe`].
pub fn row(dir: &Path) -> Result<[String; HEADINGS.len()]> {
    let contents = read(dir)?;
    let [integrator, _] = contents.config.describe_integrator();
    let error = |error: Option<f64>, text: fn(f64) -> String| error.filter(|e| !e.is_nan()).map_or("-".into(), text);
    // The first row is that of the start, which has no error.
    let measured = contents.rows(Journal::Diagnostics) > 1;
    let signed = |column| error(contents.last_row(column).filter(|_| measured), |e| format!("{e:+.2e}"));
    Ok([
        dir.display().to_string(),
        contents.state.word().into(),
        contents.reached().map_or("-".into(), |time| contents.time(time)),
        contents.particles().split(' ').next().filter(|n| n.parse::<f64>().is_ok()).unwrap_or("-").to_owned(),
        integrator,
        signed("relative_energy_error"),
        signed("cluster_energy_error"),
        error(contents.number("max_relative_energy_error"), |e| format!("{e:.2e}")),
        error(contents.number("wall_seconds"), wall_time),
    ])
}

/// Reads the directory of a run.
fn read(dir: &Path) -> Result<Contents<'_>> {
    if !dir.join(CONFIG).is_file() {
        let problem = format!("not the output directory of a run: there is no {CONFIG}");
        let help = match dir.parent().filter(|parent| parent.join(CONFIG).is_file()) {
            Some(parent) => format!("tisane inspect {} describes the run", parent.display()),
            None => "`tisane run` creates one, by default runs/<name>/".to_owned(),
        };
        return Err(Error::input(dir, problem).with_help(help));
    }
    Contents::read(dir)
}

/// State of a run.
enum State {
    /// A process uses the directory.
    InProgress(String),
    /// It reached its end.
    Finished,
    /// It stopped on request or at a limit.
    Stopped(&'static str),
    /// An error ended it: the error, and advice.
    Failed(String, Option<String>),
    /// Its process did not end regularly: killed, or its machine went down.
    Killed(Option<String>),
}

/// What the directory of a run holds.
struct Contents<'a> {
    dir: &'a Path,
    config: Config,
    state: State,
    summary: Option<Value>,
    snapshots: Vec<u64>,
    /// The first and the last snapshot.
    ends: [Option<SnapshotHeader>; 2],
    checkpoints: Vec<(&'static str, Result<CheckpointHeader>)>,
    journals: Vec<(Journal, JournalTail)>,
}

impl<'a> Contents<'a> {
    fn read(dir: &'a Path) -> Result<Self> {
        let config = Config::from_file(dir.join(CONFIG), &[])?.config;
        let summary = regular_file::read(&dir.join(SUMMARY)).ok();
        let summary: Option<Value> = summary.and_then(|text| serde_json::from_slice(&text).ok());
        let snapshots = directory::snapshot_numbers(dir)?;
        let header = |number: Option<&u64>| snapshot::read_header(&directory::snapshot(dir, *number?)).ok();
        let ends = [header(snapshots.first()), header(snapshots.last())];
        let checkpoints = [checkpoint::NEWEST, checkpoint::PREVIOUS].into_iter().filter(|name| dir.join(name).exists());
        let checkpoints = checkpoints.map(|name| (name, checkpoint::read_header(&dir.join(name)))).collect();
        let mut journals = Vec::new();
        for journal in Journal::ALL.into_iter().filter(|journal| dir.join(journal.csv()).exists()) {
            let mut tail = JournalTail::new(dir.join(journal.csv()));
            tail.refresh()?;
            journals.push((journal, tail));
        }
        let state = State::read(dir, summary.as_ref());
        Ok(Self { dir, config, state, summary, snapshots, ends, checkpoints, journals })
    }

    fn units(&self) -> Units {
        self.config.units()
    }

    /// Returns a time with its unit: all digits of `0.125`, three of a time between outputs.
    fn time(&self, time: f64) -> String {
        let all = time.to_string();
        let units = self.units();
        if all.len() > SHORT { units.readable(time, Dimension::TIME) } else { format!("{all} {}", units.time.name) }
    }

    /// Returns a number of the summary; [`None`] while the run goes on, whose summary is of an earlier session.
    fn number(&self, key: &str) -> Option<f64> {
        let ended = !matches!(self.state, State::InProgress(_));
        self.summary.as_ref().filter(|_| ended)?.get(key)?.as_f64()
    }

    /// Returns a value of the last row of the diagnostics.
    fn last_row(&self, column: &str) -> Option<f64> {
        self.in_row(column, |rows| rows.checked_sub(1))
    }

    /// Returns a value of the row of the diagnostics whose number, of all rows, is `row`.
    fn in_row(&self, column: &str, row: impl Fn(u64) -> Option<u64>) -> Option<f64> {
        let (_, tail) = self.journals.iter().find(|(journal, _)| *journal == Journal::Diagnostics)?;
        let rows = tail.read(row(tail.rows())?, 1, 1, |name| name == column).ok()?;
        rows.table.columns.first()?.values.numbers()?.last()
    }

    /// Returns the number of rows of a journal.
    fn rows(&self, of: Journal) -> u64 {
        self.journals.iter().find(|(journal, _)| *journal == of).map_or(0, |(_, tail)| tail.rows())
    }

    fn newest_checkpoint(&self) -> Option<&CheckpointHeader> {
        self.checkpoints.iter().find_map(|(_, read)| read.as_ref().ok())
    }

    /// Returns the latest time of any file.
    fn reached(&self) -> Option<f64> {
        let snapshot = self.ends[1].as_ref().map(|header| header.time);
        let checkpoint = self.newest_checkpoint().map(|header| header.run.time());
        let times = [self.number("time"), self.last_row("time"), snapshot, checkpoint];
        times.into_iter().flatten().reduce(f64::max)
    }

    /// Describes the number of particles at the latest time, and that at the start where mergers or escapers have changed it.
    fn particles(&self) -> String {
        let [first, last] = self.ends.each_ref().map(|end| end.as_ref().map(|header| (header.time, header.n as f64)));
        let checkpoint = self.newest_checkpoint().map(|header| (header.run.time(), header.n as f64));
        let row = self.last_row("time").zip(self.last_row("particles"));
        let latest = [last, checkpoint, row].into_iter().flatten().reduce(|a, b| if b.0 > a.0 { b } else { a });
        let Some((time, now)) = latest else { return "not known: no snapshot and no checkpoint".into() };
        match self.in_row("particles", |_| Some(0)).or(first.map(|(_, n)| n)) {
            Some(before) if before != now => format!("{now} at {}, {before} at the start", self.time(time)),
            _ => now.to_string(),
        }
    }

    /// Adds name, state, time, particles, units, settings, errors.
    fn describe_run(&self, page: &mut Page) {
        let config = &self.config;
        page.line("run", format!("{} in {}", config.run.name, self.dir.display()));
        page.line("state", self.state.text());
        let end = self.time(config.t_end());
        let start = config.t_start().or_else(|| self.number("time_start")).unwrap_or(0.0);
        match self.reached() {
            Some(reached) => {
                let share = 100.0 * (reached - start) / (config.t_end() - start);
                page.line("time", format!("{} of {end}, {} %", self.time(reached), digits(share)));
            }
            None => page.line("time", format!("nothing of {end}")),
        }
        page.line("particles", self.particles());
        page.line("units", self.units().describe());
        let [integrator, _] = config.describe_integrator();
        page.line("integrator", integrator);
        let engine = ["engine", "precision"].map(|key| self.summary.as_ref()?.get(key)?.as_str().map(str::to_owned));
        let [engine, precision] = match (engine, self.ends[1].as_ref()) {
            ([Some(engine), Some(precision)], _) => [engine, precision],
            (_, Some(header)) => [header.engine.clone(), header.precision.clone()],
            _ => [config.force.engine.name().to_owned(), config.force.precision().name().to_owned()],
        };
        page.line("force", format!("engine {engine}, precision {precision}"));
        if let Some(law) = config.law_section() {
            page.line("law", law.describe());
        }
        let epsilon = config.softening.epsilon.get();
        let length = self.units().label(Dimension::LENGTH);
        page.line("softening", if epsilon == 0.0 { "none".to_owned() } else { format!("{epsilon} {length}") });
        self.describe_errors(page);
        if let Some(seconds) = self.number("wall_seconds") {
            let rate = self.number("pairs_per_second").map(|rate| format!(", {} pairs/s", digits(rate)));
            page.line("wall time", wall_time(seconds) + &rate.unwrap_or_default());
        }
        for change in self.changes() {
            page.line("changed", change);
        }
    }

    /// Adds the energy errors, where a row was written.
    fn describe_errors(&self, page: &mut Page) {
        let Some(now) = self.last_row("relative_energy_error").filter(|error| !error.is_nan()) else { return };
        let of_checkpoint = self.newest_checkpoint().map(|header| header.run.references.max_relative_energy_error);
        let largest = self.number("max_relative_energy_error").or(of_checkpoint).unwrap_or(0.0).max(now.abs());
        let at = self.last_row("time").map(|time| format!(" at {}", self.time(time))).unwrap_or_default();
        // The first row is that of the start.
        if self.rows(Journal::Diagnostics) < 2 {
            return page.line("energy error", format!("not measured since the start,{at}"));
        }
        page.line("energy error", format!("dE/E {now:+.3e}{at}, largest {largest:.3e}"));
        // Without binaries and hierarchies it is the same number.
        let other = |cluster: &f64| (cluster - now).abs() > 0.01 * now.abs();
        let cluster = self.last_row("cluster_energy_error");
        if cluster.is_some_and(f64::is_nan) {
            page.line("", "no bound cluster of 10 bodies is left");
        }
        if let Some(cluster) = cluster.filter(other) {
            page.line("", format!("{cluster:+.3e} of the cluster's own energy, binaries as one body each"));
        }
        let [time, total] = ["time", "removed_energy"].map(|name| self.last_row(name).unwrap_or(f64::NAN));
        let removed = removed::read_all(self.dir, time, total).unwrap_or_default();
        if !removed.is_empty() {
            let unit = self.units().label(Dimension::ENERGY);
            let removed: Vec<String> = removed.iter().map(|it| format!("{} {unit}", it.describe())).collect();
            page.line("removed energy", removed.join("; "));
        }
    }

    /// Returns the settings that were changed when the run was resumed.
    fn changes(&self) -> Vec<String> {
        let of_summary = self.summary.as_ref().and_then(|summary| summary.get("changes")).cloned();
        let of_summary = of_summary.and_then(|changes| serde_json::from_value::<Vec<Change>>(changes).ok());
        let of_checkpoint = || self.newest_checkpoint().and_then(|header| header.provenance.changes().ok());
        let changes = of_summary.or_else(of_checkpoint).unwrap_or_default();
        let text = |change: Change| {
            let Change { key, from, to, time, .. } = change;
            format!("{key} from {from} to {to} at {}", self.time(time))
        };
        changes.into_iter().map(text).collect()
    }

    /// Adds snapshots, rows, checkpoints, pictures and the space that all files take.
    fn describe_files(&self, page: &mut Page) {
        let missing = directory::snapshots(self.dir).ok().and_then(|paths| directory::describe_missing(&paths));
        let missing = missing.map(|missing| format!("; {missing}")).unwrap_or_default();
        let times = match &self.ends {
            [Some(first), Some(last)] if self.snapshots.len() > 1 => {
                format!(", from {} to {}", first.time, self.time(last.time))
            }
            [Some(first), Some(_)] => format!(", at {}", self.time(first.time)),
            _ if self.snapshots.is_empty() => String::new(),
            _ => ", of which the first or the last cannot be read".to_owned(),
        };
        page.line("snapshots", format!("{}{times}{missing}", self.snapshots.len()));
        let rows: Vec<_> = self.journals.iter().map(|(journal, tail)| (journal.csv(), tail.rows())).collect();
        let rows: Vec<_> =
            rows.iter().map(|(name, rows)| format!("{} {rows}", name.trim_end_matches(".csv"))).collect();
        page.line("rows", if rows.is_empty() { "none".to_owned() } else { rows.join(", ") });
        for (number, (name, read)) in self.checkpoints.iter().enumerate() {
            let text = match read {
                Ok(header) => format!("{name} at {}", self.time(header.run.time())),
                Err(error) => error.to_string(),
            };
            page.line(if number == 0 { "checkpoints" } else { "" }, text);
        }
        if self.checkpoints.is_empty() {
            page.line("checkpoints", "none");
        }
        let pictures = ["plots/report.html", "movie/movie.mp4", "analysis"];
        let pictures: Vec<_> = pictures.into_iter().filter(|name| self.dir.join(name).exists()).collect();
        if !pictures.is_empty() {
            page.line("results", pictures.join(", "));
        }
        let (bytes, files) = disk(self.dir);
        page.line("disk", format!("{} in {files} files", directory::bytes(bytes)));
    }

    /// Adds the commands with which to go on.
    fn describe_next(&self, page: &mut Page) {
        let dir = self.dir.display();
        let from = self.newest_checkpoint().map(|header| self.time(header.run.time()));
        let resume = |how: &str| match &from {
            Some(time) => format!("tisane resume {dir}  goes on from {time}{how}"),
            None => format!("tisane run {dir}/{CONFIG} --overwrite  begins anew: there is no checkpoint"),
        };
        let end = self.time(self.config.t_end());
        let first = match &self.state {
            State::InProgress(_) => String::new(),
            State::Finished => format!("tisane resume {dir} --t-end TIME  goes on beyond {end}"),
            State::Stopped(_) => resume(""),
            State::Killed(_) => resume("; what came after is computed again, with the same bits"),
            State::Failed(_, Some(advice)) => advice.clone(),
            State::Failed(_, None) => resume(", where the cause of the error was removed"),
        };
        let failed = matches!(self.state, State::Failed(..));
        let why = failed.then(|| format!("tisane why {dir}  tells what led to it"));
        let view = format!("tisane view {dir}");
        let plot = (!self.snapshots.is_empty()).then(|| format!("tisane plot {dir}"));
        for (number, command) in first.lines().map(str::to_owned).chain(why).chain(plot).chain([view]).enumerate() {
            page.line(if number == 0 { "next" } else { "" }, command);
        }
    }
}

impl State {
    fn read(dir: &Path, summary: Option<&Value>) -> Self {
        let holder = lock::holder(dir);
        if lock::in_use(dir) {
            return Self::InProgress(holder.unwrap_or_default());
        }
        let text = |key: &str| Some(summary?.get(key)?.as_str()?.to_owned());
        match text("exit_reason").as_deref() {
            Some("finished") => return Self::Finished,
            Some("interrupted") => return Self::Stopped("on request (interrupted)"),
            Some("time-limit") => return Self::Stopped("at its limit of wall time"),
            Some("collision") => return Self::Stopped("where two stars touched"),
            Some("dissolution") => return Self::Stopped("where the cluster had dissolved"),
            Some("block-step-limit") => return Self::Stopped("at its limit of block steps"),
            _ => {}
        }
        let error = text("error").or_else(|| last_error(&log_end(&dir.join(LOG))));
        match error {
            Some(error) => Self::Failed(error, text("advice")),
            None => Self::Killed(holder),
        }
    }

    /// Returns the state in one or two words.
    const fn word(&self) -> &'static str {
        match self {
            Self::InProgress(_) => "in progress",
            Self::Finished => "finished",
            Self::Stopped(_) => "stopped",
            Self::Failed(..) => "error",
            Self::Killed(_) => "killed",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::InProgress(holder) => format!("in progress: {holder}"),
            Self::Finished => "finished".into(),
            Self::Stopped(why) => format!("stopped {why}"),
            Self::Failed(error, _) => format!("ended by an error: {error}"),
            Self::Killed(holder) => {
                let who = holder.as_ref().map(|who| format!(": {who}")).unwrap_or_default();
                format!("not ended regularly, killed or its machine went down{who}")
            }
        }
    }
}

/// Returns the end of a log; empty if it cannot be read.
fn log_end(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file: File = regular_file::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
        let mut end = Vec::new();
        file.take(LOG_END).read_to_end(&mut end)?;
        Ok(end)
    };
    read().map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the error that ended the last session of a log, which has a line `TIME LEVEL TEXT` for each message.
fn last_error(log: &str) -> Option<String> {
    let message = |line: &str, level: &str| {
        let (_, rest) = line.split_once(char::is_whitespace)?;
        rest.trim_start().strip_prefix(level).map(|text| text.trim_start().to_owned())
    };
    let begins = |line: &&str| {
        message(line, "INFO").is_some_and(|text| text.starts_with("starting ") || text.starts_with("resuming "))
    };
    log.lines().rev().take_while(|line| !begins(line)).find_map(|line| message(line, "ERROR"))
}

/// Returns the bytes that the files below a directory take, and their number. Links are not followed.
fn disk(dir: &Path) -> (u64, usize) {
    let (mut bytes, mut files, mut folders) = (0, 0, vec![dir.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => {
                    bytes += found.len();
                    files += 1;
                }
                Err(_) => {}
            }
        }
    }
    (bytes, files)
}

/// Lines with a name and a value.
#[derive(Default)]
pub(super) struct Page(pub(super) String);

impl Page {
    pub(super) fn line(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name:<NAME$} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_the_last_session_is_found_and_no_other() {
        let failed = "2026-11-22T20:00:42.682566Z  INFO starting a in runs/a: two bodies\n\
                      2026-11-22T20:00:43.606362Z DEBUG wrote runs/a/snapshots/snapshot_0000.hdf5\n\
                      2026-11-22T20:00:44.606362Z ERROR runs/a/x: No space left on device\n";
        assert_eq!(last_error(failed).as_deref(), Some("runs/a/x: No space left on device"));
        let resumed = format!("{failed}2026-11-22T20:01:42.682566Z  INFO resuming a in runs/a after 7 block steps\n");
        assert_eq!(last_error(&resumed), None);
        assert_eq!(last_error(""), None);
        // The beginning of the line may be cut off, where only the end of a long log is read.
        assert_eq!(last_error("0:44.606362Z ERROR late\n").as_deref(), Some("late"));
    }
}
