// Accelerations alone: the sources are converted to the mode's numbers, each thread takes T targets and loops over the
// bags of a span in order, and the spans are added. The sum of a span is one node of the canonical tree. In the modes
// that add bags in order there is one span, or each bag's sums are passed on.
#include "acceleration.cuh"
#include "reduce.cuh"
#include "total.cuh"

/// Largest number of threads in a block: `MAX_THREADS` of src/force/cuda/shapes/acceleration_shape.rs.
constexpr int MAX_THREADS = 256;
/// Number of sources in a thread's loop body: as many as are faster and do not spill.
template <class M, int T> constexpr int HELD_OF = 16 / T;
template <> constexpr int HELD_OF<F32Direct, 4> = 16;
template <> constexpr int HELD_OF<F32Chamomile, 4> = 8;
/// Number of groups of threads in a block: `groups` of src/force/cuda/shapes/acceleration_shape.rs.
template <class M, int T> constexpr int GROUPS_OF = 1;
template <> constexpr int GROUPS_OF<F32Chamomile, 4> = 4;
/// Number of thread blocks that a multiprocessor must hold at once, so that a thread may use all remaining registers,
/// and keep many pairs in flight where a sum waits for its last term. With groups of threads the compiler's own choice
/// (0) is faster.
template <class M, int T> constexpr int MIN_BLOCKS = GROUPS_OF<M, T> > 1 ? 0 : 1;
/// Number of bags that are computed while the next ones are fetched.
constexpr int FETCH_BAGS = 4;
/// Number of sources in a thread block of `place`, one a thread.
constexpr int PLACE_THREADS = 128;

/// Converts sources to the mode's numbers.
template <class M> __device__ __forceinline__ void place(const AccelerationCall &call) {
    // The host's memory is slow: it is read in whole lines.
    __shared__ double row[PLACE_THREADS * COMPONENTS];
    u32 first = blockIdx.x * PLACE_THREADS, i = first + threadIdx.x;
    u32 here = min(call.sources - first, (u32)PLACE_THREADS);
    for (u32 k = threadIdx.x; k < COMPONENTS * here; k += PLACE_THREADS) row[k] = call.pos[(size_t)first * COMPONENTS + k];
    __syncthreads();
    if (i >= call.slots) return;
    double pos[COMPONENTS];
#pragma unroll
    for (int c = 0; c < COMPONENTS; ++c) pos[c] = i < call.sources ? row[threadIdx.x * COMPONENTS + c] : NOWHERE<M>;
    float4 *unit = call.placed + (size_t)i * Place<M>::UNITS;
    write_place<M>(unit, pos, call.mass[i]);
    Columns<typename M::Real, M::COLUMNS> columns;
    read_columns(call.mass, call.slots, i, columns);
    write(unit + Place<M>::STATE_UNITS, columns);
}

