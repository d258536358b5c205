"""A snapshot: all particles at one moment."""

from pathlib import Path

import h5py

from .units import astropy_unit

PARTICLES = "PartType4"
# Format versions that this package reads; /root attribute `format_version`.
VERSIONS = range(1, 2)
SHORT = {
    "id": "ParticleIDs",
    "mass": "Masses",
    "pos": "Coordinates",
    "vel": "Velocities",
    "acc": "Acceleration",
    "pot": "Potential",
    "step": "TimeStep",
}


def text(value):
    """Text of an attribute, whichever way h5py gives it."""
    return value.decode() if isinstance(value, bytes) else str(value)


class Snapshot:
    """A snapshot. Arrays are read when asked for, in the units of the file:

    id    (N,)    identities                 acc   (N, 3)  accelerations
    mass  (N,)    masses                     pot   (N,)    potentials per unit mass
    pos   (N, 3)  positions                  step  (N,)    lengths of the next steps
    vel   (N, 3)  velocities

    time, time_unit   the moment
    units             {"mass": (name, size in cgs), "length": …, "velocity": …, "time": …}; size 1 in Henon units
    henon             True in Henon (N-body) units
    g                 the gravitational constant in these units
    """

    def __init__(self, path):
        self.path = Path(path)
        with h5py.File(self.path, "r") as file:
            kind = text(file.attrs.get("format", "an HDF5 file of another program"))
            if kind != "tisane snapshot":
                raise ValueError(f"{path}: expected a snapshot of tisane, found {kind}")
            version = int(file.attrs["format_version"])
            if version not in VERSIONS:
                raise ValueError(f"{path}: format version {version}; a newer package reads it")
            self.time, self.time_unit = float(file.attrs["time"]), text(file.attrs["time_unit"])
            units = file["Units"].attrs
            self.henon, self.g = text(units["system"]) == "henon", float(units["G"])
            sizes = {"mass": "UnitMass_in_g", "length": "UnitLength_in_cm", "velocity": "UnitVelocity_in_cm_per_s"}
            sizes["time"] = "time_in_s"
            self.units = {name: (text(units[name]), float(units[size])) for name, size in sizes.items()}
            self.n = file[PARTICLES]["Masses"].shape[0]

    def __len__(self):
        return self.n

    def __getitem__(self, name):
        """The values of a dataset by its name in the file."""
        with h5py.File(self.path, "r") as file:
            return file[PARTICLES][name][...]

    def __getattr__(self, name):
        if name in SHORT:
            return self[SHORT[name]]
        raise AttributeError(f"a snapshot has no {name!r}; it has {', '.join(SHORT)}")

    def unit(self, name):
        """Name of the unit of a dataset or of one of the short names, such as "pc"; "1" for a pure number."""
        with h5py.File(self.path, "r") as file:
            return text(file[PARTICLES][SHORT.get(name, name)].attrs["unit"])

    def to_astropy(self):
        """An astropy QTable with the short names, quantities with units; plain numbers in Henon units."""
        from astropy.table import QTable

        table = QTable(meta={"time": self.time, "time_unit": self.time_unit, "file": str(self.path)})
        for name in SHORT:
            unit = None if self.henon or name == "id" else astropy_unit(self.unit(name))
            table[name] = self[SHORT[name]] if unit is None else self[SHORT[name]] * unit
        return table

    def to_pandas(self):
        """A pandas DataFrame indexed by id, with the columns m, x, y, z, vx, vy, vz, pot."""
        import pandas

        pos, vel = self.pos, self.vel
        columns = {"m": self.mass} | {axis: pos[:, k] for k, axis in enumerate("xyz")}
        columns |= {f"v{axis}": vel[:, k] for k, axis in enumerate("xyz")}
        return pandas.DataFrame(columns | {"pot": self.pot}, index=pandas.Index(self.id, name="id"))

    def to_amuse(self):
        """AMUSE Particles with mass, position, velocity and the ids as keys."""
        from amuse.datamodel import Particles
        from amuse.units import nbody_system, units

        of = lambda name, si, factor, nbody: nbody if self.henon else self.units[name][1] * factor * si
        particles = Particles(keys=self.id)
        particles.mass = self.mass | of("mass", units.kg, 1e-3, nbody_system.mass)
        particles.position = self.pos | of("length", units.m, 1e-2, nbody_system.length)
        particles.velocity = self.vel | of("velocity", units.m / units.s, 1e-2, nbody_system.speed)
        return particles

    def __repr__(self):
        return f"<tisane snapshot {str(self.path)!r}, {self.n} particles at {self.time:g} {self.time_unit}>"
