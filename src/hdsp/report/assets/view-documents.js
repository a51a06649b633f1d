// Documents: typical ones, their words by topic; observed proportions against expected ones.

import { go, keepAddress, state } from "./address.js";
import { chart, namedRows, plotted, swatch, tip } from "./charts.js";
import { DATA, blockOf, documentData, effectRow, lazily } from "./data.js";
import {
  brief,
  button,
  csvButton,
  field,
  fill,
  h,
  percent,
  percentTick,
  searchField,
  select,
  thousands,
} from "./dom.js";
import { TOPICS, topicLabel, topicOptions, topicRow, topicTitle, usedTopics } from "./topics.js";

// The largest topics of a document have colours.
const COLOURS = 8;
const FIRST = 100;

export function documentsView(room) {
  const data = documentData();
  const all = data.documents;
  const groups = data.observed.names;
  const own = { query: "", topic: "", group: "", only: null, most: FIRST };
  const count = h("p.muted", { role: "status" });
  const list = h("ol.doc-list", { tabindex: "-1", "aria-label": "Documents" });
  const pane = h("article.card", { "aria-label": "The chosen document", tabindex: "-1" });
  const controls = h("div.bar-row");
  const search = searchField("document-search", "Search documents", "Search texts", (query) => {
    Object.assign(own, { query, most: FIRST });
    drawList();
    drawDocument();
  });
  const gap = groups.length ? observedChart(data) : null;
  room.append(
    controls,
    h("div.grid.list-side", h("div.card.no-print", count, list), pane),
    ...(gap ? [h("div.card", gap.controls, gap.figure)] : []),
  );

  const texts = all.map((entry) => entry.pieces.join(""));
  const searched = all.map((entry, row) => `${entry.name} ${texts[row]}`.toLowerCase());
  const shareIn = (entry, k) => entry.shares[entry.topics.indexOf(k)] ?? 0;

  /** Typical ones first, then others of the group or by their share of the topic. */
  function found() {
    let rows = d3.range(all.length);
    const first =
      own.group !== "" ? data.typical.groups[own.group] : own.topic !== "" ? data.typical.topics[own.topic] : [];
    if (own.group !== "") rows = rows.filter((row) => first.includes(row) || inGroup(all[row]));
    if (own.topic !== "") rows = rows.filter((row) => shareIn(all[row], own.topic) > 0);
    const rank = (row) => (first.includes(row) ? first.indexOf(row) : Infinity);
    const share = own.group === "" && own.topic !== "" ? (row) => shareIn(all[row], own.topic) : () => 0;
    rows.sort((a, b) => d3.ascending(rank(a), rank(b)) || share(b) - share(a));
    const words = own.query.split(/\s+/);
    return rows.filter((row) => words.every((word) => searched[row].includes(word)));
  }

  /** Whether a document carries the label of the chosen group; of ranges of numbers only typical ones are known. */
  function inGroup(entry) {
    const label = DATA.labels.names.indexOf(groups[own.group]);
    return label >= 0 && entry.labels.includes(label);
  }

  /** The colour number of a document's topics: its largest ones have one. */
  const colourOf = (entry, k) => {
    const place = entry.topics.indexOf(k);
    return place >= 0 && place < COLOURS ? place : null;
  };

  function bar(entry, tall) {
    const largest = entry.topics.slice(0, 5).map((k, i) => `${topicTitle(TOPICS[k])} ${percent(entry.shares[i], 0)}`);
    const parts = entry.topics.map((k, i) => {
      const colour = i < COLOURS ? `var(--d${i})` : "var(--grey)";
      const title = `${topicLabel(TOPICS[k])}: ${percent(entry.shares[i])}`;
      return h("i", { style: `width:${100 * entry.shares[i]}%;background:${colour}`, title });
    });
    return h(
      tall ? "span.stack.tall" : "span.stack",
      { role: "img", "aria-label": `Topics: ${largest.join(", ")}` },
      parts,
    );
  }

  function drawControls() {
    const topics = [["", "any topic"], ...topicOptions(usedTopics)];
    const names = groups.map((name, i) => [i, `${name} (${thousands(data.observed.sizes[i])})`]);
    const choose = (changes) => {
      Object.assign(own, changes);
      state.document = null;
      drawList();
      drawDocument();
      keepAddress();
    };
    const chooseTopic = (value) => {
      state.topic = value === "" ? state.topic : Number(value);
      choose({ topic: value === "" ? "" : Number(value) });
    };
    const chooseGroup = (value) => {
      choose({ group: value === "" ? "" : Number(value) });
      if (own.group !== "") gap.draw(own.group);
    };
    const shown =
      `${thousands(all.length)} of ${thousands(data.total)} documents are in this page: ` +
      "typical ones, and others at random.";
    fill(
      controls,
      search,
      field("typical of", select("Typical of topic", topics, own.topic, chooseTopic)),
      field("with", select("Typical of label", [["", "any label"], ...names], own.group, chooseGroup)),
      h("span.caption", all.length < data.total && shown),
    );
  }

  function drawList() {
    const rows = found();
    if (!rows.includes(state.document)) state.document = rows[0] ?? null;
    count.textContent = `${thousands(rows.length)} ${rows.length === 1 ? "document" : "documents"}`;
    const entryOf = (row) =>
      h(
        "button",
        {
          type: "button",
          "aria-current": String(row === state.document),
          "data-document": row,
          onclick: () => openDocument(row),
        },
        h("span.doc-name", { dir: "auto" }, all[row].name),
        own.topic !== "" && h("span.muted", ` ${percent(shareIn(all[row], own.topic), 0)}`),
        bar(all[row], false),
        h("span.snippet", { dir: "auto" }, texts[row].slice(0, 180)),
      );
    const more = () => {
      own.most += 200;
      drawList();
    };
    fill(
      list,
      rows.slice(0, own.most).map((row) => h("li", entryOf(row))),
      rows.length > own.most && h("li", button(`Show more (${thousands(rows.length - own.most)})`, more)),
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

  /** The words of a document, coloured by their topics. */
  function textOf(entry) {
    const parts = entry.pieces.map((piece, i) => {
      if (i % 2 === 0) return marked(piece);
      const k = entry.of[(i - 1) / 2];
      const colour = colourOf(entry, k);
      const style = colour === null ? "" : `background:var(--c${colour})`;
      return h(
        k === own.only ? "span.w.on" : "span.w",
        { title: topicLabel(TOPICS[k]), "data-topic": k, style },
        marked(piece),
      );
    });
    return h(own.only === null ? "div.doc-text" : "div.doc-text.dim", { dir: "auto" }, parts);
  }

  function legend(entry) {
    return entry.topics.slice(0, COLOURS).map((k, i) => {
      const parts = [
        h("i.swatch", { style: `background:var(--d${i})` }),
        topicLabel(TOPICS[k]),
        h("span.value", percent(entry.shares[i], 0)),
      ];
      const choose = () => {
        own.only = own.only === k ? null : k;
        drawDocument();
      };
      const title = "Colour only the words of this topic";
      return button(parts, choose, { class: "chip", "aria-pressed": String(k === own.only), title });
    });
  }

  function drawDocument() {
    const entry = all[state.document];
    if (!entry) return fill(pane, h("p.empty", "No document has that."));
    const largest = entry.topics[0];
    const table = () => ({
      columns: ["document", "topic", "name", "share"],
      rows: entry.topics.map((k, i) => [entry.name, k, topicTitle(TOPICS[k]), entry.shares[i]]),
    });
    const labels = entry.labels.map((label, i) => {
      const value = blockOf(label).kind === "number" && h("span.value", ` ${brief(entry.values[i])}`);
      const show = () => effectRow.has(label) && go({ view: "effects", side: "label", label });
      return button([DATA.labels.names[label], value], show, { class: "chip" });
    });
    const show = () => go({ view: "topics", topic: largest });
    return fill(
      pane,
      h(
        "div.head",
        h("h2", { dir: "auto" }, entry.name),
        h(
          "span.tools",
          largest !== undefined && button("Show its largest topic", show, { class: "quiet" }),
          csvButton("Topics of the document", "document-topics", table),
        ),
      ),
      h("div.chips", labels),
      bar(entry, true),
      h("div.chips", legend(entry)),
      !data.texts &&
        h("p.caption", "Words with their counts, the most frequent first: the report was made without texts."),
      textOf(entry),
      entry.cut && h("p.caption", "The text goes on; the page holds its beginning."),
    );
  }

  /** A text with what is searched for marked. */
  function marked(text) {
    if (!own.query) return text;
    const words = own.query.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const parts = text.split(new RegExp(`(${words.join("|")})`, "gi"));
    return parts.map((part, i) => (i % 2 ? h("mark", part) : part)).filter((part) => part !== "");
  }

  let asked = null;
  return {
    draw() {
      // A topic that another view sent here becomes the filter once.
      if (state.document === null && state.topic !== null && asked !== state.topic) {
        Object.assign(own, { topic: state.topic, group: "" });
        asked = state.topic;
      }
      drawControls();
      drawList();
      drawDocument();
      gap?.draw();
    },
  };
}

/** Observed proportions of a group of documents against expected ones: a chart with its choice of a group. */
function observedChart({ observed: { names, sizes, ...packed }, check }) {
  const [observed, expected, error] = [packed.observed, packed.expected, packed.error].map(lazily);
  // The most frequent label: those of numbers are ranges, and have a third of the documents each.
  const known = new Set(DATA.labels.names);
  let group = d3.greatest(d3.range(names.length), (i) => sizes[i] * (known.has(names[i]) ? 1 : 1e-9));
  const controls = h("div.bar-row");

  function rows() {
    const row = ({ k }) => ({
      observed: observed().at(group, k),
      expected: expected().at(group, k),
      error: error().at(group, k),
    });
    const found = usedTopics.map((topic) => ({ ...topicRow(topic), ...row(topic) }));
    return found.sort((a, b) => Math.max(b.observed, b.expected) - Math.max(a.observed, a.expected));
  }

  function plot(width) {
    const shown = rows().slice(0, 18);
    const { left, y } = namedRows(width, shown);
    const limit = (sign) => (row) => row.observed + sign * 1.645 * row.error;
    const title = (row) => `${row.label}\nobserved ${percent(row.observed, 2)}\nexpected ${percent(row.expected, 2)}`;
    const point = { y: "key", r: 5, stroke: "var(--surface)" };
    const ticks = Math.max(3, Math.floor(width / 120));
    return plotted({
      width,
      height: 50 + 25 * shown.length,
      marginLeft: left,
      marginRight: 24,
      x: { label: "mean proportion", tickFormat: percentTick, grid: true, zero: true, ticks },
      y,
      marks: [
        Plot.ruleY(shown, { y: "key", x1: "observed", x2: "expected", stroke: "var(--line)", strokeWidth: 4 }),
        Plot.ruleY(shown, { y: "key", x1: limit(-1), x2: limit(1), stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.dot(shown, { ...point, x: "observed", fill: "var(--accent)" }),
        Plot.dot(shown, { ...point, x: "expected", symbol: "diamond", fill: "var(--second)" }),
        tip(shown, { axis: "Y", y: "key", x: "observed", title }),
      ],
    });
  }

  const { figure, update } = chart({
    title: "Observed against expected",
    file: "observed-expected",
    describe: () => `Observed and expected proportions of topics in documents with ${names[group]}.`,
    legend: () => [
      swatch("var(--accent)", "observed, with a 90% interval"),
      swatch("var(--second)", "expected from labels", "diamond"),
    ],
    draw: plot,
    table: () => ({
      columns: ["topic", "name", "observed", "error", "expected"],
      rows: rows().map((row) => [row.key, row.name, row.observed, row.error, row.expected]),
    }),
    onpick: (row) => go({ view: "topics", topic: row.key }),
  });

  function draw(chosen = group) {
    group = chosen;
    const options = names.map((name, i) => [i, name]);
    const choose = (value) => draw(Number(value));
    fill(controls, field("Documents with", select("Observed in documents with", options, group, choose)));
    update({
      title: `Observed against expected: ${names[group]}`,
      caption:
        `Mean proportions in the ${thousands(sizes[group])} documents of the corpus with this label, from their ` +
        `words, and what all their labels lead one to expect. ${check}`,
    });
  }
  return { controls, figure, draw };
}
