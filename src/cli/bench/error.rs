//! `tisane bench error`: how far the forces of a mode are from those in f64.

use super::{How, block, particles, report};
use crate::diagnostics::audit::{relative_errors, spread};
use crate::diagnostics::conserved::relative;
use crate::error::Result;
use crate::force::Forces;
use crate::force::cpu::Width;
use crate::force::precision::Precision;
use crate::time::Time;
use serde::Serialize;

/// Hamada & Iitaka (2007), table 2: N, and the largest relative error of the acceleration by DIRECT and by Chamomile.
const PAPER: [(usize, f64, f64); 7] = [
    (2048, 2.2e-6, 5.4e-7),
    (4096, 3.0e-6, 3.3e-7),
    (8192, 5.4e-6, 5.0e-7),
    (16384, 7.0e-6, 4.3e-7),
    (32768, 1.2e-5, 6.8e-7),
    (65536, 1.4e-5, 1.0e-6),
    (131_072, 2.2e-5, 1.5e-6),
];

/// Largest, root mean square and 99th percentile of the relative errors over all particles.
#[derive(Serialize)]
struct ErrorRow {
    n: usize,
    acceleration: [f64; 3],
    jerk: [f64; 3],
    potential: [f64; 3],
    paper_direct: Option<f64>,
    paper_chamomile: Option<f64>,
}

pub(super) fn bench(n: &[usize], epsilon: f64, width: Width, how: &How) -> Result<u8> {
    let rows = how.on_threads(|| {
        let rows = n.iter().map(|&n| errors(n, epsilon, width, how)).collect::<Result<Vec<_>>>()?;
        Ok((rows, rayon::current_num_threads()))
    })?;
    let header = ["N", "acc max", "acc rms", "jerk max", "jerk rms", "pot max", "pot rms", "DIRECT", "Chamomile"];
    let cells = |r: &ErrorRow| {
        let paper = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.1e}"));
        let mut cells = vec![r.n.to_string()];
        for [max, rms, _] in [r.acceleration, r.jerk, r.potential] {
            cells.extend([format!("{max:.2e}"), format!("{rms:.2e}")]);
        }
        cells.extend([paper(r.paper_direct), paper(r.paper_chamomile)]);
        cells
    };
    report(("error", how.precision().name()), width, how, rows, &header, cells, |_| String::new())
}

/// Errors of the forces on everyone in a Plummer model.
fn errors(n: usize, epsilon: f64, width: Width, how: &How) -> Result<ErrorRow> {
    let p = particles(n, 1, width, how)?;
    let targets = block(&p, n);
    let forces = |precision: Precision| -> Result<Forces> {
        let mut engine = how.engine(precision, epsilon, width, false)?;
        let mut forces = Forces::default();
        engine.load(&p)?;
        engine.evaluate(Time::default(), &targets, &mut forces)?;
        Ok(forces)
    };
    let (found, reference) = (forces(how.precision())?, forces(Precision::F64)?);
    let potentials = found.pot.iter().zip(&reference.pot).map(|(x, x0)| relative(*x, *x0).abs()).collect();
    let paper = PAPER.iter().find(|(of, ..)| *of == n);
    Ok(ErrorRow {
        n,
        acceleration: spread(relative_errors(&found.acc, &reference.acc)),
        jerk: spread(relative_errors(&found.jerk, &reference.jerk)),
        potential: spread(potentials),
        paper_direct: paper.map(|(_, direct, _)| *direct),
        paper_chamomile: paper.map(|(_, _, chamomile)| *chamomile),
    })
}
