// Whole block steps of many independent systems: each is stepped by one thread block, which holds all its particles in
// shared memory, so that nothing passes between thread blocks. The bits are those of the same steps taken by the host,
// and by steps.cuh.
#pragma once
#include "bag.cuh"
#include "members.cuh"

/// Largest number of threads of a thread block, and of bags of a system.
constexpr u32 SYSTEM_THREADS = 512, SYSTEM_BAGS = 16;
/// Number of words, of four levels each, that a lane reads of the largest system.
constexpr u32 LEVEL_WORDS = SYSTEM_BAGS * BAG / 128;
/// Number of words of a system's report.
constexpr u32 REPORTED = 5;
/// Number of rows that the warps which share a bag among their lanes keep of each pair: distance, derivative, potential
/// and factor.
constexpr u32 KEPT = 8;

/// System of a launch. Mirrored by `SystemCall` in src/force/cuda/systems/system_call.rs; both must be changed together.
struct System {
    // First word of its state: COLUMNS columns, the masses, and LOW_COLUMNS columns of low parts, of `sources` numbers each,
    // then a byte a level.
    u64 first;
    u64 now, until, max;
    double tick, dt_max, eps2, nu;
    Noise noise;
    // Limits within which a force needs no closer look: coordinate, speed, smallest and largest acceleration.
    double coordinate, speed, min_acc, max_acc;
    u32 sources, floor, clamps;
    // Flag of a corrector that keeps low parts, and first word of those with which the kernel works.
    u32 compensated;
    u64 low;
};

/// Number of columns of a system's state.
constexpr u32 ALL_COLUMNS = COLUMNS + 1 + LOW_COLUMNS;

/// Argument of the kernels. Mirrored by `SystemsCall` in src/force/cuda/systems/system_call.rs.
struct Systems {
    const System *systems;
    double *state;
    // Low parts with which the kernels work.
    double *low;
    // Of each system: moment, steps, particle steps, reason, clamped steps.
    u64 *report;
    u32 count;
    // Number of targets whose forces are summed at a time; largest number of pairs of target and bag at which the lanes
    // of a warp share a bag, and number of the warps that may.
    u32 tile, cooperates, sharers;
    // Only the forces on all particles at their positions are wanted: they replace acceleration, jerk and potential.
    u32 forces;
};

/// Returns the low parts with which a system works, as a history.
__device__ __forceinline__ History working_low_parts(const Systems &all, const System &call) {
    return {all.low + call.low, call.sources, 0, call.compensated};
}

/// Copies low parts of a system, of the particles from number `first` on, each `step`-th of them: from its state, or back.
__device__ __forceinline__ void copy_low_parts(const Systems &all, const System &call, const History &working, u32 first,
                                               u32 step, bool back) {
    if (!call.compensated) return;
    double *held = all.state + call.first + (COLUMNS + 1) * call.sources;
    for (u32 k = first; k < call.sources; k += step)
        for (u32 c = 0; c < LOW_COLUMNS; ++c) {
            if (back) held[c * call.sources + k] = working.low(c, k);
            else working.low(c, k) = held[c * call.sources + k];
        }
}

template <class M> __device__ __forceinline__ typename M::Real eps2_of(const System &call) {
    return (typename M::Real)call.eps2;
}

/// Numbers that a warp's lanes share of a bag: half of its sources at a time, for some targets.
template <class R> struct Shared {
    static constexpr u32 HALF = BAG / 2, TARGETS = sizeof(R) == 4 ? 4 : 2;
    // A distance at which eight lanes that read 16 bytes of a row each meet all banks once.
    static constexpr u32 ROW_OF_HALF = HALF + 16 / sizeof(R);
    static constexpr u32 NUMBERS = TARGETS * KEPT * ROW_OF_HALF;
};

