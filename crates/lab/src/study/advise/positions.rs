//! Advice for positions: how fast neighbouring solutions of a system part, up to when a run in f64 can follow the true one at all, and
//! how short its steps have to be.
//!
//! The energy says nothing of this. Two runs from places that differ in the 34th bit show by how much an error has grown at each
//! moment; beyond what they saw it goes on as in their second half. Runs with shorter and shorter steps over the beginning are
//! compared with the finest one: what they are wrong by there grows likewise.

use super::report::describe_failed;
use super::trial::Candidate;
use super::tried::{Budget, Cause, Failed};
use crate::study::integrators::Integrator;
use crate::study::points::Progress;
use crate::study::report::Rows;
use crate::study::trial::follow;
use crate::study::wall_time::describe_seconds;
use std::time::{Duration, Instant};
use tisane::diagnostics::structure::median_radius;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::particles::{Particles, Vec3};
use tisane::spin_pool;
use tisane_io::table::Table;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::Config;

/// Error of positions, root mean square over the particles and relative to their median distance from the centre of mass, up to
/// which they count as right.
pub const RIGHT: f64 = 0.01;
/// Relative displacement of the neighbouring solution.
const DISPLACEMENT: f64 = 1.0 / (1_u64 << 34) as f64;
/// Relative error at the start that does what the rounding of all steps does: as spheres of 16 and 64 stars show beside converged
/// solutions.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Accuracies that are compared.
const ETAS: [f64; 5] = [0.2, 0.1, 0.05, 0.025, 0.0125];
/// Accuracy with which neighbouring solutions are followed.
const FOR_PARTING: f64 = 0.1;
/// Steps of dt_max over which accuracies are compared, at most.
const MAX_COMPARED: u64 = 16;
/// The time that is left is this multiple of that of the finest run: the others together take about twice as long.
const PART_OF_REFERENCE: u32 = 5;

/// Growth of an error with time.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// Natural logarithm of the largest growth up to each dt_max, from the start on.
    logarithms: Vec<f64>,
}

impl Growth {
    /// Returns the number of dt_max over which it was measured.
    fn measured(&self) -> usize {
        self.logarithms.len() - 1
    }

    /// Returns the growth of the logarithm in a dt_max, over the second half of what was measured.
    fn rate(&self) -> f64 {
        let (last, half) = (self.measured(), self.measured() / 2);
        (self.logarithms[last] - self.logarithms[half]) / (last - half) as f64
    }

    /// Returns the logarithm of the growth in this number of dt_max from the start.
    fn after(&self, steps: f64) -> f64 {
        let last = self.measured();
        if steps >= last as f64 {
            return self.logarithms[last] + self.rate() * (steps - last as f64);
        }
        let k = steps.floor() as usize;
        self.logarithms[k] + (self.logarithms[k + 1] - self.logarithms[k]) * (steps - k as f64)
    }

    /// Returns the number of dt_max from the start in which the logarithm grows to `wanted`; infinite if it never does.
    fn steps_to(&self, wanted: f64) -> f64 {
        match self.logarithms.windows(2).position(|two| two[1] >= wanted) {
            Some(k) if self.logarithms[k] >= wanted => k as f64,
            Some(k) => k as f64 + (wanted - self.logarithms[k]) / (self.logarithms[k + 1] - self.logarithms[k]),
            None => self.measured() as f64 + (wanted - self.logarithms[self.measured()]) / self.rate(),
        }
    }
}

/// Run in f64 that was compared with a finer one.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Scheme.
    pub integrator: Integrator,
    /// Its accuracy.
    pub accuracy: f64,
    /// Error of positions where it was compared, relative to the median distance.
    pub error: f64,
    /// Time from the start up to which positions are right to [`RIGHT`]; unit: time of the configuration.
    pub right_to: f64,
    /// Wall time of the whole run, in s.
    pub seconds: f64,
}

