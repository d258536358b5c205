"""Ensembles: the tables and bits of the program, values by key, members that fail, stops, and mistakes that are named."""

import json
import pickle
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import tisane

from conftest import REPOSITORY
from test_simulation import HEEDING

CONFIG = {
    "run": {"name": "small", "t_end": 0.5},
    "initial": {"plummer": {"n": 40}},
    "softening": {"epsilon": "1/64"},
    "output": {"interval": "1/4"},
}
TEXT = """
[run]
name = "small"
t_end = 0.5
[initial.plummer]
n = 40
[softening]
epsilon = "1/64"
[output]
interval = "1/4"
[ensemble]
realisations = 2
series = true
[ensemble.vary]
"integrator.hermite4.nu" = [0.01, "1/32"]
"softening.epsilon" = { uniform = ["1/64", "1/16"] }
"""
VARY = {"integrator.hermite4.nu": [0.01, "1/32"], "softening.epsilon": {"uniform": ["1/64", "1/16"]}}
NU, N, SEED = "integrator.hermite4.nu", "initial.plummer.n", "initial.plummer.seed"


def same(one, other):
    """Asserts that two tables have the same bits, but for the wall time."""
    assert list(one) == list(other)
    for name in one:
        if name != "wall_seconds":
            assert one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes(), name
            assert (one[name].unit, one[name].description) == (other[name].unit, other[name].description)


