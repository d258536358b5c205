// The loop over block steps of steps.cuh.
#pragma once
#include "steps.cuh"
#include "reduce.cuh"

// Loads of 16 bytes as one, and reductions over a warp, came with the A100.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Sums the forces of the group's sources on a tile of targets in shared memory, T of them a lane, and stores a node for
/// each bag. A warp takes a bag and 32 T targets; for fewer targets its lanes take more bags.
template <class M, int T> __device__ __forceinline__ void sum_tile(const Group<M> &g, u32 targets, u32 first_target) {
    constexpr int HELD = T > 1 ? 4 : 4;
    u32 width = 32;
    if (T == 1) {
        while (width > 1 && width / 2 >= targets) width /= 2;
        if (width * g.call.bags < 32) width = 32 / g.call.bags;
    }
    u32 bags_at_once = 32 / width, chunks = (targets + width * T - 1) / (width * T);
    u32 bag_steps = g.call.bags / bags_at_once;
    if (Group<M>::RUNNING) width = 32, bags_at_once = bag_steps = 1, chunks = (targets + 32 * T - 1) / (32 * T);
    for (u32 task = g.warp; task < chunks * bag_steps; task += STEP_WARPS) {
        u32 chunk = task / bag_steps, bag = task % bag_steps * bags_at_once + g.lane / width;
        Body<M> target[T];
        u32 own[T], place[T];
        Sums<M> sums[T];
#pragma unroll
        for (int j = 0; j < T; ++j) {
            place[j] = chunk * width * T + j * width + g.lane % width;
            u32 k = min(place[j], targets - 1);
            read(g.target + k * UNITS<M>, target[j]);
            own[j] = g.target_own[k];
            sums[j].clear();
        }
        u32 bags = Group<M>::RUNNING ? g.call.bags : 1;
        for (u32 b = 0; b < bags; ++b)
            add_bag<M, T, HELD>(g.call, g.bodies + (bag + b) * BAG * UNITS<M>, g.group * g.call.bags + bag + b, target, own, sums);
#pragma unroll
        for (int j = 0; j < T; ++j) {
            if (place[j] >= targets) continue;
            if (g.adds_bags()) {
#pragma unroll
                for (int s = 0; s < SUMS; ++s) g.node[(bag * g.call.tile + place[j]) * SUMS + s] = sums[j].node(s);
            } else {
                u32 k = g.posted_as(first_target + place[j]);
                u32 part = M::ORDER == Order::InOrder ? g.group * g.call.bags + bag : g.group;
                if (part >= g.parts()) continue;
#pragma unroll
                for (int s = 0; s < SUMS; ++s) store_word(g.posted(part, k) + s, word_of(sums[j].node(s), g.exchange));
            }
        }
    }
}

/// Returns the aligned tree over the nodes of a target's bags.
template <int BAGS, class N> __device__ __forceinline__ N over_bags(const N *node, u32 stride) {
    if constexpr (BAGS == 1) return node[0];
    else return plus(over_bags<BAGS / 2>(node, stride), over_bags<BAGS / 2>(node + BAGS / 2 * stride, stride));
}

template <class N> __device__ __forceinline__ N over_bags(const N *node, u32 stride, u32 bags) {
    switch (bags) {
    case 1: return over_bags<1>(node, stride);
    case 2: return over_bags<2>(node, stride);
    case 4: return over_bags<4>(node, stride);
    case 8: return over_bags<8>(node, stride);
    default: return over_bags<16>(node, stride);
    }
}

/// What the headers of a step say.
struct Agreed {
    u64 moment;
    u32 deepest, refused;
    /// Flag that the devices share the targets.
    bool shared;
    /// Number of targets in the groups before each, and in all.
    u32 before[MAX_BLOCKS + 1];
};

