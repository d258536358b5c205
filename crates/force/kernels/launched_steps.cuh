// Whole block steps of the Hermite schemes by kernels that the host launches one after the other, for systems
// that are too large for the shared memory of `steps.cuh`. The bits are those of the same steps taken by the host
// (src/integrator/hermite.rs) and by the kernels of steps.cuh.
//
// A step is
//   advance   stores what the last step gave its particles, predicts all sources to the next moment, and lists those
//             that are due, in ascending order, as the targets;
//   field     the kernel of field_on_targets.cu on these targets, where there is an external field;
//   force     the kernels of force_tiles.cu or force_whole.cu on these targets;
//   correct   adds up the spans, corrects the targets, chooses their next steps, and reports the next moment.
// Where the host does not look at each step, `weigh` and `judge` of watch.cu do so after the next `advance`, if an update is due.
// Where they find something, nothing of that next step is stored.
// With several evaluations a step, P(EC)^n, each but the last is followed by
//   correct   which corrects the positions and velocities of the targets alone, and
//   put       which puts the targets, and the sources that they are, there.
// Nothing that a step computes is stored with the particles before all of it is known to be good: `correct` writes to
// arrays with one entry a target, and `advance` drops them where a target was refused. `advance` takes the moment from
// the device and is launched before the host knows it; only the forces wait for the host, which chooses their launch
// shape by the number of targets.
#pragma once
#include "call.cuh"
#include "members.cuh"

/// Number of particles, and of threads, of a thread block of `advance`: a chunk.
constexpr u32 STEP_CHUNK = 512;
/// Number of threads of a thread block of `correct`, and the largest number of its targets.
constexpr u32 CORRECT_THREADS = 256, CORRECT_TARGETS = CORRECT_THREADS / 8;
/// Number of levels.
constexpr u32 LEVELS = DEEPEST + 1;

/// Schedule of the block steps, on the device.
struct Schedule {
    /// Moment of the last block step, and of the next.
    u64 now, moment;
    /// Shallowest level that was due at `now`, above all levels before the first step; and that is due at `moment`.
    u32 last_due, due;
    /// Number of steps since the host's last word, of targets at `moment`, and of those corrected so far.
    u32 step, targets, corrected;
    /// Flag that a target of the last step was refused; number of steps clamped to the floor.
    u32 refused, clamped;
    /// Number of particles at each level or a deeper one.
    u32 at_least[LEVELS];
    /// Numbers of targets of the last step whose update is due, of thread blocks that have looked at theirs, and of targets that may
    /// form a pair.
    u32 looked, judged, found;
};

/// Search for particles that may form a pair after a step; see watch.cu. Mirrored by `WatchCall` in
/// src/force/cuda/steps/launched_call.rs; both must be changed together.
struct Watch {
    // Places of the sources at the moment of a step, in two columns of `slots`: high parts and mass, low parts; for odd steps behind
    // those for even ones. Null where nothing is looked for.
    float4 *places;
    // What slices of the sources have at each target: [slice][target].
    float4 *weighed;
    // Targets whose update is due, as sources.
    u32 *looked;
    // In the host's memory: number of those which may form a pair, and these as sources, in any order.
    u32 *found;
    // Flags of the sources that are subsystems.
    const unsigned char *compound;
    // Time after which particles have moved, in ticks.
    u64 since;
    // Largest perturbations with which pairs form, and with which bodies join; smallest 2 M / (r v^2) of a pair that forms.
    double forms, joins, min_binding;
    // Number of warps that share the sources; a particle is looked at once in 2 to the power of this many steps.
    u32 warps, log2_steps;
};

/// Argument of the kernels. Mirrored by `LaunchedCall` in src/force/cuda/steps/launched_call.rs; both must be changed
/// together.
struct Launched : Call {
    // Potentials and levels of the particles, as the last step of each left them.
    double *pot;
    unsigned char *level;
    // State of the targets after their step, in columns of `slots` as those of `Members`; their levels.
    double *corrected;
    unsigned char *new_level;
    // Number of particles of a chunk at each level or a deeper one: [level][chunk].
    u32 *chunk_at_least;
    // Place of the first target of each chunk in the list.
    u32 *first_of_chunk;
    Schedule *schedule;
    // What a scheme keeps besides: columns of `slots` numbers (see `History`), of the particles, and of the targets
    // after their step.
    double *history, *new_history;
    // In the host's memory: step, moment, targets, deepest level, whether a target was refused, clamped steps; and from word 8 on the
    // number of targets whose update is due, and how many of the step before may form a pair.
    u64 *report;
    // In the host's memory, where the host follows each step, otherwise null: what `corrected` and `new_history` have of the
    // targets, in the same columns, and behind them the levels.
    double *followed;
    double dt_max, nu;
    Noise noise;
    // Limits within which a force needs no closer look: coordinate, speed, smallest and largest acceleration.
    double coordinate, speed, min_acc, max_acc;
    u32 chunks, floor, clamps;
    // Number of threads that share the spans of a sum, a power of two up to 32; 0 where `out` has the sums.
    u32 parts;
    // Number of earlier points of a multi-point scheme, whose eta is `nu`, and flag of its criterion.
    u32 points, third;
    // Flag of the last evaluation of a step.
    u32 last;
    // Flag of a corrector that keeps low parts.
    u32 compensated;
    // External field.
    Field field;
    // Search for pairs.
    Watch watch;
};

