// Light and dark: what the reader's system says, until they choose.

const listeners = new Set<() => void>();

/** A colour of the style sheet, as it is now. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** The colours of series; the same in both themes, and told apart by colour-blind readers. */
export const SERIES = 7;
export const series = (i: number): string => colour(`series-${i % SERIES}`);

/** Charts with fewer pixels across have fewer labels. */
export const NARROW = 480;

/** Has `redraw` called when the colours change. */
export function onTheme(redraw: () => void): void {
  listeners.add(redraw);
}

/** No one listens any more, as all is drawn anew. */
export function forget(): void {
  listeners.clear();
}

const notify = (): void => listeners.forEach((redraw) => redraw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", notify);

export const isDark = (): boolean =>
  (document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

export function toggle(): void {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  notify();
}

// Paper is light: canvases are drawn for it, and anew for the screen.
let screen: string | undefined;
addEventListener("beforeprint", () => { screen = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "light"; notify(); });
addEventListener("afterprint", () => {
  if (screen === undefined) delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = screen;
  notify();
});

/** The colour of a share from 0 to 1, from the background's to the strongest. */
export function ramp(share: number): string {
  const stops = isDark()
    ? [[27, 36, 48], [36, 84, 130], [72, 149, 209], [214, 236, 255]]
    : [[240, 243, 247], [158, 200, 232], [42, 114, 178], [8, 38, 80]];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[low].map((c, i) => Math.round(c + (stops[low + 1][i] - c) * (at - low)));
  return `rgb(${mix.join(",")})`;
}
