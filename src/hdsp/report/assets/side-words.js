// How each side speaks of a topic: words that groups use more than others do.

import { chosenTopic } from "./address.js";
import { chart, nameRoom, plotted, tip } from "./charts.js";
import { DATA } from "./data.js";

const rowsOf = (topic) => DATA.sides[topic.k];
const times = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ×`;

/** A chart of the chosen topic, or null if groups have no versions of topics. */
export function sideWords() {
  if (!DATA.sides) return null;
  const pairs = () => rowsOf(chosenTopic()).map((row) => `${row.word} (${row.label})`);
  return chart({
    title: "How each side speaks of it",
    level: "h3",
    file: "topic-sides",
    describe: () => `Words of topic ${chosenTopic().k} that a group uses more than others: ${pairs().join(", ")}`,
    draw: (width) => sidePlot(rowsOf(chosenTopic()), width),
    table: () => ({
      columns: ["label", "word", "ratio", "lower", "upper", "n"],
      rows: rowsOf(chosenTopic()).map((row) => [row.label, row.word, row.ratio, row.lower, row.upper, row.n]),
    }),
  });
}

/** The caption of the chart. */
export function sideCaption(topic) {
  return rowsOf(topic).length
    ? "Words of this topic that a group uses surely more than the others do, and how many times as often."
    : "No word of this topic is used surely more by one group than by others.";
}

const LARGEST = 1000;

/** Ratios with their intervals, group by group, on a logarithmic scale. */
function sidePlot(rows, width) {
  const marks = rows.map((row) => ({
    ...row,
    key: `${row.label}\n${row.word}`,
    middle: Math.min(row.ratio, LARGEST),
    last: Math.min(row.upper, LARGEST),
  }));
  const labels = [...new Set(rows.map((row) => row.label))];
  // Each group's name has a row of its own, above those of its words.
  const lines = labels.flatMap((label) => [label, ...marks.filter((row) => row.label === label).map((row) => row.key)]);
  const words = marks.map((row) => row.word);
  const { room, fit } = nameRoom(width, words);
  const last = d3.max(marks, (row) => row.last) || 10;
  const title = (row) => `${row.word}, ${row.label}\n${times(row.ratio)} (${times(row.lower)} to ${times(row.upper)})`;
  return plotted({
    width,
    height: 46 + 18 * lines.length,
    marginLeft: room,
    marginRight: 20,
    marginTop: 4,
    x: { type: "log", label: "times as often", ticks: 3, tickFormat: "~g", grid: true, domain: [1, last] },
    y: { label: null, domain: lines, tickFormat: (key) => fit(key.split("\n")[1] ?? ""), tickSize: 0, padding: 0.25 },
    marks: [
      Plot.text(labels, { y: (label) => label, x: 1, text: (label) => label, textAnchor: "start", fontWeight: "bold" }),
      Plot.ruleY(marks, { y: "key", x1: "lower", x2: "last", stroke: "var(--accent)" }),
      Plot.dot(marks, { y: "key", x: "middle", fill: "var(--accent)", r: 3.5 }),
      tip(marks, { axis: "Y", y: "key", x: "middle", title }),
    ],
  });
}
