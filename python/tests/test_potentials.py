"""Sections of external fields from potentials of galpy and gala: with stand-ins that have their attributes, and with their own where they
are installed."""

import math

import numpy as np
import pytest

import tisane
from tisane._toml import loads

# G in kpc (km/s)^2 / Msun, and a unit of mass of galpy: 220^2 * 8 / G.
G = 4.300917270036279e-6
AMPLITUDE = 220.0**2 * 8.0 / G


def stand_in(name, **attributes):
    return type(name, (), attributes)()


def galpy_like(name, **attributes):
    return stand_in(name, _ro=8.0, _vo=220.0, **attributes)


class Quantity:
    """A number with a unit, as astropy's."""

    SIZES = {"kpc": 1000.0, "pc": 1.0, "solMass": 1.0, "km/s": 1.0, "deg": 1.0, "": 1.0}

    def __init__(self, value, unit=""):
        self.value, self.unit = value, unit

    def to_value(self, unit):
        return self.value * self.SIZES[self.unit] / self.SIZES[unit]


def fields(text):
    """The fields of the sections by kind; a list each."""
    return loads(text)["external"]


def only(text):
    [(kind, [keys])] = fields(text).items()
    return kind, keys


@pytest.mark.parametrize(
    ("potential", "kind", "expected"),
    [
        (("KeplerPotential", {"_amp": 0.5, "alpha": 3.0}), "point-mass", {"mass": 0.5 * AMPLITUDE}),
        (("PlummerPotential", {"_amp": 2.0, "_b": 0.25}), "plummer", {"mass": 2.0 * AMPLITUDE, "scale_radius": 2.0}),
        (("HernquistPotential", {"_amp": 2.0, "a": 0.5}), "hernquist", {"mass": AMPLITUDE, "scale_radius": 4.0}),
        (("NFWPotential", {"_amp": 1.0, "a": 2.0}), "nfw", {"mass": AMPLITUDE, "scale_radius": 16.0}),
        (("IsochronePotential", {"_amp": 1.0, "b": 0.5}), "isochrone", {"mass": AMPLITUDE, "scale_radius": 4.0}),
        (("JaffePotential", {"_amp": 1.0, "a": 0.5}), "jaffe", {"mass": AMPLITUDE, "scale_radius": 4.0}),
        (
            ("DehnenSphericalPotential", {"_amp": 2.5, "a": 0.5, "alpha": 0.5}),
            "dehnen",
            {"mass": AMPLITUDE, "scale_radius": 4.0, "inner_slope": 0.5},
        ),
        (
            ("LogarithmicHaloPotential", {"_amp": 4.0, "_core2": 0.25, "_q": 0.8, "_b": None}),
            "logarithmic",
            {"speed": 440.0, "core_radius": 4.0, "flattening_z": 0.8},
        ),
        (
            ("LogarithmicHaloPotential", {"_amp": 1.0, "_core2": 0.0, "_q": 0.8, "_b": 0.9}),
            "logarithmic",
            {"speed": 220.0, "core_radius": 0.0, "flattening_y": 0.9, "flattening_z": 0.8},
        ),
        (
            ("MiyamotoNagaiPotential", {"_amp": 1.0, "_a": 0.5, "_b": 0.125}),
            "miyamoto-nagai",
            {"mass": AMPLITUDE, "scale_length": 4.0, "scale_height": 1.0},
        ),
        (
            # Gamma(1/2) = sqrt(pi), with a density A r^-2 exp(-(r/r_c)^2).
            ("PowerSphericalPotentialwCutoff", {"_amp": 1.0, "alpha": 2.0, "rc": 0.5}),
            "power-law",
            {"mass": math.pi**1.5 * AMPLITUDE, "slope": 2.0, "cutoff_radius": 4.0},
        ),
        (
            ("SoftenedNeedleBarPotential", {"_amp": 1.0, "_a": 0.5, "_b": 0.25, "_c2": 0.0625, "_pa": math.pi / 6, "_omegab": 2.0}),
            "long-murali-bar",
            {"mass": AMPLITUDE, "half_length": 4.0, "width": 2.0, "height": 2.0, "angle": 30.0, "pattern_speed": 55.0},
        ),
    ],
)
def test_potentials_of_galpy_are_fields(potential, kind, expected):
    name, attributes = potential
    found, keys = only(tisane.galpy_fields(galpy_like(name, **attributes), length="kpc"))
    assert found == kind
    assert keys == pytest.approx(expected, rel=1e-14)


