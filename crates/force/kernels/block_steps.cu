// Kernels of whole block steps, for one fatbin.
#include "steps.cu"
#include "systems.cu"
#include "few_bodies.cu"
#include "launched_steps.cu"
#include "watch.cu"
