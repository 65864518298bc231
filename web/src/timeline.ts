// One axis of time: lanes of a flow's subflows, links as a strip of heat, goodput of all flows. Drag to zoom, double click to go back.

import uPlot from "uplot";
import type { Heat, ResultData, Spans } from "./data";
import { h } from "./dom";
import { KINDS } from "./events";
import { number, rate } from "./format";
import { namesOfRanks, RANKS, rankUnder } from "./ranks";
import { drawFirst, firstToken, namesOfRequests, REQUESTS, requestUnder } from "./requests";
import { drawSpans, type Kinds, legend } from "./spans";
import { colour, onTheme, ramp, series } from "./theme";
import { rows } from "./scatter";
import { decimals } from "./ticks";

const LEFT = 92;
const RIGHT = 14;
const ROW = 12;

/** Axes, colours and zoom that all charts share. */
export class Timeline {
  readonly box = h("div", { class: "timeline" });
  private charts: uPlot[] = [];
  private range: [number, number];
  private moving = false;

  /** `moved` is told what the reader zooms to. */
  constructor(private readonly of: ResultData, private readonly moved: (range: [number, number]) => void) {
    this.range = [0, of.end];
    onTheme(() => this.charts.forEach((chart) => chart.redraw(false)));
    addEventListener("resize", () => {
      for (const chart of this.charts) chart.setSize({ width: this.width(), height: chart.height });
    });
  }

  /** Shows the lanes of `flow`, or the run alone, from and to these times. */
  show(flow: number | null, range: [number, number]): void {
    this.charts.forEach((chart) => chart.destroy());
    this.charts = [];
    this.box.replaceChildren();
    this.range = range;
    if (flow !== null) this.lanes(flow);
    this.ranks();
    this.requests();
    this.strip();
    this.goodput();
  }

  zoom(range: [number, number]): void {
    this.moving = true;
    this.range = range;
    for (const chart of this.charts) chart.setScale("x", { min: range[0], max: range[1] });
    this.moving = false;
  }

  private width(): number {
    return Math.max(this.box.clientWidth, 300);
  }

