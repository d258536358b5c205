"""Studies: the same measurement over a grid of parameters."""

import itertools
import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from .columns import Column, Table
from .errors import InputError
from .simulation import Simulation


def sweep(
    make: Callable[..., Simulation],
    over: Mapping[str, Iterable],
    t_end: float,
    *,
    measure: Callable[[Simulation], Mapping] | None = None,
    progress: bool = False,
) -> Table:
    """Integrates `make(**point)` to `t_end` for every combination of the values `over`, and returns a table with a row for each.

    Columns: the parameters, `n`, `energy_error`, `block_steps`, `particle_steps`, `pairs`, `wall_seconds`, and what `measure(sim)` returns
    by name at the end. An array is `table["energy_error"]`; `table.to_pandas()` makes a frame.

        table = tisane.sweep(
            lambda n, eta: tisane.Simulation.plummer(n, seed=1, softening=0.01, integrator={"multipoint": {"eta": eta, "dt_max": 1/8}}),
            over={"n": [64, 256], "eta": [0.2, 0.4]}, t_end=1.0)
    """
    values = {name: list(items) for name, items in over.items()}
    points = [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]
    if not points:
        raise InputError("over: a parameter without values leaves nothing to do")
    rows = []
    for point in points:
        sim = make(**point)
        sim.start()
        began = time.perf_counter()
        sim.integrate(t_end, progress=progress)
        wall = time.perf_counter() - began
        row = {**point, "n": len(sim), "energy_error": sim.energy_error, **sim.counters, "wall_seconds": wall}
        rows.append(row | dict(measure(sim) if measure else {}))
    return Table({name: Column(np.array([row[name] for row in rows])) for name in rows[0]})
