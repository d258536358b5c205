"""Promise: runs on any number of ranks of MPI end in the state of one process, in every mode and by every integrator, also when they
are stopped on some ranks and resumed on others; and a rank that is lost, stopped, asked to end or another program ends all of
them in order, with one message and a whole checkpoint.

The argument is a folder with the program, built with MPI.
"""

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
PROGRAM = FOLDER / "tisane"
MPIRUN = shlex.split(os.environ.get("MPIRUN", "mpirun --oversubscribe"))
SCHEMA = json.loads(subprocess.run([PROGRAM, "generate", "schema"], capture_output=True, check=True).stdout)
MODES = [mode["const"] for mode in SCHEMA["$defs"]["Precision"]["oneOf"]]
SMALL = """
[run]
name = "small"
t_end = 0.125
[initial.plummer]
n = 300
[softening]
epsilon = "1/64"
[output]
interval = 0.125
[cluster]
enabled = false
"""
INTEGRATORS = {
    "hermite4": "[integrator.hermite4]\ndt_max = \"1/16\"\n",
    "hermite4, twice": "[integrator.hermite4]\ndt_max = \"1/16\"\niterations = 2\n",
    "multipoint": "[integrator.multipoint]\ndt_max = \"1/16\"\n",
    "ahmad_cohen": "[integrator.ahmad_cohen]\ndt_max = \"1/16\"\n",
    "leapfrog": "[integrator.leapfrog]\ndt = \"1/256\"\n",
}
# Long enough that something happens on the way.
LONG = SMALL.replace("0.125", "64", 1).replace("300", "1000") + "[checkpoint]\ninterval = \"1s\"\n"
WITH_STEPS = '[integrator.hermite4]\ndt_max = "1/8"\n'

# Open MPI refuses root, as in a container, otherwise.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

failures = 0


def on(ranks, *words, **more):
    """Returns the process of the program on some ranks; 0 stands for one process without MPI."""
    launcher = [*MPIRUN, "-n", str(ranks)] if ranks else []
    words = [str(word) for word in (*launcher, PROGRAM, *words)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=FOLDER, **more)


def run(ranks, *words):
    """Runs the program to its end; returns exit code and output."""
    process = on(ranks, *words)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def check(what, good, detail=""):
    global failures
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'}  {what}", flush=True)
    if not good:
        print(detail, flush=True)


def state(output):
    found = re.findall(r"state\s+sha256 ([0-9a-f]{64})", output)
    return found[-1] if found else None


def write(name, text):
    path = FOLDER / f"{name}.toml"
    path.write_text(text)
    return path


def bits():
    for turn, (name, section) in enumerate(INTEGRATORS.items()):
        config = write("small", SMALL + section)
        for number, mode in enumerate(MODES):
            common = [config, "--overwrite", "--precision", mode]
            _, expected = run(0, "run", *common, "--output", "one")
            different = []
            # Ranks share targets alike in every mode: all numbers of them in f64, two by turns in the others.
            several = (1, 2, 3, 4) if mode == "f64" else ((1, 3), (2, 4))[(turn + number) % 2]
            for ranks in several:
                code, output = run(ranks, "run", *common, "--threads", "1", "--output", "many")
                if code != 0 or state(output) is None or state(output) != state(expected):
                    different.append(f"{ranks} ranks, exit code {code}:\n{output}")
            check(f"{name}, {mode}: one state on {several} ranks", not different, "".join(different) + expected)
    config = write("small", SMALL + INTEGRATORS["hermite4"])
    for mode in ("mixed", "f64"):
        common = ["--threads", "1"]
        _, expected = run(0, "run", config, "--overwrite", "--precision", mode, "--output", "one")
        begun = ["run", config, "--overwrite", "--precision", mode, "--output", "parts", *common]
        codes = [run(3, *begun, "--set", "limits.block_steps=20")[0]]
        codes.append(run(2, "resume", "parts", *common, "--set", "limits.block_steps=50")[0])
        codes.append(run(4, "resume", "parts", *common, "--set", "limits.block_steps=90")[0])
        code, output = run(0, "resume", "parts", "--set", "limits.block_steps=1000000")
        good = codes == [3, 3, 3] and code == 0 and state(output) == state(expected)
        check(f"{mode}: begun on 3, resumed on 2, 4 and no ranks, one state", good, f"{codes} {code}\n{output}{expected}")


