// The map: topics and labels in one plane; and a table of topics that go together.

import { chooseTopic, chosenTopic, go } from "./address.js";
import { chart, cut, swatch, textWidth, tip } from "./charts.js";
import { DATA, hasEffects } from "./data.js";
import { button, csvButton, field, fill, h, percent, select, tableOf, thousands, tick } from "./dom.js";
import { TOPICS, textOfWords, topicLabel, topicOptions, topicTitle, usedTopics } from "./topics.js";

const MOST_ZOOM = 20;

export function mapView(room) {
  const own = { labels: false, zoom: d3.zoomIdentity };
  const aspect = () => (window.innerWidth < 640 ? 1.1 : 0.62);
  const mapRoom = h("div.map-room");
  const map = chart({
    title: "Map of topics",
    file: "map",
    caption:
      "Topics with similar words are near each other. The size of a circle is the topic's share of tokens. " +
      (hasEffects ? "Labels, if shown, are near the topics they raise. " : "") +
      "Drag to move; zoom with the buttons, two fingers, or the wheel and Ctrl.",
    describe: () =>
      `Map of ${usedTopics.length} topics${own.labels ? ` and ${DATA.effects.labels.length} labels` : ""}. ` +
      `The chosen topic is ${topicLabel(chosenTopic())}.`,
    legend: () => [swatch("var(--accent)", "topics"), own.labels && swatch("var(--second)", "labels", "diamond")],
    draw: drawMap,
    table: () => ({
      columns: ["kind", "id", "name", "x", "y"],
      rows: places().map((place) => [place.kind, place.key, place.name, place.x, place.y]),
    }),
    onpick: ({ kind, key }) => (kind === "topic" ? pick(key) : go({ view: "effects", side: "label", label: key })),
  });
  const about = h("div.bar-row");
  const zoomer = d3
    .zoom()
    .scaleExtent([1, MOST_ZOOM])
    .filter((event) => {
      if (event.type === "wheel") return event.ctrlKey || event.metaKey;
      return event.touches ? event.touches.length > 1 : !event.button;
    })
    .on("zoom", (event) => {
      own.zoom = event.transform;
      map.update();
    });
  const zoomBy = (factor) => {
    const middle = [map.room.clientWidth / 2, (map.room.clientWidth * aspect()) / 2];
    if (own.zoom.k * factor <= 1) d3.select(mapRoom).call(zoomer.transform, d3.zoomIdentity);
    else d3.select(mapRoom).call(zoomer.scaleBy, factor, middle);
  };
  map.figure.querySelector(".tools").prepend(
    button("+", () => zoomBy(1.6), { "aria-label": "Zoom in" }),
    button("−", () => zoomBy(1 / 1.6), { "aria-label": "Zoom out" }),
    button("⤢", () => zoomBy(0), { "aria-label": "Show all of the map" }),
  );
  mapRoom.append(map.figure);
  room.append(about, h("div.card", mapRoom));
  d3.select(mapRoom).call(zoomer).on("dblclick.zoom", null);

  const related = h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Topics that go together: table" });
  const relatedTable = () => ({
    columns: ["topic", "other_topic", "correlation", "lower", "upper"],
    rows: d3
      .sort(DATA.related, (row) => -row[2])
      .map(([a, b, ...numbers]) => [topicLabel(TOPICS[a]), topicLabel(TOPICS[b]), ...numbers]),
  });
  if (DATA.related.length)
    room.append(
      h(
        "div.card",
        h(
          "div.head",
          h("h2", "Topics that go together"),
          h("span.tools", csvButton("Topics that go together", "related-topics", relatedTable)),
        ),
        h(
          "p.caption",
          "Correlations of topics in documents, given their labels, whose 90% intervals exclude 0. " +
            "Positive: the same documents have both topics more often than their labels lead one to expect.",
        ),
        related,
      ),
    );

  function pick(k) {
    chooseTopic(Number(k));
    draw();
  }

  function places() {
    const topics = usedTopics.map((topic) => {
      const [x, y] = DATA.map.topics[topic.k];
      return { kind: "topic", key: topic.k, name: topicTitle(topic), size: topic.share, x, y };
    });
    const labels = DATA.effects.labels.map((label, row) => {
      const [x, y] = DATA.map.labels[row];
      return { kind: "label", key: label, name: DATA.labels.names[label], size: DATA.labels.carriers[label], x, y };
    });
    return own.labels ? [...topics, ...labels] : topics;
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
    const most = d3.max(TOPICS, (topic) => topic.share) || 1;
    const grown = Math.min(22, width / 40) * own.zoom.k ** 0.25;
    const radius = (place) => (place.kind === "label" ? 4 : Math.sqrt(place.size / most) * grown + 1.5);
    const inside = places().filter(
      (place) => x(place.x) > -30 && x(place.x) < width + 30 && y(place.y) > -30 && y(place.y) < height + 30,
    );
    const [topics, labels] = ["topic", "label"].map((kind) => inside.filter((place) => place.kind === kind));
    const chosen = topics.filter((place) => place.key === chosenTopic().k);
    const point = { x: "x", y: "y" };
    const topicTip = ({ key, size }) => `Topic ${key} · ${percent(size)}\n${textOfWords(TOPICS[key], 0.6, 6)}`;
    const title = (place) =>
      place.kind === "topic" ? topicTip(place) : `${place.name}\n${thousands(place.size)} documents`;
    const circle = { stroke: "var(--accent)", strokeOpacity: 0.7, fill: "var(--accent)", fillOpacity: 0.28 };
    const diamond = { symbol: "diamond", fill: "var(--second)", stroke: "var(--surface)", strokeWidth: 0.8 };
    const ring = { r: (place) => radius(place) + 3, stroke: "var(--accent)", strokeWidth: 2.5 };
    const axis = (scale) => ({ axis: null, domain: scale.domain(), range: scale.range() });
    return Plot.plot({
      width,
      height,
      margin: 0,
      style: { fontSize: "12px", overflow: "hidden" },
      x: axis(x),
      y: axis(y),
      r: { type: "identity" },
      marks: [
        Plot.dot(topics, { ...point, r: radius, ...circle }),
        Plot.dot(labels, { ...point, r: labels.length > 300 ? 2.5 : 4.5, ...diamond }),
        Plot.dot(chosen, { ...point, ...ring }),
        Plot.text(named(chosen, topics, labels, { x, y, width, height, radius }), {
          x: (name) => x.invert(name.x),
          y: (name) => y.invert(name.y),
          text: "text",
          fill: (name) => (name.kind === "topic" ? "var(--ink)" : "var(--second)"),
          stroke: "var(--surface)",
          strokeWidth: 4,
          fontWeight: (name) => (name.chosen ? 700 : 500),
        }),
        tip(inside, { ...point, title }),
      ],
    });
  }

  function draw() {
    const show = (shown) => {
      own.labels = shown;
      map.update();
    };
    fill(
      about,
      field("Topic ", select("Topic", topicOptions(TOPICS), chosenTopic().k, pick)),
      button("Show in the list", () => go({ view: "topics" })),
      hasEffects && tick("show labels", own.labels, show),
    );
    map.update();
    fill(related, tableOf(relatedTable()));
  }
  return { draw };
}

