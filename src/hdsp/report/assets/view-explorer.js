// What if: choose labels, and see the topics that documents with them are expected to have.

import { go, keepAddress, state } from "./address.js";
import { chart, intervalPlot, namedRows, plotted, swatch, tip } from "./charts.js";
import { DATA, expectedTopics, hasEffects, numberOf, usedLabels } from "./data.js";
import { announce, brief, button, chooser, countSelect, fill, h, percent, percentTick, points, select } from "./dom.js";
import { changeBetween } from "./intervals.js";
import { sumOver, unitChange, unitLabel, unitTitle, units } from "./topics-model.js";

export function explorerView(room) {
  const own = { most: 15 };
  const cards = { a: h("div", { class: "card setting-a" }), b: h("div", { class: "card setting-b" }) };
  const result = chart({
    title: "Expected topics",
    file: "expected-topics",
    caption:
      "Expected proportions of a document with these labels, from a softmax regression. " +
      "An unknown label is left out, as if its value were missing. " +
      "The grey line is a document without known labels.",
    describe: () =>
      `Expected proportions of topics for settings A and B. ${rows()
        .slice(0, 3)
        .map((row) => `${row.name}: ${percent(row.a)} and ${percent(row.b)}`)
        .join("; ")}`,
    legend: () => [
      swatch("var(--accent)", "A"),
      swatch("var(--second)", "B"),
      swatch("var(--grey)", "no labels", "line"),
    ],
    draw,
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
    describe: () =>
      `Change from A to B: ${changes()
        .slice(0, 3)
        .map((entry) => `${entry.name} ${points(entry.effect)} points`)
        .join("; ")}`,
    draw: (width) => intervalPlot(changes().slice(0, own.most), width, "change of the proportion, in points"),
    table: () => ({
      columns: ["topic", "name", "effect", "lower", "upper"],
      rows: changes().map((entry) => [entry.key, entry.name, entry.effect, entry.lower, entry.upper]),
    }),
    onpick: (entry) => go({ view: "topics", topic: entry.key }),
  });
  const note = h("p", { class: "muted", id: "no-intervals" });
  const differenceRoom = h("div", { class: "card", hidden: true }, difference.figure);
  const most = countSelect("Topics shown", [10, 15, 30, 60], "topics", own.most, (value) => {
    own.most = value;
    update();
  });
  const order = select(
    "Order",
    [
      ["size", "largest first"],
      ["difference", "largest difference first"],
    ],
    "size",
    (value) => {
      own.order = value;
      update();
    },
  );
  room.append(
    h(
      "div",
      { class: "bar-row" },
      button("Swap A and B", () => {
        [state.a, state.b] = [state.b, state.a];
        changed(true);
      }),
      button("Copy A to B", () => {
        state.b = new Map(state.a);
        changed(true);
      }),
      h("span", { class: "spacer" }),
      most,
      order,
      button("Copy link", async () => {
        try {
          await navigator.clipboard.writeText(location.href);
          announce("The address is in the clipboard.");
        } catch {
          announce("The browser does not allow it: copy the address from its bar.");
        }
      }),
    ),
    h("div", { class: "grid two", style: "margin-bottom:1rem" }, cards.a, cards.b),
    h("div", { class: "card" }, result.figure, note),
    differenceRoom,
  );

  let cached = null;
  function rows() {
    if (cached) return cached;
    const [a, b, none] = [expectedTopics(state.a), expectedTopics(state.b), expectedTopics(new Map())];
    cached = units.map((unit) => ({
      key: unit.key,
      name: unitTitle(unit),
      label: unitLabel(unit),
      a: sumOver(unit, (k) => a[k]),
      b: sumOver(unit, (k) => b[k]),
      none: sumOver(unit, (k) => none[k]),
    }));
    const rank = own.order === "difference" ? (row) => Math.abs(row.a - row.b) : (row) => Math.max(row.a, row.b);
    return cached.sort((x, y) => rank(y) - rank(x));
  }

  /** The changes of all topics from A to B, the largest first; empty without intervals. */
  function changes() {
    const change = changeBetween(state.a, state.b);
    if (change.reason) return [];
    return units
      .filter((unit) => unit.used)
      .map((unit) => ({ key: unit.key, name: unitTitle(unit), label: unitLabel(unit), ...unitChange(unit, change) }))
      .sort((x, y) => Math.abs(y.effect) - Math.abs(x.effect));
  }

  function update() {
    cached = null;
    result.update();
    const reason = hasEffects ? changeBetween(state.a, state.b).reason : DATA.effects.problem;
    note.textContent = reason ? `No intervals: ${reason}.` : "";
    differenceRoom.hidden = Boolean(reason);
    if (!reason) difference.update();
  }

  function draw(width) {
    const shown = rows().slice(0, own.most);
    const { left, y } = namedRows(width, shown);
    const bar = (side, colour, dy) =>
      Plot.barX(shown, { y: "key", x: side, fill: colour, rx: 2, insetTop: 10.5 + dy, insetBottom: 10.5 - dy });
    // A number that the grey line would cross stands behind it.
    const longest = d3.max(shown, (row) => Math.max(row.a, row.b, row.none)) || 1;
    const letters = (longest * 44) / Math.max(width - left - 48, 1);
    const after = (side) => (row) => (row.none >= row[side] && row.none < row[side] + letters ? row.none : row[side]);
    const number = (side, dy) =>
      Plot.text(shown, {
        y: "key",
        x: after(side),
        text: (row) => percent(row[side]),
        dy,
        dx: 4,
        textAnchor: "start",
        fill: "var(--muted)",
        stroke: "var(--surface)",
        strokeWidth: 3,
        fontSize: 11,
      });
    return plotted({
      width,
      height: 46 + 34 * shown.length,
      marginLeft: left,
      marginRight: 48,
      marginTop: 4,
      x: {
        label: "expected proportion",
        tickFormat: percentTick,
        grid: true,
        ticks: Math.max(3, Math.floor(width / 120)),
        zero: true,
      },
      y: { ...y, padding: 0 },
      marks: [
        bar("a", "var(--accent)", -6.5),
        bar("b", "var(--second)", 6.5),
        Plot.tickX(shown, {
          y: "key",
          x: "none",
          stroke: "var(--grey)",
          strokeWidth: 1.5,
          insetTop: 2,
          insetBottom: 2,
        }),
        number("a", -6.5),
        number("b", 6.5),
        tip(shown, {
          axis: "Y",
          y: "key",
          x: (row) => Math.max(row.a, row.b),
          title: (row) =>
            `${row.label}\nA ${percent(row.a, 2)}\nB ${percent(row.b, 2)}\nno labels ${percent(row.none, 2)}`,
        }),
      ],
    });
  }

  function changed(controls) {
    if (controls) drawControls();
    update();
    keepAddress();
  }

  function drawControls() {
    for (const side of ["a", "b"]) {
      fill(
        cards[side],
        h(
          "div",
          { class: "head" },
          h("h2", {}, side.toUpperCase()),
          button(
            "Clear",
            () => {
              state[side] = new Map();
              changed(true);
            },
            { class: "quiet", "aria-label": `Clear ${side.toUpperCase()}` },
          ),
        ),
        DATA.labels.blocks
          .filter((block) => labelsOfBlock(block).length)
          .map((block) =>
            h("div", { class: "block-row" }, h("span", { class: "name" }, block.name), blockControl(side, block)),
          ),
      );
    }
  }

  const labelsOfBlock = (block) => d3.range(block.start, block.stop).filter((label) => usedLabels.has(label));

  function blockControl(side, block) {
    const setting = state[side];
    const where = `${block.name} of ${side.toUpperCase()}`;
    const labels = labelsOfBlock(block);
    if (block.kind === "number" && labels.length === 1) return numberControl(side, labels[0], where);
    const options = labels.map((label) => [label, DATA.labels.plain[label]]);
    const current = labels.filter((label) => setting.has(label));
    if (block.kind === "category" && labels.length <= 100) {
      return select(where, [["", "not known"], ...options], current[0] ?? "", (value) => {
        for (const label of labels) setting.delete(label);
        if (value !== "") setting.set(Number(value), 1);
        changed(false);
      });
    }
    const add = chooser(
      where,
      options,
      (label) => {
        if (block.kind === "category") for (const other of labels) setting.delete(other);
        setting.set(label, block.kind === "number" ? numberOf(label).middle : 1);
        changed(true);
        cards[side].querySelector(`[aria-label="${CSS.escape(where)}"]`)?.focus();
      },
      block.kind === "category" ? "Type to choose …" : "Type to add …",
    );
    const chips = current.map((label) =>
      h(
        "span",
        { class: "chip" },
        DATA.labels.plain[label],
        block.kind === "number"
          ? h("input", {
              type: "number",
              step: "any",
              value: setting.get(label),
              "aria-label": `${DATA.labels.plain[label]} of ${side.toUpperCase()}`,
              style: "width:6rem",
              oninput: (event) => {
                if (event.target.value !== "") {
                  setting.set(label, Number(event.target.value));
                  changed(false);
                }
              },
            })
          : null,
        button(
          "×",
          () => {
            setting.delete(label);
            changed(true);
          },
          { class: "remove", "aria-label": `Remove ${DATA.labels.plain[label]} from ${side.toUpperCase()}` },
        ),
      ),
    );
    return h("div", { class: "chips" }, chips, add);
  }

  /** A number that is not known until it is moved, typed or ticked. */
  function numberControl(side, label, where) {
    const setting = state[side];
    const number = numberOf(label);
    if (number.values) {
      const options = number.values.map((value) => [value, brief(value)]);
      const known = setting.has(label);
      const nearest = d3.least(number.values, (value) => Math.abs(value - setting.get(label)));
      return select(where, [["", "not known"], ...options], known ? nearest : "", (value) => {
        if (value === "") setting.delete(label);
        else setting.set(label, Number(value));
        changed(false);
      });
    }
    const value = setting.get(label) ?? number.middle;
    const whole = Number.isInteger(number.low) && Number.isInteger(number.high) && number.high - number.low >= 4;
    const step = whole ? 1 : (number.high - number.low) / 200 || 1;
    const short = (exact) => Number(exact.toPrecision(6));
    const range = h("input", {
      type: "range",
      min: number.low,
      max: number.high,
      step,
      "aria-label": `${where}, as a slider`,
    });
    range.value = value;
    const typed = h("input", {
      type: "number",
      step: "any",
      value: setting.has(label) ? short(value) : "",
      placeholder: "not known",
      "aria-label": where,
    });
    const known = h("input", {
      type: "checkbox",
      checked: setting.has(label),
      "aria-label": `${where} is known`,
      title: "Whether the number is known",
    });
    const row = h("div", { class: setting.has(label) ? "number-row" : "number-row unknown" }, known, range, typed);
    const set = (exact) => {
      known.checked = exact !== null;
      row.classList.toggle("unknown", exact === null);
      if (exact === null) setting.delete(label);
      else setting.set(label, exact);
      changed(false);
    };
    range.addEventListener("input", () => {
      typed.value = short(Number(range.value));
      set(Number(typed.value));
    });
    typed.addEventListener("input", () => {
      if (typed.value !== "") range.value = typed.value;
      set(typed.value === "" ? null : Number(typed.value));
    });
    known.addEventListener("change", () => {
      typed.value = known.checked ? short(Number(range.value)) : "";
      set(known.checked ? Number(typed.value) : null);
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
  const block = DATA.labels.blocks
    .filter(
      (entry) => entry.kind !== "number" && d3.range(entry.start, entry.stop).some((label) => usedLabels.has(label)),
    )
    .sort((a, b) => b.stop - b.start - (a.stop - a.start))[0];
  if (!block) {
    const first = d3.least(usedLabels);
    if (first !== undefined) [state.a, state.b] = numberOf(first).ends.map((value) => new Map([[first, value]]));
    return;
  }
  const labels = d3
    .range(block.start, block.stop)
    .filter((label) => usedLabels.has(label))
    .sort((a, b) => DATA.labels.carriers[b] - DATA.labels.carriers[a]);
  if (labels.length) state.a.set(labels[0], 1);
  if (labels.length > 1) state.b.set(labels[1], 1);
}
