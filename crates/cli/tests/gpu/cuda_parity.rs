//! Promise: the CUDA engine gives the CPU's forces: in f64 bit for bit, in the other modes up to the roundings of their
//! 1/√. The launch shape and the other targets of a block change no bit. Without a GPU each test reports that it is
//! skipped, or fails if `TISANE_NEED_GPU` is set. With kernels compiled by `scripts/gpu/kernels --ieee FILE` and
//! `TISANE_KERNELS=FILE TISANE_PARITY=bits`, every mode is compared with the CPU's bits. For a sanitizer, which is
//! slow, the tests can be reduced: `TISANE_MODES=mixed,f64`, `TISANE_SIZES=1,33` (particles), `TISANE_BLOCKS=1,2048`
//! (targets), `TISANE_FEW_SHAPES=1` (one shape per kernel, in addition to the one that the engine chooses).
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::systems;
use gpu::{held_to_bits, listed, modes, needed, shapes, sizes};
use systems::{CLOCK, bits, block, forces, system};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::CudaEngine;
use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::Vec3;
use tisane::time::{Level, Time};

/// Numbers of targets among `n` particles.
fn block_sizes(n: usize) -> Vec<usize> {
    listed("TISANE_BLOCKS").unwrap_or(vec![1, 31, 33, n])
}

fn cuda(precision: Precision, epsilon: f64) -> Option<CudaEngine> {
    needed(CudaEngine::new(precision, epsilon, CLOCK, 0))
}

fn on_cpu(precision: Precision, epsilon: f64) -> Box<dyn ForceEngine> {
    cpu::engine(precision, epsilon, CLOCK, Width::choose().unwrap())
}

/// Largest |Δ| / |reference| over acceleration and jerk, and of the potential.
fn largest_error(got: &Forces, want: &Forces) -> f64 {
    let vectors = |a: &[Vec3], b: &[Vec3]| {
        let error = |(x, y): (&Vec3, &Vec3)| (x - y).norm() / y.norm().max(1e-300);
        a.iter().zip(b).map(error).fold(0.0, f64::max)
    };
    let pot = got.pot.iter().zip(&want.pot).map(|(x, y)| (x - y).abs() / y.abs().max(1e-300)).fold(0.0, f64::max);
    vectors(&got.acc, &want.acc).max(vectors(&got.jerk, &want.jerk)).max(pot)
}

/// Forces by an engine that holds its particles already.
fn evaluated(engine: &mut dyn ForceEngine, now: Time, targets: &Block) -> Forces {
    let mut out = Forces::default();
    engine.evaluate(now, targets.view(), &mut out).unwrap();
    out
}

fn parity(precision: Precision) {
    let exact = precision == Precision::F64 || held_to_bits();
    let mut worst: f64 = 0.0;
    for epsilon in [0.0, 1.0 / 256.0] {
        let Some(mut engine) = cuda(precision, epsilon) else { return };
        for n in sizes() {
            let (p, now) = system(n, n as u64);
            engine.load(&p).unwrap();
            let mut reference = on_cpu(precision, epsilon);
            reference.load(&p).unwrap();
            for size in block_sizes(n) {
                let stride = (n / size).max(1);
                let targets = block(&p, now, (0..n as u32).step_by(stride).take(size).collect());
                let want = evaluated(&mut *reference, now, &targets);
                engine.set_shape(None);
                let got = evaluated(&mut engine, now, &targets);
                let what = format!("{}, n = {n}, targets = {}, epsilon = {epsilon}", precision.name(), targets.len());
                assert!(got.acc.iter().flatten().all(|x| x.is_finite()), "{what}: not finite");
                if exact {
                    assert!(bits(&got) == bits(&want), "{what}: error {:.1e}", largest_error(&got, &want));
                } else {
                    worst = worst.max(largest_error(&got, &want));
                }
                for shape in shapes(&engine) {
                    engine.set_shape(Some(shape));
                    let again = evaluated(&mut engine, now, &targets);
                    assert!(bits(&again) == bits(&got), "{what}: {shape:?} changes bits");
                }
            }
        }
    }
    println!("{}: {}", precision.name(), if exact { "same bits".into() } else { format!("largest error {worst:.1e}") });
    // Roundings of single pairs, where terms cancel: far below what a wrong term would make.
    let limit = if precision == Precision::F64Fast { 1e-12 } else { 1e-3 };
    assert!(worst < limit, "{}: largest error {worst:.1e}", precision.name());
}

/// With 1, 2, 5 and more spans of bags, in every kernel.
#[test]
fn every_mode_gives_the_cpus_forces_and_no_launch_shape_changes_a_bit() {
    modes().into_iter().for_each(parity);
}

