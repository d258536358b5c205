// Plots on a canvas: lines over time, and bars.

import { css } from "./colour.js";
import { clamp, superscript, format } from "./maths.js";

const MARGIN = { left: 46, right: 8, top: 6, bottom: 18 };
/** Height of the name of an axis, which has a row of its own below the labels: beside them it would take their place. */
const NAME = 12;
/** Length of the marks of the time axis, in pixels. */
const TICK = 3;
/** Minimum distance of labels on an axis, in pixels. */
const APART = { x: 62, y: 27 };
/** Lines with fewer points than this show their points. */
const FEW = 40;

/** Axis from `low` to `high` on pixels from `a` to `b`. */
class Axis {
  constructor([low, high], [a, b], log) {
    Object.assign(this, { low, high, a, b, log });
    this.of = log ? Math.log10 : (x) => x;
    [this.first, this.last] = [this.of(low), this.of(high)];
  }

  pixel(x) {
    return this.a + ((this.of(x) - this.first) / (this.last - this.first)) * (this.b - this.a);
  }

  value(pixel) {
    const at = this.first + ((pixel - this.a) / (this.b - this.a)) * (this.last - this.first);
    return this.log ? 10 ** at : at;
  }

  /** Returns the values of the ticks with their labels. */
  ticks(apart) {
    const most = Math.max(Math.abs(this.b - this.a) / apart, 1);
    if (!this.log) return this.#linear(most);
    const decades = this.last - this.first;
    if (decades < 1.5) return decades < 0.4 ? this.#linear(most) : this.#within(decades < 0.8 ? [1, 2, 3, 5] : [1, 2, 5]);
    const every = Math.ceil(decades / most);
    const ticks = [];
    for (let k = Math.ceil(this.first / every) * every; k <= this.last + 1e-9; k += every) {
      ticks.push([10 ** k, `10${superscript(k)}`]);
    }
    return ticks;
  }

  #linear(most) {
    const span = this.high - this.low;
    const power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => span / s <= most * (1 + 1e-9)) ?? span;
    // Enough digits to tell neighbours apart, also far from zero.
    const digits = Math.max(3, Math.ceil(Math.log10(Math.max(Math.abs(this.low), Math.abs(this.high)) / step)) + 2);
    const ticks = [];
    for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step; k++) {
      ticks.push([k * step, label(k * step, digits)]);
    }
    return ticks;
  }

  #within(marks) {
    const ticks = [];
    for (let k = Math.floor(this.first); k <= this.last; k++) {
      for (const m of marks) {
        const x = m * 10 ** k;
        if (x >= this.low && x <= this.high) ticks.push([x, label(x)]);
      }
    }
    return ticks;
  }
}

/** Formats a number for an axis, in short form. */
const label = (x, digits) => format(x, digits).replace(" × ", "·");

