// Camera that orbits the centre of the scene, controlled by mouse, touch and keys.

import { add, clamp, cross, dot, perspective, scale } from "./maths.js";

const ANGLE = (40 * Math.PI) / 180;
const STEEPEST = (89.5 * Math.PI) / 180;
const START = { yaw: -0.9, pitch: 0.42 };
/** Maximum movement of the pointer in a click, in pixels. */
const CLICK = 4;

export class Camera {
  yaw = START.yaw;
  pitch = START.pitch;
  distance = 5;
  pan = [0, 0, 0];
  #whole = 5;
  #pointers = new Map();
  #moved = 0;

  /**
   * @param {HTMLElement} element receives the pointer events
   * @param {() => void} changed called when the view has changed
   * @param {(x: number, y: number) => void} clicked called with the position of a click in the element
   */
  constructor(element, changed, clicked) {
    this.element = element;
    this.changed = changed;
    this.clicked = clicked;
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (event) => this.#up(event));
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  /** Sets the distance so that everything within a radius is visible. */
  fit(radius) {
    this.#whole = radius / Math.sin(ANGLE / 2);
    this.reset();
  }

  reset() {
    Object.assign(this, START, { distance: this.#whole, pan: [0, 0, 0] });
    this.changed();
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = clamp(this.pitch + pitch, -STEEPEST, STEEPEST);
    this.changed();
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, this.#whole * 1e-5, this.#whole * 100);
    this.changed();
  }

  /** Returns the directions right, up and backwards of the camera in the scene, whose z axis points up. */
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const back = [cp * cy, cp * sy, sp];
    const right = [-sy, cy, 0];
    return { right, up: cross(back, right), back };
  }

  /** Looks along an axis: x and y, y and z, or x and z point right and up. */
  along(axis) {
    [this.yaw, this.pitch] = { x: [0, 0], y: [-Math.PI / 2, 0], z: [-Math.PI / 2, STEEPEST] }[axis];
    this.changed();
  }

  /**
   * Returns the matrices of a view of the given size in pixels, and the size in pixels of a length of 1 at a distance
   * of 1.
   */
  view(width, height) {
    const { right, up, back } = this.axes();
    const eye = add(scale(back, this.distance), this.pan);
    const rows = [right, up, back];
    const view = [0, 1, 2].flatMap((k) => [right[k], up[k], back[k], 0]).concat(rows.map((row) => -dot(row, eye)), 1);
    const projection = perspective(ANGLE, width / height, this.distance * 0.01, this.distance * 100 + this.#whole * 10);
    return { view, projection, focal: height / (2 * Math.tan(ANGLE / 2)), eye, rows, width, height };
  }

  /** Handles a key. Returns true if it has a function. */
  key(name) {
    const step = 0.09;
    const action = {
      ArrowLeft: () => this.turn(-step, 0),
      ArrowRight: () => this.turn(step, 0),
      ArrowUp: () => this.turn(0, step),
      ArrowDown: () => this.turn(0, -step),
      "+": () => this.zoom(1 / 1.15),
      "=": () => this.zoom(1 / 1.15),
      "-": () => this.zoom(1.15),
      0: () => this.reset(),
      x: () => this.along("x"),
      y: () => this.along("y"),
      z: () => this.along("z"),
    }[name];
    action?.();
    return Boolean(action);
  }

  #down(event) {
    // Fails if the pointer is no longer active.
    try {
      this.element.setPointerCapture(event.pointerId);
    } catch {
      return;
    }
    if (this.#pointers.size === 0) this.#moved = 0;
    this.#pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.element.classList.add("grabbed");
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.#moved += Math.hypot(dx, dy);
    this.#pointers.set(event.pointerId, now);
    const others = [...this.#pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length > 0) {
      const [, other] = others[0];
      const span = (at) => Math.max(Math.hypot(at[0] - other[0], at[1] - other[1]), 10);
      this.zoom(span(before) / span(now));
      this.#slide(dx / 2, dy / 2);
    } else if (event.shiftKey || event.buttons & 6) {
      this.#slide(dx, dy);
    } else if (this.#moved > CLICK) {
      this.turn(-dx * 0.006, dy * 0.006);
    }
  }

  #slide(dx, dy) {
    const { right, up } = this.axes();
    const size = (2 * this.distance * Math.tan(ANGLE / 2)) / this.element.clientHeight;
    this.pan = add(this.pan, add(scale(right, -dx * size), scale(up, dy * size)));
    this.changed();
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId) || this.#pointers.size > 0) return;
    this.element.classList.remove("grabbed");
    if (event.type === "pointerup" && event.button === 0 && this.#moved <= CLICK) {
      const box = this.element.getBoundingClientRect();
      this.clicked(event.clientX - box.left, event.clientY - box.top);
    }
  }

  #wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.zoom(Math.exp(clamp(event.deltaY * lines, -200, 200) * 0.0015));
  }
}

/** Projects a point of the scene: pixels from the left and the top, and depth; undefined behind the camera. */
export function project({ view, projection, width, height }, p) {
  const row = (k) => view[k] * p[0] + view[4 + k] * p[1] + view[8 + k] * p[2] + view[12 + k];
  const depth = -row(2);
  if (depth <= 0) return undefined;
  const x = (projection[0] * row(0)) / depth;
  const y = (projection[5] * row(1)) / depth;
  return [((x + 1) / 2) * width, ((1 - y) / 2) * height, depth];
}
