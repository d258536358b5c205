// Small map of the orbit of a cluster in a galaxy, seen from above.

import { css } from "./colour.js";
import { format, lastAt, mix, round } from "./maths.js";

/** Side in pixels, room around the orbit as a factor, and the longest scale bar as a part of the side. */
const SIDE = 168;
const ROOM = 1.25;
const LONGEST = 0.3;

export class OrbitMap {
  /** @param {(id: string) => HTMLElement} find returns an element of the page */
  constructor(find) {
    this.figure = find("map");
    this.canvas = find("map-picture");
  }

  /**
   * Draws the orbit with the place at a time, or hides the map.
   * @param orbit `{times, x, y}` by the rows of the cluster series; undefined for a run whose origin does not move
   */
  draw(orbit, now, unit) {
    this.figure.hidden = !orbit || orbit.times.length === 0;
    if (this.figure.hidden) return;
    const { times, x, y } = orbit;
    const far = x.reduce((most, _, k) => Math.max(most, Math.abs(x[k]), Math.abs(y[k])), 0);
    const half = ROOM * (Number.isFinite(far) && far > 0 ? far : 1);
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = Math.round(SIDE * dense);
    const pen = this.canvas.getContext("2d");
    pen.scale(dense, dense);
    const place = (a, b) => [(SIDE / 2) * (1 + a / half), (SIDE / 2) * (1 - b / half)];
    const path = (points) => {
      pen.beginPath();
      for (const point of points) pen.lineTo(...point);
      pen.stroke();
    };
    const muted = css("--muted");
    Object.assign(pen, { strokeStyle: muted, lineWidth: 1.2, lineJoin: "round" });
    const middle = SIDE / 2;
    path([[middle - 4, middle], [middle + 4, middle]]);
    path([[middle, middle - 4], [middle, middle + 4]]);
    path(times.map((_, k) => place(x[k], y[k])));

    const a = Math.max(lastAt(times, now), 0);
    const b = Math.min(a + 1, times.length - 1);
    const u = b > a ? Math.min(Math.max((now - times[a]) / (times[b] - times[a]), 0), 1) : 0;
    pen.fillStyle = css("--accent");
    pen.beginPath();
    pen.arc(...place(...mix([x[a], y[a]], [x[b], y[b]], u)), 4, 0, 2 * Math.PI);
    pen.fill();

    const bar = round(2 * half * LONGEST);
    Object.assign(pen, { fillStyle: muted, font: "11px system-ui, sans-serif" });
    path([[4, SIDE - 4], [4 + (bar / (2 * half)) * SIDE, SIDE - 4]]);
    pen.fillText(`${format(bar)} ${unit}`, 4, SIDE - 9);
  }
}
