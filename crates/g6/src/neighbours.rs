//! Nearest sources, and sources within a radius: what an engine does not find. Every source is compared with every
//! target, in f64, with vector instructions and on all threads, and only in calls that ask for it.

use crate::sources::Sources;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;
use tisane::particles::Vec3;

/// Number of sources that are compared at a time.
const LANES: usize = 8;
/// Number of entries of all lists of a call together.
const MOST_ENTRIES: usize = 1 << 24;

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
        let predicted = sources.predict(t);
        for (k, column) in self.columns.iter_mut().enumerate() {
            column.clear();
            column.extend(predicted.iter().map(|(pos, _)| pos[k]));
        }
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
        let most = MOST_ENTRIES / targets.len().max(1);
        targets.par_iter().map(|target| self.list_of(sources, target, with_self, most)).collect()
    }

    fn list_of(&self, sources: &Sources, target: &Target, with_self: bool, most: usize) -> List {
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
        list.overflow = list.identities.len() > most;
        list.identities.truncate(most);
        list.identities.sort_unstable();
        list
    }

    fn part(&self, range: Range<usize>) -> [&[f64]; 3] {
        [0, 1, 2].map(|k| &self.columns[k][range.clone()])
    }
}

/// Squares of the distances of [`LANES`] sources.
#[inline(always)]
fn squares([x, y, z]: [&[f64; LANES]; 3], at: Vec3) -> [f64; LANES] {
    let mut r2 = [0.0; LANES];
    for lane in 0..LANES {
        let (dx, dy, dz) = (x[lane] - at[0], y[lane] - at[1], z[lane] - at[2]);
        r2[lane] = dx * dx + dy * dy + dz * dz;
    }
    r2
}

/// Returns the sources in groups of [`LANES`], and the last ones filled up with `NaN`, which is near to nothing.
#[inline(always)]
fn groups<'a>(from: [&'a [f64]; 3], last: &'a mut [[f64; LANES]; 3]) -> impl Iterator<Item = [&'a [f64; LANES]; 3]> {
    let [x, y, z] = from.map(<[f64]>::as_chunks::<LANES>);
    for (last, (_, rest)) in last.iter_mut().zip([x, y, z]) {
        last[..rest.len()].copy_from_slice(rest);
    }
    let [lx, ly, lz] = &*last;
    x.0.iter().zip(y.0).zip(z.0).map(|((x, y), z)| [x, y, z]).chain([[lx, ly, lz]])
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
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let mut last = [[f64::NAN; LANES]; 3];
        let (mut best, mut group_of) = ([f64::INFINITY; LANES], [u64::MAX; LANES]);
        for (group, columns) in groups(self.from, &mut last).enumerate() {
            let r2 = squares(columns, self.target);
            for lane in 0..LANES {
                let closer = r2[lane] < best[lane];
                best[lane] = if closer { r2[lane] } else { best[lane] };
                group_of[lane] = if closer { group as u64 } else { group_of[lane] };
            }
        }
        let mut nearest: Option<Nearest> = None;
        for lane in 0..LANES {
            if group_of[lane] == u64::MAX {
                continue;
            }
            let slot = self.first + group_of[lane] as usize * LANES + lane;
            let before = |n: Nearest| best[lane] < n.r2 || (best[lane] == n.r2 && slot < n.slot);
            if nearest.is_none_or(before) {
                nearest = Some(Nearest { r2: best[lane], slot });
            }
        }
        nearest
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
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let mut last = [[f64::NAN; LANES]; 3];
        let mut found = Vec::new();
        for (group, columns) in groups(self.from, &mut last).enumerate() {
            let r2 = squares(columns, self.target);
            let mut any = false;
            for r2 in r2 {
                any |= r2 < self.h2;
            }
            if any {
                let inside = (0..LANES).filter(|&lane| r2[lane] < self.h2);
                found.extend(inside.map(|lane| (group * LANES + lane) as u32));
            }
        }
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
        for n in [2, 7, 8, 9, 40] {
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
    fn a_list_that_is_too_long_is_cut_and_says_so() {
        let (sources, positions) = on_a_line(20);
        let target = target(7, 5.0, 100.0);
        assert!(!positions.list_of(&sources, &target, true, 15).overflow);
        let cut = positions.list_of(&sources, &target, true, 14);
        assert!(cut.overflow && cut.identities.len() == 14);
    }
}
