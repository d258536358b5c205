"""Stars of simulations that age: what they are, what happens to them, and mistakes that are named."""

import numpy as np
import pytest

import tisane

UNITS = ("Msun", "pc", "Myr")
# A star that becomes a black hole within 8 Myr, one that does not, and one that explodes later.
MASSES = [25.0, 1.0, 15.0]
PLACES = [(-1, 0, 0), (1, 0, 0), (0, 2, 0)]


def aging(**options):
    given = {"units": UNITS, "stellar_evolution": {"metallicity": 0.02}, "integrator": {"hermite4": {"dt_max": 1 / 8}}}
    return tisane.Simulation.from_arrays(MASSES, PLACES, **(given | options))


def test_stars_age_and_say_what_they_are():
    sim = aging()
    p = sim.particles
    assert list(p.type) == [1, 1, 1] and p.type.dtype == np.uint8
    np.testing.assert_array_equal(p.initial_mass, MASSES)
    # The zero-age main sequence of 1 solar mass (Tout et al. 1996), and the radius in parsecs.
    assert 0.65 < p.luminosity[1] < 0.75 and 5500 < p.temperature[1] < 5700
    assert abs(p.radius[1] / 2.2547e-8 - 0.888) < 0.01
    sim.integrate(8.03)
    assert list(sim.particles.type) == [14, 1, 1]
    assert sim.particles[0].type == 14 and sim.particles[0].m == sim.particles[0].core_mass < 8
    assert 0 < sim.particles.age[0] < 0.3, "a remnant's clock begins anew"
    assert np.isfinite(sim.particles.luminosity[1:]).all() and sim.particles.m[2] < 15
    assert abs(sim.energy_error) < 1e-5
    supernova = [event for event in sim.star_events if event["event"] == "supernova"]
    assert [event["id"] for event in supernova] == [0]
    assert supernova[0]["type"] == 14 and supernova[0]["applied"] == 7.875 and supernova[0]["kick"].shape == (3,)
    assert sim.star_events[-1]["other_id"] is None


def test_copies_and_files_have_the_stars(tmp_path):
    sim = aging()
    sim.integrate(7.0)
    copy = sim.copy()
    assert copy == sim
    np.testing.assert_array_equal(copy.particles.radius, sim.particles.radius)
    run = sim.run(tmp_path / "run", 8.0, interval=0.5)
    copy.integrate(8.0)
    assert list(run.snapshots[-1]["StellarType"]) == list(copy.particles.type) == [14, 1, 1]


def test_masses_of_stars_are_those_of_their_tracks():
    sim = aging()
    sim.particles.m = [25.0, 2.0, 15.0]
    sim.integrate(4.0)
    assert sim.particles.initial_mass[1] == 2.0
    sim.particles.m = sim.particles.m
    sim.particles[1].vel = (0, 0.1, 0)
    with pytest.raises(tisane.InputError, match=r"id 0: mass is 10.0: the star has 24\..*by its track"):
        sim.particles[0].m = 10.0
    with pytest.raises(tisane.InputError, match=r"\[stellar_evolution\] cannot change any more"):
        sim.set(stellar_evolution={"metallicity": 0.001})
    with pytest.raises(tisane.InputError, match="mass at birth in solar masses is 1000"):
        sim.add(1000, (5, 0, 0))
    sim.add(3.0, (5, 0, 0))
    assert sim.particles.initial_mass[3] == 3.0 and sim.particles.age[3] == 0.0


def test_without_stars_that_age_there_are_none():
    sim = tisane.Simulation.plummer(8, softening=0.1)
    with pytest.raises(tisane.InputError, match=r"there is no section \[stellar_evolution\]"):
        _ = sim.particles.luminosity
    with pytest.raises(tisane.ConfigError, match="needs units by name"):
        tisane.Simulation(stellar_evolution={})


def test_stars_have_ages_and_metallicities_of_their_own():
    options = {"units": UNITS, "stellar_evolution": {}, "integrator": {"hermite4": {"dt_max": 1 / 8}}}
    sim = tisane.Simulation.from_arrays([25.0, 25.0], PLACES[:2], columns={"metallicity": [0.02, 0.001], "age": 4.0}, **options)
    assert set(sim.particles.columns) == {"age", "metallicity"}
    sim.integrate(4.0)
    # At 8 Myr the poor star burns helium still.
    assert list(sim.particles.type) == [14, 4] and list(sim.particles.initial_mass) == [25.0, 25.0]
    sim.add(1.0, (0, 9, 0), columns={"age": 5000.0})
    assert abs(sim.particles.age[2] - 5000.0) < 10 and sim.particles.luminosity[2] > 0.8
    with pytest.raises(tisane.InputError, match="metallicity is 0.5: expected Z from 0.0001 to 0.03"):
        sim.add(1.0, (0, 0, 9), columns={"metallicity": 0.5})
