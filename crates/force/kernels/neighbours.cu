// Kernels of neighbours.cuh.
#include "neighbours.cuh"

// As in launched_steps.cuh.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Predicts all sources in f64, for irregular forces of steps by the host. A thread a source.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_predict(const __grid_constant__ Neighbours call) {
    u32 i = blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= call.sources) return;
    double dt = (double)(call.now - call.ticks[i]) * call.tick, pos[3], vel[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        auto held = [&](int column) { return call.held[(size_t)(column + c) * call.slots + i]; };
        pos[c] = held(0), vel[c] = held(3);
        predict_component(pos[c], vel[c], held(6), held(9), dt);
    }
    write_record(call, i, pos, vel, call.mass[i]);
}

/// Puts the sources that are targets where these are. A thread a target.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_put(const __grid_constant__ Neighbours call) {
    u32 k = blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (k >= call.number) return;
    u32 i = call.target_index[k];
    double pos[3], vel[3];
    const double *target = call.target_state + TARGET * (size_t)k;
#pragma unroll
    for (int c = 0; c < 3; ++c) pos[c] = target[c], vel[c] = target[3 + c];
    write_record(call, i, pos, vel, call.mass[i]);
}

/// Irregular forces by the lists that the targets have, or the new ones of the regular targets: eight threads a target.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_irregular(const __grid_constant__ Neighbours call) {
    u32 thread = blockIdx.x * NEAR_THREADS + threadIdx.x, k = thread / IRREGULAR_SUMS, lane = thread % IRREGULAR_SUMS;
    u32 number = own_of(call, call.number, call.renewed);
    if (k - k % (32 / IRREGULAR_SUMS) >= number) return;
    bool there = k < number;
    // Lanes beyond the last target repeat it: a warp adds together.
    k = call.first_target + min(k, number - 1);
    u32 place = call.renewed ? call.regular[k] : call.devices == 1 ? k : call.own[k];
    u32 row = call.renewed ? call.new_row[k] : call.old_row[place];
    Body<F64> target;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        target.pos[c] = call.target_state[TARGET * (size_t)place + c];
        target.vel[c] = call.target_state[TARGET * (size_t)place + 3 + c];
        target.low[c] = 0;
    }
    target.mass = 0;
    Sums<F64> sums;
    // The host sends its lists one after the other.
    const u32 *list = call.steps || call.renewed ? list_of(call, row) : call.packed + call.offsets[row];
    u32 count = call.counts[row];
    if (add_list<true>(call, list, count, lane, target, sums)) add_list<false>(call, list, count, lane, target, sums);
    double *to = sum_at(call, call.renewed ? 2 : 0, call.renewed ? sums_place(call, k) : place);
    if (there && lane == SUMS) to[SUMS] = (double)count;
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
        double sum = sums.node(s);
        for (int step = 1; step < (int)IRREGULAR_SUMS; step *= 2) sum = plus(sum, from_lane(sum, step));
        if (there && lane == (u32)s) to[s] = sum + 0.0;
    }
}

/// Returns the number of regular target k of a batch, or of the k-th whose list would be too long.
template <bool CUT> __device__ __forceinline__ u32 regular_number(const Neighbours &call, u32 k) {
    return CUT ? call.cut[k] : call.first_target + k;
}

/// Returns the number of regular targets of a batch, or of those whose lists would be too long.
template <bool CUT> __device__ __forceinline__ u32 regular_count(const Neighbours &call) {
    return CUT ? min(call.neighbours->cut, MAX_CUT) : own_of(call, call.batch, true);
}