/// Returns a history of that many numbers a column, as the scheme of a call keeps it.
__device__ __forceinline__ History history_of(const Launched &call, double *columns, u32 stride) {
    return {columns, stride, call.points, call.compensated};
}

// Reductions over a warp came with the A100.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Returns true in the last thread block to get here, which then sees what the others wrote: `done` of `all` are
/// counted in `counter`.
__device__ __forceinline__ bool is_last_of(u32 *counter, u32 done, u32 all) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, done) + done == all;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/// Finds the next moment after `now`, and reports it, with one warp after all thread blocks have counted. `last_due` is
/// the shallowest level of the targets at `now`.
__device__ __forceinline__ void schedule_next(const Launched &call, u64 now, u32 last_due, u32 step) {
    Schedule *schedule = call.schedule;
    u32 lane = threadIdx.x, deepest = 0;
#pragma unroll
    for (u32 level = 0; level < LEVELS; level += 32)
        if (level + lane < LEVELS && __ldcg(schedule->at_least + level + lane) > 0) deepest = level + lane;
    deepest = __reduce_max_sync(~0u, deepest);
    if (lane > 0) return;
    u64 moment = next_moment(now, deepest);
    u32 due = shallowest_level(moment), targets = __ldcg(schedule->at_least + due);
    schedule->now = now, schedule->moment = moment;
    schedule->last_due = last_due, schedule->due = due;
    schedule->step = step, schedule->targets = targets, schedule->corrected = 0;
    volatile u64 *report = call.report;
    report[1] = moment;
    report[2] = targets;
    report[3] = deepest;
    report[4] = __ldcg(&schedule->refused);
    report[5] = __ldcg(&schedule->clamped);
    report[8] = __ldcg(&schedule->looked);
    report[9] = __ldcg(&schedule->found);
    // The host waits for the number of the step.
    __threadfence_system();
    report[0] = step;
}

/// Returns the places of the sources at the moment of a step.
__device__ __forceinline__ float4 *places_of(const Launched &call, u32 step) {
    return call.watch.places + (size_t)(step % 2) * 2 * call.slots;
}

/// Stores where source i stands at the moment of a step, for `weigh`: places have two parts in f32.
__device__ __forceinline__ void write_place(const Launched &call, u32 step, u32 i, const double (&pos)[3], double mass) {
    float high[3], low[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) high[c] = (float)pos[c], low[c] = (float)(pos[c] - (double)high[c]);
    float4 *places = places_of(call, step);
    places[i] = {high[0], high[1], high[2], (float)mass};
    places[(size_t)call.slots + i] = {low[0], low[1], low[2], 0.0f};
}

/// Returns the number of set flags of the threads before this one, and in `all` that of the whole thread block of
/// STEP_CHUNK threads.
__device__ __forceinline__ u32 rank(bool flag, u32 &all) {
    __shared__ u32 of_warp[STEP_CHUNK / 32];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u32 mask = __ballot_sync(~0u, flag), before = 0;
    __syncthreads();
    if (lane == 0) of_warp[warp] = __popc(mask);
    __syncthreads();
    all = 0;
#pragma unroll
    for (u32 w = 0; w < STEP_CHUNK / 32; ++w) {
        if (w == warp) before = all;
        all += of_warp[w];
    }
    return before + __popc(mask & ((1u << lane) - 1));
}

/// Returns the sum of the numbers of the threads of a thread block of STEP_CHUNK threads.
__device__ __forceinline__ u32 sum_over_block(u32 number) {
    __shared__ u32 of_warp[STEP_CHUNK / 32];
    number = __reduce_add_sync(~0u, number);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = number;
    __syncthreads();
    u32 sum = 0;
#pragma unroll
    for (u32 w = 0; w < STEP_CHUNK / 32; ++w) sum += of_warp[w];
    return sum;
}
#endif
