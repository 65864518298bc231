// Quantities as people read them, in the unit that suits: three significant digits and all before the point; all digits of
// what a scenario gives.

function digits(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString("en");
  const short = value.toPrecision(3);
  return short.includes("e") ? Number(short).toLocaleString("en") : String(Number(short));
}

function allDigits(value: number): string {
  return Number(value.toPrecision(14)).toLocaleString("en", { maximumSignificantDigits: 14 });
}

function scaled(value: number | null | undefined, units: [number, string][], write = digits): string {
  if (value === null || value === undefined) return "–";
  const [factor, unit] = units.find(([f]) => Math.abs(value) >= 0.9995 * f) ?? units[units.length - 1];
  return `${write(value / factor)} ${unit}`.trim();
}

const SECONDS: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const RATES: [number, string][] = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]];
const BYTES: [number, string][] = [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]];

export const seconds = (value: number | null | undefined): string =>
  value === 0 ? "0 s" : scaled(value, SECONDS);
export const rate = (value: number | null | undefined): string =>
  value === 0 ? "0" : scaled(value, RATES);
export const bytes = (value: number | null | undefined): string =>
  scaled(value, BYTES);
export const givenSeconds = (value: number | null | undefined): string =>
  value === 0 ? "0 s" : scaled(value, SECONDS, allDigits);
export const givenRate = (value: number | null | undefined): string => scaled(value, RATES, allDigits);
export const givenBytes = (value: number | null | undefined): string => scaled(value, BYTES, allDigits);
export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : value.toLocaleString("en");
/** The noun for so many. */
export const noun = (value: number, one: string): string => (value === 1 ? one : `${one}s`);
export const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : digits(value);
export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${digits(100 * value)}%`;

/** Writes a value by the unit that its column's name ends in. */
export function cell(name: string, value: number | string | boolean | null): string {
  if (value === null) return "–";
  if (typeof value !== "number") return String(value);
  if (name === "delay_s") return givenSeconds(value);
  if (name === "rate_bps") return givenRate(value);
  if (/_s$/.test(name)) return seconds(value);
  if (/bps$/.test(name)) return rate(value);
  if (/bytes$/.test(name)) return bytes(value);
  if (/^utilisation|^loss|^load|_share$/.test(name)) return percent(value);
  return Number.isInteger(value) ? count(value) : number(value);
}

/** The heading of a column. */
export function heading(name: string): string {
  return name.replace(/_(s|bps|bytes|pkts|share)$/, "").replaceAll("_", " ").replace(/\bfct\b/, "FCT").replace(/\b(jct|ttft|tpot)\b/, (short) => short.toUpperCase());
}
