//! Promise: forces in two parts by the GPU have the bits of the CPU's in f64, with the same lists; and block steps of the
//! neighbour scheme that the GPU takes by itself those of the steps that the host takes, in every mode. Without a GPU each test
//! reports that it is skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use crate::systems;
use gpu::{held_to_bits, modes, needed, sizes};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaEngine, CudaGroup, list};
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::ahmad_cohen::{AhmadCohen, Limits, OnFloor, Order, Parameters};
use tisane::particles::Particles;
use tisane::states::neighbours::Neighbours;
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.09375 };
const EPSILON: f64 = 1.0 / 128.0;

/// Forces on every `step`-th particle, every other of them with a regular force. If `begun`, they are started first.
fn evaluate(
    engine: &mut dyn ForceEngine,
    (p, now): &(Particles, Time),
    step: usize,
    (radius, max, begun): (f64, usize, bool),
) -> NeighbourForces<Forces> {
    engine.load(p).unwrap();
    let block = systems::block(p, *now, (0..p.len() as u32).step_by(step).collect());
    let list = |k: usize, i: u32| -> Vec<u32> {
        let others = (0..p.len() as u32).filter(|&j| j != i && (j + k as u32).is_multiple_of(3));
        others.take(k * 5 % 83).collect()
    };
    let lists: Vec<Vec<u32>> = block.index.iter().enumerate().map(|(k, &i)| list(k, i)).collect();
    let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
    let regular: Vec<u32> = (0..block.len() as u32).step_by(2).collect();
    let radius: Vec<f64> = regular.iter().map(|&k| radius * (1.0 + 0.01 * f64::from(k))).collect();
    let targets = block.view();
    let task = NeighbourTargets { now: *now, targets, lists: &lists, regular: &regular, radius: &radius, max };
    let mut out = NeighbourForces::default();
    if begun {
        engine.begin_neighbours(&task).unwrap();
    }
    engine.evaluate_neighbours(&task, &mut out).unwrap();
    out
}

/// Three engines as one, on the devices by turns, that sum lists.
fn three(precision: Precision) -> CudaGroup {
    let devices = list().unwrap().len();
    let engine = |k: usize| {
        let mut engine = CudaEngine::new(precision, EPSILON, systems::CLOCK, k % devices).unwrap();
        engine.set_lists_on_device(Some(true));
        engine
    };
    CudaGroup::new((0..3).map(engine).collect()).unwrap()
}

#[test]
fn forces_in_two_parts_are_the_cpus() {
    for precision in modes() {
        let exact = precision == Precision::F64 || held_to_bits();
        for n in sizes() {
            for (step, radius, max) in [(1, 0.3, usize::MAX), (3, 0.0, 10), (2, 0.5, 40), (2, f64::MAX, usize::MAX)] {
                let (mut p, now) = systems::system(n, 7);
                p.states.set(Neighbours::new(n, 0, 0));
                let system = (p, now);
                let Some(mut on_gpu) = needed(CudaEngine::new(precision, EPSILON, systems::CLOCK, 0)) else { return };
                on_gpu.set_profile(true).unwrap();
                let mut on_cpu = cpu::engine(precision, EPSILON, systems::CLOCK, Width::choose().unwrap());
                let expected = evaluate(&mut *on_cpu, &system, step, (radius, max, false));
                let what = format!("{}, n = {n}, radius {radius}", precision.name());
                on_gpu.set_lists_on_device(Some(false));
                let by_host = evaluate(&mut on_gpu, &system, step, (radius, max, false));
                on_gpu.set_lists_on_device(Some(true));
                let found = evaluate(&mut on_gpu, &system, step, (radius, max, true));
                assert!(on_gpu.phases().unwrap().is_some_and(|phases| phases[2] > 0.0));
                assert_eq!((&found.irregular, &found.regular), (&by_host.irregular, &by_host.regular), "{what}");
                assert_eq!(found.renewed, by_host.renewed, "{what}");
                let by_three = evaluate(&mut three(precision), &system, step, (radius, max, true));
                assert_eq!((&by_three.irregular, &by_three.regular), (&by_host.irregular, &by_host.regular), "{what}");
                assert_eq!((&by_three.renewed, &by_three.within), (&by_host.renewed, &by_host.within), "{what}");
                // The distances have no 1/√: they are the same in every mode.
                assert_eq!(found.within, expected.within, "{what}");
                assert_eq!(found.lists[..found.within.len()], expected.lists[..expected.within.len()], "{what}");
                assert_eq!(found.irregular, expected.irregular, "{what}");
                assert_eq!(found.renewed, expected.renewed, "{what}");
                if exact {
                    assert_eq!(found.regular, expected.regular, "{what}");
                } else {
                    for (a, b) in found.regular.acc.iter().zip(&expected.regular.acc) {
                        assert!((a - b).norm() <= 1e-4 * b.norm() + 1e-12, "{what}: {a} {b}");
                    }
                }
            }
        }
        println!("{}: forces in two parts are the CPU's", precision.name());
    }
}

