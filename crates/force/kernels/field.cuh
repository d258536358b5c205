// External field of whole block steps: the kernel of field_on_targets.cu, which is compiled at run time with the field, finds what it gives
// to the targets; the corrector adds it. All has the bits of src/force/external/.
#pragma once
#include "corrector.cuh"

/// Numbers that a field gives: acceleration and jerk.
constexpr u32 FIELD_SUMS = 6;

/// Stretch of the orbit of the origin (src/force/external/guide/segment.rs): the coefficients of the integrals have their factors.
/// Mirrored, as the structure below, in src/force/cuda/steps/field_call.rs; both must be changed together.
struct OrbitSegment {
    double pos[3], vel[3], first[3], once[3], twice[3];
    double integral[8][3], double_integral[8][3];
    double length;
};

/// External field of a call.
struct Field {
    /// Orbit of the origin from the moment `from` on, in segments of equal length with 2^shift ticks, and the beginning of the one
    /// behind them; null where the origin is at rest.
    const OrbitSegment *segment;
    /// What the targets are given, and the origin behind them: [point][field that acts on the origin too, field that moves with it][sum].
    double *found;
    u64 from;
    /// Time of the moment 0.
    double start;
    u32 shift;
    /// Flags of a field, and of one that moves with the origin.
    u32 is_there, is_carried, unused;
};

/// Stores place and velocity of the origin at a moment (`Segment::at`).
__device__ __forceinline__ void origin_at(const Field &field, u64 moment, double (&pos)[3], double (&vel)[3]) {
    u64 since = moment - field.from, ticks = 1ull << field.shift;
    const OrbitSegment &segment = field.segment[since >> field.shift];
    double z = __ddiv_rn((double)(since & (ticks - 1)), (double)ticks), x = 2.0 * z - 1.0, h = segment.length;
    for (int c = 0; c < 3; ++c) {
        double once = 0.0, twice = 0.0;
        for (int e = 7; e >= 0; --e) {
            once = once * x + segment.integral[e][c];
            twice = twice * x + segment.double_integral[e][c];
        }
        once = once * x, twice = twice * (x * x);
        double speed = z * segment.first[c] + 0.5 * (once - segment.once[c]);
        double path = 0.5 * z * z * segment.first[c] + (0.25 * (twice - segment.twice[c]) - 0.5 * z * segment.once[c]);
        pos[c] = segment.pos[c] + h * (z * segment.vel[c] + h * path);
        vel[c] = segment.vel[c] + h * speed;
    }
}

/// Returns the time of a moment (`Clock::time`).
__device__ __forceinline__ double time_of_moment(const Field &field, u64 moment, double dt_max) {
    double whole = (double)(moment >> DEEPEST), part = (double)(moment & ((1ull << DEEPEST) - 1)) * (1.0 / (1ull << DEEPEST));
    return field.start + (whole + part) * dt_max;
}

/// Adds the field on target k of all, relative to that at the origin, to its force. Stores it in `external`.
__device__ __forceinline__ void add_field(const Field &field, u32 k, u32 all, double (&external)[FIELD_SUMS], double *force) {
    const double *of = field.found + (size_t)k * 2 * FIELD_SUMS, *origin = field.found + (size_t)all * 2 * FIELD_SUMS;
#pragma unroll
    for (u32 s = 0; s < FIELD_SUMS; ++s) {
        double sum = of[s];
        if (field.segment != nullptr) sum = sum - origin[s];
        if (field.is_carried) sum = sum + of[FIELD_SUMS + s];
        force[s] = force[s] + sum;
        external[s] = sum;
    }
}

/// Returns the square of the acceleration by which a step is measured (`for_step` of src/force/external/field.rs), of which `whole` is
/// that of the whole acceleration.
__device__ __forceinline__ double square_for_step(const double *acc, const double *external, double whole) {
    constexpr double LEAST = 1.0 / 256.0;
    if (external == nullptr) return whole;
    double pairs = 0.0, min = 0.0;
    bool alone = true;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        double pair = acc[c] - external[c], share = acc[c] * LEAST;
        alone &= pair == 0.0;
        pairs += pair * pair;
        min += share * share;
    }
    return alone ? whole : pairs < min ? min : pairs;
}
