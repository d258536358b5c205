"""Measures what a live view costs a run: the same run by turns without a view, and with one that answers the requests of an open
page: the state every second, and every new row and snapshot. Prints the CPU time and the wall time of each, and the median ratio."""

import http.cookiejar
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

from served import PROGRAM, Served, plummer

PAIRS = 7
N = 4096


def follow(address, over):
    """Sends the requests of the page until the run is over; returns the numbers of states and snapshots read."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    home = address.split("?")[0]
    states = snapshots = rows = 0
    try:
        opener.open(address).read()
        while not over.is_set():
            state = json.load(opener.open(f"{home}api/state?from={snapshots}"))
            states += 1
            for number, _ in state["snapshots"]:
                opener.open(f"{home}api/snapshot/{number}").read()
                snapshots += 1
            if state["rows"]["diagnostics"][1] > rows:
                opener.open(f"{home}api/series/diagnostics?from={rows}&columns=time,relative_energy_error,steps_level*").read()
                rows = state["rows"]["diagnostics"][1]
            over.wait(1.0)
    except OSError:
        # The run has ended, and its view with it.
        pass
    return states, snapshots


def measured(config, output, with_view):
    """CPU and wall time of a run in s, and what was asked of its view."""
    arguments = ["run", config, "--output", output, "--overwrite", "--threads", "1"]
    before, began = os.times(), time.monotonic()
    asked = (0, 0)
    if with_view:
        view = Served(*arguments, "--view")
        over, answers = threading.Event(), []
        thread = threading.Thread(target=lambda: answers.append(follow(view.address, over)))
        thread.start()
        view.process.stdout.read()
        assert view.process.wait() == 0
        wall = time.monotonic() - began
        over.set()
        thread.join()
        asked = answers[0]
    else:
        subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.monotonic() - began
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, wall, asked


with tempfile.TemporaryDirectory() as folder:
    config = pathlib.Path(folder) / "cost.toml"
    config.write_text(plummer("cost", N, 1, "1/16", dt="1/16"))
    cpu, wall = [], []
    for pair in range(PAIRS):
        # Whichever comes first is first in every other pair.
        order = [False, True] if pair % 2 else [True, False]
        took = {with_view: measured(config, f"{folder}/out", with_view) for with_view in order}
        (cpu_0, wall_0, _), (cpu_1, wall_1, (states, snapshots)) = took[False], took[True]
        cpu.append(cpu_1 / cpu_0)
        wall.append(wall_1 / wall_0)
        print(f"without: {cpu_0:.2f} s CPU, {wall_0:.2f} s wall; with: {cpu_1:.2f} s CPU, {wall_1:.2f} s wall,"
              f" {states} states and {snapshots} snapshots asked for", flush=True)
    print(f"N = {N}: CPU time with a view {statistics.median(cpu):.4f} of that without (median of {PAIRS}, "
          f"{min(cpu):.4f} to {max(cpu):.4f}), wall time {statistics.median(wall):.4f} ({min(wall):.4f} to {max(wall):.4f})")
