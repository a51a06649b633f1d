// Effects: topics by what a label does to them, labels by what they do to a topic, and curves.

import { chosenUnit, go, state } from "./address.js";
import { chart, cut, intervalPlot, swatch } from "./charts.js";
import { DATA, effectRow, numberOf, unpack } from "./data.js";
import { brief, chooser, fill, h, percent, percentTick, points, segments, select } from "./dom.js";
import { rowLimits, rowOf } from "./intervals.js";
import { sumOver, sure, unitEffect, unitLabel, unitTitle, units } from "./topics-model.js";

export function effectsView(room) {
  const own = { most: 20, sureOnly: false };
  const level = Math.round(100 * DATA.effects.level);
  const controls = h("div", { class: "bar-row" });
  const forest = chart({
    title: "Effects",
    file: "effects",
    describe: () =>
      `${forestTitle()}: ${entries()
        .slice(0, 3)
        .map((entry) => `${entry.name} ${points(entry.effect)} points`)
        .join("; ")}`,
    legend: () => [
      swatch("var(--up)", "raises"),
      swatch("var(--down)", "lowers"),
      swatch("var(--grey)", `the ${level}\u00a0% interval holds zero`),
    ],
    draw: (width) => intervalPlot(shown(), width, "change of the expected proportion, in points"),
    table: () =>
      state.side === "label"
        ? {
            columns: ["topic", "name", "effect", "lower", "upper", "expected"],
            rows: entries().map((entry) => [
              entry.key,
              entry.title,
              entry.effect,
              entry.lower,
              entry.upper,
              entry.expected,
            ]),
          }
        : {
            columns: ["label", "contrast", "effect", "lower", "upper", "expected"],
            rows: entries().map((entry) => [
              entry.name,
              entry.contrast,
              entry.effect,
              entry.lower,
              entry.upper,
              entry.expected,
            ]),
          },
    onpick: (entry) =>
      state.side === "label" ? go({ side: "topic", topic: entry.key }) : go({ side: "label", label: entry.label }),
  });
  const curveRoom = h("div", { class: "card", hidden: true });
  const curves = chart({
    title: "Curve",
    file: "curve",
    describe: () => curveTitle(),
    draw: drawCurve,
    table: () => {
      const found = curveRows();
      return {
        columns: ["value", "topic", "name", "expected", "lower", "upper"],
        rows: found.map((row) => [row.value, row.key, row.name, row.expected, row.lower, row.upper]),
      };
    },
    onpick: (entry) => go({ side: "topic", topic: entry.key }),
  });
  curveRoom.append(curves.figure);
  room.append(controls, h("div", { class: "card" }, forest.figure), curveRoom);

  function entries() {
    if (state.side === "label") {
      return units
        .filter((unit) => unit.used)
        .map((unit) => ({
          key: unit.key,
          title: unitTitle(unit),
          name: unitLabel(unit),
          ...unitEffect(state.label, unit),
        }))
        .sort((a, b) => b.effect - a.effect);
    }
    const unit = chosenUnit();
    return DATA.effects.labels
      .map((label, row) => ({
        key: String(label),
        label,
        name: DATA.labels.names[label],
        contrast: DATA.effects.contrasts[row],
        ...unitEffect(label, unit),
      }))
      .sort((a, b) => b.effect - a.effect);
  }

  /** The largest effects either way, in order. */
  function shown() {
    const all = entries().filter((entry) => !own.sureOnly || sure(entry));
    if (all.length <= own.most) return all;
    const largest = new Set([...all].sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, own.most));
    return all.filter((entry) => largest.has(entry));
  }

  function forestTitle() {
    if (state.side === "label") return `What ${DATA.labels.names[state.label]} does to topics`;
    return `What labels do to topic ${unitLabel(chosenUnit())}`;
  }

  const curve = () => DATA.curves.find((entry) => entry.label === state.label);
  const curveTitle = () => `Topics along ${DATA.labels.names[state.label]}`;

  function curveRows() {
    const found = curve();
    const [expected, lower, upper] = ["expected", "lower", "upper"].map((name) => unpack(found[name]));
    const change = ({ key }) => {
      const along = d3.range(found.values.length).map((row) =>
        sumOver(
          units.find((unit) => unit.key === key),
          (k) => expected.at(row, k),
        ),
      );
      return d3.max(along) - d3.min(along);
    };
    const ordered = d3.sort(entries(), (entry) => -change(entry)).slice(0, 8);
    const rows = d3.range(found.values.length).map((row) => {
      const proportions = rowOf(expected, row);
      return rowLimits(proportions, rowOf(lower, row), rowOf(upper, row), proportions);
    });
    return ordered.flatMap((entry) => {
      const unit = units.find((other) => other.key === entry.key);
      const [k] = unit.topics;
      return found.values.map((value, row) => ({
        key: unit.key,
        name: entry.title,
        label: entry.name,
        value,
        expected: sumOver(unit, (topic) => expected.at(row, topic)),
        ...(unit.topics.length === 1 ? { lower: lower.at(row, k), upper: upper.at(row, k) } : rows[row](unit.topics)),
      }));
    });
  }

  const place = { fx: "fx", fy: "fy", x: "value" };
  const limits = { y1: (row) => Math.max(0, row.lower), y2: "upper" };

  const curveMarks = (rows) => [
    Plot.areaY(rows, { ...place, ...limits, z: "key", curve: "monotone-x", fill: "var(--accent)", fillOpacity: 0.16 }),
    Plot.lineY(rows, {
      ...place,
      y: "expected",
      z: "key",
      curve: "monotone-x",
      stroke: "var(--accent)",
      strokeWidth: 2,
    }),
  ];

  /** Of a number that has effects at single values, nothing lies between them. */
  const pointMarks = (rows) => [
    Plot.ruleX(rows, { ...place, ...limits, stroke: "var(--accent)", strokeOpacity: 0.4, strokeWidth: 2 }),
    Plot.dot(rows, { ...place, y: "expected", fill: "var(--accent)", r: 3 }),
  ];

  function drawCurve(width) {
    const rows = curveRows();
    const keys = [...new Set(rows.map((row) => row.key))];
    const columns = width > 900 ? 4 : width > 560 ? 2 : 1;
    const placed = rows.map((row) => ({
      ...row,
      fx: keys.indexOf(row.key) % columns,
      fy: Math.floor(keys.indexOf(row.key) / columns),
    }));
    const titles = keys.map((key) => placed.find((row) => row.key === key));
    const lines = Math.ceil(keys.length / columns);
    return Plot.plot({
      width,
      height: 48 + 150 * lines,
      marginLeft: 44,
      marginRight: 12,
      marginBottom: 42,
      style: { fontSize: "12px" },
      fx: { axis: null, padding: 0.12, domain: d3.range(Math.min(columns, keys.length)) },
      fy: { axis: null, padding: 0.22, domain: d3.range(lines) },
      x: { label: DATA.labels.names[state.label], ticks: 4 },
      y: { label: null, tickFormat: percentTick, ticks: 4, grid: true, zero: true },
      marks: [
        ...(numberOf(state.label).values ? pointMarks : curveMarks)(placed),
        Plot.text(titles, {
          fx: "fx",
          fy: "fy",
          frameAnchor: "top-left",
          dy: -14,
          text: (row) => cut(row.label, (0.85 * (width - 60)) / columns),
          fontWeight: 600,
        }),
        Plot.tip(
          placed,
          Plot.pointer({
            fx: "fx",
            fy: "fy",
            x: "value",
            y: "expected",
            fill: "var(--surface)",
            stroke: "var(--line)",
            title: (row) => `${row.label}\nat ${brief(row.value)}: ${percent(row.expected, 2)}`,
          }),
        ),
      ],
    });
  }

  function drawControls() {
    const labels = DATA.effects.labels.map((label) => [label, DATA.labels.names[label]]);
    const topics = units.map((unit) => [unit.key, unitLabel(unit)]);
    const choice =
      state.side === "label"
        ? labels.length <= 300
          ? select("Label", labels, state.label, (value) => go({ label: Number(value) }))
          : [h("strong", {}, DATA.labels.names[state.label]), chooser("Label", labels, (label) => go({ label }))]
        : select("Topic", topics, chosenUnit().key, (value) => go({ topic: value }));
    fill(
      controls,
      segments(
        "Effects",
        [
          ["label", "Of a label"],
          ["topic", "On a topic"],
        ],
        () => state.side,
        (value) => go({ side: value }),
      ),
      choice,
      select(
        "Effects shown",
        [
          [20, "20 largest"],
          [40, "40 largest"],
          [100, "100 largest"],
        ],
        own.most,
        (value) => {
          own.most = Number(value);
          forest.update();
        },
      ),
      h(
        "label",
        { class: "field" },
        h("input", {
          type: "checkbox",
          checked: own.sureOnly,
          id: "sure-only",
          title: "Whose interval leaves zero out",
          onchange: (event) => {
            own.sureOnly = event.target.checked;
            forest.update();
          },
        }),
        "only clear ones",
      ),
    );
  }

  function draw() {
    drawControls();
    const contrast =
      state.side === "label"
        ? DATA.effects.contrasts[effectRow.get(state.label)]
        : "each label against its absence, its category's other levels, or one standard deviation (SD) less";
    forest.update({
      title: forestTitle(),
      caption: `Average change over documents (${contrast}), in percentage points, with ${level}\u00a0% intervals.`,
    });
    curveRoom.hidden = !(state.side === "label" && curve());
    if (!curveRoom.hidden) {
      curves.update({
        title: curveTitle(),
        caption:
          "Expected proportions of the topics that change most, averaged over documents. " +
          `Bands are ${level}\u00a0% intervals of the change from ${brief(curve().reference)}, the middle value, and ` +
          "so have no width there: they tell how sure a rise or a fall is, and not how sure the height.",
      });
    }
  }
  return { draw };
}
