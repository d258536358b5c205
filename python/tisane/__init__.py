"""Direct N-body integration: simulations, forces, and what the program tisane writes.

    import tisane
    sim = tisane.Simulation.plummer(1024, seed=1, softening=1/256)
    sim.integrate(10.0, progress=True)
    sim.particles.pos, sim.energy_error

`Simulation` integrates in memory, `run` with the files of the program, `forces` and `Forces` evaluate forces, `sweep` and
`ensemble` make studies: one in Python, the other in the engine, with all cores or a GPU.
The errors of the engine are `Error` and the classes below it.

`load` reads what a run or an ensemble wrote: it takes the directory, or one of the files.

    run = tisane.load("runs/quickstart")
    run.summary["relative_energy_error"]
    run.diagnostics["energy"]
    run.snapshots[-1]["Coordinates"]
    run.plot("structure")

Columns are numpy arrays that know their unit (`Column`). Snapshots and diagnostics turn into astropy tables, pandas frames and AMUSE
particles. With this package installed, `yt.load` opens snapshots in their own units.
"""

from importlib.metadata import PackageNotFoundError, version

from .columns import Column, Table
from .comparison import compare
from .directory import EnsembleResult, Run, StudyResult, load
from .ensemble import ensemble
from .errors import ConfigError, Error, InputError, IntegrationError, StorageError
from .figures import Figure
from .files import FORMAT_VERSION, FormatError, Snapshot, Units
from .sources import Forces, forces
from .kepler import Orbits, orbits
from .particles import Particle, Particles
from .potentials import gala_fields, galpy_fields
from .simulation import Simulation, run
from .study import sweep

try:
    __version__ = version("tisane-nbody")
except PackageNotFoundError:  # imported from a checkout
    __version__ = "unknown"

__all__ = [
    "FORMAT_VERSION",
    "Column",
    "ConfigError",
    "EnsembleResult",
    "Error",
    "Figure",
    "Forces",
    "FormatError",
    "InputError",
    "IntegrationError",
    "Orbits",
    "Particle",
    "Particles",
    "Run",
    "Simulation",
    "Snapshot",
    "StorageError",
    "StudyResult",
    "Table",
    "Units",
    "compare",
    "ensemble",
    "forces",
    "gala_fields",
    "galpy_fields",
    "load",
    "orbits",
    "run",
    "sweep",
]
