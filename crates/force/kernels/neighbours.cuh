// Irregular and regular forces, and whole block steps, of the neighbour scheme (src/integrator/ahmad_cohen.rs,
// src/force/neighbours.rs). The bits are those of the same steps taken by the host.
//
// A step is
//   near_advance    stores what the last step gave its particles, predicts all sources to the next moment, and lists those
//                   that are due as the targets, and those of them whose regular step ends;
//   near_irregular  the irregular forces on all targets by the lists that they have;
// and, where regular steps end,
//   near_regular    the regular forces on their targets; the neighbours are noted in the order in which they are found,
//   near_reduce     the sums over spans,
//   near_sort       the new lists in ascending order,
//   near_irregular  the irregular forces by these,
//   near_exchange   the derivatives of the pairs that entered or left a list;
//   near_correct    corrects the targets, chooses their next steps, and reports the next moment.
// As in launched_steps.cuh, nothing is stored with the particles before all of it is known to be good. Lists lie in rows of
// equal length, two for each particle, of which `side` tells the one in use.
//
// Several devices share the steps: each sums the forces on the particles that it owns, by lists that it alone has, and corrects all
// targets, with the sums that the others have.
//
// The host's own steps take near_regular, near_reduce, near_sort and near_hand_over, and for large blocks near_predict, near_put and
// near_irregular.
#pragma once
#include "bag.cuh"
#include "launched_steps.cuh"
#include "reduce.cuh"
#include "total.cuh"

/// Number of running sums of an irregular force.
constexpr u32 IRREGULAR_SUMS = 8;
/// Number of numbers of a record: position, velocity, mass.
constexpr u32 RECORD = 8;
/// Distance of the forces in `sums`.
constexpr u32 SUMS_STRIDE = 8;
/// Columns of what the scheme keeps of a particle besides its history: irregular acceleration and jerk; regular
/// acceleration, jerk, potential, second and third derivative; its earlier point: acceleration, jerk, moment; radius.
constexpr u32 KEPT_IRREGULAR = 0, KEPT_REGULAR = 6, KEPT_POT = 12, KEPT_SNAP = 13, KEPT_CRACKLE = 16, KEPT_POINT = 19,
              KEPT_MOMENT = 25, KEPT_RADIUS = 26, KEPT_COLUMNS = 27;
/// Number of numbers of an exchange: four derivatives, and the number of pairs.
constexpr u32 EXCHANGE = 13;
/// Number of threads of a thread block of the kernels but near_regular and near_advance.
constexpr u32 NEAR_THREADS = 256;
/// Largest number of lists that may be too long in a step.
constexpr u32 MAX_CUT = 256;

/// Largest number of devices that share the steps, and number of particles after each other that one owns.
constexpr u32 MAX_SHARERS = 8, OWNED = 32;

/// What the steps count besides `Schedule`.
struct NeighbourSchedule {
    /// Number of pairs evaluated.
    u64 pairs;
    /// Number of regular targets that near_advance has listed, and of those whose lists would be too long.
    u32 listed, cut;
    /// Number of targets that this device owns.
    u32 own;
    /// Number of particles whose regular step is of each level or a deeper one.
    u32 at_least[LEVELS];
};

/// What a device that shares the steps computes for all.
struct Sharer {
    // [irregular by the old list, regular, irregular by the new list][target or regular target][SUMS_STRIDE]: the force, and the
    // number of entries of the list.
    double *sums;
    // [target][EXCHANGE]
    double *exchanges;
    // Number of sources within the radius of each regular target.
    u32 *within;
    const Schedule *schedule;
};

