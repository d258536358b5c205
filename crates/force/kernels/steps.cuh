// Whole block steps of the Hermite schemes by thread blocks that stay on the device: scheduler, prediction, forces,
// corrector, step criterion. The bits are those of the same steps taken by the host (src/integrator/hermite.rs).
//
// The sources are divided into `groups` of whole bags. A thread block holds one group in shared memory, and sums the
// forces of its sources on the targets k with k mod replicas = its replica. The replicas of a group correct its
// particles alike, so that nothing passes between them. In each step every thread block posts a header (the deepest
// level and the number of due particles of its group, which give all the same next moment) and, as the first replica,
// the predicted targets of its group; it sums their forces over its bags, posts these nodes of the canonical tree, and
// corrects its own due particles with the nodes of all groups. A header of the next step is posted only after all reads
// of this one: thus two buffers for headers and targets suffice, and one for nodes. With several evaluations a step,
// P(EC)^n, the headers and the corrected targets are posted anew before each.
//
// Several devices do all of this alike, but sum the forces on large blocks each for its part of the targets, those k with
// k mod devices = its number, and send them, complete, to the mailboxes of the others. Each tells the others to which
// exchange it has come: nothing in a mailbox is written over before it was read.
#pragma once
#include "bag.cuh"
#include "exchange.cuh"
#include "members.cuh"

/// Number of threads and warps of a thread block.
constexpr u32 STEP_THREADS = 512, STEP_WARPS = STEP_THREADS / 32;
/// Largest number of thread blocks, of headers.
constexpr u32 MAX_BLOCKS = 128;
/// Distance of the rows of a warp's scratch in shared memory.
constexpr u32 ROW = BAG + 4;
/// Number of a warp's rows: distance, derivative, potential and factor of a pair.
constexpr u32 ROWS = 8;
/// Number of targets that are corrected at a time.
constexpr u32 CORRECTED = 64;
/// Largest number of devices that take steps together.
constexpr u32 MAX_DEVICES = 8;

/// Argument of the kernels. Mirrored by `StepsCall` in src/force/cuda/steps/resident_memory.rs; both must be changed together.
struct Steps {
    // Sources at their own times: as in `Call`.
    double *held;
    u64 *ticks;
    const double *mass;
    // Potentials and levels, as the last step of each left them.
    double *pot;
    unsigned char *level;
    // [2][thread block]
    u64 *headers;
    // [2][group][place in it][word]
    uint4 *targets;
    // [part][target][sum]; a part is a group, or a bag where bags are added in order.
    uint4 *nodes;
    // Moment, steps, particle steps, reason, number of the last exchange; then the clamped steps of each group.
    u64 *report;
    // What a scheme keeps besides: columns of `slots` numbers (see `History`), and of each thread block a copy of
    // those of its group, with which it works.
    double *history, *working_history;
    // Of each device the mailbox: for each device the last exchange that it has come to, then [2][target][8] words.
    u64 *mail[MAX_DEVICES];
    u64 now, until, max;
    double tick, dt_max, eps2, nu;
    Noise noise;
    // Limits within which a force needs no closer look: coordinate, speed, smallest and largest acceleration.
    double coordinate, speed, min_acc, max_acc;
    u32 sources, slots;
    u32 bags, groups, replicas, tile;
    u32 exchange, floor, clamps, cooperates;
    // Number of evaluations and corrections a step; number of earlier points of a multi-point scheme, whose eta is `nu`,
    // and flag of its criterion.
    u32 iterations, points, third;
    // Devices that take the steps, number of this one, and number of targets from which they share a block; 2^32 over the
    // number of devices, rounded up.
    u32 devices, device, share_from, inverse;
    // Flag of a corrector that keeps low parts.
    u32 compensated;
};

/// Mode whose steps several devices take together.
template <class M> struct Together : M {};
template <class M> constexpr bool IS_TOGETHER = false;
template <class M> constexpr bool IS_TOGETHER<Together<M>> = true;

