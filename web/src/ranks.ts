// What ranks of jobs did: a row for each, a colour for each kind.

import uPlot from "uplot";
import type { Job } from "./data";
import { seconds } from "./format";
import { type Kinds, pointed } from "./spans";

/** By the name in `doing`; colour-blind readers tell the colours apart. */
export const RANKS: Kinds = {
  computation: { meaning: "computation", colour: "series-0" },
  straggling: { meaning: "longer computation of a straggler", colour: "series-1" },
  communication: { meaning: "exposed communication", colour: "series-4" },
  wait: { meaning: "wait for others", colour: "idle" },
  checkpoint: { meaning: "checkpoint", colour: "series-2" },
  recovery: { meaning: "recovery from a failure", colour: "series-6" },
};

/** The names of rows. */
export function namesOfRanks(job: Job): string[] {
  return job.ranks.map((rank, i) => `${rank} · ${job.hosts[i]}`);
}

/** What is under the pointer, in words. */
export function rankUnder(chart: uPlot, job: Job, kinds: string[]): string {
  const [i, j] = pointed(chart, job.rows) ?? [-1, -1];
  if (i < 0) return "";
  const row = job.rows[i];
  const time = job.parts ? "" : `, ${seconds(row.t[j + 1] - row.t[j])}`;
  const iteration = row.i ? `, iteration ${row.i[j]}` : "";
  return `rank ${job.ranks[i]} on ${job.hosts[i]}${iteration}: ${RANKS[kinds[row.k[j]]].meaning}${time}`;
}
