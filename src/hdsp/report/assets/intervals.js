// Intervals of topics put together, from those of single topics. The twin in Python, with the
// derivation, is tests/reference/joint_limits.py.

import { effectOf, expectedOf, lowerOf, upperOf } from "./data.js";

const ROUNDS = 30;

/** How far the independent parts of the proportions' errors reach down and up, as squares. */
function independentReaches(below, above, share) {
  const [down, up] = [Float64Array.from(below), Float64Array.from(above)];
  let [allDown, allUp] = [d3.sum(down), d3.sum(up)];
  for (let round = 0; round < ROUNDS; round++) {
    for (let k = 0; k < down.length; k++) {
      const outside = share[k] ** 2;
      const kept = Math.max((1 - share[k]) ** 2, 1e-6);
      const [restDown, restUp] = [allDown - down[k], allUp - up[k]];
      down[k] = Math.max(below[k] - outside * restUp, 0) / kept;
      up[k] = Math.max(above[k] - outside * restDown, 0) / kept;
      allDown = restDown + down[k];
      allUp = restUp + up[k];
    }
  }
  return { down, up, allDown, allUp };
}

/**
 * Limits of sums over topics of one row of four tables: values, their limits, and the proportions
 * that they are changes of. Returns a function of a list of topics.
 */
export function rowLimits(value, lower, upper, share) {
  const below = value.map((middle, k) => Math.max(middle - lower[k], 0) ** 2);
  const above = value.map((middle, k) => Math.max(upper[k] - middle, 0) ** 2);
  const { down, up, allDown, allUp } = independentReaches(below, above, share);
  return (topics) => {
    const total = d3.sum(topics, (k) => share[k]);
    const [ownDown, ownUp] = [d3.sum(topics, (k) => down[k]), d3.sum(topics, (k) => up[k])];
    const [inside, outside] = [(1 - total) ** 2, total ** 2];
    const middle = d3.sum(topics, (k) => value[k]);
    return {
      lower: Math.max(middle - Math.sqrt(inside * ownDown + outside * Math.max(allUp - ownUp, 0)), -1),
      upper: Math.min(middle + Math.sqrt(inside * ownUp + outside * Math.max(allDown - ownDown, 0)), 1),
    };
  };
}

/** One row of a packed table. */
export const rowOf = (table, row) => Float64Array.from({ length: table.columns }, (_, k) => table.at(row, k));

const limitsByRow = new Map();
/** Limits of the effect of the label in a row of the table of effects, on several topics together. */
export function jointEffectLimits(row, topics) {
  if (!limitsByRow.has(row)) {
    limitsByRow.set(
      row,
      rowLimits(...[effectOf(), lowerOf(), upperOf(), expectedOf()].map((table) => rowOf(table, row))),
    );
  }
  return limitsByRow.get(row)(topics);
}
