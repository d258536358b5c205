// The whole evaluation of a small block in one kernel: each warp predicts a bag into shared memory and sums it for the
// 32 × T targets of its lanes; the warps of a thread block make a node of the canonical tree, and the last thread block
// to finish adds the nodes. For blocks so small that the launch of separate kernels would cost more than their work.
#include "bag.cuh"
#include "predict.cuh"
#include "reduce.cuh"

/// Number of sources times targets in a lane's loop body.
#ifndef WHOLE_UNROLL
#define WHOLE_UNROLL 8
#endif
constexpr int WHOLE_HELD = WHOLE_UNROLL;
/// Number of levels of the tree over the bags of a warp: at most 2^(WARP_DEPTH - 1) bags.
constexpr int WARP_DEPTH = 8;

/// Shared memory of a warp in units: its bag, and afterwards its nodes.
template <class M, int T>
constexpr u32 ROOM = BAG * UNITS<M> * 16 > 32 * T * SUMS * sizeof(typename M::Node)
                         ? BAG * UNITS<M>
                         : (32 * T * SUMS * sizeof(typename M::Node) + 15) / 16;

/// Returns true in the last thread block of a tile of targets to get here, which then sees the writes of the others.
__device__ __forceinline__ bool is_last(const Call &call, u32 thread) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        last = atomicAdd(call.arrived + blockIdx.y, 1) == gridDim.x - 1;
        if (last) call.arrived[blockIdx.y] = 0;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/// Grid: spans of bags × tiles of targets. Block: 32 lanes × warps, a power of two; a warp takes span_bags / warps
/// bags.
template <class M, int T> __device__ __forceinline__ void force_whole(const Call &call) {
    using Node = typename M::Node;
    constexpr bool TREE = M::ORDER == Order::Tree;
    extern __shared__ float4 room[];
    u32 lane = threadIdx.x, warps = blockDim.y, thread = threadIdx.y * 32 + lane;
    float4 *mine = room + threadIdx.y * ROOM<M, T>;
    u32 first = blockIdx.y * 32 * T;

    Body<M> target[T];
    u32 own[T];
#pragma unroll
    for (int j = 0; j < T; ++j)
        // Lanes beyond the last target repeat that target.
        target[j] = read_target<M>(call, call.first_target + min(first + 32 * j + lane, call.batch - 1), own[j]);

    TreeSum<Node, T * SUMS, WARP_DEPTH> tree;
    Node node[T * SUMS];
#pragma unroll
    for (int k = 0; k < T * SUMS; ++k) node[k] = zero<Node>();
    u32 bags_of_warp = call.span_bags / warps;
    u32 bag = blockIdx.x * call.span_bags + threadIdx.y * bags_of_warp;
    for (u32 b = 0; b < bags_of_warp && bag * BAG < call.sources; ++b, ++bag) {
        __syncwarp();
        predict_bag<M>(call, bag, lane, blockIdx.y == 0, mine);
        __syncwarp();
        Sums<M> sums[T];
#pragma unroll
        for (int j = 0; j < T; ++j) sums[j].clear();
        add_bag<M, T, M::HELD ? M::HELD : WHOLE_HELD / T>(call, mine, bag, target, own, sums);
#pragma unroll
        for (int k = 0; k < T * SUMS; ++k) node[k] = sums[k / SUMS].node(k % SUMS);
        if (TREE) {
            if (bags_of_warp > 1) tree.push(node);
        } else {
#pragma unroll
            for (int k = 0; k < T * SUMS; ++k) {
                u32 target_of_batch = first + k / SUMS * 32 + lane;
                if (target_of_batch < call.batch) partial_of<M>(call, bag, target_of_batch)[k % SUMS] = node[k];
            }
        }
    }
    u32 here = min(call.batch - first, 32 * T) * SUMS;
    if (TREE) {
        // A warp beyond the last bag has an exact zero.
        if (bags_of_warp > 1) tree.root(node);
        __syncwarp();
        Node *nodes = reinterpret_cast<Node *>(mine);
#pragma unroll
        for (int k = 0; k < T * SUMS; ++k) nodes[(k / SUMS * 32 + lane) * SUMS + k % SUMS] = node[k];
        __syncthreads();
        nodes = reinterpret_cast<Node *>(room);
        constexpr u32 NEXT = ROOM<M, T> * 16 / sizeof(Node);
        for (u32 k = thread; k < here; k += 32 * warps) {
            for (u32 step = 1; step < warps; step *= 2)
                for (u32 w = 0; w < warps; w += 2 * step)
                    nodes[w * NEXT + k] = plus(nodes[w * NEXT + k], nodes[(w + step) * NEXT + k]);
            partial_of<M>(call, blockIdx.x, first)[k] = nodes[k];
        }
    }
    if (!is_last(call, thread)) return;

    // Number of lanes for each sum: all threads are used, so that a small number of sums is not read by a few lanes
    // alone.
    u32 share = 1;
    if (TREE)
        while (share < 32 && 2 * share * here <= 32 * warps) share *= 2;
    u32 spans = call.spans;
    if (share > 1) {
        u32 length = 1;
        while (length * share < spans) length *= 2;
        u32 k = thread / share;
        u32 begin = thread % share * length;
        Node total = over_spans<M>(call, first + min(k, here - 1) / SUMS, min(k, here - 1) % SUMS, begin, min(begin + length, spans));
        for (u32 step = 1; step < share; step *= 2) total = plus(total, from_lane(total, step));
        if (k < here && begin == 0) hand_over(call, first + k / SUMS, k % SUMS, total);
    } else {
        for (u32 k = thread; k < here; k += 32 * warps)
            hand_over(call, first + k / SUMS, k % SUMS, over_spans<M>(call, first + k / SUMS, k % SUMS, 0, spans));
    }
}

#define TISANE_FORCE_WHOLE(name, M, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, 2) force_whole_##name##_##T(const __grid_constant__ Call call) {    \
        force_whole<M, T>(call);                                                                                       \
    }
#ifdef TISANE_ALL_SHAPES
// For tuning: 3 and 4 targets a lane too.
#define TISANE_TWO_MORE_1 3
#define TISANE_TWO_MORE_2 4
#define TISANE_FORCE_WHOLE_OF(name, M, T) TISANE_FORCE_WHOLE(name, M, T)
#define TISANE_FORCE_WHOLE_ALL(name, M, T)                                                                             \
    TISANE_FORCE_WHOLE(name, M, T)                                                                                     \
    TISANE_FORCE_WHOLE_OF(name, M, TISANE_TWO_MORE_##T)
TISANE_EACH_WHOLE(TISANE_FORCE_WHOLE_ALL)
#else
TISANE_EACH_WHOLE(TISANE_FORCE_WHOLE)
#endif
