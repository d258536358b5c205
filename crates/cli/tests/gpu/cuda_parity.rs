//! Promise: the CUDA engines give the CPU's forces, and accelerations alone: in f64 bit for bit, in the other modes up to the
//! roundings of their 1/√. Accelerations have the bits of those among the forces, whose 1/√ they share. The launch shape and the
//! other targets of a block change no bit. Without a GPU each test reports that it is
//! skipped, or fails if `TISANE_NEED_GPU` is set. With kernels compiled by `scripts/gpu/kernels --ieee FILE` and
//! `TISANE_KERNELS=FILE TISANE_PARITY=bits`, every mode is compared with the CPU's bits. For a sanitizer, which is
//! slow, the tests can be reduced: `TISANE_MODES=mixed,f64`, `TISANE_SIZES=1,33` (particles), `TISANE_BLOCKS=1,2048`
//! (targets of forces), `TISANE_FEW_SHAPES=1` (one shape per kernel, in addition to the one that the engine chooses).
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::systems;
use gpu::{acceleration_shapes, held_to_bits, listed, modes, needed, shapes, sizes};
use std::fmt::Debug;
use systems::{CLOCK, bits, block, forces, system};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{AccelerationShape, CudaAccelerations, CudaEngine, LaunchShape};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Block, Evaluation, ForceEngine, Forces};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Level, Time};

/// Evaluation whose engines on CPU and GPU are compared.
trait Compared: Evaluation {
    type Engine: ForceEngine<Self>;
    type Shape: Copy + Debug;
    /// Whether it is compared, too, with what the CUDA engine of forces finds.
    const AMONG_FORCES: bool;

    /// The engine of a device.
    fn on_device(precision: Precision, epsilon: f64, device: usize) -> tisane::Result<Self::Engine>;
    fn set_shape(engine: &mut Self::Engine, shape: Option<Self::Shape>);
    /// Some shapes of each kind that the mode has kernels for.
    fn shapes(engine: &Self::Engine, precision: Precision) -> Vec<Self::Shape>;
    /// Particles that the engine takes, and the moment of the evaluation.
    fn system(n: usize, seed: u64) -> (Particles, Time);
    /// Numbers of targets among `n` particles.
    fn block_sizes(n: usize) -> Vec<usize>;
    /// What is to be found, from an engine of forces.
    fn of_forces(forces: Forces) -> Self;
    /// Everything, to be compared bit by bit.
    fn bits(&self) -> Vec<u64>;
    /// Largest |Δ| / |reference| over vectors and numbers.
    fn error_to(&self, reference: &Self) -> f64;
}

impl Compared for Forces {
    type Engine = CudaEngine;
    type Shape = LaunchShape;
    const AMONG_FORCES: bool = false;

    fn on_device(precision: Precision, epsilon: f64, device: usize) -> tisane::Result<CudaEngine> {
        CudaEngine::new(precision, epsilon, CLOCK, device)
    }

    fn set_shape(engine: &mut CudaEngine, shape: Option<LaunchShape>) {
        engine.set_shape(shape);
    }

    fn shapes(engine: &CudaEngine, _: Precision) -> Vec<LaunchShape> {
        shapes(engine)
    }

    fn system(n: usize, seed: u64) -> (Particles, Time) {
        system(n, seed)
    }

    fn block_sizes(n: usize) -> Vec<usize> {
        listed("TISANE_BLOCKS").unwrap_or(vec![1, 31, 33, n])
    }

    fn of_forces(forces: Forces) -> Self {
        forces
    }

    fn bits(&self) -> Vec<u64> {
        bits(self)
    }

    fn error_to(&self, reference: &Self) -> f64 {
        let pot =
            self.pot.iter().zip(&reference.pot).map(|(x, y)| (x - y).abs() / y.abs().max(1e-300)).fold(0.0, f64::max);
        largest_error(&self.acc, &reference.acc).max(largest_error(&self.jerk, &reference.jerk)).max(pot)
    }
}

impl Compared for Accelerations {
    type Engine = CudaAccelerations;
    type Shape = AccelerationShape;
    const AMONG_FORCES: bool = true;

    fn on_device(precision: Precision, epsilon: f64, device: usize) -> tisane::Result<CudaAccelerations> {
        CudaAccelerations::new(precision, epsilon, device)
    }