/// Waits for the headers of all thread blocks, with one warp, four headers a lane.
template <bool TOGETHER>
__device__ __forceinline__ void agree(const Steps &call, u32 lane, u32 exchange, u64 now, Agreed &agreed) {
    const u64 *headers = call.headers + (exchange & 1) * MAX_BLOCKS;
    u32 blocks = call.groups * call.replicas;
    u64 header[4], come_to = ~0ull;
    bool other = TOGETHER && lane < call.devices && lane != call.device;
    wait_until([&] {
        bool arrived = true;
        if (other) come_to = sent_number(call.mail[call.device] + lane);
#pragma unroll
        for (u32 h = 0; h < 4; h += 2) {
            ulonglong2 two = load_word(reinterpret_cast<const uint4 *>(headers + 4 * lane + h));
            header[h] = two.x, header[h + 1] = two.y;
        }
#pragma unroll
        for (u32 h = 0; h < 4; ++h) arrived &= 4 * lane + h >= blocks || (u32)(header[h] >> 32) == exchange;
        return arrived;
    });
    u32 deepest = 0, refused = 0, count[4], mine = 0;
#pragma unroll
    for (u32 h = 0; h < 4; ++h) {
        if (4 * lane + h >= blocks) header[h] = 0;
        deepest = max(deepest, (u32)header[h] & 0xff);
        refused |= (u32)header[h] >> 8 & 0xff;
    }
    deepest = __reduce_max_sync(~0u, deepest);
    refused = __reduce_or_sync(~0u, refused);
    u64 moment = next_moment(now, deepest);
#pragma unroll
    for (u32 h = 0; h < 4; ++h) {
        bool due = 4 * lane + h < call.groups && next_moment(now, (u32)header[h] & 0xff) == moment;
        count[h] = due ? (u32)header[h] >> 16 & 0xffff : 0;
        mine += count[h];
    }
    u32 before = mine;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        u32 left = __shfl_up_sync(~0u, before, step);
        if (lane >= step) before += left;
    }
    before -= mine;
#pragma unroll
    for (u32 h = 0; h < 4; ++h) {
        agreed.before[4 * lane + h] = before;
        before += count[h];
    }
    if (lane == 31) agreed.before[MAX_BLOCKS] = before;
    if (lane == 0) agreed.moment = moment, agreed.deepest = deepest, agreed.refused = refused;
    if (!TOGETHER) return;
    bool shared = __shfl_sync(~0u, before, 31) >= call.share_from;
    if (lane == 0) agreed.shared = shared;
    // All thread blocks here have read what was sent for the last exchange.
    if (other && blockIdx.x == 0) send_number(call.mail[lane] + call.device, exchange);
    // What is sent for this one takes the place of what was sent for the last but one.
    if (shared && __any_sync(~0u, come_to < exchange - 1)) {
        wait_until([&] {
            if (other) come_to = sent_number(call.mail[call.device] + lane);
            return come_to >= exchange - 1;
        });
    }
}

/// Returns the group of target k.
__device__ __forceinline__ u32 group_of(const Agreed &agreed, u32 k) {
    u32 found = 0;
#pragma unroll
    for (u32 step = MAX_BLOCKS / 2; step > 0; step /= 2)
        if (agreed.before[found + step] <= k) found += step;
    return found;
}

/// Returns target k, and its index if it is of the group, with the whole warp together; nothing where k is beyond the
/// last.
template <class M>
__device__ __forceinline__ Body<M> target_of(const Group<M> &g, const Agreed &agreed, u32 k, u32 &own) {
    bool there = k < agreed.before[MAX_BLOCKS];
    u32 group = there ? group_of(agreed, k) : 0, place = there ? k - agreed.before[group] : 0;
    own = there && group == g.group ? g.group * g.own + g.due[place] : ~0u;
    return Record<M>::load(g.record(g.exchange & 1, group, place), g.exchange, there);
}

