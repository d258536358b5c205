// Scales of accelerations: mirrors src/force/noise.rs, operation by operation.
#pragma once
#include "pair.cuh"

/// |a| over the scale of its terms below which forces cancel.
constexpr double BALANCE = 1.0 / 4096.0;

/// Scales of the accelerations in a system: see `Noise` in src/force/noise.rs. Mirrored by `NoiseCall` in
/// src/force/cuda/steps/noise_call.rs; both must be changed together.
struct Noise {
    double relative, per_mass, square, per_rest, square_of_rest;
    u32 heaviest, unused;

    /// Returns the scale of the terms of the acceleration of particle i.
    __device__ __forceinline__ double scale(u32 i, double pot) const {
        return pot * pot * (i == heaviest ? per_rest : per_mass);
    }

    /// Returns the time in which the others move on, where the forces on particle i cancel, and 0 elsewhere.
    __device__ __forceinline__ double time_of_others(u32 i, double acc2, double pot) const {
        double bound = BALANCE * scale(i, pot);
        if (!(acc2 < bound * bound)) return 0.0;
        return __dsqrt_rn(__ddiv_rn(i == heaviest ? square_of_rest : square, pot * pot * fabs(pot)));
    }
};
