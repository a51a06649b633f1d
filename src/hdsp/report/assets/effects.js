// Label effects with their intervals, and the effect of any change of one label column.

import { DATA, blockOf, designOf, effectRow, lazily, unpack } from "./data.js";

const effect = lazily(DATA.effects.effect);
// Half of the width of its interval.
const half = lazily(DATA.effects.half);

const interval = (middle, reach) => ({ effect: middle, lower: middle - reach, upper: middle + reach });

/** The effect of a label on a topic. */
export function effectOn(label, k) {
  const row = effectRow.get(label);
  return interval(effect().at(row, k), half().at(row, k));
}

/** Whether the interval of an effect excludes zero. */
export const sure = (found) => found.lower > 0 || found.upper < 0;

/** The labels with the largest effects on a topic whose intervals exclude zero, of one sign or of both. */
export function strongestLabels(k, n, sign = 0) {
  const best = [];
  const size = (entry) => (sign ? sign * entry.effect : Math.abs(entry.effect));
  for (const label of DATA.effects.labels) {
    const entry = { label, name: DATA.labels.names[label], ...effectOn(label, k) };
    if (!sure(entry) || size(entry) <= (best.length < n ? 0 : size(best[n - 1]))) continue;
    best.splice(d3.bisector((one) => -size(one)).right(best, -size(entry)), 0, entry);
    if (best.length > n) best.pop();
  }
  return best;
}

const unpacked = new Map();
/** What compares any two values of a label, or null. */
function comparisonOf(block) {
  if (!block.comparison) return null;
  if (!unpacked.has(block)) {
    const entries = Object.entries(block.comparison).map(([name, part]) => [name, part.shape ? unpack(part) : part]);
    unpacked.set(block, Object.fromEntries(entries));
  }
  return unpacked.get(block);
}

/** Whether a page can compare any two values of a label. */
export const canCompare = (label) => Boolean(blockOf(label).comparison);

/** Why two settings of labels cannot be compared; else their only difference: {block, label, places}. */
function differenceOf(a, b) {
  const changed = [...new Set([...a.keys(), ...b.keys()])].filter((label) => a.get(label) !== b.get(label));
  if (!changed.length) return { reason: "A and B are the same" };
  const number = DATA.labels.block[changed[0]];
  const block = blockOf(changed[0]);
  const [first, second] = [a, b].map((setting) =>
    [...setting.keys()].filter((label) => DATA.labels.block[label] === number),
  );
  const several = block.kind === "tags" ? changed.length > 1 : block.kind === "number" && first.length > 1;
  if (several || changed.some((label) => DATA.labels.block[label] !== number))
    return { reason: "A and B differ in more than one label" };
  if (block.kind !== "tags" && (first.length === 0 || first.length !== second.length))
    return { reason: `${block.name} is not known in both` };
  if (!block.alone) return { reason: `the effect of ${block.name} depends on other labels` };
  return { block, label: changed[0], places: [first[0], second[0]] };
}

/**
 * The average effect of a change from one setting of labels to another: {on}, a function of a topic;
 * or {reason}, why it is missing.
 */
export function changeBetween(a, b) {
  const { reason, block, label, places } = differenceOf(a, b);
  if (reason) return { reason };
  if (block.kind === "tags" && effectRow.has(label)) {
    const [row, sign] = [effectRow.get(label), b.has(label) ? 1 : -1];
    return { on: (k) => interval(sign * effect().at(row, k), half().at(row, k)) };
  }
  const found = comparisonOf(block);
  if (!found) return { reason: `the page has no intervals for these values of ${block.name}` };
  const [from, to] = [a, b].map((setting, i) => {
    const value = block.kind === "number" ? setting.get(places[i]) : places[i];
    return d3.leastIndex(found.points, (point) => Math.abs(point - value));
  });
  const later = Math.max(from, to, 1);
  const pair = (later * (later - 1)) / 2 + Math.min(from, to, later - 1);
  if (found.half) {
    const change = (k) => found.coefficients.at(to, k) - found.coefficients.at(from, k);
    return { on: (k) => interval(change(k), found.half.at(pair, k)) };
  }
  const [before, after] = [designOf(a), designOf(b)];
  const step = found.columns.map((column) => (after.get(column) ?? 0) - (before.get(column) ?? 0));
  const error = (table, k) => {
    let [square, place] = [0, 0];
    for (let i = 0; i < step.length; i++)
      for (let j = 0; j <= i; j++) square += (i === j ? 1 : 2) * step[i] * step[j] * table.at(k, place++);
    return Math.sqrt(Math.max(square, 0));
  };
  // Degrees of freedom are those of the nearest pair of points.
  const [robust, classical] = [found.quantiles[pair], found.quantiles.at(-1)];
  return {
    on: (k) =>
      interval(
        d3.sum(step, (entry, i) => entry * found.coefficients.at(i, k)),
        Math.max(robust * error(found.robust, k), classical * error(found.classical, k)),
      ),
  };
}
