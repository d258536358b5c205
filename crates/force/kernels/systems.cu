// Kernels of systems.cuh: a thread block a system.
#include "systems.cuh"

// Reductions over a warp came with the A100.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Sums the forces on a tile of due particles, T of them a lane, and keeps the sums of each bag. A warp takes a bag and
/// 32 T targets; for fewer targets its lanes take more bags.
template <class M, int T> __device__ __forceinline__ void sum_by_targets(const Alone<M> &s, u32 first, u32 targets) {
    constexpr int HELD = 4;
    u32 width = 32;
    if (T == 1 && !Alone<M>::RUNNING)
        while (width > 1 && width / 2 >= targets && 32 / width < s.bags) width /= 2;
    u32 bags_at_once = 32 / width, chunks = (targets + width * T - 1) / (width * T);
    u32 bag_steps = (s.parts + bags_at_once - 1) / bags_at_once;
    for (u32 task = s.warp; task < chunks * bag_steps; task += s.warps) {
        u32 chunk = task / bag_steps, part = task % bag_steps * bags_at_once + s.lane / width;
        Body<M> target[T];
        u32 own[T], place[T];
        Sums<M> sums[T];
#pragma unroll
        for (int j = 0; j < T; ++j) {
            place[j] = chunk * width * T + j * width + s.lane % width;
            own[j] = s.due[first + min(place[j], targets - 1)];
            read(s.bodies + own[j] * UNITS<M>, target[j]);
            sums[j].clear();
        }
        for (u32 b = 0; b < (Alone<M>::RUNNING ? s.bags : 1); ++b) {
            u32 bag = Alone<M>::RUNNING ? b : min(part, s.bags - 1);
            add_bag<M, T, HELD>(s.call, s.bodies + bag * BAG * UNITS<M>, bag, target, own, sums, s.places(bag));
        }
#pragma unroll
        for (int j = 0; j < T; ++j) {
            if (place[j] >= targets || part >= s.parts) continue;
#pragma unroll
            for (int k = 0; k < SUMS; ++k) s.keep(part, place[j], k, sums[j].sum[k]);
        }
    }
}

/// Sums the forces on a few due particles: the lanes of a warp compute the terms of a bag for some targets, and one lane
/// for each sum adds them in order. Keeps the sums of each bag.
template <class M> __device__ __forceinline__ void sum_by_lanes(const Alone<M> &s, u32 first, u32 targets) {
    using R = typename M::Real;
    using Kept = Shared<R>;
    constexpr u32 HALF = Kept::HALF, ROW_OF_HALF = Kept::ROW_OF_HALF;
    u32 sharers = s.all.sharers, tasks = targets * s.parts;
    if (s.warp >= sharers) return;
    u32 share = min(Kept::TARGETS, (tasks + sharers - 1) / sharers);
    R *rows = s.scratch + s.warp * Kept::NUMBERS, eps2 = eps2_of<M>(s.call);
    // What this lane adds: sum number `sum` of task number `mine` of the warp's.
    u32 mine = s.lane / 8 % Kept::TARGETS, number = s.lane % 8, sum_of = min(number, (u32)SUMS - 1);
    const R *terms = rows + (mine * KEPT + sum_of) * ROW_OF_HALF, *factors = rows + (mine * KEPT + 7) * ROW_OF_HALF;
    u32 places = s.bags == 1 ? s.own : (u32)BAG;
    for (u32 begin = s.warp * share; begin < tasks; begin += sharers * share) {
        R sum[M::PARTS] = {};
        auto target_of = [&](u32 q) { return s.parts == 1 ? begin + q : (begin + q) / s.parts; };
        for (u32 b = 0; b < (Alone<M>::RUNNING ? s.bags : 1); ++b) {
            for (u32 half = 0; half < places; half += HALF) {
                u32 absent = ~0u, present = 0;
#pragma unroll
                for (u32 q = 0; q < Kept::TARGETS; ++q) {
                    if (q >= share || begin + q >= tasks) break;
                    u32 x = target_of(q), bag = Alone<M>::RUNNING ? b : begin + q - x * s.parts;
                    u32 own = s.due[first + x], i = bag * BAG + half, source_at = i + s.lane;
                    Body<M> target, source;
                    read(s.bodies + own * UNITS<M>, target);
                    read(s.bodies + min(source_at, s.own - 1) * UNITS<M>, source);
                    bool left_out = source_at == own || source_at >= s.filled, odd = false;
                    R r[3];
                    Pair<R> term = pair_of<M, true>(source, target, eps2, left_out, r, odd);
                    if (__any_sync(~0u, odd)) term = pair_of<M, false>(source, target, eps2, left_out, r, odd);
                    R *row = rows + q * KEPT * ROW_OF_HALF + s.lane;
#pragma unroll
                    for (int c = 0; c < 3; ++c) {
                        row[c * ROW_OF_HALF] = r[c];
                        row[(3 + c) * ROW_OF_HALF] = term.d[c];
                    }
                    row[6 * ROW_OF_HALF] = term.m_s;
                    row[7 * ROW_OF_HALF] = term.m_s3;
                    if (q == mine) absent = own - i, present = s.filled - min(s.filled, i);
                }
                __syncwarp();
                u32 end = min(places - half, HALF);
#pragma unroll 2
                for (u32 t = 0; t < end; t += 4) {
                    R factor[4], term[4];
                    read_four(factors + t, factor);
                    read_four(terms + t, term);
#pragma unroll
                    for (u32 k = 0; k < 4; ++k) {
                        if (M::ZERO_COUNTS && (t + k == absent || t + k >= present)) continue;
                        // The potential is subtracted: a product with -1 has the same bits.
                        M::add_product(sum, sum_of == SUMS - 1 ? R(-1) : factor[k], term[k]);
                    }
                }
                __syncwarp();
            }
        }
        if (s.lane / 8 == mine && number < SUMS && mine < share && begin + mine < tasks) {
            u32 x = target_of(mine);
            s.keep(begin + mine - x * s.parts, x, number, sum);
        }
        __syncwarp();
    }
}

