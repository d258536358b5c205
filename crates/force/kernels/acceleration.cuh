// Accelerations alone, of all particles on each other: the argument of the kernels and the layout of its arrays.
// Mirrored by `AccelerationCall` in src/force/cuda/forces/acceleration.rs; both must be changed together.
#pragma once
#include "bag.cuh"

/// Number of sums in an acceleration.
constexpr int COMPONENTS = 3;

struct AccelerationCall {
    // Positions, in the host's memory: [source][component].
    const double *pos;
    // Masses, and in the columns behind them what a law reads of the particles: [column][slot].
    const double *mass;
    // Sources in the mode's numbers, in units of 16 bytes: the units of a source are adjacent, source after source.
    float4 *placed;
    // Sums over spans of bags: [span][component][slot].
    void *partial;
    // Accelerations, in the host's memory: [source][component].
    double *out;
    double eps2;
    // The same in f32: a conversion in the loop over bags is not free.
    float eps2_f32;
    u32 sources;
    // Number of sources and padding without mass: whole bags.
    u32 slots;
    u32 span_bags;
    // Number of spans, or of bags where each bag's sums are passed on.
    u32 spans;
};

/// Source or target in a mode's numbers. In split modes `low` is the remainder of `pos`.
template <class M> struct Place {
    using R = typename M::Real;
    static constexpr int STATE_UNITS = sizeof(R) == 8 || M::SPLIT ? 2 : 1;
    static constexpr int UNITS = STATE_UNITS + Columns<R, M::COLUMNS>::UNITS;
    R pos[3], low[3], mass;
    Columns<R, M::COLUMNS> columns;
};

/// Reads a source.
template <class M> __device__ __forceinline__ void read(const float4 *unit, Place<M> &place) {
    if constexpr (sizeof(typename M::Real) == 8) {
        double2 a = as_pair(unit[0]), b = as_pair(unit[1]);
        place = {{a.x, a.y, b.x}, {0, 0, 0}, b.y};
    } else {
        float4 a = unit[0];
        place = {{a.x, a.y, a.z}, {0, 0, 0}, a.w};
        if constexpr (M::SPLIT) {
            float4 b = unit[1];
            place.low[0] = b.x;
            place.low[1] = b.y;
            place.low[2] = b.z;
        }
    }
    read(unit + Place<M>::STATE_UNITS, place.columns);
}

/// Writes a source: the nearest numbers, and the remainders of the positions.
template <class M> __device__ __forceinline__ void write_place(float4 *unit, const double (&pos)[3], double mass) {
    if constexpr (sizeof(typename M::Real) == 8) {
        unit[0] = as_unit(pos[0], pos[1]);
        unit[1] = as_unit(pos[2], mass);
    } else {
        unit[0] = {(float)pos[0], (float)pos[1], (float)pos[2], (float)mass};
        if constexpr (M::SPLIT)
            unit[1] = {(float)(pos[0] - (double)(float)pos[0]), (float)(pos[1] - (double)(float)pos[1]),
                       (float)(pos[2] - (double)(float)pos[2]), 0};
    }
}

template <class M> __device__ __forceinline__ typename M::Real eps2_of(const AccelerationCall &call) {
    if constexpr (sizeof(typename M::Real) == 8) return call.eps2;
    else return call.eps2_f32;
}

/// Three running sums of one target: the first three of `Sums`, bit for bit.
template <class M> struct Pulls {
    static constexpr int WIDTH = COMPONENTS;
    typename M::Real sum[COMPONENTS][M::PARTS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int k = 0; k < COMPONENTS; ++k)
#pragma unroll
            for (int part = 0; part < M::PARTS; ++part) sum[k][part] = 0;
    }

    /// Adds the pair of `source` and `target`, unless it is `absent`; see `Sums::add_pair`.
    template <bool QUICK>
    __device__ __forceinline__ void add_pair(const Place<M> &source, const Place<M> &target, typename M::Real eps2,
                                             bool absent, bool &odd) {
        if constexpr (M::BY_LAW) return M::template add_acceleration<QUICK>(*this, source, target, eps2, absent, odd);
        typename M::Real r[3];
#pragma unroll
        for (int k = 0; k < COMPONENTS; ++k) {
            r[k] = source.pos[k] - target.pos[k];
            if (M::SPLIT) r[k] = r[k] + (source.low[k] - target.low[k]);
        }
        auto mass = absent ? typename M::Real(0) : source.mass;
        auto m_s3 = attraction<M, QUICK>(mass, r, absent ? typename M::Real(1) : eps2, odd);
        Pulls before = *this;
#pragma unroll
        for (int k = 0; k < COMPONENTS; ++k) M::add_product(sum[k], m_s3, r[k]);
        if (M::ZERO_COUNTS) {
#pragma unroll
            for (int k = 0; k < COMPONENTS; ++k)
#pragma unroll
                for (int part = 0; part < M::PARTS; ++part)
                    sum[k][part] = absent ? before.sum[k][part] : sum[k][part];
        }
    }

    __device__ __forceinline__ typename M::Node node(int k) const { return M::node(sum[k]); }
};

/// Returns the address of sum number `s` of target `k` over `span`.
template <class M>
__device__ __forceinline__ typename M::Node *sum_of(const AccelerationCall &call, u32 span, u32 k, u32 s) {
    return static_cast<typename M::Node *>(call.partial) + ((size_t)span * COMPONENTS + s) * call.slots + k;
}