template <class M> __device__ __forceinline__ typename M::Real eps2_of(const Steps &call) {
    return (typename M::Real)call.eps2;
}

/// Predicted target as words.
template <class M> struct Record {
    using R = typename M::Real;
    static constexpr int WORDS = sizeof(R) == 8 ? 4 : M::SPLIT ? 3 : 2;

    static __device__ __forceinline__ void store(uint4 *to, const Body<M> &body, u32 exchange) {
        u32 raw[3 * WORDS];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            if constexpr (sizeof(R) == 8) {
                raw[2 * k] = (u32)__double2loint(body.pos[k]), raw[2 * k + 1] = (u32)__double2hiint(body.pos[k]);
                raw[6 + 2 * k] = (u32)__double2loint(body.vel[k]), raw[7 + 2 * k] = (u32)__double2hiint(body.vel[k]);
            } else {
                raw[k] = __float_as_uint(body.pos[k]);
                raw[3 + k] = __float_as_uint(body.vel[k]);
                if constexpr (M::SPLIT) raw[6 + k] = __float_as_uint(body.low[k]);
            }
        }
#pragma unroll
        for (int w = 0; w < WORDS; ++w) store_word(to + w, word_of(raw[3 * w], raw[3 * w + 1], raw[3 * w + 2], exchange));
    }

    /// Waits for the target of each lane that `wants` one, with the whole warp together.
    static __device__ __forceinline__ Body<M> load(const uint4 *from, u32 exchange, bool wants) {
        ulonglong2 word[WORDS] = {};
        wait_until([&] {
            bool arrived = true;
            if (wants) {
#pragma unroll
                for (int w = 0; w < WORDS; ++w) word[w] = load_word(from + w);
#pragma unroll
                for (int w = 0; w < WORDS; ++w) arrived &= is_of(word[w], exchange);
            }
            return arrived;
        });
        auto raw = [&](int k) {
            u64 half = k % 3 == 2 ? word[k / 3].y : word[k / 3].x;
            return (u32)(k % 3 == 1 ? half >> 32 : half);
        };
        Body<M> body{};
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            if constexpr (sizeof(R) == 8) {
                body.pos[k] = __hiloint2double((int)raw(2 * k + 1), (int)raw(2 * k));
                body.vel[k] = __hiloint2double((int)raw(7 + 2 * k), (int)raw(6 + 2 * k));
            } else {
                body.pos[k] = __uint_as_float(raw(k));
                body.vel[k] = __uint_as_float(raw(3 + k));
                if constexpr (M::SPLIT) body.low[k] = __uint_as_float(raw(6 + k));
            }
        }
        return body;
    }
};

