//! How the CPU engine lays out its sources: bag-interleaved, eight neighbouring bags side by side.
//!
//! Eight bags of 64 form a *group*. Slot `t` of a group holds source `t` of each of its eight bags, so that one vector load
//! fetches the same element of neighbouring bags (lanes over bags), and one broadcast fetches a single source (lanes over
//! targets). All columns of a slot are adjacent: a sweep is one stream.

use crate::force::canonical::{BAG, bags};
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use bytemuck::{Pod, Zeroable};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Bags side by side in a slot: the widest vector unit's lanes.
pub const GROUP_BAGS: usize = 8;
/// Values in a slot of predicted sources: position, velocity, mass of eight sources.
pub const SLOT_COLUMNS: usize = 7;
/// Values in a slot of held sources: position, velocity, acceleration, jerk, ticks.
const HELD_COLUMNS: usize = 13;

/// One value of the eight sources of a slot.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Octet(pub [f64; GROUP_BAGS]);

/// Predicted state of eight sources; [`SLOT_COLUMNS`] octets: x y z vx vy vz mass.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    pos: [Octet; 3],
    vel: [Octet; 3],
    mass: Octet,
}

/// State of eight sources at their own times, from which they are predicted.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Held {
    pos: [Octet; 3],
    vel: [Octet; 3],
    acc: [Octet; 3],
    jerk: [Octet; 3],
    ticks: [u64; GROUP_BAGS],
}

/// Where a lane without a source stands: so far away that with mass 0 it adds exact zeros, near enough that no square
/// overflows to a NaN.
const NOWHERE: f64 = 1e150;

/// The sources, held and predicted.
#[derive(Debug, Default)]
pub struct Sources {
    held: Vec<Held>,
    predicted: Vec<Slot>,
    len: usize,
}

/// Slot and lane of source `i`.
#[inline(always)]
fn place(i: usize) -> (usize, usize) {
    let bag = i / BAG;
    ((bag / GROUP_BAGS) * BAG + i % BAG, bag % GROUP_BAGS)
}

impl Sources {
    /// Number of sources.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The predicted slots, [`BAG`] a group.
    pub fn predicted(&self) -> &[Slot] {
        &self.predicted
    }

    /// Takes over all particles.
    pub fn load(&mut self, p: &Particles) {
        self.len = p.len();
        let slots = bags(p.len()).div_ceil(GROUP_BAGS) * BAG;
        let mut empty_held = Held::zeroed();
        empty_held.pos = [Octet([NOWHERE; GROUP_BAGS]); 3];
        let mut empty_slot = Slot::zeroed();
        empty_slot.pos = empty_held.pos;
        self.held = vec![empty_held; slots];
        self.predicted = vec![empty_slot; slots];
        for i in 0..p.len() {
            let (slot, lane) = place(i);
            self.predicted[slot].mass.0[lane] = p.mass[i];
            self.store(p, i);
        }
    }

    /// Takes over the state of particle `i`.
    #[inline]
    pub fn store(&mut self, p: &Particles, i: usize) {
        let (slot, lane) = place(i);
        let held = &mut self.held[slot];
        for k in 0..3 {
            held.pos[k].0[lane] = p.pos[i][k];
            held.vel[k].0[lane] = p.vel[i][k];
            held.acc[k].0[lane] = p.acc[i][k];
            held.jerk[k].0[lane] = p.jerk[i][k];
        }
        held.ticks[lane] = p.time[i].0;
    }

    /// Number of groups of eight bags.
    pub fn groups(&self) -> usize {
        self.predicted.len() / BAG
    }

    /// All slots, to be predicted at once.
    pub fn piece(&mut self) -> Piece<'_> {
        Piece { held: &self.held, predicted: &mut self.predicted }
    }

    /// All slots in pieces of `groups` groups, to be predicted apart.
    pub fn pieces(&mut self, groups: usize) -> impl ParallelIterator<Item = Piece<'_>> {
        let (held, predicted) = (self.held.par_chunks(groups * BAG), self.predicted.par_chunks_mut(groups * BAG));
        held.zip(predicted).map(|(held, predicted)| Piece { held, predicted })
    }

    /// Puts the predicted source `i` at a given state.
    #[inline]
    pub fn put(&mut self, i: usize, pos: Vec3, vel: Vec3) {
        let (slot, lane) = place(i);
        let slot = &mut self.predicted[slot];
        for k in 0..3 {
            slot.pos[k].0[lane] = pos[k];
            slot.vel[k].0[lane] = vel[k];
        }
    }
}

/// Some slots, held and to be predicted.
pub struct Piece<'a> {
    held: &'a [Held],
    predicted: &'a mut [Slot],
}

/// Work for a vector unit: predicts every source of a piece to `now`.
pub struct Predict<'a> {
    pub piece: Piece<'a>,
    pub now: Time,
    /// Length of a tick.
    pub tick: f64,
}

impl WithSimd for Predict<'_> {
    type Output = ();

    /// [`predict_component`](crate::gravity::predict_component), operation by operation, in lanes.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = GROUP_BAGS / S::F64_LANES;
        let held: &[S::f64s] = bytemuck::cast_slice(self.piece.held);
        let predicted: &mut [S::f64s] = bytemuck::cast_slice_mut(self.piece.predicted);
        let ticks: &[S::u64s] = bytemuck::cast_slice(self.piece.held);
        let (now, tick) = (simd.splat_u64s(self.now.0), simd.splat_f64s(self.tick));
        let (half, third) = (simd.splat_f64s(0.5), simd.splat_f64s(1.0 / 3.0));
        // A whole number below 2⁵² in the low bits of 2⁵² is that number added: the exact conversion to f64. No source is
        // further back than dt_max, 2³⁶ ticks; the lanes without a source are cut to 52 bits and do not move anyway.
        let low_bits = simd.splat_u64s((1 << 52) - 1);
        let (offset_bits, offset) = (simd.splat_u64s(0x4330 << 48), simd.splat_f64s((1u64 << 52) as f64));
        for ((held, ticks), slot) in held
            .chunks_exact(HELD_COLUMNS * vectors)
            .zip(ticks.chunks_exact(HELD_COLUMNS * vectors))
            .zip(predicted.chunks_exact_mut(SLOT_COLUMNS * vectors))
        {
            for lanes in 0..vectors {
                let passed = simd.and_u64s(simd.sub_u64s(now, ticks[12 * vectors + lanes]), low_bits);
                let passed = bytemuck::cast::<S::u64s, S::f64s>(simd.or_u64s(passed, offset_bits));
                let dt = simd.mul_f64s(simd.sub_f64s(passed, offset), tick);
                let (half_dt, third_dt) = (simd.mul_f64s(half, dt), simd.mul_f64s(dt, third));
                for k in 0..3 {
                    let [pos, vel, acc, jerk] = [
                        held[k * vectors + lanes],
                        held[(3 + k) * vectors + lanes],
                        held[(6 + k) * vectors + lanes],
                        held[(9 + k) * vectors + lanes],
                    ];
                    let x = simd.add_f64s(simd.mul_f64s(jerk, third_dt), acc);
                    let x = simd.add_f64s(simd.mul_f64s(x, half_dt), vel);
                    slot[k * vectors + lanes] = simd.add_f64s(simd.mul_f64s(x, dt), pos);
                    let v = simd.add_f64s(simd.mul_f64s(jerk, half_dt), acc);
                    slot[(3 + k) * vectors + lanes] = simd.add_f64s(simd.mul_f64s(v, dt), vel);
                }
            }
        }
    }
}
