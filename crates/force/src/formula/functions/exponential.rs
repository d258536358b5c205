//! Exponential, logarithm and powers in f64.

use super::trigonometric::{ROUND, polynomial};

/// ln 2 in two parts; the first has 41 bits, so that a multiple by an exponent is exact.
const LN_2: [f64; 2] = [0.693147180559663, 2.8235290563031577e-13];
/// Coefficients of the series of eˣ from the second power on: 1/2!, 1/3!, …
const EXPONENTIAL: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];
/// 1/3 in two parts.
const THIRD: [f64; 2] = [1.0 / 3.0, 1.850371707708594e-17];
/// Coefficients of the series of artanh s / s in s² from the second power on: 1/5, 1/7, …
const LOGARITHM: [f64; 11] = [
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
];
/// Exponents beyond which eˣ is 0 or ∞.
const RANGE: [f64; 2] = [-750.0, 720.0];

/// Returns eˣ.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    exp_sum(x, 0.0)
}

/// 1.5 · 2²³: added to a number, it leaves the nearest whole number in the last bits.
const ROUND_F32: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has 16 bits, so that a multiple by an exponent is exact.
const LN_2_F32: [f32; 2] = [0.693_145_75, 1.428_606_8e-6];
/// As [`EXPONENTIAL`].
const EXPONENTIAL_F32: [f32; 7] =
    [1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40_320.0];
/// Exponents beyond which eˣ is 0 or ∞ in f32.
const RANGE_F32: [f32; 2] = [-105.0, 90.0];

/// Returns eˣ in f32: as [`exp_sum`], without the parts that its digits do not need.
#[inline(always)]
pub(super) fn exp_f32(x: f32) -> f32 {
    let x = if x < RANGE_F32[0] { RANGE_F32[0] } else { x };
    let x = if x > RANGE_F32[1] { RANGE_F32[1] } else { x };
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND_F32);
    let k = rounded - ROUND_F32;
    let r = (-k).mul_add(LN_2_F32[1], (-k).mul_add(LN_2_F32[0], x));
    let series =
        EXPONENTIAL_F32.iter().rev().copied().reduce(|sum, coefficient| sum.mul_add(r, coefficient)).unwrap_or(0.0);
    let value = 1.0 + (r * r).mul_add(series, r);
    // 2ᵏ in two factors, for results that are denormal or nearly too large.
    let half = k.mul_add(0.5, ROUND_F32);
    let rest = (k - (half - ROUND_F32)) + ROUND_F32;
    let power_of_two = |rounded: f32| f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    value * power_of_two(half) * power_of_two(rest)
}

/// Returns the natural logarithm of x.
#[inline(always)]
pub(super) fn log(x: f64) -> f64 {
    let [high, low] = log_sum(x);
    high + low
}

/// Returns xʸ.
#[inline(always)]
pub(super) fn pow(x: f64, y: f64) -> f64 {
    let [high, low] = log_sum(x.abs());
    let product = y * high;
    let error = y.mul_add(high, -product) + y * low;
    // Of infinite products the error is NaN.
    let error = if product.abs() < 800.0 { error } else { 0.0 };
    let size = exp_sum(product, error);
    let size = if y == 0.0 || x.abs() == 1.0 { 1.0 } else { size };
    let (whole, even) = (y.trunc() == y, (0.5 * y).trunc() == 0.5 * y);
    let sign = if even { 0 } else { x.to_bits() & (1 << 63) };
    let signed = f64::from_bits(size.to_bits() | sign);
    let value = if whole { signed } else { size };
    let defined = x >= 0.0 || whole || x == f64::NEG_INFINITY || y == 0.0;
    let value = if defined { value } else { f64::NAN };
    let unknown = (x.is_nan() && y != 0.0) || (y.is_nan() && x != 1.0);
    if unknown { f64::NAN } else { value }
}

/// Returns the exponential of `x + low`.
#[inline(always)]
fn exp_sum(x: f64, low: f64) -> f64 {
    let x = if x < RANGE[0] { RANGE[0] } else { x };
    let x = if x > RANGE[1] { RANGE[1] } else { x };
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = rounded - ROUND;
    // Exact; the second part of k ln 2 and its error go to r and `low`.
    let first = (-k).mul_add(LN_2[0], x);
    let rest = (-k).mul_add(LN_2[1], first);
    let low = (-k).mul_add(LN_2[1], first - rest) + low;
    let r = rest + low;
    let low = low - (r - rest);
    // e^(r + low) = 1 + r + tail, each sum with its error.
    let tail = (r * r).mul_add(polynomial(&EXPONENTIAL, r), r.mul_add(low, low));
    let sum = r + tail;
    let sum_low = tail - (sum - r);
    let value = 1.0 + sum;
    let value = value + ((sum - (value - 1.0)) + sum_low);
    // 2ᵏ in two factors, for results that are denormal or nearly too large.
    let half = k.mul_add(0.5, ROUND);
    let rest = (k - (half - ROUND)) + ROUND;
    value * power_of_two(half) * power_of_two(rest)
}

/// Returns 2ᵏ for k + [`ROUND`] and a whole k from −1022 to 1023.
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// Returns the natural logarithm of x as the sum of two numbers, with a relative error below 2⁻⁶⁴.
#[inline(always)]
fn log_sum(x: f64) -> [f64; 2] {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const ONE: u64 = 1.0f64.to_bits();
    const LARGE: f64 = (1u64 << 52) as f64;
    let is_denormal = x < f64::MIN_POSITIVE;
    let normal = if is_denormal { x * LARGE } else { x };
    // x = 2ᵏ m with √½ ≤ m < √2.
    let offset = normal.to_bits().wrapping_add(ONE - SQRT_HALF);
    let exponent = f64::from_bits((offset >> 52) | LARGE.to_bits()) - LARGE;
    let k = exponent - if is_denormal { 1075.0 } else { 1023.0 };
    let m = f64::from_bits((offset & ((1 << 52) - 1)) + SQRT_HALF);
    // ln m = 2 artanh s, s = (m − 1) / (m + 1): s, s² and the first terms in two parts.
    let (f, d) = (m - 1.0, m + 1.0);
    let d_low = m - (d - 1.0);
    let s = f / d;
    let s_low = ((-s).mul_add(d, f) - s * d_low) / d;
    let u = s * s;
    let u_low = (s + s).mul_add(s_low, s.mul_add(s, -u));
    let third = u * THIRD[0];
    let third_low = u.mul_add(THIRD[0], -third) + u.mul_add(THIRD[1], u_low * THIRD[0]);
    let series = (u * u) * polynomial(&LOGARITHM, u);
    let g = third + series;
    let g_low = (series - (g - third)) + third_low;
    let twice = s + s;
    let product = twice * g;
    let product_low = twice.mul_add(g, -product) + twice.mul_add(g_low, (s_low + s_low) * g);
    let h = twice + product;
    let h_low = (product - (h - twice)) + (product_low + (s_low + s_low));
    // ln x = k ln 2 + ln m
    let whole = k * LN_2[0];
    let sum = whole + h;
    let low = (h - (sum - whole)) + k.mul_add(LN_2[1], h_low);
    let high = sum + low;
    let low = low - (high - sum);
    if x > 0.0 && x < f64::INFINITY {
        [high, low]
    } else if x == 0.0 {
        [f64::NEG_INFINITY, 0.0]
    } else {
        // ∞ and NaN stay.
        [if x < 0.0 { f64::NAN } else { x }, 0.0]
    }
}
