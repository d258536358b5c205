"""Simulations in memory: the bits of the program, states of any time, changes, and mistakes that are named."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tisane

from conftest import REPOSITORY

STEPS = {"multipoint": {"eta": 0.35, "dt_max": 1 / 8}}


def sphere(n=100, **options):
    return tisane.Simulation.plummer(n, seed=3, **{"softening": 0.02, "integrator": STEPS} | options)


def test_the_bits_are_those_of_the_program(program, tmp_path):
    quickstart = REPOSITORY / "configs" / "quickstart.toml"
    smaller = ["--set", "initial.plummer.n=100", "--set", "run.t_end=1"]
    subprocess.run([program, "run", "-q", quickstart, "--output", tmp_path / "run", *smaller], check=True)
    of_program = tisane.load(tmp_path / "run")
    sim = tisane.Simulation.from_toml(quickstart, settings={"initial.plummer.n": 100})
    for t in [0.1, 0.55, 1.0]:
        sim.integrate(t)
    assert sim.state_sha256 == of_program.summary["state_sha256"]
    # A run with files by the package is the same run.
    by_package = tisane.run(quickstart, tmp_path / "other", settings={"initial.plummer.n": 100, "run.t_end": 1})
    assert by_package.summary["state_sha256"] == sim.state_sha256
    assert len(by_package.snapshots) == len(of_program.snapshots) == 3
    again = tisane.Simulation.from_toml(quickstart, settings={"initial.plummer.n": 100})
    started = again.run(tmp_path / "third", 1.0, interval=0.5)
    assert started.summary["state_sha256"] == sim.state_sha256 and again == sim


def test_columns_are_read_only_and_made_once():
    sim = sphere()
    before = sim.particles.pos
    assert before is sim.particles.pos and before.shape == (100, 3) and sim.particles.m.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        before[0, 0] = 1.0
    kept = before.copy()
    sim.integrate(0.25)
    assert sim.particles.pos is not before and (before == kept).all() and (sim.particles.pos != kept).any()
    assert sim.particles.acc.shape == sim.particles.jerk.shape == (100, 3)
    energy = 0.5 * (sim.particles.m * sim.particles.pot).sum()
    assert energy == pytest.approx(sim.potential_energy, rel=1e-12)
    assert sim.energy == pytest.approx(sim.kinetic_energy + sim.potential_energy, rel=1e-14)
    assert 0 < abs(sim.energy_error) < 1e-6 and sim.audit is None
    acc, _, pot = sim.field_at([[10.0, 0, 0]])
    assert acc[0, 0] == pytest.approx(-0.01, rel=0.05) and pot[0] == pytest.approx(-0.1, rel=0.05)


def test_saved_copied_and_pickled_simulations_go_on_with_the_same_bits(tmp_path):
    sim = sphere()
    sim.integrate(0.3)
    sim.save(tmp_path / "state.h5")
    others = [tisane.Simulation.load(tmp_path / "state.h5"), sim.copy(), pickle.loads(pickle.dumps(sim))]
    for other in others:
        assert other == sim and other is not sim and other.t == 0.3
        assert (other.particles.vel == sim.particles.vel).all()
    sim.integrate(0.6)
    for other in others:
        assert other != sim
        other.integrate(0.6)
        assert other == sim
    assert sim != "another thing"
    with pytest.raises(TypeError, match="unhashable"):
        hash(sim)


def test_changes_are_no_error_of_the_integration():
    sim = sphere()
    sim.integrate(0.3)
    error = sim.energy_error
    sim.particles.vel = 1.1 * sim.particles.vel
    assert sim.energy_error == pytest.approx(error, abs=1e-7)
    sim.particles[5].x = 3.0
    assert sim.particles.pos[5, 0] == 3.0 and sim.particles[5].pos[1] == sim.particles.pos[5, 1]
    assert sim.particles.acc.shape == (100, 3)
    ids = sim.add(m=[0.1, 0.2], pos=[[4, 0, 0], [0, 4, 0]])
    assert list(ids) == [100, 101] and len(sim) == 102
    last = sim.particles[-1]
    sim.remove([0, 100])
    assert last.id == 101 and last.m == 0.2 and last.index == 99
    sim.remove(101)
    with pytest.raises(tisane.InputError, match="any more"):
        last.m
    sim.move_to_com()
    assert np.abs(sim.com.pos).max() < 1e-14 and np.abs(sim.com.vel).max() < 1e-14
    sim.set(mode="mixed", softening=0.05)
    sim.integrate(0.5)
    assert sim.audit["acc"]["max"] > 0 and sim.config["softening"]["epsilon"] == 0.05
    assert abs(sim.energy_error) < 1e-4


def test_units_and_orbits():
    sim = tisane.Simulation(units=("yr", "Msun", "au"), integrator={"hermite4": {"dt_max": 0.01, "nu": 1e-4}})
    sim.add(m=1.0)
    elements = {"a": 1.0, "e": 0.2, "inc": 0.3, "Omega": 1.0, "omega": 2.0, "f": 3.0}
    sim.add(m=1e-6, **elements)
    sim.add(m=0, a=5.0, e=0.7, M=-1.0, primary=0)
    assert sim.units[:4] == ("Msun", "au", "au/yr", "yr") and sim.G == pytest.approx(4 * np.pi**2, rel=1e-4)
    found = sim.orbits()
    for name, value in elements.items():
        assert getattr(found, name)[0] == pytest.approx(value, abs=1e-12), name
    assert found.M[1] == pytest.approx(2 * np.pi - 1) and found.P[0] == pytest.approx(1.0, rel=1e-4)
    named = tisane.Simulation(units=("yr", "Msun", "au", "km/s"))
    named.add(m=1.0)
    named.add(m=0, a=1.0)
    assert named.orbits().P[0] == pytest.approx(1.0, rel=1e-4) and named.units.velocity == "km/s"
    assert sim.particles[2].orbit().a == pytest.approx(5.0) and sim.particles[1].orbit(0).e == pytest.approx(0.2)
    sim.integrate(1.0)
    assert sim.orbits().M[1] == pytest.approx(2 * np.pi - 1 + 2 * np.pi / 5**1.5, abs=1e-3)
    hyperbola = tisane.Simulation()
    hyperbola.add(m=1.0)
    hyperbola.add(a=-2.0, e=1.5, M=1.0)
    assert (hyperbola.orbits().a[0], hyperbola.orbits().M[0]) == pytest.approx((-2.0, 1.0))
    assert np.isnan(hyperbola.orbits().P[0])
    with pytest.raises(tisane.InputError, match="no unit 'lightyear'"):
        tisane.Simulation(units=("Msun", "lightyear"))
    # Without dt_max the steps follow from the particles.
    derived = tisane.Simulation(units=("Msun", "au", "yr"))
    derived.add(m=1.0)
    derived.add(m=1e-3, a=1.0, e=0.1)
    derived.integrate(1.0)
    assert 0.0 < abs(derived.energy_error) < 1e-4


def test_callbacks_steps_and_progress(capfd):
    sim, times, reports = sphere(), [], []
    sim.integrate(1.0, callback=lambda sim: times.append(sim.t), interval=0.3, progress=reports.append)
    assert times == pytest.approx([0.3, 0.6, 0.9, 1.0]) and reports[-1] == 1.0
    sim.integrate(3.0, callback=lambda sim: sim.t < 1.5, interval=0.25)
    assert sim.t == 1.5
    before = sim.counters["block_steps"]
    sim.steps(7)
    assert sim.counters["block_steps"] == before + 7
    sim.integrate(2.0, progress=True)
    assert "100.0 %" in capfd.readouterr().err
    with pytest.raises(ZeroDivisionError):
        sim.integrate(3.0, progress=lambda t: 1 / 0)
    sim.integrate(3.0)
    assert sim.t == 3.0


def test_the_origin_moves_on_an_orbit(tmp_path):
    sim = sphere(settings={"external.point-mass": {"mass": 1e4}, "orbit": {"circular": 100.0}})
    pos, vel = sim.orbit
    assert pos.tolist() == [100, 0, 0] and vel.tolist() == [0, 10, 0]
    sim.integrate(0.25)
    pos, vel = sim.orbit
    assert np.allclose(pos, [100 * np.cos(0.025), 100 * np.sin(0.025), 0], rtol=0, atol=1e-12)
    assert np.allclose(vel, [-10 * np.sin(0.025), 10 * np.cos(0.025), 0], rtol=0, atol=1e-12)
    assert np.abs(sim.particles.pos).max() < 10 and abs(sim.energy_error) < 1e-6
    sim.save(tmp_path / "state.hdf5")
    again = tisane.Simulation.load(tmp_path / "state.hdf5")
    for one in (sim, again):
        one.integrate(0.7)
    assert again.particles.pos.tolist() == sim.particles.pos.tolist()
    assert again.orbit[0].tolist() == sim.orbit[0].tolist()
    assert sphere().orbit is None


def test_functions_as_external_field(tmp_path):
    omega = 2.0
    spring = {
        "acceleration": lambda pos, t: -(omega**2) * pos,
        "potential": lambda pos, t: 0.5 * omega**2 * pos @ pos,
    }
    sim = tisane.Simulation.from_arrays(1e-6, [1.0, 0, 0], integrator={"hermite4": {"dt_max": 1 / 32, "nu": 1e-3}})
    sim.set_external(**spring)
    sim.integrate(1.0)
    assert sim.particles[0].x == pytest.approx(np.cos(omega), abs=1e-6) and abs(sim.energy_error) < 1e-6
    with pytest.warns(UserWarning, match="not saved"):
        sim.save(tmp_path / "state.h5")
    sim.set_external()
    vx = sim.particles[0].vx
    sim.integrate(1.5)
    assert sim.particles[0].vx == pytest.approx(vx, abs=1e-12)
    sim.set_external(lambda pos, t: [1, 2])
    with pytest.raises(ValueError):
        sim.integrate(2.0)
    sim.set_external(lambda pos, t: sim.t * pos)
    with pytest.raises(RuntimeError, match="in use"):
        sim.integrate(2.0)
    with pytest.raises(TypeError, match="expected a function"):
        sim.set_external(3)
    with pytest.raises(tisane.InputError, match="cannot contain it"):
        sim.run("never", 3.0)
    assert not os.path.exists("never")


def test_unknown_attributes_and_options_are_named():
    sim = sphere()
    with pytest.raises(AttributeError, match="did you mean 'energy_error'"):
        sim.energy_eror
    with pytest.raises(AttributeError, match="did you mean 'particles'"):
        sim.partcles = 3
    with pytest.raises(AttributeError, match="read only"):
        sim.energy = 3
    with pytest.raises(AttributeError, match="is a method"):
        sim.integrate = 3
    with pytest.raises(AttributeError, match="did you mean 'vel'"):
        sim.particles.vell = 0
    with pytest.raises(tisane.ConfigError, match="did you mean `eta`"):
        sphere(integrator={"multipoint": {"etta": 0.3}})
    with pytest.raises(tisane.ConfigError, match="virial_radius"):
        sphere(virial_radios=1)
    with pytest.raises(TypeError, match="unknown option 'softning'"):
        tisane.Simulation(softning=1)
    with pytest.raises(FileNotFoundError):
        tisane.Simulation.load("nowhere.h5")


@pytest.mark.parametrize(
    ("m", "pos", "message"),
    [
        ([1.0], [[0, 0]], r"pos: expected an array of the shape \(N, 3\), found \(1, 2\)"),
        ([[1.0]], [[0, 0, 0]], r"m: expected an array of the shape \(N,\)"),
        ([1.0, 2.0], [[0, 0, 0]] * 3, "columns of different lengths"),
        ([1j], [[0, 0, 0]], "m: expected real numbers, found complex128"),
        (["a"], [[0, 0, 0]], "m: expected real numbers"),
        ([1.0], [[0, 0, np.nan]], "position is"),
        ([np.inf], [[0, 0, 0]], "mass is inf"),
        ([-1], [[0, 0, 0]], "mass is -1.0"),
        ([1.0], [[0, 0], [0, 0, 0]], "pos: not an array of numbers"),
    ],
)
def test_wrong_arrays_are_refused(m, pos, message):
    sim = tisane.Simulation()
    with pytest.raises(tisane.InputError, match=message):
        sim.add(m, pos)
    assert len(sim) == 0


def test_arrays_of_other_types_and_layouts_are_taken():
    pos = np.arange(30, dtype=np.int32).reshape(10, 3)[::2]
    vel = np.asfortranarray(np.ones((5, 3), np.float32))
    sim = tisane.Simulation.from_arrays(np.ones(10, np.float16)[::2], pos, vel, id=np.arange(5, dtype=np.int8))
    assert (sim.particles.pos == pos).all() and (sim.particles.vel == 1).all()
    with pytest.raises(tisane.InputError, match="two particles have the id 4"):
        sim.add(1.0, [1, 2, 3], id=4)
    with pytest.raises(tisane.InputError, match="found -1"):
        sim.add(1.0, [1, 2, 3], id=-1)
    with pytest.raises(tisane.InputError, match="no particle with the id 99"):
        sim.remove(99)
    with pytest.raises(tisane.InputError, match="goes forward only"):
        sim.integrate(-1)
    with pytest.raises(tisane.InputError, match="finite"):
        sim.integrate(float("nan"))
    with pytest.raises(IndexError, match="there are 5"):
        sim.particles[5]
    with pytest.raises(tisane.InputError, match="there are none"):
        tisane.Simulation().integrate(1)


def test_a_failed_integration_is_an_exception():
    sim = tisane.Simulation.from_arrays([1, 1], [[0, 0, 0], [0.1, 0, 0]], integrator={"hermite4": {"dt_max": 1 / 16}})
    with pytest.raises(tisane.IntegrationError, match="2 particles need time steps below dt_min"):
        sim.integrate(1)
    with pytest.raises(RuntimeError, match="has failed"):
        sim.integrate(1)
    assert np.isfinite(sim.particles.pos).all()


def test_threads_share_a_simulation():
    sim = sphere(300)
    errors = []

    def use(work):
        try:
            for _ in range(20):
                work()
        except Exception as error:
            errors.append(error)

    works = [lambda: sim.steps(20), lambda: sim.particles.pos.sum(), lambda: sim.energy, lambda: sim == sim.copy()]
    threads = [threading.Thread(target=use, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)
    assert sim.counters["block_steps"] == 400


def test_other_threads_run_during_an_integration():
    sim, counted, ended = sphere(2000), [], threading.Event()

    def count():
        while not ended.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    sim.integrate(0.125)
    ended.set()
    thread.join()
    assert len(counted) > 5


# A shell that starts tests in the background has them ignore SIGINT, and Python then leaves it ignored.
HEEDING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"

INTERRUPTED = HEEDING + """
import tisane
sim = tisane.Simulation.plummer(512, seed=1, softening=0.01, integrator={"multipoint": {"eta": 0.2, "dt_max": 1/8}})
try:
    sim.integrate(1000, progress=lambda t: print("going", flush=True))