/** Returns the range of the values of all lines, with a margin; of the positive ones for a logarithmic axis. */
function span(lines, log, least) {
  let [low, high] = [Infinity, -Infinity];
  for (const { y } of lines) {
    for (const value of y) {
      if (!Number.isFinite(value) || (log && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return undefined;
  if (log) return [low / 1.6, high * 1.6];
  const room = Math.max(0.08 * (high - low), least, 1e-9 * Math.abs(high));
  return [low - room, high + room];
}

export class Chart {
  #x;
  #hover;

  /**
   * @param {HTMLElement} parent element that contains the plot
   * @param about `title`; `first`, text before the value of the first line; `unit` of the vertical axis; `log`, true if it is logarithmic;
   *   `least`, minimum margin of a linear axis
   * @param {(time: number) => void} chosen called with a time that was clicked
   */
  constructor(parent, about, chosen) {
    this.about = about;
    this.lines = [];
    this.figure = document.createElement("figure");
    this.figure.className = "chart";
    this.caption = document.createElement("figcaption");
    this.value = document.createElement("span");
    this.caption.append(about.title, this.value);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.keys = document.createElement("ul");
    this.figure.append(this.caption, this.canvas, this.keys);
    parent.append(this.figure);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => this.#point(undefined));
    this.canvas.addEventListener("click", (event) => {
      if (this.#x && !this.bars) chosen(clamp(this.#x.value(event.offsetX), this.#x.low, this.#x.high));
    });
  }

  /** Shows or hides the plot. */
  show(there) {
    this.figure.hidden = !there;
  }

  /** Sets lines `{name, x, y, colour}` over time. Lines with a name appear in the key. */
  setLines(lines) {
    this.lines = lines;
    const named = lines.filter((line) => line.name);
    const key = named.map((line) => `${line.colour} ${line.name}`).join();
    if (key === this.key) return;
    this.key = key;
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
    this.bars = bars;
    this.keys.hidden = true;
  }

  #point(pixel) {
    this.#hover = pixel;
    this.draw(this.state);
  }

  /** Draws the plot. @param state `times`, range of the time axis; `now`, time shown; `unit` of time */
  draw(state) {
    if (!state || this.figure.hidden) return;
    this.state = state;
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [width, height].map((x) => Math.round(x * ratio));
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    const bottom = height - MARGIN.bottom - (this.bars ? 0 : NAME);
    const box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom };
    if (this.bars) this.#drawBars(pen, box);
    else this.#drawLines(pen, box, state);
    canvas.setAttribute("aria-label", `${this.about.title}, ${this.value.textContent}`);
  }

  #frame(pen, box, x, y, xLabel) {
    pen.lineWidth = 1;
    pen.fillStyle = css("--muted");
    pen.strokeStyle = css("--grid");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const [value, label] of y.ticks(APART.y)) {
      const at = Math.round(y.pixel(value)) + 0.5;
      line(pen, [[box.left, at], [box.right, at]]);
      pen.fillText(label, box.left - 6, at);
    }
    pen.textBaseline = "top";
    pen.textAlign = "center";
    pen.strokeStyle = css("--frame");
    for (const [value, label] of x?.ticks(APART.x) ?? []) {
      const [at, half] = [x.pixel(value), pen.measureText(label).width / 2];
      line(pen, [[Math.round(at) + 0.5, box.bottom], [Math.round(at) + 0.5, box.bottom + TICK]]);
      // The last label stays within the canvas.
      pen.fillText(label, Math.min(at, box.right + MARGIN.right - half), box.bottom + 5);
    }
    pen.textAlign = "right";
    pen.fillText(xLabel, box.right, box.bottom + 5 + NAME);
    line(pen, [[box.left + 0.5, box.top], [box.left + 0.5, box.bottom + 0.5], [box.right, box.bottom + 0.5]]);
  }

  #drawLines(pen, box, { times, now, unit }) {
    const { log, least = 0 } = this.about;
    const range = span(this.lines, log, least);
    const x = (this.#x = new Axis(times, [box.left, box.right], false));
    if (!range || times[1] <= times[0]) {
      this.value.textContent = "no values yet";
      return;
    }
    const y = new Axis(range, [box.bottom, box.top], log);
    this.#frame(pen, box, x, y, `time [${unit}]`);
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top - 3, box.right - box.left + 3, box.bottom - box.top + 3);
    pen.clip();
    for (const one of [...this.lines].reverse()) this.#drawLine(pen, one, x, y);
    pen.restore();
    const pointed = this.#hover === undefined ? now : x.value(clamp(this.#hover, box.left, box.right));
    pen.strokeStyle = css("--text");
    pen.globalAlpha = 0.55;
    const at = clamp(x.pixel(pointed), box.left, box.right);
    line(pen, [[at, box.top], [at, box.bottom]]);
    pen.globalAlpha = 1;
    const value = valueAt(this.lines[0], pointed);
    this.value.textContent = `${this.about.first ?? ""}${format(value)}${this.about.unit ? ` ${this.about.unit}` : ""} at ${format(pointed)}`;
  }

  #drawLine(pen, { x: xs, y: ys, colour }, x, y) {
    const shown = (value) => Number.isFinite(value) && !(y.log && value <= 0);
    pen.strokeStyle = pen.fillStyle = css(`--series-${colour}`);
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    pen.beginPath();
    let [open, column, low, high] = [false, undefined, 0, 0];
    // With several rows for each pixel, draws the range of values in each column of pixels, so that peaks stay visible.
    const many = xs.length > 3 * (x.b - x.a);
    for (let k = 0; k < xs.length; k++) {
      if (!shown(ys[k])) {
        open = false;
        continue;
      }
      let [px, py] = [x.pixel(xs[k]), y.pixel(ys[k])];
      if (many) {
        const here = Math.round(px);
        if (open && here === column) {
          if (py >= low && py <= high) continue;
        } else {
          [column, low, high] = [here, py, py];
        }
        [low, high] = [Math.min(low, py), Math.max(high, py)];
        px = here;
      }
      if (open) pen.lineTo(px, py);
      else pen.moveTo(px, py);
      open = true;
    }
    pen.stroke();
    if (xs.length >= FEW) return;
    for (let k = 0; k < xs.length; k++) {
      if (!shown(ys[k])) continue;
      pen.beginPath();
      pen.arc(x.pixel(xs[k]), y.pixel(ys[k]), 2, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  #drawBars(pen, box) {
    const { bars } = this;
    const range = span([{ y: bars.map((bar) => bar.y) }], true, 0);
    if (!range) {
      this.value.textContent = "no values yet";
      return;
    }
    const y = new Axis([0.5, range[1]], [box.bottom, box.top], true);
    this.#frame(pen, box, undefined, y, "");
    const wide = (box.right - box.left - 4) / Math.max(bars.length, 6);
    const pointed = this.#hover === undefined ? -1 : Math.floor((this.#hover - box.left - 4) / wide);
    pen.textBaseline = "top";
    pen.textAlign = "center";
    const every = Math.ceil(30 / wide);
    bars.forEach((bar, k) => {
      const left = box.left + 4 + k * wide;
      const top = bar.y > 0 ? y.pixel(bar.y) : box.bottom;
      pen.fillStyle = css("--series-1");
      pen.globalAlpha = pointed < 0 || pointed === k ? 1 : 0.5;
      pen.fillRect(left, top, Math.max(wide - 2, 1), box.bottom - top);
      pen.globalAlpha = 1;
      pen.fillStyle = css("--muted");
      if (k % every === 0) pen.fillText(bar.label, left + wide / 2, box.bottom + 5);
    });
    const bar = bars[pointed];
    this.value.textContent = bar ? `${bar.y} at ${bar.text}` : this.about.unit;
  }
}

function line(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

/** Returns the index of the last of ascending values that is at most x; -1 if all are larger. */
export function lastAt(xs, x) {
  let [low, high] = [-1, xs.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (xs[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the value of the last row up to x; NaN before the first row. */
function valueAt(one, x) {
  return one?.y[lastAt(one.x, x)] ?? NaN;
}
