// Force on large blocks: each thread takes T targets and walks the bags of a span in order, which the block reads into
// shared memory tile by tile; what the span comes to is one node of the canonical tree.
#include "bag.cuh"

/// Sources that a thread's loop holds at a time.
#ifndef TILES_UNROLL
#define TILES_UNROLL 4
#endif
constexpr int TILES_HELD = TILES_UNROLL;
/// For tuning: see TISANE_FORCE_TILES_HELD.
#ifndef TILES_BLOCKS
#define TILES_BLOCKS 1
#endif

/// Bags read into shared memory at a time.
constexpr int TILE_BAGS = 4;
/// Levels of the tree in a span: at most 2^(DEPTH - 1) bags in the modes that sum by the tree.
constexpr int DEPTH = 12;

/// The total over bags in the mode's order: by the tree, one after the other, or none where there is one running sum.
template <class M, int T> struct Total {
    static constexpr bool TREE = M::ORDER == Order::Tree;
    using Node = typename M::Node;
    TreeSum<Node, T * SUMS, TREE ? DEPTH : 1> tree;
    Node in_order[T * SUMS];

    __device__ __forceinline__ Total() {
#pragma unroll
        for (int k = 0; k < T * SUMS; ++k) in_order[k] = zero<Node>();
    }

    /// Takes the sums of a bag and makes them ready for the next.
    __device__ __forceinline__ void take(Sums<M> (&sums)[T]) {
        if (M::ORDER == Order::Running) return;
        Node node[T * SUMS];
#pragma unroll
        for (int k = 0; k < T * SUMS; ++k) node[k] = sums[k / SUMS].node(k % SUMS);
        if (TREE) {
            tree.push(node);
        } else {
#pragma unroll
            for (int k = 0; k < T * SUMS; ++k) in_order[k] = plus(in_order[k], node[k]);
        }
#pragma unroll
        for (int j = 0; j < T; ++j) sums[j].clear();
    }

    __device__ __forceinline__ void finish(const Sums<M> (&sums)[T], Node (&node)[T * SUMS]) const {
        if (TREE) {
            tree.root(node);
        } else {
#pragma unroll
            for (int k = 0; k < T * SUMS; ++k)
                node[k] = M::ORDER == Order::Running ? sums[k / SUMS].node(k % SUMS) : in_order[k];
        }
    }
};

/// Grid: tiles of targets × spans of bags.
template <class M, int T> __device__ __forceinline__ void force_tiles(const Call &call) {
    __shared__ float4 tile[TILE_BAGS * BAG * UNITS<M>];
    Body<M> target[T];
    u32 own[T];
    Sums<M> sums[T];
    u32 first = blockIdx.x * blockDim.x * T + threadIdx.x;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        // Threads beyond the last target repeat it.
        target[j] = read_target<M>(call, call.first_target + min(first + j * blockDim.x, call.batch - 1), own[j]);
        sums[j].clear();
    }
    u32 bags = (call.sources + BAG - 1) / BAG;
    u32 bag = blockIdx.y * call.span_bags, end = min(bag + call.span_bags, bags);
    Total<M, T> total;
    while (bag < end) {
        u32 here = min(end - bag, (u32)TILE_BAGS);
        __syncthreads();
        const float4 *from = call.predicted + (size_t)bag * BAG * UNITS<M>;
        for (u32 k = threadIdx.x; k < here * BAG * UNITS<M>; k += blockDim.x) tile[k] = from[k];
        __syncthreads();
#pragma unroll 1
        for (u32 b = 0; b < here; ++b, ++bag) {
            add_bag<M, T, TILES_HELD>(call, tile + b * BAG * UNITS<M>, bag, target, own, sums);
            total.take(sums);
        }
    }
    typename M::Node node[T * SUMS];
    total.finish(sums, node);
#pragma unroll
    for (int j = 0; j < T; ++j) {
        u32 k = first + j * blockDim.x;
        if (k >= call.batch) continue;
        auto *partial = partial_of<M>(call, blockIdx.y, k);
#pragma unroll
        for (int s = 0; s < SUMS; ++s) partial[s] = node[j * SUMS + s];
    }
}

/// BLOCKS: thread blocks of 256 that a multiprocessor must hold; it bounds the registers.
#define TISANE_FORCE_TILES_HELD(name, M, T, BLOCKS)                                                                    \
    extern "C" __global__ void __launch_bounds__(256, BLOCKS)                                                          \
        force_tiles_##name##_##T(const __grid_constant__ Call call) {                                                  \
        force_tiles<M, T>(call);                                                                                       \
    }
#define TISANE_FORCE_TILES(name, M, T) TISANE_FORCE_TILES_HELD(name, M, T, TILES_BLOCKS)
#ifdef TISANE_ALL_SHAPES
// For tuning.
#define TISANE_FORCE_TILES_ALL(name, M)                                                                                \
    TISANE_FORCE_TILES(name, M, 1)                                                                                     \
    TISANE_FORCE_TILES(name, M, 2)                                                                                     \
    TISANE_FORCE_TILES(name, M, 3)                                                                                     \
    TISANE_FORCE_TILES(name, M, 4)
TISANE_EACH_MODE(TISANE_FORCE_TILES_ALL)
#else
// As `Shape::tiles` of src/force/cuda/shape.rs.
TISANE_FORCE_TILES(f32_direct, F32Direct, 1)
TISANE_FORCE_TILES(f32_direct, F32Direct, 2)
TISANE_FORCE_TILES(f32_chamomile, F32Chamomile, 1)
TISANE_FORCE_TILES(f32_chamomile, F32Chamomile, 2)
TISANE_FORCE_TILES(f32_kahan, F32Kahan, 2)
TISANE_FORCE_TILES(f32_kahan, F32Kahan, 3)
TISANE_FORCE_TILES(mixed, Mixed, 2)
TISANE_FORCE_TILES(mixed, Mixed, 3)
TISANE_FORCE_TILES(double_float, DoubleFloat, 2)
TISANE_FORCE_TILES(double_float, DoubleFloat, 3)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
TISANE_FORCE_TILES(f64_fast, F64Fast, 1) // spills in 64 registers there
#else
TISANE_FORCE_TILES_HELD(f64_fast, F64Fast, 1, 4)
#endif
TISANE_FORCE_TILES(f64, F64, 1)
#endif