except KeyboardInterrupt:
    t = sim.t
    assert 0 < t < 1000
    sim.steps(3)
    assert sim.t > t
    print("stopped", flush=True)
"""


def test_ctrl_c_stops_an_integration():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and rest.endswith("stopped\n")


INTERRUPTED_RUN = HEEDING + """
import sys, tisane
try:
    tisane.run({"run": {"name": "long", "t_end": 1000.0}, "initial": {"plummer": {"n": 256}}}, sys.argv[1],
               progress=lambda t: print("going", flush=True))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_stops_a_run_with_a_checkpoint(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED_RUN, tmp_path / "run"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and rest.endswith("stopped\n")
    run = tisane.load(tmp_path / "run")
    assert run.summary["exit_reason"] == "interrupted"
    sim = tisane.Simulation.load(tmp_path / "run" / "checkpoint.hdf5")
    assert sim.t == run.summary["time"] and sim.state_sha256 == run.summary["state_sha256"]


def in_fork(sim, queue):
    try:
        sim.integrate(1.0)
    except RuntimeError as error:
        queue.put(str(error))
    # One that this process makes works.
    new = sphere()
    new.integrate(0.125)
    queue.put(tisane.forces(new.particles.m, new.particles.pos, softening=0.1).pot.sum() < 0)


@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_cannot_use_the_simulation_of_its_parent():
    sim = sphere()
    sim.integrate(0.125)
    tisane.forces([1, 1], [[0, 0, 0], [1, 0, 0]])
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=in_fork, args=(sim, queue))
    process.start()
    assert "forked" in queue.get(timeout=60)
    assert queue.get(timeout=60)
    process.join(60)
    sim.integrate(0.25)


