//! `tisane generate`: schemas, completions, the manual page and citations, made from the definitions that the program
//! itself uses, and batch scripts.

mod slurm;

use super::screen::print;
use clap::{Command, Subcommand};
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane_lab::literature::citations::Citations;
use tisane_lab::study::config::{ConvergenceFile, CostFile, EnergyFile, ForceFile};
use tisane_run::config::{json_schema, schema_of};

/// Files that have a schema.
const FILES: [&str; 5] = ["run", "study-force", "study-energy", "study-cost", "study-convergence"];

#[derive(Debug, Subcommand)]
pub enum What {
    /// Print the JSON Schema of the configuration, for editors that complete and check TOML.
    Schema {
        /// File that the schema describes: the configuration of a run, or the sweep of a study.
        #[arg(value_name = "OF", default_value = "run", value_parser = FILES)]
        of: String,
    },
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff), with all commands.
    Man,
    /// Print the papers behind a run, as text and as BibTeX.
    ///
    /// The papers follow from the integrator, precision mode, initial conditions and measurements of a configuration or
    /// of what a run has written. The text is in comments, so that the output is a BibTeX file.
    Cite {
        /// A configuration, the directory of a run or one of its files [default: the method alone].
        #[arg(value_name = "FILE|DIR")]
        path: Option<PathBuf>,
    },
    /// Print a batch script for Slurm that runs a configuration on one node in as many jobs as it takes.
    ///
    /// Each job stops with a checkpoint before its time is over and submits the script again; any other end of the run is
    /// that of the jobs. A job takes the cores of a whole node, or GPUs.
    Slurm(slurm::SlurmArgs),
}

pub fn generate(what: What, program: &Command) -> Result<u8> {
    match what {
        What::Schema { of } => schema(&of),
        What::Completions { shell } => completions(shell, program),
        What::Man => man(program),
        What::Cite { path } => {
            let citations = path.map_or_else(|| Ok(Citations::of_method()), |path| Citations::from_path(&path))?;
            print(&citations.to_string())
        }
        What::Slurm(args) => print(&slurm::script(&args)?),
    }
}

fn schema(of: &str) -> Result<u8> {
    let schema = match of {
        "study-force" => schema_of::<ForceFile>(),
        "study-energy" => schema_of::<EnergyFile>(),
        "study-cost" => schema_of::<CostFile>(),
        "study-convergence" => schema_of::<ConvergenceFile>(),
        _ => json_schema(),
    };
    print(&format!("{schema:#}\n"))
}

fn completions(shell: clap_complete::Shell, program: &Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program.clone(), "tisane", &mut script);
    print(&String::from_utf8_lossy(&script))
}

fn man(program: &Command) -> Result<u8> {
    let mut page = Vec::new();
    render(program, &mut page).map_err(|e| Error::storage("the manual page", e))?;
    print(&String::from_utf8_lossy(&page))
}

/// Writes the page of a command, followed by those of the commands below it.
fn render(command: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    clap_mangen::Man::new(command.clone()).render(page)?;
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    for below in below {
        render(&below.clone().name(format!("{} {}", command.get_name(), below.get_name())), page)?;
    }
    Ok(())
}
