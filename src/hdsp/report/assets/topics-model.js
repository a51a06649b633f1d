// Topics as the reader sees them: each by itself, or several put together under one name.

import { DATA, T, effectOf, effectRow, halfOf } from "./data.js";
import { announce, button, download, h } from "./dom.js";
import { joinHalf } from "./intervals.js";

const given = DATA.names;
const storeKey = `hdsp-names-${DATA.key}`;
let names = new Map();
let combined = [];
export let units = [];
export let unitOf = [];
const nameListeners = [];

/** A list for other views to draw themselves anew when names or sets change. */
export function onNames(listener) {
  nameListeners.push(listener);
}

function makeUnits() {
  const taken = new Set(combined.flatMap((group) => group.topics));
  const single = d3.range(T).filter((k) => !taken.has(k));
  units = [
    ...single.map((k) => ({ key: String(k), topics: [k], name: names.get(k) ?? "" })),
    ...combined.map((group) => ({ key: group.topics.join("+"), topics: group.topics, name: group.name, group })),
  ].sort((a, b) => a.topics[0] - b.topics[0]);
  unitOf = [];
  for (const unit of units) {
    unit.used = unit.topics.some((k) => k < DATA.topics.in_use);
    for (const k of unit.topics) unitOf[k] = unit;
  }
}

/** The names as a file holds them. */
function namesAsFile() {
  const file = { format: "hdsp-names-1", model: DATA.key, names: {}, combined };
  for (const [topic, name] of [...names].sort((a, b) => a[0] - b[0])) file.names[topic] = name;
  return file;
}

/** Take over the names of a file; throws where it is none. */
function readNames(file) {
  if (file?.format !== "hdsp-names-1") throw new Error("This is no file of topic names.");
  const groups = (file.combined ?? []).map((group) => ({
    name: String(group.name ?? ""),
    topics: group.topics.map(Number).sort((a, b) => a - b),
  }));
  const found = Object.entries(file.names ?? {}).map(([topic, name]) => [Number(topic), String(name)]);
  const members = groups.flatMap((group) => group.topics);
  for (const topic of [...members, ...found.map((entry) => entry[0])]) {
    if (!(Number.isInteger(topic) && topic >= 0 && topic < T))
      throw new Error(`The file names topic ${topic}, which this model lacks.`);
  }
  if (new Set(members).size < members.length) throw new Error("The file combines a topic twice.");
  names = new Map(found.filter((entry) => entry[1]));
  combined = groups.filter((group) => group.topics.length > 1);
  makeUnits();
}

function namesChanged() {
  makeUnits();
  try {
    localStorage.setItem(storeKey, JSON.stringify({ given: JSON.stringify(given), file: namesAsFile() }));
  } catch {
    // A browser may keep nothing for pages from disk: names can be saved as a file.
  }
  for (const listener of nameListeners) listener();
}

export function renameUnit(unit, name) {
  if (unit.group) unit.group.name = name;
  else if (name) names.set(unit.topics[0], name);
  else names.delete(unit.topics[0]);
  namesChanged();
}

/** Put units together: their proportions add. Returns the new unit's key. */
export function combineUnits(chosen) {
  const topics = chosen.flatMap((unit) => unit.topics).sort((a, b) => a - b);
  const name = chosen.map((unit) => unit.name).find((text) => text) ?? "";
  const old = new Set(chosen.map((unit) => unit.group));
  combined = combined.filter((group) => !old.has(group));
  combined.push({ name, topics });
  namesChanged();
  return topics.join("+");
}

export function splitUnit(unit) {
  combined = combined.filter((group) => group !== unit.group);
  namesChanged();
}

/** The names of the page, and those that this browser kept since; a report with other names wins. */
export function loadNames() {
  readNames(given);
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey) ?? "null");
    if (kept?.given === JSON.stringify(given)) readNames(kept.file);
  } catch {
    readNames(given);
  }
}

