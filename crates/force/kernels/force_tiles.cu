// Force on large blocks: each thread takes T targets and loops over the bags of a span in order, which the block reads
// into shared memory tile by tile. The sum of a span is one node of the canonical tree.
#include "bag.cuh"
#include "total.cuh"

/// Number of sources in a thread's loop body.
#ifndef TILES_UNROLL
#define TILES_UNROLL 4
#endif
constexpr int TILES_HELD = TILES_UNROLL;
/// For tuning: see TILES_BLOCKS_OF.
#ifndef TILES_BLOCKS
#define TILES_BLOCKS 1
#endif

/// Number of bags read into shared memory at a time.
constexpr int TILE_BAGS = 4;

/// Grid: tiles of targets × spans of bags.
template <class M, int T> __device__ __forceinline__ void force_tiles(const Call &call) {
    __shared__ float4 tile[TILE_BAGS * BAG * UNITS<M>];
    Body<M> target[T];
    u32 own[T];
    Sums<M> sums[T];
    u32 first = blockIdx.x * blockDim.x * T + threadIdx.x;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        // Threads beyond the last target repeat that target.
        target[j] = read_target<M>(call, call.first_target + min(first + j * blockDim.x, call.batch - 1), own[j]);
        sums[j].clear();
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
            add_bag<M, T, M::HELD ? M::HELD : TILES_HELD>(call, tile + b * BAG * UNITS<M>, bag, target, own, sums);
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

/// Number of thread blocks of 256 that a multiprocessor must hold, which bounds the registers.
template <class M, int T> constexpr int TILES_BLOCKS_OF = TILES_BLOCKS;
// 64 registers, in which it spills on the oldest devices.
#if !defined(TISANE_ALL_SHAPES) && !(defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
template <> constexpr int TILES_BLOCKS_OF<F64Fast, 1> = 4;
#endif

#define TISANE_FORCE_TILES(name, M, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256, TILES_BLOCKS_OF<M, T>)                                           \
        force_tiles_##name##_##T(const __grid_constant__ Call call) {                                                  \
        force_tiles<M, T>(call);                                                                                       \
    }
#ifdef TISANE_ALL_SHAPES
// For tuning.
#define TISANE_FORCE_TILES_ALL(name, M)                                                                                \
    TISANE_FORCE_TILES(name, M, 1)                                                                                     \
    TISANE_FORCE_TILES(name, M, 2)                                                                                     \
    TISANE_FORCE_TILES(name, M, 3)                                                                                     \
    TISANE_FORCE_TILES(name, M, 4)
TISANE_EACH_MODE(TISANE_FORCE_TILES_ALL)
#else
TISANE_EACH_TILES(TISANE_FORCE_TILES)
#endif
