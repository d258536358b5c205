// Force on small blocks: each lane of a warp takes one bag of a group, for T targets; a butterfly across the lanes is the
// lowest five levels of the canonical tree. f32-chamomile adds bags in order, so there every bag's sum is handed on; for
// f32-direct, one running sum, there is no such kernel.
#include "call.cuh"

/// Sources times targets that a lane's loop holds at a time.
#ifndef LANES_UNROLL
#define LANES_UNROLL 8
#endif
constexpr int LANES_HELD = LANES_UNROLL;

/// Sums one bag a lane. MASKED: some target lies in this group, and is left out by its place `own` in the lane's bag. Returns
/// true, with void sums, if QUICK and some distance was odd.
template <class M, int T, bool MASKED, bool QUICK>
__device__ __forceinline__ bool bag_of_lane(const float4 *unit, const Body<M> (&target)[T], const u32 (&own)[T],
                                            typename M::Real eps2, Sums<M> (&sums)[T]) {
    bool odd = false;
#pragma unroll
    for (int j = 0; j < T; ++j) sums[j].clear();
#pragma unroll(QUICK ? LANES_HELD / T : 1)
    for (u32 t = 0; t < BAG; ++t) {
        Body<M> source = read_body<M>(unit + (size_t)t * UNITS<M> * GROUP, GROUP);
#pragma unroll
        for (int j = 0; j < T; ++j)
            sums[j].template add_pair<QUICK>(source, target[j], eps2, MASKED && own[j] == t, odd);
    }
    return odd;
}

/// Grid: groups × tiles of targets; block: 32 lanes × warps, each warp with T targets of its own.
template <class M, int T> __device__ __forceinline__ void force_lanes(const Call &call) {
    u32 group = blockIdx.x, lane = threadIdx.x;
    u32 first = (blockIdx.y * blockDim.y + threadIdx.y) * T;
    if (first >= call.batch) return;
    u32 bag = group * GROUP + lane;

    Body<M> target[T];
    u32 own[T];
    bool masked = false;
    Sums<M> sums[T];
#pragma unroll
    for (int j = 0; j < T; ++j) {
        // A tile's places beyond the last target repeat it.
        target[j] = read_target<M>(call, call.first_target + min(first + j, call.batch - 1), own[j]);
        masked |= own[j] / BAG / GROUP == group;
        // Another bag's place is none of this one's.
        own[j] = own[j] / BAG == bag ? own[j] % BAG : (u32)BAG;
    }
    const float4 *unit = call.predicted + (size_t)group * BAG * UNITS<M> * GROUP + lane;
    auto eps2 = (typename M::Real)call.eps2;
    bool odd = masked ? bag_of_lane<M, T, true, true>(unit, target, own, eps2, sums)
                      : bag_of_lane<M, T, false, true>(unit, target, own, eps2, sums);
    if (odd) bag_of_lane<M, T, true, false>(unit, target, own, eps2, sums);
    __syncwarp();

#pragma unroll
    for (int j = 0; j < T; ++j) {
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
            auto node = sums[j].node(k);
            if (M::ORDER == Order::Tree) {
#pragma unroll
                for (int step = 1; step < GROUP; step *= 2) node = plus(node, from_lane(node, step));
                if (lane == 0 && first + j < call.batch) partial_of<M>(call, group, first + j)[k] = node;
            } else if (first + j < call.batch) {
                partial_of<M>(call, bag, first + j)[k] = node;
            }
        }
    }
}

#define TISANE_FORCE_LANES(name, M, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(128) force_lanes_##name##_##T(const __grid_constant__ Call call) {    \
        force_lanes<M, T>(call);                                                                                       \
    }
// As `Shape::lanes` of src/force/cuda/shape.rs. Where 1 is missing, the compiler holds too few loads for it, and a second
// target, if only a repeated one, is faster.
TISANE_FORCE_LANES(f32_chamomile, F32Chamomile, 2)
TISANE_FORCE_LANES(f32_chamomile, F32Chamomile, 4)
TISANE_FORCE_LANES(f32_kahan, F32Kahan, 1)
TISANE_FORCE_LANES(f32_kahan, F32Kahan, 2)
TISANE_FORCE_LANES(mixed, Mixed, 2)
TISANE_FORCE_LANES(double_float, DoubleFloat, 1)
TISANE_FORCE_LANES(double_float, DoubleFloat, 2)
TISANE_FORCE_LANES(f64_fast, F64Fast, 2)
TISANE_FORCE_LANES(f64_fast, F64Fast, 4)
TISANE_FORCE_LANES(f64, F64, 2)
TISANE_FORCE_LANES(f64, F64, 4)
