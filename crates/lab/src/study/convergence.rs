//! `tisane study convergence`: converged solutions of Plummer spheres, how runs of every scheme, mode and accuracy diverge
//! from them, and what that does to averages over ensembles.

pub mod divergence;
pub mod ensemble;
pub mod figures;
pub mod points;
pub mod run;
pub mod solutions;
pub mod system;
mod tables;
pub mod triples;

use super::config::{self, ConvergenceFile, ConvergenceSweep};
use super::integrators::accuracies;
use super::journal::{Journal, Outcome};
use super::points::{Work, finish};
use super::report::Report;
use divergence::Divergence;
use ensemble::Bias;
use points::{Key, Measured};
use run::Run;
use solutions::{Converged, Pair};
use system::{Scheme, System};
use tisane::error::Result;
use triples::{Reversibility, Triple};

/// Tables and figures that some sweeps have.
const OPTIONAL: [&[&str]; 2] = [&["bias", "reversible"], &["divergence", "threshold", "reversible"]];

/// Does the study, with its points kept in `journal`.
///
/// # Errors
/// As the engines, and [`tisane::Error::Storage`].
pub fn study(file: &ConvergenceFile, journal: &mut Journal<Key, Measured>, work: &Work<'_>) -> Result<Report> {
    let it = &file.convergence;
    let work = Work { at_once: it.at_once as usize, on_host: true, ..*work };
    let moments = it.moments();
    let system = |n: u32, seed: u64| System {
        n,
        seed,
        epsilon: it.epsilon.get(),
        interval: moments.interval,
        moments: moments.count,
    };
    let systems: Vec<System> = it.n.iter().flat_map(|&n| it.seeds.iter().map(move |&seed| system(n, seed))).collect();
    let solutions = solutions::solve(it, &systems, journal, &work)?;
    let runs = runs(it, &solutions, journal, &work)?;
    let members: Vec<u64> = (1..=u64::from(it.ensemble)).collect();
    let ensembles = |n: u32| members.iter().map(|&seed| system(n, seed)).collect::<Vec<_>>();
    let biases = biases(it, &ensembles, journal, &work)?;
    let reversibility = reversibility(it, journal, &work)?;
    let pairs: Vec<Pair> = solutions.iter().filter_map(|solution| solution.pair.clone()).collect();
    let mut remarks = journal.stamp().remarks();
    remarks.extend(config::left_out(&it.integrators, &it.modes).map(|what| (config::LEFT_OUT.to_owned(), what)));
    let mut tables = vec![
        ("table", tables::runs(&runs, &remarks)),
        ("solutions", tables::solutions(&solutions, it.threshold.get(), &remarks)),
        ("divergence", tables::divergence(&pairs, &runs, &remarks)),
    ];
    if !biases.is_empty() {
        tables.push(("bias", tables::bias(&biases, &remarks)));
    }
    let mut figures = figures::figures(it, &pairs, &runs, &remarks);
    if let Some(found) = reversibility {
        tables.push(("reversible", tables::reversible(&found, &remarks)));
        figures.push(("reversible", figures::reversible(&found, &remarks)));
    }
    Ok(Report { figures, tables, optional: OPTIONAL, ..Report::default() })
}

/// Triples of all tolerances, integrated and turned back.
fn reversibility(
    it: &ConvergenceSweep,
    journal: &mut Journal<Key, Measured>,
    work: &Work<'_>,
) -> Result<Option<Reversibility>> {
    let tolerances: Vec<f64> = it.tolerances.iter().map(|tolerance| tolerance.get()).collect();
    let of_one = |&tolerance: &f64| (0..it.triples).map(move |number| Key::Triple(Triple { number, tolerance }));
    let keys: Vec<Key> = tolerances.iter().flat_map(of_one).collect();
    let measure = |key: &Key| key.measure(it.moments(), &[]);
    let results = finish(journal, &keys, work, Key::cost, points::describe, measure)?;
    let returns: Vec<Vec<Option<triples::Return>>> =
        results.chunks((it.triples as usize).max(1)).map(|all| all.iter().map(returned).collect()).collect();
    Ok((it.triples > 0).then(|| triples::reversibility(&tolerances, &returns)))
}

