//! Stable triples and quadruples of the particles at the start, which subsystems follow in the mean over their orbits.

use tisane::diagnostics::cluster::bodies::Bodies;
use tisane::diagnostics::cluster::own_frame::Kind;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::encounters::HierarchicalOrbits;
use tisane::particles::Particles;

/// Largest number of particles of a system that is no cluster in which triples are looked for.
const MAX: usize = 64;

/// Returns the systems by the ids of their stars, ascending. In a cluster they are its hierarchies; in a system of few bodies, the
/// binaries with the body that each is bound to most strongly.
pub(super) fn find(p: &Particles, bodies: &Bodies, kind: Kind) -> Vec<Vec<u64>> {
    let found = match kind {
        Kind::Cluster => of_cluster(bodies),
        Kind::Orbits | Kind::Few if p.len() <= MAX => of_few(p),
        Kind::Orbits | Kind::Few => Vec::new(),
    };
    let ids = |stars: Vec<u32>| {
        let mut ids: Vec<u64> = stars.into_iter().map(|i| p.id[i as usize]).collect();
        ids.sort_unstable();
        ids
    };
    found.into_iter().map(ids).collect()
}

/// Returns true if the first of two bodies, a pair on an orbit, is followed in the mean about the other.
fn is_followed(inner: &Pair, outer: &Pair, side: usize) -> bool {
    let eccentricity = outer.eccentricity;
    let orbits = HierarchicalOrbits {
        inner_axis: inner.semi_major_axis,
        mass: [outer.mass[side], outer.mass[1 - side]],
        pericentre: outer.semi_major_axis * (1.0 - eccentricity),
        eccentricity,
    };
    eccentricity < 1.0 && orbits.can_be_averaged(false)
}

fn of_cluster(bodies: &Bodies) -> Vec<Vec<u32>> {
    let all = &bodies.systems.all;
    let is_stable = |system: &&tisane::diagnostics::cluster::systems::System| {
        let inner = system.inner().map(|at| at.map(|at| &all[at]));
        let is_simple = inner.iter().flatten().all(|system| !system.is_hierarchy());
        let mut sides = (0..2).filter_map(|side| inner[side].map(|inner| is_followed(&inner.pair, &system.pair, side)));
        system.is_hierarchy() && is_simple && sides.all(|followed| followed)
    };
    all.iter().filter(is_stable).map(|system| system.stars().to_vec()).collect()
}

/// Body of one star or two.
#[derive(Clone)]
struct Unit {
    body: Body,
    stars: Vec<u32>,
    orbit: Option<Pair>,
}

fn of_few(p: &Particles) -> Vec<Vec<u32>> {
    let star = |i: usize| Unit {
        body: Body { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] },
        stars: vec![i as u32],
        orbit: None,
    };
    let stars: Vec<Unit> = (0..p.len()).map(star).collect();
    let pairs = mutual(&stars);
    let mut units: Vec<Unit> = Vec::new();
    let mut taken = vec![false; stars.len()];
    for [i, j] in pairs {
        let (a, b) = (&stars[i], &stars[j]);
        let orbit = Some(Pair::new(&a.body, &b.body, 0.0));
        units.push(Unit { body: Body::merged(&a.body, &b.body), stars: [&a.stars[..], &b.stars].concat(), orbit });
        (taken[i], taken[j]) = (true, true);
    }
    units.extend(stars.into_iter().zip(taken).filter(|(_, taken)| !taken).map(|(star, _)| star));
    let followed = mutual(&units).into_iter().filter_map(|[i, j]| {
        let (a, b) = (&units[i], &units[j]);
        let outer = Pair::new(&a.body, &b.body, 0.0);
        let sides = [&a.orbit, &b.orbit];
        let mut inner = (0..2).filter_map(|side| sides[side].as_ref().map(|inner| is_followed(inner, &outer, side)));
        let any = sides.iter().any(|orbit| orbit.is_some());
        (any && inner.all(|followed| followed)).then(|| [&a.stars[..], &b.stars].concat())
    });
    followed.collect()
}

/// Returns the bound pairs of which each is the strongest neighbour of the other, by m/r³, as it is for subsystems.
fn mutual(units: &[Unit]) -> Vec<[usize; 2]> {
    let strongest = |i: usize| {
        let pull = |j: usize| units[j].body.mass / (units[j].body.pos - units[i].body.pos).norm().powi(3);
        (0..units.len()).filter(|&j| j != i).max_by(|&a, &b| pull(a).total_cmp(&pull(b)))
    };
    let of: Vec<Option<usize>> = (0..units.len()).map(strongest).collect();
    let is_bound = |i: usize, j: usize| Pair::new(&units[i].body, &units[j].body, 0.0).energy < 0.0;
    let both = (0..units.len()).filter_map(|i| of[i].filter(|&j| i < j && of[j] == Some(i)).map(|j| [i, j]));
    both.filter(|&[i, j]| is_bound(i, j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::particles::Vec3;

    /// A planet about a star, and a second star at a distance.
    fn triple(distance: f64) -> Particles {
        let pos = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, distance]].map(Vec3::from).to_vec();
        let vel = [[0.0; 3], [0.0, 1.0, 0.0], [(2.0 / distance).sqrt(), 0.0, 0.0]].map(Vec3::from).to_vec();
        Particles { id: vec![7, 3, 5], ..Particles::new(vec![1.0, 1e-3, 1.0], pos, vel) }
    }

    #[test]
    fn a_stable_triple_is_found_and_a_close_one_is_none() {
        assert_eq!(of_few(&triple(20.0)), [[0, 1, 2]]);
        assert!(of_few(&triple(4.0)).is_empty());
        let p = triple(20.0);
        let stars = tisane::diagnostics::cluster::Stars::new(&p, &[-1.0; 3]);
        assert_eq!(find(&p, &Bodies::find(&stars, 0.0), Kind::Few), [[3, 5, 7]]);
    }
}
