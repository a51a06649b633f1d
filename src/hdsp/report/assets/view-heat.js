// The heat map: effects of labels on topics, in an order that puts similar ones side by side.

import { go } from "./address.js";
import { chart, cut, nameRoom, textWidth } from "./charts.js";
import { DATA, effectOf, effectRow } from "./data.js";
import { button, fill, h, percent, points, select, themed, thousands } from "./dom.js";
import { sumOver, sure, unitEffect, unitLabel, unitOf, units } from "./topics-model.js";

export function heatView(room) {
  let limit = 0.01;
  const own = { page: 0, size: 40, topics: 40, block: "" };
  const controls = h("div", { class: "bar-row" });
  const heat = chart({
    title: "Topics × labels",
    file: "heat-map",
    caption:
      "Change of a topic's expected proportion by a label, in percentage points; " +
      `pale where the ${Math.round(100 * DATA.effects.level)}\u00a0% interval holds zero. ` +
      "Neighbours are similar: rows and columns are in the order of a clustering.",
    describe: () => `Heat map of the effects of ${rowLabels().length} labels on ${columnUnits().length} topics.`,
    legend: () => {
      const stops = d3.range(-1, 1.01, 0.1).map((part) => colours()(part * limit));
      return h(
        "span",
        {},
        points(-limit),
        h("i", {
          style: `width:10rem;height:.7rem;border-radius:3px;background:linear-gradient(to right,${stops.join()})`,
        }),
        points(limit),
      );
    },
    draw: drawHeat,
    table: () => {
      const shown = columnUnits();
      return {
        columns: ["label", ...shown.map((unit) => unit.key)],
        rows: rowLabels().map((label) => [
          DATA.labels.names[label],
          ...shown.map((unit) => unitEffect(label, unit).effect),
        ]),
      };
    },
    onpick: (cell) => go({ view: "effects", side: "label", label: cell.label, topic: cell.key }),
  });
  room.append(controls, h("div", { class: "card" }, heat.figure));

  const ordered = DATA.order.labels.map((row) => DATA.effects.labels[row]);
  const chosenLabels = () =>
    ordered.filter((label) => own.block === "" || DATA.labels.block[label] === Number(own.block));
  const rowLabels = () => chosenLabels().slice(own.page * own.size, (own.page + 1) * own.size);

  /** The topics that these labels change most, in the order of the clustering. */
  function columnUnits() {
    const rows = rowLabels().map((label) => effectRow.get(label));
    const size = new Map(
      units
        .filter((unit) => unit.used)
        .map((unit) => [unit, d3.max(rows, (row) => Math.abs(sumOver(unit, (k) => effectOf().at(row, k)))) ?? 0]),
    );
    const largest = new Set(
      [...size]
        .sort((a, b) => b[1] - a[1])
        .slice(0, own.topics)
        .map((entry) => entry[0]),
    );
    return [...new Set(DATA.order.topics.map((k) => unitOf[k]))].filter((unit) => largest.has(unit));
  }

  /** Colours by the root of an effect, so that small ones can be told from none. */
  function colours() {
    return d3
      .scaleDivergingSqrt(
        [-limit, 0, limit],
        d3.piecewise(d3.interpolateLab, [themed("--down"), themed("--cell"), themed("--up")]),
      )
      .clamp(true);
  }

  function drawHeat(width) {
    const [labels, columns] = [rowLabels(), columnUnits()];
    const cells = labels.flatMap((label) =>
      columns.map((unit) => ({ label, key: unit.key, unit, ...unitEffect(label, unit) })),
    );
    const { room, fit } = nameRoom(
      width,
      labels.map((label) => DATA.labels.names[label]),
    );
    const titles = new Map(columns.map((unit) => [unit.key, cut(unitLabel(unit), 150)]));
    // Names of columns lean to the left by sixty degrees.
    const left = Math.max(room, 0.5 * textWidth(titles.get(columns[0]?.key) ?? ""));
    const below = 22 + 0.87 * (d3.max([...titles.values()], textWidth) ?? 0);
    const tall = labels.length > 15 ? 20 : 28;
    // The extreme hundredth would else pale all others.
    limit =
      d3.quantile(
        cells.map((cell) => Math.abs(cell.effect)),
        0.99,
      ) || 1e-6;
    const wide = Math.max(width, left + 20 + 15 * columns.length);
    const colour = colours();
    const picture = Plot.plot({
      width: wide,
      height: below + 6 + tall * labels.length,
      marginLeft: left,
      marginTop: 6,
      marginBottom: below,
      marginRight: 20,
      style: { fontSize: "12px" },
      x: {
        label: null,
        domain: columns.map((unit) => unit.key),
        tickRotate: -60,
        tickSize: 0,
        tickFormat: (key) => titles.get(key),
        padding: 0.06,
      },
      y: {
        label: null,
        domain: labels,
        tickFormat: (label) => fit(DATA.labels.names[label]),
        tickSize: 0,
        padding: 0.06,
      },
      marks: [
        Plot.cell(cells, {
          x: "key",
          y: "label",
          fill: (cell) => colour(cell.effect),
          fillOpacity: (cell) => (sure(cell) ? 1 : 0.4),
          rx: 2,
        }),
        Plot.tip(
          cells,
          Plot.pointer({
            x: "key",
            y: "label",
            fill: "var(--surface)",
            stroke: "var(--line)",
            title: (cell) =>
              `${DATA.labels.names[cell.label]}\n${unitLabel(cell.unit)}\n` +
              `${points(cell.effect)} points (${points(cell.lower)} to ${points(cell.upper)}), ` +
              `to ${percent(cell.expected, 2)}`,
          }),
        ),
      ],
    });
    // Wider than the page on a phone: it scrolls.
    picture.style.maxWidth = "none";
    return picture;
  }

  function draw() {
    const total = chosenLabels().length;
    const pages = Math.max(1, Math.ceil(total / own.size));
    own.page = Math.min(own.page, pages - 1);
    const turn = (step) => {
      own.page += step;
      draw();
    };
    const update = (changes) => {
      Object.assign(own, changes);
      draw();
    };
    fill(
      controls,
      DATA.labels.blocks.length > 1
        ? select(
            "Labels of",
            [["", "all labels"], ...DATA.labels.blocks.map((block, i) => [i, block.name])],
            own.block,
            (value) => update({ block: value, page: 0 }),
          )
        : null,
      select(
        "Labels shown",
        [
          [20, "20 labels"],
          [40, "40 labels"],
          [100, "100 labels"],
        ],
        own.size,
        (value) => update({ size: Number(value), page: 0 }),
      ),
      select(
        "Topics shown",
        [
          [20, "20 topics"],
          [40, "40 topics"],
          [100, "100 topics"],
        ],
        own.topics,
        (value) => update({ topics: Number(value) }),
      ),
      pages > 1
        ? [
            button("← Previous", () => turn(-1), { disabled: own.page === 0 }),
            h(
              "span",
              { class: "muted" },
              `labels ${own.page * own.size + 1} ` +
                `to ${Math.min(total, (own.page + 1) * own.size)} of ${thousands(total)}`,
            ),
            button("Next →", () => turn(1), { disabled: own.page >= pages - 1 }),
          ]
        : null,
    );
    heat.update();
  }
  heat.room.classList.add("scroll");
  heat.room.tabIndex = 0;
  heat.room.setAttribute("role", "region");
  heat.room.setAttribute("aria-label", "Heat map, scrolls sideways");
  return { draw };
}