/// Distances whose squares are too small for the quick 1/√, among others: the kernel must notice and take the slow way.
#[test]
fn f64_keeps_its_bits_at_tiny_distances() {
    let Some(mut engine) = cuda(Precision::F64, 0.0) else { return };
    let (mut p, now) = system(500, 9);
    for i in 0..p.len() {
        let shrink = |x: f64| x * if i % 3 == 0 { 1e-147 } else { 1e-140 };
        (p.pos[i], p.vel[i]) = (p.pos[i].map(shrink), p.vel[i].map(shrink));
        (p.acc[i], p.jerk[i]) = (p.acc[i].map(shrink), p.jerk[i].map(shrink));
        p.mass[i] *= 1e-290;
    }
    let targets = block(&p, now, (0..500).collect());
    let want = forces(&mut *on_cpu(Precision::F64, 0.0), &p, now, &targets);
    assert!(want.acc.iter().flatten().all(|x| x.is_finite()));
    for shape in std::iter::once(None).chain(shapes(&engine).into_iter().map(Some)) {
        engine.set_shape(shape);
        assert!(bits(&forces(&mut engine, &p, now, &targets)) == bits(&want), "{shape:?}");
    }
}

#[test]
fn updates_are_folded_into_the_next_upload() {
    for precision in modes() {
        let Some(mut engine) = cuda(precision, 0.01) else { return };
        let (p, now) = system(300, 5);
        engine.load(&p).unwrap();
        let mut moved = p.clone();
        // Two updates without an evaluation between them, one particle in both.
        for (changed, shift) in [([0u32, 63, 64, 299], 0.25), ([1, 63, 200, 298], 0.5)] {
            for i in changed.map(|i| i as usize) {
                moved.pos[i][1] += shift;
                moved.vel[i][0] -= shift;
                moved.acc[i] = Vec3::zeros();
                moved.jerk[i] = Vec3::repeat(1.0);
                moved.time[i] = now;
            }
            engine.update(&moved, &changed).unwrap();
        }
        let targets = block(&moved, now, vec![5, 64]);
        let mut out = Forces::default();
        engine.evaluate(now, targets.view(), &mut out).unwrap();
        let fresh = forces(&mut cuda(precision, 0.01).unwrap(), &moved, now, &targets);
        assert_eq!(bits(&out), bits(&fresh));
        let before = forces(&mut cuda(precision, 0.01).unwrap(), &p, now, &targets);
        assert_ne!(bits(&out), bits(&before));
    }
}

#[test]
fn targets_stand_where_the_block_puts_them_and_only_for_that_evaluation() {
    let Some(mut engine) = cuda(Precision::F64, 0.0) else { return };
    let (p, now) = system(3000, 6);
    engine.load(&p).unwrap();
    let plain = block(&p, now, vec![3, 40, 2999]);
    let mut put = plain.clone();
    put.pos[0] = Vec3::new(0.5, 0.25, -0.125);
    put.vel[1] = Vec3::y();
    let other = block(&p, now, vec![17]);
    let mut reference = on_cpu(Precision::F64, 0.0);
    reference.load(&p).unwrap();
    for targets in [&plain, &put, &plain, &other, &put] {
        let (mut got, mut want) = (Forces::default(), Forces::default());
        engine.evaluate(now, targets.view(), &mut got).unwrap();
        reference.evaluate(now, targets.view(), &mut want).unwrap();
        assert_eq!(bits(&got), bits(&want));
    }
}

#[test]
fn a_target_does_not_feel_who_else_is_in_the_block() {
    for precision in modes() {
        let Some(mut engine) = cuda(precision, 0.0) else { return };
        let (p, now) = system(2500, 8);
        let together = forces(&mut engine, &p, now, &block(&p, now, (0..2500).collect()));
        for chosen in [vec![0u32], vec![2499], (100..165).collect(), (0..2500).step_by(7).collect()] {
            let some = forces(&mut engine, &p, now, &block(&p, now, chosen.clone()));
            for (k, &i) in chosen.iter().enumerate() {
                assert_eq!(some.acc[k].map(f64::to_bits), together.acc[i as usize].map(f64::to_bits));
                assert_eq!(some.jerk[k].map(f64::to_bits), together.jerk[i as usize].map(f64::to_bits));
                assert_eq!(some.pot[k].to_bits(), together.pot[i as usize].to_bits());
            }
        }
    }
}

#[test]
fn a_whole_f64_run_ends_in_the_cpus_state() {
    let Some(mut engine) = cuda(Precision::F64, 1.0 / 64.0) else { return };
    let start = tisane::initial::plummer::sample(700, 3, 0.999);
    let run = |engine: &mut dyn ForceEngine| {
        let mut p = start.clone();
        let parameters = Parameters {
            nu: 0.01,
            nu_start: 0.01,
            iterations: 2,
            limits: Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) },
        };
        let mut integrator = Hermite4::new(parameters, CLOCK);
        integrator.start(&mut p, engine).unwrap();
        integrator.advance(&mut p, engine, Time::from_dt_max(2), u64::MAX).unwrap();
        p.state_sha256(&CLOCK)
    };
    assert_eq!(run(&mut engine), run(&mut *on_cpu(Precision::F64, 1.0 / 64.0)));
}

#[test]
fn a_device_that_is_not_there_is_refused_in_one_line() {
    let error = CudaEngine::new(Precision::Mixed, 0.0, CLOCK, 1000).err().expect("no machine has so many devices");
    let text = error.to_string();
    println!("{text}");
    assert!(text.starts_with("CUDA: ") && !text.contains('\n'), "{text}");
    assert_eq!(error.exit_code(), 2);
}
