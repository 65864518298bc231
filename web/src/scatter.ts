// Slowdown by size of the flow; a click on a flow chooses it.

import * as Plot from "@observablehq/plot";
import type { Columns, ResultData } from "./data";
import { h, image } from "./dom";
import { bytes, count, givenBytes, noun, seconds } from "./format";
import { onTheme, series } from "./theme";
import { sizeTicks } from "./ticks";

const LEFT = 48, RIGHT = 20, INSET = 12;

/** Rows of columns. */
export function rows(columns: Columns): Record<string, any>[] {
  const names = Object.keys(columns);
  return (columns[names[0]] ?? []).map((_, i) => Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}

export function scatter(of: ResultData, choose: (flow: number) => void): HTMLElement {
  const box = h("div", { class: "scatter" });
  const flows = rows(of.flows.columns).filter((flow) => flow.slowdown !== null && flow.size_bytes !== null);
  if (!flows.length) return h("p", { class: "none" }, "No flow with a size was measured.");
  const names = [...new Set(flows.map((flow) => flow.transport as string))];
  const bands = of.flows.slowdowns ? rows(of.flows.slowdowns) : [];
  const bytesOf = flows.map((flow) => flow.size_bytes as number);
  const sizes = new Set(bytesOf).size;
  const draw = (): void => {
    const chart = image(Plot.plot({
      width: box.clientWidth,
      height: 430,
      marginLeft: LEFT,
      marginRight: RIGHT,
      marginBottom: 40,
      style: { background: "transparent", color: "inherit", fontSize: "12px", fontFamily: "inherit" },
      x: { type: "log", label: "size of the flow", tickFormat: bytes, ticks: sizeTicks(bytesOf, box.clientWidth - LEFT - RIGHT - 2 * INSET, bytes), grid: true, inset: INSET },
      y: { type: "log", label: "slowdown (FCT over ideal FCT)", tickFormat: (v: number) => String(Number(v.toPrecision(3))), ticks: 5, grid: true },
      color: { domain: names, range: names.map((_, i) => series(i)), legend: names.length > 1 },
      marks: [
        Plot.dot(flows.filter((flow) => !flow.at_least), {
          x: "size_bytes", y: "slowdown", fill: "transport", r: flows.length > 1000 ? 2 : 3.5,
          fillOpacity: flows.length > 1000 ? 0.45 : 0.7,
        }),
        Plot.dot(flows.filter((flow) => flow.at_least), { x: "size_bytes", y: "slowdown", stroke: "transport", symbol: "triangle", r: 4 }),
        sizes > 1 ? Plot.line(bands, { x: "size_median_bytes", y: "p50", z: "series", stroke: "series", strokeWidth: 2 }) : null,
        sizes > 1 ? Plot.line(bands, { x: "size_median_bytes", y: "p99", z: "series", stroke: "series", strokeWidth: 1.5, strokeDasharray: "2,3" }) : null,
        Plot.dot(flows, Plot.pointer({ x: "size_bytes", y: "slowdown", r: 7, stroke: "currentColor", strokeWidth: 2 })),
        Plot.tip(flows, Plot.pointer({
          x: "size_bytes", y: "slowdown",
          title: (f: any) => `flow ${f.flow}: ${f.src} to ${f.dst}\n${givenBytes(f.size_bytes)} ${f.at_least ? "not finished after" : "in"} ${seconds(f.fct_s)}, slowdown ${f.at_least ? "≥ " : ""}${f.slowdown.toPrecision(3)}\n` +
            `${count(f.timeouts)} ${noun(f.timeouts, "timeout")}, ${count(f.retransmits)} retransmitted of ${count(f.segments)}`,
          fill: "var(--card)", stroke: "var(--line)",
        })),
      ],
    }) as (SVGSVGElement | HTMLElement) & { value: any }, "slowdown by size of the flow; the table of the slowest flows has the same");
    chart.addEventListener("click", () => { if (chart.value) choose(chart.value.flow); });
    box.replaceChildren(chart);
  };
  requestAnimationFrame(draw);
  onTheme(draw);
  return box;
}
