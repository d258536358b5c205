//! Irregular forces: sums over the list of each target.

use super::bag::Bag;
use super::inverse_sqrt::{Fma, Ieee, InverseSqrt};
use super::lanes::merge_group;
use super::pair::{Lanes, add_bag, finish, lanes, load, zero};
use super::records::Record;
use super::sources::columns;
use super::width::Width;
use crate::force::mode::{F64, MAX_LANES, NodeRow, SUMS, Sum};
use crate::force::neighbours::IRREGULAR_SUMS;
use crate::force::targets::Targets;
use crate::particles::Vec3;
use pulp::x86::{V3, V4};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::arch::x86_64::{__m256d, __m512d};

/// Number of targets that a thread takes at a time.
const SHARE: usize = 16;
/// Number of pairs below which the calling thread computes the sums alone.
const SERIAL_PAIRS: usize = 1 << 13;
/// Columns of a source.
const COLUMNS: usize = columns::<F64, SUMS>();

/// Task: the force of its list on each target.
pub struct Irregular<'a> {
    /// Predicted sources, and one more without mass.
    pub records: &'a [Record],
    /// Targets.
    pub targets: Targets<'a>,
    /// List of each target.
    pub lists: &'a [&'a [u32]],
    /// ε².
    pub eps2: f64,
    /// Vector instructions.
    pub width: Width,
}

impl Irregular<'_> {
    /// Computes the sums of each target, on the threads of the pool that this is called in.
    pub fn run(&self, out: &mut Vec<[f64; SUMS]>) {
        out.resize(self.targets.len(), [0.0; SUMS]);
        let work = |(first, out): (usize, &mut [[f64; SUMS]])| {
            self.width.run(Part { task: self, first, out });
        };
        let pairs: usize = self.lists.iter().map(|list| list.len()).sum();
        if pairs < SERIAL_PAIRS || rayon::current_num_threads() == 1 {
            return work((0, out));
        }
        out.par_chunks_mut(SHARE).enumerate().for_each(|(k, out)| work((k * SHARE, out)));
    }
}

/// Vectorised work: some targets.
struct Part<'a, 'b> {
    task: &'a Irregular<'b>,
    first: usize,
    out: &'a mut [[f64; SUMS]],
}

impl WithSimd for Part<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.task.width {
            Width::Avx512Fma(unit) => self.sum((simd, Fma(unit))),
            _ => self.sum((simd, Ieee)),
        }
    }
}

impl Part<'_, '_> {
    #[inline(always)]
    fn sum<S: Simd, D: InverseSqrt>(self, with: (S, D)) {
        let Irregular { records, targets, lists, eps2, width } = *self.task;
        let mut slots = Vec::new();
        for (k, out) in (self.first..).zip(self.out) {
            gather(width, records, lists[k], &mut slots);
            *out = force(with, slots.as_flattened().as_flattened(), [targets.pos[k], targets.vel[k]], eps2);
        }
    }
}

/// Slot of eight sources: one line a column.
type Slot = [[f64; IRREGULAR_SUMS]; COLUMNS];

/// Copies the sources of a list into slots; what is left of the last one gets the record without mass.
#[inline(always)]
fn gather(width: Width, records: &[Record], list: &[u32], slots: &mut Vec<Slot>) {
    slots.resize(list.len().div_ceil(IRREGULAR_SUMS), [[0.0; IRREGULAR_SUMS]; COLUMNS]);
    let (whole, rest) = list.as_chunks();
    for (slot, entries) in slots.iter_mut().zip(whole) {
        fill(width, records, entries, slot);
    }
    if let Some(slot) = slots.get_mut(whole.len()) {
        let mut entries = [records.len() as u32 - 1; IRREGULAR_SUMS];
        entries[..rest.len()].copy_from_slice(rest);
        fill(width, records, &entries, slot);
    }
}

/// Copies eight sources into a slot.
#[inline(always)]
fn fill(width: Width, records: &[Record], entries: &[u32; IRREGULAR_SUMS], slot: &mut Slot) {
    match width {
        Width::Avx512(unit) | Width::Avx512Fma(unit) => transpose_by_eight(unit, records, entries, slot),
        Width::Avx2(unit) => transpose_by_four(unit, records, entries, slot),
        Width::Baseline(_) => {
            for (lane, &j) in entries.iter().enumerate() {
                for (column, &value) in slot.iter_mut().zip(&records[j as usize].state) {
                    column[lane] = value;
                }
            }
        }
    }
}

