// What the page shows, in the fragment of its address, so that a link shows the same.

import { DATA, J, blockOf, effectRow, hasDocuments, hasEffects, numberOf, usedLabels } from "./data.js";
import { canCompare } from "./effects.js";
import { TOPICS } from "./topics.js";

export const VIEWS = [
  ["topics", "Topics", true],
  ["explorer", "What if", usedLabels.size > 0],
  ["effects", "Effects", hasEffects],
  ["map", "Map", true],
  ["heat", "Heat map", DATA.effects.labels.length > 2],
  ["documents", "Documents", hasDocuments],
  ["fit", "Fit", true],
].filter((entry) => entry[2]);

export const state = {
  view: "topics",
  topic: null,
  label: null,
  // What the label is compared with: two values of a number, or one other level; null is the default.
  against: null,
  a: new Map(),
  b: new Map(),
  document: null,
  side: "label",
};

/** A setting of labels as text: columns of the label space, numbers with their values. */
function settingText(setting) {
  return [...setting].map(([label, value]) => (numberOf(label) ? `${label}:${value}` : `${label}`)).join("_");
}

function readSetting(text) {
  const setting = new Map();
  for (const part of (text ?? "").split("_").filter((piece) => piece)) {
    const [label, value] = part.split(":").map(Number);
    if (!(Number.isInteger(label) && label >= 0 && label < J)) continue;
    if (!numberOf(label)) setting.set(label, 1);
    else if (Number.isFinite(value)) setting.set(label, value);
  }
  return setting;
}

/** The values that the chosen label is compared with; null is the default. */
function readAgainst(text) {
  if (!text || state.label === null || !canCompare(state.label)) return null;
  const values = text.split("_").map(Number);
  const block = blockOf(state.label);
  const fits =
    block.kind === "number"
      ? values.length === 2 && values.every(Number.isFinite)
      : block.kind === "category" && values.length === 1 && effectRow.has(values[0]) && blockOf(values[0]) === block;
  return fits ? values : null;
}

/** The fragment of the address for what is shown. */
function fragment() {
  const parts = new URLSearchParams({ view: state.view });
  if (state.topic !== null) parts.set("topic", state.topic);
  if (state.label !== null) parts.set("label", state.label);
  if (state.view === "effects") {
    parts.set("side", state.side);
    if (state.against) parts.set("against", state.against.join("_"));
  }
  if (state.view === "explorer") {
    parts.set("a", settingText(state.a));
    parts.set("b", settingText(state.b));
  }
  if (state.view === "documents" && state.document !== null) parts.set("document", state.document);
  return `#${parts}`;
}

/** Take over the fragment of the address; whatever it does not say stays. */
export function readFragment() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const view = parts.get("view");
  if (VIEWS.some((entry) => entry[0] === view)) state.view = view;
  const [topic, label, document] = ["topic", "label", "document"].map((name) => Number(parts.get(name) ?? NaN));
  if (topic in TOPICS) state.topic = topic;
  if (effectRow.has(label) && label !== state.label) [state.label, state.against] = [label, null];
  if (hasDocuments && Number.isInteger(document) && document >= 0) state.document = document;
  if (["label", "topic"].includes(parts.get("side"))) {
    state.side = parts.get("side");
    state.against = readAgainst(parts.get("against"));
  }
  if (parts.has("a")) state.a = readSetting(parts.get("a"));
  if (parts.has("b")) state.b = readSetting(parts.get("b"));
}

export const chosenTopic = () => TOPICS[state.topic ?? 0];

/** Write the address without a step in the browser's history. */
export function keepAddress() {
  if (location.hash !== fragment()) history.replaceState(null, "", fragment());
}

let show = () => {};
/** Name what shows the view of the state. */
export function onGo(listener) {
  show = listener;
}

/** Go to a view, as a link does: the browser's back button leads back. */
export function go(changes) {
  if ("label" in changes) state.against = null;
  Object.assign(state, changes);
  history.pushState(null, "", fragment());
  show();
}

/** Choose a topic within the view that is shown. */
export function chooseTopic(k) {
  state.topic = k;
  keepAddress();
}
