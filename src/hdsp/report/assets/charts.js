// A chart with its title, its table and its files. Observable Plot draws.

import { csvButton, download, fill, h, points, saveButton, signed, tableOf, themed } from "./dom.js";
import { sure } from "./effects.js";

/** The picture as a file of its own: colours of the page are written out. */
function svgText(picture) {
  const root = picture.tagName.toLowerCase() === "svg" ? picture : picture.querySelector("svg");
  const copy = root.cloneNode(true);
  const { width, height } = root.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.style.color = themed("--ink");
  copy.style.background = themed("--surface");
  copy.style.fontFamily = "sans-serif";
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[\w-]+)(?:,[^()]*)?\)/g, (all, name) => themed(name) || all);
}

/**
 * A figure: `draw(width)` returns a picture, `table()` returns {columns, rows, pick?}: what a chart
 * shows, row by row. `onpick` is called with what is under the pointer.
 */
export function chart({ title, file, caption, describe, draw, table, onpick, legend, level = "h2" }) {
  const room = h(onpick ? "div.pickable" : "div");
  const heading = h(level, title);
  const captionElement = h("p.caption", caption ?? "");
  const legendElement = h("div.legend");
  const rows = h("div.scroll", { tabindex: "0", role: "region", "aria-label": `${title}: table` });
  const fillTable = () => fill(rows, tableOf(table()));
  const details = h("details", { ontoggle: () => details.open && fillTable() }, h("summary", "Table"), rows);
  const saveSvg = () => download(`${file}.svg`, "image/svg+xml", svgText(room.firstElementChild));
  const tools = h("span.tools", csvButton(title, file, table), saveButton("svg", title, saveSvg));
  const head = h("div.head", heading, tools);
  const figure = h("figure", { "data-chart": file }, head, captionElement, legendElement, room, details);
  let width = 0;

  function update(changes = {}) {
    if (changes.title !== undefined) heading.textContent = changes.title;
    if (changes.caption !== undefined) captionElement.textContent = changes.caption;
    width = Math.floor(room.clientWidth);
    if (width < 40) return;
    const picture = draw(width);
    const svg = picture.tagName.toLowerCase() === "svg" ? picture : picture.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", describe ? describe() : title);
    // What is in the picture is in the table, too: a screen reader should not read every tick.
    for (const child of svg.children) child.setAttribute("aria-hidden", "true");
    if (onpick) picture.addEventListener("click", () => picture.value && onpick(picture.value));
    room.replaceChildren(picture);
    if (legend) fill(legendElement, legend());
    if (details.open) fillTable();
  }

  allCharts.push(() => room.offsetParent && update());
  new ResizeObserver(() => {
    if (Math.abs(Math.floor(room.clientWidth) - width) > 4 && room.clientWidth > 40) update();
  }).observe(room);
  return { figure, update, room };
}

// Drawn anew for the width of a sheet, so that letters keep their size.
const allCharts = [];
for (const moment of ["beforeprint", "afterprint"]) {
  window.addEventListener(moment, () => {
    document.documentElement.classList.toggle("printing", moment === "beforeprint");
    for (const update of allCharts) update();
  });
}

export function swatch(colour, text, shape = "") {
  return h("span", h("i", { class: `swatch ${shape}`, style: `background:${colour}` }), text);
}

const measure = document.createElement("canvas").getContext("2d");
measure.font = `12px ${themed("--font")}`;
/** The width of a text in a chart, in pixels. */
export const textWidth = (text) => measure.measureText(text).width;

/** As much of a text as fits into so many pixels. */
export function cut(text, room) {
  if (textWidth(text) <= room) return text;
  let [fits, length] = [0, text.length];
  while (fits + 1 < length) {
    const half = (fits + length) >> 1;
    if (textWidth(`${text.slice(0, half)}…`) <= room) fits = half;
    else length = half;
  }
  // Not between the halves of a character.
  return `${text
    .slice(0, fits)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd()}…`;
}

/** The room that names at the left of a chart take, and what of them fits. */
export function nameRoom(width, texts) {
  const gap = 10;
  const room = Math.min(0.42 * width, 270, gap + (d3.max(texts, textWidth) ?? 0));
  return { room, fit: (text) => cut(text, room - gap) };
}

/** The margin and the axis of named rows: [{key, label}]. */
export function namedRows(width, rows) {
  const { room, fit } = nameRoom(
    width,
    rows.map((row) => row.label),
  );
  const nameOf = new Map(rows.map((row) => [row.key, fit(row.label)]));
  const y = {
    label: null,
    type: "band",
    domain: [...nameOf.keys()],
    tickFormat: (key) => nameOf.get(key),
    tickSize: 0,
  };
  return { left: room, y };
}

/** A picture with the page's letters. */
export const plotted = (options) => Plot.plot({ marginBottom: 42, style: { fontSize: "12px" }, ...options });

/** What is shown beside the pointer: `channels` of Plot.tip; with `axis: "Y"` of the nearest row. */
export const tip = (rows, { axis = "", ...channels }) =>
  Plot.tip(rows, Plot[`pointer${axis}`]({ fill: "var(--surface)", stroke: "var(--line)", ...channels }));

/** Points with intervals around zero, one row each: [{key, label, effect, lower, upper}]. */
export function intervalPlot(entries, width, axis) {
  const { left, y } = namedRows(width, entries);
  const colour = (entry) => (!sure(entry) ? "var(--grey)" : entry.effect >= 0 ? "var(--up)" : "var(--down)");
  return plotted({
    width,
    height: 60 + 25 * entries.length,
    marginLeft: left,
    marginRight: 24,
    x: {
      label: axis,
      grid: true,
      nice: true,
      tickFormat: (value) => signed(Number((100 * value).toPrecision(6))),
      ticks: Math.max(3, Math.floor(width / 110)),
    },
    y,
    marks: [
      Plot.ruleX([0], { stroke: "var(--grey)" }),
      Plot.ruleY(entries, {
        y: "key",
        x1: "lower",
        x2: "upper",
        stroke: colour,
        strokeWidth: 2.5,
        strokeLinecap: "round",
      }),
      Plot.dot(entries, { y: "key", x: "effect", fill: colour, r: 5, stroke: "var(--surface)", strokeWidth: 1.5 }),
      tip(entries, {
        axis: "Y",
        y: "key",
        x: "effect",
        title: (entry) =>
          `${entry.label}\n${points(entry.effect)} points (${points(entry.lower)} to ${points(entry.upper)})`,
      }),
    ],
  });
}
