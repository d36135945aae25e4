// Lines over one axis, of which one is not told to its end: the hand draws it on, and its guess stays
// beside what was measured.

import { GRID, dot, font, frame, line, plotIn, ticks } from "../_shared/chart.js";
import { eachFrame, el, fit, live, spotOf, styles, svg } from "../_shared/common.js";
import { makeHand } from "../_shared/guess.js";
import { figure, percent, short } from "../_shared/numbers.js";

const acts = new WeakMap();

export default function (component) {
  acts.set(component.parentElement, component.setTriggerValue);
  const act = (what) => acts.get(component.parentElement)("act", what);
  return live(component, (root) => new DrawOn(root, act));
}

const SIDES = { left: 56, right: 16, top: 12, bottom: 44 };
// What somebody might think is dashed, each line in another way; what the hand drew is dotted.
const DASHES = [
  [8, 4],
  [8, 3, 2, 3],
  [4, 2, 1, 2, 1, 2],
  [3, 6],
];
const DOTTED = [2, 4];
const STEPS = 50; // of an arrow key, from the axis's bottom to its top
const CLOSE = 6; // pixels from a place: the hand is still there
const BESIDE = 45; // of the middle of a short text, to its ends

// The same lines with their heights as powers of ten.
function byPowers(data) {
  const lift = (line) => ({ ...line, y: line.y.map(Math.log10) });
  const { y } = data.axes;
  return {
    ...data,
    lines: data.lines.map(lift),
    own: lift(data.own),
    levels: data.levels.map(([value, text]) => [Math.log10(value), text]),
    axes: { ...data.axes, y: { ...y, low: Math.log10(y.low), high: Math.log10(y.high) } },
  };
}

