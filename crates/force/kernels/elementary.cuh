// Elementary functions of formulas: mirrors src/formula/functions/ name for name, operation by operation, so that they have
// the CPU's bits. In f32 all but exp are those in f64, rounded.
#pragma once
#include "precision.cuh"

namespace elementary {

/// 1.5 * 2^52: added to a number, it leaves the nearest whole number in the last bits.
constexpr double ROUND = 6755399441055744.0;
/// Largest argument of sine and cosine: 2^40.
constexpr double LARGEST = 1099511627776.0;

__device__ __forceinline__ u64 bits_of(double x) { return (u64)__double_as_longlong(x); }
__device__ __forceinline__ double of_bits(u64 bits) { return __longlong_as_double((long long)bits); }

/// Returns the value of a polynomial, by Horner's rule.
template <int N> __device__ __forceinline__ double polynomial(const double (&coefficients)[N], double x) {
    double value = coefficients[N - 1];
#pragma unroll
    for (int k = N - 2; k >= 0; --k) value = __fma_rn(value, x, coefficients[k]);
    return value;
}

/// Returns 2^k for k + ROUND and a whole k from -1022 to 1023.
__device__ __forceinline__ double power_of_two(double rounded) { return of_bits((bits_of(rounded) + 1023) << 52); }

/// Returns the exponential of x + low.
__device__ __forceinline__ double exp_sum(double x, double low) {
    const double EXPONENTIAL[] = {1.0 / 2.0,      1.0 / 6.0,       1.0 / 24.0,       1.0 / 120.0,
                                  1.0 / 720.0,    1.0 / 5040.0,    1.0 / 40320.0,    1.0 / 362880.0,
                                  1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};
    const double LN_2[] = {0.693147180559663, 2.8235290563031577e-13}, LOG2_E = 1.4426950408889634;
    x = x < -750.0 ? -750.0 : x;
    x = x > 720.0 ? 720.0 : x;
    double k = __fma_rn(x, LOG2_E, ROUND) - ROUND;
    double first = __fma_rn(-k, LN_2[0], x);
    double rest = __fma_rn(-k, LN_2[1], first);
    low = __fma_rn(-k, LN_2[1], first - rest) + low;
    double r = rest + low;
    low = low - (r - rest);
    double tail = __fma_rn(r * r, polynomial(EXPONENTIAL, r), __fma_rn(r, low, low));
    double sum = r + tail;
    double sum_low = tail - (sum - r);
    double value = 1.0 + sum;
    value = value + ((sum - (value - 1.0)) + sum_low);
    double half = __fma_rn(k, 0.5, ROUND);
    rest = (k - (half - ROUND)) + ROUND;
    return value * power_of_two(half) * power_of_two(rest);
}

/// Returns the natural logarithm of x as the sum of `high` and `low`.
__device__ __forceinline__ double log_sum(double x, double &low) {
    const double LOGARITHM[] = {1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0,
                                1.0 / 17.0, 1.0 / 19.0, 1.0 / 21.0, 1.0 / 23.0, 1.0 / 25.0};
    const double THIRD[] = {1.0 / 3.0, 1.850371707708594e-17};
    const double LN_2[] = {0.693147180559663, 2.8235290563031577e-13}, LARGE = 4503599627370496.0;
    const u64 SQRT_HALF = 0x3fe6a09e667f3bcdull, ONE = 0x3ff0000000000000ull, MANTISSA = (1ull << 52) - 1;
    bool is_denormal = x < 2.2250738585072014e-308;
    double normal = is_denormal ? x * LARGE : x;
    u64 offset = bits_of(normal) + (ONE - SQRT_HALF);
    double exponent = of_bits((offset >> 52) | bits_of(LARGE)) - LARGE;
    double k = exponent - (is_denormal ? 1075.0 : 1023.0);
    double m = of_bits((offset & MANTISSA) + SQRT_HALF);
    double f = m - 1.0, d = m + 1.0;
    double d_low = m - (d - 1.0);
    double s = f / d;
    double s_low = (__fma_rn(-s, d, f) - s * d_low) / d;
    double u = s * s;
    double u_low = __fma_rn(s + s, s_low, __fma_rn(s, s, -u));
    double third = u * THIRD[0];
    double third_low = __fma_rn(u, THIRD[0], -third) + __fma_rn(u, THIRD[1], u_low * THIRD[0]);
    double series = (u * u) * polynomial(LOGARITHM, u);
    double g = third + series;
    double g_low = (series - (g - third)) + third_low;
    double twice = s + s;
    double product = twice * g;
    double product_low = __fma_rn(twice, g, -product) + __fma_rn(twice, g_low, (s_low + s_low) * g);
    double h = twice + product;
    double h_low = (product - (h - twice)) + (product_low + (s_low + s_low));
    double whole = k * LN_2[0];
    double sum = whole + h;
    low = (h - (sum - whole)) + __fma_rn(k, LN_2[1], h_low);
    double high = sum + low;
    low = low - (high - sum);
    const double INFINITE = of_bits(0x7ff0000000000000ull);
    if (x > 0.0 && x < INFINITE) return high;
    low = 0.0;
    return x == 0.0 ? -INFINITE : x < 0.0 ? of_bits(0x7ff8000000000000ull) : x;
}

/// Returns e^x.
__device__ __forceinline__ double exp(double x) { return exp_sum(x, 0.0); }

/// Returns the natural logarithm of x.
__device__ __forceinline__ double log(double x) {
    double low, high = log_sum(x, low);
    return high + low;
}

/// Returns x^y.
__device__ __forceinline__ double pow(double x, double y) {
    const u64 SIGN = 1ull << 63;
    double size_of_x = of_bits(bits_of(x) & ~SIGN);
    double low, high = log_sum(size_of_x, low);
    double product = y * high;
    double error = __fma_rn(y, high, -product) + y * low;
    error = of_bits(bits_of(product) & ~SIGN) < 800.0 ? error : 0.0;
    double size = exp_sum(product, error);
    size = y == 0.0 || size_of_x == 1.0 ? 1.0 : size;
    bool whole = ::trunc(y) == y, even = ::trunc(0.5 * y) == 0.5 * y;
    double value = whole ? of_bits(bits_of(size) | (even ? 0 : bits_of(x) & SIGN)) : size;
    const double NOT_A_NUMBER = of_bits(0x7ff8000000000000ull), INFINITE = of_bits(0x7ff0000000000000ull);
    bool defined = x >= 0.0 || whole || x == -INFINITE || y == 0.0;
    bool unknown = (x != x && y != 0.0) || (y != y && x != 1.0);
    return !defined || unknown ? NOT_A_NUMBER : value;
}

/// Returns sin(r + low) for |r| <= pi/4.
__device__ __forceinline__ double sine(double r, double low) {
    const double SINE[] = {-1.0 / 6.0,        1.0 / 120.0,        -1.0 / 5040.0,          1.0 / 362880.0,
                           -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0};
    double r2 = r * r;
    double half_square = 0.5 * r2;
    double tail = __fma_rn(r * r2, polynomial(SINE, r2), __fma_rn(-half_square, low, low));
    return r + tail;
}

/// Returns cos(r + low) for |r| <= pi/4.
__device__ __forceinline__ double cosine(double r, double low) {
    const double COSINE[] = {1.0 / 24.0,        -1.0 / 720.0,         1.0 / 40320.0,         -1.0 / 3628800.0,
                             1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    double r2 = r * r;
    double half_square = 0.5 * r2;
    double square_error = 0.5 * __fma_rn(r, r, -r2);
    double near = 1.0 - half_square;
    double lost = (1.0 - near) - half_square;
    double tail = __fma_rn(r2 * r2, polynomial(COSINE, r2), lost - __fma_rn(r, low, square_error));
    return near + tail;
}

/// Returns sin(x + n pi/2).
__device__ __forceinline__ double quarter(double x, u64 n) {
    const double HALF_PI[] = {1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33};
    double turned = __fma_rn(x, 0.6366197723675814, ROUND);
    u64 quarters = bits_of(turned) + n;
    double k = turned - ROUND;
    double first = __fma_rn(-k, HALF_PI[0], x);
    double product = k * HALF_PI[1];
    double product_error = __fma_rn(k, HALF_PI[1], -product);
    double r = first - product;
    double part = r - first;
    double error = (first - (r - part)) - (product + part);
    double low = __fma_rn(-k, HALF_PI[2], error - product_error);
    double value = (quarters & 1) == 0 ? sine(r, low) : cosine(r, low);
    double with_sign = of_bits(bits_of(value) ^ ((quarters & 2) << 62));
    return of_bits(bits_of(x) & ~(1ull << 63)) <= LARGEST ? with_sign : of_bits(0x7ff8000000000000ull);
}

/// Returns sin x.
__device__ __forceinline__ double sin(double x) { return quarter(x, 0); }

/// Returns cos x.
__device__ __forceinline__ double cos(double x) { return quarter(x, 1); }

/// Returns 2^k for k + 1.5 * 2^23 and a whole k from -126 to 127.
__device__ __forceinline__ float power_of_two(float rounded) {
    return __uint_as_float((__float_as_uint(rounded) + 127u) << 23);
}

/// Returns e^x in f32.
__device__ __forceinline__ float exp(float x) {
    const float EXPONENTIAL[] = {1.0f / 2.0f, 1.0f / 6.0f, 1.0f / 24.0f, 1.0f / 120.0f,
                                 1.0f / 720.0f, 1.0f / 5040.0f, 1.0f / 40320.0f};
    const float LN_2[] = {0.69314575f, 1.4286068e-6f}, LOG2_E = 1.44269504f, ROUND = 12582912.0f;
    x = x < -105.0f ? -105.0f : x;
    x = x > 90.0f ? 90.0f : x;
    float k = __fmaf_rn(x, LOG2_E, ROUND) - ROUND;
    float r = __fmaf_rn(-k, LN_2[1], __fmaf_rn(-k, LN_2[0], x));
    float series = EXPONENTIAL[6];
#pragma unroll
    for (int j = 5; j >= 0; --j) series = __fmaf_rn(series, r, EXPONENTIAL[j]);
    float value = 1.0f + __fmaf_rn(r * r, series, r);
    float half = __fmaf_rn(k, 0.5f, ROUND);
    float rest = (k - (half - ROUND)) + ROUND;
    return value * power_of_two(half) * power_of_two(rest);
}

__device__ __forceinline__ float log(float x) { return (float)log((double)x); }
__device__ __forceinline__ float sin(float x) { return (float)sin((double)x); }
__device__ __forceinline__ float cos(float x) { return (float)cos((double)x); }
__device__ __forceinline__ float pow(float x, float y) { return (float)pow((double)x, (double)y); }

/// Returns the square root, correctly rounded.
__device__ __forceinline__ double sqrt(double x) { return __dsqrt_rn(x); }
__device__ __forceinline__ float sqrt(float x) { return __fsqrt_rn(x); }

} // namespace elementary
