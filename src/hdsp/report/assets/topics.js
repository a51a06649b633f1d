// Topics with their names and words.

import { DATA, T } from "./data.js";
import { announce, button, download, h } from "./dom.js";

export const TOPICS = d3.range(T).map((k) => ({
  k,
  name: "",
  used: k < DATA.topics.in_use,
  share: DATA.topics.share[k],
  weight: DATA.topics.weight[k],
  coherence: DATA.topics.coherence[k],
  similarity: DATA.topics.similarity?.[k] ?? null,
  foundIn: DATA.topics.found_in?.[k] ?? null,
}));
export const usedTopics = TOPICS.filter((topic) => topic.used);

const FORMAT = "hdsp-names-1";
const given = JSON.stringify(DATA.names);
const storeKey = `hdsp-names-${DATA.key}`;
const titles = new Map();

function setNames(names) {
  for (const topic of TOPICS) topic.name = String(names[topic.k] ?? "");
  titles.clear();
}

const ownNames = () => Object.fromEntries(TOPICS.filter(({ name }) => name).map(({ k, name }) => [k, name]));

/** Keep the names for the reader's next visit. */
function keepNames() {
  titles.clear();
  try {
    localStorage.setItem(storeKey, JSON.stringify({ given, names: ownNames() }));
  } catch {
    // A browser may keep nothing for pages from disk: names can be saved as a file.
  }
}

export function renameTopic(topic, name) {
  topic.name = name;
  keepNames();
}

/** The names of the page, or those that this browser has kept since; a report with other names wins. */
export function loadNames() {
  setNames(DATA.names);
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey) ?? "null");
    if (kept?.given === given) setNames(kept.names);
  } catch {
    setNames(DATA.names);
  }
}

/** Take over the names of a file, and return a message. */
function readNames(text) {
  let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    // Without a format it is refused below.
  }
  if (file?.format !== FORMAT) return "This is no file of topic names.";
  const unknown = Object.keys(file.names ?? {}).find((topic) => !(Number(topic) in TOPICS));
  if (unknown !== undefined) return `The file names topic ${unknown}, which this model lacks.`;
  setNames(file.names ?? {});
  keepNames();
  const other = file.model && file.model !== DATA.key;
  return other ? "Names loaded. They were saved from another model: check them." : "Names loaded.";
}

/** Buttons that write names to a file, and read them from one. */
export function nameFileButtons(loaded) {
  const save = () => {
    const file = { format: FORMAT, model: DATA.key, names: ownNames() };
    download("topic-names.json", "application/json", `${JSON.stringify(file, null, 1)}\n`);
  };
  const onchange = async () => {
    const [file] = input.files;
    if (!file) return;
    announce(readNames(await file.text()));
    loaded();
    input.value = "";
  };
  const accept = ".json,application/json";
  const input = h("input.hidden-input", { type: "file", id: "names-load", accept, onchange });
  return [
    button("Save names", save, { id: "names-save", class: "quiet", title: "Topic names as a file" }),
    h("label.button.quiet", { title: "Topic names from a file" }, "Load names", input),
  ];
}

/** The words of a topic by relevance: 1 is by probability, 0 by how little other topics use them. */
export function wordsOf(topic, relevance, n) {
  const { words, p } = DATA.words.topics[topic.k];
  const entries = words.map((word, i) => {
    const overall = DATA.words.overall[word];
    const score = Math.log(p[i]) - (1 - relevance) * Math.log(overall);
    return { word: DATA.words.words[word], p: p[i], overall, score };
  });
  return entries.sort((a, b) => b.score - a.score).slice(0, n);
}

export const textOfWords = (topic, relevance, n, between = " ") =>
  wordsOf(topic, relevance, n)
    .map((entry) => entry.word)
    .join(between);

/** A topic's name, or its most telling words. */
export function topicTitle(topic) {
  if (topic.name) return topic.name;
  if (!titles.has(topic.k)) titles.set(topic.k, textOfWords(topic, 0.6, 3));
  return titles.get(topic.k);
}
export const topicLabel = (topic) => `${topic.k} · ${topicTitle(topic)}`;
/** What a chart's row shows of a topic. */
export const topicRow = (topic) => ({ key: topic.k, name: topicTitle(topic), label: topicLabel(topic) });
export const topicOptions = (topics) => topics.map((topic) => [topic.k, topicLabel(topic)]);
