//! Promise: the leapfrog is of 2nd order, symplectic and reversible in time, and has the same bits by any engine.

use crate::common;

use common::{advance, energy, kepler};
use std::f64::consts::PI;
use tisane::force::cpu::{self, CpuAccelerations, Width};
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::{Accelerations, ForceEngine, Targets, reference};
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::leapfrog::Leapfrog;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};

/// Integrates `steps` steps of length `dt` with the CPU engine in f64; `look` sees the state after each.
fn integrate(p: &mut Particles, dt: f64, epsilon: f64, steps: u64, mut look: impl FnMut(&Particles)) {
    let clock = Clock { start: 0.0, dt_max: dt };
    let mut engine = CpuAccelerations::<F64>::new(epsilon, Width::choose().unwrap());
    let mut integrator = Leapfrog::new(clock, Range::F64);
    integrator.start(p, &mut engine).unwrap();
    for step in 1..=steps {
        let done = integrator.advance(p, &mut engine, Time::from_dt_max(steps), 1).unwrap();
        assert_eq!(done.now, Time::from_dt_max(step));
        look(p);
    }
}

/// Position error after one period of e = 0.3 with `2^k` steps.
fn error_after_a_period(k: u32) -> f64 {
    let mut p = kepler(0.5, 0.3);
    let start = p.pos[0];
    integrate(&mut p, 2.0 * PI / f64::from(1 << k), 0.0, 1 << k, |_| {});
    (p.pos[0] - start).norm()
}

#[test]
fn verify_order_two_on_kepler() {
    let errors: Vec<f64> = (9..=13).map(error_after_a_period).collect();
    for pair in errors.windows(2) {
        let slope = (pair[0] / pair[1]).log2();
        assert!((1.98..=2.02).contains(&slope), "slope {slope}, errors {errors:?}");
    }
}

/// The largest and the mean |ΔE/E| over the first and the last of `periods` periods of e = 0.5, and the angular
/// momentum's relative error at the end.
fn errors_over(periods: u64, steps: u64) -> [f64; 5] {
    let mut p = kepler(0.25, 0.5);
    let e0 = energy(&p, 0.0);
    let spin = |p: &Particles| {
        (0..2).map(|i| p.mass[i] * (p.pos[i][0] * p.vel[i][1] - p.pos[i][1] * p.vel[i][0])).sum::<f64>()
    };
    let l0 = spin(&p);
    let mut errors = Vec::new();
    integrate(&mut p, 2.0 * PI / steps as f64, 0.0, periods * steps, |p| {
        errors.push(((energy(p, 0.0) - e0) / e0).abs())
    });
    let of = |part: &[f64]| (part.iter().copied().fold(0.0, f64::max), part.iter().sum::<f64>() / part.len() as f64);
    let (first, last) = (of(&errors[..steps as usize]), of(&errors[errors.len() - steps as usize..]));
    [first.0, last.0, first.1, last.1, (spin(&p) / l0 - 1.0).abs()]
}

#[test]
fn verify_the_energy_error_is_of_order_two_and_does_not_grow_over_a_thousand_periods() {
    let [first, last, mean_first, mean_last, spin] = errors_over(1000, 400);
    assert!((1e-5..1e-3).contains(&first), "{first}");
    assert!((last / first - 1.0).abs() < 0.02, "largest error {first} in the first period, {last} in the last");
    assert!(
        (mean_last / mean_first - 1.0).abs() < 0.02,
        "mean error {mean_first} in the first period, {mean_last} in the last"
    );
    assert!(spin < 1e-11, "a kick along the line between two bodies has no torque: {spin}");
    let finer = errors_over(1, 800)[0];
    assert!(((first / finer).log2() - 2.0).abs() < 0.05, "{first} with 400 steps a period, {finer} with 800");
}

fn cluster(n: usize) -> Particles {
    let mut p = plummer::sample(n, 3, 0.999);
    scaling::to_centre_of_mass(&mut p);
    p
}

