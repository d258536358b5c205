"""A day with a star cluster: a file of stars becomes AMUSE's particles, tisane moves them, HDF5 keeps them, yt draws them.

    python one_day.py [FILE]

FILE has the columns mass, x, y, z, vx, vy, vz in MSun, pc, km/s. Writes cluster.hdf5 and cluster.png here.
"""

import pathlib
import sys

import numpy
from amuse.datamodel import Particles
from amuse.io import read_set_from_file, write_set_to_file
from amuse.units import nbody_system, units

from amuse_tisane import Tisane

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "cluster-1k.dat"
path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else EXAMPLE)

# The stars as particles of AMUSE.
mass, *columns = numpy.loadtxt(path, usecols=range(7), unpack=True)
stars = Particles(len(mass))
stars.mass = mass | units.MSun
stars.position = numpy.transpose(columns[:3]) | units.parsec
stars.velocity = numpy.transpose(columns[3:]) | units.kms
stars.radius = 0 | units.parsec
stars.move_to_center()
print(f"{len(stars)} stars, {stars.total_mass().in_(units.MSun)}, virial radius {stars.virial_radius().in_(units.parsec)}")

# One million years.
gravity = Tisane(nbody_system.nbody_to_si(stars.total_mass(), stars.virial_radius()))
gravity.parameters.dt_max = 0.01 | units.Myr
gravity.particles.add_particles(stars)
to_stars = gravity.particles.new_channel_to(stars)
before = gravity.kinetic_energy + gravity.potential_energy
for time in [0.25, 0.5, 0.75, 1.0] | units.Myr:
    gravity.evolve_model(time)
    error = (gravity.kinetic_energy + gravity.potential_energy - before) / before
    print(f"{gravity.model_time.in_(units.Myr)}: relative energy error {error:.1e}")
    to_stars.copy_attributes(["x", "y", "z", "vx", "vy", "vz"])
gravity.stop()
assert abs(error) < 1e-4

# HDF5, as AMUSE writes it (`tisane convert` and [initial.file] read it too).
write_set_to_file(stars.savepoint(time), "cluster.hdf5", "hdf5", version="2.0", overwrite_file=True)
kept = read_set_from_file("cluster.hdf5", "hdf5", version="2.0", close_file=True, copy_history=False)
# Units are converted on the way, which rounds.
assert numpy.allclose(kept.x.value_in(units.parsec), stars.x.value_in(units.parsec), rtol=1e-12, atol=1e-12)

# yt.
import yt  # noqa: E402

fields = {f"particle_position_{axis}": getattr(kept, axis).value_in(units.parsec) for axis in "xyz"}
fields["particle_mass"] = kept.mass.value_in(units.MSun)
reach = 3.0
inside = numpy.all([numpy.abs(fields[f"particle_position_{axis}"]) < reach for axis in "xyz"], axis=0)
print(f"{inside.sum()} of them within {reach} pc of the centre")
fields = {name: values[inside] for name, values in fields.items()}
data = yt.load_particles(fields, length_unit="pc", mass_unit="Msun", bbox=numpy.array([[-reach, reach]] * 3))
total = data.all_data()["all", "particle_mass"].sum().to_value("Msun")
assert abs(total / fields["particle_mass"].sum() - 1) < 1e-6
plot = yt.ParticlePlot(
    data, ("all", "particle_position_x"), ("all", "particle_position_y"), ("all", "particle_mass"), width=(2 * reach, "pc")
)
plot.save("cluster.png")
