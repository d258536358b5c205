//! Promise: forces in two parts have the same bits on every engine of the CPU, and on any number of them that share the
//! targets, in every mode; together they are the whole force; and the lists are those of a full search.

use crate::systems::{self, CLOCK};
use tisane::force::cpu::{self, Width};
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::precision::Precision;
use tisane::force::split::{Split, Threads};
use tisane::force::{Block, ForceEngine, Forces, reference};
use tisane::particles::{Particles, Vec3};
use tisane::states::neighbours::Neighbours;
use tisane::time::Time;

/// A system in mid-flight with room for lists, and its moment.
fn system(n: usize) -> (Particles, Time) {
    let (mut p, now) = systems::system(n, 7);
    p.states.set(Neighbours::new(n, 0, 0));
    (p, now)
}

/// Targets, some with a regular force, at places of their own.
struct Task {
    block: Block,
    lists: Vec<Vec<u32>>,
    regular: Vec<u32>,
    radius: Vec<f64>,
    max: usize,
}

/// Every `step`-th particle as target, every other of these with a regular force by a radius of about `radius`.
fn task((p, now): &(Particles, Time), step: usize, radius: f64) -> Task {
    let index: Vec<u32> = (0..p.len() as u32).step_by(step).collect();
    let mut block = systems::block(p, *now, index);
    block.pos.iter_mut().for_each(|x| *x *= 1.0 + 1e-9);
    // Lists of many lengths, that of the first empty.
    let list = |k: usize, i: u32| {
        let others = (0..p.len() as u32).filter(move |&j| j != i && (j + k as u32).is_multiple_of(3));
        others.take(k * 5 % 83).collect()
    };
    let lists = block.index.iter().enumerate().map(|(k, &i)| list(k, i)).collect();
    let regular: Vec<u32> = (0..block.len() as u32).step_by(2).collect();
    let radius = regular.iter().map(|&k| radius * (1.0 + 0.01 * f64::from(k))).collect();
    Task { block, lists, regular, radius, max: usize::MAX }
}

fn evaluate(engine: &mut dyn ForceEngine, (p, now): &(Particles, Time), task: &Task) -> NeighbourForces<Forces> {
    engine.load(p).unwrap();
    let lists: Vec<&[u32]> = task.lists.iter().map(Vec::as_slice).collect();
    let Task { regular, radius, max, .. } = task;
    let targets = task.block.view();
    let task = NeighbourTargets { now: *now, targets, lists: &lists, regular, radius, max: *max };
    let mut out = NeighbourForces::default();
    engine.evaluate_neighbours(&task, &mut out).unwrap();
    out
}

fn bits(forces: &Forces) -> Vec<u64> {
    let vectors = forces.acc.iter().chain(&forces.jerk).flatten();
    vectors.chain(&forces.pot).map(|x| x.to_bits()).collect()
}

fn assert_same(found: &NeighbourForces<Forces>, expected: &NeighbourForces<Forces>, what: &str) {
    assert_eq!((&found.lists, &found.within), (&expected.lists, &expected.within), "{what}: lists");
    for (part, found, expected) in [
        ("irregular", &found.irregular, &expected.irregular),
        ("regular", &found.regular, &expected.regular),
        ("renewed", &found.renewed, &expected.renewed),
    ] {
        assert!(bits(found) == bits(expected), "{what}: {part} forces");
    }
}

#[test]
fn every_engine_has_the_same_bits() {
    for precision in Precision::ALL {
        for epsilon in [1.0 / 64.0, 0.0] {
            for (n, step, radius) in
                [(1, 1, 0.5), (2, 1, 0.5), (33, 1, 0.0), (257, 2, 0.3), (1000, 7, 0.4), (1111, 1, 0.2)]
            {
                let p = system(n);
                let task = task(&p, step, radius);
                let expected = evaluate(&mut *reference::engine(precision, epsilon, CLOCK), &p, &task);
                for width in Width::available() {
                    let found = evaluate(&mut *cpu::engine(precision, epsilon, CLOCK, width), &p, &task);
                    let what = format!("{} {} n = {n}, epsilon = {epsilon}", precision.name(), width.name());
                    assert_same(&found, &expected, &what);
                }
            }
        }
    }
}