/// Argument of the kernels. Mirrored by `NeighbourCall` in src/force/cuda/neighbours/call.rs; both must be changed together.
struct Neighbours : Launched {
    // Predicted sources: [slots + 1][RECORD]; the last has no mass.
    double *records;
    // What the scheme keeps: columns of `slots`, of the particles, and of the targets after their step.
    double *kept, *new_kept;
    unsigned char *regular_level, *new_regular_level;
    // Row in use of each particle, 0 or 1.
    unsigned char *side;
    // Rows of `capacity` entries, and their numbers of entries.
    u32 *lists, *counts;
    // Rows of the lists of each target, and of the new ones of each regular target.
    u32 *old_row, *new_row;
    // Place among the targets of each regular one that this device owns; those of them whose lists would be too long.
    u32 *regular, *cut;
    // Places of the targets that this device owns, where it is one of several.
    u32 *own;
    NeighbourSchedule *neighbours;
    // Ratio of the next radius to the last, by the number of sources within it; the last holds for all larger numbers.
    const double *ratios;
    // For steps by the host, whose lists are in `lists`: radius of each regular target.
    const double *radius;
    // Entries of lists on their way between host and rows, or which the host has sent, and the place of the first of each list.
    u32 *packed;
    const u32 *offsets;
    Sharer sharers[MAX_SHARERS];
    double eta_regular;
    u32 capacity, max, ratio_count;
    // Highest derivative of the criterion of irregular and regular steps: 2, 3 or 4.
    u32 criterion, regular_criterion;
    // Flag of order 6.
    u32 six;
    // Number of targets, or of regular ones, of a launch, from `first_target` on; flag of the new lists.
    u32 number, renewed;
    // Distance of the parts of `sums`, in forces; flag of whole block steps.
    u32 sums_stride, steps;
    // Number of the devices that share the steps, and of this one among them.
    u32 devices, device;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Returns the device that owns a particle.
__device__ __forceinline__ u32 owner_of(const Neighbours &call, u32 i) { return i / OWNED % call.devices; }

/// Returns the sums of a device of a target or, in steps by the host, of a regular target k.
__device__ __forceinline__ double *sum_of(const Neighbours &call, u32 device, u32 part, u32 k) {
    return call.sharers[device].sums + ((size_t)part * call.sums_stride + k) * SUMS_STRIDE;
}

/// Returns those of this device.
__device__ __forceinline__ double *sum_at(const Neighbours &call, u32 part, u32 k) {
    return sum_of(call, call.device, part, k);
}

/// Returns where the sums of regular target r are.
__device__ __forceinline__ u32 sums_place(const Neighbours &call, u32 r) { return call.steps ? call.regular[r] : r; }

/// Returns the number of sources within the radius of regular target r, for who counts them.
__device__ __forceinline__ u32 *within_of(const Neighbours &call, u32 r) {
    return call.sharers[call.device].within + sums_place(call, r);
}

/// Returns the number of targets, or of regular ones, of a launch for up to `number` of all: those that this device owns.
__device__ __forceinline__ u32 own_of(const Neighbours &call, u32 number, bool regular) {
    if (call.devices == 1) return number;
    u32 own = regular ? call.neighbours->listed : call.neighbours->own;
    return min(number, own - min(own, call.first_target));
}

__device__ __forceinline__ u32 *list_of(const Neighbours &call, u32 row) {
    return call.lists + (size_t)row * call.capacity;
}

/// Writes a predicted source.
__device__ __forceinline__ void write_record(const Neighbours &call, u32 i, const double (&pos)[3],
                                             const double (&vel)[3], double mass) {
    double2 *to = reinterpret_cast<double2 *>(call.records + RECORD * (size_t)i);
    to[0] = {pos[0], pos[1]}, to[1] = {pos[2], vel[0]}, to[2] = {vel[1], vel[2]}, to[3] = {mass, 0.0};
}

/// Returns a predicted source.
__device__ __forceinline__ Body<F64> read_record(const Neighbours &call, u32 i) {
    const double2 *from = reinterpret_cast<const double2 *>(call.records + RECORD * (size_t)i);
    double2 a = from[0], b = from[1], c = from[2], d = from[3];
    return {{a.x, a.y, b.x}, {0, 0, 0}, {b.y, c.x, c.y}, d.x};
}

/// Number of sources of a list that a thread reads at a time: their loads are in flight together.
constexpr u32 READ_AHEAD = 4;

/// Adds the sources of a list from `lane` on, each eighth, to the sums of a target.
template <bool QUICK>
__device__ __forceinline__ bool add_list(const Neighbours &call, const u32 *list, u32 count, u32 lane,
                                         const Body<F64> &target, Sums<F64> &sums) {
    bool odd = false;
    sums.clear();
    for (u32 first = lane; first < count; first += READ_AHEAD * IRREGULAR_SUMS) {
        u32 entry[READ_AHEAD];
        Body<F64> source[READ_AHEAD];
#pragma unroll
        for (u32 h = 0; h < READ_AHEAD; ++h) {
            u32 e = first + h * IRREGULAR_SUMS;
            entry[h] = list[e < count ? e : first];
        }
#pragma unroll
        for (u32 h = 0; h < READ_AHEAD; ++h) source[h] = read_record(call, entry[h]);
#pragma unroll
        for (u32 h = 0; h < READ_AHEAD; ++h)
            if (first + h * IRREGULAR_SUMS < count) sums.add_pair<QUICK>(source[h], target, call.eps2, false, odd);
    }
    return odd;
}

/// Running sums of a target over the sources beyond its limit, and the places of the others in the bag.
template <class M> struct FarSums {
    Sums<M> sums;
    u32 near[2];

    /// Adds the sources `t` to `t + HELD` of a bag: as `Sums::add_pair`, from s2 on.
    template <bool QUICK, int HELD, bool MASKED, int HALF>
    __device__ __forceinline__ void add(const Body<M> (&source)[HELD], u32 t, const Body<M> &target, u32 own, u32 filled,
                                        typename M::Real eps2, typename M::Real limit, bool &odd) {
        using R = typename M::Real;
        u32 bits = 0;
#pragma unroll
        for (int h = 0; h < HELD; ++h) {
            R r[3], v[3];
#pragma unroll
            for (int k = 0; k < 3; ++k) {
                r[k] = source[h].pos[k] - target.pos[k];
                if (M::SPLIT) r[k] = r[k] + (source[h].low[k] - target.low[k]);
                v[k] = source[h].vel[k] - target.vel[k];
            }
            R s2 = fma_rn(r[0], r[0], fma_rn(r[1], r[1], fma_rn(r[2], r[2], eps2)));
            bool within = s2 < limit;
            bool absent = within || (MASKED && (own == t + h || (M::ZERO_COUNTS && t + h >= filled)));
            if (within) bits |= 1u << h;
            // In f64 a distance of zero would be odd.
            R s_inv = M::template inverse_sqrt<QUICK>(sizeof(R) == 8 && absent ? R(1) : s2, odd);
            s_inv = absent ? R(0) : s_inv;
            R s_inv2 = s_inv * s_inv;
            R m_s = source[h].mass * s_inv;
            R m_s3 = m_s * s_inv2;
            R rv = fma_rn(r[0], v[0], fma_rn(r[1], v[1], r[2] * v[2]));
            R alpha = R(-3) * (rv * s_inv2);
            Sums<M> before = sums;
#pragma unroll
            for (int k = 0; k < 3; ++k) {
                M::add_product(sums.sum[k], m_s3, r[k]);
                M::add_product(sums.sum[3 + k], m_s3, fma_rn(alpha, r[k], v[k]));
            }
            M::subtract(sums.sum[6], m_s);
            if (M::ZERO_COUNTS) {
#pragma unroll
                for (int k = 0; k < SUMS; ++k)
#pragma unroll
                    for (int part = 0; part < M::PARTS; ++part)
                        sums.sum[k][part] = absent ? before.sum[k][part] : sums.sum[k][part];
            }
        }
        near[HALF] |= bits << (t - 32 * HALF);
    }
};

/// Half of a bag.
template <int HALF> struct Half {
    static constexpr int value = HALF;
};

/// Adds a bag for the targets of a thread, whose neighbours are left out and noted in `near`.
template <class M, int T, int HELD, bool MASKED, bool QUICK>
__device__ __forceinline__ bool add_far_sources(const float4 *units, const Body<M> (&target)[T], const u32 (&place)[T],
                                                u32 filled, typename M::Real eps2, const typename M::Real (&limit)[T],
                                                FarSums<M> (&sums)[T]) {
    bool odd = false;
    auto add_half = [&](auto half) {
        constexpr int HALF = decltype(half)::value;
#pragma unroll 1
        for (u32 t = 32 * HALF; t < 32 * (HALF + 1); t += HELD) {
            Body<M> source[HELD];
#pragma unroll
            for (int h = 0; h < HELD; ++h) read(units + (t + h) * UNITS<M>, source[h]);
#pragma unroll
            for (int j = 0; j < T; ++j)
                sums[j].template add<QUICK, HELD, MASKED, HALF>(source, t, target[j], place[j], filled, eps2, limit[j], odd);
        }
    };
    add_half(Half<0>{});
    add_half(Half<1>{});
    return odd;
}

template <class M, int T, int HELD>
__device__ __forceinline__ void add_far_bag(const Neighbours &call, const float4 *units, u32 bag,
                                            const Body<M> (&target)[T], const u32 (&own)[T],
                                            const typename M::Real (&limit)[T], FarSums<M> (&sums)[T]) {
    auto eps2 = eps2_of<M>(call);
    u32 place[T], filled = call.sources - bag * BAG;
    bool masked = M::ZERO_COUNTS && filled < BAG;
#pragma unroll
    for (int j = 0; j < T; ++j) {
        place[j] = own[j] - bag * BAG;
        masked |= place[j] < BAG;
        sums[j].near[0] = sums[j].near[1] = 0;
    }
    bool odd = __any_sync(~0u, masked)
                   ? add_far_sources<M, T, HELD, true, true>(units, target, place, filled, eps2, limit, sums)
                   : add_far_sources<M, T, HELD, false, true>(units, target, place, filled, eps2, limit, sums);
    // As in `add_bag`.
    if (odd) {
#pragma unroll
        for (int j = 0; j < T; ++j) sums[j].sums.clear();
        add_far_sources<M, T, HELD, true, false>(units, target, place, filled, eps2, limit, sums);
    }
    __syncwarp();
}

/// As `schedule_next`; reports the number of regular targets too.
__device__ __forceinline__ void schedule_with_regular(const Neighbours &call, u64 now, u32 last_due, u32 step) {
    Schedule *schedule = call.schedule;
    u32 lane = threadIdx.x, deepest = 0;
#pragma unroll
    for (u32 level = 0; level < LEVELS; level += 32)
        if (level + lane < LEVELS && __ldcg(schedule->at_least + level + lane) > 0) deepest = level + lane;
    deepest = __reduce_max_sync(~0u, deepest);
    if (lane > 0) return;
    volatile u64 *report = call.report;
    report[6] = __ldcg(call.neighbours->at_least + shallowest_level(next_moment(now, deepest)));
    report[7] = __ldcg(&call.neighbours->pairs);
    call.neighbours->listed = call.neighbours->cut = call.neighbours->own = 0;
    // The order of these is that of the other lanes, which are done.
    u64 moment = next_moment(now, deepest);
    u32 due = shallowest_level(moment), targets = __ldcg(schedule->at_least + due);
    schedule->now = now, schedule->moment = moment;
    schedule->last_due = last_due, schedule->due = due;
    schedule->step = step, schedule->targets = targets, schedule->corrected = 0;
    report[1] = moment;
    report[2] = targets;
    report[3] = deepest;
    report[4] = __ldcg(&schedule->refused);
    report[5] = __ldcg(&schedule->clamped);
    // The host waits for the number of the step.
    __threadfence_system();
    report[0] = step;
}

/// Part of the force on a particle in its step: factors of its earlier point, and of one component dt^k a^(k), k = 2 ... 5.
struct Part {
    double dt;
    bool has_point;
    Stencil stencil;
    double scaled[4];
};

/// Corrections of one component by one part of the force (`correction` of src/integrator/multipoint.rs).
__device__ __forceinline__ void correction(Part &part, double near_acc, double near_jerk, double old_acc, double old_jerk,
                                           double acc, double jerk, double &for_pos, double &for_vel) {
    double dt = part.dt, difference = old_acc - acc;
    double a2 = -6.0 * difference - dt * (4.0 * old_jerk + 2.0 * jerk);
    double a3 = 12.0 * difference + 6.0 * dt * (old_jerk + jerk);
    for_pos = a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0), for_vel = a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0);
    part.scaled[0] = a2 + a3, part.scaled[1] = a3, part.scaled[2] = part.scaled[3] = 0.0;
    if (part.has_point) {
        Node near{near_acc, near_jerk * dt};
        Addition added = part.stencil.addition(near, near, {old_acc, old_jerk * dt}, {acc, jerk * dt});
        for_pos += added.pos;
        for_vel += added.vel;
#pragma unroll
        for (int d = 0; d < 4; ++d) part.scaled[d] += added.derivatives[d];
    }
}