/** Buttons that write names and combined topics to a file, and read them from one. */
export function nameFileButtons(loaded) {
  const input = h("input", {
    type: "file",
    id: "names-load",
    accept: ".json,application/json",
    class: "hidden-input",
    onchange: async () => {
      const [file] = input.files;
      if (!file) return;
      try {
        const content = JSON.parse(await file.text());
        readNames(content);
        namesChanged();
        loaded();
        const other = content.model && content.model !== DATA.key;
        announce(other ? "Names loaded. They were saved from another model: check them." : "Names loaded.");
      } catch (error) {
        announce(error instanceof SyntaxError ? "This is no file of topic names." : error.message);
      }
      input.value = "";
    },
  });
  return [
    button(
      "Save names",
      () => download("topic-names.json", "application/json", `${JSON.stringify(namesAsFile(), null, 1)}\n`),
      { id: "names-save", class: "quiet", title: "Names and combined topics as a file" },
    ),
    h("label", { class: "button quiet", title: "Names and combined topics from a file" }, "Load names", input),
  ];
}

export const sumOver = (unit, value) => d3.sum(unit.topics, value);
export const shareOf = (unit) => sumOver(unit, (k) => DATA.topics.share[k]);
export const weightOf = (unit) => sumOver(unit, (k) => DATA.topics.weight[k]);
// Measures of single topics; of topics put together there are none.
const single = (values) => (unit) => (unit.topics.length === 1 && values ? values[unit.topics[0]] : null);
export const coherenceOf = single(DATA.topics.coherence);
export const similarityOf = single(DATA.topics.similarity);
export const foundInOf = single(DATA.topics.found_in);

/** The change of a unit, with its interval, from the changes of topics and half widths. */
export function unitChange(unit, { effect, half }) {
  const [middle, reach] = [sumOver(unit, effect), joinHalf(unit.topics, half)];
  return { effect: middle, lower: middle - reach, upper: middle + reach };
}

/** The effect of a label on a unit, with its interval. */
export function unitEffect(label, unit) {
  const row = effectRow.get(label);
  return unitChange(unit, { effect: (k) => effectOf().at(row, k), half: (k) => halfOf().at(row, k) });
}

/** Whether the interval of an effect excludes zero. */
export const sure = (found) => found.lower > 0 || found.upper < 0;

/** The words of a unit by relevance: 1 is by probability, 0 by how little other topics use them. */
export function wordsOf(unit, relevance, n) {
  const probability = new Map();
  const total = shareOf(unit) || 1;
  for (const k of unit.topics) {
    const own = DATA.words.topics[k];
    const weight = unit.topics.length === 1 ? 1 : DATA.topics.share[k] / total;
    own.words.forEach((word, i) => probability.set(word, (probability.get(word) ?? 0) + weight * own.p[i]));
  }
  return [...probability]
    .map(([word, p]) => ({
      word: DATA.words.words[word],
      p,
      overall: DATA.words.overall[word],
      relevance: Math.log(p) - (1 - relevance) * Math.log(DATA.words.overall[word]),
    }))
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, n);
}

/** The labels with the largest effects on a unit whose intervals exclude zero, of one sign or of both. */
export function labelsOf(unit, n, sign = 0) {
  const best = [];
  const size = (entry) => (sign ? sign * entry.effect : Math.abs(entry.effect));
  for (const label of DATA.effects.labels) {
    const entry = { label, ...unitEffect(label, unit) };
    if (!sure(entry) || size(entry) <= (best.length < n ? 0 : size(best[n - 1]))) continue;
    best.splice(d3.bisector((one) => -size(one)).right(best, -size(entry)), 0, entry);
    if (best.length > n) best.pop();
  }
  return best;
}

export const shortTitles = new Map();
/** What a unit is called: its name, or its most telling words. */
export function unitTitle(unit) {
  if (unit.name) return unit.name;
  if (!shortTitles.has(unit.key))
    shortTitles.set(
      unit.key,
      wordsOf(unit, 0.6, 3)
        .map((entry) => entry.word)
        .join(" "),
    );
  return shortTitles.get(unit.key);
}
export const unitLabel = (unit) => `${unit.key} · ${unitTitle(unit)}`;
