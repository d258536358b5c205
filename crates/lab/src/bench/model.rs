//! The performance model of this machine: a short measurement to fit it, its table, and what it says about a run.

use crate::study::config::{CostFile, StudyFile};
use crate::study::cost;
use crate::study::forecast;
use crate::study::integrators::Integrator;
use crate::study::journal::{Journal, Stamp};
use crate::study::model::{Fit, Model, StepsBy};
use crate::study::points::{Progress, Work};
use crate::study::predict::{Prediction, fit_for, natural_times, predict};
use crate::study::report::Rows;
use crate::study::trials;
use crate::study::wall_time::{WallTime, describe_range};
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::force::block_steps::StepScheme;
#[cfg(feature = "cuda")]
use tisane::force::{EngineKind, cpu::Width};
use tisane::integrator::{IntegratorSettings, SchemeInfo};
use tisane_io::machine;
use tisane_io::table::Table;
use tisane_run::assemble::{self, Session, Setup};
use tisane_run::config::Engine;
use tisane_run::ensemble::Blueprint;

/// Advice where there is no model.
pub const HOW: &str = "`tisane bench model --fit` measures this machine";

/// Sweep of the short measurement: enough to tell apart the times of a step, a source, a target and a pair.
const SHORT: [&str; 2] = ["cost.n=[256,512,1024,2048]", "cost.repeat=2"];
/// Sweep of the short measurement on a GPU.
const WITH_GPU: [&str; 2] = ["cost.n=[256,1024,4096,16384]", "cost.engines=[\"cuda\"]"];

/// Sizes of the systems of the short measurement of many at once.
#[cfg(feature = "cuda")]
const TOGETHER: [usize; 5] = [64, 128, 256, 512, 1024];

/// Fits the model to a short measurement of every engine of this machine, and of many systems at once on a GPU. A study is
/// begun for each engine on `progress`. `threads`: number of threads, 0 for one per core.
///
/// # Errors
/// As the study of the cost, and if the GPU fails.
pub fn measure(progress: &dyn Progress, threads: u32) -> Result<Model> {
    let mut model = Model::default();
    let mut sweeps = vec![&SHORT[..]];
    if assemble::gpus().is_ok_and(|gpus| !gpus.is_empty()) {
        sweeps.push(&WITH_GPU[..]);
    }
    for sets in sweeps {
        let mut sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        sets.push(format!("cost.threads={threads}"));
        let file = CostFile::from_text("the short measurement", CostFile::TEMPLATE, &sets)?;
        let dir = tempfile::tempdir().map_err(|e| Error::input(std::env::temp_dir(), e))?;
        let mut journal = Journal::open(dir.path(), Stamp::now("cost"), false)?;
        let report = cost::study(&file, &mut journal, &Work { at_once: 1, on_host: false, progress })?;
        model.merge(report.model.unwrap_or_default());
    }
    add_together(&mut model)?;
    Ok(model)
}

/// Adds the fits of many systems at once on a GPU, in the modes and with the threads of those of one.
#[cfg(feature = "cuda")]
fn add_together(model: &mut Model) -> Result<()> {
    use super::systems::{Ensembles, SystemsRow, measure};

    let alone: Vec<Fit> = model.fit.iter().filter(|fit| fit.steps_by == StepsBy::Device).cloned().collect();
    for fit in alone {
        let width = Width::choose_for(fit.mode).map_err(|problem| Error::input(Width::VARIABLE, problem))?;
        let takes = |n| assemble::system_stepper(fit.mode, 0, n).is_ok_and(|stepper| stepper.is_some());
        let n = TOGETHER.into_iter().filter(|&n| takes(n)).collect();
        // From t = 0.25 to 0.75.
        let span = [2, 6];
        let ensembles = Ensembles { n, systems: None, epsilon: super::EPSILON, span, max: u64::MAX, shape: None };
        let (threads, precision) = (fit.threads as usize, Some(fit.mode));
        let options =
            super::Options { width, threads, engine: EngineKind::Cuda, device: 0, devices: None, precision, repeat: 2 };
        let size = |row: SystemsRow| (row.n as u32, row.mean_block, row.seconds / row.block_steps.max(1) as f64);
        let sizes: Vec<_> = measure(&ensembles, &options)?.rows.into_iter().map(size).collect();
        if !sizes.is_empty() {
            model.merge(Model { fit: vec![Fit::together(&fit, &sizes)] });
        }
    }
    Ok(())
}

