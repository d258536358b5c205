//! Systems in mid-flight and forces on their blocks, for the tests of engines.

#![allow(dead_code, reason = "each test file uses its own part")]

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tisane::force::{Block, ForceEngine, Forces, NO_SOURCE};
use tisane::gravity::predict;
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History;
use tisane::time::{Clock, Level, Time};

/// The time axis.
pub const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

/// A system in mid-flight: random state, every particle at a time of its own. An even seed gives equal masses, whose
/// sums meet ties in rounding.
pub fn system(n: usize, seed: u64) -> (Particles, Time) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let now = Time::from_dt_max(3).after(Level(9));
    let vector = |rng: &mut Xoshiro256PlusPlus| Vec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0)));
    let pos: Vec<_> = (0..n).map(|_| vector(&mut rng)).collect();
    let vel: Vec<_> = (0..n).map(|_| vector(&mut rng)).collect();
    let equal = seed.is_multiple_of(2);
    let mass = |rng: &mut Xoshiro256PlusPlus| if equal { 1.0 / n as f64 } else { rng.random_range(0.0..1.0) };
    let mut p = Particles::new((0..n).map(|_| mass(&mut rng)).collect(), pos, vel);
    for i in 0..n {
        p.acc[i] = vector(&mut rng);
        p.jerk[i] = vector(&mut rng);
        p.time[i] = Time(now.0 - Level(9 + (rng.next_u32() % 3) as u8).ticks());
    }
    (p, now)
}

/// The particles as a multi-point scheme has them, with `kept` further derivatives.
pub fn with_derivatives(mut p: Particles, kept: usize, seed: u64) -> Particles {
    let (n, mut rng) = (p.len(), Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut history = History::new(n, kept / 2, kept);
    for vector in history.derivatives.iter_mut().flatten() {
        *vector = Vec3::from([0; 3].map(|_| rng.random_range(-100.0..100.0)));
    }
    p.states.set(history);
    p
}

/// The block of these particles, predicted to `now`.
pub fn block(p: &Particles, now: Time, index: Vec<u32>) -> Block {
    let mut targets = Block::default();
    for i in index.iter().map(|&i| i as usize) {
        let (x, v) = predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], CLOCK.between(p.time[i], now));
        targets.pos.push(x);
        targets.vel.push(v);
    }
    targets.index = index;
    targets
}

/// Forces by an engine freshly loaded.
pub fn forces(engine: &mut dyn ForceEngine, p: &Particles, now: Time, targets: &Block) -> Forces {
    let mut out = Forces::default();
    engine.load(p).unwrap();
    engine.evaluate(now, targets.view(), &mut out).unwrap();
    out
}

/// Everything, to be compared bit by bit.
pub fn bits(f: &Forces) -> Vec<u64> {
    let vectors = f.acc.iter().chain(&f.jerk).flatten();
    vectors.chain(&f.pot).map(|x| x.to_bits()).collect()
}

/// Everything, to be compared bit by bit, but for the sign and the payload of what is no number.
pub fn comparable(all: Vec<u64>) -> Vec<u64> {
    all.into_iter().map(|x| if f64::from_bits(x).is_nan() { f64::NAN.to_bits() } else { x }).collect()
}

/// Columns of `m` points among `n` sources: excluded sources, in no order and several times, position, velocity.
pub fn points(n: usize, m: usize) -> (Vec<u32>, Vec<Vec3>, Vec<Vec3>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64((n * 1000 + m) as u64);
    let mut vectors = || (0..m).map(|_| Vec3::from([0; 3].map(|_| rng.random_range(-1.0..1.0)))).collect::<Vec<_>>();
    let (pos, vel) = (vectors(), vectors());
    let exclude = (0..m).map(|k| if k % 3 == 0 { NO_SOURCE } else { (k * 7919 % n) as u32 });
    (exclude.collect(), pos, vel)
}
