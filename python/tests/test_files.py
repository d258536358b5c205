"""Promise: what tisane wrote is read to the bit, with its units; anything else is told apart."""

import csv
import errno
import pickle
import shutil
import subprocess

import h5py
import numpy as np
import pytest
import tisane
from conftest import OLD, REPOSITORY
from tisane.convert import factors

VECTORS = {"Coordinates", "Velocities", "Acceleration"}


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_a_run_is_read_to_the_bit(runs, name):
    run = tisane.load(runs[name])
    assert len(run.snapshots) == 3 and run.config["run"]["name"] == name
    assert run.summary["exit_reason"] == "finished"
    with open(runs[name] / "diagnostics.csv") as file:
        rows = list(csv.DictReader(file))
    for column, values in run.diagnostics.items():
        assert values.tolist() == [type(values[0].item())(row[column]) for row in rows], column
    for snapshot, path in zip(run.snapshots, sorted((runs[name] / "snapshots").iterdir()), strict=True):
        assert snapshot.path == path and snapshot.rows == 500
        with h5py.File(path) as file:
            assert set(snapshot) == set(file["PartType4"])
            assert float(snapshot.time) == file.attrs["time"]
            for column in snapshot:
                dataset = file["PartType4"][column]
                assert np.array_equal(snapshot[column], dataset[()]) and snapshot[column].dtype == dataset.dtype
                assert snapshot[column].shape == ((500, 3) if column in VECTORS else (500,))
    assert snapshot.provenance["state_sha256"] == run.summary["state_sha256"]
    assert [s.path for s in run.snapshots[1:]] == run.snapshots.paths[1:]


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_units_are_those_of_the_file(runs, name):
    snapshot = tisane.load(runs[name]).snapshots[-1]
    names = {"henon": ("M", "L", "V", "T", "L^-1 V^2"), "physical": ("Msun", "pc", "km/s", "Myr", "pc^-1 (km/s)^2")}
    columns = ("Masses", "Coordinates", "Velocities", "TimeStep", "Acceleration")
    assert tuple(snapshot[c].unit for c in columns) == names[name]
    units = snapshot.units
    assert (units.mass, units.length, units.velocity, units.time, snapshot.time.unit) == (*names[name][:4], names[name][3])
    assert units.henon == (name == "henon") and (units.G == 1) == units.henon
    if name == "physical":
        # G in pc (km/s)^2 / Msun, and pc in cm.
        assert units.G == pytest.approx(4.30091e-3, rel=1e-5)
        assert snapshot["Coordinates"].to_cgs == pytest.approx(3.0856776e18, rel=1e-8)
        assert snapshot.time.to_cgs == pytest.approx(1e6 * 365.25 * 86400)


def test_energies_follow_from_snapshots(runs):
    for run in map(tisane.load, runs.values()):
        for i, s in enumerate(run.snapshots):
            kinetic = (0.5 * s["Masses"] * (s["Velocities"] ** 2).sum(axis=1)).sum()
            potential = (0.5 * s["Masses"] * s["Potential"]).sum()
            row = int(np.argmin(np.abs(run.diagnostics["time"] - float(s.time))))
            assert run.diagnostics["time"][row] == pytest.approx(float(s.time)), i
            assert kinetic == pytest.approx(run.diagnostics["kinetic_energy"][row], rel=1e-12)
            assert potential == pytest.approx(run.diagnostics["potential_energy"][row], rel=1e-12)


@pytest.mark.parametrize("name", ["henon", "physical"])
def test_what_is_said_of_the_cluster_is_read_to_the_bit(runs, name):
    run = tisane.load(runs[name])
    for journal, table in {"cluster": run.cluster, "binaries": run.binaries, "events": run.events}.items():
        with open(runs[name] / f"{journal}.csv") as file:
            rows = list(csv.DictReader(file))
        assert table.rows == len(rows)
        for column, values in table.items():
            for value, row in zip(values.tolist(), rows, strict=True):
                # NaN is not NaN.
                assert str(value) == str(type(value)(row[column])), column
        assert set(tisane.load(runs[name] / f"{journal}.hdf5")) == set(table)
        assert len(table.to_pandas()) == len(table.to_astropy()) == len(rows)
    assert run.cluster.rows == 3 and run.cluster["core_density"].unit == {"henon": "M L^-3", "physical": "Msun pc^-3"}[name]
    assert run.events["kind"].dtype.kind == "U" and run.events["id"].tolist() == list(range(run.events.rows))
    assert name == "henon" or "close-encounter" in run.events["kind"]
    assert run.cluster["time"].tolist() == run.diagnostics["time"].tolist()


