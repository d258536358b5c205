// Vectors are arrays of three numbers, matrices sixteen by columns, as WebGL takes them.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
export const mix = (a, b, u) => a.map((x, k) => x + (b[k] - x) * u);
export const at = (column, i) => [column[3 * i], column[3 * i + 1], column[3 * i + 2]];

/** A perspective projection: `up` the angle of view in the vertical, `ratio` width over height. */
export function perspective(up, ratio, near, far) {
  const f = 1 / Math.tan(up / 2);
  return [f / ratio, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

/** Longest tangent of an interpolated path, in lengths of its chord: an arc of 3/4 of a circle has about that. */
export const LONGEST_TANGENT = 3;

function limited(tangent, longest) {
  const l = length(tangent);
  return l > longest ? scale(tangent, longest / l) : tangent;
}

/**
 * The cubic through p0 and p1 with the tangents m0 and m1 (velocity × time between), at u in 0 … 1. Where the time between
 * spans orbits the tangents say nothing of the path: they are cut, so that nobody flies out and back. The vertex shader does
 * the same.
 */
export function hermite(p0, m0, p1, m1, u) {
  const longest = LONGEST_TANGENT * length(sub(p1, p0));
  const [a, b] = [limited(m0, longest), limited(m1, longest)];
  const v = 1 - u;
  const [h0, h1] = [(1 + 2 * u) * v * v, u * u * (3 - 2 * u)];
  const [g0, g1] = [u * v * v, -u * u * v];
  return p0.map((x, k) => h0 * x + g0 * a[k] + h1 * p1[k] + g1 * b[k]);
}

/** A number for people: `digits` significant ones, powers of ten with a true minus and superscripts. */
export function told(x, digits = 3) {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e5) return minus(trimmed(x.toPrecision(digits)));
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  return `${minus(trimmed(mantissa))} × 10${superscript(Number(exponent))}`;
}

const minus = (text) => text.replace("-", "−");

function trimmed(text) {
  const plain = text.includes("e") ? String(Number(text)) : text;
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

/** An exponent as small raised digits. */
export const superscript = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));

/** Round steps for axes and scale bars: the largest of 1, 2, 5 × 10^k that is at most x. */
export function round(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [5, 2, 1].find((m) => m * power <= x * (1 + 1e-9)) * power;
}

/** The value that a part of all are no larger than. */
export function quantile(values, part) {
  const sorted = Float32Array.from(values).sort();
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] : NaN;
}
