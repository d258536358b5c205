"""To astropy, pandas and AMUSE, each imported only when it is asked for."""

import re

import numpy as np

# The names that tisane writes, by astropy and, where it has others, by AMUSE.
ASTROPY = {"Msun": "solMass", "Mjup": "jupiterMass", "Mearth": "earthMass", "day": "d"}
ASTROPY |= {name: name for name in ("kg", "g", "kpc", "pc", "au", "km", "m", "cm", "Gyr", "Myr", "yr", "s")}
AMUSE = {"Msun": "MSun", "Mjup": "MJupiter", "Mearth": "MEarth", "au": "AU", "pc": "parsec"}
# Constants differ between programs in the fifth digit; a wrong unit differs by far more.
SAME = 1e-3


def factors(unit: str) -> list[tuple[str, int]]:
    """Names and powers of a unit as tisane writes it: `Msun (km/s)^2` is Msun, km twice, s minus twice.

    ValueError if it is not such a unit.
    """
    return [] if unit == "1" else [factor for part in unit.split(" ") for factor in _compound(part, 1)]


def _compound(text: str, sign: int) -> list[tuple[str, int]]:
    """`L^-1`, `km/s`, `(km/s)^2`, `pc/(km/s)`."""
    if match := re.fullmatch(r"\((.*)\)(?:\^(-?\d+))?", text):
        power = sign * int(match[2] or 1)
        return [(name, p * power) for name, p in _compound(match[1], 1)]
    if match := re.fullmatch(r"([A-Za-z]+)(?:\^(-?\d+))?", text):
        return [(match[1], sign * int(match[2] or 1))]
    above, slash, below = text.partition("/")
    if not slash:
        raise ValueError(f"{text!r} is not a unit that tisane writes")
    return _compound(above, sign) + _compound(below, -sign)


def _product(unit: str, named, one):
    """The product of the factors of a unit, each by `named`."""
    for name, power in factors(unit):
        one = one * named(name) ** power
    return one


_henon = {}


def henon_units():
    """Astropy units for N-body units, by their names M, L, V, T: L and T of their own, V = L / T, M = L^3 / T^2 as G = 1."""
    from astropy import units

    if not _henon:
        length = units.def_unit("L_henon", doc="N-body unit of length")
        time = units.def_unit("T_henon", doc="N-body unit of time")
        _henon.update(L=length, T=time)
        _henon["V"] = units.def_unit("V_henon", length / time)
        _henon["M"] = units.def_unit("M_henon", length**3 / time**2)
    return _henon


def astropy_unit(column):
    """The astropy unit of a column. A named unit whose size in the file is another than astropy's gives ValueError."""
    from astropy import units

    names = {name for name, _ in factors(column.unit)}
    if names and names <= {"M", "L", "V", "T"}:
        return _product(column.unit, henon_units().__getitem__, units.dimensionless_unscaled)
    unknown = names - set(ASTROPY)
    if unknown:
        raise ValueError(f"{column.unit}: no unit {', '.join(sorted(unknown))} is known")
    unit = _product(column.unit, lambda name: units.Unit(ASTROPY[name]), units.dimensionless_unscaled)
    if abs(unit.decompose(bases=units.cgs.bases).scale / column.to_cgs - 1) > SAME:
        raise ValueError(f"{column.unit}: {column.to_cgs} in cgs in the file, and {unit.cgs} by astropy")
    return unit


def quantity(column):
    """A column as an astropy Quantity."""
    from astropy import units

    return units.Quantity(column.view(np.ndarray), astropy_unit(column), copy=False)


def astropy_table(table):
    """Columns as an astropy QTable, with their descriptions."""
    from astropy.table import QTable

    # Counts and identities stay integers.
    columns = {k: v.view(np.ndarray) if v.unit == "1" else quantity(v) for k, v in table.items()}
    result = QTable(columns)
    for name, column in table.items():
        result[name].info.description = column.description
    return result


def pandas_frame(table):
    """Columns as a pandas DataFrame; the names of the units are in `frame.attrs["units"]`."""
    import pandas

    columns, units = {}, {}
    for name, column in table.items():
        values = column.view(np.ndarray)
        parts = {name: values} if values.ndim == 1 else {f"{name}_{x}": values[:, i] for i, x in enumerate("xyz")}
        columns |= parts
        units |= dict.fromkeys(parts, column.unit)
    frame = pandas.DataFrame(columns)
    frame.attrs["units"] = units
    return frame


def amuse_particles(snapshot):
    """A snapshot as AMUSE particles: `mass`, `position`, `velocity`, `id`, and its time as `particles.collection_attributes`."""
    from amuse.datamodel import Particles
    from amuse.units import nbody_system, units

    if snapshot.units.henon:
        known = {"M": nbody_system.mass, "L": nbody_system.length, "V": nbody_system.speed, "T": nbody_system.time}
    else:
        known = {name: getattr(units, AMUSE.get(name, name)) for name in ASTROPY}

    def amuse(column):
        powers = factors(column.unit)
        unit = known[powers[0][0]] ** powers[0][1]
        for name, power in powers[1:]:
            unit = unit * known[name] ** power
        return unit.new_quantity(column.view(np.ndarray)[()])

    particles = Particles(len(snapshot["Masses"]))
    particles.mass = amuse(snapshot["Masses"])
    particles.position = amuse(snapshot["Coordinates"])
    particles.velocity = amuse(snapshot["Velocities"])
    particles.id = np.array(snapshot["ParticleIDs"])
    particles.collection_attributes.timestamp = amuse(snapshot.time)
    return particles

