//! `tisane reproduce`: the command that made a file, or the run repeated and its state compared.

use super::arguments::{Verbosity, a_device, an_engine};
use super::run::{self, exit_code};
use super::screen::print;
use clap::Args;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane_io::atomic::{check_output_path, write_atomically};
use tisane_io::provenance::{self, Provenance};
use tisane_io::regular_file;
use tisane_io::shell::{argument, quoted};
use tisane_run::assemble::{self, Reproduction, Session};
use tisane_run::config::{Engine, MAX_THREADS};
use tisane_run::simulation::ExitReason;

/// Exit code where the state differs from the file's.
const DIFFERENT: u8 = 6;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// A snapshot, a checkpoint, diagnostics.hdf5 or summary.json of a run.
    file: PathBuf,
    /// Repeat the run and compare the states.
    #[arg(long)]
    run: bool,
    /// Output directory of the new run [default: runs/<name>-reproduced].
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Present path of a file of initial conditions that was moved; may be given several times. It is recognised by its
    /// hash.
    #[arg(long = "input", value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Engine, instead of force.engine. In f64 every engine has the same bits.
    #[arg(long, value_name = "ENGINE", value_parser = an_engine(), requires = "run")]
    engine: Option<Engine>,
    /// GPU that the engine cuda computes on [default: force.device].
    #[arg(long, value_name = "K", value_parser = a_device(), requires = "run")]
    device: Option<u32>,
    /// Threads [default: force.threads, one per core]. The result does not depend on it.
    #[arg(long, value_name = "N", requires = "run",
        value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_THREADS)))]
    threads: Option<u32>,
}

pub fn reproduce(args: ReproduceArgs, verbosity: Verbosity) -> Result<u8> {
    let made = provenance::from_file(&args.file)?;
    let mut recipe = assemble::reproduction(&args.file, &made, &args.inputs)?;
    let name = format!("runs/{}-reproduced", recipe.loaded.config.run.name);
    let dir = args.output.clone().unwrap_or_else(|| PathBuf::from(name));
    let text =
        dir.to_str().ok_or_else(|| Error::input(&dir, "this path is not UTF-8: the configuration cannot name it"))?;
    recipe.loaded.config.output.directory = Some(text.to_owned());
    if !verbosity.quiet {
        print(&about(&args.file, &made, &recipe))?;
    }
    if args.run { run_again(args, recipe, &made, verbosity) } else { print_command(&args.file, &dir, &recipe) }
}

/// Describes what made the file, and how this program differs.
fn about(file: &Path, made: &Provenance, recipe: &Reproduction) -> String {
    let mut page = format!("{}\n", file.display());
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "  {name:<16} {value}");
    };
    line("made by", format!("tisane {} ({}) on {}, {}", made.version, made.git_commit, made.host, made.created));
    line("built", format!("by {}, {}, opt-level {}", made.build_rustc, made.build_target, made.build_opt_level));
    line("machine", format!("{} ({})", made.cpu, made.cpu_features));
    line("force", format!("engine {}, precision {}", made.engine, made.precision));
    if !made.gpu.is_empty() {
        line("gpu", made.gpu.clone());
    }
    for (_, file) in recipe.loaded.config.inputs() {
        line("input", format!("{}, with the SHA-256 that the run read", file.display()));
    }
    let steps = made.state_block_steps.unwrap_or_default();
    let time = made.state_time.map_or(String::new(), |time| format!(", t = {time}"));
    line("state", format!("after {steps} block steps{time}: sha256 {}", made.state_sha256));
    line("this program", this_program(made));
    for note in &recipe.notes {
        line("note", note.clone());
    }
    page
}

