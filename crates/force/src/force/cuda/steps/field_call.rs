//! External field of block steps as kernels know it.

use crate::force::external::guide::segment::Coefficients;
use crate::force::external::{FieldPart, FieldParts};
use bytemuck::{Pod, Zeroable};

/// Addresses and numbers, with the layout of `Field` in kernels/field.cuh, which describes them. Both must be changed together.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FieldCall {
    /// Addresses of the steps of all programs, the parts, the order of the sums, and the segments of the orbit.
    pub arrays: [u64; 4],
    /// Addresses of what thread blocks that stay on the device find, and where they put targets.
    pub working: [u64; 2],
    /// Moment of the beginning of the orbit.
    pub from: u64,
    /// Time of the moment 0.
    pub start: f64,
    /// Logarithm of the ticks of a segment.
    pub shift: u32,
    /// Number of parts: 0 without a field.
    pub parts: u32,
    /// Number of those that act on the origin.
    pub of_origin: u32,
    /// Place of the order of the others.
    pub order_of_others: u32,
}

/// Part, with the layout of `FieldPart`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct PartCall {
    first: u32,
    count: u32,
    result: [u32; 6],
    position: [f64; 3],
    mass: f64,
    eps2: f64,
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

/// Returns the words of the steps of all programs, of the parts and of the order of the sums.
pub fn words(field: &FieldParts) -> [Vec<u64>; 3] {
    let (mut steps, mut parts) = (Vec::<[u64; 2]>::new(), Vec::new());
    for part in &field.parts {
        let first = steps.len() as u32;
        parts.push(match part {
            FieldPart::Formula { position, program } => {
                steps.extend_from_slice(&program.words);
                let (count, result, position) = (program.words.len() as u32, program.results, (*position).into());
                PartCall { first, count, result, position, mass: 0.0, eps2: 0.0 }
            }
            FieldPart::Sphere { mass, position, eps2 } => {
                let (mass, position, eps2) = (*mass, (*position).into(), *eps2);
                PartCall { first, count: 0, result: [0; 6], position, mass, eps2 }
            }
        });
    }
    let mut order = field.order.clone();
    // Whole words.
    order.resize(order.len().next_multiple_of(2), 0);
    [as_words(&steps), as_words(&parts), as_words(&order)]
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
    as_words(&segments.iter().map(of).collect::<Vec<_>>())
}

/// Returns the words of what has whole words.
fn as_words<T: Pod>(of: &[T]) -> Vec<u64> {
    bytemuck::cast_slice(of).to_vec()
}
