// Criteria of the search for particles that may form a pair: those of src/force/watch.rs. A pair of mass M at distance r is perturbed
// by 2 r^3 D / M, where D is the sum of m/r^3 of all others.
#pragma once
#include "precision.cuh"

/// Above the rounding of perturbations.
constexpr double ABOVE_PERTURBATION = 1.0 + 1e-4;
/// Weights m/r^3 outside of these need the host.
constexpr float MIN_WEIGHT = 1e-30f, MAX_WEIGHT = 1e36f;

/// What sources have at a target: the largest m/r^3, the second one, the sum of all but the largest, and its source.
struct Weighed {
    float best, second, rest;
    u32 source;

    __device__ __forceinline__ void add(float weight, u32 of) {
        float lesser = fminf(weight, best);
        second = fmaxf(second, lesser);
        rest += lesser;
        if (weight > best) best = weight, source = of;
    }
    /// Takes in what other sources have.
    __device__ __forceinline__ void add(const Weighed &other) {
        float lesser = fminf(other.best, best);
        second = fmaxf(fmaxf(second, other.second), lesser);
        rest += other.rest + lesser;
        if (other.best > best) best = other.best, source = other.source;
    }
    /// Takes in what the lanes of the warp have whose numbers are the same modulo `width`, a power of two.
    __device__ __forceinline__ void add_over_warp(u32 width) {
#pragma unroll
        for (u32 apart = 16; apart > 0; apart /= 2) {
            if (apart < width) break;
            Weighed other;
            other.best = __shfl_xor_sync(~0u, best, apart), other.second = __shfl_xor_sync(~0u, second, apart);
            other.rest = __shfl_xor_sync(~0u, rest, apart), other.source = __shfl_xor_sync(~0u, source, apart);
            add(other);
        }
    }
};

/// Returns the largest sum of m/r^3 of all others with which a particle and its strongest source form a pair, or one of them joins the
/// other, by the limits of `watch`: zero if none is small enough. `pos` and `vel` are their relative state, `mass` is that of both. The
/// state may be off: the position by a `part` of the distance, the velocity by `speed`; then the result is an upper bound.
template <class W>
__device__ __forceinline__ double largest_field(const W &watch, const double (&pos)[3], const double (&vel)[3], double mass,
                                                bool is_compound, double part, double speed) {
    double r2 = 0.0, v2 = 0.0, rv = 0.0;
#pragma unroll
    for (int c = 0; c < 3; ++c) r2 += pos[c] * pos[c], v2 += vel[c] * vel[c], rv += pos[c] * vel[c];
    double r = __dsqrt_rn(r2), v = __dsqrt_rn(v2), near = r * (1.0 - part), far = __longlong_as_double(0x7ff0000000000000);
    double slow = fmax(v - speed, 0.0), more = part * (v + speed) + speed, beta = 2.0 * mass / near - slow * slow;
    if (beta > 0.0) {
        double axis = mass / beta, h = __dsqrt_rn(fmax(r2 * v2 - rv * rv, 0.0)) + r * more;
        far = fmax(near, axis * (1.0 + __dsqrt_rn(fmax(1.0 - h * h / (axis * mass), 0.0))));
    }
    bool approaches = rv <= r * (1e-9 * v + more), is_bound = 2.0 * (1.0 + 1e-9) * mass >= watch.min_binding * near * slow * slow;
    double most = watch.joins / (far * far * far), per_near = 1.0 / (near * near * near);
    if (approaches && is_compound) most = fmax(most, watch.joins * per_near);
    if (is_bound) most = fmax(most, approaches ? watch.forms * per_near : watch.forms / (far * far * far));
    return 0.5 * ABOVE_PERTURBATION * mass * most;
}
