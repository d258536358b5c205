// Rounding errors of accelerations: mirrors src/force/noise.rs, operation by operation.
#pragma once
#include "pair.cuh"

/// Rounding errors of the accelerations in a system: see `Noise` in src/force/noise.rs. Mirrored by `NoiseCall` in
/// src/force/cuda/noise_call.rs; both must be changed together.
struct Noise {
    double relative, cancelled, per_mass, per_rest;
    u32 heaviest, unused;

    /// Returns 1/M for particle i.
    __device__ __forceinline__ double per_mass_of(u32 i) const { return i == heaviest ? per_rest : per_mass; }
};

/// |a| over the scale of the terms of its sum below which the forces on a particle cancel; distance from the origin, over
/// that of the other particles, beyond which the rounding of coordinates counts.
constexpr double CANCEL = 1.0 / 4096.0, PER_FAR = 1.0 / 256.0;

/// Returns the rounding error `cancelled` of an acceleration of the square `acc2`, relative to the scale of its terms,
/// where the forces cancel, and 0 elsewhere. `reach` is the largest coordinate of the particle.
__device__ __forceinline__ double where_cancelled(double cancelled, double per_mass, double acc2, double pot, double reach) {
    double scale = pot * pot * per_mass, bound = CANCEL * scale;
    if (!(acc2 < bound * bound)) return 0.0;
    double far = reach * (fabs(pot) * per_mass) * PER_FAR;
    return cancelled * scale * fmax(far, 1.0);
}
