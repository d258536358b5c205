// Particles whose state stands in shared memory while whole block steps are taken, and their corrector.
#pragma once
#include "corrector.cuh"

/// Number of columns of the state of a particle.
constexpr u32 COLUMNS = 13;

/// Why a launch ended.
enum Reason : u32 {
    /// The next step would pass the last moment, or the number of steps is reached, or steps are below the floor.
    DONE = 1,
    /// A force is not finite or out of range, or a particle has no step. The state is that before the launch.
    REFUSED = 2,
};

/// Particles with their state. C says how they are stepped; STRIDE is the distance of neighbours in a column: above 1
/// where systems lie between each other's numbers.
template <class C, u32 STRIDE = 1> struct Members {
    const C &call;
    double *state;        // [COLUMNS][own]: position, velocity, acceleration, jerk, potential
    unsigned char *level; // [own]
    u32 own;

    __device__ __forceinline__ Members(const C &call, u32 own) : call(call), own(own) {}

    __device__ __forceinline__ double &at(u32 column, u32 k) const { return state[(column * own + k) * STRIDE]; }
    __device__ __forceinline__ unsigned char &level_of(u32 k) const { return level[k * STRIDE]; }

    __device__ __forceinline__ double since(u64 now, u64 moment, u32 k) const {
        return (double)(moment - time_of(now, level_of(k))) * call.tick;
    }

    /// Predicts particle k by dt.
    __device__ __forceinline__ void predict(u32 k, double dt, double (&pos)[3], double (&vel)[3]) const {
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            pos[c] = at(c, k);
            vel[c] = at(3 + c, k);
            predict_component(pos[c], vel[c], at(6 + c, k), at(9 + c, k), dt);
        }
    }
};

/// Corrects particle k with its force, and gives it its next step. Returns false if the host has to look at it; counts
/// steps clamped to the floor.
template <class G>
__device__ __forceinline__ bool correct(const G &g, u32 k, u64 now, u64 moment, const double *force, u32 &clamped) {
    const auto &call = g.call;
    u32 level = g.level_of(k);
    double dt = g.since(now, moment, k), pos[3], vel[3];
    g.predict(k, dt, pos, vel);
    bool fine = true, strong = false;
    Derivatives d = {0, 0, 0, 0, call.noise, 0};
    double pot = force[6];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        fine &= fabs(pos[c]) <= call.coordinate && fabs(vel[c]) <= call.speed && fabs(force[c]) <= call.most_acc;
        strong |= fabs(force[c]) > call.least_acc;
        double snap, crackle, acc = force[c], jerk = force[3 + c];
        correct_component(pos[c], vel[c], g.at(6 + c, k), g.at(9 + c, k), acc, jerk, dt, snap, crackle);
        d.acc2 += acc * acc;
        d.jerk2 += jerk * jerk;
        d.snap2 += snap * snap;
        d.crackle2 += crackle * crackle;
        g.at(c, k) = pos[c];
        g.at(3 + c, k) = vel[c];
        g.at(6 + c, k) = acc;
        g.at(9 + c, k) = jerk;
    }
    g.at(12, k) = pot;
    d.by_pot = pot * pot * call.per_mass;
    u32 wanted = wanted_level(call.nu, dt, call.dt_max, level, d);
    if (call.clamps && wanted > call.floor) {
        // Of a NaN the sums of squares are NaN.
        wanted = call.floor;
        ++clamped;
    }
    fine &= strong && d.jerk2 + pot < __longlong_as_double(0x7ff0000000000000) && wanted <= DEEPEST;
    g.level_of(k) = (unsigned char)max(max(min(wanted, DEEPEST), level - min(level, 1u)), shallowest_level(moment));
    return fine;
}
