"""tisane in AMUSE: the interface and the worker agree, and scripts get what they expect of a gravitational dynamics code."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from amuse.couple.bridge import Bridge
from amuse.datamodel import Particles
from amuse.ic.plummer import new_plummer_model
from amuse.support.exceptions import CodeException
from amuse.units import constants, nbody_system, units

from amuse_tisane import Tisane, TisaneInterface
from amuse_tisane.interface import PARAMETERS, WORKER

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def functions():
    """The functions of the interface, as the worker prints its own."""
    for name in dir(TisaneInterface):
        specification = getattr(getattr(TisaneInterface, name), "specification", None)
        if specification is not None and specification.id != 0:
            assert specification.result_type == "int32", name
            inputs = ",".join(parameter.datatype for parameter in specification.input_parameters)
            outputs = ",".join(parameter.datatype for parameter in specification.output_parameters)
            yield f"{specification.id}\t{specification.name}\t{inputs}\t{outputs}"


def plummer(n, seed):
    return new_plummer_model(n, random=numpy.random.RandomState(seed), do_scale=True)


def energy(code):
    return code.kinetic_energy + code.potential_energy


@pytest.fixture
def start():
    """Start codes that are stopped after the test."""
    started = []

    def start(*arguments, **options):
        started.append(Tisane(*arguments, **options))
        return started[-1]

    yield start
    for code in started:
        code.stop()


def test_worker_has_the_functions_of_the_interface():
    printed = subprocess.run([WORKER, "--functions"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert sorted(functions()) == sorted(printed.splitlines())


def test_defaults_are_those_of_the_worker():
    interface = TisaneInterface()
    for name, _, _, default, _ in PARAMETERS:
        value, status = getattr(interface, "get_" + name)().values()
        assert (value, status) == (default, 0), name
    interface.stop()


def test_parameters_are_kept(start):
    gravity = start(nbody_system.nbody_to_si(100 | units.MSun, 1 | units.parsec))
    values = dict(
        integrator="multipoint6", timestep_parameter=0.02, initial_timestep_parameter=0.01, iterations=2,
        multipoint_eta=0.3, ahmad_cohen_eta=0.2, dt_max=0.01 | units.Myr, dt_min=1 | units.yr, on_dt_min="clamp", engine="cpu",
        precision="mixed", device=1, threads=2, begin_time=3 | units.Myr, epsilon_squared=(0.01 | units.parsec) ** 2,
    )  # fmt: skip
    for name, value in values.items():
        setattr(gravity.parameters, name, value)
    for name, value in values.items():
        found = getattr(gravity.parameters, name)
        assert found == value or abs(found - value) < 1e-12 * value, name
    gravity.parameters.set_defaults()
    assert gravity.parameters.integrator == "hermite4"


def test_verify_the_earth_returns_after_a_year(start):
    gravity = start(nbody_system.nbody_to_si(1 | units.MSun, 1 | units.AU))
    gravity.parameters.timestep_parameter = 1e-4
    bodies = Particles(2)
    bodies.mass = [1.0, 3e-6] | units.MSun
    bodies.position = [[0, 0, 0], [1, 0, 0]] | units.AU
    bodies.velocity = [0, 0, 0] | units.kms
    bodies[1].vy = (constants.G * bodies.total_mass() / (1 | units.AU)) ** 0.5
    gravity.particles.add_particles(bodies)
    before = energy(gravity)
    year = 2 * numpy.pi * ((1 | units.AU) ** 3 / (constants.G * bodies.total_mass())) ** 0.5
    gravity.evolve_model(year)
    assert abs(gravity.model_time - year) < 1 | units.s
    assert abs(energy(gravity) / before - 1) < 1e-9
    gravity.particles.new_channel_to(bodies).copy()
    relative = bodies[1].position - bodies[0].position
    assert (relative - ([1, 0, 0] | units.AU)).length() < 1e-5 | units.AU


def test_stars_age_in_one_code(start):
    stars = Particles(3)
    stars.mass = [25.0, 1.0, 15.0] | units.MSun
    stars.position = [[-1, 0, 0], [1, 0, 0], [0, 2, 0]] | units.parsec
    stars.velocity = [0, 0, 0] | units.kms
    gravity = start(nbody_system.nbody_to_si(stars.total_mass(), 1 | units.parsec), stellar_evolution={"metallicity": 0.02})
    gravity.parameters.dt_max = 0.25 | units.Myr
    gravity.particles.add_particles(stars)
    to_script = gravity.particles.new_channel_to(stars)
    assert gravity.particles.stellar_type[0] == 1 | units.stellar_type
    assert 0.8 | units.RSun < gravity.particles.radius[1] < 1.0 | units.RSun
    gravity.evolve_model(4 | units.Myr)
    to_script.copy()
    assert 20 | units.MSun < stars.mass[0] < 25 | units.MSun
    # What was copied there and back is no change.
    stars.new_channel_to(gravity.particles).copy_attributes(["mass", "x", "y", "z", "vx", "vy", "vz"])
    gravity.parameters.timestep_parameter = 0.005
    gravity.evolve_model(8 | units.Myr)
    to_script.copy()
    assert list(stars.stellar_type.value_in(units.stellar_type)) == [14, 1, 1]
    assert abs(stars.initial_mass[0] - (25 | units.MSun)) < 1e-9 | units.MSun
    assert 7 | units.MSun < stars.mass[0] < 8 | units.MSun and abs(stars.mass[0] - stars.core_mass[0]) < 1e-9 | units.MSun
    assert stars.luminosity[2] > 2e4 | units.LSun and 5000 | units.K < stars.temperature[1] < 6000 | units.K
    stars[1].mass = 2 | units.MSun
    with pytest.raises(CodeException, match="by its track"):
        stars.new_channel_to(gravity.particles).copy_attributes(["mass"])
        gravity.evolve_model(9 | units.Myr)


def test_stars_that_age_need_a_converter():
    with pytest.raises(ValueError, match="need a converter"):
        Tisane(stellar_evolution={})


@pytest.mark.parametrize("integrator", ["hermite4", "multipoint6", "multipoint8", "ahmad_cohen6", "leapfrog"])
def test_integrators_conserve_energy(start, integrator):
    gravity = start()
    gravity.parameters.integrator = integrator
    gravity.parameters.epsilon_squared = (1 / 32 | nbody_system.length) ** 2
    if integrator == "leapfrog":
        gravity.parameters.dt_max = 1 / 512 | nbody_system.time
    gravity.particles.add_particles(plummer(128, 1))
    before = energy(gravity)
    gravity.evolve_model(0.7 | nbody_system.time)
    assert abs(energy(gravity) / before - 1) < 1e-4
    assert gravity.model_time == 0.7 | nbody_system.time


def test_threads_change_no_bit(start):
    found = []
    for threads in [1, 2]:
        gravity = start()
        gravity.parameters.threads = threads
        gravity.particles.add_particles(plummer(200, 3))
        gravity.evolve_model(0.3 | nbody_system.time)
        found.append(gravity.particles.position.value_in(nbody_system.length))
    assert numpy.array_equal(*found)


def test_particles_come_and_go(start):
    gravity = start()
    stars = plummer(50, 2)
    gravity.particles.add_particles(stars)
    gravity.evolve_model(0.1 | nbody_system.time)
    gravity.particles.remove_particles(stars[:20])
    more = plummer(5, 4)
    more.x += 10 | nbody_system.length
    gravity.particles.add_particles(more)
    gravity.evolve_model(0.2 | nbody_system.time)
    assert len(gravity.particles) == 35
    assert abs(gravity.total_mass - (30 / 50 + 1 | nbody_system.mass)) < 1e-12 | nbody_system.mass
    gravity.particles.remove_particles(gravity.particles.copy())
    assert gravity.potential_energy == 0 * energy(gravity)
    gravity.evolve_model(0.3 | nbody_system.time)
    gravity.particles.add_particles(stars)
    gravity.evolve_model(0.4 | nbody_system.time)
    assert gravity.model_time == 0.4 | nbody_system.time


def test_merging_collisions(start):
    gravity = start()
    stars = plummer(64, 5)
    stars.radius = 0.02 | nbody_system.length
    gravity.particles.add_particles(stars)
    condition = gravity.stopping_conditions.collision_detection
    condition.enable()
    merged = 0
    while gravity.model_time < 0.5 | nbody_system.time:
        gravity.evolve_model(0.5 | nbody_system.time)
        if not condition.is_set():
            break
        pairs = list(zip(condition.particles(0).copy(), condition.particles(1).copy()))
        first, second = pairs[0]
        assert (first.position - second.position).length() < first.radius + second.radius
        both = Particles(particles=[first, second])
        product = Particles(1)
        product.mass = both.total_mass()
        product.position = both.center_of_mass()
        product.velocity = both.center_of_mass_velocity()
        product.radius = first.radius
        gravity.particles.remove_particles(both)
        gravity.particles.add_particles(product)
        merged += 1
    assert merged > 0 and len(gravity.particles) == 64 - merged
    assert abs(gravity.total_mass - (1 | nbody_system.mass)) < 1e-12 | nbody_system.mass


def test_verify_bridge_converges_to_the_single_code(start):
    """Two clusters that kick each other: the bridge is of second order, and converges to one code with all stars."""

    def clusters():
        first, second = plummer(40, 7), plummer(40, 8)
        for stars, side in [(first, -1), (second, 1)]:
            stars.x += side * 2 | nbody_system.length
            stars.vy += side * 0.3 | nbody_system.speed
        return first, second

    def code(*sets):
        gravity = start()
        gravity.parameters.epsilon_squared = (1 / 16 | nbody_system.length) ** 2
        gravity.parameters.timestep_parameter = 1e-3
        for stars in sets:
            gravity.particles.add_particles(stars)
        return gravity

    first, second = clusters()
    single = code(first, second)
    end = 0.5 | nbody_system.time
    before = energy(single)
    single.evolve_model(end)
    assert abs(energy(single) / before - 1) < 1e-7
    errors, distances = [], []
    for step in [1 / 16, 1 / 32]:
        first, second = clusters()
        codes = code(first), code(second)
        bridge = Bridge(timestep=step | nbody_system.time, use_threading=False)
        bridge.add_system(codes[0], (codes[1],))
        bridge.add_system(codes[1], (codes[0],))
        # That of the pairs across is counted once for each system.
        before = energy(bridge)
        bridge.evolve_model(end)
        errors.append(abs(energy(bridge) / before - 1))
        apart = bridge.particles.position - single.particles.position
        distances.append(apart.lengths().max().value_in(nbody_system.length))
    print("bridge: energy errors", errors, "distances from the single code", distances)
    assert errors[0] < 1e-3 and errors[1] < 1e-3
    assert distances[1] < 0.4 * distances[0] and distances[1] < 1e-3


def test_a_script_for_phigrape_runs(start):
    PhiGRAPE, PhiGRAPEInterface = start, TisaneInterface
    instance = PhiGRAPE(nbody_system.nbody_to_si(1 | units.MSun, 1 | units.parsec), mode=PhiGRAPEInterface.MODE_G6LIB)
    instance.initialize_code()
    instance.parameters.set_defaults()
    instance.parameters.epsilon_squared = (0.01 | units.parsec) ** 2
    instance.parameters.timestep_parameter = 0.01
    instance.parameters.initial_timestep_parameter = 0.005
    instance.parameters.initialize_gpu_once = 1
    stars = new_plummer_model(20, instance.unit_converter)
    instance.particles.add_particles(stars)
    instance.commit_particles()
    instance.evolve_model(0.1 | units.Myr)
    instance.synchronize_model()
    instance.particles.copy_values_of_all_attributes_to(stars)
    instance.cleanup_code()


def test_mistakes_are_explained(start):
    gravity = start()
    gravity.parameters.integrator = "euler"
    with pytest.raises(CodeException, match="expected hermite4, multipoint6, multipoint8, ahmad_cohen6 or leapfrog"):
        gravity.commit_parameters()
    gravity = start()
    gravity.parameters.timestep_parameter = -1
    with pytest.raises(CodeException, match="timestep_parameter: "):
        gravity.particles.add_particles(plummer(2, 1))
        gravity.commit_particles()
    with pytest.raises(Exception, match="no particle has this index"):
        start().get_mass(99)
    with pytest.raises(Exception, match="does not support this condition"):
        start().stopping_conditions.escaper_detection.enable()
    with pytest.raises(ValueError, match="over sockets only"):
        Tisane(channel_type="mpi")
    with pytest.raises(ValueError, match="mode is 'tpu'"):
        Tisane(mode="tpu")
    with pytest.warns(UserWarning, match="number_of_workers is not used"):
        start(number_of_workers=2)


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example(script, tmp_path):
    environment = dict(os.environ, MPLBACKEND="Agg")
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, check=True)
    text = done.stdout.decode()
    print(text)
    if "SKIPPED" in text:
        pytest.skip(text)
    assert (tmp_path / "cluster.png").exists()