def test_units_of_galpy_and_sums():
    halo = galpy_like("NFWPotential", _amp=1.0, a=2.0)
    in_parsec = only(tisane.galpy_fields(halo, ro=10.0, vo=200.0))[1]
    assert in_parsec == pytest.approx({"mass": 200.0**2 * 10.0 / G, "scale_radius": 20000.0}, rel=1e-14)
    discs = [galpy_like("MiyamotoNagaiPotential", _amp=m, _a=1.0, _b=0.1) for m in (1.0, -0.5, 2.0)]
    disc = galpy_like("MN3ExponentialDiskPotential", _amp=2.0, _mn3=discs)
    both = fields(tisane.galpy_fields([halo, [disc, halo]], length="kpc"))
    assert [keys["mass"] for keys in both["miyamoto-nagai"]] == pytest.approx([2 * AMPLITUDE, -AMPLITUDE, 4 * AMPLITUDE], rel=1e-14)
    assert len(both["nfw"]) == 2


def gala_like(name, **parameters):
    return stand_in(name, parameters=parameters, R=None, origin=[0.0, 0.0, 0.0])


def test_potentials_of_gala_are_fields():
    mass, kpc = Quantity(2e10, "solMass"), lambda x: Quantity(x, "kpc")
    for potential, kind, expected in [
        (gala_like("KeplerPotential", m=mass), "point-mass", {"mass": 2e10}),
        (gala_like("PlummerPotential", m=mass, b=kpc(2.0)), "plummer", {"mass": 2e10, "scale_radius": 2000.0}),
        (gala_like("NFWPotential", m=mass, r_s=kpc(15.0), a=Quantity(1.0)), "nfw", {"mass": 2e10, "scale_radius": 15000.0}),
        (
            gala_like("MN3ExponentialDiskPotential", m=mass, h_R=kpc(2.6), h_z=kpc(0.3)),
            "exponential-disc",
            {"mass": 2e10, "scale_length": 2600.0, "scale_height": 300.0, "vertical": "sech2"},
        ),
        (
            gala_like("PowerLawCutoffPotential", m=mass, alpha=Quantity(1.8), r_c=kpc(1.9)),
            "power-law",
            {"mass": 2e10, "slope": 1.8, "cutoff_radius": 1900.0},
        ),
        (
            gala_like("LongMuraliBarPotential", m=mass, a=kpc(3.0), b=kpc(0.5), c=kpc(0.4), alpha=Quantity(25.0, "deg")),
            "long-murali-bar",
            {"mass": 2e10, "half_length": 3000.0, "width": 500.0, "height": 400.0, "angle": 25.0},
        ),
        (
            # x^2/4 + y^2 + z^2/4 + 1 = (x^2 + 4 y^2 + z^2 + 4) / 4
            gala_like(
                "LogarithmicPotential", v_c=Quantity(200.0, "km/s"), r_h=kpc(1.0), q1=Quantity(2.0), q2=Quantity(1.0), q3=Quantity(2.0)
            ),
            "logarithmic",
            {"speed": 200.0, "core_radius": 2000.0, "flattening_y": 0.5, "flattening_z": 1.0},
        ),
    ]:
        found, keys = only(tisane.gala_fields(potential))
        assert (found, keys.pop("vertical", None)) == (kind, expected.pop("vertical", None))
        assert keys == pytest.approx(expected, rel=1e-14)


def test_a_composite_of_gala_and_an_origin():
    bulge = gala_like("HernquistPotential", m=Quantity(5e9, "solMass"), c=Quantity(1.0, "kpc"))
    moved = gala_like("JaffePotential", m=Quantity(1e9, "solMass"), c=Quantity(0.5, "kpc"))
    moved.origin, moved.units = [1.0, 0.0, -2.0], {"length": stand_in("Unit", to=lambda self, unit: {"pc": 1000.0, "kpc": 1.0}[unit])}
    found = fields(tisane.gala_fields({"bulge": bulge, "moved": moved}, length="kpc"))
    assert found["hernquist"] == [{"mass": 5e9, "scale_radius": 1.0}]
    assert found["jaffe"] == [{"mass": 1e9, "scale_radius": 0.5, "position": [1.0, 0.0, -2.0]}]


