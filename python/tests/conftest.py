"""Two real runs for the tests, made by the program: a Plummer sphere in N-body units and one in Msun, pc, km/s, Myr."""

import os
import pathlib
import shutil
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
OLD = REPOSITORY / "tests" / "fixtures" / "format-1"

HENON = """
[run]
name = "henon"
t_end = 0.5
[initial.plummer]
n = 500
[output]
interval = "1/4"
"""
PHYSICAL = """
[run]
name = "physical"
t_end = 1.0
[units]
mass = "Msun"
length = "pc"
velocity = "km/s"
time = "Myr"
[initial.plummer]
n = 500
mass = 1000
virial_radius = 1.0
[integrator.hermite4]
dt_max = "1/8"
[output]
interval = "1/2"
[cluster]
encounter_radius = 30
"""


@pytest.fixture(scope="session")
def program():
    """The program: that of TISANE, or of this checkout's release build."""
    program = pathlib.Path(os.environ.get("TISANE", REPOSITORY / "target" / "release" / "tisane"))
    if not program.is_file():
        pytest.skip(f"{program} is not there: cargo build --release")
    return program


@pytest.fixture(scope="session")
def runs(program, tmp_path_factory):
    """Runs by name."""
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for name, config in [("henon", HENON), ("physical", PHYSICAL)]:
        (folder / f"{name}.toml").write_text(config)
        made[name] = folder / name
        subprocess.run([program, "run", "-q", folder / f"{name}.toml", "--output", made[name]], check=True)
    return made


@pytest.fixture
def old_run(tmp_path):
    """The directory of a run of format version 1."""
    (tmp_path / "snapshots").mkdir()
    for name in ["config.toml", "diagnostics.hdf5", "summary.json"]:
        shutil.copy(OLD / name, tmp_path)
    shutil.copy(OLD / "snapshot_0001.hdf5", tmp_path / "snapshots")
    return tmp_path
