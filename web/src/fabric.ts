// The fabric: nodes in their layers, each direction of a cable by what it carried, and where packets were lost.

import type { Fabric } from "./data";
import { h, svg } from "./dom";
import { count, givenRate, percent } from "./format";
import { onTheme, ramp } from "./theme";

const WIDTH = 1000;

export function fabric(of: Fabric | string): HTMLElement {
  if (typeof of === "string") return h("p", { class: "none" }, `No picture: ${of}.`);
  const rowsOf = new Set(of.at.map(([, y]) => y));
  const layered = rowsOf.size <= 8;
  const height = layered ? Math.min(140 * Math.max(rowsOf.size - 1, 1) + 80, 460) : 620;
  const [xs, ys] = [of.at.map((p) => p[0]), of.at.map((p) => p[1])];
  const scale = (v: number, all: number[], from: number, to: number): number => {
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return high === low ? (from + to) / 2 : from + ((v - low) / (high - low)) * (to - from);
  };
  const at = of.at.map(([x, y]) => [scale(x, xs, 36, WIDTH - 36), scale(y, ys, height - 46, 28)]);
  const said = h("p", { class: "said" }, "Point at a link.");
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "fabric", role: "img", "aria-label": "the fabric" });
  const lines: [SVGLineElement, number | null][] = [];
  const thick = of.links.length > 800 ? 1.1 : of.links.length > 200 ? 1.8 : 3;
  for (const [from, to, bps, used, lost, marks, queue] of of.links) {
    const [[x1, y1], [x2, y2]] = [at[from], at[to]];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    // Beside the cable, to its left: each direction has a side of its own.
    const [dx, dy] = [((y2 - y1) / length) * thick * 0.6, (-(x2 - x1) / length) * thick * 0.6];
    const text = `${of.names[from]} → ${of.names[to]}: ${givenRate(bps)}, ${percent(used)} used, ${count(lost)} lost, ` +
      `${count(marks)} marked, longest queue ${queue}`;
    const line = svg("line", {
      x1: x1 + dx, y1: y1 + dy, x2: x2 + dx, y2: y2 + dy, "stroke-width": thick, class: "link",
      mouseenter: () => { said.textContent = text; },
    }, svg("title", {}, text));
    lines.push([line, used]);
    picture.append(line);
    if (lost > 0) {
      const along = 0.22;
      picture.append(svg("circle", {
        cx: x1 + (x2 - x1) * along, cy: y1 + (y2 - y1) * along, r: Math.min(2.5 + Math.log10(lost) * 1.6, 9), class: "drops",
        mouseenter: () => { said.textContent = text; },
      }, svg("title", {}, text)));
    }
  }
  // A name is there where those of its row do not overlap: about 7 units a letter.
  const wide = (i: number): number => (of.names[i].length + 1) * 7;
  const inRow = new Map<number, number>();
  of.at.forEach(([, y], i) => inRow.set(y, (inRow.get(y) ?? 0) + wide(i)));
  const fits = (i: number): boolean => of.names.length <= 60 || (i >= of.hosts && layered && inRow.get(of.at[i][1])! < WIDTH);
  of.names.forEach((name, i) => {
    const isHost = i < of.hosts;
    const size = of.names.length > 150 ? (isHost ? 2 : 5) : isHost ? 4.5 : 9;
    const [x, y] = at[i];
    picture.append(svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, rx: isHost ? size : 2, class: isHost ? "host" : "switch" }, svg("title", {}, name)));
    if (fits(i)) picture.append(svg("text", { x, y: isHost ? y + 18 : y - 14, class: "node-name" }, name));
  });
  const paint = (): void => lines.forEach(([line, used]) => line.setAttribute("stroke", used === null ? "var(--down)" : ramp(0.12 + 0.88 * used)));
  paint();
  onTheme(paint);
  return h("div", { class: "fabric-box" }, picture, said, legend());
}

function legend(): HTMLElement {
  const bar = h("span", { class: "ramp" });
  const paint = (): void => { bar.style.background = `linear-gradient(90deg, ${[0.12, 0.34, 0.56, 0.78, 1].map(ramp).join(",")})`; };
  paint();
  onTheme(paint);
  return h("p", { class: "legend" }, "utilisation in the measured period: 0% ", bar, " 100%   ", h("span", { class: "dot" }), " packets lost at this port");
}
