// The precision modes as types: mirrors src/force/mode.rs name for name, operation by operation.
//
// Compiled with --fmad=false: only `fma` is fused, as in the Rust source. f32 flushes denormals to zero (--ftz=true);
// no mode's sums come near them.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

/// Number of sums in a force: acceleration, jerk, potential.
constexpr int SUMS = 7;

/// Order in which bags are added.
enum class Order { Tree, InOrder, Running };

__device__ __forceinline__ double fma_rn(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ __forceinline__ float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }

/// Returns 1 / sqrt(x) by two correctly rounded operations: the CPU's bits.
__device__ __forceinline__ double inverse_sqrt(double x) { return __drcp_rn(__dsqrt_rn(x)); }

/// Returns the same bits without a branch, for normal x that is not too small and whose low word is not all ones; `odd`
/// becomes true for any other x, and the result is void. The square root is the compiler's own sequence (a seed, one
/// cubic step, Markstein's correction). The reciprocal takes its seed from the 1/sqrt already computed, and needs one
/// more step. That could round wrongly only where 1/s lies within some 2^-103 above or below the midpoint between two
/// numbers: 90 values of s, from 184 values of x (up to powers of 4), of which only 4 - 2^-51 does
/// (kernels/check_inverse_sqrt.cu tests them all).
__device__ __forceinline__ double inverse_sqrt(double x, bool &odd) {
    odd |= (u32)__double2hiint(x) - 0x03500000u >= 0x7ca00000u;
    odd |= __double2loint(x) == -1;
    double seed;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(x));
    double e = __fma_rn(x, -(seed * seed), 1.0);
    double y = __fma_rn(__fma_rn(e, 0.375, 0.5), seed * e, seed);
    double g = x * y;
    double half_y = __hiloint2double(__double2hiint(y) - 0x00100000, __double2loint(y));
    double s = __fma_rn(__fma_rn(-g, g, x), half_y, g);
    return __fma_rn(y, __fma_rn(-s, y, 1.0), y);
}

/// Returns 1 / sqrt(x) to about half an ulp, for normal x; denormal x counts as zero, which gives NaN. A step of third
/// order (Householder) on the hardware's seed y, accurate to 20 bits: with e = 1 - x y^2, y + y e (1/2 + 3/8 e).
__device__ __forceinline__ double fast_inverse_sqrt(double x) {
    double seed;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(x));
    double e = __fma_rn(x, -(seed * seed), 1.0);
    return __fma_rn(__fma_rn(e, 0.375, 0.5), seed * e, seed);
}

