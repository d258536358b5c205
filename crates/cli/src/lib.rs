//! The command line: one file a verb.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod advise;
mod analyze;
mod bench;
mod check;
mod convert;
mod inspect;
mod log;
mod model;
mod movie;
mod plot;
mod progress;
mod reproduce;
mod run;
mod schema;
mod stop;
mod study;
mod validate;
mod verify;
mod view;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tisane::error::{Error, Result, printable};
use tisane::force::precision::Precision;
use tisane::spin_pool::on_threads;
use tisane_io::formats::FORMATS;
use tisane_io::provenance::{self, Build};
use tisane_run::config::{Engine, MAX_DEVICE, TEMPLATES};

/// Exit code where damaged snapshots were left out.
const LEFT_OUT: u8 = 8;

/// How this program was built, from its build script.
const BUILD: Build = Build {
    git_commit: match option_env!("TISANE_GIT_COMMIT") {
        Some(commit) => commit,
        None => "unknown",
    },
    rustc: env!("TISANE_BUILD_RUSTC"),
    target: env!("TISANE_BUILD_TARGET"),
    opt_level: env!("TISANE_BUILD_OPT_LEVEL"),
    features: env!("TISANE_BUILD_FEATURES"),
};

const EXIT_CODES: &str = "Exit codes:
  0  success
  1  unforeseen error
  2  wrong command line, configuration, input file or output directory; nothing was written
  3  stopped on request (signal, time limit, block-step limit) with a checkpoint: continue with `tisane resume`;
     or `tisane validate` was stopped by a signal: its table has the cases that were through
  4  the integration cannot go on (step below dt_min, a number that is not finite, a lost GPU); the last checkpoint is whole;
     or `tisane verify` or `tisane validate` found something wrong
  5  output could not be written during the run; finished files and the last checkpoint are whole
  6  `tisane reproduce --run` came to another state than the file's
  7  `tisane advise`: no mode and no nu reaches the goal
  8  `tisane analyze`, `plot` or `movie` left out snapshots that are damaged, and named them; the rest is written";

const EXAMPLES: &str = "Start here:
  tisane init > cluster.toml        a commented configuration
  tisane check cluster.toml         what it would run
  tisane run cluster.toml           run it; the result is in runs/<name>/
  tisane resume runs/plummer-1k --t-end 20";

/// Direct N-body integration: accurate, fast, reproducible.
///
/// tisane integrates the gravitational N-body problem by direct summation with a 4th-order Hermite scheme and individual
/// block time steps, or by a leapfrog with one step for all. One TOML file says what to run; the result is HDF5, with the energy error always measured. The same
/// input gives the same bits on any number of threads, at any output cadence, and through a stop and a resume.
#[derive(Debug, Parser)]
#[command(name = "tisane", version = version(), after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
#[command(propagate_version = true, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Say more on the screen (-v: what happens, -vv: everything); run.log always has what happens.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
    /// Say nothing on the screen but errors and results.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

