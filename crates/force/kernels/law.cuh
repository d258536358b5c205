// Pairs of a law of the user: mirrors src/force/reference/law.rs. The program of the law is a type L, which
// src/force/cuda/forces/law.rs writes; its operations are those of src/law/program.rs.
#pragma once
#include "elementary.cuh"
#include "pair.cuh"

/// What a program reads of a pair.
template <class R, int COLUMNS> struct Quantities {
    R s2, source_mass, target_mass;
    Columns<R, COLUMNS> source, target;
};

/// Results of a program: the acceleration is factor * r, the jerk factor * v + slope * (r.v) * r, and the potential minus
/// minus_potential.
template <class R> struct Factors {
    R factor, slope, minus_potential;
};

/// The inverse square roots of a mode. QUICK: without branches, and void where `odd` becomes true.
template <class M, bool QUICK> struct Roots {
    using R = typename M::Real;
    bool &odd;
    __device__ __forceinline__ R inverse(R x) const { return M::template inverse_sqrt<QUICK>(x, odd); }
};

/// Mode M with the law L in place of Newton's.
template <class M, class L> struct ByLaw : M {
    using R = typename M::Real;
    static constexpr bool BY_LAW = true;
    static constexpr int COLUMNS = L::COLUMNS;
    static constexpr int HELD = L::HELD;

    /// Returns what the program reads of `source` and `target` at the distance `r`.
    template <class B>
    static __device__ __forceinline__ Quantities<R, COLUMNS> quantities(const B &source, const B &target, const R (&r)[3],
                                                                        R eps2) {
        R s2 = fma_rn(r[0], r[0], fma_rn(r[1], r[1], fma_rn(r[2], r[2], eps2)));
        return {s2, source.mass, target.mass, source.columns, target.columns};
    }

    /// Stores the distance of two particles in `r`.
    template <class B> static __device__ __forceinline__ void relative(const B &source, const B &target, R (&r)[3]) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            r[k] = source.pos[k] - target.pos[k];
            if (M::SPLIT) r[k] = r[k] + (source.low[k] - target.low[k]);
        }
    }

    /// Adds the force of `source` on `target` to the sums, unless it is `absent`: a law need not vanish with the mass.
    template <bool QUICK, class S, class B>
    static __device__ __forceinline__ void add_force(S &sums, const B &source, const B &target, R eps2, bool absent,
                                                     bool &odd) {
        R r[3], v[3];
        relative(source, target, r);
#pragma unroll
        for (int k = 0; k < 3; ++k) v[k] = source.vel[k] - target.vel[k];
        Factors<R> of = L::force(quantities(source, target, r, absent ? R(1) : eps2), Roots<M, QUICK>{odd});
        R factor = absent ? R(0) : of.factor, slope = absent ? R(0) : of.slope;
        R minus_potential = absent ? R(0) : of.minus_potential;
        R beta = slope * fma_rn(r[0], v[0], fma_rn(r[1], v[1], r[2] * v[2]));
        S before = sums;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            M::add_product(sums.sum[k], factor, r[k]);
            M::add_products(sums.sum[3 + k], factor, v[k], beta, r[k]);
        }
        if (L::HAS_POTENTIAL) M::subtract(sums.sum[6], minus_potential);
        if (M::ZERO_COUNTS && absent) sums = before;
    }

    /// Adds the acceleration alone.
    template <bool QUICK, class S, class B>
    static __device__ __forceinline__ void add_acceleration(S &sums, const B &source, const B &target, R eps2, bool absent,
                                                            bool &odd) {
        R r[3];
        relative(source, target, r);
        Factors<R> of = L::acceleration(quantities(source, target, r, absent ? R(1) : eps2), Roots<M, QUICK>{odd});
        R factor = absent ? R(0) : of.factor;
        S before = sums;
#pragma unroll
        for (int k = 0; k < 3; ++k) M::add_product(sums.sum[k], factor, r[k]);
        if (M::ZERO_COUNTS && absent) sums = before;
    }
};
