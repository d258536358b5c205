//! Nearest sources, and sources within a radius: what an engine does not find. Every source is compared with every
//! target, in f64, with vector instructions and on all threads, and only in calls that ask for it.

use crate::sources::Sources;
use pulp::{Arch, Simd, WithSimd, bytemuck};
use rayon::prelude::*;
use std::ops::Range;
use tisane::particles::Vec3;

/// Number of vectors that are compared at a time, so that none waits for the one before it.
const CHAINS: usize = 4;
/// Number of entries of all lists of a call together.
const MAX_ENTRIES: usize = 1 << 24;

/// Positions of all slots at one time, in columns.
#[derive(Debug, Default)]
pub struct Positions {
    columns: [Vec<f64>; 3],
    /// Version of the sources and bits of the time of which they are the positions.
    of: Option<(u64, u64)>,
}

/// Nearest source of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Square of its distance.
    pub r2: f64,
    /// Its slot.
    pub slot: usize,
}

/// Neighbour list of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Identities, ascending.
    pub identities: Vec<i32>,
    /// Flag that there were more than this library keeps.
    pub overflow: bool,
}

/// Target of a search.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its identity.
    pub identity: i32,
    /// Its position.
    pub pos: Vec3,
    /// Square of the radius of its list.
    pub h2: f64,
}

impl Positions {
    /// Predicts all sources to the time `t`, unless this is done.
    pub fn update(&mut self, sources: &Sources, t: f64) {
        let of = Some((sources.version(), t.to_bits()));
        if self.of == of {
            return;
        }
        sources.predict(t, &mut self.columns);
        self.of = of;
    }

    /// Returns the nearest source of each target, of several at one distance the first; [`None`] where there is no other
    /// source. A source of the target's identity is not its neighbour.
    #[must_use]
    pub fn nearest(&self, sources: &Sources, targets: &[Target]) -> Vec<Option<Nearest>> {
        targets.par_iter().map(|target| self.nearest_of(sources, target)).collect()
    }

    fn nearest_of(&self, sources: &Sources, target: &Target) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut first = 0;
        let own = sources.with_identity(target.identity).iter().map(|&(_, slot)| slot as usize);
        for end in own.chain([self.columns[0].len()]) {
            let found = Arch::new().dispatch(FindNearest { from: self.part(first..end), target: target.pos, first });
            if best.is_none_or(|best| found.is_some_and(|found| found.r2 < best.r2)) {
                best = found.or(best);
            }
            first = end + 1;
        }
        best
    }

    /// Returns the list of each target: all sources at r² < h², softening left out. The target itself is in its list if
    /// `with_self`.
    #[must_use]
    pub fn lists(&self, sources: &Sources, targets: &[Target], with_self: bool) -> Vec<List> {
        let max = MAX_ENTRIES / targets.len().max(1);
        targets.par_iter().map(|target| self.list_of(sources, target, with_self, max)).collect()
    }

    fn list_of(&self, sources: &Sources, target: &Target, with_self: bool, max: usize) -> List {
        let mut list = List::default();
        if target.h2 <= 0.0 {
            return list;
        }
        let slots = Arch::new().dispatch(FindWithin {
            from: self.part(0..self.columns[0].len()),
            target: target.pos,
            h2: target.h2,
        });
        let identities = slots.into_iter().map(|slot| sources.slot(slot as usize).identity);
        list.identities.extend(identities.filter(|&identity| with_self || identity != target.identity));
        list.overflow = list.identities.len() > max;
        list.identities.truncate(max);
        list.identities.sort_unstable();
        list
    }

    fn part(&self, range: Range<usize>) -> [&[f64]; 3] {
        [0, 1, 2].map(|k| &self.columns[k][range.clone()])
    }
}

/// Square of the distance of a source. Nothing is fused, so that vectors give the same number.
fn square(from: [&[f64]; 3], k: usize, at: Vec3) -> f64 {
    let [dx, dy, dz] = [0, 1, 2].map(|c| from[c][k] - at[c]);
    dx * dx + dy * dy + dz * dz
}

