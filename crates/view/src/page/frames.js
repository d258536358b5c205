// Cache of frames, and interpolation between two frames.

import { ServerError, frame } from "./api.js";
import { add, at, hermite, mix, scale, sub } from "./maths.js";

/** Maximum memory for frames in bytes; the least recently used are dropped. */
const MOST_BYTES = 400e6;
/** Maximum number of particles in a frame, so that a graphics card draws it smoothly. */
const MOST_PARTICLES = 400_000;

export class Frames {
  #kept = new Map();
  #coming = new Map();
  #broken = new Map();
  #bytes = 0;

  /** @param {(problem: string) => void} report called with a message for a snapshot that cannot be read */
  constructor(report) {
    this.report = report;
  }

  clear() {
    this.#kept.clear();
    this.#coming = new Map();
    this.#broken.clear();
    this.#bytes = 0;
  }

  /** Returns a frame if it is in the cache. */
  here(number) {
    const found = this.#kept.get(number);
    if (found) {
      this.#kept.delete(number);
      this.#kept.set(number, found);
    }
    return found;
  }

  /** Returns true for a snapshot that cannot be read. */
  broken(number) {
    return this.#broken.has(number);
  }

  /** Fetches a frame. Resolves to undefined if it cannot be read, or if the run was restarted meanwhile. */
  fetch(number) {
    const here = this.here(number);
    if (here || this.#broken.has(number)) return Promise.resolve(here);
    if (!this.#coming.has(number)) {
      const coming = this.#get(number).finally(() => {
        if (this.#coming.get(number) === coming) this.#coming.delete(number);
      });
      this.#coming.set(number, coming);
    }
    return this.#coming.get(number);
  }

  get busy() {
    return this.#coming.size;
  }

  async #get(number) {
    const coming = this.#coming;
    try {
      const got = await frame(number, MOST_PARTICLES);
      if (coming !== this.#coming) return undefined;
      this.#kept.set(number, got);
      this.#bytes += got.bytes;
      for (const [old, { bytes }] of this.#kept) {
        if (this.#bytes <= MOST_BYTES || this.#kept.size <= 3) break;
        this.#kept.delete(old);
        this.#bytes -= bytes;
      }
      return got;
    } catch (problem) {
      // A lost connection is retried; a file that the server cannot read is not.
      if (problem instanceof ServerError) {
        this.#broken.set(number, problem.message);
        this.report(`snapshot ${number} is skipped: ${problem.message}`);
      }
      return undefined;
    }
  }
}

/** Returns true if two frames have the same particles in the same order. */
function sameOrder(a, b) {
  if (a.n !== b.n) return false;
  for (let i = 0; i < a.n; i++) if (a.id[i] !== b.id[i]) return false;
  return true;
}

/**
 * Returns the row of a particle in a frame; -1 if absent. Tries the row `hint` first: particles rarely change their
 * row.
 */
export function rowOf(frame, id, hint = 0) {
  return frame.id[hint] === id ? hint : frame.id.indexOf(id);
}

/**
 * Interpolation between two frames. Particles are in the order of the first; one that is absent from the second keeps
 * its position, without mass.
 */
export class Motion {
  /** @param {number} reach distance moved at velocity 1 in time 1 */
  constructor(first, second, reach) {
    this.first = first;
    this.second = first === second || sameOrder(first, second) ? second : reordered(second, first);
    this.between = (second.time - first.time) * reach;
  }

  /** Returns the fraction of the interval between the frames at a time, 0 … 1. */
  part(time) {
    const { first, second } = this;
    return second.time > first.time ? Math.min(Math.max((time - first.time) / (second.time - first.time), 0), 1) : 0;
  }

  /** Returns the position of row i relative to the centre of mass. */
  pos(i, u) {
    const tangent = (frame) => scale(at(frame.vel, i), this.between);
    return hermite(at(this.first.pos, i), tangent(this.first), at(this.second.pos, i), tangent(this.second), u);
  }

  /** Returns the velocity of row i relative to that of the centre of mass. */
  vel(i, u) {
    return mix(at(this.first.vel, i), at(this.second.vel, i), u);
  }

  /** Returns the centre of mass in the coordinates of the run. */
  centre(u) {
    const tangent = (frame) => scale(frame.drift, this.between);
    return hermite(this.first.centre, tangent(this.first), this.second.centre, tangent(this.second), u);
  }

  drift(u) {
    return mix(this.first.drift, this.second.drift, u);
  }

  /** Returns position and velocity of row i in the coordinates of the run. */
  inRun(i, u) {
    return { pos: add(this.pos(i, u), this.centre(u)), vel: add(this.vel(i, u), this.drift(u)) };
  }
}

/** Returns a frame with the particles in the order of another one. */
function reordered(frame, like) {
  const rows = new Map();
  frame.id.forEach((id, row) => rows.set(id, row));
  const [pos, vel, mass] = [new Float32Array(3 * like.n), new Float32Array(3 * like.n), new Float32Array(like.n)];
  // A particle at rest moves relative to the other centre of mass.
  const shift = sub(like.centre, frame.centre);
  like.id.forEach((id, i) => {
    const row = rows.get(id);
    if (row === undefined) {
      pos.set(add(at(like.pos, i), shift), 3 * i);
    } else {
      pos.set(at(frame.pos, row), 3 * i);
      vel.set(at(frame.vel, row), 3 * i);
      mass[i] = frame.mass[row];
    }
  });
  return { ...frame, n: like.n, id: like.id, pos, vel, mass };
}