__device__ __forceinline__ void read_four(const float *from, float (&to)[4]) {
    float4 four = *reinterpret_cast<const float4 *>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ __forceinline__ void read_four(const double *from, double (&to)[4]) {
    double2 a = reinterpret_cast<const double2 *>(from)[0], b = reinterpret_cast<const double2 *>(from)[1];
    to[0] = a.x, to[1] = a.y, to[2] = b.x, to[3] = b.y;
}

/// Returns the aligned tree over the nodes from number FIRST on, PARTS of them, that `node_of` gives. Those that do not
/// exist, from `parts` on, count as exact zeros, which change nothing.
template <u32 FIRST, u32 PARTS, class F> __device__ __forceinline__ auto over_parts(F node_of, u32 parts) {
    if constexpr (PARTS == 1) {
        return FIRST < parts ? node_of(FIRST) : zero<decltype(node_of(FIRST))>();
    } else {
        constexpr u32 HALF = PARTS / 2;
        return plus(over_parts<FIRST, HALF>(node_of, parts), over_parts<FIRST + HALF, HALF>(node_of, parts));
    }
}

/// System on one thread block.
template <class M> struct Alone : Members<System> {
    using R = typename M::Real;
    using Node = typename M::Node;
    static constexpr bool RUNNING = M::ORDER == Order::Running;

    const Systems &all;
    // Arrays in shared memory, in this order: `shared_bytes` in src/force/cuda/shapes/system_shape.rs. The state, of
    // `Members`;
    float4 *bodies;      // [own], in units: predicted particles
    R *sums;             // [part][tile][sum][M::PARTS]; a part is a bag, or all where there is one running sum
    double *force;       // [tile][sum], where there are several parts
    R *scratch;          // [warp][Shared<R>::NUMBERS]
    unsigned short *due; // [own]: places of the due particles
    // and the levels, of `Members`.
    u32 filled, bags, parts, thread, threads, lane, warp, warps;
    History history;

    __device__ __forceinline__ Alone(const System &call, const Systems &all, float4 *room)
        : Members(call, (call.sources + 3) / 4 * 4), all(all), history(working_low_parts(all, call)) {
        filled = call.sources;
        bags = (filled + BAG - 1) / BAG;
        parts = RUNNING ? 1 : bags;
        thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
        threads = blockDim.x, warps = threads >> 5;
        state = reinterpret_cast<double *>(room);
        bodies = reinterpret_cast<float4 *>(state + COLUMNS * own);
        sums = reinterpret_cast<R *>(bodies + own * UNITS<M>);
        force = reinterpret_cast<double *>(sums + parts * all.tile * SUMS * M::PARTS);
        scratch = reinterpret_cast<R *>(force + (parts > 1 ? all.tile * SUMS : 0));
        due = reinterpret_cast<unsigned short *>(scratch + all.sharers * Shared<R>::NUMBERS);
        level = reinterpret_cast<unsigned char *>(due + own);
    }

    __device__ __forceinline__ void load() {
        const double *held = all.state + call.first;
        const unsigned char *levels = reinterpret_cast<const unsigned char *>(held + ALL_COLUMNS * filled);
        copy_low_parts(all, call, history, thread, threads, false);
        for (u32 k = thread; k < own; k += threads) {
            bool there = k < filled;
#pragma unroll
            for (u32 c = 0; c < COLUMNS; ++c) at(c, k) = there ? held[c * filled + k] : c < 3 ? NOWHERE<M> : 0.0;
            Body<M> body{};
            body.mass = there ? (R)held[COLUMNS * filled + k] : R(0);
            write_body(bodies + k * UNITS<M>, body);
            level[k] = there ? levels[k] : 0;
        }
    }

    __device__ __forceinline__ void save() const {
        double *held = all.state + call.first;
        unsigned char *levels = reinterpret_cast<unsigned char *>(held + ALL_COLUMNS * filled);
        copy_low_parts(all, call, history, thread, threads, true);
        for (u32 k = thread; k < filled; k += threads) {
#pragma unroll
            for (u32 c = 0; c < COLUMNS; ++c) held[c * filled + k] = at(c, k);
            levels[k] = level[k];
        }
    }

    /// Predicts particle k as a source.
    __device__ __forceinline__ void place(u32 k, u64 now, u64 moment) {
        double pos[3], vel[3];
        predict(k, since(now, moment, k), pos, vel);
        Body<M> body, before;
        read(bodies + k * UNITS<M>, before);
        body = Body<M>::of(pos, vel, 0.0);
        body.mass = before.mass;
        write_body(bodies + k * UNITS<M>, body);
    }

    __device__ __forceinline__ u32 deepest() const {
        u32 found = 0;
        for (u32 k = 4 * lane; k < own; k += 128) found = __vmaxu4(found, *reinterpret_cast<const u32 *>(level + k));
        return deepest_of(found);
    }

    /// Returns the deepest of the four levels of each lane.
    static __device__ __forceinline__ u32 deepest_of(u32 four) {
        return __reduce_max_sync(~0u, max(max(four & 0xff, four >> 8 & 0xff), max(four >> 16 & 0xff, four >> 24)));
    }

    /// Lists the particles that are due at a moment of a shallowest level, with one warp. Returns their number.
    __device__ __forceinline__ u32 list(u32 shallowest) const {
        u32 found = 0;
        for (u32 first = 0; first < filled; first += 32) {
            u32 k = first + lane, mask = __ballot_sync(~0u, k < filled && level[k] >= shallowest);
            if (mask >> lane & 1) due[found + __popc(mask & ((1u << lane) - 1))] = (unsigned short)k;
            found += __popc(mask);
        }
        return found;
    }

    /// Reads the levels of all particles, with each warp: four of every 128 a lane. Returns the deepest.
    __device__ __forceinline__ u32 read_levels(u32 (&levels)[LEVEL_WORDS]) const {
        u32 found = 0;
#pragma unroll
        for (u32 w = 0; w < LEVEL_WORDS; ++w) {
            u32 k = 128 * w + 4 * lane;
            levels[w] = 0;
            if (128 * w < own && k < own) levels[w] = *reinterpret_cast<const u32 *>(level + k);
            found = __vmaxu4(found, levels[w]);
        }
        return deepest_of(found);
    }

    /// Lists the particles that are due at a moment of a shallowest level, with several warps: each goes through all
    /// levels that it read, and lists its share. Returns their number.
    __device__ __forceinline__ u32 list(const u32 (&levels)[LEVEL_WORDS], u32 shallowest) const {
        // Of every 128 particles at most 128 are due: counts of four of them fit in the bytes of a number.
        u32 counts[LEVEL_WORDS / 4] = {}, are_due[LEVEL_WORDS];
#pragma unroll
        for (u32 w = 0; w < LEVEL_WORDS; ++w) {
            u32 k = 128 * w + 4 * lane, there = filled - min(filled, k);
            u32 bytes = there >= 4 ? ~0u : (1u << 8 * there) - 1;
            are_due[w] = 128 * w < own ? __vcmpgeu4(levels[w], shallowest * 0x01010101) & bytes : 0;
            counts[w / 4] |= __popc(are_due[w]) / 8 << 8 * (w % 4);
        }
        u32 found = 0;
#pragma unroll
        for (u32 g = 0; g < LEVEL_WORDS / 4; ++g) {
            if (512 * g >= own) break;
            u32 up_to = counts[g];
#pragma unroll
            for (u32 step = 1; step < 32; step *= 2) {
                u32 left = __shfl_up_sync(~0u, up_to, step);
                if (lane >= step) up_to += left;
            }
            u32 all = __shfl_sync(~0u, up_to, 31), before = up_to - counts[g];
#pragma unroll
            for (u32 w = 4 * g; w < 4 * g + 4; ++w) {
                if (w % warps == warp) {
                    u32 place = found + (before >> 8 * (w % 4) & 0xff);
#pragma unroll
                    for (u32 b = 0; b < 4; ++b)
                        if (are_due[w] >> 8 * b & 1) due[place++] = (unsigned short)(128 * w + 4 * lane + b);
                }
                found += all >> 8 * (w % 4) & 0xff;
            }
        }
        return found;
    }

    /// Returns the number of places of a bag that hold sources.
    __device__ __forceinline__ Fours places(u32 bag) const { return {min(own - bag * BAG, (u32)BAG) / 4}; }

    /// Keeps sum number `s` of target x of a tile over a part.
    __device__ __forceinline__ void keep(u32 part, u32 x, u32 s, const R (&sum)[M::PARTS]) const {
#pragma unroll
        for (int p = 0; p < M::PARTS; ++p) sums[((part * all.tile + x) * SUMS + s) * M::PARTS + p] = sum[p];
    }

    /// Returns its node.
    __device__ __forceinline__ Node node(u32 part, u32 x, u32 s) const {
        R sum[M::PARTS];
#pragma unroll
        for (int p = 0; p < M::PARTS; ++p) sum[p] = sums[((part * all.tile + x) * SUMS + s) * M::PARTS + p];
        return M::node(sum);
    }

    /// Returns sum number `s` of target x of a tile over its parts.
    __device__ __forceinline__ Node total(u32 x, u32 s) const {
        auto node_of = [&](u32 part) { return node(part, x, s); };
        if constexpr (M::ORDER == Order::InOrder) {
            Node sum = zero<Node>();
            for (u32 p = 0; p < parts; ++p) sum = plus(sum, node_of(p));
            return sum;
        }
        if (parts <= 4) return over_parts<0, 4>(node_of, parts);
        return over_parts<0, SYSTEM_BAGS>(node_of, parts);
    }
};
