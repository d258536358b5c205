// Particles whose state stands in shared memory while whole block steps are taken, and their corrector.
#pragma once
#include "field.cuh"
#include "multipoint.cuh"

/// Number of columns of the state of a particle.
constexpr u32 COLUMNS = 13;

/// Why a launch ended.
enum Reason : u32 {
    /// The next step would pass the last moment, or the number of steps is reached, or steps are below the floor.
    DONE = 1,
    /// A force is not finite or out of range, or a particle has no step. The state is that before the launch.
    REFUSED = 2,
    /// After the last step the host has to look for pairs that may form.
    FOUND = 3,
};

/// Particles with their state. C says how they are stepped; STRIDE is the distance of neighbours in a column: above 1
/// where systems lie between each other's numbers.
template <class C, u32 STRIDE = 1> struct Members {
    const C &call;
    double *state;        // [COLUMNS][own]: position, velocity, acceleration, jerk, potential
    unsigned char *level; // [own]
    u32 own;

    __device__ __forceinline__ Members(const C &call, u32 own) : call(call), own(own) {}

    __device__ __forceinline__ double &at(u32 column, u32 k) const { return state[(column * own + k) * STRIDE]; }
    __device__ __forceinline__ unsigned char &level_of(u32 k) const { return level[k * STRIDE]; }

    __device__ __forceinline__ double since(u64 now, u64 moment, u32 k) const {
        return (double)(moment - time_of(now, level_of(k))) * call.tick;
    }

    /// Predicts particle k by dt.
    __device__ __forceinline__ void predict(u32 k, double dt, double (&pos)[3], double (&vel)[3]) const {
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            pos[c] = at(c, k);
            vel[c] = at(3 + c, k);
            predict_component(pos[c], vel[c], at(6 + c, k), at(9 + c, k), dt);
        }
    }
};

/// Least step where the forces cancel, in units of that on a circular orbit that is as slow as the others (`min_step` of
/// src/integrator/hermite/cancelled.rs).
constexpr double MIN_SHARE = 2.0;

/// Returns a wanted level, or that of the least step of particle i, where the forces on it cancel. `natural` is the step
/// on a circular orbit, in units of its period over 2 pi.
template <class C>
__device__ __forceinline__ u32 not_below_others(const C &call, u32 wanted, u32 i, double acc2, double pot, double natural) {
    double time = call.noise.time_of_others(i, acc2, pot);
    return time > 0.0 ? min(wanted, not_longer_than(__ddiv_rn(time * natural, call.dt_max))) : wanted;
}

/// Returns true if a target needs no closer look of the host.
template <class C>
__device__ __forceinline__ bool is_usual(const C &call, const double (&pos)[3], const double (&vel)[3]) {
    bool usual = true;
#pragma unroll
    for (int c = 0; c < 3; ++c) usual &= fabs(pos[c]) <= call.coordinate && fabs(vel[c]) <= call.speed;
    return usual;
}

/// Returns true if the force on a target needs no closer look of the host.
template <class C> __device__ __forceinline__ bool is_usual(const C &call, const double *force) {
    bool usual = true, strong = false;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        usual &= fabs(force[c]) <= call.max_acc;
        strong |= fabs(force[c]) > call.min_acc;
    }
    return usual && strong;
}

/// Gives particle k its next step, of a wanted level. Returns false if there is none; counts steps clamped to the floor.
template <class G>
__device__ __forceinline__ bool give_step(const G &g, u32 k, u64 moment, u32 wanted, u32 &clamped) {
    u32 level = g.level_of(k);
    if (g.call.clamps && wanted > g.call.floor) {
        // Of a NaN the sums of squares are NaN.
        wanted = g.call.floor;
        ++clamped;
    }
    g.level_of(k) = (unsigned char)max(max(min(wanted, DEEPEST), level - min(level, 1u)), shallowest_level(moment));
    return wanted <= DEEPEST;
}

/// Stores in `pos` and `vel` component c of position and velocity of particle k, with their low parts, after a step from
/// its old point to this new acceleration and jerk.
template <class G>
__device__ __forceinline__ void advance(const G &g, const History &history, u32 c, u32 k, double acc, double jerk,
                                        double more_pos, double more_vel, double dt, HighLow &pos, HighLow &vel) {
    pos = {g.at(c, k), history.low(c, k)};
    vel = {g.at(3 + c, k), history.low(3 + c, k)};
    advance_component(pos, vel, g.at(6 + c, k), g.at(9 + c, k), acc, jerk, more_pos, more_vel, dt);
}

