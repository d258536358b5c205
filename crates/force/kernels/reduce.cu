// Sums over the spans of `force_tiles`. One thread a target and sum.
#include "reduce.cuh"

#define TISANE_REDUCE(name, M)                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) reduce_##name(const __grid_constant__ Call call) {               \
        u32 thread = blockIdx.x * blockDim.x + threadIdx.x;                                                            \
        u32 k = thread / SUMS, s = thread % SUMS;                                                                      \
        if (k < call.batch) hand_over(call, k, s, over_spans<M>(call, k, s, 0, call.spans));                           \
    }
TISANE_EACH_MODE(TISANE_REDUCE)
