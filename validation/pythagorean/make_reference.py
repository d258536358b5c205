#!/usr/bin/env python3
"""The Pythagorean problem by Taylor series of order 40 in 60-digit arithmetic: the reference of this case.

    pip install gmpy2
    python3 validation/pythagorean/make_reference.py

Prints the closest approach of the first 20 time units, the last close encounter of all three, and the orbit of the final
binary and the speed of the escaper at t = 80. The series of a pair's 1/r^3 follows from that of r^2 by the power rule; a step
is as long as the last two terms allow for an error of 1e-50.
"""

import gmpy2
from gmpy2 import mpfr, sqrt

gmpy2.get_context().precision = 200
ORDER, ERROR, END = 40, mpfr(10) ** -50, 80
MASS = [mpfr(3), mpfr(4), mpfr(5)]
PAIRS = [(0, 1), (0, 2), (1, 2)]


def series(pos, vel):
    """Taylor coefficients of positions and velocities, [body][axis][order], and of each pair's r^2."""
    x = [[[c] for c in body] for body in pos]
    v = [[[c] for c in body] for body in vel]
    r2, cube = [[] for _ in PAIRS], [[] for _ in PAIRS]
    d = [[[], []] for _ in PAIRS]
    for k in range(ORDER):
        acc = [[mpfr(0), mpfr(0)] for _ in MASS]
        for p, (i, j) in enumerate(PAIRS):
            for a in (0, 1):
                d[p][a].append(x[j][a][k] - x[i][a][k])
            r2[p].append(sum(d[p][a][m] * d[p][a][k - m] for a in (0, 1) for m in range(k + 1)))
            if k == 0:
                cube[p].append(1 / (r2[p][0] * sqrt(r2[p][0])))
            else:
                terms = ((-3 * m - 2 * (k - m)) * r2[p][m] * cube[p][k - m] for m in range(1, k + 1))
                cube[p].append(sum(terms) / (2 * k * r2[p][0]))
            for a in (0, 1):
                pull = sum(cube[p][m] * d[p][a][k - m] for m in range(k + 1))
                acc[i][a] += MASS[j] * pull
                acc[j][a] -= MASS[i] * pull
        for i in range(3):
            for a in (0, 1):
                x[i][a].append(v[i][a][k] / (k + 1))
                v[i][a].append(acc[i][a] / (k + 1))
    return x, v, r2


def value(c, t):
    """The sum of a series."""
    total = mpfr(0)
    for term in reversed(c):
        total = total * t + term
    return total


def derivative(c):
    """The series of the derivative."""
    return [k * term for k, term in enumerate(c)][1:]


def root(c, a, b):
    """Where a series changes sign between a and b."""
    for _ in range(150):
        middle = (a + b) / 2
        a, b = (middle, b) if value(c, middle) < 0 else (a, middle)
    return (a + b) / 2


def step_length(x, v):
    def largest(k):
        return max(abs(column[i][a][k]) for column in (x, v) for i in range(3) for a in (0, 1))

    def allowed(k):
        size = largest(k)
        return (ERROR / size) ** (mpfr(1) / k) if size > 0 else mpfr(1)

    return min(allowed(ORDER), allowed(ORDER - 1))


def orbit(pos, vel, i, j):
    """Semi-major axis and eccentricity of body j about body i."""
    mu = MASS[i] + MASS[j]
    x, y = (pos[j][a] - pos[i][a] for a in (0, 1))
    u, w = (vel[j][a] - vel[i][a] for a in (0, 1))
    r = sqrt(x * x + y * y)
    a = 1 / (2 / r - (u * u + w * w) / mu)
    h = x * w - y * u
    return a, sqrt(1 - h * h / (mu * a))


def energy(pos, vel):
    kinetic = sum(m * (v[0] ** 2 + v[1] ** 2) for m, v in zip(MASS, vel)) / 2
    return kinetic - sum(
        MASS[i] * MASS[j] / sqrt((pos[i][0] - pos[j][0]) ** 2 + (pos[i][1] - pos[j][1]) ** 2) for i, j in PAIRS
    )


def main():
    pos = [[mpfr(1), mpfr(3)], [mpfr(-2), mpfr(-1)], [mpfr(1), mpfr(-1)]]
    vel = [[mpfr(0), mpfr(0)] for _ in MASS]
    start, t, steps, minima, moments = energy(pos, vel), mpfr(0), 0, [], []
    stops = [mpfr(s) for s in (10, 20, 30, 40, 50, 60, 70, END)]
    while t < END:
        x, v, r2 = series(pos, vel)
        target = next(s for s in stops if s > t)
        h = min(step_length(x, v), target - t)
        for p, pair in enumerate(PAIRS):
            slope = derivative(r2[p])
            if value(slope, mpfr(0)) < 0 <= value(slope, h):
                at = root(slope, mpfr(0), h)
                minima.append((sqrt(value(r2[p], at)), t + at, pair))
        size = sum(sqrt(r2[p][0]) for p in range(3))
        moments.append((size, t))
        pos = [[value(x[i][a], h) for a in (0, 1)] for i in range(3)]
        vel = [[value(v[i][a], h) for a in (0, 1)] for i in range(3)]
        t, steps = (target if t + h >= target else t + h), steps + 1
        if t == target:
            a, e = orbit(pos, vel, 1, 2)
            print(f"t = {float(t):g}: positions", [[float(c) for c in body] for body in pos], f"4-5 a {float(a):.12g} e {float(e):.12g}", flush=True)
    print(f"{steps} steps, relative energy error {float((energy(pos, vel) - start) / start):.1e}")
    closest = min(minima)
    print(f"closest approach: masses {[int(MASS[i]) for i in closest[2]]}, t = {float(closest[1]):.12g}, distance {float(closest[0]):.12g}")
    for distance, time, pair in sorted(minima)[:8]:
        print(f"  t = {float(time):.10f} masses {[int(MASS[i]) for i in pair]} distance {float(distance):.10g}")
    print(f"last moment at which the three stand within a triangle of circumference 3: t = {max(float(t) for size, t in moments if size < 3):.6f}")
    a, e = orbit(pos, vel, 1, 2)
    centre = [(MASS[1] * vel[1][k] + MASS[2] * vel[2][k]) / 9 for k in (0, 1)]
    speed = sqrt(sum((vel[0][k] - centre[k]) ** 2 for k in (0, 1)))
    middle = [(MASS[1] * pos[1][k] + MASS[2] * pos[2][k]) / 9 for k in (0, 1)]
    away = sqrt(sum((pos[0][k] - middle[k]) ** 2 for k in (0, 1)))
    print(f"t = {END}: binary of masses 4 and 5: a = {float(a):.12g}, e = {float(e):.12g}")
    print(f"escaper: distance {float(away):.12g}, relative speed {float(speed):.12g}, 2-body energy {float(speed * speed / 2 - 12 / away):.12g}")


main()
