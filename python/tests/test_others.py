"""Promise: runs go to astropy, pandas and AMUSE with the right units, and snapshots open right in pynbody."""

import subprocess

import numpy as np
import pytest
import tisane


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_astropy(runs, name):
    units = pytest.importorskip("astropy.units")
    run = tisane.load(runs[name])
    snapshot, rows = run.snapshots[-1].to_astropy(), run.diagnostics.to_astropy()
    potential = (0.5 * snapshot["Masses"] * snapshot["Potential"]).sum()
    assert potential.to_value(rows["potential_energy"].unit) == pytest.approx(rows["potential_energy"][-1].value)
    assert rows["block_steps"].dtype == np.uint64 and snapshot["ParticleIDs"].dtype == np.uint64
    assert rows["energy"].info.description == "total energy E = T + U"
    if name == "physical":
        total = snapshot["Masses"].sum()
        assert total.unit == units.solMass and total.value == pytest.approx(1000)
        assert rows["time"][-1].to_value("Gyr") == pytest.approx(1e-3)
        speed = snapshot["Velocities"][0, 0]
        assert speed.to_value("cm/s") == pytest.approx(1e5 * speed.value)
    else:
        # In N-body units V = L / T and G = 1.
        henon = tisane.convert.henon_units()
        assert (snapshot["Coordinates"][0] / snapshot["Velocities"][0]).unit.is_equivalent(henon["T"])
        assert (snapshot["Masses"][0] / snapshot["Coordinates"][0]).unit.is_equivalent(henon["V"] ** 2)


def test_a_unit_of_another_size_is_refused():
    pytest.importorskip("astropy")
    with pytest.raises(ValueError, match="by astropy"):
        tisane.Column([1.0], "pc", 3.0e18).quantity()
    with pytest.raises(ValueError, match="no unit furlong"):
        tisane.Column([1.0], "furlong", 20116.8).quantity()


def test_pandas(runs):
    pytest.importorskip("pandas")
    run = tisane.load(runs["physical"])
    rows, particles = run.diagnostics.to_pandas(), run.snapshots[-1].to_pandas()
    assert rows["energy"].tolist() == run.diagnostics["energy"].tolist()
    assert particles["Coordinates_y"].tolist() == run.snapshots[-1]["Coordinates"][:, 1].tolist()
    assert len(particles) == 500 and "Coordinates" not in particles
    assert particles.attrs["units"]["Coordinates_y"] == "pc" and rows.attrs["units"]["time"] == "Myr"


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_amuse(runs, name):
    pytest.importorskip("amuse.datamodel", reason="AMUSE is not installed")
    from amuse.units import nbody_system, units

    run = tisane.load(runs[name])
    snapshot = run.snapshots[-1]
    particles = snapshot.to_amuse()
    length, speed, energy = {
        "henon": (nbody_system.length, nbody_system.speed, nbody_system.energy),
        "physical": (units.parsec, units.km / units.s, units.MSun * (units.km / units.s) ** 2),
    }[name]
    assert np.array_equal(particles.position.value_in(length), snapshot["Coordinates"])
    assert np.array_equal(particles.velocity.value_in(speed), snapshot["Velocities"])
    assert np.array_equal(particles.id, snapshot["ParticleIDs"])
    kinetic = particles.kinetic_energy().value_in(energy)
    assert kinetic == pytest.approx(run.diagnostics["kinetic_energy"][-1])


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_a_converted_file_and_to_amuse_give_amuse_the_same_numbers(runs, program, name, tmp_path):
    pytest.importorskip("amuse.datamodel", reason="AMUSE is not installed")
    from amuse.io import read_set_from_file
    from amuse.units import nbody_system, units

    snapshot = tisane.load(runs[name]).snapshots[-1]
    path = tmp_path / "converted.amuse"
    subprocess.run([program, "convert", "-q", snapshot.path, path], check=True)
    from_file, from_here = read_set_from_file(str(path), "amuse", close_file=True), snapshot.to_amuse()
    mass, length, speed, time = {
        "henon": (nbody_system.mass, nbody_system.length, nbody_system.speed, nbody_system.time),
        "physical": (units.MSun, units.parsec, units.km / units.s, units.Myr),
    }[name]
    for attribute, unit in [("mass", mass), ("position", length), ("velocity", speed)]:
        ours = getattr(from_here, attribute).value_in(unit)
        assert np.array_equal(getattr(from_file, attribute).value_in(unit), ours), attribute
    assert np.array_equal(from_here.mass.value_in(mass), snapshot["Masses"])
    assert from_file.get_timestamp().value_in(time) == from_here.get_timestamp().value_in(time) == float(snapshot.time)


@pytest.mark.filterwarnings("ignore:Unable to infer units")  # of TimeStep, where time is not length / velocity
@pytest.mark.parametrize("name", ["henon", "physical"])
def test_pynbody(runs, name):
    pynbody = pytest.importorskip("pynbody")
    run = tisane.load(runs[name])
    snapshot = run.snapshots[-1]
    f = pynbody.load(str(snapshot.path))
    assert len(f) == len(f.star) == 500
    to_cgs = {"pos": "cm", "vel": "cm s**-1", "mass": "g", "phi": "cm**2 s**-2", "Acceleration": "cm s**-2"}
    ours = {"pos": "Coordinates", "vel": "Velocities", "mass": "Masses", "phi": "Potential"}
    for theirs, unit in to_cgs.items():
        column = snapshot[ours.get(theirs, theirs)]
        assert np.allclose(f.star[theirs].in_units(unit), column * column.to_cgs, rtol=1e-12), theirs
    assert np.array_equal(f.star["iord"], snapshot["ParticleIDs"])
    radius = np.linalg.norm(snapshot["Coordinates"], axis=1)
    for r in (0.5, 1.0):
        inside = f[pynbody.filt.Sphere(r if name == "henon" else f"{r} pc")]
        assert 0 < len(inside) == (radius < r).sum() < 500
    if name == "physical":
        assert f.properties["time"].in_units("Myr") == pytest.approx(1.0)
        assert f["mass"].in_units("Msol").sum() == pytest.approx(1000, rel=1e-4)
        assert "TimeStep" in f.star.loadable_keys()
    else:
        assert np.array_equal(f.star["TimeStep"].in_units("s"), snapshot["TimeStep"])
