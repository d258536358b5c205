// External field of whole block steps: mirrors src/force/external/ operation by operation, so that it has the CPU's bits. The field is
// a sum of parts, each the program of a formula (src/force/external/formula/program.rs) or a sphere of Plummer
// (src/force/external/plummer.rs); src/force/external/parts.rs makes them.
#pragma once
#include "corrector.cuh"
#include "elementary.cuh"

/// Numbers of a program that are kept at a time: first what it reads, then results.
constexpr u32 FIELD_SLOTS = 128;
/// Numbers that a program reads: place relative to the centre, time, velocity.
constexpr u32 FIELD_INPUTS = 7;
/// Numbers that a field gives: acceleration and jerk.
constexpr u32 FIELD_SUMS = 6;
/// Largest depth of sums within sums.
constexpr u32 FIELD_DEPTH = 4;
/// Signs in the order of a sum, between the numbers of its parts: a sum within begins, it ends, all ends.
constexpr u32 SUM_BEGINS = 0xfffffffd, SUM_ENDS = 0xfffffffe, ALL_ENDS = 0xffffffff;

/// Operations, by the number in the lowest 16 bits of a step; the next ones are the slots of its result, of a and of b. The other word
/// is a number n, or the slots of c and d. Mirrored by `Code` in src/force/external/formula/steps.rs; both must be changed together.
enum FieldCode : u32 {
    NUMBER, ADD, SUB, MUL, DIV, NEG, SQRT, EXP, LOG, SIN, COS, POW, MIN, MAX, LESS,
    ADD_NUMBER, SUB_NUMBER, NUMBER_SUB, MUL_NUMBER, DIV_NUMBER, NUMBER_DIV,
};

/// Part of a field. Mirrored, as the two structures below, in src/force/cuda/steps/field_call.rs; both must be changed together.
struct FieldPart {
    /// First step of the program and number of steps; a sphere has none.
    u32 first, count;
    /// Slots of acceleration and jerk.
    u32 result[FIELD_SUMS];
    /// Centre; mass and scale radius squared of a sphere.
    double position[3], mass, eps2;
};

/// Stretch of the orbit of the origin (src/force/external/guide/segment.rs): the coefficients of the integrals have their factors.
struct OrbitSegment {
    double pos[3], vel[3], first[3], once[3], twice[3];
    double integral[8][3], double_integral[8][3];
    double length;
};

/// External field of a call.
struct Field {
    const ulonglong2 *steps;
    const FieldPart *part;
    /// Order of the sum of the parts that act on the origin too, and behind it of those that move with it.
    const u32 *order;
    /// Orbit of the origin from the moment `from` on, in segments of equal length with 2^shift ticks, and the beginning of the one
    /// behind them; null where the origin is at rest.
    const OrbitSegment *segment;
    /// What a thread block that stays on the device finds, [thread block][part][point][sum], and where it puts the targets in
    /// P(EC)^n: [thread block][target][place, velocity].
    double *found, *placed;
    u64 from;
    /// Time of the moment 0.
    double start;
    u32 shift;
    /// Number of parts, and of those that act on the origin; 0 without a field. Place of the order of the others.
    u32 parts, of_origin, order_of_others;
};

/// Evaluates the program of a part. `slot` begins with what it reads.
__device__ __forceinline__ void run_program(const ulonglong2 *step, const FieldPart &part, double (&slot)[FIELD_SLOTS], double *found) {
    for (const ulonglong2 *end = step + part.count; step < end; ++step) {
        ulonglong2 word = *step;
        u32 low = (u32)word.x, high = (u32)(word.x >> 32);
        double x = slot[high & 0xffff], y = slot[high >> 16], n = __longlong_as_double((long long)word.y), result;
        switch (low & 0xffff) {
        case ADD: result = x + y; break;
        case SUB: result = x - y; break;
        case MUL: result = x * y; break;
        case DIV: result = __ddiv_rn(x, y); break;
        case NEG: result = -x; break;
        case SQRT: result = elementary::sqrt(x); break;
        case EXP: result = elementary::exp(x); break;
        case LOG: result = elementary::log(x); break;
        case SIN: result = elementary::sin(x); break;
        case COS: result = elementary::cos(x); break;
        case POW: result = elementary::pow(x, y); break;
        case MIN: result = x < y ? x : y; break;
        case MAX: result = x > y ? x : y; break;
        case LESS: result = x < y ? slot[word.y & 0xffff] : slot[word.y >> 16 & 0xffff]; break;
        case ADD_NUMBER: result = x + n; break;
        case SUB_NUMBER: result = x - n; break;
        case NUMBER_SUB: result = n - x; break;
        case MUL_NUMBER: result = x * n; break;
        case DIV_NUMBER: result = __ddiv_rn(x, n); break;
        case NUMBER_DIV: result = __ddiv_rn(n, x); break;
        default: result = n;
        }
        slot[low >> 16] = result;
    }
    for (u32 s = 0; s < FIELD_SUMS; ++s) found[s] = slot[part.result[s]];
}

