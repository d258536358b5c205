// Vectors are arrays of three numbers, matrices arrays of sixteen by columns, as in WebGL.

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const length = (a) => Math.hypot(a[0], a[1], a[2]);
export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
export const mix = (a, b, u) => a.map((x, k) => x + (b[k] - x) * u);
export const at = (column, i) => [column[3 * i], column[3 * i + 1], column[3 * i + 2]];

/** Returns a perspective projection: `up` is the vertical angle of view, `ratio` is width over height. */
export function perspective(up, ratio, near, far) {
  const f = 1 / Math.tan(up / 2);
  return [f / ratio, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

/** Maximum length of a tangent of an interpolated path, in lengths of its chord: about that of 3/4 of a circle. */
export const LONGEST_TANGENT = 3;

function limited(tangent, longest) {
  const l = length(tangent);
  return l > longest ? scale(tangent, longest / l) : tangent;
}

/**
 * Returns the cubic through p0 and p1 with the tangents m0 and m1 (velocity × interval), at u in 0 … 1. If the interval
 * spans orbits, the tangents are meaningless and are shortened, so that particles do not overshoot. The vertex shader
 * does the same.
 */
export function hermite(p0, m0, p1, m1, u) {
  const longest = LONGEST_TANGENT * length(sub(p1, p0));
  const [a, b] = [limited(m0, longest), limited(m1, longest)];
  const v = 1 - u;
  const [h0, h1] = [(1 + 2 * u) * v * v, u * u * (3 - 2 * u)];
  const [g0, g1] = [u * v * v, -u * u * v];
  return p0.map((x, k) => h0 * x + g0 * a[k] + h1 * p1[k] + g1 * b[k]);
}

/** Formats a number with `digits` significant digits, and powers of ten with a minus sign and superscripts. */
export function format(x, digits = 3) {
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

/** Returns an integer in superscript digits. */
const superscript = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));

/** Rounds down to 1, 2 or 5 × 10^k, for axes and scale bars. */
export function round(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [5, 2, 1].find((m) => m * power <= x * (1 + 1e-9)) * power;
}

/** Returns the quantile of values at a fraction `part`. */
export function quantile(values, part) {
  const sorted = Float32Array.from(values).sort();
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] : NaN;
}

/** Returns the index of the last of ascending values that is at most x; -1 if all are larger. */
export function lastAt(xs, x) {
  let [low, high] = [-1, xs.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (xs[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}
