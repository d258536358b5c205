"""Simulations in memory."""

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import _engine
from ._toml import loads
from .arguments import Strict, column, existing, settings, source, vectors, whole
from .directory import Run
from .errors import InputError
from .kepler import Orbits, orbits, relative_state
from .particles import Particle, Particles
from .progress import Line, reporter

_UNITS = ("mass", "length", "velocity", "time")


class Body(NamedTuple):
    """A mass with its position and velocity."""

    m: float
    pos: np.ndarray
    vel: np.ndarray


class UnitNames(NamedTuple):
    """The units of a simulation, by name, and the gravitational constant in them."""

    mass: str
    length: str
    velocity: str
    time: str
    G: float


def _unit_settings(units) -> dict:
    """The settings of units: "henon", a dictionary by dimension, or names in any order, as ("Msun", "pc", "Myr")."""
    if units is None or units == "henon":
        return {}
    if isinstance(units, Mapping):
        return {f"units.{key}": value for key, value in units.items()}
    if isinstance(units, str):
        units = (units,)
    found = {}
    for name in units:
        of = next((what for what, known in zip(_UNITS, _engine.units(), strict=True) if name in known), None)
        if of is None:
            known = "; ".join(f"{what}: {', '.join(names)}" for what, names in zip(_UNITS, _engine.units(), strict=True))
            raise InputError(f"there is no unit {name!r}; there are {known}")
        if f"units.{of}" in found:
            raise InputError(f"two units of {of}: {found[f'units.{of}']} and {name}")
        found[f"units.{of}"] = name
    return found


def _common(given: dict) -> dict:
    """Takes the options that all simulations have out of `given`; returns them as settings."""
    taken = {name: given.pop(name, None) for name in ("units", "softening", "integrator", "device", "mode", "threads", "law", "stellar_evolution", "settings")}
    found = _unit_settings(taken["units"])
    integrator = taken["integrator"]
    if isinstance(integrator, str):
        integrator = {integrator: {}}
    engine, _, number = str(taken["device"] or "").partition(":")
    found |= {
        "softening.epsilon": taken["softening"],
        "integrator": integrator,
        "force.engine": engine or None,
        "force.device": int(number) if number.isdecimal() else number or None,
        "force.precision": taken["mode"],
        "force.threads": taken["threads"],
        "force.law": taken["law"],
        "stellar_evolution": taken["stellar_evolution"],
    }
    return found | dict(taken["settings"] or {})


