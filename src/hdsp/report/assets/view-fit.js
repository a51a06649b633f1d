// The fit: its bound, the search for the number of topics, settings and versions.

import { chart, plotted, swatch, tip } from "./charts.js";
import { DATA } from "./data.js";
import { brief, h } from "./dom.js";

export function fitView(room) {
  const { history: passes, terms, search, facts, details, settings, versions } = DATA.fit;
  const number = passes.pass ?? [];
  const lineChart = (title, file, series, options = {}) =>
    chart({
      title,
      file,
      caption: options.caption,
      level: options.level ?? "h2",
      describe: () => `${title} by pass: from ${brief(series[0].values[0])} to ${brief(series[0].values.at(-1))}`,
      legend: series.length > 1 ? () => series.map((one) => swatch(one.colour, one.name, "line")) : undefined,
      draw: (width) => {
        const rows = series.flatMap((one) =>
          one.values.map((value, i) => ({ pass: number[i], value, name: one.name, colour: one.colour })),
        );
        return plotted({
          width,
          height: options.height ?? 250,
          marginLeft: 74,
          marginRight: 14,
          x: {
            label: "pass",
            tickFormat: (value) => (Number.isInteger(value) ? value : ""),
            ticks: Math.min(number.length, 8),
          },
          y: {
            label: null,
            grid: true,
            ticks: 4,
            tickFormat: options.format ?? d3.format(",.7~r"),
            type: options.log ? "log" : "linear",
          },
          marks: [
            Plot.lineY(rows, { x: "pass", y: "value", z: "name", stroke: "colour", strokeWidth: 2 }),
            Plot.dot(rows, { x: "pass", y: "value", fill: "colour", r: 2.5 }),
            tip(rows, {
              x: "pass",
              y: "value",
              title: (row) => `${row.name}\npass ${row.pass}: ${brief(row.value)}`,
            }),
          ],
        });
      },
      table: () => ({
        columns: ["pass", ...series.map((one) => one.name)],
        rows: number.map((pass, i) => [pass, ...series.map((one) => one.values[i])]),
      }),
    });
  const accent = "var(--accent)";
  const charts = [];
  const add = (made) => {
    charts.push(made);
    return h("div", { class: "card" }, made.figure);
  };
  const factTable = (title, rows) =>
    h(
      "div",
      { class: "card" },
      h("h2", {}, title),
      h(
        "table",
        { class: "facts-table" },
        h(
          "tbody",
          {},
          rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))),
        ),
      ),
    );
  const searched = search ? chart(searchChart(search)) : null;
  const concentrations = ["corpus_concentration", "document_concentration"].filter((name) => passes[name]);
  room.append(
    h(
      "div",
      { class: "grid two", style: "margin-bottom:1rem" },
      factTable("Corpus and model", facts),
      searched ? add(searched) : null,
      passes.bound
        ? add(
            lineChart("The bound", "bound", [{ name: "bound", values: passes.bound, colour: accent }], {
              caption: "The evidence lower bound (ELBO) after each pass over the documents.",
            }),
          )
        : null,
      new Set(passes.topics_in_use).size > 1
        ? add(
            lineChart(
              "Topics in use",
              "topics-in-use",
              [{ name: "topics_in_use", values: passes.topics_in_use, colour: accent }],
              { format: (value) => (Number.isInteger(value) ? value : "") },
            ),
          )
        : null,
    ),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "Details"),
      h(
        "div",
        { class: "grid two", style: "margin:1rem 0" },
        factTable("Concentrations in the end", details),
        concentrations.length
          ? add(
              lineChart(
                "Concentrations",
                "concentrations",
                concentrations.map((name, i) => ({
                  name: i ? "document β" : "corpus α",
                  values: passes[name],
                  colour: i ? "var(--second)" : accent,
                })),
                { format: d3.format("~g") },
              ),
            )
          : null,
      ),
      terms.length ? h("h2", { style: "margin:.4rem 0 .7rem" }, "The bound, term by term") : null,
      h(
        "div",
        { class: "grid three", style: "margin-bottom:1rem" },
        terms.map((name) =>
          add(
            lineChart(name, `bound-${name}`, [{ name, values: passes[name], colour: accent }], {
              height: 172,
              level: "h3",
            }),
          ),
        ),
      ),
      h("div", { class: "grid two" }, factTable("Settings", settings), factTable("Versions", versions)),
    ),
  );
  return {
    draw() {
      // Those behind the details are drawn when they have a width.
      for (const one of charts) if (one.room.offsetParent) one.update();
    },
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
function searchChart({ summary, rows, number, range }) {
  const good = range ? [{ low: range[0], high: range[1] }] : [];
  const asGood = range && range[0] < range[1] ? ` ${range[0]} to ${range[1]} topics are about as good.` : "";
  const how =
    "Short fits predicted half of the words of held-out documents from the other half: " +
    "the lower the perplexity, the better.";
  return {
    title: "The search for the number of topics",
    file: "search",
    caption: `${how} ${summary}`,
    describe: () =>
      `Perplexity of held-out words for ${rows.length} numbers of topics ` +
      `from ${rows[0].topics} to ${rows.at(-1).topics}; the model has ${number}.${asGood}`,
    draw: (width) =>
      plotted({
        width,
        height: 260,
        marginTop: 28,
        marginLeft: 74,
        marginRight: 20,
        x: {
          label: "topics",
          type: "log",
          nice: false,
          tickFormat: String,
          ticks: spacedTicks(
            rows.map((row) => row.topics),
            width,
          ),
        },
        y: { label: "perplexity", grid: true, ticks: 5, tickFormat: d3.format(",.7~r") },
        marks: [
          Plot.rectX(good, { x1: "low", x2: "high", fill: "var(--second)", fillOpacity: 0.15 }),
          Plot.ruleX([number], { stroke: "var(--second)", strokeWidth: 2 }),
          Plot.text([number], {
            x: (value) => value,
            frameAnchor: "top",
            dy: -14,
            text: (value) => `${value} topics`,
            fill: "var(--second)",
            fontWeight: 600,
          }),
          Plot.lineY(rows, { x: "topics", y: "perplexity", stroke: "var(--accent)", strokeWidth: 2 }),
          Plot.dot(rows, { x: "topics", y: "perplexity", r: 4, fill: "var(--accent)" }),
          tip(rows, {
            x: "topics",
            y: "perplexity",
            title: (row) =>
              `${row.topics} topics: perplexity ${brief(row.perplexity)}, ` +
              `coherence ${brief(row.coherence)}, exclusivity ${brief(row.exclusivity)}`,
          }),
        ],
      }),
    table: () => ({ columns: Object.keys(rows[0]), rows: rows.map((row) => Object.values(row)) }),
  };
}
