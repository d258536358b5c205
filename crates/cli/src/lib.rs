//! The command line of tisane: one file per verb, which parses its arguments, calls the library and prints the result.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod advise;
mod analyze;
mod arguments;
mod bench;
mod check;
mod convert;
mod ensemble;
mod exit_codes;
mod generate;
mod help;
mod inspect;
mod log;
mod log_file;
mod moved;
mod movie;
mod plot;
mod program;
mod progress;
mod ranks;
mod report;
mod reproduce;
mod run;
mod screen;
mod session;
mod stellar;
mod stop;
mod study;
mod trace;
mod validate;
mod verify;
mod view;
mod why;

pub use check::disk_per_output;
pub use program::declare_build;
pub use report::report;

use arguments::{ConfigArgs, Verbosity, a_format};
use clap::{Command, CommandFactory, Parser, Subcommand};
use exit_codes::EXIT_CODES;
use ranks::with_team;
use screen::print;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane_io::formats::Datasets;
use tisane_run::config::{SITUATIONS, TEMPLATES, parse_datasets};
use tisane_run::proposal;

const EXAMPLES: &str = "Start here:
  tisane init > cluster.toml        a commented configuration
  tisane check cluster.toml         what it would run
  tisane run cluster.toml           run it; the result is in runs/<name>/
  tisane resume runs/plummer-1k --t-end 20";

/// Direct N-body integration: accurate, fast, reproducible.
///
/// tisane integrates the gravitational N-body problem by direct summation with Hermite schemes of 4th to 8th order
/// and individual block time steps, or by a leapfrog with one step for all particles. A TOML file describes the run;
/// the result is HDF5, with the energy error measured in every run. The same input gives the same bits on any number
/// of threads, at any output cadence, and through a stop and a resume.
#[derive(Debug, Parser)]
#[command(name = "tisane", version = version(), help_template = help::template(&verbs()))]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
#[command(propagate_version = true, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Print more on the screen (-v: what happens, -vv: everything); run.log always has what happens.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
    /// Print nothing on the screen but errors and results.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

/// Returns a command that has the verbs of the program.
fn verbs() -> Command {
    Verb::augment_subcommands(Command::new("tisane"))
}

