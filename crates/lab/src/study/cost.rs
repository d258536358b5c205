//! `tisane study cost`: wall time over N, block statistics, and the performance model fitted to them.

pub mod line;
pub mod row;

pub use line::{Line, is_of_the_paper};
pub use row::Row;

use super::config::{self, CostFile, CostSweep, TimeSpan};
use super::fit::{self, Power};
use super::integrators::{Integrator, accuracies};
use super::journal::{Journal, Outcome};
use super::model::{Fit, Model, StepsBy};
use super::points::{self, Work};
use super::predict;
use super::report::{Report, Rows, mode_names};
use super::trial::Measured;
use super::trials::{self, Common, Key};
use crate::literature::tables::{BLOCK_STEPS, MEAN_BLOCK, PZ_HARDWARE, PZ_TABLE_2, PZ_TABLE_3, pz_scatter};
use tisane::error::Result;
use tisane_io::table::{Column, Table};

/// Does the study, with its points kept in `journal`.
///
/// # Errors
/// As the engines, and [`tisane::Error::Storage`].
pub fn study(file: &CostFile, journal: &mut Journal<Key, Measured>, work: &Work<'_>) -> Result<Report> {
    let it = &file.cost;
    let common = Common::new(&it.engines, it.device, &it.stretch, it.threads)?;
    let keys = keys(it, &common);
    let work = Work { at_once: 1, ..*work };
    let results = points::finish(journal, &keys, &work, trials::cost, trials::describe, |key| common.measure(key))?;
    let points: Vec<(Key, Outcome<Measured>)> = keys.into_iter().zip(results).collect();
    let lines = lines(&points)?;
    let mut remarks = journal.stamp().remarks();
    remarks.extend(config::left_out(&it.integrators, &it.modes).map(|what| (config::LEFT_OUT.to_owned(), what)));
    let model = Model { fit: lines.iter().map(|line| line.fit.clone()).collect() };
    let tables = vec![("table", table(&lines, &it.stretch, &remarks)), ("fits", fits(&lines, &remarks))];
    Ok(Report {
        figures: super::figures::cost(&lines, &it.stretch, &remarks),
        tables,
        model: Some(model),
        ..Report::default()
    })
}

fn keys(it: &CostSweep, common: &Common) -> Vec<Key> {
    let mut keys = Vec::new();
    for (_, engine) in &common.engines {
        for &integrator in &it.integrators {
            let accuracy = accuracies(integrator, &[it.nu], &[it.eta])[0].get();
            for &mode in it.modes.iter().filter(|mode| integrator.works_in(**mode)) {
                for &n in &it.n {
                    for &seed in &it.seeds {
                        let key = |k| common.key(engine, (n, seed), mode, (integrator, accuracy), Some(k));
                        keys.extend((0..it.repeat).map(key));
                    }
                }
            }
        }
    }
    keys
}

/// The points by engine, integrator and mode, with their fits.
///
/// # Errors
/// As [`Fit::from_rows`] and [`predict::calibrate`].
pub fn lines(points: &[(Key, Outcome<Measured>)]) -> Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let line = |key: &Key| (key.engine.clone(), key.integrator, key.mode, key.threads);
    for of_line in points.chunk_by(|(a, _), (b, _)| line(a) == line(b)) {
        let mut rows: Vec<Row> = Vec::new();
        for same in of_line.chunk_by(|(a, _), (b, _)| (a.n, a.seed) == (b.n, b.seed)) {
            let done = same.iter().filter_map(|(key, outcome)| Some((key, outcome.done()?)));
            let best = done.min_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds));
            let unknown = f64::NAN;
            rows.extend(best.map(|(key, best)| Row {
                key: key.clone(),
                best: best.clone(),
                modelled: unknown,
                from_n: unknown,
                targets_share: unknown,
            }));
        }
        // Large systems are stepped by the host even where a GPU takes the steps of smaller ones.
        let (on_device, by_host): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.best.steps_on_device);
        for rows in [by_host, on_device] {
            lines.extend(fitted(rows)?);
        }
    }
    Ok(lines)
}

