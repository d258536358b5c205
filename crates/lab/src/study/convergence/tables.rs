//! The tables of the study.

use super::divergence::{Divergence, Rate};
use super::ensemble::{Bias, Mean};
use super::run::Run;
use super::solutions::{Converged, Pair};
use super::system::{Scheme, System};
use super::triples::{Exponent, Reversibility, Share};
use crate::study::report::Rows;
use tisane_io::table::{Column, Table};

type Remarks = [(String, String)];

fn table(title: &str, remarks: &Remarks, columns: Vec<Column>) -> Table {
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}

/// Columns of the system.
fn of_system<T>(it: &Rows<'_, T>, system: impl Fn(&T) -> System) -> [Column; 2] {
    [
        it.counts("n", "1", "number of particles", |row| u64::from(system(row).n)),
        it.counts("seed", "1", "seed of the Plummer sphere", |row| system(row).seed),
    ]
}

/// Columns of the scheme.
fn of_scheme<T>(it: &Rows<'_, T>, scheme: impl Fn(&T) -> Option<Scheme>) -> [Column; 4] {
    let [nu, eta] =
        it.accuracies("accuracy of the time step", |row| scheme(row).map(|it| (it.integrator, it.accuracy)));
    [
        it.text("integrator", "scheme with its order", |row| {
            scheme(row).map_or_else(|| "extrapolated".into(), |it| it.integrator.name().into())
        }),
        it.text("mode", "precision mode", |row| scheme(row).map_or_else(String::new, |it| it.mode.name().into())),
        nu,
        eta,
    ]
}

/// Columns of the growth of a distance.
fn of_growth<T>(it: &Rows<'_, T>, divergence: impl Fn(&T) -> Divergence) -> [Column; 4] {
    let rate = |row: &T| divergence(row).rate.unwrap_or(Rate { value: f64::NAN, error: f64::NAN });
    [
        it.numbers("diverged", "1", "time at which the distance reaches the threshold; nan if it does not", |row| {
            divergence(row).reached.unwrap_or(f64::NAN)
        }),
        it.numbers("growth_rate", "1", "d ln(distance)/dt up to then, without the first quarter", |row| {
            rate(row).value
        }),
        it.numbers(
            "growth_rate_error",
            "1",
            "error of the fitted line, residuals taken as independent: too small, as they are correlated",
            |row| rate(row).error,
        ),
        it.numbers("e_folding_time", "1", "its inverse", |row| 1.0 / rate(row).value),
    ]
}

/// A row for each run.
pub fn runs(runs: &[Run], remarks: &Remarks) -> Table {
    let it = Rows(runs);
    let mut columns = Vec::from(of_system(&it, |run| run.system));
    columns.extend(of_scheme(&it, |run| Some(run.scheme)));
    columns.extend([
        it.numbers("energy_error", "1", "largest |E - E0| / |E0| at the moments", |run| run.energy_error),
        it.counts("pairs", "1", "pairs evaluated", |run| run.pairs),
        it.numbers("compared_to", "1", "time to which the solution is converged", |run| {
            run.system.interval * run.system.moments as f64
        }),
        it.numbers("distance", "1", "rms distance from the solution then, in half-mass radii", |run| {
            run.distances.last().copied().unwrap_or(f64::NAN)
        }),
    ]);
    columns.extend(of_growth(&it, |run| run.divergence));
    columns.push(it.text("failure", "why there is no result", |run| run.failure.clone().unwrap_or_default()));
    table("Divergence of runs from converged solutions of Plummer spheres, in N-body units", remarks, columns)
}

/// A row for the last two solutions of each system.
pub fn solutions(solutions: &[Converged], threshold: f64, remarks: &Remarks) -> Table {
    let it = Rows(solutions);
    let number = |of: fn(&Pair) -> f64| move |row: &Converged| row.pair.as_ref().map_or(f64::NAN, of);
    let count = |of: fn(&Pair) -> u64| move |row: &Converged| row.pair.as_ref().map_or(0, of);
    let mut columns = Vec::from(of_system(&it, |row| row.system));
    columns.extend([
        it.numbers(
            "tolerance",
            "1",
            "of the coarser solution, which the runs are compared with; nan if there are not two",
            number(|pair| 10f64.powi(-(pair.digits[0] as i32))),
        ),
        it.counts("bits", "1", "of the coarser solution", count(|pair| u64::from(pair.bits[0]))),
        it.numbers(
            "finer_tolerance",
            "1",
            "of the solution that confirms it",
            number(|pair| 10f64.powi(-(pair.digits[1] as i32))),
        ),
        it.counts("finer_bits", "1", "of the solution that confirms it", count(|pair| u64::from(pair.bits[1]))),
        it.counts("pairs", "1", "pairs evaluated by the coarser solution", count(|pair| pair.pairs[0])),
        it.numbers("converged_to", "1", "time to which both agree to the digits wanted", |row| {
            row.pair.as_ref().map_or(0.0, Pair::converged_to)
        }),
        it.numbers(
            "agreement",
            "1",
            "largest difference up to then, in half-mass radii or rms speeds; nan if they agree at no moment",
            number(Pair::agreement),
        ),
    ]);
    let none = Divergence { reached: None, rate: None };
    columns.extend(of_growth(&it, |row| row.pair.as_ref().map_or(none, |pair| pair.divergence(threshold))));
    columns.push(
        it.text("failure", "why there is no solution of more digits", |row| row.failure.clone().unwrap_or_default()),
    );
    table("Converged solutions of Plummer spheres, in N-body units", remarks, columns)
}

