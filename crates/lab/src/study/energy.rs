//! `tisane study energy`: energy error against the accuracy of the steps, split into truncation and round-off, with the
//! cost of each point in pairs and in time.

mod choice;
pub mod mode_law;

pub use mode_law::ModeLaw;

use super::config::{self, EnergyFile, EnergySweep};
use super::fit::{self, EnergyLaw, Power, Truncation};
use super::integrators::{Integrator, accuracies};
use super::journal::{Journal, Outcome};
use super::points::{self, Work};
use super::report::{LAW, Report, Rows, mode_names};
use super::together::{self, Gpu};
use super::trial::Measured;
use super::trials::{self, Common, Key};
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane_io::table::Table;
use tisane_plot::band::Band;

/// A point: its parameters and how it ended.
pub type Row = (Key, Outcome<Measured>);

/// Does the study, with its points kept in `journal`.
///
/// # Errors
/// As the engines, and [`tisane::Error::Storage`].
pub fn study(file: &EnergyFile, journal: &mut Journal<Key, Measured>, work: &Work<'_>) -> Result<Report> {
    let it = &file.energy;
    let law = it.law.clone().filter(|law| !law.is_newton());
    let common = Common { law, ..Common::new(&it.engines, it.device, &it.stretch, it.threads)? };
    let keys = keys(it, &common);
    let work = Work { at_once: it.at_once as usize, ..*work };
    let gpu = Gpu::default();
    let together = |a: &Key, b: &Key| together::is_together(&common, a, b);
    let measure = |keys: &[&Key]| together::measure(&common, keys, &gpu);
    let measures = (together, measure);
    let results = points::finish_together(journal, &keys, &work, measures, trials::cost, trials::describe)?;
    let rows: Vec<Row> = keys.into_iter().zip(results).collect();
    let laws = laws(&rows);
    let mut remarks = journal.stamp().remarks();
    remarks.extend(config::left_out(&it.integrators, &it.modes).map(|what| (config::LEFT_OUT.to_owned(), what)));
    remarks.extend(common.law.as_ref().map(|law| (LAW.to_owned(), law.describe())));
    let tables = vec![
        ("table", table(&rows, &laws, &remarks)),
        ("laws", laws_table(&laws, &remarks)),
        ("choice", choice::table(&laws, it, &remarks)),
    ];
    Ok(Report { figures: super::figures::energy(&laws, &remarks), tables, ..Report::default() })
}

fn keys(it: &EnergySweep, common: &Common) -> Vec<Key> {
    let mut keys = Vec::new();
    let repetition = (it.at_once == 1).then_some(0);
    for (_, engine) in &common.engines {
        for &n in &it.n {
            for &integrator in &it.integrators {
                for &mode in it.modes.iter().filter(|mode| integrator.works_in(**mode)) {
                    for accuracy in accuracies(integrator, &it.nu, &it.eta) {
                        let with = (integrator, accuracy.get());
                        keys.extend(it.seeds.iter().map(|&seed| common.key(engine, (n, seed), mode, with, repetition)));
                    }
                }
            }
        }
    }
    keys
}

/// Root mean square.
fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt()
}

/// The laws of every integrator and mode: what f64 shows of the truncation error holds for all modes of that N and
/// integrator that have the same steps; the power of the accuracy in it holds for all.
#[must_use]
pub fn laws(rows: &[Row]) -> Vec<ModeLaw> {
    let of = |key: &Key| (key.n, key.integrator, key.mode, key.engine.clone());
    let mut laws: Vec<ModeLaw> = rows.chunk_by(|(a, _), (b, _)| of(a) == of(b)).map(without_error).collect();
    let truncation: Vec<(u32, Integrator, String, (f64, f64))> = laws
        .iter()
        .filter(|law| law.mode.in_f64())
        .filter_map(|law| {
            let fit = fit::energy(&law.errors, Truncation::Free(law.integrator.error_power()))?;
            Some((law.n, law.integrator, law.engine.clone(), (fit.coefficient, fit.exponent)))
        })
        .collect();
    for law in &mut laws {
        let of_n = || truncation.iter().filter(|(n, it, ..)| (*n, *it) == (law.n, law.integrator));
        let exact = of_n().find(|(.., engine, _)| *engine == law.engine).or_else(|| of_n().next());
        let known = match exact.filter(|_| !law.mode.in_f64()) {
            None => Truncation::Free(law.integrator.error_power()),
            Some((.., (a, p))) if law.integrator.has_steps_of_f64(law.mode) => Truncation::Known(*a, *p),
            Some((.., (_, p))) => Truncation::Power(*p),
        };
        law.error = fit::energy(&law.errors, known);
    }
    laws
}

