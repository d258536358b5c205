//! Floating-point numbers of a fixed number of 64-bit limbs, computed in integers and rounded to nearest, ties to even.

use super::number::{Bodies, Columns, Number};

/// Exponent of what is not a number.
const NOT_A_NUMBER: i64 = i64::MAX;
/// Largest size of an exponent in files; those of a run are far below.
const MAX_EXPONENT: i64 = 1 << 40;

/// Number m 2^(exponent − 64 L) with its sign, where the highest bit of the L limbs of m, the lowest first, is set; zero has
/// no bits and the exponent 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limbs<const L: usize> {
    negative: bool,
    exponent: i64,
    limbs: [u64; L],
}

impl<const L: usize> Limbs<L> {
    const ZERO: Self = Self { negative: false, exponent: 0, limbs: [0; L] };
    const NONE: Self = Self { negative: false, exponent: NOT_A_NUMBER, limbs: [0; L] };

    fn is_none(&self) -> bool {
        self.exponent == NOT_A_NUMBER
    }

    fn is_zero(&self) -> bool {
        self.limbs[L - 1] == 0 && !self.is_none()
    }

    /// Returns the number times a power of two.
    fn shifted(self, exponent: i64) -> Self {
        if self.is_none() || self.is_zero() { self } else { Self { exponent: self.exponent + exponent, ..self } }
    }

    /// Returns the number of these limbs with a highest bit, and of those below them in `rest`: the highest of these, and
    /// whether others have bits.
    fn nearest(negative: bool, exponent: i64, mut limbs: [u64; L], rest: (u64, bool)) -> Self {
        const HALF: u64 = 1 << 63;
        let is_above = rest.0 > HALF || (rest.0 == HALF && (rest.1 || limbs[0] & 1 == 1));
        let mut exponent = exponent;
        if is_above {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = limb.overflowing_add(u64::from(carry));
            }
            if carry {
                limbs[L - 1] = HALF;
                exponent += 1;
            }
        }
        Self { negative, exponent, limbs }
    }

    /// Returns the sum of two sizes, of which the first is not the smaller one.
    fn sum(self, small: Self, negative: bool) -> Self {
        let (shifted, mut low, mut sticky) = small.moved_down((self.exponent - small.exponent) as u64);
        let (mut limbs, mut carry) = (self.limbs, false);
        for (limb, add) in limbs.iter_mut().zip(shifted) {
            let (part, first) = limb.overflowing_add(add);
            let (part, second) = part.overflowing_add(u64::from(carry));
            (*limb, carry) = (part, first | second);
        }
        let mut exponent = self.exponent;
        if carry {
            sticky |= low & 1 == 1;
            low = low >> 1 | limbs[0] << 63;
            for k in 0..L {
                limbs[k] = limbs[k] >> 1 | if k + 1 < L { limbs[k + 1] << 63 } else { 1 << 63 };
            }
            exponent += 1;
        }
        Self::nearest(negative, exponent, limbs, (low, sticky))
    }

    /// Returns the difference of two sizes, of which the first is the larger one.
    fn difference(self, small: Self, negative: bool) -> Self {
        let (shifted, rest, sticky) = small.moved_down((self.exponent - small.exponent) as u64);
        // What lies below the last limb of the rest counts as its lowest bit: it only has to tell one side of a half.
        let (mut low, mut borrow) = 0u64.overflowing_sub(rest | u64::from(sticky));
        let mut limbs = self.limbs;
        for (limb, subtract) in limbs.iter_mut().zip(shifted) {
            let (part, first) = limb.overflowing_sub(subtract);
            let (part, second) = part.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (part, first | second);
        }
        let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else {
            // The rest alone is left.
            if low == 0 {
                return Self::ZERO;
            }
            let zeros = low.leading_zeros();
            let mut found = [0; L];
            found[L - 1] = low << zeros;
            return Self { negative, exponent: self.exponent - 64 * L as i64 - i64::from(zeros), limbs: found };
        };
        let (whole, bits) = (L - 1 - top, limbs[top].leading_zeros());
        if whole > 0 {
            limbs.copy_within(0..=top, whole);
            limbs[..whole].fill(0);
            limbs[whole - 1] = low;
            low = 0;
        }
        if bits > 0 {
            for k in (0..L).rev() {
                limbs[k] = limbs[k] << bits | if k > 0 { limbs[k - 1] } else { low } >> (64 - bits);
            }
            low <<= bits;
        }
        let exponent = self.exponent - 64 * whole as i64 - i64::from(bits);
        Self::nearest(negative, exponent, limbs, (low, false))
    }

    /// Returns the limbs moved down by `bits`, the limb below them, and whether lower ones have bits.
    fn moved_down(&self, bits: u64) -> ([u64; L], u64, bool) {
        let whole = usize::try_from(bits / 64).unwrap_or(usize::MAX);
        if whole > L {
            return ([0; L], 0, true);
        }
        let part = (bits % 64) as u32;
        let at = |k: usize| if k < L { self.limbs[k] } else { 0 };
        // Limb k of the number moved down; the limb below it is that of k = −1.
        let of = |k: usize| if part == 0 { at(k) } else { at(k) >> part | at(k + 1) << (64 - part) };
        let limbs = std::array::from_fn(|k| of(k + whole));
        if whole == 0 {
            return (limbs, if part == 0 { 0 } else { self.limbs[0] << (64 - part) }, false);
        }
        let below = self.limbs[..whole - 1].iter().any(|limb| *limb != 0);
        let sticky = part > 0 && self.limbs[whole - 1] << (64 - part) != 0;
        (limbs, of(whole - 1), below || sticky)
    }

    /// Returns true if its size is smaller than that of another.
    fn is_smaller(&self, other: &Self) -> bool {
        let limbs = || self.limbs.iter().rev().cmp(other.limbs.iter().rev());
        self.exponent.cmp(&other.exponent).then_with(limbs).is_lt()
    }

    fn added(self, other: Self, negative: bool) -> Self {
        if self.is_none() || other.is_none() {
            return Self::NONE;
        }
        if other.is_zero() {
            return self;
        }
        if self.is_zero() {
            return Self { negative, ..other };
        }
        let swap = self.is_smaller(&other);
        let (large, small, sign) = if swap { (other, self, negative) } else { (self, other, self.negative) };
        if self.negative == negative { large.sum(small, sign) } else { large.difference(small, sign) }
    }
}

