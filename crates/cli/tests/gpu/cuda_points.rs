//! Promise: forces at any points on a GPU are the CPU's, in f64 bit for bit, in every launch shape and after updates.
//! For the environment variables see `cuda_parity`.
#![cfg(feature = "cuda")]

use crate::gpu::{held_to_bits, listed, modes, needed, shapes, sizes};
use crate::systems::{CLOCK, bits, points, system, with_derivatives};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::CudaEngine;
use tisane::force::precision::Precision;
use tisane::force::{FieldEngine, ForceEngine, Forces, Points};
use tisane::states::history::History;

#[test]
fn points_feel_the_cpus_forces() {
    for precision in modes() {
        let Some(mut engine) = needed(CudaEngine::new(precision, 0.01, CLOCK, 0)) else { return };
        let exact = precision == Precision::F64 || held_to_bits();
        // Further derivatives, by which sources are predicted in f64: of order 6, none, and of order 8.
        for (n, kept) in sizes().into_iter().flat_map(|n| [(n, 2), (n, 0), (n, 4)]) {
            let (p, now) = system(n, n as u64);
            let mut p = with_derivatives(p, kept, 7);
            let mut on_cpu = cpu::engine(precision, 0.01, CLOCK, Width::widest());
            engine.load(&p).unwrap();
            // A correction that the device learns of with the points.
            p.pos[n / 2] *= 0.5;
            p.states.get_mut::<History>().derivatives.iter_mut().for_each(|of| of[n / 2] *= -2.0);
            engine.update(&p, &[(n / 2) as u32]).unwrap();
            on_cpu.load(&p).unwrap();
            // 130: more than the staging memory of small systems takes at a time.
            for m in listed("TISANE_BLOCKS").unwrap_or(vec![1, 33, 130, 2000]) {
                let (exclude, pos, vel) = points(n, m);
                let points = Points { exclude: &exclude, pos: &pos, vel: &vel };
                let (mut want, mut got) = (Forces::default(), Forces::default());
                on_cpu.evaluate_at(now, points, &mut want).unwrap();
                for shape in std::iter::once(None).chain(shapes(&engine).into_iter().map(Some)) {
                    engine.set_shape(shape);
                    engine.evaluate_at(now, points, &mut got).unwrap();
                    let what = format!("{}, n = {n}, m = {m}, {kept} derivatives, {shape:?}", precision.name());
                    if exact {
                        assert!(bits(&got) == bits(&want), "{what}");
                    } else {
                        let error = got.acc.iter().zip(&want.acc).map(|(a, b)| (a - b).norm() / b.norm().max(1e-300));
                        assert!(error.fold(0.0, f64::max) < 1e-3, "{what}");
                    }
                }
                engine.set_shape(None);
            }
        }
    }
}
