//! `tisane bench force`: pairs per second.

use super::{EPSILON, How, block, particles, report};
use serde::Serialize;
use std::time::Instant;
use tisane::error::Result;
use tisane::force::Forces;
use tisane::force::cpu::Width;
use tisane::time::{Level, Time};

#[derive(Serialize)]
struct ForceRow {
    n: usize,
    targets: usize,
    microseconds: f64,
    mega_pairs_per_second: f64,
    fraction_of_all_pairs: f64,
}

pub(super) fn bench(n: &[usize], targets: &[usize], width: Width, how: &How) -> Result<u8> {
    let rows = how.on_threads(|| {
        let mut rows = Vec::new();
        for &n in n {
            rows.extend(force(n, targets, width, how)?);
        }
        Ok((rows, rayon::current_num_threads()))
    })?;
    let header = ["N", "targets", "µs", "Mpairs/s", "of all pairs"];
    let cells = |r: &ForceRow| {
        vec![
            r.n.to_string(),
            r.targets.to_string(),
            format!("{:.2}", r.microseconds),
            format!("{:.1}", r.mega_pairs_per_second),
            format!("{:.0} %", 100.0 * r.fraction_of_all_pairs),
        ]
    };
    report(("force", how.precision().name()), width, how, rows, &header, cells, |_| String::new())
}

fn force(n: usize, sizes: &[usize], width: Width, how: &How) -> Result<Vec<ForceRow>> {
    let p = particles(n, 1, width, how)?;
    let mut engine = how.engine(how.precision(), EPSILON, width, false)?;
    engine.load(&p)?;
    let mut rows = Vec::new();
    for size in sizes.iter().copied().filter(|&size| size < n && size > 0).chain([n]) {
        let targets = block(&p, size);
        let mut forces = Forces::default();
        // At a moment when every source has to be predicted.
        let now = Time::default().after(Level(20));
        let rounds = (20_000_000 / (size * n)).clamp(1, 5000);
        let mut best = f64::INFINITY;
        for _ in 0..=how.repeat {
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
