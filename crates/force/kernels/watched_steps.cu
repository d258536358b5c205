// Kernels of block steps that end where a pair may form, for one fatbin.
#include "watched_steps.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TISANE_WATCHED_STEP_KERNEL(name, M, PLAIN)                                                                     \
    extern "C" __global__ void __launch_bounds__(STEP_THREADS, 1) name(const __grid_constant__ WatchedSteps call) {    \
        take_steps<M, PLAIN>(call.steps, PairSearch<M>{call.search});                                                  \
    }
#define TISANE_WATCHED_STEPS(name, M)                                                                                  \
    TISANE_WATCHED_STEP_KERNEL(watched_steps_##name, M, true)                                                          \
    TISANE_WATCHED_STEP_KERNEL(any_watched_steps_##name, M, false)
TISANE_EACH_MODE(TISANE_WATCHED_STEPS)
#endif
