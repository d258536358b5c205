"""The package, yt and pynbody on real runs; called by scripts/check-python, which makes the runs.

RUNS is a directory with the runs `physical` (Msun, pc, km/s, Myr) and `henon`, 200 particles and t = 0 … 0.5 each."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
import tisane

RUNS = Path(os.environ["RUNS"])
LAST = "snapshots/snapshot_0004.hdf5"


@pytest.mark.parametrize("name", ["physical", "henon"])
def test_a_run_loads_with_snapshots_diagnostics_and_summary(name):
    run = tisane.load(RUNS / name)
    assert len(run.snapshots) == 5 and [s.time for s in run.snapshots] == [0.0, 0.125, 0.25, 0.375, 0.5]
    last = run.snapshots[-1]
    assert len(last) == 200 and last.pos.shape == (200, 3) and last.id.tolist() == list(range(200))
    assert np.isclose(last.mass.sum(), 100.0 if name == "physical" else 1.0)
    assert run.diagnostics["time"].tolist() == [s.time for s in run.snapshots]
    # The energy of the snapshot is that of the row, to the rounding of the units.
    energy = 0.5 * np.sum(last.mass * np.sum(last.vel**2, axis=1)) + 0.5 * np.sum(last.mass * last.pot)
    assert np.isclose(energy, run.diagnostics["energy"][-1], rtol=1e-12)
    assert run.summary["exit_reason"] == "finished"
    assert run.diagnostics.unit("time") == last.time_unit == ("Myr" if name == "physical" else "T")


def test_what_is_not_a_run_or_a_snapshot_is_said_to_be_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="directory of a run"):
        tisane.load(tmp_path)
    with h5py.File(tmp_path / "x.hdf5", "w"):
        pass
    with pytest.raises(ValueError, match="another program"):
        tisane.Snapshot(tmp_path / "x.hdf5")
    with pytest.raises(ValueError, match="tisane checkpoint"):
        tisane.Snapshot(RUNS / "henon" / "checkpoint.hdf5")
    with pytest.raises(AttributeError, match="pos"):
        tisane.load(RUNS / "henon").snapshots[0].position


def test_astropy_and_pandas_get_units_and_names():
    astropy = pytest.importorskip("astropy.units")
    snapshot = tisane.load(RUNS / "physical").snapshots[-1]
    table = snapshot.to_astropy()
    assert np.isclose(table["mass"].sum().to_value("solMass"), 100.0)
    assert table["vel"].unit == astropy.km / astropy.s and table["pos"].unit == astropy.pc
    g = snapshot.g * astropy.pc * (astropy.km / astropy.s) ** 2 / astropy.solMass
    assert np.isclose(g.si.value, 6.6743e-11, rtol=1e-4)
    energies = tisane.load(RUNS / "physical").diagnostics.to_astropy()["energy"]
    assert energies.unit == astropy.solMass * (astropy.km / astropy.s) ** 2
    assert tisane.load(RUNS / "henon").snapshots[0].to_astropy()["pos"].unit is None
    frame = snapshot.to_pandas()
    assert frame.index.name == "id" and frame.loc[7, "x"] == snapshot.pos[7, 0]
    assert list(tisane.load(RUNS / "henon").diagnostics.to_pandas()["time"])[-1] == 0.5


@pytest.mark.parametrize("name", ["physical", "henon"])
def test_yt_opens_a_snapshot_with_units_domain_sphere_and_projection(name, tmp_path):
    yt = pytest.importorskip("yt")
    yt.set_log_level(50)
    snapshot = tisane.load(RUNS / name).snapshots[-1]
    ds = yt.load(str(RUNS / name / LAST))
    assert type(ds).__name__ == "TisaneDataset" and ds.cosmological_simulation == 0
    data, pc = ds.all_data(), "pc" if name == "physical" else "code_length"
    assert np.isclose(data["PartType4", "Masses"].to_value("Msun" if name == "physical" else "code_mass").sum(), snapshot.mass.sum())
    assert np.allclose(data["PartType4", "Coordinates"].to_value(pc), snapshot.pos)
    assert np.allclose(data["PartType4", "particle_velocity"].to_value("km/s" if name == "physical" else "code_velocity"), snapshot.vel)
    inside = (snapshot.pos > ds.domain_left_edge.to_value(pc)) & (snapshot.pos < ds.domain_right_edge.to_value(pc))
    assert inside.all()
    if name == "physical":
        assert np.isclose(ds.current_time.to_value("Myr"), 0.5, rtol=1e-6)
    radius = np.median(np.linalg.norm(snapshot.pos, axis=1))
    sphere = ds.sphere(ds.arr([0.0, 0.0, 0.0], pc), ds.quan(radius * (1 + 1e-9), pc))
    assert len(sphere["PartType4", "ParticleIDs"]) in (99, 100, 101)
    plot = yt.ParticleProjectionPlot(ds, "z", ("PartType4", "particle_mass"))
    saved = plot.save(str(tmp_path / "projection.png"))
    assert Path(saved[0]).stat().st_size > 1000


@pytest.mark.parametrize("name", ["physical", "henon"])
def test_pynbody_opens_a_snapshot(name):
    pynbody = pytest.importorskip("pynbody")
    snapshot = tisane.load(RUNS / name).snapshots[-1]
    s = pynbody.load(str(RUNS / name / LAST))
    assert len(s.star) == 200 and s.star["iord"].tolist() == snapshot.id.tolist()
    if name == "physical":
        # pynbody's solar mass and parsec are others in the fourth and later digits.
        assert np.allclose(s.star["mass"].in_units("Msol"), snapshot.mass, rtol=1e-3)
        assert np.allclose(s.star["pos"].in_units("pc"), snapshot.pos, rtol=1e-5)
        assert np.allclose(s.star["vel"].in_units("km s**-1"), snapshot.vel, rtol=1e-5)
        assert np.isclose(float(s.properties["time"].in_units("Myr")), 0.5, rtol=1e-3)
    inside = s[pynbody.filt.Sphere(str(np.median(np.linalg.norm(snapshot.pos, axis=1)) * (1 + 1e-5)) + (" pc" if name == "physical" else " cm"))]
    assert len(inside) in (99, 100, 101)
