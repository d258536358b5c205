//! Not a promise but a table: the speed of launch shapes, from which `Shape::choose` is written. Needs a GPU and kernels by
//! `scripts/kernels --all FILE`: `TISANE_KERNELS=FILE cargo test --release --test cuda_shapes -- --ignored --nocapture`.
#![cfg(feature = "cuda")]

use tisane::force::cuda::{CudaEngine, Shape};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::particles::Particles;
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

fn block(p: &Particles, size: usize) -> Targets {
    let index: Vec<u32> = (0..size).map(|k| (k * p.len() / size) as u32).collect();
    let at = |i: &u32| *i as usize;
    Targets {
        pos: index.iter().map(|i| p.pos[at(i)]).collect(),
        vel: index.iter().map(|i| p.vel[at(i)]).collect(),
        index,
    }
}

/// Best of some evaluations: microseconds of the whole call and of each phase.
fn best(engine: &mut CudaEngine, targets: &Targets, rounds: usize) -> (f64, [f64; 4]) {
    let now = Time::default().after(Level(20));
    let (mut out, mut whole, mut phases) = (Forces::default(), f64::INFINITY, [f64::INFINITY; 4]);
    for profile in [false, true] {
        engine.set_profile(profile).unwrap();
        for _ in 0..rounds {
            let began = std::time::Instant::now();
            engine.evaluate(now, targets, &mut out).unwrap();
            if !profile {
                whole = whole.min(began.elapsed().as_secs_f64() * 1e6);
            }
            for (best, now) in phases.iter_mut().zip(engine.phases().unwrap().unwrap_or([f64::INFINITY; 4])) {
                *best = best.min(now);
            }
        }
    }
    (whole, phases)
}

fn row(engine: &mut CudaEngine, mode: Precision, (n, targets): (usize, &Targets), shape: Option<Shape>) {
    engine.set_shape(shape);
    let rounds = if n * targets.len() > 1 << 30 { 3 } else { 20 };
    let (whole, [up, predict, sum, down]) = best(engine, targets, rounds);
    let rate = (n * targets.len()) as f64 / sum / 1e3;
    let shape = shape.map_or("chosen".into(), |shape| format!("{shape:?}"));
    println!(
        "{:13} {n:7} {:7} whole {whole:9.1} up {up:7.1} predict {predict:6.1} sum {sum:9.1} down {down:7.1} µs \
         {rate:7.1} Gpair/s  {shape}",
        mode.name(),
        targets.len()
    );
}

#[test]
#[ignore = "prints a table, for tuning"]
fn shapes() {
    let modes = std::env::var("TISANE_MODES").unwrap_or_default();
    let brief = std::env::var_os("TISANE_BRIEF").is_some();
    for mode in Precision::ALL.into_iter().filter(|mode| modes.is_empty() || modes.split(',').any(|m| m == mode.name()))
    {
        let mut engine = CudaEngine::new(mode, 1.0 / 256.0, CLOCK, 0).unwrap();
        let [lanes, tiles] = engine.choices();
        let in_order = matches!(mode, Precision::F32Direct | Precision::F32Chamomile);
        let cases = std::env::var("TISANE_CASES").unwrap_or("131072:131072,65536:1,65536:2048,4096:128".into());
        for case in cases.split(',') {
            let (n, size) = case.split_once(':').unwrap();
            let (n, sizes): (usize, Vec<usize>) = (n.parse().unwrap(), vec![size.parse().unwrap()]);
            let p = plummer::sample(n, 1, 0.999);
            engine.load(&p).unwrap();
            for size in sizes {
                let targets = block(&p, size);
                row(&mut engine, mode, (n, &targets), None);
                if size <= 4096 && std::env::var_os("TISANE_TILES").is_none() {
                    for &t in &lanes {
                        for warps in if t > 3 { vec![4] } else { vec![4, 8] } {
                            for bags in if n > 4096 { vec![1, 2, 4] } else { vec![1] } {
                                row(&mut engine, mode, (n, &targets), Some(Shape::Whole { targets: t, warps, bags }));
                            }
                        }
                    }
                }
                if size >= 2048 || in_order {
                    for &t in &tiles {
                        for threads in if brief { vec![128, 256] } else { vec![64, 128, 256] } {
                            for span_bags in if in_order {
                                vec![256]
                            } else if brief {
                                vec![16, 32, 64, 256]
                            } else {
                                vec![32, 256]
                            } {
                                let shape = Shape::Tiles { targets: t, threads, span_bags };
                                row(&mut engine, mode, (n, &targets), Some(shape));
                            }
                        }
                    }
                }
            }
        }
    }
}
