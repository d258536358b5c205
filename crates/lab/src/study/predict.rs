//! Estimate of the time of a run before it starts: block steps from the particles, their cost from the performance
//! model.
//!
//! A particle's step follows Aarseth's criterion, whose derivatives are not known before the first step. Its natural
//! time |a|/|jerk| is, and steps are taken to be κ √ν |a|/|jerk|, rounded down to dt_max/2^k; for other criteria ν is
//! the one by which Aarseth's has steps of about the same length. κ is fitted with the performance model, to the wall
//! time of its Plummer spheres. The levels give the sizes of all blocks: in each dt_max,
//! 2^(k−1) block steps move whoever stands at level k or deeper, for k from 1 to the deepest level in use, and one
//! moves everybody.

use super::cost::row::Row;
use super::integrators::Integrator;
use super::model::{Fit, Model, StepsBy};
use super::plummer::{self, Sphere};
use super::wall_time::describe_range;
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane::force::{Forces, Targets};
use tisane::integrator::BlockSteps;
use tisane::particles::Vec3;
use tisane::time::{LOG2_TICKS_PER_DT_MAX, Time};
use tisane_io::machine;
use tisane_run::assemble::{self, MAX_SUMMED, OnGpu, SAMPLE, Setup};
use tisane_run::config::{Config, Engine};

/// Least relative uncertainty of a prediction, whatever the fit says: machines are never alike twice.
const MIN_SCATTER: f64 = 0.2;

/// |a| / |jerk| of every particle at the start, or of a sample of more than [`MAX_SUMMED`], in internal units; infinite
/// where there is no force.
///
/// # Errors
/// As the CPU engine.
pub fn natural_times(set: &Setup) -> Result<Vec<f64>> {
    const TILE: usize = 1 << 14;
    let p = &set.particles;
    let (law, on, gpu) = (set.law.as_ref(), Engine::Cpu, OnGpu::default());
    let mut engine = assemble::force_engine(law, on, Precision::F64, set.epsilon(), set.clock, gpu)?;
    engine.load(p)?;
    let (mut forces, mut times) = (Forces::default(), Vec::with_capacity(p.len()));
    let all: Vec<u32> = if p.len() > MAX_SUMMED { assemble::sample(p, SAMPLE) } else { (0..p.len() as u32).collect() };
    for index in all.chunks(TILE) {
        let column = |of: &[Vec3]| index.iter().map(|&i| of[i as usize]).collect::<Vec<_>>();
        let targets = Targets { index, pos: &column(&p.pos), vel: &column(&p.vel) };
        engine.evaluate(Time::default(), targets, &mut forces)?;
        times.extend(forces.acc.iter().zip(&forces.jerk).map(|(acc, jerk)| match acc.norm() / jerk.norm() {
            time if time.is_nan() => f64::INFINITY,
            time => time,
        }));
    }
    Ok(times)
}

/// Returns the number of particles at each level, if steps are `factor` times the natural times; none deeper than
/// `deepest`.
#[must_use]
pub fn levels(times: &[f64], factor: f64, dt_max: f64, deepest: u32) -> Vec<u64> {
    let mut count = vec![0; deepest as usize + 1];
    for time in times {
        let halvings = (dt_max / (factor * time)).log2().ceil();
        // Infinite times and none at all end at the ends.
        count[halvings.clamp(0.0, f64::from(deepest)) as usize] += 1;
    }
    count
}

impl Fit {
    /// Seconds of one dt_max, for particles at these levels.
    #[must_use]
    pub fn seconds_per_dt_max(&self, levels: &[u64]) -> f64 {
        let n = levels.iter().sum::<u64>() as f64;
        let mut seconds = self.step(n, n);
        let mut block = 0.0;
        for (level, count) in levels.iter().enumerate().skip(1).rev() {
            block += *count as f64;
            if block > 0.0 {
                seconds += 2f64.powi(level as i32 - 1) * self.step(n, block);
            }
        }
        seconds
    }
}

/// Fits κ of `fit` to the wall times of its spheres.
///
/// # Errors
/// As [`natural_times`] and [`Key::time_span`](super::trials::Key::time_span).
pub fn calibrate(fit: &mut Fit, rows: &[Row]) -> Result<()> {
    let mut spheres = Vec::new();
    for row in rows {
        let key = &row.key;
        let sphere = Sphere { n: key.n, seed: key.seed, epsilon: key.epsilon };
        let how = (Engine::Cpu, Precision::F64);
        let set = plummer::setup(sphere, &key.time_span()?, (key.integrator, key.accuracy), how)?;
        let nu = key.integrator.equivalent_nu(key.accuracy, key.mode);
        let deepest = (key.dt_max / key.dt_min).log2().floor() as u32;
        let measured = row.best.seconds / row.best.span * key.dt_max;
        spheres.push((natural_times(&set)?, nu.sqrt(), key.dt_max, deepest, measured));
    }
    let scatter = |fit: &Fit, factor: f64| {
        let misfit = |(times, root, dt_max, deepest, measured): &(Vec<f64>, f64, f64, u32, f64)| {
            let predicted = fit.seconds_per_dt_max(&levels(times, factor * root, *dt_max, *deepest));
            (measured / predicted).ln().powi(2)
        };
        (spheres.iter().map(misfit).sum::<f64>() / spheres.len() as f64).sqrt()
    };
    // Levels make the misfit a staircase: looked at everywhere, in steps of 2 %.
    let factors = (0..200).map(|k| 0.05 * 1.02f64.powi(k));
    let best = factors.map(|factor| (scatter(fit, factor), factor)).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((scatter, factor)) = best {
        (fit.step_factor, fit.prediction_scatter) = (factor, scatter);
    }
    Ok(())
}