/// Sums the forces of the group's sources on its share of the targets, and posts the nodes.
template <class M> __device__ __forceinline__ void sum_forces(const Group<M> &g, const Agreed &agreed) {
    using R = typename M::Real;
    const Steps &call = g.call;
    u32 all = agreed.before[MAX_BLOCKS];
    u32 shares = g.shares(), share = g.share(), targets = all > share ? (all - share + shares - 1) / shares : 0;
    // Adds the nodes of the bags and posts the sums, with the first `threads` threads.
    auto add_and_post = [&](u32 first, u32 count, u32 threads) {
        for (u32 x = g.thread; x < 8 * count; x += threads) {
            u32 s = x % 8, k = x / 8;
            if (s == SUMS) continue;
            auto node = over_bags(g.node + k * SUMS + s, call.tile * SUMS, call.bags);
            store_word(g.posted(g.group, g.posted_as(first + k)) + s, word_of(node, g.exchange));
        }
    };
    u32 bags = Group<M>::RUNNING ? 1 : call.bags;
    if (call.cooperates && targets * bags <= call.cooperates) {
        for (u32 task = g.warp; task < targets * bags; task += STEP_WARPS) {
            u32 x = task / bags, bag = task % bags, k = x * shares + share, own;
            Body<M> target = target_of(g, agreed, k, own);
            R sum[M::PARTS] = {};
            for (u32 b = bag; b < (Group<M>::RUNNING ? call.bags : bag + 1); ++b) g.add_bag_by_lanes(b, target, own, sum);
            auto node = M::node(sum);
            u32 part = M::ORDER == Order::InOrder ? g.group * call.bags + bag : g.group;
            if (g.lane < SUMS && part < g.parts()) {
                if (g.adds_bags()) g.node[(bag * call.tile + x) * SUMS + g.lane] = node;
                else store_word(g.posted(part, g.posted_as(x)) + g.lane, word_of(node, g.exchange));
            }
            __syncwarp();
        }
        if (!g.adds_bags()) return;
        __syncthreads();
        add_and_post(0, targets, STEP_THREADS);
        return;
    }
    // Brings the targets of a tile, with the warps from number `warp` on.
    auto bring = [&](u32 first, u32 warp) {
        u32 count = min(call.tile, targets - first);
        for (u32 x = g.thread - 32 * warp; x - g.lane < count; x += STEP_THREADS - 32 * warp) {
            u32 own;
            Body<M> target = target_of(g, agreed, x < count ? (first + x) * shares + share : ~0u, own);
            if (x < count) {
                write_body(g.target + x * UNITS<M>, target);
                g.target_own[x] = own;
            }
        }
    };
    if (targets > 0) bring(0, 0);
    for (u32 first = 0, next; first < targets; first = next) {
        u32 count = min(call.tile, targets - first);
        __syncthreads();
        if (sizeof(R) == 4 && count >= 64) sum_tile<M, 2>(g, count, first);
        else sum_tile<M, 1>(g, count, first);
        __syncthreads();
        next = first + call.tile;
        // While half of the warps post, the others wait for the next targets.
        u32 posting = !g.adds_bags() ? 0 : next < targets ? STEP_WARPS / 2 : STEP_WARPS;
        if (g.warp < posting) add_and_post(first, count, 32 * posting);
        else if (next < targets) bring(next, posting);
    }
}

/// Waits for the nodes of target k, as it was posted, from `parts` parts, and adds them with a warp: sum number `lane % 8`
/// to the lanes below 8. In order, each eight lanes add those of a target of their own.
template <class M>
__device__ __forceinline__ typename M::Node gather(const Group<M> &g, u32 k, u32 first_part, u32 parts) {
    using Node = typename M::Node;
    // More at once would need more registers than there are.
    constexpr u32 AT_ONCE = 8;
    u32 s = g.lane % 8, part = g.lane / 8;
    bool reads = s < SUMS;
    s = min(s, (u32)SUMS - 1);
    auto fetch = [&](u32 first, u32 count, Node (&node)[AT_ONCE], u32 of) {
        wait_until([&] {
            ulonglong2 word[AT_ONCE];
            bool arrived = true;
#pragma unroll
            for (u32 p = 0; p < AT_ONCE; ++p)
                if (p < count) word[p] = load_word(g.posted(first_part + first + p, of) + s);
#pragma unroll
            for (u32 p = 0; p < AT_ONCE; ++p) {
                node[p] = zero<Node>();
                if (p < count) arrived &= has_node(word[p], g.exchange, node[p]);
            }
            return arrived;
        });
    };
    Node node[AT_ONCE], total = zero<Node>();
    if (M::ORDER == Order::InOrder) {
        for (u32 first = 0; first < parts; first += AT_ONCE) {
            u32 count = min(AT_ONCE, parts - first);
            fetch(first, reads ? count : 0, node, k);
#pragma unroll
            for (u32 p = 0; p < AT_ONCE; ++p)
                if (p < count) total = plus(total, node[p]);
        }
        return total;
    }
    // Of the parts, a power of two and at most MAX_BLOCKS, each eight lanes take a quarter.
    u32 share = max(parts / 4, 1u);
    Node pair = zero<Node>(), half = zero<Node>();
    for (u32 first = 0; first < share; first += AT_ONCE) {
        u32 count = part * share < parts ? min(AT_ONCE, share - first) : 0;
        fetch(part * share + first, reads ? count : 0, node, k);
        Node sum = pairwise<AT_ONCE>(node);
        // The aligned tree over up to four of these sums.
        bool odd = first & AT_ONCE;
        pair = odd ? plus(pair, sum) : sum;
        total = first & 2 * AT_ONCE ? plus(half, pair) : pair;
        half = odd ? total : half;
    }
    total = plus(total, from_lane(total, 8));
    return plus(total, from_lane(total, 16));
}

