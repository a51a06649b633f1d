// Effects: topics by what a label does to them, labels by what they do to a topic, and curves.

import { chosenTopic, go, keepAddress, state } from "./address.js";
import { chart, cut, intervalPlot, plotted, swatch, tip } from "./charts.js";
import { DATA, blockOf, effectRow, numberOf, unpack } from "./data.js";
import { brief, chooser, countSelect, field, fill, h, percent, percentTick, points } from "./dom.js";
import { segments, select, short, tick } from "./dom.js";
import { canCompare, changeBetween, effectOn, sure } from "./effects.js";
import { TOPICS, topicLabel, topicOptions, topicRow, usedTopics } from "./topics.js";

const MOST_CURVES = 8;

export function effectsView(room) {
  const own = { most: 20, sureOnly: false };
  const level = Math.round(100 * DATA.effects.level);
  const ofLabel = () => state.side === "label";
  const controls = h("div.bar-row");
  const forest = chart({
    title: "Effects",
    file: "effects",
    describe: () => {
      const first = entries().slice(0, 3);
      return `${forestTitle()}: ${first.map((entry) => `${entry.label} ${points(entry.effect)} points`).join("; ")}`;
    },
    legend: () => [
      swatch("var(--up)", "raises"),
      swatch("var(--down)", "lowers"),
      swatch("var(--grey)", `the ${level}% interval includes 0`),
    ],
    draw: (width) => intervalPlot(shown(), width, "change of the expected proportion, in points"),
    table: () => ({
      columns: [...(ofLabel() ? ["topic", "name"] : ["label", "contrast"]), "effect", "lower", "upper"],
      rows: entries().map((entry) => [...entry.columns, entry.effect, entry.lower, entry.upper]),
    }),
    onpick: ({ key }) => go(ofLabel() ? { side: "topic", topic: key } : { side: "label", label: key }),
  });
  const curves = chart({
    title: "Curve",
    file: "curve",
    describe: () => curveTitle(),
    draw: drawCurve,
    table: () => ({
      columns: ["value", "topic", "name", "expected", "lower", "upper"],
      rows: curveRows().map((row) => [row.value, row.key, row.name, row.expected, row.lower, row.upper]),
    }),
    onpick: (entry) => go({ side: "topic", topic: entry.key }),
  });
  const curveRoom = h("div.card", { hidden: true }, curves.figure);
  room.append(controls, h("div.grid.one", curveRoom, h("div.card", forest.figure)));

  /** The change that is shown, by topic. */
  function changeOn() {
    const { label, against } = state;
    if (!against) return (k) => effectOn(label, k);
    const settings = numberOf(label)
      ? against.map((value) => new Map([[label, value]]))
      : [against[0], label].map((level) => new Map([[level, 1]]));
    return changeBetween(...settings).on ?? (() => ({ effect: 0, lower: 0, upper: 0 }));
  }

  function contrast() {
    const { label, against } = state;
    if (!ofLabel())
      return (
        "a tag against its absence, a level against the category's other levels, " +
        "a number at its 90th against its 10th percentile"
      );
    if (!against) return DATA.effects.contrasts[effectRow.get(label)];
    if (numberOf(label)) return `${brief(against[1])} - ${brief(against[0])}`;
    return `${DATA.labels.plain[label]} - ${DATA.labels.plain[against[0]]}`;
  }

  function topicEntries() {
    const on = changeOn();
    return usedTopics.map((topic) => {
      const row = topicRow(topic);
      return { ...row, columns: [row.key, row.name], ...on(topic.k) };
    });
  }

  function labelEntries() {
    return DATA.effects.labels.map((label, row) => {
      const name = DATA.labels.names[label];
      const columns = [name, DATA.effects.contrasts[row]];
      return { key: label, label: name, columns, ...effectOn(label, chosenTopic().k) };
    });
  }

  const entries = () => (ofLabel() ? topicEntries() : labelEntries()).sort((a, b) => b.effect - a.effect);

  /** The largest effects either way, in order. */
  function shown() {
    const all = entries().filter((entry) => !own.sureOnly || sure(entry));
    const largest = new Set(d3.sort(all, (entry) => -Math.abs(entry.effect)).slice(0, own.most));
    return all.filter((entry) => largest.has(entry));
  }

  function forestTitle() {
    if (ofLabel()) return `Effects of ${DATA.labels.names[state.label]} on topics`;
    return `Label effects on topic ${topicLabel(chosenTopic())}`;
  }

  const curve = () => blockOf(state.label).curve;
  const curveTitle = () => `Topics along ${DATA.labels.names[state.label]}`;

  function curveRows() {
    const found = curve();
    const expected = unpack(found.expected);
    const half = found.half && unpack(found.half);
    const along = ({ k }) => d3.range(found.values.length).map((row) => expected.at(row, k));
    const change = (topic) => d3.max(along(topic)) - d3.min(along(topic));
    const most = d3.sort(usedTopics, (topic) => -change(topic)).slice(0, MOST_CURVES);
    return most.flatMap((topic) =>
      along(topic).map((middle, row) => {
        const reach = half?.at(row, topic.k);
        const limits = half && { lower: Math.max(middle - reach, 0), upper: Math.min(middle + reach, 1) };
        return { ...topicRow(topic), value: found.values[row], expected: middle, lower: null, upper: null, ...limits };
      }),
    );
  }

  const place = { fx: "fx", fy: "fy", x: "value" };
  const limits = { y1: "lower", y2: "upper" };
  const line = { ...place, z: "key", curve: "monotone-x" };

  const curveMarks = (rows) => [
    Plot.areaY(rows, { ...line, ...limits, fill: "var(--accent)", fillOpacity: 0.16 }),
    Plot.lineY(rows, { ...line, y: "expected", stroke: "var(--accent)", strokeWidth: 2 }),
  ];

  /** Ordered labels have no values between those of training. */
  const pointMarks = (rows) => [
    Plot.ruleX(rows, { ...place, ...limits, stroke: "var(--accent)", strokeOpacity: 0.4, strokeWidth: 2 }),
    Plot.dot(rows, { ...place, y: "expected", fill: "var(--accent)", r: 3 }),
  ];

  function drawCurve(width) {
    const rows = curveRows();
    const keys = [...new Set(rows.map((row) => row.key))];
    const columns = width > 900 ? 4 : width > 560 ? 2 : 1;
    const lines = Math.ceil(keys.length / columns);
    const facet = (key) => ({ fx: keys.indexOf(key) % columns, fy: Math.floor(keys.indexOf(key) / columns) });
    const placed = rows.map((row) => ({ ...row, ...facet(row.key) }));
    const titles = keys.map((key) => placed.find((row) => row.key === key));
    const heading = (row) => cut(row.label, (0.85 * (width - 60)) / columns);
    const band = (row) => (row.lower === null ? "" : ` (${percent(row.lower, 2)} to ${percent(row.upper, 2)})`);
    const title = (row) => `${row.label}\nat ${brief(row.value)}: ${percent(row.expected, 2)}${band(row)}`;
    const { fx, fy } = place;
    return plotted({
      width,
      height: 48 + 150 * lines,
      marginLeft: 44,
      marginRight: 12,
      fx: { axis: null, padding: 0.12, domain: d3.range(Math.min(columns, keys.length)) },
      fy: { axis: null, padding: 0.22, domain: d3.range(lines) },
      x: { label: DATA.labels.names[state.label], ticks: 4 },
      y: { label: null, tickFormat: percentTick, ticks: 4, grid: true, zero: true },
      marks: [
        ...(numberOf(state.label).values ? pointMarks : curveMarks)(placed),
        Plot.text(titles, { fx, fy, frameAnchor: "top-left", dy: -14, text: heading, fontWeight: 600 }),
        tip(placed, { ...place, y: "expected", title }),
      ],
    });
  }

  function compare(against, name) {
    state.against = against;
    keepAddress();
    draw();
    controls.querySelector(`[aria-label="${CSS.escape(name)}"]`).focus();
  }

  /** Choose two values of a number, or another level of the category. */
  function comparison() {
    const label = state.label;
    const block = blockOf(label);
    if (!canCompare(label) || block.kind === "tags") return null;
    if (block.kind === "category") {
      const others = d3.range(block.start, block.stop).filter((one) => one !== label && effectRow.has(one));
      const options = others.map((one) => [one, `against ${DATA.labels.plain[one]}`]);
      const name = "Compared with";
      const choose = (value) => compare(value === "" ? null : [Number(value)], name);
      return select(name, [["", "against other levels"], ...options], state.against?.[0] ?? "", choose);
    }
    const { ends, values } = numberOf(label);
    const pair = state.against ?? ends;
    return ["A", "B"].map((side, i) => {
      const name = `${DATA.labels.names[label]} ${side}`;
      const choose = (value) => value !== "" && compare(pair.with(i, Number(value)), name);
      if (!values) {
        const onchange = (event) => choose(event.target.value);
        return field(
          side,
          h("input.narrow", { type: "number", step: "any", value: short(pair[i]), "aria-label": name, onchange }),
        );
      }
      const nearest = d3.least(values, (value) => Math.abs(value - pair[i]));
      const options = values.map((value) => [value, brief(value)]);
      return field(side, select(name, options, nearest, choose));
    });
  }

  function labelChoice() {
    const labels = DATA.effects.labels.map((label) => [label, DATA.labels.names[label]]);
    const choose = (value) => go({ label: Number(value) });
    if (labels.length <= 300) return select("Label", labels, state.label, choose);
    return [h("strong", DATA.labels.names[state.label]), chooser("Label", labels, choose)];
  }

  function topicChoice() {
    return select("Topic", topicOptions(TOPICS), chosenTopic().k, (value) => go({ topic: Number(value) }));
  }

  function drawControls() {
    const sides = [
      ["label", "Of a label"],
      ["topic", "On a topic"],
    ];
    const change = (name) => (value) => {
      own[name] = value;
      forest.update();
    };
    fill(
      controls,
      segments("Effects", sides, state.side, (side) => go({ side })),
      ofLabel() ? [labelChoice(), comparison()] : topicChoice(),
      countSelect("Effects shown", [20, 40, 100], "largest", own.most, change("most")),
      tick("only clear ones", own.sureOnly, change("sureOnly"), {
        id: "sure-only",
        title: "Effects whose interval excludes 0",
      }),
    );
  }

  function draw() {
    drawControls();
    forest.update({
      title: forestTitle(),
      caption:
        `Average change over documents (${contrast()}), in percentage points, with ${level}% intervals, ` +
        "from a linear regression of the documents' topics.",
    });
    curveRoom.hidden = !(ofLabel() && curve());
    if (curveRoom.hidden) return;
    const bands = curve().half ? `, with ${level}% bands.` : ".";
    curves.update({
      title: curveTitle(),
      caption:
        "Expected proportions of the topics that change most, averaged over documents, " +
        `from a softmax regression${bands}`,
    });
  }
  return { draw };
}
