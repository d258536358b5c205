"""Reads what the N-body integrator tisane writes.

    import tisane
    run = tisane.load("runs/quickstart")
    run.summary["relative_energy_error"]
    run.diagnostics["energy"]
    run.snapshots[-1]["Coordinates"]

`load` takes the directory of a run, or one of its files. Columns are numpy arrays that know their unit (`Column`). Snapshots
and diagnostics turn into astropy tables, pandas frames and AMUSE particles. With this package installed, `yt.load` opens
snapshots in their own units.
"""

from importlib.metadata import PackageNotFoundError, version

from .columns import Column, Table
from .files import FORMAT_VERSION, FormatError, Snapshot, Units
from .run import Run, load

try:
    __version__ = version("tisane-nbody")
except PackageNotFoundError:  # imported from a checkout
    __version__ = "unknown"

__all__ = ["FORMAT_VERSION", "Column", "FormatError", "Run", "Snapshot", "Table", "Units", "load"]