/// Returns 1 / sqrt(x) in f32. The only place where an f32 mode may differ from the CPU by a rounding; with TISANE_IEEE
/// (for tests of the order of operations) it does not.
__device__ __forceinline__ float inverse_sqrt(float x) {
#ifdef TISANE_IEEE
    return __frcp_rn(__fsqrt_rn(x));
#else
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

__device__ __forceinline__ float inverse_sqrt(float x, bool &) { return inverse_sqrt(x); }

/// Number as the unevaluated sum of two f32, |lo| <= half an ulp of hi.
struct Twofold {
    float hi, lo;
    /// Dekker's fast two-sum; needs |hi| >= |lo|.
    static __device__ __forceinline__ Twofold normalised(float hi, float lo) {
        float sum = hi + lo;
        return {sum, lo - (sum - hi)};
    }
};

__device__ __forceinline__ double plus(double a, double b) { return a + b; }
__device__ __forceinline__ float plus(float a, float b) { return a + b; }
__device__ __forceinline__ Twofold plus(Twofold a, Twofold b) {
    float sum = a.hi + b.hi;
    float part = sum - a.hi;
    float error = (a.hi - (sum - part)) + (b.hi - part);
    return Twofold::normalised(sum, error + (a.lo + b.lo));
}

__device__ __forceinline__ double value(double a) { return a; }
__device__ __forceinline__ double value(float a) { return (double)a; }
__device__ __forceinline__ double value(Twofold a) { return (double)a.hi + (double)a.lo; }

/// Returns zero of any node type.
template <class N> __device__ __forceinline__ N zero() { return N{}; }

/// Returns the node of another lane.
__device__ __forceinline__ double from_lane(double a, int mask) { return __shfl_xor_sync(~0u, a, mask); }
__device__ __forceinline__ float from_lane(float a, int mask) { return __shfl_xor_sync(~0u, a, mask); }
__device__ __forceinline__ Twofold from_lane(Twofold a, int mask) {
    return {__shfl_xor_sync(~0u, a.hi, mask), __shfl_xor_sync(~0u, a.lo, mask)};
}

/// Numbers of a mode's pairs. QUICK: the pass without branches, void where `odd` becomes true.
template <class R> struct Numbers {
    using Real = R;
    /// Flag that adding a zero may change a sum, so that a pair that is left out must leave the sums untouched.
    static constexpr bool ZERO_COUNTS = false;
    /// Flag that the pairs are those of a law of the user (law.cuh) and not Newton's.
    static constexpr bool BY_LAW = false;
    /// Number of columns of the particles that the law reads.
    static constexpr int COLUMNS = 0;
    /// Number of sources in a thread's loop body; 0 leaves it to the kernel.
    static constexpr int HELD = 0;
    template <bool QUICK> static __device__ __forceinline__ R inverse_sqrt(R x, bool &odd) {
        return QUICK ? ::inverse_sqrt(x, odd) : ::inverse_sqrt(x);
    }
};

/// Plain running sum, which most modes share.
template <class R> struct PlainSum : Numbers<R> {
    /// Number of components of a running sum.
    static constexpr int PARTS = 1;
    static __device__ __forceinline__ void add_product(R (&sum)[1], R a, R b) { sum[0] = fma_rn(a, b, sum[0]); }
    static __device__ __forceinline__ void add_products(R (&sum)[1], R a, R b, R c, R d) {
        sum[0] = fma_rn(c, d, fma_rn(a, b, sum[0]));
    }
    static __device__ __forceinline__ void subtract(R (&sum)[1], R x) { sum[0] = sum[0] - x; }
};

struct F64 : PlainSum<double> {
    using Node = double;
    static constexpr bool SPLIT = false;
    static constexpr Order ORDER = Order::Tree;
    static __device__ __forceinline__ Node node(const Real (&sum)[1]) { return sum[0]; }
};

/// F64 except for 1 / sqrt; with TISANE_IEEE, equal to F64.
struct F64Fast : F64 {
#ifndef TISANE_IEEE
    template <bool QUICK> static __device__ __forceinline__ double inverse_sqrt(double x, bool &) {
        return fast_inverse_sqrt(x);
    }
#endif
};

struct F32Direct : PlainSum<float> {
    using Node = float;
    static constexpr bool SPLIT = false;
    static constexpr Order ORDER = Order::Running;
    static __device__ __forceinline__ Node node(const Real (&sum)[1]) { return sum[0]; }
};

struct F32Chamomile : PlainSum<float> {
    using Node = float;
    static constexpr bool SPLIT = false;
    static constexpr Order ORDER = Order::InOrder;
    static __device__ __forceinline__ Node node(const Real (&sum)[1]) { return sum[0]; }
};

struct Mixed : PlainSum<float> {
    using Node = double;
    static constexpr bool SPLIT = true;
    static constexpr Order ORDER = Order::Tree;
    static __device__ __forceinline__ Node node(const Real (&sum)[1]) { return (double)sum[0]; }
};

/// Kahan's compensated sum: sum[1] holds the excess of the last addition.
struct F32Kahan : Numbers<float> {
    // A zero would bring in the rounding error of the last addition: half a unit in the last place may round the sum
    // up.
    static constexpr bool ZERO_COUNTS = true;
    using Node = Twofold;
    static constexpr int PARTS = 2;
    static constexpr bool SPLIT = false;
    static constexpr Order ORDER = Order::Tree;
    static __device__ __forceinline__ void kahan(Real (&sum)[2], Real term) {
        Real total = sum[0] + term;
        sum[1] = (total - sum[0]) - term;
        sum[0] = total;
    }
    static __device__ __forceinline__ void add_product(Real (&sum)[2], Real a, Real b) {
        kahan(sum, fma_rn(a, b, -sum[1]));
    }
    static __device__ __forceinline__ void add_products(Real (&sum)[2], Real a, Real b, Real c, Real d) {
        kahan(sum, fma_rn(c, d, fma_rn(a, b, -sum[1])));
    }
    static __device__ __forceinline__ void subtract(Real (&sum)[2], Real x) { kahan(sum, -x - sum[1]); }
    static __device__ __forceinline__ Node node(const Real (&sum)[2]) { return Twofold::normalised(sum[0], -sum[1]); }
};

/// Two-sum: the exact error of every addition goes to sum[1].
struct DoubleFloat : Numbers<float> {
    using Node = Twofold;
    static constexpr int PARTS = 2;
    static constexpr bool SPLIT = true;
    static constexpr Order ORDER = Order::Tree;
    static __device__ __forceinline__ void two_sum(Real (&sum)[2], Real term) {
        Real total = sum[0] + term;
        Real part = total - sum[0];
        Real error = (sum[0] - (total - part)) + (term - part);
        sum[0] = total;
        sum[1] = sum[1] + error;
    }
    static __device__ __forceinline__ void add_product(Real (&sum)[2], Real a, Real b) { two_sum(sum, a * b); }
    static __device__ __forceinline__ void add_products(Real (&sum)[2], Real a, Real b, Real c, Real d) {
        two_sum(sum, fma_rn(c, d, a * b));
    }
    static __device__ __forceinline__ void subtract(Real (&sum)[2], Real x) { two_sum(sum, -x); }
    static __device__ __forceinline__ Node node(const Real (&sum)[2]) { return Twofold::normalised(sum[0], sum[1]); }
};

/// Writes an entry point for every mode.
#define TISANE_EACH_MODE(ENTRY)                                                                                        \
    ENTRY(f32_direct, F32Direct)                                                                                       \
    ENTRY(f32_chamomile, F32Chamomile)                                                                                 \
    ENTRY(f32_kahan, F32Kahan)                                                                                         \
    ENTRY(mixed, Mixed)                                                                                                \
    ENTRY(double_float, DoubleFloat)                                                                                   \
    ENTRY(f64_fast, F64Fast)                                                                                           \
    ENTRY(f64, F64)

// Kernels of a mode by their numbers of targets T: as `properties` of src/force/precision.rs has them, which a test
// compares with this.

/// Writes a kernel of force_whole.cu for every T and every mode that has them: a running sum over all sources has none.
#define TISANE_EACH_WHOLE(ENTRY)                                                                                       \
    ENTRY(f32_chamomile, F32Chamomile, 1) ENTRY(f32_chamomile, F32Chamomile, 2)                                        \
    ENTRY(f32_kahan, F32Kahan, 1) ENTRY(f32_kahan, F32Kahan, 2)                                                        \
    ENTRY(mixed, Mixed, 1) ENTRY(mixed, Mixed, 2)                                                                      \
    ENTRY(double_float, DoubleFloat, 1) ENTRY(double_float, DoubleFloat, 2)                                            \
    ENTRY(f64_fast, F64Fast, 1) ENTRY(f64_fast, F64Fast, 2)                                                            \
    ENTRY(f64, F64, 1) ENTRY(f64, F64, 2)

/// Writes a kernel of force_tiles.cu for every mode and T.
#define TISANE_EACH_TILES(ENTRY)                                                                                       \
    ENTRY(f32_direct, F32Direct, 1) ENTRY(f32_direct, F32Direct, 2)                                                    \
    ENTRY(f32_chamomile, F32Chamomile, 1) ENTRY(f32_chamomile, F32Chamomile, 2)                                        \
    ENTRY(f32_kahan, F32Kahan, 2) ENTRY(f32_kahan, F32Kahan, 3)                                                        \
    ENTRY(mixed, Mixed, 2) ENTRY(mixed, Mixed, 3)                                                                      \
    ENTRY(double_float, DoubleFloat, 2) ENTRY(double_float, DoubleFloat, 3)                                            \
    ENTRY(f64_fast, F64Fast, 1)                                                                                        \
    ENTRY(f64, F64, 1)

/// Writes a kernel of acceleration.cu for every mode and T.
#define TISANE_EACH_ACCELERATION(ENTRY)                                                                                \
    ENTRY(f32_direct, F32Direct, 1) ENTRY(f32_direct, F32Direct, 2) ENTRY(f32_direct, F32Direct, 4)                    \
    ENTRY(f32_chamomile, F32Chamomile, 1) ENTRY(f32_chamomile, F32Chamomile, 2) ENTRY(f32_chamomile, F32Chamomile, 4)  \
    ENTRY(f32_kahan, F32Kahan, 1) ENTRY(f32_kahan, F32Kahan, 4)                                                        \
    ENTRY(mixed, Mixed, 1) ENTRY(mixed, Mixed, 4)                                                                      \
    ENTRY(double_float, DoubleFloat, 1) ENTRY(double_float, DoubleFloat, 4)                                            \
    ENTRY(f64_fast, F64Fast, 1) ENTRY(f64_fast, F64Fast, 2)                                                            \
    ENTRY(f64, F64, 1) ENTRY(f64, F64, 2)
