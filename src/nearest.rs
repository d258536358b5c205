//! Nearest neighbours of every particle, by a k-d tree of nabo. Among equally distant particles at the end of the list its
//! order of traversal decides. That of kiddo, the other maintained k-d tree, decides otherwise, so that neighbours would
//! change; kiddo also takes more packages, and compiles to other code by the cache lines of the machine that builds it.

use nabo::{CandidateContainer, KDTree, NotNan, Parameters, Point};
use rayon::prelude::*;
use tisane_force::particles::Vec3;

/// Number of cells of the tree's grid, as a power of two, from the origin to the outermost coordinate. On a grid the
/// middle between two coordinates is a number of its own, without which the tree could not separate two adjacent ones;
/// the grid is as fine as f64 allows.
const LOG2_CELLS: i32 = 51;
/// Minimum number of queries for a thread.
const MIN: usize = 256;

/// Point on the grid.
#[derive(Clone, Copy, Debug, Default)]
struct Place([NotNan<f64>; 3]);

impl Point<f64> for Place {
    const DIM: u32 = 3;
    fn set(&mut self, axis: u32, value: NotNan<f64>) {
        self.0[axis as usize] = value;
    }
    fn get(&self, axis: u32) -> NotNan<f64> {
        self.0[axis as usize]
    }
}

/// Neighbour of a particle or point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Neighbour {
    /// Index of the neighbour.
    pub index: u32,
    /// Distance to the neighbour.
    pub distance: f64,
}

/// Nearest neighbours of every particle, in order of distance, of equally distant ones the smaller id first.
pub struct Neighbours<'a> {
    id: &'a [u64],
    pos: &'a [Vec3],
    tree: Option<(KDTree<f64, Place>, f64)>,
    each: usize,
    near: Vec<Neighbour>,
}

impl<'a> Neighbours<'a> {
    /// Finds the `count` nearest neighbours of each particle, or all others if there are fewer. There are none if a
    /// position is not finite.
    #[must_use]
    pub fn new(id: &'a [u64], pos: &'a [Vec3], count: usize) -> Self {
        let n = pos.len();
        let widest =
            pos.iter().flatten().fold(0.0, |widest: f64, x| if x.is_finite() { widest.max(x.abs()) } else { f64::NAN });
        let cell = cell(widest);
        let places: Option<Vec<Place>> = pos.iter().map(|x| place(*x, cell)).collect();
        let tree =
            places.filter(|places| places.len() > 1).map(|places| (KDTree::new_with_bucket_size(&places, 12), cell));
        let each = if tree.is_some() { count.min(n - 1) } else { 0 };
        let mut all = Self { id, pos, tree, each, near: Vec::new() };
        if each > 0 {
            let mut near = vec![Neighbour::default(); n * each];
            near.par_chunks_mut(each).with_min_len(MIN).enumerate().for_each(|(i, near)| {
                let found = all.nearest_to(pos[i], each + 1);
                let others = found.into_iter().filter(|neighbour| neighbour.index as usize != i);
                near.iter_mut().zip(others).for_each(|(near, neighbour)| *near = neighbour);
            });
            all.near = near;
        }
        all
    }

    /// Returns the number of neighbours of each particle.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.each
    }

    /// Returns the neighbours of particle `i`.
    #[must_use]
    pub fn nearest(&self, i: usize) -> &[Neighbour] {
        &self.near[i * self.each..(i + 1) * self.each]
    }

    /// Returns the `count` particles nearest to a point, or all if there are fewer.
    #[must_use]
    pub fn nearest_to(&self, point: Vec3, count: usize) -> Vec<Neighbour> {
        let Some((tree, cell)) = &self.tree else { return Vec::new() };
        let Some(place) = place(point, *cell) else { return Vec::new() };
        let search =
            Parameters { epsilon: 0.0, max_radius: f64::INFINITY, allow_self_match: true, sort_results: false };
        let found = tree.knn_advanced(count as u32, &place, CandidateContainer::Linear, &search, None);
        let exact = |index: u32| {
            let x = self.pos[index as usize];
            Neighbour { index, distance: (x - point).norm() }
        };
        let mut found: Vec<Neighbour> = found.iter().map(|neighbour| exact(neighbour.index)).collect();
        let id = |neighbour: &Neighbour| self.id[neighbour.index as usize];
        found.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(id(a).cmp(&id(b))));
        found
    }
}

