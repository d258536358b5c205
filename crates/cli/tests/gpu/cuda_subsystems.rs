//! Promise: what subsystems ask of a GPU has the bits of the CPU: rows that change, forces that are begun and completed later, and
//! whole integrations with each scheme, on one device and on several. Without a GPU each test reports that it is skipped.
//! `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::changed::{bits, changed};
use crate::gpu;
use crate::systems;
use gpu::{held_to_bits, modes, needed, sizes};
use tisane::encounters::Encounters;
use tisane::error::Result;
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaEngine, CudaGroup, list};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::ahmad_cohen::{self, AhmadCohen};
use tisane::integrator::hermite4::{self, Hermite4};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::integrator::{Integrator, Steps};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.0625 };

/// A group of `count` engines, on the devices by turns.
fn group(precision: Precision, epsilon: f64, clock: Clock, count: usize) -> Result<CudaGroup> {
    let devices = list()?.len().max(1);
    let engine = |k: usize| CudaEngine::new(precision, epsilon, clock, k % devices);
    CudaGroup::new((0..count).map(engine).collect::<Result<_>>()?)
}

/// One engine and a group of three; [`None`] without a GPU.
fn engines(precision: Precision, epsilon: f64, clock: Clock) -> Option<[Box<dyn ForceEngine>; 2]> {
    let one = needed(CudaEngine::new(precision, epsilon, clock, 0))?;
    let several = needed(group(precision, epsilon, clock, 3))?;
    Some([Box::new(one), Box::new(several)])
}

#[test]
fn replaced_rows_have_the_bits_of_a_fresh_load() {
    for precision in modes() {
        let exact = precision == Precision::F64 || held_to_bits();
        for (n, new) in [(10, 0), (63, 1), (64, 1), (500, 30), (1000, 600)] {
            let (before, after, rows, now) = changed(n, new);
            let Some(engines) = engines(precision, 0.01, systems::CLOCK) else { return };
            let mut on_cpu = cpu::engine(precision, 0.01, systems::CLOCK, Width::choose().unwrap());
            on_cpu.load(&after).unwrap();
            let expected = bits(&mut *on_cpu, &after, now);
            for mut engine in engines {
                engine.load(&after).unwrap();
                let loaded = bits(&mut *engine, &after, now);
                assert!(!exact || loaded == expected, "{}: {n} rows and {new}", precision.name());
                engine.load(&before).unwrap();
                bits(&mut *engine, &before, now);
                engine.replace(&after, &rows).unwrap();
                assert!(bits(&mut *engine, &after, now) == loaded, "{}: {n} rows and {new}", precision.name());
            }
        }
    }
}

/// Particles wait in the engine until it needs the device: those that were corrected several times have their last state.
#[test]
fn forces_that_were_begun_have_the_bits_of_those_in_one_piece() {
    for precision in modes() {
        for n in sizes() {
            let (mut p, now) = systems::system(n, 7);
            let Some(engines) = engines(precision, 0.01, systems::CLOCK) else { return };
            for mut engine in engines {
                let targets = systems::block(&p, now, (0..n as u32).step_by(2).collect());
                let (mut whole, mut in_two) = (Forces::default(), Forces::default());
                engine.load(&p).unwrap();
                for part in [1, 2, 3] {
                    let rows: Vec<u32> =
                        (0..n as u32).rev().step_by(part).collect::<Vec<_>>().into_iter().rev().collect();
                    rows.iter().for_each(|&i| p.pos[i as usize].x += 0.125);
                    engine.update(&p, &rows).unwrap();
                }
                engine.begin(now, targets.view()).unwrap();
                engine.evaluate(now, targets.view(), &mut in_two).unwrap();
                engine.load(&p).unwrap();
                engine.evaluate(now, targets.view(), &mut whole).unwrap();
                assert!(whole == in_two, "{}, n = {n}", precision.name());
                // No target, then again some.
                engine.begin(now, systems::block(&p, now, Vec::new()).view()).unwrap();
                engine.evaluate(now, systems::block(&p, now, Vec::new()).view(), &mut in_two).unwrap();
                engine.evaluate(now, targets.view(), &mut in_two).unwrap();
                assert!(whole == in_two, "{}, n = {n}", precision.name());
            }
        }
    }
}

/// Sphere in which every sixth star has a close companion.
fn cluster(n: usize) -> Particles {
    let mut p = plummer::sample(n, 5, 0.999);
    for i in (0..n - 1).step_by(6) {
        let a = 1e-4 * (1 + i % 7) as f64;
        let (x, v) = (p.pos[i], p.vel[i]);
        p.pos[i + 1] = x + Vec3::x() * a;
        p.vel[i + 1] = v + Vec3::y() * (0.9 * (2.0 * p.mass[i] / a).sqrt());
    }
    p
}

fn schemes(precision: Precision) -> Vec<Box<dyn Steps>> {
    let order = |order| {
        let given = multipoint::Parameters::new(precision);
        Box::new(Multipoint::new(multipoint::Parameters { order, ..given }, CLOCK))
    };
    let lists = |order| Box::new(AhmadCohen::new(ahmad_cohen::Parameters::new(order, precision), CLOCK));
    vec![
        Box::new(Hermite4::new(hermite4::Parameters::new(precision), CLOCK)),
        order(multipoint::Order::Six),
        order(multipoint::Order::Eight),
        lists(ahmad_cohen::Order::Six),
        lists(ahmad_cohen::Order::Four),
    ]
}

/// Integrates with subsystems; returns the hash of the state.
fn run(scheme: Box<dyn Steps>, engine: &mut dyn ForceEngine, n: usize) -> String {
    let (mut p, mut integrator, end) = (cluster(n), Encounters::new(scheme, 1e-5, CLOCK), Time::from_dt_max(3));
    let mut now = integrator.start(&mut p, engine).unwrap().now;
    assert!(integrator.number() > n / 10, "{} subsystems", integrator.number());
    while now < end {
        now = integrator.advance(&mut p, engine, end, u64::MAX).unwrap().now;
    }
    p.state_sha256(&CLOCK)
}

#[test]
fn subsystems_on_one_device_and_on_several_end_in_the_state_of_cores() {
    for precision in modes() {
        let exact = precision == Precision::F64 || held_to_bits();
        for n in [65, 600] {
            for number in 0..5 {
                let scheme = || schemes(precision).swap_remove(number);
                let Some(engines) = engines(precision, 0.0, CLOCK) else { return };
                let [one, several] = engines.map(|mut engine| run(scheme(), &mut *engine, n));
                assert_eq!(one, several, "{}, scheme {number}, n = {n}", precision.name());
                if exact {
                    let mut on_cpu = cpu::engine(precision, 0.0, CLOCK, Width::choose().unwrap());
                    assert_eq!(one, run(scheme(), &mut *on_cpu, n), "{}, scheme {number}", precision.name());
                }
            }
        }
        println!("{}: subsystems end in one state", precision.name());
    }
}
