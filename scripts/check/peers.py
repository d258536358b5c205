"""Wall time and energy error of tisane and REBOUND on the same particles, interleaved, the best of some repetitions.

Called by scripts/check/peers. Times are those of the integration alone, on one thread.
"""

import argparse
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import rebound

TISANE = Path("target/release/tisane")
CLUSTER = """[run]
name = "cluster"
t_end = 1.0
[initial.plummer]
n = {n}
[integrator.multipoint]
eta = {eta}
dt_max = "1/16"
dt_min = "2^-36"
[output]
interval = 1.0
"""
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
dt_max = "1/16"
[output]
interval = {years}
[cluster]
enabled = false
"""


def tisane(config: str, folder: Path) -> tuple[float, float, Path]:
    """Runs a configuration: seconds of the block steps, energy error, directory."""
    file, output = folder / "run.toml", folder / "output"
    file.write_text(config)
    command = [TISANE, "run", file, "-q", "--overwrite", "--threads", "1", "--engine", "cpu", "--profile"]
    subprocess.run([*command, "--output", output], check=True)
    summary = json.loads((output / "summary.json").read_text())
    return sum(summary["profile"]["seconds"].values()), abs(summary["relative_energy_error"]), output


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


def peer(output: Path, integrator: str, dt: float, t_end: float) -> tuple[float, float]:
    """Integrates with REBOUND: seconds, energy error."""
    sim = simulation(output)
    sim.integrator = integrator
    if dt > 0.0:
        sim.dt = dt
    if integrator == "whfast":
        sim.move_to_com()
    before, began = sim.energy(), time.perf_counter()
    sim.integrate(t_end, exact_finish_time=0)
    return time.perf_counter() - began, abs(sim.energy() / before - 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the fastest counts")
    repeat = parser.parse_args().repeat
    print(subprocess.run([TISANE, "--version"], check=True, capture_output=True, text=True).stdout.strip(), end="; ")
    print(f"REBOUND {rebound.__version__}; one thread, the fastest of {repeat}")
    print("| system | tisane: s | dE/E | REBOUND: s | dE/E | REBOUND / tisane |\n|---|---|---|---|---|---|")
    years = 1000.0
    cases = [(f"Plummer sphere, N = {n}, one time unit; IAS15", CLUSTER.format(n=n, eta=0.2), "ias15", 0.0, 1.0)
             for n in (64, 256)]
    mercury = 0.2408
    for integrator, dt in (("ias15", 0.0), ("whfast", mercury / 20)):
        name = f"Sun and eight planets, {years:.0f} years; {integrator.replace('whfast', 'WHFast').replace('ias15', 'IAS15')}"
        cases.append((name, PLANETS.format(years=years), integrator, dt, years))
    with tempfile.TemporaryDirectory() as folder:
        for name, config, integrator, dt, t_end in cases:
            ours, theirs = (math.inf, 0.0), (math.inf, 0.0)
            for _ in range(repeat):
                seconds, error, output = tisane(config, Path(folder))
                ours = min(ours, (seconds, error))
                theirs = min(theirs, peer(output, integrator, dt, t_end))
            print(f"| {name} | {ours[0]:.3f} | {ours[1]:.1e} | {theirs[0]:.3f} | {theirs[1]:.1e} | {theirs[0] / ours[0]:.2g} |",
                  flush=True)


if __name__ == "__main__":
    main()