/// Regular forces, and the neighbours as they are found. Grid: tiles of targets × spans of bags. CUT: the targets whose lists
/// would be too long have no neighbours.
template <class M, int T, int HELD, bool CUT> __device__ __forceinline__ void near_regular(const Neighbours &call) {
    constexpr int TILE_BAGS = 4;
    __shared__ float4 tile[TILE_BAGS * BAG * UNITS<M>];
    Body<M> target[T];
    u32 own[T], number[T];
    typename M::Real limit[T];
    FarSums<M> far[T];
    u32 first = blockIdx.x * blockDim.x * T, batch = regular_count<CUT>(call);
    if (first >= batch) return;
    first += threadIdx.x;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        number[j] = first + j * blockDim.x;
        // Threads beyond the last target repeat that target.
        u32 r = regular_number<CUT>(call, min(number[j], batch - 1)), place = call.regular[r];
        target[j] = read_target<M>(call, place, own[j]);
        double radius = call.radius ? call.radius[r] : call.kept[(size_t)KEPT_RADIUS * call.slots + own[j]];
        if (CUT) radius = 0.0;
        limit[j] = (typename M::Real)fma_rn(radius, radius, call.eps2);
        far[j].sums.clear();
    }
    u32 bags = (call.sources + BAG - 1) / BAG;
    u32 bag = blockIdx.y * call.span_bags, end = min(bag + call.span_bags, bags);
    Total<M, T, SUMS> total;
    while (bag < end) {
        u32 here = min(end - bag, (u32)TILE_BAGS);
        __syncthreads();
        const float4 *from = call.predicted + (size_t)bag * BAG * UNITS<M>;
        for (u32 k = threadIdx.x; k < here * BAG * UNITS<M>; k += blockDim.x) tile[k] = from[k];
        __syncthreads();
#pragma unroll 1
        for (u32 b = 0; b < here; ++b, ++bag) {
            add_far_bag<M, T, HELD>(call, tile + b * BAG * UNITS<M>, bag, target, own, limit, far);
#pragma unroll
            for (int j = 0; j < T; ++j) {
                u64 left = far[j].near[0] | (u64)far[j].near[1] << 32;
                if (CUT || number[j] >= batch || left == 0) continue;
                if (own[j] / BAG == bag) left &= ~(1ull << (own[j] % BAG));
                // Places without a source are within an infinite limit.
                if (call.sources - bag * BAG < BAG) left &= (1ull << (call.sources - bag * BAG)) - 1;
                u32 r = call.first_target + number[j], *list = list_of(call, call.new_row[r]);
                u32 to = atomicAdd(within_of(call, r), (u32)__popcll(left));
                for (; left != 0; left &= left - 1, ++to) {
                    if (to < call.capacity) list[to] = bag * BAG + (u32)__ffsll((long long)left) - 1;
                }
            }
            Sums<M> sums[T];
#pragma unroll
            for (int j = 0; j < T; ++j) sums[j] = far[j].sums;
            total.take(sums);
#pragma unroll
            for (int j = 0; j < T; ++j) far[j].sums = sums[j];
        }
    }
    Sums<M> sums[T];
#pragma unroll
    for (int j = 0; j < T; ++j) sums[j] = far[j].sums;
    typename M::Node node[T * SUMS];
    total.finish(sums, node);
#pragma unroll
    for (int j = 0; j < T; ++j) {
        if (number[j] >= batch) continue;
        auto *partial = partial_of<M>(call, blockIdx.y, number[j]);
#pragma unroll
        for (int s = 0; s < SUMS; ++s) partial[s] = node[j * SUMS + s];
    }
}

/// Adds up the spans of the regular forces. One thread a target and sum.
template <class M, bool CUT> __device__ __forceinline__ void near_reduce(const Neighbours &call) {
    u32 thread = blockIdx.x * NEAR_THREADS + threadIdx.x;
    u32 k = thread / SUMS, s = thread % SUMS;
    if (k >= regular_count<CUT>(call)) return;
    sum_at(call, 1, sums_place(call, regular_number<CUT>(call, k)))[s] = value(over_spans<M>(call, k, s, 0, call.spans)) + 0.0;
}

/// Sorts the new lists, one a warp, each in `capacity` words of shared memory. One with too many entries becomes empty, and
/// its target is noted.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_sort(const __grid_constant__ Neighbours call) {
    extern __shared__ u32 entries[];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r = blockIdx.x * (blockDim.x / 32) + warp;
    if (r >= own_of(call, call.number, true)) return;
    r += call.first_target;
    u32 *mine = entries + warp * call.capacity, row = call.new_row[r], count = *within_of(call, r);
    u32 *list = list_of(call, row);
    if (count > call.max) {
        if (lane == 0) {
            call.counts[row] = 0;
            if (!call.steps) return;
            u32 to = atomicAdd(&call.neighbours->cut, 1u);
            if (to < MAX_CUT) call.cut[to] = r;
            else call.schedule->refused = call.schedule->step + 1;
        }
        return;
    }
    for (u32 e = lane; e < count; e += 32) mine[e] = list[e];
    __syncwarp();
    for (u32 e = lane; e < count; e += 32) {
        u32 entry = mine[e], before = 0;
        for (u32 other = 0; other < count; ++other) before += mine[other] < entry;
        list[before] = entry;
    }
    if (lane == 0) call.counts[row] = count;
}

