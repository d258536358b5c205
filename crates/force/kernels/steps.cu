// Kernels of block steps that one device takes.
#include "take_steps.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TISANE_STEPS(name, M)                                                                                          \
    TISANE_STEP_KERNEL(steps_##name, M, true)                                                                          \
    TISANE_STEP_KERNEL(any_steps_##name, M, false)
TISANE_EACH_MODE(TISANE_STEPS)
#endif
