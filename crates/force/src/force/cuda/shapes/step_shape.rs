//! Shapes of the kernels of whole block steps: how the sources are divided among thread blocks.

use super::launch_shape::{in_order, node_bytes, units};
use super::layout::FORCE;
use crate::force::canonical::{BAG, bags};
use crate::force::mode::Order;
use crate::force::precision::Precision;

/// Number of threads of a thread block (`STEP_THREADS` of kernels/steps.cuh).
pub const THREADS: usize = 512;
/// Largest number of thread blocks (`MAX_BLOCKS`).
pub const MAX_BLOCKS: usize = 128;
/// Number of columns of a particle's state (`COLUMNS`).
pub const COLUMNS: usize = 13;
/// Number of f64 of a warp's scratch (`ROWS` × `ROW`).
pub const SCRATCH: usize = 8 * (BAG + 4);
/// Largest number of bags of a group: the kernels add no more of them. In f64 larger systems lose more by small tiles of
/// targets than they gain: 131072 particles took 7.3 s, and 6.8 s with steps by the host on another day.
const MAX_BAGS: usize = 16;
const MAX_BAGS_IN_F64: usize = 8;
/// Largest number of bags of a group with which warps cooperate on small blocks, and of pairs of target and bag of a
/// thread block at which they do.
const COOPERATING_BAGS: usize = 4;
const COOPERATES: usize = 32;
/// Shared memory that the kernels take besides what they are launched with, rounded up.
const STATIC_BYTES: usize = 8 << 10;
/// Device memory beyond which the nodes of all targets are not kept: larger systems are stepped by the host.
const MAX_NODE_BYTES: usize = 5 << 29;

/// Division of the sources among thread blocks. No shape changes a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepShape {
    /// Number of bags of a group.
    pub bags: usize,
    /// Number of groups: a power of two.
    pub groups: usize,
    /// Number of thread blocks that hold the same group and share the targets.
    pub replicas: usize,
    /// Number of targets whose forces are summed at a time.
    pub tile: usize,
    /// Largest number of pairs of target and bag on which warps cooperate; 0 for never.
    pub cooperates: usize,
}

impl StepShape {
    /// Chooses the shape for `sources` sources on a device with this number of multiprocessors and of bytes of shared
    /// memory; [`None`] if they do not fit.
    #[must_use]
    pub fn choose(precision: Precision, sources: usize, multiprocessors: usize, shared: usize) -> Option<Self> {
        let all = bags(sources).next_power_of_two();
        // A power of two.
        let blocks = 1 << multiprocessors.min(MAX_BLOCKS).checked_ilog2()?;
        // Few groups mean few nodes to wait for; many, more multiprocessors for the pairs.
        let groups = match all {
            ..=32 => all,
            33..=128 => 32,
            129..=512 => 64,
            _ => MAX_BLOCKS,
        };
        let groups = if precision.arithmetic().order == Order::Running { 1 } else { groups.min(blocks) };
        let replicas = (blocks / groups).min(8);
        let bags = all / groups;
        let cooperates = if bags <= COOPERATING_BAGS || groups == 1 { COOPERATES } else { 0 };
        let fits = |shape: &Self| shape.shared_bytes(precision) + STATIC_BYTES <= shared;
        let tiles = [512, 256, 128, 64, 32].map(|tile| Self { bags, groups, replicas, tile, cooperates });
        let nodes = if in_order(precision) { all } else { groups };
        let held = sources.next_multiple_of(BAG) * FORCE * 16 * nodes <= MAX_NODE_BYTES;
        let max = if precision.in_f64() { MAX_BAGS_IN_F64 } else { MAX_BAGS };
        tiles.into_iter().find(fits).filter(|_| bags <= max && held && sources > 0)
    }

    /// Returns true if as many sources as two systems have are divided alike.
    #[must_use]
    pub const fn is_alike(sources: usize, others: usize) -> bool {
        bags(sources).next_power_of_two() == bags(others).next_power_of_two()
    }

    /// Returns the number of particles of a group.
    #[must_use]
    pub const fn own(&self) -> usize {
        self.bags * BAG
    }

    /// Returns the number of particles in all thread blocks.
    #[must_use]
    pub const fn working(&self) -> usize {
        self.groups * self.replicas * self.own()
    }

    /// Returns the bytes of shared memory of a thread block (`Group` of kernels/steps.cuh).
    #[must_use]
    pub fn shared_bytes(&self, precision: Precision) -> usize {
        let Self { bags, tile, .. } = *self;
        let (own, real, unit) = (self.own(), precision.arithmetic().real_bytes, 16 * units(precision));
        let adds_bags = precision.arithmetic().order == Order::Tree && bags > 1;
        let nodes = if adds_bags { bags * tile * FORCE * node_bytes(precision) } else { 0 };
        let scratch = if self.cooperates > 0 { THREADS / 32 * SCRATCH * real } else { 0 };
        own * (8 * COLUMNS + unit + real + 2 + 1) + tile * (unit + 4) + nodes + scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_particle_has_a_place_and_every_shape_fits() {
        for precision in Precision::ALL {
            for n in [1, 63, 64, 65, 1000, 4096, 16384, 65536, 131_072] {
                for (multiprocessors, shared) in [(132, 227 << 10), (108, 163 << 10), (20, 99 << 10)] {
                    let Some(shape) = StepShape::choose(precision, n, multiprocessors, shared) else { continue };
                    assert!(shape.own() * shape.groups >= n && shape.groups.is_power_of_two());
                    assert!(shape.groups * shape.replicas <= multiprocessors.min(MAX_BLOCKS));
                    assert!(shape.shared_bytes(precision) < shared && shape.bags <= MAX_BAGS);
                }
            }
        }
        let on_h200 = |precision, n| StepShape::choose(precision, n, 132, 227 << 10);
        for (precision, max) in
            [(Precision::Mixed, 131_072), (Precision::DoubleFloat, 131_072), (Precision::F64, 65_536)]
        {
            assert!(on_h200(precision, max).is_some() && on_h200(precision, max + 1).is_none());
        }
        assert!(on_h200(Precision::F32Direct, 1024).is_some() && on_h200(Precision::F32Direct, 1025).is_none());
        assert!(on_h200(Precision::F64, 0).is_none());
        for n in [65, 100, 4095, 4096, 4097, 20000] {
            for other in [n - 1, n + 1] {
                let is_same = on_h200(Precision::Mixed, n) == on_h200(Precision::Mixed, other);
                assert!(is_same || !StepShape::is_alike(n, other), "{n} and {other}");
            }
        }
        assert!(StepShape::is_alike(4095, 4096) && !StepShape::is_alike(4096, 4097));
    }
}