impl<const L: usize> Number for Limbs<L> {
    const BITS: u32 = 64 * L as u32;
    const WORDS: usize = L + 1;

    fn exact(value: f64) -> Self {
        if !value.is_finite() {
            return Self::NONE;
        }
        let bits = value.to_bits();
        let (raw, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let mantissa = if raw == 0 { fraction } else { fraction | 1 << 52 };
        if mantissa == 0 {
            return Self::ZERO;
        }
        let zeros = mantissa.leading_zeros();
        let mut limbs = [0; L];
        limbs[L - 1] = mantissa << zeros;
        Self { negative: value < 0.0, exponent: raw.max(1) - 1075 + 64 - i64::from(zeros), limbs }
    }

    fn rounded(self) -> f64 {
        if self.is_none() {
            return f64::NAN;
        }
        // The conversion rounds the highest 64 bits once: a bit below them only has to tell one side of a half.
        let below = self.limbs[..L - 1].iter().any(|limb| *limb != 0);
        let size = (self.limbs[L - 1] | u64::from(below)) as f64;
        let scaled = libm::ldexp(size, (self.exponent - 64).clamp(-4096, 4096) as i32);
        if self.negative { -scaled } else { scaled }
    }

    fn plus(self, other: Self) -> Self {
        self.added(other, other.negative)
    }

    fn minus(self, other: Self) -> Self {
        self.added(other, !other.negative)
    }

    fn times(self, other: Self) -> Self {
        if self.is_none() || other.is_none() {
            return Self::NONE;
        }
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        // The lower and the upper half of the product.
        let (mut low, mut high) = ([0u64; L], [0u64; L]);
        for (i, a) in self.limbs.iter().enumerate() {
            let mut carry = 0u64;
            for (j, b) in other.limbs.iter().enumerate() {
                let to = if i + j < L { &mut low[i + j] } else { &mut high[i + j - L] };
                let sum = u128::from(*a) * u128::from(*b) + u128::from(*to) + u128::from(carry);
                (*to, carry) = (sum as u64, (sum >> 64) as u64);
            }
            high[i] = carry;
        }
        let mut exponent = self.exponent + other.exponent;
        if high[L - 1] >> 63 == 0 {
            for k in (0..L).rev() {
                high[k] = high[k] << 1 | if k > 0 { high[k - 1] } else { low[L - 1] } >> 63;
            }
            for k in (0..L).rev() {
                low[k] = low[k] << 1 | if k > 0 { low[k - 1] >> 63 } else { 0 };
            }
            exponent -= 1;
        }
        let sticky = low[..L - 1].iter().any(|limb| *limb != 0);
        Self::nearest(self.negative != other.negative, exponent, high, (low[L - 1], sticky))
    }

    fn inverse_sqrt(self) -> Self {
        if self.is_none() || self.is_zero() || self.negative {
            return Self::NONE;
        }
        // A number from 1/4 to 1 times a power of four.
        let power = (self.exponent + 1).div_euclid(2);
        let near = self.shifted(-2 * power);
        let (one, mut found) = (Self::exact(1.0), Self::exact(1.0 / near.rounded().sqrt()));
        let mut bits = 51;
        while bits < Self::BITS {
            let rest = one.minus(near.times(found.times(found)));
            found = found.plus(found.times(rest).shifted(-1));
            bits = 2 * bits - 1;
        }
        found.shifted(-power)
    }

    fn write(self, words: &mut Vec<u64>) {
        words.push((self.exponent as u64) << 1 | u64::from(self.negative));
        words.extend(self.limbs);
    }

    fn read(words: &[u64]) -> Option<Self> {
        let (exponent, negative) = ((words[0] as i64) >> 1, words[0] & 1 == 1);
        let limbs: [u64; L] = words[1..].try_into().ok()?;
        let found = Self { negative, exponent, limbs };
        let is_number = limbs[L - 1] >> 63 == 1 && exponent.abs() < MAX_EXPONENT;
        (is_number || found == Self { negative, ..Self::ZERO }).then_some(found)
    }
}

impl<const L: usize> Columns for Vec<Limbs<L>> {
    type Number = Limbs<L>;
    const ROWS: usize = 1;

