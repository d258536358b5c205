// Colours of quantities: viridis (van der Walt & Smith 2015), which is perceptually uniform, also for colour-blind
// readers, limited to the part that contrasts with the background.

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
/** Part of the colour map for each theme: the dark end is invisible on dark, the light end on light. */
const PART = { dark: [0.22, 1], light: [0, 0.86] };

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** Returns the colour at u in 0 … 1, as bytes. */
function viridis(u) {
  const at = Math.min(Math.max(u, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const [a, b] = [rgb(VIRIDIS[k]), rgb(VIRIDIS[k + 1])];
  return a.map((x, i) => Math.round(x + (b[i] - x) * (at - k)));
}

/** Returns the colour map of a theme as n colours of four bytes each. */
export function map(theme, n) {
  const [low, high] = PART[theme];
  const bytes = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++) bytes.set([...viridis(low + ((high - low) * i) / (n - 1)), 255], 4 * i);
  return bytes;
}

/** Returns the colour `#rrggbb` of a custom property as three numbers from 0 to 1. */
export function ink(name) {
  return rgb(getComputedStyle(document.documentElement).getPropertyValue(name).trim()).map((x) => x / 255);
}

/** Returns the value of a CSS custom property. */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const theme = () => (document.documentElement.dataset.theme === "light" ? "light" : "dark");
