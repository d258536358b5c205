// Search for pairs that may form in the steps of steps.cuh: the steps end after the first one in which one may.
//
// It has to be done before the targets are corrected, as the sources are nowhere together later. Thus each thread block weighs its
// sources at the predicted targets, and posts for each target the largest m/r^3, the sum of the rest, and the largest sum of all
// others with which the strongest one forms a pair with the target. The thread block of a target compares the sums of all. It does so
// with a margin for what corrections change, and where one changes more the host looks. A search finds too much, never too little:
// the host looks at all particles whose update is due then.
#pragma once
#include "take_steps.cuh"
#include "watch.cuh"

// As in take_steps.cuh.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Largest change of a position by a correction, in units of the distance of the nearest particle that there may be; and the
/// uncertainty of the distance of two particles, of which each changes by that.
constexpr double MAX_CHANGE = 1e-3, UNCERTAIN = 2.5 * MAX_CHANGE;
/// Sum of m/r^3 as far as it is surely less than that after the corrections; weights nearer to each other than this may be in
/// another order. A distance within UNCERTAIN makes a weight within 3 UNCERTAIN.
constexpr float BELOW_WEIGHTS = 1.0f - 2e-2f, TIE_OF_WEIGHTS = 1.0f - 2e-2f;
/// Squares of distances are not less than this.
constexpr float LEAST_SQUARE = 1e-24f;

/// Search for pairs, besides `Steps`. Mirrored by `SearchCall` in src/force/cuda/steps/watched_steps.rs; both must be changed
/// together.
struct Search {
    // [2][group][place in it]: source and mass of a target.
    uint4 *rows;
    // [group][target]: what the sources of a group have at a target.
    uint4 *weighed;
    // [thread block][place in the group]: squares of the distances between where sources stand and where the host predicts them, by
    // acceleration and jerk alone.
    float *shifts;
    // Flags of the sources that are subsystems.
    const unsigned char *compound;
    // As in `Watch` of launched_steps.cuh.
    double forms, joins, min_binding;
    // Largest change of a velocity by a correction.
    double speed;
    // Mass not above that of any particle that has one.
    float lightest;
    u32 log2_steps;
};

/// Argument of the kernels. Mirrored by `WatchedCall` in the same file.
struct WatchedSteps {
    Steps steps;
    Search search;
};