/// The scheme with few neighbours, so that lists change and some would be too long.
fn scheme(precision: Precision, order: Order) -> AhmadCohen {
    let given = Parameters::new(order, precision);
    let limits = Limits { floor: Level(30), on_floor: OnFloor::Clamp, ..given.limits };
    AhmadCohen::new(Parameters { limits, neighbours: Some(10.0), ..given }, CLOCK)
}

/// A sphere with some stars far outside, whose lists are empty or too long.
fn sphere(n: usize) -> Particles {
    let mut p = plummer::sample(n, 4, 0.999);
    for i in (0..n).step_by(29) {
        p.pos[i] *= 30.0;
    }
    p
}

/// Who takes the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Host,
    HostWithListsOnDevice,
    Device,
}

/// Number of steps of every other call, which are the host's: its own sums go on where those of a device end.
const FEW: u64 = 7;

/// Integrates in calls of up to `max` steps and of a few by turns. Returns the end, the work, and the forces there.
fn run(precision: Precision, order: Order, n: usize, (by, max): (By, u64)) -> Option<(Particles, [u64; 3], Forces)> {
    let mut engine = needed(CudaEngine::new(precision, EPSILON, CLOCK, 0))?;
    engine.set_stepping(by == By::Device);
    engine.set_lists_on_device(Some(by == By::HostWithListsOnDevice));
    let (mut p, mut scheme, end) = (sphere(n), scheme(precision, order), Time::from_dt_max(2));
    scheme.start(&mut p, &mut engine).unwrap();
    let (mut now, mut work) = (Time::default(), [0; 3]);
    let (half, mut call) = (Time::from_dt_max(1), 0);
    while now < end {
        let (until, max) = match call % 2 {
            0 if now < half => (half, max),
            0 => (end, max),
            _ => (end, max.min(FEW)),
        };
        call += 1;
        let done = scheme.advance(&mut p, &mut engine, until, max).unwrap();
        now = done.now;
        for (sum, part) in work.iter_mut().zip([done.block_steps, done.particle_steps, done.pairs]) {
            *sum += part;
        }
    }
    let all = systems::block(&p, now, (0..n as u32).collect());
    let forces = scheme.forces(&p, now, all.view(), &mut engine).unwrap();
    Some((p, work, forces))
}

#[test]
fn steps_on_the_device_are_those_of_the_host() {
    for precision in modes() {
        for n in sizes() {
            for order in [Order::Six, Order::Four] {
                let Some((expected, work, forces)) = run(precision, order, n, (By::Host, u64::MAX)) else { return };
                for (by, max) in [(By::Device, u64::MAX), (By::Device, 50), (By::HostWithListsOnDevice, u64::MAX)] {
                    let Some((found, of_device, at_end)) = run(precision, order, n, (by, max)) else { return };
                    let what = format!("{}, {order:?}, n = {n}, {by:?}, {max} steps at a time", precision.name());
                    assert_eq!(of_device, work, "{what}: work");
                    assert!(found == expected, "{what}: another state");
                    assert_eq!(at_end, forces, "{what}: forces for an audit");
                }
            }
        }
        println!("{}: steps on the device are those of the host", precision.name());
    }
}

#[test]
fn a_device_goes_on_where_a_cpu_stopped() {
    for n in [257, 1000] {
        let end = [1, 2].map(Time::from_dt_max);
        let whole = {
            let mut engine = cpu::engine(Precision::F64, EPSILON, CLOCK, Width::choose().unwrap());
            let (mut p, mut scheme) = (sphere(n), scheme(Precision::F64, Order::Six));
            scheme.start(&mut p, &mut *engine).unwrap();
            scheme.advance(&mut p, &mut *engine, end[0], u64::MAX).unwrap();
            let middle = p.clone();
            scheme.advance(&mut p, &mut *engine, end[1], u64::MAX).unwrap();
            (middle, p)
        };
        let Some(mut engine) = needed(CudaEngine::new(Precision::F64, EPSILON, CLOCK, 0)) else { return };
        let (mut p, mut scheme) = (whole.0, scheme(Precision::F64, Order::Six));
        scheme.resume(&p, end[0], &mut engine).unwrap();
        scheme.advance(&mut p, &mut engine, end[1], u64::MAX).unwrap();
        assert!(p == whole.1, "n = {n}");
    }
}
