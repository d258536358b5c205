//! What came of the trials of an advice, for the screen: a table, and why some have no result.

use super::promises::two_digits_down;
use super::trial::Trial;
use super::tried::{Cause, Failed, Trials, candidate_of};
use crate::study::report::Rows;
use crate::study::wall_time::describe_seconds;
use tisane::error::Error;
use tisane::integrator::{BlockSteps, IntegratorSettings};
use tisane::time::Level;
use tisane_io::table::Table;
use tisane_run::help;

impl Trials {
    /// Describes the trials without a result: for each cause, how many there are with the error of one of them, and
    /// advice.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, String)> {
        let failed: Vec<&Failed> = self.tried.iter().filter_map(|it| it.as_ref().err()).collect();
        let mut described = describe_failed(&failed, self.tried.len(), &self.configured);
        let slow = failed.iter().filter(|it| matches!(it.cause, Cause::TooSlow)).count();
        if slow > 0 {
            let (all, each) = (self.tried.len(), describe_seconds(self.each.as_secs_f64()));
            let scheme = self.configured.info();
            let problem = format!("{slow} of {all} trials did not get through one dt_max in {each}");
            let longest = format!("{}.{}", scheme.section, scheme.dt_max_key);
            described.push((problem, format!("give the trials more time with --budget, or take a shorter {longest}")));
        }
        described
    }

    /// Returns the trials as a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows = Rows(&self.tried);
        let candidate = candidate_of;
        let number = |of: fn(&Trial) -> f64| move |it: &Result<Trial, Failed>| it.as_ref().map_or(f64::NAN, of);
        let range = |of: fn(&Trial) -> f64| {
            move |it: &Result<Trial, Failed>| {
                it.as_ref().map_or(f64::NAN, |it| if it.part < 1.0 { of(it) } else { f64::NAN })
            }
        };
        let accuracy = |it: &Result<Trial, Failed>| Some((candidate(it).integrator, candidate(it).accuracy));
        let [nu, eta] = rows.accuracies("accuracy of the time step", accuracy);
        let columns = vec![
            rows.text("engine", "engine", |it| candidate(it).engine.name().into()),
            rows.text("mode", "precision mode", |it| candidate(it).mode.name().into()),
            rows.text("integrator", "scheme with its order", |it| candidate(it).integrator.name().into()),
            nu,
            eta,
            rows.numbers("part", "1", "part of the run that was tried", number(|it| it.part)),
            rows.numbers("seconds", "s", "wall time of the whole run", number(|it| it.seconds)),
            rows.numbers(
                "error",
                "1",
                "energy error at its end: measured where part is 1, else expected",
                number(|it| it.error[0]),
            ),
            rows.numbers("least", "1", "where it is expected: it may be as small as this", range(|it| it.error[1])),
            rows.numbers("most", "1", "where it is expected: it may be as large as this", range(|it| it.error[2])),
            rows.text("result", "measured, scaled to the whole run, or why there is none", |it| {
                match it {
                    Ok(it) if !it.has_energy_error() => "no energy error",
                    Ok(it) if it.part < 1.0 => "scaled",
                    Ok(_) => "measured",
                    Err(it) => it.cause.name(),
                }
                .into()
            }),
        ];
        Table { title: "Trials: what they say of the whole run".into(), remarks: Vec::new(), columns }
    }
}

/// Describes the trials that errors ended, with the number that were `tried` and the `configured` integrator: for each cause, how
/// many there are with the error of one of them, and advice.
pub(super) fn describe_failed(
    failed: &[&Failed],
    tried: usize,
    configured: &IntegratorSettings,
) -> Vec<(String, String)> {
    let count = |cause: &str| {
        let number = failed.iter().filter(|it| it.cause.name() == cause).count();
        format!("{number} of {tried} trials")
    };
    let mut described = Vec::new();
    let needed =
        |error: &Error| if let Error::StepBelowFloor(it) = error { it.wanted_by_user() } else { f64::INFINITY };
    let below = failed.iter().filter_map(|it| match &it.cause {
        Cause::BelowDtMin(error) => Some((it.candidate, error, needed(error))),
        Cause::TooSlow | Cause::Other(_) => None,
    });
    // The trial that needs the shortest step tells what would let all of them go on.
    if let Some((candidate, error, wanted)) = below.min_by(|a, b| a.2.total_cmp(&b.2)) {
        let (n, with) = (count("dt_min"), candidate.describe());
        let problem = format!("{n} were ended by dt_min; {with}: {error}");
        let advice = help::advice(error).unwrap_or_default();
        described.push((problem, format!("{advice}{}", dt_min_for(wanted, configured))));
    }
    let other = failed.iter().find_map(|it| match &it.cause {
        Cause::Other(error) => Some((it.candidate, error)),
        Cause::TooSlow | Cause::BelowDtMin(_) => None,
    });
    if let Some((candidate, error)) = other {
        let problem = format!("{} were ended by an error; {}: {error}", count("error"), candidate.describe());
        described.push((problem, help::advice(error).unwrap_or_default()));
    }
    described
}

/// Says which `dt_min` allows a step, in the user's unit of time.
fn dt_min_for(wanted: f64, configured: &IntegratorSettings) -> String {
    let Some(BlockSteps { range: [_, dt_max], .. }) = configured.scheme().block_steps() else {
        return String::new();
    };
    let section = configured.info().section;
    match Level::not_longer_than(wanted / dt_max) {
        Some(level) => {
            let max = two_digits_down(level.step(dt_max));
            format!(
                "\nthis step needs {section}.dt_min = {max:e} or less, a closer pericentre one that is shorter still"
            )
        }
        None => format!(
            "\nno {section}.dt_min allows this step with dt_max = {dt_max}, which is divided by at most 2^{}",
            Level::DEEPEST.0
        ),
    }
}