    fn zeros(len: usize) -> Self {
        vec![Limbs::ZERO; len]
    }

    fn get(&self, row: usize) -> Limbs<L> {
        self[row]
    }

    fn set(&mut self, row: usize, value: Limbs<L>) {
        self[row] = value;
    }

    fn copy_from(&mut self, other: &Self) {
        self.copy_from_slice(other);
    }

    fn add_product(&mut self, factor: Limbs<L>, other: &Self) {
        self.iter_mut().zip(other).for_each(|(to, other)| *to = to.plus(factor.times(*other)));
    }

    fn add_difference(&mut self, factor: Limbs<L>, other: &Self) {
        self.iter_mut().zip(other).for_each(|(to, other)| *to = to.plus(factor.times(to.minus(*other))));
    }

    fn accelerate(bodies: &Bodies<Limbs<L>>, pos: &Self, acc: &mut Self) {
        let n = bodies.n;
        acc.fill(Limbs::ZERO);
        let mass: Vec<_> = bodies.mass.iter().map(|mass| Limbs::exact(*mass)).collect();
        for j in 1..n {
            for i in (0..j).filter(|i| bodies.mass[*i] + bodies.mass[j] > 0.0) {
                let d: [_; 3] = std::array::from_fn(|c| pos[c * n + j].minus(pos[c * n + i]));
                let r2 = d.iter().fold(bodies.epsilon2, |sum, d| sum.plus(d.times(*d)));
                let y = r2.inverse_sqrt();
                let w = y.times(y).times(y);
                let (by_second, by_first) = (mass[j].times(w), mass[i].times(w));
                for (c, d) in d.into_iter().enumerate() {
                    acc[c * n + i] = acc[c * n + i].plus(by_second.times(d));
                    acc[c * n + j] = acc[c * n + j].minus(by_first.times(d));
                }
            }
        }
    }
}