/// Returns the sum over the components of a vector, of which each of four lanes has one, the fourth none.
__device__ __forceinline__ double over_components(double of_lane) {
    u32 first = threadIdx.x & 28;
    double x = __shfl_sync(~0u, of_lane, first), y = __shfl_sync(~0u, of_lane, first + 1);
    return x + y + __shfl_sync(~0u, of_lane, first + 2);
}

/// Returns the level of a step by a criterion, from the squares of the norms of dt^k a^(k); more than DEEPEST if there is
/// none (`Lanes::wanted`).
__device__ __forceinline__ u32 neighbour_level(const Neighbours &call, u32 criterion, double eta, double dt,
                                               const double (&square)[6], bool &sure) {
    if (criterion > 2) return multipoint_level(eta, criterion == 3, dt, call.dt_max, square, sure);
    double n[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) n[k] = __dsqrt_rn(square[k]);
    double above = n[0] * n[2] + n[1] * n[1], below = n[1] * n[3] + n[2] * n[2];
    double step = __dsqrt_rn(__ddiv_rn(above, below));
    if (below == 0.0 || above == 0.0) step = __longlong_as_double(0x7ff0000000000000);
    return not_longer_than(__ddiv_rn(step * (eta * dt), call.dt_max));
}

/// Returns the level that a particle gets (`give_step`), and whether there is one.
__device__ __forceinline__ u32 level_after(const Neighbours &call, u32 level, u64 moment, u32 wanted, bool &fine, u32 &clamped) {
    if (call.clamps && wanted > call.floor) {
        wanted = call.floor;
        ++clamped;
    }
    fine &= wanted <= DEEPEST;
    return max(max(min(wanted, DEEPEST), level - min(level, 1u)), shallowest_level(moment));
}

