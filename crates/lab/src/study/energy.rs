//! `tisane study energy`: energy error against ν, split into truncation and round-off, with the cost of each point.

use super::config::{EnergyFile, EnergySweep};
use super::fit::{self, EnergyLaw, Power};
use super::journal::{Journal, Outcome};
use super::points::{self, Work};
use super::report::{Report, Rows, mode_names};
use super::trial::Measured;
use super::trials::{self, Common, Key};
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane_io::table::Table;

/// A point: its parameters and how it ended.
pub type Row = (Key, Outcome<Measured>);

/// Errors of a mode at some N on some engine.
#[derive(Clone, Debug)]
pub struct ModeLaw {
    /// Number of particles.
    pub n: u32,
    /// Engine.
    pub engine: String,
    /// Precision mode.
    pub mode: Precision,
    /// (ν, root mean square of the energy error over the seeds).
    pub errors: Vec<(f64, f64)>,
    /// (ν, mean seconds for a time unit), where timed.
    pub seconds: Vec<(f64, f64)>,
    /// The law through the errors.
    pub error: Option<EnergyLaw>,
    /// The law through the seconds.
    pub cost: Option<Power>,
}

impl ModeLaw {
    /// The error at ν: what the law says, or what was measured on both sides of it, whichever is larger.
    #[must_use]
    pub fn error_at(&self, nu: f64) -> f64 {
        // A NaN, where nothing was measured, is not larger.
        self.error.as_ref().map_or(f64::NAN, |law| law.at(nu)).max(fit::between(&self.errors, nu))
    }

    /// The largest ν of a range whose error is at most `goal`, to a percent.
    fn nu_for(&self, goal: f64, (least, most): (f64, f64)) -> Option<f64> {
        let steps = ((most / least).ln() / 0.01).ceil().max(1.0) as u32;
        let nus = (0..=steps).map(|k| most * (least / most).powf(f64::from(k) / f64::from(steps)));
        nus.filter(|nu| self.error.is_some() && self.error_at(*nu) <= goal).max_by(f64::total_cmp)
    }
}

/// Does the study, with its points kept in `journal`.
///
/// # Errors
/// As the engines, and [`tisane::Error::Storage`].
pub fn study(file: &EnergyFile, journal: &mut Journal<Key, Measured>, work: &Work<'_>) -> Result<Report> {
    let it = &file.energy;
    let common = Common::new(&it.engines, it.device, &it.stretch, it.threads)?;
    let keys = keys(it, &common);
    let work = Work { at_once: it.at_once as usize, ..*work };
    let results = points::finish(journal, &keys, &work, trials::cost, trials::told, |key| common.measure(key))?;
    let rows: Vec<Row> = keys.into_iter().zip(results).collect();
    let laws = laws(&rows);
    let remarks = journal.stamp().remarks();
    let tables = vec![
        ("table", table(&rows, &remarks)),
        ("laws", laws_table(&laws, &remarks)),
        ("choice", choice(&laws, it, &remarks)),
    ];
    Ok(Report { figures: super::figures::energy(&laws, &remarks), tables, model: None })
}

