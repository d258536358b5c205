//! Trial of the two divisions of AVX-512 in f64, of the same bits: which is quicker depends on the processor.

use super::sources::Slots;
use super::sum::{Partials, Summation};
use super::width::Width;
use crate::force::mode::{F64, SUMS};
use crate::force::points::NO_SOURCE;
use crate::force::targets::Targets;
use crate::particles::Vec3;
use pulp::x86::V4;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Number of targets: one vector.
const TARGETS: usize = 8;
/// Number of sources: as many as fit the innermost cache.
const SOURCES: usize = 512;
/// Number of times that each division is timed, of which the shortest counts. 0.1 ms in all.
const ROUNDS: usize = 8;
/// Share of the time of the other by which a division has to be quicker to be taken, in percent: more than the noise.
const MARGIN: u32 = 4;

/// Returns the width of this unit with the quicker division in f64, as a trial in this process found.
pub fn quicker(unit: V4) -> Width {
    static FMA: OnceLock<bool> = OnceLock::new();
    if *FMA.get_or_init(|| fma_is_quicker(unit)) { Width::Avx512Fma(unit) } else { Width::Avx512(unit) }
}

fn fma_is_quicker(unit: V4) -> bool {
    let mut sources = Slots::<F64, SUMS>::default();
    sources.load(&[1.0; SOURCES]);
    for i in 0..SOURCES {
        sources.put(i, place(i), Vec3::zeros());
    }
    let pos: [Vec3; TARGETS] = std::array::from_fn(|k| place(SOURCES + k));
    let targets = Targets { index: &[NO_SOURCE; TARGETS], pos: &pos, vel: &[Vec3::zeros(); TARGETS] };
    let mut partials = Partials::default();
    let [mut ieee, mut fma] = [Duration::MAX; 2];
    // In turn, so that a disturbance meets both. The first round warms up.
    for round in 0..=ROUNDS {
        for (width, best) in [(Width::Avx512(unit), &mut ieee), (Width::Avx512Fma(unit), &mut fma)] {
            let taken = time(width, &sources, targets, &mut partials);
            if round > 0 {
                *best = taken.min(*best);
            }
        }
    }
    fma * 100 < ieee * (100 - MARGIN)
}

/// Measures the time of the forces of all sources on the targets.
fn time(
    width: Width,
    sources: &Slots<F64, SUMS>,
    targets: Targets<'_>,
    partials: &mut Partials<F64, SUMS>,
) -> Duration {
    let began = Instant::now();
    Summation { sources, targets, eps2: 0.0, limits: &[], width, law: None }.run(partials, |_, sums| {
        std::hint::black_box(sums);
    });
    began.elapsed()
}

/// Returns a place on a spiral, away from all others.
fn place(i: usize) -> Vec3 {
    let t = i as f64;
    Vec3::new(t, (0.1 * t).sin(), (0.1 * t).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_decides_once_and_soon() {
        let Some(unit) = V4::try_new() else { return };
        let chosen = quicker(unit);
        assert!((0..100).all(|_| quicker(unit).name() == chosen.name()));
        // The shortest of some: other programs may hold one up.
        let took = (0..20).map(|_| {
            let began = Instant::now();
            fma_is_quicker(unit);
            began.elapsed()
        });
        let shortest = took.min().unwrap();
        assert!(cfg!(debug_assertions) || shortest < Duration::from_millis(1), "{shortest:?}");
    }
}