class DrawOn {
  constructor(root, act) {
    this.root = root;
    this.legend = el("div", "legend");
    this.canvas = el("canvas", "plot", null, { role: "img", tabindex: 0 });
    this.told = el("p", "told muted", null, { "aria-live": "polite" });
    this.hand = makeHand(() => act({ guess: this.whole().map((at) => this.real(at)) }));
    root.append(this.legend, this.canvas, this.told, this.hand.node);
    this.soon = eachFrame(() => this.draw());
    this.canvas.addEventListener("pointerdown", (event) => this.begin(event));
    this.canvas.addEventListener("pointermove", (event) => this.stroke(event));
    this.canvas.addEventListener("pointerup", () => this.finish());
    this.canvas.addEventListener("pointercancel", () => this.finish());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  get asks() {
    return this.data.asked.x.length > 0;
  }

  update(data, width) {
    this.data = data.axes.y.log ? byPowers(data) : data;
    data = this.data;
    let dashed = 0;
    for (const one of data.lines) one.dash = one.dashed ? DASHES[dashed++ % DASHES.length] : [];
    const asked = JSON.stringify(data.asked);
    if (asked !== this.before) {
      this.drawn = data.asked.x.map(() => null);
      this.at = 0;
      this.told.textContent = "";
    }
    this.before = asked;
    this.canvas.setAttribute("aria-label", data.words.picture);
    this.canvas.setAttribute("role", this.asks ? "slider" : "img");
    const { low, high } = data.axes.y;
    const range = { "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": (low + high) / 2 };
    for (const [name, value] of Object.entries(range)) {
      if (this.asks) this.canvas.setAttribute(name, value);
      else this.canvas.removeAttribute(name);
    }
    this.canvas.classList.toggle("open", this.asks);
    const own = data.own.x.length ? [{ label: data.words.own, role: "ink", dash: DOTTED }] : [];
    this.legend.replaceChildren(...[...data.lines, ...own].map((one) => this.entry(one)));
    this.hand.show(data.words, this.asks, this.ready());
    this.layout(width);
  }

  entry(one) {
    const entry = el("span", "entry");
    const swatch = svg("svg", { class: "swatch", width: 28, height: 4 });
    swatch.append(
      svg("path", { d: "M0 2H28", stroke: `var(--lv-${one.role})`, "stroke-width": 3, "stroke-dasharray": one.dash.join(" ") }),
    );
    entry.append(swatch, el("span", null, one.label));
    return entry;
  }

  ready() {
    return this.drawn.some((value) => value !== null);
  }

  // What was drawn, at all places: where the hand did not pass, as at the nearest place where it did.
  whole() {
    const there = this.drawn.flatMap((value, i) => (value === null ? [] : [i]));
    const near = (i) => there.reduce((best, j) => (Math.abs(j - i) < Math.abs(best - i) ? j : best), there[0]);
    return this.drawn.map((value, i) => value ?? this.drawn[near(i)]);
  }

  layout(width) {
    const { axes } = this.data;
    const tall = width < 560 ? 260 : 320;
    const x = [axes.x.low, axes.x.high];
    this.plot = plotIn([width, tall], SIDES, x, [axes.y.low, axes.y.high]);
    if (axes.x.log) this.plot = this.powers(width);
    this.draw();
  }

  powers(width) {
    const { plot } = this;
    const { x } = this.data.axes;
    const [low, high] = [Math.log10(x.low), Math.log10(x.high)];
    const place = (value) => plot.left + ((Math.log10(value) - low) / (high - low)) * (plot.right - plot.left);
    place.value = (at) => 10 ** (low + ((at - plot.left) / (plot.right - plot.left)) * (high - low));
    return { ...plot, width, x: place, at: (a, b) => [place(a), plot.y(b)] };
  }

  // What a height of the picture stands for.
  real(at) {
    return this.data.axes.y.log ? 10 ** at : at;
  }

  write(at) {
    const value = this.real(at);
    return this.data.form === "percent" ? percent(value, 0) : figure(value);
  }

  draw() {
    const { plot, data } = this;
    const { axes } = data;
    const style = styles(this.root);
    const pen = fit(this.canvas, plot.width, plot.height);
    const tick = data.form === "percent" ? (value) => percent(value, 0) : short;
    frame(
      pen,
      style,
      plot,
      {
        x: {
          marks: axes.x.marks ?? ticks([axes.x.low, axes.x.high], plot.width < 560 ? 4 : 8, axes.x.log).map((v) => [v, short(v)]),
          title: axes.x.title,
        },
        y: { marks: this.heights(tick), grid: "hair", title: axes.y.title },
      },
      GRID,
    );
    if (this.asks) this.veil(pen, style);
    for (const [value, text] of data.levels) {
      line(pen, plot, [axes.x.low, axes.x.high], [value, value], { color: style("--lv-muted"), dash: [2, 4] });
      pen.fillStyle = style("--lv-muted");
      pen.font = font(style, 11.5);
      pen.textAlign = "left";
      pen.fillText(text, plot.left + 6, plot.y(value) - 7);
    }
    for (const one of data.lines) {
      const color = style(`--lv-${one.role}`);
      line(pen, plot, one.x, one.y, { color, width: 2, dash: one.dash });
      pen.fillStyle = color;
      if (one.x.length < 40) one.x.forEach((at, i) => dot(pen, plot.at(at, one.y[i]), 3));
    }
    pen.globalAlpha = 0.45;
    const { others } = data;
    for (const ys of others.y) line(pen, plot, others.x, ys, { color: style("--lv-ink"), width: 1.2 });
    if (others.x.length === 1) for (const [y] of others.y) dot(pen, plot.at(others.x[0], y), 3);
    pen.globalAlpha = 1;
    this.own(pen, style);
  }

  heights(tick) {
    const { low, high, log } = this.data.axes.y;
    const marks = ticks([low, high], log ? 6 : 4);
    return log ? marks.filter(Number.isInteger).map((v) => [v, short(10 ** v)]) : marks.map((v) => [v, tick(v)]);
  }

  veil(pen, style) {
    const { plot } = this;
    const [first, last] = [this.data.asked.x[0], this.data.asked.x.at(-1)].map((x) => plot.x(x));
    const room = this.data.asked.x.length > 1 ? (last - first) / (this.data.asked.x.length - 1) / 2 : 20;
    pen.fillStyle = style("--lv-hair");
    pen.fillRect(first - room, plot.top, Math.min(plot.right, last + room) - first + room, plot.bottom - plot.top);
    if (this.ready()) return;
    pen.fillStyle = style("--lv-ink");
    pen.font = font(style, 14);
    pen.textAlign = "center";
    const middle = (first - room + Math.min(plot.right, last + room)) / 2;
    const { here } = this.data.words;
    const fits = pen.measureText(here).width < 2 * (middle - first + room);
    for (const [i, text] of (fits ? [here] : here.split(" ")).entries()) pen.fillText(text, middle, this.free(middle) + 18 * i);
  }

  // The middle of the highest part of the plot that no level and no line crosses near a place.
  free(middle) {
    const { plot, data } = this;
    const { top, bottom } = plot;
    const crossed = data.levels.map(([value]) => plot.y(value));
    for (const { x, y } of data.lines)
      for (let i = 1; i < x.length; i++) {
        const [[left, from], [right, to]] = [plot.at(x[i - 1], y[i - 1]), plot.at(x[i], y[i])];
        for (const at of [middle - BESIDE, middle, middle + BESIDE])
          if (left <= at && at <= right) crossed.push(from + ((at - left) / (right - left || 1)) * (to - from));
      }
    const ends = [top, ...crossed.filter((at) => top < at && at < bottom).sort((a, b) => a - b), bottom];
    const gaps = ends.slice(1).map((end, i) => end - ends[i]);
    const at = gaps.indexOf(Math.max(...gaps));
    return ends[at] + gaps[at] / 2;
  }

  own(pen, style) {
    const { asked, own } = this.data;
    const [xs, ys] = this.asks ? [asked.x, this.drawn] : [own.x, own.y];
    const look = { color: style("--lv-ink"), width: 2.4, dash: this.asks ? [] : DOTTED };
    line(pen, this.plot, xs, ys, look);
    pen.fillStyle = style("--lv-ink");
    if (xs.length < 40) xs.forEach((x, i) => ys[i] !== null && dot(pen, this.plot.at(x, ys[i]), 3.4));
  }

  // ---- the hand

  begin(event) {
    if (!this.asks || event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.from = null;
    this.passed = new Set();
    this.stroke(event, true);
  }

  stroke(event, starts = false) {
    if (!starts && !this.from) return;
    const [px, py] = spotOf(event, this.canvas);
    const spots = this.data.asked.x.map((value) => this.plot.x(value));
    const { low, high } = this.data.axes.y;
    const at = spots.reduce((best, spot, i) => (Math.abs(spot - px) < Math.abs(spots[best] - px) ? i : best), 0);
    const value = Math.max(low, Math.min(high, this.plot.y.value(py)));
    const [px0, value0] = this.from ?? [px, value];
    // A place keeps the height at which the hand passed it: a steep line leads away from there at once.
    for (const [i, spot] of spots.entries()) {
      if ((spot - px0) * (spot - px) > 0) continue;
      this.drawn[i] = px === px0 ? value : value0 + ((value - value0) * (spot - px0)) / (px - px0);
      this.passed.add(i);
    }
    const outside = px < spots[0] || px > spots.at(-1);
    if (outside || !this.passed.has(at) || Math.abs(spots[at] - px) < CLOSE) this.drawn[at] = value;
    this.from = [px, value];
    this.tell(at);
    event.preventDefault();
  }

  finish() {
    this.from = null;
  }

  key(event) {
    const [across, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (!this.asks || (!across && !up)) return;
    event.preventDefault();
    const { low, high } = this.data.axes.y;
    this.at = Math.max(0, Math.min(this.drawn.length - 1, this.at + across));
    const now = this.drawn[this.at] ?? this.drawn[this.at - across] ?? (low + high) / 2;
    this.drawn[this.at] = Math.max(low, Math.min(high, now + (up * (high - low)) / STEPS));
    this.tell(this.at);
  }

  tell(at) {
    const text = `${short(this.data.asked.x[at])}: ${this.write(this.drawn[at])}`;
    this.told.textContent = text;
    this.canvas.setAttribute("aria-valuetext", text);
    this.canvas.setAttribute("aria-valuenow", this.drawn[at]);
    this.hand.ready(true);
    this.soon();
  }
}