/// Adds nothing: this build has no GPU engine.
#[cfg(not(feature = "cuda"))]
fn add_together(_: &mut Model) -> Result<()> {
    Ok(())
}

/// Returns the fits of the model of this machine for `hermite4` on its cores, with a number of threads; 0 for one per core.
///
/// # Errors
/// If the file of the model cannot be read.
pub fn of_cores(threads: usize) -> Result<Vec<Fit>> {
    let model = Model::path().map_or(Ok(None), |path| Model::read(&path))?.unwrap_or_default();
    let (host, cpu) = (machine::host(), assemble::describe_engine(Engine::Cpu, 0)?);
    let threads = trials::threads(threads as u32) as u32;
    let fits = model.fits_for(Integrator::default(), StepsBy::Host).into_iter();
    Ok(fits.filter(|fit| (&fit.host, &fit.engine, fit.threads) == (&host, &cpu, threads)).cloned().collect())
}

/// Returns the fits of a model as a table.
#[must_use]
pub fn table(model: &Model) -> Table {
    let rows = Rows(&model.fit);
    let mut columns = vec![
        rows.text("engine", "engine and what it computes on", |fit| fit.engine.clone()),
        rows.text("mode", "precision mode", |fit| fit.mode.name().into()),
        rows.text("integrator", "integrator that took the steps", |fit| fit.integrator.name().into()),
        rows.text("steps_by", "host, device, or together: a device, those of many systems at once", |fit| {
            fit.steps_by.name().into()
        }),
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

/// Returns why the model cannot predict a scheme, and what to do instead; [`None`] for schemes of block steps.
fn without_block_steps(integrator: &IntegratorSettings) -> Option<[String; 2]> {
    let SchemeInfo { title, dt_max_key: dt, .. } = integrator.info();
    integrator.scheme().block_steps().is_none().then(|| {
        [
            format!("the performance model is one of block steps, which {title} does not take"),
            match integrator.scheme().shared_step() {
                Some(_) => {
                    format!("its steps are all alike: `tisane bench kernels` measures one, and a run takes t_end/{dt} of them")
                }
                None => "`tisane check` integrates the beginning of the run and says what the rest takes".into(),
            },
        ]
    })
}

/// Predicts a run of `set`, with every fit of a model for its integrator, and for whole steps on a device where its
/// settings allow them. `file` is its configuration, for errors.
///
/// # Errors
/// [`Error::Input`] for a scheme without block steps; as the CPU engine.
pub fn predictions<'a>(model: &'a Model, file: &Path, set: &Setup) -> Result<Vec<(&'a Fit, Prediction)>> {
    if let Some([problem, help]) = without_block_steps(&set.config.integrator) {
        return Err(Error::input(file, problem).with_help(help));
    }
    let times = natural_times(set)?;
    let integrator = Integrator::from_settings(&set.config.integrator).unwrap_or_default();
    let whole = assemble::scheme_on_device(&set.config).is_some();
    let by = [StepsBy::Host].into_iter().chain(whole.then_some(StepsBy::Device));
    let fits = by.flat_map(|steps_by| model.fits_for(integrator, steps_by));
    Ok(fits.filter_map(|fit| Some((fit, predict(fit, set, &times)?))).collect())
}

/// Returns a remark where `n` particles are outside the range that a fit was measured in.
#[must_use]
pub fn beyond(fit: &Fit, n: usize) -> String {
    if (fit.n_least as usize..=fit.n_most as usize).contains(&n) {
        return String::new();
    }
    format!("; less certain: N = {} to {} was measured", fit.n_least, fit.n_most)
}

/// Returns what takes the block steps of a run of `set` by an engine on this machine.
fn steps_by(set: &Setup, engine: Engine) -> StepsBy {
    let is_whole = || assemble::engines(set, Session::default()).is_ok_and(|(_, notes)| notes.steps_on_device);
    if engine == Engine::Cuda && is_whole() { StepsBy::Device } else { StepsBy::Host }
}

/// Returns the wall time of a run on this machine: from the fitted model, or measured on its own beginning where the model has
/// no fit for it; the reason if it is not known.
///
/// # Errors
/// As the CPU engine.
pub fn forecast(set: &Setup) -> Result<Result<WallTime, String>> {
    let model = match Model::path().map_or(Ok(None), |path| Model::read(&path)) {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(forecast::forecast(set)),
        // A mistake in the file of the model is no fault of this configuration.
        Err(error) => {
            let and_model = |text: String| format!("{text}; the performance model is not used: {error}");
            let measured = forecast::forecast(set).map_err(and_model);
            return Ok(measured.map(|it| WallTime { why: and_model(it.why), ..it }));
        }
    };
    let n = set.particles.len();
    let engine = assemble::forecast_engine(&set.config, n);
    let fit = fit_for(&model, &set.config, engine, steps_by(set, engine));
    let Some(fit) = fit else { return Ok(forecast::forecast(set)) };
    let Some(Prediction { seconds, within, .. }) = predict(fit, set, &natural_times(set)?) else {
        return Ok(forecast::forecast(set));
    };
    let why = format!("; from the particles and the model of {}{}", &fit.created, beyond(fit, n));
    Ok(Ok(WallTime { seconds, within, why }))
}

/// Describes the wall time of an ensemble on this machine in one line, if a GPU takes the block steps of its members and
/// the model has a fit for that; `set` is its member 0, which stands for all.
///
/// # Errors
/// As the CPU engine.
pub fn forecast_members(blueprint: &Blueprint, set: &Setup) -> Result<Option<String>> {
    let config = &set.config;
    let (engine, _) = blueprint.engine(None, config.force.device);
    let model = Model::path().and_then(|path| Model::read(&path).ok().flatten()).unwrap_or_default();
    let plain = assemble::scheme_on_device(config).and_then(StepScheme::plain_nu).is_some();
    if engine != Engine::Cuda || !plain {
        return Ok(None);
    }
    let Some(together) = fit_for(&model, config, engine, StepsBy::Together) else { return Ok(None) };
    let alone = fit_for(&model, config, engine, StepsBy::Device);
    let times = natural_times(set)?;
    Ok(members_time(together, alone, set, &times, blueprint.members.count()).map(|it| {
        let n = set.particles.len();
        let range = describe_range(it.seconds, it.within);
        format!("{range} if all are like member 0, without outputs{}", beyond(together, n))
    }))
}

/// Predicts `members` systems like `set`, whose steps a GPU takes together: as many as fill it share its time, and fewer
/// take at least as long as one of them alone.
fn members_time(together: &Fit, alone: Option<&Fit>, set: &Setup, times: &[f64], members: u64) -> Option<Prediction> {
    let all = predict(together, set, times)?;
    let min = alone.and_then(|alone| predict(alone, set, times)).map_or(0.0, |one| one.seconds);
    Some(Prediction { seconds: (all.seconds * members as f64).max(min), ..all })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_run::config::Config;

    #[test]
    fn members_share_a_gpu_that_is_full_and_otherwise_take_the_time_of_one() {
        let text = "run = { name = 'e', t_end = 1 }\ninitial.plummer.n = 64\nforce = { engine = 'cpu', threads = 1 }\n";
        let set = assemble::prepare(Config::from_str("e", text, Path::new(""), &[]).unwrap()).unwrap();
        let times = natural_times(&set).unwrap();
        let alone = Fit { force_step: 5e-6, step_factor: 0.5, steps_by: StepsBy::Device, ..Fit::default() };
        let together = Fit::together(&alone, &[(64, 8.0, 1e-8)]);
        let of = |members| members_time(&together, Some(&alone), &set, &times, members).unwrap().seconds;
        let one = predict(&alone, &set, &times).unwrap().seconds;
        assert!(one > 0.0 && of(1) == one && of(100) == one);
        assert!((of(100_000) / (200.0 * one) - 1.0).abs() < 1e-6, "{} of {one}", of(100_000));
        assert!((of(200_000) / of(100_000) - 2.0).abs() < 1e-9);
    }
}