fn version() -> String {
    format!("{} ({})", tisane_io::provenance::version(), tisane_io::provenance::git_commit())
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print a commented configuration to start from.
    ///
    /// `tisane init file FILE` reads a file of particles and prints a configuration with values that fit them: units,
    /// end, steps and interval of outputs by the scales that it finds, which are in the comments.
    Init {
        /// Initial conditions of the configuration, or a study.
        #[arg(default_value = "plummer", value_parser = templates().map(|(name, _)| name).collect::<Vec<_>>())]
        model: String,
        /// With `file`: the file of particles that the configuration is for [default: a template for any file].
        #[arg(value_name = "FILE")]
        particles: Option<PathBuf>,
        /// Format of FILE, where the content alone does not determine it.
        #[arg(long, value_name = "FORMAT", value_parser = a_format(), requires = "particles")]
        from: Option<String>,
    },
    /// Validate a configuration and print what it would run.
    ///
    /// With --plot DIR the initial conditions are drawn as well: DIR/<name>-initial.svg and .png, for light and dark
    /// backgrounds, show profiles and distributions with the laws that a model is sampled from.
    Check {
        #[command(flatten)]
        config: ConfigArgs,
        /// Draw the initial conditions into this folder.
        #[arg(long, value_name = "DIR")]
        plot: Option<PathBuf>,
    },
    /// Run a configuration.
    ///
    /// The result goes to runs/<name>, [output] directory or --output: resolved config.toml, snapshots, diagnostics,
    /// cluster, binaries and events (HDF5 and CSV), checkpoints, run.log and summary.json. SIGINT and SIGTERM end the
    /// run after the current block step, with a checkpoint and exit code 3; a second SIGINT ends it at once.
    ///
    /// A configuration with [ensemble] describes many runs. All of them are integrated; the result is one table,
    /// members.csv, with a row for each.
    Run(run::RunArgs),
    /// Continue a run from its newest valid checkpoint, with the same bits.
    ///
    /// The result is that of a run that was not stopped, bit for bit.
    Resume(run::ResumeArgs),
    /// Describe a file, or the directory of a run, in one screen.
    ///
    /// Of the directory of a run: its state, the time it reached, its errors, what is there, and how to go on.
    Inspect {
        /// The file, or the directory of a run; several directories of runs are described in a table.
        #[arg(required = true)]
        file: Vec<PathBuf>,
        /// Format of a file of particles, where the content alone does not determine it.
        #[arg(long, value_name = "FORMAT", value_parser = a_format())]
        from: Option<String>,
        /// Datasets of the particles, in HDF5 of a layout that tisane does not recognise: { mass = "PATH", position =
        /// "PATH", velocity = "PATH" } and perhaps id, as in [initial.file].
        #[arg(long, value_name = "DATASETS", value_parser = parse_datasets, conflicts_with = "from")]
        datasets: Option<Datasets>,
    },
    /// Print the command that made a file, or repeat it and compare.
    ///
    /// FILE is a snapshot, a checkpoint, diagnostics.hdf5 (or cluster, binaries, events) or summary.json of a run.
    /// Without --run its configuration, as it was written, goes to DIR.toml and the command is printed. With --run the
    /// run is repeated in DIR up to the block step of the file, and the hashes of the two states are compared: exit
    /// code 0 if they agree, 6 if not.
    Reproduce(reproduce::ReproduceArgs),
    /// Convert a file of particles to another format.
    ///
    /// Standard error lists what the format of OUT cannot hold. OUT is read back and compared before the command ends.
    /// An existing OUT is not touched without --overwrite.
    Convert(Box<convert::ConvertArgs>),
    /// Explain what ended a run, or what slows it, on one page.
    ///
    /// An answer comes first; then steps, speed, energy error and audit over time, the particles with the shortest
    /// steps and their partners, disk, checkpoints, warnings; then advice with commands. The run may be in progress,
    /// finished, stopped, killed or damaged. It only reads.
    Why {
        /// Output directory of a run.
        dir: PathBuf,
    },
    /// Measure the cluster in a run's snapshots: core, radii, binaries.
    ///
    /// Centre, core, Lagrangian radii, binaries, hierarchies and escapers. The result goes to analysis/ in DIR or to
    /// --output: cluster, binaries and events, each as CSV and HDF5, with the same bits as the run itself writes at the
    /// same times. A damaged snapshot is named and left out: exit code 8.
    Analyze(analyze::AnalyzeArgs),
    /// Draw a run, or columns of a table, as SVG and PNG.
    ///
    /// The directory of a run gives the standard figures, as far as it has the data: diagnostics, projections,
    /// profiles, structure, time steps, rates, binaries; and report.html, one file with all of them. With --y, chosen
    /// columns of runs and tables are drawn in one figure. A damaged snapshot is named and left out: exit code 8.
    Plot(plot::PlotArgs),
    /// Render a film of a run from its snapshots.
    ///
    /// Frames go to movie/ in DIR or to --output, as PNG; with ffmpeg on the PATH they become movie.mp4, without it
    /// movie.png, an animated PNG of at most 640 pixels a side. Between snapshots particles follow their positions and
    /// velocities. Brightness is number density, colour is speed or mass. Existing frames are not rendered again, so
    /// that a stopped command continues. A damaged snapshot is named and left out: exit code 8.
    Movie(movie::MovieArgs),
    /// Show a run in a browser, finished or in progress.
    ///
    /// Particles in three dimensions, with plots of the diagnostics. The page is served on this machine alone
    /// (127.0.0.1), to those who have the address with its random token; nothing is fetched from elsewhere. It only
    /// reads. Ctrl-C ends it. `tisane run --view` shows a run from its start.
    View(view::ViewArgs),
    /// Compare every engine and mode on this machine with the reference.
    ///
    /// A fixed problem is computed by all of them; the table shows errors, equality of bits and a verdict. Exit code 4
    /// if one of them is wrong.
    Verify,
    /// Reproduce published and exact results, and print a table of them.
    ///
    /// Each case runs its configurations and compares the results with reference values, whose sources it names. A case
    /// is skipped, with the reason, if it needs something that this machine lacks (a GPU, a file of another program).
    /// Exit code 4 if a check fails.
    Validate(validate::ValidateArgs),
    /// Measure speed, and fit the performance model of this machine.
    Bench {
        #[command(subcommand)]
        what: bench::What,
    },
    /// Sweep over N, integrators, modes and engines: tables and figures.
    ///
    /// The result goes to studies/<study> or --output: table.csv and table.hdf5, further tables, figures as SVG and
    /// PNG. Each finished point is kept in points.jsonl as soon as it is measured: the same command continues a stopped
    /// study.
    Study {
        #[command(subcommand)]
        what: study::What,
    },
    /// Recommend integrator, mode and accuracy for an energy error or time.
    ///
    /// The recommendation follows from short trials of the configuration.
    Advise(advise::AdviseArgs),
    /// Print the life of single stars: types, masses, radii, supernovae.
    ///
    /// A table for each mass at birth: when the star changes its type, and its mass, core, luminosity, radius and
    /// temperature then; its supernova with remnant and kick. --csv has the whole track, --plot draws it. The fits are
    /// those of Hurley, Pols & Tout (2000), known as SSE. In a run stars age with `[stellar_evolution]`.
    Stellar(Box<stellar::StellarArgs>),
    /// Print schemas, completions, the manual page, citations, job scripts.
    Generate {
        #[command(subcommand)]
        what: generate::What,
    },
}

