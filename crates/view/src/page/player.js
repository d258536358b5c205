// Time that is shown: set by the user, played, or kept at the newest snapshot.

import { css } from "./colour.js";
import { clamp, format, lastAt } from "./maths.js";

/** Duration of the whole run at speed 1, in s. */
const WHOLE = 20;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
/** Time in which a live view reaches a new snapshot, in s. */
const CATCH_UP = 1.0;

export class Player {
  time = NaN;
  playing = false;
  loop = false;
  live = false;
  /** Numbers and times of the readable snapshots, in order. */
  numbers = [];
  times = [];

  /** @param find returns the element with an id  @param changed called when the time has changed */
  constructor(find, changed) {
    this.changed = changed;
    this.find = find;
    this.speed = 1;
    for (const speed of SPEEDS) find("speed").add(new Option(`${speed}×`, speed, speed === 1, speed === 1));
    find("speed").addEventListener("change", (event) => (this.speed = Number(event.target.value)));
    find("play").addEventListener("click", () => this.toggle());
    find("back").addEventListener("click", () => this.step(-1));
    find("on").addEventListener("click", () => this.step(1));
    find("loop").addEventListener("click", () => this.set({ loop: !this.loop }));
    find("live").addEventListener("click", () => this.set({ live: !this.live }));
    find("slider").addEventListener("input", (event) => this.go(Number(event.target.value)));
    find("slider").addEventListener("keydown", (event) => {
      // Arrow keys move by snapshots, not by steps of the slider.
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (by) {
        event.preventDefault();
        this.step(by);
      }
    });
  }

  get range() {
    return this.times.length ? [this.times[0], this.times.at(-1)] : [0, 0];
  }

  /**
   * Sets the snapshots; `ended` if no more will follow. A new view starts live at the newest snapshot of a run in
   * progress, otherwise at the first.
   */
  take(snapshots, running, ended) {
    this.numbers = snapshots.map(([number]) => number);
    this.times = snapshots.map(([, time]) => time);
    if (!this.times.length) {
      this.time = NaN;
    } else if (Number.isNaN(this.time)) {
      this.live = running;
      this.time = running ? this.range[1] : this.range[0];
    } else {
      this.time = clamp(this.time, ...this.range);
    }
    this.ended = ended;
    this.show();
  }

  set(what) {
    Object.assign(this, what);
    if (what.live) this.playing = false;
    if (what.playing) {
      this.live = false;
      if (this.time >= this.range[1]) this.time = this.range[0];
    }
    this.show();
    this.changed();
  }

  toggle() {
    this.set({ playing: !this.playing });
  }

  /** Goes to a time chosen by the user. */
  go(time) {
    this.live = false;
    this.time = clamp(time, ...this.range);
    this.show();
    this.changed();
  }

  /** Goes to the next or the previous snapshot. */
  step(by) {
    this.playing = false;
    const k = lastAt(this.times, this.time);
    const between = this.times[k] !== this.time;
    this.go(this.times[clamp(k + (by < 0 && between ? 0 : by), 0, this.times.length - 1)] ?? this.time);
  }

  /** Returns the indices of the snapshots before and after a time. */
  around(time = this.time) {
    const a = clamp(lastAt(this.times, time), 0, Math.max(this.times.length - 1, 0));
    return [a, Math.min(a + 1, this.times.length - 1)];
  }

  /** Returns the time after some seconds of playing. */
  after(seconds) {
    const [first, last] = this.range;
    if (this.live) {
      const [a] = this.around();
      const gap = Math.max(last - this.time, last - (this.times[a] ?? last));
      return Math.min(this.time + Math.max((gap * seconds) / CATCH_UP, 0), last);
    }
    const next = this.time + ((last - first) / WHOLE) * this.speed * seconds;
    if (next <= last) return next;
    return this.loop && last > first ? first + ((next - first) % (last - first)) : last;
  }

  get moving() {
    return this.playing || (this.live && this.time < this.range[1]);
  }

  advance(time) {
    this.time = time;
    if (this.playing && !this.loop && time >= this.range[1]) this.playing = false;
    this.show();
  }

  show() {
    const { find } = this;
    const [first, last] = this.range;
    const slider = find("slider");
    slider.min = first;
    slider.max = last;
    slider.value = this.time;
    slider.disabled = find("play").disabled = this.times.length < 2;
    const text = Number.isNaN(this.time) ? "–" : `t = ${format(this.time, 4)} ${this.unit ?? ""}`;
    if (find("time").textContent !== text) {
      find("time").textContent = text;
      slider.setAttribute("aria-valuetext", text);
    }
    find("play").classList.toggle("playing", this.playing);
    find("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    find("loop").setAttribute("aria-pressed", this.loop);
    find("live").setAttribute("aria-pressed", this.live);
    find("live").disabled = this.ended && !this.live;
  }

  /** Draws a mark for each snapshot. */
  ticks() {
    const canvas = this.find("ticks");
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(canvas.clientHeight * ratio)];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = css("--frame");
    const [first, last] = this.range;
    // Too many marks would merge. The knob of the slider is about 16 pixels wide.
    if (last <= first || this.times.length > width / 4) return;
    for (const time of this.times) pen.fillRect(8 + ((width - 16) * (time - first)) / (last - first) - 0.5, 1, 1, 4);
  }
}