def test_a_column_keeps_its_unit_only_where_it_is_right(runs):
    column = tisane.load(runs["physical"]).snapshots[0]["Coordinates"]
    assert column[:3].unit == "pc" and column[0, 1:].unit == "pc" and column.T.unit == "pc"
    for result in (column * 2, column + column, np.sqrt(abs(column)), np.linalg.norm(column, axis=1), column @ column.T):
        assert type(result) is np.ndarray
    assert not isinstance(np.concatenate([column, column]), tisane.Column)
    again = pickle.loads(pickle.dumps(column))
    assert (again.unit, again.to_cgs, again.description) == (column.unit, column.to_cgs, column.description)
    assert np.array_equal(again, column)


def test_names_of_units_are_taken_apart():
    for unit, expected in {
        "1": [],
        "M V^2": [("M", 1), ("V", 2)],
        "Msun pc km/s": [("Msun", 1), ("pc", 1), ("km", 1), ("s", -1)],
        "pc^-1 (km/s)^2": [("pc", -1), ("km", 2), ("s", -2)],
        "(pc/(km/s))^2": [("pc", 2), ("km", -2), ("s", 2)],
    }.items():
        assert factors(unit) == expected
    for wrong in ("", "km//s", "2 km", "km^", "(km"):
        with pytest.raises(ValueError, match="not a unit"):
            factors(wrong)


def test_files_of_format_1_are_read(old_run):
    run = tisane.load(old_run)
    with pytest.warns(UserWarning, match="number 0 missing"):
        assert len(run.snapshots) == 1
    assert run.snapshots[0].rows == 8 and float(run.snapshots[0].time) == pytest.approx(0.25)
    assert run.snapshots[0].provenance["host"] == "workstation"
    assert run.diagnostics.rows == 2 and run.diagnostics["energy"].unit == "Msun (km/s)^2"
    assert run.summary["block_steps"] == 60 and run.config["initial"]["plummer"]["seed"] == 3


def test_a_file_that_is_open_elsewhere_is_read(runs):
    path = tisane.load(runs["henon"]).snapshots.paths[0]
    with h5py.File(path):
        assert tisane.load(path)["Masses"].sum() == pytest.approx(1)


def test_a_journal_is_read_while_its_run_goes_on(program, tmp_path):
    config = """
[run]
name = "growing"
t_end = 60
[initial.two-body]
[integrator.hermite4]
dt_max = "1/1024"
[output]
diagnostics_interval = "1/1024"
snapshot_interval = 60
[cluster]
enabled = false
"""
    (tmp_path / "growing.toml").write_text(config)
    process = subprocess.Popen([program, "run", "-q", tmp_path / "growing.toml", "--output", tmp_path / "run"])
    try:
        seen = []
        while process.poll() is None:
            if (tmp_path / "run" / "diagnostics.hdf5").exists():
                times = tisane.load(tmp_path / "run").diagnostics["time"]
                assert np.array_equal(times, np.arange(len(times)) / 1024)
                seen.append(len(times))
    finally:
        process.kill()
    assert process.returncode == 0
    assert seen and seen == sorted(seen)
    assert len(tisane.load(tmp_path / "run").diagnostics["time"]) == 60 * 1024 + 1


