// Rendering of the particles with WebGL 2.
//
// Not by three.js: the shaders, the sum in half floats and the attributes of six columns would be written for it in the same way, and its
// renderer with OrbitControls (npm package 0.187, what the page would import bundled and minified by esbuild) is 557 kB, 138 kB
// compressed: four times all files of the page, which are 141 kB with uPlot.

import { ink, map, theme } from "./colour.js";
import { PARTICLES, PICTURE } from "./shaders.js";
import { remnants, temperatures } from "./stars.js";

/** Maximum number of frames in the memory of the graphics card. */
const MOST_BUFFERS = 4;
const COLOURS = 256;
/** Numbers of each attribute of a particle: places and velocities at two times, mass, colour and size of a star. */
const COLUMNS = [3, 3, 3, 3, 1, 2];
/** Number of the temperature among the quantities of colours. */
const TEMPERATURE = 3;
/** Maximum number of picture pixels for each page pixel, in each direction. */
const FINEST = 2;

export class Unsupported extends Error {}

export class Scene {
  #buffers = new Map();
  #size = [0, 0];

  /** @throws {Unsupported} if the browser cannot draw the particles */
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, depth: false, powerPreference: "high-performance" });
    if (!gl) throw new Unsupported("This browser does not support WebGL 2, which is needed to draw the particles. The plots work without it.");
    if (!gl.getExtension("EXT_color_buffer_float") && !gl.getExtension("EXT_color_buffer_half_float")) {
      throw new Unsupported("This graphics card cannot blend half floats, which is needed to draw the particles. The plots work without it.");
    }
    this.gl = gl;
    this.ratio = Math.min(window.devicePixelRatio || 1, FINEST);
    this.#make();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#buffers.clear();
      this.#size = [0, 0];
      this.#make();
      this.onrestored?.();
    });
  }

  #make() {
    const { gl } = this;
    this.particles = program(gl, PARTICLES);
    this.picture = program(gl, PICTURE);
    this.map = texture(gl);
    this.temperatures = texture(gl);
    this.sums = texture(gl);
    this.target = gl.createFramebuffer();
    this.columns = gl.createVertexArray();
    this.nothing = gl.createVertexArray();
    gl.bindVertexArray(this.columns);
    for (let k = 0; k < COLUMNS.length; k++) gl.enableVertexAttribArray(k);
    this.applyTheme();
  }

  /** Sets the colours of the theme. */
  applyTheme() {
    const { gl } = this;
    for (const [what, colours] of [[this.map, map], [this.temperatures, temperatures]]) {
      gl.bindTexture(gl.TEXTURE_2D, what);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, COLOURS, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours(theme(), COLOURS));
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    }
    this.remnants = remnants(theme());
    this.ground = ink("--ground");
    this.plain = ink("--accent");
    this.glow = theme() === "dark" ? 1 : 0;
  }

  /** Returns the buffers of a frame on the graphics card. */
  #columns(frame) {
    const found = this.#buffers.get(frame);
    if (found) {
      this.#buffers.delete(frame);
      this.#buffers.set(frame, found);
      return found;
    }
    const { gl } = this;
    const made = [frame.pos, frame.vel, frame.mass, frame.shine ?? new Float32Array(2 * frame.n)].map((column) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, column, gl.STATIC_DRAW);
      return buffer;
    });
    this.#buffers.set(frame, made);
    for (const [old, buffers] of this.#buffers) {
      if (this.#buffers.size <= MOST_BUFFERS) break;
      buffers.forEach((buffer) => gl.deleteBuffer(buffer));
      this.#buffers.delete(old);
    }
    return made;
  }

  #resize() {
    const { gl, canvas } = this;
    const size = [canvas.clientWidth, canvas.clientHeight].map((x) => Math.max(1, Math.round(x * this.ratio)));
    if (size[0] === this.#size[0] && size[1] === this.#size[1]) return;
    this.#size = [canvas.width, canvas.height] = size;
    gl.bindTexture(gl.TEXTURE_2D, this.sums);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16F, ...size, 0, gl.RGBA, gl.HALF_FLOAT, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.sums, 0);
  }

  /**
   * Draws a motion at a fraction of the interval between its frames; only the background if there is no motion.
   * @param look `view` of the camera in page pixels, `centre`, `radius`, `mean`, `quantity`, `range`
   */
  draw(motion, part, look) {
    const { gl } = this;
    this.#resize();
    gl.viewport(0, 0, ...this.#size);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (motion) this.#add(motion, part, look);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.nothing);
    gl.useProgram(this.picture.program);
    bind(gl, 0, this.sums);
    gl.uniform1i(this.picture.at("sums"), 0);
    gl.uniform3fv(this.picture.at("ground"), this.ground);
    gl.uniform1f(this.picture.at("glow"), this.glow);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  #add(motion, part, { view, centre, radius, mean, quantity, range }) {
    const { gl, particles } = this;
    const [first, second] = [this.#columns(motion.first), this.#columns(motion.second)];
    gl.bindVertexArray(this.columns);
    const columns = [first[0], first[1], second[0], second[1], first[2], first[3]];
    columns.forEach((buffer, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.vertexAttribPointer(k, COLUMNS[k], gl.FLOAT, false, 0, 0);
    });
    gl.useProgram(particles.program);
    gl.uniformMatrix4fv(particles.at("view"), false, view.view);
    gl.uniformMatrix4fv(particles.at("projection"), false, view.projection);
    gl.uniform3fv(particles.at("centre"), centre);
    gl.uniform1f(particles.at("part"), part);
    gl.uniform1f(particles.at("between"), motion.between);
    gl.uniform1f(particles.at("focal"), view.focal * this.ratio);
    gl.uniform1f(particles.at("radius"), radius);
    gl.uniform1f(particles.at("mean_mass"), mean);
    gl.uniform2fv(particles.at("range"), range);
    gl.uniform1i(particles.at("quantity"), quantity);
    gl.uniform3fv(particles.at("plain"), this.plain);
    gl.uniform3fv(particles.at("remnants"), this.remnants);
    bind(gl, 0, quantity === TEMPERATURE ? this.temperatures : this.map);
    gl.uniform1i(particles.at("map"), 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    gl.drawArrays(gl.POINTS, 0, motion.first.n);
  }
}

function bind(gl, unit, what) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, what);
}

function texture(gl) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
  return made;
}

function program(gl, { vertex, fragment }) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Unsupported(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) throw new Unsupported(gl.getProgramInfoLog(made));
  const places = new Map();
  const at = (name) => {
    if (!places.has(name)) places.set(name, gl.getUniformLocation(made, name));
    return places.get(name);
  };
  return { program: made, at };
}