/// Squares of the distances of a vector of sources.
#[inline(always)]
fn squares<S: Simd>(simd: S, [x, y, z]: [S::f64s; 3], at: [S::f64s; 3]) -> S::f64s {
    let (dx, dy, dz) = (simd.sub_f64s(x, at[0]), simd.sub_f64s(y, at[1]), simd.sub_f64s(z, at[2]));
    let xy = simd.add_f64s(simd.mul_f64s(dx, dx), simd.mul_f64s(dy, dy));
    simd.add_f64s(xy, simd.mul_f64s(dz, dz))
}

/// Columns as vectors, [`CHAINS`] at a time, and the number of the sources in them.
#[inline(always)]
fn vectors<S: Simd>(from: [&[f64]; 3]) -> ([&[[S::f64s; CHAINS]]; 3], usize) {
    let step = S::F64_LANES * CHAINS;
    let whole = from[0].len() / step * step;
    (from.map(|column| bytemuck::cast_slice::<f64, S::f64s>(&column[..whole]).as_chunks().0), whole)
}

#[inline(always)]
fn splat<S: Simd>(simd: S, v: Vec3) -> [S::f64s; 3] {
    [simd.splat_f64s(v[0]), simd.splat_f64s(v[1]), simd.splat_f64s(v[2])]
}

/// Vectorised work: finds the nearest of some sources, of which the first has the slot `first`.
struct FindNearest<'a> {
    from: [&'a [f64]; 3],
    target: Vec3,
    first: usize,
}

impl WithSimd for FindNearest<'_> {
    type Output = Option<Nearest>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let at = splat(simd, self.target);
        let ([x, y, z], whole) = vectors::<S>(self.from);
        // Of each lane the smallest square, and the number of the step in which it came.
        let mut best = [simd.splat_f64s(f64::INFINITY); CHAINS];
        let mut found_in = [simd.splat_f64s(0.0); CHAINS];
        let (mut step, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        for ((x, y), z) in x.iter().zip(y).zip(z) {
            for c in 0..CHAINS {
                let r2 = squares(simd, [x[c], y[c], z[c]], at);
                let closer = simd.less_than_f64s(r2, best[c]);
                best[c] = simd.select_f64s(closer, r2, best[c]);
                found_in[c] = simd.select_f64s(closer, step, found_in[c]);
            }
            step = simd.add_f64s(step, one);
        }
        let (best, found_in): (&[f64], &[f64]) = (bytemuck::cast_slice(&best), bytemuck::cast_slice(&found_in));
        let mut nearest = Nearest { r2: f64::INFINITY, slot: usize::MAX };
        let mut compare = |r2: f64, k: usize| {
            let slot = self.first + k;
            if r2 < nearest.r2 || (r2 == nearest.r2 && slot < nearest.slot) {
                nearest = Nearest { r2, slot };
            }
        };
        for (lane, (&r2, &step)) in best.iter().zip(found_in).enumerate() {
            if r2 < f64::INFINITY {
                compare(r2, step as usize * best.len() + lane);
            }
        }
        for k in whole..self.from[0].len() {
            compare(square(self.from, k, self.target), k);
        }
        (nearest.slot != usize::MAX).then_some(nearest)
    }
}

/// Vectorised work: finds the slots within a radius.
struct FindWithin<'a> {
    from: [&'a [f64]; 3],
    target: Vec3,
    h2: f64,
}

