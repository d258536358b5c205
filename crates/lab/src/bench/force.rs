//! Rate of the forces: pairs per second by number of sources and size of the block.

use super::{EPSILON, Options, Report, block, particles};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;
use tisane::error::Result;
use tisane::force::Forces;
use tisane::law::Law;
use tisane::time::{Level, Time};

/// Rate of one block among a number of sources.
#[derive(Clone, Debug, Serialize)]
pub struct ForceRow {
    /// Number of sources.
    pub n: usize,
    /// Number of targets.
    pub targets: usize,
    /// Time of an evaluation, in µs.
    pub microseconds: f64,
    /// Rate, in 10⁶ pairs per second.
    pub mega_pairs_per_second: f64,
    /// Rate relative to that of a block of all sources.
    pub fraction_of_all_pairs: f64,
}

/// Measures acceleration, jerk and potential for each number of sources `n`, in blocks of each size in `targets` that
/// is smaller than `n` and of all `n`; by `law` in place of Newton's where there is one.
///
/// # Errors
/// As the engine.
pub fn measure(n: &[usize], targets: &[usize], law: Option<&Arc<Law>>, options: &Options) -> Result<Report<ForceRow>> {
    let rows = options.on_threads(|| {
        let mut rows = Vec::new();
        for &n in n {
            rows.extend(blocks(n, targets, law, options)?);
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    let name = match law {
        Some(_) => "force by a law",
        None => "force",
    };
    Report::new(name, options.precision().name().into(), options, rows)
}

/// Measures the blocks of one number of sources.
fn blocks(n: usize, sizes: &[usize], law: Option<&Arc<Law>>, options: &Options) -> Result<Vec<ForceRow>> {
    let p = particles(n, 1, options)?;
    let mut engine = options.engine_by(law, options.precision(), EPSILON, false)?;
    engine.load(&p)?;
    let mut rows = Vec::new();
    for size in sizes.iter().copied().filter(|&size| size < n && size > 0).chain([n]) {
        let targets = block(&p, size);
        let mut forces = Forces::default();
        // At a moment when every source has to be predicted.
        let now = Time::default().after(Level(20));
        let rounds = (20_000_000 / (size * n)).clamp(1, 5000);
        let mut best = f64::INFINITY;
        for _ in 0..=options.repeat {
            let began = Instant::now();
            for _ in 0..rounds {
                engine.evaluate(now, targets.view(), &mut forces)?;
            }
            best = best.min(began.elapsed().as_secs_f64() / rounds as f64);
        }
        let rate = (size * n) as f64 / best / 1e6;
        rows.push(ForceRow {
            n,
            targets: size,
            microseconds: best * 1e6,
            mega_pairs_per_second: rate,
            fraction_of_all_pairs: 0.0,
        });
    }
    let full = rows.last().map_or(1.0, |row| row.mega_pairs_per_second);
    for row in &mut rows {
        row.fraction_of_all_pairs = row.mega_pairs_per_second / full;
    }
    Ok(rows)
}
