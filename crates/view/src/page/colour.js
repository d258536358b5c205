// Colour by a quantity: viridis (van der Walt & Smith 2015), which is even to the eye and to every kind of colour blindness,
// in the part of it that stands out from the ground.

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
/** The part of the map for a ground: its dark end is lost on dark, its light end on light. */
const PART = { dark: [0.22, 1], light: [0, 0.86] };

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** The colour at u in 0 … 1, as bytes. */
function viridis(u) {
  const at = Math.min(Math.max(u, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const [a, b] = [rgb(VIRIDIS[k]), rgb(VIRIDIS[k + 1])];
  return a.map((x, i) => Math.round(x + (b[i] - x) * (at - k)));
}

/** The map of a theme as n colours of four bytes each. */
export function map(theme, n) {
  const [low, high] = PART[theme];
  const bytes = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++) bytes.set([...viridis(low + ((high - low) * i) / (n - 1)), 255], 4 * i);
  return bytes;
}

/** `#rrggbb` of a custom property as three numbers up to 1. */
export function ink(name) {
  return rgb(getComputedStyle(document.documentElement).getPropertyValue(name).trim()).map((x) => x / 255);
}

/** A custom property as CSS has it. */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const theme = () => (document.documentElement.dataset.theme === "light" ? "light" : "dark");