  private add(title: string, height: number, more: Partial<uPlot.Options>, data: uPlot.AlignedData, ticks: boolean): void {
    const holder = h("div", { class: "chart" }, title ? h("div", { class: "chart-title" }, title) : null);
    this.box.append(holder);
    const text = (): string => colour("quiet");
    const grid = { stroke: () => colour("grid"), width: 1 };
    const { axes: [yAxis] = [{}], hooks = {}, ...rest } = more;
    const options: uPlot.Options = {
      width: this.width(),
      height: height + (ticks ? 34 : 14),
      padding: [8, RIGHT, ticks ? 0 : 6, 0],
      legend: { show: false },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: true }, points: { show: false } },
      ...rest,
      scales: { x: { time: false, min: this.range[0], max: this.range[1] }, ...rest.scales },
      series: [{}, ...(rest.series ?? [])],
      axes: [
        { show: ticks, stroke: text, grid, ticks: { show: false }, size: 26, space: 90, values: (_, at) => at.map((t) => this.time(t, at)) },
        { stroke: text, grid, ticks: { show: false }, size: LEFT, ...yAxis },
      ],
      hooks: {
        ...hooks,
        setScale: [(chart, key) => {
          if (key !== "x" || this.moving) return;
          const { min, max } = chart.scales.x;
          if (min !== undefined && max !== undefined && (min !== this.range[0] || max !== this.range[1])) { this.zoom([min!, max!]); this.moved([min!, max!]); }
        }],
      },
    };
    const chart = new uPlot(options, data, holder);
    chart.over.addEventListener("dblclick", (event) => { event.stopImmediatePropagation(); this.zoom([0, this.of.end]); this.moved([0, this.of.end]); }, { capture: true });
    this.charts.push(chart);
  }

  /** Times in the unit that suits what is shown, with the digits that tell its ticks apart. */
  private time(t: number, at: number[]): string {
    const [factor, unit] = this.range[1] >= 1 ? [1, "s"] : this.range[1] >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
    return `${(t * factor).toFixed(at.length > 1 ? decimals((at[1] - at[0]) * factor) : 0)} ${unit}`;
  }

  private lanes(flow: number): void {
    const lane = this.of.lanes[flow];
    if (!lane) return;
    const subflows = [...new Set([...Object.keys(lane.cwnd), ...Object.keys(lane.rate), ...(lane.events ?? []).map((e) => String(e.subflow))])]
      .sort((a, b) => Number(a) - Number(b));
    subflows.forEach((subflow, i) => {
      const windows = lane.cwnd[subflow];
      const events = (lane.events ?? []).filter((event) => String(event.subflow) === subflow);
      const points = windows ?? lane.rate[subflow] ?? [[this.range[0], this.range[1]], [null, null]];
      const format = windows ? number : rate;
      this.add(`subflow ${subflow}: ${windows ? "window, packets" : "goodput"}`, 64, {
        series: [{ stroke: () => series(i), width: 1.8, fill: () => `${series(i)}22`, paths: uPlot.paths.stepped!({ align: 1 }) }],
        scales: { y: { range: (_, __, max) => [0, Math.max(max ?? 1, 1e-9) * 1.15] } },
        axes: [{ values: (_, at) => at.map(format), space: 24 }],
        hooks: {
          drawClear: [(chart) => shade(chart, lane.suppressed[subflow] ?? [])],
          draw: [(chart) => ticks(chart, events)],
        },
      }, points as uPlot.AlignedData, i === subflows.length - 1);
    });
  }

  private ranks(): void {
    if (!this.of.ranks) return;
    const { jobs, kinds } = this.of.ranks;
    this.box.append(legend(jobs.flatMap((job) => job.rows), kinds, RANKS));
    for (const job of jobs) {
      const left = job.rows.length < job.of ? `; ${job.rows.length} of ${job.of} are shown` : "";
      this.spans(`ranks of ${job.name}, those first that waited least for others${left}`, job.rows, namesOfRanks(job), kinds, RANKS,
        (chart) => rankUnder(chart, job, kinds));
    }
  }

  private requests(): void {
    if (!this.of.requests) return;
    const { jobs, kinds } = this.of.requests;
    this.box.append(legend(jobs.flatMap((job) => job.rows), kinds, REQUESTS, firstToken()));
    for (const job of jobs) {
      const left = job.rows.length < job.of ? `; of ${job.of} the slowest and others are shown` : "";
      this.spans(`requests of ${job.name} in order of arrival${left}`, job.rows, namesOfRequests(job), kinds, REQUESTS,
        (chart) => requestUnder(chart, job, kinds), (chart) => drawFirst(chart, job));
    }
  }

  /** A row of spans for each label; `under` says what is under the pointer, `more` draws above the spans. */
  private spans(title: string, rows: Spans[], labels: string[], names: string[], kinds: Kinds, under: (chart: uPlot) => string, more: (chart: uPlot) => void = () => {}): void {
    const n = rows.length;
    const said = h("p", { class: "said", "aria-live": "off" });
    this.add(title, n * ROW, {
      series: [{ stroke: "transparent", points: { show: false } }],
      scales: { y: { range: [0, n] } },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: true }, points: { show: false }, y: false },
      axes: [{
        grid: { show: false }, splits: () => labels.map((_, i) => n - i - 0.5), values: () => labels,
        font: "10px system-ui, sans-serif", space: 1, gap: 6,
      }],
      hooks: {
        draw: [(chart) => { drawSpans(chart, rows, names, kinds); more(chart); }],
        setCursor: [(chart) => { if (chart.over.matches(":hover")) said.textContent = under(chart); }],
      },
    }, [[0, this.of.end], [0, 0]], true);
    this.box.append(said);
  }

  private strip(): void {
    const heat = this.of.heat;
    if (!heat) return;
    const failures = this.of.failures ? rows(this.of.failures) : [];
    const n = heat.links.length;
    this.add("links: share of their rate that they carried; red dots: packets lost; hatched red: down; hatched orange: at a lower rate" +
      (heat.paused.length ? "; purple at the foot: paused, the higher the longer" : ""), n * ROW, {
      series: [{ stroke: "transparent", points: { show: false } }],
      scales: { y: { range: [0, n] } },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: true }, points: { show: false }, y: false },
      axes: [{
        grid: { show: false }, splits: () => heat.links.map((_, i) => n - i - 0.5), values: () => heat.links,
        font: "10px system-ui, sans-serif", space: 1, gap: 6,
      }],
      hooks: { draw: [(chart) => drawHeat(chart, heat, failures)] },
    }, [[0, this.of.end], [0, 0]], false);
  }

  private goodput(): void {
    const { t, series: all, spread } = this.of.goodput;
    const names = Object.keys(all);
    const title = `goodput of all flows${names.length > 1 ? `: ${names.join(", ")}` : ""}` +
      (spread ? " (payload of each flow spread evenly over its life, as rates were not recorded)" : "");
    this.add(title, 110, {
      series: names.map((_, i) => ({ stroke: () => series(i), width: 1.5, fill: () => `${series(i)}22` })),
      scales: { y: { range: (_, __, max) => [0, Math.max(max ?? 1, 1) * 1.08] } },
      axes: [{ values: (_, at) => at.map(rate), space: 30 }],
    }, [t, ...names.map((name) => all[name])] as uPlot.AlignedData, true);
  }
}