/// Returns the line of the rows of an engine, integrator and mode, whose steps the same took; [`None`] if there are none.
fn fitted(mut rows: Vec<Row>) -> Result<Option<Line>> {
    let Some(first) = rows.first() else { return Ok(None) };
    let (engine, mode, integrator) = (first.key.engine.clone(), first.key.mode, first.key.integrator);
    let over_n = |of: fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        rows.iter().map(|row| (f64::from(row.key.n), of(&row.best))).collect()
    };
    let block_steps = fit::power(&over_n(Measured::block_steps_per_time_unit));
    let mean_block = fit::power(&over_n(Measured::mean_block));
    let mut fit = Fit::from_rows(&rows)?;
    predict::calibrate(&mut fit, &rows)?;
    for row in &mut rows {
        let n = f64::from(row.key.n);
        row.modelled = fit.seconds_of(n, &row.best.groups);
        if let Some((steps, block)) = block_steps.zip(mean_block) {
            let (steps, block) = (row.best.span * steps.at(n), block.at(n));
            row.from_n = steps * fit.step(n, block);
            row.targets_share = fit.force_target * block / fit.step(n, block);
        }
    }
    Ok(Some(Line { engine, mode, integrator, rows, block_steps, mean_block, fit }))
}

fn table(lines: &[Line], span: &TimeSpan, remarks: &[(String, String)]) -> Table {
    let all: Vec<&Row> = lines.iter().flat_map(|line| &line.rows).collect();
    let rows = Rows(&all);
    let [nu, eta] = rows.accuracies("accuracy of the time step", |row| Some((row.key.integrator, row.key.accuracy)));
    let mut columns = vec![
        rows.counts("n", "1", "number of particles", |row| u64::from(row.key.n)),
        rows.counts("seed", "1", "seed of the Plummer sphere", |row| row.key.seed),
        rows.text("engine", "engine and what it computes on", |row| row.key.engine.clone()),
        rows.text("mode", "precision mode", |row| row.key.mode.name().into()),
        rows.counts("threads", "1", "threads", |row| row.key.threads as u64),
        rows.text("integrator", "scheme with its order", |row| row.key.integrator.name().into()),
        nu,
        eta,
        rows.numbers("wall_seconds", "s", "wall time of the span of time, fastest repetition", |row| row.best.seconds),
        rows.numbers("model_seconds", "s", "the fitted performance model, for the measured blocks", |row| row.modelled),
        rows.numbers("eqs_10_17_seconds", "s", "the same from N alone, by the fitted laws of blocks", |row| row.from_n),
        rows.numbers("measured_over_eqs_10_17", "1", "wall time over that", |row| row.best.seconds / row.from_n),
        rows.numbers(
            "targets_share",
            "1",
            "share of targets in the engine in that time: communication (eq. 13)",
            |row| row.targets_share,
        ),
        rows.counts("pairs", "1", "pairs evaluated in the span of time", |row| row.best.pairs),
        rows.numbers("pairs_per_second", "1/s", "pairs over wall time", |row| row.best.pairs as f64 / row.best.seconds),
        rows.numbers("host_fraction", "1", "wall time outside the engine", |row| {
            row.best.host_seconds / row.best.seconds
        }),
        rows.numbers("block_steps", "1/time", "block steps in a time unit", |row| row.best.block_steps_per_time_unit()),
        rows.numbers("block_steps_eq17", "1/time", "Portegies Zwart et al. (2007), eq. 17", |row| {
            BLOCK_STEPS.at(f64::from(row.key.n))
        }),
        rows.numbers("mean_block", "1", "particles in a block, mean", |row| row.best.mean_block()),
        rows.numbers("mean_block_eq14", "1", "Portegies Zwart et al. (2007), eq. 14", |row| {
            MEAN_BLOCK.at(f64::from(row.key.n))
        }),
        rows.numbers(
            "energy_error",
            "1",
            "energy error over the span of time, as relative_energy_error of a run",
            |row| row.best.energy_error,
        ),
    ];
    for (k, name) in PZ_HARDWARE.into_iter().enumerate() {
        columns.extend(paper_columns(&rows, k, name, span));
    }
    let modes = mode_names(all.iter().map(|row| row.key.mode));
    Table { title: format!("Wall time of Plummer spheres: {modes}"), remarks: remarks.to_vec(), columns }
}

