# Binding energies of the binaries of runs/binaries, for the tutorial "A cluster with binaries": prints a summary, writes binding.png
import re

import matplotlib
import numpy as np
import tisane

matplotlib.use("Agg")
import matplotlib.pyplot as plt

run = tisane.load("runs/binaries")
kt = run.cluster["thermal_energy"]

# Times and binding energies of each pair of stars, by its members: at the snapshots from /Subsystems.
pairs = {}
for snapshot in run.snapshots:
    table = snapshot.subsystems
    for members, number, energy in zip(table["Members"], table["Number"], table["BindingEnergy"]):
        if number == 2 and energy > 0:
            pairs.setdefault(members, []).append((float(snapshot.time), energy))
made = {f"({k}+{k + 1})" for k in range(0, 200, 2)}
start, end = ({pair for pair in pairs if pairs[pair][k][0] == run.snapshots[k].time} for k in (0, -1))

# Between them from encounters.csv; and encounters of a pair with a star, from the join of the three to their split.
names = ["time", "kind", "before", "after", "binding_energy_before", "binding_energy"]
began, met, changes = {}, [], []
for time, kind, before, after, energy_before, energy in zip(*(run.encounters[name] for name in names)):
    stars = frozenset(re.findall(r"\d+", before))
    if kind in ("form", "split") and after.count("(") == after.count("+") == 1 and energy > 0:
        pairs.setdefault(re.search(r"\(.*\)", after)[0], []).append((time, energy))
    if len(stars) == 3 and kind == "join" and energy_before > 0:
        began[stars] = before, energy_before
    elif len(stars) == 3 and kind == "split" and stars in began:
        same, energy_before = began.pop(stars)
        met.append((energy_before / kt[0], (energy - energy_before) / kt[0], after != same))
        changes.append((abs(energy - energy_before), time, f"{same} -> {after}: {energy_before / kt[0]:.1f} to {energy / kt[0]:.1f} kT"))
bound, gain, exchange = np.array(met).T

print(f"{len(start)} pairs at the start; {len(end)} at the end, {len(end & made)} of them from the file")
for when, found, k in [("start", start, 0), ("end", end, -1)]:
    hardest = max(found, key=lambda pair: sorted(pairs[pair])[k][1])
    print(f"hardest at the {when}: {hardest}, {sorted(pairs[hardest])[k][1] / kt[0]:.0f} kT")
for what, of in [("hard", bound > 1), ("soft", bound <= 1)]:
    print(f"{of.sum()} encounters of {what} pairs with a star, {exchange[of].sum():.0f} exchanges: {gain[of].sum():+.1f} kT")
print("the largest changes:")
for _, time, change in sorted(sorted(changes)[-7:], key=lambda one: one[1]):
    print(f"{time:6.2f} Myr: {change}")
print("energy outside and binding energy inside of subsystems:")
for k in (0, 28, -1):
    row = [float(run.diagnostics[name][k]) for name in ("time", "outer_energy", "binding_energy")]
    print("t = {:.0f} Myr: {:.1f} and {:.1f} Msun (km/s)^2".format(*row))

blue, orange, light = "#0072B2", "#D55E00", "#56B4E9"
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), width_ratios=[1.4, 1], layout="constrained")
for pair in sorted(pairs, key=lambda pair: pair not in made):
    new = {"color": orange, "linewidth": 1, "marker": ".", "markersize": 3}
    left.plot(*zip(*sorted(pairs[pair])), **({"color": light, "linewidth": 0.7} if pair in made else new))
left.plot(run.cluster["time"], kt, "k--", linewidth=1.2)
for style, colour, label in [("-", light, "binaries of the file"), (".-", orange, "others"), ("--", "k", "1 kT")]:
    left.plot([], [], style, color=colour, label=label)
left.set(xlabel=f"time [{run.cluster['time'].unit}]", ylabel=f"binding energy [{kt.unit}]", xlim=(0, run.snapshots[-1].time))
left.set(yscale="log", ylim=(kt[0] / 30, None))
left.legend(loc="lower right", fontsize=8)
for sign, marker, colour, label in [(1, "^", blue, "harder"), (-1, "v", orange, "softer")]:
    of = sign * gain > 0
    right.scatter(bound[of], abs(gain[of]), s=22, marker=marker, color=colour, alpha=0.7, linewidths=0, label=label)
of = exchange > 0
right.scatter(bound[of], abs(gain[of]), s=80, facecolors="none", edgecolors="k", label="exchange")
right.axline((1, 1), slope=1, color="grey", linewidth=0.8, linestyle=":", label="change by itself")
right.set(xscale="log", xlabel="binding energy before the encounter [kT]")
right.set(yscale="log", ylabel="change of the binding energy [kT]")
right.legend(loc="lower left", fontsize=8)
for axes in (left, right):
    axes.grid(alpha=0.3, linewidth=0.5)
figure.savefig("binding.png", dpi=110)
