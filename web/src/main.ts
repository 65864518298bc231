// The page: a head, arms side by side where there are several, and one result at a time.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { compare } from "./compare";
import { type Content, content } from "./data";
import { h, section } from "./dom";
import { type Place, note, place } from "./place";
import { result } from "./result";
import { forget, toggle } from "./theme";

function page(of: Content, shown: number, at: Place): void {
  forget();
  const app = document.getElementById("app")!;
  const tabs = of.results.length > 1
    ? h("nav", { class: "tabs", "aria-label": "results" }, ...of.results.map((each, i) =>
        h("button", { "aria-current": i === shown ? "true" : null, click: () => { page(of, i, {}); note({ result: each.name }); document.querySelector(".tabs")!.scrollIntoView(); } }, each.name)))
    : null;
  app.replaceChildren(
    h("header", {}, h("h1", {}, of.title),
      h("button", { class: "theme", "aria-label": "light or dark", click: toggle }, "◐")),
    ...(of.answers.length ? [h("ul", { class: "answers" }, ...of.answers.map((line) => h("li", {}, line)))] : []),
    ...(of.figure ? [section(of.figure.name, "", h("img", { class: "figure", src: of.figure.source, alt: of.figure.name }))] : []),
    ...(of.study ? [section("Side by side", "", compare(of.study))] : []),
    ...(tabs ? [tabs] : []),
    result(of.results[shown], at),
    h("footer", {}, `linkpool ${of.version}`),
  );
}

/** Shows what the address asks for. */
function go(of: Content): void {
  const at = place();
  page(of, Math.max(of.results.findIndex((each) => each.name === at.result), 0), at);
}

content().then((of) => {
  go(of);
  addEventListener("hashchange", () => go(of));
  document.body.dataset.ready = "true";
});
