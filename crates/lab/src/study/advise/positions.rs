//! Advice for positions: how fast neighbouring solutions of a system part, up to when a run in f64 can follow the true one at all, and
//! how short its steps have to be.
//!
//! The energy says nothing of this. Two runs from places that differ in the 34th bit show by how much an error has grown at each
//! moment; beyond what they saw it goes on as in their second half. Runs with shorter and shorter steps over the beginning are
//! compared with the finest one: what they are wrong by there grows likewise.

use super::tried::Budget;
use crate::study::integrators::Integrator;
use crate::study::points::Progress;
use crate::study::report::Rows;
use crate::study::trial::follow;
use crate::study::wall_time::describe_seconds;
use std::time::{Duration, Instant};
use tisane::diagnostics::structure::median_radius;
use tisane::error::{Error, Result};
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

    /// Returns the logarithm of the growth in so many dt_max from the start.
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
#[derive(Clone, Debug)]
pub struct Positions {
    /// Time in which an error grows by a factor of e, at the end of what was followed; unit: time.
    pub folding_time: f64,
    /// Time from the start over which neighbouring solutions were followed.
    pub followed: f64,
    /// Time from the start up to which rounding alone leaves positions right.
    pub limit: f64,
    /// Length of the run.
    pub span: f64,
    /// Time from the start at which the runs were compared.
    pub compared_at: f64,
    /// The runs, by scheme and falling accuracy parameter.
    pub compared: Vec<Compared>,
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

/// Measures how long positions can be right, in a budget altogether: half of it for neighbouring solutions, half for the
/// comparison of accuracies, of each at least one dt_max.
///
/// # Errors
/// As the configuration and the integrators.
pub fn positions(budget: Budget<'_>, progress: &dyn Progress) -> Result<Positions> {
    let threads = Config::from_file(budget.file, budget.sets)?.config.force.threads as usize;
    spin_pool::on_threads(threads, || measure(budget, progress))
}

fn measure(budget: Budget<'_>, progress: &dyn Progress) -> Result<Positions> {
    let by_name = |name: &str| {
        Integrator::named(name).ok_or_else(|| Error::input(budget.file, format!("there is no integrator {name}")))
    };
    let (sixth, eighth) = (by_name("multipoint6")?, by_name("multipoint8")?);
    let half = budget.time / 2;
    let mut runs: Vec<(Integrator, f64)> =
        [sixth, eighth].iter().flat_map(|of| ETAS.map(|accuracy| (*of, accuracy))).collect();
    progress.begin(runs.len() + 1, 0, runs.len() as f64 + 1.0);
    let set = setup(budget, sixth, FOR_PARTING)?;
    let growth = parting(&set, half)?;
    progress.point(&format!("neighbouring solutions: followed over {} dt_max", growth.measured()), 1.0);
    // The finest one says over how many steps.
    let Some((finest, accuracy)) = runs.pop() else { unreachable!("there are some") };
    let (reference, steps, _) = places(&setup(budget, finest, accuracy)?, MAX_COMPARED, half / 4)?;
    progress.point(&format!("{}, eta = {accuracy}: the reference", finest.name()), 1.0);
    let radius = median_distance(&set.particles);
    let to_time = set.clock.dt_max * set.scale.time;
    let limit = growth.steps_to((RIGHT / ROUNDING).ln()) * to_time;
    let mut compared = Vec::new();
    for (integrator, accuracy) in runs {
        let (found, _, seconds) = places(&setup(budget, integrator, accuracy)?, steps, Duration::MAX)?;
        let error = distance(&found, &reference) / radius;
        let right_to = growth.steps_to((RIGHT / error).ln() + growth.after(steps as f64)) * to_time;
        let right_to = right_to.min(limit);
        let seconds = seconds * set.steps_to_end as f64 / steps as f64;
        let line = format!("{}, eta = {accuracy}: right to 1 % for {right_to:.3}", integrator.name());
        progress.point(&format!("{line}, whole run {}", describe_seconds(seconds)), 1.0);
        compared.push(Compared { integrator, accuracy, error, right_to, seconds });
    }
    progress.end();
    Ok(Positions {
        folding_time: to_time / growth.rate(),
        followed: growth.measured() as f64 * to_time,
        limit,
        span: set.steps_to_end as f64 * to_time,
        compared_at: steps as f64 * to_time,
        compared,
    })
}

/// Prepares the run in f64 with a scheme and an accuracy.
fn setup(budget: Budget<'_>, integrator: Integrator, accuracy: f64) -> Result<Setup> {
    let mut sets = budget.sets.to_vec();
    sets.extend(integrator.overrides(budget.configured, accuracy));
    sets.push("force.precision=f64".into());
    assemble::prepare(Config::from_file(budget.file, &sets)?)
}

/// Follows two neighbouring solutions until their distance is no longer small, for at most `time`, and at least one dt_max.
fn parting(set: &Setup, time: Duration) -> Result<Growth> {
    let mut other = set.particles.clone();
    for (i, pos) in other.pos.iter_mut().enumerate() {
        for (c, x) in pos.iter_mut().enumerate() {
            *x *= if (i + c) % 2 == 0 { 1.0 + DISPLACEMENT } else { 1.0 - DISPLACEMENT };
        }
    }
    let (radius, first) = (median_distance(&set.particles), distance(&set.particles.pos, &other.pos));
    let (mut logarithms, began) = (vec![0.0_f64], Instant::now());
    follow(set, vec![set.particles.clone(), other], &mut |both| {
        let apart = distance(&both[0].pos, &both[1].pos);
        let before = logarithms.last().copied().unwrap_or_default();
        logarithms.push((apart / first).ln().max(before));
        apart < RIGHT * radius && began.elapsed() < time
    })?;
    Ok(Growth { logarithms })
}

/// Returns the positions after at most `max` dt_max, fewer if they take longer than `time` but at least one, with their number and
/// the wall time in s.
fn places(set: &Setup, max: u64, time: Duration) -> Result<(Vec<Vec3>, u64, f64)> {
    let (mut places, mut steps, began) = (Vec::new(), 0, Instant::now());
    let seconds = follow(set, vec![set.particles.clone()], &mut |all| {
        places.clone_from(&all[0].pos);
        steps += 1;
        steps < max && began.elapsed() < time
    })?;
    Ok((places, steps, seconds))
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
