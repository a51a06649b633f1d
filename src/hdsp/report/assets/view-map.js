// The map: topics and labels in one plane; and the graph of topics that go together.

import { chooseTopic, chosenUnit, go } from "./address.js";
import { chart, swatch, tip } from "./charts.js";
import { DATA, hasEffects } from "./data.js";
import { button, fill, h, percent, select, thousands } from "./dom.js";
import { nameMarks, placeNames } from "./map-names.js";
import { shareOf, sumOver, unitLabel, unitOf, unitTitle, units, wordsOf } from "./topics-model.js";

export function mapView(room) {
  const own = { labels: false, zoom: d3.zoomIdentity };
  const aspect = () => (window.innerWidth < 640 ? 1.1 : 0.62);
  const mapRoom = h("div", { class: "map-room" });
  const map = chart({
    title: "Map of topics",
    file: "map",
    caption:
      "Topics with similar words are near each other. The size of a circle is the topic's share of tokens. " +
      (hasEffects ? "Labels, if shown, are near the topics they raise. " : "") +
      "Drag to move; zoom with the buttons, two fingers, or the wheel and Ctrl.",
    describe: () =>
      `Map of ${units.length} topics${own.labels ? ` and ${DATA.effects.labels.length} labels` : ""}. ` +
      `The chosen topic is ${unitLabel(chosenUnit())}.`,
    legend: () => [
      swatch("var(--accent)", "topics", ""),
      own.labels ? swatch("var(--second)", "labels", "diamond") : null,
    ],
    draw: drawMap,
    table: () => ({
      columns: ["kind", "id", "name", "x", "y"],
      rows: places().map((place) => [place.kind, place.key, place.name, place.x, place.y]),
    }),
    onpick: (place) =>
      place.kind === "topic" ? pick(place.key) : go({ view: "effects", side: "label", label: Number(place.key) }),
  });
  const about = h("div", { class: "bar-row" });
  const zoomer = d3
    .zoom()
    .scaleExtent([1, 20])
    .filter((event) =>
      event.type === "wheel"
        ? event.ctrlKey || event.metaKey
        : event.touches
          ? event.touches.length > 1
          : !event.button,
    )
    .on("zoom", (event) => {
      own.zoom = event.transform;
      map.update();
    });
  const tools = h(
    "div",
    { class: "map-tools" },
    button("+", () => scale(1.6), { "aria-label": "Zoom in" }),
    button("−", () => scale(1 / 1.6), { "aria-label": "Zoom out" }),
    button(
      "⤢",
      () => {
        own.zoom = d3.zoomIdentity;
        d3.select(mapRoom).property("__zoom", own.zoom);
        map.update();
      },
      { "aria-label": "Show all of the map" },
    ),
  );
  mapRoom.append(map.figure);
  map.room.style.position = "relative";
  map.figure.querySelector(".tools").prepend(...tools.children);
  const graph = DATA.related.length
    ? chart({
        title: "Topics that go together",
        file: "related-topics",
        caption:
          "Lines join topics that the same documents have more often than their labels lead one to expect; " +
          "dashed lines those that they rather do not have together. The thicker, the stronger the correlation: " +
          "its 90 % interval excludes 0. Of each topic the strongest are drawn.",
        describe: () =>
          `Graph of ${unitPairs().filter((pair) => pair.value > 0).length} pairs of topics that go together, ` +
          `and ${unitPairs().filter((pair) => pair.value < 0).length} that avoid each other.`,
        legend: () => [
          swatch("var(--grey)", "together", "line"),
          swatch("var(--second)", "rather not together", "line"),
        ],
        draw: drawGraph,
        table: () => ({
          columns: ["topic", "other_topic", "correlation", "lower", "upper"],
          rows: unitPairs().map((pair) => [pair.a.key, pair.b.key, pair.value, pair.lower, pair.upper]),
        }),
        onpick: (place) => pick(place.key),
      })
    : null;
  room.append(
    about,
    h("div", { class: "card" }, mapRoom),
    graph ? h("div", { class: "card" }, graph.figure) : h("span"),
  );
  d3.select(mapRoom).call(zoomer).on("dblclick.zoom", null);

  function scale(factor) {
    const width = map.room.clientWidth;
    const middle = [width / 2, (width * aspect()) / 2];
    const k = Math.min(20, Math.max(1, own.zoom.k * factor));
    const ratio = k / own.zoom.k;
    own.zoom = d3.zoomIdentity
      .translate(middle[0] - ratio * (middle[0] - own.zoom.x), middle[1] - ratio * (middle[1] - own.zoom.y))
      .scale(k);
    if (k === 1) own.zoom = d3.zoomIdentity;
    d3.select(mapRoom).property("__zoom", own.zoom);
    map.update();
  }

  function pick(key) {
    chooseTopic(key);
    draw();
  }

  function places() {
    const topics = units
      .filter((unit) => unit.used)
      .map((unit) => {
        const total = shareOf(unit) || 1;
        const mean = (axis) =>
          sumOver(unit, (k) => (DATA.map.topics[k][axis] * (DATA.topics.share[k] || 1e-9)) / total);
        return { kind: "topic", key: unit.key, name: unitTitle(unit), share: shareOf(unit), x: mean(0), y: mean(1) };
      });
    const labels = own.labels
      ? DATA.effects.labels.map((label, row) => ({
          kind: "label",
          key: String(label),
          name: DATA.labels.names[label],
          share: DATA.labels.carriers[label],
          x: DATA.map.labels[row][0],
          y: DATA.map.labels[row][1],
        }))
      : [];
    return [...topics, ...labels];
  }

  // All of the map, whatever is shown of it.
  const frame = [0, 1].map((axis) => {
    const [low, high] = d3.extent([...DATA.map.topics, ...DATA.map.labels], (place) => place[axis]);
    return low < high ? [low, high] : [low - 1, high + 1];
  });

  function drawMap(width) {
    const height = Math.round(width * aspect());
    const [side, edge] = [Math.min(70, width / 8), 34];
    const x = own.zoom.rescaleX(d3.scaleLinear(frame[0], [side, width - side]));
    const y = own.zoom.rescaleY(d3.scaleLinear(frame[1], [edge, height - edge]));
    const most = d3.max(units, shareOf) || 1;
    const grown = own.zoom.k ** 0.25;
    const radius = (place) =>
      place.kind === "label" ? 4 : Math.sqrt(place.share / most) * Math.min(22, width / 40) * grown + 1.5;
    const inside = places().filter(
      (place) => x(place.x) > -30 && x(place.x) < width + 30 && y(place.y) > -30 && y(place.y) < height + 30,
    );
    const chosenKey = chosenUnit().key;
    const kinds = d3.group(inside, (place) => place.kind);
    const [topics, labels] = ["topic", "label"].map((kind) =>
      (kinds.get(kind) ?? []).sort((a, b) => b.share - a.share),
    );
    const chosen = topics.filter((place) => place.key === chosenKey);
    // Turn by turn, so that both kinds have names.
    const turns = d3
      .range(Math.max(labels.length, topics.length))
      .flatMap((i) => [topics[i], labels[i]])
      .filter((place) => place && place !== chosen[0]);
    const named = placeNames(
      [...chosen, ...turns].map((place) => ({
        x: x(place.x),
        y: y(place.y),
        r: radius(place),
        text: place.name,
        force: place === chosen[0],
        far: place.kind === "label",
        colour: place.kind === "topic" ? "var(--ink)" : "var(--second)",
      })),
      width,
      height,
      Math.round(width / 12),
    );
    return plane(width, height, x, y, [
      Plot.dot(topics, {
        x: "x",
        y: "y",
        r: radius,
        fill: "var(--accent)",
        fillOpacity: 0.28,
        stroke: "var(--accent)",
        strokeOpacity: 0.7,
      }),
      Plot.dot(labels, {
        x: "x",
        y: "y",
        r: labels.length > 300 ? 2.5 : 4.5,
        symbol: "diamond",
        fill: "var(--second)",
        stroke: "var(--surface)",
        strokeWidth: 0.8,
      }),
      Plot.dot(chosen, {
        x: "x",
        y: "y",
        r: (place) => radius(place) + 3,
        stroke: "var(--accent)",
        strokeWidth: 2.5,
      }),
      ...nameMarks(named, x, y),
      tip(inside, {
        x: "x",
        y: "y",
        title: (place) =>
          place.kind === "topic"
            ? `Topic ${place.key} · ${percent(place.share)}\n${wordsOf(
                units.find((unit) => unit.key === place.key),
                0.6,
                6,
              )
                .map((entry) => entry.word)
                .join(" ")}`
            : `${place.name}\n${thousands(place.share)} documents`,
      }),
    ]);
  }

  function unitPairs() {
    const pairs = [];
    for (const [first, second, value, lower, upper] of DATA.related) {
      const [a, b] = [unitOf[first], unitOf[second]];
      // Of topics put together no correlation is known.
      if (a.topics.length > 1 || b.topics.length > 1 || !a.used || !b.used) continue;
      pairs.push({ a, b, value, lower, upper });
    }
    return pairs.sort((x, y) => y.value - x.value);
  }

  let laid = null;
  function layGraph() {
    const signature = units.map((unit) => unit.key).join();
    if (laid?.signature === signature) return laid;
    const pairs = unitPairs();
    const linked = [...new Set(pairs.flatMap((pair) => [pair.a, pair.b]))];
    const nodes = linked.map((unit) => ({ unit, key: unit.key, share: shareOf(unit) }));
    const nodeOf = new Map(nodes.map((node) => [node.key, node]));
    const links = pairs.map((pair) => ({
      source: nodeOf.get(pair.a.key),
      target: nodeOf.get(pair.b.key),
      value: pair.value,
    }));
    d3.forceSimulation(nodes)
      .force(
        "link",
        d3
          .forceLink(links)
          .distance((link) => (link.value > 0 ? 34 : 90))
          .strength((link) => (link.value > 0 ? Math.min(1, 0.3 + link.value) : 0.05)),
      )
      .force("charge", d3.forceManyBody().strength(-70).distanceMax(260))
      .force("x", d3.forceX().strength(0.045))
      .force("y", d3.forceY().strength(0.075))
      .force("collide", d3.forceCollide(11))
      .stop()
      .tick(300);
    laid = { signature, nodes, links };
    return laid;
  }

  function drawGraph(width) {
    const { nodes, links } = layGraph();
    const height = Math.round(width * aspect());
    const fitted = (axis, size) => {
      const [low, high] = d3.extent(nodes, (node) => node[axis]);
      return d3.scaleLinear(
        [low, high],
        axis === "x" ? [Math.min(90, size / 8), size - Math.min(90, size / 8)] : [34, size - 24],
      );
    };
    const [x, y] = [fitted("x", width), fitted("y", height)];
    const most = d3.max(units, shareOf) || 1;
    const chosenKey = chosenUnit().key;
    const radius = (node) => Math.min(1, width / 700) * (3 + 9 * Math.sqrt(node.share / most));
    const ordered = [...nodes].sort((a, b) => (b.key === chosenKey) - (a.key === chosenKey) || b.share - a.share);
    const named = placeNames(
      ordered.map((node) => ({
        x: x(node.x),
        y: y(node.y),
        r: radius(node),
        text: unitTitle(node.unit),
        force: node.key === chosenKey,
        colour: "var(--ink)",
      })),
      width,
      height,
      Math.round(width / 12),
    );
    return plane(width, height, x, y, [
      ...[1, -1].map((sign) =>
        Plot.link(
          links.filter((link) => link.value * sign > 0),
          {
            x1: (link) => link.source.x,
            y1: (link) => link.source.y,
            x2: (link) => link.target.x,
            y2: (link) => link.target.y,
            stroke: sign > 0 ? "var(--grey)" : "var(--second)",
            strokeOpacity: 0.55,
            strokeWidth: (link) => 0.6 + 8 * Math.abs(link.value),
            strokeDasharray: sign > 0 ? null : "5 4",
          },
        ),
      ),
      Plot.dot(nodes, {
        x: "x",
        y: "y",
        r: radius,
        fill: (node) => (node.key === chosenKey ? "var(--accent)" : "var(--surface)"),
        stroke: "var(--accent)",
        strokeWidth: 1.6,
      }),
      ...nameMarks(named, x, y),
      tip(nodes, {
        x: "x",
        y: "y",
        title: (node) => unitLabel(node.unit),
      }),
    ]);
  }

  function draw() {
    fill(
      about,
      h(
        "label",
        { class: "field" },
        "Topic ",
        select(
          "Topic",
          units.map((unit) => [unit.key, unitLabel(unit)]),
          chosenUnit().key,
          pick,
        ),
      ),
      button("Show in the list", () => go({ view: "topics" })),
      hasEffects
        ? h(
            "label",
            { class: "field" },
            h("input", {
              type: "checkbox",
              checked: own.labels,
              onchange: (event) => {
                own.labels = event.target.checked;
                map.update();
              },
            }),
            "show labels",
          )
        : null,
    );
    map.update();
    graph?.update();
  }
  return { draw };
}

/** Marks in a plane without axes. */
function plane(width, height, x, y, marks) {
  const axis = (scale) => ({ axis: null, domain: scale.domain(), range: scale.range() });
  const style = { fontSize: "12px", overflow: "hidden" };
  return Plot.plot({ width, height, margin: 0, style, x: axis(x), y: axis(y), r: { type: "identity" }, marks });
}
