// What is on the page, as python/linkpool/report/data writes it.

export type Maybe = number | null;
export type Columns = Record<string, (number | string | boolean | null)[]>;

export interface Group {
  name: string;
  flows: number;
  finished: number;
  unfinished: number;
  unlimited: number;
  fct_mean_s: Maybe;
  fct_p50_s: Maybe;
  fct_p99_s: Maybe;
  /** Which of these are lower bounds, as flows had not finished. */
  at_least: string[];
  goodput_bps: Maybe;
  jain: Maybe;
  timeouts: number;
  retransmits: number;
  segments: number;
  suppressions: number;
}

/** Samples of a line: times in seconds, and values. */
export type Points = [number[], Maybe[]];

export interface Lane {
  cwnd: Record<string, Points>;
  rate: Record<string, Points>;
  suppressed: Record<string, [number, number][]>;
  events?: FlowEvent[];
  /** What `linkpool explain` says of it. */
  story?: string;
}

/** What befell a flow, by a replay: when, on which subflow, what, and in words. */
export interface FlowEvent {
  t: number;
  subflow: number;
  kind: string;
  text: string;
}

export interface Heat {
  links: string[];
  of: number;
  edges: number[];
  /** By link and interval: per cent, or -1 where the link was down. */
  used: number[][];
  /** Link, interval, packets lost. */
  lost: [number, number, number][];
  /** Link, interval, per cent of it for which the port was paused. */
  paused: [number, number, number][];
}

/** The edges of spans in seconds, and what each is, by number. */
export interface Spans {
  t: number[];
  k: number[];
}

/** What ranks of a job did over time. */
export interface Job {
  name: string;
  /** The number of ranks; those that are drawn, and their hosts, follow. */
  of: number;
  ranks: number[];
  hosts: string[];
  /** In so many parts of its time a rank has what it did for most of each; null: nothing is left out. */
  parts: Maybe;
  rows: (Spans & { /** The iteration of each span. */ i: number[] | null })[];
}

export interface Ranks {
  jobs: Job[];
  kinds: string[];
  /** What the scenario has in store: stragglers, failures. */
  plan: string[];
  table: Table;
  /** Of each row of the table: from when until when. */
  when: [number, number][];
}

/** What requests to a model did over time, in order of arrival. */
export interface Served {
  name: string;
  /** The number of requests; those that are drawn, their prefill and decode hosts, and when they had their first token follow. */
  of: number;
  requests: number[];
  hosts: [string, string | null][];
  first: Maybe[];
  rows: Spans[];
}

/** Statistics of times. */
export interface Times {
  mean_s: Maybe;
  p50_s: Maybe;
  p90_s: Maybe;
  p99_s: Maybe;
  max_s: Maybe;
  /** Which of these are lower bounds. */
  at_least: string[];
}

export interface Requests {
  kinds: string[];
  jobs: Served[];
  /** By label: times to the first token, and per token behind it. */
  times: { label: string; requests: number; answered: number; ttft: Times; tpot: Times }[];
  /** Of all requests of a label, and of faster and slower ones: the mean time to the first token, and of the first `kinds` in it. */
  bands: { label: string; band: string; requests: number; waiting: number; ttft_s: number; parts: number[] }[];
  table: Table;
  /** Of each row of the table: from when until when. */
  when: [number, number][];
}

export interface Fabric {
  names: string[];
  layers: string[];
  hosts: number;
  at: [number, number][];
  /** From, to, rate in bit/s, utilisation, lost, marked, longest queue in packets. */
  links: [number, number, number, Maybe, number, number, number][];
}

export interface Table {
  title: string;
  note: string;
  names: string[];
  rows: (number | string | boolean | null)[][];
}

export interface ResultData {
  name: string;
  seeds: number;
  run: Record<string, number | string>;
  scenario: string;
  end: number;
  overview: { period: [number, number]; drops: number; lost: number; marks: number; groups: Group[]; overall: Group };
  flows: { total: number; columns: Columns; slowdowns: Columns | null };
  lanes: Record<string, Lane>;
  heat: Heat | null;
  failures: Columns | null;
  ranks: Ranks | null;
  requests: Requests | null;
  goodput: { spread: boolean; step: number; t: number[]; series: Record<string, number[]> };
  fabric: Fabric | string;
  tables: Table[];
  notes: string[];
}

/** What a table says of a value, as a terminal does; texts are empty where there is nothing to say. */
export interface Cell {
  value: string;
  interval: string;
  unfinished: string;
  ratio: string;
  why: string;
  seeds: string[];
}

/** A measure of an arm over the seeds; without seeds, `low` and `high` are null. */
export interface Measured {
  measure: string;
  unit: string;
  arm: string;
  mean: Maybe;
  low: Maybe;
  high: Maybe;
  ratio: Maybe;
  /** The mean is a lower bound, as flows had not finished when the run ended. */
  at_least: boolean;
  cell: Cell;
}

export interface Content {
  version: string;
  title: string;
  /** Of a study: what was asked, the answer, claims, what did not finish. */
  answers: string[];
  /** Of a search: its trials and their Pareto front, an image and what it shows. */
  figure: { source: string; name: string } | null;
  results: ResultData[];
  study: { notes: string[]; rows: Measured[] } | null;
}

/** Reads what stands in the page: JSON, compressed by gzip, in base64. */
export async function content(): Promise<Content> {
  const text = document.getElementById("data")!.textContent!;
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Content;
}
