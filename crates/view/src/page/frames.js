// Frames kept, fetched ahead, and brought into one order of particles.

import { Refused, frame } from "./api.js";
import { add, at, hermite, mix, scale, sub } from "./maths.js";

/** Memory for frames; the least recently used go first. */
const MOST_BYTES = 400e6;
/** Most particles in a frame: what a graphics card draws smoothly. */
const MOST_PARTICLES = 400_000;

export class Frames {
  #kept = new Map();
  #coming = new Map();
  #broken = new Map();
  #bytes = 0;

  /** @param {(problem: string) => void} tell what to do about a snapshot that cannot be read */
  constructor(tell) {
    this.tell = tell;
  }

  clear() {
    this.#kept.clear();
    this.#coming = new Map();
    this.#broken.clear();
    this.#bytes = 0;
  }

  /** The frame if it is here. */
  here(number) {
    const found = this.#kept.get(number);
    if (found) {
      this.#kept.delete(number);
      this.#kept.set(number, found);
    }
    return found;
  }

  /** True if it cannot be read. */
  broken(number) {
    return this.#broken.has(number);
  }

  /** Sees to it that the frame comes. Resolves with nothing if it cannot be read, or the run began anew meanwhile. */
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
      // Without a connection it is asked for again; what the server cannot read is not.
      if (problem instanceof Refused) {
        this.#broken.set(number, problem.message);
        this.tell(`snapshot ${number} is left out: ${problem.message}`);
      }
      return undefined;
    }
  }
}

/** True if both have the same particles in the same order. */
function sameOrder(a, b) {
  if (a.n !== b.n) return false;
  for (let i = 0; i < a.n; i++) if (a.id[i] !== b.id[i]) return false;
  return true;
}

/** The row of a particle in a frame, -1 if it is not there. Rows hardly ever move, so the place of another frame is tried. */
export function rowOf(frame, id, hint = 0) {
  return frame.id[hint] === id ? hint : frame.id.indexOf(id);
}

/**
 * Two frames as one motion. Particles are in the order of the first; one that the second lacks stays where it is, without mass.
 */
export class Motion {
  /** @param {number} reach the length that velocity 1 makes in time 1 */
  constructor(first, second, reach) {
    this.first = first;
    this.second = first === second || sameOrder(first, second) ? second : reordered(second, first);
    this.between = (second.time - first.time) * reach;
  }

  /** The place between the frames of a time, 0 … 1. */
  part(time) {
    const { first, second } = this;
    return second.time > first.time ? Math.min(Math.max((time - first.time) / (second.time - first.time), 0), 1) : 0;
  }

  /** Position of row i from the centre of mass. */
  pos(i, u) {
    const tangent = (frame) => scale(at(frame.vel, i), this.between);
    return hermite(at(this.first.pos, i), tangent(this.first), at(this.second.pos, i), tangent(this.second), u);
  }

  /** Velocity of row i from that of the centre of mass. */
  vel(i, u) {
    return mix(at(this.first.vel, i), at(this.second.vel, i), u);
  }

  /** The centre of mass in the coordinates of the run. */
  centre(u) {
    const tangent = (frame) => scale(frame.drift, this.between);
    return hermite(this.first.centre, tangent(this.first), this.second.centre, tangent(this.second), u);
  }

  drift(u) {
    return mix(this.first.drift, this.second.drift, u);
  }

  /** Position and velocity of row i in the coordinates of the run. */
  inRun(i, u) {
    return { pos: add(this.pos(i, u), this.centre(u)), vel: add(this.vel(i, u), this.drift(u)) };
  }
}

function reordered(frame, like) {
  const rows = new Map();
  frame.id.forEach((id, row) => rows.set(id, row));
  const [pos, vel, mass] = [new Float32Array(3 * like.n), new Float32Array(3 * like.n), new Float32Array(like.n)];
  // Seen from the other centre of mass, who stays in place moves.
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
