// Elements in a line each.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | EventListener | null>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null));
}

export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[T] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Gives a chart of Plot a name as an image. Its groups have names by themselves, which need a role. */
export function image<T extends Element>(chart: T, name: string): T {
  const pictures = chart instanceof SVGSVGElement ? [chart] : [...chart.querySelectorAll(":scope > svg")];
  for (const picture of pictures) { picture.setAttribute("role", "img"); picture.setAttribute("aria-label", name); }
  for (const group of chart.querySelectorAll("g[aria-label]")) group.setAttribute("role", "group");
  return chart;
}

export function section(title: string, lead: string, ...children: Child[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), lead ? h("p", { class: "lead" }, lead) : null, ...children);
}
