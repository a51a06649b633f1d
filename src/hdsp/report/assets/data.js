// The data of the page, and its packed arrays.

/** Bytes of a base64 text. */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** A packed matrix: `at(row, column)`, and its numbers in order. */
export function unpack(packed) {
  const bytes = bytesOf(packed.data);
  const [rows, columns] = packed.shape.length === 2 ? packed.shape : [1, packed.shape[0]];
  const kinds = { float64: Float64Array, float32: Float32Array, int16: Int16Array };
  const values = new kinds[packed.dtype](bytes.buffer, 0, rows * columns);
  const scale = packed.scale;
  const at = scale
    ? (row, column) => values[row * columns + column] * scale[row]
    : (row, column) => values[row * columns + column];
  return { rows, columns, at, values };
}

/** Packed where it is first looked at. */
export function lazily(packed) {
  let found = null;
  return () => (found ??= unpack(packed));
}

export const DATA = JSON.parse(document.getElementById("data").textContent);
export const T = DATA.topics.n;
export const J = DATA.labels.names.length;
// Labels that expected topics depend on.
export const usedLabels = new Set(DATA.labels.used);
const intercept = lazily(DATA.form.intercept);
const coefficients = lazily(DATA.form.coefficients);
// The row of a label in the table of effects; labels that the model leaves out have none.
export const effectRow = new Map(DATA.effects.labels.map((label, row) => [label, row]));
export const hasEffects = DATA.effects.labels.length > 0;

let parsedDocuments = null;
/** The documents of the page, or null: parsed when first asked for. */
export function documentData() {
  if (!hasDocuments) return null;
  parsedDocuments ??= JSON.parse(document.getElementById("documents").textContent);
  return parsedDocuments;
}
export const hasDocuments = document.getElementById("documents").textContent.length > 0;

/** The block of a label. */
export function blockOf(label) {
  return DATA.labels.blocks[DATA.labels.block[label]];
}

/** What is known of a number: its mean, scale and range in training. */
export function numberOf(label) {
  const block = blockOf(label);
  return block.kind === "number" ? block.numbers[label - block.start] : null;
}

const tables = new Map();
/** The columns that a label has besides its value, at a value in standard units. */
function curveColumns(label, value) {
  const packed = DATA.form.tables[label];
  if (!packed) return [];
  if (!tables.has(label)) tables.set(label, { values: unpack(packed.values).values, columns: unpack(packed.columns) });
  const { values, columns } = tables.get(label);
  const last = values.length - 1;
  const place = Math.min(Math.max(d3.bisectRight(values, value) - 1, 0), last - 1);
  // Columns keep their last values beyond those of training.
  const part = Math.min(Math.max((value - values[place]) / (values[place + 1] - values[place]), 0), 1);
  return d3
    .range(columns.columns)
    .map((j) => [packed.start + j, (1 - part) * columns.at(place, j) + part * columns.at(place + 1, j)]);
}

/** The design of a document with these values of labels: {column: entry}. */
export function designOf(setting) {
  const design = new Map();
  for (const [label, value] of setting) {
    const number = numberOf(label);
    const entry = number ? (value - number.mean) / number.scale : 1;
    design.set(label, entry);
    for (const [column, part] of curveColumns(label, entry)) design.set(column, part);
  }
  for (const [one, other, column] of DATA.form.products) {
    if (design.has(one) && design.has(other)) design.set(column, design.get(one) * design.get(other));
  }
  return design;
}

/** Expected proportions of all topics, given the values of labels: {label: value}. */
export function expectedTopics(setting) {
  const score = Float64Array.from(intercept().values);
  for (const [column, entry] of designOf(setting)) {
    for (let k = 0; k < score.length; k++) score[k] += entry * coefficients().at(column, k);
  }
  const largest = score.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let k = 0; k < score.length; k++) total += score[k] = Math.exp(score[k] - largest);
  // Topics that were merged in the model are sums of those of the fit.
  const expected = new Float64Array(T);
  score.forEach((value, k) => {
    expected[DATA.form.topic_of[k]] += value / total;
  });
  return expected;
}
