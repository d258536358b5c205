//! Promise: the kernels of the papers give the reference's accelerations up to their roundings, and on the CPU the same
//! bits on any number of threads. Those on a GPU as in `cuda_parity`: `TISANE_NEED_GPU`, `TISANE_SIZES`,
//! `TISANE_FEW_SHAPES`.

use crate::gpu;
use crate::systems;
use systems::{CLOCK, system};
use tisane::diagnostics::relative_error::{Spread, relative_errors};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, Block, ForceEngine, Forces, Targets, reference};
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;
use tisane_lab::literature::cpu_kernels::{Basic, Edges};

fn synchronised(n: usize, seed: u64) -> Particles {
    let (mut p, now) = system(n, seed);
    p.time.fill(now);
    p
}

fn want(p: &Particles, epsilon: f64) -> Vec<Vec3> {
    let mut engine = reference::engine(Precision::F64, epsilon, CLOCK);
    let everyone: Vec<u32> = (0..p.len() as u32).collect();
    let mut out = Forces::default();
    engine.load(p).unwrap();
    engine.evaluate(p.time[0], Targets::all(p, &everyone), &mut out).unwrap();
    out.acc
}

fn got(engine: &mut dyn ForceEngine<Accelerations>, p: &Particles) -> Vec<Vec3> {
    let everyone: Vec<u32> = (0..p.len() as u32).collect();
    let mut out = Accelerations { acc: vec![Vec3::repeat(f64::NAN); 3] };
    engine.load(p).unwrap();
    engine.evaluate(p.time.first().copied().unwrap_or_default(), Targets::all(p, &everyone), &mut out).unwrap();
    out.acc
}

fn largest_error(got: &[Vec3], want: &[Vec3]) -> f64 {
    assert_eq!(got.len(), want.len());
    Spread::from_errors(relative_errors(got, want)).max
}

/// Every kernel of the CPU with the largest error that it may have.
fn on_cpu(epsilon: f64) -> Vec<(&'static str, Box<dyn ForceEngine<Accelerations>>, f64)> {
    vec![
        ("basic f64", Box::new(Basic::<f64>::new(epsilon)), 1e-11),
        ("basic f32", Box::new(Basic::<f32>::new(epsilon)), 1e-3),
        ("edges f64", Box::new(Edges::<f64>::new(epsilon)), 1e-11),
        ("edges f32", Box::new(Edges::<f32>::new(epsilon)), 1e-3),
    ]
}

#[test]
fn the_cpus_kernels_give_the_references_accelerations() {
    for epsilon in [0.0, 1.0 / 256.0] {
        for n in [1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000] {
            let p = synchronised(n, n as u64);
            let want = want(&p, epsilon);
            for (name, mut engine, limit) in on_cpu(epsilon) {
                let error = largest_error(&got(&mut *engine, &p), &want);
                assert!(error < limit, "{name}, n = {n}, epsilon = {epsilon}: {error:.1e}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let p = synchronised(777, 5);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| -> Vec<Vec<u64>> {
            let bits = |acc: Vec<Vec3>| acc.iter().flatten().map(|x| x.to_bits()).collect();
            on_cpu(0.01).into_iter().map(|(_, mut engine, _)| bits(got(&mut *engine, &p))).collect()
        })
    };
    let alone = on(1);
    for threads in [2, 3, 8] {
        assert_eq!(on(threads), alone, "{threads} threads");
    }
}

#[test]
fn other_bodies_than_those_with_masses_are_refused() {
    for (name, mut engine, _) in on_cpu(0.01) {
        engine.load(&synchronised(3, 1)).unwrap();
        let four = Block::from_particles(&synchronised(4, 1), (0..4).collect());
        let refused = engine.evaluate(Time::default(), four.view(), &mut Accelerations::default());
        assert!(refused.is_err(), "{name}");
    }
}

#[cfg(feature = "cuda")]
mod on_gpu {
    use super::{got, gpu, largest_error, synchronised, want};
    use tisane_lab::literature::kernel::{Paper, Root, Stage};
    use tisane_lab::literature::{PaperKernel, has_cublas};

    const EPSILON: f64 = 1.0 / 256.0;

    /// Every kernel, in several shapes.
    fn papers() -> Vec<Paper> {
        let few = gpu::few_shapes();
        let mut found = Vec::new();
        for root in Root::ALL {
            found.extend([32, 256, 1024].map(|p| Paper::Simple { root, p }));
            for unroll in Paper::UNROLL {
                found.extend([(32, 1), (256, 4), (64, 16), (1024, 1)].map(|(p, q)| Paper::Tiles {
                    root,
                    p,
                    unroll,
                    q,
                }));
            }
        }
        for stage in Stage::ALL.into_iter().filter(|stage| !stage.needs_cublas() || has_cublas()) {
            for (x, luf) in
                [(1, 128), (1, 256), (1, 512), (1, 1024), (2, 128), (2, 256), (2, 512), (4, 128), (4, 256), (8, 128)]
            {
                found.extend([64, 128].map(|y| Paper::Grid { stage, x, y, luf }));
            }
        }
        if few {
            found = found.into_iter().step_by(3).collect();
        }
        found
    }

    #[test]
    fn the_gpus_kernels_give_the_references_accelerations() {
        if !has_cublas() {
            println!("cuBLAS is not on this machine: without the stages that need it");
        }
        let systems: Vec<_> = gpu::sizes().into_iter().map(|n| synchronised(n, n as u64)).collect();
        let wanted: Vec<_> = systems.iter().map(|p| want(p, EPSILON)).collect();
        let (mut worst, mut kernels) = (0.0_f64, 0);
        for paper in papers() {
            let Some(mut kernel) = gpu::needed(PaperKernel::new(paper, EPSILON, 0)) else { return };
            for (p, want) in systems.iter().zip(&wanted) {
                let error = largest_error(&got(&mut kernel, p), want);
                assert!(error < 1e-3, "{paper}, n = {}: {error:.1e}", p.len());
                worst = worst.max(error);
            }
            kernels += 1;
        }
        println!("{kernels} kernels and parameters: largest error {worst:.1e}");
    }

    #[test]
    fn softening_that_they_cannot_do_without_is_asked_for() {
        let paper = Paper::Simple { root: Root::Rsqrt, p: 256 };
        let error = PaperKernel::new(paper, 0.0, 0).err().expect("no softening").to_string();
        assert!(error.contains("softening of at least") && !error.contains('\n'), "{error}");
        let paper = Paper::Simple { root: Root::Rsqrt, p: 100 };
        assert!(PaperKernel::new(paper, EPSILON, 0).is_err());
    }
}
