//! Double-double numbers: the unevaluated sum of two numbers in f64, 106 bits (Dekker 1971, Numerische Mathematik 18, 224;
//! Knuth 1969, The Art of Computer Programming 2). Columns are computed by the vector units of the machine: no sum depends
//! on their width, and products are exact by fused operations, which every machine rounds alike.

use super::number::{Bodies, Columns, Number};
use pulp::{Arch, Scalar, Simd, WithSimd};

/// High and low part: f64, or a register of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts<F> {
    hi: F,
    lo: F,
}

/// Double-double number.
pub type DoubleDouble = Parts<f64>;

/// Returns a sum and its rounding error.
#[inline(always)]
fn two_sum<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> Parts<S::f64s> {
    let hi = s.add_f64s(a, b);
    let of_b = s.sub_f64s(hi, a);
    let of_a = s.sub_f64s(hi, of_b);
    Parts { hi, lo: s.add_f64s(s.sub_f64s(a, of_a), s.sub_f64s(b, of_b)) }
}

/// As [`two_sum`], where b is not larger than a.
#[inline(always)]
fn quick_sum<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> Parts<S::f64s> {
    let hi = s.add_f64s(a, b);
    Parts { hi, lo: s.sub_f64s(b, s.sub_f64s(hi, a)) }
}

/// Returns a product and its rounding error.
#[inline(always)]
fn two_product<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> Parts<S::f64s> {
    let hi = s.mul_f64s(a, b);
    Parts { hi, lo: s.mul_add_f64s(a, b, s.neg_f64s(hi)) }
}

#[inline(always)]
fn add<S: Simd>(s: S, a: Parts<S::f64s>, b: Parts<S::f64s>) -> Parts<S::f64s> {
    let (high, low) = (two_sum(s, a.hi, b.hi), two_sum(s, a.lo, b.lo));
    let sum = quick_sum(s, high.hi, s.add_f64s(high.lo, low.hi));
    quick_sum(s, sum.hi, s.add_f64s(sum.lo, low.lo))
}

#[inline(always)]
fn negate<S: Simd>(s: S, a: Parts<S::f64s>) -> Parts<S::f64s> {
    Parts { hi: s.neg_f64s(a.hi), lo: s.neg_f64s(a.lo) }
}

#[inline(always)]
fn subtract<S: Simd>(s: S, a: Parts<S::f64s>, b: Parts<S::f64s>) -> Parts<S::f64s> {
    add(s, a, negate(s, b))
}

#[inline(always)]
fn multiply<S: Simd>(s: S, a: Parts<S::f64s>, b: Parts<S::f64s>) -> Parts<S::f64s> {
    let product = two_product(s, a.hi, b.hi);
    let low = s.mul_add_f64s(a.lo, b.hi, s.mul_add_f64s(a.hi, b.lo, product.lo));
    quick_sum(s, product.hi, low)
}

/// Returns the product with a number in f64.
#[inline(always)]
fn scale<S: Simd>(s: S, a: Parts<S::f64s>, by: S::f64s) -> Parts<S::f64s> {
    let product = two_product(s, a.hi, by);
    quick_sum(s, product.hi, s.mul_add_f64s(a.lo, by, product.lo))
}

/// Returns 1/√a by one step of third order from the value in f64.
#[inline(always)]
fn inverse_sqrt<S: Simd>(s: S, a: Parts<S::f64s>) -> Parts<S::f64s> {
    let one = s.splat_f64s(1.0);
    let y = s.div_f64s(one, s.sqrt_f64s(a.hi));
    let product = multiply(s, a, two_product(s, y, y));
    let rest = s.sub_f64s(s.sub_f64s(one, product.hi), product.lo);
    let series = s.mul_add_f64s(rest, s.splat_f64s(0.375), s.splat_f64s(0.5));
    quick_sum(s, y, s.mul_f64s(y, s.mul_f64s(rest, series)))
}