/// A column of PZ table 2 and one of their model, where the workload is that of the table.
fn paper_columns(rows: &Rows<'_, &Row>, k: usize, name: &str, span: &TimeSpan) -> [Column; 2] {
    let column = name.to_lowercase().replace([' ', '-', '.'], "_");
    let same = |row: &Row| is_of_the_paper(span, &row.key);
    let measured = |row: &&Row| {
        let of_paper = PZ_TABLE_2.iter().find(|paper| paper.n == row.key.n as usize);
        of_paper.filter(|_| same(row)).and_then(|paper| paper.seconds[k]).unwrap_or(f64::NAN)
    };
    let modelled = |row: &&Row| if same(row) { 0.25 * PZ_TABLE_3[k].seconds(f64::from(row.key.n)) } else { f64::NAN };
    let source = "Portegies Zwart et al. (2007)";
    [
        rows.numbers(&format!("paper_{column}"), "s", &format!("{source}, table 2, {name}"), measured),
        rows.numbers(
            &format!("paper_model_{column}"),
            "s",
            &format!("{source}, figure 3: eqs 10-17, {name}"),
            modelled,
        ),
    ]
}

/// Root mean square of ln(measured / model from N alone); NaN where there is no such model.
fn scatter_from_n(rows: &[Row]) -> f64 {
    let squares: Vec<f64> = rows.iter().map(|row| (row.best.seconds / row.from_n).ln().powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// Fits and parameters, a line an engine, integrator and mode, the papers' below them.
fn fits(lines: &[Line], remarks: &[(String, String)]) -> Table {
    struct Of {
        engine: String,
        mode: String,
        integrator: &'static str,
        steps_by: &'static str,
        laws: [f64; 6],
        model: [f64; 7],
        scatter: [f64; 2],
    }
    let nan = f64::NAN;
    let laws = |steps: Option<Power>, block: Option<Power>| {
        let one = |law: Option<Power>| law.map_or([nan; 3], |law| [law.coefficient, law.exponent, law.scatter]);
        let (steps, block) = (one(steps), one(block));
        [steps[0], steps[1], steps[2], block[0], block[1], block[2]]
    };
    let ours = lines.iter().map(|line| Of {
        engine: line.engine.clone(),
        mode: line.mode.name().into(),
        integrator: line.integrator.name(),
        steps_by: line.fit.steps_by.name(),
        laws: laws(line.block_steps, line.mean_block),
        model: line.fit.parameters(),
        scatter: [line.fit.scatter, scatter_from_n(&line.rows)],
    });
    let of_paper =
        [BLOCK_STEPS.coefficient, BLOCK_STEPS.exponent, nan, MEAN_BLOCK.coefficient, MEAN_BLOCK.exponent, nan];
    let theirs = PZ_TABLE_3.iter().enumerate().map(|(k, it)| Of {
        engine: format!("{} (Portegies Zwart et al. 2007, table 3)", it.name),
        mode: "-".into(),
        integrator: Integrator::default().name(),
        steps_by: StepsBy::Host.name(),
        laws: of_paper,
        model: [nan, nan, it.host, nan, nan, it.send.zip(it.receive).map_or(nan, |(a, b)| a + b), it.pair],
        scatter: [nan, pz_scatter(k)],
    });
    let all: Vec<Of> = ours.chain(theirs).collect();
    let rows = Rows(&all);
    let mut columns = vec![
        rows.text("engine", "engine and what it computes on", |it| it.engine.clone()),
        rows.text("mode", "precision mode", |it| it.mode.clone()),
        rows.text("integrator", "scheme with its order", |it| it.integrator.into()),
        rows.text("steps_by", "what took the block steps", |it| it.steps_by.into()),
    ];
    let names = [
        ("block_steps_at_1", "1/time", "block steps in a time unit = this times N to the power (eq. 17)"),
        ("block_steps_power", "1", "that power"),
        ("block_steps_scatter", "1", "rms of ln(measured / law)"),
        ("mean_block_at_1", "1", "mean block = this times N to the power (eq. 14)"),
        ("mean_block_power", "1", "that power"),
        ("mean_block_scatter", "1", "rms of ln(measured / law)"),
    ];
    for (k, (name, unit, text)) in names.into_iter().enumerate() {
        columns.push(rows.numbers(name, unit, text, |it| it.laws[k]));
    }
    for (k, (name, text)) in Fit::PARAMETERS.into_iter().enumerate() {
        columns.push(rows.numbers(name, "s", text, |it| it.model[k]));
    }
    columns
        .push(rows.numbers("model_scatter", "1", "rms of ln(measured / model), measured blocks", |it| it.scatter[0]));
    columns.push(rows.numbers("eqs_10_17_scatter", "1", "the same from N alone, by eqs 10-17", |it| it.scatter[1]));
    let title = "Block statistics and the performance model (eqs 10-17), fitted; below them the papers' numbers";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}