/// Estimate of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Wall time, in s.
    pub seconds: f64,
    /// Factor by which the wall time may be off `seconds`, at about 95 % confidence.
    pub within: f64,
    /// Block steps of the whole run.
    pub block_steps: f64,
    /// Particle steps of the whole run.
    pub particle_steps: f64,
}

impl Prediction {
    /// Describes the wall time with its range.
    #[must_use]
    pub fn describe(&self) -> String {
        describe_range(self.seconds, self.within)
    }
}

/// Returns the time of a run of `set` by a fit, with the [`natural_times`] of its particles or a sample of them; [`None`] for a scheme without
/// block steps.
#[must_use]
pub fn predict(fit: &Fit, set: &Setup, times: &[f64]) -> Option<Prediction> {
    let BlockSteps { nu, range: [dt_min, dt_max], evaluations, .. } = set.config.integrator.scheme().block_steps()?;
    let deepest = (dt_max / dt_min).log2().floor().clamp(0.0, f64::from(LOG2_TICKS_PER_DT_MAX)) as u32;
    let integrator = Integrator::from_settings(&set.config.integrator)?;
    let factor = fit.step_factor * nu.sqrt() * integrator.relative_step(fit.mode);
    let mut levels = levels(times, factor, set.clock.dt_max, deepest);
    if times.len() < set.particles.len() {
        let each = set.particles.len() as f64 / times.len() as f64;
        levels.iter_mut().for_each(|count| *count = (*count as f64 * each).round() as u64);
    }
    let steps = set.steps_to_end as f64;
    let used = levels.iter().rposition(|count| *count > 0).unwrap_or(0);
    let particle_steps: f64 = levels.iter().enumerate().map(|(k, count)| *count as f64 * 2f64.powi(k as i32)).sum();
    Some(Prediction {
        // Each iteration beyond the first is an evaluation and a correction more.
        seconds: steps * fit.seconds_per_dt_max(&levels) * f64::from(evaluations),
        within: (2.0 * fit.prediction_scatter.max(MIN_SCATTER)).exp(),
        block_steps: steps * 2f64.powi(used as i32),
        particle_steps: steps * particle_steps,
    })
}

/// Returns the fit for a configuration with an engine of this machine and steps by the same: that of its mode, integrator
/// and threads. [`None`] for a law in place of Newton's, by which the model was measured.
#[must_use]
pub fn fit_for<'a>(model: &'a Model, config: &Config, engine: Engine, steps_by: StepsBy) -> Option<&'a Fit> {
    if config.law_section().is_some() {
        return None;
    }
    let described = assemble::describe_engine(engine, config.force.device).ok()?;
    let threads = super::trials::threads(config.force.threads) as u32;
    let asked = config.force.precision();
    let mode = if engine == Engine::Cuda { asked } else { asked.on_cpu() };
    let host = machine::host();
    let fits = |fit: &&Fit| (&fit.engine, fit.mode, fit.threads, &fit.host) == (&described, mode, threads, &host);
    let integrator = Integrator::from_settings(&config.integrator)?;
    model.fits_for(integrator, steps_by).into_iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_powers_of_two_of_the_step() {
        let times = [f64::INFINITY, 1.0, 0.51, 0.5, 0.25, 0.1, 1e-30, 0.0];
        assert_eq!(levels(&times, 1.0, 0.5, 4), [4, 1, 0, 1, 2]);
    }

    #[test]
    fn the_cost_of_a_dt_max_is_that_of_its_blocks() {
        let fit = Fit { host_step: 1.0, force_pair: 0.1, ..Fit::default() };
        // Two at level 0, one at 1, three at 3: blocks in eighths of dt_max: 3, 3, 3, 4, 3, 3, 3, 6.
        let expected = 8.0 + 0.1 * 6.0 * f64::from(3 + 3 + 3 + 4 + 3 + 3 + 3 + 6);
        assert!((fit.seconds_per_dt_max(&[2, 1, 0, 3, 0, 0]) - expected).abs() < 1e-12);
    }
}
