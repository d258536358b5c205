// Search for particles that may form a pair, after a step that the host does not look at, and the way of single particles to the
// host and back. The criteria are those of src/force/watch.rs.
//
// `weigh` finds the strongest source at each target whose update is due, by m/r^3, and the sum of all others. A warp has 32
// targets and a slice of the sources. The arithmetic is f32 with places in two parts, right to some 1e-5. `judge` adds up
// the slices of a target with a warp, and compares the sum with what a pair of both stands, in f64 and with a margin above all
// rounding: it may find too much, never too little.
#include "launched_steps.cuh"
#include "watch.cuh"

// As in launched_steps.cuh.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Number of threads of a thread block of `weigh`, of `judge`, and least number of sources of a slice.
constexpr u32 WEIGH_THREADS = 128, JUDGE_THREADS = 256, MIN_SLICE = 64;
/// Sum of m/r^3 of a slice, as far as it is surely less than that of the host; and weights nearer to each other than this may
/// be in another order.
constexpr double BELOW_SUM = 1.0 - 1e-3;
constexpr float TIE = 1.0f - 1e-4f;
/// Squares of distances are not less than this in sums.
constexpr float MIN_SQUARE = 1e-24f;
/// Distances nearer than this, and than this part of the coordinates, need the host.
constexpr double MIN_DISTANCE = 1e-11, MIN_DISTANCE_PART = 1e-8;

/// Returns the number of groups of 32 targets that are looked at, and in `slices` the number of slices for each.
__device__ __forceinline__ u32 divide(const Launched &call, u32 looked, u32 warps, u32 &slices) {
    u32 groups = (looked + 31) / 32, most = (call.sources + MIN_SLICE - 1) / MIN_SLICE;
    slices = max(min(warps / max(groups, 1u), most), 1u);
    return groups;
}

/// Weighs the sources at the targets whose update is due: one of 32 targets a lane, a slice of the sources a warp.
extern "C" __global__ void __launch_bounds__(WEIGH_THREADS) weigh(const __grid_constant__ Launched call) {
    const float4 *high = places_of(call, call.schedule->step), *low = high + call.slots;
    u32 looked = call.schedule->looked, lane = threadIdx.x & 31, slices;
    u32 warps = call.watch.warps, groups = divide(call, looked, warps, slices), of_slice = (call.sources + slices - 1) / slices;
    for (u32 task = (blockIdx.x * WEIGH_THREADS + threadIdx.x) / 32; task < groups * slices; task += gridDim.x * (WEIGH_THREADS / 32)) {
        // The warps of a thread block read the same sources.
        u32 number = task % groups * 32 + lane, slice = task / groups;
        u32 own = call.watch.looked[min(number, looked - 1)];
        float4 at = high[own], rest = low[own];
        Weighed found = {0.0f, 0.0f, 0.0f, ~0u};
        u32 end = min((slice + 1) * of_slice, call.sources);
#pragma unroll 4
        for (u32 j = slice * of_slice; j < end; ++j) {
            float4 a = high[j], b = low[j];
            float x = (a.x - at.x) + (b.x - rest.x), y = (a.y - at.y) + (b.y - rest.y), z = (a.z - at.z) + (b.z - rest.z);
            float square = fmaxf(fmaf(z, z, fmaf(y, y, x * x)), MIN_SQUARE), inverse = rsqrtf(square);
            float weight = a.w * inverse * inverse * inverse;
            found.add(j == own ? 0.0f : weight, j);
        }
        call.watch.weighed[(size_t)slice * groups * 32 + number] = {found.best, found.second, found.rest, __uint_as_float(found.source)};
    }
}

/// Stores in `pos` and `vel` where a source stands at the moment of the last step.
__device__ __forceinline__ void state_of(const Launched &call, u32 j, double (&pos)[3], double (&vel)[3]) {
    double dt = (double)(call.schedule->now - call.ticks[j]) * call.tick;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        auto held = [&](int column) { return call.held[(size_t)(column + c) * call.slots + j]; };
        pos[c] = held(0), vel[c] = held(3);
        predict_component(pos[c], vel[c], held(6), held(9), dt);
    }
}