/// What is known of the positions of a run.
#[derive(Debug)]
pub struct Positions {
    /// Time in which an error grows by a factor of e, at the end of what was followed; unit: time.
    pub folding_time: f64,
    /// Time from the start over which neighbouring solutions were followed.
    pub followed: f64,
    /// Time from the start up to which rounding alone leaves positions right, as far as this growth tells.
    pub limit: f64,
    /// Length of the run.
    pub span: f64,
    /// Time from the start at which the runs were compared.
    pub compared_at: f64,
    /// The finest run, with which the others were compared, and its accuracy: what it is wrong by is not measured.
    pub finest: (Integrator, f64),
    /// Wall time of the whole of it, in s.
    pub finest_seconds: f64,
    /// The runs, by scheme and falling accuracy parameter.
    pub compared: Vec<Compared>,
    /// What was left out, with advice.
    pub left_out: Vec<(String, String)>,
}

impl Positions {
    /// Returns the fastest run whose positions are right to the end; [`None`] if there is none.
    #[must_use]
    pub fn advice(&self) -> Option<&Compared> {
        let right = self.compared.iter().filter(|it| it.right_to >= self.span);
        right.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// Returns the run whose positions are right for longest.
    #[must_use]
    pub fn longest(&self) -> Option<&Compared> {
        self.compared.iter().max_by(|a, b| a.right_to.total_cmp(&b.right_to))
    }

    /// Returns the runs as a table, with times in `unit`.
    #[must_use]
    pub fn table(&self, unit: &str) -> Table {
        let rows = Rows(&self.compared);
        let columns = vec![
            rows.text("integrator", "scheme with its order", |it| it.integrator.name().into()),
            rows.numbers("eta", "1", "accuracy of the time step", |it| it.accuracy),
            rows.numbers("error", "1", "error of positions where runs were compared", |it| it.error),
            rows.numbers("right_to", unit, "time from the start up to which they are right to 1 %", |it| it.right_to),
            rows.numbers("seconds", "s", "wall time of the whole run", |it| it.seconds),
        ];
        Table { title: "Positions of runs in f64".into(), remarks: Vec::new(), columns }
    }
}

/// Measures how long positions can be right, in a budget altogether: half of it for neighbouring solutions, the rest for the
/// comparison of accuracies. Runs that an error ends, or that come too late, are left out.
///
/// # Errors
/// As the configuration, and [`Error::Input`] if the particles have no distances from their centre of mass, or if too few runs have
/// a result.
pub fn positions(budget: Budget<'_>, progress: &dyn Progress) -> Result<Positions> {
    let threads = Config::from_file(budget.file, budget.sets)?.config.force.threads as usize;
    spin_pool::on_threads(threads, || measure(budget, progress))
}

fn measure(budget: Budget<'_>, progress: &dyn Progress) -> Result<Positions> {
    let by_name = |name: &str| {
        Integrator::named(name).ok_or_else(|| Error::input(budget.file, format!("there is no integrator {name}")))
    };
    let (sixth, eighth) = (by_name("multipoint6")?, by_name("multipoint8")?);
    // From the cheapest to the finest.
    let mut runs: Vec<(Integrator, f64)> = ETAS.iter().flat_map(|eta| [(sixth, *eta), (eighth, *eta)]).collect();
    let set = setup(budget, sixth, FOR_PARTING)?;
    let radius = median_distance(&set.particles);
    if radius.is_nan() || radius <= 0.0 {
        let problem = "errors of positions are relative to the median distance from the centre of mass, and that is 0";
        return Err(Error::input(budget.file, problem).with_help("give the --energy-error that you need"));
    }
    progress.begin(runs.len() + 1, 0, runs.len() as f64 + 1.0);
    let mut left_out = LeftOut { tried: runs.len() + 1, failed: Vec::new(), late: Vec::new() };
    let deadline = Instant::now() + budget.time;
    let (growth, ended) = parting(&set, budget.time / 2)?;
    progress.point(&format!("neighbouring solutions: followed over {} dt_max", growth.measured()), 1.0);
    if growth.measured() == 0 || ended.is_some() {
        left_out.add(candidate(&set, sixth, FOR_PARTING), ended);
    }
    if growth.measured() == 0 {
        return Err(left_out.none(budget));
    }
    // The finest one that there is says over how many steps.
    let Some((reference, finest)) = reference(budget, &mut runs, deadline, &mut left_out, progress)? else {
        return Err(left_out.none(budget));
    };
    let (steps, whole) = (reference.steps, set.steps_to_end as f64 / reference.steps as f64);
    let to_time = set.clock.dt_max * set.scale.time;
    let limit = growth.steps_to((RIGHT / ROUNDING).ln()) * to_time;
    let mut compared = Vec::new();
    for (integrator, accuracy) in runs {
        let set = setup(budget, integrator, accuracy)?;
        let found = places(&set, steps, left_until(deadline))?;
        let line = format!("{}, eta = {accuracy}", integrator.name());
        if found.steps < steps || found.ended.is_some() {
            progress.point(&format!("{line}: no result"), 1.0);
            left_out.add(candidate(&set, integrator, accuracy), found.ended);
            continue;
        }
        let error = distance(&found.places, &reference.places) / radius;
        let right_to = growth.steps_to((RIGHT / error).ln() + growth.after(steps as f64)) * to_time;
        let right_to = right_to.min(limit);
        let seconds = found.seconds * whole;
        let right = format!("{line}: right to 1 % for {right_to:.3}");
        progress.point(&format!("{right}, whole run {}", describe_seconds(seconds)), 1.0);
        compared.push(Compared { integrator, accuracy, error, right_to, seconds });
    }
    progress.end();
    if compared.is_empty() {
        return Err(left_out.none(budget));
    }
    compared.sort_by_key(|it| it.integrator.order());
    Ok(Positions {
        folding_time: to_time / growth.rate(),
        followed: growth.measured() as f64 * to_time,
        limit,
        span: set.steps_to_end as f64 * to_time,
        compared_at: steps as f64 * to_time,
        finest,
        finest_seconds: reference.seconds * whole,
        compared,
        left_out: left_out.described(budget),
    })
}

/// Takes the finest of the runs that has a result. Returns it, with its scheme and accuracy; [`None`] if there is none.
fn reference(
    budget: Budget<'_>,
    runs: &mut Vec<(Integrator, f64)>,
    deadline: Instant,
    left_out: &mut LeftOut,
    progress: &dyn Progress,
) -> Result<Option<(Course, (Integrator, f64))>> {
    while let Some((integrator, accuracy)) = runs.pop() {
        let set = setup(budget, integrator, accuracy)?;
        let found = places(&set, MAX_COMPARED, left_until(deadline) / PART_OF_REFERENCE)?;
        let line = format!("{}, eta = {accuracy}", integrator.name());
        if found.steps > 0 && found.ended.is_none() {
            progress.point(&format!("{line}: the reference"), 1.0);
            return Ok(Some((found, (integrator, accuracy))));
        }
        progress.point(&format!("{line}: no result"), 1.0);
        left_out.add(candidate(&set, integrator, accuracy), found.ended);
    }
    Ok(None)
}

fn left_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Runs without a result.
struct LeftOut {
    /// Number of all runs.
    tried: usize,
    /// Those that an error ended.
    failed: Vec<Failed>,
    /// Those that came too late.
    late: Vec<Candidate>,
}

impl LeftOut {
    /// Adds a run that an error ended, or else the budget.
    fn add(&mut self, candidate: Candidate, ended: Option<Error>) {
        match ended {
            Some(error @ Error::StepBelowFloor(_)) => {
                self.failed.push(Failed { candidate, cause: Cause::BelowDtMin(error) });
            }
            Some(error) => self.failed.push(Failed { candidate, cause: Cause::Other(error) }),
            None => self.late.push(candidate),
        }
    }