/// Stores acceleration and jerk by a part at a place with a velocity and at a time. A function of its own, as are those below: kernels
/// of block steps have no registers to spare for it.
__device__ __noinline__ void evaluate_part(const Field &field, u32 number, const double (&pos)[3], const double (&vel)[3],
                                           double t, double *found) {
    const FieldPart &part = field.part[number];
    if (part.count > 0) {
        double slot[FIELD_SLOTS];
#pragma unroll
        for (int c = 0; c < 3; ++c) slot[c] = pos[c] - part.position[c], slot[4 + c] = vel[c];
        slot[3] = t;
        run_program(field.steps + part.first, part, slot, found);
        return;
    }
    double r[3], v[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) r[c] = part.position[c] - pos[c], v[c] = -vel[c];
    double s2 = __fma_rn(r[0], r[0], __fma_rn(r[1], r[1], __fma_rn(r[2], r[2], part.eps2)));
    double s_inv = __ddiv_rn(1.0, __dsqrt_rn(s2)), s_inv2 = s_inv * s_inv, m_s3 = part.mass * s_inv * s_inv2;
    double rv = __fma_rn(r[0], v[0], __fma_rn(r[1], v[1], r[2] * v[2])), alpha = -3.0 * (rv * s_inv2);
#pragma unroll
    for (int c = 0; c < 3; ++c) found[c] = m_s3 * r[c], found[3 + c] = m_s3 * __fma_rn(alpha, r[c], v[c]);
}

/// Stores place and velocity of the origin at a moment (`Segment::at`).
__device__ __noinline__ void origin_at(const Field &field, u64 moment, double (&pos)[3], double (&vel)[3]) {
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

/// Evaluates each part of the field on targets, and at the origin as one point more, with the threads of a thread block. `place_of`
/// stores place and velocity of a target; `found` has FIELD_SUMS numbers for each part and point, `stride` points a part.
template <class P>
__device__ __forceinline__ void evaluate_field(const Field &field, u32 targets, u32 threads, u64 moment, double dt_max, u32 stride,
                                               double *found, P place_of) {
    // A warp has one part: its lanes take the same ways.
    u32 points = targets + (field.segment != nullptr), width = (points + 31) / 32 * 32;
    double t = time_of_moment(field, moment, dt_max);
    for (u32 task = threadIdx.x; task < width * field.parts; task += threads) {
        u32 part = task / width, point = task % width;
        bool acts_on_origin = part < field.of_origin;
        if (point >= (acts_on_origin ? points : targets)) continue;
        double pos[3], vel[3];
        if (point < targets) place_of(point, pos, vel);
        if (field.segment != nullptr && acts_on_origin) {
            double x[3], v[3];
            origin_at(field, moment, x, v);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                pos[c] = point < targets ? x[c] + pos[c] : x[c];
                vel[c] = point < targets ? v[c] + vel[c] : v[c];
            }
        }
        evaluate_part(field, part, pos, vel, t, found + (part * stride + point) * FIELD_SUMS);
    }
}

/// Returns sum number s of the parts in an order, at a point.
__device__ __forceinline__ double sum_in_order(const u32 *order, u32 point, u32 s, u32 stride, const double *found) {
    double sum[FIELD_DEPTH] = {};
    u32 depth = 0;
    for (;; ++order) {
        u32 code = *order;
        if (code == ALL_ENDS) return sum[0];
        if (code == SUM_BEGINS) sum[++depth] = 0.0;
        else if (code == SUM_ENDS) --depth, sum[depth] = sum[depth] + sum[depth + 1];
        else sum[depth] = sum[depth] + found[(code * stride + point) * FIELD_SUMS + s];
    }
}

/// Adds the field on a target, relative to that at the origin, to its force. Returns the place of the acceleration by it: that of what
/// the first part gave to the target.
__device__ __noinline__ const double *add_field(const Field &field, u32 target, u32 targets, u32 stride, double *found,
                                                double *force) {
    double *external = found + target * FIELD_SUMS;
    for (u32 s = 0; s < FIELD_SUMS; ++s) {
        double sum = sum_in_order(field.order, target, s, stride, found);
        if (field.segment != nullptr) sum = sum - sum_in_order(field.order, targets, s, stride, found);
        if (field.of_origin < field.parts)
            sum = sum + sum_in_order(field.order + field.order_of_others, target, s, stride, found);
        force[s] = force[s] + sum;
        external[s] = sum;
    }
    return external;
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