fn returned(result: &Outcome<Measured>) -> Option<triples::Return> {
    match result.done() {
        Some(Measured::Triple(it)) => Some(*it),
        _ => None,
    }
}

/// Returns the schemes of a sweep.
fn schemes(it: &ConvergenceSweep) -> Vec<Scheme> {
    let mut found = Vec::new();
    for &integrator in &it.integrators {
        for &mode in it.modes.iter().filter(|mode| integrator.works_in(**mode)) {
            let of = accuracies(integrator, &it.nu, &it.eta).iter();
            found.extend(of.map(|accuracy| Scheme { integrator, mode, accuracy: accuracy.get() }));
        }
    }
    found
}

/// Runs of all schemes, each to the time to which the solution of its system is converged.
fn runs(
    it: &ConvergenceSweep,
    solutions: &[Converged],
    journal: &mut Journal<Key, Measured>,
    work: &Work<'_>,
) -> Result<Vec<Run>> {
    let schemes = schemes(it);
    let mut keys = Vec::new();
    for pair in solutions.iter().filter_map(|solution| solution.pair.as_ref()).filter(|pair| pair.converged > 0) {
        let system = System { moments: pair.converged, ..pair.system };
        let solution = pair.digits[0];
        keys.extend(schemes.iter().map(|&scheme| Key::Run { system, scheme, solution }));
    }
    let of = |key: &Key| {
        let Key::Run { system, .. } = key else { return None };
        solutions.iter().find(|it| (it.system.n, it.system.seed) == (system.n, system.seed))
    };
    let measure = |key: &Key| key.measure(it.moments(), of(key).map_or(&[], |solution| &solution.states[..]));
    let results = finish(journal, &keys, work, Key::cost, points::describe, measure)?;
    let mut found = Vec::new();
    for (key, result) in keys.iter().zip(results) {
        let Key::Run { system, scheme, .. } = *key else { continue };
        let pair = of(key).and_then(|solution| solution.pair.as_ref());
        let radius = pair.map_or(f64::NAN, |pair| pair.size.radius);
        let (distances, energy_error, pairs) = match result.done() {
            Some(Measured::Run { distances, energy_error, pairs }) => {
                (distances.iter().map(|distance| distance / radius).collect(), *energy_error, *pairs)
            }
            _ => (Vec::new(), f64::NAN, 0),
        };
        let divergence = Divergence::of(&distances, system.interval, it.threshold.get());
        let failure = result.failure().map(str::to_owned);
        found.push(Run { system, scheme, energy_error, pairs, distances, divergence, failure });
    }
    Ok(found)
}

/// Ensembles of all schemes.
fn biases(
    it: &ConvergenceSweep,
    members: &dyn Fn(u32) -> Vec<System>,
    journal: &mut Journal<Key, Measured>,
    work: &Work<'_>,
) -> Result<Vec<Bias>> {
    let (schemes, moments) = (schemes(it), it.moments());
    let mut keys = Vec::new();
    for &n in it.n.iter().filter(|_| it.ensemble > 0) {
        let members = members(n);
        keys.extend(
            schemes.iter().flat_map(|&scheme| members.iter().map(move |&system| Key::Member { system, scheme })),
        );
    }
    let measure = |key: &Key| key.measure(moments, &[]);
    let results = finish(journal, &keys, work, Key::cost, points::describe, measure)?;
    let ends = results.iter().map(|result| match result.done() {
        Some(Measured::Member(end)) => Some(end.clone()),
        _ => None,
    });
    let ends: Vec<Option<ensemble::EndState>> = ends.collect();
    let mut of_schemes = ends.chunks((it.ensemble as usize).max(1));
    let mut found = Vec::new();
    for &n in it.n.iter().filter(|_| it.ensemble > 0) {
        let each = of_schemes.by_ref().take(schemes.len()).map(<[_]>::to_vec);
        let ensembles: Vec<ensemble::Members> = schemes.iter().copied().zip(each).collect();
        found.extend(ensemble::biases(n, &ensembles));
    }
    Ok(found)
}