fn keys(it: &EnergySweep, common: &Common) -> Vec<Key> {
    let mut keys = Vec::new();
    for (_, engine) in &common.engines {
        for &n in &it.n {
            for &mode in &it.modes {
                for nu in &it.nu {
                    for &seed in &it.seeds {
                        let repetition = (it.at_once == 1).then_some(0);
                        keys.push(common.key(engine, (n, seed), (mode, nu.get()), repetition));
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

/// The laws of every mode: what f64 shows of the truncation error holds for all modes of that N.
#[must_use]
pub fn laws(rows: &[Row]) -> Vec<ModeLaw> {
    let mut laws: Vec<ModeLaw> = Vec::new();
    for group in rows.chunk_by(|(a, _), (b, _)| (a.n, a.mode, &a.engine) == (b.n, b.mode, &b.engine)) {
        let (mut errors, mut seconds) = (Vec::new(), Vec::new());
        for same in group.chunk_by(|(a, _), (b, _)| a.nu == b.nu) {
            let done: Vec<(&Key, &Measured)> = same.iter().filter_map(|(key, it)| Some((key, it.done()?))).collect();
            if done.len() < same.len() {
                continue;
            }
            let nu = same[0].0.nu;
            errors.push((nu, rms(&done.iter().map(|(_, it)| it.energy_error).collect::<Vec<_>>())));
            if done.iter().all(|(key, _)| key.repetition.is_some()) {
                let sum: f64 = done.iter().map(|(_, it)| it.seconds / it.span).sum();
                seconds.push((nu, sum / done.len() as f64));
            }
        }
        let (key, cost) = (&group[0].0, fit::power(&seconds));
        let (n, mode, engine) = (key.n, key.mode, key.engine.clone());
        laws.push(ModeLaw { n, engine, mode, error: None, cost, errors, seconds });
    }
    let truncation: Vec<(u32, String, (f64, f64))> = laws
        .iter()
        .filter(|law| law.mode.in_f64())
        .filter_map(|law| {
            let fit = fit::energy(&law.errors, None)?;
            Some((law.n, law.engine.clone(), (fit.coefficient, fit.exponent)))
        })
        .collect();
    for law in &mut laws {
        let of_n = || truncation.iter().filter(|(n, ..)| *n == law.n);
        let known = of_n().find(|(_, engine, _)| *engine == law.engine).or_else(|| of_n().next());
        law.error = fit::energy(&law.errors, known.filter(|_| !law.mode.in_f64()).map(|(.., fit)| *fit));
    }
    laws
}

fn table(rows: &[Row], remarks: &[(String, String)]) -> Table {
    // The same sphere and ν in f64: what is left of its error there is truncation, and rounding of f64.
    let exact = |key: &Key| {
        let same = |of: &Key| (of.n, of.seed, of.nu) == (key.n, key.seed, key.nu) && of.mode == Precision::F64;
        let found = rows.iter().filter(|(of, _)| same(of));
        let best = found.max_by_key(|(of, _)| of.engine == key.engine)?;
        best.1.done().map(|it| it.energy_error)
    };
    let number = |of: fn(&Measured) -> f64| move |row: &Row| row.1.done().map_or(f64::NAN, of);
    let count = |of: fn(&Measured) -> u64| move |row: &Row| row.1.done().map_or(0, of);
    let it = Rows(rows);
    let columns = vec![
        it.counts("n", "1", "number of particles", |(key, _)| u64::from(key.n)),
        it.counts("seed", "1", "seed of the Plummer sphere", |(key, _)| key.seed),
        it.text("engine", "engine and what it computes on", |(key, _)| key.engine.clone()),
        it.text("mode", "precision mode", |(key, _)| key.mode.name().into()),
        it.numbers("nu", "1", "accuracy of the time step", |(key, _)| key.nu),
        it.numbers("energy_error", "1", "(E - E0) / |E0| over the stretch", number(|it| it.energy_error)),
        it.numbers("max_energy_error", "1", "largest at the multiples of dt_max", number(Measured::max_energy_error)),
        it.numbers("truncation", "1", "energy_error of the same sphere and nu in f64", |(key, _)| {
            exact(key).unwrap_or(f64::NAN)
        }),
        it.numbers("round_off", "1", "energy_error less that in f64", |(key, outcome)| {
            exact(key).and_then(|exact| Some(outcome.done()?.energy_error - exact)).unwrap_or(f64::NAN)
        }),
        it.counts("block_steps", "1", "block steps in the stretch", count(|it| it.block_steps)),
        it.counts("particle_steps", "1", "particle steps in the stretch", count(|it| it.particle_steps)),
        it.numbers("wall_seconds", "s", "wall time of the stretch; nan where points were measured at once", |row| {
            row.0.repetition.and_then(|_| Some(row.1.done()?.seconds)).unwrap_or(f64::NAN)
        }),
        it.counts("threads", "1", "threads of the point", |(key, _)| key.threads as u64),
        it.text("failure", "why there is no result", |(_, outcome)| match outcome {
            Outcome::Done(_) => String::new(),
            Outcome::Failed(why) => why.clone(),
        }),
    ];
    let modes = mode_names(rows.iter().map(|(key, _)| key.mode));
    Table { title: format!("Energy errors of Plummer spheres against nu: {modes}"), remarks: remarks.to_vec(), columns }
}

fn laws_table(laws: &[ModeLaw], remarks: &[(String, String)]) -> Table {
    let error = |of: fn(&EnergyLaw) -> f64| move |law: &ModeLaw| law.error.as_ref().map_or(f64::NAN, of);
    let cost = |of: fn(&Power) -> f64| move |law: &ModeLaw| law.cost.as_ref().map_or(f64::NAN, of);
    let it = Rows(laws);
    let columns = vec![
        it.counts("n", "1", "number of particles", |law| u64::from(law.n)),
        it.text("engine", "engine and what it computes on", |law| law.engine.clone()),
        it.text("mode", "precision mode", |law| law.mode.name().into()),
        it.numbers("truncation_at_1", "1", "A of |dE/E| = sqrt((A nu^p)^2 + R^2)", error(|law| law.coefficient)),
        it.numbers("truncation_power", "1", "p; from f64 where that was measured", error(|law| law.exponent)),
        it.numbers(
            "round_off",
            "1",
            "R, the error for nu -> 0; 0 where the points show none",
            error(|law| law.round_off),
        ),
        it.numbers("scatter", "1", "rms of ln(measured / law)", error(|law| law.scatter)),
        it.numbers("seconds_at_1", "s", "C of wall time for a time unit = C nu^-q", cost(|law| law.coefficient)),
        it.numbers("seconds_power", "1", "-q", cost(|law| law.exponent)),
        it.numbers("seconds_scatter", "1", "rms of ln(measured / law)", cost(|law| law.scatter)),
    ];
    let title = "Laws of energy error and wall time; errors are the root mean square over the seeds";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}

/// A line of the table that users read: for a goal, the cheapest mode that reaches it.
struct Choice {
    n: u32,
    engine: String,
    goal: f64,
    best: Option<(Precision, f64, f64, f64)>,
}

fn choice(laws: &[ModeLaw], it: &EnergySweep, remarks: &[(String, String)]) -> Table {
    let nus = it.nu.iter().map(|nu| nu.get());
    let range = (nus.clone().fold(f64::INFINITY, f64::min), nus.fold(0.0, f64::max));
    let mut places: Vec<(u32, &String)> = Vec::new();
    for law in laws {
        if !places.contains(&(law.n, &law.engine)) {
            places.push((law.n, &law.engine));
        }
    }
    let mut choices = Vec::new();
    for (n, engine) in places {
        for goal in it.goals.iter().map(|goal| goal.get()) {
            let of_place = laws.iter().filter(|law| law.n == n && law.engine == *engine);
            let reaching = of_place.filter_map(|law| {
                let nu = law.nu_for(goal, range)?;
                Some((law.mode, nu, law.error_at(nu), fit::between(&law.seconds, nu)))
            });
            // Without times the largest ν is the cheapest.
            let cost = |it: &(Precision, f64, f64, f64)| if it.3.is_nan() { 1.0 / it.1 } else { it.3 };
            let best = reaching.min_by(|a, b| cost(a).total_cmp(&cost(b)));
            choices.push(Choice { n, engine: engine.clone(), goal, best });
        }
    }
    let rows = Rows(&choices);
    let best = |of: fn(&(Precision, f64, f64, f64)) -> f64| move |it: &Choice| it.best.as_ref().map_or(f64::NAN, of);
    let columns = vec![
        rows.counts("n", "1", "number of particles", |it| u64::from(it.n)),
        rows.text("engine", "engine and what it computes on", |it| it.engine.clone()),
        rows.numbers("goal", "1", "energy error to be reached, |dE/E| over the stretch", |it| it.goal),
        rows.text("mode", "the cheapest mode that reaches it within the nu of the sweep", |it| {
            it.best.map_or("out of reach".into(), |(mode, ..)| mode.name().into())
        }),
        rows.numbers("nu", "1", "the largest nu that reaches it", best(|it| it.1)),
        rows.numbers(
            "energy_error",
            "1",
            "what the law says there, or what was measured on both sides of it if that is larger",
            best(|it| it.2),
        ),
        rows.numbers("seconds", "s", "wall time for a time unit there", best(|it| it.3)),
    ];
    let title = "For an energy error take this mode and this nu (from the laws; single spheres scatter about them)";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_io::table::Values;

    /// A mode with errors and times on power laws of ν.
    fn law(mode: Precision, round_off: f64, seconds: f64) -> ModeLaw {
        let error = EnergyLaw { coefficient: 1e-4, exponent: 2.0, round_off, scatter: 0.0 };
        let nus = (0..9).map(|k| 0.1 / f64::from(1 << k));
        ModeLaw {
            n: 64,
            engine: "cpu".into(),
            mode,
            errors: nus.clone().map(|nu| (nu, error.at(nu))).collect(),
            seconds: nus.map(|nu| (nu, seconds * nu.powf(-0.5))).collect(),
            error: Some(error),
            cost: None,
        }
    }

    #[test]
    fn the_choice_is_the_largest_nu_of_the_cheapest_mode() {
        let laws = [law(Precision::Mixed, 1e-10, 1.0), law(Precision::F64, 0.0, 3.0)];
        let goals = vec![tisane::real!(1e-8), tisane::real!(5e-11), tisane::real!(1e-12)];
        let table = choice(&laws, &EnergySweep { goals, ..EnergySweep::default() }, &[]);
        let values = |name: &str| &table.column(name).unwrap().values;
        assert_eq!(*values("mode"), Values::Text(["mixed", "f64", "out of reach"].map(str::to_owned).to_vec()));
        let Values::Floats(nu) = values("nu") else { panic!("numbers") };
        // 1e-4 ν² = 1e-8 and 5e-11, to the percent of the search and the straight lines between points.
        for (nu, expected) in nu.iter().zip([0.01, 5e-7f64.sqrt()]) {
            assert!((0.98..=1.0 + 1e-9).contains(&(nu / expected)), "{nu} and {expected}");
        }
    }
}
