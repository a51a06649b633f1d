// The heat map: effects of labels on topics, similar ones side by side.

import { go } from "./address.js";
import { chart, cut, namedRows, plotted, textWidth, tip } from "./charts.js";
import { DATA } from "./data.js";
import { button, countSelect, fill, h, points, select, themed, thousands } from "./dom.js";
import { effectOn, sure } from "./effects.js";
import { TOPICS, topicRow } from "./topics.js";

export function heatView(room) {
  let limit = 0.01;
  const own = { page: 0, size: 40, topics: 40, block: "" };
  const controls = h("div.bar-row");
  const heat = chart({
    title: "Topics × labels",
    file: "heat-map",
    caption:
      "Change of a topic's expected proportion by a label, in percentage points; " +
      `pale if the ${Math.round(100 * DATA.effects.level)}% interval includes 0. ` +
      "Neighbours are similar: rows and columns are in the order of a clustering.",
    describe: () => `Heat map of the effects of ${shownLabels().length} labels on ${shownTopics().length} topics.`,
    legend: () => {
      const stops = d3.range(-1, 1.01, 0.1).map((part) => colours()(part * limit));
      const bar = h("i.ramp", { style: `background:linear-gradient(to right,${stops.join()})` });
      return h("span", points(-limit), bar, points(limit));
    },
    draw: drawHeat,
    table: () => {
      const shown = shownLabels();
      const effects = (topic) => shown.map((label) => effectOn(label, topic.key).effect);
      return {
        columns: ["topic", "name", ...shown.map((label) => DATA.labels.names[label])],
        rows: shownTopics().map((topic) => [topic.key, topic.name, ...effects(topic)]),
      };
    },
    onpick: (cell) => go({ view: "effects", side: "label", label: cell.label, topic: cell.key }),
  });
  room.append(controls, h("div.card", heat.figure));

  const ordered = DATA.order.labels.map((row) => DATA.effects.labels[row]);
  const chosenLabels = () => ordered.filter((label) => own.block === "" || DATA.labels.block[label] === own.block);
  const shownLabels = () => chosenLabels().slice(own.page * own.size, (own.page + 1) * own.size);

  /** The topics that these labels change most, in the order of the clustering. */
  function shownTopics() {
    const labels = shownLabels();
    const used = DATA.order.topics.filter((k) => TOPICS[k].used);
    const size = (k) => d3.max(labels, (label) => Math.abs(effectOn(label, k).effect)) ?? 0;
    const largest = new Set(d3.sort(used, (k) => -size(k)).slice(0, own.topics));
    return used.filter((k) => largest.has(k)).map((k) => topicRow(TOPICS[k]));
  }

  /** Colours by the root of an effect, so that small ones can be told from none. */
  function colours() {
    const range = d3.piecewise(d3.interpolateLab, [themed("--down"), themed("--cell"), themed("--up")]);
    return d3.scaleDivergingSqrt([-limit, 0, limit], range).clamp(true);
  }

  function drawHeat(width) {
    const [labels, rows] = [shownLabels(), shownTopics()];
    const cells = rows.flatMap((row) =>
      labels.map((label) => ({ ...row, topic: row.label, label, ...effectOn(label, row.key) })),
    );
    const names = namedRows(width, rows);
    const titles = new Map(labels.map((label) => [label, cut(DATA.labels.names[label], 150)]));
    // Names of columns lean to the left by sixty degrees.
    const left = Math.max(names.left, 0.5 * textWidth(titles.get(labels[0]) ?? ""));
    const below = 22 + 0.87 * (d3.max([...titles.values()], textWidth) ?? 0);
    // The extreme hundredth would else pale all others.
    const sizes = cells.map((cell) => Math.abs(cell.effect));
    limit = d3.quantile(sizes, 0.99) || 1e-6;
    const colour = colours();
    const title = (cell) =>
      `${DATA.labels.names[cell.label]}\n${cell.topic}\n` +
      `${points(cell.effect)} points (${points(cell.lower)} to ${points(cell.upper)})`;
    const place = { x: "label", y: "key" };
    const ticks = { tickRotate: -60, tickSize: 0, tickFormat: (label) => titles.get(label) };
    const picture = plotted({
      width: Math.max(width, left + 20 + 15 * labels.length),
      height: below + 6 + (rows.length > 15 ? 20 : 28) * rows.length,
      marginLeft: left,
      marginTop: 6,
      marginBottom: below,
      marginRight: 20,
      x: { label: null, domain: labels, padding: 0.06, ...ticks },
      y: { ...names.y, padding: 0.06 },
      marks: [
        Plot.cell(cells, {
          ...place,
          fill: (cell) => colour(cell.effect),
          fillOpacity: (cell) => (sure(cell) ? 1 : 0.4),
          rx: 2,
        }),
        tip(cells, { ...place, title }),
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
    const update = (changes) => {
      Object.assign(own, changes);
      draw();
    };
    const turn = (text, page) => button(text, () => update({ page }), { disabled: page < 0 || page >= pages });
    const blocks = [["", "all labels"], ...DATA.labels.blocks.map((block, i) => [i, block.name])];
    const choose = (value) => update({ block: value === "" ? "" : Number(value), page: 0 });
    const [first, last] = [own.page * own.size + 1, Math.min(total, (own.page + 1) * own.size)];
    fill(
      controls,
      blocks.length > 2 && select("Labels of", blocks, own.block, choose),
      countSelect("Labels shown", [20, 40, 100], "labels", own.size, (size) => update({ size, page: 0 })),
      countSelect("Topics shown", [20, 40, 100], "topics", own.topics, (topics) => update({ topics })),
      pages > 1 && [
        turn("← Previous", own.page - 1),
        h("span.muted", `labels ${first} to ${last} of ${thousands(total)}`),
        turn("Next →", own.page + 1),
      ],
    );
    heat.update();
  }
  heat.room.classList.add("scroll");
  heat.room.tabIndex = 0;
  heat.room.setAttribute("role", "region");
  heat.room.setAttribute("aria-label", "Heat map, scrolls sideways");
  return { draw };
}