    /// Describes them, with advice.
    fn described(&self, budget: Budget<'_>) -> Vec<(String, String)> {
        let mut described = describe_failed(&self.failed.iter().collect::<Vec<_>>(), self.tried, budget.configured);
        if !self.late.is_empty() {
            let late: Vec<String> = self.late.iter().map(Candidate::describe).collect();
            let problem = format!(
                "{} of {} trials did not come far enough in time and are left out: {}",
                late.len(),
                self.tried,
                late.join("; ")
            );
            described.push((problem, "give them more time with --budget".into()));
        }
        described
    }

    /// Returns the error where they leave too few.
    fn none(&self, budget: Budget<'_>) -> Error {
        let (problem, help): (Vec<String>, Vec<String>) = self.described(budget).into_iter().unzip();
        let problem = format!("too few trials have a result: {}", problem.join("; "));
        Error::input(budget.file, problem).with_help(help.join("; "))
    }
}

/// Returns what a run is made with.
fn candidate(set: &Setup, integrator: Integrator, accuracy: f64) -> Candidate {
    Candidate { engine: set.config.force.engine, mode: Precision::F64, integrator, accuracy }
}

/// Prepares the run in f64 with a scheme and an accuracy.
fn setup(budget: Budget<'_>, integrator: Integrator, accuracy: f64) -> Result<Setup> {
    let mut sets = budget.sets.to_vec();
    sets.extend(integrator.overrides(budget.configured, accuracy));
    sets.push("force.precision=f64".into());
    assemble::prepare(Config::from_file(budget.file, &sets)?)
}

/// Follows two neighbouring solutions until their distance is no longer small, for at most `time`. Returns their growth, and the
/// error of the integration that ended it, if one did.
fn parting(set: &Setup, time: Duration) -> Result<(Growth, Option<Error>)> {
    let mut other = set.particles.clone();
    for (i, pos) in other.pos.iter_mut().enumerate() {
        for (c, x) in pos.iter_mut().enumerate() {
            *x *= if (i + c) % 2 == 0 { 1.0 + DISPLACEMENT } else { 1.0 - DISPLACEMENT };
        }
    }
    let (radius, first) = (median_distance(&set.particles), distance(&set.particles.pos, &other.pos));
    let mut logarithms = vec![0.0_f64];
    let done = follow(set, vec![set.particles.clone(), other], time, &mut |both| {
        let apart = distance(&both[0].pos, &both[1].pos);
        let before = logarithms.last().copied().unwrap_or_default();
        logarithms.push((apart / first).ln().max(before));
        apart < RIGHT * radius
    });
    let ended = ended(done)?.err();
    Ok((Growth { logarithms }, ended))
}

/// Beginning of a run.
struct Course {
    /// Positions at the end of its last dt_max.
    places: Vec<Vec3>,
    /// Number of dt_max.
    steps: u64,
    /// Wall time of their steps, in s.
    seconds: f64,
    /// Error of the integration that ended it.
    ended: Option<Error>,
}

/// Integrates at most `max` dt_max, fewer if they take longer than `time`.
fn places(set: &Setup, max: u64, time: Duration) -> Result<Course> {
    let (mut places, mut steps) = (Vec::new(), 0);
    let done = follow(set, vec![set.particles.clone()], time, &mut |all| {
        places.clone_from(&all[0].pos);
        steps += 1;
        steps < max
    });
    let (seconds, mut ended) = match ended(done)? {
        Ok(seconds) => (seconds, None),
        Err(error) => (f64::NAN, Some(error)),
    };
    if places.iter().flat_map(|pos: &Vec3| pos.iter()).any(|x| !x.is_finite()) {
        ended = Some(Error::Integration { problem: "a position is not a finite number".into(), help: None });
    }
    Ok(Course { places, steps, seconds, ended })
}

/// Takes the errors of an integration for a result.
fn ended(done: Result<f64>) -> Result<Result<f64>> {
    match done {
        Err(error @ (Error::StepBelowFloor(_) | Error::Integration { .. })) => Ok(Err(error)),
        Err(error) => Err(error),
        done => Ok(done),
    }
}

/// Returns the root mean square distance of the particles in two states.
fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).sum();
    (sum / a.len().max(1) as f64).sqrt()
}

/// Returns the median distance of the particles from their centre of mass.
fn median_distance(p: &Particles) -> f64 {
    let moment = p.mass.iter().zip(&p.pos).fold(Vec3::zeros(), |sum, (mass, pos)| sum + pos * *mass);
    let mass = p.total_mass();
    median_radius(p, if mass > 0.0 { moment / mass } else { moment })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_goes_on_as_in_its_second_half() {
        let growth = Growth { logarithms: vec![0.0, 0.0, 1.0, 3.0, 5.0] };
        assert_eq!((growth.measured(), growth.rate()), (4, 2.0));
        for (steps, expected) in [(0.0, 0.0), (1.5, 0.5), (4.0, 5.0), (7.0, 11.0)] {
            assert_eq!(growth.after(steps), expected, "{steps}");
        }
        for (wanted, expected) in [(-1.0, 0.0), (0.5, 1.5), (3.0, 3.0), (11.0, 7.0)] {
            assert_eq!(growth.steps_to(wanted), expected, "{wanted}");
        }
        // Solutions that do not part.
        let still = Growth { logarithms: vec![0.0, 0.0] };
        assert_eq!((still.after(9.0), still.steps_to(1.0)), (0.0, f64::INFINITY));
    }
}
