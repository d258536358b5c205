#!/usr/bin/env python3
"""The figures of docs/reports/src/papers.md that stand on kept measurements: validation/performance beside the papers' numbers.

    python3 docs/figures/papers.py PROGRAM

PROGRAM is tisane, which draws them, into docs/reports/src/images. Nothing is measured: the tables that commands printed are read from
validation/performance and validation/results, what the papers report from there and from crates/lab/src/literature/tables.rs.
"""

import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "validation" / "performance"


def tables(name):
    """The tables of a file of raw output: command, headline, rows of cells."""
    command, found = "", []
    for line in (KEPT / name).read_text().splitlines():
        if line.startswith("=="):
            command = line
        elif re.match(r"(run|kernels): ", line):
            found.append((command, line, []))
        elif found and re.match(r" *(ours|simple|tiles|tiles-2d|\d+) ", line):
            found[-1][2].append(line.split())
        elif found and found[-1][2]:
            found.append((command, "", []))
    return [table for table in found if table[2]]


def mode(headline):
    return headline.split(", ")[-4].strip() if "device" in headline else headline.split(", ")[1]


def of_papers(kind):
    """The numbers of the lines `kind(...)` of crates/lab/src/literature/tables.rs."""
    text = (ROOT / "crates/lab/src/literature/tables.rs").read_text()
    found = re.findall(rf"^    {kind}\(([0-9_., e-]+)\),$", text, re.MULTILINE)
    return [[float(cell.replace("_", "")) for cell in row.split(",")] for row in found]


def wall_time():
    """Portegies Zwart et al. (2007), table 2 and figure 1."""
    for n, *seconds in of_papers("row"):
        for machine, value in zip(("GRAPE-6Af", "8800GTX", "FX1400", "Xeon 3.4 GHz"), seconds):
            yield f"paper: {machine}", n, value
    for n, value in of_papers("only_gtx"):
        yield "paper: 8800GTX", n, value
    for file in ("cuda/run.txt", "cuda/large.txt"):
        for _, headline, rows in tables(file):
            for row in rows:
                if "cuda" in headline and mode(headline) in ("f64", "mixed") and float(row[1]) == 0.01:
                    yield f"{mode(headline)}, H200", int(row[0]), float(row[2])


def force_error():
    """Hamada & Iitaka (2007), table 2."""
    for n, direct, chamomile in of_papers("error"):
        yield "paper: DIRECT", n, direct
        yield "paper: Chamomile", n, chamomile
    lines = [line for line in (KEPT / "cuda/errors.csv").read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        if row["mode"] in ("f32-direct", "f32-chamomile", "mixed"):
            yield f"{row['mode']}, H200", int(row["n [1]"]), float(row["acc_max [1]"])


def kernels():
    """Rows of `tisane bench kernels`: kernel, its parameters, N, ms, ms of the call, Gpair/s."""
    for _, headline, rows in tables("cuda/kernels.txt"):
        for kernel, *middle, n, ms, call, rate, _, _ in rows:
            yield kernel, " ".join(middle), int(n), float(ms), float(call), float(rate)


def force_time():
    """Hamada & Iitaka (2007), table 3."""
    for n, seconds, _ in of_papers("speed"):
        yield "paper: 8800GTX", n, 1e3 * seconds
    for kernel, parameters, n, _, call, _ in kernels():
        if kernel == "ours" and parameters.startswith("f32-chamomile"):
            yield "f32-chamomile, H200", n, call


def tiles():
    """GPU Gems 3, figures 31-5, 31-6 and 31-8."""
    for kernel, parameters, n, _, _, rate in kernels():
        if kernel == "tiles":
            yield parameters.split(", ", 1)[1], n, rate
    yield "paper: 16384 bodies, first version", 16384, 163 / 20
    for n in (8192, 65536):
        yield "paper: beyond 8192 bodies", n, 10


def tiling():
    """The 2-D tiling report, table 2."""
    with (KEPT.parent / "results/h200.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found = re.fullmatch(r"table 2: (.*), N = (\d+) \[ms\], at most the report's", row["quantity"])
            if found:
                stage = found[1].removesuffix(", last stage")
                yield f"report: {stage}", int(found[2]), float(row["reference"])
                yield f"{stage}, H200", int(found[2]), float(row["measured"])


FIGURES = [
    ("wall-time", wall_time, "N", "seconds [s]"),
    ("force-error", force_error, "N", "largest error"),
    ("force-time", force_time, "N", "time [ms]"),
    ("tiles", tiles, "N", "rate [Gpair/s]"),
    ("tiling", tiling, "N", "time [ms]"),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=pathlib.Path)
    program = arguments.parse_args().program.resolve()
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, x, y in FIGURES:
            table = pathlib.Path(folder) / f"{name}.csv"
            with table.open("w", newline="") as file:
                file.write(f"# {rows.__doc__.rstrip('.')}\n")
                writer = csv.writer(file)
                writer.writerow([x, y, "what"])
                writer.writerows((value, number, what) for what, value, number in sorted(rows(), key=lambda row: row[1]))
            options = ["--x", x, "--y", y.split(" [")[0], "--by", "what", "--log-x", "--log-y", "--theme", "light"]
            made = subprocess.run(
                [program, "plot", table, *options, "--output", folder], check=True, capture_output=True, text=True
            )
            drawn = next(path for path in map(pathlib.Path, made.stdout.split()) if path.suffix == ".svg")
            shutil.copy(drawn, ROOT / "docs/reports/src/images" / f"papers-{name}.svg")


if __name__ == "__main__":
    main()