fn version() -> String {
    format!("{} ({})", tisane_io::provenance::version(), tisane_io::provenance::git_commit())
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print a commented configuration to start from.
    Init {
        /// What to start from.
        #[arg(default_value = "plummer", value_parser = templates().map(|(name, _)| name).collect::<Vec<_>>())]
        model: String,
    },
    /// Validate a configuration and print what it would run.
    ///
    /// With --plot DIR the initial conditions are drawn as well: DIR/<name>-initial.svg and .png, for light and dark
    /// grounds, have profiles and distributions beside the laws that a model is sampled from.
    Check {
        #[command(flatten)]
        config: ConfigArgs,
        /// Draw the initial conditions into this folder.
        #[arg(long, value_name = "DIR")]
        plot: Option<PathBuf>,
    },
    /// Run a configuration.
    ///
    /// The result goes to runs/<name>, [output] directory or --output: resolved config.toml, snapshots, diagnostics, cluster,
    /// binaries and events (HDF5 and CSV), checkpoints, run.log and summary.json. SIGINT and SIGTERM end the run after the block step in hand, with a
    /// checkpoint and exit code 3; a second SIGINT ends it at once.
    Run(run::RunArgs),
    /// Continue a run from its newest good checkpoint, bit for bit as if it had not stopped.
    Resume(run::ResumeArgs),
    /// Say in one screen what a file is: anything tisane reads or writes.
    Inspect {
        /// The file.
        file: PathBuf,
        /// Format of a file of particles, where the content alone does not tell it.
        #[arg(long, value_name = "FORMAT", value_parser = a_format())]
        from: Option<String>,
    },
    /// Print the command that made a file, or run it again and compare the result bit for bit.
    ///
    /// FILE is a snapshot, a checkpoint, diagnostics.hdf5 (or cluster, binaries, events) or summary.json of a run. Without --run its configuration, as it was
    /// written, goes to DIR.toml and the command is printed. With --run the run is done again in DIR up to the block step
    /// of the file, and the hashes of the two states are compared: exit code 0 if they agree, 6 if not.
    Reproduce(reproduce::ReproduceArgs),
    /// Turn a file of particles into another format.
    ///
    /// What the format of OUT has no place for is said on standard error. OUT is read back and compared before the command
    /// ends. An existing OUT is not touched without --overwrite.
    Convert(Box<convert::ConvertArgs>),
    /// Measure the cluster in a run's snapshots: centre, core, Lagrangian radii, binaries, escapers.
    ///
    /// The result goes to analysis/ in DIR or to --output: cluster, binaries and events, each as CSV and HDF5, with the same bits
    /// as the run itself writes at the same times. A snapshot that is damaged is named and left out: exit code 8.
    Analyze(analyze::AnalyzeArgs),
    /// Draw a run, or columns of a table, as SVG and PNG, with a report in HTML.
    ///
    /// A directory of a run gives the standard figures, as far as it has what they show: diagnostics, projections, profiles,
    /// structure, time steps, rates, binaries; and report.html, one file with all of them. With --y, chosen columns of runs and
    /// tables are drawn in one figure. A snapshot that is damaged is named and left out: exit code 8.
    Plot(plot::PlotArgs),
    /// Render a film of a run from its snapshots.
    ///
    /// Frames go to movie/ in DIR or to --output, as PNG; with ffmpeg on the PATH movie.mp4 is made of them. Between snapshots
    /// particles follow their positions and velocities. Brightness is number density, colour is speed or mass. Frames that are there are not
    /// rendered again, so a stopped command goes on. A snapshot that is damaged is named and left out: exit code 8.
    Movie(movie::MovieArgs),
    /// Show a run in a browser: its particles in three dimensions, and how it goes, also while it runs.
    ///
    /// The page is served on this machine alone (127.0.0.1), to whoever has the address with its random token; nothing is
    /// fetched from elsewhere. It only reads. Ctrl-C ends it. `tisane run --view` shows a run from its start.
    View(view::ViewArgs),
    /// Check every engine and mode on this machine against the reference on a fixed problem.
    Verify,
    /// Reproduce published and exact results, and print the table of what came out.
    ///
    /// Each case runs its configurations and holds what comes out against reference values with their sources. What a case needs
    /// and this machine has not (a GPU, a file of another program) is said, and the case skipped. Exit code 4 if a check fails.
    Validate(validate::ValidateArgs),
    /// Measure speed.
    Bench {
        #[command(subcommand)]
        what: bench::What,
    },
    /// Sweep over N, modes, nu and engines; the result is tables and figures.
    ///
    /// The result goes to studies/<study> or --output: table.csv and table.hdf5, further tables, figures as SVG and PNG. Each
    /// finished point is kept in points.jsonl as soon as it is measured: the same command goes on where a study was stopped.
    Study {
        #[command(subcommand)]
        what: study::What,
    },
    /// Fit, show and use the performance model of this machine.
    ///
    /// It is kept in the file that the variable TISANE_MODEL names, otherwise in tisane/model.toml in XDG_CONFIG_HOME or ~/.config.
    /// `tisane check` says with it what a run will take.
    Model(model::ModelArgs),
    /// Recommend a precision mode and nu for an energy error or a wall time, from short trials of a configuration.
    Advise(advise::AdviseArgs),
    /// Print the JSON Schema of the configuration, for editors that complete and check TOML.
    Schema {
        /// Of which file: a run's configuration, or the sweep of a study.
        #[arg(default_value = "run", value_parser = schema::FILES)]
        of: String,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff).
    Man,
}