/// The same of a particle of the 4th-order scheme for the next evaluation of a step, P(EC)^n: without low parts.
template <class G>
__device__ __forceinline__ void advance_place(const G &g, const History &history, u32 c, u32 k, const double *force,
                                              double dt, double &pos, double &vel) {
    HighLow x, v;
    advance(g, history, c, k, force[c], force[3 + c], 0.0, 0.0, dt, x, v);
    pos = x.high, vel = v.high;
}

/// Corrects particle k, number i of the system, with its force, and gives it its next step. Returns false if the host has
/// to look at it; counts steps clamped to the floor. `history` has its low parts, if these are kept, and `external` is the
/// acceleration by an external field, if there is one.
template <class G>
__device__ __forceinline__ bool correct(const G &g, const History &history, u32 k, u32 i, u64 now, u64 moment, const double *force, u32 &clamped,
                                        const double *external = nullptr) {
    const auto &call = g.call;
    double dt = g.since(now, moment, k), pos[3], vel[3];
    g.predict(k, dt, pos, vel);
    bool fine = is_usual(call, pos, vel) && is_usual(call, force);
    Derivatives d = {0, 0, 0, 0, call.noise.relative, 0, 0};
    double pot = force[6];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        double snap, crackle, acc = force[c], jerk = force[3 + c];
        correct_component(pos[c], vel[c], g.at(6 + c, k), g.at(9 + c, k), acc, jerk, dt, snap, crackle);
        if (history.compensated) {
            HighLow x, v;
            advance(g, history, c, k, acc, jerk, 0.0, 0.0, dt, x, v);
            pos[c] = x.high, vel[c] = v.high;
            history.low(c, k) = x.low, history.low(3 + c, k) = v.low;
        }
        d.whole2 += acc * acc;
        d.jerk2 += jerk * jerk;
        d.snap2 += snap * snap;
        d.crackle2 += crackle * crackle;
        g.at(c, k) = pos[c];
        g.at(3 + c, k) = vel[c];
        g.at(6 + c, k) = acc;
        g.at(9 + c, k) = jerk;
    }
    g.at(12, k) = pot;
    d.acc2 = square_for_step(force, external, d.whole2);
    d.by_pot = call.noise.scale(i, pot);
    u32 wanted = wanted_level(call.nu, dt, call.dt_max, g.level_of(k), d);
    wanted = not_below_others(call, wanted, i, d.whole2, pot, MIN_SHARE * __dsqrt_rn(call.nu));
    fine &= d.jerk2 + pot < __longlong_as_double(0x7ff0000000000000);
    return give_step(g, k, moment, wanted, clamped) && fine;
}

/// Predicts particle k of a block by dt, with the derivatives that a multi-point scheme keeps.
template <class G>
__device__ __forceinline__ void predict_target(const G &g, const History &history, u32 k, double dt, double (&pos)[3],
                                               double (&vel)[3]) {
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        pos[c] = g.at(c, k);
        vel[c] = g.at(3 + c, k);
        predict_with(history, c, k, pos[c], vel[c], g.at(6 + c, k), g.at(9 + c, k), dt);
    }
}

/// What `correct_multipoint` found: bits.
constexpr u32 FINE = 1, CLAMPED = 2;