/** Names above or below the chosen topic and the largest topics and labels, where they cover nothing. */
function named(chosen, topics, labels, { x, y, width, height, radius }) {
  const [first, second] = [topics, labels].map((places) => d3.sort(places, (place) => -place.size));
  const turns = d3.range(Math.max(first.length, second.length)).flatMap((i) => [first[i], second[i]]);
  const circles = topics.map((place) => ({ x: x(place.x), y: y(place.y), half: radius(place), tall: radius(place) }));
  const kept = [];
  const free = (name) => {
    const others = name.chosen ? kept : [...kept, ...circles];
    return name.y > 8 && name.y < height - 8 && others.every((other) => apart(name, other));
  };
  for (const place of new Set([...chosen, ...turns].filter((one) => one))) {
    if (kept.length >= width / 20) break;
    const text = cut(place.name, 190);
    const half = 0.55 * textWidth(text) + 3;
    const across = Math.min(Math.max(x(place.x), half), width - half);
    const name = { kind: place.kind, chosen: place === chosen[0], text, half, tall: 7.5, x: across };
    const places = [-1, 1].map((side) => ({ ...name, y: y(place.y) + side * (radius(place) + 12) }));
    kept.push(...places.filter(free).slice(0, 1));
  }
  return kept;
}

const apart = (one, other) =>
  Math.abs(other.x - one.x) >= other.half + one.half || Math.abs(other.y - one.y) >= other.tall + one.tall;
