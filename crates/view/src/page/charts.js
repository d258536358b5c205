// Plots of the page, by uPlot: lines over time, and bars.

import { css, theme } from "./colour.js";
import { clamp, format, lastAt } from "./maths.js";

const FONT = "11px system-ui, sans-serif";
/** Minimum distance of labels on an axis, in pixels. */
const APART = { x: 62, y: 20 };
/** Space on the right, for half of the last label. */
const PADDING = [6, 14, 0, 0];
/** Lines with fewer points than this show their points. */
const FEW = 40;
/** Minimum number of places for bars. */
const PLACES = 6;

/** Formats a number for an axis, in short form. `step` is the distance to its neighbour. */
function label(value, step) {
  // Enough digits to tell neighbours apart, also far from zero.
  const digits = step ? Math.max(3, Math.ceil(Math.log10(Math.max(Math.abs(value) / step, 1))) + 2) : 3;
  return format(value, digits).replace(/^1 × /, "").replace(" × ", "·");
}

/** Returns the range of an axis for values from low to high, with a margin; a logarithmic one has room for two labels. */
function range(low, high, log, least) {
  if (low === null || !Number.isFinite(low)) return log ? [1, 10] : [0, 1];
  if (log) {
    const margin = Math.max(1.6, Math.sqrt((5 * low) / high));
    // uPlot counts its ticks from the low end.
    const power = 10 ** Math.floor(Math.log10(low / margin));
    return [Math.floor(low / margin / power) * power, high * margin];
  }
  const room = Math.max(0.08 * (high - low), least, 1e-9 * Math.abs(high));
  return [low - room, high + room];
}

export class Chart {
  #plot;
  #hover;
  #drawn = {};

  /**
   * @param {HTMLElement} parent element that contains the plot
   * @param about `title`; `first`, text before the value of the first line; `unit` of the vertical axis; `log`, true if it is logarithmic;
   *   `least`, minimum margin of a linear axis; `bars`, true for bars
   * @param {(time: number) => void} chosen called with a time that was clicked
   */
  constructor(parent, about, chosen) {
    this.about = about;
    this.chosen = chosen;
    this.data = [[]];
    this.figure = document.createElement("figure");
    this.figure.className = "chart";
    const caption = document.createElement("figcaption");
    this.value = document.createElement("span");
    caption.append(about.title, this.value);
    this.place = document.createElement("div");
    this.keys = document.createElement("ul");
    this.keys.hidden = true;
    this.figure.append(caption, this.place, this.keys);
    parent.append(this.figure);
    this.now = document.createElement("div");
    this.now.className = "now";
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(this.place);
  }

  /** Shows or hides the plot. */
  show(there) {
    this.figure.hidden = !there;
  }

