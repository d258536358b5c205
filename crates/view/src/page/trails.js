// Overlay of the scene: trails of particles over past snapshots, a ring around the followed particle, axes, scale bar.

import { project } from "./camera.js";
import { css } from "./colour.js";
import { Motion, rowOf } from "./frames.js";
import { dot, round, sub, format } from "./maths.js";

/** Number of snapshots that a trail extends back. */
export const BACK = 24;
/** Number of straight segments between two snapshots. */
const PIECES = 12;
/** Number of most massive particles with trails. */
export const HEAVY = 8;
const SERIES = 8;

/**
 * Returns the rows of the most massive particles of a frame in descending order; of equal masses the first in the file.
 */
export function heaviest(frame) {
  const rows = [];
  for (let i = 0; i < frame.n; i++) {
    if (rows.length === HEAVY && frame.mass[i] <= frame.mass[rows[HEAVY - 1]]) continue;
    let k = rows.length;
    while (k > 0 && frame.mass[rows[k - 1]] < frame.mass[i]) k--;
    rows.splice(k, 0, i);
    rows.length = Math.min(rows.length, HEAVY);
  }
  return rows;
}

/**
 * Returns the path of a particle up to a time: points with their times, from the oldest on, in the coordinates of the
 * run. It starts after the last frame that is not loaded, or that does not contain the particle.
 */
export function path(frames, id, time, reach) {
  const points = [];
  let hint = 0;
  for (let k = 0; k + 1 < frames.length; k++) {
    const [a, b] = [frames[k], frames[k + 1]];
    hint = a && b ? rowOf(a, id, hint) : -1;
    if (hint < 0) {
      points.length = 0;
      hint = 0;
      continue;
    }
    const motion = single(a, b, hint, id, reach);
    if (!motion) continue;
    const last = motion.part(time);
    for (let j = 0; j < PIECES && j / PIECES < last; j++) {
      points.push({ time: a.time + ((b.time - a.time) * j) / PIECES, ...motion.inRun(0, j / PIECES) });
    }
    if (last < 1) {
      points.push({ time, ...motion.inRun(0, last) });
      return points;
    }
    if (k + 2 === frames.length) points.push({ time: b.time, ...motion.inRun(0, 1) });
  }
  return points;
}

/** Returns the motion of one particle between two frames. */
function single(a, b, row, id, reach) {
  const other = rowOf(b, id, row);
  if (other < 0) return undefined;
  const one = (frame, i) => ({
    ...frame, n: 1, id: frame.id.subarray(i, i + 1), pos: frame.pos.subarray(3 * i, 3 * i + 3), vel: frame.vel.subarray(3 * i, 3 * i + 3),
  });
  return new Motion(one(a, row), one(b, other), reach);
}

export class Overlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  /** Clears the overlay and sets the scale to page pixels. */
  begin() {
    const { canvas, pen } = this;
    const ratio = window.devicePixelRatio || 1;
    const size = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.round(x * ratio));
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    pen.lineCap = pen.lineJoin = "round";
  }

  /** Draws a trail that fades into the past. `where` converts a point of the run to the scene. */
  trail(points, number, view, where) {
    const { pen } = this;
    if (points.length < 2) return;
    pen.strokeStyle = css(`--series-${(number % SERIES) + 1}`);
    pen.lineWidth = 1.6;
    let before;
    points.forEach((point, k) => {
      const now = project(view, where(point));
      if (before && now) {
        pen.globalAlpha = 0.08 + 0.92 * (k / points.length) ** 1.5;
        pen.beginPath();
        pen.moveTo(before[0], before[1]);
        pen.lineTo(now[0], now[1]);
        pen.stroke();
      }
      before = now;
    });
    pen.globalAlpha = 1;
  }

  /** Draws a ring around a particle. */
  ring(view, p, number = 1) {
    const at = project(view, p);
    if (!at) return;
    const { pen } = this;
    pen.strokeStyle = css(`--series-${(number % SERIES) + 1}`);
    pen.lineWidth = 1.8;
    pen.beginPath();
    pen.arc(at[0], at[1], 9, 0, 2 * Math.PI);
    pen.stroke();
  }

  /** Draws the directions of the axes, and a scale bar for the distance of the centre. */
  scale(view, distance, unit) {
    const { pen } = this;
    const [right, bottom] = [view.width - 16, view.height - 18];
    const length = round((120 * distance) / view.focal);
    const pixels = (length * view.focal) / distance;
    pen.strokeStyle = pen.fillStyle = css("--muted");
    pen.lineWidth = 1.5;
    pen.font = "12px system-ui, sans-serif";
    pen.beginPath();
    pen.moveTo(right - pixels, bottom - 4);
    pen.lineTo(right - pixels, bottom);
    pen.lineTo(right, bottom);
    pen.lineTo(right, bottom - 4);
    pen.stroke();
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(`${format(length)} ${unit}`, right - pixels / 2, bottom - 5);
    const [x0, y0] = [view.width - 42, view.height - 84];
    ["x", "y", "z"].forEach((name, k) => {
      const axis = [0, 1, 2].map((j) => (j === k ? 1 : 0));
      const [dx, dy, towards] = view.rows.map((row) => dot(row, axis));
      pen.globalAlpha = towards < -0.05 ? 0.45 : 1;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x0 + 20 * dx, y0 - 20 * dy);
      pen.stroke();
      pen.textBaseline = "middle";
      pen.fillText(name, x0 + 28 * dx, y0 - 28 * dy);
    });
    pen.globalAlpha = 1;
  }
}

/** Returns the row of the particle nearest to a position in the view, within `reach` pixels; -1 if there is none. */
export function pick(motion, part, view, centre, [x, y], reach = 12) {
  let [best, found] = [reach * reach, -1];
  for (let i = 0; i < motion.first.n; i++) {
    const at = project(view, sub(motion.pos(i, part), centre));
    if (!at) continue;
    const far = (at[0] - x) ** 2 + (at[1] - y) ** 2;
    if (far < best) [best, found] = [far, i];
  }
  return found;
}