/// Parses the command line and does what it says; prints any error with its cause and advice.
#[must_use]
pub fn main() -> ExitCode {
    main_from(None, std::env::args_os().collect())
}

/// Does what a command line says, as [`main`]. Its first word is the name of the program; `program` is its file, where
/// that is not the one of this process.
#[must_use]
pub fn main_from(program: Option<PathBuf>, words: Vec<OsString>) -> ExitCode {
    declare_build();
    if let Some(program) = program {
        program::set_file(program);
    }
    let parsed = Cli::try_parse_from(&words);
    stop::outlive_large_files();
    let ended = match parsed {
        Ok(cli) => dispatch(cli),
        Err(error) => match moved::explain(&error, words.into_iter().skip(1)) {
            Some(error) => Err(error),
            None => error.exit(),
        },
    };
    let code = match ended {
        Ok(code) => code,
        Err(error) => {
            let code = error.exit_code();
            tracing::error!("{error}");
            // Not eprintln, which panics where standard error cannot be written.
            let _ = writeln!(anstream::stderr(), "{}\n", report(&error));
            code
        }
    };
    ranks::end(code);
    ExitCode::from(code)
}

/// Returns the commented files that `tisane init` prints, by name.
fn templates() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEMPLATES.into_iter().chain(SITUATIONS).chain(study::TEMPLATES)
}

/// Does what a command line says; returns the exit code.
///
/// # Errors
/// The error that ended the command; [`Error::exit_code`] is the exit code.
pub fn dispatch(cli: Cli) -> Result<u8> {
    let verbosity = Verbosity { verbose: cli.verbose, quiet: cli.quiet };
    match cli.verb {
        Verb::Init { model, particles, from } => init(&model, particles.as_deref(), from.as_deref()),
        Verb::Check { config, plot } => check::check(&config, plot.as_deref()),
        Verb::Run(args) => with_team(|team| run::run(args, team, verbosity)),
        Verb::Resume(args) => with_team(|team| run::resume(args, team, verbosity)),
        Verb::Reproduce(args) => reproduce::reproduce(args, verbosity),
        Verb::Why { dir } => why::why(&dir),
        Verb::Inspect { file, from, datasets } => inspect::inspect(&file, from.as_deref(), datasets.as_ref()),
        Verb::Convert(args) => convert::convert(&args, verbosity),
        Verb::Analyze(args) => analyze::analyze(&args, verbosity),
        Verb::Plot(args) => plot::plot(&args, verbosity),
        Verb::Movie(args) => movie::movie(&args, verbosity),
        Verb::View(args) => view::view(&args),
        Verb::Verify => verify::verify(),
        Verb::Validate(args) => validate::validate(&args, verbosity),
        Verb::Bench { what } => bench::bench(what, verbosity),
        Verb::Study { what } => study::study(what, verbosity),
        Verb::Advise(args) => advise::advice(args, verbosity),
        Verb::Stellar(args) => stellar::stellar(&args, verbosity),
        Verb::Generate { what } => generate::generate(what, &Cli::command()),
    }
}

/// Prints the template of a model, or the configuration for a file of particles.
fn init(model: &str, particles: Option<&Path>, format: Option<&str>) -> Result<u8> {
    match particles {
        None => print(templates().find(|(name, _)| *name == model).map_or("", |(_, text)| text)),
        Some(path) if model == "file" => print(&on_threads(0, || proposal::for_file(path, format))?),
        Some(path) => {
            let problem = format!("`tisane init {model}` reads no file");
            Err(Error::input(path, problem).with_help("a configuration for a file of particles: tisane init file FILE"))
        }
    }
}
