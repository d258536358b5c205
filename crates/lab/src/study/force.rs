//! `tisane study force`: how far forces are from f64, over N, bag size and mode.

pub mod errors;

pub use errors::{Errors, Key};

use super::config::{ForceFile, ForceSweep};
use super::integrators::Integrator;
use super::journal::{Journal, Outcome};
use super::plummer::{self, Sphere};
use super::points::{self, Work};
use super::report::{LAW, Report, Rows, mode_names};
use super::{config::TimeSpan, laws};
use crate::literature::tables::HI_TABLE_2;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use tisane::diagnostics::conserved::relative;
use tisane::diagnostics::relative_error::{Spread, relative_errors};
use tisane::error::{Error, Result};
use tisane::force::Block;
use tisane::force::canonical::BAG;
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::law::Law;
use tisane::particles::Particles;
use tisane::spin_pool;
use tisane::time::{Clock, Time};
use tisane_io::table::Table;
use tisane_run::assemble::{self, OnGpu, Setup};
use tisane_run::config::{Engine, LawSection};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// A point with what measures it.
struct Point {
    key: Key,
    engine: Engine,
}

fn points_of(it: &ForceSweep) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    for &engine in &it.engines {
        let described = assemble::describe_engine(engine, it.device)?;
        for (&n, &seed) in it.n.iter().flat_map(|n| it.seeds.iter().map(move |seed| (n, seed))) {
            for (&mode, &bag) in it.modes.iter().flat_map(|mode| it.bags.iter().map(move |bag| (mode, bag))) {
                let canonical = bag as usize == BAG;
                // The running sum of f32-direct knows no bags.
                if !canonical && (!it.n_of_bags().contains(&n) || mode == Precision::F32Direct) {
                    continue;
                }
                let (engine, name) =
                    if canonical { (engine, described.clone()) } else { (Engine::Reference, "reference".into()) };
                let targets = if it.targets == 0 { n } else { n.min(it.targets) };
                let (epsilon, law) = (it.epsilon.get(), it.law.clone().filter(|law| !law.is_newton()));
                let key = Key { n, seed, epsilon, engine: name, mode, bag, targets, law };
                if !points.iter().any(|point: &Point| point.key == key) {
                    points.push(Point { key, engine });
                }
            }
        }
    }
    Ok(points)
}

/// Does the study, with its points kept in `journal`.
///
/// # Errors
/// As the engines, and [`Error::Storage`].
pub fn study(file: &ForceFile, journal: &mut Journal<Key, Errors>, work: &Work<'_>) -> Result<Report> {
    let it = &file.force;
    let points = points_of(it)?;
    let keys: Vec<Key> = points.iter().map(|point| point.key.clone()).collect();
    let exact = Exact::default();
    let gpu = OnGpu { device: it.device, ..OnGpu::default() };
    let measure = |key: &Key| {
        let engine = points.iter().find(|point| point.key == *key).map_or(Engine::Cpu, |point| point.engine);
        spin_pool::on_threads(it.threads as usize, || errors(key, engine, gpu, &exact))
    };
    let cost = |key: &Key| {
        let pair = if key.engine == "reference" { 30.0 } else { 1.0 };
        f64::from(key.n) * f64::from(key.targets) * pair
    };
    let results = points::finish(journal, &keys, work, cost, describe, measure)?;
    let rows: Vec<(Key, Errors)> =
        keys.into_iter().zip(results).filter_map(|(key, result)| Some((key, result.done()?.clone()))).collect();
    let mut remarks = journal.stamp().remarks();
    remarks.extend(rows.first().and_then(|(key, _)| key.law.as_ref()).map(|law| (LAW.to_owned(), law.describe())));
    let table = table(&rows, remarks);
    Ok(Report {
        figures: super::figures::force(&rows, &table.remarks),
        tables: vec![("table", table)],
        ..Report::default()
    })
}

/// Describes a point and its result in one line.
fn describe(key: &Key, outcome: &Outcome<Errors>) -> String {
    let Key { n, seed, mode, bag, engine, .. } = key;
    let what = outcome.done().map_or(String::new(), |errors| format!("acceleration {:.1e} at most", errors.acc[0]));
    format!("N = {n}, seed {seed}, {}, bags of {bag}, {engine}: {what}", mode.name())
}

/// Forces in f64 of the sphere that was asked for last: the modes of a sphere follow each other.
#[derive(Default)]
struct Exact(Mutex<Option<(Sphere, u32, Arc<Problem>)>>);

struct Problem {
    law: Option<Arc<Law>>,
    particles: Particles,
    targets: Block,
    forces: Forces,
}

impl Exact {
    /// Returns the sphere of a point with its forces in f64.
    fn problem(&self, key: &Key) -> Result<Arc<Problem>> {
        let sphere = Sphere { n: key.n, seed: key.seed, epsilon: key.epsilon };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last_sphere, targets, problem)) = &*last
            && (*last_sphere, *targets) == (sphere, key.targets)
        {
            return Ok(Arc::clone(problem));
        }
        let (scheme, how) = ((Integrator::default(), 0.01), (Engine::Cpu, Precision::F64));
        let Setup { particles, law, .. } =
            plummer::setup_by(key.law.as_ref(), sphere, &TimeSpan::default(), scheme, how)?;
        let targets = spread_over(&particles, key.targets as usize);
        let (on, gpu) = (Engine::Cpu, OnGpu::default());
        let mut engine = assemble::force_engine(law.as_ref(), on, Precision::F64, key.epsilon, CLOCK, gpu)?;
        let forces = evaluate(&mut *engine, &particles, targets.view())?;
        let problem = Arc::new(Problem { law, particles, targets, forces });
        *last = Some((sphere, key.targets, Arc::clone(&problem)));
        Ok(problem)
    }
}

