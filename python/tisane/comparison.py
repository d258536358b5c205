"""Runs side by side: a row a run."""

import math
import os
from collections.abc import Iterable

import numpy as np

from .columns import Column, Table
from .directory import Run, load
from .errors import InputError

#: Keys of the accuracy of the schemes, the first that a scheme has.
ACCURACIES = ("nu", "eta", "dt")


def compare(runs: Iterable[Run | str | os.PathLike]) -> Table:
    """A table with a row for each run, in their order: how it was made, how far it came, its errors and its cost.

    `runs` are runs or their directories, or one of them. Columns: `run`, the directory; `n`, particles; `time`, in the unit of the first run;
    `integrator` and its `accuracy`, nu, eta or dt; `precision`; `energy_error` and `max_energy_error`, relative; `cluster_energy_error`,
    relative to the cluster's own energy; `block_steps`, `pair_interactions`, `wall_seconds`; `exit_reason`. What a run does not
    have is NaN; of one under way or killed these are all numbers of its result, and `exit_reason` is empty.

    InputError for runs whose units of time differ, and for a path that is not that of a run.
    """
    if isinstance(runs, (str, os.PathLike, Run)):
        runs = [runs]
    rows, unit = [], None
    for run in runs:
        run = run if isinstance(run, Run) else load(run)
        if not isinstance(run, Run):
            raise InputError(f"{run!r} is not a run")
        config = run.config
        units = config.get("units", {})
        own = f"{units['length']}/({units['velocity']})" if "time" not in units and "velocity" in units else units.get("time", "T")
        unit = unit or own
        if own != unit:
            raise InputError(f"{run.directory}: its unit of time is {own}, that of the first run {unit}")
        rows.append(_row(run, config))
    names = list(_row_names())
    columns = {name: np.array([row[name] for row in rows]) for name in names}
    return Table({name: Column(values, unit or "1" if name == "time" else "1", math.nan) for name, values in columns.items()})


def _row_names() -> tuple[str, ...]:
    numbers = ("energy_error", "max_energy_error", "cluster_energy_error", "block_steps", "pair_interactions", "wall_seconds")
    return ("run", "n", "time", "integrator", "accuracy", "precision", *numbers, "exit_reason")


def _row(run: Run, config: dict) -> dict:
    try:
        summary = run.summary
    except FileNotFoundError:
        summary = {}
    integrator, settings = next(iter(config.get("integrator", {}).items()), ("", {}))
    accuracy = next((settings[key] for key in ACCURACIES if key in settings), math.nan)

    def number(key: str) -> float:
        value = summary.get(key)
        return math.nan if value is None else float(value)

    return {
        "run": str(run.directory),
        "n": number("n"),
        "time": number("time"),
        "integrator": integrator,
        "accuracy": float(accuracy),
        "precision": summary.get("precision", config.get("force", {}).get("precision", "")),
        "energy_error": number("relative_energy_error"),
        "max_energy_error": number("max_relative_energy_error"),
        "cluster_energy_error": number("cluster_energy_error"),
        "block_steps": number("block_steps"),
        "pair_interactions": number("pair_interactions"),
        "wall_seconds": number("wall_seconds"),
        "exit_reason": summary.get("exit_reason", ""),
    }
