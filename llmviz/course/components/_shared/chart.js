// Charts: scales, ticks, the frame with its axes, lines of values, and what the pointer is at.
// What they show is computed in Python.

import { eachFrame, onLeave, spotOf } from "./common.js";

// ---- scales

function logarithm(x) {
  return Math.log10(Math.max(x, 1e-12));
}

// A function from values between `low` and `high` to pixels between `from` and `to`. Its `value`
// goes the other way. Values outside the range have their place outside.
export function scale([low, high], [from, to], log = false) {
  const way = log ? logarithm : (x) => x;
  const start = way(low);
  const span = way(high) - start || 1;
  const place = (value) => from + ((way(value) - start) * (to - from)) / span;
  place.value = (at) => {
    const position = start + ((at - from) / (to - from)) * span;
    return log ? 10 ** position : position;
  };
  return place;
}

// The room of a chart inside `sides` (pixels at the left, right, top and bottom, for ticks and titles),
// with a scale for the values across (`xs`: the lowest and the highest) and one for those up.
export function plotIn([width, height], sides, xs, ys) {
  const [left, right, top, bottom] = [sides.left, width - sides.right, sides.top, height - sides.bottom];
  const x = scale(xs, [left, right]);
  const y = scale(ys, [bottom, top]);
  return { width, height, left, right, top, bottom, x, y, at: (a, b) => [x(a), y(b)] };
}

// ---- ticks

// The round distance, 1, 2 or 5 times a power of ten, that is not below `rough`.
export function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 5, 10].find((k) => k * power >= rough) * power;
}

// Round values between two, about so many of them.
export function ticks([low, high], about, log = false) {
  if (log) return logTicks(low, high, about);
  const step = roundStep((high - low) / about);
  const values = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step)
    values.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return values;
}

function logTicks(low, high, about) {
  const decades = Math.log10(high / Math.max(low, 1e-12));
  const steps = decades > about ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const values = [];
  for (let power = Math.floor(logarithm(low)); power <= logarithm(high); power++)
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low && tick <= high) values.push(tick);
    }
  return values;
}

