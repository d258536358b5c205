#!/usr/bin/env python3
"""The reference of this case: orbits of two bodies by each ready law, from an integration of their relative motion by the classical scheme
of Runge and Kutta with fixed, very short steps; and the atoms of an icosahedron by Lennard-Jones's law.

    python3 validation/laws/make_reference.py

Forces are written out here, from the papers that docs/src/laws.md names, and not taken from tisane's formulas.
"""

import math
from pathlib import Path

HERE = Path(__file__).parent
MASS = (1.0, 0.25)
CHARGE = (2.0, -0.75)
TOTAL = sum(MASS)
REDUCED = MASS[0] * MASS[1] / TOTAL
MOMENTS = 12
STEPS = 20000  # in each unit of time


def spline(s, h=1.6):
    """Springel, Yoshida & White 2001, eq. 71 and the force of it."""
    u = s / h
    if u < 0.5:
        g = 32 / 3 - 38.4 * u**2 + 32 * u**3
    elif u < 1:
        g = 64 / 3 - 48 * u + 38.4 * u**2 - 32 / 3 * u**3 - 1 / (15 * u**3)
    else:
        g = 1 / u**3
    return TOTAL * u * g / h**2


def cutoff(s, radius=6.0):
    """Yoshikawa & Fukushige 2005: the force within half of the radius; the orbit stays there."""
    x = 2 * s / radius
    assert x < 1
    missing = 224 * x**3 - 224 * x**5 + 70 * x**6 + 48 * x**7 - 21 * x**8
    return TOTAL * (1 - missing / 140) / s**2


#: Name, velocity at the distance 1 across the separation, and the relative acceleration towards each other.
LAWS = {
    "yukawa": (0.8, lambda s: TOTAL * math.exp(-s / 1.5) * (1 + s / 1.5) / s**2),
    "spline": (0.4, spline),
    "lennard-jones": (0.3, lambda s: 0.4 * (6 * (0.8 / s) ** 6 - 12 * (0.8 / s) ** 12) / (s * REDUCED)),
    "coulomb": (1.2, lambda s: 0.5 * 1.5 / (REDUCED * s**2)),
    "p3m-cutoff": (0.7, cutoff),
    "paczynski-wiita": (0.9, lambda s: TOTAL / (s - 2 * TOTAL / 64) ** 2),
}


def slope(state, pull):
    x, y, vx, vy = state
    s = math.hypot(x, y)
    a = -pull(s) / s
    return (vx, vy, a * x, a * y)


def step(state, h, pull):
    def moved(by, part):
        return tuple(q + part * h * d for q, d in zip(state, by))

    a = slope(state, pull)
    b = slope(moved(a, 0.5), pull)
    c = slope(moved(b, 0.5), pull)
    d = slope(moved(c, 1.0), pull)
    return tuple(q + h / 6 * (k + 2 * (m + n) + p) for q, k, m, n, p in zip(state, a, b, c, d))


def bodies(state):
    """The two bodies about their centre of mass: each x, y, vx, vy."""
    return [tuple(part * q for q in state) for part in (-MASS[1] / TOTAL, MASS[0] / TOTAL)]


def orbit(name):
    speed, pull = LAWS[name]
    state = (1.0, 0.0, 0.0, speed)
    has_charge = name == "coulomb"
    with open(HERE / f"{name}_initial.csv", "w") as out:
        out.write("# by make_reference.py\nm,x,y,z,vx,vy,vz,id" + (",charge\n" if has_charge else "\n"))
        for k, (x, y, vx, vy) in enumerate(bodies(state)):
            row = f"{MASS[k]!r},{x!r},{y!r},0.0,{vx!r},{vy!r},0.0,{k}"
            out.write(row + (f",{CHARGE[k]!r}\n" if has_charge else "\n"))
    with open(HERE / f"{name}_reference.csv", "w") as out:
        out.write("# by make_reference.py\ntime,id,x,y,z\n")
        for moment in range(1, MOMENTS + 1):
            for _ in range(STEPS):
                state = step(state, 1 / STEPS, pull)
            for k, (x, y, _, _) in enumerate(bodies(state)):
                out.write(f"{float(moment)!r},{k},{x!r},{y!r},0.0\n")
    print(f"{name}: distance at the end {math.hypot(*state[:2]):.6f}")


def icosahedron():
    """An atom with twelve about it, at the distances at which the energy is least; sigma = depth = 1."""
    golden = (1 + math.sqrt(5)) / 2
    corners = [p for a in (-1, 1) for b in (-golden, golden) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
    edge = math.hypot(1, golden)
    corners = [tuple(q / edge for q in p) for p in corners]
    atoms = [(0.0, 0.0, 0.0), *corners]
    distances = [math.dist(a, b) for i, a in enumerate(atoms) for b in atoms[:i]]
    c6, c12 = (sum(d**-n for d in distances) for n in (6, 12))
    # Of 4 (C12 / r^12 - C6 / r^6).
    radius = (2 * c12 / c6) ** (1 / 6)
    with open(HERE / "icosahedron_initial.csv", "w") as out:
        out.write("# by make_reference.py\nm,x,y,z,vx,vy,vz,id\n")
        for k, p in enumerate(atoms):
            x, y, z = (radius * q for q in p)
            out.write(f"1.0,{x!r},{y!r},{z!r},0.0,0.0,0.0,{k}\n")
    print(f"icosahedron: radius {radius:.6f}, energy {-(c6**2) / c12:.6f}")


for law in LAWS:
    orbit(law)
icosahedron()
