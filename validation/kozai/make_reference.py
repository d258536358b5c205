#!/usr/bin/env python3
"""The reference of this case: cycles of von Zeipel, Lidov and Kozai by the doubly averaged equations, to the octupole.

    python3 validation/kozai/make_reference.py

Writes the initial conditions of the triples, and prints eccentricities, inclinations and times of the maxima that case.toml has. Needs
nothing besides Python.

Averaged over both orbits, with the node eliminated, the energy of the inner orbit in the field of the outer one is

    H = -C ((2 + 3 e^2) (3 cos^2 i - 1) + 15 e^2 sin^2 i cos 2g)
        + D e e' (A cos f + 10 cos i sin^2 i (1 - e^2) sin g sin g'),

    C = m1 m2 m3 a^2 / (16 (m1 + m2) (a' b')^3),  D = 15 m1 m2 m3 (m1 - m2) a^3 / (64 (m1 + m2)^2 a'^4 b'^5),
    A = 4 + 3 e^2 - 5/2 (2 + 5 e^2 - 7 e^2 cos 2g) sin^2 i,  cos f = -cos g cos g' - cos i sin g sin g'

with G = 1, inner elements a, e, g (argument of the pericentre of m2 about m1), outer a', e', g' and b' = sqrt(1 - e'^2), mutual inclination i (Kozai
1962, AJ 67, 591; Naoz et al. 2013, MNRAS 431, 2155, equations 22 and 24). The script compares it with the sum over both orbits first.
The momenta of g and g' are the angular momenta G1 and G2; their sum as vectors, J, is constant: cos i = (J^2 - G1^2 - G2^2) / (2 G1 G2).
Hamilton's equations are solved by the method of Runge and Kutta, with differences for the derivatives of H. tisane has vectors of eccentricity and
angular momentum, in other equations.
"""

from math import acos, atan2, cos, degrees, pi, radians, sin, sqrt
from pathlib import Path

HERE = Path(__file__).parent
STEPS = 2000  # a characteristic time, at e = 0; fewer on eccentric orbits

# m1, m2, m3; inner a, e, g; outer a', e', g'; inclination. Angles in degrees.
TRIPLES = {
    "equal": ((0.5, 0.5, 1.0), (1.0, 0.1, 0.0), (30.0, 0.2, 0.0), 70.0),
    "light": ((0.9, 0.1, 0.3), (1.0, 0.3, 90.0), (20.0, 0.0, 0.0), 60.0),
    "flips": ((0.9, 0.1, 1.0), (1.0, 0.1, 0.0), (20.0, 0.6, 90.0), 70.0),
}
# Numbers of the maxima that are compared.
MAXIMA = {"equal": (1, 6), "light": (1, 6), "flips": (1, 2, 5, 10, 11, 20, 31)}