def test_what_is_not_ours_is_told(tmp_path, runs):
    snapshot = tisane.load(runs["henon"]).snapshots.paths[0]
    assert isinstance(tisane.load(snapshot), tisane.Snapshot)
    assert tisane.load(runs["henon"] / "diagnostics.hdf5").rows == 3
    with pytest.raises(FileNotFoundError, match="there is no such run"):
        tisane.load(tmp_path / "nothing")
    with pytest.raises(tisane.FormatError, match="config.toml"):
        tisane.load(tmp_path)
    with pytest.raises(tisane.FormatError, match="found tisane checkpoint"):
        tisane.load(OLD / "checkpoint.hdf5")
    (tmp_path / "text").write_text("m,x,y,z\n")
    (tmp_path / "cut").write_bytes(snapshot.read_bytes()[:5000])
    for name in ("text", "cut"):
        with pytest.raises(tisane.FormatError, match="not HDF5, cut off or damaged"):
            tisane.load(tmp_path / name)
    with h5py.File(tmp_path / "other", "w"):
        pass
    with pytest.raises(tisane.FormatError, match="another program"):
        tisane.load(tmp_path / "other")
    (tmp_path / "later").write_bytes(snapshot.read_bytes())
    with h5py.File(tmp_path / "later", "a") as file:
        file.attrs["format_version"] = np.uint64(99)
    with pytest.raises(tisane.FormatError, match="format version 99"):
        tisane.load(tmp_path / "later")
    with pytest.raises(KeyError, match="there are .*Coordinates"):
        tisane.Snapshot(snapshot)["Positions"]


@pytest.mark.parametrize("refusal", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EAGAIN])
def test_a_file_system_that_refuses_locks_is_read(runs, monkeypatch, refusal):
    path, opened = tisane.load(runs["henon"]).snapshots.paths[0], h5py.File

    def refuses(name, mode, **options):
        if options.get("locking", True):
            raise OSError(refusal, "unable to lock file")
        return opened(name, mode, **options)

    monkeypatch.setattr(h5py, "File", refuses)
    if refusal == errno.EAGAIN:
        # Held by another program, which may be changing the file.
        with pytest.raises(tisane.FormatError, match="unable to lock file"):
            tisane.Snapshot(path)["Masses"]
    else:
        assert tisane.Snapshot(path)["Masses"].shape == (500,)


