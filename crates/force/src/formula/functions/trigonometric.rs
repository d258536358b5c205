//! Sine and cosine in f64.

/// 1.5 · 2⁵²: added to a number, it leaves the nearest whole number in the last bits.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;
/// Largest argument: 2⁴⁰.
pub(super) const LARGEST: f64 = 1_099_511_627_776.0;
/// π/2 in three parts. The first has no bits below 2⁻⁴⁹, so that what is left of x after a multiple of it is exact.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
/// Coefficients of the series of sin r in r², without the first: −1/3!, 1/5!, …
const SINE: [f64; 8] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 355_687_428_096_000.0,
];
/// Coefficients of the series of cos r in r², without the first two: 1/4!, −1/6!, …
const COSINE: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

/// Returns sin x.
#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    quarter(x, 0)
}

/// Returns cos x, which is the sine a quarter of a turn later.
#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    quarter(x, 1)
}

/// Returns sin(x + n π/2).
#[inline(always)]
fn quarter(x: f64, n: u64) -> f64 {
    let turned = x.mul_add(std::f64::consts::FRAC_2_PI, ROUND);
    let (quarters, k) = (turned.to_bits().wrapping_add(n), turned - ROUND);
    // Exact in the first step; the second takes the error of its product and of its difference along (two-sum).
    let first = (-k).mul_add(HALF_PI[0], x);
    let product = k * HALF_PI[1];
    let product_error = k.mul_add(HALF_PI[1], -product);
    let r = first - product;
    let part = r - first;
    let error = (first - (r - part)) - (product + part);
    let low = (-k).mul_add(HALF_PI[2], error - product_error);
    let (sine, cosine) = (sine(r, low), cosine(r, low));
    let value = if quarters & 1 == 0 { sine } else { cosine };
    let signed = f64::from_bits(value.to_bits() ^ ((quarters & 2) << 62));
    if x.abs() <= LARGEST { signed } else { f64::NAN }
}

/// Returns sin(r + low) for |r| ≤ π/4.
#[inline(always)]
fn sine(r: f64, low: f64) -> f64 {
    let r2 = r * r;
    let series = polynomial(&SINE, r2);
    let half_square = 0.5 * r2;
    let tail = (r * r2).mul_add(series, (-half_square).mul_add(low, low));
    r + tail
}

/// Returns cos(r + low) for |r| ≤ π/4.
#[inline(always)]
fn cosine(r: f64, low: f64) -> f64 {
    let r2 = r * r;
    let half_square = 0.5 * r2;
    // Of 0.5 r² the error of r² is the largest part that is lost: it is added back.
    let square_error = 0.5 * r.mul_add(r, -r2);
    let near = 1.0 - half_square;
    let lost = (1.0 - near) - half_square;
    let tail = (r2 * r2).mul_add(polynomial(&COSINE, r2), lost - r.mul_add(low, square_error));
    near + tail
}

/// Returns the value of a polynomial, by Horner's rule.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut value = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        value = value.mul_add(x, coefficients[k]);
    }
    value
}