/// A configuration file with overrides.
#[derive(Debug, Args)]
struct ConfigArgs {
    /// The configuration (TOML).
    file: PathBuf,
    /// Override a key, as in --set integrator.hermite4.nu=0.005; may be given several times.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    sets: Vec<String>,
}

/// How much to say on the screen.
#[derive(Clone, Copy, Debug)]
struct Verbosity {
    verbose: u8,
    quiet: bool,
}

/// Parses the command line and does what it says; prints any error with its cause and advice.
#[must_use]
pub fn main() -> ExitCode {
    provenance::declare_build(BUILD);
    let cli = Cli::parse();
    stop::outlive_large_files();
    match dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let code = error.exit_code();
            tracing::error!("{error}");
            // Not eprintln, which panics where standard error cannot be written.
            let _ = writeln!(std::io::stderr(), "{:?}", miette::Report::new(error));
            ExitCode::from(code)
        }
    }
}

/// What `tisane init` prints, by name.
fn templates() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEMPLATES.into_iter().chain(study::TEMPLATES)
}

/// Does what a command line says; returns the exit code.
///
/// # Errors
/// Whatever ended it, with the exit code that it has.
pub fn dispatch(cli: Cli) -> Result<u8> {
    let talk = Verbosity { verbose: cli.verbose, quiet: cli.quiet };
    match cli.verb {
        Verb::Init { model } => print(templates().find(|(name, _)| *name == model).map_or("", |(_, text)| text)),
        Verb::Check { config, plot } => check::check(&config, plot.as_deref()),
        Verb::Run(args) => run::run(args, talk),
        Verb::Resume(args) => run::resume(args, talk),
        Verb::Reproduce(args) => reproduce::reproduce(args, talk),
        Verb::Inspect { file, from } => inspect::inspect(&file, from.as_deref()),
        Verb::Convert(args) => convert::convert(&args, talk),
        Verb::Analyze(args) => analyze::analyze(&args, talk),
        Verb::Plot(args) => plot::plot(&args, talk),
        Verb::Movie(args) => movie::movie(&args, talk),
        Verb::View(args) => view::view(&args),
        Verb::Verify => verify::verify(),
        Verb::Validate(args) => validate::validate(&args, talk),
        Verb::Bench { what } => bench::bench(what, talk),
        Verb::Study { what } => study::study(what, talk),
        Verb::Model(args) => model::model(args, talk),
        Verb::Advise(args) => advise::advice(args, talk),
        Verb::Schema { of } => schema::schema(&of),
        Verb::Completions { shell } => schema::completions(shell, &mut Cli::command()),
        Verb::Man => schema::man(Cli::command()),
    }
}

/// Prints to standard output what may hold texts of files. A reader that has gone (`tisane init | head`) is no error.
fn print(text: &str) -> Result<u8> {
    use std::io::ErrorKind;
    let written = std::io::stdout().write_all(printable(text).as_bytes()).and_then(|()| std::io::stdout().flush());
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::storage("standard output", e)),
        _ => Ok(0),
    }
}

/// Says a line on standard error; a closed pipe must not end the work.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(line));
}

/// Reads one of several names; help and completions list them.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: impl Fn(T) -> &'static str + Copy + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    let find = move |found: String| all.into_iter().find(|it| name(*it) == found).ok_or("not one of the names");
    PossibleValuesParser::new(all.map(name)).try_map(find)
}

fn an_engine() -> impl TypedValueParser<Value = Engine> {
    one_of(Engine::ALL, Engine::name)
}

fn a_precision() -> impl TypedValueParser<Value = Precision> {
    one_of(Precision::ALL, Precision::name)
}

/// The name of a file format.
fn a_format() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

fn a_device() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(..=i64::from(MAX_DEVICE))
}