/// Search in the steps of mode M.
template <class M> struct PairSearch {
    static constexpr bool LOOKS = true;
    const Search &call;

    /// What a target has: the largest weight, zero where it is not known; and whether it may form a pair.
    struct Verdict {
        float best;
        bool may;
    };

    __device__ __forceinline__ uint4 *row(const Group<M> &g, u32 exchange, u32 group, u32 place) const {
        return call.rows + ((size_t)(exchange & 1) * g.call.groups + group) * g.own + place;
    }
    __device__ __forceinline__ uint4 *weighed(const Group<M> &g, u32 group, u32 k) const {
        return call.weighed + (size_t)group * g.call.slots + k;
    }

    /// Returns true if sources stand where the host, which looks for pairs, does not predict them.
    static __device__ __forceinline__ bool shifts(const Group<M> &g) { return BY_DERIVATIVES<M> && g.call.points > 0; }

    /// Stores how far source k of the group, which is no target, stands from where the host predicts it to be at a moment.
    __device__ __forceinline__ void store_shift(const Group<M> &g, u32 k, bool is_target, const Body<M> &body, u64 now, u64 moment) const {
        if (!shifts(g) || k >= g.filled) return;
        double pos[3], vel[3], square = 0.0;
        g.predict(k, g.since(now, moment, k), pos, vel);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            double x = position(body, c) - pos[c];
            square += x * x;
        }
        // Rounded up.
        call.shifts[(size_t)blockIdx.x * g.own + k] = is_target ? 0.0f : (float)(square * (1.0 + 1e-6));
    }

    /// Posts which particle of the group a target is.
    __device__ __forceinline__ void post(const Group<M> &g, u32 place, u32 k, u32 exchange) const {
        u32 i = g.group * g.own + k;
        store_word(row(g, exchange, g.group, place), word_of(i, __float_as_uint((float)g.call.mass[i]), exchange, exchange));
    }

    /// Returns the upper bound of the sum of m/r^3 of all others with which the group's source j and target i form a pair.
    __device__ __forceinline__ double largest_field_of(const Group<M> &g, const Body<M> &target, u32 i, u32 j, u64 now, u64 moment) const {
        double pos[3], vel[3];
        // Targets stand where they will be corrected from, and others where the host predicts them to be.
        if (g.level[j] >= shallowest_level(moment)) {
            Body<M> source;
            read(g.bodies + j * UNITS<M>, source);
#pragma unroll
            for (int c = 0; c < 3; ++c) pos[c] = position(source, c), vel[c] = (double)source.vel[c];
        } else g.predict(j, g.since(now, moment, j), pos, vel);
#pragma unroll
        for (int c = 0; c < 3; ++c) pos[c] -= position(target, c), vel[c] -= (double)target.vel[c];
        u32 other = g.group * g.own + j;
        double mass = g.call.mass[i] + g.call.mass[other];
        return largest_field(call, pos, vel, mass, call.compound[other], UNCERTAIN, 2.0 * call.speed);
    }

    static __device__ __forceinline__ double position(const Body<M> &body, int c) {
        return M::SPLIT ? (double)body.pos[c] + (double)body.low[c] : (double)body.pos[c];
    }

    /// Weighs the group's sources at its share of the targets: a warp at some of them, whose lanes share the sources.
    __device__ __forceinline__ void weigh(const Group<M> &g, const Agreed &agreed, u64 now, u64 moment) const {
        u32 all = agreed.before[MAX_BLOCKS], replicas = g.call.replicas, width = 1;
        u32 targets = all > g.replica ? (all - g.replica + replicas - 1) / replicas : 0;
        while (width < 32 && width * STEP_WARPS < targets) width *= 2;
        for (u32 first = g.warp * width; first < targets; first += STEP_WARPS * width) {
            u32 x = first + g.lane % width, k = x * replicas + g.replica;
            bool there = x < targets;
            u32 group = there ? group_of(agreed, k) : 0, place = there ? k - agreed.before[group] : 0;
            const uint4 *from = row(g, g.exchange, group, place);
            ulonglong2 word = load_word(from);
            Body<M> target = Record<M>::load(g.record(g.exchange & 1, group, place), g.exchange, there);
            auto arrived = [&] { return !there || (is_of(word, g.exchange) && (u32)word.y == g.exchange); };
            if (__any_sync(~0u, !arrived()))
                wait_until([&] {
                    word = load_word(from);
                    return arrived();
                });
            u32 i = (u32)word.x, own = group == g.group ? i - g.group * g.own : ~0u;
            float mass = __uint_as_float((u32)(word.x >> 32));
            Weighed found = {0.0f, 0.0f, 0.0f, ~0u};
            bool is_shifted = false;
            for (u32 j = g.lane / width; j < g.filled; j += 32 / width) {
                Body<M> source;
                read(g.bodies + j * UNITS<M>, source);
                float r[3];
#pragma unroll
                for (int c = 0; c < 3; ++c) {
                    r[c] = (float)(source.pos[c] - target.pos[c]);
                    if (M::SPLIT) r[c] += (float)(source.low[c] - target.low[c]);
                }
                float square = fmaxf(fmaf(r[2], r[2], fmaf(r[1], r[1], r[0] * r[0])), LEAST_SQUARE);
                float weight = j == own ? 0.0f : (float)source.mass * __powf(square, -1.5f);
                if (shifts(g) && weight > 0.0f)
                    is_shifted |= call.shifts[(size_t)blockIdx.x * g.own + j] > square * (float)(MAX_CHANGE * MAX_CHANGE);
                found.add(weight, j);
            }
            // More than a correction may change: the host looks, as at a weight that is not known.
            if (is_shifted) found.best = 2.0f * MAX_WEIGHT;
            found.add_over_warp(width);
            if (!there || g.lane >= width) continue;
            // No pair forms in a larger sum, whose strongest source has that weight.
            float most = 0.52f * (float)fmax(call.forms, call.joins) * (mass / call.lightest + 1.0f);
            double limit = 0.0;
            if (found.best > 0.0f && found.rest <= most * found.best) {
                limit = largest_field_of(g, target, i, found.source, now, moment);
                if (found.second >= found.best * TIE_OF_WEIGHTS) limit = fmax(limit, (double)(most * found.second));
            }
            store_word(weighed(g, g.group, k), word_of(__float_as_uint(found.best), __float_as_uint(found.rest),
                                                       __float_as_uint((float)limit), g.exchange));
        }
    }

    /// Waits for what all groups have at `count` of the group's targets from number `first_target` on.
    __device__ __forceinline__ void collect(const Group<M> &g, u32 first_target, u32 count, Verdict (&verdict)[CORRECTED]) const {
        // The last warps begin: the first ones wait for the forces.
        for (u32 x = STEP_WARPS - 1 - g.warp; x < count; x += STEP_WARPS) {
            ulonglong2 word[MAX_BLOCKS / 32];
            wait_until([&] {
                bool arrived = true;
#pragma unroll
                for (u32 h = 0; h < MAX_BLOCKS / 32; ++h) {
                    u32 group = 32 * h + g.lane;
                    if (group < g.call.groups) word[h] = load_word(weighed(g, group, first_target + x));
                }
#pragma unroll
                for (u32 h = 0; h < MAX_BLOCKS / 32; ++h) arrived &= 32 * h + g.lane >= g.call.groups || is_of(word[h], g.exchange);
                return arrived;
            });
            auto part = [&](u64 bits) { return __uint_as_float((u32)bits); };
            Weighed all = {0.0f, 0.0f, 0.0f, ~0u};
#pragma unroll
            for (u32 h = 0; h < MAX_BLOCKS / 32; ++h)
                if (32 * h + g.lane < g.call.groups) all.add(Weighed{part(word[h].x), 0.0f, part(word[h].x >> 32), 32 * h + g.lane});
            all.add_over_warp(1);
            float limit = 0.0f;
#pragma unroll
            for (u32 h = 0; h < MAX_BLOCKS / 32; ++h)
                if (32 * h + g.lane < g.call.groups && part(word[h].x) >= all.best * TIE_OF_WEIGHTS) limit = fmaxf(limit, part(word[h].y));
            bool may = __any_sync(~0u, all.rest * BELOW_WEIGHTS <= limit);
            bool is_known = all.best > MIN_WEIGHT && all.best < MAX_WEIGHT && all.rest > 0.0f;
            if (g.lane == 0) verdict[x] = {is_known ? all.best : 0.0f, may};
        }
    }

    /// Returns true if the host need not look after the step at particle k of the group, a target that is corrected by now. `weighs`:
    /// with what was weighed.
    __device__ __forceinline__ bool is_settled(const Group<M> &g, u32 k, u64 moment, bool weighs, const Verdict &verdict) const {
        u32 level = g.level_of(k);
        bool is_due = time_of(moment, level - min(level, call.log2_steps)) == moment;
        if (!weighs) return !is_due;
        // Of the nearest particle that there may be.
        double distance = (double)__powf(verdict.best / call.lightest, -1.0f / 3.0f) * MAX_CHANGE, largest = 0.0, pos2 = 0.0, vel2 = 0.0;
        Body<M> body;
        read(g.bodies + k * UNITS<M>, body);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            double x = g.at(c, k) - position(body, c), v = g.at(3 + c, k) - (double)body.vel[c];
            largest = fmax(largest, fabs(g.at(c, k)));
            pos2 += x * x, vel2 += v * v;
        }
        // What is rounded of positions in the weights.
        double rounding = sizeof(typename M::Real) == 8 || M::SPLIT ? 1e-12 : 1e-7;
        bool is_near = verdict.best > 0.0f && pos2 <= distance * distance && vel2 <= call.speed * call.speed && rounding * largest <= distance;
        return is_near && !(is_due && verdict.may);
    }
};
#endif