    fn set_shape(engine: &mut CudaAccelerations, shape: Option<AccelerationShape>) {
        engine.set_shape(shape);
    }

    fn shapes(engine: &CudaAccelerations, precision: Precision) -> Vec<AccelerationShape> {
        acceleration_shapes(precision, engine)
    }

    /// At the particles' own times, where prediction changes nothing.
    fn system(n: usize, seed: u64) -> (Particles, Time) {
        let (mut p, now) = system(n, seed);
        p.time.fill(now);
        (p, now)
    }

    /// All particles.
    fn block_sizes(n: usize) -> Vec<usize> {
        vec![n]
    }

    fn of_forces(forces: Forces) -> Self {
        Self { acc: forces.acc }
    }

    fn bits(&self) -> Vec<u64> {
        self.acc.iter().flatten().map(|x| x.to_bits()).collect()
    }

    fn error_to(&self, reference: &Self) -> f64 {
        largest_error(&self.acc, &reference.acc)
    }
}

fn largest_error(got: &[Vec3], want: &[Vec3]) -> f64 {
    let error = |(x, y): (&Vec3, &Vec3)| (x - y).norm() / y.norm().max(1e-300);
    got.iter().zip(want).map(error).fold(0.0, f64::max)
}

fn cuda<E: Compared>(precision: Precision, epsilon: f64) -> Option<E::Engine> {
    needed(E::on_device(precision, epsilon, 0))
}

fn on_cpu(precision: Precision, epsilon: f64) -> Box<dyn ForceEngine> {
    cpu::engine(precision, epsilon, CLOCK, Width::choose().unwrap())
}

/// Evaluates with an engine that holds its particles already.
fn evaluated<E: Evaluation>(engine: &mut dyn ForceEngine<E>, now: Time, targets: &Block) -> E {
    let mut out = E::default();
    engine.evaluate(now, targets.view(), &mut out).unwrap();
    out
}

/// All particles.
fn everyone(p: &Particles, now: Time) -> Block {
    block(p, now, (0..p.len() as u32).collect())
}

