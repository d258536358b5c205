#!/usr/bin/env python3
"""Writes the inputs of fuzz/seeds that are written by hand or taken from the repository's own examples: fuzz/seeds.py

The seeds named found-… came from runs of the fuzzer, by `scripts/fuzz --keep TARGET`, and are left as they are.
"""

import gzip
import pathlib
import random
import re
import struct

TOP = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 6000


def put(target: str, name: str, content: "bytes | str") -> None:
    folder = TOP / "fuzz/seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    content = content.encode() if isinstance(content, str) else content
    assert len(content) <= LONGEST, (target, name, len(content))
    (folder / name).write_bytes(content)


def tipsy(order: str, padding: bytes) -> bytes:
    record = [1.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0]
    head = struct.pack(order + "d5i", 2.5, 3, 3, 1, 1, 1) + padding
    rows = [record + [9.0, 9.0, 0.1, 9.0, -1.0], record + [0.1, -1.0], record + [9.0, 9.0, 0.1, -1.0]]
    return head + b"".join(struct.pack(f"{order}{len(row)}f", *row) for row in rows)


def gadget(order: str, named: bool) -> bytes:
    def block(name: bytes, content: bytes) -> bytes:
        size = struct.pack(order + "I", len(content))
        before = struct.pack(order + "I4sII", 8, name, len(content) + 8, 8) if named else b""
        return before + size + content + size

    head = struct.pack(order + "6I8d2I6I2I4d", 0, 1, 0, 0, 1, 0, *[0, 0.25, 0, 0, 0, 0, 1.5, 0], 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1)
    content = block(b"HEAD", head.ljust(256, b"\0"))
    content += block(b"POS ", struct.pack(order + "6f", *range(6))) + block(b"VEL ", struct.pack(order + "6f", *range(6)))
    return content + block(b"ID  ", struct.pack(order + "2I", 7, 3)) + block(b"MASS", struct.pack(order + "f", 2))


def nemo(order: str, kind: str, phase: bool) -> bytes:
    def item(kind: str, name: str, shape: "list[int]", values: "list[float]") -> bytes:
        magic = ((11 if shape else 9) << 8) + 0o222
        text = struct.pack(order + "H", magic) + kind.encode() + b"\0"
        text += name.encode() + b"\0" if kind != ")" else b""
        text += struct.pack(f"{order}{len(shape) + 1}i", *shape, 0) if shape else b""
        return text + struct.pack(f"{order}{len(values)}{kind}", *values) if values else text

    x, v = [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]
    content = item("(", "SnapShot", [], []) + item("(", "Parameters", [], [])
    content += item("i", "Nobj", [], [2]) + item("d", "Time", [], [1.5]) + item(")", "", [], [])
    content += item("(", "Particles", [], []) + item(kind, "Mass", [2], [1.0, 0.5])
    if phase:
        content += item(kind, "PhaseSpace", [2, 2, 3], x + v + v + x)
    else:
        content += item(kind, "Position", [2, 3], x + v) + item(kind, "Velocity", [2, 3], v + x)
    content += item("i", "Key", [2], [7, 3])
    return content + item(")", "", [], []) + item(")", "", [], [])


def particles() -> None:
    put("particles", "csv", "# by hand\nm,x,y,z,vx,vy,vz,id\n1,0.5,0,0,0,1,0,7\n\n0,-0.5,1e-3,0,0,-1,0,3\n")
    put("particles", "csv-order", "vx,vy,vz,m,x,y,z\n0,1,0,1,0.5,0,0\n")
    put("particles", "nbody6", "1.0\t0.5 0 0 0 1 0\n  0.0  -0.5 1.0D-03 0 0 -1 0\n")
    put("particles", "petar", "1.0 0.5 0 0 0 1 0\n")
    head = "#Mass_[Msun]\tx_[pc]\ty_[pc]\tz_[pc]\tvx_[km/s]\tvy_[km/s]\tvz_[km/s]\tMass(t=0)_[Msun]\tkw\n"
    put("particles", "mcluster", head + "0.5\t0.1\t0.2\t-0.1\t1\t2\t3\t0.5\t0\n")
    for name, order in [("little", "<"), ("big", ">")]:
        put("particles", f"tipsy-{name}", tipsy(order, b""))
        put("particles", f"nemo-{name}", nemo(order, "d", name == "big"))
        put("particles", f"gadget-{name}", gadget(order, name == "big"))
    put("particles", "tipsy-padded", tipsy(">", bytes(4)))
    put("particles", "nemo-single", nemo("<", "f", True))
    put("particles", "gzip", gzip.compress(b"m,x,y,z,vx,vy,vz\n1,0.5,0,0,0,1,0\n", mtime=0))
    star = "1.0 0.5 0 0 0 1 0 0 0.25 7" + " 0" * 10 + "\n"
    put("particles", "petar-snapshot", "0 1 1.5\n" + star)
    put("particles", "semicolons", "m;x;y;z;vx;vy;vz\n1;2;3;4;5;6;7\n")
    huge = struct.pack("<d5i", 0.0, 2**31 - 1, 3, 0, 2**31 - 1, 0)
    put("particles", "tipsy-claims", huge)


