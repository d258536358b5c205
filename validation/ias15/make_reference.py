#!/usr/bin/env python3
"""The reference of this case: REBOUND's IAS15, an integrator of 15th order by other authors, on two problems of few bodies.

    pip install rebound
    python3 validation/ias15/make_reference.py

Writes the initial conditions that both codes start from, and IAS15's positions. IAS15: Rein & Spiegel 2015, MNRAS 446, 1424.
"""

from pathlib import Path

import rebound

HERE = Path(__file__).parent
# The Sun's GM (IAU 2015 B3), the astronomical unit and the Julian year, as crates/force/src/units/names.rs has them.
GM_SUN = 1.3271244e20 * (365.25 * 86400.0) ** 2 / 149597870700.0**3


def triple():
    """A hierarchical triple at high inclination: eccentricity and inclination of the inner orbit change within the run."""
    sim = rebound.Simulation()
    sim.add(m=1.0)
    sim.add(m=0.5, a=1.0, e=0.3, inc=0.2, Omega=0.3, omega=0.4, M=0.5)
    sim.add(m=0.3, a=8.0, e=0.2, inc=1.2, Omega=1.3, omega=2.4, M=1.5)
    return sim, [32.0 * k for k in range(1, 17)]


def giants():
    """The Sun and the four giant planets: elements of Standish (JPL, table 1), mass ratios of the IAU 2009 system."""
    sim = rebound.Simulation()
    sim.G = GM_SUN
    sim.add(m=1.0)
    degree = 0.017453292519943295
    for ratio, a, e, i, longitude, perihelion, node in [
        (1047.348644, 5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909),
        (3497.9018, 9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448),
        (22902.98, 19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503),
        (19412.26, 30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574),
    ]:
        sim.add(
            m=1.0 / ratio, a=a, e=e, inc=i * degree, Omega=node * degree, omega=(perihelion - node) * degree,
            M=(longitude - perihelion) * degree, primary=sim.particles[0],
        )
    return sim, [100.0 * k for k in range(1, 11)]


def main():
    about = f"# REBOUND {rebound.__version__}, IAS15, by make_reference.py\n"
    for name, make in (("triple", triple), ("giants", giants)):
        sim, times = make()
        sim.move_to_com()
        sim.integrator = "ias15"
        with open(HERE / f"{name}_initial.csv", "w") as out:
            out.write(about + "m,x,y,z,vx,vy,vz,id\n")
            for k, p in enumerate(sim.particles):
                out.write(",".join(repr(float(x)) for x in (p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz)) + f",{k}\n")
        start = sim.energy()
        with open(HERE / f"{name}_reference.csv", "w") as out:
            out.write(about + "time,id,x,y,z\n")
            for time in times:
                sim.integrate(time, exact_finish_time=1)
                for k, p in enumerate(sim.particles):
                    out.write(f"{time!r},{k},{float(p.x)!r},{float(p.y)!r},{float(p.z)!r}\n")
        print(f"{name}: {len(times)} moments to t = {times[-1]:g}, relative energy error {sim.energy() / start - 1:.1e}")


main()