/// Starts a copy of a unit to shared memory, which is complete after `fetched` and a barrier.
__device__ __forceinline__ void fetch(float4 *to, const float4 *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

__device__ __forceinline__ void fetched() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Grid: tiles of targets × spans of bags. Block: threads of different targets × GROUPS, which share the bags of their
/// targets. Where bags are added in order there is one span for many particles, and a block must have few targets to
/// distribute the work evenly. The first group adds the sums of all groups, in order.
template <class M, int T> __device__ __forceinline__ void accelerate(const AccelerationCall &call) {
    constexpr int UNITS = Place<M>::UNITS, HELD = M::HELD ? M::HELD : HELD_OF<M, T>, GROUPS = GROUPS_OF<M, T>;
    static_assert(GROUPS == 1 || M::ORDER == Order::InOrder, "the other modes have spans, or one running sum");
    // So the barrier before the bags of a fetch also guarantees that the first group has read the sums of the last
    // fetch.
    static_assert(GROUPS == 1 || GROUPS == FETCH_BAGS, "a bag for each group in a fetch");
    // One buffer is read while the other is filled.
    __shared__ float4 tile[2][FETCH_BAGS * BAG * UNITS];
    // Sums of the other groups over their bags.
    __shared__ typename M::Node handed[GROUPS > 1 ? (GROUPS - 1) * T * COMPONENTS : 1][GROUPS > 1 ? MAX_THREADS / GROUPS : 1];
    u32 group = GROUPS > 1 ? threadIdx.y : 0;
    Place<M> target[T];
    u32 own[T];
    Pulls<M> sums[T];
    u32 first = blockIdx.x * blockDim.x * T + threadIdx.x;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        // Threads beyond the last target repeat that target.
        own[j] = min(first + j * blockDim.x, call.sources - 1);
        read(call.placed + (size_t)own[j] * UNITS, target[j]);
        sums[j].clear();
    }
    u32 bags = call.slots / BAG;
    u32 bag = blockIdx.y * call.span_bags, end = min(bag + call.span_bags, bags);
    bool each = M::ORDER == Order::InOrder && call.spans > 1;
    auto fill = [&](float4 *to, u32 from) {
        u32 units = min(end - from, (u32)FETCH_BAGS) * BAG * UNITS;
        for (u32 k = group * blockDim.x + threadIdx.x; k < units; k += GROUPS * blockDim.x)
            fetch(to + k, call.placed + (size_t)from * BAG * UNITS + k);
    };
    auto keep = [&](u32 span, u32 k, const auto &node) {
#pragma unroll
        for (int j = 0; j < T; ++j)
            if (first + j * blockDim.x < call.sources) *sum_of<M>(call, span, first + j * blockDim.x, k) = node(j);
    };
    Total<M, T, COMPONENTS> total;
    u32 turn = 0;
    fill(tile[turn], bag);
    while (bag < end) {
        fetched();
        __syncthreads();
        u32 here = min(end - bag, (u32)FETCH_BAGS);
        if (bag + here < end) fill(tile[turn ^ 1], bag + here);
#pragma unroll 1
        for (u32 b = 0; b < here; b += GROUPS) {
            u32 mine = b + group;
            if (mine < here) add_bag<M, T, HELD>(call, tile[turn] + mine * BAG * UNITS, bag + mine, target, own, sums);
            if (each) {
                if (mine < here) {
#pragma unroll
                    for (int k = 0; k < COMPONENTS; ++k) keep(bag + mine, k, [&](int j) { return sums[j].node(k); });
                }
#pragma unroll
                for (int j = 0; j < T; ++j) sums[j].clear();
            } else if constexpr (GROUPS == 1) {
                total.take(sums);
            } else {
                if (group > 0) {
#pragma unroll
                    for (int k = 0; k < T * COMPONENTS; ++k)
                        handed[(group - 1) * T * COMPONENTS + k][threadIdx.x] = sums[k / COMPONENTS].node(k % COMPONENTS);
#pragma unroll
                    for (int j = 0; j < T; ++j) sums[j].clear();
                }
                __syncthreads();
                if (group == 0) {
                    total.take(sums);
                    for (u32 g = 1; g < min((u32)GROUPS, here - b); ++g)
                        total.append([&](int k) { return handed[(g - 1) * T * COMPONENTS + k][threadIdx.x]; });
                }
            }
        }
        bag += here;
        turn ^= 1;
    }
    if (each || group > 0) return;
    typename M::Node node[T * COMPONENTS];
    total.finish(sums, node);
#pragma unroll
    for (int k = 0; k < COMPONENTS; ++k) keep(blockIdx.y, k, [&](int j) { return node[j * COMPONENTS + k]; });
}

#define TISANE_ACCELERATE(name, M, T)                                                                                  \
    extern "C" __global__ void __launch_bounds__(MAX_THREADS, MIN_BLOCKS<M, T>)                                     \
        accelerate_##name##_##T(const __grid_constant__ AccelerationCall call) {                                       \
        accelerate<M, T>(call);                                                                                        \
    }
#ifdef TISANE_ALL_SHAPES
// For tuning.
#define TISANE_ACCELERATE_ALL(name, M)                                                                                 \
    TISANE_ACCELERATE(name, M, 1)                                                                                      \
    TISANE_ACCELERATE(name, M, 2)                                                                                      \
    TISANE_ACCELERATE(name, M, 3)                                                                                      \
    TISANE_ACCELERATE(name, M, 4)                                                                                      \
    TISANE_ACCELERATE(name, M, 6)                                                                                      \
    TISANE_ACCELERATE(name, M, 8)
TISANE_EACH_MODE(TISANE_ACCELERATE_ALL)
#else
TISANE_EACH_ACCELERATION(TISANE_ACCELERATE)
#endif

#define TISANE_PLACE(name, M)                                                                                          \
    extern "C" __global__ void __launch_bounds__(PLACE_THREADS) place_##name(const __grid_constant__ AccelerationCall call) { \
        place<M>(call);                                                                                                \
    }
TISANE_EACH_MODE(TISANE_PLACE)

/// Sums over the spans. One thread a target and component.
#define TISANE_REDUCE_ACCELERATIONS(name, M)                                                                           \
    extern "C" __global__ void __launch_bounds__(128)                                                                  \
        reduce_accelerations_##name(const __grid_constant__ AccelerationCall call) {                                   \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x;                                                            \
        u32 k = thread / COMPONENTS, s = thread % COMPONENTS;                                                          \
        /* Every -0 becomes +0, as in `acceleration_from_sums`. */                                                     \
        if (k < call.sources) call.out[thread] = value(over_spans<M>(call, k, s, 0, call.spans)) + 0.0;                \
    }
TISANE_EACH_MODE(TISANE_REDUCE_ACCELERATIONS)