/// Copies the new lists of `number` regular targets from `first_target` on to the host's memory at `packed`, one after the other in any
/// order, and the place of the first entry of that of target r to `offsets[r + 1]`: a warp each. `offsets[0]` is 0 before, then the
/// number of all entries.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_hand_over(const __grid_constant__ Neighbours call) {
    u32 lane = threadIdx.x & 31, k = (blockIdx.x * NEAR_THREADS + threadIdx.x) / 32;
    if (k >= call.number) return;
    u32 r = call.first_target + k, row = call.new_row[r], count = call.counts[row], place = 0;
    u32 *offsets = const_cast<u32 *>(call.offsets);
    if (lane == 0) offsets[r + 1] = place = atomicAdd(offsets, count);
    place = __shfl_sync(~0u, place, 0);
    const u32 *list = list_of(call, row);
    for (u32 e = lane; e < count; e += 32) call.packed[place + e] = list[e];
}

/// Stores the number of entries of each particle's list in `within`: 0 for those that another device owns.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_lengths(const __grid_constant__ Neighbours call) {
    u32 i = blockIdx.x * NEAR_THREADS + threadIdx.x;
    if (i >= call.number) return;
    call.sharers[call.device].within[i] = owner_of(call, i) == call.device ? call.counts[2 * i + call.side[i]] : 0;
}

/// Copies the lists of `number` particles from `first_target` on to `packed`, or from there with `renewed`, which stores
/// their lengths too: a warp each. `within` has the lengths of all particles, `offsets` the places of these.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_pack(const __grid_constant__ Neighbours call) {
    u32 lane = threadIdx.x & 31, k = (blockIdx.x * NEAR_THREADS + threadIdx.x) / 32;
    if (k >= call.number) return;
    u32 i = call.first_target + k, row = 2 * i + call.side[i], count = call.sharers[call.device].within[i];
    u32 *list = list_of(call, row), *packed = call.packed + call.offsets[k];
    for (u32 e = lane; e < count; e += 32) {
        if (call.renewed) list[e] = packed[e];
        else packed[e] = list[e];
    }
    if (call.renewed && lane == 0) call.counts[row] = count;
}

/// Counts the particles of each chunk at each level or a deeper one, and all by their regular levels, before the first step
/// of a call, and finds the first moment after `call.now`. A thread block a chunk; the schedules are zero before.
extern "C" __global__ void __launch_bounds__(STEP_CHUNK) near_count(const __grid_constant__ Neighbours call) {
    __shared__ u32 at[2][LEVELS];
    u32 chunk = blockIdx.x, thread = threadIdx.x, i = chunk * STEP_CHUNK + thread;
    if (thread < LEVELS) at[0][thread] = at[1][thread] = 0;
    __syncthreads();
    if (i < call.sources) {
        atomicAdd(at[0] + call.level[i], 1u);
        atomicAdd(at[1] + call.regular_level[i], 1u);
    }
    __syncthreads();
    if (thread < LEVELS) {
        u32 at_least[2] = {0, 0};
        for (u32 level = thread; level < LEVELS; ++level) at_least[0] += at[0][level], at_least[1] += at[1][level];
        call.chunk_at_least[(size_t)thread * call.chunks + chunk] = at_least[0];
        if (at_least[0] > 0) atomicAdd(call.schedule->at_least + thread, at_least[0]);
        if (at_least[1] > 0) atomicAdd(call.neighbours->at_least + thread, at_least[1]);
    }
    if (is_last_of(&call.schedule->corrected, 1, call.chunks) && thread < 32) schedule_with_regular(call, call.now, LEVELS, 0);
}