/// Corrects target k, and stores its state (`AhmadCohen::move_part` and particle.rs), by four lanes, of which three have a
/// component; nothing is stored unless `there`. Returns false if the host has to look at it.
__device__ __forceinline__ bool correct_neighbour_target(const Neighbours &call, u32 k, bool there, u64 now, u64 moment,
                                                         int (&changes)[2][LEVELS], u32 &clamped, u64 &pairs) {
    u32 lane = threadIdx.x & 3, c = min(lane, 2u);
    bool stores = there && lane < 3, leads = there && lane == 0;
    u32 i = call.target_index[k], slots = call.slots, level = call.level[i], regular_level = call.regular_level[i];
    bool regular = regular_level >= call.schedule->due;
    u64 start = time_of(now, level), regular_start = time_of(now, regular_level);
    History history{call.history, slots, call.points, 0}, found{call.new_history, slots, call.points, 0};
    auto held = [&](u32 column) { return call.held[(size_t)column * slots + i]; };
    auto kept = [&](u32 column) { return call.kept[(size_t)column * slots + i]; };
    auto set_kept = [&](u32 column, double x) {
        if (stores) call.new_kept[(size_t)column * slots + k] = x;
    };
    // Of a target without a regular step nothing is read from another device but its irregular force.
    u32 owner = owner_of(call, i), of_regular = regular ? owner : call.device, safe = regular ? k : 0;
    const double *old_sum = sum_of(call, owner, 0, k);
    const double *far_sum = sum_of(call, of_regular, 1, safe), *new_sum = sum_of(call, of_regular, 2, safe);
    const double *exchange = call.sharers[of_regular].exchanges + EXCHANGE * (size_t)safe;
    u32 within = call.sharers[of_regular].within[safe];
    bool six = call.six, exchanged = regular && six && exchange[12] != 0.0;
    // All that is needed is requested at once.
    double x = held(c), v = held(3 + c), held_acc = held(6 + c), held_jerk = held(9 + c);
    double old_acc = kept(KEPT_IRREGULAR + c), old_jerk = kept(KEPT_IRREGULAR + 3 + c);
    double far_acc = kept(KEPT_REGULAR + c), far_jerk = kept(KEPT_REGULAR + 3 + c);
    double acc = old_sum[c], jerk = old_sum[3 + c], kept_pot = kept(KEPT_POT), radius = kept(KEPT_RADIUS);
    double snap = 0.0, crackle = 0.0, point_acc = 0.0, point_jerk = 0.0, regular_acc = 0.0, regular_jerk = 0.0;
    u64 point = start, regular_point = regular_start;
    if (six) {
        snap = kept(KEPT_SNAP + c), crackle = kept(KEPT_CRACKLE + c);
        point_acc = history.acc(0, c, i), point_jerk = history.jerk(0, c, i), point = history.moment(0, i);
        regular_acc = kept(KEPT_POINT + c), regular_jerk = kept(KEPT_POINT + 3 + c);
        regular_point = (u64)__double_as_longlong(kept(KEPT_MOMENT));
    }
    Part near{(double)(moment - start) * call.tick, point < start, Stencil(1.0, 2.0, false), {}};
    Part far{(double)(moment - regular_start) * call.tick, regular && regular_point < regular_start,
             Stencil(1.0, 2.0, false), {}};
    if (near.has_point)
        near.stencil = Stencil(__ddiv_rn((double)(start - point), (double)(moment - start)), 2.0, false);
    if (far.has_point)
        far.stencil =
            Stencil(__ddiv_rn((double)(regular_start - regular_point), (double)(moment - regular_start)), 2.0, false);
    double dt = near.dt, square = dt * dt, since = (double)(start - regular_start) * call.tick;
    double regular_dt = far.dt, regular_square = regular_dt * regular_dt;
    double per_dt = __ddiv_rn(1.0, dt), per_square = per_dt * per_dt, finite = 0.0, for_pos, for_vel;
    predict_component(x, v, held_acc, held_jerk, dt);
    correction(near, point_acc, point_jerk, old_acc, old_jerk, acc, jerk, for_pos, for_vel);
    x = x + for_pos * square, v = v + for_vel * dt;
    if (six) {
        double snap_then = snap + crackle * since;
        x += (snap_then + crackle * __ddiv_rn(dt, 5.0)) * (square * square / 24.0);
        v += (snap_then + crackle * __ddiv_rn(dt, 4.0)) * (square * dt / 6.0);
        point_acc = old_acc, point_jerk = old_jerk;
    }
    double regular_squares[6] = {}, regular_jerk_dt = 0.0;
    if (regular) {
        double new_far = far_sum[c], new_far_jerk = far_sum[3 + c], new_acc = new_sum[c], new_jerk = new_sum[3 + c];
        correction(far, regular_acc, regular_jerk, far_acc, far_jerk, new_far + (new_acc - acc),
                   new_far_jerk + (new_jerk - jerk), for_pos, for_vel);
        x += for_pos * regular_square, v += for_vel * regular_dt;
        if (six) {
            x -= (snap + crackle * __ddiv_rn(regular_dt, 5.0)) * (regular_square * regular_square / 24.0);
            v -= (snap + crackle * __ddiv_rn(regular_dt, 4.0)) * (regular_square * regular_dt / 6.0);
            regular_acc = far_acc, regular_jerk = far_jerk;
            if (exchanged) {
                double f0 = exchange[c], f1 = exchange[3 + c], f2 = exchange[6 + c], f3 = exchange[9 + c];
                regular_acc -= f0 - (f1 - (f2 * 0.5 - f3 * (regular_dt / 6.0)) * regular_dt) * regular_dt;
                regular_jerk -= f1 - (f2 - f3 * (0.5 * regular_dt)) * regular_dt;
                far.scaled[0] += -f2 * regular_square;
                far.scaled[1] += -f3 * (regular_square * regular_dt);
                point_acc += f0 - (f1 - (f2 * 0.5 - f3 * (dt / 6.0)) * dt) * dt;
                point_jerk += f1 - (f2 - f3 * (0.5 * dt)) * dt;
                near.scaled[0] += f2 * square;
                near.scaled[1] += f3 * (square * dt);
            }
        }
        if (far_sum[6] == 0.0) {
            // As on the host: no source is beyond the list.
#pragma unroll
            for (int d = 0; d < 4; ++d) far.scaled[d] = 0.0;
            if (six) regular_acc = regular_jerk = 0.0;
        }
        if (six) {
            double per_regular = __ddiv_rn(1.0, regular_dt), per_regular_square = per_regular * per_regular;
            snap = far.scaled[0] * per_regular_square;
            crackle = far.scaled[1] * (per_regular_square * per_regular);
        }
        finite = new_far + new_far_jerk + acc + jerk;
        far_acc = new_far, far_jerk = new_far_jerk, acc = new_acc, jerk = new_jerk;
        regular_jerk_dt = far_jerk * regular_dt;
    }
    // The totals, and the derivatives for the next prediction.
    double s = regular ? 0.0 : (double)(moment - regular_start) * call.tick;
    double total_acc = acc + (far_acc + (far_jerk + (snap * 0.5 + crackle * (s / 6.0)) * s) * s);
    double total_jerk = jerk + (far_jerk + (snap + crackle * (0.5 * s)) * s);
    double jerk_dt = jerk * dt;
    finite += acc + jerk;
    if (six) {
        if (stores) {
            found.derivative(0, c, k) = near.scaled[0] * per_square + (snap + crackle * s);
            found.derivative(1, c, k) = near.scaled[1] * (per_square * per_dt) + crackle;
            found.acc(0, c, k) = point_acc, found.jerk(0, c, k) = point_jerk;
        }
        set_kept(KEPT_SNAP + c, snap), set_kept(KEPT_CRACKLE + c, crackle);
        set_kept(KEPT_POINT + c, regular_acc), set_kept(KEPT_POINT + 3 + c, regular_jerk);
    }
    set_kept(KEPT_IRREGULAR + c, acc), set_kept(KEPT_IRREGULAR + 3 + c, jerk);
    set_kept(KEPT_REGULAR + c, far_acc), set_kept(KEPT_REGULAR + 3 + c, far_jerk);
    if (stores) {
        auto store = [&](u32 column, double value) { call.corrected[(size_t)column * slots + k] = value; };
        store(c, x), store(3 + c, v), store(6 + c, total_acc), store(9 + c, total_jerk);
    }
    double squares[6] = {over_components(total_acc * total_acc), over_components(jerk_dt * jerk_dt)};
    regular_squares[0] = over_components(far_acc * far_acc);
    regular_squares[1] = over_components(regular_jerk_dt * regular_jerk_dt);
#pragma unroll
    for (int d = 0; d < 4; ++d) {
        squares[2 + d] = over_components(near.scaled[d] * near.scaled[d]);
        regular_squares[2 + d] = over_components(far.scaled[d] * far.scaled[d]);
    }
    finite = over_components(finite);
    double pot = regular ? far_sum[6] : kept_pot, near_pot = regular ? new_sum[6] : old_sum[6];
    if (regular) {
        double next = radius * call.ratios[min(within, call.ratio_count - 1)];
        u32 exponent = (u32)__double2hiint(next) >> 20 & 0x7ff;
        if (exponent != 0 && exponent != 0x7ff) radius = next;
    }
    // Of targets and forces that need no closer look, `is_usual`.
    double target_pos = call.target_state[TARGET * (size_t)k + c], target_vel = call.target_state[TARGET * (size_t)k + 3 + c];
    bool usual = fabs(target_pos) <= call.coordinate && fabs(target_vel) <= call.speed && fabs(total_acc) <= call.max_acc;
    u32 of_four = 0xfu << (threadIdx.x & 28);
    bool fine = (__ballot_sync(~0u, !usual) & of_four) == 0 &&
                (__ballot_sync(~0u, fabs(total_acc) > call.min_acc) & of_four) != 0;
    u32 new_regular = regular_level, unused = 0;
    if (regular) {
        double noise = call.noise.relative * fmax(__dsqrt_rn(regular_squares[0]), call.noise.scale(i, pot));
        if (noise > 0.0) {
            double error[4];
            amplification(far.stencil, far.has_point, error);
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                error[d] *= noise;
                if (error[d] != 0.0) regular_squares[2 + d] = fmax(regular_squares[2 + d] - error[d] * error[d], 0.0);
            }
        }
        u32 wanted = neighbour_level(call, call.regular_criterion, call.eta_regular, regular_dt, regular_squares, fine);
        wanted = not_below_others(call, wanted, i, regular_squares[0], pot, MIN_SHARE * call.eta_regular);
        new_regular = level_after(call, regular_level, moment, wanted, fine, unused);
    }
    u32 wanted = neighbour_level(call, call.criterion, call.nu, dt, squares, fine), clamped_here = 0;
    wanted = not_below_others(call, wanted, i, squares[0], near_pot + pot, MIN_SHARE * call.nu);
    u32 next = max(level_after(call, level, moment, wanted, fine, clamped_here), new_regular);
    fine &= finite + near_pot + pot < __longlong_as_double(0x7ff0000000000000);
    if (!leads) return true;
    clamped += clamped_here;
    // By the old list and, after a regular step, by the new one and all sources.
    pairs = (u64)old_sum[SUMS] + (regular ? (u64)new_sum[SUMS] + (call.sources - 1) : 0);
    set_kept(KEPT_POT, pot);
    set_kept(KEPT_RADIUS, radius);
    call.corrected[12 * (size_t)slots + k] = near_pot + pot;
    if (six) {
        found.set_moment(0, k, start);
        set_kept(KEPT_MOMENT, __longlong_as_double((long long)(regular ? regular_start : regular_point)));
    }
    call.new_level[k] = (unsigned char)next;
    call.new_regular_level[k] = (unsigned char)new_regular;
    u32 levels[2][2] = {{level, next}, {regular_level, new_regular}};
#pragma unroll
    for (int of = 0; of < 2; ++of) {
        // Most particles keep their level.
        u32 from = levels[of][0], to = levels[of][1];
        int sign = to > from ? 1 : -1;
        for (u32 l = min(from, to) + 1; l <= max(from, to); ++l) {
            atomicAdd(changes[of] + l, sign);
            if (of == 0) atomicAdd(call.chunk_at_least + (size_t)l * call.chunks + i / STEP_CHUNK, (u32)sign);
        }
    }
    return fine;
}
#endif
