"""Promise: `yt.load` opens a snapshot as ours, in its own units, with all particles in the domain; and yt without this package,
in its own units too."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tisane

yt = pytest.importorskip("yt")
yt.set_log_level("error")


def loaded(runs, name, **options):
    snapshot = tisane.load(runs[name]).snapshots[1]
    return snapshot, yt.load(snapshot.path, **options)


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_it_is_ours_with_units_and_domain(runs, name):
    snapshot, ds = loaded(runs, name)
    assert type(ds).__name__ == "TisaneDataset"
    units = snapshot.units
    for unit, size, cgs in [
        (ds.length_unit, units.length_in_cm, "cm"),
        (ds.mass_unit, units.mass_in_g, "g"),
        (ds.velocity_unit, units.velocity_in_cm_per_s, "cm/s"),
    ]:
        assert float(unit.to(cgs)) == pytest.approx(size, rel=1e-12)
    assert float(ds.current_time.to("s")) == pytest.approx(float(snapshot.time) * snapshot.time.to_cgs, rel=1e-12)
    positions = np.asarray(snapshot["Coordinates"])
    left, right = ds.domain_left_edge.to_value("code_length"), ds.domain_right_edge.to_value("code_length")
    assert ((left < positions) & (positions < right)).all() and np.ptp(right - left) < 1e-12
    assert np.allclose((left + right) / 2, np.median(positions, axis=0))
    assert ds.periodicity == (False, False, False)


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_fields_are_those_of_the_file(runs, name):
    snapshot, ds = loaded(runs, name)
    data = ds.all_data()
    order = np.argsort(data["all", "particle_index"].v)
    assert np.array_equal(data["all", "particle_index"].v[order], np.sort(snapshot["ParticleIDs"]))
    for field, column, unit in [
        ("particle_position", "Coordinates", "cm"),
        ("particle_velocity", "Velocities", "cm/s"),
        ("particle_mass", "Masses", "g"),
        ("gravitational_potential", "Potential", "cm**2/s**2"),
        ("particle_acceleration", "Acceleration", "cm/s**2"),
        ("particle_time_step", "TimeStep", "s"),
    ]:
        found = data["all", field].to_value(unit)[order]
        expected = (snapshot[column] * snapshot[column].to_cgs)[np.argsort(snapshot["ParticleIDs"])]
        assert np.allclose(found, expected, rtol=1e-12, atol=0), field
    if name == "henon":
        assert str(data["all", "particle_mass"].units) == "code_mass"


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_a_sphere_holds_what_it_should(runs, name):
    snapshot, ds = loaded(runs, name)
    radius = np.linalg.norm(snapshot["Coordinates"], axis=1)
    for r in (0.5, 1.0, 2.0):
        sphere = ds.sphere([0, 0, 0], (r, "code_length" if name == "henon" else "pc"))
        assert 0 < len(sphere["all", "particle_mass"]) == (radius < r).sum() < 500


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_a_projection_shows_all_of_the_mass(runs, name, tmp_path):
    snapshot, ds = loaded(runs, name)
    plot = yt.ParticleProjectionPlot(ds, "z", ("all", "particle_mass"))
    plot.set_buff_size(128)
    image = plot.frb["all", "particle_mass"]
    assert float(np.nansum(image.to_value("code_mass"))) == pytest.approx(snapshot["Masses"].sum())
    # Where the particles are: the brightest pixels lie around the centre.
    x, y = np.nonzero(np.nan_to_num(image.v))
    assert abs(np.median(x) - 64) < 4 and abs(np.median(y) - 64) < 4
    plot.zoom(4)
    plot.save(os.path.join(os.environ.get("TISANE_PICTURES", tmp_path), name))


def test_henon_units_take_a_scale(runs):
    snapshot, ds = loaded(runs, "henon", unit_base={"length": (1, "pc"), "mass": (1e4, "Msun")})
    # sqrt(G M / L), with G = 4.30091e-3 pc (km/s)^2 / Msun.
    assert float(ds.velocity_unit.to("km/s")) == pytest.approx(np.sqrt(4.30091e-3 * 1e4), rel=1e-4)
    assert float(ds.all_data()["all", "particle_mass"].sum().to("Msun")) == pytest.approx(1e4)
    time = float(snapshot.time) * 0.977792 / np.sqrt(43.0091)
    assert float(ds.current_time.to("Myr")) == pytest.approx(time, rel=1e-4)
    with pytest.raises(ValueError, match="what its units are"):
        loaded(runs, "physical", unit_base={"length": (1, "pc"), "mass": (1, "Msun")})


def test_a_bounding_box_is_taken(runs):
    _, ds = loaded(runs, "henon", bounding_box=[[-20, 20]] * 3)
    assert ds.domain_width.to_value("code_length").tolist() == [40, 40, 40]


def test_what_is_not_a_snapshot_is_left_to_others(runs, tmp_path):
    from tisane.yt_frontend import TisaneDataset

    (tmp_path / "text").write_text("x")
    for path in (tmp_path / "text", tmp_path / "nothing", tmp_path, runs["henon"] / "diagnostics.hdf5"):
        assert not TisaneDataset._is_valid(str(path))


# yt as it is where this package is not installed: it finds no frontend of others.
PLAIN = """
import importlib.metadata, json, sys
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **by: () if by.get("group") == "yt.frontends" else found(**by)
import yt
yt.set_log_level("error")
ds = yt.load(sys.argv[1])
assert "tisane" not in sys.modules
data = ds.all_data()
print(json.dumps({
    "reader": type(ds).__name__,
    "time": float(ds.current_time.to("s")),
    "mass": data["all", "particle_mass"].to("g").tolist(),
    "position": data["all", "particle_position"].to("cm").tolist(),
    "velocity": data["all", "particle_velocity"].to("cm/s").tolist(),
    "number": data["all", "particle_index"].astype(int).tolist(),
}))
"""


@pytest.mark.parametrize("name", ["henon", "physical"])
@pytest.mark.parametrize("converted", [False, True])
def test_plain_yt_reads_the_units_of_the_file(runs, program, name, converted, tmp_path):
    snapshot = tisane.load(runs[name]).snapshots[1]
    path = snapshot.path
    if converted:
        path = tmp_path / "converted.hdf5"
        subprocess.run([program, "convert", "-q", snapshot.path, path, "--to", "gadget"], check=True)
    done = subprocess.run([sys.executable, "-c", PLAIN, path], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["reader"] == "ArepoHDF5Dataset"
    assert found["time"] == pytest.approx(float(snapshot.time) * snapshot.time.to_cgs, rel=1e-12)
    order, ours = np.argsort(found["number"]), np.argsort(snapshot["ParticleIDs"])
    # In N-body units, which have no size, the numbers are those of the file.
    for theirs, column in [("mass", "Masses"), ("position", "Coordinates"), ("velocity", "Velocities")]:
        expected = (snapshot[column] * snapshot[column].to_cgs)[ours]
        assert np.allclose(np.array(found[theirs])[order], expected, rtol=1e-12, atol=0), theirs