#[inline(always)]
fn splat<S: Simd>(s: S, a: DoubleDouble) -> Parts<S::f64s> {
    Parts { hi: s.splat_f64s(a.hi), lo: s.splat_f64s(a.lo) }
}

impl Number for DoubleDouble {
    const BITS: u32 = 106;
    const WORDS: usize = 2;

    fn exact(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }

    fn rounded(self) -> f64 {
        self.hi
    }

    fn plus(self, other: Self) -> Self {
        add(Scalar, self, other)
    }

    fn minus(self, other: Self) -> Self {
        subtract(Scalar, self, other)
    }

    fn times(self, other: Self) -> Self {
        multiply(Scalar, self, other)
    }

    fn inverse_sqrt(self) -> Self {
        inverse_sqrt(Scalar, self)
    }

    fn write(self, words: &mut Vec<u64>) {
        words.extend([self.hi.to_bits(), self.lo.to_bits()]);
    }

    fn read(words: &[u64]) -> Option<Self> {
        let (hi, lo) = (f64::from_bits(words[0]), f64::from_bits(words[1]));
        (hi.is_finite() && hi + lo == hi).then_some(Self { hi, lo })
    }
}

/// Column of double-double numbers: all high parts, and all low parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoubleDoubles {
    hi: Vec<f64>,
    lo: Vec<f64>,
}

/// Number of rows in a block, and of partial sums of a reaction, for any width of vector units.
const BLOCK: usize = 8;

impl Columns for DoubleDoubles {
    type Number = DoubleDouble;
    const ROWS: usize = BLOCK;

    fn zeros(len: usize) -> Self {
        Self { hi: vec![0.0; len], lo: vec![0.0; len] }
    }

    fn get(&self, row: usize) -> DoubleDouble {
        Parts { hi: self.hi[row], lo: self.lo[row] }
    }

    fn set(&mut self, row: usize, value: DoubleDouble) {
        (self.hi[row], self.lo[row]) = (value.hi, value.lo);
    }

    fn copy_from(&mut self, other: &Self) {
        self.hi.copy_from_slice(&other.hi);
        self.lo.copy_from_slice(&other.lo);
    }

    fn add_product(&mut self, factor: DoubleDouble, other: &Self) {
        Arch::new().dispatch(Combine::<false> { to: self, factor, other });
    }

    fn add_difference(&mut self, factor: DoubleDouble, other: &Self) {
        Arch::new().dispatch(Combine::<true> { to: self, factor, other });
    }

    fn accelerate(bodies: &Bodies<DoubleDouble>, pos: &Self, acc: &mut Self) {
        let rows = bodies.mass.len();
        let (mut reaction, index) = (Self::zeros(3 * rows * BLOCK), (0..rows).map(|row| row as f64).collect());
        Arch::new().dispatch(Accelerate { bodies, index, pos, acc, reaction: &mut reaction });
        // The partial sums of all rows, one after the other.
        let mut partial = Self::zeros(3 * rows);
        for lane in 0..BLOCK {
            for row in 0..3 * rows {
                partial.set(row, reaction.get(row * BLOCK + lane));
            }
            acc.add_product(Parts { hi: -1.0, lo: 0.0 }, &partial);
        }
    }
}

/// Sum of a column and the product of a number with another column, or with the difference of the two.
struct Combine<'a, const DIFFERENCE: bool> {
    to: &'a mut DoubleDoubles,
    factor: DoubleDouble,
    other: &'a DoubleDoubles,
}

impl<const DIFFERENCE: bool> WithSimd for Combine<'_, DIFFERENCE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let factor = splat(s, self.factor);
        let (his, los) = (S::as_mut_simd_f64s(&mut self.to.hi).0, S::as_mut_simd_f64s(&mut self.to.lo).0);
        let others = S::as_simd_f64s(&self.other.hi).0.iter().zip(S::as_simd_f64s(&self.other.lo).0);
        for ((to_hi, to_lo), (hi, lo)) in his.iter_mut().zip(los).zip(others) {
            let (to, mut other) = (Parts { hi: *to_hi, lo: *to_lo }, Parts { hi: *hi, lo: *lo });
            if DIFFERENCE {
                other = subtract(s, to, other);
            }
            let sum = add(s, to, multiply(s, factor, other));
            (*to_hi, *to_lo) = (sum.hi, sum.lo);
        }
    }
}

