// Sources of an evaluation: stores corrected particles and predicts. One warp a bag, two sources a lane.
#pragma once
#include "call.cuh"

__device__ __forceinline__ u32 or_over_warp(u32 bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, bits);
#else
#pragma unroll
    for (int step = 1; step < 32; step *= 2) bits |= __shfl_xor_sync(~0u, bits, step);
    return bits;
#endif
}

/// Sources of a bag that are in an ascending list of sources, and their places in the list.
struct Listed {
    // Bit t: source t of the bag is in the list.
    u64 mask;
    // Place in the list of the first of them.
    u32 first;

    /// Searches with the whole warp together.
    static __device__ __forceinline__ Listed in(const u32 *list, u32 count, u32 bag, u32 lane) {
        u32 begin = bag * BAG, lo = 0;
        if (count > BAG) {
            // The first entry not below `begin` is in [lo, lo + left].
            for (u32 left = count; left > 0;) {
                u32 step = (left + 31) / 32, probe = (lane + 1) * step - 1;
                bool below = probe < left && list[lo + probe] < begin;
                u32 whole = __popc(__ballot_sync(~0u, below)) * step;
                lo += whole;
                left = min(step - 1, left - whole);
            }
        }
        u32 a = lo + lane < count ? list[lo + lane] : ~0u;
        u32 b = lo + lane + 32 < count ? list[lo + lane + 32] : ~0u;
        lo += __popc(__ballot_sync(~0u, a < begin)) + __popc(__ballot_sync(~0u, b < begin));
        u64 bits = (a - begin < BAG ? 1ull << (a - begin) : 0) | (b - begin < BAG ? 1ull << (b - begin) : 0);
        return {or_over_warp((u32)bits) | (u64)or_over_warp((u32)(bits >> 32)) << 32, lo};
    }

    __device__ __forceinline__ bool has(u32 t) const { return mask >> t & 1; }
    /// Returns the place of source t of the bag, which is in the list.
    __device__ __forceinline__ u32 place(u32 t) const { return first + __popcll(mask & ((1ull << t) - 1)); }
};

/// Predicts a bag's sources to now in f64, and writes them to `to`. A corrected particle has its new state from the
/// upload, which `keep` writes back; a target stands at its position in the block.
template <class M> __device__ __forceinline__ void predict_bag(const Call &call, u32 bag, u32 lane, bool keep, float4 *to) {
    double held[2][12], mass[2];
    u64 ticks[2];
    // All held states are requested before it is known which particles have newer ones: no thread waits twice for
    // memory.
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        u32 i = bag * BAG + 32 * h + lane;
        ticks[h] = call.ticks[i];
        mass[h] = call.mass[i];
#pragma unroll
        for (int c = 0; c < 12; ++c) held[h][c] = call.held[(size_t)c * call.slots + i];
    }
    Listed changed = Listed::in(call.changed_index, call.changed, bag, lane);
    Listed targets = Listed::in(call.target_index, call.targets, bag, lane);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        u32 t = 32 * h + lane, i = bag * BAG + t;
        if (changed.has(t)) {
            const u64 *state = call.changed_state + STATE * (size_t)changed.place(t);
            ticks[h] = state[0];
            if (keep) call.ticks[i] = ticks[h];
#pragma unroll
            for (int c = 0; c < 12; ++c) {
                held[h][c] = __longlong_as_double(state[1 + c]);
                if (keep) call.held[(size_t)c * call.slots + i] = held[h][c];
            }
        }
        double pos[3], vel[3];
        double dt = (double)(call.now - ticks[h]) * call.tick;
        // Padding has none.
        bool further = BY_DERIVATIVES<M> && call.derivatives > 0 && i < call.sources;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            pos[c] = held[h][c];
            vel[c] = held[h][3 + c];
            if (further) {
                auto of = [&](int d) {
                    double &kept = call.more[(size_t)(3 * d + c) * call.slots + i];
                    if (!changed.has(t)) return kept;
                    double found = call.changed_more[3 * call.derivatives * (size_t)changed.place(t) + 3 * d + c];
                    if (keep) kept = found;
                    return found;
                };
                predict_component_with(call.derivatives, of, pos[c], vel[c], held[h][6 + c], held[h][9 + c], dt);
            } else {
                predict_component(pos[c], vel[c], held[h][6 + c], held[h][9 + c], dt);
            }
        }
        if (targets.has(t)) {
            const double *state = call.target_state + TARGET * (size_t)targets.place(t);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                pos[c] = state[c];
                vel[c] = state[3 + c];
            }
        }
        write_body(to + t * UNITS<M>, Body<M>::of(pos, vel, mass[h]));
        if constexpr (M::COLUMNS > 0) {
            Columns<typename M::Real, M::COLUMNS> columns;
            read_columns(call.mass, call.slots, i, columns);
            write(to + t * UNITS<M> + Body<M>::STATE_UNITS, columns);
        }
    }
}
