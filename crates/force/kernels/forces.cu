// Kernels of forces and accelerations, for one fatbin.
#include "predict.cu"
#include "force_whole.cu"
#include "force_tiles.cu"
#include "reduce.cu"
#include "acceleration.cu"