// The last place of a rising array whose value is not above x; −1 if there is none.
export function before(xs, x) {
  let [low, high] = [0, xs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x * (1 + 1e-7)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// The place of a rising array whose value is nearest to x.
export function nearest(xs, x) {
  const i = before(xs, x);
  if (i < 0) return 0;
  return i + 1 < xs.length && xs[i + 1] - x < x - xs[i] ? i + 1 : i;
}

// ---- the frame

// How a frame looks, in pixels: fonts of ticks and titles; how far ticks stand from the plot (`below`
// and `beside`, with `drop` to their baseline) and titles from the picture's edge (`under`, `aside`).
// A chart may change single entries, or add: `sides`, lines around the plot ("corner": at the left and
// below; "box"), `stub`, the length of a tick's own line, `edge`, how near to the picture's right edge
// a tick's text may come, and `exact`, texts at their values where grid lines go to whole pixels.
export const GRID = {
  face: "--st-font",
  tick: 11.5,
  title: 12.5,
  titleInk: "--lv-ink",
  baseline: "middle",
  below: 12,
  beside: 6,
  drop: 0,
  under: 10,
  aside: 10,
  edge: 0,
};
// Two lines and no grid; the titles are as quiet as the ticks.
export const OPEN = {
  ...GRID,
  tick: 11,
  title: 11,
  titleInk: "--lv-muted",
  baseline: "alphabetic",
  below: 15,
  drop: 3,
  under: 8,
  sides: "corner",
};

const FALLBACK = { "--st-font": "sans-serif", "--mono": "monospace" };

export function font(style, size, face = "--st-font") {
  return `${size}px ${style(face) || FALLBACK[face]}`;
}

// Axes around a plot. An axis: `marks` as [value, text], `title`, and `grid`: lines at the marks, "hair"
// for all alike or "zero" where the one at 0 stands out. `style` reads a colour (see styles).
export function frame(pen, style, plot, { x, y }, look = GRID) {
  pen.lineWidth = 1;
  pen.textBaseline = look.baseline;
  pen.font = font(style, look.tick, look.face);
  if (look.sides) around(pen, style, plot, look.sides);
  if (y) yMarks(pen, style, plot, y, look);
  if (x) xMarks(pen, style, plot, x, look);
  pen.fillStyle = style(look.titleInk);
  pen.font = font(style, look.title, look.face);
  pen.textAlign = "center";
  // Without a grid the picture's edge is where a plot seems to end.
  if (x?.title) pen.fillText(x.title, (plot.left + (look.sides ? plot.width : plot.right)) / 2, plot.height - look.under);
  if (y?.title) upright(pen, y.title, look.aside, ((look.sides ? 0 : plot.top) + plot.bottom) / 2);
}

// Text that is read from below.
export function upright(pen, text, x, y) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(-Math.PI / 2);
  pen.fillText(text, 0, 0);
  pen.restore();
}

function around(pen, style, { left, right, top, bottom }, sides) {
  pen.strokeStyle = style("--lv-line");
  if (sides === "box") return pen.strokeRect(left, top, right - left, bottom - top);
  pen.beginPath();
  pen.moveTo(left, top);
  pen.lineTo(left, bottom);
  pen.lineTo(right, bottom);
  pen.stroke();
}

function gridInk(style, grid, value) {
  return style(grid === "hair" || (grid === "zero" && value !== 0) ? "--lv-hair" : "--lv-line");
}

function yMarks(pen, style, plot, { marks, grid }, look) {
  pen.textAlign = "right";
  pen.fillStyle = style("--lv-muted");
  for (const [value, text] of marks) {
    const line = Math.round(plot.y(value)) + 0.5;
    pen.strokeStyle = gridInk(style, grid, value);
    if (grid) segment(pen, plot.left, line, plot.right, line);
    pen.fillText(text, plot.left - look.beside, grid && !look.exact ? line : plot.y(value) + look.drop);
  }
}

function xMarks(pen, style, plot, { marks, grid }, look) {
  pen.textAlign = "center";
  pen.fillStyle = style("--lv-muted");
  for (const [value, text] of marks) {
    const line = Math.round(plot.x(value)) + 0.5;
    pen.strokeStyle = gridInk(style, grid, value);
    if (grid) segment(pen, line, plot.top, line, plot.bottom);
    const at = grid && !look.exact ? line : plot.x(value);
    if (look.stub) segment(pen, at, plot.bottom, at, plot.bottom + look.stub);
    pen.fillText(text, Math.min(plot.width - look.edge, at), plot.bottom + look.below);
  }
}

// ---- what is drawn inside

export function segment(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

export function dot(pen, [x, y], r) {
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.fill();
}

export function ring(pen, [x, y], r) {
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.stroke();
}

// A line through values; one that is missing is passed over. Without `xs` they stand at 0, 1, 2 …
export function line(pen, { x, y }, xs, ys, { color, width = 1.5, dash = [], first = 0, end = ys.length }) {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  let down = false;
  for (let i = first; i < end; i++) {
    if (ys[i] === null || !Number.isFinite(ys[i])) continue;
    pen[down ? "lineTo" : "moveTo"](x(xs ? xs[i] : i), y(ys[i]));
    down = true;
  }
  pen.stroke();
  pen.setLineDash([]);
}

// The same line as the path of an SVG.
export function linePath({ x, y }, ys) {
  return Array.from(ys, (value, i) => `${i ? "L" : "M"}${x(i)} ${y(value)}`).join("");
}

// What `draw` draws is seen inside a box only.
export function inside(pen, [x, y, width, height], draw) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

// A text as long as its room, cut with an ellipsis.
export function shorten(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

// ---- the pointer

// Call `look` with what `hit` finds at the pointer, once a frame at most; with null where it leaves.
export function pointer(canvas, hit, look) {
  const move = eachFrame((event) => look(hit(...spotOf(event, canvas))));
  canvas.addEventListener("pointermove", move);
  onLeave(canvas, () => look(null));
  canvas.addEventListener("blur", () => look(null));
}

// Call `to` with the place across a node, in pixels, where it is pressed and wherever the hand drags.
export function drag(node, to) {
  const tell = (event) => to(spotOf(event, node)[0]);
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    tell(event);
  });
  node.addEventListener("pointermove", (event) => event.buttons && tell(event));
}

// The number of the place nearest to a spot, among `count` that `at` gives; null if none is in reach.
export function closest(count, at, [px, py], reach) {
  let [best, near] = [null, reach ** 2];
  for (let i = 0; i < count; i++) {
    const [x, y] = at(i);
    const gap = (x - px) ** 2 + (y - py) ** 2;
    if (gap < near) [best, near] = [i, gap];
  }
  return best;
}
