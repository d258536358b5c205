// Colours and sizes of stars that age.

/** Temperatures in K at the ends of the colours. */
export const TEMPERATURES = [2500, 40000];
/**
 * Colours of black bodies in sRGB at temperatures from the first to the last with one ratio: those of the film,
 * crates/plot/src/movie/shades.rs, which has the source and the test.
 */
export const BLACK_BODIES = ["#FFA64A", "#FFC98E", "#FFE7D0", "#F3F1FF", "#CDD9FF", "#B8CAFF", "#ABC1FF", "#A3BCFF", "#9EB8FF"];
/** Brightness of them for each theme: on a light ground they would be lost. */
const BRIGHTNESS = { dark: 1, light: 0.62 };
/** Colours of white dwarfs, neutron stars and black holes for each theme: no black body is green or violet. */
const REMNANTS = { dark: ["#3DDC97", "#E879F9", "#FF4D4D"], light: ["#028B63", "#A21CAF", "#111111"] };

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** Returns the name of the class of a type, 0 to 15 (Hurley, Pols & Tout 2000), for one star. */
export function className(type) {
  if (type <= 1) return "main sequence";
  if (type <= 6) return "giant";
  if (type <= 9) return "helium star";
  return { 13: "neutron star", 14: "black hole", 15: "no remnant" }[type] ?? "white dwarf";
}

/** Returns the colours of temperatures as n colours of four bytes each. */
export function temperatures(theme, n) {
  const bytes = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++) {
    const at = (i / (n - 1)) * (BLACK_BODIES.length - 1);
    const k = Math.min(Math.floor(at), BLACK_BODIES.length - 2);
    const [a, b] = [rgb(BLACK_BODIES[k]), rgb(BLACK_BODIES[k + 1])];
    bytes.set([...a.map((x, c) => Math.round(BRIGHTNESS[theme] * (x + (b[c] - x) * (at - k)))), 255], 4 * i);
  }
  return bytes;
}

/** Returns the colours of white dwarfs, neutron stars and black holes, nine numbers from 0 to 1. */
export const remnants = (theme) => REMNANTS[theme].flatMap(rgb).map((x) => x / 255);

/** Returns the colours of remnants with their names. */
export const remnantNames = (theme) => ["white dwarf", "neutron star", "black hole"].map((name, k) => [name, REMNANTS[theme][k]]);

/**
 * Returns two numbers for each star. The first is the place of its temperature in the colours, 0 … 1, or 2, 3, 4 for a white
 * dwarf, a neutron star and a black hole, or 5 for what has left nothing. The second is its size over that of a star like the Sun: it
 * grows with the fifth root of the luminosity, as the light in films.
 */
export function shine(temperature, luminosity, types) {
  const [low, high] = TEMPERATURES;
  const both = new Float32Array(2 * types.length);
  types.forEach((type, i) => {
    const tone = Math.min(Math.max(Math.log(temperature[i] / low) / Math.log(high / low), 0), 1);
    const remnant = type < 10 ? tone : type <= 12 ? 2 : type - 10;
    both.set([remnant, type < 10 ? Math.min(Math.max(luminosity[i] ** 0.2, 0.6), 5) : 1], 2 * i);
  });
  return both;
}
