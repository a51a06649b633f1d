// Documents: typical ones, their words by topic; observed proportions against expected ones.

import { go, keepAddress, state } from "./address.js";
import { chart, namedRows, plotted, swatch, tip } from "./charts.js";
import { DATA, blockOf, documentData, effectRow, lazily } from "./data.js";
import { brief, button, csvOf, download, fill, h, percent, percentTick, select, thousands } from "./dom.js";
import { sumOver, unitLabel, unitOf, unitTitle, units } from "./topics-model.js";

const COLOURS = 8;

export function documentsView(room) {
  const data = documentData();
  const all = data.documents;
  const own = { query: "", topic: "", group: "", only: null, most: 100, observed: 0 };
  // The most frequent label: those of numbers are ranges, and hold a third of the documents each.
  const known = new Set(DATA.labels.names);
  own.observed =
    d3.greatest(
      d3.range(data.observed.names.length),
      (i) => data.observed.sizes[i] * (known.has(data.observed.names[i]) ? 1 : 1e-9),
    ) ?? 0;
  const observed = {
    observed: lazily(data.observed.observed),
    expected: lazily(data.observed.expected),
    error: lazily(data.observed.error),
  };
  let searched = null;
  const count = h("p", { class: "muted", role: "status" });
  const list = h("ol", { class: "doc-list", tabindex: "-1", "aria-label": "Documents" });
  const pane = h("article", { class: "card", "aria-label": "The chosen document", tabindex: "-1" });
  const search = h("input", {
    type: "search",
    id: "document-search",
    placeholder: "Search texts",
    "aria-label": "Search documents",
    oninput: () => {
      own.query = search.value.trim().toLowerCase();
      own.most = 100;
      drawList();
      drawDocument();
    },
  });
  const controls = h("div", { class: "bar-row" });
  const gap = data.observed.names.length
    ? chart({
        title: "Observed against expected",
        file: "observed-expected",
        describe: () =>
          `Observed and expected proportions of topics in documents with ${data.observed.names[own.observed]}.`,
        legend: () => [
          swatch("var(--accent)", "observed, with a 90% interval"),
          swatch("var(--second)", "expected from labels", "diamond"),
        ],
        draw: drawObserved,
        table: () => ({
          columns: ["topic", "name", "observed", "error", "expected"],
          rows: observedRows().map((row) => [row.key, row.name, row.observed, row.error, row.expected]),
        }),
        onpick: (row) => go({ view: "topics", topic: row.key }),
      })
    : null;
  const gapControls = h("div", { class: "bar-row" });
  room.append(
    controls,
    h(
      "div",
      { class: "grid list-side", style: "margin-bottom:1rem" },
      h("div", { class: "card no-print" }, count, list),
      pane,
    ),
    gap ? h("div", { class: "card" }, gapControls, gap.figure) : h("span"),
  );

  const shareIn = (entry, unit) => d3.sum(entry.topics, (k, i) => (unit.topics.includes(k) ? entry.shares[i] : 0));

  function found() {
    let rows = d3.range(all.length);
    const unit = units.find((other) => other.key === own.topic);
    const typical = own.group !== "" ? data.typical.groups[Number(own.group)] : null;
    if (typical) {
      const set = new Set(typical);
      rows = typical.concat(rows.filter((row) => !set.has(row) && inGroup(all[row])));
    }
    if (unit) {
      rows = rows.map((row) => [row, shareIn(all[row], unit)]).filter((pair) => pair[1] > 0);
      if (!typical) {
        const first = new Map(
          unit.topics.length === 1 ? data.typical.topics[unit.topics[0]].map((row, rank) => [row, rank]) : [],
        );
        rows.sort((a, b) => (first.get(a[0]) ?? 1e9) - (first.get(b[0]) ?? 1e9) || b[1] - a[1]);
      }
      rows = rows.map((pair) => pair[0]);
    }
    if (own.query) {
      searched ??= all.map((entry) => `${entry.name} ${entry.pieces.join("")}`.toLowerCase());
      rows = rows.filter((row) => own.query.split(/\s+/).every((word) => searched[row].includes(word)));
    }
    return rows;
  }

  /** Whether a document carries the label of the chosen group; of ranges of numbers only typical ones are known. */
  function inGroup(entry) {
    const label = DATA.labels.names.indexOf(data.observed.names[Number(own.group)]);
    return label >= 0 && entry.labels.includes(label);
  }

  /** The colours of a document's topics: its eight largest have one. */
  function colouring(entry) {
    const share = new Map();
    entry.topics.forEach((k, i) => share.set(unitOf[k], (share.get(unitOf[k]) ?? 0) + entry.shares[i]));
    const sorted = [...share].sort((a, b) => b[1] - a[1]);
    return { sorted, number: new Map(sorted.slice(0, COLOURS).map(([unit], i) => [unit, i])) };
  }

  function bar(entry, tall) {
    const { sorted, number } = colouring(entry);
    return h(
      "span",
      {
        class: tall ? "stack tall" : "stack",
        role: "img",
        "aria-label": `Topics: ${sorted
          .slice(0, 5)
          .map(([unit, share]) => `${unitTitle(unit)} ${percent(share, 0)}`)
          .join(", ")}`,
      },
      sorted.map(([unit, share]) =>
        h("i", {
          style: `width:${100 * share}%;background:${number.has(unit) ? `var(--d${number.get(unit)})` : "var(--grey)"}`,
          title: `${unitLabel(unit)}: ${percent(share)}`,
        }),
      ),
    );
  }

  function drawControls() {
    const topics = [["", "any topic"], ...units.filter((unit) => unit.used).map((unit) => [unit.key, unitLabel(unit)])];
    const groups = [
      ["", "any label"],
      ...data.observed.names.map((name, i) => [i, `${name} (${thousands(data.observed.sizes[i])})`]),
    ];
    const shown =
      all.length < data.total
        ? `${thousands(all.length)} of ${thousands(data.total)} documents are in this page: ` +
          "typical ones, and others at random."
        : "";
    fill(
      controls,
      search,
      h(
        "label",
        { class: "field" },
        "typical of",
        select("Typical of topic", topics, own.topic, (value) => {
          own.topic = value;
          state.topic = value || state.topic;
          state.document = null;
          keepAddress();
          drawList();
          drawDocument();
        }),
      ),
      h(
        "label",
        { class: "field" },
        "with",
        select("Typical of label", groups, own.group, (value) => {
          own.group = value;
          if (value !== "") own.observed = Number(value);
          state.document = null;
          drawList();
          drawDocument();
          drawGap();
        }),
      ),
      h("span", { class: "caption" }, shown),
    );
  }

  function drawList() {
    const rows = found();
    const unit = units.find((other) => other.key === own.topic);
    if (state.document === null || (rows.length && !rows.includes(state.document))) state.document = rows[0] ?? null;
    own.none = rows.length === 0;
    count.textContent = `${thousands(rows.length)} ${rows.length === 1 ? "document" : "documents"}`;
    fill(
      list,
      rows.slice(0, own.most).map((row) => {
        const entry = all[row];
        return h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              "aria-current": String(row === state.document),
              "data-document": row,
              onclick: () => openDocument(row),
            },
            h("span", { class: "doc-name", dir: "auto" }, entry.name),
            unit ? h("span", { class: "muted" }, ` ${percent(shareIn(entry, unit), 0)}`) : null,
            bar(entry, false),
            h("span", { class: "snippet", dir: "auto" }, entry.pieces.slice(0, 60).join("").slice(0, 180)),
          ),
        );
      }),
      rows.length > own.most
        ? h(
            "li",
            {},
            button(`Show more (${thousands(rows.length - own.most)})`, () => {
              own.most += 200;
              drawList();
            }),
          )
        : null,
    );
  }

  function openDocument(row) {
    state.document = row;
    keepAddress();
    for (const other of list.querySelectorAll("button[data-document]"))
      other.setAttribute("aria-current", String(Number(other.dataset.document) === row));
    own.only = null;
    drawDocument();
    if (window.innerWidth <= 900) pane.scrollIntoView({ block: "start" });
    pane.focus({ preventScroll: true });
  }

  function drawDocument() {
    const entry = own.none || state.document === null ? null : all[state.document];
    if (!entry) return fill(pane, h("p", { class: "empty" }, "No document has that."));
    const { sorted, number } = colouring(entry);
    const only = units.find((unit) => unit.key === own.only);
    const text = h("div", { class: only ? "doc-text dim" : "doc-text", dir: "auto" });
    const parts = [];
    entry.pieces.forEach((piece, i) => {
      if (i % 2 === 0) parts.push(...marked(piece));
      else {
        const unit = unitOf[entry.of[(i - 1) / 2]];
        const colour = number.get(unit);
        parts.push(
          h(
            "span",
            {
              class: `w${unit === only ? " on" : ""}`,
              title: unitLabel(unit),
              "data-topic": unit.key,
              style: colour === undefined ? "" : `background:var(--c${colour})`,
            },
            marked(piece),
          ),
        );
      }
    });
    text.append(...parts);
    const legend = sorted.slice(0, COLOURS).map(([unit, share]) =>
      button(
        [
          h("i", { class: "swatch", style: `background:var(--d${number.get(unit)})` }),
          unitLabel(unit),
          h("span", { class: "value" }, percent(share, 0)),
        ],
        () => {
          own.only = own.only === unit.key ? null : unit.key;
          drawDocument();
        },
        { class: "chip", "aria-pressed": String(unit === only), title: "Colour only the words of this topic" },
      ),
    );
    fill(
      pane,
      h(
        "div",
        { class: "head" },
        h("h2", { dir: "auto" }, entry.name),
        h(
          "span",
          { class: "tools" },
          sorted.length
            ? button("Show its largest topic", () => go({ view: "topics", topic: sorted[0][0].key }), {
                class: "quiet",
              })
            : null,
          button(
            "CSV",
            () =>
              download(
                "document-topics.csv",
                "text/csv;charset=utf-8",
                csvOf(
                  ["document", "topic", "name", "share"],
                  sorted.map(([unit, share]) => [entry.name, unit.key, unitTitle(unit), share]),
                ),
              ),
            { class: "quiet", "aria-label": "Topics of the document: save as CSV", "data-save": "csv" },
          ),
        ),
      ),
      h(
        "div",
        { class: "chips" },
        entry.labels.map((label, i) =>
          button(
            [
              `${DATA.labels.names[label]}`,
              blockOf(label).kind === "number" ? h("span", { class: "value" }, ` ${brief(entry.values[i])}`) : null,
            ],
            () => (effectRow.has(label) ? go({ view: "effects", side: "label", label }) : null),
            { class: "chip" },
          ),
        ),
      ),
      bar(entry, true),
      h("div", { class: "chips", style: "margin-bottom:.8rem" }, legend),
      data.texts
        ? null
        : h(
            "p",
            { class: "caption" },
            "Words with their counts, the most frequent first: the report was made without texts.",
          ),
      text,
      entry.cut ? h("p", { class: "caption" }, "The text goes on; the page holds its beginning.") : null,
    );
  }

  /** A text with what is searched for marked. */
  function marked(text) {
    if (!own.query || !text) return [text];
    const words = own.query.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text
      .split(new RegExp(`(${words.join("|")})`, "gi"))
      .map((part, i) => (i % 2 ? h("mark", {}, part) : part))
      .filter((part) => part !== "");
  }

  function observedRows() {
    const group = own.observed;
    return units
      .filter((unit) => unit.used)
      .map((unit) => {
        const one = unit.topics.length === 1;
        return {
          key: unit.key,
          name: unitTitle(unit),
          label: unitLabel(unit),
          observed: sumOver(unit, (k) => observed.observed().at(group, k)),
          expected: sumOver(unit, (k) => observed.expected().at(group, k)),
          error: one ? observed.error().at(group, unit.topics[0]) : null,
        };
      })
      .sort((a, b) => Math.max(b.observed, b.expected) - Math.max(a.observed, a.expected));
  }

  function drawObserved(width) {
    const rows = observedRows().slice(0, 18);
    const { left, y } = namedRows(width, rows);
    return plotted({
      width,
      height: 50 + 25 * rows.length,
      marginLeft: left,
      marginRight: 24,
      x: {
        label: "mean proportion",
        tickFormat: percentTick,
        grid: true,
        zero: true,
        ticks: Math.max(3, Math.floor(width / 120)),
      },
      y: { ...y, type: "band" },
      marks: [
        Plot.ruleY(rows, { y: "key", x1: "observed", x2: "expected", stroke: "var(--line)", strokeWidth: 4 }),
        Plot.ruleY(
          rows.filter((row) => row.error !== null),
          {
            y: "key",
            x1: (row) => row.observed - 1.645 * row.error,
            x2: (row) => row.observed + 1.645 * row.error,
            stroke: "var(--accent)",
            strokeWidth: 2,
          },
        ),
        Plot.dot(rows, { y: "key", x: "observed", r: 5, fill: "var(--accent)", stroke: "var(--surface)" }),
        Plot.dot(rows, {
          y: "key",
          x: "expected",
          r: 5,
          symbol: "diamond",
          fill: "var(--second)",
          stroke: "var(--surface)",
        }),
        tip(rows, {
          axis: "Y",
          y: "key",
          x: "observed",
          title: (row) => `${row.label}\nobserved ${percent(row.observed, 2)}\nexpected ${percent(row.expected, 2)}`,
        }),
      ],
    });
  }

  function drawGap() {
    if (!gap) return;
    const name = data.observed.names[own.observed];
    fill(
      gapControls,
      h(
        "label",
        { class: "field" },
        "Documents with",
        select(
          "Observed in documents with",
          data.observed.names.map((text, i) => [i, text]),
          own.observed,
          (value) => {
            own.observed = Number(value);
            drawGap();
          },
        ),
      ),
    );
    gap.update({
      title: `Observed against expected: ${name}`,
      caption:
        `Mean proportions in the ${thousands(data.observed.sizes[own.observed])} documents of the corpus ` +
        `with this label, from their words, and what all their labels lead one to expect. ${data.check}`,
    });
  }

  let asked = null;
  return {
    draw() {
      // A topic that another view sent here becomes the filter once.
      const sent = state.document === null && state.topic !== null && asked !== state.topic ? state.topic : null;
      if (sent) {
        own.topic = sent;
        own.group = "";
        asked = sent;
      }
      if (!units.some((unit) => unit.key === own.topic)) own.topic = "";
      if (state.document !== null && state.document >= all.length) state.document = null;
      drawControls();
      drawList();
      drawDocument();
      drawGap();
    },
  };
}
