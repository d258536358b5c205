// What an external field gives to the targets of a block step, and at the origin of coordinates: acceleration and jerk. The field is a type
// UserField, which src/force/cuda/steps/field_source.rs writes:
//   PARTS             number of its parts
//   acts_on_origin    true for a part that acts on the origin of coordinates too
//   part              stores acceleration and jerk by a part
//   whole             returns the sum of what parts give, in the order of the field that acts on the origin too
//   carried           returns that of the field that moves with the origin
// Compiled at run time for the device in use.
#pragma once
#include "elementary.cuh"
#include "launched_steps.cuh"

/// Points of a thread block, which has a warp for each part.
constexpr u32 FIELD_POINTS = 32;

/// A thread a part and point. The targets stand where the force is evaluated.
extern "C" __global__ void __launch_bounds__(FIELD_POINTS *UserField::PARTS) field_on_targets(const __grid_constant__ Launched call) {
    __shared__ double found[UserField::PARTS][FIELD_SUMS][FIELD_POINTS];
    const Field &field = call.field;
    u32 lane = threadIdx.x, part = threadIdx.y, point = blockIdx.x * FIELD_POINTS + lane, targets = call.schedule->targets;
    u64 moment = call.schedule->moment;
    bool has_orbit = field.segment != nullptr, of_origin = UserField::acts_on_origin(part);
    if (point < targets || (point == targets && has_orbit && of_origin)) {
        double pos[3] = {}, vel[3] = {}, given[FIELD_SUMS];
        if (point < targets) {
            const double *at = call.target_state + TARGET * (size_t)point;
#pragma unroll
            for (int c = 0; c < 3; ++c) pos[c] = at[c], vel[c] = at[3 + c];
        }
        if (has_orbit && of_origin) {
            double x[3], v[3];
            origin_at(field, moment, x, v);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                pos[c] = point < targets ? x[c] + pos[c] : x[c];
                vel[c] = point < targets ? v[c] + vel[c] : v[c];
            }
        }
        UserField::part(part, pos, vel, time_of_moment(field, moment, call.dt_max), given);
#pragma unroll
        for (u32 s = 0; s < FIELD_SUMS; ++s) found[part][s][lane] = given[s];
    }
    __syncthreads();
    if (point > targets || (point == targets && !has_orbit)) return;
    for (u32 s = part; s < FIELD_SUMS; s += UserField::PARTS) {
        auto of = [&](u32 part) { return found[part][s][lane]; };
        double *sums = field.found + (size_t)point * 2 * FIELD_SUMS;
        sums[s] = UserField::whole(of);
        if (field.is_carried && point < targets) sums[FIELD_SUMS + s] = UserField::carried(of);
    }
}
