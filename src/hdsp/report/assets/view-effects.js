// Effects: topics by what a label does to them, labels by what they do to a topic, and curves.

import { chosenUnit, go, keepAddress, state } from "./address.js";
import { chart, cut, intervalPlot, plotted, swatch, tip } from "./charts.js";
import { DATA, blockOf, effectRow, numberOf, unpack } from "./data.js";
import { brief, chooser, countSelect, fill, h, percent, percentTick, points, segments, select } from "./dom.js";
import { canCompare, changeBetween, joinHalf } from "./intervals.js";
import { sumOver, sure, unitChange, unitEffect, unitLabel, unitTitle, units } from "./topics-model.js";

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
        .map((entry) => `${entry.label} ${points(entry.effect)} points`)
        .join("; ")}`,
    legend: () => [
      swatch("var(--up)", "raises"),
      swatch("var(--down)", "lowers"),
      swatch("var(--grey)", `the ${level}% interval includes 0`),
    ],
    draw: (width) => intervalPlot(shown(), width, "change of the expected proportion, in points"),
    table: () => {
      const names = state.side === "label" ? ["topic", "name"] : ["label", "contrast"];
      return {
        columns: [...names, "effect", "lower", "upper"],
        rows: entries().map((entry) => [...entry.columns, entry.effect, entry.lower, entry.upper]),
      };
    },
    onpick: (entry) =>
      state.side === "label"
        ? go({ side: "topic", topic: entry.key })
        : go({ side: "label", label: Number(entry.key) }),
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
  room.append(controls, h("div", { class: "grid one" }, curveRoom, h("div", { class: "card" }, forest.figure)));

  /** The two settings that are compared; null is the label's own contrast. */
  function compared() {
    const { label, against } = state;
    if (state.side !== "label" || !against) return null;
    if (numberOf(label)) return against.map((value) => new Map([[label, value]]));
    return [new Map([[against[0], 1]]), new Map([[label, 1]])];
  }

  function contrast() {
    const { label, against } = state;
    if (!against) return DATA.effects.contrasts[effectRow.get(label)];
    if (numberOf(label)) return `${brief(against[1])} - ${brief(against[0])}`;
    return `${DATA.labels.plain[label]} - ${DATA.labels.plain[against[0]]}`;
  }

  function entries() {
    if (state.side === "label") {
      const settings = compared();
      const change = settings && changeBetween(...settings);
      const own = (unit) => {
        if (!change) return unitEffect(state.label, unit);
        return change.reason ? { effect: 0, lower: 0, upper: 0 } : unitChange(unit, change);
      };
      return units
        .filter((unit) => unit.used)
        .map((unit) => ({
          key: unit.key,
          columns: [unit.key, unitTitle(unit)],
          label: unitLabel(unit),
          ...own(unit),
        }))
        .sort((a, b) => b.effect - a.effect);
    }
    const unit = chosenUnit();
    return DATA.effects.labels
      .map((label, row) => ({
        key: String(label),
        label: DATA.labels.names[label],
        columns: [DATA.labels.names[label], DATA.effects.contrasts[row]],
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
    if (state.side === "label") return `Effects of ${DATA.labels.names[state.label]} on topics`;
    return `Label effects on topic ${unitLabel(chosenUnit())}`;
  }

  const curve = () => DATA.curves.find((entry) => entry.label === state.label);
  const curveTitle = () => `Topics along ${DATA.labels.names[state.label]}`;

  function curveRows() {
    const found = curve();
    const expected = unpack(found.expected);
    const half = found.half && unpack(found.half);
    const along = (unit) => d3.range(found.values.length).map((row) => sumOver(unit, (k) => expected.at(row, k)));
    const change = (unit) => d3.max(along(unit)) - d3.min(along(unit));
    const shown = d3.sort(
      units.filter((unit) => unit.used),
      (unit) => -change(unit),
    );
    return shown.slice(0, 8).flatMap((unit) =>
      along(unit).map((middle, row) => {
        const reach = half ? joinHalf(unit.topics, (k) => half.at(row, k)) : 0;
        return {
          key: unit.key,
          name: unitTitle(unit),
          label: unitLabel(unit),
          value: found.values[row],
          expected: middle,
          lower: half ? Math.max(middle - reach, 0) : null,
          upper: half ? Math.min(middle + reach, 1) : null,
        };
      }),
    );
  }

  const place = { fx: "fx", fy: "fy", x: "value" };
  const limits = { y1: "lower", y2: "upper" };

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

  /** Ordered labels have no values between those of training. */
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
        Plot.text(titles, {
          fx: "fx",
          fy: "fy",
          frameAnchor: "top-left",
          dy: -14,
          text: (row) => cut(row.label, (0.85 * (width - 60)) / columns),
          fontWeight: 600,
        }),
        tip(placed, {
          fx: "fx",
          fy: "fy",
          x: "value",
          y: "expected",
          title: (row) =>
            `${row.label}\nat ${brief(row.value)}: ${percent(row.expected, 2)}` +
            (row.lower === null ? "" : ` (${percent(row.lower, 2)} to ${percent(row.upper, 2)})`),
        }),
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
    if (state.side !== "label" || !canCompare(label) || block.kind === "tags") return null;
    if (block.kind === "category") {
      const others = d3.range(block.start, block.stop).filter((one) => one !== label && effectRow.has(one));
      const options = [
        ["", "against other levels"],
        ...others.map((one) => [one, `against ${DATA.labels.plain[one]}`]),
      ];
      const name = "Compared with";
      return select(name, options, state.against?.[0] ?? "", (value) =>
        compare(value === "" ? null : [Number(value)], name),
      );
    }
    const { ends, values } = numberOf(label);
    const pair = state.against ?? ends;
    return ["A", "B"].map((side, i) => {
      const name = `${DATA.labels.names[label]} ${side}`;
      const choose = (value) => value !== "" && compare(pair.with(i, Number(value)), name);
      const options = values?.map((value) => [value, brief(value)]);
      const input = options
        ? select(
            name,
            options,
            d3.least(values, (value) => Math.abs(value - pair[i])),
            choose,
          )
        : h("input", {
            type: "number",
            step: "any",
            value: Number(pair[i].toPrecision(6)),
            "aria-label": name,
            style: "width:7rem",
            onchange: (event) => choose(event.target.value),
          });
      return h("label", { class: "field" }, side, input);
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
      comparison(),
      countSelect("Effects shown", [20, 40, 100], "largest", own.most, (value) => {
        own.most = value;
        forest.update();
      }),
      h(
        "label",
        { class: "field" },
        h("input", {
          type: "checkbox",
          checked: own.sureOnly,
          id: "sure-only",
          title: "Effects whose interval excludes 0",
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
    const said =
      state.side === "label"
        ? contrast()
        : "a tag against its absence, a level against the category's other levels, " +
          "a number at its 90th against its 10th percentile";
    forest.update({
      title: forestTitle(),
      caption:
        `Average change over documents (${said}), in percentage points, with ${level}% intervals, ` +
        "from a linear regression of the documents' topics.",
    });
    curveRoom.hidden = !(state.side === "label" && curve());
    if (!curveRoom.hidden) {
      curves.update({
        title: curveTitle(),
        caption:
          "Expected proportions of the topics that change most, averaged over documents, from a softmax regression" +
          (curve().half ? `, with ${level}% bands.` : "."),
      });
    }
  }
  return { draw };
}
