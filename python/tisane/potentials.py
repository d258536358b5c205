"""External fields from potentials of galpy and gala, as sections of a configuration.

Neither package is needed: the potentials are read by the names of their classes and by their attributes. The product of G and the
mass is that of the potential; the mass in solar masses follows with tisane's G.
"""

import math

__all__ = ["gala_fields", "galpy_fields"]

# Nominal G M of the Sun in cm^3/s^2 (IAU 2015 resolution B3), and a parsec in cm.
GM_SUN = 1.3271244e26
PARSEC = 648000 / math.pi * 1.495978707e13
# G in pc (km/s)^2 / Msun.
G = GM_SUN / PARSEC / 1e10
LENGTHS = {"pc": 1.0, "kpc": 1000.0}


def galpy_fields(potential, *, length="pc", ro=None, vo=None):
    """Returns the sections `[[external.<kind>]]` of a potential of galpy, or of a list or sum of them, as TOML text.

    Parameters
    ----------
    potential : galpy potential, or a list of them
        Known classes are KeplerPotential, PlummerPotential, HernquistPotential, NFWPotential, LogarithmicHaloPotential,
        IsochronePotential, MiyamotoNagaiPotential, DehnenSphericalPotential, DehnenCoreSphericalPotential, JaffePotential,
        PowerSphericalPotentialwCutoff, MN3ExponentialDiskPotential and SoftenedNeedleBarPotential, and sums such as MWPotential2014.
    length : "pc" or "kpc"
        Unit of lengths; masses are in Msun and velocities in km/s. The configuration needs the same `[units]`.
    ro, vo : float, optional
        Unit of length in kpc and of velocity in km/s of potentials in galpy's own units; the default is what they have themselves.

    Raises
    ------
    ValueError
        For a class that tisane has no field for, with its name.
    """
    sections = _Sections(length)
    for one in _parts(potential):
        kind = type(one).__name__
        make = _GALPY.get(kind)
        if make is None:
            raise ValueError(_unknown("galpy", kind, _GALPY))
        units = _GalpyUnits(one, ro, vo, sections.length)
        for section, keys in make(one, units):
            sections.add(section, keys)
    return sections.text()


def gala_fields(potential, *, length="pc"):
    """Returns the sections `[[external.<kind>]]` of a potential of gala, or of a composite one, as TOML text.

    Parameters
    ----------
    potential : gala potential
        Known classes are KeplerPotential, PlummerPotential, HernquistPotential, NFWPotential, LogarithmicPotential,
        IsochronePotential, MiyamotoNagaiPotential, JaffePotential, PowerLawCutoffPotential, MN3ExponentialDiskPotential and
        LongMuraliBarPotential, and composites such as MilkyWayPotential2022. They may have an `origin`, and no rotation.
    length : "pc" or "kpc"
        Unit of lengths; masses are in Msun and velocities in km/s. The configuration needs the same `[units]`.

    Raises
    ------
    ValueError
        For a class that tisane has no field for, with its name, and for a potential that is turned.
    """
    sections = _Sections(length)
    components = list(potential.values()) if hasattr(potential, "values") else [potential]
    for one in components:
        kind = type(one).__name__
        make = _GALA.get(kind)
        if make is None:
            raise ValueError(_unknown("gala", kind, _GALA))
        if getattr(one, "R", None) is not None:
            raise ValueError(f"the {kind} of gala is turned by a matrix R: tisane has fields along the axes only")
        values = _GalaValues(one, sections.length)
        section, keys = make(one, values)
        origin = [float(x) for x in values.origin()]
        if any(origin):
            keys["position"] = origin
        sections.add(section, keys)
    return sections.text()


def _unknown(package, kind, known):
    return f"tisane has no field for the {kind} of {package}; known are {', '.join(sorted(known))}"


def _parts(potential):
    """The potentials of a list, of lists in it, or of a sum; a single one of galpy can be iterated over too, and gives itself."""
    if isinstance(potential, (list, tuple)) or type(potential).__name__ == "CompositePotential":
        return [part for one in potential for part in _parts(one)]
    return [potential]


