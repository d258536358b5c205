// Kernels of launched_steps.cuh.
#include "launched_steps.cuh"
#include "reduce.cuh"

// As in launched_steps.cuh.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Counts the particles of each chunk at each level or a deeper one, before the first step of a call, and finds the
/// first moment after `call.now`. A thread block a chunk; the schedule is zero before.
extern "C" __global__ void __launch_bounds__(STEP_CHUNK) count_levels(const __grid_constant__ Launched call) {
    __shared__ u32 at[LEVELS];
    u32 chunk = blockIdx.x, thread = threadIdx.x, i = chunk * STEP_CHUNK + thread;
    if (thread < LEVELS) at[thread] = 0;
    __syncthreads();
    if (i < call.sources) atomicAdd(at + call.level[i], 1u);
    __syncthreads();
    if (thread < LEVELS) {
        u32 at_least = 0;
        for (u32 level = thread; level < LEVELS; ++level) at_least += at[level];
        call.chunk_at_least[(size_t)thread * call.chunks + chunk] = at_least;
        if (at_least > 0) atomicAdd(call.schedule->at_least + thread, at_least);
    }
    if (is_last_of(&call.schedule->corrected, 1, call.chunks) && thread < 32) schedule_next(call, call.now, LEVELS, 0);
}

/// Stores the last step's particles, unless one was refused, predicts all sources to the next moment, and lists the
/// targets. A thread a particle, a thread block a chunk.
template <class M> __device__ __forceinline__ void advance(const Launched &call) {
    const Schedule &schedule = *call.schedule;
    u32 chunk = blockIdx.x, i = chunk * STEP_CHUNK + threadIdx.x;
    bool there = i < call.slots, filled = i < call.sources;
    double state[12], mass = 0.0;
    u64 ticks = 0;
    // Requested before it is known whether there is a newer state: no thread waits twice for memory.
    u32 level = filled ? call.level[i] : 0, before = 0, moved_in_all, due_in_all;
    if (there) {
        ticks = call.ticks[i];
        mass = call.mass[i];
#pragma unroll
        for (int c = 0; c < 12; ++c) state[c] = call.held[(size_t)c * call.slots + i];
    }
    for (u32 c = threadIdx.x; c < chunk; c += STEP_CHUNK)
        before += call.chunk_at_least[(size_t)schedule.due * call.chunks + c];
    u32 old_first = call.first_of_chunk[chunk];
    if (schedule.refused || schedule.found) return;
    bool moved = filled && level >= schedule.last_due;
    u32 place = old_first + rank(moved, moved_in_all);
    if (moved) {
        level = call.new_level[place];
        ticks = schedule.now;
        call.level[i] = (unsigned char)level;
        call.ticks[i] = ticks;
        call.pot[i] = call.corrected[12 * (size_t)call.slots + place];
#pragma unroll
        for (int c = 0; c < 12; ++c) {
            state[c] = call.corrected[(size_t)c * call.slots + place];
            call.held[(size_t)c * call.slots + i] = state[c];
        }
        History kept = history_of(call, call.history, call.slots), found = history_of(call, call.new_history, call.slots);
        for (u32 c = 0; c < kept.columns_in_all(); ++c) kept.at(c, i) = found.at(c, place);
    }
    bool due = filled && level >= schedule.due;
    u32 first = sum_over_block(before);
    place = first + rank(due, due_in_all);
    if (threadIdx.x == 0) call.first_of_chunk[chunk] = first;
    if (!there) return;
    double pos[3], vel[3], dt = (double)(schedule.moment - ticks) * call.tick;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        pos[c] = state[c];
        vel[c] = state[3 + c];
        if (call.points > 0 && (due || (BY_DERIVATIVES<M> && filled)))
            predict_with(history_of(call, call.history, call.slots), c, i, pos[c], vel[c], state[6 + c], state[9 + c], dt);
        else predict_component(pos[c], vel[c], state[6 + c], state[9 + c], dt);
    }
    write_body(call.predicted + (size_t)i * UNITS<M>, Body<M>::of(pos, vel, mass));
    if (call.watch.places) {
        // By acceleration and jerk alone, as the host looks at others.
        double place[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            double speed = state[3 + c];
            place[c] = state[c];
            predict_component(place[c], speed, state[6 + c], state[9 + c], dt);
        }
        write_place(call, schedule.step + 1, i, place, mass);
    }
    if (!due) return;
    // The lists of `Call` are the host's otherwise.
    const_cast<u32 *>(call.target_index)[place] = i;
    double *target = const_cast<double *>(call.target_state) + TARGET * (size_t)place;
#pragma unroll
    for (int c = 0; c < 3; ++c) target[c] = pos[c], target[3 + c] = vel[c];
}

