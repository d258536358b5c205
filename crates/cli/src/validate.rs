//! `tisane validate`: published and exact results, reproduced.

use super::arguments::{Verbosity, a_device};
use super::progress;
use super::screen::print;
use super::stop::{STOP, listen};
use comfy_table::{Table, presets};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane_lab::validate::library::{self, Entry};
use tisane_lab::validate::report::Report;
use tisane_lab::validate::run::{self, Surroundings};
use tisane_run::assemble::Session;
use tisane_run::config::MAX_THREADS;

#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Cases to run [default: all]. --list names them.
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// List the cases and what they need, and run none.
    #[arg(long)]
    list: bool,
    /// Run only the cases that take seconds.
    #[arg(long)]
    quick: bool,
    /// Write the table of results into DIR: results.md and results.csv.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print the results as JSON.
    #[arg(long, conflicts_with = "list")]
    json: bool,
    /// Take the cases from the folders below DIR instead of those in the program.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Folder of the files of other programs that some cases start from.
    #[arg(long, value_name = "DIR", default_value = "../shared/data")]
    data: PathBuf,
    /// Threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_THREADS)))]
    threads: Option<u32>,
    /// GPU of the cases that need one [default: that of their configurations].
    #[arg(long, value_name = "K", value_parser = a_device())]
    device: Option<u32>,
}

/// Exit code if a check failed.
const FAILED: u8 = 4;
/// Exit code if a signal came before the last case was finished.
const STOPPED: u8 = 3;
/// Note on cases that a signal kept from finishing.
const WHY: &str = "stopped on request";

pub fn validate(args: &ValidateArgs, verbosity: Verbosity) -> Result<u8> {
    let mut entries = library::select(library::all(args.from.as_deref())?, &args.cases)?;
    entries.retain(|entry| !args.quick || entry.case.quick);
    if args.list {
        return print(&list(&entries));
    }
    entries.iter().try_for_each(run::check_configurations)?;
    if let Some(folder) = &args.output
        && folder.exists()
        && !folder.is_dir()
    {
        return Err(Error::input(folder, "expected a folder for the results, found a file"));
    }
    let session = Session { device: args.device, ..Session::default() };
    let around = Surroundings { session, data: args.data.clone(), program: super::program::file()?, stop: &STOP };
    listen();
    let report = on_threads(args.threads.unwrap_or(0) as usize, || all(&entries, &around, verbosity, args.json))?;
    if let Some(folder) = &args.output {
        report.write(folder)?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| Error::storage("standard output", e))?;
        print(&(text + "\n"))?;
    } else {
        print(&format!("\n{}", report.markdown()))?;
    }
    let stopped = report.rows.iter().any(|row| row.note == WHY);
    Ok(if report.failed() {
        FAILED
    } else if stopped {
        STOPPED
    } else {
        0
    })
}

/// Runs the cases one after the other, so that none disturbs the timing of another.
fn all(entries: &[Entry], around: &Surroundings, verbosity: Verbosity, json: bool) -> Result<Report> {
    /// Length of the bar for a case.
    const PARTS: u64 = 1000;
    let (bar, lines) = progress::bar(verbosity, PARTS * entries.len() as u64);
    let mut rows = Vec::new();
    for (k, entry) in entries.iter().enumerate() {
        let began = Instant::now();
        let found = match run::missing(&entry.case.needs, around) {
            Some(why) => run::skipped(entry, &why),
            None if STOP.load(Ordering::Relaxed) => run::skipped(entry, WHY),
            None => {
                let mut progress = |run: &str, share: f64| {
                    bar.set_message(format!("{} {run}", entry.name));
                    bar.set_position(PARTS * k as u64 + (PARTS as f64 * share) as u64);
                };
                run::run(entry, around, &mut progress)?.unwrap_or_else(|| run::skipped(entry, WHY))
            }
        };
        if lines && !json {
            let verdicts: Vec<&str> = found.iter().map(|row| row.verdict.name()).collect();
            let line = format!("{:<24} {:>7.1} s  {}\n", entry.name, began.elapsed().as_secs_f64(), count(&verdicts));
            // A closed pipe must not end the work, so failures to print are ignored.
            let _ = std::io::stdout().lock().write_all(line.as_bytes());
        }
        rows.extend(found);
    }
    bar.finish_and_clear();
    Ok(Report::new(rows))
}

/// Counts the verdicts.
fn count(verdicts: &[&str]) -> String {
    let given = |name: &str| verdicts.iter().filter(|verdict| **verdict == name).count();
    let names = ["pass", "FAIL", "skipped"].map(|name| (given(name), name));
    let counts = names.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    counts.collect::<Vec<_>>().join(", ")
}

fn list(entries: &[Entry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["case", "quick", "needs", "what"]);
    for entry in entries {
        let needs = [entry.case.needs.gpu.then(|| "GPU".to_owned()), entry.case.needs.data.clone()];
        let needs = needs.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let quick = if entry.case.quick { "yes" } else { "" };
        table.add_row([&entry.name, quick, &needs, &entry.case.title]);
    }
    format!("{table}\n")
}
