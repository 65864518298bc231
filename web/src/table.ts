// Tables that sort by the column whose heading is clicked.

import type { Table } from "./data";
import { h } from "./dom";
import { cell, heading } from "./format";

type Row = Table["rows"][number];

const SHOWN = 12;

/** A table; a row that is clicked is given to `choose`. */
export function table(of: Table, choose: ((row: Row) => void) | null = null): HTMLElement {
  const body = h("tbody");
  const kind = of.names.map((_, i) => (of.rows.some((row) => typeof row[i] === "number") ? "number" : null));
  let [by, down, all] = [-1, true, false];
  const order = (a: Row, b: Row): number => {
    const [x, y] = [a[by], b[by]];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -less : less;
  };
  const more = h("button", { class: "more", click: () => { all = !all; fill(); } });
  const fill = (): void => {
    const rows = by < 0 ? of.rows : [...of.rows].sort(order);
    body.replaceChildren(
      ...(all ? rows : rows.slice(0, SHOWN)).map((row) =>
        h(
          "tr",
          choose ? { class: "choice", tabindex: 0, click: () => choose(row), keydown: ((e: KeyboardEvent) => { if (e.key === "Enter") choose(row); }) as EventListener } : {},
          ...row.map((value, i) => h("td", { class: kind[i] }, cell(of.names[i], value))),
        ),
      ),
    );
    more.textContent = all ? "Show fewer" : `Show all ${rows.length}`;
    more.hidden = rows.length <= SHOWN;
    headings.forEach((th, i) => th.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
  };
  const headings = of.names.map((name, i) =>
    h("th", { class: kind[i] },
      h("button", { click: () => { [by, down] = [i, i === by ? !down : true]; fill(); } }, heading(name)),
    ),
  );
  fill();
  return h("div", { class: "table" },
    of.title ? h("h3", {}, of.title, of.note ? h("small", {}, ` ${of.note}`) : null) : null,
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...headings)), body)),
    more,
  );
}
