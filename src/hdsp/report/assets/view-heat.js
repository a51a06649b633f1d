// The heat map: effects of labels on topics, similar ones side by side.

import { go } from "./address.js";
import { chart, cut, namedRows, plotted, textWidth, tip } from "./charts.js";
import { DATA, effectOf, effectRow } from "./data.js";
import { button, countSelect, fill, h, points, select, themed, thousands } from "./dom.js";
import { sumOver, sure, unitEffect, unitLabel, unitOf, unitTitle, units } from "./topics-model.js";

export function heatView(room) {
  let limit = 0.01;
  const own = { page: 0, size: 40, topics: 40, block: "" };
  const controls = h("div", { class: "bar-row" });
  const heat = chart({
    title: "Topics × labels",
    file: "heat-map",
    caption:
      "Change of a topic's expected proportion by a label, in percentage points; " +
      `pale if the ${Math.round(100 * DATA.effects.level)}% interval includes 0. ` +
      "Neighbours are similar: rows and columns are in the order of a clustering.",
    describe: () => `Heat map of the effects of ${shownLabels().length} labels on ${shownUnits().length} topics.`,
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
      const shown = shownLabels();
      return {
        columns: ["topic", "name", ...shown.map((label) => DATA.labels.names[label])],
        rows: shownUnits().map((unit) => [
          unit.key,
          unitTitle(unit),
          ...shown.map((label) => unitEffect(label, unit).effect),
        ]),
      };
    },
    onpick: (cell) => go({ view: "effects", side: "label", label: cell.label, topic: cell.key }),
  });
  room.append(controls, h("div", { class: "card" }, heat.figure));

  const ordered = DATA.order.labels.map((row) => DATA.effects.labels[row]);
  const chosenLabels = () =>
    ordered.filter((label) => own.block === "" || DATA.labels.block[label] === Number(own.block));
  const shownLabels = () => chosenLabels().slice(own.page * own.size, (own.page + 1) * own.size);

  /** The topics that these labels change most, in the order of the clustering. */
  function shownUnits() {
    const rows = shownLabels().map((label) => effectRow.get(label));
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
    const [labels, rows] = [shownLabels(), shownUnits()];
    const cells = rows.flatMap((unit) =>
      labels.map((label) => ({ label, key: unit.key, unit, ...unitEffect(label, unit) })),
    );
    const names = namedRows(
      width,
      rows.map((unit) => ({ key: unit.key, label: unitLabel(unit) })),
    );
    const titles = new Map(labels.map((label) => [label, cut(DATA.labels.names[label], 150)]));
    // Names of columns lean to the left by sixty degrees.
    const left = Math.max(names.left, 0.5 * textWidth(titles.get(labels[0]) ?? ""));
    const below = 22 + 0.87 * (d3.max([...titles.values()], textWidth) ?? 0);
    const tall = rows.length > 15 ? 20 : 28;
    // The extreme hundredth would else pale all others.
    limit =
      d3.quantile(
        cells.map((cell) => Math.abs(cell.effect)),
        0.99,
      ) || 1e-6;
    const wide = Math.max(width, left + 20 + 15 * labels.length);
    const colour = colours();
    const picture = plotted({
      width: wide,
      height: below + 6 + tall * rows.length,
      marginLeft: left,
      marginTop: 6,
      marginBottom: below,
      marginRight: 20,
      x: {
        label: null,
        domain: labels,
        tickRotate: -60,
        tickSize: 0,
        tickFormat: (label) => titles.get(label),
        padding: 0.06,
      },
      y: { ...names.y, padding: 0.06 },
      marks: [
        Plot.cell(cells, {
          x: "label",
          y: "key",
          fill: (cell) => colour(cell.effect),
          fillOpacity: (cell) => (sure(cell) ? 1 : 0.4),
          rx: 2,
        }),
        tip(cells, {
          x: "label",
          y: "key",
          title: (cell) =>
            `${DATA.labels.names[cell.label]}\n${unitLabel(cell.unit)}\n` +
            `${points(cell.effect)} points (${points(cell.lower)} to ${points(cell.upper)})`,
        }),
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
      countSelect("Labels shown", [20, 40, 100], "labels", own.size, (value) => update({ size: value, page: 0 })),
      countSelect("Topics shown", [20, 40, 100], "topics", own.topics, (value) => update({ topics: value })),
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
