//! External field of block steps as kernels know it.

use crate::force::external::guide::segment::Coefficients;
use bytemuck::{Pod, Zeroable};

/// Addresses and numbers, with the layout of `Field` in kernels/field.cuh, which describes them. Both must be changed together.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FieldCall {
    /// Address of the segments of the orbit.
    pub segments: u64,
    /// Address of what the targets are given.
    pub found: u64,
    /// Moment of the beginning of the orbit.
    pub from: u64,
    /// Time of the moment 0.
    pub start: f64,
    /// Logarithm of the ticks of a segment.
    pub shift: u32,
    /// 1 with a field.
    pub is_there: u32,
    /// 1 with one that moves with the origin.
    pub is_carried: u32,
    /// Nothing.
    pub unused: u32,
}

/// Segment of the orbit, with the layout of `OrbitSegment`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct SegmentCall {
    pos: [f64; 3],
    vel: [f64; 3],
    first: [f64; 3],
    at_start: [[f64; 3]; 2],
    integrals: [[[f64; 3]; 8]; 2],
    length: f64,
}

/// Returns the words of the segments of an orbit.
pub fn orbit_words(segments: &[Coefficients]) -> Vec<u64> {
    let of = |it: &Coefficients| SegmentCall {
        pos: it.start.pos.into(),
        vel: it.start.vel.into(),
        first: it.first.into(),
        at_start: it.at_start.map(Into::into),
        integrals: it.integrals.map(|all| all.map(Into::into)),
        length: it.length,
    };
    bytemuck::cast_slice(&segments.iter().map(of).collect::<Vec<_>>()).to_vec()
}
