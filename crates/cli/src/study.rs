//! `tisane study`: sweeps whose results are tables and figures.

use super::arguments::Verbosity;
use super::progress;
use super::screen::{print, say};
use clap::{Args, Subcommand};
use comfy_table::{CellAlignment, presets};
use indicatif::ProgressBar;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::table::{Column, Table, Values};
use tisane_lab::study::config::{ConvergenceFile, CostFile, EnergyFile, ForceFile, LEFT_OUT, StudyFile};
use tisane_lab::study::journal::{Journal, Stamp};
use tisane_lab::study::points::{Progress, Work};
use tisane_lab::study::report::Report;
use tisane_lab::study::{convergence, cost, energy, force};
use tisane_run::config::read_text;

/// Quantity to study.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Errors of forces against f64 over N, bag size and mode.
    ///
    /// The errors are compared with Hamada & Iitaka (2007, table 2) and with the growth laws of rounding.
    Force(StudyArgs),
    /// Energy error against the accuracy of the steps over integrators, modes, N and engines.
    ///
    /// The error is split into truncation and round-off, with the cost of each point (Portegies Zwart et al. 2007,
    /// figure 2). The last table recommends an integrator, a mode and an accuracy for an energy error.
    Energy(StudyArgs),
    /// Wall time over N, block statistics, and the performance model.
    ///
    /// They are compared with Portegies Zwart et al. (2007): table 2, figures 1, 3 and 4, eqs 10 to 17.
    Cost(StudyArgs),
    /// Converged solutions, and the divergence of runs of every integrator, mode and accuracy from them.
    ///
    /// Two solutions of more digits than f64 that agree are right (Boekholt & Portegies Zwart 2015). Runs beside them have a
    /// distance that grows exponentially, a time at which they have diverged, and an energy error. Ensembles show the bias of
    /// averages.
    Convergence(StudyArgs),
}

/// Arguments of a study.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// The sweep (TOML; `tisane init study-force` and its like print one) [default: the built-in sweep].
    file: Option<PathBuf>,
    /// Override a key, as in --set force.n=[1024,2048]; may be given several times.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
    /// Directory of the result; finished points in it are kept [default: studies/<study>].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Measure everything again.
    #[arg(long)]
    overwrite: bool,
}

/// Commented sweeps to start from, by the names that `tisane init` takes.
pub const TEMPLATES: [(&str, &str); 4] = [
    ("study-force", ForceFile::TEMPLATE),
    ("study-energy", EnergyFile::TEMPLATE),
    ("study-cost", CostFile::TEMPLATE),
    ("study-convergence", ConvergenceFile::TEMPLATE),
];

pub fn study(what: What, verbosity: Verbosity) -> Result<u8> {
    match what {
        What::Force(args) => go("force", &args, verbosity, force::study),
        What::Energy(args) => go("energy", &args, verbosity, energy::study),
        What::Cost(args) => go("cost", &args, verbosity, cost::study),
        What::Convergence(args) => go("convergence", &args, verbosity, convergence::study),
    }
}

/// Columns that are printed of each table, by study and table; the files have all columns.
const SHOWN: [(&str, &str, &[&str]); 9] = [
    (
        "force",
        "table",
        &[
            "n",
            "engine",
            "mode",
            "bag",
            "acc_max",
            "acc_rms",
            "jerk_rms",
            "pot_rms",
            "pot_rms_law",
            "paper_direct",
            "paper_chamomile",
        ],
    ),
    (
        "energy",
        "laws",
        &[
            "n",
            "engine",
            "mode",
            "integrator",
            "truncation_at_1",
            "truncation_power",
            "truncation_power_error",
            "round_off",
            "scatter",
            "seconds_at_1",
            "remark",
        ],
    ),
    (
        "energy",
        "choice",
        &["n", "engine", "goal", "mode", "integrator", "nu", "eta", "energy_error", "seconds", "pairs", "result"],
    ),
    (
        "cost",
        "table",
        &[
            "n",
            "engine",
            "mode",
            "integrator",
            "wall_seconds",
            "model_seconds",
            "host_fraction",
            "block_steps",
            "block_steps_eq17",
            "mean_block",
            "mean_block_eq14",
            "paper_grape_6af",
            "paper_8800gtx",
        ],
    ),
    (
        "cost",
        "fits",
        &[
            "engine",
            "mode",
            "integrator",
            "block_steps_at_1",
            "block_steps_power",
            "mean_block_at_1",
            "mean_block_power",
            "host_target",
            "force_step",
            "force_source",
            "force_target",
            "force_pair",
            "model_scatter",
        ],
    ),
    (
        "convergence",
        "solutions",
        &["n", "seed", "tolerance", "bits", "converged_to", "agreement", "growth_rate", "e_folding_time", "failure"],
    ),
    (
        "convergence",
        "table",
        &[
            "n",
            "seed",
            "integrator",
            "mode",
            "nu",
            "eta",
            "energy_error",
            "pairs",
            "diverged",
            "growth_rate",
            "distance",
        ],
    ),
    (
        "convergence",
        "bias",
        &[
            "n",
            "integrator",
            "mode",
            "nu",
            "eta",
            "role",
            "members",
            "median_energy_error",
            "ln_half",
            "ln_half_error",
            "ln_quarter",
            "ln_quarter_error",
            "hardest_pair",
            "hardest_pair_error",
        ],
    ),
    (
        "convergence",
        "reversible",
        &["tolerance", "triples", "dissolved", "failed", "returned", "irreversible", "irreversible_error"],
    ),
];

