// Requests to the server, and decoding of frames. Addresses are relative to that of the page.

import { shine } from "./stars.js";

/** Error response of the server: not found, not authorized, or an unreadable file. */
export class ServerError extends Error {}

async function get(path) {
  const response = await fetch(`api/${path}`, { cache: "no-store" });
  if (!response.ok) throw new ServerError((await response.text()) || `${response.status} ${response.statusText}`);
  return response;
}

/** Returns the state of the run, with its snapshots from index `from` on. */
export const state = async (from) => (await get(`state?from=${from}`)).json();

/** Returns what ended or slows the run, as the page of crates/io/src/findings/page.rs. */
export const why = async () => (await get("why")).json();

/** Returns rows of a series from row `from` on whose number is a multiple of `every`. */
export const rows = async (series, from, every, columns) =>
  (await get(`series/${series}?from=${from}&every=${every}&columns=${columns}`)).json();

/** Returns the particles of a snapshot in the layout of crates/view/src/frame.rs. */
export async function frame(number, most) {
  return decode(await (await get(`snapshot/${number}?most=${most}`)).arrayBuffer(), number);
}

const MAGIC = "tisane01";

function decode(buffer, number) {
  const view = new DataView(buffer);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 8));
  const n = view.getUint32(8, true);
  const aging = n > 0 && buffer.byteLength === 72 + 48 * n;
  if (magic !== MAGIC || !(aging || buffer.byteLength === 72 + 36 * n)) throw new ServerError(`snapshot ${number}: not a frame`);
  const f64 = (offset) => [0, 8, 16].map((k) => view.getFloat64(offset + k, true));
  return {
    number,
    n,
    every: view.getUint32(12, true),
    time: view.getFloat64(16, true),
    centre: f64(24),
    drift: f64(48),
    id: new BigUint64Array(buffer, 72, n),
    pos: new Float32Array(buffer, 72 + 8 * n, 3 * n),
    vel: new Float32Array(buffer, 72 + 20 * n, 3 * n),
    mass: new Float32Array(buffer, 72 + 32 * n, n),
    // Of stars that age: place in the colours of temperature or of a remnant, and size.
    shine: aging ? shine(...[36, 40, 44].map((offset) => new Float32Array(buffer, 72 + offset * n, n))) : undefined,
    types: aging ? new Float32Array(buffer, 72 + 44 * n, n) : undefined,
    temperature: aging ? new Float32Array(buffer, 72 + 36 * n, n) : undefined,
    luminosity: aging ? new Float32Array(buffer, 72 + 40 * n, n) : undefined,
    bytes: buffer.byteLength,
  };
}
