// Topics: a list to sort and search, and all of one topic beside it.

import { chooseTopic, chosenUnit, go, keepAddress, state } from "./address.js";
import { chart, nameRoom, plotted, swatch, tip } from "./charts.js";
import { DATA, T, hasDocuments, hasEffects } from "./data.js";
import { announce, button, csvOf, download, fill, h, hundredths, percent, percentTick, points } from "./dom.js";
import { sideCaption, sideWords } from "./side-words.js";
import {
  coherenceOf,
  combineUnits,
  foundInOf,
  labelsOf,
  nameFileButtons,
  renameUnit,
  shareOf,
  similarityOf,
  splitUnit,
  unitTitle,
  units,
  weightOf,
  wordsOf,
} from "./topics-model.js";

export function topicsView(room) {
  const own = { query: "", relevance: 0.6, sort: "share", down: true, all: false, checked: new Set() };
  const stable = DATA.topics.similarity !== undefined;
  const unused = DATA.topics.in_use < T;
  const columns = [
    { id: "topic", text: "Topic", value: (unit) => unit.topics[0], first: false },
    {
      id: "share",
      text: "Share",
      hint: "Share of the corpus's tokens",
      value: shareOf,
      first: true,
      number: true,
      class: "size",
    },
    {
      id: "coherence",
      text: "Coherence",
      hint: "How often the topic's words occur together in documents (NPMI): the higher, the better",
      value: coherenceOf,
      first: true,
      number: true,
      class: "extra",
    },
    ...(stable
      ? [
          {
            id: "similarity",
            text: "Stability",
            hint: "Similarity to the nearest topic of other fits",
            value: similarityOf,
            first: true,
            number: true,
            class: "extra",
          },
        ]
      : []),
    { id: "words", text: "Words", value: (unit) => unitTitle(unit).toLowerCase(), first: false },
    ...(hasEffects
      ? [
          {
            id: "labels",
            text: "Strongest effects",
            hint: "The largest label effects on the topic, in percentage points, whose intervals exclude 0",
            value: null,
          },
        ]
      : []),
  ];

  const count = h("span", { class: "muted", role: "status" });
  const combine = button(
    "Combine",
    () => {
      const chosen = units.filter((unit) => own.checked.has(unit.key));
      own.checked.clear();
      state.topic = combineUnits(chosen);
      keepAddress();
      draw();
      announce(`Combined ${chosen.length} topics: their proportions add.`);
    },
    { disabled: true, id: "combine", title: "Tick two topics or more: their proportions add" },
  );
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    step: 0.05,
    value: own.relevance,
    id: "relevance",
    "aria-describedby": "relevance-help",
    oninput: () => {
      own.relevance = Number(slider.value);
      output.textContent = own.relevance.toFixed(2);
      drawTable();
      drawDetail();
    },
  });
  const help =
    "At 1, words are in the order of their probability in the topic; " +
    "at 0, by how much more often the topic uses them than the whole corpus.";
  const output = h("output", { for: "relevance" }, own.relevance.toFixed(2));
  const search = h("input", {
    type: "search",
    id: "topic-search",
    placeholder: "Search words, names, labels",
    "aria-label": "Search topics",
    oninput: () => {
      own.query = search.value.trim().toLowerCase();
      drawTable();
    },
  });
  const controls = h(
    "div",
    { class: "bar-row" },
    search,
    h(
      "label",
      { class: "field relevance", title: help },
      "Words: distinctive",
      slider,
      h("span", { class: "muted" }, "probable ", output),
    ),
    h("span", { id: "relevance-help", hidden: true }, help),
    unused
      ? h(
          "label",
          { class: "field" },
          h("input", {
            type: "checkbox",
            onchange: (event) => {
              own.all = event.target.checked;
              drawTable();
            },
          }),
          "also topics that hold next to nothing",
        )
      : null,
    h("span", { class: "spacer" }),
    count,
    combine,
  );

  const head = h("tr");
  const body = h("tbody");
  const save = button(
    "CSV",
    () => {
      const { columns: header, rows } = topicTable();
      download("topics.csv", "text/csv;charset=utf-8", csvOf(header, rows));
    },
    { class: "quiet", "aria-label": "Topics: save as CSV", "data-save": "csv" },
  );
  const tableRoom = h(
    "div",
    { class: "card long" },
    h("div", { class: "head" }, h("h2", {}, "Topics"), h("span", { class: "tools" }, nameFileButtons(draw), save)),
    h("div", { class: "scroll" }, h("table", { class: "topic-table" }, h("thead", {}, head), body)),
  );
  const detail = h("aside", { class: "card sticky", "aria-label": "The chosen topic", tabindex: "0" });
  const sides = h("div", { class: "grid side" }, tableRoom, detail);
  const notes = [DATA.topics.junk, DATA.effects.problem && `No label effects: ${DATA.effects.problem}`];
  room.append(controls, ...notes.filter((text) => text).map((text) => h("p", { class: "muted" }, text)), sides);
  const narrow = matchMedia("screen and (max-width: 900px)");
  narrow.addEventListener("change", () => placeDetail());

  const nameInput = h("input", {
    type: "text",
    id: "topic-name",
    placeholder: "Name this topic",
    "aria-label": "Name of the topic",
    maxlength: 120,
    onchange: () => {
      renameUnit(chosenUnit(), nameInput.value.trim());
      draw();
      announce("Name kept.");
    },
  });
  const wordChart = chart({
    title: "Words",
    level: "h3",
    file: "topic-words",
    describe: () =>
      `Words of topic ${chosenUnit().key}: ${wordsOf(chosenUnit(), own.relevance, 10)
        .map((entry) => entry.word)
        .join(", ")}`,
    draw: (width) => wordPlot(wordsOf(chosenUnit(), own.relevance, 12), width),
    table: () => ({
      columns: ["word", "probability", "overall"],
      rows: wordsOf(chosenUnit(), own.relevance, 60).map((entry) => [entry.word, entry.p, entry.overall]),
    }),
    legend: () => [swatch("var(--accent)", "in the topic"), swatch("var(--grey)", "in the corpus")],
  });

  const sideChart = sideWords();

  function matches(unit) {
    if (!own.all && !unit.used) return false;
    if (!own.query) return true;
    const texts = [
      unit.key,
      unit.name,
      ...wordsOf(unit, own.relevance, 20)
        .filter((entry) => entry.p > entry.overall)
        .map((entry) => entry.word),
      ...labelsOf(unit, 3).map((entry) => DATA.labels.names[entry.label]),
    ];
    return own.query.split(/\s+/).every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  }

  function rowsShown() {
    const column = columns.find((entry) => entry.id === own.sort);
    const found = units.filter(matches);
    const order = own.down ? d3.descending : d3.ascending;
    return found.sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      // What has no value comes last either way.
      if ((x === null) !== (y === null)) return x === null ? 1 : -1;
      return order(x, y) || a.topics[0] - b.topics[0];
    });
  }

  function topicTable() {
    return {
      columns: [
        "topic",
        "name",
        "weight",
        "share",
        "coherence",
        ...(stable ? ["similarity", "found_in"] : []),
        "words",
        "distinctive_words",
        "raised_by",
        "lowered_by",
      ],
      rows: rowsShown().map((unit) => [
        unit.key,
        unit.name,
        weightOf(unit),
        shareOf(unit),
        coherenceOf(unit),
        ...(stable ? [similarityOf(unit), foundInOf(unit)] : []),
        wordsOf(unit, 1, 10)
          .map((entry) => entry.word)
          .join(" "),
        unit.topics.length === 1
          ? DATA.topics.distinctive[unit.topics[0]]
          : wordsOf(unit, 0.6, 10)
              .map((entry) => entry.word)
              .join(" "),
        labelsOf(unit, 3, 1)
          .map((entry) => DATA.labels.names[entry.label])
          .join("; "),
        labelsOf(unit, 3, -1)
          .map((entry) => DATA.labels.names[entry.label])
          .join("; "),
      ]),
    };
  }

  function drawHead() {
    fill(
      head,
      h("th", { class: "tick" }, h("span", { class: "hidden-input" }, "Combine")),
      columns.map((column) => {
        const sorted = own.sort === column.id;
        const title = column.value
          ? button(
              `${column.text}${sorted ? (own.down ? " ↓" : " ↑") : ""}`,
              () => {
                own.down = sorted ? !own.down : column.first;
                own.sort = column.id;
                draw();
                head.querySelector(`[data-column="${column.id}"]`).focus();
              },
              { class: "plain", "data-column": column.id },
            )
          : column.text;
        return h(
          "th",
          {
            scope: "col",
            class: column.number ? "number" : "",
            "aria-sort": sorted ? (own.down ? "descending" : "ascending") : null,
            title: column.hint,
          },
          title,
        );
      }),
    );
  }

  function drawTable() {
    const shown = rowsShown();
    const largest = d3.max(units, shareOf) || 1;
    count.textContent = `${shown.length} of ${units.length} topics`;
    const chosen = narrow.matches && state.topic === null ? null : chosenUnit();
    fill(
      body,
      shown.map((unit) => {
        const pick = () => {
          chooseTopic(unit.key);
          drawTable();
          drawDetail();
        };
        const box = h("input", {
          type: "checkbox",
          "aria-label": `Tick topic ${unit.key} to combine it`,
          checked: own.checked.has(unit.key),
          onchange: () => {
            own.checked[box.checked ? "add" : "delete"](unit.key);
            drawCombine();
          },
        });
        const found = similarityOf(unit);
        return h(
          "tr",
          { class: unit === chosen ? "chosen" : "", "data-topic": unit.key },
          h("td", { class: "tick" }, box),
          h(
            "td",
            { class: "id" },
            button(
              unit.key,
              () => {
                pick();
                body.querySelector(`[data-topic="${CSS.escape(unit.key)}"] .plain`)?.focus();
              },
              {
                class: "plain topic-name",
                "aria-label": `Topic ${unit.key}: ${unitTitle(unit)}`,
                "aria-pressed": String(unit === chosen),
              },
            ),
          ),
          h(
            "td",
            { class: "number size", "data-value": shareOf(unit) },
            h(
              "span",
              { class: "meter" },
              h("span", { class: "meter-room" }, h("i", { style: `width:${(100 * shareOf(unit)) / largest}%` })),
              percent(shareOf(unit)),
            ),
          ),
          h("td", { class: "number extra", "data-value": coherenceOf(unit) ?? "" }, hundredths(coherenceOf(unit))),
          stable
            ? h(
                "td",
                {
                  class: "number extra",
                  "data-value": found ?? "",
                  title: found === null ? "" : `found again in ${foundInOf(unit)} of ${DATA.topics.fits} fits`,
                },
                hundredths(found),
              )
            : null,
          h(
            "td",
            { class: "words", onclick: pick },
            unit.name ? h("span", { class: "topic-name" }, `${unit.name} `) : null,
            h(
              "span",
              { class: unit.name ? "muted" : "" },
              wordsOf(unit, own.relevance, 8)
                .map((entry) => entry.word)
                .join(" "),
            ),
          ),
          hasEffects
            ? h(
                "td",
                { class: "labels" },
                labelsOf(unit, 2).map((entry) =>
                  h(
                    "span",
                    { class: "effect-line" },
                    h("span", { class: "one-line" }, DATA.labels.names[entry.label]),
                    h("span", { class: entry.effect > 0 ? "up" : "down" }, points(entry.effect, 1)),
                  ),
                ),
              )
            : null,
        );
      }),
    );
    if (!shown.length)
      fill(body, h("tr", {}, h("td", { colspan: columns.length + 1, class: "empty" }, "No topic has that.")));
    placeDetail();
    drawCombine();
  }

  /** Beside the list; on a narrow screen below the topic that was chosen. */
  function placeDetail() {
    body.querySelector(".detail-row")?.remove();
    const row = narrow.matches && state.topic !== null ? body.querySelector("tr.chosen") : null;
    if (row) row.after(h("tr", { class: "detail-row" }, h("td", { colspan: columns.length + 1 }, detail)));
    else if (narrow.matches) detail.remove();
    else sides.append(detail);
  }

  function drawCombine() {
    combine.disabled = own.checked.size < 2;
    combine.textContent = own.checked.size < 2 ? "Combine" : `Combine ${own.checked.size}`;
  }

  function drawDetail() {
    const unit = chosenUnit();
    nameInput.value = unit.name;
    const measured = [
      `${percent(shareOf(unit))} of tokens`,
      coherenceOf(unit) === null ? null : `coherence ${hundredths(coherenceOf(unit))}`,
      similarityOf(unit) === null ? null : `found again in ${foundInOf(unit)} of ${DATA.topics.fits} fits`,
    ].filter((text) => text);
    const strongest = labelsOf(unit, 8).map((entry) =>
      button(
        [DATA.labels.names[entry.label], h("span", { class: "value" }, ` ${points(entry.effect, 1)} points`)],
        () => go({ view: "effects", side: "label", label: entry.label }),
        { class: "chip" },
      ),
    );
    fill(
      detail,
      h(
        "div",
        { class: "head" },
        h("h2", { id: "topic-heading" }, `Topic ${unit.key}`),
        unit.group
          ? button(
              "Take apart",
              () => {
                splitUnit(unit);
                state.topic = String(unit.topics[0]);
                keepAddress();
                draw();
              },
              { class: "quiet" },
            )
          : null,
      ),
      h("p", { class: "muted", style: "margin-bottom:.5rem" }, measured.join(" · ")),
      h("div", { class: "name-room" }, nameInput),
      h(
        "div",
        { class: "chips links", style: "margin-bottom:.9rem" },
        hasEffects
          ? button("Effects", () => go({ view: "effects", side: "topic", topic: unit.key }), { class: "quiet" })
          : null,
        button("Map", () => go({ view: "map", topic: unit.key }), { class: "quiet" }),
        hasDocuments
          ? button("Documents", () => go({ view: "documents", topic: unit.key, document: null }), { class: "quiet" })
          : null,
      ),
      wordChart.figure,
      h("div", { style: "height:.8rem" }),
      strongest.length
        ? [h("h3", {}, "Strongest effects"), h("div", { class: "chips", style: "margin:.3rem 0 .8rem" }, strongest)]
        : null,
      sideChart?.figure,
    );
    wordChart.update();
    sideChart?.update({ caption: sideCaption(unit) });
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
  const { room, fit } = nameRoom(
    width,
    words.map((entry) => entry.word),
  );
  return plotted({
    width,
    height: 46 + 18 * words.length,
    marginLeft: room,
    marginRight: 12,
    marginTop: 4,
    x: { label: "probability", tickFormat: percentTick, ticks: 4, grid: true },
    y: { label: null, domain: words.map((entry) => entry.word), tickFormat: fit, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.barX(words, { y: "word", x: "p", fill: "var(--accent)", rx: 2 }),
      Plot.tickX(words, { y: "word", x: "overall", stroke: "var(--grey)", strokeWidth: 2 }),
      tip(words, {
        axis: "Y",
        y: "word",
        x: "p",
        title: (entry) =>
          `${entry.word}\n${percent(entry.p, 2)} of the topic\n${percent(entry.overall, 3)} of the corpus`,
      }),
    ],
  });
}