def test_a_sweep_is_a_table():
    table = tisane.sweep(
        lambda n, eta: sphere(n, integrator={"multipoint": {"eta": eta, "dt_max": 1 / 8}}),
        over={"n": [32, 64], "eta": [0.2, 0.6]},
        t_end=0.5,
        measure=lambda sim: {"hash": sim.state_sha256, "virial": sim.virial_ratio},
    )
    assert table.rows == 4 and list(table["n"]) == [32, 32, 64, 64] and list(table["eta"]) == [0.2, 0.6] * 2
    assert (table["block_steps"] > 0).all() and len(set(table["hash"])) == 4
    assert abs(table["energy_error"][0]) < abs(table["energy_error"][1])


def test_a_run_goes_on_from_the_present_state(tmp_path):
    sim = tisane.Simulation.from_arrays([1.0, 1.0], [[1, 0, 0], [-1, 0, 0]], [[0, 0.5, 0], [0, -0.5, 0]], t=2.0, softening=0.1)
    assert sim.t == 2.0
    sim.integrate(2.5)
    run = sim.run(tmp_path / "a run", 4.5, interval=1.0, progress=True)
    assert [float(snapshot.time) for snapshot in run.snapshots] == [2.5, 3.5, 4.5] and sim.t == 4.5
    assert run.summary["state_sha256"] == sim.state_sha256 and run.config["initial"] == {"memory": {}}
    with pytest.raises(tisane.InputError, match="a run"):
        sim.run(tmp_path / "a run", 5.5)
    assert sim.run(tmp_path / "a run", 5.5, overwrite=True).summary["time"] == 5.5
