#!/usr/bin/env python3
"""The reference of this case: cycles of von Zeipel, Lidov and Kozai by the doubly averaged equations, to the quadrupole.

    python3 validation/kozai/make_reference.py

Writes the initial conditions of the triples, and prints the eccentricities and the times that case.toml has. Needs nothing besides Python.

Averaged over both orbits, with the node eliminated, the energy of the inner orbit in the field of the outer one is

    H = -C ((2 + 3 e^2) (3 cos^2 i - 1) + 15 e^2 sin^2 i cos 2g),  C = m1 m2 m3 a^2 / (16 (m1 + m2) (a' b')^3)

with G = 1, inner elements a, e, g (argument of the pericentre), outer a' and b' = sqrt(1 - e'^2), mutual inclination i (Kozai 1962, AJ 67, 591;
Naoz et al. 2013, MNRAS 431, 2155, equation 22). The momentum of g is the inner angular momentum G1; that of the outer orbit, G2, and their sum
as vectors, J, are constant: cos i = (J^2 - G1^2 - G2^2) / (2 G1 G2). dg/dt = dH/dG1 and dG1/dt = -dH/dg are solved by the
method of Runge and Kutta. tisane has vectors of eccentricity and angular momentum, in other equations.
"""

from math import atan2, cos, pi, radians, sin, sqrt
from pathlib import Path

HERE = Path(__file__).parent
# Cycles whose ends are compared.
CYCLES = 5
STEPS = 4000  # a characteristic time

# m1, m2, m3; inner a, e, g; outer a', e'; inclination. Angles in degrees.
TRIPLES = {
    "equal": ((0.5, 0.5, 1.0), (1.0, 0.1, 0.0), (30.0, 0.2), 70.0),
    "light": ((0.9, 0.1, 0.3), (1.0, 0.3, 90.0), (20.0, 0.0), 60.0),
}


class Cycle:
    """The averaged equations of one triple."""

    def __init__(self, masses, inner, outer, inclination):
        (m1, m2, m3), (a, e, g), (a2, e2) = masses, inner, outer
        m = m1 + m2
        self.c = m1 * m2 * m3 * a**2 / (16 * m * (a2 * sqrt(1 - e2**2)) ** 3)
        self.largest = m1 * m2 * sqrt(a / m)
        self.outer = m * m3 * sqrt(a2 * (1 - e2**2) / (m + m3))
        self.state = self.largest * sqrt(1 - e**2), radians(g)
        x = self.state[0]
        self.j2 = x**2 + self.outer**2 + 2 * x * self.outer * cos(radians(inclination))
        self.time = self.largest / self.c

    def rates(self, x, g):
        """dG1/dt and dg/dt."""
        k = self.j2 - self.outer**2
        cosine = (k - x**2) / (2 * x * self.outer)
        by_x = -(k + x**2) / (2 * x**2 * self.outer)
        e2, e2_by_x = 1 - (x / self.largest) ** 2, -2 * x / self.largest**2
        by_g = -30 * e2 * (1 - cosine**2) * sin(2 * g)
        slope = 3 * e2_by_x * (3 * cosine**2 - 1) + (2 + 3 * e2) * 6 * cosine * by_x
        slope += 15 * cos(2 * g) * (e2_by_x * (1 - cosine**2) - 2 * e2 * cosine * by_x)
        return self.c * by_g, -self.c * slope

    def eccentricity(self):
        return sqrt(1 - (self.state[0] / self.largest) ** 2)

    def step(self, h):
        x, g = self.state
        k1 = self.rates(x, g)
        k2 = self.rates(x + h / 2 * k1[0], g + h / 2 * k1[1])
        k3 = self.rates(x + h / 2 * k2[0], g + h / 2 * k2[1])
        k4 = self.rates(x + h * k3[0], g + h * k3[1])
        self.state = tuple(s + h / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip((x, g), k1, k2, k3, k4))

    def maxima(self, count):
        """Times and eccentricities of the first maxima, by parabolas through three points."""
        h, t, found, last = self.time / STEPS, 0.0, [], [self.eccentricity()]
        while len(found) < count:
            self.step(h)
            t += h
            last = (last + [self.eccentricity()])[-3:]
            if len(last) == 3 and last[0] < last[1] >= last[2]:
                (p, q, r), at = last, t - h
                bend = p - 2 * q + r
                found.append((at + h * (p - r) / (2 * bend), q - (p - r) ** 2 / (8 * bend)))
        return found


def orbit(mu, a, e, g, inclination, node):
    """Position and velocity at the apocentre."""
    r, v = a * (1 + e), sqrt(mu / a * (1 - e) / (1 + e))
    turn = lambda x, y: (
        cos(node) * x - sin(node) * cos(inclination) * y, sin(node) * x + cos(node) * cos(inclination) * y, sin(inclination) * y
    )
    return turn(-r * cos(g), -r * sin(g)), turn(v * sin(g), -v * cos(g))


def write(name, masses, inner, outer, inclination):
    """The triple about its centre of mass. Inclinations to the plane at right angles to J, with opposite nodes."""
    (m1, m2, m3), (a, e, g), (a2, e2) = masses, inner, outer
    m, all3 = m1 + m2, m1 + m2 + m3
    cycle = Cycle(masses, inner, outer, inclination)
    i = radians(inclination)
    i1 = atan2(cycle.outer * sin(i), cycle.state[0] + cycle.outer * cos(i))
    x, v = orbit(m, a, e, radians(g), i1, 0.0)
    X, V = orbit(all3, a2, e2, 0.0, i - i1, pi)
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
        maxima = Cycle(*triple).maxima(CYCLES + 1)
        first, last = maxima[0], maxima[-1]
        print(f"{name}: largest eccentricity {first[1]:.6f}, first at t = {first[0]:.1f}, next {CYCLES} end at {last[0]:.1f}, ", end="")
        print(f"period {(last[0] - first[0]) / CYCLES:.1f}")


main()
