// What ranks of jobs did: a row for each, a colour for each kind.

import uPlot from "uplot";
import type { Job } from "./data";
import { h } from "./dom";
import { seconds } from "./format";
import { colour } from "./theme";

/** What is meant, and the colour, by the name in `doing`; colour-blind readers tell them apart. */
const DOING: Record<string, { meaning: string; colour: string }> = {
  computation: { meaning: "computation", colour: "series-0" },
  straggling: { meaning: "longer computation of a straggler", colour: "series-1" },
  communication: { meaning: "exposed communication", colour: "series-4" },
  wait: { meaning: "wait for others", colour: "idle" },
  checkpoint: { meaning: "checkpoint", colour: "series-2" },
  recovery: { meaning: "recovery from a failure", colour: "series-6" },
};

/** The keys of what any rank did. */
export function legend(jobs: Job[], kinds: string[]): HTMLElement {
  const there = new Set(jobs.flatMap((job) => job.rows.flatMap((row) => row.k)));
  const keys = kinds.filter((_, i) => there.has(i)).map((kind) =>
    h("span", { class: "key" }, h("i", { style: `background:var(--${DOING[kind].colour})` }), DOING[kind].meaning));
  return h("p", { class: "legend" }, ...keys);
}

/** The names of rows. */
export function names(job: Job): string[] {
  return job.ranks.map((rank, i) => `${rank} · ${job.hosts[i]}`);
}

/** Spans that are shorter than a pixel share its colour by their lengths. */
export function drawRanks(chart: uPlot, job: Job, kinds: string[]): void {
  const { ctx, bbox } = chart;
  const height = bbox.height / job.rows.length;
  const colours = kinds.map((kind) => colour(DOING[kind].colour));
  const right = bbox.left + bbox.width;
  ctx.save();
  job.rows.forEach((row, i) => {
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

/** What is under the pointer, in words. */
export function under(chart: uPlot, job: Job, kinds: string[]): string {
  const { left = -1, top = -1 } = chart.cursor;
  if (left < 0 || top < 0) return "";
  const i = Math.floor((top / chart.over.clientHeight) * job.rows.length);
  const row = job.rows[i];
  if (!row) return "";
  const at = chart.posToVal(left, "x");
  const j = row.t.findIndex((t) => t > at) - 1;
  if (j < 0) return "";
  const time = job.parts ? "" : `, ${seconds(row.t[j + 1] - row.t[j])}`;
  const iteration = row.i ? `, iteration ${row.i[j]}` : "";
  return `rank ${job.ranks[i]} on ${job.hosts[i]}${iteration}: ${DOING[kinds[row.k[j]]].meaning}${time}`;
}