ENSEMBLE = """
[run]
name = "many"
t_end = 2
[initial.plummer]
n = 48
[softening]
epsilon = "1/64"
[integrator.hermite4]
dt_max = "1/16"
[output]
interval = 0.5
[checkpoint]
interval = "1s"
[ensemble]
series = true
snapshots = "end"
realisations = 60
[ensemble.vary]
"softening.epsilon" = [0.01, 0.02, 1e9]
"""


def tables(folder):
    """Returns the tables of an ensemble without its wall times, and the hashes of its snapshots' states."""
    found = {}
    for name in ("members", "series"):
        with (FOLDER / folder / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        found[name] = [{key: value for key, value in row.items() if not key.startswith("wall")} for row in rows]
    snapshots = FOLDER / folder / "snapshots"
    found["snapshots"] = sorted(path.name for path in snapshots.iterdir())
    return found


# A cluster on an orbit in its galaxy: gas that is expelled moves with it, and a satellite accelerates the galaxy.
MOVING = SMALL + """
[[external.plummer]]
mass = 3.0
scale_radius = 0.8
motion = { orbit = "cluster" }
variation = { form = "expulsion", start = 0.03, time = 0.05 }
[[external.plummer]]
mass = 2e3
scale_radius = 5.0
position = [90.0, 0.0, 0.0]
motion = { velocity = [0.0, 9.0, 2.0], moves = true, reflex = true, time = 0.02 }
[external.point-mass]
mass = 1e4
[orbit]
position = [60.0, 0.0, 5.0]
velocity = [2.0, 12.0, 0.0]
"""
# Heavy stars with binaries, some of which end in supernovae.
AGEING = """
[run]
name = "ageing"
t_end = 1.0
[units]
mass = "Msun"
length = "pc"
time = "Myr"
[initial.king]
n = 60
w0 = 5.0
seed = 2
half_mass_radius = 1.0
[initial.masses]
function = "salpeter"
m_min = 15.0
m_max = 80.0
[initial.binaries]
fraction = 0.3
semi_major_axis = "kroupa"
[stellar_evolution]
start_age = 4.0
[output]
interval = 0.5
[cluster]
enabled = false
"""
# Small clusters in that galaxy that lose stars.
LOSING = MOVING.replace('[softening]\nepsilon = "1/64"\n', "").replace("n = 300", "n = 48").replace("t_end = 0.125", "t_end = 4") + """
[escapers]
action = "remove"
[checkpoint]
interval = "1s"
[ensemble]
series = true
snapshots = "end"
realisations = 8
[ensemble.vary]
"orbit.position" = [[60.0, 0.0, 5.0], [40.0, 0.0, 5.0]]
"""


def one_state(what, config, mode):
    """Runs on any number of ranks, and one that goes on on others, end in one state."""
    common = [config, "--overwrite", "--precision", mode]
    _, expected = run(0, "run", *common, "--output", "one")
    different = []
    for ranks in (1, 2, 3):
        code, output = run(ranks, "run", *common, "--threads", "1", "--output", "many")
        if code != 0 or state(output) is None or state(output) != state(expected):
            different.append(f"{ranks} ranks, exit code {code}:\n{output}")
    check(f"{what}, {mode}: one state on 1, 2, 3 ranks", not different, "".join(different) + expected)
    begun = ["run", *common, "--output", "parts", "--threads", "1", "--set", "limits.block_steps=20"]
    codes = [run(3, *begun)[0]]
    code, output = run(2, "resume", "parts", "--threads", "1", "--set", "limits.block_steps=1000000")
    good = codes == [3] and code == 0 and state(output) == state(expected)
    check(f"{what}, {mode}: begun on 3, resumed on 2 ranks, one state", good, f"{codes} {code}\n{output}")


def stars_that_age():
    """Rank 0 ages the stars, and the others get their masses: with subsystems, remnants and kicks."""
    for turn, (name, section) in enumerate(INTEGRATORS.items()):
        if name == "leapfrog":
            continue
        one_state(f"stars that age, {name}", write("ageing", AGEING + section), ("f64", "mixed")[turn % 2])
        rows = (FOLDER / "one" / "stellar.csv").read_text().count("supernova")
        check(f"stars that age, {name}: {rows} supernovae", rows > 0)


def moving_fields():
    """Each rank has the origin and the fields that move."""
    for turn, (name, section) in enumerate(INTEGRATORS.items()):
        one_state(f"fields that move, {name}", write("moving", MOVING + section), ("mixed", "f64")[turn % 2])
    config = write("losing", LOSING)
    run(0, "run", config, "--overwrite", "--output", "one")
    expected = tables("one")
    lost = sum(int(row["escapes"]) for row in expected["members"])
    check(f"an ensemble whose members lose stars: {lost} of them", len(expected["members"]) == 16 and lost > 4)
    for ranks in (2, 3):
        code, output = run(ranks, "run", config, "--overwrite", "--threads", "1", "--output", "many")
        check(f"members that lose stars on {ranks} ranks: the rows of one process", code == 0 and tables("many") == expected, output)


def ensembles():
    """Members dealt over ranks, also of an ensemble that was stopped on some ranks and goes on on others."""
    config = write("many", ENSEMBLE)
    run(0, "run", config, "--overwrite", "--output", "one")
    expected = tables("one")
    check("an ensemble has its members and outputs", len(expected["members"]) == 180 and len(expected["series"]) > 180)
    for ranks in (2, 3, 4):
        code, output = run(ranks, "run", config, "--overwrite", "--threads", "1", "--output", "many")
        check(f"an ensemble on {ranks} ranks: the rows of one process", code == 0 and tables("many") == expected, output)
    longer = ["--set", "run.t_end=100", "--set", "ensemble.realisations=10"]
    run(0, "run", config, "--overwrite", "--output", "one", *longer)
    expected = tables("one")
    for sender, number in ((signal.SIGTERM, 0), (signal.SIGTERM, 1), (signal.SIGKILL, 1)):
        # A file of the ensemble before would end the wait before this one has begun.
        shutil.rmtree(FOLDER / "many")
        process = on(3, "run", config, "--threads", "1", "--output", "many", *longer)
        wait_for(FOLDER / "many" / "in_progress.hdf5")
        os.kill(rank_of(process, number), sender)
        output, _ = process.communicate(timeout=300)
        states = (FOLDER / "many" / "in_progress.hdf5").exists()
        codes = [process.returncode]
        code, text = run(2, "resume", "many", "--threads", "1")
        good = states and codes[0] != 0 and code == 0 and tables("many") == expected
        check(f"an ensemble on 3 ranks, {sender.name} to rank {number}, resumed on 2", good, f"{codes} {code}\n{output}{text}")


def wait_for(path):
    """Waits until a file exists, for a minute at most."""
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.1)


