//! Sums of a mode in plain scalars.

use crate::force::mode::Mode;
use crate::force::real::Real;
use crate::particles::Vec3;
use pulp::Scalar;

/// Returns the position `source` relative to `target`, in the mode's numbers.
pub(super) fn relative<M: Mode>(source: Vec3, target: Vec3) -> [M::Real; 3] {
    [0, 1, 2].map(|k| {
        let (source, target) = (M::Real::split(source[k]), M::Real::split(target[k]));
        let difference = source[0] - target[0];
        if M::SPLIT { difference + (source[1] - target[1]) } else { difference }
    })
}

/// Adds a · b to a sum. A number is treated as a vector of one lane, so that the mode's own sums serve here too.
pub(super) fn add<M: Mode>(sum: &mut [M::Real; 2], a: M::Real, b: M::Real) {
    let mut lanes = sum.map(|x| M::Real::splat(Scalar, x));
    M::add_product(Scalar, &mut lanes, M::Real::splat(Scalar, a), M::Real::splat(Scalar, b));
    *sum = lanes.map(M::Real::single);
}

/// Adds a · b + c · d to a sum.
pub(super) fn add_two<M: Mode>(sum: &mut [M::Real; 2], of: [[M::Real; 2]; 2]) {
    let mut lanes = sum.map(|x| M::Real::splat(Scalar, x));
    let [first, second] = of.map(|factors| factors.map(|x| M::Real::splat(Scalar, x)));
    M::add_products(Scalar, &mut lanes, first, second);
    *sum = lanes.map(M::Real::single);
}

/// Subtracts x from a sum.
pub(super) fn subtract<M: Mode>(sum: &mut [M::Real; 2], x: M::Real) {
    let mut lanes = sum.map(|x| M::Real::splat(Scalar, x));
    M::subtract(Scalar, &mut lanes, M::Real::splat(Scalar, x));
    *sum = lanes.map(M::Real::single);
}
