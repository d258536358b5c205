// Main module of the page: polls the server for the state of the run and draws it.

import { ServerError, state as askState } from "./api.js";
import { Camera } from "./camera.js";
import { css, map, theme } from "./colour.js";
import { Frames, Motion, rowOf } from "./frames.js";
import { OrbitMap } from "./map.js";
import { length, quantile, sub, format } from "./maths.js";
import { Panels } from "./panels.js";
import { Player } from "./player.js";
import { Scene, Unsupported } from "./scene.js";
import { TEMPERATURES, className, remnantNames, temperatures } from "./stars.js";
import { BACK, Overlay, heaviest, path, pick } from "./trails.js";
import { Why } from "./why.js";

/** Milliseconds between requests for the state of a run in progress, of one that has ended, and after a failure. */
const EVERY = { running: 1000, ended: 5000, lost: 3000 };
/** Number of snapshots fetched in advance. */
const AHEAD = 3;
/** Radius of a particle of mean mass among 1000, as a fraction of the visible radius. */
const RADIUS = 0.017;

const find = (id) => document.getElementById(id);
const run = { snapshots: [], generation: -1, units: { mass: "M", length: "L", velocity: "V", time: "T" }, reach: 1 };
let [motion, followed, ranges, dirty, scene] = [undefined, undefined, {}, true, undefined];
let seen = performance.now();

const changed = () => (dirty = true);
const frames = new Frames((problem) => notice(problem, true));
const player = new Player(find, changed);
const panels = new Panels(find("charts"), (time) => player.go(time));
const why = new Why(find);
const orbitMap = new OrbitMap(find);
const overlay = new Overlay(find("overlay"));
const camera = new Camera(find("scene"), changed, (x, y) => follow([x, y]));

function notice(text, small = false) {
  const box = find("notice");
  box.hidden = !text;
  box.textContent = text;
  box.classList.toggle("small", small);
}

// ---- state from the server

async function poll() {
  let pause = EVERY.ended;
  try {
    const state = await askState(run.snapshots.length);
    pause = state.running ? EVERY.running : EVERY.ended;
    await take(state);
  } catch (problem) {
    pause = EVERY.lost;
    const closed = problem instanceof ServerError && problem.message.startsWith("403");
    chip("lost", closed ? "access expired: open the address again" : "no connection");
    if (!(problem instanceof ServerError || problem instanceof TypeError)) throw problem;
  } finally {
    setTimeout(whenSeen, pause);
  }
}

/** Polls again, once the page is visible. */
function whenSeen() {
  if (document.hidden) document.addEventListener("visibilitychange", whenSeen, { once: true });
  else poll();
}

async function take(state) {
  if (state.generation !== run.generation) {
    // The run was restarted, or resumed from an earlier checkpoint: the frames are obsolete.
    const before = run.generation;
    Object.assign(run, { generation: state.generation, snapshots: [] });
    frames.clear();
    motion = undefined;
    ranges = {};
    if (before >= 0 && state.from > 0) return take(await askState(0));
  }
  run.snapshots.push(...state.snapshots.slice(Math.max(run.snapshots.length - state.from, 0)));
  if (state.run) {
    Object.assign(run, { n: state.run.n, units: state.run.units, reach: state.run.length_of_velocity_time });
    player.unit = run.units.time;
  }
  const readable = run.snapshots.filter(([number, time]) => time !== null && !frames.broken(number));
  player.take(readable, state.running, Boolean(state.exit_reason));
  player.ticks();
  showState(state);
  await panels.follow(state.rows);
  find("centre").querySelector('[value="density"]').disabled = panels.densityCentre(0) === undefined;
  changed();
}

function chip(kind, text) {
  find("chip").dataset.state = kind;
  if (find("chip").textContent !== text) find("chip").textContent = text;
}

const REASONS = { failed: "ended by an error", finished: "finished", interrupted: "interrupted", "time-limit": "time limit", "block-step-limit": "step limit", collision: "two stars touched", dissolution: "dissolved" };

