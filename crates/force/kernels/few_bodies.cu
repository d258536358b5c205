// Whole block steps of many systems of a few bodies: a system a thread. The bits are those of systems.cu.
#include "systems.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Number of threads of a thread block, that is of its systems.
constexpr u32 FEW_THREADS = 64;
/// Number of columns of a predicted particle.
constexpr u32 PREDICTED = 6;

/// System of one thread. Its numbers in shared memory lie FEW_THREADS apart, so that the threads of a warp meet all banks.
template <class M> struct Few : Members<System, FEW_THREADS> {
    const Systems &all;
    // The state, of `Members`;
    double *predicted; // [PREDICTED][own]
    // and the levels, of `Members`.
    History history;

    __device__ __forceinline__ Few(const System &call, const Systems &all, double *room)
        : Members(call, call.sources), all(all), history(working_low_parts(all, call)) {
        // Of every system as many numbers as the largest of the launch has: `tile` particles.
        state = room + threadIdx.x;
        predicted = state + COLUMNS * all.tile * FEW_THREADS;
        level = reinterpret_cast<unsigned char *>(room + (COLUMNS + PREDICTED) * all.tile * FEW_THREADS) + threadIdx.x;
    }

    __device__ __forceinline__ double &placed(u32 column, u32 k) const {
        return predicted[(column * own + k) * FEW_THREADS];
    }

    __device__ __forceinline__ void load() {
        const double *held = all.state + call.first;
        const unsigned char *levels = reinterpret_cast<const unsigned char *>(held + ALL_COLUMNS * own);
        copy_low_parts(all, call, history, 0, 1, false);
        for (u32 k = 0; k < own; ++k) {
            for (u32 c = 0; c < COLUMNS; ++c) at(c, k) = held[c * own + k];
            level_of(k) = levels[k];
        }
    }

    __device__ __forceinline__ void save() const {
        double *held = all.state + call.first;
        unsigned char *levels = reinterpret_cast<unsigned char *>(held + ALL_COLUMNS * own);
        copy_low_parts(all, call, history, 0, 1, true);
        for (u32 k = 0; k < own; ++k) {
            for (u32 c = 0; c < COLUMNS; ++c) held[c * own + k] = at(c, k);
            levels[k] = level_of(k);
        }
    }

    __device__ __forceinline__ Body<M> body(u32 k, double mass) const {
        double pos[3], vel[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) pos[c] = placed(c, k), vel[c] = placed(3 + c, k);
        return Body<M>::of(pos, vel, mass);
    }

    /// Sums the force on particle k. Void, and true, if QUICK and some distance was odd.
    template <bool QUICK> __device__ __forceinline__ bool sum(u32 k, Sums<M> &sums) const {
        const double *mass = all.state + call.first + COLUMNS * own;
        Body<M> target = body(k, 0.0);
        auto eps2 = eps2_of<M>(call);
        bool odd = false;
        sums.clear();
        for (u32 j = 0; j < own; ++j)
            if (j != k) sums.template add_pair<QUICK>(body(j, mass[j]), target, eps2, false, odd);
        return odd;
    }
};

template <class M> __device__ __forceinline__ void take_few(const Systems &all) {
    extern __shared__ float4 room[];
    u32 number = blockIdx.x * FEW_THREADS + threadIdx.x;
    if (number >= all.count) return;
    const System call = all.systems[number];
    Few<M> s(call, all, reinterpret_cast<double *>(room));
    s.load();
    u64 now = call.now, steps = 0, particle_steps = 0;
    u32 clamped = 0, reason = 0;
    bool refused = false;
    for (;;) {
        u32 shallowest = 0;
        u64 moment = now;
        if (!all.forces) {
            u32 deepest = 0;
            for (u32 k = 0; k < s.own; ++k) deepest = max(deepest, (u32)s.level_of(k));
            moment = next_moment(now, deepest);
            shallowest = shallowest_level(moment);
            reason = refused ? REFUSED
                     : moment > call.until || steps == call.max || (!call.clamps && deepest > call.floor) ? DONE : 0;
            if (reason) break;
        }
        u32 due = 0;
        for (u32 k = 0; k < s.own; ++k) {
            double pos[3], vel[3];
            s.predict(k, s.since(now, moment, k), pos, vel);
#pragma unroll
            for (int c = 0; c < 3; ++c) s.placed(c, k) = pos[c], s.placed(3 + c, k) = vel[c];
            due |= s.level_of(k) >= shallowest ? 1u << k : 0;
        }
        ++steps;
        particle_steps += __popc(due);
        for (; due; due &= due - 1) {
            u32 k = __ffs(due) - 1;
            Sums<M> sums;
            if (s.template sum<true>(k, sums)) s.template sum<false>(k, sums);
            double force[SUMS];
#pragma unroll
            for (int c = 0; c < SUMS; ++c) force[c] = value(sums.node(c)) + 0.0;
            if (all.forces) {
#pragma unroll
                for (int c = 0; c < SUMS; ++c) s.at(6 + c, k) = force[c];
            } else if (!correct(s, s.history, k, k, now, moment, force, clamped)) {
                refused = true;
            }
        }
        reason = DONE;
        if (all.forces) break;
        now = moment;
    }
    if (reason == DONE) s.save();
    u64 *report = all.report + (size_t)number * REPORTED;
    report[0] = now;
    report[1] = steps;
    report[2] = particle_steps;
    report[3] = reason;
    report[4] = clamped;
}

#define TISANE_FEW(name, M)                                                                                            \
    extern "C" __global__ void __launch_bounds__(FEW_THREADS) few_bodies_##name(const __grid_constant__ Systems all) {    \
        take_few<M>(all);                                                                                              \
    }
// Close encounters need f64; in the other modes a system has a warp.
TISANE_FEW(f64, F64)
#endif