/// Copies columns of one particle, AT_ONCE at a time: their loads are in flight together.
template <int AT_ONCE>
__device__ __forceinline__ void copy_columns(const double *from, u32 place, double *to, u32 i, u32 columns, u32 stride) {
    for (u32 first = 0; first < columns; first += AT_ONCE) {
        double number[AT_ONCE];
#pragma unroll
        for (int c = 0; c < AT_ONCE; ++c) number[c] = from[(size_t)(first + c) * stride + place];
#pragma unroll
        for (int c = 0; c < AT_ONCE; ++c) to[(size_t)(first + c) * stride + i] = number[c];
    }
}

/// Stores the last step's particles, unless one was refused, predicts all sources to the next moment, and lists the
/// targets. A thread a particle, a thread block a chunk: as `advance` of launched_steps.cu.
template <class M> __device__ __forceinline__ void near_advance(const Neighbours &call) {
    const Schedule &schedule = *call.schedule;
    u32 chunk = blockIdx.x, i = chunk * STEP_CHUNK + threadIdx.x;
    bool there = i < call.slots, filled = i < call.sources;
    double state[12], mass = 0.0;
    u64 ticks = 0;
    u32 level = filled ? call.level[i] : 0, regular_level = filled ? call.regular_level[i] : 0;
    u32 before = 0, moved_in_all, due_in_all;
    if (there) {
        ticks = call.ticks[i];
        mass = call.mass[i];
#pragma unroll
        for (int c = 0; c < 12; ++c) state[c] = call.held[(size_t)c * call.slots + i];
    }
    for (u32 c = threadIdx.x; c < chunk; c += STEP_CHUNK)
        before += call.chunk_at_least[(size_t)schedule.due * call.chunks + c];
    u32 old_first = call.first_of_chunk[chunk];
    if (schedule.refused) return;
    bool moved = filled && level >= schedule.last_due;
    u32 place = old_first + rank(moved, moved_in_all);
    if (moved) {
        if (regular_level >= schedule.last_due) {
            regular_level = call.new_regular_level[place];
            call.regular_level[i] = (unsigned char)regular_level;
            call.side[i] ^= 1;
        }
        level = call.new_level[place];
        ticks = schedule.now;
        call.level[i] = (unsigned char)level;
        call.ticks[i] = ticks;
        double pot = call.corrected[12 * (size_t)call.slots + place];
#pragma unroll
        for (int c = 0; c < 12; ++c) state[c] = call.corrected[(size_t)c * call.slots + place];
        call.pot[i] = pot;
#pragma unroll
        for (int c = 0; c < 12; ++c) call.held[(size_t)c * call.slots + i] = state[c];
        copy_columns<9>(call.new_kept, place, call.kept, i, KEPT_COLUMNS, call.slots);
        copy_columns<13>(call.new_history, place, call.history, i, 13 * call.points, call.slots);
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
        if (due && call.points > 0)
            predict_with({call.history, call.slots, call.points}, c, i, pos[c], vel[c], state[6 + c], state[9 + c], dt);
        else predict_component(pos[c], vel[c], state[6 + c], state[9 + c], dt);
    }
    // Only regular forces read them.
    if (call.neighbours->at_least[schedule.due] > 0)
        write_body(call.predicted + (size_t)i * UNITS<M>, Body<M>::of(pos, vel, mass));
    if (!filled) return;
    write_record(call, i, pos, vel, mass);
    if (!due) return;
    // The lists of `Call` are the host's otherwise.
    const_cast<u32 *>(call.target_index)[place] = i;
    double *target = const_cast<double *>(call.target_state) + TARGET * (size_t)place;
#pragma unroll
    for (int c = 0; c < 3; ++c) target[c] = pos[c], target[3 + c] = vel[c];
    u32 side = call.side[i];
    call.old_row[place] = 2 * i + side;
    if (owner_of(call, i) != call.device) return;
    if (call.devices > 1) call.own[atomicAdd(&call.neighbours->own, 1u)] = place;
    if (regular_level < schedule.due) return;
    u32 number = atomicAdd(&call.neighbours->listed, 1u);
    call.regular[number] = place;
    call.new_row[number] = 2 * i + (side ^ 1);
    call.sharers[call.device].within[place] = 0;
}

