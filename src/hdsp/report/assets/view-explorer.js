// What if: choose labels, and see the topics that documents with them are expected to have.

import { go, keepAddress, state } from "./address.js";
import { chart, nameRoom, swatch } from "./charts.js";
import { DATA, effectRow, expectedTopics, numberOf } from "./data.js";
import { announce, button, chooser, fill, h, percent, percentTick, select } from "./dom.js";
import { sumOver, unitLabel, unitTitle, units } from "./topics-model.js";

export function explorerView(room) {
  const own = { most: 15 };
  const cards = { a: h("div", { class: "card setting-a" }), b: h("div", { class: "card setting-b" }) };
  const result = chart({
    title: "Expected topics",
    file: "expected-topics",
    caption:
      "The proportions that a document with these labels is expected to have before a word of it is read. " +
      "A label that is not known is left out, as where its value is missing: it neither raises nor lowers a topic. " +
      "The grey line is a document of which no label is known.",
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
  const most = select(
    "Topics shown",
    [
      [10, "10 topics"],
      [15, "15 topics"],
      [30, "30 topics"],
      [60, "60 topics"],
    ],
    own.most,
    (value) => {
      own.most = Number(value);
      result.update();
    },
  );
  const order = select(
    "Order",
    [
      ["size", "largest first"],
      ["difference", "largest difference first"],
    ],
    "size",
    (value) => {
      own.order = value;
      result.update();
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
    h("div", { class: "card" }, result.figure),
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

  function draw(width) {
    cached = null;
    const shown = rows().slice(0, own.most);
    const { room: left, fit } = nameRoom(
      width,
      shown.map((row) => row.label),
    );
    const nameOf = new Map(shown.map((row) => [row.key, fit(row.label)]));
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
    return Plot.plot({
      width,
      height: 46 + 34 * shown.length,
      marginLeft: left,
      marginRight: 48,
      marginTop: 4,
      marginBottom: 42,
      style: { fontSize: "12px" },
      x: {
        label: "expected proportion",
        tickFormat: percentTick,
        grid: true,
        ticks: Math.max(3, Math.floor(width / 120)),
        zero: true,
      },
      y: {
        label: null,
        domain: shown.map((row) => row.key),
        tickFormat: (key) => nameOf.get(key),
        tickSize: 0,
        padding: 0,
      },
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
        Plot.tip(
          shown,
          Plot.pointerY({
            y: "key",
            x: (row) => Math.max(row.a, row.b),
            fill: "var(--surface)",
            stroke: "var(--line)",
            title: (row) =>
              `${row.label}\nA ${percent(row.a, 2)}\nB ${percent(row.b, 2)}\nno labels ${percent(row.none, 2)}`,
          }),
        ),
      ],
    });
  }

  function changed(controls) {
    cached = null;
    if (controls) drawControls();
    result.update();
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
          .filter((block) => usedLabels(block).length)
          .map((block) =>
            h("div", { class: "block-row" }, h("span", { class: "name" }, block.name), blockControl(side, block)),
          ),
      );
    }
  }

  const usedLabels = (block) => d3.range(block.start, block.stop).filter((label) => effectRow.has(label));

  function blockControl(side, block) {
    const setting = state[side];
    const where = `${block.name} of ${side.toUpperCase()}`;
    const labels = usedLabels(block);
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
      cached = null;
      drawControls();
      result.update();
    },
  };
}

/** Two settings to begin with: the two most frequent labels of the largest block. */
export function firstSettings() {
  const block = DATA.labels.blocks
    .filter((entry) => entry.kind !== "number")
    .sort((a, b) => b.stop - b.start - (a.stop - a.start))[0];
  if (!block) {
    const numbers = DATA.labels.blocks.filter((entry) => entry.kind === "number" && effectRow.has(entry.start));
    if (numbers.length) {
      state.a.set(numbers[0].start, numbers[0].numbers[0].low);
      state.b.set(numbers[0].start, numbers[0].numbers[0].high);
    }
    return;
  }
  const labels = d3
    .range(block.start, block.stop)
    .filter((label) => effectRow.has(label))
    .sort((a, b) => DATA.labels.carriers[b] - DATA.labels.carriers[a]);
  if (labels.length) state.a.set(labels[0], 1);
  if (labels.length > 1) state.b.set(labels[1], 1);
}