#[test]
fn engines_that_share_the_targets_change_nothing() {
    let width = Width::choose().unwrap();
    let engine = |precision| -> Box<dyn ForceEngine> { cpu::engine(precision, 0.01, CLOCK, width) };
    // Of the last, the lists are so long that not all targets are evaluated in one turn.
    let sizes = [(33, 1, 0.3, 9), (257, 1, 0.3, 30), (1000, 3, 0.4, 200), (5000, 1, 0.1, usize::MAX)];
    for (n, step, radius, max) in sizes {
        let p = system(n);
        let task = Task { max, ..task(&p, step, radius) };
        let modes = if n < 5000 { &Precision::ALL[..] } else { &[Precision::Mixed] };
        for &precision in modes {
            let expected = evaluate(&mut *engine(precision), &p, &task);
            for peers in 1..=3 {
                let others = (0..peers).map(|_| engine(precision)).collect();
                let mut split = Split::new(engine(precision), Box::new(Threads::new(others).unwrap()), 2);
                for turn in ["first", "second"] {
                    let what = format!("{}, n = {n}, {peers} peers, {turn} time", precision.name());
                    assert_same(&evaluate(&mut split, &p, &task), &expected, &what);
                }
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let (p, width) = (system(4000), Width::choose().unwrap());
    let task = task(&p, 1, 0.2);
    for precision in [Precision::F64, Precision::Mixed] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| evaluate(&mut *cpu::engine(precision, 0.01, CLOCK, width), &p, &task))
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert_same(&run(threads), &one, &format!("{} on {threads} threads", precision.name()));
        }
    }
}

#[test]
fn the_parts_are_the_whole_and_lists_those_of_a_full_search() {
    let epsilon = 1.0 / 64.0;
    let all = system(700);
    let (p, now) = (&all.0, all.1);
    for radius in [0.0, 0.1, 0.5, f64::MAX] {
        let task = task(&all, 3, radius);
        let mut engine = cpu::engine(Precision::F64, epsilon, CLOCK, Width::choose().unwrap());
        let found = evaluate(&mut *engine, &all, &task);
        let mut whole = Forces::default();
        engine.evaluate(now, task.block.view(), &mut whole).unwrap();
        let at = |j: usize| {
            let place = task.block.index.iter().position(|&i| i as usize == j);
            let dt = CLOCK.between(p.time[j], now);
            let predicted = tisane::gravity::predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], dt).0;
            place.map_or(predicted, |k| task.block.pos[k])
        };
        for (rank, &k) in task.regular.iter().enumerate() {
            let (k, i) = (k as usize, task.block.index[k as usize] as usize);
            let near = |j: &usize| *j != i && (at(*j) - at(i)).norm() < task.radius[rank];
            let expected: Vec<u32> = (0..p.len()).filter(near).map(|j| j as u32).collect();
            assert_eq!(found.lists[rank], expected, "radius {radius}");
            assert_eq!(found.within[rank] as usize, expected.len());
            let sum = |of: fn(&Forces) -> &[Vec3]| of(&found.regular)[rank] + of(&found.renewed)[rank];
            assert!((sum(|f| &f.acc) - whole.acc[k]).norm() < 1e-13 * whole.acc[k].norm());
            assert!((sum(|f| &f.jerk) - whole.jerk[k]).norm() < 1e-12 * whole.jerk[k].norm());
            let pot = found.regular.pot[rank] + found.renewed.pot[rank];
            assert!((pot / whole.pot[k] - 1.0).abs() < 1e-13);
            if radius == 0.0 {
                assert_eq!(found.regular.acc[rank], whole.acc[k], "without neighbours the sums are the same");
            }
        }
    }
}

#[test]
fn a_list_that_would_be_too_long_is_empty() {
    let p = system(300);
    for precision in [Precision::F64, Precision::F32Kahan] {
        let whole = Task { max: 20, ..task(&p, 1, 0.4) };
        let mut engine = cpu::engine(precision, 0.01, CLOCK, Width::choose().unwrap());
        let found = evaluate(&mut *engine, &p, &whole);
        assert_same(&evaluate(&mut *reference::engine(precision, 0.01, CLOCK), &p, &whole), &found, precision.name());
        let mut all = Forces::default();
        engine.evaluate(p.1, whole.block.view(), &mut all).unwrap();
        let mut cut = 0;
        for (rank, &k) in whole.regular.iter().enumerate() {
            let (list, within) = (&found.lists[rank], found.within[rank] as usize);
            assert_eq!(list.len(), if within > 20 { 0 } else { within });
            if within > 20 {
                cut += 1;
                assert_eq!(found.regular.acc[rank], all.acc[k as usize]);
            }
        }
        assert!((10..whole.regular.len() - 10).contains(&cut), "{cut} lists were cut");
    }
}

#[test]
fn particles_without_room_for_lists_are_refused() {
    let (p, now) = systems::system(10, 7);
    let mut engine = cpu::engine(Precision::F64, 0.01, CLOCK, Width::choose().unwrap());
    engine.load(&p).unwrap();
    let block = Block::from_particles(&p, vec![0]);
    let task = NeighbourTargets { now, targets: block.view(), lists: &[&[1, 2]], regular: &[], radius: &[], max: 9 };
    let error = engine.evaluate_neighbours(&task, &mut NeighbourForces::default()).unwrap_err();
    assert!(error.to_string().contains("no room for lists"), "{error}");
}