function showState(state) {
  find("name").textContent = state.name;
  document.title = `${state.name} – tisane`;
  const end = Number.isFinite(state.end) ? ` to ${format(state.end, 4)} ${run.units.time}` : "";
  if (state.running) chip("running", `running${end}`);
  else chip(state.exit_reason === "failed" ? "lost" : "ended", REASONS[state.exit_reason] ?? "not running");
  // A run without a summary was killed, or ended by an error of an older version.
  find("why-open").dataset.state = state.running || !["failed", null].includes(state.exit_reason) ? "" : "lost";
  if (state.run) {
    find("facts").textContent = `N = ${state.run.n.toLocaleString("en-GB")} · engine ${state.run.engine} · ${state.run.precision}`
      + (state.run.units.henon ? " · N-body units" : "");
  }
  if (!run.snapshots.length) notice("The run has written no snapshot yet.");
  else if (find("notice").textContent.startsWith("The run has")) notice("");
}

// ---- the time shown

/** Returns the motion at a time, once its frames are loaded. Fetches them and the following ones. */
function prepare(time) {
  const [a, b] = player.around(time);
  if (!player.numbers.length) return undefined;
  const [first, second] = [player.numbers[a], player.numbers[b]];
  for (let k = a; k <= Math.min(b + AHEAD, player.numbers.length - 1); k++) {
    if (k > b && frames.busy > 1) break;
    if (!frames.here(player.numbers[k])) frames.fetch(player.numbers[k]).then(changed);
  }
  const [one, two] = [frames.here(first), frames.here(second)];
  if (!one || !(two || frames.broken(second))) return undefined;
  if (motion?.from !== one || motion?.to !== (two ?? one)) {
    const fresh = !motion;
    motion = Object.assign(new Motion(one, two ?? one, run.reach), { from: one, to: two ?? one });
    measure(one, fresh);
    if (two && two !== one) measure(two, false);
  }
  return motion;
}

/** Extends the ranges of colours by the values of a frame. The first frame also sets the camera. */
function measure(frame, first) {
  if (frame.measured) return first ? fit(frame) : undefined;
  frame.measured = true;
  const speeds = Float32Array.from({ length: frame.n }, (_, i) => Math.hypot(frame.vel[3 * i], frame.vel[3 * i + 1], frame.vel[3 * i + 2]));
  const logs = frame.mass.filter((m) => m > 0).map(Math.log);
  widen("speed", 0, quantile(speeds, 0.98));
  widen("mass", quantile(logs, 0), quantile(logs, 1));
  if (first) fit(frame);
  if (frame.shine) offerTemperatures();
  legend();
}

/** Offers the temperatures of stars that age as colours; the first time they are chosen. */
function offerTemperatures() {
  const choice = find("colour").querySelector('[value="temperature"]');
  if (!choice.disabled) return;
  choice.disabled = choice.hidden = false;
  ranges.temperature = TEMPERATURES;
  find("colour").value = "temperature";
}

function widen(name, low, high) {
  const [a, b] = ranges[name] ?? [low, high];
  ranges[name] = [Math.min(a, low), Math.max(b, high)];
}

function fit(frame) {
  const distances = Float32Array.from({ length: frame.n }, (_, i) => length([frame.pos[3 * i], frame.pos[3 * i + 1], frame.pos[3 * i + 2]]));
  const radius = 1.4 * quantile(distances, 0.9) || 1;
  run.mean = frame.mass.reduce((sum, m) => sum + m, 0) / Math.max(frame.n, 1) || 1;
  camera.fit(radius);
  run.radius = RADIUS * radius * (1000 / Math.max(frame.n, 1)) ** (1 / 3);
  ranges.mass ??= [0, 1];
}

/** Returns the centre of the scene relative to the centre of mass. */
function centreOf(part) {
  const wanted = find("centre").value;
  if (wanted === "followed" && followed) {
    const row = rowOf(motion.first, followed.id, followed.row);
    if (row >= 0) return motion.pos((followed.row = row), part);
  }
  const from = wanted === "origin" ? [0, 0, 0] : wanted === "density" ? panels.densityCentre(player.time) : undefined;
  return from ? sub(from, motion.centre(part)) : [0, 0, 0];
}

// ---- drawing

function tick(now) {
  const seconds = Math.min((now - seen) / 1000, 0.1);
  seen = now;
  if (find("turn").checked && motion) camera.turn(seconds * 0.25, 0);
  if (player.moving) {
    const next = player.after(seconds);
    // Time advances only when the frames are loaded.
    if (prepare(next)) player.advance(next);
    changed();
  }
  if (dirty) {
    dirty = false;
    draw();
  }
  requestAnimationFrame(tick);
}

