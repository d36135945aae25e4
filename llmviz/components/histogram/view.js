// How many values lie where, as bars, and a few of them marked by lines.

import { before, figure, segment, short, ticks } from "../_shared/axes.js";
import { css, eachFrame, el, fit, live, whole } from "../_shared/common.js";

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
    const point = eachFrame((x) => this.look(this.hit(x)));
    this.canvas.addEventListener("pointermove", (event) => point(event.clientX));
    this.canvas.addEventListener("pointerleave", () => this.look(null));
    this.canvas.addEventListener("blur", () => this.look(null));
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
    this.width = width;
    const { counts, edges, marks } = this.data;
    this.most = Math.max(1, ...counts);
    this.low = Math.min(edges[0], ...marks);
    this.high = Math.max(edges[counts.length], ...marks);
    this.draw();
  }

  x(value) {
    const room = this.width - SIDES.left - SIDES.right;
    return SIDES.left + ((value - this.low) / (this.high - this.low || 1)) * room;
  }

  y(count) {
    return HEIGHT - SIDES.bottom - (count / this.most) * (HEIGHT - SIDES.bottom - SIDES.top);
  }

  draw() {
    const pen = fit(this.canvas, this.width, HEIGHT);
    const { counts, edges, marks, right, words } = this.data;
    const known = {};
    const style = (name) => (known[name] ??= css(this.root, name));
    const font = style("--st-font") || "sans-serif";
    const bottom = HEIGHT - SIDES.bottom;
    this.frame(pen, style, font, bottom);
    counts.forEach((count, i) => {
      const [x0, x1] = [this.x(edges[i]), this.x(edges[i + 1])];
      pen.fillStyle = style(i === this.at ? "--lv-ink" : "--lv-residual");
      // A single value among thousands must not vanish.
      if (count) pen.fillRect(x0, Math.min(this.y(count), bottom - 1), Math.max(1, x1 - x0 - 0.7), Math.max(1, bottom - this.y(count)));
    });
    pen.strokeStyle = style("--lv-accent");
    pen.lineWidth = 1.5;
    for (const mark of marks) segment(pen, Math.round(this.x(mark)), SIDES.top, Math.round(this.x(mark)), bottom);
    if (!marks.length) return;
    pen.fillStyle = style("--lv-ink");
    pen.font = `13px ${font}`;
    pen.textAlign = right ? "left" : "right";
    pen.textBaseline = "top";
    const at = this.x(right ? Math.max(...marks) : Math.min(...marks));
    pen.fillText(words.marks, at + (right ? 7 : -7), SIDES.top + 2);
  }

  frame(pen, style, font, bottom) {
    pen.strokeStyle = style("--lv-hair");
    pen.fillStyle = style("--lv-muted");
    pen.font = `11.5px ${font}`;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const value of ticks([0, this.most], 4).filter((tick) => Number.isInteger(tick))) {
      const y = Math.round(this.y(value)) + 0.5;
      segment(pen, SIDES.left, y, this.width - SIDES.right, y);
      pen.fillText(whole(value), SIDES.left - 6, y);
    }
    pen.textAlign = "center";
    for (const value of ticks([this.low, this.high], this.width < 600 ? 5 : 9)) pen.fillText(short(value), this.x(value), bottom + 12);
    pen.fillStyle = style("--lv-ink");
    pen.font = `12.5px ${font}`;
    pen.fillText(this.data.axes[0], (SIDES.left + this.width - SIDES.right) / 2, HEIGHT - 10);
    pen.save();
    pen.translate(10, (SIDES.top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(this.data.axes[1], 0, 0);
    pen.restore();
  }

  hit(clientX) {
    const value =
      this.low +
      ((clientX - this.canvas.getBoundingClientRect().left - SIDES.left) / (this.width - SIDES.left - SIDES.right)) *
        (this.high - this.low);
    const { counts, edges } = this.data;
    if (value < edges[0] || value > edges[counts.length]) return null;
    return Math.min(counts.length - 1, Math.max(0, before(edges, value)));
  }

  look(i) {
    if (i === this.at) return;
    this.at = i;
    const { counts, edges, words } = this.data;
    const said = { from: i === null || figure(edges[i]), to: i === null || figure(edges[i + 1]), count: i === null || whole(counts[i]) };
    this.told.textContent = i === null ? "" : words.bar.replace(/\{(\w+)\}/g, (_, name) => said[name]);
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