/// Waits, with the whole warp together, for sum number `lane % 8` of the force on target k from another device.
template <class M> __device__ __forceinline__ double receive(const Group<M> &g, u32 k) {
    const ulonglong2 *from = g.mailed(g.call.device, k) + min(g.lane % 8, (u32)SUMS - 1);
    double sum;
    wait_until([&] { return has_number(sent_words(from), g.exchange, sum); });
    return sum;
}

/// Brings the forces on `count` of the group's targets from number `first_target` on to `force`: those of this device from
/// the nodes, and on to the other devices; then those that the others send.
template <class M>
__device__ __forceinline__ void collect(const Group<M> &g, u32 first_target, u32 count, double (&force)[CORRECTED][8],
                                        typename M::Node (&piece)[STEP_WARPS][8]) {
    using Node = typename M::Node;
    u32 devices = g.devices();
    // Returns the place of the first target of a device, and how many it has.
    auto dealt = [&](u32 turn, u32 &those) {
        those = count;
        if (devices == 1) return 0u;
        u32 device = g.after(turn), before = first_target - g.shared_out(first_target) * devices;
        u32 first = device >= before ? device - before : device + devices - before;
        those = count > first ? g.shared_out(count - first + devices - 1) : 0;
        return first;
    };
    auto keep = [&](u32 place, u32 s, Node node) {
        double sum = value(node) + 0.0;
        force[place][s] = sum;
        if (g.replica > 0 || s == SUMS) return;
        for (u32 turn = 1; turn < devices; ++turn)
            send_words(g.mailed(g.after(turn), first_target + place) + s, words_of(sum, g.exchange));
    };
    auto as_posted = [&](u32 place) { return devices == 1 ? first_target + place : g.shared_out(first_target + place); };
    u32 those, first = dealt(0, those), parts = g.parts();
    if (M::ORDER == Order::InOrder) {
        // Each eight lanes have a target of their own.
        for (u32 x = 4 * g.warp; x < those; x += 4 * STEP_WARPS) {
            u32 mine = min(g.lane / 8, those - 1 - x), place = first + (x + mine) * devices;
            Node node = gather(g, as_posted(place), 0, parts);
            if (mine == g.lane / 8) keep(place, g.lane % 8, node);
        }
    } else {
        // A warp loads 32 parts of a target at a time. Of few targets, several warps take the parts of each.
        u32 shift = 0;
        while (32u << shift < parts && those << (shift + 1) <= STEP_WARPS) ++shift;
        u32 pieces = 1u << shift, in_piece = parts >> shift;
        for (u32 x = g.warp; x < those << shift; x += STEP_WARPS) {
            u32 place = first + (x >> shift) * devices;
            Node node = gather(g, as_posted(place), (x & (pieces - 1)) * in_piece, in_piece);
            if (g.lane >= 8) continue;
            if (pieces == 1) keep(place, g.lane, node);
            else piece[x][g.lane] = node;
        }
        if (pieces > 1) {
            __syncthreads();
            if (g.thread < 8 * those) {
                u32 x = g.thread / 8 << shift, s = g.thread % 8;
                Node node = plus(piece[x][s], piece[x + 1][s]);
                if (pieces > 2) node = plus(node, plus(piece[x + 2][s], piece[x + 3][s]));
                keep(first + g.thread / 8 * devices, s, node);
            }
        }
    }
    for (u32 turn = 1; turn < devices; ++turn) {
        first = dealt(turn, those);
        for (u32 x = 4 * g.warp; x < those; x += 4 * STEP_WARPS) {
            u32 mine = min(g.lane / 8, those - 1 - x), place = first + (x + mine) * devices;
            double sum = receive(g, first_target + place);
            if (mine == g.lane / 8) force[place][g.lane % 8] = sum;
        }
    }
}