def test_damage_is_told_with_the_name_of_the_file(runs, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(runs["henon"], run)

    def flipped(path, at):
        content = bytearray(path.read_bytes())
        content[at] ^= 0x10
        path.write_bytes(content)

    def values(table):
        return {name: column.tolist() for name, column in table.items()}

    def is_told(path, read):
        """Damages a file byte by byte, and asserts that what is read is the same or an error with its name."""
        whole, expected, told = path.read_bytes(), read(), 0
        for at in range(0, len(whole) - 80, max(1, len(whole) // 150)):
            flipped(path, at)
            try:
                # NaN is not NaN, but its text is.
                assert str(read()) == str(expected), at
            except tisane.FormatError as error:
                assert str(path) in str(error)
                told += 1
            path.write_bytes(whole)
        assert told > 10

    snapshot = run / "snapshots" / "snapshot_0002.hdf5"
    is_told(snapshot, lambda: values(tisane.load(snapshot)))
    is_told(run / "diagnostics.hdf5", lambda: values(tisane.load(run).diagnostics))
    for name, language, read in [
        ("summary.json", "JSON", lambda: tisane.load(run).summary),
        ("config.toml", "TOML", lambda: tisane.load(run).config),
    ]:
        content = (run / name).read_bytes()
        for damaged in (content[: len(content) // 2] + b"\n[", b"\xff" + content):
            (run / name).write_bytes(damaged)
            with pytest.raises(tisane.FormatError, match=f"{run / name}: not {language}"):
                read()
        (run / name).write_bytes(content)
    (run / "summary.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"summary.json: .*under way, or was killed"):
        tisane.load(run).summary  # noqa: B018


def test_missing_snapshots_are_told(runs, tmp_path):
    shutil.copytree(runs["henon"], tmp_path / "run")
    folder = tmp_path / "run" / "snapshots"
    (folder / "snapshot_mine.hdf5").write_text("of another program")
    assert len(tisane.load(tmp_path / "run").snapshots) == 3
    (folder / "snapshot_0001.hdf5").unlink()
    with pytest.warns(UserWarning, match="snapshots: number 1 missing"):
        snapshots = tisane.load(tmp_path / "run").snapshots
    assert [path.name for path in snapshots.paths] == ["snapshot_0000.hdf5", "snapshot_0002.hdf5"]


def test_the_lines_of_the_readme_work(runs, monkeypatch, capsys):
    text = (REPOSITORY / "README.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert [len(block.splitlines()) for block in blocks] == [6, 2]
    # A smaller system for a shorter time.
    lines = "".join(blocks).replace("1024", "64").replace("10.0", "0.5")
    (runs["henon"].parent / "runs").mkdir(exist_ok=True)
    link = runs["henon"].parent / "runs" / "quickstart"
    if not link.exists():
        link.symlink_to(runs["henon"], target_is_directory=True)
    monkeypatch.chdir(runs["henon"].parent)
    exec(lines, {})
    assert capsys.readouterr().out.strip()


def test_the_versions_are_those_of_the_program():
    import tomllib

    rust = tomllib.loads((REPOSITORY / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    python = tomllib.loads((REPOSITORY / "python" / "pyproject.toml").read_text())["project"]["version"]
    assert rust == python
    source = (REPOSITORY / "crates" / "io" / "src" / "lib.rs").read_text()
    assert f"FORMAT_VERSION: u64 = {tisane.FORMAT_VERSION};" in source


ENCOUNTERS = """
[run]
name = "encounters"
t_end = 0.25
[initial.plummer]
n = 60
[initial.binaries]
fraction = 0.5
a_min = 1e-5
a_max = 0.01
[encounters]
[integrator.hermite4]
dt_max = "1/8"
"""


def test_changes_of_subsystems_and_the_subsystems_of_a_snapshot_are_read(program, tmp_path):
    (tmp_path / "run.toml").write_text(ENCOUNTERS)
    subprocess.run([program, "run", "run.toml", "-q", "--output", "o"], cwd=tmp_path, check=True)
    run = tisane.load(tmp_path / "o")
    units = {str(i) for i in run.snapshots[0]["ParticleIDs"]}
    for before, after in zip(run.encounters["before"], run.encounters["after"], strict=True):
        units = units - set(before.split()) | set(after.split())
    last = run.snapshots[-1].subsystems
    outermost = last["InsideOf"] == np.arange(last.rows)
    assert {unit for unit in units if "(" in unit} == set(last["Members"][outermost]) and outermost.sum() > 5
    assert last["BindingEnergy"].sum() == pytest.approx(run.diagnostics["binding_energy"][-1], rel=1e-12)
    assert last["SemiMajorAxis"].unit == "L" and set(last["Averaged"].tolist()) <= {0, 1}
    # The energy of a pair from its relative positions and velocities, with all digits; G = 1.
    stars = run.snapshots[-1].subsystem_stars
    mass = dict(zip(run.snapshots[-1]["ParticleIDs"].tolist(), run.snapshots[-1]["Masses"].tolist(), strict=True))
    pairs = [row for row in np.flatnonzero(outermost) if last["Number"][row] == 2 and not last["Averaged"][row]]
    for row in pairs:
        a, b = np.flatnonzero(stars["Subsystem"] == row)
        m, n = (mass[stars["ParticleIDs"][star]] for star in (a, b))
        r, v = (np.linalg.norm(stars[f"Relative{name}"][b] - stars[f"Relative{name}"][a]) for name in ("Position", "Velocity"))
        assert m * n / r - m * n / (m + n) * v**2 / 2 == pytest.approx(last["BindingEnergy"][row], rel=1e-9)
    assert len(pairs) > 3 and stars["RelativeVelocity"].unit == "V"
    off = ["--set", "encounters.perturbation=0", "--set", "limits.block_steps=1"]
    subprocess.run([program, "run", "run.toml", "-q", "--output", "plain", *off], cwd=tmp_path, check=False)
    plain = tisane.load(tmp_path / "plain")
    assert plain.snapshots[0].subsystems is None and plain.snapshots[0].subsystem_stars is None
    with pytest.raises(FileNotFoundError, match="encounters.hdf5"):
        plain.encounters  # noqa: B018
