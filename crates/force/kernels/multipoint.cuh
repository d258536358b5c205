// Predictor, corrector and step criterion of the multi-point Hermite schemes: mirrors src/integrator/multipoint.rs and
// src/integrator/multipoint/stencil.rs, operation by operation.
#pragma once
#include "corrector.cuh"

/// Largest number of earlier points that a scheme keeps, and number of columns of a point: acceleration, jerk, moment; and of
/// low parts.
constexpr u32 MAX_POINTS = 2, POINT_COLUMNS = 7, LOW_COLUMNS = 6;
/// Largest number of columns of a history.
constexpr u32 MAX_HISTORY = MAX_POINTS * (6 + POINT_COLUMNS) + LOW_COLUMNS;

/// History of particles, in columns: three of each derivative of the acceleration from the second on, then those of each
/// point, the latest first, then low parts of position and velocity where the corrector is `compensated`. A scheme with
/// `points` earlier points keeps twice as many derivatives.
struct History {
    double *columns;
    // Distance of the columns; number of earlier points; flag of low parts.
    u32 stride, points, compensated;

    __device__ __forceinline__ u32 derivatives() const { return 2 * points; }
    __device__ __forceinline__ u32 first_low() const { return (6 + POINT_COLUMNS) * points; }
    __device__ __forceinline__ u32 columns_in_all() const { return first_low() + (compensated ? LOW_COLUMNS : 0); }
    __device__ __forceinline__ double &low(u32 c, u32 k) const { return at(first_low() + c, k); }
    __device__ __forceinline__ double &at(u32 column, u32 k) const { return columns[(size_t)column * stride + k]; }
    __device__ __forceinline__ double &derivative(u32 d, u32 c, u32 k) const { return at(3 * d + c, k); }
    __device__ __forceinline__ double &acc(u32 p, u32 c, u32 k) const {
        return at(3 * derivatives() + POINT_COLUMNS * p + c, k);
    }
    __device__ __forceinline__ double &jerk(u32 p, u32 c, u32 k) const { return acc(p, 3 + c, k); }
    __device__ __forceinline__ u64 moment(u32 p, u32 k) const { return (u64)__double_as_longlong(acc(p, 6, k)); }
    __device__ __forceinline__ void set_moment(u32 p, u32 k, u64 moment) const {
        acc(p, 6, k) = __longlong_as_double((long long)moment);
    }
};

/// Predicts one component of particle k by the derivatives that the scheme keeps too (`predict_with`).
__device__ __forceinline__ void predict_with(const History &history, u32 c, u32 k, double &pos, double &vel, double acc,
                                             double jerk, double dt) {
    auto of = [&](int d) { return history.derivative(d, c, k); };
    predict_component_with(history.derivatives(), of, pos, vel, acc, jerk, dt);
}

/// Acceleration at a point in time, and jerk times the length of the step.
struct Node {
    double acc, jerk;
};

/// Additions of the earlier points to a step, for one component.
struct Addition {
    double pos, vel, derivatives[4];
};

/// Factors of the earlier points: `Stencil`, and `Far` for the second point.
struct Stencil {
    double ratio, scale, slope;
    double far_ratio, far_scale, far_slope, far_vel[2], far_pos[2];
    bool has_far;

    __device__ __forceinline__ Stencil(double r, double far, bool has_far) : has_far(has_far) {
        ratio = r;
        double root = r * (1.0 + r);
        scale = __ddiv_rn(1.0, root * root);
        slope = 2.0 * (__ddiv_rn(1.0, r) + __ddiv_rn(1.0, 1.0 + r));
        if (!has_far) return;
        double gap = far - r, far_root = far * (1.0 + far) * (far - r);
        double vel0 = r * r * (1.0 / 30.0) + r * (1.0 / 30.0) + 1.0 / 105.0;
        double vel1 = r * r * (1.0 / 60.0) + r * (2.0 / 105.0) + 1.0 / 168.0;
        double pos0 = r * r * (1.0 / 60.0) + r * (1.0 / 70.0) + 1.0 / 280.0;
        double pos1 = r * r * (1.0 / 140.0) + r * (1.0 / 140.0) + 1.0 / 504.0;
        far_ratio = far;
        far_scale = __ddiv_rn(1.0, far_root * far_root);
        far_slope = 2.0 * (__ddiv_rn(1.0, far) + __ddiv_rn(1.0, 1.0 + far) + __ddiv_rn(1.0, gap));
        far_vel[0] = vel0, far_vel[1] = vel1 + far * vel0;
        far_pos[0] = pos0, far_pos[1] = pos1 + far * pos0;
    }