/// Transposes eight records.
#[inline(always)]
fn transpose_by_eight(unit: V4, records: &[Record], entries: &[u32; IRREGULAR_SUMS], slot: &mut Slot) {
    let f = unit.avx512f;
    let mut r = [f._mm512_setzero_pd(); 8];
    for (r, &j) in r.iter_mut().zip(entries) {
        *r = bytemuck::cast::<Record, __m512d>(records[j as usize]);
    }
    let mut pairs = [r[0]; 8];
    for k in 0..4 {
        pairs[k] = f._mm512_unpacklo_pd(r[2 * k], r[2 * k + 1]);
        pairs[4 + k] = f._mm512_unpackhi_pd(r[2 * k], r[2 * k + 1]);
    }
    // Columns 0, 2, 4, 6 come from the low halves, 1, 3, 5, 7 from the high ones.
    for half in 0..2 {
        let [a, b, c, d] = [pairs[4 * half], pairs[4 * half + 1], pairs[4 * half + 2], pairs[4 * half + 3]];
        let (ab0, ab1) = (f._mm512_shuffle_f64x2::<0x88>(a, b), f._mm512_shuffle_f64x2::<0xdd>(a, b));
        let (cd0, cd1) = (f._mm512_shuffle_f64x2::<0x88>(c, d), f._mm512_shuffle_f64x2::<0xdd>(c, d));
        let columns = [
            f._mm512_shuffle_f64x2::<0x88>(ab0, cd0),
            f._mm512_shuffle_f64x2::<0x88>(ab1, cd1),
            f._mm512_shuffle_f64x2::<0xdd>(ab0, cd0),
            f._mm512_shuffle_f64x2::<0xdd>(ab1, cd1),
        ];
        for (k, column) in columns.into_iter().enumerate() {
            if 2 * k + half < COLUMNS {
                slot[2 * k + half] = bytemuck::cast(column);
            }
        }
    }
}

/// Transposes eight records four by four.
#[inline(always)]
fn transpose_by_four(unit: V3, records: &[Record], entries: &[u32; IRREGULAR_SUMS], slot: &mut Slot) {
    let avx = unit.avx;
    for lanes in [0, 4] {
        for columns in [0, 4] {
            let mut r = [avx._mm256_setzero_pd(); 4];
            for (k, r) in r.iter_mut().enumerate() {
                let row: [f64; 8] = bytemuck::cast(records[entries[lanes + k] as usize]);
                *r = bytemuck::cast::<[f64; 4], __m256d>([
                    row[columns],
                    row[columns + 1],
                    row[columns + 2],
                    row[columns + 3],
                ]);
            }
            let (low0, high0) = (avx._mm256_unpacklo_pd(r[0], r[1]), avx._mm256_unpackhi_pd(r[0], r[1]));
            let (low1, high1) = (avx._mm256_unpacklo_pd(r[2], r[3]), avx._mm256_unpackhi_pd(r[2], r[3]));
            let turned = [
                avx._mm256_permute2f128_pd::<0x20>(low0, low1),
                avx._mm256_permute2f128_pd::<0x20>(high0, high1),
                avx._mm256_permute2f128_pd::<0x31>(low0, low1),
                avx._mm256_permute2f128_pd::<0x31>(high0, high1),
            ];
            for (k, column) in turned.into_iter().enumerate() {
                if columns + k < COLUMNS {
                    let four: [f64; 4] = bytemuck::cast(column);
                    slot[columns + k][lanes..lanes + 4].copy_from_slice(&four);
                }
            }
        }
    }
}

/// Returns the sums of the sources in the slots on a target: lane `k` of the slots is sum `k`.
#[inline(always)]
fn force<S: Simd, D: InverseSqrt>(with: (S, D), slots: &[f64], [pos, vel]: [Vec3; 2], eps2: f64) -> [f64; SUMS] {
    let simd = with.0;
    let target = Lanes::<F64, S>::new(simd, [(pos.into(), vel.into()); MAX_LANES], eps2);
    let nobody = load::<F64, S>(&[-1.0; MAX_LANES]);
    let mut group = NodeRow::<f64, SUMS>::zero();
    for part in (0..IRREGULAR_SUMS).step_by(lanes::<F64, S>()) {
        let mut sums = zero::<F64, S, SUMS>(simd);
        let bag = Bag { slots, group: 0, first: part, absent: nobody, filled: nobody, masked: false };
        add_bag::<F64, S, D, SUMS, true, false>(with, &target, &bag, &mut sums);
        let nodes = finish::<F64, S, SUMS>(simd, &sums);
        for k in 0..SUMS {
            for lane in 0..lanes::<F64, S>() {
                group.put(k * IRREGULAR_SUMS + part + lane, nodes.get(k * lanes::<F64, S>() + lane));
            }
        }
    }
    merge_group::<F64, SUMS>(group)
}
