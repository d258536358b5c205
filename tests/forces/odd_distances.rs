//! Promise: distances that are 0, denormal, huge or infinite give the bits of the reference engine too, on every vector
//! width and by each of its divisions.

use crate::systems::{CLOCK, bits, comparable};
use proptest::prelude::*;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, FieldEngine, Forces, NO_SOURCE, Points, Targets, reference};
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

/// Coordinates whose differences, squared, are of every kind: zero, below and among denormal numbers, ordinary, beyond the
/// largest number. Few, so that many particles share a place.
const COORDINATES: [f64; 15] =
    [0.0, -0.0, 5e-324, -1e-310, 3e-162, 1e-160, 1.5e-154, -1e-153, 1.0, -1.5, 1e6, 1e140, 9e153, -1.3e154, 2e155];
const SOFTENINGS: [f64; 6] = [0.0, 1e-170, 3e-162, 1e-154, 1.0 / 256.0, 1e153];
const MASSES: [f64; 5] = [0.0, 1e-300, 0.25, 1.0, 1e30];

fn on(engine: &mut dyn FieldEngine, p: &Particles, exclude: &[u32]) -> Vec<u64> {
    let (mut block, mut points) = (Forces::default(), Forces::default());
    engine.load(p).unwrap();
    let all: Vec<u32> = (0..p.len() as u32).collect();
    engine.evaluate(Time::default(), Targets::all(p, &all), &mut block).unwrap();
    let at = Points { exclude, pos: &p.pos, vel: &p.vel };
    engine.evaluate_at(Time::default(), at, &mut points).unwrap();
    comparable([bits(&block), bits(&points)].concat())
}

fn system(chosen: &[(usize, usize, usize, usize)]) -> Particles {
    let [coordinates, masses] = [COORDINATES.len(), MASSES.len()];
    let pos = |(x, y, z, _): &(usize, usize, usize, usize)| Vec3::from([x, y, z].map(|k| COORDINATES[k % coordinates]));
    let vel = |(x, y, z, m): &(usize, usize, usize, usize)| Vec3::from([x * z, y + m, x ^ m].map(|k| (k % 64) as f64));
    Particles::new(
        chosen.iter().map(|it| MASSES[it.3 % masses]).collect(),
        chosen.iter().map(pos).collect(),
        chosen.iter().map(vel).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn odd_distances_have_the_reference_bits(
        chosen in prop::collection::vec(any::<(usize, usize, usize, usize)>(), 1..300),
        softening in 0usize..SOFTENINGS.len(),
    ) {
        let (p, epsilon) = (system(&chosen), SOFTENINGS[softening]);
        let exclude: Vec<u32> =
            chosen.iter().map(|it| if it.0 % 3 == 0 { NO_SOURCE } else { (it.1 % chosen.len()) as u32 }).collect();
        let want = on(&mut *reference::engine(Precision::F64, epsilon, CLOCK), &p, &exclude);
        let mut alone = Vec::new();
        for width in Width::available() {
            let got = on(&mut *cpu::engine(Precision::F64, epsilon, CLOCK, width), &p, &exclude);
            prop_assert!(got == want, "{} epsilon = {epsilon:e}", width.name());
            let mut engine = cpu::accelerations(Precision::F64, epsilon, width);
            let (mut out, all) = (Accelerations::default(), (0..p.len() as u32).collect::<Vec<_>>());
            engine.load(&p).unwrap();
            engine.evaluate(Time::default(), Targets::all(&p, &all), &mut out).unwrap();
            alone.push(comparable(out.acc.iter().flatten().map(|x| x.to_bits()).collect()));
        }
        prop_assert!(alone.iter().all(|acc| acc[..] == want[..3 * p.len()]));
    }
}

/// A sum that no pair makes odd but one: the other bags are those of the quick form.
#[test]
fn one_odd_pair_does_not_change_the_others() {
    let n = 1000;
    let mut p = tisane::initial::plummer::sample(n, 1, 0.999);
    (p.pos[500], p.pos[17]) = (p.pos[3], p.pos[900]);
    p.mass[900] = 0.0;
    for exclude in [vec![NO_SOURCE; n], (0..n as u32).collect(), (0..n as u32).rev().collect()] {
        let want = on(&mut *reference::engine(Precision::F64, 0.0, CLOCK), &p, &exclude);
        assert!(
            want.iter().any(|&x| f64::from_bits(x).is_infinite()) && want.iter().any(|&x| f64::from_bits(x).is_nan())
        );
        for width in Width::available() {
            let got = on(&mut *cpu::engine(Precision::F64, 0.0, CLOCK, width), &p, &exclude);
            assert!(got == want, "{}", width.name());
        }
    }
}
