//! Time of one evaluation of the forces on all sources by the C library beside that of the engine alone, in microseconds:
//! medians of calls that alternate.
//!   cargo run --release --package tisane-capi --example overhead [ENGINE [MODE]]

use std::ffi::CString;
use std::time::Instant;
use tisane::force::precision::Precision;
use tisane::force::{Block, EngineKind, Forces};
use tisane::initial::plummer;
use tisane::particles::{Vec3, components_mut};
use tisane::spin_pool;
use tisane::time::{Clock, Time};
use tisane_capi::forces::{tisane_forces_close, tisane_forces_evaluate, tisane_forces_open, tisane_forces_set};
use tisane_capi::{Status, TisaneVectors};

fn microseconds(call: impl FnOnce() -> bool) -> f64 {
    let began = Instant::now();
    assert!(call(), "a call failed");
    1e6 * began.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn rows(of: &mut [Vec3]) -> TisaneVectors {
    let at = components_mut(of).as_mut_ptr();
    TisaneVectors { x: at, y: at.wrapping_add(1), z: at.wrapping_add(2), stride: 3 }
}

#[allow(unsafe_code, reason = "calls of a C library")]
fn main() -> tisane::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().and_then(|name| EngineKind::from_name(name)).unwrap_or(EngineKind::Cpu);
    let mode = arguments.get(1).map_or("f64", String::as_str);
    let precision = Precision::ALL.into_iter().find(|precision| precision.name() == mode).unwrap_or_default();
    println!("{} {}: N, engine, C library, ratio", kind.name(), precision.name());
    for n in [64, 1024, 16384] {
        let mut p = plummer::sample(n, 1, 0.999);
        let mut engine = kind.open(precision, 0.01, Clock { start: 0.0, dt_max: 1.0 }, 0)?;
        engine.load(&p)?;
        let block = Block::from_particles(&p, (0..n as u32).collect());
        let index: Vec<u64> = (0..n as u64).collect();
        let (mut acc, mut jerk, mut pot) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n], vec![0.0; n]);
        let (pos, vel, acc_rows, jerk_rows) = (rows(&mut p.pos), rows(&mut p.vel), rows(&mut acc), rows(&mut jerk));
        let names = [kind.name(), precision.name()].map(|name| CString::new(name).unwrap_or_default());
        let (pool, mut handle, mut out) = (spin_pool::shared()?, 0, Forces::default());
        let (mut by_engine, mut by_library) = (Vec::new(), Vec::new());
        // SAFETY: all arrays hold n elements, and live to the end of this block.
        unsafe {
            assert_eq!(tisane_forces_open(names[0].as_ptr(), names[1].as_ptr(), 0.01, &mut handle), Status::TISANE_OK);
            assert_eq!(tisane_forces_set(handle, n as i64, p.mass.as_ptr(), pos, vel), Status::TISANE_OK);
            for _ in 0..(400_000_000 / (n * n)).clamp(9, 2000) {
                by_engine.push(microseconds(|| {
                    pool.install(|| engine.evaluate(Time::default(), block.view(), &mut out).is_ok())
                }));
                by_library.push(microseconds(|| {
                    let (exclude, pot) = (index.as_ptr(), pot.as_mut_ptr());
                    let found = tisane_forces_evaluate(handle, n as i64, exclude, pos, vel, acc_rows, jerk_rows, pot);
                    found == Status::TISANE_OK
                }));
            }
        }
        tisane_forces_close(handle);
        assert!(out.acc == acc && out.jerk == jerk && out.pot == pot, "the library has other bits");
        let [engine, library] = [by_engine, by_library].map(median);
        println!("{n}, {engine:.1}, {library:.1}, {:.3}", library / engine);
    }
    Ok(())
}
