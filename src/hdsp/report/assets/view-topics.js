// Topics: a list to sort and search, and all of one topic beside it.

import { chooseTopic, chosenTopic, go, state } from "./address.js";
import { chart, nameRoom, plotted, swatch, tip } from "./charts.js";
import { DATA, T, hasDocuments, hasEffects } from "./data.js";
import {
  announce,
  button,
  csvButton,
  fill,
  h,
  hundredths,
  percent,
  percentTick,
  points,
  searchField,
  tick,
} from "./dom.js";
import { strongestLabels } from "./effects.js";
import { sideCaption, sideWords } from "./side-words.js";
import { TOPICS, nameFileButtons, renameTopic, textOfWords, topicTitle, usedTopics, wordsOf } from "./topics.js";

const stable = DATA.topics.similarity !== undefined;
const foundAgain = (topic) => `found again in ${topic.foundIn} of ${DATA.topics.fits} fits`;
const labelNames = (topic, n, sign) => strongestLabels(topic.k, n, sign).map((entry) => entry.name);

export function topicsView(room) {
  const own = { query: "", relevance: 0.6, sort: "share", falling: true, all: false };
  const columns = [
    { id: "topic", text: "Topic", value: (topic) => topic.k, cell: numberCell, class: "id" },
    {
      id: "share",
      text: "Share",
      hint: "Share of the corpus's tokens",
      value: (topic) => topic.share,
      cell: shareCell,
      class: "number size",
    },
    {
      id: "coherence",
      text: "Coherence",
      hint: "How often the topic's words occur together in documents (NPMI): the higher, the better",
      value: (topic) => topic.coherence,
      cell: (topic) => hundredths(topic.coherence),
      class: "number extra",
    },
    stable && {
      id: "similarity",
      text: "Stability",
      hint: "Similarity to the nearest topic of other fits",
      value: (topic) => topic.similarity,
      cell: (topic) => h("span", { title: foundAgain(topic) }, hundredths(topic.similarity)),
      class: "number extra",
    },
    { id: "words", text: "Words", value: (topic) => topicTitle(topic).toLowerCase(), cell: wordsCell, class: "words" },
    hasEffects && {
      id: "labels",
      text: "Strongest effects",
      hint: "The largest label effects on the topic, in percentage points, whose intervals exclude 0",
      cell: effectsCell,
      class: "labels",
    },
  ].filter((column) => column);
  const isNumber = (column) => column.class.startsWith("number");

  const count = h("span.muted", { role: "status" });
  const help =
    "At 1, words are in the order of their probability in the topic; " +
    "at 0, by how much more often the topic uses them than the whole corpus.";
  const output = h("output", { for: "relevance" }, own.relevance.toFixed(2));
  const range = { type: "range", min: 0, max: 1, step: 0.05, value: own.relevance };
  const slider = h("input", { ...range, id: "relevance", "aria-describedby": "relevance-help", oninput: slide });
  const search = searchField("topic-search", "Search topics", "Search words, names, labels", (query) => {
    own.query = query;
    drawTable();
  });
  const showAll = (all) => {
    own.all = all;
    drawTable();
  };
  const controls = h(
    "div.bar-row",
    search,
    h("label.field.relevance", { title: help }, "Words: distinctive", slider, h("span.muted", "probable ", output)),
    h("span", { id: "relevance-help", hidden: true }, help),
    usedTopics.length < T && tick("also topics with almost no tokens", false, showAll),
    h("span.spacer"),
    count,
  );

  const head = h("tr");
  const body = h("tbody");
  const tools = h("span.tools", nameFileButtons(draw), csvButton("Topics", "topics", topicTable));
  const list = h(
    "div.card.long",
    h("div.head", h("h2", "Topics"), tools),
    h("div.scroll", h("table.topic-table", h("thead", head), body)),
  );
  const detail = h("aside.card.sticky", { "aria-label": "The chosen topic", tabindex: "0" });
  const sides = h("div.grid.side", list, detail);
  const notes = [DATA.topics.junk, DATA.effects.problem && `No label effects: ${DATA.effects.problem}`];
  room.append(controls, ...notes.filter((text) => text).map((text) => h("p.muted", text)), sides);
  const narrow = matchMedia("screen and (max-width: 900px)");
  narrow.addEventListener("change", placeDetail);

  const nameInput = h("input", {
    type: "text",
    id: "topic-name",
    placeholder: "Name this topic",
    "aria-label": "Name of the topic",
    maxlength: 120,
    onchange: () => {
      renameTopic(chosenTopic(), nameInput.value.trim());
      draw();
      announce("Name kept.");
    },
  });
  const wordChart = chart({
    title: "Words",
    level: "h3",
    file: "topic-words",
    describe: () => `Words of topic ${chosenTopic().k}: ${textOfWords(chosenTopic(), own.relevance, 10, ", ")}`,
    draw: (width) => wordPlot(wordsOf(chosenTopic(), own.relevance, 12), width),
    table: () => ({
      columns: ["word", "probability", "overall"],
      rows: wordsOf(chosenTopic(), own.relevance, 60).map((entry) => [entry.word, entry.p, entry.overall]),
    }),
    legend: () => [swatch("var(--accent)", "in the topic"), swatch("var(--grey)", "in the corpus")],
  });
  const sideChart = sideWords();

  function slide() {
    own.relevance = Number(slider.value);
    output.textContent = own.relevance.toFixed(2);
    drawTable();
    drawDetail();
  }

  function matches(topic) {
    if (!own.query) return true;
    const words = wordsOf(topic, own.relevance, 20).filter((entry) => entry.p > entry.overall);
    const texts = [String(topic.k), topic.name, ...words.map((entry) => entry.word), ...labelNames(topic, 3)];
    return own.query.split(/\s+/).every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  }

  function topicsShown() {
    const { value } = columns.find((column) => column.id === own.sort);
    const order = own.falling ? d3.descending : d3.ascending;
    // Missing values come last either way.
    const rank = (a, b) => (value(a) === null) - (value(b) === null) || order(value(a), value(b)) || a.k - b.k;
    return (own.all ? TOPICS : usedTopics).filter(matches).sort(rank);
  }

  function topicTable() {
    const again = stable ? ["similarity", "found_in"] : [];
    const names = ["topic", "name", "weight", "share", "coherence", ...again, "words", "distinctive_words"];
    const rows = topicsShown().map((topic) => [
      topic.k,
      topic.name,
      topic.weight,
      topic.share,
      topic.coherence,
      ...(stable ? [topic.similarity, topic.foundIn] : []),
      textOfWords(topic, 1, 10),
      DATA.topics.distinctive[topic.k],
      labelNames(topic, 3, 1).join("; "),
      labelNames(topic, 3, -1).join("; "),
    ]);
    return { columns: [...names, "raised_by", "lowered_by"], rows };
  }

  function drawHead() {
    const sortBy = (column, sorted) => () => {
      own.falling = sorted ? !own.falling : isNumber(column);
      own.sort = column.id;
      draw();
      head.querySelector(`[data-column="${column.id}"]`).focus();
    };
    const heading = (column) => {
      const sorted = own.sort === column.id;
      const title = `${column.text}${sorted ? (own.falling ? " ↓" : " ↑") : ""}`;
      const properties = { scope: "col", class: isNumber(column) ? "number" : "", title: column.hint };
      if (sorted) properties["aria-sort"] = own.falling ? "descending" : "ascending";
      const sorter = { class: "plain", "data-column": column.id };
      return h("th", properties, column.value ? button(title, sortBy(column, sorted), sorter) : title);
    };
    fill(head, columns.map(heading));
  }

  function numberCell(topic, chosen) {
    const about = { "aria-label": `Topic ${topic.k}: ${topicTitle(topic)}`, "aria-pressed": String(chosen) };
    return button(String(topic.k), null, { class: "plain topic-name", ...about });
  }

  function shareCell(topic) {
    const width = (100 * topic.share) / (d3.max(DATA.topics.share) || 1);
    return h("span.meter", h("span.meter-room", h("i", { style: `width:${width}%` })), percent(topic.share));
  }

  function wordsCell(topic) {
    const words = textOfWords(topic, own.relevance, 8);
    return topic.name ? [h("span.topic-name", `${topic.name} `), h("span.muted", words)] : words;
  }

  function effectsCell(topic) {
    const line = ({ name, effect }) =>
      h("span.effect-line", h("span.one-line", name), h(effect > 0 ? "span.up" : "span.down", points(effect, 1)));
    return strongestLabels(topic.k, 2).map(line);
  }

  function drawTable() {
    const shown = topicsShown();
    count.textContent = `${shown.length} of ${T} topics`;
    const chosen = narrow.matches && state.topic === null ? null : chosenTopic();
    const pick = (topic) => {
      chooseTopic(topic.k);
      drawTable();
      drawDetail();
      body.querySelector(`[data-topic="${topic.k}"] .plain`)?.focus({ preventScroll: true });
    };
    const cell = (topic, column) => {
      const value = isNumber(column) ? (column.value(topic) ?? "") : null;
      return h("td", { class: column.class, "data-value": value }, column.cell(topic, topic === chosen));
    };
    const row = (topic) =>
      h(
        "tr",
        { class: topic === chosen ? "chosen" : "", "data-topic": topic.k, onclick: () => pick(topic) },
        columns.map((column) => cell(topic, column)),
      );
    const nothing = h("tr", h("td.empty", { colspan: columns.length }, "No topic has that."));
    fill(body, shown.length ? shown.map(row) : nothing);
    placeDetail();
  }

  /** Beside the list; on a narrow screen below the topic that was chosen. */
  function placeDetail() {
    body.querySelector(".detail-row")?.remove();
    const row = narrow.matches && state.topic !== null ? body.querySelector("tr.chosen") : null;
    if (row) row.after(h("tr.detail-row", h("td", { colspan: columns.length }, detail)));
    else if (narrow.matches) detail.remove();
    else sides.append(detail);
  }

  function drawDetail() {
    const topic = chosenTopic();
    nameInput.value = topic.name;
    const measured = [
      `${percent(topic.share)} of tokens`,
      topic.coherence !== null && `coherence ${hundredths(topic.coherence)}`,
      topic.similarity !== null && foundAgain(topic),
    ];
    const strongest = strongestLabels(topic.k, 8).map(({ label, name, effect }) =>
      button(
        [name, h("span.value", ` ${points(effect, 1)} points`)],
        () => go({ view: "effects", side: "label", label }),
        { class: "chip" },
      ),
    );
    const link = (text, changes) => button(text, () => go({ topic: topic.k, ...changes }), { class: "quiet" });
    fill(
      detail,
      h("div.head", h("h2", { id: "topic-heading" }, `Topic ${topic.k}`)),
      h("p.muted", measured.filter((text) => text).join(" · ")),
      h("div.name-room", nameInput),
      h(
        "div.chips.links",
        hasEffects && link("Effects", { view: "effects", side: "topic" }),
        link("Map", { view: "map" }),
        hasDocuments && link("Documents", { view: "documents", document: null }),
      ),
      wordChart.figure,
      strongest.length > 0 && [h("h3", "Strongest effects"), h("div.chips", strongest)],
      sideChart?.figure,
    );
    wordChart.update();
    sideChart?.update({ caption: sideCaption(topic) });
  }

  function draw() {
    drawHead();
    drawTable();
    drawDetail();
  }
  return { draw };
}

/** Bars of the words of a topic, with their frequency in the corpus as a tick. */
function wordPlot(words, width) {
  const names = words.map((entry) => entry.word);
  const { room, fit } = nameRoom(width, names);
  const title = ({ word, p, overall }) =>
    `${word}\n${percent(p, 2)} of the topic\n${percent(overall, 3)} of the corpus`;
  return plotted({
    width,
    height: 46 + 18 * words.length,
    marginLeft: room,
    marginRight: 12,
    marginTop: 4,
    x: { label: "probability", tickFormat: percentTick, ticks: 4, grid: true },
    y: { label: null, domain: names, tickFormat: fit, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.barX(words, { y: "word", x: "p", fill: "var(--accent)", rx: 2 }),
      Plot.tickX(words, { y: "word", x: "overall", stroke: "var(--grey)", strokeWidth: 2 }),
      tip(words, { axis: "Y", y: "word", x: "p", title }),
    ],
  });
}
