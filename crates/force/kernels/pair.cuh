// The pair force and the predictor: mirrors src/gravity.rs name for name, operation by operation.
#pragma once
#include "precision.cuh"

/// Force of one source on a target: acceleration m_s3 * r, jerk m_s3 * d, potential -m_s.
template <class R> struct Pair {
    R m_s, m_s3, d[3];
};

/// Common factors of acceleration, jerk and potential of a pair.
template <class R> struct Approach {
    R s_inv2, m_s, m_s3;
};

/// Computes them by the mode's 1/sqrt. QUICK: without branches, and void where `odd` becomes true.
template <class M, bool QUICK, class R = typename M::Real>
__device__ __forceinline__ Approach<R> approach(R mass, const R (&r)[3], R eps2, bool &odd) {
    R s2 = fma_rn(r[0], r[0], fma_rn(r[1], r[1], fma_rn(r[2], r[2], eps2)));
    R s_inv = M::template inverse_sqrt<QUICK>(s2, odd);
    R s_inv2 = s_inv * s_inv;
    R m_s = mass * s_inv;
    return {s_inv2, m_s, m_s * s_inv2};
}

/// Returns the factor of the acceleration alone.
template <class M, bool QUICK, class R = typename M::Real>
__device__ __forceinline__ R attraction(R mass, const R (&r)[3], R eps2, bool &odd) {
    return approach<M, QUICK>(mass, r, eps2, odd).m_s3;
}

template <class M, bool QUICK, class R = typename M::Real>
__device__ __forceinline__ Pair<R> pair(R mass, const R (&r)[3], const R (&v)[3], R eps2, bool &odd) {
    auto [s_inv2, m_s, m_s3] = approach<M, QUICK>(mass, r, eps2, odd);
    R rv = fma_rn(r[0], v[0], fma_rn(r[1], v[1], r[2] * v[2]));
    R alpha = R(-3) * (rv * s_inv2);
    return {m_s, m_s3, {fma_rn(alpha, r[0], v[0]), fma_rn(alpha, r[1], v[1]), fma_rn(alpha, r[2], v[2])}};
}

/// Largest number of derivatives of the acceleration from the second on.
constexpr u32 MAX_DERIVATIVES = 4;

/// Flag of modes whose sources are predicted by the derivatives that a multi-point scheme keeps, as its targets are.
template <class M> constexpr bool BY_DERIVATIVES = sizeof(typename M::Real) == 8;

/// Returns one component of the predicted position and velocity after dt. Nothing is fused.
__device__ __forceinline__ void predict_component(double &pos, double &vel, double acc, double jerk, double dt) {
    const double THIRD = 1.0 / 3.0;
    double half_dt = 0.5 * dt;
    double x = ((jerk * (dt * THIRD) + acc) * half_dt + vel) * dt + pos;
    double v = (jerk * half_dt + acc) * dt + vel;
    pos = x;
    vel = v;
}

/// Returns the same by further derivatives of the acceleration, `derivatives` of them: of number d, which is that of order
/// d + 2, `of(d)` has the component.
template <class F>
__device__ __forceinline__ void predict_component_with(u32 derivatives, F of, double &pos, double &vel, double acc,
                                                       double jerk, double dt) {
    constexpr double INVERSE[8] = {1.0, 1.0, 0.5, 1.0 / 3.0, 0.25, 0.2, 1.0 / 6.0, 1.0 / 7.0};
    double x = 0.0, v = 0.0;
#pragma unroll
    for (int d = MAX_DERIVATIVES - 1; d >= 0; --d) {
        if (d >= (int)derivatives) continue;
        double derivative = of(d);
        x = (x + derivative) * (dt * INVERSE[d + 4]);
        v = (v + derivative) * (dt * INVERSE[d + 3]);
    }
    double half = 0.5 * dt;
    pos = (((x + jerk) * (dt * INVERSE[3]) + acc) * half + vel) * dt + pos;
    vel = ((v + jerk) * half + acc) * dt + vel;
}

/// Values of a particle in the columns that a law reads.
template <class R, int COUNT> struct Columns {
    /// Number of units of 16 bytes.
    static constexpr int UNITS = (COUNT * sizeof(R) + 15) / 16;
    R of[COUNT];
};
template <class R> struct Columns<R, 0> {
    static constexpr int UNITS = 0;
};

