//! Systems whose rows change, and the bits of all forces on them.

use crate::systems;
use tisane::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane::force::{ForceEngine, Forces};
use tisane::particles::{Particles, Vec3};
use tisane::states::neighbours::Neighbours;
use tisane::time::Time;

/// Leaves a row without a particle.
pub fn empty(p: &mut Particles, row: usize, now: Time) {
    (p.mass[row], p.pos[row], p.time[row]) = (0.0, Vec3::new(1e9, 0.0, 0.0), now);
    (p.vel[row], p.acc[row], p.jerk[row]) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
}

/// Returns a system, and what becomes of it: rows with other particles, one without, `new` ones at the end.
pub fn changed(n: usize, new: usize) -> (Particles, Particles, Vec<u32>, Time) {
    let (whole, now) = systems::system(n + new, 7);
    let mut before = whole.clone();
    before.remove_rows(&(n..n + new).collect::<Vec<_>>());
    let rows: Vec<u32> = (0..n as u32).step_by(n / 5 + 1).chain(n as u32..(n + new) as u32).collect();
    for &i in rows.iter().filter(|&&i| (i as usize) < n) {
        let i = i as usize;
        (before.mass[i], before.pos[i], before.time[i]) = (0.125, Vec3::repeat(0.5), Time(now.0 - 1));
    }
    let mut after = whole;
    empty(&mut after, rows[0] as usize, now);
    before.states.set(Neighbours::new(n, 0, 0));
    after.states.set(Neighbours::new(n + new, 0, 0));
    (before, after, rows, now)
}

/// Returns the bits of whole forces, and of forces in two parts.
pub fn bits(engine: &mut dyn ForceEngine, p: &Particles, now: Time) -> (Vec<u64>, Vec<u64>, Vec<Vec<u32>>) {
    let targets = systems::block(p, now, (1..p.len() as u32).step_by(3).collect());
    let mut whole = Forces::default();
    engine.evaluate(now, targets.view(), &mut whole).unwrap();
    let near = |i: &u32| (0..p.len() as u32).filter(|j| j != i && j % 5 == i % 5).collect::<Vec<_>>();
    let lists: Vec<Vec<u32>> = targets.index.iter().map(near).collect();
    let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
    let regular: Vec<u32> = (0..targets.len() as u32).step_by(2).collect();
    let radius = vec![0.6; regular.len()];
    let (targets, max) = (targets.view(), usize::MAX);
    let task = NeighbourTargets { now, targets, lists: &lists, regular: &regular, radius: &radius, max };
    let mut parts = NeighbourForces::default();
    engine.evaluate_neighbours(&task, &mut parts).unwrap();
    let of_parts = [&parts.irregular, &parts.regular, &parts.renewed].into_iter().flat_map(systems::bits).collect();
    (systems::bits(&whole), of_parts, parts.lists)
}