  /** Sets lines `{name, x, y, colour}` over the same times. Lines with a name appear in the key. */
  setLines(lines) {
    const shown = (y) => (Number.isFinite(y) && !(this.about.log && y <= 0) ? y : null);
    this.data = [lines[0]?.x ?? [], ...lines.map((line) => line.y.map(shown))];
    const key = lines.map((line) => `${line.colour} ${line.name}`).join();
    if (key === this.key) return;
    this.key = key;
    this.#create(lines.map(({ colour }) => {
      const stroke = () => css(`--series-${colour}`);
      return { stroke, width: 1.5, points: { show: (plot) => plot.data[0].length < FEW, size: 4, width: 0, fill: stroke } };
    }));
    const named = lines.filter((line) => line.name);
    this.keys.replaceChildren(...named.map(({ name, colour }) => {
      const item = document.createElement("li");
      item.textContent = name;
      item.style.setProperty("--key", `var(--series-${colour})`);
      return item;
    }));
    this.keys.hidden = named.length === 0;
  }

  /** Sets bars `{y, label, text}`. */
  setBars(bars) {
    const text = bars.map((bar) => `${bar.label} ${bar.y}`).join();
    if (this.#plot && text === this.key) return;
    this.key = text;
    this.bars = bars;
    this.data = [bars.map((_, k) => k), bars.map((bar) => bar.y || null)];
    const colour = () => css("--series-1");
    if (!this.#plot) this.#create([{ fill: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9], gap: 2 }) }]);
  }

  #size() {
    return { width: Math.max(this.place.clientWidth, 1), height: Math.max(this.place.clientHeight, 1) };
  }

  /** Creates the plot of series of uPlot. */
  #create(series) {
    this.#plot?.destroy();
    const { log, least = 0, bars } = this.about;
    const ink = { stroke: () => css("--muted"), font: FONT };
    const lines = (name) => ({ stroke: () => css(name), width: 1 });
    const x = {
      ...ink, scale: "x", space: bars ? 30 : APART.x, size: 18, gap: 2, grid: { show: false }, border: { show: true, ...lines("--frame") },
      ticks: { show: !bars, ...lines("--frame"), size: 3 },
      values: (_, splits) => splits.map((at) => (bars ? this.bars[at]?.label ?? "" : label(at, splits[1] - splits[0]))),
      ...(bars ? { incrs: [1, 2, 5, 10] } : { label: () => `time [${this.state?.unit ?? ""}]`, labelSize: 12, labelGap: 0, labelFont: FONT }),
    };
    const y = {
      ...ink, scale: "y", space: APART.y, size: 46, gap: 6, border: { show: true, ...lines("--frame") }, ticks: { show: false },
      // Lines at the labels only.
      grid: { ...lines("--grid"), filter: (plot, ...ticks) => plot.axes[1].filter(plot, ...ticks) },
      values: (_, splits) => splits.map((at) => (at === null ? "" : label(at, log ? 0 : splits[1] - splits[0]))),
    };
    const limits = () => (bars ? [-0.5, Math.max(this.data[0].length, PLACES) - 0.5] : this.state?.times ?? [0, 1]);
    this.#plot = new uPlot({
      ...this.#size(), padding: PADDING, legend: { show: false }, axes: [x, y], series: [{}, ...series],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: limits },
        y: { distr: log ? 3 : 1, range: (_, low, high) => (bars ? [0.5, range(low ?? 1, high ?? 1, true)[1]] : range(low, high, log, least)) },
      },
      hooks: { setCursor: [(plot) => this.#point(plot.cursor.left)] },
    }, this.data, this.place);
    this.#drawn = {};
    const { over, ctx } = this.#plot;
    ctx.canvas.setAttribute("role", "img");
    if (bars) return;
    over.append(this.now);
    over.addEventListener("click", (event) => this.chosen(clamp(this.#plot.posToVal(event.offsetX, "x"), ...this.state.times)));
  }

  #point(left) {
    this.#hover = left >= 0 ? left : undefined;
    if (this.#plot && this.state) this.#tell();
  }

  /** Draws the plot. @param state `times`, range of the time axis; `now`, time shown; `unit` of time */
  draw(state) {
    this.state = state;
    const plot = this.#plot;
    if (!plot || this.figure.hidden) return;
    const now = { data: this.data, times: this.about.bars ? "" : state.times.join(), theme: theme(), unit: state.unit };
    if (Object.keys(now).some((name) => now[name] !== this.#drawn[name])) {
      this.#drawn = now;
      plot.setData(this.data);
    }
    this.now.style.transform = `translateX(${clamp(plot.valToPos(state.now, "x"), 0, plot.over.clientWidth)}px)`;
    this.#tell();
  }

  /** Writes the value at the pointer or, without one, at the time shown. */
  #tell() {
    const { about, bars, state } = this;
    const at = this.#hover === undefined ? undefined : this.#plot.posToVal(this.#hover, "x");
    if (about.bars) {
      const bar = at === undefined ? undefined : bars[Math.round(at)];
      this.value.textContent = bar ? `${bar.y} at ${bar.text}` : about.unit;
    } else {
      const pointed = at ?? state.now;
      const [times, values = []] = this.data;
      const row = lastAt(times, pointed);
      const none = this.data.slice(1).every((line) => line.every((y) => y === null));
      const unit = about.unit ? ` ${about.unit}` : "";
      this.value.textContent = none ? "no values yet" : `${about.first ?? ""}${format(values[row] ?? NaN)}${unit} at ${format(pointed)}`;
    }
    this.#plot.ctx.canvas.setAttribute("aria-label", `${about.title}, ${this.value.textContent}`);
  }
}
