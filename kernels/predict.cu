// The sources of an evaluation: takes over corrected particles, then predicts everyone.
#include "call.cuh"

/// Takes over the corrected particles and notes where in the block each target stands. One thread a particle of either.
extern "C" __global__ void store(const __grid_constant__ Call call) {
    u32 k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < call.changed) {
        u32 i = call.changed_index[k];
        call.ticks[i] = call.changed_ticks[k];
#pragma unroll
        for (int column = 0; column < 4; ++column) {
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                double x = call.changed_state[((size_t)column * call.changed + k) * 3 + c];
                call.held[(size_t)(3 * column + c) * call.slots + i] = x;
            }
        }
    }
    if (k < call.targets) call.stands[call.target_index[k]] = make_uint2(call.evaluation, k);
}

/// Predicts source `i` to now in f64; one that is a target stands where the block puts it.
template <class M> __device__ __forceinline__ Body<M> predict(const Call &call, u32 i) {
    double pos[3], vel[3];
    uint2 stands = call.stands[i];
    if (stands.x == call.evaluation) {
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            pos[c] = call.target_pos[3 * (size_t)stands.y + c];
            vel[c] = call.target_vel[3 * (size_t)stands.y + c];
        }
    } else {
        double dt = (double)(call.now - call.ticks[i]) * call.tick;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            const double *column = call.held + (size_t)c * call.slots + i;
            size_t three = (size_t)3 * call.slots;
            pos[c] = column[0];
            vel[c] = column[three];
            predict_component(pos[c], vel[c], column[2 * three], column[3 * three], dt);
        }
    }
    return Body<M>::of(pos, vel, call.mass[i]);
}

#define TISANE_PREDICT(name, M)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128) predict_tiles_##name(const __grid_constant__ Call call) {        \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i >= call.slots) return;                                                                                   \
        Place place = Place::in_tiles<M>(i);                                                                           \
        write_body(call.predicted + place.first, place.stride, predict<M>(call, i));                                   \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) predict_lanes_##name(const __grid_constant__ Call call) {        \
        u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i >= call.slots) return;                                                                                   \
        Place place = Place::in_lanes<M>(i);                                                                           \
        write_body(call.predicted + place.first, place.stride, predict<M>(call, i));                                   \
    }
TISANE_EACH_MODE(TISANE_PREDICT)