/** Where the subflow sent no new data: AMP suppressed it, or MMPTCP had handed over. */
function shade(chart: uPlot, spans: [number, number][]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = colour("suppressed");
  for (const [start, end] of spans) {
    const left = Math.max(chart.valToPos(start, "x", true), bbox.left);
    const right = Math.min(chart.valToPos(end, "x", true), bbox.left + bbox.width);
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** A tick for each event, from the top; those that matter more are longer. */
function ticks(chart: uPlot, events: { t: number; kind: string }[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  for (const { t, kind } of events) {
    const x = chart.valToPos(t, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const of = KINDS[kind] ?? KINDS.other;
    ctx.fillStyle = colour(of.colour);
    const width = Math.max(of.width * devicePixelRatio, 1);
    ctx.fillRect(x - width / 2, bbox.top, width, bbox.height * of.length);
  }
  ctx.restore();
}

function drawHeat(chart: uPlot, heat: Heat, failures: Record<string, any>[]): void {
  const { ctx, bbox } = chart;
  const row = bbox.height / heat.links.length;
  const x = (t: number): number => Math.min(Math.max(chart.valToPos(t, "x", true), bbox.left), bbox.left + bbox.width);
  const edges = heat.edges.map(x);
  ctx.save();
  heat.used.forEach((line, i) => line.forEach((used, j) => {
    const width = edges[j + 1] - edges[j];
    if (width <= 0) return;
    ctx.fillStyle = used < 0 ? colour("down") : ramp(used / 100);
    ctx.fillRect(edges[j], bbox.top + i * row, width + 0.5, row - 1);
  }));
  // A pause fills up to two thirds of the height, so that what was carried beside it can be seen.
  ctx.fillStyle = colour("paused");
  for (const [i, j, share] of heat.paused) {
    if (edges[j + 1] <= edges[j]) continue;
    const height = Math.max((row - 1) * (2 / 3) * (share / 100), devicePixelRatio);
    ctx.fillRect(edges[j], bbox.top + (i + 1) * row - 1 - height, edges[j + 1] - edges[j] + 0.5, height);
  }
  for (const failure of failures) {
    const i = heat.links.indexOf(failure.link);
    if (i < 0) continue;
    const [left, right] = [x(failure.start_s), x(failure.end_s ?? heat.edges[heat.edges.length - 1])];
    hatch(ctx, failure.state === "slow", left, bbox.top + i * row, right - left, row - 1);
  }
  ctx.fillStyle = colour("loss");
  for (const [i, j] of heat.lost) {
    if (edges[j + 1] <= edges[j]) continue;
    ctx.beginPath();
    ctx.arc((edges[j] + edges[j + 1]) / 2, bbox.top + (i + 0.5) * row, Math.min(row / 3, 3 * devicePixelRatio), 0, 7);
    ctx.fill();
  }
  ctx.restore();
}

/** Lines to the right in red: down; to the left in orange: slow. */
function hatch(ctx: CanvasRenderingContext2D, slow: boolean, left: number, top: number, width: number, height: number): void {
  if (width <= 0) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.strokeStyle = colour(slow ? "mark" : "loss");
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeRect(left, top, width, height);
  for (let at = left - height; at < left + width; at += 6 * devicePixelRatio) {
    ctx.beginPath();
    ctx.moveTo(at, slow ? top : top + height);
    ctx.lineTo(at + height, slow ? top + height : top);
    ctx.stroke();
  }
  ctx.restore();
}
