// Stores corrected particles and predicts all sources, for `force_tiles`. Block: 32 lanes × bags.
#include "predict.cuh"

#define TISANE_PREDICT(name, M)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) predict_##name(const __grid_constant__ Call call) {              \
        u32 bag = blockIdx.x * blockDim.y + threadIdx.y;                                                               \
        if (bag * BAG >= call.slots) return;                                                                           \
        predict_bag<M>(call, bag, threadIdx.x, true, call.predicted + (size_t)bag * BAG * UNITS<M>);                   \
    }
TISANE_EACH_MODE(TISANE_PREDICT)
