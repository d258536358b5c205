// All kernels in one file, for one fatbin.
#include "predict.cu"
#include "force_whole.cu"
#include "force_tiles.cu"
#include "reduce.cu"
#include "acceleration.cu"
#include "steps.cu"
#include "systems.cu"
#include "few_bodies.cu"
