// Plots of the page, and the rows from which they are drawn.

import { rows } from "./api.js";
import { Chart } from "./charts.js";
import { format, lastAt } from "./maths.js";

/** Requested columns of each series; a run may have only some of them. */
const WANTED = {
  diagnostics: "time,relative_energy_error,relative_energy_error_step,virial_ratio,step_max,steps_level*,pairs_per_second",
  cluster: "time,lagrangian_radius*,density_centre*,core_radius,orbit_position_x,orbit_position_y",
};

/**
 * Maximum number of rows. Of a longer series every second, fourth, … row is fetched, still more than a plot has pixels.
 */
const MOST_ROWS = 32768;

/** Rows of a series, which grows during a run. */
class Series {
  constructor(name) {
    this.name = name;
    this.forget(-1);
  }

  forget(generation) {
    this.generation = generation;
    this.rows = 0;
    this.every = 1;
    this.columns = {};
  }

  /** Fetches new rows. Resolves to true if there were any. */
  async follow([generation, count]) {
    let changed = false;
    if (generation !== this.generation) {
      this.forget(generation);
      changed = true;
    }
    if (count > MOST_ROWS * this.every) this.#thin(count);
    while (this.rows < count) {
      const got = await rows(this.name, this.rows, this.every, WANTED[this.name]);
      if (got.generation !== this.generation || got.next <= this.rows) break;
      for (const [name, values] of Object.entries(got.columns)) {
        const column = (this.columns[name] ??= []);
        for (const value of values) column.push(value ?? NaN);
      }
      this.rows = got.next;
      changed = true;
    }
    return changed;
  }

  /** Drops rows, so that a series of `count` rows stays below the maximum. */
  #thin(count) {
    const before = this.every;
    while (count > MOST_ROWS * this.every) this.every *= 2;
    const kept = (_, k) => k % (this.every / before) === 0;
    for (const [name, values] of Object.entries(this.columns)) this.columns[name] = values.filter(kept);
  }

  get times() {
    return this.columns.time ?? [];
  }
}

/** Radii that are drawn: columns of the cluster series, with their labels. */
const RADII = [
  ["lagrangian_radius_0900", "90 %"],
  ["lagrangian_radius_0500", "50 %"],
  ["lagrangian_radius_0100", "10 %"],
  ["lagrangian_radius_0010", "1 %"],
  ["core_radius", "core"],
];

export class Panels {
  series = { diagnostics: new Series("diagnostics"), cluster: new Series("cluster") };

  constructor(parent, chosen) {
    const chart = (about) => new Chart(parent, about, chosen);
    this.energy = chart({ title: "Energy error |ΔE/E₀|", log: true });
    this.radii = chart({ title: "Lagrangian radii", first: `${RADII[0][1]}: `, log: true });
    this.steps = chart({ title: "Time steps", unit: "particles by step, dt_max / 2ᵏ", log: true, bars: true });
    this.rate = chart({ title: "Rate", unit: "pairs/s", log: true });
    this.virial = chart({ title: "Virial ratio T/|U|", log: false, least: 0.01 });
    this.charts = [this.energy, this.radii, this.steps, this.rate, this.virial];
  }

  /** Fetches new rows of all series. Resolves to true if there were any. */
  async follow(counts) {
    const changed = await Promise.all(Object.values(this.series).map((one) => one.follow(counts[one.name] ?? [0, 0])));
    if (changed.some(Boolean)) this.#fill();
    return changed.some(Boolean);
  }

  #fill() {
    const { diagnostics, cluster } = this.series;
    const over = (series, column, name, colour, first = 0, of = (y) => y) => {
      const y = series.columns[column];
      return y ? [{ name, colour, x: series.times.slice(first), y: y.slice(first).map(of) }] : [];
    };
    const put = (chart, lines) => {
      chart.setLines(lines);
      chart.show(lines.length > 0);
    };
    // Without the first row, whose error is 0 and which has no rate.
    put(this.energy, [
      ...over(diagnostics, "relative_energy_error", "since the start", 1, 1, Math.abs),
      ...over(diagnostics, "relative_energy_error_step", "since the previous row", 2, 1, Math.abs),
    ]);
    put(this.rate, over(diagnostics, "pairs_per_second", "", 1, 1));
    put(this.virial, over(diagnostics, "virial_ratio", "", 1));
    put(this.radii, RADII.flatMap(([column, name], k) => over(cluster, column, name, k + 1)));
    this.levels = Object.keys(diagnostics.columns).filter((name) => /^steps_level_\d+$/.test(name)).sort();
    this.steps.show(this.levels.length > 0 && diagnostics.rows > 0);
  }

  /** Returns the bars of the steps in use at a time. */
  #bars(time) {
    const { columns, times } = this.series.diagnostics;
    const row = Math.max(lastAt(times, time), 0);
    const used = this.levels.map((name) => columns[name][row] ?? 0);
    const first = used.findIndex((n) => n > 0);
    const last = used.findLastIndex((n) => n > 0);
    if (first < 0) return [];
    // The longest step belongs to the first level in use.
    const longest = columns.step_max?.[row] ?? NaN;
    return used.slice(first, last + 1).map((n, k) => ({
      y: n,
      label: `${first + k}`,
      text: `step ${format(longest / 2 ** k)}`,
    }));
  }

  /** Returns the density centre in the coordinates of the run; undefined if the run does not record it. */
  densityCentre(time) {
    const { columns, times } = this.series.cluster;
    const [x, y, z] = ["x", "y", "z"].map((k) => columns[`density_centre_${k}`]);
    if (!x || !y || !z || times.length === 0) return undefined;
    const a = Math.max(lastAt(times, time), 0);
    const b = Math.min(a + 1, times.length - 1);
    const u = b > a ? Math.min(Math.max((time - times[a]) / (times[b] - times[a]), 0), 1) : 0;
    return [x, y, z].map((column) => column[a] + (column[b] - column[a]) * u);
  }

  /** Returns the orbit of the origin in the galaxy; undefined if it does not move. */
  orbit() {
    const { columns, times } = this.series.cluster;
    const { orbit_position_x: x, orbit_position_y: y } = columns;
    return x && y ? { times, x, y } : undefined;
  }

  draw({ times, now, units }) {
    if (this.levels) this.steps.setBars(this.#bars(now));
    this.radii.about.unit = units.length;
    for (const chart of this.charts) chart.draw({ times, now, unit: units.time });
  }
}
