#!/usr/bin/env python3
"""The reference of this case: REBOUND's IAS15, an integrator of 15th order by other authors, on a softened Plummer sphere.

    pip install rebound numpy
    python3 validation/ahmad-cohen/make_reference.py

Writes the initial conditions that both codes start from, and IAS15's positions. IAS15: Rein & Spiegel 2015, MNRAS 446, 1424. The
sphere is drawn as by Aarseth, Hénon & Wielen 1974, A&A 37, 183.
"""

from math import pi
from pathlib import Path

import numpy as np
import rebound

HERE = Path(__file__).parent
N, SEED, EPSILON = 256, 1, 1.0 / 256.0
TIMES = [0.25, 0.5]


def isotropic(random, length):
    """Return vectors of these lengths in random directions."""
    z, phi = random.uniform(-1.0, 1.0, len(length)), random.uniform(0.0, 2.0 * pi, len(length))
    across = np.sqrt(1.0 - z * z)
    return length[:, None] * np.stack([across * np.cos(phi), across * np.sin(phi), z], axis=1)


def plummer(n, seed):
    """Return positions and velocities of a Plummer sphere of mass 1 in N-body units, at rest at the origin."""
    random = np.random.default_rng(seed)
    radius = (random.uniform(0.0, 0.999, n) ** (-2.0 / 3.0) - 1.0) ** -0.5
    speed = np.empty(n)
    for i in range(n):
        while True:
            q, g = random.uniform(0.0, 1.0), random.uniform(0.0, 0.1)
            if g <= q * q * (1.0 - q * q) ** 3.5:
                break
        speed[i] = q * np.sqrt(2.0) * (1.0 + radius[i] ** 2) ** -0.25
    scale = 3.0 * pi / 16.0
    pos, vel = isotropic(random, radius) * scale, isotropic(random, speed) / np.sqrt(scale)
    return pos - pos.mean(axis=0), vel - vel.mean(axis=0)


def main():
    about = f"# REBOUND {rebound.__version__}, IAS15, by make_reference.py\n"
    pos, vel = plummer(N, SEED)
    sim = rebound.Simulation()
    sim.softening, sim.integrator = EPSILON, "ias15"
    for (x, y, z), (vx, vy, vz) in zip(pos.tolist(), vel.tolist()):
        sim.add(m=1.0 / N, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    with open(HERE / "sphere_initial.csv", "w") as out:
        out.write(about + "m,x,y,z,vx,vy,vz,id\n")
        for k, p in enumerate(sim.particles):
            out.write(",".join(repr(float(x)) for x in (p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz)) + f",{k}\n")
    with open(HERE / "sphere_reference.csv", "w") as out:
        out.write(about + "time,id,x,y,z\n")
        for time in TIMES:
            sim.integrate(time, exact_finish_time=1)
            for k, p in enumerate(sim.particles):
                out.write(f"{time!r},{k},{float(p.x)!r},{float(p.y)!r},{float(p.z)!r}\n")
    print(f"{N} particles to t = {TIMES[-1]:g} in {sim.steps_done} steps")


main()