/// Predicted source or target in a mode's numbers. In split modes `low` is the remainder of `pos`.
template <class M, bool BY_LAW = M::BY_LAW> struct Body {
    using R = typename M::Real;
    /// Number of units of 16 bytes of a source.
    static constexpr int UNITS = sizeof(R) == 8 ? 4 : M::SPLIT ? 3 : 2;
    R pos[3], low[3], vel[3], mass;

    /// Converts from f64: the nearest numbers, and the remainders of the positions.
    static __device__ __forceinline__ Body of(const double (&pos)[3], const double (&vel)[3], double mass) {
        Body body;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            body.pos[k] = (R)pos[k];
            body.low[k] = (R)(pos[k] - (double)body.pos[k]);
            body.vel[k] = (R)vel[k];
        }
        body.mass = (R)mass;
        return body;
    }
};

/// The same with what a law reads, a type of its own: a member more, though empty, makes other machine code of Newton's.
template <class M> struct Body<M, true> {
    using R = typename M::Real;
    /// Number of units of 16 bytes without the columns, and with them.
    static constexpr int STATE_UNITS = Body<M, false>::UNITS;
    static constexpr int UNITS = STATE_UNITS + Columns<R, M::COLUMNS>::UNITS;
    R pos[3], low[3], vel[3], mass;
    Columns<R, M::COLUMNS> columns;

    static __device__ __forceinline__ Body of(const double (&pos)[3], const double (&vel)[3], double mass) {
        auto plain = Body<M, false>::of(pos, vel, mass);
        Body body;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            body.pos[k] = plain.pos[k];
            body.low[k] = plain.low[k];
            body.vel[k] = plain.vel[k];
        }
        body.mass = plain.mass;
        return body;
    }
};

/// Computes the pair of `source` and `target`, and their distance `r`, unless it is `absent`: a particle's pair with
/// itself, or padding. To leave it out, the mass is set to zero and the distance to another number, so that every term is
/// an exact zero.
template <class M, bool QUICK, class R = typename M::Real>
__device__ __forceinline__ Pair<R> pair_of(const Body<M> &source, const Body<M> &target, R eps2, bool absent, R (&r)[3],
                                           bool &odd) {
    R v[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        r[k] = source.pos[k] - target.pos[k];
        if (M::SPLIT) r[k] = r[k] + (source.low[k] - target.low[k]);
        v[k] = source.vel[k] - target.vel[k];
    }
    R mass = absent ? R(0) : source.mass;
    return pair<M, QUICK>(mass, r, v, absent ? R(1) : eps2, odd);
}

/// Seven running sums of one target.
template <class M> struct Sums {
    static constexpr int WIDTH = SUMS;
    typename M::Real sum[SUMS][M::PARTS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int k = 0; k < SUMS; ++k)
#pragma unroll
            for (int part = 0; part < M::PARTS; ++part) sum[k][part] = 0;
    }

    /// Adds the pair of `source` and `target`, unless it is `absent`: see `pair_of`. Where adding zeros matters none is
    /// added.
    template <bool QUICK>
    __device__ __forceinline__ void add_pair(const Body<M> &source, const Body<M> &target, typename M::Real eps2,
                                             bool absent, bool &odd) {
        if constexpr (M::BY_LAW) return M::template add_force<QUICK>(*this, source, target, eps2, absent, odd);
        typename M::Real r[3];
        auto term = pair_of<M, QUICK>(source, target, eps2, absent, r, odd);
        Sums before = *this;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            M::add_product(sum[k], term.m_s3, r[k]);
            M::add_product(sum[3 + k], term.m_s3, term.d[k]);
        }
        M::subtract(sum[6], term.m_s);
        if (M::ZERO_COUNTS) {
#pragma unroll
            for (int k = 0; k < SUMS; ++k)
#pragma unroll
                for (int part = 0; part < M::PARTS; ++part)
                    sum[k][part] = absent ? before.sum[k][part] : sum[k][part];
        }
    }

    __device__ __forceinline__ typename M::Node node(int k) const { return M::node(sum[k]); }
};
