"""The HDF5 files of tisane."""

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

from . import convert
from .columns import Column, Table

#: The newest format version that this package knows. It reads every version up to it.
FORMAT_VERSION = 2


class FormatError(ValueError):
    """A file that tisane did not write, of a later version, or damaged."""


def text(value) -> str:
    """A text attribute, however h5py returns it."""
    return value.decode() if isinstance(value, bytes) else str(value)


def open_unlocked(path) -> h5py.File:
    """Opens a file for reading, without a lock where the file system refuses locks (Lustre, NFS).

    No lock is needed: a file of a run has its name once it is whole, and is then replaced, never changed. By default it is taken all the
    same, because HDF5 refuses to open a file in two ways at once in a process.
    """
    try:
        return h5py.File(path, "r")
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        return h5py.File(path, "r", locking=False)


@contextmanager
def open_hdf5(path, *formats: str) -> Iterator[h5py.File]:
    """Opens a file of one of the `formats` (`tisane snapshot`, …) for reading.

    What h5py finds wrong, also with what is read of the file later on, becomes a `FormatError` with the path.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        with open_unlocked(path) as file:
            found = text(file.attrs.get("format", ""))
            if found not in formats:
                raise FormatError(f"{path}: expected {' or '.join(formats)}, found {found or 'a file of another program'}")
            version = int(file.attrs["format_version"])
            if not 1 <= version <= FORMAT_VERSION:
                raise FormatError(f"{path}: format version {version}, and this package reads 1 to {FORMAT_VERSION}")
            yield file
    except FormatError:
        raise
    except (OSError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # A KeyError quotes its text.
        problem = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise FormatError(f"{path}: not HDF5, cut off or damaged: {problem}") from error


def read_column(dataset: h5py.Dataset) -> Column:
    """A dataset with its unit."""
    attributes = dataset.attrs
    unit = text(attributes.get("unit", "1")) or "1"
    # Tables of results have units by name alone.
    size = attributes.get("to_cgs", 1.0 if unit == "1" else math.nan)
    described = text(attributes.get("description", ""))
    # Text becomes numpy's own, not objects.
    values = dataset[()] if h5py.check_string_dtype(dataset.dtype) is None else dataset.asstr()[()].astype(str)
    return Column(values, unit, size, described)


def read_attributes(group: h5py.Group) -> dict:
    """Attributes as text and numbers."""
    kinds = (bytes, str, np.bytes_, np.str_)
    return {k: text(v) if isinstance(v, kinds) else v for k, v in group.attrs.items()}


@dataclass(frozen=True)
class Units:
    """The units of a file: their names, sizes in cgs (1 in N-body units), and G in them."""

    mass: str
    length: str
    velocity: str
    time: str
    mass_in_g: float
    length_in_cm: float
    velocity_in_cm_per_s: float
    time_in_s: float
    G: float
    henon: bool

    @classmethod
    def read(cls, group: h5py.Group) -> "Units":
        """Reads the group /Units of a file."""
        a = read_attributes(group)
        return cls(
            *(a[name] for name in ("mass", "length", "velocity", "time")),
            float(a["UnitMass_in_g"]),
            float(a["UnitLength_in_cm"]),
            float(a["UnitVelocity_in_cm_per_s"]),
            float(a["time_in_s"]),
            float(a["G"]),
            a["system"] == "henon",
        )


class Snapshot(Table):
    """All particles at one moment: `snapshot["Coordinates"]`, N x 3, and so on; the columns are read when they are asked for.

    Attributes: `path`; `time`, a `Column` without shape, in the unit of time; `units`; `provenance`, a dictionary of what
    made the file; `subsystems` and `subsystem_stars`, each a `Table`.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        with open_hdf5(path, "tisane snapshot") as file:
            self.units = Units.read(file["Units"])
            self.provenance = read_attributes(file["Provenance"])
            unit = text(file.attrs["time_unit"])
            self.time = Column(file.attrs["time"], unit, self.units.time_in_s, "time of the snapshot")
            group = file["PartType4"]
            self._shapes = {name: group[name].shape for name in group}
            self._groups = set(file)
        super().__init__(dict.fromkeys(self._shapes))

    def __getitem__(self, name: str) -> Column:
        if self._columns.get(name, ...) is None:
            with open_hdf5(self.path, "tisane snapshot") as file:
                self._columns[name] = read_column(file["PartType4"][name])
        return super().__getitem__(name)

    @cached_property
    def subsystems(self) -> Table | None:
        """The subsystems of a run with [encounters], a row for each, followed by those inside of it; None where there are none."""
        return self._table("Subsystems")

    @cached_property
    def subsystem_stars(self) -> Table | None:
        """The stars of the subsystems, relative to the centre of mass of the outermost one that each is in; None where there are none."""
        return self._table("SubsystemStars")

    def _table(self, group: str) -> Table | None:
        if group not in self._groups:
            return None
        with open_hdf5(self.path, "tisane snapshot") as file:
            return Table({name: read_column(dataset) for name, dataset in file[group].items()})

    @property
    def rows(self) -> int:
        """The number of particles."""
        return self._shapes["ParticleIDs"][0]

    def __repr__(self) -> str:
        return f"<Snapshot {self.path}: {self.rows} particles at t = {float(self.time):g} {self.time.unit}>"

    def to_amuse(self):
        """AMUSE particles: mass, position, velocity, id. Needs AMUSE."""
        return convert.amuse_particles(self)


#: The journals of a run and the tables of results, by the format of their HDF5 files: the group that has their columns.
JOURNALS = {
    "tisane diagnostics": "Diagnostics",
    "tisane cluster": "Cluster",
    "tisane binaries": "Binaries",
    "tisane events": "Events",
    "tisane encounters": "Encounters",
    "tisane stars": "Stars",
    "tisane stellar": "Stellar",
    "tisane table": "Table",
}


def read_journal(path: str | os.PathLike, *formats: str) -> Table:
    """The rows of a journal, in the order of its columns: of one of the `formats`, or of any."""
    with open_hdf5(path, *(formats or JOURNALS)) as file:
        group = file[JOURNALS[text(file.attrs["format"])]]
        return Table({name: read_column(group[name]) for name in text(group.attrs["columns"]).split(",")})