/// Corrects particle k, number `place` of the group's due ones, for the next evaluation of the step, and posts it.
/// Returns false if the host has to look at it.
template <class M>
__device__ __forceinline__ bool correct_target(Group<M> &g, u32 k, u32 place, u64 now, u64 moment, const double *force) {
    double pos[3], vel[3], dt = g.since(now, moment, k);
    g.predict(k, dt, pos, vel);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        double snap, crackle;
        correct_component(pos[c], vel[c], g.at(6 + c, k), g.at(9 + c, k), force[c], force[3 + c], dt, snap, crackle);
        if (g.history.compensated) advance_place(g, g.history, c, k, force, dt, pos[c], vel[c]);
    }
    Body<M> body = g.place_at(k, pos, vel);
    u32 next = g.exchange + 1;
    if (g.replica == 0) Record<M>::store(g.record(next & 1, g.group, place), body, next);
    return is_usual(g.call, pos, vel) && is_usual(g.call, force);
}

/// Steps in which nothing is looked for; else `PairSearch` of watched_steps.cuh.
struct NoSearch {
    static constexpr bool LOOKS = false;
    struct Verdict {};
};

/// Bits of what thread blocks tell each other: a target was refused, or the host has to look after the step.
constexpr u32 IS_REFUSED = 1, IS_FOUND = 2;

