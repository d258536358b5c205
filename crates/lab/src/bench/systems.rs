//! Rate of block steps of many independent systems on one GPU.

use super::{CLOCK, Options, Report};
use serde::Serialize;
use std::time::Instant;
use tisane::error::{Error, Result};
use tisane::force::GivenForces;
use tisane::force::block_steps::{Span, SystemStepper, SystemSteps};
use tisane::force::cuda::{SystemShape, SystemsOnDevice};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::Particles;
use tisane::spin_pool::on_threads;
use tisane::time::{Level, Time};

/// Number of particles of all systems together, where the number of systems is left open.
const PARTICLES: usize = 264 << 10;
/// Number of particles of different systems: more are copies.
const DIFFERENT: usize = 1 << 14;

/// Systems to measure: Plummer spheres.
#[derive(Clone, Debug)]
pub struct Ensembles {
    /// Numbers of particles of a system.
    pub n: Vec<usize>,
    /// Number of systems; otherwise as many as have 270336 particles together.
    pub systems: Option<usize>,
    /// Softening.
    pub epsilon: f64,
    /// Times between which the steps are timed, in longest steps of 1/8.
    pub span: [u64; 2],
    /// Largest number of block steps of a system that are timed.
    pub max: u64,
    /// Shape that is tried instead of the program's choice.
    pub shape: Option<SystemShape>,
}

/// Rate for one size of systems.
#[derive(Clone, Debug, Serialize)]
pub struct SystemsRow {
    /// Number of particles of a system.
    pub n: usize,
    /// Number of systems.
    pub systems: usize,
    /// Number of block steps of all systems.
    pub block_steps: u64,
    /// Mean number of particles in a block.
    pub mean_block: f64,
    /// Number of systems in which a step was left to the host.
    pub refused: usize,
    /// Wall time, in s, with both copies of the states.
    pub seconds: f64,
    /// Rate, in 10⁶ block steps of all systems per second.
    pub mega_steps_per_second: f64,
    /// Rate, in 10⁶ pairs per second.
    pub mega_pairs_per_second: f64,
}

/// Measures the steps of systems of every size.
///
/// # Errors
/// If there is no GPU that takes the steps, or it fails.
pub fn measure(ensembles: &Ensembles, options: &Options) -> Result<Report<SystemsRow>> {
    let rows = on_threads(options.threads, || {
        let rows = ensembles.n.iter().map(|&n| rate(n, ensembles, options)).collect::<Result<_>>()?;
        Ok((rows, rayon::current_num_threads()))
    })?;
    Report::new("systems", options.precision().name().into(), options, rows)
}

fn rate(n: usize, ensembles: &Ensembles, options: &Options) -> Result<SystemsRow> {
    let precision = options.precision();
    let count = ensembles.systems.unwrap_or((PARTICLES / n.max(1)).max(1));
    let device = SystemsOnDevice::new(options.device as usize, precision, n)?;
    let problem = || format!("the GPU does not take the steps of systems of {n} particles in {}", precision.name());
    let mut device = device.ok_or_else(|| Error::input("systems", problem()))?;
    device.set_shape(ensembles.shape);
    let parameters = Parameters::new(precision);
    let limits = Limits { floor: Level::DEEPEST, ..parameters.limits };
    let mut integrator = Hermite4::new(Parameters { limits, ..parameters }, CLOCK);
    let different = (DIFFERENT / n.max(1)).clamp(1, count);
    let mut particles: Vec<Particles> = (0..different).map(|k| plummer::sample(n, k as u64, 0.999)).collect();
    let bodies: Vec<_> = particles.iter().map(|p| (p, ensembles.epsilon)).collect();
    let forces = device.forces(&bodies)?;
    for (p, forces) in particles.iter_mut().zip(forces) {
        integrator.start(p, &mut GivenForces::new(forces))?;
    }
    let [from, until] = ensembles.span.map(Time::from_dt_max);
    let mut systems = |particles: &mut [Particles], [from, until]: [Time; 2], max| {
        let span = Span { from, until, max };
        let mut systems = Vec::with_capacity(particles.len());
        for particles in particles {
            let rules = integrator.step_rules(particles).ok_or_else(|| Error::input("systems", problem()))?;
            let (clock, epsilon) = (CLOCK, ensembles.epsilon);
            systems.push(SystemSteps { particles, clock, epsilon, rules, span, before: 0 });
        }
        let began = Instant::now();
        let taken = device.take(&mut systems, None)?;
        Ok::<_, Error>((began.elapsed().as_secs_f64(), taken))
    };
    systems(&mut particles, [Time::default(), from], u64::MAX)?;
    let start: Vec<Particles> = (0..count).map(|k| particles[k % different].clone()).collect();
    let mut best: Option<(f64, Vec<_>)> = None;
    for _ in 0..options.repeat.max(1) {
        let measured = systems(&mut start.clone(), [from, until], ensembles.max)?;
        best = [best, Some(measured)].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    }
    let (seconds, taken) = best.unwrap_or_default();
    let block_steps: u64 = taken.iter().map(|taken| taken.block_steps).sum();
    let particle_steps: u64 = taken.iter().map(|taken| taken.particle_steps).sum();
    Ok(SystemsRow {
        n,
        systems: count,
        block_steps,
        mean_block: particle_steps as f64 / block_steps.max(1) as f64,
        refused: taken.iter().filter(|taken| taken.refused > 0).count(),
        seconds,
        mega_steps_per_second: block_steps as f64 / seconds / 1e6,
        mega_pairs_per_second: particle_steps as f64 * n.saturating_sub(1) as f64 / seconds / 1e6,
    })
}
