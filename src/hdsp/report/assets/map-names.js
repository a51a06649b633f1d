// Names beside points, where there is room for them.

import { cut, textWidth } from "./charts.js";

const NAME_HEIGHT = 15;
const MOST_OBSTACLES = 400;

const apart = (box, other) => box.x2 <= other.x1 || box.x1 >= other.x2 || box.y2 <= other.y1 || box.y1 >= other.y2;

/**
 * The places that a name may have beside its point, the best first: above, below, right, left; and
 * further off for those with `far`, which may lie within another point.
 */
function nameBoxes({ x, y, r, wide, far }) {
  return (far ? [3, 12, 20] : [3]).flatMap((gap) => boxesAround(x, y, r + gap, wide));
}

function boxesAround(x, y, gap, wide) {
  const half = wide / 2;
  const box = (anchor, at, x1, y1) => ({
    anchor,
    at,
    middle: y1 + NAME_HEIGHT / 2,
    x1,
    x2: x1 + wide,
    y1,
    y2: y1 + NAME_HEIGHT,
  });
  return [
    box("middle", x, x - half, y - gap - NAME_HEIGHT),
    box("middle", x, x - half, y + gap),
    box("start", x + gap, x + gap, y - NAME_HEIGHT / 2),
    box("end", x - gap, x - gap - wide, y - NAME_HEIGHT / 2),
  ];
}

/**
 * Place names: `points` are [{x, y, r, text, force}] in pixels, the most important first. A name
 * hides no other name and, of few points, none. Those with `force` always get one.
 */
export function placeNames(points, width, height, most) {
  const named = [];
  const dots =
    points.length > MOST_OBSTACLES ? [] : points.map(({ x, y, r }) => ({ x1: x - r, x2: x + r, y1: y - r, y2: y + r }));
  for (const point of points) {
    if (named.length >= most) break;
    const text = cut(point.text, 190);
    const boxes = nameBoxes({ ...point, wide: textWidth(text) * (point.force ? 1.1 : 1) + 6 }).filter(
      (box) => box.x1 >= 0 && box.x2 <= width && box.y1 >= 0 && box.y2 <= height,
    );
    const free = boxes.filter((box) => named.every((other) => apart(box, other.box)));
    const box =
      free.find((one) => dots.every((dot) => apart(one, dot))) ?? (point.force ? (free[0] ?? boxes[0]) : undefined);
    if (box) named.push({ ...point, text, box });
  }
  return named;
}

/** The marks that write names, in pixels of a chart whose scales are `x` and `y`. */
export function nameMarks(named, x, y) {
  return ["middle", "start", "end"].map((anchor) =>
    Plot.text(
      named.filter((name) => name.box.anchor === anchor),
      {
        x: (name) => x.invert(name.box.at),
        y: (name) => y.invert(name.box.middle),
        textAnchor: anchor,
        text: "text",
        fill: "colour",
        stroke: "var(--surface)",
        strokeWidth: 4,
        fontWeight: (name) => (name.force ? 700 : 500),
      },
    ),
  );
}