/// Accelerations of the first of each pair, in `acc`, and the partial sums of those of the second, of the other sign.
struct Accelerate<'a> {
    bodies: &'a Bodies<DoubleDouble>,
    index: Vec<f64>,
    pos: &'a DoubleDoubles,
    acc: &'a mut DoubleDoubles,
    reaction: &'a mut DoubleDoubles,
}

impl WithSimd for Accelerate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let Bodies { n, mass, epsilon2 } = self.bodies;
        let (rows, registers) = (mass.len(), BLOCK / S::F64_LANES);
        let (of_component, epsilon2, zero) = (rows / S::F64_LANES, splat(s, *epsilon2), s.splat_f64s(0.0));
        let (masses, index) = (S::as_simd_f64s(mass).0, S::as_simd_f64s(&self.index).0);
        let (pos_hi, pos_lo) = (S::as_simd_f64s(&self.pos.hi).0, S::as_simd_f64s(&self.pos.lo).0);
        self.acc.hi.fill(0.0);
        self.acc.lo.fill(0.0);
        let (acc_hi, acc_lo) = (S::as_mut_simd_f64s(&mut self.acc.hi).0, S::as_mut_simd_f64s(&mut self.acc.lo).0);
        let to_hi = S::as_mut_simd_f64s(&mut self.reaction.hi).0;
        let to_lo = S::as_mut_simd_f64s(&mut self.reaction.lo).0;
        for (j, &mass_of_second) in mass.iter().enumerate().take(*n).skip(1) {
            let second: [_; 3] = std::array::from_fn(|c| splat(s, self.pos.get(c * rows + j)));
            let (second_mass, second_index) = (s.splat_f64s(mass_of_second), s.splat_f64s(j as f64));
            for register in 0..registers {
                let mut sum = [Parts { hi: zero, lo: zero }; 3];
                for block in 0..j.div_ceil(BLOCK) {
                    let at = block * registers + register;
                    let first_mass = masses[at];
                    let mut d = second;
                    let mut r2 = epsilon2;
                    for c in 0..3 {
                        let row = c * of_component + at;
                        d[c] = subtract(s, second[c], Parts { hi: pos_hi[row], lo: pos_lo[row] });
                        r2 = add(s, r2, multiply(s, d[c], d[c]));
                    }
                    let y = inverse_sqrt(s, r2);
                    let mut w = multiply(s, multiply(s, y, y), y);
                    let is_before = s.less_than_f64s(index[at], second_index);
                    let has_mass = s.less_than_f64s(zero, s.add_f64s(first_mass, second_mass));
                    for part in [&mut w.hi, &mut w.lo] {
                        *part = s.select_f64s(has_mass, s.select_f64s(is_before, *part, zero), zero);
                    }
                    let (by_second, by_first) = (scale(s, w, second_mass), scale(s, w, first_mass));
                    for c in 0..3 {
                        let row = c * of_component + at;
                        let acc = Parts { hi: acc_hi[row], lo: acc_lo[row] };
                        let acc = add(s, acc, multiply(s, by_second, d[c]));
                        (acc_hi[row], acc_lo[row]) = (acc.hi, acc.lo);
                        sum[c] = add(s, sum[c], multiply(s, by_first, d[c]));
                    }
                }
                for (c, sum) in sum.into_iter().enumerate() {
                    let row = (c * rows + j) * registers + register;
                    (to_hi[row], to_lo[row]) = (sum.hi, sum.lo);
                }
            }
        }
    }
}