/// Adds up the spans of the forces on the thread block's targets, from number `first` of the batch on: `force` has a
/// row for each. Every -0 becomes +0, as in `Force::from_sums`.
template <class M>
__device__ __forceinline__ void add_up(const Launched &call, u32 first, u32 targets,
                                       double (&force)[CORRECT_TARGETS][8]) {
    using Node = typename M::Node;
    __shared__ Node sums[CORRECT_THREADS];
    u32 thread = threadIdx.x, s = thread % 8;
    if (call.parts == 0) {
        u32 k = thread / 8;
        if (k < targets && s < SUMS) force[k][s] = call.out[(size_t)(call.first_target + first + k) * SUMS + s];
        return;
    }
    // The threads of a part are adjacent: they read adjacent sums of a span.
    u32 width = CORRECT_THREADS / call.parts, k = thread % width / 8, part = thread / width, length = 1;
    while (length * call.parts < call.spans) length *= 2;
    bool reads = k < targets && s < SUMS;
    u32 begin = part * length;
    Node total = reads ? over_spans<M>(call, first + k, s, begin, min(begin + length, call.spans)) : zero<Node>();
    // The aligned tree: parts that have no spans are exact zeros.
    for (u32 step = 1; step < call.parts; step *= 2) {
        sums[thread] = total;
        __syncthreads();
        if (part % (2 * step) == 0) total = plus(total, sums[thread + step * width]);
        __syncthreads();
    }
    if (part == 0 && reads) force[k][s] = value(total) + 0.0;
}

/// Writes what target k has after its step to the host's memory.
__device__ __forceinline__ void hand_over(const Launched &call, u32 k, const double (&state)[COLUMNS], unsigned char level) {
    History found = history_of(call, call.new_history, call.slots);
#pragma unroll
    for (int c = 0; c < (int)COLUMNS; ++c) call.followed[(size_t)c * call.slots + k] = state[c];
    u32 columns = found.columns_in_all();
    for (u32 c = 0; c < columns; ++c) call.followed[(size_t)(COLUMNS + c) * call.slots + k] = found.at(c, k);
    reinterpret_cast<unsigned char *>(call.followed + (size_t)(COLUMNS + columns) * call.slots)[k] = level;
}

/// Stores where source i stands after its step, and lists it if its update is due.
__device__ __forceinline__ void watch_target(const Launched &call, u32 i, const double (&state)[COLUMNS], u32 level, u64 moment) {
    double pos[3] = {state[0], state[1], state[2]};
    write_place(call, call.schedule->step + 1, i, pos, call.mass[i]);
    u32 of_update = level - min(level, call.watch.log2_steps);
    if (time_of(moment, of_update) == moment) call.watch.looked[atomicAdd(&call.schedule->looked, 1u)] = i;
}

/// Corrects target k with its force, and gives it its next step, as `correct` of members.cuh does. Returns false if the
/// host has to look at it.
__device__ __forceinline__ bool correct_target(const Launched &call, u32 k, const double *force, const double *external,
                                               u64 now, u64 moment, int (&change)[LEVELS], u32 &clamped) {
    u32 i = call.target_index[k];
    double state[COLUMNS];
    unsigned char level = call.level[i];
    u32 old = level;
    Members<Launched> member(call, 1);
    member.state = state;
    member.level = &level;
#pragma unroll
    for (int c = 0; c < 12; ++c) state[c] = call.held[(size_t)c * call.slots + i];
    bool fine;
    History kept = history_of(call, call.history, call.slots), found = history_of(call, call.new_history, call.slots);
    double columns[MAX_HISTORY];
    History own = history_of(call, columns, 1);
    for (u32 c = 0; c < kept.columns_in_all(); ++c) own.at(c, 0) = kept.at(c, i);
    if (call.points > 0) {
        u32 result = correct_multipoint<Launched>(member, own, 0, i, now, moment, force, external);
        fine = result & FINE, clamped += result / CLAMPED;
    } else {
        fine = correct(member, own, 0, i, now, moment, force, clamped, external);
    }
    for (u32 c = 0; c < found.columns_in_all(); ++c) found.at(c, k) = own.at(c, 0);
#pragma unroll
    for (int c = 0; c < (int)COLUMNS; ++c) call.corrected[(size_t)c * call.slots + k] = state[c];
    call.new_level[k] = level;
    if (call.followed) hand_over(call, k, state, level);
    if (call.watch.places) watch_target(call, i, state, level, moment);
    // Most particles keep their level.
    int sign = level > old ? 1 : -1;
    for (u32 l = min((u32)level, old) + 1; l <= max((u32)level, old); ++l) {
        atomicAdd(change + l, sign);
        atomicAdd(call.chunk_at_least + (size_t)l * call.chunks + i / STEP_CHUNK, (u32)sign);
    }
    return fine;
}

