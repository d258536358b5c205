"""Exchanges files with other programs in both directions; called by scripts/check/formats, which installs the programs.

Every check goes one way: a program writes and tisane reads (by `tisane convert ... .csv`), or tisane writes (from a CSV) and
the program reads. What is compared is every mass, position, velocity and id, and the time where both have one."""

import importlib.metadata
import logging
import os
import subprocess
import sys
import traceback
import warnings

import numpy as np

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

N = 100
UNITS = "mass=Msun,length=pc,velocity=km/s"
AMUSE = '''
import sys
import numpy as np
from amuse.datamodel import Particles
from amuse.io import read_set_from_file, write_set_to_file
from amuse.units import nbody_system, units
verb, path, table, version, system = sys.argv[1:]
mass, length, speed, time = (
    (nbody_system.mass, nbody_system.length, nbody_system.speed, nbody_system.time)
    if system == "nbody" else (units.MSun, units.parsec, units.kms, units.Myr))
if verb == "write":
    rows = np.loadtxt(table)
    p = Particles(keys=rows[:, 7].astype("u8"))
    p.mass, p.position, p.velocity = rows[:, 0] | mass, rows[:, 1:4] | length, rows[:, 4:7] | speed
    p.collection_attributes.timestamp = 2.5 | time
    write_set_to_file(p, path, "amuse", version=version, append_to_file=False)
else:
    p = read_set_from_file(path, "amuse", close_file=True)
    columns = [p.mass.value_in(mass), *p.position.value_in(length).T, *p.velocity.value_in(speed).T, p.key]
    np.savetxt(table, np.column_stack(columns), fmt=["%.17g"] * 7 + ["%d"])
    assert abs(p.get_timestamp().value_in(time) - 2.5) < 1e-4, p.get_timestamp()
'''


def state(single):
    """m, x, y, z, vx, vy, vz, id; values that a 4-byte float holds if `single`."""
    random = np.random.default_rng(1)
    rows = np.column_stack([random.random(N) + 0.1, random.normal(size=(N, 6)), random.permutation(N) + 1.0])
    return rows.astype("f4").astype("f8") if single else rows


def write_csv(path, rows):
    with open(path, "w") as file:
        print("m,x,y,z,vx,vy,vz,id", file=file)
        for row in rows:
            print(",".join(repr(float(x)) for x in row[:7]), int(row[7]), sep=",", file=file)


