// What if: choose labels, and see the topics that documents with them are expected to have.

import { go, keepAddress, state } from "./address.js";
import { chart, intervalPlot, namedRows, plotted, swatch, tip } from "./charts.js";
import { DATA, expectedTopics, hasEffects, numberOf, usedLabels } from "./data.js";
import { announce, brief, button, chooser, countSelect, fill, h, percent, percentTick, points } from "./dom.js";
import { select, short } from "./dom.js";
import { changeBetween } from "./effects.js";
import { TOPICS, topicRow, usedTopics } from "./topics.js";

const labelsOfBlock = (block) => d3.range(block.start, block.stop).filter((label) => usedLabels.has(label));

export function explorerView(room) {
  const own = { most: 15, order: "size" };
  const cards = { a: h("div.card.setting-a"), b: h("div.card.setting-b") };
  const result = chart({
    title: "Expected topics",
    file: "expected-topics",
    caption:
      "Expected proportions of a document with these labels, from a softmax regression. " +
      "An unknown label is left out, as if its value were missing. " +
      "The grey line is a document without known labels.",
    describe: () => {
      const first = rows().slice(0, 3);
      const text = first.map((row) => `${row.name}: ${percent(row.a)} and ${percent(row.b)}`).join("; ");
      return `Expected proportions of topics for settings A and B. ${text}`;
    },
    legend: () => [
      swatch("var(--accent)", "A"),
      swatch("var(--second)", "B"),
      swatch("var(--grey)", "no labels", "line"),
    ],
    draw: drawExpected,
    table: () => ({
      columns: ["topic", "name", "a", "b", "difference", "no_labels"],
      rows: rows().map((row) => [row.key, row.name, row.a, row.b, row.b - row.a, row.none]),
    }),
    onpick: (entry) => go({ view: "topics", topic: entry.key }),
  });
  const difference = chart({
    title: "From A to B",
    file: "difference",
    caption:
      "Average change over documents if this label changes from A to B, in percentage points, " +
      `with ${Math.round(100 * DATA.effects.level)}% intervals, from a linear regression of the documents' topics. ` +
      "It may differ a little from the difference of the bars above.",
    describe: () => {
      const first = changes().slice(0, 3);
      return `Change from A to B: ${first.map((entry) => `${entry.name} ${points(entry.effect)} points`).join("; ")}`;
    },
    draw: (width) => intervalPlot(changes().slice(0, own.most), width, "change of the proportion, in points"),
    table: () => ({
      columns: ["topic", "name", "effect", "lower", "upper"],
      rows: changes().map((entry) => [entry.key, entry.name, entry.effect, entry.lower, entry.upper]),
    }),
    onpick: (entry) => go({ view: "topics", topic: entry.key }),
  });
  const note = h("p.muted", { id: "no-intervals" });
  const differenceRoom = h("div.card", { hidden: true }, difference.figure);
  const show = (name) => (value) => {
    own[name] = value;
    update();
  };
  const orders = [
    ["size", "largest first"],
    ["difference", "largest difference first"],
  ];
  const swap = () => {
    [state.a, state.b] = [state.b, state.a];
    changed(true);
  };
  const copy = () => {
    state.b = new Map(state.a);
    changed(true);
  };
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      announce("The address is in the clipboard.");
    } catch {
      announce("The browser does not allow it: copy the address from its bar.");
    }
  };
  room.append(
    h(
      "div.bar-row",
      button("Swap A and B", swap),
      button("Copy A to B", copy),
      h("span.spacer"),
      countSelect("Topics shown", [10, 15, 30, 60], "topics", own.most, show("most")),
      select("Order", orders, own.order, show("order")),
      button("Copy link", copyLink),
    ),
    h("div.grid.two", cards.a, cards.b),
    h("div.card", result.figure, note),
    differenceRoom,
  );

  function rows() {
    const [a, b, none] = [state.a, state.b, new Map()].map(expectedTopics);
    const found = TOPICS.map((topic) => ({ ...topicRow(topic), a: a[topic.k], b: b[topic.k], none: none[topic.k] }));
    const byDifference = own.order === "difference";
    return d3.sort(found, (row) => (byDifference ? -Math.abs(row.a - row.b) : -Math.max(row.a, row.b)));
  }

  /** The changes of all topics from A to B, the largest first; empty without intervals. */
  function changes() {
    const { on } = changeBetween(state.a, state.b);
    const found = on ? usedTopics.map((topic) => ({ ...topicRow(topic), ...on(topic.k) })) : [];
    return d3.sort(found, (entry) => -Math.abs(entry.effect));
  }

  function update() {
    result.update();
    const reason = hasEffects ? changeBetween(state.a, state.b).reason : DATA.effects.problem;
    note.textContent = reason ? `No intervals: ${reason}.` : "";
    differenceRoom.hidden = Boolean(reason);
    if (!reason) difference.update();
  }

  function drawExpected(width) {
    const shown = rows().slice(0, own.most);
    const { left, y } = namedRows(width, shown);
    const bar = (side, fill, dy) =>
      Plot.barX(shown, { y: "key", x: side, fill, rx: 2, insetTop: 10.5 + dy, insetBottom: 10.5 - dy });
    // A number that the grey line would cross stands behind it.
    const longest = d3.max(shown, (row) => Math.max(row.a, row.b, row.none)) || 1;
    const letters = (longest * 44) / Math.max(width - left - 48, 1);
    const after = (side) => (row) => (row.none >= row[side] && row.none < row[side] + letters ? row.none : row[side]);
    const halo = { textAnchor: "start", dx: 4, fill: "var(--muted)", stroke: "var(--surface)", strokeWidth: 3 };
    const number = (side, dy) =>
      Plot.text(shown, { ...halo, y: "key", x: after(side), dy, text: (row) => percent(row[side]), fontSize: 11 });
    const line = { stroke: "var(--grey)", strokeWidth: 1.5, insetTop: 2, insetBottom: 2 };
    const largest = (row) => Math.max(row.a, row.b);
    const title = (row) => {
      const [a, b, none] = [row.a, row.b, row.none].map((value) => percent(value, 2));
      return `${row.label}\nA ${a}\nB ${b}\nno labels ${none}`;
    };
    const ticks = Math.max(3, Math.floor(width / 120));
    return plotted({
      width,
      height: 46 + 34 * shown.length,
      marginLeft: left,
      marginRight: 48,
      marginTop: 4,
      x: { label: "expected proportion", tickFormat: percentTick, grid: true, ticks, zero: true },
      y: { ...y, padding: 0 },
      marks: [
        bar("a", "var(--accent)", -6.5),
        bar("b", "var(--second)", 6.5),
        Plot.tickX(shown, { y: "key", x: "none", ...line }),
        number("a", -6.5),
        number("b", 6.5),
        tip(shown, { axis: "Y", y: "key", x: largest, title }),
      ],
    });
  }

  function changed(controls) {
    if (controls) drawControls();
    update();
    keepAddress();
  }

  function drawControls() {
    const blocks = DATA.labels.blocks.filter((block) => labelsOfBlock(block).length);
    for (const side of ["a", "b"]) {
      const clear = () => {
        state[side] = new Map();
        changed(true);
      };
      const name = side.toUpperCase();
      const clearing = button("Clear", clear, { class: "quiet", "aria-label": `Clear ${name}` });
      const line = (block) => h("div.block-row", h("span.name", block.name), blockControl(side, block));
      fill(cards[side], h("div.head", h("h2", name), clearing), blocks.map(line));
    }
  }

  function blockControl(side, block) {
    const setting = state[side];
    const where = `${block.name} of ${side.toUpperCase()}`;
    const labels = labelsOfBlock(block);
    if (block.kind === "number" && labels.length === 1) return numberControl(setting, labels[0], where);
    const options = labels.map((label) => [label, DATA.labels.plain[label]]);
    const current = labels.filter((label) => setting.has(label));
    const clear = () => labels.forEach((label) => setting.delete(label));
    if (block.kind === "category" && labels.length <= 100)
      return select(where, [["", "not known"], ...options], current[0] ?? "", (value) => {
        clear();
        if (value !== "") setting.set(Number(value), 1);
        changed(false);
      });
    const add = (label) => {
      if (block.kind === "category") clear();
      setting.set(label, numberOf(label)?.middle ?? 1);
      changed(true);
      cards[side].querySelector(`[aria-label="${CSS.escape(where)}"]`)?.focus();
    };
    const hint = block.kind === "category" ? "Type to choose …" : "Type to add …";
    const chips = current.map((label) => chip(side, label));
    return h("div.chips", chips, chooser(where, options, add, hint));
  }

  /** A label that is set, with its value if it is a number, and a button to remove it. */
  function chip(side, label) {
    const setting = state[side];
    const [name, of] = [DATA.labels.plain[label], side.toUpperCase()];
    const oninput = (event) => {
      if (event.target.value === "") return;
      setting.set(label, Number(event.target.value));
      changed(false);
    };
    const remove = () => {
      setting.delete(label);
      changed(true);
    };
    const number = {
      type: "number",
      step: "any",
      value: setting.get(label),
      "aria-label": `${name} of ${of}`,
      oninput,
    };
    return h(
      "span.chip",
      name,
      numberOf(label) && h("input.narrow", number),
      button("×", remove, { class: "remove", "aria-label": `Remove ${name} from ${of}` }),
    );
  }

  /** A number that is not known until it is moved, typed or ticked. */
  function numberControl(setting, label, where) {
    const number = numberOf(label);
    const set = (value) => {
      if (value === null) setting.delete(label);
      else setting.set(label, value);
      changed(false);
    };
    const isKnown = setting.has(label);
    if (number.values) {
      const options = number.values.map((value) => [value, brief(value)]);
      const nearest = isKnown ? d3.least(number.values, (value) => Math.abs(value - setting.get(label))) : "";
      const choose = (value) => set(value === "" ? null : Number(value));
      return select(where, [["", "not known"], ...options], nearest, choose);
    }
    const { low, high, middle } = number;
    const whole = Number.isInteger(low) && Number.isInteger(high) && high - low >= 4;
    const step = whole ? 1 : (high - low) / 200 || 1;
    const range = h("input", { type: "range", min: low, max: high, step, "aria-label": `${where}, as a slider` });
    range.value = setting.get(label) ?? middle;
    const typed = h("input", { type: "number", step: "any", placeholder: "not known", "aria-label": where });
    typed.value = isKnown ? short(setting.get(label)) : "";
    const about = { "aria-label": `${where} is known`, title: "Whether the number is known" };
    const known = h("input", { type: "checkbox", checked: isKnown, ...about });
    const row = h(isKnown ? "div.number-row" : "div.number-row.unknown", known, range, typed);
    const take = () => {
      const text = typed.value;
      known.checked = text !== "";
      row.classList.toggle("unknown", text === "");
      set(text === "" ? null : Number(text));
    };
    const takeRange = () => {
      typed.value = known.checked ? short(Number(range.value)) : "";
      take();
    };
    range.addEventListener("input", () => {
      known.checked = true;
      takeRange();
    });
    known.addEventListener("change", takeRange);
    typed.addEventListener("input", () => {
      if (typed.value !== "") range.value = typed.value;
      take();
    });
    return row;
  }

  return {
    draw() {
      drawControls();
      update();
    },
  };
}

/**
 * Two settings to begin with: the two most frequent labels of the largest block; if all labels are
 * numeric, the 10th and the 90th percentile of the first.
 */
export function firstSettings() {
  const blocks = DATA.labels.blocks.filter((block) => block.kind !== "number" && labelsOfBlock(block).length);
  if (!blocks.length) {
    const first = d3.least(usedLabels);
    if (first !== undefined) [state.a, state.b] = numberOf(first).ends.map((value) => new Map([[first, value]]));
    return;
  }
  const largest = d3.greatest(blocks, (block) => block.stop - block.start);
  const [a, b] = d3.sort(labelsOfBlock(largest), (label) => -DATA.labels.carriers[label]);
  state.a.set(a, 1);
  if (b !== undefined) state.b.set(b, 1);
}