/// The errors and costs of one integrator in one mode, and the laws of the costs.
fn without_error(group: &[Row]) -> ModeLaw {
    let (mut errors, mut bands, mut seconds, mut pairs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut without_result = Vec::new();
    for same in group.chunk_by(|(a, _), (b, _)| a.accuracy == b.accuracy) {
        let done: Vec<(&Key, &Measured)> = same.iter().filter_map(|(key, it)| Some((key, it.done()?))).collect();
        let x = same[0].0.accuracy;
        if done.len() < same.len() {
            without_result.push(x);
            continue;
        }
        let mean = |of: &dyn Fn(&Measured) -> f64| {
            (x, done.iter().map(|(_, it)| of(it) / it.span).sum::<f64>() / done.len() as f64)
        };
        errors.push((x, rms(&done.iter().map(|(_, it)| it.energy_error).collect::<Vec<_>>())));
        bands.extend(Band::of(done.iter().map(|(_, it)| it.energy_error.abs())).map(|band| (x, band)));
        pairs.push(mean(&|it| it.pairs as f64));
        if done.iter().all(|(key, _)| key.repetition.is_some()) {
            seconds.push(mean(&|it| it.seconds));
        }
    }
    let Key { n, integrator, mode, ref engine, .. } = group[0].0;
    let (cost, work) = (fit::power(&seconds), fit::power(&pairs));
    let engine = engine.clone();
    ModeLaw { n, engine, integrator, mode, error: None, cost, work, errors, without_result, bands, seconds, pairs }
}

fn table(rows: &[Row], laws: &[ModeLaw], remarks: &[(String, String)]) -> Table {
    // None where a seed has no result.
    let band = |key: &Key| {
        let same = |law: &&ModeLaw| {
            (law.n, law.integrator, law.mode, &law.engine) == (key.n, key.integrator, key.mode, &key.engine)
        };
        let bands = &laws.iter().find(same)?.bands;
        bands.iter().find(|(x, _)| *x == key.accuracy).map(|(_, band)| *band)
    };
    let of_seeds = |of: fn(Band) -> f64| move |row: &Row| band(&row.0).map_or(f64::NAN, of);
    // The same sphere and steps in f64: what is left of its error there is truncation, and rounding of f64.
    let exact = |key: &Key| {
        let point = |of: &Key| (of.n, of.seed, of.integrator, of.accuracy);
        let same = |of: &Key| point(of) == point(key) && of.mode == Precision::F64;
        if !key.integrator.has_steps_of_f64(key.mode) {
            return None;
        }
        let found = rows.iter().filter(|(of, _)| same(of));
        let best = found.max_by_key(|(of, _)| of.engine == key.engine)?;
        best.1.done().map(|it| it.energy_error)
    };
    let number = |of: fn(&Measured) -> f64| move |row: &Row| row.1.done().map_or(f64::NAN, of);
    let count = |of: fn(&Measured) -> u64| move |row: &Row| row.1.done().map_or(0, of);
    let it = Rows(rows);
    let [nu, eta] = it.accuracies("accuracy of the time step", |(key, _)| Some((key.integrator, key.accuracy)));
    let columns = vec![
        it.counts("n", "1", "number of particles", |(key, _)| u64::from(key.n)),
        it.counts("seed", "1", "seed of the Plummer sphere", |(key, _)| key.seed),
        it.text("engine", "engine and what it computes on", |(key, _)| key.engine.clone()),
        it.text("mode", "precision mode", |(key, _)| key.mode.name().into()),
        it.text("integrator", "scheme with its order", |(key, _)| key.integrator.name().into()),
        nu,
        eta,
        it.numbers(
            "energy_error",
            "1",
            "energy error over the span of time, as relative_energy_error of a run",
            number(|it| it.energy_error),
        ),
        it.numbers("max_energy_error", "1", "largest at the multiples of dt_max", number(Measured::max_energy_error)),
        it.numbers("truncation", "1", "energy_error of the same sphere and steps in f64", |(key, _)| {
            exact(key).unwrap_or(f64::NAN)
        }),
        it.numbers("round_off", "1", "energy_error less that in f64", |(key, outcome)| {
            exact(key).and_then(|exact| Some(outcome.done()?.energy_error - exact)).unwrap_or(f64::NAN)
        }),
        it.numbers("median", "1", "median of |energy_error| over the seeds", of_seeds(|band| band.median)),
        it.numbers(
            "quantile_10",
            "1",
            "10 % of it over the seeds; the least of fewer than five",
            of_seeds(|band| band.low),
        ),
        it.numbers(
            "quantile_90",
            "1",
            "90 % of it over the seeds; the largest of fewer than five",
            of_seeds(|band| band.high),
        ),
        it.counts("block_steps", "1", "block steps in the span of time", count(|it| it.block_steps)),
        it.counts("particle_steps", "1", "particle steps in the span of time", count(|it| it.particle_steps)),
        it.counts(
            "pairs",
            "1",
            "pairs evaluated in the span of time: particle steps times N - 1",
            count(|it| it.pairs),
        ),
        it.numbers("wall_seconds", "s", "wall time of the span; nan where points were measured at once", |row| {
            row.0.repetition.and_then(|_| Some(row.1.done()?.seconds)).unwrap_or(f64::NAN)
        }),
        it.counts("threads", "1", "threads of the point", |(key, _)| key.threads as u64),
        it.text("failure", "why there is no result", |(_, outcome)| match outcome {
            Outcome::Done(_) => String::new(),
            Outcome::Failed(why) => why.clone(),
        }),
    ];
    let modes = mode_names(rows.iter().map(|(key, _)| key.mode));
    let title = format!("Energy errors of Plummer spheres against the accuracy of the steps: {modes}");
    Table { title, remarks: remarks.to_vec(), columns }
}

fn laws_table(laws: &[ModeLaw], remarks: &[(String, String)]) -> Table {
    let error = |of: fn(&EnergyLaw) -> f64| move |law: &ModeLaw| law.error.as_ref().map_or(f64::NAN, of);
    let cost = |of: fn(&Power) -> f64| move |law: &ModeLaw| law.cost.as_ref().map_or(f64::NAN, of);
    let work = |of: fn(&Power) -> f64| move |law: &ModeLaw| law.work.as_ref().map_or(f64::NAN, of);
    let it = Rows(laws);
    let columns = vec![
        it.counts("n", "1", "number of particles", |law| u64::from(law.n)),
        it.text("engine", "engine and what it computes on", |law| law.engine.clone()),
        it.text("mode", "precision mode", |law| law.mode.name().into()),
        it.text("integrator", "scheme with its order", |law| law.integrator.name().into()),
        it.text("accuracy_key", "accuracy of the steps: x of the laws", |law| law.integrator.accuracy_key().into()),
        it.numbers("truncation_at_1", "1", "A of |dE/E| = sqrt((A x^p)^2 + R^2)", error(|law| law.coefficient)),
        it.numbers("truncation_power", "1", "p; from f64 where that was measured", error(|law| law.exponent)),
        it.numbers(
            "truncation_power_error",
            "1",
            "standard error of p, by the scatter; nan where p is not fitted or has no more points than parameters",
            error(|law| law.exponent_error),
        ),
        it.numbers(
            "round_off",
            "1",
            "R, the error for x -> 0; nan where the points show none: no plateau at the smallest x, or too few points",
            error(|law| if law.round_off > 0.0 { law.round_off } else { f64::NAN }),
        ),
        it.numbers(
            "scatter",
            "1",
            "of ln(measured / law); nan where there are no more points than parameters",
            error(|law| law.scatter),
        ),
        it.counts("points", "1", "accuracies that the law is fitted to", |law| {
            law.error.map_or(0, |it| it.points as u64)
        }),
        it.text("remark", "what the law is worth", ModeLaw::remark),
        it.numbers("seconds_at_1", "s", "C of wall time for a time unit = C x^-q", cost(|law| law.coefficient)),
        it.numbers("seconds_power", "1", "-q", cost(|law| law.exponent)),
        it.numbers("seconds_scatter", "1", "rms of ln(measured / law)", cost(|law| law.scatter)),
        it.numbers("pairs_at_1", "1", "C of pairs for a time unit = C x^-q", work(|law| law.coefficient)),
        it.numbers("pairs_power", "1", "-q", work(|law| law.exponent)),
    ];
    let title = "Laws of energy error and wall time; errors are the root mean square over the seeds";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}

#[cfg(test)]
mod tests;