/// Returns the size of a cell of the grid for coordinates up to `widest`: a power of two.
fn cell(widest: f64) -> f64 {
    if !widest.is_normal() {
        return 1.0;
    }
    let power_of_two = f64::from_bits(widest.to_bits() & (0x7ff << 52));
    (power_of_two * 2f64.powi(1 - LOG2_CELLS)).max(f64::MIN_POSITIVE)
}

/// Returns the grid point of a position, in cells; [`None`] if a coordinate is not finite.
fn place(x: Vec3, cell: f64) -> Option<Place> {
    let axis = |x: f64| NotNan::new((x / cell).round()).ok().filter(|x| x.is_finite());
    Some(Place([axis(x[0])?, axis(x[1])?, axis(x[2])?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_a_full_search() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let pos: Vec<Vec3> = (0..500).map(|_| Vec3::from([0; 3].map(|_| random().powi(4) - 0.2))).collect();
        let id: Vec<u64> = (0..500).collect();
        let found = Neighbours::new(&id, &pos, 6);
        for i in 0..pos.len() {
            let distance = |j: usize| (pos[j] - pos[i]).norm();
            let mut all: Vec<usize> = (0..pos.len()).filter(|&j| j != i).collect();
            all.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            let near: Vec<usize> = found.nearest(i).iter().map(|n| n.index as usize).collect();
            assert_eq!(near, all[..6], "particle {i}");
            assert!(found.nearest(i).iter().all(|n| n.distance == distance(n.index as usize)));
        }
    }

    #[test]
    fn of_equally_distant_neighbours_the_smaller_id_is_first() {
        let pos: Vec<Vec3> = (0..512).map(|i| Vec3::from([i % 8, i / 8 % 8, i / 64].map(f64::from))).collect();
        let id: Vec<u64> = (0..512).rev().collect();
        let found = Neighbours::new(&id, &pos, 10);
        let by_distance_and_id = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        for i in 0..pos.len() {
            let others = (0..pos.len()).filter(|&j| j != i);
            let mut all: Vec<(f64, u64)> = others.map(|j| ((pos[j] - pos[i]).norm(), id[j])).collect();
            all.sort_by(by_distance_and_id);
            let near: Vec<(f64, u64)> = found.nearest(i).iter().map(|n| (n.distance, id[n.index as usize])).collect();
            assert!(near.is_sorted_by(|a, b| by_distance_and_id(a, b).is_lt()), "particle {i}: {near:?}");
            // Of the most distant shell only some are found.
            let whole = near.iter().filter(|(distance, _)| *distance < near[9].0).count();
            assert_eq!(near[..whole], all[..whole], "particle {i}");
            assert!(near[whole..].iter().all(|neighbour| neighbour.0 == all[9].0 && all.contains(neighbour)));
        }
    }

    #[test]
    fn degenerate_places_are_no_trouble() {
        let next = f64::from_bits(1f64.to_bits() + 1);
        for (what, pos) in [
            ("none", Vec::new()),
            ("one", vec![Vec3::repeat(1.0)]),
            ("all at one place", vec![Vec3::repeat(0.3); 100]),
            ("all at the origin", vec![Vec3::zeros(); 100]),
            (
                "two places next to each other",
                (0..100).map(|i| Vec3::repeat(if i < 50 { 1.0 } else { next })).collect(),
            ),
            ("a plane", (0..100).map(|i| Vec3::new(1.0, f64::from(i), 0.0)).collect()),
            ("huge", (0..100).map(|i| Vec3::new(1e300 * f64::from(i), 1.0, 0.0)).collect()),
            ("tiny", (0..100).map(|i| Vec3::new(5e-324 * f64::from(i), 0.0, 0.0)).collect()),
            ("not finite", (0..100).map(|i| Vec3::new(f64::NAN, f64::from(i), 0.0)).collect()),
        ] {
            let id: Vec<u64> = (0..pos.len() as u64).collect();
            let found = Neighbours::new(&id, &pos, 6);
            for i in 0..pos.len() {
                let near = found.nearest(i);
                let expected = if what == "not finite" { 0 } else { 6.min(pos.len() - 1) };
                assert_eq!(near.len(), expected, "{what}");
                assert!(near.iter().all(|n| n.index as usize != i), "{what}: {i} is its own neighbour");
            }
        }
    }
}