#[test]
fn verify_time_reversal_to_rounding() {
    let start = cluster(100);
    let mut p = start.clone();
    let turn = |p: &mut Particles| p.vel.iter_mut().flatten().for_each(|v| *v = -*v);
    integrate(&mut p, 1.0 / 128.0, 0.05, 256, |_| {});
    let moved = (0..100).map(|i| (p.pos[i] - start.pos[i]).norm()).fold(0.0, f64::max);
    turn(&mut p);
    integrate(&mut p, 1.0 / 128.0, 0.05, 256, |_| {});
    turn(&mut p);
    let off =
        (0..100).map(|i| (p.pos[i] - start.pos[i]).norm().max((p.vel[i] - start.vel[i]).norm())).fold(0.0, f64::max);
    assert!(moved > 1.0 && off < 1e-11, "moved by {moved}, back to within {off}");
}

#[test]
fn verify_momentum_is_conserved_to_rounding() {
    let mut p = cluster(200);
    integrate(&mut p, 1.0 / 64.0, 0.05, 128, |_| {});
    let momentum = (0..3).map(|k| (0..200).map(|i| p.mass[i] * p.vel[i][k]).sum::<f64>().abs()).fold(0.0, f64::max);
    assert!(momentum < 1e-14, "{momentum}");
}

/// A step by hand, and that one evaluation does for it.
#[test]
fn a_step_is_kick_drift_kick_with_one_evaluation() {
    struct Spring(u32);
    impl ForceEngine<Accelerations> for Spring {
        fn load(&mut self, _: &Particles) -> tisane::Result<()> {
            Ok(())
        }
        fn update(&mut self, _: &Particles, _: &[u32]) -> tisane::Result<()> {
            Ok(())
        }
        fn evaluate(&mut self, _: Time, targets: Targets<'_>, out: &mut Accelerations) -> tisane::Result<()> {
            self.0 += 1;
            out.acc = targets.pos.iter().map(|x| x.map(|x| -x)).collect();
            Ok(())
        }
    }
    let mut p = Particles::new(vec![1.0], vec![Vec3::x()], vec![Vec3::zeros()]);
    let (mut engine, mut integrator) = (Spring(0), Leapfrog::new(Clock { start: 0.0, dt_max: 0.5 }, Range::F64));
    integrator.start(&mut p, &mut engine).unwrap();
    let done = integrator.advance(&mut p, &mut engine, Time::from_dt_max(10), 1).unwrap();
    // v½ = −1/4, x = 1 − 1/8, a = −7/8, v = −1/4 − 7/32
    assert_eq!((p.pos[0][0], p.acc[0][0], p.vel[0][0]), (0.875, -0.875, -0.46875));
    assert_eq!((p.time[0], p.step[0], done.particle_steps, done.pairs), (Time::from_dt_max(1), Level(0), 1, 0));
    advance(&mut p, &mut integrator, &mut engine, Time::from_dt_max(10));
    assert_eq!(engine.0, 11, "one evaluation a step, and one before the first");
    // Taken up again, it goes on where it was, without another evaluation.
    let mut again = p.clone();
    let mut other = Leapfrog::new(Clock { start: 0.0, dt_max: 0.5 }, Range::F64);
    other.resume(&again, Time::from_dt_max(10), &mut engine).unwrap();
    assert_eq!(engine.0, 11);
    for (integrator, p) in [(&mut integrator, &mut p), (&mut other, &mut again)] {
        integrator.advance(p, &mut engine, Time::from_dt_max(11), 1).unwrap();
    }
    assert_eq!(p, again);
}

#[test]
fn every_mode_has_the_same_bits_by_any_engine_on_any_threads() {
    let clock = Clock { start: 0.0, dt_max: 1.0 / 64.0 };
    let run = |mut engine: Box<dyn ForceEngine<Accelerations>>| {
        let (mut p, mut integrator) = (cluster(150), Leapfrog::new(clock, Range::F64));
        integrator.start(&mut p, &mut *engine).unwrap();
        advance(&mut p, &mut integrator, &mut *engine, Time::from_dt_max(32));
        p.state_sha256(&clock)
    };
    let mut states = Vec::new();
    for precision in Precision::ALL {
        let expected = run(reference::accelerations(precision, 0.01));
        for threads in [1, 3] {
            for width in Width::available() {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let state = pool.install(|| run(cpu::accelerations(precision, 0.01, width)));
                assert_eq!(state, expected, "{} {} × {threads}", precision.name(), width.name());
            }
        }
        states.push(expected);
    }
    states.sort();
    states.dedup();
    assert_eq!(states.len(), Precision::ALL.len() - 1, "only f64-fast and f64 are the same on the CPU");
}
