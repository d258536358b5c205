//! Promise: every engine gives the bits of the reference engine, on any vector width and any number of threads.

use crate::systems;
use proptest::prelude::*;
use systems::{CLOCK, bits, block, forces, system};
use tisane::force::cpu::{self, CpuEngine, Width};
use tisane::force::mode::{F32Kahan, F64};
use tisane::force::precision::Precision;
use tisane::force::reference::{self, ReferenceEngine};
use tisane::force::{Accelerations, Block, ForceEngine, Forces, Targets};
use tisane::particles::Vec3;
use tisane::time::Time;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn every_mode_has_the_reference_bits_on_every_width_and_thread_count() {
    for precision in Precision::ALL {
        let sizes: &[usize] = match precision.arithmetic() {
            arithmetic if arithmetic.in_order() => &[1, 33, 64, 257, 1025],
            _ if precision == Precision::F64 => &[1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 513, 1000, 4097],
            _ => &[1, 2, 31, 32, 33, 64, 65, 255, 257, 1000, 1025, 4097],
        };
        same_bits(precision, sizes);
    }
}

#[test]
fn f64_fast_has_the_bits_of_f64_on_the_cpu() {
    let (p, now) = system(257, 4);
    let targets = block(&p, now, (0..257).collect());
    let width = Width::choose().unwrap();
    let [fast, exact] = [Precision::F64Fast, Precision::F64].map(|precision| {
        let on = |mut engine: Box<dyn ForceEngine>| bits(&forces(&mut *engine, &p, now, &targets));
        [on(reference::engine(precision, 0.0, CLOCK)), on(cpu::engine(precision, 0.0, CLOCK, width))]
    });
    assert!(fast == exact && exact[0] == exact[1]);
}

/// Zeros from absent pairs once rounded Kahan's sums up, where the loss carried along was half a unit in the last
/// place.
#[test]
fn regress_kahan_sums_do_not_feel_absent_pairs() {
    let mut p = tisane::initial::plummer::sample(1000, 1, 0.999);
    tisane::initial::scaling::to_centre_of_mass(&mut p);
    let targets = block(&p, Time::default(), (0..1000).collect());
    let want = forces(&mut ReferenceEngine::<F32Kahan>::new(1.0 / 256.0, CLOCK), &p, Time::default(), &targets);
    for width in Width::available() {
        let mut engine = CpuEngine::<F32Kahan>::new(1.0 / 256.0, CLOCK, width);
        assert_eq!(bits(&forces(&mut engine, &p, Time::default(), &targets)), bits(&want), "{}", width.name());
    }
}

#[test]
fn accelerations_alone_have_the_bits_of_the_forces() {
    for precision in Precision::ALL {
        for (n, epsilon) in
            [1, 2, 31, 32, 33, 63, 64, 65, 255, 257, 513, 1025, 2500].into_iter().zip([0.0, 0.01].into_iter().cycle())
        {
            let (p, now) = system(n, n as u64);
            let everyone = Block::from_particles(&p, (0..n as u32).collect());
            let width = Width::choose().unwrap();
            // All are targets, so sources stand where the block puts them: no prediction.
            let want = forces(&mut *cpu::engine(precision, epsilon, CLOCK, width), &p, now, &everyone);
            let same = |mut engine: Box<dyn ForceEngine<Accelerations>>, what: &str| {
                let mut out = Accelerations { acc: vec![Vec3::repeat(f64::NAN); 5] };
                engine.load(&p).unwrap();
                // Twice, from another place: nothing of an evaluation is left for the next.
                engine.evaluate(now, Targets { pos: &p.vel, ..everyone.view() }, &mut out).unwrap();
                engine.evaluate(now, everyone.view(), &mut out).unwrap();
                let bits = |acc: &[Vec3]| acc.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(bits(&out.acc) == bits(&want.acc), "{} n = {n}, {what}", precision.name());
            };
            same(reference::accelerations(precision, epsilon), "reference");
            for width in Width::available() {
                for threads in [1, 2, 4] {
                    pool(threads).install(|| same(cpu::accelerations(precision, epsilon, width), width.name()));
                }
            }
        }
    }
}