/// One group of sources on one thread block.
template <class M> struct Group : Members<Steps> {
    using R = typename M::Real;
    using Node = typename M::Node;
    static constexpr bool TREE = M::ORDER == Order::Tree;
    static constexpr bool RUNNING = M::ORDER == Order::Running;

    // Arrays in shared memory, in this order: `shared_bytes` in src/force/cuda/shapes/step_shape.rs.
    // The state, of `Members`;
    float4 *bodies;       // [own], in units
    float4 *target;       // [tile], in units
    Node *node;           // [bag][tile][sum], where a thread block adds bags
    R *scratch;           // [warp][ROWS][ROW], where warps cooperate
    R *mass;              // [own]
    u32 *target_own;      // [tile]
    unsigned short *due;  // [own]: places of the due particles
    // and the levels, of `Members`.
    u32 filled, group, replica, thread, lane, warp;
    History history;
    // Number of the present exchange.
    u32 exchange;
    // Flag that the devices share the targets of the present step.
    bool shared;

    __device__ __forceinline__ Group(const Steps &call, float4 *room) : Members(call, call.bags * BAG) {
        group = blockIdx.x % call.groups;
        replica = blockIdx.x / call.groups;
        thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
        exchange = call.exchange;
        shared = false;
        u32 before = group * own;
        filled = before < call.sources ? min(own, call.sources - before) : 0;
        state = reinterpret_cast<double *>(room);
        bodies = reinterpret_cast<float4 *>(state + COLUMNS * own);
        target = bodies + own * UNITS<M>;
        node = reinterpret_cast<Node *>(target + call.tile * UNITS<M>);
        scratch = reinterpret_cast<R *>(node + (adds_bags() ? call.bags * call.tile * SUMS : 0));
        mass = scratch + (call.cooperates ? STEP_WARPS * ROWS * ROW : 0);
        target_own = reinterpret_cast<u32 *>(mass + own);
        due = reinterpret_cast<unsigned short *>(target_own + call.tile);
        level = reinterpret_cast<unsigned char *>(due + own);
        history = {nullptr, own, call.points, call.compensated};
        history.columns = call.working_history + (size_t)blockIdx.x * history.columns_in_all() * own;
    }

    /// Returns true if the thread block adds the nodes of its bags.
    __device__ __forceinline__ bool adds_bags() const { return TREE && call.bags > 1; }

    /// Returns the number of parts of a sum: of groups, or of bags.
    __device__ __forceinline__ u32 parts() const {
        return M::ORDER == Order::InOrder ? (call.sources + BAG - 1) / BAG : call.groups;
    }

    __device__ __forceinline__ void load() {
        for (u32 k = thread; k < own; k += STEP_THREADS) {
            u32 i = group * own + k;
            bool there = i < call.slots;
#pragma unroll
            for (int c = 0; c < 12; ++c)
                state[c * own + k] = there ? call.held[(size_t)c * call.slots + i] : c < 3 ? NOWHERE<M> : 0.0;
            state[12 * own + k] = there ? call.pot[i] : 0.0;
            mass[k] = there ? (R)call.mass[i] : R(0);
            level[k] = k < filled ? call.level[i] : 0;
            for (u32 c = 0; k < filled && c < history.columns_in_all(); ++c)
                history.at(c, k) = call.history[(size_t)c * call.slots + i];
        }
    }

    __device__ __forceinline__ void save(u64 now) const {
        for (u32 k = thread; k < filled; k += STEP_THREADS) {
            u32 i = group * own + k;
#pragma unroll
            for (int c = 0; c < 12; ++c) call.held[(size_t)c * call.slots + i] = state[c * own + k];
            call.pot[i] = state[12 * own + k];
            call.level[i] = level[k];
            call.ticks[i] = time_of(now, level[k]);
            for (u32 c = 0; c < history.columns_in_all(); ++c) call.history[(size_t)c * call.slots + i] = history.at(c, k);
        }
    }

    /// Returns true if a multi-point scheme predicts particle k by its derivatives: every one, or where these are too noisy,
    /// those that are `due`.
    __device__ __forceinline__ bool by_derivatives(u32 k, bool due) const {
        return call.points > 0 && (due || (BY_DERIVATIVES<M> && k < filled));
    }

    /// Predicts particle k as a source, and returns it. `further`: by the derivatives of a multi-point scheme too.
    __device__ __forceinline__ Body<M> place(u32 k, u64 now, u64 moment, bool further) {
        double pos[3], vel[3], dt = since(now, moment, k);
        if (further) predict_target(*this, history, k, dt, pos, vel);
        else predict(k, dt, pos, vel);
        return place_at(k, pos, vel);
    }

    /// Places particle k as a source, and returns it.
    __device__ __forceinline__ Body<M> place_at(u32 k, const double (&pos)[3], const double (&vel)[3]) {
        Body<M> body = Body<M>::of(pos, vel, 0.0);
        body.mass = mass[k];
        write_body(bodies + k * UNITS<M>, body);
        return body;
    }

    __device__ __forceinline__ u32 deepest() const {
        u32 found = 0;
        for (u32 k = 4 * lane; k < own; k += 128) found = __vmaxu4(found, *reinterpret_cast<const u32 *>(level + k));
        found = __reduce_max_sync(~0u, max(max(found & 0xff, found >> 8 & 0xff), max(found >> 16 & 0xff, found >> 24)));
        return found;
    }

    /// Returns which of the 32 particles from k on are due at a moment of a shallowest level.
    __device__ __forceinline__ u32 due_among(u32 k, u32 shallowest) const {
        return __ballot_sync(~0u, k + lane < filled && level[k + lane] >= shallowest);
    }

    __device__ __forceinline__ uint4 *record(u32 parity, u32 of_group, u32 k) const {
        return call.targets + (((size_t)parity * call.groups + of_group) * own + k) * Record<M>::WORDS;
    }

    /// Returns the number by which target k of the thread block's share is posted: that among the targets of this device.
    __device__ __forceinline__ u32 posted_as(u32 k) const { return k * call.replicas + replica; }

    __device__ __forceinline__ uint4 *posted(u32 part, u32 k) const {
        // Blocks are at most all particles.
        return call.nodes + ((size_t)part * call.slots + k) * SUMS;
    }

    /// Returns how many devices share the targets, and the number of this one among them.
    __device__ __forceinline__ u32 devices() const { return IS_TOGETHER<M> && shared ? call.devices : 1; }
    __device__ __forceinline__ u32 device() const { return IS_TOGETHER<M> && shared ? call.device : 0; }

    /// Returns the device whose number is so much after that of this one, by turns.
    __device__ __forceinline__ u32 after(u32 turn) const {
        return call.device + turn < call.devices ? call.device + turn : call.device + turn - call.devices;
    }
    /// Returns a number, below 2^28, over that of the devices, of which there are several, rounded down.
    __device__ __forceinline__ u32 shared_out(u32 number) const { return __umulhi(number, call.inverse); }

    /// Returns how many thread blocks share the targets with the group's sources, and the number of this one among them.
    __device__ __forceinline__ u32 shares() const { return call.replicas * devices(); }
    __device__ __forceinline__ u32 share() const { return replica * devices() + device(); }

    /// Returns where the force on target k is sent to a device.
    __device__ __forceinline__ ulonglong2 *mailed(u32 to, u32 k) const {
        return reinterpret_cast<ulonglong2 *>(call.mail[to] + 2 * MAX_DEVICES) + ((size_t)(exchange & 1) * call.slots + k) * 8;
    }

    /// Sums the running sum of a bag for one target with the whole warp: its lanes compute the terms, and one lane for
    /// each sum adds them in order.
    __device__ __forceinline__ void add_bag_by_lanes(u32 bag, const Body<M> &target, u32 target_own,
                                                     R (&sum)[M::PARTS]) const {
        R *rows = scratch + warp * ROWS * ROW;
        const float4 *units = bodies + bag * BAG * UNITS<M>;
        u32 first = group * own + bag * BAG, absent = target_own - first;
        u32 present = call.sources - min(call.sources, first);
        R eps2 = eps2_of<M>(call);
#pragma unroll
        for (u32 h = 0; h < 2; ++h) {
            u32 t = 32 * h + lane;
            Body<M> source;
            read(units + t * UNITS<M>, source);
            R r[3];
            bool odd = false;
            Pair<R> term = pair_of<M, true>(source, target, eps2, t == absent, r, odd);
            if (__any_sync(~0u, odd)) term = pair_of<M, false>(source, target, eps2, t == absent, r, odd);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                rows[c * ROW + t] = r[c];
                rows[(3 + c) * ROW + t] = term.d[c];
            }
            rows[6 * ROW + t] = term.m_s;
            rows[7 * ROW + t] = term.m_s3;
        }
        __syncwarp();
        u32 s = min(lane, (u32)SUMS - 1);
        const R *terms = rows + s * ROW, *factors = rows + 7 * ROW;
#pragma unroll 16
        for (u32 t = 0; t < BAG; ++t) {
            if (M::ZERO_COUNTS && (t == absent || t >= present)) continue;
            // The potential is subtracted: a product with -1 has the same bits.
            M::add_product(sum, s == SUMS - 1 ? R(-1) : factors[t], terms[t]);
        }
        __syncwarp();
    }
};