fn go<F, K, R>(
    name: &'static str,
    args: &StudyArgs,
    verbosity: Verbosity,
    study: impl FnOnce(&F, &mut Journal<K, R>, &Work<'_>) -> Result<Report>,
) -> Result<u8>
where
    F: StudyFile,
    K: PartialEq + Serialize + DeserializeOwned,
    R: Serialize + DeserializeOwned,
{
    let file: F = match &args.file {
        Some(path) => F::from_text(&path.display().to_string(), &read_text(path)?, &args.sets)?,
        None => F::from_text(&format!("the built-in study of {name}"), F::TEMPLATE, &args.sets)?,
    };
    let dir = args.output.clone().unwrap_or_else(|| Path::new("studies").join(name));
    let mut journal = Journal::open(&dir, Stamp::now(name), args.overwrite)?;
    journal.warning().filter(|_| !verbosity.quiet).iter().for_each(|why| say(why));
    let resolved = file.resolved()?;
    write_atomically(&dir.join("study.toml"), |path| {
        std::fs::write(path, &resolved).map_err(|e| Error::storage(path, e))
    })?;
    let progress = StudyProgress::new(verbosity);
    let report = study(&file, &mut journal, &Work { at_once: 1, on_host: false, progress: &progress })?;
    let written = report.write(&dir)?;
    if verbosity.quiet {
        return Ok(0);
    }
    let mut text = String::new();
    for (_, table, columns) in SHOWN.iter().filter(|(of, ..)| *of == name) {
        if let Some((_, table)) = report.tables.iter().find(|(stem, _)| stem == table) {
            text += &describe(table, columns);
        }
    }
    for (_, what) in report.tables.iter().take(1).flat_map(|(_, table)| &table.remarks).filter(|(of, _)| of == LEFT_OUT)
    {
        text += &format!("{LEFT_OUT}: {what}\n");
    }
    text += &format!("{} files in {}\n", written.len() + 2, dir.display());
    print(&text)
}

/// Formats some columns of a table for the screen; columns without a value are left out.
pub fn describe(table: &Table, columns: &[&str]) -> String {
    let has_value = |values: &Values| match values {
        Values::Floats(values) => values.iter().any(|value| !value.is_nan()),
        Values::Text(values) => values.iter().any(|value| !value.is_empty()),
        _ => true,
    };
    let shown = columns.iter().filter_map(|name| table.column(name));
    let shown: Vec<&Column> = shown.filter(|column| has_value(&column.values)).collect();
    let mut printed = comfy_table::Table::new();
    printed.load_style(presets::NOTHING);
    printed.set_header(shown.iter().map(|column| column.header()));
    for row in 0..table.rows() {
        printed.add_row(shown.iter().map(|column| match &column.values {
            Values::Floats(values) => number(values[row]),
            values => values.cell(row),
        }));
    }
    for (column, printed) in shown.iter().zip(printed.column_iter_mut()) {
        let is_text = matches!(column.values, Values::Text(_));
        printed.set_cell_alignment(if is_text { CellAlignment::Left } else { CellAlignment::Right });
    }
    format!("{}\n{printed}\n\n", table.title)
}

/// Formats a number with three or four digits.
pub fn number(x: f64) -> String {
    match x.abs() {
        _ if x.is_nan() => "-".into(),
        0.0 => "0".into(),
        1e-3..1e5 => {
            let digits = (3.0 - x.abs().log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{x:.digits$}")
        }
        _ => format!("{x:.2e}"),
    }
}

/// Progress of a study: a bar on a terminal, elsewhere a line for each point.
pub struct StudyProgress {
    verbosity: Verbosity,
    state: Mutex<State>,
}

struct State {
    bar: ProgressBar,
    lines: bool,
    began: Instant,
    points: (usize, usize),
    cost: (f64, f64),
}

/// Length of the bar, for the whole cost.
const PARTS: f64 = 1e4;

impl StudyProgress {
    pub fn new(verbosity: Verbosity) -> Self {
        let state =
            State { bar: ProgressBar::hidden(), lines: false, began: Instant::now(), points: (0, 0), cost: (0.0, 1.0) };
        Self { verbosity, state: Mutex::new(state) }
    }

    fn with(&self, work: impl FnOnce(&mut State)) {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for StudyProgress {
    fn begin(&self, missing: usize, finished: usize, cost: f64) {
        self.with(|state| {
            let (bar, lines) = progress::bar(self.verbosity, PARTS as u64);
            *state = State { bar, lines, began: Instant::now(), points: (0, missing), cost: (0.0, cost.max(1e-300)) };
            if state.lines && finished > 0 {
                // A closed pipe must not end a study, so failures to print are ignored.
                let _ = writeln!(std::io::stderr(), "{finished} points are finished already, {missing} are missing");
            }
            // The bar moves before the first point is finished.
            state.bar.enable_steady_tick(Duration::from_millis(500));
        });
    }

    fn point(&self, what: &str, cost: f64) {
        self.with(|state| {
            state.points.0 += 1;
            state.cost.0 += cost;
            let (done, all) = state.points;
            let part = state.cost.0 / state.cost.1;
            state.bar.set_position((PARTS * part) as u64);
            state.bar.set_message(format!("{done}/{all}  {what}"));
            if state.lines {
                let left = state.began.elapsed().as_secs_f64() * (1.0 / part.max(1e-9) - 1.0).max(0.0);
                let left = tisane::units::wall_time(left);
                let _ = writeln!(std::io::stderr(), "{done}/{all}  {what}  ETA {left}");
            }
        });
    }

    fn end(&self) {
        self.with(|state| state.bar.finish_and_clear());
    }
}