    /// Returns the additions: the nodes are t-2 (if there is one), t-1, t0 and t1.
    __device__ __forceinline__ Addition addition(const Node &before2, const Node &before, const Node &old,
                                                 const Node &now) const {
        double r = ratio;
        double rise = now.acc - old.acc;
        double c2 = 3.0 * rise - 2.0 * old.jerk - now.jerk;
        double c3 = old.jerk + now.jerk - 2.0 * rise;
        auto cubic = [&](double x) { return old.acc - x * (old.jerk - x * (c2 - x * c3)); };
        auto inclination = [&](double x) { return old.jerk - x * (2.0 * c2 - x * (3.0 * c3)); };
        double q0 = (before.acc - cubic(r)) * scale;
        double q1 = (before.jerk - inclination(r)) * scale + q0 * slope;
        double sum = q0 + q1 * (1.0 + r);
        Addition found;
        found.pos = q0 * (1.0 / 60.0) + q1 * (r * (1.0 / 60.0) + 1.0 / 140.0);
        found.vel = (q0 + q1 * (r + 0.5)) * (1.0 / 30.0);
        found.derivatives[0] = 2.0 * sum;
        found.derivatives[1] = 6.0 * (2.0 * sum + q1);
        found.derivatives[2] = 24.0 * (sum + 2.0 * q1);
        found.derivatives[3] = 120.0 * q1;
        if (has_far) {
            double x = far_ratio;
            double root = x * (1.0 + x);
            double bump = root * root, bump_slope = -2.0 * root * (1.0 + 2.0 * x);
            double line = q0 + q1 * (r - x);
            double d0 = (before2.acc - cubic(x) - bump * line) * far_scale;
            double d1 = (before2.jerk - inclination(x) - bump_slope * line - bump * q1) * far_scale + d0 * far_slope;
            found.vel = found.vel + d0 * far_vel[0] + d1 * far_vel[1];
            found.pos = found.pos + d0 * far_pos[0] + d1 * far_pos[1];
            double g = 1.0 + r, e0 = d0 + d1 * (1.0 + x);
            double f2 = g * g, f3 = 2.0 * g * (1.0 + g), f4 = (1.0 + g) * (1.0 + g) + 2.0 * g, f5 = 2.0 * (1.0 + g);
            found.derivatives[0] = found.derivatives[0] + 2.0 * (f2 * e0);
            found.derivatives[1] = found.derivatives[1] + 6.0 * (f3 * e0 + f2 * d1);
            found.derivatives[2] = found.derivatives[2] + 24.0 * (f4 * e0 + f3 * d1);
            found.derivatives[3] = found.derivatives[3] + 120.0 * (f5 * e0 + f4 * d1);
        }
        return found;
    }
};

/// Stores the standard error of h^k a^(k), k = 2 ... 5, for independent errors of 1 in the accelerations at all points
/// (`amplification`).
__device__ __forceinline__ void amplification(const Stencil &stencil, bool has_points, double (&error)[4]) {
    double variance[4] = {0.0, 0.0, 0.0, 0.0};
#pragma unroll 1
    for (int wrong = 0; wrong < 4; ++wrong) {
        auto node = [&](int k) { return Node{k == wrong ? 1.0 : 0.0, 0.0}; };
        Addition added{};
        if (has_points) added = stencil.addition(node(0), node(1), node(2), node(3));
        double sign = wrong == 2 ? 1.0 : wrong == 3 ? -1.0 : 0.0;
        double cubic[4] = {sign * 6.0, sign * 12.0, 0.0, 0.0};
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            double term = added.derivatives[d] + cubic[d];
            variance[d] += term * term;
        }
    }
#pragma unroll
    for (int d = 0; d < 4; ++d) error[d] = __dsqrt_rn(variance[d]);
}

/// Returns the level of the criterion's step after a step of length `dt`, from the squares of the norms of dt^k a^(k),
/// k = 0 ... 5; more than DEEPEST if it is NaN or shorter than any. `sure` becomes false where the host has to decide:
/// the cube root here may be wrong in its last bit.
__device__ __forceinline__ u32 multipoint_level(double eta, bool third, double dt, double dt_max, const double (&square)[6],
                                                bool &sure) {
    double n[6];
#pragma unroll
    for (int k = 0; k < 6; ++k) n[k] = __dsqrt_rn(square[k]);
    auto term = [&](int k) { return n[k - 1] * n[k + 1] + n[k] * n[k]; };
    auto quotient = [](double above, double below) {
        double root = __dsqrt_rn(__ddiv_rn(above, below));
        return below == 0.0 || above == 0.0 ? __longlong_as_double(0x7ff0000000000000) : root;
    };
    double first = term(1), second = quotient(first, term(2));
    double higher = quotient(first, third ? term(3) : term(4));
    double step = third ? __dsqrt_rn(higher) : cbrt(higher);
    double min = 0.25 * second, max = 0.8 * second;
    auto level_of = [&](double step) {
        step = step < min ? min : step;
        step = step > max ? max : step;
        return not_longer_than(__ddiv_rn(eta * dt * step, dt_max));
    };
    u32 level = level_of(step);
    constexpr double MARGIN = 1.0 / (1ull << 48);
    sure &= third || (level_of(step * (1.0 - MARGIN)) == level && level_of(step * (1.0 + MARGIN)) == level);
    return level;
}
