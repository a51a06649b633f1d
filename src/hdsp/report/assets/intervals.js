// Intervals of combined topics, and the effect of any change of a single label column.

import { DATA, blockOf, designOf, effectOf, effectRow, halfOf, lazily, unpack } from "./data.js";

const together = lazily(DATA.effects.together);

/** Half of the interval of a sum over topics: halves grow from topics to the sum as residuals do. */
export function joinHalf(topics, half) {
  if (topics.length === 1) return half(topics[0]);
  const alone = d3.sum(topics, (k) => together().at(k, k));
  const sum = d3.sum(topics, (k) => d3.sum(topics, (l) => together().at(k, l)));
  return alone ? Math.sqrt((Math.max(sum, 0) / alone) * d3.sum(topics, (k) => half(k) ** 2)) : 0;
}

const unpacked = new Map();
function comparisonOf(number) {
  const packed = DATA.effects.comparisons[number];
  if (packed && !unpacked.has(number)) {
    const matrices = Object.entries(packed).filter(([, part]) => part.shape);
    unpacked.set(number, { ...packed, ...Object.fromEntries(matrices.map(([name, part]) => [name, unpack(part)])) });
  }
  return unpacked.get(number);
}

/** Whether a page can compare any two values of a label. */
export const canCompare = (label) => DATA.labels.block[label] in DATA.effects.comparisons;

/**
 * The average effect of a change from one setting of labels to another: {effect, half}, functions of
 * a topic; or {reason}, why there is none.
 */
export function changeBetween(a, b) {
  const changed = [...new Set([...a.keys(), ...b.keys()])].filter((label) => a.get(label) !== b.get(label));
  if (!changed.length) return { reason: "A and B are the same" };
  const blocks = new Set(changed.map((label) => DATA.labels.block[label]));
  if (blocks.size > 1) return { reason: "A and B differ in more than one label" };
  const [number] = blocks;
  const block = blockOf(changed[0]);
  const known = (setting) => [...setting.keys()].filter((label) => DATA.labels.block[label] === number);
  const sizes = [known(a).length, known(b).length];
  if (block.kind === "tags" ? changed.length > 1 : block.kind === "number" && sizes[0] > 1)
    return { reason: "A and B differ in more than one label" };
  if (block.kind !== "tags" && (sizes[0] === 0 || sizes[0] !== sizes[1]))
    return { reason: `${block.name} is not known in both` };
  if (!block.alone) return { reason: `the effect of ${block.name} depends on other labels` };
  if (block.kind === "tags" && effectRow.has(changed[0])) {
    const row = effectRow.get(changed[0]);
    const sign = b.has(changed[0]) ? 1 : -1;
    return { effect: (k) => sign * effectOf().at(row, k), half: (k) => halfOf().at(row, k) };
  }
  const found = comparisonOf(number);
  if (!found) return { reason: `the page has no intervals for these values of ${block.name}` };
  const [from, to] = [a, b].map((setting) => {
    const [label] = known(setting);
    const value = block.kind === "number" ? setting.get(label) : label;
    return d3.leastIndex(found.points, (point) => Math.abs(point - value));
  });
  const later = Math.max(from, to, 1);
  const pair = (later * (later - 1)) / 2 + Math.min(from, to, later - 1);
  if (found.half)
    return {
      effect: (k) => found.coefficients.at(to, k) - found.coefficients.at(from, k),
      half: (k) => found.half.at(pair, k),
    };
  const [before, after] = [designOf(a), designOf(b)];
  const step = found.columns.map((column) => (after.get(column) ?? 0) - (before.get(column) ?? 0));
  const error = (table, k) => {
    let [square, place] = [0, 0];
    for (let i = 0; i < step.length; i++)
      for (let j = 0; j <= i; j++) square += (i === j ? 1 : 2) * step[i] * step[j] * table.at(k, place++);
    return Math.sqrt(Math.max(square, 0));
  };
  // Degrees of freedom are those of the nearest pair of points.
  return {
    effect: (k) => d3.sum(step, (entry, i) => entry * found.coefficients.at(i, k)),
    half: (k) =>
      Math.max(found.quantiles[pair] * error(found.robust, k), found.quantiles.at(-1) * error(found.classical, k)),
  };
}
