"""Forces of given sources at any points, for programs that integrate by themselves."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from . import _engine
from .arguments import column, toml, vectors, whole
from .errors import InputError


class ForceArrays(NamedTuple):
    """What the sources cause at N points; arrays that cannot be written to."""

    acc: np.ndarray
    """Acceleration, (N, 3)."""
    jerk: np.ndarray
    """Its time derivative, (N, 3)."""
    pot: np.ndarray
    """Potential, (N,), negative."""


class Forces:
    """An engine that holds sources, and evaluates the forces that they cause at any points.

    Units have G = 1. `softening` is the Plummer softening length; `mode` a precision mode by its name in
    configurations, such as "f64" or "mixed"; `device` is "cpu", "cuda", "cuda:1" for another GPU, or "reference". `law` is that of the
    forces in place of Newton's: the name of a ready one with its parameters, or a formula, as in the section `[force.law]`.

        forces = tisane.Forces(softening=0.01)
        forces.set(m, x, v)
        acc, jerk, pot = forces.evaluate(points)

        yukawa = tisane.Forces(law={"name": "yukawa", "parameters": {"lambda": 0.3}})
        coulomb = tisane.Forces(law={"potential": "q_i*q_j/s", "columns": {"q": 1}})
        coulomb.set(m, x, columns={"q": q})
    """

    __slots__ = ("_engine",)

    def __init__(self, softening: float = 0.0, mode: str = "f64", device: str = "cpu", law: Mapping | None = None):
        kind, _, number = str(device).partition(":")
        if number and not (kind == "cuda" and number.isdecimal()):
            raise InputError(f"device: expected cpu, cuda, cuda:NUMBER or reference, found {device!r}")
        text = None if law is None else "\n".join(f"{toml(str(key))} = {toml(value)}" for key, value in law.items())
        self._engine = _engine.Forces(kind, int(number or 0), str(mode), float(softening), text)

    def __len__(self) -> int:
        return len(self._engine)

    def set(self, m, x, v=None, columns: Mapping | None = None) -> None:
        """Replaces all sources: masses (N,), positions (N, 3), velocities (N, 3), by default at rest. Their numbers are 0 to N - 1.

        `columns` are the further quantities that a law reads, (N,) each, by name.
        """
        x = vectors(x, "x")
        further = [(str(name), column(values, str(name))) for name, values in (columns or {}).items()]
        self._engine.set(column(m, "m"), x, _velocities(v, x), further)

    def set_some(self, index, m, x, v=None) -> None:
        """Changes the sources with the numbers `index`."""
        x = vectors(x, "x")
        self._engine.set_some(whole(index, "index"), column(m, "m"), x, _velocities(v, x))

    def evaluate(self, x, v=None, exclude=None) -> ForceArrays:
        """The forces at the points `x` (M, 3), at which bodies with the velocities `v` are, by default at rest.

        `exclude` (M,) has the number of the source that each point does not feel, which for a source is its own.
        """
        x = vectors(x, "x")
        none = np.empty(0, np.uint64)
        numbers = none if exclude is None else whole(exclude, "exclude")
        return ForceArrays(*self._engine.evaluate(numbers, x, _velocities(v, x)))


def _velocities(v, x):
    return np.zeros_like(x) if v is None else vectors(v, "v")


def forces(
    m,
    x,
    v=None,
    *,
    points=None,
    point_velocities=None,
    softening=0.0,
    mode="f64",
    device="cpu",
    law: Mapping | None = None,
    columns: Mapping | None = None,
) -> ForceArrays:
    """Acceleration (N, 3), jerk (N, 3) and potential (N,) of N particles by each other, in units with G = 1.

    `m` (N,) masses, `x` (N, 3) positions, `v` (N, 3) velocities, by default at rest. With `points` (M, 3) the forces are those at these
    points instead, at which bodies with `point_velocities` are. `softening`, `mode`, `device` and `law` are those of `Forces`, which is
    faster where the same sources are used again; `columns` those of `Forces.set`.

        acc, jerk, pot = tisane.forces(m, x, v, softening=0.01, mode="mixed", device="cuda")
    """
    engine = Forces(softening, mode, device, law)
    engine.set(m, x, v, columns)
    if points is None:
        return engine.evaluate(x, v, np.arange(len(engine), dtype=np.uint64))
    return engine.evaluate(points, point_velocities)
