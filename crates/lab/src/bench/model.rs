//! The performance model of this machine: a short measurement to fit it, its table, and what it says about a run.

use crate::study::config::{CostFile, StudyFile};
use crate::study::cost;
use crate::study::integrators::Integrator;
use crate::study::journal::{Journal, Stamp};
use crate::study::model::{Fit, Model};
use crate::study::pace;
use crate::study::points::{Progress, Work};
use crate::study::predict::{Prediction, fit_for, natural_times, predict};
use crate::study::report::Rows;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::integrator::{IntegratorSettings, SchemeInfo};
use tisane_io::table::Table;
use tisane_run::assemble::{self, Setup};

/// Advice where there is no model.
pub const HOW: &str = "`tisane bench model --fit` measures this machine";

/// Sweep of the short measurement: enough to tell apart the times of a step, a source, a target and a pair.
const SHORT: [&str; 2] = ["cost.n=[256,512,1024,2048]", "cost.repeat=2"];
/// Sweep of the short measurement on a GPU.
const WITH_GPU: [&str; 2] = ["cost.n=[256,1024,4096,16384]", "cost.engines=[\"cuda\"]"];

/// Fits the model to a short measurement of every engine of this machine. A study is begun for each of them on
/// `progress`.
///
/// # Errors
/// As the study of the cost.
pub fn measure(progress: &dyn Progress) -> Result<Model> {
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
        let report = cost::study(&file, &mut journal, &Work { at_once: 1, progress })?;
        model.merge(report.model.unwrap_or_default());
    }
    Ok(model)
}

/// Returns the fits of a model as a table.
#[must_use]
pub fn table(model: &Model) -> Table {
    let rows = Rows(&model.fit);
    let mut columns = vec![
        rows.text("engine", "engine and what it computes on", |fit| fit.engine.clone()),
        rows.text("mode", "precision mode", |fit| fit.mode.name().into()),
        rows.text("integrator", "integrator that took the steps", |fit| fit.integrator.name().into()),
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
            format!("its steps are all alike: `tisane bench kernels` measures one, and a run takes t_end/{dt} of them"),
        ]
    })
}

/// Predicts a run of `set`, with every fit of a model for its integrator. `file` is its configuration, for errors.
///
/// # Errors
/// [`Error::Input`] for a scheme without block steps; as the CPU engine.
pub fn predictions<'a>(model: &'a Model, file: &Path, set: &Setup) -> Result<Vec<(&'a Fit, Prediction)>> {
    if let Some([problem, help]) = without_block_steps(&set.config.integrator) {
        return Err(Error::input(file, problem).with_help(help));
    }
    let times = natural_times(set)?;
    let integrator = Integrator::from_settings(&set.config.integrator).unwrap_or_default();
    let fits = model.fits_for(integrator).into_iter();
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

/// Describes the wall time of a run on this machine in one line: from the fitted model, or measured on its own
/// beginning where the model has no fit for it. Says so if it is not known.
///
/// # Errors
/// As the CPU engine.
pub fn forecast(set: &Setup) -> Result<String> {
    let model = match Model::path().map_or(Ok(None), |path| Model::read(&path)) {
        Ok(model) => model.unwrap_or_default(),
        // A mistake in the file of the model is no fault of this configuration.
        Err(error) => return Ok(format!("{}; the performance model is not used: {error}", pace::forecast(set))),
    };
    let n = set.particles.len();
    let Some(fit) = fit_for(&model, &set.config, n) else { return Ok(pace::forecast(set)) };
    let wall_time = predict(fit, set, &natural_times(set)?).map_or_else(String::new, |it| it.describe());
    Ok(format!("{wall_time}, from the particles and the model of {}{}", &fit.created, beyond(fit, n)))
}