/// Distance at one moment.
struct Moment<'a> {
    system: System,
    scheme: Option<&'a Scheme>,
    time: f64,
    distance: f64,
}

/// A row for each solution or run and each moment.
pub fn divergence(pairs: &[Pair], runs: &[Run], remarks: &Remarks) -> Table {
    let of_pairs =
        pairs.iter().map(|pair| (pair.system, None, pair.differences.iter().map(|it| it.distance).collect()));
    let of_runs = runs.iter().map(|run| (run.system, Some(&run.scheme), run.distances.clone()));
    let moments: Vec<Moment<'_>> = of_pairs
        .chain(of_runs)
        .flat_map(|(system, scheme, distances): (System, Option<&Scheme>, Vec<f64>)| {
            let times = (1..).map(move |k| system.interval * f64::from(k));
            distances.into_iter().zip(times).map(move |(distance, time)| Moment { system, scheme, time, distance })
        })
        .collect();
    let it = Rows(&moments);
    let mut columns = Vec::from(of_system(&it, |row| row.system));
    columns.extend(of_scheme(&it, |row| row.scheme.copied()));
    columns.extend([
        it.numbers("time", "1", "time", |row| row.time),
        it.numbers(
            "distance",
            "1",
            "rms distance from the solution, of the solution from the one that confirms it, in half-mass radii",
            |row| row.distance,
        ),
    ]);
    table("Distances from converged solutions of Plummer spheres, in N-body units", remarks, columns)
}

/// A row for each ensemble.
pub fn bias(biases: &[Bias], remarks: &Remarks) -> Table {
    let it = Rows(biases);
    let mut columns = vec![it.counts("n", "1", "number of particles", |row| u64::from(row.n))];
    columns.extend(of_scheme(&it, |row| Some(row.scheme)));
    columns.extend([
        it.text("role", "reference: the most accurate ensemble", |row| {
            if row.is_reference { "reference".into() } else { String::new() }
        }),
        it.counts("members", "1", "members that both have", |row| row.members as u64),
        it.numbers(
            "median_energy_error",
            "1",
            "median of the members' largest |E - E0| / |E0|; nan without a result",
            |row| row.median_error,
        ),
        it.numbers("max_energy_error", "1", "largest of them", |row| row.max_error),
        it.numbers("pairs", "1", "pairs evaluated, mean of the members", |row| row.pairs),
    ]);
    let quantities = [
        ("ln_half", "ln of the radius of half the stars"),
        ("ln_quarter", "ln of the radius of the innermost quarter"),
        ("hardest_pair", "binding energy of the hardest pair"),
    ];
    for (k, (name, what)) in quantities.into_iter().enumerate() {
        let of = |part: fn(&Mean) -> f64| move |row: &Bias| part(&row.differences[k]);
        columns.extend([
            it.numbers(name, "1", &format!("{what} less that of the reference, mean over seeds"), of(|it| it.value)),
            it.numbers(&format!("{name}_error"), "1", "its standard error", of(|it| it.error)),
        ]);
    }
    table("Averages at the end beside those of the most accurate ensemble, in N-body units", remarks, columns)
}

/// A row for each tolerance of the triples.
pub fn reversible(found: &Reversibility, remarks: &Remarks) -> Table {
    let it = Rows(&found.shares);
    let columns = vec![
        it.numbers("tolerance", "1", "tolerance of the solutions", |row| row.tolerance),
        it.counts("triples", "1", "free-fall triples", |row| row.count as u64),
        it.counts("dissolved", "1", "those of which one body had escaped when they were turned back", |row| {
            row.dissolved as u64
        }),
        it.counts("failed", "1", "those whose steps did not converge on the way there or back", |row| {
            row.failed as u64
        }),
        it.counts("returned", "1", "those that come back to 0.01 of the longest side", |row| row.returned as u64),
        it.numbers("irreversible", "1", "share of the others, with those that failed", Share::irreversible),
        it.numbers("irreversible_error", "1", "its standard error, by Wilson's interval", Share::error),
    ];
    let mut remarks = remarks.to_vec();
    remarks.extend(
        found.exponent.map(|Exponent { value, error }| (EXPONENT.to_owned(), format!("{value:.3} ± {error:.3}"))),
    );
    table("Free-fall triples that are integrated until one body escapes, and back", &remarks, columns)
}

/// Name of the remark on the power law of the triples.
const EXPONENT: &str = "exponent of the tolerance in irreversible";