/// Adds to `sum` the derivatives 0 ... 3 of the accelerations by the first `count` of the listed pairs, in their order, with
/// one warp. A pair's sign is the highest bit of its entry, set where it left the list.
__device__ __forceinline__ void add_exchanged(const Neighbours &call, const u32 *pairs, u32 count, double (*terms)[12],
                                              const double (&own)[12], u64 moment, double &sum) {
    u32 lane = threadIdx.x & 31;
    if (lane < count) {
        u32 j = pairs[lane] & 0x7fffffff;
        double sign = pairs[lane] >> 31 ? -1.0 : 1.0;
        Body<F64> source = read_record(call, j);
        double dt = (double)(moment - call.ticks[j]) * call.tick, r[3], v[3], a[3], k[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            double acc = call.held[(size_t)(6 + c) * call.slots + j], jerk = call.held[(size_t)(9 + c) * call.slots + j];
            r[c] = source.pos[c] - own[c];
            v[c] = source.vel[c] - own[3 + c];
            a[c] = acc + jerk * dt - own[6 + c];
            k[c] = jerk - own[9 + c];
        }
        auto dot = [](const double (&x)[3], const double (&y)[3]) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; };
        double s2 = dot(r, r) + call.eps2;
        double m_s3 = __ddiv_rn(sign * source.mass, s2 * __dsqrt_rn(s2));
        double alpha = __ddiv_rn(dot(r, v), s2);
        double beta = __ddiv_rn(dot(v, v) + dot(r, a), s2) + alpha * alpha;
        double gamma = __ddiv_rn(3.0 * dot(v, a) + dot(r, k), s2) + alpha * (3.0 * beta - 4.0 * alpha * alpha);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            double f0 = r[c] * m_s3;
            double f1 = v[c] * m_s3 - f0 * (3.0 * alpha);
            double f2 = a[c] * m_s3 - f1 * (6.0 * alpha) - f0 * (3.0 * beta);
            double f3 = k[c] * m_s3 - f2 * (9.0 * alpha) - f1 * (9.0 * beta) - f0 * (3.0 * gamma);
            terms[lane][c] = f0, terms[lane][3 + c] = f1, terms[lane][6 + c] = f2, terms[lane][9 + c] = f3;
        }
    }
    __syncwarp();
    if (lane < 12)
        for (u32 e = 0; e < count; ++e) sum += terms[e][lane];
    __syncwarp();
}

/// Returns true if an ascending list has an entry.
__device__ __forceinline__ bool has(const u32 *list, u32 count, u32 entry) {
    u32 lo = 0, left = count;
    while (left > 0) {
        u32 half = left / 2;
        if (list[lo + half] < entry) lo += half + 1, left -= half + 1;
        else left = half;
    }
    return lo < count && list[lo] == entry;
}

/// Derivatives of the pairs that left or entered the list of each regular target (`AhmadCohen::exchange`): one warp each.
extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_exchange(const __grid_constant__ Neighbours call) {
    __shared__ double terms[NEAR_THREADS / 32][32][12];
    __shared__ u32 pairs[NEAR_THREADS / 32][64];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, number = blockIdx.x * (NEAR_THREADS / 32) + warp;
    if (number >= own_of(call, call.number, true)) return;
    u32 place = call.regular[number], *mine = pairs[warp], waiting = 0, all = 0;
    double own[12], sum = 0.0;
#pragma unroll
    for (int c = 0; c < 6; ++c) {
        own[c] = call.target_state[TARGET * (size_t)place + c];
        own[6 + c] = sum_at(call, 1, place)[c] + sum_at(call, 2, place)[c];
    }
    u64 moment = call.schedule->moment;
    u32 rows[2] = {call.old_row[place], call.new_row[number]};
#pragma unroll 1
    for (u32 pass = 0; pass < 2; ++pass) {
        const u32 *list = list_of(call, rows[pass]), *other = list_of(call, rows[1 - pass]);
        u32 count = call.counts[rows[pass]], others = call.counts[rows[1 - pass]];
        for (u32 first = 0; first < count; first += 32) {
            bool changed = false;
            u32 entry = 0;
            if (first + lane < count) {
                entry = list[first + lane];
                changed = !has(other, others, entry);
            }
            u32 mask = __ballot_sync(~0u, changed);
            if (changed) mine[waiting + __popc(mask & ((1u << lane) - 1))] = entry | (pass == 0 ? 1u << 31 : 0u);
            waiting += __popc(mask), all += __popc(mask);
            __syncwarp();
            if (waiting >= 32) {
                add_exchanged(call, mine, 32, terms[warp], own, moment, sum);
                waiting -= 32;
                u32 kept = lane < waiting ? mine[32 + lane] : 0;
                __syncwarp();
                if (lane < waiting) mine[lane] = kept;
                __syncwarp();
            }
        }
    }
    add_exchanged(call, mine, waiting, terms[warp], own, moment, sum);
    double *to = call.sharers[call.device].exchanges + EXCHANGE * (size_t)place;
    if (lane < 12) to[lane] = sum;
    if (lane == 12) to[12] = (double)all;
}