class _Sections:
    """Sections of a configuration in their order."""

    def __init__(self, length):
        if length not in LENGTHS:
            raise ValueError(f'expected a length of "pc" or "kpc", found {length!r}')
        self.unit = length
        # Parsecs in a unit of length.
        self.length = LENGTHS[length]
        self.lines = [f"# in Msun, {length}, km/s"]

    def add(self, section, keys):
        self.lines.append(f"[[external.{section}]]")
        for key, value in keys.items():
            self.lines.append(f"{key} = {_toml(value)}")

    def text(self):
        return "\n".join(self.lines) + "\n"


def _toml(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, found {value}")
    return repr(value)


class _GalpyUnits:
    """Conversion from galpy's own units, in which a length is ro and a velocity vo."""

    def __init__(self, potential, ro, vo, length):
        self.ro = 1000.0 * float(potential._ro if ro is None else ro) / length
        self.vo = float(potential._vo if vo is None else vo)
        self.g = G / length

    def mass(self, amplitude):
        return float(amplitude) * self.vo * self.vo * self.ro / self.g

    def length(self, value):
        return float(value) * self.ro

    def frequency(self, value):
        return float(value) * self.vo / self.ro


def _sphere(section, size, share=lambda one: 1.0):
    """A sphere of the mass amplitude x `share`, with its size in an attribute."""

    def make(one, units):
        keys = {"mass": units.mass(one._amp * share(one)), "scale_radius": units.length(getattr(one, size))}
        return [(section, keys)]

    return make


def _galpy_point(one, units):
    return [("point-mass", {"mass": units.mass(one._amp)})]


def _galpy_dehnen(one, units):
    [(section, keys)] = _sphere("dehnen", "a", lambda it: 1.0 / (3.0 - it.alpha))(one, units)
    return [(section, {**keys, "inner_slope": one.alpha})]


def _galpy_logarithmic(one, units):
    keys = {"speed": math.sqrt(one._amp) * units.vo, "core_radius": units.length(math.sqrt(one._core2))}
    if one._b is not None:
        keys["flattening_y"] = one._b
    return [("logarithmic", {**keys, "flattening_z": one._q})]


def _galpy_disc(one, units, amplitude=1.0):
    keys = {
        "mass": units.mass(amplitude * one._amp),
        "scale_length": units.length(one._a),
        "scale_height": units.length(one._b),
    }
    return [("miyamoto-nagai", keys)]


def _galpy_three_discs(one, units):
    return [section for disc in one._mn3 for section in _galpy_disc(disc, units, one._amp)]


def _galpy_power_law(one, units):
    # M = 2 pi A r_c^(3 - alpha) Gamma((3 - alpha) / 2) with the density A r^(-alpha) exp(-(r / r_c)^2).
    rest = 3.0 - one.alpha
    whole = 2.0 * math.pi * one.rc**rest * math.gamma(0.5 * rest)
    keys = {"mass": units.mass(one._amp * whole), "slope": one.alpha, "cutoff_radius": units.length(one.rc)}
    return [("power-law", keys)]


def _galpy_bar(one, units):
    keys = {
        "mass": units.mass(one._amp),
        "half_length": units.length(one._a),
        "width": units.length(one._b),
        "height": units.length(math.sqrt(one._c2)),
        "angle": math.degrees(one._pa),
        "pattern_speed": units.frequency(one._omegab),
    }
    return [("long-murali-bar", keys)]


_GALPY = {
    "KeplerPotential": _galpy_point,
    "PlummerPotential": _sphere("plummer", "_b"),
    "HernquistPotential": _sphere("hernquist", "a", lambda one: 0.5),
    "NFWPotential": _sphere("nfw", "a"),
    "IsochronePotential": _sphere("isochrone", "b"),
    "JaffePotential": _sphere("jaffe", "a"),
    "DehnenSphericalPotential": _galpy_dehnen,
    "DehnenCoreSphericalPotential": _galpy_dehnen,
    "LogarithmicHaloPotential": _galpy_logarithmic,
    "MiyamotoNagaiPotential": _galpy_disc,
    "MN3ExponentialDiskPotential": _galpy_three_discs,
    "PowerSphericalPotentialwCutoff": _galpy_power_law,
    "SoftenedNeedleBarPotential": _galpy_bar,
}


class _GalaValues:
    """Parameters of a potential of gala, which are quantities with units."""

    def __init__(self, potential, length):
        self.potential = potential
        self.parameters = potential.parameters
        self.unit = "pc" if length == 1.0 else "kpc"

    def _in(self, name, unit):
        value = self.parameters[name]
        if not hasattr(value, "to_value"):
            kind = type(self.potential).__name__
            raise ValueError(f"the {kind} of gala has no units: give it `units=gala.units.galactic`, or others")
        return float(value.to_value(unit))

    def mass(self, name="m"):
        return self._in(name, "solMass")

    def length(self, name):
        return self._in(name, self.unit)

    def velocity(self, name):
        return self._in(name, "km/s")

    def angle(self, name):
        return self._in(name, "deg")

    def number(self, name):
        value = self.parameters[name]
        return float(value.to_value("") if hasattr(value, "to_value") else value)

    def origin(self):
        origin = getattr(self.potential, "origin", None)
        if origin is None:
            return [0.0, 0.0, 0.0]
        if hasattr(origin, "to_value"):
            return origin.to_value(self.unit)
        # Bare numbers are in the unit of length of the potential.
        if not any(float(x) for x in origin):
            return [0.0, 0.0, 0.0]
        scale = float(self.potential.units["length"].to(self.unit))
        return [float(x) * scale for x in origin]


def _gala_sphere(section, size):
    return lambda one, of: (section, {"mass": of.mass(), "scale_radius": of.length(size)})


def _gala_nfw(one, of):
    if any(name in one.parameters and of.number(name) != 1.0 for name in "abc"):
        raise ValueError("the NFWPotential of gala is flattened: tisane has a round one")
    return _gala_sphere("nfw", "r_s")(one, of)


def _gala_logarithmic(one, of):
    if "phi" in one.parameters and of.angle("phi") != 0.0:
        raise ValueError("the LogarithmicPotential of gala is turned by phi: tisane has one along the axes")
    q1, q2, q3 = (of.number(name) for name in ("q1", "q2", "q3"))
    # x^2 has the factor 1, but for a constant in the potential.
    keys = {"speed": of.velocity("v_c"), "core_radius": q1 * of.length("r_h")}
    return "logarithmic", {**keys, "flattening_y": q2 / q1, "flattening_z": q3 / q1}


def _gala_disc(one, of):
    return "miyamoto-nagai", {"mass": of.mass(), "scale_length": of.length("a"), "scale_height": of.length("b")}


def _gala_exponential(one, of):
    if not getattr(one, "positive_density", True):
        raise ValueError("the MN3ExponentialDiskPotential of gala has a negative density somewhere: tisane has the positive one")
    keys = {"mass": of.mass(), "scale_length": of.length("h_R"), "scale_height": of.length("h_z")}
    return "exponential-disc", {**keys, "vertical": "sech2" if getattr(one, "sech2_z", True) else "exponential"}


def _gala_power_law(one, of):
    return "power-law", {"mass": of.mass(), "slope": of.number("alpha"), "cutoff_radius": of.length("r_c")}


def _gala_bar(one, of):
    keys = {"mass": of.mass(), "half_length": of.length("a"), "width": of.length("b"), "height": of.length("c")}
    return "long-murali-bar", {**keys, "angle": of.angle("alpha")}


_GALA = {
    "KeplerPotential": lambda one, of: ("point-mass", {"mass": of.mass()}),
    "PlummerPotential": _gala_sphere("plummer", "b"),
    "HernquistPotential": _gala_sphere("hernquist", "c"),
    "NFWPotential": _gala_nfw,
    "IsochronePotential": _gala_sphere("isochrone", "b"),
    "JaffePotential": _gala_sphere("jaffe", "c"),
    "LogarithmicPotential": _gala_logarithmic,
    "MiyamotoNagaiPotential": _gala_disc,
    "MN3ExponentialDiskPotential": _gala_exponential,
    "PowerLawCutoffPotential": _gala_power_law,
    "LongMuraliBarPotential": _gala_bar,
}