class Simulation(Strict):
    """A simulation in memory.

        sim = tisane.Simulation.plummer(1024, seed=1, softening=1/256)
        sim.integrate(10.0)
        sim.particles.pos, sim.energy_error

    `Simulation()` has no particles yet: `add` adds them. Others come from a model (`plummer`, `king`, `model`), from arrays
    (`from_arrays`), a file (`from_file`), a configuration (`from_toml`), or a saved state (`load`). The options of all of these:

    `units`       "henon" (G = 1, the default), or names, as ("Msun", "pc", "Myr") or {"mass": "Msun", "length": "au", "time": "yr"}
    `softening`   Plummer softening length
    `integrator`  "hermite4", "multipoint", "ahmad_cohen", "leapfrog", "extrapolated", or with its settings {"multipoint": {"eta": 0.3, "dt_max": 1/8}}
    `device`      "auto" (the default), "cpu", "cuda", "cuda:1", "reference"
    `mode`        precision mode of the forces; "f64" is the default, with device="cuda" it is "mixed"
    `threads`     threads of the CPU; no result depends on their number
    `law`         law of the force in place of Newton's, as the section `[force.law]`: {"name": "yukawa", "parameters": {"lambda": 0.3}}
    `stellar_evolution`  stars that age, as the section `[stellar_evolution]`: {"metallicity": 0.02}, or {}; needs units by name
    `settings`    any further settings of a configuration by their keys, as {"integrator.hermite4.nu": 0.005}

    Everything that is given and returned is in its units. The bits are those of the program `tisane run`, as long as nothing is
    changed. A change of particles or settings begins the integration anew at the present time, and `energy_error` stays that of the
    integration alone. Threads may share a simulation: one uses it, the others wait.
    """

    __slots__ = ("_cache", "_core", "_function", "_function_t", "_version", "__weakref__")

    def __init__(self, **options):
        found = _common(options)
        if options:
            raise TypeError(f"unknown option {next(iter(options))!r}: a model is Simulation.model(name, ...)")
        self._hold(_engine.Core("", Path(), settings(found)))

    def _hold(self, core) -> None:
        for name, value in (("_core", core), ("_cache", {}), ("_function", None)):
            object.__setattr__(self, name, value)

    @classmethod
    def _of(cls, core) -> "Simulation":
        made = cls.__new__(cls)
        made._hold(core)
        return made

    @classmethod
    def from_text(cls, text: str, base: str | os.PathLike = "", **options) -> "Simulation":
        """A simulation of the text of a configuration (TOML). Relative paths in it start at `base`."""
        found = _common(options)
        if options:
            raise TypeError(f"unknown option {next(iter(options))!r}")
        return cls._of(_engine.Core(text, Path(base), settings(found)))

    @classmethod
    def from_toml(cls, path: str | os.PathLike, **options) -> "Simulation":
        """A simulation of a configuration file, with the bits of `tisane run` of it."""
        found = _common(options)
        if options:
            raise TypeError(f"unknown option {next(iter(options))!r}")
        return cls._of(_engine.Core.from_file(existing(path), settings(found)))

    @classmethod
    def model(cls, name: str, **parameters) -> "Simulation":
        """A model by its name in configurations (`plummer`, `king`, `hernquist`, `eff`, `uniform-sphere`, `fractal`, `two-body`,
        `binary-single`, `figure-eight`, `pythagorean`, `solar-system`), with its parameters and the options of all simulations.

        A parameter that is a dictionary and belongs to the stars of the model (`masses`, `binaries`, `segregation`, `rotation`,
        `central`) becomes that section: `masses={"kroupa": {...}}`.
        """
        found = _common(parameters)
        stars = {key: parameters.pop(key) for key in ("masses", "binaries", "segregation", "rotation", "central") if key in parameters}
        given = {key: value for key, value in parameters.items() if value is not None}
        initial = {"initial": {name.replace("_", "-"): given, **stars}}
        return cls._of(_engine.Core("", Path(), settings(found | initial)))

    @classmethod
    def plummer(cls, n: int, seed: int = 0, **parameters) -> "Simulation":
        """A Plummer sphere of `n` particles: `Simulation.model("plummer", ...)`."""
        return cls.model("plummer", n=n, seed=seed, **parameters)

    @classmethod
    def king(cls, n: int, w0: float, seed: int = 0, **parameters) -> "Simulation":
        """A King model of `n` particles with the central potential `w0`."""
        return cls.model("king", n=n, w0=w0, seed=seed, **parameters)

    @classmethod
    def solar_system(cls, units=("Msun", "au", "yr"), **options) -> "Simulation":
        """Sun and planets at J2000."""
        return cls.model("solar-system", units=units, **options)

    @classmethod
    def from_arrays(cls, m, pos, vel=None, *, id=None, t: float | None = None, columns: Mapping | None = None, **options) -> "Simulation":
        """A simulation of N particles: `m` (N,), `pos` (N, 3), `vel` (N, 3), by default at rest; `id` (N,), the time `t`, and the `columns`
        that a law reads, (N,) each: `Simulation.from_arrays(m, pos, law={"name": "coulomb", "parameters": {"k": 1}}, columns={"charge": q})`.
        """
        options["settings"] = {**(options.get("settings") or {}), **_start(t)}
        made = cls(**options)
        made.add(m, pos, vel, id=id, columns=columns)
        return made

    @classmethod
    def from_file(cls, path: str | os.PathLike, format: str | None = None, **options) -> "Simulation":
        """A simulation of the particles in a file: a snapshot of tisane, or one of the formats that `tisane convert` reads."""
        return cls.model("file", path=os.path.abspath(existing(path)), format=format, **options)

    @classmethod
    def from_elements(cls, path: str | os.PathLike, central_mass: float, **parameters) -> "Simulation":
        """Bodies on Kepler orbits about a central one, from a table of orbital elements (docs: Initial conditions)."""
        return cls.model("elements", path=os.path.abspath(existing(path)), central_mass=central_mass, **parameters)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Simulation":
        """A simulation that `save` saved, or a checkpoint of a run; it goes on with the same bits."""
        return cls._of(_engine.Core.load(existing(path)))

    def save(self, path: str | os.PathLike) -> None:
        """Saves the state and the settings in one file; a file that exists is replaced, whole or not at all."""
        if self._function is not None:
            warnings.warn("functions of an external field are not saved: set them again after load", stacklevel=2)
        self._core.save(Path(path))

    def copy(self) -> "Simulation":
        """A copy, which is equal and goes on by itself. A simulation that has not started starts."""
        made = type(self)._of(_unpacked(self._packed()))
        if self._function is not None:
            made.set_external(**self._function)
        return made

    __copy__ = copy

    def __deepcopy__(self, _) -> "Simulation":
        return self.copy()

    def __reduce__(self):
        return _restored, (type(self), self._packed(), self._function)

    def _packed(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="tisane-") as folder:
            self._core.save(Path(folder) / "state.hdf5")
            return (Path(folder) / "state.hdf5").read_bytes()

    # What it is.

    @property
    def particles(self) -> Particles:
        """The particles at the present time."""
        return Particles(self)

    @property
    def n(self) -> int:
        """Number of particles."""
        return len(self)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def t(self) -> float:
        """The time; unit: time."""
        return self._core.time()

    @property
    def units(self) -> UnitNames:
        """The units, by name, and G."""
        names, g, _ = self._core.units()
        return UnitNames(*names, g)

    @property
    def G(self) -> float:
        """The gravitational constant in these units."""
        return self._core.units()[1]

    @property
    def orbit(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Position and velocity, (3,) each, in the external fields of the origin that the particles are relative to: with the section
        `orbit` in the settings, otherwise None."""
        found = self._core.orbit()
        return None if found is None else (np.array(found[0]), np.array(found[1]))

    @property
    def star_events(self) -> list[dict]:
        """Changes of type of stars that age since the start, or since the state was loaded: dictionaries with the columns of `stellar.csv`,
        `kick` an array (3,). `event` is "type", "supernova", "end" or "merger"."""
        return self._core.star_events()

    @property
    def config(self) -> dict:
        """The configuration, with every default written out."""
        return loads(self._core.config())

    @property
    def engine(self) -> str:
        """The engine, with the reason for its choice; empty before the start."""
        return self._core.engine()

    @property
    def state_sha256(self) -> str:
        """SHA-256 of the state of the integration: after the same block steps, that of `tisane run`."""
        return self._core.state_sha256()

    @property
    def counters(self) -> dict:
        """Numbers of `block_steps`, `particle_steps`, `pairs` evaluated, and `clamped_steps` since the start."""
        return dict(zip(("block_steps", "particle_steps", "pairs", "clamped_steps"), self._core.counters(), strict=True))

    def _measured(self, name: str):
        return self._cached("measured", self._core.measure)[name]

    @property
    def energy(self) -> float:
        """Total energy; unit: mass velocity²."""
        return self._measured("energy")

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy."""
        return self._measured("kinetic_energy")

    @property
    def potential_energy(self) -> float:
        """Potential energy of the pairs."""
        return self._measured("potential_energy")

    @property
    def external_potential_energy(self) -> float:
        """Potential energy in external fields; with the section `orbit` in the tidal field about the origin."""
        return self._measured("external_potential_energy")

    @property
    def energy_error(self) -> float:
        """Energy error since the start, as `relative_energy_error` of a run; what changes by the program added is no error."""
        return self._measured("energy_error")

    @property
    def virial_ratio(self) -> float:
        """Virial ratio T / |U| of the system in its own frame, in a cluster with each binary as one body."""
        return self._measured("virial_ratio")

    @property
    def momentum(self) -> np.ndarray:
        """Momentum, (3,); unit: mass velocity."""
        return self._measured("momentum")

    @property
    def angular_momentum(self) -> np.ndarray:
        """Angular momentum about the origin, (3,); unit: mass length velocity."""
        return self._measured("angular_momentum")

    @property
    def audit(self) -> dict | None:
        """Relative errors of the forces against f64, where they are not computed in f64 on the CPU: `sample`, the number of particles
        compared, and for `acc`, `jerk` and `pot` the `max`, `rms` and `p99` of the errors."""
        found = self._measured("audit")
        if found is None:
            return None
        return {name: dict(value) if isinstance(value, list) else value for name, value in found.items()}

    @property
    def com(self) -> Body:
        """Total mass with the position and velocity of the centre of mass."""
        p = self.particles
        m = p.m
        total = float(m.sum())
        if not total > 0:
            raise InputError("the centre of mass needs a mass above zero")
        return Body(total, m @ p.pos / total, m @ p.vel / total)

    # What changes it.

    def _cached(self, what: str, make: Callable):
        cache = self._cache
        if what not in cache:
            found = make()
            # A change in between has put another dictionary in its place: then this is kept by nobody.
            cache[what] = found
            return found
        return cache[what]

    def _moved(self) -> None:
        object.__setattr__(self, "_cache", {})

    def _change(self, id, **columns) -> None:
        try:
            self._core.change(id, columns.get("mass"), columns.get("pos"), columns.get("vel"))
        finally:
            self._moved()

    def _set_column(self, name, id, values) -> None:
        try:
            self._core.set_column(name, id, values)
        finally:
            self._moved()

    def add(self, m=0.0, pos=None, vel=None, *, id=None, primary=None, columns: Mapping | None = None, **elements) -> np.ndarray:
        """Adds particles, and returns their identities.

        By columns `m` (N,), `pos` (N, 3), `vel` (N, 3), one particle by `m=1, pos=(1, 0, 0), vel=(0, 1, 0)`, or one by orbital elements
        about `primary` (a particle or its index, by default the one of the largest mass): `add(m=1e-3, a=1, e=0.1, inc=0.2, Omega=0,
        omega=0, f=0)`, or with a mean anomaly `M`. Without `id` they get the numbers after the largest one. `columns` are the quantities that a law reads, by name: `columns={"charge": q}`;
        those that are left out are to be set by `particles.columns` before the simulation goes on.
        """
        if elements:
            if pos is not None or vel is not None:
                raise InputError("give pos and vel, or orbital elements, not both")
            unknown = set(elements) - {"a", "e", "inc", "Omega", "omega", "f", "M"}
            if unknown or "a" not in elements:
                raise InputError(f"expected the elements a, e, inc, Omega, omega, and f or M, found {', '.join(sorted(elements))}")
            pos, vel = self._on_orbit(float(np.squeeze(m)), primary, elements)
        elif primary is not None:
            raise InputError("primary belongs to orbital elements")
        m = column(m, "m")
        pos = vectors(np.zeros((len(m), 3)) if pos is None else pos, "pos")
        if len(m) == 1 and len(pos) > 1:
            m = np.repeat(m, len(pos))
        vel = np.zeros_like(pos) if vel is None else vectors(vel, "vel")
        try:
            further = [(str(name), column(_all(values, len(m)), str(name))) for name, values in (columns or {}).items()]
            return self._core.add(None if id is None else whole(id, "id"), m, pos, vel, further)
        finally:
            self._moved()

    def _primary(self, primary) -> int:
        if len(self) == 0:
            raise InputError("there is no particle to orbit yet")
        if primary is None:
            return int(np.argmax(self.particles.m))
        return primary.index if isinstance(primary, Particle) else self.particles[primary].index

    def _on_orbit(self, m, primary, elements):
        centre = self.particles[self._primary(primary)]
        pos, vel = relative_state(self.G * (centre.m + m), **elements)
        return centre.pos + pos, centre.vel + vel

    def remove(self, id) -> None:
        """Removes the particles with the identities `id`."""
        try:
            self._core.remove(whole(id, "id"))
        finally:
            self._moved()

    def set(self, **changes) -> None:
        """Changes options: `softening`, `integrator`, `device`, `mode`, `threads`, `law`, `settings`; `units` before the first particle,
        `stellar_evolution` before the start."""
        found = _common(changes)
        if changes:
            raise TypeError(f"unknown option {next(iter(changes))!r}")
        try:
            self._core.set(settings(found))
        finally:
            self._moved()

    def set_external(self, acceleration=None, *, potential=None, jerk=None) -> None:
        """Lets functions act as an external field, beside the fields of the configuration; without functions, none.

        `acceleration(pos, t)` returns three numbers at the place `pos` (3,) and time `t`, `potential(pos, t)` one, `jerk(pos, vel, t)` the
        time derivative of the acceleration along a path, three. Without `jerk` it is differenced; without `potential` the energy does
        not count the field. Everything is in the units of the simulation.

        This is slow: functions of Python are called for each particle at each of its steps, one at a time. The fields of the
        configuration are fast: `settings={"external.plummer": {"mass": 10, "scale_radius": 5}}`. A function cannot use the simulation.
        """
        if acceleration is None and (potential is not None or jerk is not None):
            raise InputError("an external field needs a function for its acceleration")
        for name, function in (("acceleration", acceleration), ("potential", potential), ("jerk", jerk)):
            if function is not None and not callable(function):
                raise TypeError(f"{name}: expected a function, found {type(function).__name__}")
        try:
            self._core.set_external(acceleration, jerk, potential)
        finally:
            self._moved()
        functions = {"acceleration": acceleration, "potential": potential, "jerk": jerk}
        object.__setattr__(self, "_function", functions if acceleration else None)

    def move_to_com(self) -> None:
        """Moves the centre of mass to the origin, at rest."""
        com, p = self.com, self.particles
        self._change(p.id, pos=p.pos - com.pos, vel=p.vel - com.vel)

    def integrate(self, t: float, *, progress=False, callback: Callable | None = None, interval: float | None = None) -> None:
        """Advances to the time `t`, which may be any.

        `progress=True` shows a line on the screen; a function instead is called with the time every so often. `callback(self)` is called
        at every multiple of `interval` after the present time and at the end; if it returns False the integration ends there. Both may do
        anything but `progress`, which cannot use the simulation. Ctrl-C stops after a block step: the simulation stays whole, and can go on.
        """
        start = self.t
        if (callback is None) != (interval is None):
            raise InputError("callback and interval belong together")
        if interval is not None and not interval > 0:
            raise InputError(f"interval: expected a number above zero, found {interval}")
        report = reporter(progress, start, t)
        try:
            count = 1
            while interval is not None and start + count * interval < t:
                self._integrate(start + count * interval, report)
                count += 1
                if callback(self) is False:
                    return
            self._integrate(t, report)
            if callback is not None:
                callback(self)
        finally:
            if isinstance(report, Line):
                report.finish()

    def _integrate(self, t: float, report) -> None:
        try:
            self._core.integrate(t, report)
        finally:
            self._moved()

    def steps(self, n: int = 1) -> None:
        """Takes `n` block steps; with individual steps each moves the particles whose turn it is."""
        try:
            self._core.steps(n)
        finally:
            self._moved()

    def start(self) -> None:
        """Computes the first forces and steps; `integrate` and the energies do this by themselves."""
        try:
            self._core.start()
        finally:
            self._moved()

    def run(
        self,
        directory: str | os.PathLike,
        t_end: float,
        interval: float | None = None,
        *,
        overwrite: bool = False,
        progress=False,
        settings: Mapping | None = None,
    ) -> Run:
        """Integrates to `t_end` with the files of `tisane run` in `directory`: snapshots and diagnostics at every `interval`, checkpoints,
        summary. Returns the run; the simulation is then the state at its end.

        Before the start this is exactly the run of the program. Later it begins anew at the present time, with first steps. `settings`
        are further keys of the configuration. Ctrl-C stops with a checkpoint; `tisane resume DIRECTORY` continues.
        """
        found = {
            "run.t_end": float(t_end),
            "run.name": _name(directory),
            "output.interval": interval,
            "output.directory": os.path.abspath(directory),
            **(settings or {}),
        }
        report = reporter(progress, self.t, t_end)
        try:
            where, _ = self._core.run(_settings(found), overwrite, report)
        finally:
            self._moved()
            if isinstance(report, Line):
                report.finish()
        return Run(where)

    # What follows from it.

    def forces(self):
        """Acceleration (N, 3), jerk (N, 3) and potential (N,) of the particles, as `particles.acc`, `jerk` and `pot`."""
        return self._cached("forces", self._core.forces)

    def field_at(self, pos, vel=None):
        """Acceleration (M, 3), jerk (M, 3) and potential (M,) that all particles and external fields cause at the points `pos` (M, 3), at
        which bodies with the velocities `vel` are, by default at rest; in f64."""
        pos = vectors(pos, "pos")
        return self._core.field_at(pos, np.zeros_like(pos) if vel is None else vectors(vel, "vel"))

    def orbits(self, primary=None) -> Orbits:
        """The osculating orbits of all other particles about `primary`, a particle or its index, by default the one of the largest mass.
        Arrays of N - 1, in the order of the particles."""
        where, p = self._primary(primary), self.particles
        others = np.arange(len(p)) != where
        mu = self.G * (p.m[where] + p.m[others])
        found = orbits(mu, p.pos[others] - p.pos[where], p.vel[others] - p.vel[where])
        # Its periods are in length / velocity, which is another unit of time where both were named.
        return found._replace(P=found.P * self._core.units()[2])

    def __eq__(self, other) -> bool:
        """True if both hold the same particles bit for bit, at the same times with the same next steps, and go on by the same settings."""
        if not isinstance(other, Simulation):
            return NotImplemented
        return self._core.same(other._core)

    # Simulations change: they have no hash.
    __hash__ = None

    def __repr__(self) -> str:
        return f"<Simulation: N = {len(self)}, t = {self.t:g} {self.units.time}>"


_settings = settings


def _all(values, n):
    """One number for all of `n`, or the values."""
    return np.broadcast_to(values, (n,)) if np.ndim(values) == 0 else values


def _start(t) -> dict:
    return {} if t is None else {"run": {"name": "memory", "t_start": float(t), "t_end": float(t) + 1.0}}


def _name(directory) -> str:
    """A name for the run in `directory`, of the characters that names have."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in Path(os.path.abspath(directory)).name)
    return name.strip(".-") or "run"


def _unpacked(content: bytes):
    with tempfile.TemporaryDirectory(prefix="tisane-") as folder:
        path = Path(folder) / "state.hdf5"
        path.write_bytes(content)
        return _engine.Core.load(path)


def _restored(cls, content: bytes, function):
    made = cls._of(_unpacked(content))
    if function is not None:
        made.set_external(**function)
    return made


def _written_end(text: str):
    try:
        return loads(text).get("run", {}).get("t_end", 0.0)
    except ValueError:
        # The engine tells the line and the key.
        return 0.0


def run(
    config: str | os.PathLike | Mapping,
    directory: str | os.PathLike | None = None,
    *,
    settings: Mapping | None = None,
    overwrite: bool = False,
    progress=False,
) -> Run:
    """Runs a configuration with all of its files, as `tisane run`, and returns the run.

    `config` is the path of a TOML file, a dictionary with its content, or its text; `directory` replaces its output directory, `settings`
    any of its keys. Ctrl-C stops with a checkpoint; `tisane resume DIRECTORY` continues. run.log stays empty: its lines are the program's.
    """
    given = source(config)
    if isinstance(config, Mapping):
        end = config.get("run", {}).get("t_end", 0.0)
    else:
        end = _written_end(given[1] if given[0] is None else given[0].read_text(encoding="utf-8"))
    end = (settings or {}).get("run.t_end", end)
    report = reporter(progress, 0.0, float(end) if isinstance(end, (int, float)) else 0.0)
    where = None if directory is None else os.fspath(directory)
    try:
        found, _ = _engine.run(given, _settings(settings), where, overwrite, report)
    finally:
        if isinstance(report, Line):
            report.finish()
    return Run(found)
