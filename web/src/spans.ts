// Spans of time as rows: what each is has a colour.

import uPlot from "uplot";
import type { Spans } from "./data";
import { h } from "./dom";
import { colour } from "./theme";

/** What is meant by the name of a kind, and its colour in the style sheet. */
export type Kinds = Record<string, { meaning: string; colour: string }>;

/** The keys of the kinds that any row has. */
export function legend(rows: Spans[], names: string[], kinds: Kinds, ...more: HTMLElement[]): HTMLElement {
  const there = new Set(rows.flatMap((row) => row.k));
  const keys = names.filter((_, i) => there.has(i)).map((name) =>
    h("span", { class: "key" }, h("i", { style: `background:var(--${kinds[name].colour})` }), kinds[name].meaning));
  return h("p", { class: "legend" }, ...keys, ...more);
}

/** Spans that are shorter than a pixel share its colour by their lengths. */
export function drawSpans(chart: uPlot, rows: Spans[], names: string[], kinds: Kinds): void {
  const { ctx, bbox } = chart;
  const height = bbox.height / rows.length;
  const colours = names.map((name) => colour(kinds[name].colour));
  const right = bbox.left + bbox.width;
  ctx.save();
  rows.forEach((row, i) => {
    const top = bbox.top + i * height;
    row.k.forEach((kind, j) => {
      const from = Math.max(chart.valToPos(row.t[j], "x", true), bbox.left);
      const to = Math.min(chart.valToPos(row.t[j + 1], "x", true), right);
      if (to <= from) return;
      ctx.fillStyle = colours[kind];
      ctx.fillRect(from, top, to - from, height - devicePixelRatio);
    });
  });
  ctx.restore();
}

/** The row and the span under the pointer. */
export function pointed(chart: uPlot, rows: Spans[]): [number, number] | null {
  const { left = -1, top = -1 } = chart.cursor;
  if (left < 0 || top < 0) return null;
  const i = Math.floor((top / chart.over.clientHeight) * rows.length);
  const at = chart.posToVal(left, "x");
  const j = (rows[i]?.t.findIndex((t) => t > at) ?? -1) - 1;
  return j < 0 ? null : [i, j];
}