def rank_of(process, number):
    """Returns the process number of a rank that a launcher started."""
    variables = [f"{name}={number}".encode() for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")]
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(PROGRAM):
                if any(variable in (entry / "environ").read_bytes().split(b"\0") for variable in variables):
                    return int(entry.name)
        except OSError:
            pass
    raise SystemExit(f"no rank {number} of {process.args}")


def losses():
    config = write("long", LONG + WITH_STEPS)
    env = {**os.environ, "TISANE_MPI_TIMEOUT": "3"}
    cases = {
        "killed": (1, signal.SIGKILL, None, ()),
        "stopped": (1, signal.SIGSTOP, 4, ("did not", "the last checkpoint is whole")),
        "asked to end": (1, signal.SIGTERM, 3, ("continue with: tisane resume",)),
        "asked to end, the first": (0, signal.SIGTERM, 3, ("continue with: tisane resume",)),
    }
    for name, (rank, number, expected, texts) in cases.items():
        shutil.rmtree(FOLDER / "lost", ignore_errors=True)
        process = on(2, "run", config, "--threads", "1", "--output", "lost", env=env)
        wait_for(FOLDER / "lost" / "checkpoint.hdf5")
        time.sleep(1.5)
        os.kill(rank_of(process, rank), number)
        began = time.monotonic()
        output, _ = process.communicate(timeout=120)
        seconds = time.monotonic() - began
        good = process.returncode not in (0, 1) if expected is None else process.returncode == expected
        good = good and all(text in output for text in texts)
        check(f"a rank {name}: all end, exit code {process.returncode} after {seconds:.1f} s", good, output)
        # From here on the bits of a run that nothing happened to.
        with open(FOLDER / "lost" / "diagnostics.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        end = float(rows[-1]["time"]) + 0.375
        code, resumed = run(3, "resume", "lost", "--t-end", f"{end}", "--threads", "1")
        _, straight = run(0, "run", config, "--overwrite", "--set", f"run.t_end={end}", "--output", "one")
        good = code == 0 and state(resumed) is not None and state(resumed) == state(straight)
        check(f"a rank {name}: resumed to the same state", good, resumed + straight)


def disk():
    config = write("long", LONG + WITH_STEPS)
    limited = f"ulimit -f 600; exec {PROGRAM} run {config} --overwrite --threads 1 --output full"
    words = [*MPIRUN, "-n", "1", "sh", "-c", limited, ":", "-n", "1", str(PROGRAM), "run", str(config)]
    process = subprocess.run(words, capture_output=True, text=True, cwd=FOLDER, timeout=300, check=False)
    output = process.stdout + process.stderr
    check(f"no space for rank 0: exit code {process.returncode}", process.returncode == 5, output)


def versions():
    program = PROGRAM.read_bytes()
    commit = re.search(rb"\(([0-9a-f]{12}(?:-dirty)?|unknown)\)", subprocess.run([PROGRAM, "--version"], capture_output=True, check=True).stdout)
    other = FOLDER / "other"
    other.write_bytes(program.replace(commit[1][:12], b"0123456789ab"[: len(commit[1][:12])]))
    other.chmod(0o755)
    config = write("small", SMALL)
    words = [*MPIRUN, "-n", "1", str(PROGRAM), "run", str(config), "--overwrite", ":", "-n", "1", str(other), "run", str(config)]
    process = subprocess.run(words, capture_output=True, text=True, cwd=FOLDER, timeout=120, check=False)
    output = process.stdout + process.stderr
    good = process.returncode == 2 and "rank 1" in output and "start the same program on all ranks" in output
    check(f"another version on rank 1: exit code {process.returncode}", good, output)
    # A mistake in the configuration ends all ranks with its message, once.
    process = subprocess.run([*MPIRUN, "-n", "2", str(PROGRAM), "run", "missing.toml"], capture_output=True, text=True, cwd=FOLDER, timeout=120, check=False)
    output = process.stdout + process.stderr
    check("a configuration that is not there: exit code 2, told once", process.returncode == 2 and output.count("missing.toml") == 1, output)


def scaling():
    words = ["bench", "scaling", "--n", "256", "--threads", "1", "--repeat", "1", "--json"]
    code, output = run(3, *words)
    found = re.search(r"^\{.*^\}", output, re.DOTALL | re.MULTILINE)
    rows = json.loads(found[0])["rows"] if found else []
    strong = [row for row in rows if row["kind"] == "strong"]
    good = code == 0 and [row["count"] for row in strong] == [1, 3] and strong[1]["same_state"] is True
    check("bench scaling: one state on the first rank and on all three", good, output)


bits()
moving_fields()
stars_that_age()
ensembles()
scaling()
losses()
disk()
versions()
print("all good" if failures == 0 else f"{failures} failed")
sys.exit(failures != 0)