def tisane(*words):
    done = subprocess.run([os.environ["TISANE"], *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stderr


def tisane_reads(path, *words):
    tisane("convert", path, "read.csv", "--overwrite", *words)
    return np.loadtxt("read.csv", delimiter=",", skiprows=1)


def tisane_writes(path, form, single=False, units=UNITS):
    write_csv("start.csv", state(single))
    tisane("convert", "start.csv", path, "--to", form, "--units", units, "--overwrite")


def compare(found, single, ids=True, columns=slice(0, 7), tolerance=0.0):
    expected = state(single)
    if ids:
        found = found[np.argsort(found[:, 7])]
        expected = expected[np.argsort(expected[:, 7])]
    assert len(found) == N, len(found)
    error = np.max(np.abs(found[:, columns] / expected[:, columns] - 1.0))
    assert error <= tolerance, f"relative difference {error:.1e}"
    assert not ids or np.array_equal(found[:, 7], expected[:, 7]), "ids"
    return "same bits" if error == 0.0 else f"relative difference up to {error:.0e}"


def amuse(verb, path, version="2.0", system="si"):
    if verb == "write" and os.path.exists(path):
        os.remove(path)
    np.savetxt("table.txt", state(False), fmt=["%.17g"] * 7 + ["%d"])
    words = [os.environ["AMUSE_PYTHON"], "-c", AMUSE, verb, path, "table.txt", version, system]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return np.loadtxt("table.txt")


def amuse_version():
    words = [os.environ["AMUSE_PYTHON"], "-c", "import importlib.metadata as m; print(m.version('amuse-framework'))"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def amuse_v2_to_tisane():
    amuse("write", "a2.amuse")
    return compare(tisane_reads("a2.amuse"), False)


def amuse_v1_to_tisane():
    amuse("write", "a1.amuse", "1.0", "nbody")
    return compare(tisane_reads("a1.amuse"), False)


def tisane_to_amuse():
    amuse("write", "a2.amuse")
    tisane("convert", "a2.amuse", "t.amuse", "--overwrite")
    # tisane writes the units in AMUSE's sizes: a number of solar masses stays the same number.
    return compare(amuse("read", "t.amuse"), False)


UNSIO = '''
import sys
import numpy as np
import unsio.input as unsio
path, component = sys.argv[1:]
snapshot = unsio.CUNS_IN(path, component, float32=False)
assert snapshot.nextFrame(""), path
get = lambda what: np.asarray(snapshot.getData(component, what)[1])
np.save("rows.npy", np.column_stack([get("mass"), get("pos").reshape(-1, 3), get("vel").reshape(-1, 3), get("id")]))
'''


def unsio_rows(path, component):
    # In a process of its own: some files end it.
    done = subprocess.run([sys.executable, "-c", UNSIO, path, component], capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
    return np.load("rows.npy")


def unsio_writes(path, kind, component):
    import unsio.output as unsio
    rows = state(False)
    out = unsio.CUNS_OUT(path, kind, float32=False)
    out.setData(2.5, "time")
    for values, what in [(rows[:, 0], "mass"), (rows[:, 1:4], "pos"), (rows[:, 4:7], "vel")]:
        out.setData(np.ascontiguousarray(values).reshape(-1), component, what)
    out.setData(rows[:, 7].astype("i4"), component, "id")
    out.save()
    out.close()


def unsio_nemo_to_tisane():
    unsio_writes("u.nemo", "nemo", "all")
    return compare(tisane_reads("u.nemo"), False)


def unsio_gadget_to_tisane():
    unsio_writes("u.hdf5", "gadget3", "halo")
    return compare(tisane_reads("u.hdf5"), False)


def tisane_nemo_to_unsio():
    tisane_writes("t.nemo", "nemo")
    return compare(unsio_rows("t.nemo", "all"), False)


def tisane_gadget_to_unsio():
    tisane_writes("t.hdf5", "gadget")
    return compare(unsio_rows("t.hdf5", "stars"), False)


def pynbody_tipsy_to_tisane():
    import pynbody
    rows = state(True)
    s = pynbody.new(dm=N // 2, star=N - N // 2)
    s["mass"], s["pos"], s["vel"], s["eps"] = rows[:, 0], rows[:, 1:4], rows[:, 4:7], 0.01
    s.star["metals"] = 0
    s.star["tform"] = 0
    s.write(fmt=pynbody.snapshot.tipsy.TipsySnap, filename="p.tipsy")
    return compare(tisane_reads("p.tipsy"), True, ids=False)


def tisane_tipsy_to_pynbody():
    import pynbody
    tisane_writes("t.tipsy", "tipsy", single=True)
    s = pynbody.load("t.tipsy")
    return compare(np.column_stack([s["mass"], s["pos"], s["vel"]]), True, ids=False)


def tisane_tipsy_to_pytipsy():
    import pytipsy
    tisane_writes("t.tipsy", "tipsy", single=True)
    header, _, dark, _ = pytipsy.rtipsy("t.tipsy")
    assert header["ndark"] == N
    names = ["mass", "x", "y", "z", "vx", "vy", "vz"]
    return compare(np.column_stack([dark[name] for name in names]), True, ids=False)


def pytipsy_to_tisane():
    import pytipsy
    rows = state(True)
    header = {"time": 2.5, "n": N, "ndim": 3, "ngas": 0, "ndark": N, "nstar": 0}
    names = ["mass", "x", "y", "z", "vx", "vy", "vz"]
    dark = {name: rows[:, k] for k, name in enumerate(names)} | {"eps": np.zeros(N), "phi": np.zeros(N)}
    pytipsy.wtipsy("w.tipsy", header, {}, dark, {})
    return compare(tisane_reads("w.tipsy"), True, ids=False)


def tisane_gadget_to_pynbody():
    import pynbody
    tisane_writes("t.hdf5", "gadget")
    s = pynbody.load("t.hdf5").star
    columns = [s["mass"].in_units("Msol"), s["pos"].in_units("pc"), s["vel"].in_units("km s**-1"), s["iord"]]
    return compare(np.column_stack(columns), False, tolerance=2e-4)


def tisane_gadget_to_yt():
    import yt
    tisane_writes("t.hdf5", "gadget")
    data = yt.load("t.hdf5").all_data()
    fields = [("particle_mass", "Msun"), ("particle_position", "pc"), ("particle_velocity", "km/s"), ("particle_index", "")]
    return compare(np.column_stack([data["all", name].to_value(unit) for name, unit in fields]), False, tolerance=1e-5)


def swift_to_tisane():
    import unyt
    from swiftsimio import Writer, cosmo_array

    rows = state(True)
    system = unyt.UnitSystem("tisane", "pc", "Msun", "Myr")
    array = lambda values, unit: cosmo_array(values, unit, comoving=False, scale_factor=1.0, scale_exponent=0)
    box = array([100.0, 100.0, 100.0], "pc")
    writer = Writer(unit_system=system, boxsize=box, dimension=3)
    writer.dark_matter.coordinates = array(rows[:, 1:4], "pc")
    writer.dark_matter.velocities = array(rows[:, 4:7], "pc/Myr")
    writer.dark_matter.masses = array(rows[:, 0], "Msun")
    writer.dark_matter.particle_ids = rows[:, 7].astype("u8")
    writer.write("s.hdf5")
    return compare(tisane_reads("s.hdf5"), True, tolerance=1e-6)


def rebound_to_tisane():
    import rebound
    sim, rows = rebound.Simulation(), state(False)
    for m, x, y, z, vx, vy, vz, _ in rows:
        sim.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    sim.save_to_file("archive.bin", delete_file=True)
    # As docs/src/formats.md shows it.
    sim = rebound.Simulation("archive.bin")
    with open("archive.csv", "w") as file:
        print("m,x,y,z,vx,vy,vz,id", file=file)
        for i, p in enumerate(sim.particles):
            print(p.m, p.x, p.y, p.z, p.vx, p.vy, p.vz, i, sep=",", file=file)
    return compare(tisane_reads("archive.csv"), False, ids=False)


CHECKS = [
    ("amuse-framework", "writes version 2 in Msun, pc, km/s, Myr; tisane reads", amuse_v2_to_tisane),
    ("amuse-framework", "writes version 1 in N-body units; tisane reads", amuse_v1_to_tisane),
    ("amuse-framework", "reads what tisane wrote as amuse", tisane_to_amuse),
    ("python-unsio", "writes NEMO; tisane reads", unsio_nemo_to_tisane),
    ("python-unsio", "reads what tisane wrote as nemo", tisane_nemo_to_unsio),
    ("python-unsio", "writes Gadget HDF5; tisane reads", unsio_gadget_to_tisane),
    ("python-unsio", "reads what tisane wrote as gadget", tisane_gadget_to_unsio),
    ("swiftsimio", "writes SWIFT's initial conditions; tisane reads", swift_to_tisane),
    ("pynbody", "writes Tipsy, dark and star; tisane reads", pynbody_tipsy_to_tisane),
    ("pynbody", "reads what tisane wrote as tipsy", tisane_tipsy_to_pynbody),
    ("pynbody", "reads what tisane wrote as gadget, in its units", tisane_gadget_to_pynbody),
    ("yt", "reads what tisane wrote as gadget, in its units", tisane_gadget_to_yt),
    ("pytipsy", "writes Tipsy; tisane reads", pytipsy_to_tisane),
    ("pytipsy", "reads what tisane wrote as tipsy", tisane_tipsy_to_pytipsy),
    ("rebound", "archive by the recipe of the guide; tisane reads", rebound_to_tisane),
]


def main():
    lines, failed = ["| program | version | what was checked | verdict |", "|---|---|---|---|"], 0
    for package, what, check in CHECKS:
        version = amuse_version() if package == "amuse-framework" else importlib.metadata.version(package)
        try:
            verdict = check()
        except Exception:
            failed += 1
            verdict = "FAILED"
            traceback.print_exc()
        lines.append(f"| {package} | {version} | {what} | {verdict} |")
    table = "\n".join(lines)
    print(table)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            print(table, file=file)
    sys.exit(failed > 0)


main()
