// Correctors and step criterion of the 4th-order Hermite scheme: mirrors src/integrator/hermite4/corrector.rs,
// src/integrator/hermite/compensated.rs, src/integrator/timestep.rs and src/time.rs, operation by operation.
#pragma once
#include "noise.cuh"

/// Number of the deepest level: dt_max has 2^DEEPEST ticks.
constexpr u32 DEEPEST = 36;

/// Returns the moment after `now` at which particles of a level are due.
__device__ __forceinline__ u64 next_moment(u64 now, u32 level) {
    u32 shift = DEEPEST - level;
    return ((now >> shift) + 1) << shift;
}

/// Returns the last moment, not after `now`, at which particles of a level were due: their own time.
__device__ __forceinline__ u64 time_of(u64 now, u32 level) {
    u32 shift = DEEPEST - level;
    return now >> shift << shift;
}

/// Returns the shallowest level of which a moment after 0 is a multiple.
__device__ __forceinline__ u32 shallowest_level(u64 moment) { return DEEPEST - min((u32)__ffsll(moment) - 1, DEEPEST); }

/// Arguments of the step criterion: squares of the norms of acceleration, jerk, a2 dt^2 and a3 dt^3 without noise, the
/// noise of the acceleration as a factor, and the two numbers of which it is a factor (see `Noise::of` in
/// src/force/noise.rs), the first one as a square: that of the whole acceleration, an external field included.
struct Derivatives {
    double acc2, jerk2, snap2, crackle2, noise, by_pot, whole2;
};

/// Returns the step of Aarseth's criterion by the CPU's operations.
__device__ __noinline__ double aarseth(double nu, double dt, Derivatives d) {
    double acc = __dsqrt_rn(d.acc2);
    double noise = d.noise * fmax(__dsqrt_rn(d.whole2), d.by_pot);
    if (noise > 0.0) {
        double noise2 = noise * noise;
        d.snap2 = fmax(d.snap2 - 36.0 * noise2, 0.0);
        d.crackle2 = fmax(d.crackle2 - 144.0 * noise2, 0.0);
    }
    double jerk_dt = __dsqrt_rn(d.jerk2) * dt;
    double snap = __dsqrt_rn(d.snap2), crackle = __dsqrt_rn(d.crackle2);
    double above = acc * snap + jerk_dt * jerk_dt;
    double below = jerk_dt * crackle + snap * snap;
    double step = dt * __dsqrt_rn(__ddiv_rn(nu * above, below));
    return below == 0.0 || above == 0.0 ? __longlong_as_double(0x7ff0000000000000) : step;
}

/// Returns the level of a step that is no longer than `ratio` of dt_max; more than DEEPEST if there is none.
__device__ __forceinline__ u32 not_longer_than(double ratio) {
    if (ratio >= 1.0) return 0;
    int exponent = 1023 - (int)((u32)__double2hiint(ratio) >> 20 & 0x7ff);
    return ratio > 0.0 && exponent <= (int)DEEPEST ? (u32)exponent : ~0u;
}

/// Returns the level of the criterion's step after a step of `level` and length `dt`; more than DEEPEST if it is NaN or
/// shorter than any.
///
/// The level is that of the CPU's formula, found with less work: an estimate in f32, right to some 2^-20, decides unless
/// it lies within 2^-15 of a power of two, or numbers are so large, small or noisy that it may be worse.
__device__ __forceinline__ u32 wanted_level(double nu, double dt, double dt_max, u32 level, const Derivatives &d) {
    double noise2 = d.noise * d.noise * fmax(d.whole2, d.by_pot * d.by_pot);
    double snap2 = d.snap2 - 36.0 * noise2, crackle2 = d.crackle2 - 144.0 * noise2;
    float a = (float)d.acc2, j = (float)(d.jerk2 * dt * dt), s = (float)snap2, c = (float)crackle2;
    auto usual = [](float x) { return x > 1e-30f && x < 1e30f; };
    float above = sqrtf(a) * sqrtf(s) + j, below = sqrtf(j) * sqrtf(c) + s;
    float ratio2 = __fdividef((float)nu * above, below);
    u32 bits = __float_as_uint(ratio2), part = bits & 0x7fffff;
    int wanted = (int)level - (((int)(bits >> 23) - 127) >> 1);
    if (usual(a) && usual(j) && usual(s) && usual(c) && usual(ratio2) && snap2 > 0.0625 * d.snap2 &&
        crackle2 > 0.0625 * d.crackle2 && part > 256 && part < 0x7fffff - 256 && wanted <= (int)DEEPEST)
        return max(wanted, 0);
    return not_longer_than(__ddiv_rn(aarseth(nu, dt, d), dt_max));
}

/// Corrects one component: predicted position and velocity on entry, corrected ones on return, and a2 dt^2 and a3 dt^3
/// at the end of the step.
__device__ __forceinline__ void correct_component(double &pos, double &vel, double acc, double jerk, double new_acc,
                                                  double new_jerk, double dt, double &snap, double &crackle) {
    double difference = acc - new_acc;
    double a2 = -6.0 * difference - dt * (4.0 * jerk + 2.0 * new_jerk);
    double a3 = 12.0 * difference + 6.0 * dt * (jerk + new_jerk);
    pos = pos + (a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0)) * (dt * dt);
    vel = vel + (a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0)) * dt;
    snap = a2 + a3;
    crackle = a3;
}

/// A number and its low part: what its rounding has cut off.
struct HighLow {
    double high, low;
};

/// Returns a sum and what its rounding has cut off (`two_sum`).
__device__ __forceinline__ HighLow two_sum(double a, double b) {
    double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// Moves one component from the old point to the end of a step (`advance`): position and velocity with their low parts.
/// `more_pos` and `more_vel` are additions of earlier points.
__device__ __forceinline__ void advance_component(HighLow &pos, HighLow &vel, double acc, double jerk, double new_acc,
                                                  double new_jerk, double more_pos, double more_vel, double dt) {
    double old_rise = jerk * dt, new_rise = new_jerk * dt;
    double rise = new_acc - acc;
    double bend = rise * 0.15 + (old_rise * 0.05 - new_rise * (1.0 / 30.0)) + more_pos;
    double for_pos = (acc * 0.5 + bend) * dt * dt;
    double mean = (acc + new_acc) * 0.5;
    double for_vel = (mean + ((old_rise - new_rise) * (1.0 / 12.0) + more_vel)) * dt;
    double way = vel.high * dt;
    HighLow sum = two_sum(pos.high, way);
    double low = (pos.low + sum.low) + (vel.low * dt + __fma_rn(vel.high, dt, -way));
    pos = two_sum(sum.high, for_pos + low);
    vel = two_sum(vel.high, for_vel + vel.low);
}
