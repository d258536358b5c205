"""Figures in Python, runs side by side, studies."""

import math
import subprocess

import numpy as np
import pytest

import tisane


def test_a_figure_is_that_of_the_program(program, runs, tmp_path):
    run = tisane.load(runs["physical"])
    figure = run.plot("structure")
    assert repr(figure) == "<Figure structure>" and figure._repr_svg_() == figure.svg
    subprocess.run([program, "plot", runs["physical"], "--output", tmp_path, "--theme", "light"], check=True, capture_output=True)
    assert figure.save(tmp_path / "own.svg").read_bytes() == (tmp_path / "structure.svg").read_bytes()
    assert figure.save(tmp_path / "own.png").read_bytes() == (tmp_path / "structure.png").read_bytes()
    assert not (runs["physical"] / "plots").exists()
    dark = run.plot(theme="dark")
    assert {"diagnostics", "projections", "structure"} <= set(dark) and dark["structure"].svg != figure.svg


def test_what_cannot_be_drawn_is_told(runs):
    run = tisane.load(runs["henon"])
    with pytest.raises(tisane.InputError, match="no figure 'structures'; there are .*structure"):
        run.plot("structures")
    with pytest.raises(tisane.InputError, match="theme: expected light or dark, found 'blue'"):
        run.plot("structure", theme="blue")
    with pytest.raises(tisane.InputError, match=r"own.pdf: expected a name ending in \.svg or \.png"):
        run.plot("structure").save("own.pdf")


def test_runs_are_compared_in_their_order(runs):
    table = tisane.compare([runs["henon"], tisane.load(runs["henon"])])
    assert table.rows == 2 and table["run"].tolist() == [str(runs["henon"])] * 2
    summary = tisane.load(runs["henon"]).summary
    assert table["energy_error"].tolist() == [summary["relative_energy_error"]] * 2
    assert table["n"].tolist() == [500, 500] and table["time"].unit == "T" and table["exit_reason"][0] == "finished"
    config = tisane.load(runs["henon"]).config["integrator"]
    (scheme, settings), = config.items()
    assert (table["integrator"][0], table["accuracy"][0]) == (scheme, settings.get("nu", settings.get("eta")))
    assert len(table.to_pandas()) == 2
    with pytest.raises(tisane.InputError, match="its unit of time is Myr, that of the first run T"):
        tisane.compare([runs["henon"], runs["physical"]])


def test_the_unit_of_time_may_follow_from_a_velocity(program, tmp_path):
    model = "[initial.plummer]\nn = 16\nmass = 16.0\nhalf_mass_radius = 1.0\n[softening]\nepsilon = 0.1\n"
    for name, velocity in (("a", "km/s"), ("b", "pc/Myr")):
        units = f'[run]\nname = "{name}"\nt_end = 0.01\n[units]\nmass = "Msun"\nlength = "pc"\nvelocity = "{velocity}"\n'
        (tmp_path / f"{name}.toml").write_text(units + model)
        subprocess.run([program, "run", f"{name}.toml", "-q", "--output", name], check=True, cwd=tmp_path, capture_output=True)
    alone = tisane.compare(tmp_path / "a")
    assert alone.rows == 1 and alone["time"].unit == tisane.load(tmp_path / "a").diagnostics["time"].unit
    with pytest.raises(tisane.InputError, match=r"its unit of time is pc/\(pc/Myr\), that of the first run pc/\(km/s\)"):
        tisane.compare([tmp_path / "a", tmp_path / "b"])


def test_a_run_under_way_has_no_result_yet(runs, tmp_path):
    (tmp_path / "config.toml").write_bytes((runs["henon"] / "config.toml").read_bytes())
    table = tisane.compare([tmp_path])
    assert math.isnan(table["energy_error"][0]) and table["exit_reason"][0] == "" and table["integrator"][0] != ""


def test_a_study_is_loaded(program, tmp_path):
    words = ["study", "force", "--output", tmp_path / "s", "--set", "force.n=[64]", "--set", "force.modes=[\"f32-direct\"]"]
    subprocess.run([program, *words], check=True, capture_output=True, cwd=tmp_path)
    study = tisane.load(tmp_path / "s")
    assert "table" in study and study["table"].rows > 0 and "[" not in "".join(study["table"])
    assert study.config["force"]["n"] == [64]
    assert np.all(study["table"]["n"] == 64) and "n" in study["table"].to_pandas()
    with pytest.raises(KeyError, match="there is no table 'laws'; there are .*table"):
        study["laws"]