/// PLAIN: the 4th-order scheme with one evaluation a step, whose loop needs fewer registers. S: what is looked for.
template <class M, bool PLAIN, class S> __device__ __forceinline__ void take_steps(const Steps &call, const S &search) {
    extern __shared__ float4 room[];
    __shared__ Agreed agreed;
    __shared__ double force[CORRECTED][8];
    __shared__ typename M::Node piece[STEP_WARPS][8];
    __shared__ typename S::Verdict verdict[CORRECTED];
    __shared__ u32 refused_here, clamped_here;
    Group<M> g(call, room);
    g.load();
    if (g.thread == 0) refused_here = clamped_here = 0;
    __syncthreads();
    u64 now = call.now, steps = 0, particle_steps = 0;
    u32 clamped = 0, reason;
    for (;;) {
        ++g.exchange;
        u32 deepest = g.deepest(), found = 0, announced = 0;
        u64 next = next_moment(now, deepest);
        u32 shallowest = shallowest_level(next);
        auto announce = [&] {
            if (g.lane == 0)
                store_header(call.headers + (g.exchange & 1) * MAX_BLOCKS + blockIdx.x,
                             (u64)g.exchange << 32 | announced << 16 | refused_here << 8 | deepest);
        };
        if (g.warp == STEP_WARPS - 1) {
            // Others wait for this.
            for (u32 k = 0; k < g.own; k += 32) announced += __popc(g.due_among(k, shallowest));
            announce();
        }
        // The group's next moment is the common one if its particles are due at all.
        for (u32 k = 0; k < g.own; k += 32) {
            u32 due = g.due_among(k, shallowest);
            if (k / 32 % STEP_WARPS == g.warp) {
                bool is_due = due >> g.lane & 1;
                Body<M> body = g.place(k + g.lane, now, next, !PLAIN && g.by_derivatives(k + g.lane, is_due));
                if constexpr (S::LOOKS && !PLAIN) search.store_shift(g, k + g.lane, is_due, body, now, next);
                if (is_due) {
                    u32 place = found + __popc(due & ((1u << g.lane) - 1));
                    g.due[place] = (unsigned short)(k + g.lane);
                    if (g.replica == 0) Record<M>::store(g.record(g.exchange & 1, g.group, place), body, g.exchange);
                    if constexpr (S::LOOKS)
                        if (g.replica == 0) search.post(g, place, k + g.lane, g.exchange);
                }
            }
            found += __popc(due);
        }
        if (g.warp == STEP_WARPS - 1) agree<IS_TOGETHER<M>>(call, g.lane, g.exchange, now, agreed);
        __syncthreads();
        u64 moment = agreed.moment;
        reason = agreed.refused & IS_REFUSED ? REFUSED
                 : agreed.refused            ? FOUND
                 : moment > call.until || steps == call.max || (!call.clamps && agreed.deepest > call.floor) ? DONE : 0;
        if (reason) break;
        ++steps;
        if (IS_TOGETHER<M>) g.shared = agreed.shared;
        particle_steps += agreed.before[MAX_BLOCKS];
        if (moment != next) {
            for (u32 k = g.thread; k < g.own; k += STEP_THREADS) {
                Body<M> body = g.place(k, now, moment, !PLAIN && g.by_derivatives(k, false));
                if constexpr (S::LOOKS && !PLAIN) search.store_shift(g, k, false, body, now, moment);
            }
            __syncthreads();
            found = 0;
        }
        for (u32 iteration = 1;; ++iteration) {
            bool last = PLAIN || iteration >= call.iterations;
            sum_forces(g, agreed);
            // Whose update is due has a shorter step than some other target, or had the same step.
            bool weighs = S::LOOKS && last && agreed.deepest > shallowest_level(moment);
            if constexpr (S::LOOKS)
                if (weighs) search.weigh(g, agreed, now, moment);
            u32 first_target = agreed.before[g.group];
            for (u32 first = 0; first < found; first += CORRECTED) {
                u32 count = min(CORRECTED, found - first);
                collect(g, first_target + first, count, force, piece);
                if constexpr (S::LOOKS)
                    if (weighs && g.replica == 0) search.collect(g, first_target + first, count, verdict);
                __syncthreads();
                if (g.thread < count) {
                    u32 k = g.due[first + g.thread], i = g.group * g.own + k;
                    bool fine;
                    if (!last) fine = correct_target(g, k, first + g.thread, now, moment, force[g.thread]);
                    else if (!PLAIN && call.points > 0) {
                        u32 result = correct_multipoint<Steps>(g, g.history, k, i, now, moment, force[g.thread], nullptr);
                        fine = result & FINE, clamped += result / CLAMPED;
                    } else fine = correct(g, g.history, k, i, now, moment, force[g.thread], clamped);
                    if (!fine) atomicOr(&refused_here, IS_REFUSED);
                    if constexpr (S::LOOKS) {
                        if (!last) {
                            if (g.replica == 0) search.post(g, first + g.thread, k, g.exchange + 1);
                        } else if (g.replica == 0 && !search.is_settled(g, k, moment, weighs, verdict[g.thread])) atomicOr(&refused_here, IS_FOUND);
                    }
                }
                if (first + CORRECTED < found) __syncthreads();
            }
            if (last) break;
            __syncthreads();
            ++g.exchange;
            if (g.warp == STEP_WARPS - 1) {
                announce();
                agree<IS_TOGETHER<M>>(call, g.lane, g.exchange, now, agreed);
            }
            __syncthreads();
        }
        now = moment;
        __syncthreads();
    }
    if (clamped) atomicAdd(&clamped_here, clamped);
    if (reason != REFUSED && g.replica == 0) g.save(now);
    __syncthreads();
    if (g.thread == 0 && g.replica == 0) call.report[5 + g.group] = clamped_here;
    if (g.thread == 0 && blockIdx.x == 0) {
        call.report[0] = now;
        call.report[1] = steps;
        call.report[2] = particle_steps;
        call.report[3] = reason;
        call.report[4] = g.exchange;
    }
}

/// Kernel `name` of mode M.
#define TISANE_STEP_KERNEL(name, M, PLAIN)                                                                             \
    extern "C" __global__ void __launch_bounds__(STEP_THREADS, 1) name(const __grid_constant__ Steps call) {           \
        take_steps<M, PLAIN>(call, NoSearch{});                                                                        \
    }
#endif