/// Returns true if source i, a target of the last step, may form a pair with its strongest source (`Watch::may_form`), or the host has
/// to look at it.
__device__ __forceinline__ bool may_form(const Launched &call, u32 i, const Weighed &found) {
    // Each as a comparison that a NaN does not pass.
    if (!(found.best > MIN_WEIGHT && found.best < MAX_WEIGHT && found.second < found.best * TIE && found.rest > 0.0f)) return true;
    u32 j = found.source;
    double pos[3], vel[3], other_pos[3], other_vel[3], largest = 0.0, r2 = 0.0;
    state_of(call, i, pos, vel);
    state_of(call, j, other_pos, other_vel);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        largest = fmax(largest, fabs(pos[c]));
        pos[c] = other_pos[c] - pos[c], vel[c] = other_vel[c] - vel[c];
        r2 += pos[c] * pos[c];
    }
    double r = __dsqrt_rn(r2);
    if (!(r > MIN_DISTANCE && r > MIN_DISTANCE_PART * largest)) return true;
    double mass = call.mass[i] + call.mass[j];
    return BELOW_SUM * (double)found.rest <= largest_field(call.watch, pos, vel, mass, call.watch.compound[j], 0.0, 0.0);
}

/// Looks at the targets that were weighed, a warp at each.
extern "C" __global__ void __launch_bounds__(JUDGE_THREADS) judge(const __grid_constant__ Launched call) {
    Schedule *schedule = call.schedule;
    u32 looked = schedule->looked, lane = threadIdx.x & 31, slices, groups = divide(call, looked, call.watch.warps, slices);
    for (u32 number = (blockIdx.x * JUDGE_THREADS + threadIdx.x) / 32; number < looked; number += gridDim.x * (JUDGE_THREADS / 32)) {
        Weighed all = {0.0f, 0.0f, 0.0f, ~0u};
        for (u32 slice = lane; slice < slices; slice += 32) {
            float4 part = call.watch.weighed[(size_t)slice * groups * 32 + number];
            all.add(Weighed{part.x, part.y, part.z, __float_as_uint(part.w)});
        }
        all.add_over_warp(1);
        u32 i = call.watch.looked[number];
        if (lane == 0 && may_form(call, i, all)) call.watch.found[1 + atomicAdd(&schedule->found, 1u)] = i;
    }
    if (!is_last_of(&schedule->judged, 1, gridDim.x) || threadIdx.x > 0) return;
    schedule->looked = schedule->judged = 0;
    *call.watch.found = __ldcg(&schedule->found);
}

/// Takes from the host's memory what it has given particles besides states and times: potentials, histories and levels. `followed` has
/// them in the order of `gather`. A thread a particle.
extern "C" __global__ void __launch_bounds__(JUDGE_THREADS) scatter(const __grid_constant__ Launched call) {
    History kept = history_of(call, call.history, call.slots);
    u32 columns = COLUMNS + kept.columns_in_all(), k = blockIdx.x * JUDGE_THREADS + threadIdx.x;
    const double *behind = call.followed + (size_t)columns * call.slots;
    const u32 *rows = reinterpret_cast<const u32 *>(behind + (call.slots + 7) / 8);
    if (k >= rows[call.slots]) return;
    u32 i = rows[k];
    call.pot[i] = call.followed[(size_t)12 * call.slots + k];
    for (u32 c = 0; c < kept.columns_in_all(); ++c) kept.at(c, i) = call.followed[(size_t)(COLUMNS + c) * call.slots + k];
    call.level[i] = reinterpret_cast<const unsigned char *>(behind)[k];
}

/// Writes the state of all particles that have moved since `watch.since` to the host's memory, in any order: what `followed` has,
/// and behind it their rows and their number. A thread a particle.
extern "C" __global__ void __launch_bounds__(STEP_CHUNK) gather(const __grid_constant__ Launched call) {
    Schedule *schedule = call.schedule;
    u32 i = blockIdx.x * STEP_CHUNK + threadIdx.x;
    History kept = history_of(call, call.history, call.slots);
    u32 columns = COLUMNS + kept.columns_in_all();
    double *behind = call.followed + (size_t)columns * call.slots;
    u32 *rows = reinterpret_cast<u32 *>(behind + (call.slots + 7) / 8);
    bool moved = i < call.sources && call.ticks[i] > call.watch.since;
    u32 mask = __ballot_sync(~0u, moved), lane = threadIdx.x & 31, first = 0;
    if (lane == 0 && mask) first = atomicAdd(&schedule->corrected, __popc(mask));
    u32 k = __shfl_sync(~0u, first, 0) + __popc(mask & ((1u << lane) - 1));
    if (moved) {
        for (u32 c = 0; c < 12; ++c) call.followed[(size_t)c * call.slots + k] = call.held[(size_t)c * call.slots + i];
        call.followed[(size_t)12 * call.slots + k] = call.pot[i];
        for (u32 c = 0; c < kept.columns_in_all(); ++c) call.followed[(size_t)(COLUMNS + c) * call.slots + k] = kept.at(c, i);
        reinterpret_cast<unsigned char *>(behind)[k] = call.level[i];
        rows[k] = i;
    }
    if (is_last_of(&schedule->judged, 1, gridDim.x) && threadIdx.x == 0) rows[call.slots] = __ldcg(&schedule->corrected);
}
#endif
