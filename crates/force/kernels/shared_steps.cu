// Kernels of block steps that several devices take together, for one fatbin.
#include "take_steps.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TISANE_SHARED_STEPS(name, M)                                                                                   \
    TISANE_STEP_KERNEL(shared_steps_##name, Together<M>, true)                                                         \
    TISANE_STEP_KERNEL(any_shared_steps_##name, Together<M>, false)
TISANE_EACH_MODE(TISANE_SHARED_STEPS)
#endif
