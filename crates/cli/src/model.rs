//! `tisane model`: the performance model of this machine, and what it says about a run.

use super::study::{StudyFace, told};
use super::{Verbosity, print};
use clap::Args;
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane::integrator::{IntegratorSettings, SchemeInfo};
use tisane::spin_pool::on_threads;
use tisane_io::atomic::check_output_path;
use tisane_io::table::Table;
use tisane_lab::study::config::{CostFile, StudyFile};
use tisane_lab::study::cost;
use tisane_lab::study::journal::{Journal, Stamp};
use tisane_lab::study::model::{Fit, Model, VARIABLE};
use tisane_lab::study::points::Work;
use tisane_lab::study::predict::{fit_for, natural_times, predict};
use tisane_lab::study::report::{MODEL, Rows};
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Config;

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct ModelArgs {
    /// Fit it: to the result of `tisane study cost` in DIR, or without DIR to a short measurement here and now.
    #[arg(long, value_name = "DIR")]
    #[allow(clippy::option_option, reason = "clap's way to say that the value may be left out")]
    fit: Option<Option<PathBuf>>,
    /// Show what is fitted [default].
    #[arg(long)]
    show: bool,
    /// Say what a run of this configuration takes, with every engine and mode that is fitted.
    #[arg(long, value_name = "FILE")]
    predict: Option<PathBuf>,
}

/// The short measurement: enough to tell apart what a step, a source, a target and a pair take.
const SHORT: [&str; 2] = ["cost.n=[256,512,1024,2048]", "cost.repeat=2"];
/// Where there is a GPU.
const WITH_GPU: [&str; 2] = ["cost.n=[256,1024,4096,16384]", "cost.engines=[\"cuda\"]"];

fn path() -> Result<PathBuf> {
    let none = || Error::input("the performance model", "there is no home directory to keep it in");
    Model::path().ok_or_else(|| none().with_help(format!("name its file by the variable {VARIABLE}")))
}

pub fn model(args: ModelArgs, talk: Verbosity) -> Result<u8> {
    let path = path()?;
    let known = Model::read(&path)?;
    match args {
        ModelArgs { fit: Some(from), .. } => {
            check_output_path(&path, None)?;
            let newer = match from {
                Some(dir) => {
                    let missing = || {
                        Error::input(dir.join(MODEL), "there is no such file")
                            .with_help("give the directory that `tisane study cost` has written")
                    };
                    Model::read(&dir.join(MODEL))?.ok_or_else(missing)?
                }
                None => measured(talk)?,
            };
            let mut model = known.unwrap_or_default();
            model.merge(newer);
            model.write(&path)?;
            print(&format!("{}{}\n", told(&table(&model), SHOWN), path.display()))
        }
        ModelArgs { predict: Some(file), .. } => {
            let model = known.ok_or_else(|| Error::input(&path, "there is no model yet").with_help(HOW))?;
            predictions(&model, file)
        }
        ModelArgs { .. } => match known {
            Some(model) => print(&format!("{}{}\n", told(&table(&model), SHOWN), path.display())),
            None => print(&format!("there is no model in {}: {HOW}\n", path.display())),
        },
    }
}

/// What to do where there is no model.
pub const HOW: &str = "`tisane model --fit` measures this machine";

/// Returns why the model says nothing of a scheme, and what to do instead; [`None`] for schemes of block steps.
fn not_of_block_steps(integrator: &IntegratorSettings) -> Option<[String; 2]> {
    let SchemeInfo { title, dt_max_key: dt, .. } = integrator.info();
    integrator.scheme().block_steps().is_none().then(|| {
        [
            format!("the performance model is one of block steps, which {title} does not take"),
            format!("its steps are all alike: `tisane bench kernels` measures one, and a run takes t_end/{dt} of them"),
        ]
    })
}

