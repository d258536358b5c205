//! Promise: the CUDA engine of accelerations alone gives the accelerations of the engines of forces: in f64 the CPU's
//! bits, in the other modes those of the CUDA engine of forces, whose 1/√ it shares. The launch shape changes no
//! bit. The environment is that of `cuda_parity`: `TISANE_NEED_GPU`, `TISANE_KERNELS` with
//! `TISANE_PARITY=bits`, `TISANE_MODES`, `TISANE_SIZES`, `TISANE_FEW_SHAPES`.
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::systems;
use gpu::{acceleration_shapes, held_to_bits, modes, needed, sizes};
use systems::{CLOCK, system};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaAccelerations, CudaEngine};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Block, ForceEngine, Forces, Targets};
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

fn cuda(precision: Precision, epsilon: f64) -> Option<CudaAccelerations> {
    needed(CudaAccelerations::new(precision, epsilon, 0))
}

/// Accelerations of all particles by an engine of forces.
fn by_forces(engine: &mut dyn ForceEngine, p: &Particles) -> Vec<Vec3> {
    // At the particles' own times, where prediction changes nothing.
    let now = p.time[0];
    assert!(p.time.iter().all(|time| *time == now));
    let mut out = Forces::default();
    engine.load(p).unwrap();
    engine.evaluate(now, Targets::all(p, &everyone(p)), &mut out).unwrap();
    out.acc
}

fn everyone(p: &Particles) -> Vec<u32> {
    (0..p.len() as u32).collect()
}

fn accelerated(engine: &mut dyn ForceEngine<Accelerations>, p: &Particles) -> Vec<Vec3> {
    let mut out = Accelerations { acc: vec![Vec3::repeat(f64::NAN); 3] };
    engine.evaluate(Time::default(), Targets::all(p, &everyone(p)), &mut out).unwrap();
    out.acc
}

/// Particles at one time.
fn synchronised(n: usize, seed: u64) -> Particles {
    let (mut p, now) = system(n, seed);
    p.time.fill(now);
    p
}

fn bits(acc: &[Vec3]) -> Vec<u64> {
    acc.iter().flatten().map(|x| x.to_bits()).collect()
}

fn largest_error(got: &[Vec3], want: &[Vec3]) -> f64 {
    let error = |(x, y): (&Vec3, &Vec3)| (x - y).norm() / y.norm().max(1e-300);
    got.iter().zip(want).map(error).fold(0.0, f64::max)
}

fn parity(precision: Precision) {
    let exact = precision == Precision::F64 || held_to_bits();
    let mut worst: f64 = 0.0;
    for epsilon in [0.0, 1.0 / 256.0] {
        let Some(mut engine) = cuda(precision, epsilon) else { return };
        for n in sizes() {
            let p = synchronised(n, n as u64);
            let on_cpu = by_forces(&mut *cpu::engine(precision, epsilon, CLOCK, Width::choose().unwrap()), &p);
            let on_gpu = by_forces(&mut CudaEngine::new(precision, epsilon, CLOCK, 0).unwrap(), &p);
            engine.set_shape(None);
            engine.load(&p).unwrap();
            let got = accelerated(&mut engine, &p);
            let what = format!("{}, n = {n}, epsilon = {epsilon}", precision.name());
            assert!(got.iter().flatten().all(|x| x.is_finite()), "{what}: not finite");
            assert!(bits(&got) == bits(&on_gpu), "{what}: error {:.1e} to the forces", largest_error(&got, &on_gpu));
            if exact {
                assert!(bits(&got) == bits(&on_cpu), "{what}: error {:.1e}", largest_error(&got, &on_cpu));
            }
            worst = worst.max(largest_error(&got, &on_cpu));
            for shape in acceleration_shapes(precision, &engine) {
                engine.set_shape(Some(shape));
                let again = accelerated(&mut engine, &p);
                assert!(bits(&again) == bits(&got), "{what}: {shape:?} changes bits");
            }
        }
    }
    println!("{}: {}", precision.name(), if exact { "same bits".into() } else { format!("largest error {worst:.1e}") });
    let limit = if precision == Precision::F64Fast { 1e-12 } else { 1e-3 };
    assert!(worst < limit, "{}: largest error {worst:.1e}", precision.name());
}

#[test]
fn every_mode_gives_the_accelerations_of_the_forces_and_no_launch_shape_changes_a_bit() {
    modes().into_iter().for_each(parity);
}

/// Distances whose squares are too small for the quick 1/√, among others.
#[test]
fn f64_keeps_its_bits_at_tiny_distances() {
    let Some(mut engine) = cuda(Precision::F64, 0.0) else { return };
    let mut p = synchronised(500, 9);
    for i in 0..p.len() {
        let shrink = if i % 3 == 0 { 1e-147 } else { 1e-140 };
        (p.pos[i], p.vel[i]) = (p.pos[i] * shrink, Vec3::zeros());
        p.mass[i] *= 1e-290;
    }
    let want = by_forces(&mut *cpu::engine(Precision::F64, 0.0, CLOCK, Width::choose().unwrap()), &p);
    assert!(want.iter().flatten().all(|x| x.is_finite()));
    engine.load(&p).unwrap();
    for shape in std::iter::once(None).chain(acceleration_shapes(Precision::F64, &engine).into_iter().map(Some)) {
        engine.set_shape(shape);
        assert!(bits(&accelerated(&mut engine, &p)) == bits(&want), "{shape:?}");
    }
}

#[test]
fn particles_move_and_change_in_number_and_mass() {
    for precision in modes() {
        let Some(mut engine) = cuda(precision, 0.01) else { return };
        for (n, seed) in [(300, 1), (1100, 2), (64, 3), (64, 4), (1, 5), (0, 6), (65, 7)] {
            let mut p = synchronised(n.max(1), seed);
            if n == 0 {
                p = Particles::new(Vec::new(), Vec::new(), Vec::new());
            }
            engine.load(&p).unwrap();
            let first = accelerated(&mut engine, &p);
            p.pos.iter_mut().for_each(|x| x[1] *= -2.0);
            let moved = accelerated(&mut engine, &p);
            assert!(n < 2 || bits(&first) != bits(&moved));
            let mut fresh = cuda(precision, 0.01).unwrap();
            fresh.load(&p).unwrap();
            assert!(bits(&accelerated(&mut fresh, &p)) == bits(&moved), "{} {n}", precision.name());
        }
        // Others than all particles.
        let some = Block::from_particles(&synchronised(65, 7), (0..64).collect());
        let refused = engine.evaluate(Time::default(), some.view(), &mut Accelerations::default());
        assert!(refused.unwrap_err().to_string().contains("65 particles that it holds as targets, and was given 64"));
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_in_one_line() {
    let error = CudaAccelerations::new(Precision::Mixed, 0.0, 1000).err().expect("no machine has so many devices");
    let text = error.to_string();
    assert!(text.starts_with("CUDA: ") && !text.contains('\n'), "{text}");
    assert_eq!(error.exit_code(), 2);
}