def test_what_there_is_no_field_for_is_named():
    with pytest.raises(ValueError, match="no field for the SpiralArmsPotential of galpy; known are Dehnen"):
        tisane.galpy_fields([galpy_like("SpiralArmsPotential", _amp=1.0)])
    with pytest.raises(ValueError, match="no field for the SCFPotential of gala"):
        tisane.gala_fields(gala_like("SCFPotential"))
    turned = gala_like("PlummerPotential", m=Quantity(1.0, "solMass"), b=Quantity(1.0, "pc"))
    turned.R = np.eye(3)
    with pytest.raises(ValueError, match="turned by a matrix R"):
        tisane.gala_fields(turned)
    with pytest.raises(ValueError, match="has no units"):
        tisane.gala_fields(gala_like("PlummerPotential", m=1.0, b=1.0))
    with pytest.raises(ValueError, match='expected a length of "pc" or "kpc"'):
        tisane.galpy_fields([], length="Mpc")


PLACES = np.array([[3.0, 2.0, 0.5], [-6.0, 1.0, -2.0], [0.5, -8.5, 0.1], [12.0, -9.0, 7.0]])


def accelerations(text):
    """Accelerations by the fields at the places in kpc, in (km/s)^2 / kpc: those of particles without mass."""
    settings = {f"external.{kind}": keys for kind, keys in fields(text).items()}
    sim = tisane.Simulation.from_arrays(
        np.zeros(len(PLACES)), PLACES, np.zeros((len(PLACES), 3)), units=("Msun", "kpc", "km/s"), softening=1e-3, settings=settings
    )
    return np.array(sim.particles.acc)


def test_potentials_of_galpy_have_the_same_forces():
    potential = pytest.importorskip("galpy.potential")
    bar = potential.SoftenedNeedleBarPotential(amp=0.1, a=0.4, b=0.05, c=0.04, pa=0.4, omegab=1.5)
    disc = potential.MN3ExponentialDiskPotential(amp=3.0, hr=0.3, hz=0.04)
    halo = potential.LogarithmicHaloPotential(amp=0.4, core=0.2, q=0.8, b=0.9)
    parts = [*potential.MWPotential2014, bar, disc, halo, potential.DehnenSphericalPotential(amp=0.3, a=0.5, alpha=0.7)]
    found = accelerations(tisane.galpy_fields(parts, length="kpc"))
    for place, acc in zip(PLACES / 8.0, found, strict=True):
        radius, phi = math.hypot(place[0], place[1]), math.atan2(place[1], place[0])
        at = {"phi": phi, "use_physical": False}
        outwards = sum(part.Rforce(radius, place[2], **at) for part in parts)
        around = sum(part.phitorque(radius, place[2], **at) for part in parts) / radius
        up = sum(part.zforce(radius, place[2], **at) for part in parts)
        x, y = math.cos(phi), math.sin(phi)
        expected = np.array([outwards * x - around * y, outwards * y + around * x, up]) * 220.0**2 / 8.0
        np.testing.assert_allclose(acc, expected, rtol=1e-11, atol=1e-9)


def test_potentials_of_gala_have_the_same_forces():
    potential = pytest.importorskip("gala.potential")
    units = pytest.importorskip("gala.units")
    astropy = pytest.importorskip("astropy.units")
    for one in (
        potential.MilkyWayPotential2022(),
        potential.BovyMWPotential2014(),
        potential.LongMuraliBarPotential(m=1e10, a=3.0, b=0.5, c=0.4, alpha=0.3, units=units.galactic),
        potential.LogarithmicPotential(v_c=0.2, r_h=1.0, q1=1.1, q2=0.9, q3=0.8, units=units.galactic),
        potential.JaffePotential(m=1e10, c=1.5, units=units.galactic, origin=[0.5, -1.0, 0.25]),
        potential.MN3ExponentialDiskPotential(m=1e10, h_R=2.0, h_z=0.4, sech2_z=False, units=units.galactic),
    ):
        found = accelerations(tisane.gala_fields(one, length="kpc"))
        expected = one.acceleration(PLACES.T * astropy.kpc).to_value("km2 / (s2 kpc)").T
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
