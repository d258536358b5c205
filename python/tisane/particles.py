"""The particles of a simulation, as columns and one by one."""

from collections.abc import Iterator, MutableMapping

import numpy as np

from .arguments import Strict, column, vectors
from .errors import InputError

_COLUMNS = ("id", "m", "pos", "vel")


class Particles(Strict):
    """The particles of a simulation at its present time, in its units.

    Columns are numpy arrays that cannot be written to. They are made once per time, and an array that was taken stays as it is when
    the simulation goes on. Whole columns can be set, which starts the integration anew at the present time:
    `sim.particles.vel = 1.1 * sim.particles.vel`. `particles[i]` is one particle, `len(particles)` their number.
    """

    __slots__ = ("_sim",)

    def __init__(self, sim):
        object.__setattr__(self, "_sim", sim)

    def _state(self, name: str) -> np.ndarray:
        return self._sim._cached("state", self._sim._core.state)[_COLUMNS.index(name)]

    def _forces(self, index: int) -> np.ndarray:
        return self._sim._cached("forces", self._sim._core.forces)[index]

    def _stars(self, name: str) -> np.ndarray:
        return self._sim._cached("stars", self._sim._core.stars)[name]

    def _change(self, **columns) -> None:
        self._sim._change(self.id, **columns)

    @property
    def id(self) -> np.ndarray:
        """Identities, (N,) uint64: they stay with a particle when others are added or removed."""
        return self._state("id")

    @property
    def m(self) -> np.ndarray:
        """Masses, (N,); unit: mass. Those of stars that age cannot be changed after the start."""
        return self._state("m")

    @m.setter
    def m(self, values) -> None:
        self._change(mass=column(np.broadcast_to(values, (len(self),)) if np.ndim(values) == 0 else values, "m"))

    @property
    def pos(self) -> np.ndarray:
        """Positions, (N, 3); unit: length."""
        return self._state("pos")

    @pos.setter
    def pos(self, values) -> None:
        self._change(pos=vectors(values, "pos"))

    @property
    def vel(self) -> np.ndarray:
        """Velocities, (N, 3); unit: velocity."""
        return self._state("vel")

    @vel.setter
    def vel(self, values) -> None:
        self._change(vel=vectors(values, "vel"))

    @property
    def columns(self) -> "Columns":
        """The columns that the law reads, by name: `particles.columns["charge"] = q`."""
        return Columns(self._sim, None)

    @property
    def type(self) -> np.ndarray:
        """Types of stars that age, (N,) uint8: 0 to 15 (Hurley, Pols & Tout 2000). Like the next properties, it needs the option
        `stellar_evolution`, and is that of the track at the present time; orbits take masses over at multiples of dt_max."""
        return self._stars("type")

    @property
    def initial_mass(self) -> np.ndarray:
        """Masses of stars at birth, (N,); unit: mass."""
        return self._stars("initial_mass")

    @property
    def core_mass(self) -> np.ndarray:
        """Masses of their cores, (N,); unit: mass."""
        return self._stars("core_mass")

    @property
    def age(self) -> np.ndarray:
        """Their ages in the present life, which begins anew for helium stars and remnants, (N,); unit: time."""
        return self._stars("age")

    @property
    def radius(self) -> np.ndarray:
        """Radii of stars, (N,); unit: length."""
        return self._stars("radius")

    @property
    def luminosity(self) -> np.ndarray:
        """Luminosities of stars, (N,), in solar luminosities."""
        return self._stars("luminosity")

    @property
    def temperature(self) -> np.ndarray:
        """Effective temperatures of stars, (N,), in K."""
        return self._stars("temperature")

    @property
    def acc(self) -> np.ndarray:
        """Accelerations, (N, 3); unit: length velocity² / length². External fields are in them."""
        return self._forces(0)

    @property
    def jerk(self) -> np.ndarray:
        """Time derivatives of the accelerations, (N, 3); zero with the leapfrog."""
        return self._forces(1)

    @property
    def pot(self) -> np.ndarray:
        """Potentials, (N,); unit: velocity². External fields are in them."""
        return self._forces(2)

    def __len__(self) -> int:
        return len(self._sim)

    def __getitem__(self, index: int) -> "Particle":
        n = len(self)
        try:
            place = range(n)[index]
        except IndexError:
            raise IndexError(f"there is no particle {index}: there are {n}") from None
        except TypeError:
            place = None
        if not isinstance(place, int):
            raise TypeError("expected one whole number; for several particles index a column, as sim.particles.pos[2:5]")
        return Particle(self._sim, int(self.id[place]))

    def __iter__(self) -> Iterator["Particle"]:
        return (Particle(self._sim, int(id)) for id in self.id)

    def __repr__(self) -> str:
        return f"<{len(self)} particles>"