impl WithSimd for FindWithin<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (at, h2) = (splat(simd, self.target), simd.splat_f64s(self.h2));
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let ([x, y, z], whole) = vectors::<S>(self.from);
        let mut found = Vec::new();
        for (vector, ((x, y), z)) in x.as_flattened().iter().zip(y.as_flattened()).zip(z.as_flattened()).enumerate() {
            let r2 = squares(simd, [*x, *y, *z], at);
            // Most vectors have none. `first_true_m64s` of pulp 0.22 counts the lanes of AVX-512 from the wrong end.
            if simd.reduce_max_f64s(simd.select_f64s(simd.less_than_f64s(r2, h2), one, zero)) == 0.0 {
                continue;
            }
            let r2: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&r2));
            for (lane, &r2) in r2.iter().enumerate() {
                if r2 < self.h2 {
                    found.push((vector * S::F64_LANES + lane) as u32);
                }
            }
        }
        let rest = (whole..self.from[0].len()).filter(|&k| square(self.from, k, self.target) < self.h2);
        found.extend(rest.map(|k| k as u32));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Source;

    /// Sources on a line at 0, 1, 2, …, with the identities 100, 99, 98, ….
    fn on_a_line(n: usize) -> (Sources, Positions) {
        let mut sources = Sources::default();
        for k in 0..n {
            let zero = Vec3::zeros();
            let pos = Vec3::new(k as f64, 0.0, 0.0);
            let identity = 100 - k as i32;
            let source =
                Source { identity, time: 0.0, mass: 1.0, snap18: zero, jerk6: zero, acc2: zero, vel: zero, pos };
            sources.set(k as i32, source).unwrap();
        }
        let mut engine =
            tisane::force::reference::engine(tisane::force::precision::Precision::F64, 0.0, crate::axis::CLOCK);
        sources.bring(&mut *engine, 0.0, n).unwrap();
        let mut positions = Positions::default();
        positions.update(&sources, 0.0);
        (sources, positions)
    }

    fn target(identity: i32, x: f64, h2: f64) -> Target {
        Target { identity, pos: Vec3::new(x, 0.0, 0.0), h2 }
    }

    #[test]
    fn the_nearest_is_another_one_and_the_first_of_equals() {
        for n in [2, 7, 8, 9, 31, 33, 90] {
            let (sources, positions) = on_a_line(n);
            for k in 0..n {
                // Both neighbours are at distance 1: the first counts.
                let nearest = positions.nearest(&sources, &[target(100 - k as i32, k as f64, 0.0)])[0].unwrap();
                assert_eq!(nearest, Nearest { r2: 1.0, slot: if k == 0 { 1 } else { k - 1 } }, "n = {n}, k = {k}");
            }
            let stranger = positions.nearest(&sources, &[target(7, 0.75, 0.0)])[0].unwrap();
            assert_eq!(stranger, Nearest { r2: 0.0625, slot: 1 });
        }
        let (sources, positions) = on_a_line(1);
        assert_eq!(positions.nearest(&sources, &[target(100, 0.0, 0.0)]), [None]);
    }

    #[test]
    fn a_list_has_what_is_closer_than_its_radius_in_order() {
        let (sources, positions) = on_a_line(20);
        let targets = [target(95, 5.0, 4.0), target(95, 5.0, 4.1), target(95, 5.0, 0.0), target(3, 5.0, f64::NAN)];
        let lists = positions.lists(&sources, &targets, false);
        let identities: Vec<_> = lists.iter().map(|list| list.identities.as_slice()).collect();
        assert_eq!(identities, [&[94, 96][..], &[93, 94, 96, 97], &[], &[]]);
        assert_eq!(positions.lists(&sources, &targets[..1], true)[0].identities, [94, 95, 96]);
    }

    #[test]
    fn every_set_of_instructions_finds_the_same() {
        let widths = tisane::force::cpu::Width::available();
        for n in [1, 7, 8, 31, 64, 90, 200] {
            // Each lane holds the only source within the radius once.
            let columns = [(0..n).map(f64::from).collect::<Vec<_>>(), vec![0.0; n as usize], vec![0.0; n as usize]];
            let from = columns.each_ref().map(Vec::as_slice);
            for (k, width) in (0..n).flat_map(|k| widths.iter().map(move |width| (k, width))) {
                let target = Vec3::new(f64::from(k), 0.0, 0.0);
                let found = [0.5, 1.5].map(|h2| width.run(FindWithin { from, target, h2 }));
                let near = (k.max(1) - 1..(k + 2).min(n)).map(|k| k as u32).collect();
                assert_eq!(found, [vec![k as u32], near], "n = {n}, {}", width.name());
                let nearest = width.run(FindNearest { from, target, first: 0 });
                assert_eq!(nearest, Some(Nearest { r2: 0.0, slot: k as usize }), "n = {n}, {}", width.name());
            }
        }
    }

    #[test]
    fn a_list_that_is_too_long_is_cut_and_says_so() {
        let (sources, positions) = on_a_line(20);
        let target = target(7, 5.0, 100.0);
        assert!(!positions.list_of(&sources, &target, true, 15).overflow);
        let cut = positions.list_of(&sources, &target, true, 14);
        assert!(cut.overflow && cut.identities.len() == 14);
    }
}
