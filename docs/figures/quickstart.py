#!/usr/bin/env python3
"""A figure of a run: the particles at its start and end, the energy error over time, the time steps.

    python3 docs/figures/quickstart.py runs/quickstart docs/src/images/quickstart.png

Reads the snapshots and diagnostics.hdf5 of the output directory. Needs numpy, h5py and matplotlib.
"""

import argparse
import pathlib

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (after the backend is chosen)

# Okabe & Ito's colours: told apart with any colour vision, and in grey.
START, END = "#E69F00", "#0072B2"


def text(value):
    """A text attribute, however h5py returns it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def snapshot(path):
    """Positions, their unit, the time with its unit."""
    with h5py.File(path) as file:
        coordinates = file["PartType4/Coordinates"]
        time = f"{file.attrs['time']:g} {text(file.attrs['time_unit'])}"
        return coordinates[:], text(coordinates.attrs["unit"]), time


def diagnostics(path):
    """All columns by name, and the unit of time."""
    with h5py.File(path) as file:
        group = file["Diagnostics"]
        return {name: group[name][:] for name in group}, text(group["time"].attrs["unit"])


def draw_particles(axes, path, colour, half_width):
    """Projected positions; says how many particles lie outside the frame."""
    positions, unit, time = snapshot(path)
    outside = int((np.abs(positions[:, :2]) > half_width).any(axis=1).sum())
    size = np.clip(4000 / len(positions), 0.2, 4)
    axes.scatter(positions[:, 0], positions[:, 1], s=size, c=colour, alpha=0.7, linewidths=0, rasterized=True)
    axes.set(xlim=(-half_width, half_width), ylim=(-half_width, half_width), aspect="equal", xlabel=f"x [{unit}]")
    axes.set_title(f"t = {time}" + (f"   ({outside} outside)" if outside else ""), fontsize=10)
    return unit


def draw_error(axes, columns, unit):
    """|relative energy error| of every row but the first, where it is zero by definition."""
    time, error = columns["time"], np.abs(columns["relative_energy_error"])
    shown = error > 0
    axes.semilogy(time[shown], error[shown], "o-", color=END, markersize=4, linewidth=1.2)
    axes.set(xlabel=f"t [{unit}]", ylabel=r"$|E - E_0| \, / \, |E_0|$", xlim=(time[0], time[-1] * 1.02))
    # At least two whole decades, so that a log axis reads as one.
    low, high = (np.floor(np.log10(error[shown].min())), np.ceil(np.log10(error[shown].max()))) if shown.any() else (-16, -14)
    axes.set_ylim(10.0 ** min(low, high - 2), 10.0**high)
    axes.grid(alpha=0.3, linewidth=0.5)
    axes.set_title("relative energy error", fontsize=10)


def draw_steps(axes, columns, unit):
    """Particles by time step, at the first and the last row."""
    names = sorted(name for name in columns if name.startswith("steps_level_"))
    counts = np.array([columns[name] for name in names])
    used = np.flatnonzero(counts[:, [0, -1]].any(axis=1))
    levels = np.arange(used[0], used[-1] + 1)
    longest = columns["step_max"][0] * 2.0 ** np.flatnonzero(counts[:, 0])[0]
    step = longest / 2.0**levels
    for row, colour, shift, label in [(0, START, 2**-0.2, "start"), (-1, END, 2**0.2, "end")]:
        axes.bar(step * shift, counts[levels, row], width=step * 0.27, color=colour, label=label)
    axes.set_xscale("log", base=2)
    axes.set(xlabel=f"time step [{unit}]", ylabel="particles")
    axes.grid(axis="y", alpha=0.3, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("time steps", fontsize=10)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("run", type=pathlib.Path, help="output directory of a run")
    arguments.add_argument("figure", type=pathlib.Path, help="file to write: .png, .pdf or .svg")
    chosen = arguments.parse_args()

    paths = sorted((chosen.run / "snapshots").glob("snapshot_*.hdf5"), key=lambda path: int(path.stem.split("_")[1]))
    if len(paths) < 2:
        arguments.error(f"{chosen.run / 'snapshots'}: expected at least two snapshots, found {len(paths)}")
    columns, unit_of_time = diagnostics(chosen.run / "diagnostics.hdf5")

    first = snapshot(paths[0])[0]
    half_width = np.ceil(2 * np.quantile(np.abs(first[:, :2]), 0.98)) / 2
    figure = plt.figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.75, 1])
    start, end = left.subplots(1, 2, sharey=True)
    unit = draw_particles(start, paths[0], START, half_width)
    draw_particles(end, paths[-1], END, half_width)
    start.set_ylabel(f"y [{unit}]")
    above, below = right.subplots(2, 1)
    draw_error(above, columns, unit_of_time)
    draw_steps(below, columns, unit_of_time)
    figure.savefig(chosen.figure, dpi=110)


if __name__ == "__main__":
    main()