class Cycle:
    """The averaged equations of one triple."""

    def __init__(self, masses, inner, outer, inclination):
        (m1, m2, m3), (a, e, g), (a2, e2, g2) = masses, inner, outer
        m = m1 + m2
        self.quadrupole = m1 * m2 * m3 * a**2 / (16 * m * a2**3)
        # On a circular outer orbit, which has no g', the octupole is left out.
        self.octupole = 15 * m1 * m2 * m3 * (m1 - m2) * a**3 / (64 * m**2 * a2**4) if e2 > 0 else 0.0
        self.largest = m1 * m2 * sqrt(a / m), m * m3 * sqrt(a2 / (m + m3))
        x, y = self.largest[0] * sqrt(1 - e**2), self.largest[1] * sqrt(1 - e2**2)
        self.j2 = x**2 + y**2 + 2 * x * y * cos(radians(inclination))
        self.state = (x, radians(g), y, radians(g2))
        self.time = self.largest[0] / self.quadrupole * (1 - e2**2) ** 1.5

    def energy(self, x, g, y, g2):
        cosine = (self.j2 - x**2 - y**2) / (2 * x * y)
        sine2, b = 1 - cosine**2, y / self.largest[1]
        e2 = 1 - (x / self.largest[0]) ** 2
        h = -self.quadrupole / b**3 * ((2 + 3 * e2) * (3 * cosine**2 - 1) + 15 * e2 * sine2 * cos(2 * g))
        if self.octupole == 0:
            return h
        brackets = 4 + 3 * e2 - 2.5 * (2 + 5 * e2 - 7 * e2 * cos(2 * g)) * sine2
        brackets *= -cos(g) * cos(g2) - cosine * sin(g) * sin(g2)
        brackets += 10 * cosine * sine2 * (1 - e2) * sin(g) * sin(g2)
        return h + self.octupole / b**5 * sqrt(e2 * (1 - b**2)) * brackets

    def rates(self, state):
        """dG1/dt, dg/dt, dG2/dt and dg'/dt."""
        by = []
        for k, value in enumerate(state):
            h = 1e-3
            if k % 2 == 0:
                # Small against what is left to the ends of the interval of the momentum, by the roots at these.
                h = 0.01 * min(value, self.largest[k // 2] - value) or 1e-4 * value
            at = lambda moved: self.energy(*state[:k], value + moved, *state[k + 1 :])
            by.append((8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h))
        return -by[1], by[0], -by[3], by[2]

    def eccentricity(self):
        return sqrt(1 - (self.state[0] / self.largest[0]) ** 2)

    def inclination(self):
        """Of the inner orbit to the plane at right angles to J, in degrees."""
        x, _, y, _ = self.state
        return degrees(acos((self.j2 + x**2 - y**2) / (2 * sqrt(self.j2) * x)))

    def step(self, h):
        moved = lambda k, h: tuple(s + h * d for s, d in zip(self.state, k))
        k1 = self.rates(self.state)
        k2 = self.rates(moved(k1, h / 2))
        k3 = self.rates(moved(k2, h / 2))
        k4 = self.rates(moved(k3, h))
        self.state = moved([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4)], h)

    def maxima(self, count):
        """Times, eccentricities and inclinations of the first maxima, by parabolas through three points."""
        t, found, last = 0.0, [], []
        self.steepest = self.inclination()
        while len(found) < count:
            h = self.time / STEPS * sqrt(1 - self.eccentricity() ** 2)
            self.step(h)
            t += h
            self.steepest = max(self.steepest, self.inclination())
            last = (last + [(t, self.eccentricity(), self.inclination())])[-3:]
            if len(last) == 3 and last[0][1] < last[1][1] >= last[2][1]:
                (p, u, _), (q, v, i), (r, w, _) = last
                left, right = (v - u) / (q - p), (w - v) / (r - q)
                bend = (right - left) / (r - p)
                top = (p + q) / 2 - left / (2 * bend)
                found.append((top, u + (top - p) * left + (top - p) * (top - q) * bend, i))
        return found


def check(cycle, masses, inner, outer):
    """Compares the energy with the sum over both orbits of the potential of the second and third order."""
    (m1, m2, m3), (a, _, _), (a2, _, _) = masses, inner, outer
    m, parts = m1 + m2, 48
    x, g, y, g2 = cycle.state
    e, e2 = cycle.eccentricity(), sqrt(max(0.0, 1 - (y / cycle.largest[1]) ** 2))
    i = acos((cycle.j2 - x**2 - y**2) / (2 * x * y))
    mean = 0.0
    for k in range(parts):
        u = 2 * pi * k / parts
        r, v = plane(a * (cos(u) - e), a * sqrt(1 - e**2) * sin(u), g, i, 0.0), 1 - e * cos(u)
        for n in range(parts):
            f = 2 * pi * n / parts
            s = a2 * (1 - e2**2) / (1 + e2 * cos(f))
            far = plane(s * cos(f), s * sin(f), g2, 0.0, pi)
            w = v * s**2 / (a2**2 * sqrt(1 - e2**2)) / parts**2
            r2, along = sum(c * c for c in r), sum(c * d for c, d in zip(r, far)) / s
            second = -m3 * m1 * m2 / m * (3 * along**2 - r2) / (2 * s**3)
            third = -m3 * m1 * m2 * (m1 - m2) / m**2 * (5 * along**3 - 3 * r2 * along) / (2 * s**4)
            mean += w * (second + third)
    assert abs(mean / cycle.energy(*cycle.state) - 1) < 1e-9, (mean, cycle.energy(*cycle.state))


def plane(x, y, g, inclination, node):
    """Place in space of one in the plane of an orbit, with the pericentre on the first axis."""
    x, y = cos(g) * x - sin(g) * y, sin(g) * x + cos(g) * y
    return (
        cos(node) * x - sin(node) * cos(inclination) * y, sin(node) * x + cos(node) * cos(inclination) * y, sin(inclination) * y
    )


def orbit(mu, a, e, g, inclination, node):
    """Position and velocity at the apocentre."""
    r, v = a * (1 + e), sqrt(mu / a * (1 - e) / (1 + e))
    return plane(-r, 0.0, g, inclination, node), plane(0.0, -v, g, inclination, node)


def write(name, masses, inner, outer, inclination):
    """The triple about its centre of mass. Inclinations to the plane at right angles to J, with opposite nodes."""
    (m1, m2, m3), (a, e, g), (a2, e2, g2) = masses, inner, outer
    m, all3 = m1 + m2, m1 + m2 + m3
    cycle = Cycle(masses, inner, outer, inclination)
    check(cycle, masses, inner, outer)
    i, spin = radians(inclination), cycle.state[2]
    i1 = atan2(spin * sin(i), cycle.state[0] + spin * cos(i))
    x, v = orbit(m, a, e, radians(g), i1, 0.0)
    X, V = orbit(all3, a2, e2, radians(g2), i - i1, pi)
    rows = []
    for mass, share, outer_share in [(m1, -m2 / m, -m3 / all3), (m2, m1 / m, -m3 / all3), (m3, 0.0, m / all3)]:
        rows.append([mass] + [share * p + outer_share * q for p, q in zip(x + v, X + V)])
    with open(HERE / f"{name}_initial.csv", "w") as out:
        out.write("# by make_reference.py\nm,x,y,z,vx,vy,vz,id\n")
        for k, row in enumerate(rows):
            out.write(",".join(repr(float(value)) for value in row) + f",{k}\n")


def main():
    for name, triple in TRIPLES.items():
        write(name, *triple)
        numbers = MAXIMA[name]
        cycle = Cycle(*triple)
        found = cycle.maxima(max(numbers))
        for number in numbers:
            time, e, inclination = found[number - 1]
            print(f"{name}: maximum {number} at t = {time:.1f}, e = {e:.6f}, inclination {inclination:.2f}")
        print(f"{name}: largest inclination to the last of these {cycle.steepest:.2f}")
        if name == "equal":
            # To the quadrupole one cycle is like the other.
            period = (found[5][0] - found[0][0]) / 5
            print(f"{name}: maximum 1000 at t = {found[0][0] + 999 * period:.0f}")


main()