/// Corrects the targets and gives them their next steps: four threads each. The last thread block finds the next moment.
extern "C" __global__ void __launch_bounds__(128) near_correct(const __grid_constant__ Neighbours call) {
    __shared__ int changes[2][LEVELS];
    __shared__ u32 refused_here, clamped_here;
    __shared__ u64 pairs_here;
    constexpr u32 OF_BLOCK = 128 / 4;
    Schedule *schedule = call.schedule;
    u32 thread = threadIdx.x, k = blockIdx.x * OF_BLOCK + thread / 4, targets = call.number;
    if (thread < LEVELS) changes[0][thread] = changes[1][thread] = 0;
    if (thread == 0) refused_here = clamped_here = 0, pairs_here = 0;
    __syncthreads();
    // What the forces of another device refuse, all refuse. `refused` is the number of the step, from 1 on: that device may be ahead.
    if (blockIdx.x == 0 && thread < call.devices &&
        *(const volatile u32 *)&call.sharers[thread].schedule->refused == schedule->step + 1)
        refused_here = 1;
    u64 now = schedule->now, moment = schedule->moment;
    bool there = k < targets;
    k = min(k, targets - 1);
    u32 clamped = 0;
    u64 pairs = 0;
    if (!correct_neighbour_target(call, k, there, now, moment, changes, clamped, pairs)) refused_here = 1;
    if (clamped) atomicAdd(&clamped_here, clamped);
    if (pairs) atomicAdd(&pairs_here, pairs);
    __syncthreads();
    if (thread < LEVELS) {
        if (changes[0][thread]) atomicAdd(schedule->at_least + thread, (u32)changes[0][thread]);
        if (changes[1][thread]) atomicAdd(call.neighbours->at_least + thread, (u32)changes[1][thread]);
    }
    if (thread == 0) atomicAdd(&call.neighbours->pairs, pairs_here);
    if (thread == 0 && refused_here) schedule->refused = schedule->step + 1;
    if (thread == 0 && clamped_here) atomicAdd(&schedule->clamped, clamped_here);
    if (is_last_of(&schedule->corrected, min(OF_BLOCK, targets - blockIdx.x * OF_BLOCK), targets) && thread < 32)
        schedule_with_regular(call, moment, schedule->due, schedule->step + 1);
}

#define TISANE_NEAR(name, M, T, HELD)                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) near_regular_##name(const __grid_constant__ Neighbours call) {      \
        near_regular<M, T, HELD, false>(call);                                                                         \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) near_cut_##name(const __grid_constant__ Neighbours call) {          \
        near_regular<M, T, HELD, true>(call);                                                                          \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_cut_reduce_##name(                                 \
        const __grid_constant__ Neighbours call) {                                                                     \
        near_reduce<M, true>(call);                                                                                    \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(NEAR_THREADS) near_reduce_##name(                                     \
        const __grid_constant__ Neighbours call) {                                                                     \
        near_reduce<M, false>(call);                                                                                        \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(STEP_CHUNK) near_advance_##name(                                      \
        const __grid_constant__ Neighbours call) {                                                                     \
        near_advance<M>(call);                                                                                         \
    }
TISANE_NEAR(f32_direct, F32Direct, 2, 4)
TISANE_NEAR(f32_chamomile, F32Chamomile, 2, 4)
TISANE_NEAR(f32_kahan, F32Kahan, 2, 2)
TISANE_NEAR(mixed, Mixed, 2, 4)
TISANE_NEAR(double_float, DoubleFloat, 2, 2)
TISANE_NEAR(f64_fast, F64Fast, 1, 4)
TISANE_NEAR(f64, F64, 1, 4)
#endif