def settings() -> None:
    read = lambda path: (TOP / path).read_text()
    for name in ["quickstart", "plummer-leapfrog", "cluster-mcluster"]:
        put("config", name, read(f"configs/{name}.toml"))
    small = '[run]\nname = "a"\nt_end = 1\n[initial.plummer]\nn = 64\n[softening]\nepsilon = 0.01\n'
    small += '[integrator.hermite4]\nnu = 0.01\n'
    put("config", "overrides", small + '\0initial.plummer.n=128\0run.t_end="2^3"\0output.directory=out')
    physical = small + '[units]\nmass = "Msun"\nlength = "pc"\nvelocity = "km/s"\ntime = "Myr"\n'
    put("config", "units", physical + "\0integrator.hermite4.dt_max=0.125\0integrator.hermite4.dt_min=1e-9")
    good = sorted((TOP / "tests/config/good").glob("*.toml"))
    for path in good[:: max(1, len(good) // 8)]:
        if path.stat().st_size < LONGEST:
            put("config", path.stem, path.read_bytes())
    for name in ["force", "energy", "cost", "convergence"]:
        put("settings", name, read(f"configs/studies/{name}.toml"))
    put("settings", "overrides", "[force]\n\0force.n=[64]\0force.modes=[\"mixed\"]")
    put("settings", "case", read("validation/figure-eight/case.toml"))
    fit = 'engine = "cpu"\nmode = "f64"\nthreads = 1\nhost = "a"\nprocessor = "b"\ngit_commit = "c"\ncreated = "d"\n'
    fit += "n_least = 2\nn_most = 64\nscatter = 0.1\nstep_factor = 1.0\nprediction_scatter = 0.2\n"
    parts = ["host_step", "host_source", "host_target", "force_step", "force_source", "force_target", "force_pair"]
    put("settings", "model", "[[fit]]\n" + fit + "".join(f"{part} = 1e-6\n" for part in parts))
    for k, text in enumerate(["1/256", "2^-26", "-0.5", "1e-320", "3^2/2^10", "1h30m", "90s 5ms", "0.1"]):
        put("numbers", str(k), text)


def laws() -> None:
    by_hand = [
        "-G*m_i*m_j/s",
        "-m_i*m_j*exp(-s/a)/s",
        "q_i*q_j/s + m_i*m_j*log(s)^2",
        "if(s < 2, s^3, 3*s - 2)*min(s, a)*max(b, -s)",
        "G*m_j/s^2*sin(s)*cos(2*s)",
        "sqrt(1 + s**2)^-1.5e0*abs(s-a)",
        "(1+s)^s",
        "1/0",
        "exp(",
        "if(s > 1, 1/s, 1)",
    ]
    files = sorted((TOP / "crates/force/src/law/ready").glob("*.rs"))
    formulas = (re.search(r'formula: "(.*?)",\n', path.read_text(), re.S) for path in files)
    ready = [re.sub(r"\\\n\s*", "", found[1]) for found in formulas if found]
    for k, text in enumerate(by_hand + ready):
        put("laws", str(k), text)


def tables() -> None:
    fixture = TOP / "tests/fixtures/format-1"
    put("tables", "diagnostics", (fixture / "diagnostics.csv").read_bytes()[:LONGEST])
    put("tables", "study", "# title: of it\n# host: here\nn [1],mode,error [km/s]\n1024,f64,1e-9\n2048,mixed,\n")
    put("tables", "elements", "a,e,i,node,pericentre,t_pericentre,m\n0.1,0.5,10,20,30,1995.5,1\n")
    put("tables", "anomalies", "a,e,i,node,pericentre,mean_anomaly\n0.1,0.5,10,20,30,90\n")
    put("tables", "path", "# of a field\nt,x,y,z,vx,vy,vz\n0,1,0,0,0,1,0\n0.5,1,0.5,0,0,1,0\n1,1,1,0,0,1,0\n")
    put("tables", "wide", "x,y,z\n0,1e-300,1e300\n1,-1e300,inf\n2,0,nan\n")
    put("tables", "events", "time,kind,ids,distance\n0.5,escape,7,1.0\n")
    put("results", "summary", (fixture / "summary.json").read_bytes()[:LONGEST])
    made = '"version":"1","git_commit":"","state_sha256":"00","state_block_steps":3'
    put("results", "provenance", '{"state_sha256":"00","provenance":{' + made + "}}")
    key = '{"n":64,"seed":1,"epsilon":0.01,"engine":"cpu","mode":"f64","bag":64,"targets":64}'
    errors = '{"acc":[1e-16,1e-17,1e-16],"jerk":[1e-16,1e-17,1e-16],"pot":[1e-16,1e-17,1e-16]}'
    put("results", "force", '{"key":' + key + ',"result":{"done":' + errors + '}}\n{"key":' + key)
    key = '{"n":64,"seed":1,"engine":"cpu","mode":"f64","nu":0.01,"epsilon":0.01,"dt_max":0.125,"dt_min":1e-9,'
    key += '"span":[0.25,0.5],"threads":1,"repetition":null}'
    put("results", "trial", '{"key":' + key + ',"result":{"failed":"it stands still"}}\n')
    key = key.replace('"nu":0.01', '"integrator":"multipoint6","accuracy":0.35')
    put("results", "trial-multipoint", '{"key":' + key + ',"result":{"failed":"it stands still"}}\n')
    shapes = (TOP / "crates/force/src/force/cuda/shapes/shapes.csv").read_text().splitlines()
    head = next(k for k, line in enumerate(shapes) if not line.startswith("#"))
    put("results", "shapes", "\n".join(shapes[head : head + 1] + shapes[head + 1 :: 60]) + "\n")


def requests() -> None:
    head = "Host: localhost:8765\r\nCookie: tisane=00\r\n\r\n"
    for name, target in [
        ("page", "/"),
        ("state", "/api/state?from=0"),
        ("snapshot", "/api/snapshot/0?most=2"),
        ("series", "/api/series/diagnostics?from=0&columns=time,e*"),
        ("script", "/main.js"),
        ("up", "/../secret"),
        ("escaped", "/%2e%2e/secret"),
        ("token", "/00000000/?token=00000000000000000000000000000000"),
    ]:
        put("requests", name, f"GET {target} HTTP/1.1\r\n{head}")
    put("requests", "post", f"POST /api/state HTTP/1.0\r\n{head}")
    put("requests", "folded", "GET / HTTP/1.1\r\nHost: a\r\n b\r\nHost: b\r\n\r\n")


def amuse() -> None:
    def message(order: str, ids: "list[int]", ints=(), doubles=(), bools=b"", texts=()) -> bytes:
        counts = [len(ints), 0, 0, len(doubles), len(bools), len(texts), 0]
        head = struct.pack(order + "4b10i", order == ">", 0, 0, 0, *ids, *counts)
        body = struct.pack(f"{order}{len(ints)}i{len(doubles)}d", *ints, *doubles) + bools
        body += struct.pack(f"{order}{len(texts)}i", *map(len, texts))
        return head + body + b"".join(text + b"\0" for text in texts)

    for name, order in [("little", "<"), ("big", ">")]:
        put("amuse", name, message(order, [3, 967950880, 2], [1, 2]) + message(order, [4, 0, 1]))
    put("amuse", "all", message("<", [1, 5, 1], [1, -1], [0.5, 1e300], b"\1\0", [b"cpu", b"", "\u03bd".encode()]))
    put("amuse", "claims", struct.pack("<4b10i", 0, 0, 0, 0, 1, 2, 3, *[2**31 - 1] * 7))
    put("amuse", "negative", struct.pack("<4b10i", 0, 0, 0, 0, 1, 2, 3, -1, 0, 0, 0, 0, 0, 0))
    put("amuse", "not-utf-8", message("<", [1, 5, 1], texts=[b"\xff\xfe"]))


def files() -> None:
    # Choices, not a format: fuzz/src/hdf5_files.rs says what the bytes choose. The first picks the file.
    for k in range(10):
        put("hdf5", f"whole-{k}", bytes([k]))
        put("hdf5", f"changed-{k}", bytes([k, 5, 0, 3, 2, 1, 7, 0, 0, 7, 0, 1, 3, 4, 0, 0, 255, 17, 9, 1]))
        put("hdf5_damaged", f"file-{k}", bytes([k, 3, 40 + k, 0, 7, 255, 255, 0, 0, 1, 2, 3, 4]))
    # Likewise fuzz/src/convert.rs.
    for k in range(12):
        put("convert", f"random-{k}", random.Random(k).randbytes(240))
    # And fuzz/src/library.rs: calls with small numbers, which mostly make a system that can be integrated.
    for k in range(8):
        put("library", f"calls-{k}", random.Random(k).randbytes(700))


particles()
settings()
laws()
tables()
requests()
files()
amuse()