function draw() {
  const ready = Number.isNaN(player.time) ? undefined : prepare(player.time);
  const canvas = find("scene");
  const view = camera.view(Math.max(canvas.clientWidth, 1), Math.max(canvas.clientHeight, 1));
  overlay.begin();
  if (ready ?? (motion && !scene)) {
    const part = motion.part(player.time);
    const centre = centreOf(part);
    const quantity = find("colour").value;
    scene?.draw(motion, part, {
      view, centre, mean: run.mean, quantity: ["speed", "mass", "plain", "temperature"].indexOf(quantity), range: ranges[quantity] ?? [0, 1],
      radius: run.radius * 2 ** Number(find("size").value),
    });
    trails(view, centre, part);
    overlay.scale(view, camera.distance, run.units.length);
    card(part);
  } else if (!motion) {
    scene?.draw(undefined, 0, {});
  }
  orbitMap.draw(panels.orbit(), player.time, run.units.length);
  const range = player.range;
  panels.draw({ times: range[1] > range[0] ? range : [range[0], range[0] + 1], now: player.time, units: run.units });
}

function trails(view, centre, part) {
  const wanted = find("trails").value;
  const rows = wanted === "heavy" ? (motion.first.heavy ??= heaviest(motion.first)) : [];
  const ids = rows.map((row) => motion.first.id[row]);
  const row = followed === undefined ? -1 : rowOf(motion.first, followed.id, followed.row);
  if (row >= 0 && wanted !== "none" && !ids.includes(followed.id)) ids.push(followed.id);
  if (ids.length) {
    const [, b] = player.around();
    const numbers = player.numbers.slice(Math.max(b - BACK, 0), b + 1);
    // Backwards and a few at a time, so that frames to be played come first.
    const missing = numbers.filter((number) => !frames.here(number) && !frames.broken(number));
    if (frames.busy < 2) missing.slice(-4).forEach((number) => frames.fetch(number).then(changed));
    const known = numbers.filter((number) => !frames.broken(number)).map((number) => frames.here(number));
    const here = motion.centre(part);
    const from = trailOrigin(part);
    ids.forEach((id, k) => {
      const points = path(known, id, player.time, run.reach);
      overlay.trail(points, id === followed?.id ? 1 : k, view, (point) => sub(sub(point.pos, from(point, here)), centre));
    });
  }
  if (row >= 0) overlay.ring(view, sub(motion.pos(row, part), centre));
}

/**
 * Returns the origin of the points of a trail: that of the run if the scene is centred on the origin or the density
 * centre, else the centre of mass at the time of the point, from its constant velocity.
 */
function trailOrigin(part) {
  const drift = motion.drift(part);
  const fixed = ["origin", "density"].includes(find("centre").value);
  return ({ time }, here) => (fixed ? here : here.map((x, k) => x + drift[k] * run.reach * (time - player.time)));
}

// ---- the particle that is followed

function follow(place) {
  if (!motion) return;
  const part = motion.part(player.time);
  const canvas = find("scene");
  const row = pick(motion, part, camera.view(canvas.clientWidth, canvas.clientHeight), centreOf(part), place);
  followed = row < 0 ? undefined : { id: motion.first.id[row], row };
  followedChanged();
}

function followedChanged() {
  const choice = find("centre").querySelector('[value="followed"]');
  choice.disabled = !followed;
  if (!followed && choice.selected) find("centre").value = "mass";
  find("card").hidden = !followed;
  changed();
}

const vector = (v) => `(${v.map((x) => format(x)).join(", ")})`;

function card(part) {
  const row = followed === undefined ? -1 : rowOf(motion.first, followed.id, followed.row);
  find("card").hidden = row < 0;
  if (row < 0) return;
  const { pos, vel } = motion.inRun(row, part);
  const { units } = run;
  find("card-id").textContent = `Particle ${followed.id}`;
  const facts = {
    mass: `${format(motion.first.mass[row], 4)} ${units.mass}`,
    distance: `${format(length(motion.pos(row, part)))} ${units.length}`,
    speed: `${format(length(motion.vel(row, part)))} ${units.velocity}`,
    [`position [${units.length}]`]: vector(pos),
    [`velocity [${units.velocity}]`]: vector(vel),
  };
  if (motion.first.shine) {
    const { types, temperature, luminosity } = motion.first;
    facts.star = className(types[row]);
    if (types[row] < 14) Object.assign(facts, { temperature: `${format(temperature[row])} K`, luminosity: `${format(luminosity[row])} Lsun` });
  }
  find("card-facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => {
    const [term, description] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, description.textContent] = [name, value];
    for (const part of [term, description]) part.classList.toggle("wide", value.startsWith("("));
    return [term, description];
  }));
}

