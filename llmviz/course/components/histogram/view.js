// A histogram: how many values lie in each interval, as bars; a few values are marked by lines.

import { before, font, frame, plotIn, pointer, segment, ticks } from "../_shared/chart.js";
import { el, fit, live, sentence, styles } from "../_shared/common.js";
import { figure, short, whole } from "../_shared/numbers.js";

export default function (component) {
  return live(component, (root) => new Histogram(root));
}

const SIDES = { left: 58, right: 14, top: 12, bottom: 44 };
const HEIGHT = 230;

class Histogram {
  constructor(root) {
    this.root = root;
    this.canvas = el("canvas", "bars", null, { role: "application" });
    this.canvas.tabIndex = 0;
    this.told = el("div", "told", null, { "aria-live": "polite" });
    root.append(this.canvas, this.told);
    this.at = null;
    pointer(
      this.canvas,
      (x) => this.hit(x),
      (i) => this.look(i),
    );
    this.canvas.addEventListener("keydown", (event) => this.keys(event));
  }

  update(data, width) {
    this.data = data;
    this.at = null;
    this.told.textContent = "";
    this.canvas.setAttribute("aria-label", data.words.name);
    this.layout(width);
  }

  layout(width) {
    const { counts, edges, marks } = this.data;
    this.most = Math.max(1, ...counts);
    this.range = [Math.min(edges[0], ...marks), Math.max(edges[counts.length], ...marks)];
    this.plot = plotIn([width, HEIGHT], SIDES, this.range, [0, this.most]);
    this.draw();
  }

  draw() {
    const { plot } = this;
    const { x, y, bottom } = plot;
    const pen = fit(this.canvas, plot.width, HEIGHT);
    const { counts, edges, marks, right, words, axes } = this.data;
    const style = styles(this.root);
    const counted = ticks([0, this.most], 4).filter((tick) => Number.isInteger(tick));
    frame(pen, style, plot, {
      x: { marks: ticks(this.range, plot.width < 600 ? 5 : 9).map((value) => [value, short(value)]), title: axes[0] },
      y: { marks: counted.map((value) => [value, whole(value)]), grid: "hair", title: axes[1] },
    });
    counts.forEach((count, i) => {
      const [x0, x1] = [x(edges[i]), x(edges[i + 1])];
      pen.fillStyle = style(i === this.at ? "--lv-ink" : "--lv-residual");
      // A single value among thousands must not vanish.
      if (count) pen.fillRect(x0, Math.min(y(count), bottom - 1), Math.max(1, x1 - x0 - 0.7), Math.max(1, bottom - y(count)));
    });
    pen.strokeStyle = style("--lv-accent");
    pen.lineWidth = 1.5;
    for (const mark of marks) segment(pen, Math.round(x(mark)), SIDES.top, Math.round(x(mark)), bottom);
    if (!marks.length) return;
    pen.fillStyle = style("--lv-ink");
    pen.font = font(style, 13);
    pen.textAlign = right ? "left" : "right";
    pen.textBaseline = "top";
    const at = x(right ? Math.max(...marks) : Math.min(...marks));
    pen.fillText(words.marks, at + (right ? 7 : -7), SIDES.top + 2);
  }

  hit(x) {
    const value = this.plot.x.value(x);
    const { counts, edges } = this.data;
    if (value < edges[0] || value > edges[counts.length]) return null;
    return Math.min(counts.length - 1, Math.max(0, before(edges, value)));
  }

  look(i) {
    if (i === this.at) return;
    this.at = i;
    const { counts, edges, words } = this.data;
    const values = { from: i === null || figure(edges[i]), to: i === null || figure(edges[i + 1]), count: i === null || whole(counts[i]) };
    this.told.textContent = i === null ? "" : sentence(words.bar, values);
    this.draw();
  }

  keys(event) {
    const last = this.data.counts.length - 1;
    const now = this.at ?? -1;
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    this.look(Math.max(0, Math.min(last, to)));
    event.preventDefault();
    event.stopPropagation();
  }
}
