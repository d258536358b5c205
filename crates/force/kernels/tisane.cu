// All kernels of the program in one file, for development: TISANE_KERNELS takes it, or what it is compiled to.
#include "forces.cu"
#include "block_steps.cu"
#include "shared_steps.cu"
#include "watched_steps.cu"
#include "neighbours.cu"