/// Compares this program with the one that made the file.
fn this_program(made: &Provenance) -> String {
    let (version, commit) = (provenance::version(), provenance::git_commit());
    let this = format!("tisane {version} ({commit})");
    if made.version != version {
        return format!("{this}: another version; see \"Results change\" in the changelog for what may differ");
    }
    if made.git_commit != commit {
        return format!("{this}: another commit; see \"Results change\" in the changelog for what may differ");
    }
    let unsure = commit == "unknown" || commit.ends_with("-dirty");
    let doubt = if unsure { ", as far as a build from changed sources or without git can tell" } else { "" };
    format!("{this}: the same{doubt}")
}

/// Writes the configuration next to the directory of the new run and prints the command.
fn print_command(file: &Path, dir: &Path, recipe: &Reproduction) -> Result<u8> {
    let config = dir.with_added_extension("toml");
    check_output_path(&config, None)?;
    if regular_file::read(&config).map_or(config.exists(), |found| found != recipe.text.as_bytes()) {
        return Err(Error::input(&config, "this file exists and holds something else")
            .with_help("give another directory with --output"));
    }
    if let Some(parent) = config.parent() {
        std::fs::create_dir_all(parent).map_err(|e| Error::input(parent, e))?;
    }
    write_atomically(&config, |path| std::fs::write(path, &recipe.text).map_err(|e| Error::storage(path, e)))?;
    let mut command = format!("tisane run {}", argument(&config));
    for set in &recipe.sets {
        command += &format!(" --set {}", quoted(set));
    }
    if let Some(engine) = recipe.engine {
        command += &format!(" --engine {}", engine.name());
    }
    let (dir, file) = (argument(dir), argument(file));
    print(&format!(
        "\nIts configuration is in {} now. The command:\n  {command} --output {dir}\nThe same with a comparison of the \
         states:\n  \
         tisane reproduce {file} --run --output {dir}\n",
        config.display()
    ))
}

/// Does the run again up to the file's state, and compares.
fn run_again(args: ReproduceArgs, recipe: Reproduction, made: &Provenance, verbosity: Verbosity) -> Result<u8> {
    let session = Session { engine: args.engine.or(recipe.engine), device: args.device, ..Session::default() };
    assemble::check_gpu(&recipe.loaded.config, session)?;
    let threads = args.threads.unwrap_or(recipe.loaded.config.force.threads) as usize;
    on_threads(threads, move || {
        let setup = assemble::prepare(recipe.loaded)?;
        let initial = &setup.provenance.initial_sha256;
        if !made.initial_sha256.is_empty() && *initial != made.initial_sha256 {
            let why =
                format!("other initial conditions: sha256 {initial}, and the file's run had {}", made.initial_sha256);
            return verdict(Err(why), made);
        }
        let steps = made.state_block_steps.unwrap_or_default();
        let mut new = run::open(setup, session, false, verbosity, None)?;
        new.simulation.limit_block_steps(steps);
        let reason = new.run(verbosity)?;
        let state = new.simulation.system.state;
        let done = state.counters.block_steps;
        if reason == ExitReason::Interrupted {
            print(&format!("stopped after {done} of {steps} block steps: nothing to compare yet\n"))?;
            return Ok(exit_code(reason));
        }
        let hash = new.simulation.system.particles.state_sha256(&state.clock);
        if done != steps {
            return verdict(Err(format!("the run ended after {done} block steps")), made);
        }
        verdict(if hash == made.state_sha256 { Ok(()) } else { Err(format!("sha256 {hash}")) }, made)
    })
}

/// Says how the comparison came out, and gives the exit code.
fn verdict(outcome: Result<(), String>, made: &Provenance) -> Result<u8> {
    let steps = made.state_block_steps.unwrap_or_default();
    match outcome {
        Ok(()) => {
            print(&format!("\nreproduced: the same bits after {steps} block steps, sha256 {}\n", made.state_sha256))
        }
        Err(why) => {
            print(&format!(
                "\nNOT reproduced: {why}\n  the file's state: after {steps} block steps, sha256 {}\n  \
         this program:     {}\n",
                made.state_sha256,
                this_program(made)
            ))?;
            Ok(DIFFERENT)
        }
    }
}