def _of_star(column: str, what: str) -> property:
    return property(lambda self: getattr(self._sim.particles, column)[self.index].item(), doc=what)


def _component(column: str, axis: int, what: str) -> property:
    def get(self) -> float:
        return float(getattr(self, column)[axis])

    def put(self, value) -> None:
        values = np.array(getattr(self, column))
        values[axis] = value
        setattr(self, column, values)

    return property(get, put, doc=what)


class Particle(Strict):
    """One particle, which is found by its identity: it stays the same when others are removed."""

    __slots__ = ("_id", "_sim")

    def __init__(self, sim, id: int):
        object.__setattr__(self, "_sim", sim)
        object.__setattr__(self, "_id", id)

    @property
    def index(self) -> int:
        """Its place in the columns."""
        ids = self._sim.particles.id
        if self._id < len(ids) and ids[self._id] == self._id:
            return self._id
        found = np.flatnonzero(ids == self._id)
        if len(found) == 0:
            raise InputError(f"there is no particle with the id {self._id} any more")
        return int(found[0])

    def _change(self, **columns) -> None:
        self._sim._change(np.array([self._id], np.uint64), **columns)

    @property
    def id(self) -> int:
        """Identity."""
        return self._id

    @property
    def m(self) -> float:
        """Mass; unit: mass."""
        return float(self._sim.particles.m[self.index])

    @m.setter
    def m(self, value) -> None:
        self._change(mass=column(value, "m"))

    @property
    def pos(self) -> np.ndarray:
        """Position, (3,); unit: length."""
        return self._sim.particles.pos[self.index]

    @pos.setter
    def pos(self, value) -> None:
        self._change(pos=vectors(value, "pos"))

    @property
    def vel(self) -> np.ndarray:
        """Velocity, (3,); unit: velocity."""
        return self._sim.particles.vel[self.index]

    @vel.setter
    def vel(self, value) -> None:
        self._change(vel=vectors(value, "vel"))

    @property
    def columns(self) -> "Columns":
        """Its values in the columns that the law reads, by name."""
        return Columns(self._sim, self)

    type = _of_star("type", "Type of a star that ages, 0 to 15 (Hurley, Pols & Tout 2000).")
    initial_mass = _of_star("initial_mass", "Mass of a star at birth; unit: mass.")
    core_mass = _of_star("core_mass", "Mass of its core; unit: mass.")
    age = _of_star("age", "Its age in the present life; unit: time.")
    radius = _of_star("radius", "Its radius; unit: length.")
    luminosity = _of_star("luminosity", "Its luminosity, in solar luminosities.")
    temperature = _of_star("temperature", "Its effective temperature, in K.")
    x = _component("pos", 0, "Position along x.")
    y = _component("pos", 1, "Position along y.")
    z = _component("pos", 2, "Position along z.")
    vx = _component("vel", 0, "Velocity along x.")
    vy = _component("vel", 1, "Velocity along y.")
    vz = _component("vel", 2, "Velocity along z.")

    def orbit(self, primary: "Particle | int | None" = None):
        """Its osculating orbit about `primary`, a particle or its index, by default the one of the largest mass (`Orbits`)."""
        found = self._sim.orbits(primary)
        where = self.index - (self.index > self._sim._primary(primary))
        return type(found)(*(values[where] for values in found))

    def __repr__(self) -> str:
        return f"<Particle {self._id}: m = {self.m:g}, pos = {self.pos}, vel = {self.vel}>"


class Columns(MutableMapping):
    """The columns of particles that the law reads, or the values of one particle in them, by name; NaN where none was given.

    Their names are those of the law: columns cannot be deleted.
    """

    __slots__ = ("_of", "_sim")

    def __init__(self, sim, of: Particle | None):
        self._sim, self._of = sim, of

    def __getitem__(self, name: str):
        if name not in self._sim._core.column_names():
            raise KeyError(f"the law reads no column {name!r}: it reads {', '.join(self) or 'none'}")
        values = self._sim._cached(f"column {name}", lambda: self._sim._core.column(name))
        return values if self._of is None else float(values[self._of.index])

    def __setitem__(self, name: str, values) -> None:
        if self._of is not None:
            self._sim._set_column(name, np.array([self._of.id], np.uint64), column(values, name))
            return
        n = len(self._sim)
        values = np.broadcast_to(values, (n,)) if np.ndim(values) == 0 else values
        self._sim._set_column(name, self._sim.particles.id, column(values, name))

    def __delitem__(self, name: str) -> None:
        raise TypeError("the columns are those of the law: none can be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sim._core.column_names())

    def __len__(self) -> int:
        return len(self._sim._core.column_names())
