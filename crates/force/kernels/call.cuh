// Argument of the kernels and layout of its arrays on the device. Mirrored by `Call` in src/force/cuda/forces/launch.rs; both
// must be changed together.
#pragma once
#include "canonical.cuh"
#include "pair.cuh"

/// Number of words of a corrected particle, and of a target, in the upload from the host.
constexpr u32 STATE = 13, TARGET = 6;

struct Call {
    // Sources at their own times: 12 columns of `slots` numbers (pos, vel, acc, jerk), ticks.
    double *held;
    u64 *ticks;
    // Masses, and in the columns behind them, of `slots` numbers each, what a law reads of the particles.
    double *mass;
    // Further derivatives of the acceleration, by which sources are predicted: three columns of `slots` numbers of each.
    double *more;
    // Sources predicted to `now`, in units of 16 bytes: the units of a source are adjacent, source after source.
    float4 *predicted;
    // Sums over spans of bags: [span][target of the batch][sum].
    void *partial;
    // Number of finished spans of a tile of targets; 0 between evaluations.
    u32 *arrived;
    // Forces on the block, in the host's memory: [targets][sum].
    double *out;
    // Corrected particles: indices in ascending order; ticks, pos, vel, acc, jerk of each; its further derivatives.
    const u32 *changed_index;
    const u64 *changed_state;
    const double *changed_more;
    // Block: indices in ascending order; pos, vel of each.
    const u32 *target_index;
    const double *target_state;
    u64 now;
    double tick;
    double eps2;
    u32 sources;
    // Number of sources and padding without mass: whole bags.
    u32 slots;
    u32 changed;
    u32 targets;
    // Batch of targets that fits `partial`.
    u32 first_target;
    u32 batch;
    u32 span_bags;
    u32 spans;
    // Number of the further derivatives.
    u32 derivatives;
    u32 unused;
};

/// Coordinate of padding: so far away that without mass it adds exact zeros, near enough that no square overflows.
template <class M> constexpr double NOWHERE = sizeof(typename M::Real) == 8 ? 1e150 : 1e15;

/// Number of units of 16 bytes of a predicted source.
template <class M> constexpr int UNITS = Body<M>::UNITS;

/// Returns the softening in the mode's numbers.
template <class M> __device__ __forceinline__ typename M::Real eps2_of(const Call &call) {
    return (typename M::Real)call.eps2;
}

__device__ __forceinline__ double2 as_pair(float4 unit) {
    return {__hiloint2double(__float_as_int(unit.y), __float_as_int(unit.x)),
            __hiloint2double(__float_as_int(unit.w), __float_as_int(unit.z))};
}

__device__ __forceinline__ float4 as_unit(double a, double b) {
    return {__int_as_float(__double2loint(a)), __int_as_float(__double2hiint(a)), __int_as_float(__double2loint(b)),
            __int_as_float(__double2hiint(b))};
}

/// Reads what a law reads of source `i`, in the columns of `slots` numbers behind the masses.
template <class R, int COUNT>
__device__ __forceinline__ void read_columns(const double *mass, u32 slots, u32 i, Columns<R, COUNT> &columns) {
    if constexpr (COUNT > 0) {
#pragma unroll
        for (int c = 0; c < COUNT; ++c) columns.of[c] = (R)mass[(size_t)(1 + c) * slots + i];
    }
}

/// Reads a source's columns from its units, or writes them there.
template <class R, int COUNT> __device__ __forceinline__ void read(const float4 *unit, Columns<R, COUNT> &columns) {
    if constexpr (COUNT > 0) {
#pragma unroll
        for (int c = 0; c < COUNT; ++c) columns.of[c] = reinterpret_cast<const R *>(unit)[c];
    }
}
template <class R, int COUNT> __device__ __forceinline__ void write(float4 *unit, const Columns<R, COUNT> &columns) {
    if constexpr (COUNT > 0) {
#pragma unroll
        for (int c = 0; c < COUNT; ++c) reinterpret_cast<R *>(unit)[c] = columns.of[c];
    }
}

/// Reads a source.
template <class M> __device__ __forceinline__ void read(const float4 *unit, Body<M> &body) {
    if constexpr (sizeof(typename M::Real) == 8) {
        double2 a = as_pair(unit[0]), b = as_pair(unit[1]), c = as_pair(unit[2]);
        double2 d = as_pair(unit[3]);
        body = {{a.x, a.y, b.x}, {0, 0, 0}, {c.x, c.y, d.x}, b.y};
    } else {
        float4 a = unit[0], b = unit[1];
        body = {{a.x, a.y, a.z}, {0, 0, 0}, {b.x, b.y, b.z}, a.w};
        if constexpr (M::SPLIT) {
            float2 c = *reinterpret_cast<const float2 *>(&unit[2]);
            body.low[0] = b.w;
            body.low[1] = c.x;
            body.low[2] = c.y;
        }
    }
    if constexpr (M::COLUMNS > 0) read(unit + Body<M>::STATE_UNITS, body.columns);
}

/// Writes a source without its columns.
template <class M> __device__ __forceinline__ void write_body(float4 *unit, const Body<M> &body) {
    if constexpr (sizeof(typename M::Real) == 8) {
        unit[0] = as_unit(body.pos[0], body.pos[1]);
        unit[1] = as_unit(body.pos[2], body.mass);
        unit[2] = as_unit(body.vel[0], body.vel[1]);
        unit[3] = as_unit(body.vel[2], 0.0);
    } else {
        unit[0] = {body.pos[0], body.pos[1], body.pos[2], body.mass};
        unit[1] = {body.vel[0], body.vel[1], body.vel[2], body.low[0]};
        if constexpr (M::SPLIT) unit[2] = {body.low[1], body.low[2], 0, 0};
    }
}

/// Returns target `k` of the block, and stores its index in `own`.
template <class M> __device__ __forceinline__ Body<M> read_target(const Call &call, u32 k, u32 &own) {
    double pos[3], vel[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        pos[c] = call.target_state[TARGET * (size_t)k + c];
        vel[c] = call.target_state[TARGET * (size_t)k + 3 + c];
    }
    own = call.target_index[k];
    Body<M> target = Body<M>::of(pos, vel, 0);
    if constexpr (M::BY_LAW) {
        // A point that is no source has neither.
        if (own < call.sources) {
            target.mass = (typename M::Real)call.mass[own];
            read_columns(call.mass, call.slots, own, target.columns);
        }
    }
    return target;
}

/// Returns the address of the partial sums of target `k` of the batch over `span`.
template <class M>
__device__ __forceinline__ typename M::Node *partial_of(const Call &call, u32 span, u32 k) {
    return static_cast<typename M::Node *>(call.partial) + ((size_t)span * call.batch + k) * SUMS;
}

/// Returns the address of sum number `s` of these.
template <class M>
__device__ __forceinline__ typename M::Node *sum_of(const Call &call, u32 span, u32 k, u32 s) {
    return partial_of<M>(call, span, k) + s;
}
