"""CPU time of tisane and REBOUND on the same particles, on one thread: at the same energy error, and with the distance from a
converged solution.

Called by scripts/check/peers. Each code integrates with several accuracies, interleaved; the fastest of some repetitions
counts. The time for an error is interpolated between two measured points, straight in the logarithms: where an error is
outside of what a code was measured with, there is no number.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import rebound

TISANE = Path("target/release/tisane")
CLUSTER = """[run]
name = "cluster"
t_end = 1.0
[initial.plummer]
n = {n}
[integrator.multipoint]
eta = {accuracy}
dt_max = "1/16"
dt_min = "2^-36"
[output]
interval = 1.0
"""
# The distances are those of 64 stars at this time.
T_POSITIONS = 4.0
POSITIONS = """[run]
name = "positions"
t_end = {t_end}
[initial.plummer]
n = 64
[softening]
epsilon = "1/256"
[integrator.{integrator}]
{keys}
dt_max = "1/8"
[output]
interval = {t_end}
"""
YEARS = 1000.0
PLANETS = """[run]
name = "planets"
t_end = {years}
[units]
mass = "Msun"
length = "au"
time = "yr"
[initial.solar-system]
[integrator.multipoint]
order = 8
eta = {accuracy}
dt_max = "1/64"
[output]
interval = {years}
[cluster]
enabled = false
"""
SHORT = 0.2  # Seconds in which other work may leave a core alone.
MERCURY = 0.2408  # Period in years.
# Tolerances of IAS15, its default among them.
EPSILONS = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)


def tisane(config: str, folder: Path) -> tuple[float, float, Path]:
    """Runs a configuration: CPU time of the block steps in s, energy error, directory."""
    file, output = folder / "run.toml", folder / "output"
    file.write_text(config)
    command = [TISANE, "run", file, "-q", "--overwrite", "--threads", "1", "--engine", "cpu", "--profile"]
    began = time.perf_counter()
    with subprocess.Popen([*command, "--output", output]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    wall = time.perf_counter() - began
    summary = json.loads((output / "summary.json").read_text())
    seconds = sum(summary["profile"]["seconds"].values())
    if seconds > SHORT:
        # Less the time that other work had the core: the start counts little here. A short run is undisturbed at best.
        seconds *= min(1.0, (used.ru_utime + used.ru_stime) / wall)
    return seconds, abs(summary["relative_energy_error"]), output


def simulation(output: Path) -> rebound.Simulation:
    """Returns a REBOUND simulation of the first snapshot of a run, in its units."""
    with h5py.File(output / "snapshots/snapshot_0000.hdf5") as file:
        part = file["PartType4"]
        mass, pos, vel = part["Masses"][:], part["Coordinates"][:], part["Velocities"][:]
        g = float(file["Units"].attrs["G"]) if "G" in file["Units"].attrs else 1.0
    sim = rebound.Simulation()
    sim.G = g
    for m, x, v in zip(mass, pos, vel):
        sim.add(m=m, x=x[0], y=x[1], z=x[2], vx=v[0], vy=v[1], vz=v[2])
    return sim


def last_positions(output: Path) -> np.ndarray:
    """Returns the positions of the last snapshot of a run, by id."""
    with h5py.File(max((output / "snapshots").glob("snapshot_*.hdf5"))) as file:
        part = file["PartType4"]
        return part["Coordinates"][:][np.argsort(part["ParticleIDs"][:])]


def positions(folder: Path, repeat: int) -> None:
    """Prints the time and the rms distance from a converged solution of 64 softened stars, for both codes."""
    def ours(integrator: str, keys: str) -> tuple[float, np.ndarray, Path]:
        config = POSITIONS.format(integrator=integrator, keys=keys, t_end=T_POSITIONS)
        seconds, _, output = tisane(config, folder)
        return seconds, last_positions(output), output

    _, solution, output = ours("extrapolated", "tolerance = 1e-24")

    def rms(pos: np.ndarray) -> float:
        return float(np.sqrt(((pos - solution) ** 2).sum(axis=1).mean()))

    def theirs(epsilon: float) -> tuple[float, np.ndarray]:
        sim = simulation(output)
        sim.integrator, sim.softening = "ias15", 1.0 / 256.0
        sim.integrator.epsilon = epsilon
        began = time.process_time()
        sim.integrate(T_POSITIONS)
        return time.process_time() - began, np.array([body.xyz for body in sim.particles])

    runs = {f"tisane, order {order}, η = {eta:g}": lambda order=order, eta=eta: ours("multipoint", f"order = {order}\neta = {eta}")
            for order in (6, 8) for eta in (0.05, 0.025, 0.018, 0.0125)}
    runs |= {f"IAS15, epsilon = {epsilon:.0e}": lambda epsilon=epsilon: theirs(epsilon) for epsilon in EPSILONS[:3]}
    # By turns, as the machine's speed changes.
    results = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            results[name].append(run()[:2])
    print(f"\n| 64 stars, ε = 1/256, t = {T_POSITIONS:g} | rms distance from the solution | s |\n|---|---|---|")
    for name, found in results.items():
        print(f"| {name} | {rms(found[0][1]):.1e} | {min(seconds for seconds, _ in found):.2g} |", flush=True)


def peer(output: Path, integrator: str, accuracy: float, t_end: float) -> tuple[float, float]:
    """Integrates with REBOUND, `accuracy` being epsilon of IAS15 or the step of WHFast: CPU time in s, energy error."""
    sim = simulation(output)
    sim.integrator = integrator
    if integrator == "whfast":
        sim.dt = accuracy
        sim.move_to_com()
    else:
        sim.integrator.epsilon = accuracy
    before, began = sim.energy(), time.process_time()
    sim.integrate(t_end, exact_finish_time=0)
    return time.process_time() - began, abs(sim.energy() / before - 1.0)


def at_error(points: list[tuple[float, float]], goal: float) -> float:
    """Least time at an error, between neighbouring points (time, error) in order of accuracy; NaN outside of them."""
    found = []
    for (t0, e0), (t1, e1) in zip(points, points[1:]):
        if min(e0, e1) <= goal <= max(e0, e1) and min(e0, e1) > 0.0 and e0 != e1:
            part = math.log(goal / e0) / math.log(e1 / e0)
            found.append(math.exp((1.0 - part) * math.log(t0) + part * math.log(t1)))
    return min(found, default=math.nan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the fastest counts")
    repeat = parser.parse_args().repeat
    print(subprocess.run([TISANE, "--version"], check=True, capture_output=True, text=True).stdout.strip(), end="; ")
    print(f"REBOUND {rebound.__version__}; CPU time on one thread, the fastest of {repeat}")
    etas = {6: (0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.06), 8: (0.2, 0.15, 0.1, 0.07, 0.05, 0.04)}
    plummer = [(f"Plummer sphere, N = {n}, one time unit", CLUSTER.replace("{n}", str(n)), etas[6], "ias15", EPSILONS, 1.0)
               for n in (64, 256)]
    planets = PLANETS.replace("{years}", str(YEARS))
    steps = tuple(MERCURY / k for k in (6, 10, 20, 40, 80))
    cases = plummer + [(f"Sun and eight planets, {YEARS:.0f} years", planets, etas[8], integrator, accuracies, YEARS)
                       for integrator, accuracies in (("ias15", EPSILONS), ("whfast", steps))]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, config, ours, integrator, theirs, t_end in cases:
            here, there = [(math.inf, 0.0)] * len(ours), [(math.inf, 0.0)] * len(theirs)
            for _ in range(repeat):
                for k, accuracy in enumerate(ours):
                    # A short run is repeated more: other work may have disturbed it.
                    for _ in range(5):
                        seconds, error, output = tisane(config.replace("{accuracy}", str(accuracy)), Path(folder))
                        here[k] = min(here[k], (seconds, error))
                        if seconds > SHORT:
                            break
                for k, accuracy in enumerate(theirs):
                    there[k] = min(there[k], peer(output, integrator, accuracy, t_end))
            title = {"ias15": "IAS15", "whfast": "WHFast"}[integrator]
            for code, accuracies, points in (("tisane", ours, here), (title, theirs, there)):
                told = ", ".join(f"{a:.3g}: {t:.3g} s {e:.1e}" for a, (t, e) in zip(accuracies, points))
                print(f"{name}, {code}: {told}", flush=True)
            for goal in (1e-8, 1e-9, 1e-10, 1e-12, 1e-14):
                pair = at_error(here, goal), at_error(sorted(there, key=lambda it: -it[1]), goal)
                if not any(map(math.isnan, pair)):
                    rows.append(f"| {name}; {title} | {goal:.0e} | {pair[0]:.2g} | {pair[1]:.2g} | {pair[1] / pair[0]:.2g} |")
    print("\n| system; REBOUND's scheme | dE/E | tisane: s | REBOUND: s | REBOUND / tisane |\n|---|---|---|---|---|")
    print("\n".join(rows))
    with tempfile.TemporaryDirectory() as folder:
        positions(Path(folder), repeat)


if __name__ == "__main__":
    main()