// ---- legend, theme, keys

function legend() {
  const quantity = find("colour").value;
  find("legend").hidden = quantity === "plain" || !ranges[quantity];
  if (find("legend").hidden) return;
  const { velocity, mass } = run.units;
  const ranged = { speed: ranges.speed, mass: ranges.mass?.map(Math.exp), temperature: TEMPERATURES };
  find("legend-name").textContent = {
    speed: `speed relative to the centre of mass [${velocity}]`, mass: `mass [${mass}], logarithmic`, temperature: "temperature [K], logarithmic",
  }[quantity];
  const [low, high] = ranged[quantity];
  [find("legend-low").textContent, find("legend-high").textContent] = [format(low), quantity === "speed" ? `≥ ${format(high)}` : format(high)];
  const names = quantity === "temperature" ? remnantNames(theme()) : [];
  find("legend-remnants").replaceChildren(...names.map(([name, colour]) => {
    const [line, dot] = [document.createElement("li"), document.createElement("i")];
    dot.style.background = colour;
    line.append(dot, name);
    return line;
  }));
  const colours = quantity === "temperature" ? temperatures : map;
  const bar = find("legend-bar");
  const picture = new ImageData(new Uint8ClampedArray(colours(theme(), bar.width)), bar.width, 1);
  const pen = bar.getContext("2d");
  for (let y = 0; y < bar.height; y++) pen.putImageData(picture, 0, y);
}

/** Stores and returns the theme chosen by the user, if the browser allows it. */
function chosenTheme(write) {
  try {
    if (write) localStorage.setItem("tisane-theme", write);
    return localStorage.getItem("tisane-theme");
  } catch {
    return write;
  }
}

function applyTheme(name) {
  document.documentElement.dataset.theme = name;
  find("theme").textContent = name === "light" ? "Dark" : "Light";
  scene?.applyTheme();
  legend();
  player.ticks();
  changed();
}

function begin() {
  // Removes the token from the address: the cookie has it now.
  history.replaceState(null, "", location.pathname);
  const dark = matchMedia("(prefers-color-scheme: light)");
  const systemTheme = () => (dark.matches ? "light" : "dark");
  try {
    scene = new Scene(find("scene"));
    scene.onrestored = changed;
  } catch (problem) {
    if (!(problem instanceof Unsupported)) throw problem;
    notice(problem.message);
  }
  applyTheme(chosenTheme() ?? systemTheme());
  dark.addEventListener("change", () => chosenTheme() ?? applyTheme(systemTheme()));
  find("theme").addEventListener("click", () => applyTheme(chosenTheme(theme() === "light" ? "dark" : "light")));
  find("help").addEventListener("click", () => find("keys").showModal());
  find("unfollow").addEventListener("click", () => {
    followed = undefined;
    followedChanged();
  });
  find("centre").addEventListener("input", () => (camera.pan = [0, 0, 0]));
  for (const id of ["colour", "centre", "trails", "size", "turn"]) find(id).addEventListener("input", changed);
  find("colour").addEventListener("input", legend);
  if (matchMedia("(max-width: 820px)").matches) find("controls").open = false;
  addEventListener("keydown", key);
  new ResizeObserver(() => {
    player.ticks();
    changed();
  }).observe(document.body);
  poll();
  requestAnimationFrame(tick);
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find("keys").open || why.dialog.open) return;
  const into = event.target.tagName;
  if (into === "SELECT" || (into === "BUTTON" && event.key === " ") || into === "SUMMARY") return;
  const action = {
    " ": () => player.toggle(),
    ",": () => player.step(-1),
    ".": () => player.step(1),
    l: () => player.set({ live: !player.live }),
    w: () => why.open(),
  }[event.key];
  if (action) action();
  else if (into === "INPUT" || !camera.key(event.key)) return;
  event.preventDefault();
}

begin();
