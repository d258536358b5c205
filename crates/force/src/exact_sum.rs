//! Sum without any rounding error, so that it does not depend on the order of its terms.

/// Number of limbs: the bits of all finite numbers, and those of a sum of 2³¹ of them.
const LIMBS: usize = 68;
/// Bits of a limb.
const BITS: usize = 32;

/// Exact sum of numbers, of which terms can be taken away again (the idea is Kulisch's long accumulator: Kulisch & Miranker
/// 1986, SIAM Rev. 28, 1). It is a whole number in units of 2⁻¹⁰⁷⁴.
#[derive(Clone, Debug)]
pub struct ExactSum {
    /// Digits to the base 2³², the lowest first; what exceeds a digit has not been carried.
    limbs: [i64; LIMBS],
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS] }
    }
}

impl ExactSum {
    /// Adds a finite number, not below zero.
    pub fn add(&mut self, x: f64) {
        self.add_signed(x, 1);
    }

    /// Takes away a number that was added.
    pub fn subtract(&mut self, x: f64) {
        self.add_signed(x, -1);
    }

    fn add_signed(&mut self, x: f64, sign: i64) {
        let (fraction, exponent) = (x.to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52) as usize & 0x7ff);
        let digits = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let lowest = exponent.max(1) - 1;
        let shifted = u128::from(digits) << (lowest % BITS);
        for (k, limb) in self.limbs.iter_mut().skip(lowest / BITS).take(3).enumerate() {
            *limb += sign * i64::from((shifted >> (k * BITS)) as u32);
        }
    }

    /// Returns the sum, rounded to nearest once. Sums below 2⁻⁹⁷⁰ may be rounded twice.
    #[must_use]
    pub fn value(&self) -> f64 {
        let (mut digits, mut carry) = ([0u32; LIMBS], 0i64);
        for (digit, limb) in digits.iter_mut().zip(self.limbs) {
            let sum = limb + carry;
            (*digit, carry) = (sum as u32, sum >> BITS);
        }
        let Some(highest) = digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
        let lowest = highest.saturating_sub(2);
        let (below, leading) = (&digits[..lowest], &digits[lowest..=highest]);
        let leading = leading.iter().rev().fold(0u128, |number, &digit| number << BITS | u128::from(digit));
        // A last bit says that there are more, which decides where the leading digits are a tie.
        let leading = leading | u128::from(below.iter().any(|&digit| digit != 0));
        let exponent = (lowest * BITS) as i32 - 1074;
        // In two factors, which are normal numbers.
        leading as f64 * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2)
    }
}

/// Returns 2^`exponent`, a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        terms.iter().for_each(|&x| sum.add(x));
        sum
    }

    #[test]
    fn the_sum_is_exact_and_terms_can_go() {
        let terms = [1.0, 1e-16, 1e100, 3e-300, 0.1, 0.0, f64::MIN_POSITIVE];
        let mut all = sum(&terms);
        assert_eq!(all.value(), 1e100);
        for gone in [1e100, 3e-300, f64::MIN_POSITIVE] {
            all.subtract(gone);
        }
        assert_eq!(all.value(), 1.1 + 1e-16);
        [0.1, 1e-16, 1.0].iter().for_each(|&x| all.subtract(x));
        assert_eq!(all.value(), 0.0);
    }

    #[test]
    fn a_tie_is_broken_by_what_is_far_below() {
        let half = f64::EPSILON / 2.0;
        assert_eq!(sum(&[1.0, half]).value(), 1.0);
        assert_eq!(sum(&[1.0, half, 1e-200]).value(), 1.0 + f64::EPSILON);
        assert_eq!(sum(&[1.0 / 3.0; 3]).value(), 1.0);
        assert_eq!(sum(&[1e300, 1e300]).value(), 2e300);
    }

    #[test]
    fn any_order_gives_the_same() {
        let terms: Vec<f64> = (1..2000).map(|k| 1.0 / f64::from(k * k)).collect();
        let reversed: Vec<f64> = terms.iter().rev().copied().collect();
        assert_eq!(sum(&terms).value().to_bits(), sum(&reversed).value().to_bits());
        assert_eq!(sum(&terms).value(), crate::compensated_sum::sum(terms.into_iter()));
    }
}
