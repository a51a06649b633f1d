// The fit: its bound, the search for the number of topics and concentrations. Tables are in the page.

import { chart, plotted, swatch, tip } from "./charts.js";
import { DATA } from "./data.js";
import { brief, h } from "./dom.js";

const ACCENT = "var(--accent)";
const digits = d3.format(",.7~r");
const whole = (value) => (Number.isInteger(value) ? value : "");

export function fitView(room) {
  const { history, terms, search } = DATA.fit;
  const charts = [];
  const add = (place, options) => {
    charts.push(chart(options));
    room.querySelector(place).append(h("div.card", charts.at(-1).figure));
  };
  const line = (name, colour = ACCENT, text = name) => ({ values: history[name], name: text, colour });
  if (search.length) add("#fit-main", searchChart(DATA.fit));
  if (history.bound) {
    const caption = "The evidence lower bound (ELBO) after each pass over the documents.";
    add("#fit-main", passChart("The bound", "bound", [line("bound")], { caption }));
  }
  if (new Set(history.topics_in_use).size > 1)
    add("#fit-main", passChart("Topics in use", "topics-in-use", [line("topics_in_use")], { format: whole }));
  if (history.corpus_concentration) {
    const both = [
      line("corpus_concentration", ACCENT, "corpus α"),
      line("document_concentration", "var(--second)", "document β"),
    ];
    add("#fit-concentrations", passChart("Concentrations", "concentrations", both, { format: d3.format("~g") }));
  }
  for (const name of terms)
    add("#fit-terms", passChart(name, `bound-${name}`, [line(name)], { height: 172, level: "h3" }));
  return {
    draw() {
      // Those behind the details are drawn when they have a width.
      for (const one of charts) if (one.room.offsetParent) one.update();
    },
  };
}

/** Lines by pass: `series` are [{name, values, colour}]. */
function passChart(title, file, series, { caption, level = "h2", height = 250, format = digits }) {
  const number = DATA.fit.history.pass;
  const draw = (width) => {
    const rows = series.flatMap(({ values, name, colour }) =>
      values.map((value, i) => ({ pass: number[i], value, name, colour })),
    );
    const place = { x: "pass", y: "value" };
    return plotted({
      width,
      height,
      marginLeft: 74,
      marginRight: 14,
      x: { label: "pass", tickFormat: whole, ticks: Math.min(number.length, 8) },
      y: { label: null, grid: true, ticks: 4, tickFormat: format },
      marks: [
        Plot.lineY(rows, { ...place, z: "name", stroke: "colour", strokeWidth: 2 }),
        Plot.dot(rows, { ...place, fill: "colour", r: 2.5 }),
        tip(rows, { ...place, title: (row) => `${row.name}\npass ${row.pass}: ${brief(row.value)}` }),
      ],
    });
  };
  return {
    title,
    file,
    caption,
    level,
    describe: () => `${title} by pass: from ${brief(series[0].values[0])} to ${brief(series[0].values.at(-1))}`,
    legend: series.length > 1 ? () => series.map((one) => swatch(one.colour, one.name, "line")) : undefined,
    draw,
    table: () => ({
      columns: ["pass", ...series.map((one) => one.name)],
      rows: number.map((pass, i) => [pass, ...series.map((one) => one.values[i])]),
    }),
  };
}

/** Of rising numbers on a logarithmic axis, those whose names do not run into each other. */
function spacedTicks(numbers, width) {
  const room = Math.log(numbers.at(-1) / numbers[0]) * (40 / Math.max(width - 94, 1));
  return numbers.reduce(
    (kept, value) => (kept.length === 0 || Math.log(value / kept.at(-1)) > room ? [...kept, value] : kept),
    [],
  );
}

/** Numbers of topics that were tried. */
function searchChart({ number_summary: summary, search: rows, range }) {
  const number = DATA.topics.n;
  const good = range ? [{ low: range[0], high: range[1] }] : [];
  const asGood = range && range[0] < range[1] ? ` ${range[0]} to ${range[1]} topics are about as good.` : "";
  const tried = rows.map((row) => row.topics);
  const place = { x: "topics", y: "perplexity" };
  const title = (row) =>
    `${row.topics} topics: perplexity ${brief(row.perplexity)}, ` +
    `coherence ${brief(row.coherence)}, exclusivity ${brief(row.exclusivity)}`;
  const heading = { frameAnchor: "top", dy: -14, fill: "var(--second)", fontWeight: 600 };
  const draw = (width) =>
    plotted({
      width,
      height: 260,
      marginTop: 28,
      marginLeft: 74,
      marginRight: 20,
      x: { label: "topics", type: "log", nice: false, tickFormat: String, ticks: spacedTicks(tried, width) },
      y: { label: "perplexity", grid: true, ticks: 5, tickFormat: digits },
      marks: [
        Plot.rectX(good, { x1: "low", x2: "high", fill: "var(--second)", fillOpacity: 0.15 }),
        Plot.ruleX([number], { stroke: "var(--second)", strokeWidth: 2 }),
        Plot.text([number], { ...heading, x: (value) => value, text: (value) => `${value} topics` }),
        Plot.lineY(rows, { ...place, stroke: ACCENT, strokeWidth: 2 }),
        Plot.dot(rows, { ...place, r: 4, fill: ACCENT }),
        tip(rows, { ...place, title }),
      ],
    });
  return {
    title: "The search for the number of topics",
    file: "search",
    caption:
      "Short fits predicted half of the words of held-out documents from the other half: " +
      `the lower the perplexity, the better. ${summary}`,
    describe: () =>
      `Perplexity of held-out words for ${rows.length} numbers of topics ` +
      `from ${tried[0]} to ${tried.at(-1)}; the model has ${number}.${asGood}`,
    draw,
    table: () => ({ columns: Object.keys(rows[0]), rows: rows.map((row) => Object.values(row)) }),
  };
}