/// Returns the indices of some particles, spread over the whole range.
fn spread_over(p: &Particles, size: usize) -> Block {
    Block::from_particles(p, (0..size).map(|k| (k * p.len() / size) as u32).collect())
}

fn evaluate(engine: &mut dyn ForceEngine, p: &Particles, targets: Targets<'_>) -> Result<Forces> {
    let mut forces = Forces::default();
    engine.load(p)?;
    engine.evaluate(Time::default(), targets, &mut forces)?;
    Ok(forces)
}

/// The forces of a point. The reference works on one thread: here each thread has one of its own.
fn found(key: &Key, engine: Engine, gpu: OnGpu, problem: &Problem) -> Result<Forces> {
    const TARGETS: usize = 64;
    let Problem { law, particles, targets, .. } = problem;
    let law = law.as_ref();
    if engine != Engine::Reference {
        let mut engine = assemble::force_engine(law, engine, key.mode, key.epsilon, CLOCK, gpu)?;
        return evaluate(&mut *engine, particles, targets.view());
    }
    let parts: Vec<Forces> = targets
        .index
        .par_chunks(TARGETS)
        .map(|index| {
            let mut engine = assemble::force_engine_with_bags(law, key.mode, key.epsilon, CLOCK, key.bag as usize);
            evaluate(&mut *engine, particles, Block::from_particles(particles, index.to_vec()).view())
        })
        .collect::<Result<_>>()?;
    let mut all = Forces::default();
    for part in parts {
        all.acc.extend(part.acc);
        all.jerk.extend(part.jerk);
        all.pot.extend(part.pot);
    }
    Ok(all)
}

fn errors(key: &Key, engine: Engine, gpu: OnGpu, exact: &Exact) -> Result<Errors> {
    let problem = exact.problem(key)?;
    let found = found(key, engine, gpu, &problem)?;
    let exact = &problem.forces;
    let potentials = found.pot.iter().zip(&exact.pot).map(|(x, x0)| relative(*x, *x0).abs()).collect();
    let errors = Errors {
        acc: Spread::from_errors(relative_errors(&found.acc, &exact.acc)).to_array(),
        jerk: Spread::from_errors(relative_errors(&found.jerk, &exact.jerk)).to_array(),
        pot: Spread::from_errors(potentials).to_array(),
    };
    if [errors.acc, errors.jerk, errors.pot].as_flattened().iter().any(|error| !error.is_finite()) {
        let problem = format!("N = {}, {}: a force is not a finite number", key.n, key.mode.name());
        return Err(Error::Integration { problem, help: None });
    }
    Ok(errors)
}

fn table(rows: &[(Key, Errors)], remarks: Vec<(String, String)>) -> Table {
    let rows = Rows(rows);
    let paper = |key: &Key| HI_TABLE_2.iter().find(|row| key.law.is_none() && row.n == key.n as usize);
    let mut columns = vec![
        rows.counts("n", "1", "number of particles", |(key, _)| u64::from(key.n)),
        rows.counts("seed", "1", "seed of the Plummer sphere", |(key, _)| key.seed),
        rows.numbers("epsilon", "length", "softening, N-body units", |(key, _)| key.epsilon),
        rows.text("engine", "engine and what it computes on", |(key, _)| key.engine.clone()),
        rows.text("mode", "precision mode", |(key, _)| key.mode.name().into()),
        rows.counts("bag", "1", "sources in a bag", |(key, _)| u64::from(key.bag)),
        rows.counts("targets", "1", "particles compared", |(key, _)| u64::from(key.targets)),
    ];
    type Of = fn(&Errors) -> [f64; 3];
    let quantities: [(&str, &str, Of); 3] =
        [("acc", "acceleration", |e| e.acc), ("jerk", "jerk", |e| e.jerk), ("pot", "potential", |e| e.pot)];
    for (name, what, of) in quantities {
        for (k, (suffix, measure)) in
            [("max", "largest"), ("rms", "root mean square"), ("p99", "99th percentile")].into_iter().enumerate()
        {
            let text = format!("relative error of the {what} against f64: {measure}");
            // Without a potential there are zeros on both sides.
            let is_there = |key: &Key| name != "pot" || key.law.as_ref().is_none_or(LawSection::has_potential);
            columns.push(rows.numbers(&format!("{name}_{suffix}"), "1", &text, |(key, errors)| {
                if is_there(key) { of(errors)[k] } else { f64::NAN }
            }));
        }
    }
    columns.push(rows.numbers(
        "pot_rms_law",
        "1",
        "growth law of the potential's rms error (docs: studies)",
        |(key, _)| {
            let by_newton = key.law.is_none().then(|| laws::potential(key.mode, f64::from(key.n), f64::from(key.bag)));
            by_newton.flatten().unwrap_or(f64::NAN)
        },
    ));
    let direct = "Hamada & Iitaka (2007), table 2, DIRECT: largest error of the acceleration";
    columns.push(rows.numbers("paper_direct", "1", direct, |(key, _)| paper(key).map_or(f64::NAN, |row| row.direct)));
    let chamomile = "the same, Chamomile";
    columns.push(
        rows.numbers("paper_chamomile", "1", chamomile, |(key, _)| paper(key).map_or(f64::NAN, |row| row.chamomile)),
    );
    let modes = mode_names(rows.0.iter().map(|(key, _)| key.mode));
    Table { title: format!("Errors of forces against f64, Plummer spheres: {modes}"), remarks, columns }
}
