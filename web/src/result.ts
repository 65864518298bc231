// The part of the page that is about one result.

import type { Group, Ranks, ResultData, Table } from "./data";
import { h, section } from "./dom";
import { KINDS } from "./events";
import { fabric } from "./fabric";
import { count, givenBytes, noun, number, rate, seconds } from "./format";
import { note, type Place } from "./place";
import { served } from "./requests";
import { rows, scatter } from "./scatter";
import { table } from "./table";
import { Timeline } from "./timeline";

const SLOW = ["flow", "src", "dst", "size_bytes", "fct_s", "slowdown", "finished", "timeouts", "retransmits"];

/** `at` is what the address asks for. */
export function result(of: ResultData, at: Place): HTMLElement {
  const flows = rows(of.flows.columns);
  const byNumber = new Map(flows.map((flow) => [flow.flow as number, flow]));
  let open: number | undefined;
  const moved = ([from, to]: [number, number]): void => note({ result: of.name, flow: open, from, to });
  const timeline = new Timeline(of, moved);
  const go = (range: [number, number]): void => { timeline.zoom(range); moved(range); };
  const lookAt = (range: [number, number]): void => { go(range); document.querySelector(".timeline")!.scrollIntoView({ block: "start" }); };
  const heading = h("h3", { id: "flow-title" });
  const facts = h("dl", { class: "facts" });
  const keys = h("p", { class: "legend" });
  const story = h("div", {});
  let life: [number, number] = [0, of.end];
  const choose = (number: number): void => {
    const flow = byNumber.get(number);
    if (!flow) return;
    open = number;
    const end = flow.end_s ?? of.end;
    const margin = (end - flow.start_s) * 0.04;
    life = [Math.max(0, flow.start_s - margin), end + margin];
    heading.textContent = `Flow ${number}: ${flow.src} to ${flow.dst}`;
    facts.replaceChildren(...describe(flow).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    const lane = of.lanes[number];
    const kinds = [...new Set((lane?.events ?? []).map((event) => event.kind))];
    keys.replaceChildren(
      ...(lane ? [] : [`No lanes of this flow are on the page. Write it with --flow ${number}, where the run recorded windows or rates.`]),
      ...kinds.map((kind) => h("span", { class: "key" }, h("i", { style: `background:var(--${KINDS[kind].colour})` }), KINDS[kind].name)),
      ...(lane && Object.keys(lane.suppressed).length ? [h("span", { class: "key" }, h("i", { style: "background:var(--suppressed)" }), "suppressed: the subflow sends no new data")] : []),
    );
    story.replaceChildren(...(lane?.story ? [h("details", { open: true }, h("summary", {}, "Why it took so long"), h("pre", { class: "story", tabindex: 0 }, lane.story))] : []));
    timeline.show(number, life);
  };
  const pick = (flow: number): void => {
    choose(flow);
    note({ result: of.name, flow });
    document.getElementById("timeline")!.scrollIntoView({ behavior: "smooth", block: "start" });
  };
  const slowest = flows.filter((flow) => flow.slowdown !== null).sort((a, b) => b.slowdown - a.slowdown).slice(0, 200);
  const unfinished = flows.some((flow) => flow.at_least);
  const names = SLOW.filter((name) => unfinished || name !== "finished");
  const slow: Table = {
    title: "Slowest flows",
    note: unfinished ? "a flow that has not finished counts as slow as it was when the run ended" : "",
    names,
    rows: slowest.map((flow) => names.map((name) => (name === "finished" ? !flow.at_least : flow[name]))),
  };
  const { overall, groups, drops, lost, marks } = of.overview;
  const first = byNumber.get(at.flow ?? -1) ?? slowest.find((flow) => of.lanes[flow.flow]?.story) ?? slowest.find((flow) => of.lanes[flow.flow]) ?? slowest[0] ?? flows[0];
  requestAnimationFrame(() => {
    if (first) choose(first.flow); else timeline.show(null, [0, of.end]);
    // Ranks and requests are seen best in the whole run.
    if ((of.ranks || of.requests) && at.flow === undefined && at.from === undefined) timeline.zoom([0, of.end]);
    if (at.from !== undefined && at.to !== undefined && at.from < at.to) timeline.zoom([at.from, at.to]);
    if (at.flow !== undefined || at.from !== undefined) window.scrollIntoView();
  });
  const window = section("Over time", "Drag across to zoom in, double click for the whole run. All charts share one axis.");
  window.id = "timeline";
  window.append(
    h("div", { class: "flow-head" }, heading,
      h("span", { class: "buttons" },
        h("button", { click: () => go(life) }, "life of the flow"),
        h("button", { click: () => go([0, of.end]) }, "whole run"))),
    facts, story, keys, timeline.box,
  );
  return h("div", { class: "result" },
    h("div", { class: "cards" },
      card(count(overall.flows), "measured flows", overall.unfinished ? `${count(overall.unfinished)} did not finish` : "all with a size finished"),
      card(fct(overall, "fct_p50_s"), "median FCT", overall.fct_p99_s === null ? "too few flows for a 99th percentile" : `99th percentile ${fct(overall, "fct_p99_s")}`),
      card(rate(overall.goodput_bps), "mean goodput of a flow", overall.jain === null ? "" : `Jain's index ${number(overall.jain)}`),
      card(count(overall.timeouts), noun(overall.timeouts, "timeout"), `${count(overall.retransmits)} of ${count(overall.segments)} ${noun(overall.segments, "segment")} sent again`),
      card(count(drops), "packets dropped", `${lost ? `${count(lost)} lost on links, ` : ""}${count(marks)} marked`),
      card(seconds(Number(of.run.simulated_s)), "simulated", `in ${seconds(Number(of.run.wall_s))}, ${count(Number(of.run.packet_hops))} packet-hops`),
    ),
    groups.length > 1 ? section("By transport", "", table({ title: "", note: "", names: GROUP, rows: groups.map((g) => GROUP.map((n) => (g.at_least.includes(n) ? `≥ ${seconds((g as any)[n])}` : (g as any)[n]))) })) : null,
    section("Which flows were slow", "Each dot is a flow, each triangle one that had not finished when the run ended and will be slower. Lines: median, and dotted the 99th percentile, of flows of about that size. Click a flow to open it.",
      h("div", { class: "two" }, scatter(of, pick), table(slow, (row) => pick(row[0] as number)))),
    of.ranks ? section("Iterations of jobs", "Where the time of an iteration went, as means over its ranks. Lost is what was done again after a failure, and recoveries from failures. Click an iteration to see it over time. " + of.ranks.table.note,
      of.ranks.plan.length ? h("ul", {}, ...of.ranks.plan.map((line) => h("li", {}, line))) : null, iterations(of.ranks, lookAt)) : null,
    of.requests ? section("Requests to models", "The time to first token (TTFT) and per output token behind it (TPOT). Click a request to see it over time.", served(of.requests, lookAt)) : null,
    window,
    section("The fabric", "", fabric(of.fabric)),
    section("Tables", "Click a heading to sort.", ...of.tables.map((each) => table(each))),
    section("What this page is made of", "", h("ul", {}, ...of.notes.map((note) => h("li", {}, note))),
      h("details", {}, h("summary", {}, "The scenario as run"), h("pre", { tabindex: 0 }, of.scenario))),
  );
}

/** The table of iterations; a row that is clicked is seen over time. */
function iterations(of: Ranks, zoom: (range: [number, number]) => void): HTMLElement {
  const when = new Map(of.table.rows.map((row, i) => [row, of.when[i]]));
  return table(of.table, (row) => zoom(when.get(row)!));
}

const GROUP = ["name", "flows", "finished", "unfinished", "fct_mean_s", "fct_p50_s", "fct_p99_s", "goodput_bps", "jain", "timeouts", "retransmits", "suppressions"];

/** A completion time of a group, which unfinished flows make a lower bound. */
function fct(of: Group, name: "fct_p50_s" | "fct_p99_s"): string {
  return (of.at_least.includes(name) ? "≥ " : "") + seconds(of[name]);
}

function card(value: string, what: string, more: string): HTMLElement {
  return h("div", { class: "card" }, h("b", {}, value), h("span", {}, what), more ? h("small", {}, more) : null);
}

function describe(flow: Record<string, any>): [string, string][] {
  const facts: [string, string][] = [
    ["size", flow.size_bytes === null ? "unlimited" : givenBytes(flow.size_bytes)],
    ["FCT", (flow.at_least ? "unfinished, ≥ " : "") + seconds(flow.fct_s)],
    ["slowdown", (flow.at_least ? "≥ " : "") + number(flow.slowdown)],
    ["goodput", rate(flow.goodput_bps)],
    ["transport", flow.transport === flow.control ? flow.transport : `${flow.transport} (${flow.control})`],
    ["where", flow.locality],
    ["timeouts", count(flow.timeouts)],
    ["retransmitted", `${count(flow.retransmits)} of ${count(flow.segments)}`],
    ["marked ACKs", count(flow.marked_acks)],
    ["subflows", count(flow.subflows)],
  ];
  if (flow.suppressions) facts.push(["suppressions", count(flow.suppressions)]);
  if (flow.failed) facts.push(["given up", "yes"]);
  return facts;
}