def test_the_tables_are_those_of_the_program(program, tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    subprocess.run([program, "run", "-q", tmp_path / "small.toml", "--output", tmp_path / "program"], check=True)
    want = tisane.load(tmp_path / "program")
    assert isinstance(want, tisane.EnsembleResult) and want.directory == tmp_path / "program"
    given = [tmp_path / "small.toml", str(tmp_path / "small.toml"), TEXT]
    results = [tisane.ensemble(config) for config in given]
    results.append(tisane.ensemble(CONFIG, vary=VARY, realisations=2, series=True, threads=3, engine="cpu"))
    results.append(tisane.ensemble(TEXT, output=tmp_path / "package", threads=1))
    for found in results:
        same(found.members, want.members)
        same(found.series, want.series)
        assert found.outcomes == {"finished": 4} and found.summary["exit_reason"] == "finished"
    assert [found.directory for found in results] == [None] * 4 + [tmp_path / "package"]
    assert want.series.rows == 12 and list(want.series["time"]) == [0.0, 0.25, 0.5] * 4
    same(tisane.load(tmp_path / "package" / "members.hdf5"), want.members)
    assert repr(results[0]) == "<EnsembleResult small: 4 of 4 members have ended: 4 finished>"
    assert repr(results[4]).startswith(f"<EnsembleResult small in {tmp_path / 'package'}: 4 of 4")
    kept = pickle.loads(pickle.dumps(results[0]))
    assert kept.outcomes == {"finished": 4} and kept.members["energy"].dtype == np.float64


def test_a_member_is_the_same_run_alone(tmp_path):
    found = tisane.ensemble(CONFIG, vary={NU: [0.01, 0.02], N: (30, 40)}, realisations=2, snapshots="end", output=tmp_path / "all")
    assert found.members.rows == 8 and found.series is None
    for member in (0, 3, 6):
        row = {name: column[member] for name, column in found.members.items()}
        own = {NU: row[NU], N: row[N], SEED: row[SEED]}
        sim = tisane.Simulation.model(
            "plummer", n=row[N], seed=row[SEED], softening="1/64", integrator={"hermite4": {"nu": row[NU]}}, settings={"output.interval": "1/4"}
        )
        sim.integrate(0.5)
        run = tisane.run(CONFIG, tmp_path / str(member), settings=own)
        assert row["state_sha256"] == sim.state_sha256 == run.summary["state_sha256"]
        assert row["energy_error"] == run.summary["relative_energy_error"] and row["time"] == 0.5
        (last,) = found.snapshots(member)
        assert (last["Coordinates"] == run.snapshots[-1]["Coordinates"]).all() and last.rows == row[N] == row["n"]
    frame = found.members.to_pandas()
    assert len(frame.groupby([NU, N])["energy_error"].median()) == 4 and frame.attrs["units"]["wall_seconds"] == "s"
    assert found.members.to_astropy()["outcome"][0] == "finished"


def test_values_are_lists_ranges_arrays_and_rules(tmp_path):
    def settings(**vary):
        values = {{"nu": NU, "n": N, "seed": SEED, "epsilon": "softening.epsilon"}[name]: values for name, values in vary.items()}
        found = tisane.ensemble(CONFIG, vary=values, settings={"run.t_end": 0.25})
        return [[row[key] for key in sorted(values)] for row in found.members.to_pandas().to_dict("records")]

    assert settings(seed=range(3, 8, 2)) == settings(seed=[3, 5, 7]) == settings(seed=np.array([3, 5, 7], np.uint8)) == [[3], [5], [7]]
    assert settings(seed=range(5, 3, -1)) == [[5], [4]] and settings(seed=range(4, 5)) == [[4]]
    assert settings(n=iter([8, 16]), nu=np.linspace(0.01, 0.02, 2)) == [[8, 0.01], [8, 0.02], [16, 0.01], [16, 0.02]]
    assert settings(nu=np.array([0.01], np.float32)) == [[float(np.float32(0.01))]]
    assert settings(n={"from": np.int64(8), "to": 32, "count": 3, "log": True}) == [[8], [16], [32]]
    # A list of the configuration is replaced, with all others.
    found = tisane.ensemble(TEXT, vary={SEED: range(1, 4)}, realisations=1, series=False)
    assert found.members.rows == 3 and NU not in found.members and found.series is None
    drawn = tisane.ensemble(CONFIG, vary={"softening.epsilon": {"uniform": [0.01, 0.1]}}, realisations=9, settings={"ensemble.seed": 2})
    epsilon = drawn.members["softening.epsilon"]
    assert len(set(epsilon)) == 9 and (epsilon >= 0.01).all() and (epsilon <= 0.1).all()
    for name, x in (("a", 1.0), ("b", 2.0)):
        sim = tisane.Simulation.from_arrays([1.0, 1.0], [[x, 0, 0], [-x, 0, 0]], softening=0.1)
        sim.run(tmp_path / name, 0.25)
    files = {"files": str(tmp_path / "?" / "snapshots" / "snapshot_0001.hdf5")}
    model = {"run": {"name": "files", "t_end": 1}, "units": {"system": "henon"}, "initial": {"file": {"path": "none"}}, "softening": {"epsilon": 0.1}}
    found = tisane.ensemble(model, vary={"initial.file.path": files})
    assert found.members["initial.file.path"][1] == str(tmp_path / "b" / "snapshots" / "snapshot_0001.hdf5")


def test_tables_have_units():
    units = {"units": {"mass": "Msun", "length": "pc", "velocity": "km/s", "time": "Myr"}}
    model = {"initial": {"plummer": {"n": 20, "mass": 100, "virial_radius": 1.0}}}
    found = tisane.ensemble(CONFIG | units | model | {"run": {"name": "a", "t_end": 1}, "output": {"interval": 1}}, realisations=2, series=True)
    assert found.members["energy"].unit == "Msun (km/s)^2" and np.isnan(found.members["energy"].to_cgs)
    table = found.series.to_astropy()
    assert table["time"].to("yr").value == pytest.approx([0, 1e6] * 2) and table["energy"].unit.is_equivalent("erg")


def test_members_tell_of_their_stars(tmp_path):
    merging = {
        "run": {"name": "m", "t_end": 0.25},
        "initial": {"plummer": {"n": 40}, "binaries": {"fraction": 0.5, "semi_major_axis": "opik", "a_min": 3e-4, "a_max": 0.05}},
        "output": {"interval": 0.125},
        "collisions": {"action": "merge", "radii": "fixed", "radius": 1e-4},
    }
    found = tisane.ensemble(merging, realisations=3, output=tmp_path / "e")
    # Also where subsystems are the default, which the configuration is read again for.
    assert found.directory == tmp_path / "e" and (tmp_path / "e/stars.csv").is_file()
    events = np.bincount(found.stars["member"].astype(int), minlength=3)
    assert events.sum() > 0 and list(events) == list(found.members["contacts"])
    assert set(found.stars["event"]) <= {"touch", "merge"}
    alone = tisane.run(merging, tmp_path / "alone", settings={"initial.plummer.seed": 2}).stars
    own = found.stars["member"] == 1
    for name in alone:
        assert list(map(str, found.stars[name][own])) == list(map(str, alone[name])), name
    same(tisane.ensemble(merging, realisations=3).stars, found.stars)


def test_members_tell_of_their_subsystems_and_the_types_of_their_stars(tmp_path):
    cluster = {
        "run": {"name": "s", "t_end": 4.0},
        "units": {"mass": "Msun", "length": "pc", "time": "Myr"},
        "initial": {"plummer": {"n": 20, "half_mass_radius": 0.4}, "masses": {"function": "salpeter", "m_min": 20.0, "m_max": 100.0}},
        "integrator": {"hermite4": {"dt_max": "1/16"}},
        "output": {"interval": 1.0},
        "encounters": {},
        "stellar_evolution": {},
    }
    found = tisane.ensemble(cluster, realisations=2, output=tmp_path / "e")
    assert found.stars is None
    for name in ("stellar", "encounters"):
        table, alone = getattr(found, name), getattr(tisane.run(cluster, tmp_path / name, settings={"initial.plummer.seed": 2}), name)
        counts = np.bincount(table["member"].astype(int), minlength=2)
        assert counts.min() > 0 and list(counts) == list(found.members[f"{name}_rows"])
        own = table["member"] == 1
        for column in alone:
            assert list(map(str, table[column][own])) == list(map(str, alone[column])), column
        same(getattr(tisane.ensemble(cluster, realisations=2), name), table)


def test_members_that_fail_are_told():
    found = tisane.ensemble(CONFIG, vary={"integrator.hermite4.dt_min": ["2^-20", "2^-4", "2^-18"]})
    assert list(found.members["outcome"]) == ["finished", "failed", "finished"] and found.outcomes == {"finished": 2, "failed": 1}
    problems = found.members["problem"]
    assert "dt_min" in problems[1] and problems[0] == problems[2] == ""
    assert "2 finished, 1 failed" in repr(found)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, "InputError", "describes one run, not an ensemble\nhelp: give vary or realisations"),
        ({"vary": {"softening.epsilom": [1]}}, "ConfigError", "softening.epsilom.*did you mean"),
        ({"vary": {NU: []}}, "ConfigError", f"ensemble.vary.{NU}: expected at least one value"),
        ({"vary": {NU: range(0)}}, "ConfigError", f"ensemble.vary.{NU}: expected at least one value"),
        ({"vary": {NU: {"form": 1}}}, "ConfigError", "did you mean `from`"),
        ({"vary": {NU: 0.01}}, "InputError", rf"vary\['{NU}'\]: expected a list, .* found float"),
        ({"vary": {NU: "0.01"}}, "InputError", rf"vary\['{NU}'\]: expected a list, .* found str"),
        ({"vary": {NU: np.array(0.01)}}, "InputError", rf"vary\['{NU}'\]: expected a list"),
        ({"vary": {NU: [1j]}}, "InputError", rf"vary\['{NU}'\]: a setting cannot be a complex"),
        ({"vary": {NU: [0.01, -1.0]}}, "ConfigError", f"member 1, {NU}=-1.0"),
        ({"vary": {NU: np.array([np.nan])}}, "ConfigError", NU),
        ({"vary": {"run.name": range(9, 0, -1)}}, "ConfigError", "run.name is common to all members"),
        # A long list is not repeated in the message.
        ({"vary": {"run.name": np.arange(1000)}}, "ConfigError", "^.{,200}….{,200}$"),
        ({"vary": [NU]}, "InputError", "vary: expected a dictionary with values by key, found list"),
        ({"vary": {"initial.file.path": {"files": "none-*.csv"}}}, "ConfigError", "no file has such a name"),
        ({"realisations": 0}, "ConfigError", "ensemble.realisations"),
        ({"realisations": 2, "vary": {SEED: [1]}}, "ConfigError", "realisations count up initial.plummer.seed"),
        ({"realisations": 2, "stop": "disolution"}, "ConfigError", 'did you mean "dissolution"'),
        ({"realisations": 2, "engine": "gpu"}, "ConfigError", "force.engine"),
        ({"realisations": 2, "threads": -1}, "InputError", "threads: expected a whole number"),
        ({"realisations": 2, "snapshots": "end"}, "InputError", "snapshots: without output .* would be lost"),
    ],
)
def test_mistakes_name_the_key(options, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(getattr(tisane, error), match=f"(?s){message}"):
        tisane.ensemble(CONFIG, **options)
    assert not list(tmp_path.iterdir())


def test_directories_are_replaced_on_request_only(tmp_path):
    def make(**options):
        return tisane.ensemble(CONFIG, realisations=2, output=tmp_path / "e", **options)

    make()
    with pytest.raises(tisane.InputError, match="already holds files"):
        make()
    assert make(overwrite=True).members.rows == 2
    with pytest.raises(FileNotFoundError):
        tisane.ensemble(tmp_path / "none.toml")
    (tmp_path / "e" / "members.hdf5").unlink()
    assert "under way" in repr(tisane.load(tmp_path / "e"))
    with pytest.raises(tisane.FormatError, match="not the output directory of an ensemble"):
        tisane.EnsembleResult(tmp_path)
    with pytest.raises(FileNotFoundError, match="output= keeps them"):
        tisane.ensemble(CONFIG, realisations=2).snapshots(0)


def test_progress_is_shown(capfd):
    reports = []
    tisane.ensemble(CONFIG, realisations=100, progress=lambda done, members: reports.append((done, members)))
    done, members = zip(*reports, strict=True)
    assert set(members) == {100} and done[-1] == 100 and list(done) == sorted(done)
    tisane.ensemble(CONFIG, realisations=2, progress=True)
    assert "2.0 of 2 members  100.0 %" in capfd.readouterr().err
    with pytest.raises(ZeroDivisionError):
        tisane.ensemble(CONFIG, realisations=100_000, progress=lambda done, members: 1 / 0)


INTERRUPTED = HEEDING + """
import json, sys, tisane
try:
    going = lambda done, members: done > 0.1 and print("going", flush=True)
    tisane.ensemble(json.loads(sys.argv[1]), realisations=12, output=sys.argv[2], progress=going)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_keeps_the_states_and_the_program_goes_on(program, tmp_path):
    config = CONFIG | {"run": {"name": "long", "t_end": 32}, "initial": {"plummer": {"n": 100}}}
    command = [sys.executable, "-c", INTERRUPTED, json.dumps(config), tmp_path / "e"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and rest.endswith("stopped\n")
    stopped = tisane.load(tmp_path / "e")
    assert stopped.summary["exit_reason"] == "interrupted" and stopped.members.rows < 12
    assert (tmp_path / "e" / "in_progress.hdf5").is_file()
    subprocess.run([program, "resume", "-q", tmp_path / "e"], check=True)
    same(tisane.load(tmp_path / "e").members, tisane.ensemble(config, realisations=12).members)


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spheres.toml").write_text(TEXT)
    text = (REPOSITORY / "docs" / "src" / "python.md").read_text(encoding="utf-8")
    (block,) = [block for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "tisane.ensemble(" in block]
    names = {}
    exec(block, names)
    assert set(names["found"].outcomes) == {"finished"} and names["found"].members["energy_error"].ndim == 1
