// Arms side by side: each measure with its interval, and as a ratio to one of them.

import * as Plot from "@observablehq/plot";
import type { Content, Measured } from "./data";
import { h, image } from "./dom";
import { bytes, number, percent, rate, seconds } from "./format";
import { NARROW, onTheme, SERIES, series } from "./theme";
import { labelWidth } from "./ticks";

const FORMATS: Record<string, (v: number | null) => string> = { s: seconds, "bit/s": rate, B: bytes, "%": percent };
/** Means that differ by more than this have a logarithmic axis, if all are above 0. */
const WIDE = 10;

export function compare(of: NonNullable<Content["study"]>): HTMLElement {
  const measures = [...new Set(of.rows.map((row) => row.measure))];
  const arms = [...new Set(of.rows.map((row) => row.arm))];
  // As in figures: all settings of an arm have its colour, where there are several arms.
  const head = (arm: string): string => arm.split(", ")[0];
  const heads = [...new Set(arms.map(head))];
  const shared = heads.length > 1 && heads.length < arms.length;
  const colourOf = (arm: string): number => (shared ? heads.indexOf(head(arm)) : arms.indexOf(arm)) % SERIES;
  const find = (measure: string, arm: string): Measured | undefined =>
    of.rows.find((row) => row.measure === measure && row.arm === arm);
  const format = (measure: string): ((v: number | null) => string) =>
    FORMATS[of.rows.find((row) => row.measure === measure)!.unit] ?? number;
  const box = h("div", { class: "interval" });
  const title = h("h3", {});
  const hidden = new Set<string>();
  const known = measures.filter((measure) => arms.some((arm) => find(measure, arm)?.mean != null));
  let chosen = ["slowdown p99", "slowdown", "fct"].flatMap((start) => known.filter((measure) => measure.startsWith(start)))[0] ?? known[0] ?? measures[0];
  const draw = (): void => {
    const drawn = arms.filter((arm) => !hidden.has(arm));
    const rows = drawn.map((arm) => find(chosen, arm)).filter((row): row is Measured => row?.mean != null);
    if (!rows.length) { title.textContent = chosen; box.replaceChildren("No arm that is shown has a value."); return; }
    const means = rows.map((row) => row.mean!);
    const wide = Math.min(...means) > 0 && Math.max(...means) > WIDE * Math.min(...means);
    // An interval that reaches 0 has no place on a logarithmic axis: it is cut below all that has.
    const ends = rows.flatMap((row) => [row.low ?? row.mean!, row.mean!]).filter((end) => end > 0);
    const least = Math.min(...ends) / 2;
    const cut = wide && rows.some((row) => row.low !== null && row.low <= 0);
    const low = (row: Measured): number => (wide ? Math.max(row.low!, least) : row.low!);
    title.textContent = wide ? `${chosen}, logarithmic${cut ? "; intervals that reach 0 are cut" : ""}` : chosen;
    const narrow = box.clientWidth < NARROW;
    // Names have the room that they need, up to nearly half of the chart; longer ones are broken.
    const longest = Math.max(...drawn.map(labelWidth));
    const names = Math.min(longest, 0.42 * box.clientWidth);
    box.replaceChildren(image(Plot.plot({
      width: box.clientWidth,
      height: 60 + (longest > names ? 46 : 34) * drawn.length,
      marginLeft: names + 20,
      marginRight: 30,
      style: { background: "transparent", color: "inherit", fontSize: "12px", fontFamily: "inherit" },
      x: { type: wide ? "log" : "linear", label: null, grid: true, tickFormat: format(chosen), zero: !wide, nice: true, ticks: narrow ? 2 : 5 },
      y: { axis: null, domain: drawn },
      color: { domain: arms, range: arms.map((arm) => series(colourOf(arm))) },
      marks: [
        Plot.axisY({ label: null, lineWidth: longest > names ? names / 12 : Infinity, tickSize: 4 }),
        wide ? null : Plot.ruleX([0]),
        Plot.link(rows.filter((row) => row.low !== null), { x1: low, x2: "high", y1: "arm", y2: "arm", stroke: "arm", strokeWidth: 3, strokeOpacity: 0.5 }),
        Plot.dot(rows.filter((row) => !row.at_least), { x: "mean", y: "arm", fill: "arm", r: 6 }),
        Plot.dot(rows.filter((row) => row.at_least), { x: "mean", y: "arm", stroke: "arm", strokeWidth: 2, symbol: "triangle", rotate: 90, r: 6 }),
        Plot.text(rows, { x: "mean", y: "arm", text: (row: Measured) => row.cell.value, dy: -13, fill: "currentColor" }),
      ],
    }), `${chosen} of each arm; the table has the same numbers`));
  };
  const value = (row: Measured | undefined): HTMLElement => {
    if (!row) return h("td", { class: "number" }, "-");
    const { value, interval, unfinished, ratio, why, seeds } = row.cell;
    const change = row.ratio !== null && Math.abs(row.ratio - 1) > 0.005;
    return h("td", { class: "number" }, value,
      ...[interval, unfinished].filter(Boolean).map((text) => h("small", {}, text)),
      ratio ? h("small", { class: change ? "change" : null }, ratio) : null,
      ...[why, ...seeds].filter(Boolean).map((text) => h("small", {}, text)));
  };
  const body = measures.map((measure) => {
    const choose = (): void => { chosen = measure; body.forEach((other) => other.classList.toggle("chosen", other === row)); draw(); };
    const row: HTMLElement = h("tr", {
      class: "choice", tabindex: 0, click: choose,
      keydown: ((event: KeyboardEvent) => { if (event.key === "Enter") choose(); }) as EventListener,
    }, h("th", { scope: "row" }, measure), ...arms.map((arm) => value(find(measure, arm))));
    return row;
  });
  const heading = (arm: string): HTMLElement => {
    const button: HTMLElement = h("button", {
      "aria-pressed": "true", title: "show or hide in the chart",
      click: () => {
        if (!hidden.delete(arm)) hidden.add(arm);
        button.setAttribute("aria-pressed", String(!hidden.has(arm)));
        draw();
      },
    }, h("i", { style: `background:var(--series-${colourOf(arm)})` }), arm);
    return h("th", { class: "number" }, button);
  };
  body[measures.indexOf(chosen)]?.classList.add("chosen");
  requestAnimationFrame(draw);
  onTheme(draw);
  return h("div", { class: arms.length > 2 ? "compare many" : "compare" },
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}, "measure"), ...arms.map(heading))),
      h("tbody", {}, ...body))),
    h("div", {}, title, box, h("p", { class: "quiet" }, of.notes.join(" "))),
  );
}