fn same_bits(precision: Precision, sizes: &[usize]) {
    for epsilon in [0.0, 1.0 / 256.0] {
        for &n in sizes {
            let (p, now) = system(n, n as u64);
            let all = (0..n as u32).collect::<Vec<_>>();
            for size in [1, 3, 8, 9, 17, 31, 64, 65, n] {
                let stride = (n / size).max(1);
                let index: Vec<u32> = all.iter().copied().step_by(stride).take(size).collect();
                if index.len() * n > 1 << 20 {
                    continue;
                }
                let targets = block(&p, now, index);
                let want = forces(&mut *reference::engine(precision, epsilon, CLOCK), &p, now, &targets);
                assert!(want.acc.iter().flatten().all(|x| x.is_finite()));
                for width in Width::available() {
                    for threads in [1, 2, 4] {
                        let got = pool(threads)
                            .install(|| forces(&mut *cpu::engine(precision, epsilon, CLOCK, width), &p, now, &targets));
                        assert!(
                            bits(&got) == bits(&want),
                            "{}, n = {n}, targets = {}, epsilon = {epsilon}, {} × {threads} threads",
                            precision.name(),
                            targets.len(),
                            width.name()
                        );
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_target_does_not_feel_who_else_is_in_the_block(
        n in 1usize..700, seed in any::<u64>(), chosen in prop::collection::vec(any::<u32>(), 1..80)
    ) {
        let (p, now) = system(n, seed);
        let mut index: Vec<u32> = chosen.iter().map(|i| i % n as u32).collect();
        index.sort_unstable();
        index.dedup();
        let width = Width::choose().unwrap();
        let together = forces(&mut CpuEngine::<F64>::new(0.0, CLOCK, width), &p, now, &block(&p, now, index.clone()));
        for (k, &i) in index.iter().enumerate() {
            let alone = forces(&mut CpuEngine::<F64>::new(0.0, CLOCK, width), &p, now, &block(&p, now, vec![i]));
            prop_assert_eq!(alone.acc[0].map(f64::to_bits), together.acc[k].map(f64::to_bits));
            prop_assert_eq!(alone.pot[0].to_bits(), together.pot[k].to_bits());
        }
    }
}

#[test]
fn an_update_reaches_the_sources() {
    let (p, now) = system(200, 5);
    let mut moved = p.clone();
    let changed = [0u32, 63, 64, 199];
    for i in changed.map(|i| i as usize) {
        moved.pos[i][1] += 0.25;
        moved.vel[i][0] -= 0.5;
        moved.acc[i] = Vec3::zeros();
        moved.jerk[i] = Vec3::repeat(1.0);
        moved.time[i] = now;
    }
    let targets = block(&moved, now, vec![5, 64]);
    let mut engine = CpuEngine::<F64>::new(0.01, CLOCK, Width::choose().unwrap());
    let mut out = Forces::default();
    engine.load(&p).unwrap();
    engine.update(&moved, &changed).unwrap();
    engine.evaluate(now, targets.view(), &mut out).unwrap();
    assert_eq!(bits(&out), bits(&forces(&mut ReferenceEngine::<F64>::new(0.01, CLOCK), &moved, now, &targets)));
}

#[test]
fn an_engine_of_accelerations_refuses_a_part_of_its_particles() {
    let (p, now) = system(65, 7);
    let width = Width::choose().unwrap();
    for mut engine in [reference::accelerations(Precision::F64, 0.0), cpu::accelerations(Precision::F64, 0.0, width)] {
        engine.load(&p).unwrap();
        let some = Block::from_particles(&p, (0..64).collect());
        let refused = engine.evaluate(now, some.view(), &mut Accelerations::default()).unwrap_err();
        assert!(refused.to_string().contains("65 particles that it holds as targets, and was given 64"), "{refused}");
    }
}

#[test]
fn targets_stand_where_the_block_puts_them_as_sources_too() {
    let (p, now) = system(100, 6);
    let mut targets = block(&p, now, vec![3, 40]);
    targets.pos[0] = Vec3::new(0.5, 0.25, -0.125);
    targets.vel[1] = Vec3::y();
    let want = forces(&mut ReferenceEngine::<F64>::new(0.0, CLOCK), &p, now, &targets);
    let got = forces(&mut CpuEngine::<F64>::new(0.0, CLOCK, Width::choose().unwrap()), &p, now, &targets);
    assert_eq!(bits(&got), bits(&want));
    let plain = forces(&mut ReferenceEngine::<F64>::new(0.0, CLOCK), &p, now, &block(&p, now, vec![3, 40]));
    assert_ne!(bits(&want)[3], bits(&plain)[3], "the second target feels where the first was put");
}
