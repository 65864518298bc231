// What requests to models did: a row for each over time, and where the time to the first token went.

import * as Plot from "@observablehq/plot";
import uPlot from "uplot";
import type { Requests, Served, Times } from "./data";
import { h, image } from "./dom";
import { count, percent, seconds } from "./format";
import { type Kinds, legend, pointed } from "./spans";
import { table } from "./table";
import { colour, NARROW, onTheme } from "./theme";

/** By the name in `doing`; colour-blind readers tell the colours apart. */
export const REQUESTS: Kinds = {
  wait: { meaning: "wait for prefill", colour: "idle" },
  prefill: { meaning: "prefill", colour: "series-0" },
  transfer: { meaning: "transfer of keys and values", colour: "series-4" },
  step: { meaning: "wait for a step, first step", colour: "series-3" },
  decode: { meaning: "decode of the other tokens", colour: "series-2" },
};

/** The longest name of a row that has room beside a chart, in letters. */
const ROOM = 15;

/** The key of the line that marks first tokens. */
export const firstToken = (): HTMLElement => h("span", { class: "key" }, h("i", { class: "line" }), "first token");

/** The names of rows: requests, with their hosts where there is room. */
export function namesOfRequests(job: Served): string[] {
  const whole = job.requests.map((request, i) => `${request} · ${job.hosts[i].filter((host) => host !== null).join(" ")}`);
  return whole.every((name) => name.length <= ROOM) ? whole : job.requests.map(String);
}

/** Where each request had its first token. */
export function drawFirst(chart: uPlot, job: Served): void {
  const { ctx, bbox } = chart;
  const height = bbox.height / job.rows.length;
  const width = 2 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour("ink");
  job.first.forEach((first, i) => {
    const at = first === null ? -1 : chart.valToPos(first, "x", true);
    if (at >= bbox.left && at <= bbox.left + bbox.width) ctx.fillRect(at - width / 2, bbox.top + i * height, width, height - devicePixelRatio);
  });
  ctx.restore();
}

/** What is under the pointer, in words. */
export function requestUnder(chart: uPlot, job: Served, kinds: string[]): string {
  const [i, j] = pointed(chart, job.rows) ?? [-1, -1];
  if (i < 0) return "";
  const { t, k } = job.rows[i];
  const [prefill, decode] = job.hosts[i];
  const first = job.first[i];
  return `request ${job.requests[i]}, prefill on ${prefill}${decode === null ? "" : `, decode on ${decode}`}: ${REQUESTS[kinds[k[j]]].meaning}, ` +
    `${seconds(t[j + 1] - t[j])}; ${first === null ? "no first token" : `first token after ${seconds(first - t[0])}`}`;
}

/** Percentiles, what the time to the first token was made of, and the requests; one that is clicked is given to `zoom`. */
export function served(of: Requests, zoom: (range: [number, number]) => void): HTMLElement {
  const when = new Map(of.table.rows.map((row, i) => [row, of.when[i]]));
  const labels = [...new Set(of.bands.map((band) => band.label))];
  return h("div", { class: "served" },
    percentiles(of),
    ...labels.flatMap((label) => bands(of, label, labels.length > 1)),
    table(of.table, (row) => zoom(when.get(row)!)));
}

const TIMES = ["mean_s", "p50_s", "p90_s", "p99_s", "max_s"] as const;

function percentiles(of: Requests): HTMLElement {
  const shown = (times: Times): string[] => TIMES.map((name) => (times.at_least.includes(name) ? "≥ " : "") + seconds(times[name]));
  const heads = ["", "requests", "answered", "mean", "median", "p90", "p99", "largest"];
  const rows = of.times.flatMap(({ label, requests, answered, ttft, tpot }) =>
    ([["TTFT", ttft], ["TPOT", tpot]] as const).map(([name, times]) =>
      [`${name}, ${label}`, count(requests), count(answered), ...shown(times)]));
  return plain(heads, rows);
}

/** A bar for each band, and a table with the same numbers. */
function bands(of: Requests, label: string, several: boolean): HTMLElement[] {
  const rows = of.bands.filter((band) => band.label === label);
  const kinds = of.kinds.slice(0, rows[0].parts.length);
  const there = kinds.map((kind, i) => ({ kind, i })).filter(({ i }) => rows.some((row) => row.parts[i] > 0));
  const box = h("div", { class: "bands" });
  const draw = (): void => {
    const parts = rows.flatMap(({ band, parts }) => there.map(({ kind, i }) => ({ band, kind, time: parts[i] })));
    box.replaceChildren(image(Plot.plot({
      width: box.clientWidth,
      height: 46 + 34 * rows.length,
      marginLeft: 92,
      marginRight: 24,
      style: { background: "transparent", color: "inherit", fontSize: "12px", fontFamily: "inherit" },
      x: { label: null, grid: true, nice: true, tickFormat: seconds, ticks: box.clientWidth < NARROW ? 3 : 6 },
      y: { label: null, domain: rows.map(({ band }) => band), padding: 0.25 },
      color: { domain: kinds, range: kinds.map((kind) => colour(REQUESTS[kind].colour)) },
      marks: [
        Plot.axisY({ label: null, tickSize: 0 }),
        Plot.barX(parts, { x: "time", y: "band", fill: "kind", order: kinds }),
        Plot.ruleX([0]),
      ],
    }), `where the mean time to first token of ${label} went; the table has the same numbers`));
  };
  requestAnimationFrame(draw);
  onTheme(draw);
  const heads = ["", "requests", "mean TTFT", ...there.map(({ kind }) => REQUESTS[kind].meaning)];
  const cells = rows.map(({ band, requests, waiting, ttft_s, parts }) => [
    band, count(requests) + (waiting ? `, ${count(waiting)} waiting` : ""), (waiting ? "≥ " : "") + seconds(ttft_s),
    ...there.map(({ i }) => `${seconds(parts[i])}, ${percent(ttft_s > 0 ? parts[i] / ttft_s : null)}`),
  ]);
  const shown = there.map(({ i }) => i);
  return [
    h("h3", {}, `Where the time to first token${several ? ` of ${label}` : ""} went`,
      h("small", {}, " means of all requests, and of the faster and the slower ones")),
    legend([{ t: [], k: shown }], of.kinds, REQUESTS),
    box, plain(heads, cells),
  ];
}

/** A table of texts; the first of each row is its heading. It has nothing to focus, so it can be focused itself to scroll it. */
function plain(heads: string[], rows: string[][]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0 }, h("table", {},
    h("thead", {}, h("tr", {}, ...heads.map((head, i) => (i ? h("th", { class: "number" }, head) : h("td", {}))))),
    h("tbody", {}, ...rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), ...rest.map((text) => h("td", { class: "number" }, text)))))));
}
