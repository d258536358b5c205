//! Parts of a pair, for vectors and for [records](super::record) of operations.

use crate::force::mode::{Mode, is_whole};
use crate::force::operations::Operations;

/// Returns the difference of two coordinates, each with its low part, which split modes use.
#[inline(always)]
pub fn difference<M: Mode, O: Operations<M::Real>>(
    unit: O,
    [of, low_of]: [O::Lanes; 2],
    [from, low_from]: [O::Lanes; 2],
) -> O::Lanes {
    let difference = unit.sub(of, from);
    if M::SPLIT { unit.add(difference, unit.sub(low_of, low_from)) } else { difference }
}

/// Returns s² = r² + ε².
#[inline(always)]
pub fn softened_square<M: Mode, O: Operations<M::Real>>(unit: O, [x, y, z]: [O::Lanes; 3], eps2: O::Lanes) -> O::Lanes {
    unit.fma(x, x, unit.fma(y, y, unit.fma(z, z, eps2)))
}

/// Returns r·v.
#[inline(always)]
pub fn dot<M: Mode, O: Operations<M::Real>>(unit: O, r: [O::Lanes; 3], v: [O::Lanes; 3]) -> O::Lanes {
    unit.fma(r[0], v[0], unit.fma(r[1], v[1], unit.mul(r[2], v[2])))
}

/// Results of a law for a pair.
#[derive(Clone, Copy)]
pub struct LawResults<V> {
    /// Relative position.
    pub r: [V; 3],
    /// A, B and −U / m_i
    pub factors: [V; 3],
    pub has_potential: bool,
}

/// Adds a pair of a law to the sums. `v` is the relative velocity, unused for an acceleration alone.
#[inline(always)]
pub fn add_law<M: Mode, O: Operations<M::Real>, const K: usize>(
    unit: O,
    sums: &mut [[O::Lanes; 2]; K],
    LawResults { r, factors: [factor, slope, minus_potential], has_potential }: LawResults<O::Lanes>,
    v: [O::Lanes; 3],
) {
    for (sum, &r) in sums.iter_mut().zip(&r) {
        M::add_product(unit, sum, factor, r);
    }
    if is_whole(K) {
        let beta = unit.mul(slope, dot::<M, O>(unit, r, v));
        for k in 0..3 {
            M::add_products(unit, &mut sums[3 + k], [factor, v[k]], [beta, r[k]]);
        }
        if has_potential {
            M::subtract(unit, &mut sums[6], minus_potential);
        }
    }
}