/// The same as `correct` by a multi-point scheme (`MultipointScheme::correct`), whose parameters are `nu`, which is its
/// eta, and `third`. Returns FINE unless the host has to look at the particle, and CLAMPED. One function for all kernels:
/// it is long.
template <class C>
__device__ __noinline__ u32 correct_multipoint(Members<C> g, History history, u32 k, u32 i, u64 now, u64 moment,
                                               const double *force, const double *external) {
    const auto &call = g.call;
    u32 level = g.level_of(k);
    u64 start = time_of(now, level);
    double dt = g.since(now, moment, k), pos[3], vel[3];
    predict_target(g, history, k, dt, pos, vel);
    bool fine = is_usual(call, pos, vel) && is_usual(call, force);
    double step = (double)(moment - start);
    u64 near = history.moment(0, k), far = history.points > 1 ? history.moment(1, k) : near;
    bool has_near = near < start, has_far = has_near && far < near;
    Stencil stencil(has_near ? __ddiv_rn((double)(start - near), step) : 1.0,
                    has_far ? __ddiv_rn((double)(start - far), step) : 2.0, has_far);
    double pot = force[6], square[6] = {0, 0, 0, 0, 0, 0}, per_dt = __ddiv_rn(1.0, dt), jerk_size = 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        double acc = force[c], jerk = force[3 + c], old_acc = g.at(6 + c, k), old_jerk = g.at(9 + c, k);
        double x = g.at(c, k), v = g.at(3 + c, k);
        predict_component(x, v, old_acc, old_jerk, dt);
        double difference = old_acc - acc;
        double a2 = -6.0 * difference - dt * (4.0 * old_jerk + 2.0 * jerk);
        double a3 = 12.0 * difference + 6.0 * dt * (old_jerk + jerk);
        double for_pos = a2 * (1.0 / 24.0) + a3 * (1.0 / 120.0), for_vel = a2 * (1.0 / 6.0) + a3 * (1.0 / 24.0);
        double derivative[4] = {a2 + a3, a3, 0.0, 0.0}, more_pos = 0.0, more_vel = 0.0;
        double near_acc = history.acc(0, c, k), near_jerk = history.jerk(0, c, k), far_acc = 0, far_jerk = 0;
        if (history.points > 1) far_acc = history.acc(1, c, k), far_jerk = history.jerk(1, c, k);
        if (has_near) {
            Addition added = stencil.addition({far_acc, far_jerk * dt}, {near_acc, near_jerk * dt},
                                              {old_acc, old_jerk * dt}, {acc, jerk * dt});
            for_pos += added.pos;
            for_vel += added.vel;
            more_pos = added.pos, more_vel = added.vel;
#pragma unroll
            for (int d = 0; d < 4; ++d) derivative[d] += added.derivatives[d];
        }
        HighLow new_pos = {x + for_pos * (dt * dt), 0.0}, new_vel = {v + for_vel * dt, 0.0};
        if (history.compensated) {
            advance(g, history, c, k, acc, jerk, more_pos, more_vel, dt, new_pos, new_vel);
            history.low(c, k) = new_pos.low, history.low(3 + c, k) = new_vel.low;
        }
        g.at(c, k) = new_pos.high;
        g.at(3 + c, k) = new_vel.high;
        g.at(6 + c, k) = acc;
        g.at(9 + c, k) = jerk;
        double jerk_dt = jerk * dt, scale = per_dt;
        jerk_size += jerk * jerk;
        square[0] += acc * acc;
        square[1] += jerk_dt * jerk_dt;
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            square[2 + d] += derivative[d] * derivative[d];
            if (d >= (int)history.derivatives()) continue;
            scale *= per_dt;
            history.derivative(d, c, k) = derivative[d] * scale;
        }
        if (history.points > 1) history.acc(1, c, k) = near_acc, history.jerk(1, c, k) = near_jerk;
        history.acc(0, c, k) = old_acc, history.jerk(0, c, k) = old_jerk;
    }
    if (history.points > 1) history.set_moment(1, k, near);
    history.set_moment(0, k, start);
    g.at(12, k) = pot;
    double whole = square[0];
    square[0] = square_for_step(force, external, whole);
    double noise = call.noise.relative * fmax(__dsqrt_rn(whole), call.noise.scale(i, pot));
    if (noise > 0.0) {
        double error[4];
        amplification(stencil, has_near, error);
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            error[d] *= noise;
            if (error[d] != 0.0) square[2 + d] = fmax(square[2 + d] - error[d] * error[d], 0.0);
        }
    }
    u32 wanted = multipoint_level(call.nu, call.third, dt, call.dt_max, square, fine);
    wanted = not_below_others(call, wanted, i, whole, pot, MIN_SHARE * call.nu);
    fine &= jerk_size + pot < __longlong_as_double(0x7ff0000000000000);
    u32 clamped = 0;
    fine &= give_step(g, k, moment, wanted, clamped);
    return (fine ? FINE : 0) | (clamped ? CLAMPED : 0);
}