/// The short measurement of the engines that are here.
fn measured(talk: Verbosity) -> Result<Model> {
    let mut model = Model::default();
    let mut sweeps = vec![&SHORT[..]];
    if assemble::gpus().is_ok_and(|gpus| !gpus.is_empty()) {
        sweeps.push(&WITH_GPU[..]);
    }
    for sets in sweeps {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let file = CostFile::from_text("the short measurement", CostFile::TEMPLATE, &sets)?;
        let dir = tempfile::tempdir().map_err(|e| Error::input(std::env::temp_dir(), e))?;
        let mut journal = Journal::open(dir.path(), Stamp::now("cost"), false)?;
        let face = StudyFace::new(talk);
        let report = cost::study(&file, &mut journal, &Work { at_once: 1, progress: &face })?;
        model.merge(report.model.unwrap_or_default());
    }
    Ok(model)
}

const SHOWN: &[&str] = &[
    "engine",
    "mode",
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

fn table(model: &Model) -> Table {
    let rows = Rows(&model.fit);
    let mut columns = vec![
        rows.text("engine", "engine and what it computes on", |fit| fit.engine.clone()),
        rows.text("mode", "precision mode", |fit| fit.mode.name().into()),
        rows.counts("threads", "1", "threads", |fit| u64::from(fit.threads)),
    ];
    for (k, (name, text)) in Fit::PARAMETERS.into_iter().enumerate() {
        columns.push(rows.numbers(name, "s", text, |fit| fit.parameters()[k]));
    }
    columns.push(rows.counts("n_least", "1", "least N measured", |fit| u64::from(fit.n_least)));
    columns.push(rows.counts("n_most", "1", "largest N measured", |fit| u64::from(fit.n_most)));
    columns.push(rows.numbers("scatter", "1", "rms of ln(measured / model)", |fit| fit.scatter));
    columns
        .push(rows.numbers("prediction_scatter", "1", "rms of ln(measured / predicted)", |fit| fit.prediction_scatter));
    Table { title: "Performance model (Portegies Zwart et al. 2007, eqs 10-17)".into(), remarks: Vec::new(), columns }
}

fn predictions(model: &Model, file: PathBuf) -> Result<u8> {
    let loaded = Config::from_file(&file, &[])?;
    on_threads(loaded.config.force.threads as usize, || {
        let set = assemble::prepare(loaded)?;
        if let Some([problem, help]) = not_of_block_steps(&set.config.integrator) {
            return Err(Error::input(&file, problem).with_help(help));
        }
        let times = natural_times(&set)?;
        let mut text = format!("{}: N = {}\n", set.config.run.name, set.particles.len());
        for fit in &model.fit {
            let Some(it) = predict(fit, &set, &times) else { continue };
            text += &format!(
                "  {:<24} {:<14} {} threads on {}: {}; {:.2e} block steps, {:.2e} particle steps{}\n",
                fit.engine,
                fit.mode.name(),
                fit.threads,
                fit.host,
                it.told(),
                it.block_steps,
                it.particle_steps,
                beyond(fit, set.particles.len())
            );
        }
        print(&text)
    })
}

/// What to add where N is outside of what was measured.
fn beyond(fit: &Fit, n: usize) -> String {
    if (fit.n_least as usize..=fit.n_most as usize).contains(&n) {
        return String::new();
    }
    format!("; less certain: N = {} to {} was measured", fit.n_least, fit.n_most)
}

/// What a run will take, in one line of `tisane check`.
pub fn forecast(set: &Setup) -> Result<String> {
    if let Some([problem, help]) = not_of_block_steps(&set.config.integrator) {
        return Ok(format!("not known: {problem}; {help}"));
    }
    let model = match Model::path().map_or(Ok(None), |path| Model::read(&path)) {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(format!("not known: there is no performance model; {HOW}")),
        // What is wrong with another file is no fault of this configuration.
        Err(error) => return Ok(format!("not known: {error}")),
    };
    let n = set.particles.len();
    let Some(fit) = fit_for(&model, &set.config, n) else {
        let mode = set.config.force.precision().name();
        return Ok(format!(
            "not known: the performance model has no {mode} with this engine and these threads; `tisane study cost` \
             measures it and `tisane model --fit DIR` takes it over"
        ));
    };
    let told = predict(fit, set, &natural_times(set)?).map_or_else(String::new, |it| it.told());
    Ok(format!("{told}, from the particles and the model of {}{}", &fit.created, beyond(fit, n)))
}