/// Sums the forces on `targets` due particles from number `first` on, with the whole thread block, which waits at the
/// end.
template <class M> __device__ __forceinline__ void sum_forces(const Alone<M> &s, u32 first, u32 targets) {
    if (targets * s.parts <= s.all.cooperates) sum_by_lanes(s, first, targets);
    else if (M::SPLIT && targets >= 64) sum_by_targets<M, 2>(s, first, targets);
    else sum_by_targets<M, 1>(s, first, targets);
    __syncthreads();
    if (s.parts == 1) return;
    for (u32 x = s.thread; x < 8 * targets; x += s.threads) {
        u32 k = x / 8, number = x % 8;
        if (number < SUMS) s.force[k * SUMS + number] = value(s.total(k, number)) + 0.0;
    }
    __syncthreads();
}

template <class M> __device__ __forceinline__ void take_steps(const Systems &all) {
    extern __shared__ float4 room[];
    __shared__ System call;
    __shared__ u32 refused, clamped_in_all;
    constexpr u32 WORDS = sizeof(System) / 8;
    for (u32 k = threadIdx.x; k < WORDS; k += blockDim.x)
        reinterpret_cast<u64 *>(&call)[k] = reinterpret_cast<const u64 *>(all.systems + blockIdx.x)[k];
    if (threadIdx.x == 0) refused = clamped_in_all = 0;
    __syncthreads();
    Alone<M> s(call, all, room);
    s.load();
    __syncthreads();
    u64 now = call.now, steps = 0, particle_steps = 0;
    u32 clamped = 0, reason;
    for (;;) {
        // Of a small system one warp is quicker without scans.
        u32 levels[LEVEL_WORDS] = {}, deepest = s.warps == 1 ? s.deepest() : s.read_levels(levels), shallowest = 0;
        u64 moment = now;
        if (!all.forces) {
            moment = next_moment(now, deepest);
            shallowest = shallowest_level(moment);
            reason = refused ? REFUSED
                     : moment > call.until || steps == call.max || (!call.clamps && deepest > call.floor) ? DONE : 0;
            if (reason) break;
        }
        u32 found = s.warps == 1 ? s.list(shallowest) : s.list(levels, shallowest);
        for (u32 k = s.thread; k < s.own; k += s.threads) s.place(k, now, moment);
        ++steps;
        particle_steps += found;
        __syncthreads();
        for (u32 first = 0; first < found; first += all.tile) {
            u32 targets = min(all.tile, found - first);
            sum_forces(s, first, targets);
            for (u32 x = s.thread; x < targets; x += s.threads) {
                double force[SUMS];
                u32 k = s.due[first + x];
#pragma unroll
                for (int c = 0; c < SUMS; ++c)
                    force[c] = s.parts > 1 ? s.force[x * SUMS + c] : value(s.node(0, x, c)) + 0.0;
                if (all.forces) {
#pragma unroll
                    for (int c = 0; c < SUMS; ++c) s.at(6 + c, k) = force[c];
                } else if (!correct(s, s.history, k, k, now, moment, force, clamped)) {
                    refused = 1;
                }
            }
            // Of several parts the next sums leave these forces alone until all threads have met.
            if (s.parts == 1 || first + targets == found) __syncthreads();
        }
        reason = DONE;
        if (all.forces) break;
        now = moment;
    }
    if (clamped) atomicAdd(&clamped_in_all, clamped);
    if (reason == DONE) s.save();
    __syncthreads();
    if (s.thread == 0) {
        u64 *report = all.report + (size_t)blockIdx.x * REPORTED;
        report[0] = now;
        report[1] = steps;
        report[2] = particle_steps;
        report[3] = reason;
        report[4] = clamped_in_all;
    }
}

#define TISANE_SYSTEMS(name, M)                                                                                        \
    extern "C" __global__ void __launch_bounds__(SYSTEM_THREADS, 1)                                                    \
        systems_##name(const __grid_constant__ Systems all) {                                                          \
        take_steps<M>(all);                                                                                            \
    }
TISANE_EACH_MODE(TISANE_SYSTEMS)
#endif
