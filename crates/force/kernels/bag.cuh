// Sums of one bag for all kernels: of forces or of accelerations, which differ in the data of a source (B) and in the
// sums (S).
#pragma once
#include "call.cuh"

/// Number of places of a bag that are read: all, or as many fours as hold its sources. No more change a sum.
struct WholeBag {
    __device__ __forceinline__ constexpr operator u32() const { return BAG; }
};
struct Fours {
    u32 fours;
    __device__ __forceinline__ operator u32() const { return 4 * fours; }
};

/// Flag that a place without a source must be masked: it would change the sums. With Newton's law a source without mass
/// adds exact zeros; another law need not vanish with the mass, nor far away.
template <class M> constexpr bool MASKS_PLACES = M::ZERO_COUNTS || M::BY_LAW;

/// Adds a bag's `filled` sources. MASKED: the source that is the target itself, at the place `own` in the bag, is left
/// out. Returns true, with void sums, if QUICK and some distance was odd. HELD: number of sources in the loop body.
template <class M, int T, int HELD, bool MASKED, bool QUICK, class B, class S, class P>
__device__ __forceinline__ bool add_sources(const float4 *bag, const B (&target)[T], const u32 (&own)[T], u32 filled,
                                            typename M::Real eps2, S (&sums)[T], P places) {
    bool odd = false;
#pragma unroll(QUICK ? HELD : 1)
    for (u32 t = 0; t < places; ++t) {
        B source;
        read(bag + t * B::UNITS, source);
#pragma unroll
        for (int j = 0; j < T; ++j) {
            bool absent = MASKED && (own[j] == t || (MASKS_PLACES<M> && t >= filled));
            sums[j].template add_pair<QUICK>(source, target[j], eps2, absent, odd);
        }
    }
    return odd;
}

/// Adds bag number `bag`, stored at `units`, for the targets of a lane, which are the sources `own`. Called by the
/// whole warp together.
template <class M, int T, int HELD, class C, class B, class S, class P = WholeBag>
__device__ __forceinline__ void add_bag(const C &call, const float4 *units, u32 bag, const B (&target)[T],
                                        const u32 (&own)[T], S (&sums)[T], P places = {}) {
    auto eps2 = eps2_of<M>(call);
    u32 place[T], filled = call.sources - bag * BAG;
    bool masked = MASKS_PLACES<M> && filled < BAG;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        place[j] = own[j] - bag * BAG;
        masked |= place[j] < BAG;
    }
    bool odd = __any_sync(~0u, masked)
                   ? add_sources<M, T, HELD, true, true>(units, target, place, filled, eps2, sums, places)
                   : add_sources<M, T, HELD, false, true>(units, target, place, filled, eps2, sums, places);
    // Only f64 has odd distances, and there every bag begins with empty sums.
    if (odd) {
#pragma unroll
        for (int j = 0; j < T; ++j) sums[j].clear();
        add_sources<M, T, HELD, true, false>(units, target, place, filled, eps2, sums, places);
    }
    __syncwarp();
}
