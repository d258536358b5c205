//! `tisane bench model`: the performance model of this machine.

use crate::arguments::Verbosity;
use crate::screen::print;
use crate::study::{StudyProgress, describe};
use clap::Args;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::spin_pool::on_threads;
use tisane_io::atomic::check_output_path;
use tisane_lab::bench::model::{HOW, beyond, measure, predictions, table};
use tisane_lab::study::model::{Model, VARIABLE};
use tisane_lab::study::report::MODEL;
use tisane_run::assemble;
use tisane_run::config::Config;

#[derive(Debug, Args)]
pub struct ModelArgs {
    /// Fit the model: to the result of `tisane study cost` in DIR, or without DIR to a short measurement.
    #[arg(long, value_name = "DIR", group = "what")]
    #[allow(clippy::option_option, reason = "clap's way to say that the value may be left out")]
    fit: Option<Option<PathBuf>>,
    /// Show the fits [default].
    #[arg(long, group = "what")]
    show: bool,
    /// Predict the wall time of a run of this configuration, with every engine and mode that is fitted.
    #[arg(long, value_name = "FILE", group = "what")]
    predict: Option<PathBuf>,
    /// Threads of the short measurement [default: one per core]: the model of ranks is that of as many.
    #[arg(long, value_name = "N", requires = "fit", default_value_t = 0, hide_default_value = true)]
    threads: u32,
}

pub fn model(args: ModelArgs, verbosity: Verbosity) -> Result<u8> {
    let path = path()?;
    let known = Model::read(&path)?;
    match args {
        ModelArgs { fit: Some(from), threads, .. } => {
            check_output_path(&path, None)?;
            let newer = match from {
                Some(dir) => {
                    let missing = || {
                        Error::input(dir.join(MODEL), "there is no such file")
                            .with_help("give the directory that `tisane study cost` has written")
                    };
                    Model::read(&dir.join(MODEL))?.ok_or_else(missing)?
                }
                None => measure(&StudyProgress::new(verbosity), threads)?,
            };
            let mut model = known.unwrap_or_default();
            model.merge(newer);
            model.write(&path)?;
            show(&model, &path)
        }
        ModelArgs { predict: Some(file), .. } => {
            let model = known.ok_or_else(|| Error::input(&path, "there is no model yet").with_help(HOW))?;
            predict(&model, &file)
        }
        ModelArgs { .. } => match known {
            Some(model) => show(&model, &path),
            None => print(&format!("there is no model in {}: {HOW}\n", path.display())),
        },
    }
}

fn path() -> Result<PathBuf> {
    let none = || Error::input("the performance model", "there is no home directory to keep it in");
    Model::path().ok_or_else(|| none().with_help(format!("name its file by the variable {VARIABLE}")))
}

/// Columns that are printed of the fits.
const SHOWN: &[&str] = &[
    "engine",
    "mode",
    "integrator",
    "steps_by",
    "threads",
    "host_step",
    "host_target",
    "force_step",
    "force_source",
    "force_target",
    "force_pair",
    "n_least",
    "n_most",
    "scatter",
    "prediction_scatter",
];

fn show(model: &Model, path: &Path) -> Result<u8> {
    print(&format!("{}{}\n", describe(&table(model), SHOWN), path.display()))
}

fn predict(model: &Model, file: &Path) -> Result<u8> {
    let loaded = Config::from_file(file, &[])?;
    on_threads(loaded.config.force.threads as usize, || {
        let set = assemble::prepare(loaded)?;
        let mut text = format!("{}: N = {}\n", set.config.run.name, set.particles.len());
        for (fit, it) in predictions(model, file, &set)? {
            text += &format!(
                "  {:<24} {:<14} steps by the {}, {} threads on {}: {}; {:.2e} block steps, {:.2e} particle steps{}\n",
                fit.engine,
                fit.mode.name(),
                fit.steps_by.name(),
                fit.threads,
                fit.host,
                it.describe(),
                it.block_steps,
                it.particle_steps,
                beyond(fit, set.particles.len())
            );
        }
        print(&text)
    })
}