/// Corrects position and velocity of target k for the next evaluation of the step, and stores them with the corrected
/// state. Returns false if the host has to look at it.
__device__ __forceinline__ bool correct_place(const Launched &call, u32 k, const double *force, u64 now, u64 moment) {
    u32 i = call.target_index[k];
    double dt = (double)(moment - time_of(now, call.level[i])) * call.tick, pos[3], vel[3];
    History kept = history_of(call, call.history, call.slots);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        auto held = [&](int column) { return call.held[(size_t)(column + c) * call.slots + i]; };
        double acc = held(6), jerk = held(9), snap, crackle;
        pos[c] = held(0), vel[c] = held(3);
        predict_component(pos[c], vel[c], acc, jerk, dt);
        correct_component(pos[c], vel[c], acc, jerk, force[c], force[3 + c], dt, snap, crackle);
        if (kept.compensated) {
            HighLow x = {held(0), kept.low(c, i)}, v = {held(3), kept.low(3 + c, i)};
            advance_component(x, v, acc, jerk, force[c], force[3 + c], 0.0, 0.0, dt);
            pos[c] = x.high, vel[c] = v.high;
        }
        call.corrected[(size_t)c * call.slots + k] = pos[c];
        call.corrected[(size_t)(3 + c) * call.slots + k] = vel[c];
    }
    return is_usual(call, pos, vel) && is_usual(call, force);
}

/// Puts the targets, and the sources that they are, to the corrected positions. A thread a target.
template <class M> __device__ __forceinline__ void put(const Launched &call) {
    u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= call.schedule->targets) return;
    u32 i = call.target_index[k];
    double pos[3], vel[3], *target = const_cast<double *>(call.target_state) + TARGET * (size_t)k;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        target[c] = pos[c] = call.corrected[(size_t)c * call.slots + k];
        target[3 + c] = vel[c] = call.corrected[(size_t)(3 + c) * call.slots + k];
    }
    write_body(call.predicted + (size_t)i * UNITS<M>, Body<M>::of(pos, vel, call.mass[i]));
}

/// Corrects the targets of a batch: CORRECT_TARGETS / `parts` a thread block.
template <class M> __device__ __forceinline__ void correct_targets(const Launched &call) {
    __shared__ double force[CORRECT_TARGETS][8];
    __shared__ int change[LEVELS];
    __shared__ u32 refused, clamped;
    Schedule *schedule = call.schedule;
    u32 thread = threadIdx.x, share = CORRECT_TARGETS / max(call.parts, 1u), first = blockIdx.x * share;
    u32 targets = min(share, call.batch - first), all = schedule->targets, step = schedule->step + 1;
    u64 now = schedule->now, moment = schedule->moment;
    u32 due = schedule->due;
    if (thread < LEVELS) change[thread] = 0;
    if (thread == 0) refused = clamped = 0;
    add_up<M>(call, first, targets, force);
    __syncthreads();
    u32 mine = 0;
    if (thread < targets) {
        u32 k = call.first_target + first + thread;
        double of_field[FIELD_SUMS];
        const double *external = nullptr;
        if (call.field.is_there) {
            add_field(call.field, k, all, of_field, force[thread]);
            external = of_field;
        }
        bool fine = call.last ? correct_target(call, k, force[thread], external, now, moment, change, mine)
                              : correct_place(call, k, force[thread], now, moment);
        if (!fine) atomicOr(&refused, 1u);
    }
    if (mine) atomicAdd(&clamped, mine);
    __syncthreads();
    if (thread < LEVELS && change[thread] != 0) atomicAdd(schedule->at_least + thread, (u32)change[thread]);
    if (thread == 0 && refused) atomicOr(&schedule->refused, 1u);
    if (thread == 0 && clamped) atomicAdd(&schedule->clamped, clamped);
    if (!is_last_of(&schedule->corrected, targets, all)) return;
    if (call.last && thread < 32) schedule_next(call, moment, due, step);
    else if (thread == 0) schedule->corrected = 0;
}

#define TISANE_LAUNCHED_STEPS(name, M)                                                                                 \
    extern "C" __global__ void __launch_bounds__(STEP_CHUNK, 2)                                                        \
        advance_##name(const __grid_constant__ Launched call) {                                                        \
        advance<M>(call);                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(CORRECT_THREADS)                                                      \
        correct_##name(const __grid_constant__ Launched call) {                                                        \
        correct_targets<M>(call);                                                                                      \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(CORRECT_THREADS) put_##name(const __grid_constant__ Launched call) {   \
        put<M>(call);                                                                                                  \
    }
TISANE_EACH_MODE(TISANE_LAUNCHED_STEPS)
#endif
