"""Reads the runs of tisane: snapshots, diagnostics, summary.

>>> import tisane
>>> run = tisane.load("runs/quickstart")
>>> run.snapshots[-1].pos.mean(axis=0), run.diagnostics["relative_energy_error"][-1]
"""

from .run import Run, load
from .snapshot import Snapshot
from .table import Table

__all__ = ["Run", "Snapshot", "Table", "load"]