fn parity<E: Compared>(precision: Precision) {
    let exact = precision == Precision::F64 || held_to_bits();
    let mut worst: f64 = 0.0;
    for epsilon in [0.0, 1.0 / 256.0] {
        let Some(mut engine) = cuda::<E>(precision, epsilon) else { return };
        let mut of_forces = E::AMONG_FORCES.then(|| cuda::<Forces>(precision, epsilon).unwrap());
        let mut reference = on_cpu(precision, epsilon);
        for n in sizes() {
            let (p, now) = E::system(n, n as u64);
            engine.load(&p).unwrap();
            reference.load(&p).unwrap();
            for size in E::block_sizes(n) {
                let stride = (n / size).max(1);
                let targets = block(&p, now, (0..n as u32).step_by(stride).take(size).collect());
                let want = E::of_forces(evaluated(&mut *reference, now, &targets));
                E::set_shape(&mut engine, None);
                let got = evaluated(&mut engine, now, &targets);
                let what = format!("{}, n = {n}, targets = {}, epsilon = {epsilon}", precision.name(), targets.len());
                assert!(got.bits().into_iter().all(|x| f64::from_bits(x).is_finite()), "{what}: not finite");
                if let Some(engine) = &mut of_forces {
                    let among_forces = E::of_forces(forces(engine, &p, now, &targets));
                    let error = got.error_to(&among_forces);
                    assert!(got.bits() == among_forces.bits(), "{what}: error {error:.1e} to the forces");
                }
                let error = got.error_to(&want);
                assert!(!exact || got.bits() == want.bits(), "{what}: error {error:.1e}");
                worst = worst.max(error);
                for shape in E::shapes(&engine, precision) {
                    E::set_shape(&mut engine, Some(shape));
                    let again: E = evaluated(&mut engine, now, &targets);
                    assert!(again.bits() == got.bits(), "{what}: {shape:?} changes bits");
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
    modes().into_iter().for_each(parity::<Forces>);
}

#[test]
fn accelerations_are_those_of_the_forces_in_every_mode_and_launch_shape() {
    modes().into_iter().for_each(parity::<Accelerations>);
}

/// Distances whose squares are too small for the quick 1/√, among others: the kernel must notice and take the slow way.
fn tiny_distances<E: Compared>() {
    let Some(mut engine) = cuda::<E>(Precision::F64, 0.0) else { return };
    let (mut p, now) = E::system(500, 9);
    for i in 0..p.len() {
        let shrink = |x: f64| x * if i % 3 == 0 { 1e-147 } else { 1e-140 };
        (p.pos[i], p.vel[i]) = (p.pos[i].map(shrink), p.vel[i].map(shrink));
        (p.acc[i], p.jerk[i]) = (p.acc[i].map(shrink), p.jerk[i].map(shrink));
        p.mass[i] *= 1e-290;
    }
    let targets = everyone(&p, now);
    let want = E::of_forces(forces(&mut *on_cpu(Precision::F64, 0.0), &p, now, &targets));
    assert!(want.acc().iter().flatten().all(|x| x.is_finite()));
    engine.load(&p).unwrap();
    for shape in std::iter::once(None).chain(E::shapes(&engine, Precision::F64).into_iter().map(Some)) {
        E::set_shape(&mut engine, shape);
        assert!(evaluated(&mut engine, now, &targets).bits() == want.bits(), "{shape:?}");
    }
}

#[test]
fn f64_keeps_its_bits_at_tiny_distances() {
    tiny_distances::<Forces>();
    tiny_distances::<Accelerations>();
}

#[test]
fn updates_are_folded_into_the_next_upload() {
    for precision in modes() {
        let Some(mut engine) = cuda::<Forces>(precision, 0.01) else { return };
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
        let fresh = forces(&mut cuda::<Forces>(precision, 0.01).unwrap(), &moved, now, &targets);
        assert_eq!(bits(&out), bits(&fresh));
        let before = forces(&mut cuda::<Forces>(precision, 0.01).unwrap(), &p, now, &targets);
        assert_ne!(bits(&out), bits(&before));
    }
}

#[test]
fn targets_stand_where_the_block_puts_them_and_only_for_that_evaluation() {
    let Some(mut engine) = cuda::<Forces>(Precision::F64, 0.0) else { return };
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
        let Some(mut engine) = cuda::<Forces>(precision, 0.0) else { return };
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
    let Some(mut engine) = cuda::<Forces>(Precision::F64, 1.0 / 64.0) else { return };
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

/// Particles change in number, and move and change in mass without a message to the engine.
#[test]
fn accelerations_are_of_the_particles_as_they_are() {
    for precision in modes() {
        let Some(mut engine) = cuda::<Accelerations>(precision, 0.01) else { return };
        for (n, seed) in [(300, 1), (1100, 2), (64, 3), (64, 4), (1, 5), (0, 6), (65, 7)] {
            let (mut p, now) = Accelerations::system(n.max(1), seed);
            if n == 0 {
                p = Particles::new(Vec::new(), Vec::new(), Vec::new());
            }
            engine.load(&p).unwrap();
            let first = evaluated(&mut engine, now, &everyone(&p, now));
            p.pos.iter_mut().for_each(|x| x[1] *= -2.0);
            let mut moved = Accelerations { acc: vec![Vec3::repeat(f64::NAN); 3] };
            engine.evaluate(now, everyone(&p, now).view(), &mut moved).unwrap();
            assert!(n < 2 || first.bits() != moved.bits());
            let mut fresh = cuda::<Accelerations>(precision, 0.01).unwrap();
            fresh.load(&p).unwrap();
            assert!(evaluated(&mut fresh, now, &everyone(&p, now)).bits() == moved.bits(), "{} {n}", precision.name());
        }
        // Others than all particles.
        let some = Block::from_particles(&Accelerations::system(65, 7).0, (0..64).collect());
        let refused = engine.evaluate(Time::default(), some.view(), &mut Accelerations::default());
        assert!(refused.unwrap_err().to_string().contains("65 particles that it holds as targets, and was given 64"));
    }
}

fn refused_in_one_line<E: Compared>() {
    let error = E::on_device(Precision::Mixed, 0.0, 1000).err().expect("no machine has so many devices");
    let text = error.to_string();
    println!("{text}");
    assert!(text.starts_with("CUDA: ") && !text.contains('\n'), "{text}");
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_device_that_is_not_there_is_refused_in_one_line() {
    refused_in_one_line::<Forces>();
    refused_in_one_line::<Accelerations>();
}
